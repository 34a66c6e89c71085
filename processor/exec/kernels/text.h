/* Strings in kernels: walking UTF-8, making new text in the batch's arena. Bytes that are no UTF-8
 * are walked safely, by what their first byte claims, as Spark does. */
#ifndef EXEC_KERNELS_TEXT_H
#define EXEC_KERNELS_TEXT_H

#include "processor/exec/kernels/kernels.h"

/* A value longer than this is an error of its row, as is one that would make a batch's results
 * huge. */
enum { TEXT_SIZE_MAX = 16 * 1024 * 1024, BATCH_TEXT_MAX = 256 * 1024 * 1024 };

/* Bytes of the character that begins with `first`. */
static inline size_t utf8_size(unsigned char first)
{
    if (first < 0xC0) {
        return 1;
    }
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* Offset of the next character. */
static inline size_t utf8_next(Str s, size_t at)
{
    size_t next = at + utf8_size((unsigned char)s.data[at]);
    return next < s.size ? next : s.size;
}

/* Are the next eight bytes there, and ASCII? */
static inline bool utf8_eight_ascii(Str s, size_t at)
{
    uint64_t eight = 0;
    if (s.size - at < sizeof eight) {
        return false;
    }
    memcpy(&eight, s.data + at, sizeof eight);
    return (eight & UINT64_C(0x8080808080808080)) == 0;
}

/* Characters of the text. */
static inline int64_t utf8_length(Str s)
{
    int64_t count = 0;
    size_t at = 0;
    while (at < s.size) {
        bool ascii = utf8_eight_ascii(s, at);
        at = ascii ? at + 8 : utf8_next(s, at);
        count += ascii ? 8 : 1;
    }
    return count;
}

/* Offset of character number `count`, or s.size. */
static inline size_t utf8_offset(Str s, int64_t count)
{
    size_t at = 0;
    for (; count >= 8 && utf8_eight_ascii(s, at); count -= 8) {
        at += 8;
    }
    for (; count > 0 && at < s.size; count--) {
        at = utf8_next(s, at);
    }
    return at;
}

/* Appends a code point. */
void utf8_append(Buffer *out, uint32_t code_point);
/* The code point at an offset; its bytes by utf8_next. Malformed: U+FFFD. */
uint32_t utf8_decode(Str s, size_t at);

/* Classes of characters, as Java has them. */
bool text_is_upper(uint32_t code_point);
bool text_is_lower(uint32_t code_point);
bool text_is_digit(uint32_t code_point);

/* False, and the row failed, when a text of that size is too large. */
bool text_fits(const KernelCall *call, uint32_t row, size_t size);
/* Room for the text of a row; NULL (and the row failed) when that is too large. */
char *text_alloc(const KernelCall *call, uint32_t row, size_t size);
/* The row's result is a copy of the bytes. */
void text_store(const KernelCall *call, uint32_t row, Str text);
/* Offset of `needle` in `s` at or behind `from`, or SIZE_MAX. */
size_t text_find(Str s, Str needle, size_t from);

/* Argument k of a row. */
#define STR_ARGUMENT(call, k, row) (ARGUMENT(call, k, Str)[row])
#define INT_ARGUMENT(call, k, row) (ARGUMENT(call, k, int32_t)[row])

#endif
