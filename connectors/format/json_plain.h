/* Plain values: those that nearly all fields of nearly all records have. Texts without
 * escapes, numbers of a few digits, dates and times, true, false and null, each right before a
 * comma or the closing brace: read with few branches, stored without a call.
 *
 * Nothing is decided here but "it is plain": what is not is left untouched to json_read_value,
 * which knows all forms and words the errors. So both ways must agree on plain values, no more. */
#ifndef FORMAT_JSON_PLAIN_H
#define FORMAT_JSON_PLAIN_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "connectors/format/json_number.h"
#include "connectors/format/json_value.h"
#include "processor/data/digits.h"

/* Where reading may look: the text from `begin` on, up to `end`. */
typedef struct PlainText {
    const char *begin;
    const char *end;
} PlainText;

/* All functions begin at `at`, before `end`, and return where the value ends, NULL when it is not a
 * plain one. */

/* The value, if it ends plainly at `at`. */
static inline const char *json_end_plain(PlainText text, const char *at)
{
    return LIKELY(at < text.end && (*at == ',' || *at == '}')) ? at : NULL;
}

/* At a quote. */
static inline const char *json_plain_string(PlainText text, const char *at, Str *ret_value)
{
    unsigned non_ascii = 0;
    const char *first = at + 1;
    const char *stop = json_find_special(text.begin, first, text.end, &non_ascii);
    if (UNLIKELY(stop >= text.end || *stop != '"')) {
        return NULL;
    }
    *ret_value = (Str){first, (size_t)(stop - first)};
    if (UNLIKELY(non_ascii != 0) && !str_is_utf8(*ret_value)) {
        return NULL;
    }
    return json_end_plain(text, stop + 1);
}

/* The digits at the start of eight bytes, as many as there are (8: all). */
static inline unsigned json_count_digits(uint64_t word)
{
    const uint64_t high_bits = UINT64_C(0x8080808080808080);
    uint64_t values = word ^ UINT64_C(0x3030303030303030);
    /* From 10 on a byte reaches the high bit; a carry only hurts bytes behind such a one. */
    uint64_t others = ((values + UINT64_C(0x7676767676767676)) | values) & high_bits;
    return others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
}

