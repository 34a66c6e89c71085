/* Pieces of JSON text: strings with escapes, floating point, names. */
#include "connectors/format/json_put.h"

#include <math.h>

#include "connectors/format/json_scan.h"
#include "processor/base/base64.h"
#include "processor/base/json_writer.h"
#include "processor/data/value_text.h"

#include "processor/base/banned.h"

static void write_escape(Buffer *out, unsigned char c)
{
    static const char letters[] = "btn?fr"; /* from \b = 8 on; 11 has none */
    static const char digits[] = "0123456789ABCDEF";
    if (c == '"' || c == '\\') {
        char pair[2] = {'\\', (char)c};
        buffer_append(out, pair, sizeof pair);
    } else if (c >= 8 && c <= 13 && c != 11) {
        char pair[2] = {'\\', letters[c - 8]};
        buffer_append(out, pair, sizeof pair);
    } else {
        char escape[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
        buffer_append(out, escape, sizeof escape);
    }
}

/* The rest of a string, from its first character that needs an escape on. */
static void write_with_escapes(Buffer *out, const char *at, const char *end)
{
    const char *begin = at;
    unsigned non_ascii = 0;
    while (at < end) {
        const char *stop = json_find_special(begin, at, end, &non_ascii);
        buffer_append(out, at, (size_t)(stop - at));
        if (stop < end) {
            write_escape(out, (unsigned char)*stop);
            stop++;
        }
        at = stop;
    }
}

/* What needs an escape is found as the decoder finds string ends. Text that is not UTF-8 is left to
 * json_write_string, which replaces what is wrong. */
void json_write_text(Buffer *out, Str text)
{
    char *to = buffer_reserve(out, text.size + 2);
    *to = '"';
    if (LIKELY(json_copy_plain(to + 1, text.data, text.size))) {
        to[text.size + 1] = '"';
        out->size += text.size + 2;
        return;
    }
    if (UNLIKELY(!str_is_utf8(text))) {
        json_write_string(out, text);
        return;
    }
    out->size++;
    write_with_escapes(out, text.data, text.data + text.size);
    buffer_append_byte(out, '"');
}

void json_write_bytes(Buffer *out, Str bytes)
{
    buffer_append_byte(out, '"');
    base64_encode(bytes, out);
    buffer_append_byte(out, '"');
}

char *json_put_double(char *to, double number, bool narrow)
{
    bool word = !isfinite(number);
    *to = '"';
    to += word;
    to = narrow ? float_put(to, (float)number) : double_put(to, number);
    *to = '"';
    return to + word;
}

JsonName json_name_new(Arena *arena, Str name, char before)
{
    AUTO_BUFFER Buffer text = {0};
    buffer_append_byte(&text, before);
    json_write_text(&text, name);
    buffer_append_byte(&text, ':');
    JsonName result = {.size = (uint32_t)text.size};
    result.blocks = (result.size + JSON_NAME_BLOCK - 1) / JSON_NAME_BLOCK;
    char *copy = arena_alloc_zero(arena, (size_t)result.blocks * JSON_NAME_BLOCK);
    memcpy(copy, text.data, text.size);
    result.text = copy;
    return result;
}
