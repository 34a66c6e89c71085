/* Files cut into chunks. A chunk is filled to its size and cut behind its last whole record; what
 * is left over begins the next chunk. A record longer than a chunk makes that chunk as long as it
 * is. */
#include "connectors/file/chunk_reader.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { CHUNK_BYTES = 512 << 10, RECORD_BYTES_MAX = 512 << 20 };

struct ChunkReader {
    FileList *files;
    RecordsEnd records_end;
    const void *context;
    ReadStop stop;
    size_t file;         /* the open one, or the next */
    ByteReader *bytes;   /* NULL: none is open */
    Buffer left_over;    /* of the open file */
    bool first;          /* no chunk of the open file yet */
    uint64_t read_bytes; /* of the files that are done */
};

ChunkReader *chunk_reader_new(FileList *files, RecordsEnd records_end, const void *context,
                              ReadStop stop)
{
    ChunkReader *reader = mem_new(ChunkReader);
    *reader =
        (ChunkReader){.files = files, .records_end = records_end, .context = context, .stop = stop};
    return reader;
}

void chunk_reader_free(ChunkReader *reader)
{
    if (reader != NULL) {
        byte_reader_close(reader->bytes);
        buffer_done(&reader->left_over);
        mem_free(reader);
    }
}

uint64_t chunk_reader_position(const ChunkReader *reader)
{
    return reader->read_bytes + (reader->bytes == NULL ? 0 : byte_reader_position(reader->bytes));
}

size_t chunk_lines_end(const void *context, Str bytes)
{
    (void)context;
    const char *last = memrchr(bytes.data, '\n', bytes.size);
    return last == NULL ? 0 : (size_t)(last - bytes.data) + 1;
}

static void close_file(ChunkReader *reader)
{
    reader->read_bytes += byte_reader_position(reader->bytes);
    byte_reader_close(reader->bytes);
    reader->bytes = NULL;
    reader->file++;
}

/* Fills up to `size` bytes, less where a pipe has no more for now; *ret_ended at the file's end. */
static Error *fill(ChunkReader *reader, Buffer *bytes, size_t size, bool *ret_ended)
{
    bool any = false;
    while (bytes->size < size && (!any || byte_reader_ready(reader->bytes))) {
        size_t got = 0;
        size_t room = size - bytes->size;
        TRY(byte_reader_read(reader->bytes, buffer_reserve(bytes, room), room, &got));
        bytes->size += got;
        any = true;
        if (got == 0) {
            *ret_ended = true;
            break;
        }
    }
    return NULL;
}

COLD static Error *record_too_long(const ChunkReader *reader)
{
    return error_new(ERROR_MALFORMED_RECORD,
                     "The file %s holds a record of more than %d MiB: is it one record a line?",
                     reader->files->files[reader->file].name, RECORD_BYTES_MAX >> 20);
}

/* Small files get no large buffer: a pattern may stand for many of them. */
static size_t chunk_size(const ChunkReader *reader)
{
    const FileEntry *file = &reader->files->files[reader->file];
    return file->regular && file->size < CHUNK_BYTES ? (size_t)file->size + 1 : CHUNK_BYTES;
}

/* Fills the chunk from the open file. */
static Error *read_chunk(ChunkReader *reader, Buffer *bytes)
{
    size_t wanted = chunk_size(reader);
    bool ended = false;
    buffer_append(bytes, reader->left_over.data, reader->left_over.size);
    buffer_clear(&reader->left_over);
    for (;;) {
        TRY(fill(reader, bytes, wanted, &ended));
        if (ended) {
            close_file(reader);
            return NULL;
        }
        size_t whole = reader->records_end(reader->context, buffer_str(bytes));
        if (whole > 0) {
            buffer_append(&reader->left_over, bytes->data + whole, bytes->size - whole);
            bytes->size = whole;
            return NULL;
        }
        if (bytes->size >= RECORD_BYTES_MAX) {
            return record_too_long(reader);
        }
        wanted = bytes->size < wanted ? wanted : wanted * 2;
    }
}

Error *chunk_reader_next(ChunkReader *reader, Chunk *chunk, bool *ret_more)
{
    buffer_clear(&chunk->bytes);
    while (chunk->bytes.size == 0) {
        if (reader->bytes == NULL) {
            if (reader->file >= reader->files->count) {
                *ret_more = false;
                return NULL;
            }
            TRY(file_entry_open(&reader->files->files[reader->file], reader->stop,
                                &reader->left_over, &reader->bytes));
            reader->first = true;
        }
        chunk->file = reader->file;
        TRY(read_chunk(reader, &chunk->bytes));
        chunk->first = reader->first;
        reader->first = false;
    }
    *ret_more = true;
    return NULL;
}
