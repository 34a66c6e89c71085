/* The state directory: who it belongs to, who has it open, which tables it caches.
 *
 *     DIR/LOCK       flock'ed while open; holds the owner's pid for messages
 *     DIR/TIDEMARK   format version and pipeline, written once
 *     DIR/DAMAGED    there: the database is damaged, as found while it was in use
 *     DIR/rocksdb/   the database; thrown away whenever it is damaged
 *     DIR/ingest/    files on their way into it; emptied at every opening */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "processor/base/buffer.h"
#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "state/state_internal.h"
#include "state/view.h"

#include "processor/base/banned.h"

/* Format 1 could hold deletions of ranges, which nobody looks for any more (clear.c). */
enum { FORMAT_VERSION = 2, FILE_SIZE_MAX = 4096, RUN_SHARE = 4 };

struct State {
    char *dir;
    int lock_fd;
    atomic_bool damaged; /* DAMAGED is written */
    atomic_uint next_file;
    size_t one_run_bytes; /* what each may take; 0: a share of what they may together */
    size_t run_bytes;
    atomic_int runs;
    atomic_size_t run_bytes_used;
    Rocks *rocks;
    RocksFamily *meta;
    pthread_mutex_t lock; /* protects tables, and the claims of stores */
    TableStore *tables;
};

static Error *unwritable(const char *dir, const char *doing)
{
    Error *error = error_new(ERROR_STATE_UNWRITABLE, "State directory %s: cannot %s: %s.", dir,
                             doing, strerror(errno));
    return error_set_hint(error, "set state.dir to a folder this user may write, with free space");
}

/* mkdir -p */
static Error *make_directories(const char *dir)
{
    AUTO_BUFFER Buffer path = {0};
    for (const char *at = dir; *at != '\0'; at++) {
        if (*at == '/' && path.size > 0 && mkdir(buffer_cstr(&path), 0777) != 0 &&
            errno != EEXIST) {
            return unwritable(dir, "make it");
        }
        buffer_append_byte(&path, *at);
    }
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        return unwritable(dir, "make it");
    }
    return NULL;
}

static const char *path_in(Buffer *path, const char *dir, const char *name)
{
    buffer_clear(path);
    buffer_printf(path, "%s/%s", dir, name);
    return buffer_cstr(path);
}

/* Up to FILE_SIZE_MAX bytes of a small file; false when there is none. */
static bool read_small_file(int fd, Buffer *out)
{
    buffer_clear(out);
    char *to = buffer_reserve(out, FILE_SIZE_MAX);
    ssize_t size = pread(fd, to, FILE_SIZE_MAX, 0);
    if (size < 0) {
        return false;
    }
    out->size = (size_t)size;
    return true;
}

static Error *take_lock(State *state)
{
    AUTO_BUFFER Buffer path = {0};
    int fd = open(path_in(&path, state->dir, "LOCK"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        return unwritable(state->dir, "write in it");
    }
    state->lock_fd = fd;
    AUTO_BUFFER Buffer text = {0};
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            return unwritable(state->dir, "lock it");
        }
        (void)read_small_file(fd, &text);
        Error *error =
            error_new(ERROR_STATE_LOCKED, "State directory %s is in use by %s.", state->dir,
                      text.size == 0 ? "another process" : buffer_cstr(&text));
        return error_set_hint(error, "stop that process, or give this one another state.dir");
    }
    buffer_printf(&text, "process %ld", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data, text.size, 0) != (ssize_t)text.size) {
        return unwritable(state->dir, "write in it");
    }
    return NULL;
}

/* Makes names created in the directory survive a crash. */
static bool sync_directory(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return good;
}