/* The number that the first `count` (1 … 8) bytes, digits all, stand for. */
static inline uint32_t json_digits_value(uint64_t word, unsigned count)
{
    /* Moved to the end, zeros in front; then pairs, fours, all eight are put together. */
    uint64_t digits = (word ^ UINT64_C(0x3030303030303030)) << (64 - 8 * count);
    digits = digits * 10 + (digits >> 8);
    const uint64_t mask = UINT64_C(0x000000FF000000FF);
    return (uint32_t)(((digits & mask) * (100 + (UINT64_C(1000000) << 32)) +
                       (digits >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >>
                      32);
}

/* A number of at most 18 digits: digits / 10^fraction. */
static inline const char *json_plain_number(PlainText text, const char *at, int64_t *ret_digits,
                                            int *ret_fraction)
{
    return number_scan_short(&at, text.end, ret_digits, ret_fraction) ? json_end_plain(text, at)
                                                                      : NULL;
}

/* The digits behind the first eight of a number, fewer than eight of them. */
static inline const char *json_more_digits(PlainText text, const char *at, int64_t *value)
{
    if (text.end - at < 8) {
        return NULL;
    }
    uint64_t word;
    memcpy(&word, at, sizeof word);
    unsigned count = json_count_digits(word);
    if (count == 8) {
        return NULL;
    }
    if (count > 0) {
        *value = *value * (int64_t)powers_of_ten_u64[count] + json_digits_value(word, count);
    }
    return at + count;
}

/* Up to 15 digits are read eight at a time; longer ones, and those near the end, one by one. */
static inline const char *json_plain_integer(PlainText text, const char *at, int64_t *ret_value)
{
    if (LIKELY(text.end - at > 8)) {
        bool negative = *at == '-';
        uint64_t word;
        memcpy(&word, at + negative, sizeof word);
        unsigned count = json_count_digits(word);
        bool leading_zero = (char)word == '0' && count > 1;
        if (LIKELY(count > 0 && !leading_zero)) {
            int64_t value = json_digits_value(word, count);
            const char *behind = at + negative + count;
            if (count == 8) {
                behind = json_more_digits(text, behind, &value);
            }
            if (LIKELY(behind != NULL)) {
                *ret_value = negative ? -value : value;
                return json_end_plain(text, behind);
            }
        }
    }
    int fraction = 0;
    at = json_plain_number(text, at, ret_value, &fraction);
    return fraction == 0 ? at : NULL;
}

/* A decimal of `node` whose digits fit 64 bits. */
static inline const char *json_plain_decimal(PlainText text, const char *at, const ValueNode *node,
                                             int64_t *ret_value)
{
    int64_t digits = 0;
    int fraction = 0;
    at = json_plain_number(text, at, &digits, &fraction);
    if (at == NULL || fraction > node->scale) {
        return NULL;
    }
    unsigned missing = (unsigned)(node->scale - fraction);
    if (missing > 0 &&
        (missing > 18 ||
         __builtin_mul_overflow(digits, (int64_t)powers_of_ten_u64[missing], &digits))) {
        return NULL;
    }
    uint64_t size = digits < 0 ? 0 - (uint64_t)digits : (uint64_t)digits;
    *ret_value = digits;
    return node->precision >= 19 || size < powers_of_ten_u64[node->precision] ? at : NULL;
}

/* Digits and power of ten that a double holds exactly: their quotient is rounded once. A zero may
 * have a sign, which the digits do not tell. */
static inline const char *json_plain_double(PlainText text, const char *at, double *ret_value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    int64_t digits = 0;
    int fraction = 0;
    at = json_plain_number(text, at, &digits, &fraction);
    if (at == NULL || digits == 0 || digits > INT64_C(1) << 53 || digits < -(INT64_C(1) << 53)) {
        return NULL;
    }
    *ret_value = (double)digits / powers[fraction];
    return at;
}

static inline const char *json_plain_bool(PlainText text, const char *at, bool *ret_value)
{
    if (text.end - at < 6) {
        return NULL;
    }
    *ret_value = *at == 't';
    if (memcmp(at, "true", 4) == 0) {
        return json_end_plain(text, at + 4);
    }
    return memcmp(at, "false", 5) == 0 ? json_end_plain(text, at + 5) : NULL;
}

/* At 'n'. */
static inline const char *json_plain_null(PlainText text, const char *at)
{
    return text.end - at >= 5 && memcmp(at, "null", 4) == 0 ? json_end_plain(text, at + 4) : NULL;
}

/* The row is the next of the vector, and there is room for it: its bit of validity is set already
 * (vector.h). */
#define JSON_STORE(vector, CType, row, value)                                                      \
    do {                                                                                           \
        VECTOR_DATA((vector), CType)[(row)] = (value);                                             \
        (vector)->length = (row) + 1;                                                              \
    } while (0)

static inline bool json_store_integer(Vector *vector, TypeKind kind, uint32_t row, int64_t value)
{
    if (kind == TYPE_BIGINT) {
        JSON_STORE(vector, int64_t, row, value);
    } else if (kind == TYPE_INT && value == (int32_t)value) {
        JSON_STORE(vector, int32_t, row, (int32_t)value);
    } else if (kind == TYPE_SMALLINT && value == (int16_t)value) {
        JSON_STORE(vector, int16_t, row, (int16_t)value);
    } else if (kind == TYPE_TINYINT && value == (int8_t)value) {
        JSON_STORE(vector, int8_t, row, (int8_t)value);
    } else {
        return false;
    }
    return true;
}

static inline bool json_store_time(Vector *vector, const ValueNode *node, const TimeZone *zone,
                                   uint32_t row, Str text)
{
    int64_t us = 0;
    int32_t days = 0;
    if (node->kind == TYPE_DATE) {
        if (!date_parse_iso(text, &days)) {
            return false;
        }
        JSON_STORE(vector, int32_t, row, days);
        return true;
    }
    if (!(node->kind == TYPE_TIMESTAMP ? timestamp_parse_iso(text, zone, &us)
                                       : timestamp_ntz_parse_iso(text, &us))) {
        return false;
    }
    JSON_STORE(vector, int64_t, row, us);
    return true;
}

static inline const char *json_read_plain_text(PlainText text, const char *at,
                                               const ValueNode *node, const TimeZone *zone,
                                               Vector *vector, uint32_t row)
{
    Str value = STR_NULL;
    at = *at == '"' ? json_plain_string(text, at, &value) : NULL;
    if (UNLIKELY(at == NULL)) {
        return NULL;
    }
    if (LIKELY(node->plain == PLAIN_STRING)) {
        JSON_STORE(vector, Str, row, value);
        return at;
    }
    return json_store_time(vector, node, zone, row, value) ? at : NULL;
}

static inline const char *json_read_plain_scalar(PlainText text, const char *at,
                                                 const ValueNode *node, Vector *vector,
                                                 uint32_t row)
{
    int64_t value = 0;
    double number = 0;
    bool truth = false;
    switch (node->plain) {
    case PLAIN_INTEGER:
        at = json_plain_integer(text, at, &value);
        return at != NULL && json_store_integer(vector, node->kind, row, value) ? at : NULL;
    case PLAIN_DECIMAL:
        at = json_plain_decimal(text, at, node, &value);
        if (LIKELY(at != NULL)) {
            JSON_STORE(vector, int128, row, value);
        }
        return at;
    case PLAIN_DOUBLE:
        at = json_plain_double(text, at, &number);
        if (LIKELY(at != NULL)) {
            JSON_STORE(vector, double, row, number);
        }
        return at;
    case PLAIN_BOOLEAN:
        at = json_plain_bool(text, at, &truth);
        if (LIKELY(at != NULL)) {
            JSON_STORE(vector, uint8_t, row, truth);
        }
        return at;
    case PLAIN_STRING:
    case PLAIN_TIME:
    case PLAIN_NONE:
        break;
    }
    return NULL;
}

/* Reads the value of a field that was not seen yet in its object into row `row`, the next of the
 * vector, which has room for it. NULL: nothing has changed, and the value may be anything. */
static inline const char *json_read_plain(PlainText text, const char *at, const ValueNode *node,
                                          const TimeZone *zone, Vector *vector, uint32_t row)
{
    return node->plain == PLAIN_STRING || node->plain == PLAIN_TIME
               ? json_read_plain_text(text, at, node, zone, vector, row)
               : json_read_plain_scalar(text, at, node, vector, row);
}

/* Passes a value that no column wants. */
static inline const char *json_skip_plain(PlainText text, const char *at)
{
    Str string = STR_NULL;
    int64_t value = 0;
    int fraction = 0;
    bool truth = false;
    return *at == '"'   ? json_plain_string(text, at, &string)
           : *at == 'n' ? json_plain_null(text, at)
           : *at >= 'f' ? json_plain_bool(text, at, &truth)
                        : json_plain_number(text, at, &value, &fraction);
}

#endif
