/* Str: a borrowed run of bytes, pointer and length, not NUL-terminated. Whoever made the bytes owns
 * them; a Str never frees. An absent value is STR_NULL (data == NULL), which differs from empty. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "processor/base/compiler.h"

typedef struct Str {
    const char *data;
    size_t size;
} Str;

#define STR(literal) ((Str){(literal), sizeof(literal) - 1})
#define STR_NULL ((Str){NULL, 0})
/* For printf: printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s) (int)(s).size, ((s).data == NULL ? "" : (s).data)

/* A view of a NUL-terminated text; NULL gives STR_NULL. */
static inline Str str_from(const char *text)
{
    return (Str){text, text == NULL ? 0 : strlen(text)};
}

/* The same bytes? STR_NULL equals the empty string. */
static inline bool str_equal(Str a, Str b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Byte-wise order, a shorter prefix first (SQ-30). Returns <0, 0, >0. */
int str_compare(Str a, Str b);
static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
/* ASCII case is ignored, as SQL names are compared (SQ-31). */
bool str_equal_ignore_case(Str a, Str b);
bool str_starts_with(Str s, Str prefix);
bool str_ends_with(Str s, Str suffix);
/* Without ASCII white space at both ends. */
Str str_trim(Str s);
/* Position of the first `byte`, or s.size. */
size_t str_find_byte(Str s, char byte);
/* Cuts `*rest` at the first `separator`: returns the part before, leaves the part after in `*rest`
 * (STR_NULL when there was no separator). */
Str str_cut(Str *rest, char separator);
/* True and *ret set when all of s is a decimal integer that fits. */
bool str_to_int64(Str s, int64_t *ret);
/* Valid UTF-8 without surrogates and overlong forms? */
bool str_is_utf8(Str s);
/* Edit distance (insert, delete, replace, swap neighbours), ASCII case ignored; for "did you mean".
 */
size_t str_distance(Str a, Str b);
/* The search for the nearest of several names. True, and *best is the new distance, when
 * `candidate` is near `name` and nearer than *best (SIZE_MAX at first). Near = at most a third of
 * the longer name's letters differ, and at least one edit is allowed: `stat` finds `status`, `x`
 * does not find `booking_id`. */
bool str_is_nearer(Str candidate, Str name, size_t *best);

static inline bool char_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value of a hexadecimal digit, -1 when it is none. */
static inline int char_hex_value(char c)
{
    if (char_is_digit(c)) {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

#endif