/* Writes DIR/name whole or not at all. */
static bool write_small_file(const char *dir, const char *name, Str text)
{
    AUTO_BUFFER Buffer path = {0};
    AUTO_BUFFER Buffer draft = {0};
    buffer_printf(&draft, "%s/%s.new", dir, name);
    int fd = open(buffer_cstr(&draft), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = fd >= 0 && write(fd, text.data, text.size) == (ssize_t)text.size && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return good && rename(buffer_cstr(&draft), path_in(&path, dir, name)) == 0 &&
           sync_directory(dir);
}

static Error *write_identity(const State *state, const char *pipeline)
{
    AUTO_BUFFER Buffer text = {0};
    buffer_printf(&text, "tidemark state\nformat %d\npipeline %s\n", FORMAT_VERSION, pipeline);
    bool good = write_small_file(state->dir, "TIDEMARK", buffer_str(&text));
    return good ? NULL : unwritable(state->dir, "write in it");
}

/* What may be there before the first start: our own beginnings, and what a file system puts into
 * the root of a fresh volume. */
static bool is_no_content(const char *name)
{
    static const char *const names[] = {".", "..", "LOCK", "TIDEMARK.new", "lost+found"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool directory_is_empty(const char *dir)
{
    DIR *folder = opendir(dir);
    if (folder == NULL) {
        return false;
    }
    bool empty = true;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        empty = empty && is_no_content(entry->d_name);
    }
    (void)closedir(folder);
    return empty;
}

static Error *damaged_identity(const State *state)
{
    Error *error = error_new(ERROR_STATE_FORMAT, "%s/TIDEMARK is damaged.", state->dir);
    return error_set_hint(error, "delete the directory: it is rebuilt from the topics");
}

static Error *other_format(const State *state, int64_t version)
{
    Error *error =
        error_new(ERROR_STATE_FORMAT, "State directory %s has format %lld; this program reads %d.",
                  state->dir, (long long)version, FORMAT_VERSION);
    return error_set_hint(error, "use the program that wrote it, or delete the directory: it "
                                 "is rebuilt from the topics");
}

/* The format is judged first: a newer one may write its other lines differently. An older one is
 * told by *ret_version. */
static Error *check_lines(const State *state, Str text, const char *pipeline, int64_t *ret_version)
{
    Str title = str_cut(&text, '\n');
    Str format = str_cut(&text, '\n');
    int64_t version = 0;
    if (!str_equal(title, STR("tidemark state")) || !str_starts_with(format, STR("format ")) ||
        !str_to_int64((Str){format.data + 7, format.size - 7}, &version)) {
        return damaged_identity(state);
    }
    if (version < 1 || version > FORMAT_VERSION) {
        return other_format(state, version);
    }
    *ret_version = version;
    Str owner = str_cut(&text, '\n');
    if (!str_starts_with(owner, STR("pipeline ")) || text.data == NULL) {
        return damaged_identity(state);
    }
    Str name = {owner.data + 9, owner.size - 9};
    if (!str_equal(name, str_from(pipeline))) {
        Error *error = error_new(ERROR_STATE_FORMAT,
                                 "State directory %s belongs to pipeline `%.*s`, not to `%s`.",
                                 state->dir, STR_ARG(name), pipeline);
        return error_set_hint(error, "give each pipeline a state.dir of its own");
    }
    return NULL;
}

static Error *check_identity(const State *state, const char *pipeline, int64_t *ret_version)
{
    *ret_version = FORMAT_VERSION;
    AUTO_BUFFER Buffer path = {0};
    int fd = open(path_in(&path, state->dir, "TIDEMARK"), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT && directory_is_empty(state->dir)) {
            return write_identity(state, pipeline);
        }
        Error *error = error_new(ERROR_STATE_FORMAT,
                                 "%s holds other files and is no state directory.", state->dir);
        return error_set_hint(error, "set state.dir to an empty or new folder");
    }
    AUTO_BUFFER Buffer text = {0};
    bool good = read_small_file(fd, &text);
    (void)close(fd);
    return good ? check_lines(state, buffer_str(&text), pipeline, ret_version)
                : unwritable(state->dir, "read");
}

/* A state of an older format is made anew, as a damaged one is: that mark comes first, so that a
 * crash in between leaves no old state under the new format. */
static Error *check_format(State *state, const char *pipeline)
{
    int64_t version = 0;
    TRY(check_identity(state, pipeline, &version));
    if (version == FORMAT_VERSION) {
        return NULL;
    }
    if (!write_small_file(state->dir, "DAMAGED", STR("of an older format\n"))) {
        return unwritable(state->dir, "write in it");
    }
    return write_identity(state, pipeline);
}

/* Removes the files of a folder (the database has no folders inside). */
static void empty_folder(const char *dir)
{
    DIR *folder = opendir(dir);
    if (folder == NULL) {
        return;
    }
    AUTO_BUFFER Buffer path = {0};
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)unlink(path_in(&path, dir, entry->d_name));
        }
    }
    (void)closedir(folder);
}

