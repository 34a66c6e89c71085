/* Pieces of JSON text written straight to memory the caller has made sure of (json_encode.c: from
 * vectors; json_row_text.c, json_key_text.c: from stored bytes). A function takes where to write
 * and returns the end of what it wrote. */
#ifndef FORMAT_JSON_PUT_H
#define FORMAT_JSON_PUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "processor/data/datetime.h"
#include "processor/data/digits.h"

/* The longest scalar that is no text: a timestamp in quotes. */
enum { JSON_SCALAR_MAX = DATETIME_TEXT_MAX + 2 };

static inline char *json_put_null(char *to)
{
    static const char word[4] = {'n', 'u', 'l', 'l'};
    memcpy(to, word, sizeof word);
    return to + sizeof word;
}

static inline char *json_put_bool(char *to, bool value)
{
    static const char words[2][5] = {{'f', 'a', 'l', 's', 'e'}, {'t', 'r', 'u', 'e'}};
    memcpy(to, words[value], sizeof words[value]);
    return to + 5 - value;
}

static inline char *json_put_date(char *to, int32_t days)
{
    *to = '"';
    to = date_put(to + 1, days);
    *to = '"';
    return to + 1;
}

static inline char *json_put_timestamp(char *to, int64_t us, bool utc_suffix)
{
    *to = '"';
    to = timestamp_put_iso(to + 1, us, utc_suffix);
    *to = '"';
    return to + 1;
}

/* Floating point; NaN and the infinities in quotes. */
char *json_put_double(char *to, double number, bool narrow);

/* The name of a field as an object has it, `{"name":` or `,"name":`, padded so that it is copied in
 * whole blocks. */
enum { JSON_NAME_BLOCK = 16 };

typedef struct JsonName {
    const char *text;
    uint32_t size;
    uint32_t blocks;
} JsonName;

/* In `arena`. */
JsonName json_name_new(Arena *arena, Str name, char before);

/* Writes blocks * JSON_NAME_BLOCK bytes, of which `size` count. */
static inline char *json_put_name(char *to, const JsonName *name)
{
    memcpy(to, name->text, JSON_NAME_BLOCK);
    for (uint32_t i = 1; i < name->blocks; i++) {
        memcpy(to + (size_t)i * JSON_NAME_BLOCK, name->text + (size_t)i * JSON_NAME_BLOCK,
               JSON_NAME_BLOCK);
    }
    return to + name->size;
}

/* Does a byte of the text need more than copying: quotes, backslashes, control characters, and what
 * is not ASCII (it must be checked)? Both words are looked at. */
static inline bool json_words_special(uint64_t a, uint64_t b)
{
#if defined(__SSE2__)
    __m128i bytes = _mm_set_epi64x((long long)b, (long long)a);
    /* As signed bytes everything from 0x80 on is below the blank too. */
    __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                                   _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')));
    return _mm_movemask_epi8(special) != 0;
#else
    for (int i = 0; i < 64; i += 8) {
        unsigned char c = (unsigned char)(a >> i);
        unsigned char d = (unsigned char)(b >> i);
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\' || d < 0x20 || d >= 0x80 || d == '"' ||
            d == '\\') {
            return true;
        }
    }
    return false;
#endif
}

static inline uint64_t json_load_word(const char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* Copies 16 bytes; true when none of them is special. */
static inline bool json_copy_16(char *to, const char *from)
{
    uint64_t a = json_load_word(from);
    uint64_t b = json_load_word(from + 8);
    memcpy(to, from, 16);
    return !json_words_special(a, b);
}

/* Up to 15 bytes, by two words that overlap. */
static inline bool json_copy_short(char *to, const char *from, size_t size)
{
    if (size >= 8) {
        uint64_t first = json_load_word(from);
        uint64_t last = json_load_word(from + size - 8);
        memcpy(to, &first, 8);
        memcpy(to + size - 8, &last, 8);
        return !json_words_special(first, last);
    }
    if (size >= 4) {
        uint32_t first;
        uint32_t last;
        memcpy(&first, from, 4);
        memcpy(&last, from + size - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + size - 4, &last, 4);
        uint64_t both = (uint64_t)first << 32 | last;
        return !json_words_special(both, both);
    }
    bool plain = true;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)from[i];
        to[i] = from[i];
        plain &= c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
    }
    return plain;
}

/* Copies a text of ASCII that needs no escapes and returns true. False (and `to` holds anything)
 * for other texts: json_write_text copes with all. Room for `size` bytes. */
static inline bool json_copy_plain(char *to, const char *from, size_t size)
{
    if (size < 16) {
        return json_copy_short(to, from, size);
    }
    bool plain = true;
    for (size_t at = 0; at + 16 <= size; at += 16) {
        plain &= json_copy_16(to + at, from + at);
    }
    return plain & json_copy_16(to + size - 16, from + size - 16);
}

/* Any text, in quotes and with escapes; what is not UTF-8 is replaced. */
void json_write_text(Buffer *out, Str text);
/* Any bytes, as base64 in quotes. */
void json_write_bytes(Buffer *out, Str bytes);

#endif
