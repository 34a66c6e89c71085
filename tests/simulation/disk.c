/* The calls on files, and what a crash leaves of them. */
#include "tests/simulation/disk.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "processor/base/compiler.h"
#include "tests/simulation/chance.h"
#include "tests/simulation/interpose.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/trace.h"

#include "processor/base/banned.h"

enum { FILES_MAX = 4096, FDS_MAX = 4096, PATH_SIZE = 96 };

/* A file that was opened for writing. Those not in the list are durable as they are. */
typedef struct DiskFile {
    char path[PATH_SIZE];
    int64_t synced;         /* bytes that survive */
    bool name_synced;       /* its name survives */
    char before[PATH_SIZE]; /* what the name meant before a rename not yet synced; "": nothing */
} DiskFile;

typedef struct Host {
    char dir[PATH_SIZE];
    int generation;
    int group;
    bool full;
    bool crashed;      /* in the middle of an operation: what is left was copied already */
    uint32_t crash_in; /* operations; 0: not armed */
} Host;

static DiskFile files[FILES_MAX];
static int file_count;
static int file_of_fd[FDS_MAX]; /* index + 1 */
static int host_of_dir_fd[FDS_MAX];
static bool is_read_only[FDS_MAX]; /* and a table of the database */
static Host hosts[DISK_HOSTS];
static Chance chance;
static uint32_t fail_one_in;
static bool reads_may_fail = true;
static bool merges_may_fail = true;
static int shadow_count;
static bool is_open;
/* RocksDB's threads come here too. */
static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;

static void name_dir(Host *host)
{
    (void)snprintf(host->dir, sizeof host->dir, "host%d.%d", (int)(host - hosts), host->generation);
}

void disk_open(uint64_t seed)
{
    chance = chance_stream(seed, 3);
    for (int i = 0; i < DISK_HOSTS; i++) {
        name_dir(&hosts[i]);
    }
    is_open = true;
}

const char *disk_dir(int host)
{
    return hosts[host].dir;
}

void disk_attach(int host, int group)
{
    hosts[host].group = group;
    hosts[host].crash_in = 0;
    hosts[host].full = false;
    hosts[host].crashed = false;
}

void disk_let_reads_fail(bool may_fail)
{
    reads_may_fail = may_fail;
}

void disk_let_merges_fail(bool may_fail)
{
    merges_may_fail = may_fail;
}

bool disk_wants_compaction(void)
{
    return chance_one_in(&chance, 6);
}

void disk_set_failures(uint32_t n)
{
    fail_one_in = n;
}

void disk_set_full(int host, bool full)
{
    hosts[host].full = full;
}

void disk_crash_in(int host, uint32_t operations)
{
    hosts[host].crash_in = operations;
}

/* --------------------------------------------------------------------------- what is known ---- */