static bool is_there(const char *dir, const char *name)
{
    AUTO_BUFFER Buffer path = {0};
    return access(path_in(&path, dir, name), F_OK) == 0;
}

/* RocksDB would begin anew beside the old files when CURRENT is gone, and say nothing. */
static bool is_damaged(const State *state, const char *database)
{
    return is_there(state->dir, "DAMAGED") ||
           (!is_there(database, "CURRENT") && !directory_is_empty(database));
}

/* What a crash left of files on their way in: they never were. */
static Error *clear_ingest_folder(const State *state)
{
    AUTO_BUFFER Buffer path = {0};
    const char *folder = path_in(&path, state->dir, "ingest");
    TRY(make_directories(folder));
    empty_folder(folder);
    return NULL;
}

const char *state_new_file(State *state, Buffer *path)
{
    buffer_clear(path);
    buffer_printf(path, "%s/ingest/%u.sst", state->dir, atomic_fetch_add(&state->next_file, 1));
    return buffer_cstr(path);
}

void state_settle_memory(State *state)
{
    rocks_settle_memory(state->rocks, atomic_load(&state->runs) > 0 ? state->run_bytes : 0);
}

void state_count_run(State *state, int change)
{
    (void)atomic_fetch_add(&state->runs, change);
    state_settle_memory(state);
}

void state_count_run_bytes(State *state, size_t before, size_t now)
{
    (void)atomic_fetch_add(&state->run_bytes_used, now - before); /* modulo: may go down */
}

size_t state_run_share(const State *state)
{
    if (state->one_run_bytes > 0) {
        return state->one_run_bytes;
    }
    int runs = atomic_load(&state->runs);
    return state->run_bytes / (size_t)(runs < 1 ? 1 : runs);
}

size_t state_run_bytes(const State *state)
{
    return atomic_load(&state->run_bytes_used);
}

/* RocksDB writes its options down at every opening, gives up half-way (it has no word for "no log",
 * rocks_options.c) and leaves the beginning behind. It does not need them. */
static void remove_drafts(const char *database)
{
    DIR *folder = opendir(database);
    if (folder == NULL) {
        return;
    }
    AUTO_BUFFER Buffer path = {0};
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".dbtmp") != NULL) {
            (void)unlink(path_in(&path, database, entry->d_name));
        }
    }
    (void)closedir(folder);
}

static Error *make_anew(State *state, const char *database, size_t memory_bytes)
{
    empty_folder(database);
    TRY(rocks_open(database, memory_bytes, &state->rocks));
    AUTO_BUFFER Buffer path = {0};
    (void)unlink(path_in(&path, state->dir, "DAMAGED"));
    return NULL;
}

static Error *open_database(State *state, size_t memory_bytes, bool *ret_rebuilt)
{
    TRY(clear_ingest_folder(state));
    AUTO_BUFFER Buffer path = {0};
    const char *database = path_in(&path, state->dir, "rocksdb");
    TRY(make_directories(database));
    bool damaged = is_damaged(state, database);
    remove_drafts(database);
    Error *error = damaged ? NULL : rocks_open(database, memory_bytes, &state->rocks);
    if (error != NULL && error_class(error) == ERROR_STATE_CORRUPT) {
        error_free(error);
        error = NULL;
        damaged = true;
    }
    TRY(error);
    if (damaged) {
        TRY(make_anew(state, database, memory_bytes));
        *ret_rebuilt = true;
    }
    return rocks_family(state->rocks, "default", &state->meta);
}

static State *new_state(const char *dir)
{
    State *state = mem_new(State);
    state->dir = mem_strdup(dir);
    state->lock_fd = -1;
    pthread_mutex_init(&state->lock, NULL);
    return state;
}

Error *state_open(const StateOptions *options, State **ret_state, bool *ret_rebuilt)
{
    State *state = new_state(options->dir);
    state->one_run_bytes = options->run_bytes;
    state->run_bytes = options->run_bytes > 0 ? 0 : options->memory_bytes / RUN_SHARE;
    bool rebuilt = false;
    Error *error = make_directories(state->dir);
    if (error == NULL) {
        error = take_lock(state);
    }
    if (error == NULL) {
        error = check_format(state, options->pipeline);
    }
    if (error == NULL) {
        error = open_database(state, options->memory_bytes, &rebuilt);
    }
    if (error != NULL) {
        state_close(state);
        return error;
    }
    if (ret_rebuilt != NULL) {
        *ret_rebuilt = rebuilt;
    }
    *ret_state = state;
    return NULL;
}

