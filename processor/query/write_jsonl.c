/* Rows as JSON lines: what other programs read, and what results are compared by. */
#include <errno.h>

#include "connectors/format/format.h"
#include "processor/base/memory.h"
#include "processor/query/row_writer.h"

#include "processor/base/banned.h"

enum { FLUSH_BYTES = 256 << 10 };

typedef struct JsonlWriter {
    RowWriter writer;
    FILE *out;
    bool schema;
    Buffer lines;
} JsonlWriter;

Error *row_writer_flush(FILE *out, Buffer *lines, bool all)
{
    if (lines->size == 0 || (!all && lines->size < FLUSH_BYTES)) {
        return NULL;
    }
    errno = 0;
    size_t written = fwrite(lines->data, 1, lines->size, out);
    bool whole = written == lines->size && fflush(out) == 0;
    buffer_clear(lines);
    if (whole) {
        return NULL;
    }
    return errno == EPIPE ? error_new(ERROR_INTERRUPTED, "Nobody reads the output any more.")
                          : error_new(ERROR_OUTPUT_NOT_WRITABLE,
                                      "The output cannot be written: %s.", strerror(errno));
}

static Error *jsonl_begin(RowWriter *base, const Schema *schema)
{
    JsonlWriter *writer = (JsonlWriter *)base;
    if (writer->schema) {
        const Type row = {
            .kind = TYPE_STRUCT, .fields = schema->fields, .field_count = schema->field_count};
        type_format_simple(&row, &writer->lines);
        buffer_append_byte(&writer->lines, '\n');
    }
    return NULL;
}

static Error *jsonl_write(RowWriter *base, const Batch *batch)
{
    JsonlWriter *writer = (JsonlWriter *)base;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        json_encode_row(batch, batch_selected(batch, i), &writer->lines);
        buffer_append_byte(&writer->lines, '\n');
    }
    return row_writer_flush(writer->out, &writer->lines, false);
}

static Error *jsonl_end(RowWriter *base)
{
    JsonlWriter *writer = (JsonlWriter *)base;
    return row_writer_flush(writer->out, &writer->lines, true);
}

static void jsonl_close(RowWriter *base)
{
    buffer_done(&((JsonlWriter *)base)->lines);
    mem_free(base);
}

RowWriter *jsonl_writer_new(const RowWriterOptions *options)
{
    JsonlWriter *writer = mem_new(JsonlWriter);
    writer->out = options->out;
    writer->schema = options->schema;
    writer->writer = (RowWriter){jsonl_begin, jsonl_write, jsonl_end, jsonl_close};
    return &writer->writer;
}
