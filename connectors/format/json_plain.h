/* Plain values: those that nearly all fields of nearly all records have. Texts of ASCII without
 * escapes, numbers of a few digits, timestamps in UTC, true and false, each right before a comma or
 * the closing brace: read with few branches, stored without a call.
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

/* What stands behind a plain value. */
static inline bool json_ends_plain(const JsonScan *scan, const char *at)
{
    return at < scan->end && (*at == ',' || *at == '}');
}

/* At a quote: the text of a plain string; `*at` moves behind the closing quote. */
static inline bool json_plain_string(const JsonScan *scan, const char **at, Str *ret_text)
{
    unsigned non_ascii = 0;
    const char *first = *at + 1;
    const char *stop = json_find_special(scan->begin, first, scan->end, &non_ascii);
    if (UNLIKELY(stop >= scan->end || *stop != '"')) {
        return false;
    }
    *ret_text = (Str){first, (size_t)(stop - first)};
    *at = stop + 1;
    return LIKELY(non_ascii == 0) || str_is_utf8(*ret_text);
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

/* An integer that ends plainly. */
static inline bool json_plain_integer(const JsonScan *scan, const char **at, int64_t *ret_value)
{
    const char *p = *at;
    int fraction = 0;
    if (LIKELY(scan->end - p > 8)) {
        bool negative = *p == '-';
        uint64_t word;
        memcpy(&word, p + negative, sizeof word);
        unsigned count = json_count_digits(word);
        bool leading_zero = (char)word == '0' && count > 1;
        if (LIKELY(count > 0 && count < 8 && !leading_zero)) {
            p += negative + count;
            int64_t value = json_digits_value(word, count);
            *ret_value = negative ? -value : value;
            *at = p;
            return json_ends_plain(scan, p);
        }
    }
    return number_scan_short(at, scan->end, ret_value, &fraction) && fraction == 0 &&
           json_ends_plain(scan, *at);
}

/* A decimal of `node` whose digits fit 64 bits. */
static inline bool json_plain_decimal(const JsonScan *scan, const char **at, const ValueNode *node,
                                      int64_t *ret_value)
{
    int64_t digits = 0;
    int fraction = 0;
    if (!number_scan_short(at, scan->end, &digits, &fraction) || fraction > node->scale ||
        !json_ends_plain(scan, *at)) {
        return false;
    }
    unsigned missing = (unsigned)(node->scale - fraction);
    if (missing > 0 &&
        (missing > 18 ||
         __builtin_mul_overflow(digits, (int64_t)powers_of_ten_u64[missing], &digits))) {
        return false;
    }
    uint64_t size = digits < 0 ? 0 - (uint64_t)digits : (uint64_t)digits;
    *ret_value = digits;
    return node->precision >= 19 || size < powers_of_ten_u64[node->precision];
}

static inline bool json_plain_bool(const JsonScan *scan, const char **at, bool *ret_value)
{
    const char *p = *at;
    if (scan->end - p < 6) {
        return false;
    }
    if (memcmp(p, "true", 4) == 0) {
        *ret_value = true;
        *at = p + 4;
    } else if (memcmp(p, "false", 5) == 0) {
        *ret_value = false;
        *at = p + 5;
    } else {
        return false;
    }
    return json_ends_plain(scan, *at);
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

static inline bool json_store_plain_text(const JsonReader *reader, const ValueNode *node,
                                         Vector *vector, uint32_t row, Str text)
{
    int64_t us = 0;
    if (LIKELY(node->kind == TYPE_STRING)) {
        JSON_STORE(vector, Str, row, text);
        return true;
    }
    if (node->kind == TYPE_TIMESTAMP && timestamp_parse_iso(text, reader->time_zone, &us)) {
        JSON_STORE(vector, int64_t, row, us);
        return true;
    }
    return false;
}

static inline bool json_read_plain_scalar(const JsonScan *scan, const char **at,
                                          const ValueNode *node, Vector *vector, uint32_t row)
{
    int64_t value = 0;
    bool truth = false;
    switch (node->plain) {
    case PLAIN_INTEGER:
        return json_plain_integer(scan, at, &value) &&
               json_store_integer(vector, node->kind, row, value);
    case PLAIN_DECIMAL:
        if (!json_plain_decimal(scan, at, node, &value)) {
            return false;
        }
        JSON_STORE(vector, int128, row, value);
        return true;
    case PLAIN_BOOLEAN:
        if (!json_plain_bool(scan, at, &truth)) {
            return false;
        }
        JSON_STORE(vector, uint8_t, row, truth);
        return true;
    case PLAIN_TEXT:
    case PLAIN_NONE:
        break;
    }
    return false;
}

/* Reads the value of a field that was not seen yet in its object into row `row`, the next of the
 * vector. False: nothing has changed, and the value may be anything. */
static inline bool json_read_plain(JsonReader *reader, const ValueNode *node, Vector *vector,
                                   uint32_t row)
{
    JsonScan *scan = &reader->scan;
    const char *at = scan->at;
    if (UNLIKELY(at >= scan->end || row >= vector->capacity)) {
        return false;
    }
    assert(vector->length == row);
    if (node->plain == PLAIN_TEXT) {
        Str text = STR_NULL;
        if (*at != '"' || !json_plain_string(scan, &at, &text) || !json_ends_plain(scan, at) ||
            !json_store_plain_text(reader, node, vector, row, text)) {
            return false;
        }
    } else if (!json_read_plain_scalar(scan, &at, node, vector, row)) {
        return false;
    }
    scan->at = at;
    return true;
}

/* Passes a plain value that no column wants. False: nothing has changed. */
static inline bool json_skip_plain(JsonScan *scan)
{
    const char *at = scan->at;
    Str text = STR_NULL;
    int64_t value = 0;
    int fraction = 0;
    bool truth = false;
    if (UNLIKELY(at >= scan->end)) {
        return false;
    }
    bool plain = *at == '"'   ? json_plain_string(scan, &at, &text)
                 : *at >= 'f' ? json_plain_bool(scan, &at, &truth)
                              : number_scan_short(&at, scan->end, &value, &fraction);
    if (!plain || !json_ends_plain(scan, at)) {
        return false;
    }
    scan->at = at;
    return true;
}

#endif