Rocks *state_rocks(State *state)
{
    return state->rocks;
}

void state_close(State *state)
{
    if (state == NULL) {
        return;
    }
    while (state->tables != NULL) {
        TableStore *store = state->tables;
        state->tables = store->next;
        mem_free(store->name);
        mem_free(store);
    }
    rocks_close(state->rocks);
    if (state->lock_fd >= 0) {
        (void)close(state->lock_fd);
    }
    pthread_mutex_destroy(&state->lock);
    mem_free(state->dir);
    mem_free(state);
}

void state_mark_damaged(State *state)
{
    /* Best effort: a disk that takes no file any more will show the damage again. */
    if (!atomic_exchange(&state->damaged, true)) {
        (void)write_small_file(state->dir, "DAMAGED", STR("found while in use\n"));
    }
}

static void take_bytes(void *context, Str value)
{
    buffer_append_str(context, value);
}

/* What the store caches: when topic or partitions are others than before, its rows lie in wrong
 * shards or are of a topic that is gone. */
static Error *claim_store(State *state, TableStore *store, Str topic)
{
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer want = {0};
    AUTO_BUFFER Buffer have = {0};
    buffer_printf(&key, "table/%s", store->name);
    buffer_printf(&want, "%u/%.*s", store->shards, STR_ARG(topic));
    TRY(rocks_get(state->rocks, state->meta, buffer_str(&key), take_bytes, &have));
    if (str_equal(buffer_str(&have), buffer_str(&want))) {
        return NULL;
    }
    if (have.size > 0) {
        TRY(table_store_clear(store));
    }
    AUTO(rocks_batch) RocksBatch *batch = rocks_batch_new();
    rocks_batch_put(batch, state->meta, buffer_str(&key), buffer_str(&want));
    TRY(rocks_write(state->rocks, batch));
    return rocks_flush(state->rocks, state->meta);
}

static TableStore *find_store(const State *state, Str name)
{
    TableStore *store = state->tables;
    while (store != NULL && !str_equal(str_from(store->name), name)) {
        store = store->next;
    }
    return store;
}

static Error *find_or_make_store(State *state, Str table, TableStore **ret_store)
{
    TableStore *store = find_store(state, table);
    if (store == NULL) {
        AUTO_BUFFER Buffer name = {0};
        buffer_printf(&name, "table.%.*s", STR_ARG(table));
        RocksFamily *family = NULL;
        TRY(rocks_family(state->rocks, buffer_cstr(&name), &family));
        store = mem_new(TableStore);
        buffer_clear(&name);
        buffer_append_str(&name, table);
        *store = (TableStore){.state = state,
                              .rocks = state->rocks,
                              .family = family,
                              .name = mem_strdup(buffer_cstr(&name)),
                              .next = state->tables};
        state->tables = store;
    }
    *ret_store = store;
    return NULL;
}

Error *state_table(State *state, Str table, Str topic, uint32_t shards, TableStore **ret_store)
{
    if (shards > STATE_SHARDS_MAX) {
        return error_new(ERROR_STATE_FORMAT,
                         "Topic `%.*s` of table `%.*s` has %u partitions; a table may have %d.",
                         STR_ARG(topic), STR_ARG(table), shards, STATE_SHARDS_MAX);
    }
    TableStore *store = NULL;
    pthread_mutex_lock(&state->lock);
    Error *error = find_or_make_store(state, table, &store);
    if (error == NULL) {
        store->shards = shards;
        error = claim_store(state, store, topic);
    }
    pthread_mutex_unlock(&state->lock);
    if (error != NULL) {
        if (error_class(error) == ERROR_STATE_CORRUPT) {
            state_mark_damaged(state);
        }
        return error;
    }
    *ret_store = store;
    return NULL;
}

void state_remove(const char *dir)
{
    static const char *const files[] = {"DAMAGED", "DAMAGED.new", "TIDEMARK", "TIDEMARK.new",
                                        "LOCK"};
    AUTO_BUFFER Buffer path = {0};
    empty_folder(path_in(&path, dir, "rocksdb"));
    (void)rmdir(path_in(&path, dir, "rocksdb"));
    empty_folder(path_in(&path, dir, "ingest"));
    (void)rmdir(path_in(&path, dir, "ingest"));
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        (void)unlink(path_in(&path, dir, files[i]));
    }
    (void)rmdir(dir);
}