/* The host whose present directory the path lies in, NULL: none of ours. */
static Host *host_of(const char *path)
{
    for (int i = 0; is_open && i < DISK_HOSTS; i++) {
        size_t size = strlen(hosts[i].dir);
        if (strncmp(path, hosts[i].dir, size) == 0 && (path[size] == '/' || path[size] == '\0')) {
            return &hosts[i];
        }
    }
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* RocksDB's own log tells times; locks have no content. */
static bool is_of_no_interest(const char *path)
{
    const char *name = base_name(path);
    return strncmp(name, "LOG", 3) == 0 || strcmp(name, "LOCK") == 0;
}

static DiskFile *find_file(const char *path)
{
    for (int i = file_count - 1; i >= 0; i--) {
        if (strcmp(files[i].path, path) == 0) {
            return &files[i];
        }
    }
    return NULL;
}

static bool is_open_file(int file)
{
    for (int fd = 0; fd < FDS_MAX; fd++) {
        if (file_of_fd[fd] == file + 1) {
            return true;
        }
    }
    return false;
}

/* A place in the list: a new one, or that of a file that is gone. */
static DiskFile *file_place(void)
{
    if (file_count < FILES_MAX) {
        return &files[file_count++];
    }
    int at = 0;
    while (at < FILES_MAX && (files[at].path[0] != '\0' || is_open_file(at))) {
        at++;
    }
    assert(at < FILES_MAX);
    return &files[at];
}

static DiskFile *add_file(const char *path)
{
    DiskFile *file = file_place();
    memset(file, 0, sizeof *file);
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    return file;
}

static int64_t size_of_fd(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? info.st_size : 0;
}

static DiskFile *file_of(int fd)
{
    return fd >= 0 && fd < FDS_MAX && file_of_fd[fd] > 0 ? &files[file_of_fd[fd] - 1] : NULL;
}

static void forget_file(DiskFile *file)
{
    file->path[0] = '\0';
}

/* --------------------------------------------------------------------------- what is left ---- */

static void copy_file(const char *from, const char *to, int64_t size)
{
    int in = (int)syscall(SYS_open, from, O_RDONLY | O_CLOEXEC, 0);
    int out = (int)syscall(SYS_open, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert(in >= 0 && out >= 0);
    char bytes[16384];
    while (size > 0) {
        size_t want = size < (int64_t)sizeof bytes ? (size_t)size : sizeof bytes;
        ssize_t got = read(in, bytes, want);
        if (got <= 0) {
            break;
        }
        (void)syscall(SYS_write, out, bytes, (size_t)got);
        size -= got;
    }
    (void)close(in);
    (void)close(out);
}

static int64_t size_of_path(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_size : 0;
}

/* A power cut: names not synced may be gone or mean what they did before; data not synced is there
 * in part. */
static void copy_what_is_left(const char *from, const char *to, bool power)
{
    const DiskFile *file = find_file(from);
    int64_t size = size_of_path(from);
    if (power && file != NULL) {
        if (!file->name_synced && chance_one_in(&chance, 2)) {
            trace_say("power cut: %s is %s", from,
                      file->before[0] == '\0' ? "gone" : "the old one");
            if (file->before[0] != '\0') {
                copy_file(file->before, to, INT64_MAX);
            }
            return;
        }
        if (file->synced < size) {
            int64_t lost = chance_between(&chance, 0, (uint32_t)(size - file->synced));
            trace_say("power cut: %s loses %lld of %lld bytes, %lld were synced", from,
                      (long long)lost, (long long)size, (long long)file->synced);
            size -= lost;
        }
    }
    copy_file(from, to, size);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a folder in order, so that chance is the same each time; *ret_count of them. */
static char **list(const char *dir, size_t *ret_count)
{
    static char *names[1024];
    size_t count = 0;
    DIR *folder = opendir(dir);
    for (struct dirent *entry = folder == NULL ? NULL : readdir(folder);
         entry != NULL && count < ARRAY_LENGTH(names); entry = readdir(folder)) {
        if (entry->d_name[0] != '.' && !is_of_no_interest(entry->d_name)) {
            names[count++] = strdup(entry->d_name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    qsort(names, count, sizeof *names, by_name);
    *ret_count = count;
    return names;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void copy_folder(const char *from, const char *to, bool power)
{
    if (access(from, F_OK) != 0) {
        return;
    }
    (void)mkdir(to, 0777);
    size_t count = 0;
    char **names = list(from, &count);
    char *copied[1024];
    memcpy(copied, names, count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        char source[PATH_SIZE * 2];
        char target[PATH_SIZE * 2];
        (void)snprintf(source, sizeof source, "%s/%s", from, copied[i]);
        (void)snprintf(target, sizeof target, "%s/%s", to, copied[i]);
        if (is_folder(source)) {
            copy_folder(source, target, power);
        } else {
            copy_what_is_left(source, target, power);
        }
        free(copied[i]);
    }
}

static void leave(Host *host, bool power)
{
    char old[PATH_SIZE];
    memcpy(old, host->dir, sizeof old);
    host->generation++;
    name_dir(host);
    copy_folder(old, host->dir, power);
}

void disk_crash(int host, bool power)
{
    if (!hosts[host].crashed) {
        leave(&hosts[host], power);
    }
    hosts[host].crashed = false;
}

void disk_wipe(int host)
{
    hosts[host].generation++;
    name_dir(&hosts[host]);
}

/* RocksDB 7.8 makes sense of a table's block of properties before it verifies the checksum: the
 * last byte of a block, when its highest bit is set, stands for a hash index, and a build with
 * assertions, as Debian's is, ends when the number of buckets before it cannot be. No table we
 * write has one, and no damage looks like one. */
static unsigned char without_hash_index(unsigned char byte)
{
    return byte & 0x7F;
}

void disk_damage(int host)
{
    char dir[PATH_SIZE * 2];
    (void)snprintf(dir, sizeof dir, "%s/rocksdb", hosts[host].dir);
    size_t count = 0;
    char **names = list(dir, &count);
    if (count == 0) {
        return;
    }
    char path[PATH_SIZE * 4];
    (void)snprintf(path, sizeof path, "%s/%s", dir, names[chance_below(&chance, (uint32_t)count)]);
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    int64_t size = size_of_path(path);
    if (size == 0 || chance_one_in(&chance, 4)) {
        trace_say("damage: %s is removed", path);
        (void)syscall(SYS_unlink, path);
        return;
    }
    int fd = (int)syscall(SYS_open, path, O_RDWR | O_CLOEXEC, 0);
    int64_t at = chance_below(&chance, (uint32_t)size);
    for (int i = 0; i < 8 && at + i < size; i++) {
        unsigned char byte = without_hash_index((unsigned char)chance_next(&chance));
        (void)syscall(SYS_pwrite64, fd, &byte, 1, at + i);
    }
    (void)close(fd);
    trace_say("damage: bytes of %s changed from %lld on", path, (long long)at);
}

/* ------------------------------------------------------------------------------- the faults ----
 */

/* Counts the operation; an errno when it must fail. */
static int operate(const char *path, const char *what)
{
    Host *host = host_of(path);
    if (host == NULL || is_of_no_interest(path) || host->crashed) {
        return 0;
    }
    if (host->crash_in > 0 && --host->crash_in == 0) {
        bool power = chance_one_in(&chance, 2);
        trace_say("crash before %s of %s, %s", what, path, power ? "power cut" : "process killed");
        leave(host, power);
        host->crashed = true;
        scheduler_mark_dead(host->group);
        return 0;
    }
    if (host->full && strcmp(what, "write") == 0) {
        return ENOSPC;
    }
    if (chance_one_in(&chance, fail_one_in)) {
        int failure = chance_one_in(&chance, 2) ? ENOSPC : EIO;
        trace_say("disk: %s of %s fails, %s", what, path, failure == EIO ? "EIO" : "ENOSPC");
        return failure;
    }
    return 0;
}

static bool fails(const char *path, const char *what)
{
    int failure = operate(path, what);
    errno = failure == 0 ? errno : failure;
    return failure != 0;
}

static void enter(void)
{
    (void)__real_pthread_mutex_lock(&disk_lock);
}

static void finish(void)
{
    int saved = errno;
    (void)__real_pthread_mutex_unlock(&disk_lock);
    errno = saved;
}

/* ----------------------------------------------------------- the calls RocksDB and we make ---- */

static void note_open(int fd, const char *path, int flags)
{
    const Host *host = host_of(path);
    if (fd < 0 || fd >= FDS_MAX) {
        return;
    }
    file_of_fd[fd] = 0;
    host_of_dir_fd[fd] = 0;
    is_read_only[fd] = false;
    if (host == NULL || is_of_no_interest(path)) {
        return;
    }
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        host_of_dir_fd[fd] = (int)(host - hosts) + 1;
    } else if ((flags & (O_WRONLY | O_RDWR)) == 0) {
        is_read_only[fd] = strstr(path, ".sst") != NULL;
    } else {
        DiskFile *file = find_file(path);
        bool is_new = file == NULL;
        if (is_new) {
            file = add_file(path);
            file->synced = (flags & O_TRUNC) != 0 ? 0 : info.st_size;
            file->name_synced = info.st_size > 0;
        } else if ((flags & O_TRUNC) != 0) {
            file->synced = 0;
        }
        file_of_fd[fd] = (int)(file - files) + 1;
    }
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (!is_open || host_of(path) == NULL) {
        int other = (int)syscall(SYS_open, path, flags, mode);
        note_open(other, path, flags);
        return other;
    }
    enter();
    int fd = -1;
    if ((flags & O_CREAT) == 0 || !fails(path, "open")) {
        fd = (int)syscall(SYS_open, path, flags, mode);
        note_open(fd, path, flags);
    }
    finish();
    return fd;
}

/* Debian's RocksDB has its assertions on, and one of them does not hold when the first write of a
 * merge's table fails (ExtractUserKey of a key there is none of): the process ends, which a crash
 * covers already. So that write does not fail. */
static bool begins_table(int fd, const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".sst") == 0 &&
           strstr(path, "/rocksdb/") != NULL && lseek(fd, 0, SEEK_CUR) == 0;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (!is_open || file_of(fd) == NULL) {
        return syscall(SYS_write, fd, bytes, size);
    }
    enter();
    ssize_t written = -1;
    if (begins_table(fd, file_of(fd)->path) || !fails(file_of(fd)->path, "write")) {
        if (fail_one_in > 0 && size > 1 && chance_one_in(&chance, 8)) {
            size = 1 + chance_below(&chance, (uint32_t)size - 1);
        }
        written = syscall(SYS_write, fd, bytes, size);
    }
    finish();
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    if (!is_open || file_of(fd) == NULL) {
        return syscall(SYS_pwrite64, fd, bytes, size, offset);
    }
    enter();
    ssize_t written = -1;
    if (!fails(file_of(fd)->path, "write")) {
        written = syscall(SYS_pwrite64, fd, bytes, size, offset);
    }
    finish();
    return written;
}

/* RocksDB reads its tables so. */
ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    if (!is_open || fd < 0 || fd >= FDS_MAX || !is_read_only[fd]) {
        return syscall(SYS_pread64, fd, bytes, size, offset);
    }
    enter();
    bool bad = fail_one_in > 0 && reads_may_fail && chance_one_in(&chance, 2 * fail_one_in);
    finish();
    if (bad) {
        trace_say("disk: a read fails");
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, bytes, size, offset);
}

/* After the directory is synced its names mean what they mean now. */
static void sync_names(const Host *host)
{
    size_t size = strlen(host->dir);
    for (int i = 0; i < file_count; i++) {
        if (strncmp(files[i].path, host->dir, size) == 0 && files[i].path[size] == '/') {
            files[i].name_synced = true;
            files[i].before[0] = '\0';
        }
    }
}

static int sync_fd(int fd, long call)
{
    bool is_dir = is_open && fd >= 0 && fd < FDS_MAX && host_of_dir_fd[fd] > 0;
    DiskFile *file = is_open ? file_of(fd) : NULL;
    if (file == NULL && !is_dir) {
        return (int)syscall(call, fd);
    }
    enter();
    const Host *host = is_dir ? &hosts[host_of_dir_fd[fd] - 1] : NULL;
    /* The assertion of begins_table does not hold either when the table of a merge is not synced.
     */
    bool may_fail = is_dir || merges_may_fail;
    int result = may_fail && fails(is_dir ? host->dir : file->path, "sync") ? -1 : 0;
    if (result == 0 && is_dir) {
        sync_names(host);
    } else if (result == 0) {
        file->synced = size_of_fd(fd);
    }
    finish();
    return result;
}

int fsync(int fd)
{
    return sync_fd(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return sync_fd(fd, SYS_fdatasync);
}

/* Promises nothing, as its manual says. */
int sync_file_range(int fd, off_t offset, off_t size, unsigned flags)
{
    (void)fd;
    (void)offset;
    (void)size;
    (void)flags;
    return 0;
}

int ftruncate(int fd, off_t size)
{
    DiskFile *file = is_open ? file_of(fd) : NULL;
    if (file == NULL) {
        return (int)syscall(SYS_ftruncate, fd, size);
    }
    enter();
    int result = fails(file->path, "truncate") ? -1 : (int)syscall(SYS_ftruncate, fd, size);
    if (result == 0 && file->synced > size) {
        file->synced = size;
    }
    finish();
    return result;
}

/* What the name meant is kept until the directory is synced. */
static void keep_before(const char *path, char before[PATH_SIZE])
{
    if (access(path, F_OK) == 0) {
        (void)snprintf(before, PATH_SIZE, "before.%d", shadow_count++);
        copy_file(path, before, INT64_MAX);
    }
}

int rename(const char *from, const char *to)
{
    if (!is_open || host_of(to) == NULL || is_of_no_interest(from)) {
        return (int)syscall(SYS_rename, from, to);
    }
    enter();
    int result = -1;
    if (!fails(to, "rename")) {
        char before[PATH_SIZE] = "";
        keep_before(to, before);
        result = (int)syscall(SYS_rename, from, to);
        DiskFile *old = find_file(to);
        DiskFile *file = find_file(from);
        if (result == 0 && old != NULL) {
            forget_file(old);
        }
        if (result == 0) {
            file = file == NULL ? add_file(to) : file;
            (void)snprintf(file->path, sizeof file->path, "%s", to);
            (void)snprintf(file->before, sizeof file->before, "%s", before);
            file->name_synced = false;
        }
    }
    finish();
    return result;
}

/* A second name for what is in the file, as durable as that. */
int link(const char *from, const char *to)
{
    if (!is_open || host_of(to) == NULL) {
        return (int)syscall(SYS_link, from, to);
    }
    enter();
    int result = fails(to, "link") ? -1 : (int)syscall(SYS_link, from, to);
    if (result == 0) {
        const DiskFile *source = find_file(from);
        int64_t synced = source == NULL ? size_of_path(from) : source->synced;
        DiskFile *file = find_file(to);
        file = file == NULL ? add_file(to) : file;
        file->synced = synced;
        file->name_synced = false;
    }
    finish();
    return result;
}

int unlink(const char *path)
{
    int result = (int)syscall(SYS_unlink, path);
    if (is_open && result == 0) {
        enter();
        DiskFile *file = find_file(path);
        if (file != NULL) {
            forget_file(file);
        }
        finish();
    }
    return result;
}

/* After a failed flush RocksDB waits a second before it does anything else. */
int usleep(useconds_t us)
{
    (void)us;
    return 0;
}

/* When there is no space RocksDB looks for some, on a thread of its own, and when it finds it goes
 * on by itself, at a moment no seed knows. It finds none. */
int statvfs(const char *path, struct statvfs *ret_info)
{
    (void)path;
    memset(ret_info, 0, sizeof *ret_info);
    return 0;
}
