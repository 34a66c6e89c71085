/* Lines of a chunk that are one JSON object each, into batches. Blank lines count for nothing. */
#include "connectors/file/file_table_internal.h"
#include "connectors/format/format.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct JsonWorker {
    Decoder *decoder;
    Str lines[BATCH_ROWS];
} JsonWorker;

static void json_close(void *worker)
{
    decoder_close(((JsonWorker *)worker)->decoder);
    mem_free(worker);
}

static Error *json_open(const ReadRequest *request, void **ret_worker)
{
    DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = request->table->options.time_zone};
    JsonWorker *worker = mem_new(JsonWorker);
    Error *error = decoder_open(&options, request->read, &worker->decoder);
    if (error != NULL) {
        json_close(worker);
        return error;
    }
    *ret_worker = worker;
    return NULL;
}

bool json_line_is_blank(Str line)
{
    size_t i = 0;
    while (i < line.size && (line.data[i] == ' ' || line.data[i] == '\t' || line.data[i] == '\r')) {
        i++;
    }
    return i == line.size;
}

/* Up to BATCH_ROWS lines that are not blank; *rest goes on behind them. */
static size_t take_lines(JsonWorker *worker, ChunkWork *chunk, Str *rest)
{
    size_t count = 0;
    while (rest->size > 0 && count < BATCH_ROWS) {
        const char *end = memchr(rest->data, '\n', rest->size);
        size_t size = end == NULL ? rest->size : (size_t)(end - rest->data);
        Str line = {rest->data, size};
        size_t step = end == NULL ? size : size + 1;
        rest->data += step;
        rest->size -= step;
        chunk->lines++;
        if (LIKELY(size > 0 && line.data[0] == '{') || !json_line_is_blank(line)) {
            worker->lines[count++] = line;
        }
    }
    return count;
}

Error *json_line_error(Error *error, Str line, int number)
{
    Str text = str_trim(line);
    error = error_set_place(error, (SourcePlace){number, 1, 0});
    if (text.size > 0 && text.data[0] == '[') {
        return error_set_hint(error, "each line is one object; `jq -c '.[]' FILE` makes such lines "
                                     "of an array");
    }
    return str_equal(text, STR("{"))
               ? error_set_hint(error, "each line is one object; `jq -c . FILE` makes such lines")
               : error;
}

/* The first line that failed is the chunk's error. */
static void take_error(const JsonWorker *worker, ChunkWork *chunk, RowErrors *errors)
{
    if (errors->count == 0 || chunk->error != NULL) {
        return;
    }
    Str line = worker->lines[errors->rows[0]];
    chunk->error =
        json_line_error(error_copy(errors->errors[0]), line, chunk_line_number(chunk, line.data));
}

static void json_work(void *state, ChunkWork *chunk)
{
    JsonWorker *worker = state;
    Str rest = buffer_str(&chunk->chunk.bytes);
    while (rest.size > 0) {
        RowErrors errors = {0};
        Batch *batch = NULL;
        size_t count = take_lines(worker, chunk, &rest);
        if (count == 0) {
            continue;
        }
        decoder_decode(worker->decoder, worker->lines, count, chunk->arena, &errors, &batch);
        take_error(worker, chunk, &errors);
        row_errors_done(&errors);
        chunk_add_batch(chunk, batch);
    }
}

const LineFormat json_lines = {
    .records_end = chunk_lines_end,
    .open = json_open,
    .work = json_work,
    .close = json_close,
};
