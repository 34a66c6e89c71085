/* Scanning JSON text (RFC 8259): white space, strings, numbers, whole values to pass over. Strict
 * and bounds-checked; every function takes time linear in the bytes it passes.
 *
 * A function that returns false has set `problem` (a literal, to end a sentence) and `problem_at`.
 * Besides JSON's numbers the words NaN, Infinity and -Infinity count as numbers, wherever a value
 * stands, so that a record does not become bad because one of its fields has no column. */
#ifndef FORMAT_JSON_SCAN_H
#define FORMAT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "processor/base/compiler.h"
#include "processor/base/str.h"

/* Arrays and objects inside each other; as Jackson and cJSON have it. */
enum { JSON_DEPTH_MAX = 1000 };

typedef struct JsonScan {
    const char *begin; /* of the whole text; positions in messages count from here */
    const char *at;    /* next byte */
    const char *end;
    const char *problem;
    const char *problem_at;
} JsonScan;

/* Over `text`, behind a byte order mark if there is one. */
JsonScan json_scan_text(Str text);
COLD bool json_problem(JsonScan *scan, const char *at, const char *problem);

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline void json_skip_space(JsonScan *scan)
{
    while (scan->at < scan->end && json_is_space(*scan->at)) {
        scan->at++;
    }
}

/* The next byte, '\0' at the end (a NUL byte itself is nowhere valid). */
static inline char json_peek(const JsonScan *scan)
{
    return scan->at < scan->end ? *scan->at : '\0';
}

#if defined(__SSE2__)
/* A bit for each of 16 bytes that is a quote, a backslash or a control character. */
static inline unsigned json_special_bits(__m128i bytes)
{
    __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                                   _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes));
    return (unsigned)_mm_movemask_epi8(special);
}
#endif

/* The first quote, backslash or control character in at … end, or `end`; the memory from `begin` on
 * (<= at) may be read. *non_ascii becomes non-zero when a byte >= 0x80 was passed. */
static inline const char *json_find_special(const char *begin, const char *at, const char *end,
                                            unsigned *non_ascii)
{
#if defined(__SSE2__)
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i_u *)(const void *)at);
        unsigned found = json_special_bits(bytes);
        unsigned high = (unsigned)_mm_movemask_epi8(bytes);
        if (found != 0) {
            unsigned passed = (unsigned)__builtin_ctz(found);
            *non_ascii |= high & ((1U << passed) - 1);
            return at + passed;
        }
        *non_ascii |= high;
        at += 16;
    }
    if (LIKELY(end - begin >= 16)) { /* the last 16 bytes, less those before `at` */
        unsigned before = (unsigned)(16 - (end - at));
        __m128i bytes = _mm_loadu_si128((const __m128i_u *)(const void *)(end - 16));
        unsigned found = json_special_bits(bytes) >> before;
        unsigned high = (unsigned)_mm_movemask_epi8(bytes) >> before;
        unsigned passed = found == 0 ? 16 - before : (unsigned)__builtin_ctz(found);
        *non_ascii |= high & ((1U << passed) - 1);
        return at + passed;
    }
#endif
    (void)begin;
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\' || c < 0x20) {
            break;
        }
        *non_ascii |= c & 0x80U;
    }
    return at;
}

/* At an opening quote: passes the string, gives the bytes between the quotes (valid UTF-8) and
 * whether they hold escapes, which are not checked here: json_unescape does. */
static inline bool json_scan_string(JsonScan *scan, Str *ret_raw, bool *ret_escaped)
{
    const char *first = scan->at + 1;
    const char *at = first;
    unsigned non_ascii = 0;
    bool escaped = false;
    for (;;) {
        at = json_find_special(scan->begin, at, scan->end, &non_ascii);
        if (UNLIKELY(at >= scan->end)) {
            return json_problem(scan, scan->end, "the text ends inside a string");
        }
        if (LIKELY(*at == '"')) {
            break;
        }
        if (*at != '\\') {
            return json_problem(scan, at, "a control character in a string must be escaped");
        }
        if (scan->end - at < 2) {
            return json_problem(scan, scan->end, "the text ends inside a string");
        }
        escaped = true;
        /* The escaped byte is judged by json_unescape; non-ASCII ones must not get lost. */
        non_ascii |= (unsigned char)at[1] & 0x80U;
        at += 2;
    }
    *ret_raw = (Str){first, (size_t)(at - first)};
    *ret_escaped = escaped;
    scan->at = at + 1;
    if (UNLIKELY(non_ascii != 0) && !str_is_utf8(*ret_raw)) {
        return json_problem(scan, first, "a string is not valid UTF-8");
    }
    return true;
}

/* Writes the text that `raw` (inside the scanned text) stands for to `out`, which has room for
 * raw.size bytes; `out` NULL checks only. False for unknown escapes and lone surrogates. */
bool json_unescape(JsonScan *scan, Str raw, char *out, size_t *ret_size);

/* At a digit, '-', 'N' or 'I': passes the number, gives its text. */
bool json_scan_number(JsonScan *scan, Str *ret_text);
/* The word (null, true, false) and nothing longer. */
bool json_scan_word(JsonScan *scan, Str word);
/* At ':' (white space before it allowed): passes it and the white space behind. */
static inline bool json_scan_colon(JsonScan *scan)
{
    json_skip_space(scan);
    if (UNLIKELY(json_peek(scan) != ':')) {
        return json_problem(scan, scan->at, "a colon is expected after the field name");
    }
    scan->at++;
    json_skip_space(scan);
    return true;
}

/* At the first byte of a value that lies inside `depth` arrays and objects: passes it, checking all
 * of it. */
bool json_skip_value(JsonScan *scan, unsigned depth);
/* White space up to the end of the text. */
bool json_scan_end(JsonScan *scan);

#endif
