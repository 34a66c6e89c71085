/* Rows as a table for people:
 *
 *     region   n        total
 *     string   bigint   decimal(20,2)
 *     ──────   ──────   ─────────────
 *     north        12         1204.50
 *     NULL          3            NULL
 *     2 rows
 *
 * Widths come from the first rows, so that a long result begins to show at once. On a terminal too
 * narrow for it the widest columns are cut (`…`); where even that does not do, a row is shown as a
 * list of its columns. */
#include "processor/base/memory.h"
#include "processor/data/value_text.h"
#include "processor/query/cell_text.h"
#include "processor/query/row_writer.h"

#include "processor/base/banned.h"

enum { MEASURED_ROWS = 1000, GAP = 3, NARROWEST = 8 };

typedef struct Column {
    Str name;
    Str type;
    size_t width;
    bool right;
} Column;

typedef struct TableWriter {
    RowWriter writer;
    RowWriterOptions options;
    Arena *arena; /* of one result */
    Column *columns;
    size_t column_count;
    Buffer text;  /* of the cells that wait until widths are known */
    size_t *ends; /* of each of these cells in `text` */
    size_t cell_count;
    size_t cell_capacity;
    bool measured; /* the header is out */
    bool list;     /* too narrow: rows as lists */
    uint64_t row_count;
    Buffer lines;
} TableWriter;

static Error *table_begin(RowWriter *base, const Schema *schema)
{
    TableWriter *writer = (TableWriter *)base;
    arena_reset(writer->arena);
    writer->column_count = schema->field_count;
    writer->columns = arena_new_array(writer->arena, Column, schema->field_count);
    writer->cell_count = 0;
    writer->measured = false;
    writer->list = false;
    writer->row_count = 0;
    buffer_clear(&writer->text);
    for (size_t i = 0; i < schema->field_count; i++) {
        AUTO_BUFFER Buffer name = {0};
        AUTO_BUFFER Buffer type = {0};
        cell_text_append(&name, schema->fields[i].name);
        type_format_simple(schema->fields[i].type, &type);
        Column *column = &writer->columns[i];
        column->name = arena_copy_str(writer->arena, buffer_str(&name));
        column->type = arena_copy_str(writer->arena, buffer_str(&type));
        column->right = type_is_numeric(schema->fields[i].type);
    }
    return NULL;
}

/* --------------------------------------------------------------- widths --- */

