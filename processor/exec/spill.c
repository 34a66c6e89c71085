/* Rows in a temporary file.
 *
 *     file     frames
 *     frame    raw size, stored size, hash of the stored bytes (8 bytes each) · blocks
 * (column_block.h), packed by LZ4 where that makes them smaller
 *
 * A block are the rows of one spill_write. A frame is closed at FRAME_BYTES, so rows written a few
 * at a time (to many partitions) cost no system call each, and are put together to large batches
 * when they are read. What is read is checked as any foreign byte: a damaged frame fails its hash,
 * and every size is compared with the bytes that are there. */
#include "processor/exec/spill.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "processor/base/hash.h"
#include "processor/base/memory.h"
#include "processor/exec/column_block.h"

#include "processor/base/banned.h"

enum { FRAME_BYTES = 64 * 1024 };
/* What must be in memory may take that many times the bound, and that much at least. */
enum { HELD_FACTOR = 2, HELD_AT_LEAST = 256 << 20 };

typedef struct FrameHeader {
    uint64_t raw_size;
    uint64_t stored_size;
    uint64_t hash;
} FrameHeader;

struct SpillFile {
    int fd;
    char *folder;
    const Schema *schema;
    uint64_t row_count;
    uint64_t size; /* of the file */
    uint64_t at;   /* where reading stands */
    bool reading;
    Buffer raw;    /* the frame at hand */
    size_t raw_at; /* reading: the next block of it */
    Buffer stored;
};

/* ---- The file ---- */

static Error *file_error(const SpillFile *file, const char *doing)
{
    int reason = errno;
    if (reason == ENOSPC || reason == EDQUOT) {
        return error_set_hint(error_new(ERROR_INSUFFICIENT_DISK,
                                        "No space is left in %s for rows that do not fit in "
                                        "memory.",
                                        file->folder),
                              "give the query more memory, or another temporary folder (TMPDIR)");
    }
    return error_new(ERROR_SPILL_IO, "Cannot %s a temporary file in %s: %s.", doing, file->folder,
                     strerror(reason));
}

static Error *damaged(const SpillFile *file)
{
    return error_new(ERROR_SPILL_IO, "A temporary file in %s is damaged.", file->folder);
}

/* Without a name from the first moment where the file system can do that. */
static int open_unnamed(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
        return fd;
    }
    AUTO_BUFFER Buffer path = {0};
    buffer_printf(&path, "%s/tidemark-spill-XXXXXX", folder);
    buffer_append_byte(&path, '\0');
    fd = mkostemp(path.data, O_CLOEXEC);
    if (fd >= 0) {
        (void)unlink(path.data);
    }
    return fd;
}

static const char *folder_of(const QueryMemory *memory)
{
    if (memory != NULL && memory->spill_dir != NULL) {
        return memory->spill_dir;
    }
    const char *folder = getenv("TMPDIR");
    return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

Error *spill_open(const QueryMemory *memory, const Schema *schema, SpillFile **ret_file)
{
    AUTO(spill) SpillFile *file = mem_new(SpillFile);
    file->folder = mem_strdup(folder_of(memory));
    file->schema = schema;
    file->fd = open_unnamed(file->folder);
    if (file->fd < 0) {
        return file_error(file, "create");
    }
    *ret_file = file;
    file = NULL;
    return NULL;
}

void spill_close(SpillFile *file)
{
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    buffer_done(&file->raw);
    buffer_done(&file->stored);
    mem_free(file->folder);
    mem_free(file);
}

uint64_t spill_rows(const SpillFile *file)
{
    return file->row_count;
}

static Error *write_bytes(SpillFile *file, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t written = write(file->fd, from, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return file_error(file, "write");
        }
        from += written;
        size -= (size_t)written;
        file->size += (size_t)written;
    }
    return NULL;
}

static Error *read_bytes(SpillFile *file, void *bytes, size_t size)
{
    char *to = bytes;
    if (size > file->size - file->at) {
        return damaged(file);
    }
    while (size > 0) {
        ssize_t got = pread(file->fd, to, size, (off_t)file->at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return file_error(file, "read");
        }
        if (got == 0) {
            return damaged(file);
        }
        to += got;
        size -= (size_t)got;
        file->at += (size_t)got;
    }
    return NULL;
}

/* ---- Frames ---- */

static Error *write_frame(SpillFile *file)
{
    if (file->raw.size == 0) {
        return NULL;
    }
    Str raw = buffer_str(&file->raw);
    FrameHeader header = {raw.size, raw.size, 0};
    const char *stored = raw.data;
    if (raw.size <= LZ4_MAX_INPUT_SIZE) {
        buffer_clear(&file->stored);
        char *to = buffer_reserve(&file->stored, raw.size);
        /* 0: it would not become smaller. */
        int packed = LZ4_compress_default(raw.data, to, (int)raw.size, (int)raw.size - 1);
        if (packed > 0) {
            header.stored_size = (uint64_t)packed;
            stored = to;
        }
    }
    header.hash = hash_bytes((Str){stored, header.stored_size});
    TRY(write_bytes(file, &header, sizeof header));
    TRY(write_bytes(file, stored, header.stored_size));
    buffer_clear(&file->raw);
    return NULL;
}

