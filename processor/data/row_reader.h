/* The pieces stored rows are read from (the format is drawn at the top of row_encoding.c): for
 * row_encoding.c, which reads into vectors, and for those who turn rows into text without vectors.
 *
 * Every function checks against the end; false: the bytes are no row, and nothing is said about
 * where reading stands then. */
#ifndef DATA_ROW_READER_H
#define DATA_ROW_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "processor/base/compiler.h"
#include "processor/base/str.h"

typedef struct RowReader {
    const unsigned char *at;
    const unsigned char *end;
} RowReader;

static inline RowReader row_reader_of(Str bytes)
{
    const unsigned char *begin = (const unsigned char *)(bytes.data == NULL ? "" : bytes.data);
    return (RowReader){begin, begin + bytes.size};
}

static inline size_t row_bytes_left(const RowReader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static inline bool row_read_bytes(RowReader *reader, uint64_t size, const unsigned char **ret_bytes)
{
    if (row_bytes_left(reader) < size) {
        return false;
    }
    *ret_bytes = reader->at;
    reader->at += size;
    return true;
}

/* A varint of at most 8 bytes (56 bits), where 8 bytes are left: found and put together at once.
 * False: it is longer or stands near the end, and nothing was read. */
static inline bool row_read_short_varint(RowReader *reader, uint64_t *ret_value)
{
    uint64_t word;
    if (UNLIKELY(row_bytes_left(reader) < sizeof word)) {
        return false;
    }
    memcpy(&word, reader->at, sizeof word);
    if ((word & 0x80) == 0) {
        reader->at++;
        *ret_value = word & 0x7F;
        return true;
    }
    uint64_t ends = ~word & UINT64_C(0x8080808080808080);
    if (UNLIKELY(ends == 0)) {
        return false;
    }
    /* The bytes up to the first that ends, then 7 bits each, by pairs, fours, eight. */
    word &= (ends & -ends) - 1;
    word = (word & UINT64_C(0x007F007F007F007F)) | (word & UINT64_C(0x7F007F007F007F00)) >> 1;
    word = (word & UINT64_C(0x00003FFF00003FFF)) | (word & UINT64_C(0x3FFF00003FFF0000)) >> 2;
    *ret_value = (word & UINT64_C(0x0FFFFFFF)) | (word & UINT64_C(0x0FFFFFFF00000000)) >> 4;
    reader->at += (unsigned)__builtin_ctzll(ends) / 8 + 1;
    return true;
}

static inline bool row_read_long_varint(RowReader *reader, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (reader->at == reader->end) {
            return false;
        }
        uint64_t byte = *reader->at++;
        if (shift == 63 && byte > 1) {
            return false;
        }
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

static inline bool row_read_varint(RowReader *reader, uint64_t *ret_value)
{
    return LIKELY(row_read_short_varint(reader, ret_value)) ||
           row_read_long_varint(reader, ret_value);
}

/* An integer of `size` bytes. */
static inline bool row_read_integer(RowReader *reader, size_t size, int64_t *ret_value)
{
    uint64_t bits = 0;
    if (!row_read_varint(reader, &bits)) {
        return false;
    }
    *ret_value = (int64_t)(bits >> 1 ^ -(bits & 1));
    unsigned unused = 64 - 8 * (unsigned)size;
    return *ret_value >= INT64_MIN >> unused && *ret_value <= INT64_MAX >> unused;
}

/* A DECIMAL's digits; its precision is for the caller to check. */
static inline bool row_read_int128(RowReader *reader, int128 *ret_value)
{
    uint64_t bits = 0;
    if (LIKELY(row_read_short_varint(reader, &bits))) {
        *ret_value = (int64_t)(bits >> 1 ^ -(bits & 1));
        return true;
    }
    uint128 value = 0;
    for (unsigned shift = 0; shift < 128; shift += 7) {
        if (reader->at == reader->end) {
            return false;
        }
        uint128 byte = *reader->at++;
        if (shift == 126 && byte > 3) {
            return false;
        }
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) {
            *ret_value = (int128)(value >> 1 ^ -(value & 1));
            return true;
        }
    }
    return false;
}

static inline bool row_read_bool(RowReader *reader, bool *ret_value)
{
    const unsigned char *byte = NULL;
    if (!row_read_bytes(reader, 1, &byte) || *byte > 1) {
        return false;
    }
    *ret_value = *byte == 1;
    return true;
}

static inline bool row_read_float(RowReader *reader, float *ret_value)
{
    const unsigned char *bytes = NULL;
    if (!row_read_bytes(reader, sizeof *ret_value, &bytes)) {
        return false;
    }
    memcpy(ret_value, bytes, sizeof *ret_value);
    return true;
}

static inline bool row_read_double(RowReader *reader, double *ret_value)
{
    const unsigned char *bytes = NULL;
    if (!row_read_bytes(reader, sizeof *ret_value, &bytes)) {
        return false;
    }
    memcpy(ret_value, bytes, sizeof *ret_value);
    return true;
}

/* A view into the row. */
static inline bool row_read_str(RowReader *reader, Str *ret_value)
{
    uint64_t size = 0;
    const unsigned char *bytes = NULL;
    if (!row_read_varint(reader, &size) || !row_read_bytes(reader, size, &bytes)) {
        return false;
    }
    *ret_value = (Str){(const char *)bytes, (size_t)size};
    return true;
}

/* The bits of `count` values, set where NULL; those beyond the last must be zero. */
static inline bool row_read_null_bits(RowReader *reader, uint64_t count,
                                      const unsigned char **ret_bits)
{
    if (count / 8 > row_bytes_left(reader) || !row_read_bytes(reader, (count + 7) / 8, ret_bits)) {
        return false;
    }
    return count % 8 == 0 || (*ret_bits)[count / 8] >> (count % 8) == 0;
}

static inline bool row_null_bit(const unsigned char *bits, size_t i)
{
    return (bits[i / 8] >> (i % 8) & 1) != 0;
}

#endif
