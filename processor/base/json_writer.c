/* Compact JSON text. */
#include "processor/base/json_writer.h"

#include "processor/base/banned.h"

/* Length of the valid UTF-8 sequence at the start of `rest`, or 0. */
static size_t valid_sequence(Str rest)
{
    for (size_t n = 1; n <= 4 && n <= rest.size; n++) {
        if (str_is_utf8((Str){rest.data, n})) {
            return n;
        }
    }
    return 0;
}

static void write_escaped(Buffer *out, unsigned char c)
{
    switch (c) {
    case '"':
        buffer_append_cstr(out, "\\\"");
        break;
    case '\\':
        buffer_append_cstr(out, "\\\\");
        break;
    case '\n':
        buffer_append_cstr(out, "\\n");
        break;
    case '\r':
        buffer_append_cstr(out, "\\r");
        break;
    case '\t':
        buffer_append_cstr(out, "\\t");
        break;
    default:
        buffer_printf(out, "\\u%04x", c);
    }
}

void json_write_string(Buffer *out, Str text)
{
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < text.size;) {
        size_t run = i;
        while (run < text.size && (unsigned char)text.data[run] >= 0x20 &&
               (unsigned char)text.data[run] < 0x7F && text.data[run] != '"' &&
               text.data[run] != '\\') {
            run++;
        }
        buffer_append(out, text.data + i, run - i);
        i = run;
        if (i == text.size) {
            break;
        }
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x80) {
            write_escaped(out, c);
            i++;
            continue;
        }
        size_t n = valid_sequence((Str){text.data + i, text.size - i});
        if (n == 0) {
            buffer_append_cstr(out, "\xEF\xBF\xBD");
            i++;
        } else {
            buffer_append(out, text.data + i, n);
            i += n;
        }
    }
    buffer_append_byte(out, '"');
}

static void before_value(JsonWriter *w)
{
    if (w->need_comma) {
        buffer_append_byte(w->out, ',');
    }
    w->need_comma = true;
}

void json_object_begin(JsonWriter *w)
{
    before_value(w);
    buffer_append_byte(w->out, '{');
    w->need_comma = false;
}

void json_object_end(JsonWriter *w)
{
    buffer_append_byte(w->out, '}');
    w->need_comma = true;
}

void json_array_begin(JsonWriter *w)
{
    before_value(w);
    buffer_append_byte(w->out, '[');
    w->need_comma = false;
}

void json_array_end(JsonWriter *w)
{
    buffer_append_byte(w->out, ']');
    w->need_comma = true;
}

void json_key(JsonWriter *w, const char *key)
{
    before_value(w);
    json_write_string(w->out, str_from(key));
    buffer_append_byte(w->out, ':');
    w->need_comma = false;
}

void json_str(JsonWriter *w, Str value)
{
    if (value.data == NULL) {
        json_null(w);
        return;
    }
    before_value(w);
    json_write_string(w->out, value);
}

void json_cstr(JsonWriter *w, const char *value)
{
    json_str(w, str_from(value));
}

void json_int(JsonWriter *w, int64_t value)
{
    before_value(w);
    buffer_printf(w->out, "%lld", (long long)value);
}

void json_bool(JsonWriter *w, bool value)
{
    before_value(w);
    buffer_append_cstr(w->out, value ? "true" : "false");
}

void json_null(JsonWriter *w)
{
    before_value(w);
    buffer_append_cstr(w->out, "null");
}

void json_raw(JsonWriter *w, Str json)
{
    before_value(w);
    buffer_append_str(w->out, json);
}

void json_field_str(JsonWriter *w, const char *key, Str value)
{
    json_key(w, key);
    json_str(w, value);
}

void json_field_cstr(JsonWriter *w, const char *key, const char *value)
{
    json_key(w, key);
    json_cstr(w, value);
}

void json_field_int(JsonWriter *w, const char *key, int64_t value)
{
    json_key(w, key);
    json_int(w, value);
}

void json_field_bool(JsonWriter *w, const char *key, bool value)
{
    json_key(w, key);
    json_bool(w, value);
}
