/* Batches as tables of text. */
#include "processor/testing/table_print.h"

#include "processor/data/value_text.h"

#include "processor/base/banned.h"

/* Characters, not bytes: good enough for alignment on a terminal. */
static size_t text_width(Str text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.size; i++) {
        width += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    }
    return width;
}

static void append_cell(Buffer *out, Str text, size_t width, bool right)
{
    size_t blanks = width - text_width(text);
    for (size_t i = 0; right && i < blanks; i++) {
        buffer_append_byte(out, ' ');
    }
    buffer_append_str(out, text);
    for (size_t i = 0; !right && i < blanks; i++) {
        buffer_append_byte(out, ' ');
    }
}

static void append_row(Buffer *out, const Str *cells, const size_t *widths, const Schema *schema,
                       bool header)
{
    for (size_t c = 0; c < schema->field_count; c++) {
        buffer_append_cstr(out, c == 0 ? "  " : "  | ");
        append_cell(out, cells[c], widths[c], !header && type_is_numeric(schema->fields[c].type));
    }
    while (out->size > 0 && out->data[out->size - 1] == ' ') {
        out->size--;
    }
    buffer_append_byte(out, '\n');
}

void table_print(const Batch *batch, const TimeZone *zone, Buffer *out)
{
    AUTO(arena) Arena *arena = arena_new("print");
    const Schema *schema = batch->schema;
    size_t columns = schema->field_count;
    size_t *widths = arena_new_array(arena, size_t, columns);
    Str *header = arena_new_array(arena, Str, columns);
    Str *cells = arena_new_array(arena, Str, columns * batch->selected_count);
    AUTO_BUFFER Buffer text = {0};
    for (size_t c = 0; c < columns; c++) {
        header[c] = schema->fields[c].name;
        widths[c] = text_width(header[c]);
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            buffer_clear(&text);
            value_format(batch->columns[c], batch_selected(batch, i), zone, &text);
            Str cell = arena_copy_str(arena, buffer_str(&text));
            cells[i * columns + c] = cell;
            widths[c] = text_width(cell) > widths[c] ? text_width(cell) : widths[c];
        }
    }
    append_row(out, header, widths, schema, true);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        append_row(out, cells + i * columns, widths, schema, false);
    }
}
