/* The texts of the first column, a line each, as they are: plans. */
#include "processor/base/memory.h"
#include "processor/query/row_writer.h"

#include "processor/base/banned.h"

typedef struct TextWriter {
    RowWriter writer;
    FILE *out;
    Buffer lines;
} TextWriter;

static Error *text_begin(RowWriter *base, const Schema *schema)
{
    (void)base;
    (void)schema;
    return NULL;
}

static Error *text_write(RowWriter *base, const Batch *batch)
{
    TextWriter *writer = (TextWriter *)base;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        buffer_append_str(&writer->lines,
                          VECTOR_VALUE(batch->columns[0], Str, batch_selected(batch, i)));
        buffer_append_byte(&writer->lines, '\n');
    }
    return NULL;
}

static Error *text_end(RowWriter *base)
{
    TextWriter *writer = (TextWriter *)base;
    return row_writer_flush(writer->out, &writer->lines, true);
}

static void text_close(RowWriter *base)
{
    buffer_done(&((TextWriter *)base)->lines);
    mem_free(base);
}

RowWriter *text_writer_new(const RowWriterOptions *options)
{
    TextWriter *writer = mem_new(TextWriter);
    writer->out = options->out;
    writer->writer = (RowWriter){text_begin, text_write, text_end, text_close};
    return &writer->writer;
}
