/* Going over files chunk by chunk: places of errors, and passes that look at all of the records
 * before any is read as a row. */
#include "connectors/file/file_table_internal.h"

#include "processor/base/banned.h"

int chunk_line_number(const ChunkWork *chunk, const char *at)
{
    int line = 1;
    for (const char *c = chunk->chunk.bytes.data; c < at; c++) {
        line += *c == '\n';
    }
    return line;
}

/* The chunk's place in the file is known only now: chunks before it have told their lines. */
Error *line_place_advance(LinePlace *place, const FileTable *table, ChunkWork *chunk)
{
    place->before = chunk->chunk.first ? 0 : place->before + place->lines;
    place->file = chunk->chunk.file;
    place->lines = chunk->lines;
    Error *error = chunk->error;
    chunk->error = NULL;
    if (error != NULL && error_place(error).line > 0) {
        error = error_shift_place(error, (int)place->before, 0);
        error = error_set_file(error, table->files.files[place->file].name);
    }
    return error;
}

static Error *scan_chunks(FileTable *table, ChunkPool *pool)
{
    LinePlace place = {0};
    for (;;) {
        ChunkWork *chunk = NULL;
        TRY(chunk_pool_take(pool, &chunk));
        if (chunk == NULL) {
            return NULL;
        }
        Error *error = line_place_advance(&place, table, chunk);
        chunk_pool_give_back(pool, chunk);
        TRY(error);
    }
}

Error *table_scan(FileTable *table, const ChunkTask *task)
{
    for (size_t i = 0; i < table->files.count; i++) {
        TRY(file_entry_keep(&table->files.files[i], table_stop(table), table->arena));
    }
    ChunkPool *pool = chunk_pool_open(&table->files, task, table->options.interrupted);
    table->pool = pool;
    Error *error = scan_chunks(table, pool);
    table->pool = NULL;
    chunk_pool_close(pool);
    return error;
}
