/* What strings and quoted names mean: quotes off, escapes resolved as Spark's unescapeSQLString
 * does, doubled quotes halved. */
#include <assert.h>
#include <stdbool.h>

#include "processor/sql/lexer.h"

#include "processor/base/banned.h"

typedef struct Unescaper {
    Str in; /* between the quotes */
    size_t at;
    char *out;
    size_t size;
} Unescaper;

static void put(Unescaper *u, char c)
{
    u->out[u->size++] = c;
}

/* A code point as UTF-8; one that is none (a lone surrogate, beyond U+10FFFF) as '?', as Java's
 * encoder writes it. */
static void put_code_point(Unescaper *u, uint32_t c)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        put(u, '?');
    } else if (c < 0x80) {
        put(u, (char)c);
    } else if (c < 0x800) {
        put(u, (char)(0xC0 | (c >> 6)));
        put(u, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        put(u, (char)(0xE0 | (c >> 12)));
        put(u, (char)(0x80 | ((c >> 6) & 0x3F)));
        put(u, (char)(0x80 | (c & 0x3F)));
    } else {
        put(u, (char)(0xF0 | (c >> 18)));
        put(u, (char)(0x80 | ((c >> 12) & 0x3F)));
        put(u, (char)(0x80 | ((c >> 6) & 0x3F)));
        put(u, (char)(0x80 | (c & 0x3F)));
    }
}

/* `count` hexadecimal digits at `at`. */
static bool read_hex(const Unescaper *u, size_t at, size_t count, uint32_t *ret_value)
{
    if (u->in.size - at < count || at > u->in.size) {
        return false;
    }
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = char_hex_value(u->in.data[at + i]);
        if (digit < 0) {
            return false;
        }
        value = value << 4 | (uint32_t)digit;
    }
    *ret_value = value;
    return true;
}

/* \uXXXX at `at`, which is the backslash; a surrogate pair takes two of them. Returns the size. */
static size_t put_unicode(Unescaper *u)
{
    uint32_t value = 0;
    if (u->in.data[u->at + 1] == 'U') {
        if (!read_hex(u, u->at + 2, 8, &value)) {
            return 0;
        }
        put_code_point(u, value);
        return 10;
    }
    if (!read_hex(u, u->at + 2, 4, &value)) {
        return 0;
    }
    uint32_t low = 0;
    size_t next = u->at + 6;
    bool high = value >= 0xD800 && value <= 0xDBFF;
    if (high && u->in.size - next >= 6 && u->in.data[next] == '\\' && u->in.data[next + 1] == 'u' &&
        read_hex(u, next + 2, 4, &low) && low >= 0xDC00 && low <= 0xDFFF) {
        put_code_point(u, 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00));
        return 12;
    }
    put_code_point(u, value);
    return 6;
}

/* \ooo, three octal digits up to \177. Returns the size, or 0. */
static size_t put_octal(Unescaper *u)
{
    if (u->in.size - u->at < 4) {
        return 0;
    }
    const char *d = u->in.data + u->at + 1;
    if (d[0] < '0' || d[0] > '1' || d[1] < '0' || d[1] > '7' || d[2] < '0' || d[2] > '7') {
        return 0;
    }
    put(u, (char)((d[0] - '0') << 6 | (d[1] - '0') << 3 | (d[2] - '0')));
    return 4;
}

static void put_simple(Unescaper *u, char c)
{
    switch (c) {
    case '0':
        put(u, '\0');
        break;
    case 'b':
        put(u, '\b');
        break;
    case 'n':
        put(u, '\n');
        break;
    case 'r':
        put(u, '\r');
        break;
    case 't':
        put(u, '\t');
        break;
    case 'Z':
        put(u, 0x1A);
        break;
    case '%':
    case '_': /* kept for LIKE */
        put(u, '\\');
        put(u, c);
        break;
    default:
        put(u, c);
        break;
    }
}

static void put_escape(Unescaper *u)
{
    assert(u->at + 1 < u->in.size);
    char c = u->in.data[u->at + 1];
    size_t size = 0;
    if (c == 'u' || c == 'U') {
        size = put_unicode(u);
    } else if (c == '0' || c == '1') {
        size = put_octal(u);
    }
    if (size == 0) {
        put_simple(u, c);
        size = 2;
    }
    u->at += size;
}

/* `span` without its first and last byte; `quote` doubled is one. Nothing grows: every escape is
 * at least as long as what it stands for. */
static Str unescape(Str span, bool backslash, Arena *arena)
{
    char quote = span.data[0];
    Str in = {span.data + 1, span.size - 2};
    if (str_find_byte(in, quote) == in.size && (!backslash || str_find_byte(in, '\\') == in.size)) {
        return in;
    }
    Unescaper u = {.in = in, .out = arena_alloc_bytes(arena, in.size)};
    while (u.at < in.size) {
        char c = in.data[u.at];
        if (backslash && c == '\\') {
            put_escape(&u);
        } else {
            put(&u, c);
            u.at += c == quote ? 2 : 1;
        }
    }
    assert(u.size <= in.size);
    return (Str){u.out, u.size};
}

Str lexer_string(Str span, Arena *arena)
{
    assert(span.size >= 2);
    if (span.data[0] != '\'' && span.data[0] != '"') {
        return (Str){span.data + 2, span.size - 3}; /* r'…' */
    }
    return unescape(span, true, arena);
}

Str lexer_backtick(Str span, Arena *arena)
{
    assert(span.size >= 3);
    return unescape(span, false, arena);
}
