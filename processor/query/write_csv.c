/* Rows as CSV: a header, then a line a row. NULL is nothing, the empty text is "", so the two stay
 * apart; values are quoted where they hold the separator, quotes, line ends, or blanks at an end.
 */
#include "processor/base/memory.h"
#include "processor/data/value_text.h"
#include "processor/query/row_writer.h"

#include "processor/base/banned.h"

typedef struct CsvWriter {
    RowWriter writer;
    RowWriterOptions options;
    Buffer lines;
    Buffer value;
} CsvWriter;

static bool needs_quotes(Str value)
{
    if (value.size == 0 || value.data[0] == ' ' || value.data[value.size - 1] == ' ') {
        return true;
    }
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        if (c == ',' || c == '"' || c == '\n' || c == '\r' || c == '\\') {
            return true;
        }
    }
    return false;
}

static void put_value(Buffer *out, Str value)
{
    if (!needs_quotes(value)) {
        buffer_append_str(out, value);
        return;
    }
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] == '"') {
            buffer_append_byte(out, '"');
        }
        buffer_append_byte(out, value.data[i]);
    }
    buffer_append_byte(out, '"');
}

static Error *csv_begin(RowWriter *base, const Schema *schema)
{
    CsvWriter *writer = (CsvWriter *)base;
    for (size_t i = 0; i < schema->field_count; i++) {
        if (i > 0) {
            buffer_append_byte(&writer->lines, ',');
        }
        put_value(&writer->lines, schema->fields[i].name);
    }
    buffer_append_byte(&writer->lines, '\n');
    return NULL;
}

static void put_row(CsvWriter *writer, const Batch *batch, uint32_t row)
{
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        const Vector *column = batch->columns[i];
        if (i > 0) {
            buffer_append_byte(&writer->lines, ',');
        }
        if (column->type->kind != TYPE_NULL && vector_is_valid(column, row)) {
            buffer_clear(&writer->value);
            value_format(column, row, writer->options.time_zone, &writer->value);
            put_value(&writer->lines, buffer_str(&writer->value));
        }
    }
    buffer_append_byte(&writer->lines, '\n');
}

static Error *csv_write(RowWriter *base, const Batch *batch)
{
    CsvWriter *writer = (CsvWriter *)base;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        put_row(writer, batch, batch_selected(batch, i));
    }
    return row_writer_flush(writer->options.out, &writer->lines, false);
}

static Error *csv_end(RowWriter *base)
{
    CsvWriter *writer = (CsvWriter *)base;
    return row_writer_flush(writer->options.out, &writer->lines, true);
}

static void csv_close(RowWriter *base)
{
    CsvWriter *writer = (CsvWriter *)base;
    buffer_done(&writer->lines);
    buffer_done(&writer->value);
    mem_free(writer);
}

RowWriter *csv_writer_new(const RowWriterOptions *options)
{
    CsvWriter *writer = mem_new(CsvWriter);
    writer->options = *options;
    writer->writer = (RowWriter){csv_begin, csv_write, csv_end, csv_close};
    return &writer->writer;
}
