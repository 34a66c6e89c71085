/* Bytes of a file. The first ones tell whether it is packed, and whether it is a file of a kind
 * that is known but not read: better to say so than to take it for CSV. */
#include "connectors/file/byte_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connectors/file/foreign_file.h"
#include "connectors/file/unpack.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { PACKED_BYTES = 256 << 10, WAIT_MS = 100, BOM_BYTES = 3 };

struct ByteReader {
    char *path;
    int fd;
    bool regular;
    bool started;
    bool ended;        /* no more bytes in the file */
    uint64_t position; /* in the file */
    ReadStop stop;
    /* Read to see what the file is; then the bytes of it that were not handed out yet. */
    char first[FOREIGN_MARK_BYTES];
    Str left;
    Unpacker *unpacker; /* NULL: not packed */
    char *input;        /* packed bytes */
    Str packed;         /* those of them that wait */
    bool member_ended;
};

COLD static Error *read_failed(const ByteReader *reader, const char *why)
{
    return error_new(ERROR_FILE_NOT_READABLE, "The file %s cannot be read: %s.", reader->path, why);
}

Error *byte_reader_open(const char *path, ReadStop stop, ByteReader **ret_reader)
{
    bool standard_input = strcmp(path, "-") == 0;
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return error_new(ERROR_FILE_NOT_READABLE, "The file %s cannot be read: %s.", path,
                         strerror(errno));
    }
    struct stat about;
    ByteReader *reader = mem_new(ByteReader);
    *reader = (ByteReader){.path = mem_strdup(path), .fd = fd, .stop = stop};
    reader->regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    *ret_reader = reader;
    return NULL;
}

void byte_reader_set_stop(ByteReader *reader, ReadStop stop)
{
    reader->stop = stop;
}

void byte_reader_close(ByteReader *reader)
{
    if (reader == NULL) {
        return;
    }
    unpacker_free(reader->unpacker);
    if (reader->fd != STDIN_FILENO) {
        (void)close(reader->fd);
    }
    mem_free(reader->input);
    mem_free(reader->path);
    mem_free(reader);
}

static bool must_stop(const ReadStop *stop)
{
    return (stop->closing != NULL && atomic_load(stop->closing)) ||
           (stop->interrupted != NULL && *(const volatile bool *)stop->interrupted);
}

/* A pipe may be silent for long: the wait ends when the query is to stop. */
static Error *wait_for_bytes(const ByteReader *reader)
{
    struct pollfd wanted = {.fd = reader->fd, .events = POLLIN};
    while (!reader->regular && poll(&wanted, 1, WAIT_MS) <= 0) {
        if (must_stop(&reader->stop)) {
            return error_new(ERROR_INTERRUPTED, "The query was interrupted.");
        }
    }
    return NULL;
}

static Error *read_file(ByteReader *reader, void *to, size_t room, size_t *ret_size)
{
    for (;;) {
        TRY(wait_for_bytes(reader));
        ssize_t got = read(reader->fd, to, room);
        if (got >= 0) {
            *ret_size = (size_t)got;
            reader->position += (size_t)got;
            reader->ended |= got == 0;
            return NULL;
        }
        if (errno != EINTR && errno != EAGAIN) {
            return read_failed(reader, strerror(errno));
        }
    }
}

static Error *start_unpacking(ByteReader *reader, Packing packing)
{
    reader->input = mem_alloc(PACKED_BYTES);
    memcpy(reader->input, reader->left.data, reader->left.size);
    reader->packed = (Str){reader->input, reader->left.size};
    reader->left = STR_NULL;
    reader->unpacker = unpacker_new(packing);
    return reader->unpacker != NULL ? NULL : read_failed(reader, "no memory to unpack it");
}

static Error *need_packed_bytes(ByteReader *reader)
{
    if (reader->packed.size > 0 || reader->ended) {
        return NULL;
    }
    size_t got = 0;
    TRY(read_file(reader, reader->input, PACKED_BYTES, &got));
    reader->packed = (Str){reader->input, got};
    return NULL;
}

/* What was packed may come out later than it went in: at the end of the file the unpacker is asked
 * until it has no more. */
static Error *unpack_some(ByteReader *reader, char *to, size_t room, size_t *ret_size)
{
    *ret_size = 0;
    while (*ret_size == 0) {
        TRY(need_packed_bytes(reader));
        bool dry = reader->packed.size == 0;
        if (dry && reader->member_ended) {
            return NULL;
        }
        UnpackEnd end = unpacker_run(reader->unpacker, &reader->packed, to, room, ret_size);
        if (end == UNPACK_DAMAGED) {
            return read_failed(reader, "its packed data are damaged");
        }
        reader->member_ended = end == UNPACK_MEMBER;
        if (dry && *ret_size == 0 && !reader->member_ended) {
            return read_failed(reader, "its packed data are cut off");
        }
    }
    return NULL;
}

static Error *read_some(ByteReader *reader, char *to, size_t room, size_t *ret_size)
{
    *ret_size = 0;
    if (reader->unpacker != NULL) {
        return unpack_some(reader, to, room, ret_size);
    }
    return reader->ended ? NULL : read_file(reader, to, room, ret_size);
}

/* Goes on reading until `first` is full or the file ends. */
static Error *read_first(ByteReader *reader)
{
    size_t size = 0;
    for (size_t got = 1; got > 0 && size < sizeof reader->first; size += got) {
        TRY(read_some(reader, reader->first + size, sizeof reader->first - size, &got));
    }
    reader->left = (Str){reader->first, size};
    return NULL;
}

static Error *start(ByteReader *reader)
{
    reader->started = true;
    TRY(read_first(reader));
    Packing packing = packing_of(reader->left);
    if (packing != PACKED_NOT) {
        TRY(start_unpacking(reader, packing));
        TRY(read_first(reader));
    }
    if (str_starts_with(reader->left, STR("\xEF\xBB\xBF"))) {
        reader->left = (Str){reader->left.data + BOM_BYTES, reader->left.size - BOM_BYTES};
    }
    return foreign_file_check(reader->left, reader->path);
}

Error *byte_reader_read(ByteReader *reader, char *to, size_t room, size_t *ret_size)
{
    if (!reader->started) {
        TRY(start(reader));
    }
    if (reader->left.size == 0) {
        return read_some(reader, to, room, ret_size);
    }
    size_t size = reader->left.size < room ? reader->left.size : room;
    memcpy(to, reader->left.data, size);
    reader->left = (Str){reader->left.data + size, reader->left.size - size};
    *ret_size = size;
    return NULL;
}

bool byte_reader_ready(const ByteReader *reader)
{
    struct pollfd wanted = {.fd = reader->fd, .events = POLLIN};
    return reader->regular || reader->unpacker != NULL || poll(&wanted, 1, 0) != 0;
}

uint64_t byte_reader_position(const ByteReader *reader)
{
    return reader->position;
}
