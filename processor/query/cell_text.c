/* Text in cells. East Asian characters and emoji take two columns, combining marks none; the ranges
 * are the large ones of Unicode's East Asian Width. */
#include "processor/query/cell_text.h"

#include "processor/base/banned.h"

static const struct {
    uint32_t first;
    uint32_t last;
    uint8_t width;
} ranges[] = {
    {0x0300, 0x036F, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05BD, 0},   {0x064B, 0x065F, 0},
    {0x1100, 0x115F, 2},   {0x200B, 0x200F, 0},   {0x20D0, 0x20F0, 0},   {0x2E80, 0x303E, 2},
    {0x3041, 0xA4CF, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},
    {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},
    {0x1F300, 0x1F64F, 2}, {0x1F900, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
};

/* The character at text->data[at], which is moved behind it; a byte that begins none counts alone.
 */
static uint32_t next_character(Str text, size_t *at)
{
    unsigned char first = (unsigned char)text.data[(*at)++];
    int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t value = more == 0 ? first : first & (0x3FU >> more);
    for (; more > 0 && *at < text.size && ((unsigned char)text.data[*at] & 0xC0) == 0x80; more--) {
        value = value << 6 | ((unsigned char)text.data[(*at)++] & 0x3FU);
    }
    return value;
}

static size_t character_width(uint32_t character)
{
    for (size_t i = 0; i < ARRAY_LENGTH(ranges) && ranges[i].first <= character; i++) {
        if (character <= ranges[i].last) {
            return ranges[i].width;
        }
    }
    return 1;
}

size_t cell_text_width(Str text)
{
    size_t width = 0;
    for (size_t at = 0; at < text.size;) {
        width += character_width(next_character(text, &at));
    }
    return width;
}

void cell_text_append(Buffer *out, Str text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '\n') {
            buffer_append_cstr(out, "\\n");
        } else if (c == '\t') {
            buffer_append_cstr(out, "\\t");
        } else if (c == '\r') {
            buffer_append_cstr(out, "\\r");
        } else if ((unsigned char)c < ' ' || c == 0x7F) {
            buffer_append_byte(out, '?');
        } else {
            buffer_append_byte(out, c);
        }
    }
}

static void append_blanks(Buffer *out, size_t count)
{
    memset(buffer_reserve(out, count), ' ', count);
    out->size += count;
}

void cell_text_pad(Buffer *out, Str text, size_t width, bool right)
{
    size_t taken = cell_text_width(text);
    if (taken <= width) {
        append_blanks(out, right ? width - taken : 0);
        buffer_append_str(out, text);
        append_blanks(out, right ? 0 : width - taken);
        return;
    }
    Str shown = {text.data, 0};
    size_t used = 0;
    for (size_t next = 0; next < text.size;) {
        size_t step = character_width(next_character(text, &next));
        if (used + step + 1 > width) {
            break;
        }
        used += step;
        shown.size = next;
    }
    buffer_append_str(out, shown);
    append_blanks(out, width - used - 1); /* where a wide character did not fit */
    buffer_append_cstr(out, "…");
}