static Str cell(const TableWriter *writer, size_t index)
{
    size_t begin = index == 0 ? 0 : writer->ends[index - 1];
    return (Str){writer->text.data + begin, writer->ends[index] - begin};
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t table_width(const TableWriter *writer)
{
    size_t width = 0;
    for (size_t i = 0; i < writer->column_count; i++) {
        width += writer->columns[i].width + (i == 0 ? 0 : GAP);
    }
    return width;
}

/* Cuts the widest columns until all fit; false when that cannot be. */
static bool fit_terminal(TableWriter *writer)
{
    size_t room = writer->options.columns;
    for (size_t width = table_width(writer); width > room; width = table_width(writer)) {
        Column *widest = &writer->columns[0];
        for (size_t i = 1; i < writer->column_count; i++) {
            if (writer->columns[i].width > widest->width) {
                widest = &writer->columns[i];
            }
        }
        if (widest->width <= NARROWEST) {
            return false;
        }
        size_t wanted = widest->width > width - room ? widest->width - (width - room) : 0;
        size_t less = larger(wanted, NARROWEST);
        /* Not below the half at once: the next widest may be as wide. */
        widest->width = larger(less, widest->width / 2);
    }
    return true;
}

static void measure(TableWriter *writer)
{
    for (size_t i = 0; i < writer->column_count; i++) {
        Column *column = &writer->columns[i];
        column->width = larger(cell_text_width(column->name), cell_text_width(column->type));
    }
    for (size_t i = 0; writer->column_count > 0 && i < writer->cell_count; i++) {
        Column *column = &writer->columns[i % writer->column_count];
        column->width = larger(column->width, cell_text_width(cell(writer, i)));
    }
    writer->list = writer->options.terminal && !fit_terminal(writer);
}

/* ---------------------------------------------------------------- lines --- */

/* Takes back the blanks at the end of the line and ends it. */
static void end_line(Buffer *lines)
{
    while (lines->size > 0 && lines->data[lines->size - 1] == ' ') {
        lines->size--;
    }
    buffer_append_byte(lines, '\n');
}

static void put_cell(TableWriter *writer, size_t column, Str text)
{
    if (column > 0) {
        cell_text_pad(&writer->lines, STR(""), GAP, false);
    }
    const Column *about = &writer->columns[column];
    if (!writer->options.terminal && cell_text_width(text) > about->width) {
        buffer_append_str(&writer->lines, text); /* nothing is cut where there is room */
    } else {
        cell_text_pad(&writer->lines, text, about->width, about->right);
    }
}

static void put_header(TableWriter *writer)
{
    for (size_t i = 0; i < writer->column_count; i++) {
        put_cell(writer, i, writer->columns[i].name);
    }
    end_line(&writer->lines);
    for (size_t i = 0; i < writer->column_count; i++) {
        put_cell(writer, i, writer->columns[i].type);
    }
    end_line(&writer->lines);
    for (size_t i = 0; i < writer->column_count; i++) {
        put_cell(writer, i, STR(""));
        writer->lines.size -= writer->columns[i].width;
        for (size_t j = 0; j < writer->columns[i].width; j++) {
            buffer_append_cstr(&writer->lines, "─");
        }
    }
    end_line(&writer->lines);
}

static void put_list_row(TableWriter *writer, size_t first)
{
    size_t width = 0;
    for (size_t i = 0; i < writer->column_count; i++) {
        width = larger(width, cell_text_width(writer->columns[i].name) + 1 +
                                  cell_text_width(writer->columns[i].type));
    }
    for (size_t i = 0; i < writer->column_count; i++) {
        size_t begin = writer->lines.size;
        buffer_append_str(&writer->lines, writer->columns[i].name);
        buffer_append_byte(&writer->lines, ' ');
        buffer_append_str(&writer->lines, writer->columns[i].type);
        size_t taken =
            cell_text_width((Str){writer->lines.data + begin, writer->lines.size - begin});
        cell_text_pad(&writer->lines, STR(""), width - taken + GAP, false);
        buffer_append_str(&writer->lines, cell(writer, first + i));
        end_line(&writer->lines);
    }
    buffer_append_byte(&writer->lines, '\n');
}

/* Writes the rows that wait. */
static Error *put_rows(TableWriter *writer)
{
    if (!writer->measured) {
        measure(writer);
        writer->measured = true;
        if (!writer->list && writer->column_count > 0) {
            put_header(writer);
        }
    }
    for (size_t i = 0; i < writer->cell_count; i += writer->column_count) {
        if (writer->list) {
            put_list_row(writer, i);
            continue;
        }
        for (size_t c = 0; c < writer->column_count; c++) {
            put_cell(writer, c, cell(writer, i + c));
        }
        end_line(&writer->lines);
    }
    writer->cell_count = 0;
    buffer_clear(&writer->text);
    return row_writer_flush(writer->options.out, &writer->lines, true);
}

static void keep_row(TableWriter *writer, const Batch *batch, uint32_t row)
{
    for (size_t i = 0; i < writer->column_count; i++) {
        const Vector *column = batch->columns[i];
        AUTO_BUFFER Buffer value = {0};
        if (column->type->kind == TYPE_NULL || !vector_is_valid(column, row)) {
            buffer_append_cstr(&value, "NULL");
        } else {
            value_format(column, row, writer->options.time_zone, &value);
        }
        cell_text_append(&writer->text, buffer_str(&value));
        mem_reserve(writer->ends, &writer->cell_capacity, writer->cell_count + 1);
        writer->ends[writer->cell_count++] = writer->text.size;
    }
    writer->row_count++;
}

static Error *table_write(RowWriter *base, const Batch *batch)
{
    TableWriter *writer = (TableWriter *)base;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        keep_row(writer, batch, batch_selected(batch, i));
        if (writer->cell_count >= MEASURED_ROWS * writer->column_count) {
            TRY(put_rows(writer));
        }
    }
    return NULL;
}

static Error *table_end(RowWriter *base)
{
    TableWriter *writer = (TableWriter *)base;
    TRY(put_rows(writer));
    buffer_printf(&writer->lines, "%llu row%s\n", (unsigned long long)writer->row_count,
                  writer->row_count == 1 ? "" : "s");
    return row_writer_flush(writer->options.out, &writer->lines, true);
}

static void table_close(RowWriter *base)
{
    TableWriter *writer = (TableWriter *)base;
    buffer_done(&writer->text);
    buffer_done(&writer->lines);
    mem_free(writer->ends);
    arena_free(writer->arena);
    mem_free(writer);
}

RowWriter *table_writer_new(const RowWriterOptions *options)
{
    TableWriter *writer = mem_new(TableWriter);
    writer->options = *options;
    writer->arena = arena_new("table");
    writer->writer = (RowWriter){table_begin, table_write, table_end, table_close};
    return &writer->writer;
}