static Error *take_stored(SpillFile *file, const FrameHeader *header, char *to)
{
    TRY(read_bytes(file, to, header->stored_size));
    return hash_bytes((Str){to, header->stored_size}) == header->hash ? NULL : damaged(file);
}

static Error *unpack(SpillFile *file, const FrameHeader *header, char *raw)
{
    buffer_clear(&file->stored);
    char *stored = buffer_reserve(&file->stored, header->stored_size);
    TRY(take_stored(file, header, stored));
    int size = LZ4_decompress_safe(stored, raw, (int)header->stored_size, (int)header->raw_size);
    return size == (int)header->raw_size ? NULL : damaged(file);
}

/* Compressed bytes are at most 255 times as many when unpacked (LZ4's format): a damaged size
 * cannot make us ask for more memory than that. */
static Error *read_frame(SpillFile *file)
{
    FrameHeader header = {0};
    TRY(read_bytes(file, &header, sizeof header));
    uint64_t left = file->size - file->at;
    bool packed = header.stored_size != header.raw_size;
    if (header.stored_size > left || header.raw_size == 0 ||
        (packed && (header.stored_size > header.raw_size || header.raw_size > LZ4_MAX_INPUT_SIZE ||
                    header.raw_size / 256 > header.stored_size))) {
        return damaged(file);
    }
    buffer_clear(&file->raw);
    char *raw = buffer_reserve(&file->raw, header.raw_size);
    TRY(packed ? unpack(file, &header, raw) : take_stored(file, &header, raw));
    file->raw.size = header.raw_size;
    file->raw_at = 0;
    return NULL;
}

/* ---- Rows ---- */

Error *spill_write(SpillFile *file, const Batch *batch)
{
    assert(!file->reading);
    if (batch->selected_count == 0) {
        return NULL;
    }
    column_block_put(batch, &file->raw);
    file->row_count += batch->selected_count;
    return file->raw.size >= FRAME_BYTES ? write_frame(file) : NULL;
}

Error *spill_rewind(SpillFile *file)
{
    if (!file->reading) {
        TRY(write_frame(file));
    }
    file->reading = true;
    file->at = 0;
    file->raw_at = 0;
    buffer_clear(&file->raw);
    return NULL;
}

static Str bytes_left(const SpillFile *file)
{
    return (Str){file->raw.data + file->raw_at, file->raw.size - file->raw_at};
}

/* Blocks of the frame, as many as make one batch. */
static Error *take_blocks(SpillFile *file, Arena *arena, Batch *batch)
{
    Str bytes = bytes_left(file);
    while (bytes.size > 0) {
        uint32_t count = 0;
        if (!column_block_rows(bytes, &count)) {
            return damaged(file);
        }
        if (batch->row_count > 0 && batch->row_count + count > BATCH_ROWS) {
            break;
        }
        if (!column_block_take(&bytes, arena, batch)) {
            return damaged(file);
        }
    }
    file->raw_at = file->raw.size - bytes.size;
    return NULL;
}

Error *spill_read(SpillFile *file, Arena *arena, Batch **ret_batch)
{
    assert(file->reading);
    *ret_batch = NULL;
    if (file->raw_at == file->raw.size) {
        if (file->at == file->size) {
            return NULL;
        }
        TRY(read_frame(file));
    }
    uint32_t count = 0;
    if (!column_block_rows(bytes_left(file), &count)) {
        return damaged(file);
    }
    Batch *batch = batch_new(arena, file->schema, count);
    TRY(take_blocks(file, arena, batch));
    *ret_batch = batch;
    return NULL;
}

/* ---- Memory ---- */

bool memory_exceeded(const QueryMemory *memory)
{
    return memory != NULL && memory->used_bytes > memory->limit_bytes;
}

void memory_hold(QueryMemory *memory, size_t *held, size_t bytes)
{
    if (memory != NULL) {
        assert(memory->used_bytes >= *held);
        memory->used_bytes += bytes - *held;
    }
    *held = bytes;
}

Error *memory_check(const QueryMemory *memory, size_t held, const char *what, const char *hint,
                    SourcePlace place)
{
    if (memory == NULL || held <= HELD_AT_LEAST || held / HELD_FACTOR <= memory->limit_bytes) {
        return NULL;
    }
    Error *error = error_at(ERROR_INSUFFICIENT_MEMORY, place,
                            "%s do not fit in memory: they take %zu MiB so far, and the query may "
                            "use %zu MiB.",
                            what, held >> 20, memory->limit_bytes >> 20);
    return error_set_hint(error, "give the query more memory, or %s", hint);
}
