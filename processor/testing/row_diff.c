/* Comparing rows and showing how they differ. Both sides are brought into their written form and
 * sorted; one merge then finds what is on one side only:
 *
 *       id  state
 *     -  7  "paid"
 *     +  7  "open"
 */
#include "processor/testing/row_diff.h"

#include <stdlib.h>

#include "connectors/format/format.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { SHOWN_ROWS_MAX = 40, CELL_WIDTH_MAX = 60 };

typedef struct WrittenRow {
    Str text;
    uint32_t row;
} WrittenRow;

typedef struct WrittenRows {
    const Batch *batch;
    WrittenRow *rows;
    size_t count;
    Arena *arena;
} WrittenRows;

static WrittenRows write_rows(const Batch *batch)
{
    WrittenRows written = {.batch = batch, .count = batch->row_count, .arena = arena_new("diff")};
    written.rows = arena_new_array(written.arena, WrittenRow, written.count);
    AUTO_BUFFER Buffer text = {0};
    for (uint32_t i = 0; i < batch->row_count; i++) {
        buffer_clear(&text);
        json_encode_row(batch, i, &text);
        written.rows[i] = (WrittenRow){arena_copy_str(written.arena, buffer_str(&text)), i};
    }
    return written;
}

static int compare_written(const void *a, const void *b)
{
    return str_compare(((const WrittenRow *)a)->text, ((const WrittenRow *)b)->text);
}

static void sort_rows(WrittenRows *written)
{
    if (written->count > 1) {
        qsort(written->rows, written->count, sizeof *written->rows, compare_written);
    }
}

/* ---------------------------------------------------------------------------------- tables ---- */

typedef struct TableLine {
    char mark; /* '-' or '+' */
    const Batch *batch;
    uint32_t row;
} TableLine;

/* Characters, not bytes: UTF-8 continuation bytes take no place. */
static size_t text_width(Str text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.size; i++) {
        width += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    }
    return width;
}

static void write_cell(const TableLine *line, size_t column, Buffer *cell)
{
    buffer_clear(cell);
    const Vector *vector = line->batch->columns[column];
    if (vector_is_valid(vector, line->row)) {
        json_encode_value(vector, line->row, cell);
    } else {
        buffer_append_cstr(cell, "null");
    }
}

static void put_padded(Buffer *out, Str text, size_t width, bool last)
{
    buffer_append_str(out, text);
    if (last) {
        return;
    }
    for (size_t i = text_width(text); i < width + 2; i++) {
        buffer_append_byte(out, ' ');
    }
}

static size_t *column_widths(const Schema *schema, const TableLine *lines, size_t count)
{
    size_t *widths = mem_alloc_array(schema->field_count + 1, sizeof *widths);
    AUTO_BUFFER Buffer cell = {0};
    for (size_t c = 0; c < schema->field_count; c++) {
        widths[c] = text_width(schema->fields[c].name);
        for (size_t i = 0; i < count; i++) {
            write_cell(&lines[i], c, &cell);
            size_t width = text_width(buffer_str(&cell));
            width = width < CELL_WIDTH_MAX ? width : CELL_WIDTH_MAX;
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    return widths;
}

static void print_table(const Schema *schema, const TableLine *lines, size_t count,
                        const char *indent, Buffer *out)
{
    size_t *widths = column_widths(schema, lines, count);
    AUTO_BUFFER Buffer cell = {0};
    buffer_printf(out, "%s  ", indent);
    for (size_t c = 0; c < schema->field_count; c++) {
        put_padded(out, schema->fields[c].name, widths[c], c + 1 == schema->field_count);
    }
    buffer_append_byte(out, '\n');
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s%c ", indent, lines[i].mark);
        for (size_t c = 0; c < schema->field_count; c++) {
            write_cell(&lines[i], c, &cell);
            put_padded(out, buffer_str(&cell), widths[c], c + 1 == schema->field_count);
        }
        buffer_append_byte(out, '\n');
    }
    mem_free(widths);
}

/* -------------------------------------------------------------------------------- comparing ----
 */

typedef struct Differences {
    TableLine lines[SHOWN_ROWS_MAX];
    size_t shown;
    size_t missing;
    size_t unexpected;
} Differences;

static void note(Differences *differences, char mark, const WrittenRows *side, size_t at)
{
    if (mark == '-') {
        differences->missing++;
    } else {
        differences->unexpected++;
    }
    if (differences->shown < SHOWN_ROWS_MAX) {
        differences->lines[differences->shown++] =
            (TableLine){mark, side->batch, side->rows[at].row};
    }
}

static void merge(const WrittenRows *expected, const WrittenRows *actual, Differences *differences)
{
    size_t e = 0;
    size_t a = 0;
    while (e < expected->count || a < actual->count) {
        int order = e == expected->count ? 1
                    : a == actual->count
                        ? -1
                        : str_compare(expected->rows[e].text, actual->rows[a].text);
        if (order == 0) {
            e++;
            a++;
        } else if (order < 0) {
            note(differences, '-', expected, e++);
        } else {
            note(differences, '+', actual, a++);
        }
    }
}

static void compare_in_order(const WrittenRows *expected, const WrittenRows *actual,
                             Differences *differences)
{
    size_t most = expected->count > actual->count ? expected->count : actual->count;
    for (size_t i = 0; i < most; i++) {
        bool same = i < expected->count && i < actual->count &&
                    str_equal(expected->rows[i].text, actual->rows[i].text);
        if (!same && i < expected->count) {
            note(differences, '-', expected, i);
        }
        if (!same && i < actual->count) {
            note(differences, '+', actual, i);
        }
    }
}

static void print_differences(const Differences *differences, const Schema *schema, Buffer *out)
{
    print_table(schema, differences->lines, differences->shown, "       ", out);
    size_t all = differences->missing + differences->unexpected;
    if (all > differences->shown) {
        buffer_printf(out, "       … and %zu more\n", all - differences->shown);
    }
    buffer_printf(out, "       %zu missing (-), %zu not expected (+)\n", differences->missing,
                  differences->unexpected);
}

bool row_diff(const Batch *expected, const Batch *actual, RowOrder order, Buffer *out)
{
    WrittenRows left = write_rows(expected);
    WrittenRows right = write_rows(actual);
    Differences differences = {.shown = 0};
    if (order == ROWS_ANY_ORDER) {
        sort_rows(&left);
        sort_rows(&right);
        merge(&left, &right, &differences);
    } else {
        compare_in_order(&left, &right, &differences);
    }
    bool same = differences.missing == 0 && differences.unexpected == 0;
    if (!same) {
        print_differences(&differences, expected->schema, out);
    }
    arena_free(left.arena);
    arena_free(right.arena);
    return same;
}
