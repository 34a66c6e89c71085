/* Bytes of a file. The first two tell whether it is packed; a packed file may consist of several
 * members, one behind the other, as `cat a.gz b.gz` makes it. */
#include "connectors/file/byte_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { PACKED_BYTES = 256 << 10, WAIT_MS = 100, GZIP_OR_ZLIB = 15 + 32 };

struct ByteReader {
    char *path;
    int fd;
    bool regular;
    bool started;
    bool packed;
    bool ended;        /* no more bytes in the file */
    uint64_t position; /* in the file */
    ReadStop stop;
    unsigned char first[2]; /* read to see what it is; handed out again when it is not packed */
    size_t first_size;
    unsigned char *input; /* packed bytes */
    z_stream unpack;
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
    if (reader->packed) {
        (void)inflateEnd(&reader->unpack);
    }
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

static Error *start_unpacking(ByteReader *reader)
{
    reader->input = mem_alloc(PACKED_BYTES);
    memcpy(reader->input, reader->first, reader->first_size);
    reader->unpack.next_in = reader->input;
    reader->unpack.avail_in = (uInt)reader->first_size;
    if (inflateInit2(&reader->unpack, GZIP_OR_ZLIB) != Z_OK) {
        return read_failed(reader, "no memory to unpack it");
    }
    reader->packed = true;
    return NULL;
}

static Error *start(ByteReader *reader)
{
    reader->started = true;
    while (reader->first_size < sizeof reader->first && !reader->ended) {
        size_t got = 0;
        TRY(read_file(reader, reader->first + reader->first_size,
                      sizeof reader->first - reader->first_size, &got));
        reader->first_size += got;
    }
    bool packed = reader->first_size == 2 && reader->first[0] == 0x1F && reader->first[1] == 0x8B;
    return packed ? start_unpacking(reader) : NULL;
}

static Error *need_packed_bytes(ByteReader *reader)
{
    z_stream *unpack = &reader->unpack;
    if (unpack->avail_in > 0 || reader->ended) {
        return NULL;
    }
    size_t got = 0;
    TRY(read_file(reader, reader->input, PACKED_BYTES, &got));
    unpack->next_in = reader->input;
    unpack->avail_in = (uInt)got;
    return NULL;
}

static Error *unpack_some(ByteReader *reader, char *to, size_t room, size_t *ret_size)
{
    z_stream *unpack = &reader->unpack;
    uInt wanted = room > PACKED_BYTES ? PACKED_BYTES : (uInt)room;
    unpack->next_out = (Bytef *)to;
    unpack->avail_out = wanted;
    while (unpack->avail_out == wanted) {
        TRY(need_packed_bytes(reader));
        if (unpack->avail_in == 0) {
            *ret_size = 0;
            return reader->member_ended ? NULL : read_failed(reader, "its packed data are cut off");
        }
        if (reader->member_ended) {
            (void)inflateReset(unpack);
            reader->member_ended = false;
        }
        int code = inflate(unpack, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
            return read_failed(reader, "its packed data are damaged");
        }
        reader->member_ended = code == Z_STREAM_END;
    }
    *ret_size = wanted - unpack->avail_out;
    return NULL;
}

Error *byte_reader_read(ByteReader *reader, char *to, size_t room, size_t *ret_size)
{
    if (!reader->started) {
        TRY(start(reader));
    }
    if (reader->packed) {
        return unpack_some(reader, to, room, ret_size);
    }
    if (reader->first_size > 0) {
        size_t size = reader->first_size < room ? reader->first_size : room;
        memcpy(to, reader->first, size);
        memmove(reader->first, reader->first + size, sizeof reader->first - size);
        reader->first_size -= size;
        *ret_size = size;
        return NULL;
    }
    *ret_size = 0;
    return reader->ended ? NULL : read_file(reader, to, room, ret_size);
}

bool byte_reader_ready(const ByteReader *reader)
{
    struct pollfd wanted = {.fd = reader->fd, .events = POLLIN};
    return reader->regular || reader->packed || poll(&wanted, 1, 0) != 0;
}

uint64_t byte_reader_position(const ByteReader *reader)
{
    return reader->position;
}
