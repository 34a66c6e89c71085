/* The columns of files of JSON lines: each thread infers from the chunks it gets, then what they
 * saw is merged. */
#include "connectors/file/file_table_internal.h"
#include "connectors/format/json_infer.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

static void infer_lines(void *worker, ChunkWork *chunk)
{
    Str rest = buffer_str(&chunk->chunk.bytes);
    while (rest.size > 0) {
        const char *end = memchr(rest.data, '\n', rest.size);
        Str line = {rest.data, end == NULL ? rest.size : (size_t)(end - rest.data)};
        size_t step = line.size + (end != NULL);
        chunk->lines++;
        Error *error = json_line_is_blank(line) ? NULL : json_inference_add(worker, line);
        if (UNLIKELY(error != NULL)) {
            chunk->error = json_line_error(error, line, (int)chunk->lines);
            return;
        }
        rest = (Str){rest.data + step, rest.size - step};
    }
}

static Error *infer(FileTable *table, void **workers, Arena *arena, const Schema **ret_schema)
{
    ChunkTask task = {.records_end = chunk_lines_end,
                      .work = infer_lines,
                      .workers = workers,
                      .worker_count = table->threads};
    TRY(table_scan(table, &task));
    for (unsigned i = 1; i < table->threads; i++) {
        json_inference_merge(workers[0], workers[i]);
    }
    return json_inference_schema(workers[0], arena, ret_schema);
}

Error *json_table_infer(FileTable *table, Arena *arena, const Schema **ret_schema)
{
    void **workers = mem_alloc_array(table->threads, sizeof(void *));
    for (unsigned i = 0; i < table->threads; i++) {
        workers[i] = json_inference_new();
    }
    Error *error = infer(table, workers, arena, ret_schema);
    for (unsigned i = 0; i < table->threads; i++) {
        json_inference_free(workers[i]);
    }
    mem_free(workers);
    return error;
}