/* ------------------------------------------------------------ beside its owner (view.h) ---- */

/* A database that its owner changes may be seen between two of its files: then once more. */
static Error *open_database_to_read(State *state, const char *database)
{
    enum { TRIES = 10, PAUSE_MS = 20, MEMORY_BYTES = 8 << 20 };
    Error *error = NULL;
    for (int i = 0; i < TRIES; i++) {
        error_free(error);
        error = rocks_open_to_read(database, MEMORY_BYTES, &state->rocks);
        if (error == NULL || error_class(error) == ERROR_STATE_UNWRITABLE) {
            break;
        }
        clock_sleep_ms(PAUSE_MS);
    }
    TRY(error);
    return rocks_family(state->rocks, "default", &state->meta);
}

Error *state_view_open(const char *dir, const char *pipeline, State **ret_state)
{
    *ret_state = NULL;
    if (!is_there(dir, "TIDEMARK") || !is_there(dir, "rocksdb/CURRENT")) {
        return NULL;
    }
    State *state = new_state(dir);
    atomic_store(&state->damaged, true); /* its owner finds and notes damage */
    AUTO_BUFFER Buffer path = {0};
    int64_t version = 0;
    Error *error = check_identity(state, pipeline, &version);
    if (error == NULL && version != FORMAT_VERSION) {
        error = other_format(state, version);
    }
    if (error == NULL) {
        error = open_database_to_read(state, path_in(&path, dir, "rocksdb"));
    }
    if (error != NULL) {
        state_close(state);
        return error;
    }
    *ret_state = state;
    return NULL;
}

Error *state_view_table(State *state, Str table, TableStore **ret_store)
{
    AUTO_BUFFER Buffer name = {0};
    AUTO_BUFFER Buffer claim = {0};
    *ret_store = NULL;
    buffer_printf(&name, "table.%.*s", STR_ARG(table));
    if (!rocks_has_family(state->rocks, buffer_cstr(&name))) {
        return NULL;
    }
    TableStore *store = NULL;
    TRY(find_or_make_store(state, table, &store));
    buffer_clear(&name);
    buffer_printf(&name, "table/%.*s", STR_ARG(table));
    TRY(rocks_get(state->rocks, state->meta, buffer_str(&name), take_bytes, &claim));
    Str rest = buffer_str(&claim);
    Str number = str_cut(&rest, '/');
    int64_t shards = 0;
    if (str_to_int64(number, &shards) && shards > 0 && shards <= STATE_SHARDS_MAX) {
        store->shards = (uint32_t)shards;
        *ret_store = store;
    }
    return NULL;
}

/* /proc/locks names who holds a lock by the inode of its file; LOCK says who took it last. */
int64_t state_view_owner(const char *dir)
{
    AUTO_BUFFER Buffer path = {0};
    AUTO_BUFFER Buffer text = {0};
    int fd = open(path_in(&path, dir, "LOCK"), O_RDONLY | O_CLOEXEC);
    struct stat status;
    int64_t pid = 0;
    if (fd >= 0 && fstat(fd, &status) == 0 && read_small_file(fd, &text) &&
        str_starts_with(buffer_str(&text), STR("process "))) {
        (void)str_to_int64((Str){text.data + 8, text.size - 8}, &pid);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    FILE *locks = pid > 0 ? fopen("/proc/locks", "re") : NULL;
    if (locks == NULL) {
        return 0;
    }
    AUTO_BUFFER Buffer holder = {0};
    AUTO_BUFFER Buffer inode = {0};
    buffer_printf(&holder, " %lld ", (long long)pid);
    buffer_printf(&inode, ":%llu ", (unsigned long long)status.st_ino);
    char line[256];
    bool held = false;
    while (!held && fgets(line, sizeof line, locks) != NULL) {
        held = strstr(line, "FLOCK") != NULL && strstr(line, buffer_cstr(&holder)) != NULL &&
               strstr(line, buffer_cstr(&inode)) != NULL;
    }
    (void)fclose(locks);
    return held ? pid : 0;
}
