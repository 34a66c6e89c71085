/* Keys as bytes that compare like the values.
 *
 *     value     00                          NULL
 *               01 payload                  else
 *     integer   big-endian, sign bit flipped; DATE, TIMESTAMP, intervals likewise; BOOLEAN 00 or 01
 *     DECIMAL   16 bytes, likewise
 *     FLOAT     the bits, big-endian: negative ones inverted, others with the sign bit set.
 *               -0.0 is written as 0.0, every NaN as the one positive quiet NaN, beyond infinity
 *     STRING    bytes with 00 as 00 FF, then 00 00 (BINARY likewise)
 *     ARRAY     01 value for each element, then 00
 *     STRUCT    its fields' values
 *
 * Example: ('a', -1) as (STRING, INT) is 01 61 00 00 · 01 7F FF FF FF.
 *
 * Decoding accepts exactly what encoding writes (one text a value), so equal bytes and equal values
 * are the same thing also for bytes that came from elsewhere. */
#include "processor/data/key_encoding.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "processor/data/decimal.h"
#include "processor/base/banned.h"

enum {
    MARK_NULL = 0x00,
    MARK_VALUE = 0x01,
    MARK_END = 0x00,
    MARK_ELEMENT = 0x01,
    ESCAPE = 0xFF,
    FIXED_MAX = 17, /* mark and the longest fixed payload */
};

/* ---- Encoding ---- */

static void store_be(char *to, uint64_t value, size_t size)
{
    value = __builtin_bswap64(value << (64 - 8 * size));
    memcpy(to, &value, size);
}

/* A mark and `size` bytes. */
static void append_fixed(Buffer *out, uint64_t bits, size_t size)
{
    char *to = buffer_reserve(out, FIXED_MAX);
    to[0] = MARK_VALUE;
    store_be(to + 1, bits, size);
    out->size += 1 + size;
}

static void append_signed(Buffer *out, int64_t value, size_t size)
{
    append_fixed(out, (uint64_t)value ^ UINT64_C(1) << (8 * size - 1), size);
}

static void append_int128(Buffer *out, int128 value)
{
    uint128 bits = (uint128)value ^ (uint128)1 << 127;
    char *to = buffer_reserve(out, FIXED_MAX);
    to[0] = MARK_VALUE;
    store_be(to + 1, (uint64_t)(bits >> 64), 8);
    store_be(to + 9, (uint64_t)bits, 8);
    out->size += 17;
}

static uint64_t double_to_ordered(double number)
{
    if (isnan(number)) {
        number = (double)NAN;
    }
    uint64_t bits;
    number = number == 0 ? 0.0 : number;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint32_t float_to_ordered(float number)
{
    if (isnan(number)) {
        number = NAN;
    }
    uint32_t bits;
    number = number == 0 ? 0.0F : number;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static void append_escaped(Buffer *out, Str value)
{
    buffer_append_byte(out, MARK_VALUE);
    for (;;) {
        /* A NUL byte ends what can be copied; few texts have one. */
        const char *zero = value.size == 0 ? NULL : memchr(value.data, '\0', value.size);
        size_t plain = zero == NULL ? value.size : (size_t)(zero - value.data);
        char *to = buffer_reserve(out, value.size + 2);
        if (plain > 0) {
            memcpy(to, value.data, plain);
        }
        to[plain] = 0;
        to[plain + 1] = zero == NULL ? MARK_END : (char)ESCAPE;
        out->size += plain + 2;
        if (zero == NULL) {
            return;
        }
        value = (Str){zero + 1, value.size - plain - 1};
    }
}

static void append_list(Buffer *out, const Vector *vector, uint32_t row)
{
    assert(vector->child_count == 1); /* a MAP has no order */
    buffer_append_byte(out, MARK_VALUE);
    for (uint32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++) {
        buffer_append_byte(out, MARK_ELEMENT);
        key_encode_value(vector->children[0], i, out);
    }
    buffer_append_byte(out, MARK_END);
}

void key_encode_value(const Vector *vector, uint32_t row, Buffer *out)
{
    assert(row < vector->length);
    if (!vector_is_valid(vector, row)) {
        buffer_append_byte(out, MARK_NULL);
        return;
    }
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        buffer_append_byte(out, MARK_NULL);
        return;
    case PHYSICAL_BOOL:
        append_fixed(out, VECTOR_VALUE(vector, uint8_t, row), 1);
        return;
    case PHYSICAL_INT8:
        append_signed(out, VECTOR_VALUE(vector, int8_t, row), 1);
        return;
    case PHYSICAL_INT16:
        append_signed(out, VECTOR_VALUE(vector, int16_t, row), 2);
        return;
    case PHYSICAL_INT32:
        append_signed(out, VECTOR_VALUE(vector, int32_t, row), 4);
        return;
    case PHYSICAL_INT64:
        append_signed(out, VECTOR_VALUE(vector, int64_t, row), 8);
        return;
    case PHYSICAL_INT128:
        append_int128(out, VECTOR_VALUE(vector, int128, row));
        return;
    case PHYSICAL_FLOAT:
        append_fixed(out, float_to_ordered(VECTOR_VALUE(vector, float, row)), 4);
        return;
    case PHYSICAL_DOUBLE:
        append_fixed(out, double_to_ordered(VECTOR_VALUE(vector, double, row)), 8);
        return;
    case PHYSICAL_STR:
        assert(vector->type->kind != TYPE_VARIANT);
        append_escaped(out, VECTOR_VALUE(vector, Str, row));
        return;
    case PHYSICAL_LIST:
        append_list(out, vector, row);
        return;
    case PHYSICAL_STRUCT:
        buffer_append_byte(out, MARK_VALUE);
        for (uint32_t i = 0; i < vector->child_count; i++) {
            key_encode_value(vector->children[i], row, out);
        }
        return;
    }
}

void key_encode(Vector *const *columns, size_t column_count, uint32_t row, Buffer *out)
{
    for (size_t i = 0; i < column_count; i++) {
        key_encode_value(columns[i], row, out);
    }
}

/* ---- Decoding ---- */

typedef struct KeyReader {
    const unsigned char *at;
    const unsigned char *end;
    Arena *arena;
} KeyReader;

static bool read_byte(KeyReader *reader, unsigned *ret_byte)
{
    if (reader->at == reader->end) {
        return false;
    }
    *ret_byte = *reader->at++;
    return true;
}

static bool read_be(KeyReader *reader, size_t size, uint64_t *ret_bits)
{
    if ((size_t)(reader->end - reader->at) < size) {
        return false;
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        bits = bits << 8 | reader->at[i];
    }
    reader->at += size;
    *ret_bits = bits;
    return true;
}

static bool read_signed(KeyReader *reader, Vector *vector, size_t size)
{
    uint64_t bits;
    if (!read_be(reader, size, &bits)) {
        return false;
    }
    bits ^= UINT64_C(1) << (8 * size - 1);
    unsigned unused = 64 - 8 * (unsigned)size;
    vector_append_int(vector, reader->arena, (int64_t)(bits << unused) >> unused);
    return true;
}

static bool read_int128(KeyReader *reader, Vector *vector)
{
    uint64_t high;
    uint64_t low;
    if (!read_be(reader, 8, &high) || !read_be(reader, 8, &low)) {
        return false;
    }
    int128 value = (int128)(((uint128)high << 64 | low) ^ (uint128)1 << 127);
    if (!decimal_fits(value, vector->type->precision)) {
        return false;
    }
    vector_append_int128(vector, reader->arena, value);
    return true;
}

static bool read_double(KeyReader *reader, Vector *vector)
{
    uint64_t ordered;
    if (!read_be(reader, 8, &ordered)) {
        return false;
    }
    uint64_t bits = ordered >> 63 ? ordered & ~(UINT64_C(1) << 63) : ~ordered;
    double number;
    memcpy(&number, &bits, sizeof number);
    if (double_to_ordered(number) != ordered) {
        return false;
    }
    vector_append_double(vector, reader->arena, number);
    return true;
}

static bool read_float(KeyReader *reader, Vector *vector)
{
    uint64_t wide;
    if (!read_be(reader, 4, &wide)) {
        return false;
    }
    uint32_t ordered = (uint32_t)wide;
    uint32_t bits = ordered >> 31 ? ordered & ~(UINT32_C(1) << 31) : ~ordered;
    float number;
    memcpy(&number, &bits, sizeof number);
    if (float_to_ordered(number) != ordered) {
        return false;
    }
    vector_append_double(vector, reader->arena, (double)number);
    return true;
}

/* Finds the end first, so that the copy has its exact size. */
static bool read_escaped(KeyReader *reader, Vector *vector)
{
    const unsigned char *at = reader->at;
    size_t zeros = 0;
    for (;;) {
        at = memchr(at, '\0', (size_t)(reader->end - at));
        if (at == NULL || reader->end - at < 2) {
            return false;
        }
        if (at[1] == MARK_END) {
            break;
        }
        if (at[1] != ESCAPE) {
            return false;
        }
        zeros++;
        at += 2;
    }
    size_t size = (size_t)(at - reader->at) - zeros;
    char *bytes = arena_alloc_bytes(reader->arena, size + 1);
    char *to = bytes;
    for (const unsigned char *from = reader->at; from < at; from++) {
        *to++ = (char)*from;
        from += *from == 0; /* its escape */
    }
    vector_append_str(vector, reader->arena, (Str){bytes, size});
    reader->at = at + 2;
    return true;
}

static bool read_value(KeyReader *reader, Vector *vector);

static bool read_list(KeyReader *reader, Vector *vector)
{
    assert(vector->child_count == 1);
    unsigned mark;
    while (read_byte(reader, &mark)) {
        if (mark == MARK_END) {
            vector_finish_list(vector, reader->arena);
            return true;
        }
        if (mark != MARK_ELEMENT || !read_value(reader, vector->children[0])) {
            return false;
        }
    }
    return false;
}

static bool read_struct(KeyReader *reader, Vector *vector)
{
    for (uint32_t i = 0; i < vector->child_count; i++) {
        if (!read_value(reader, vector->children[i])) {
            return false;
        }
    }
    vector_finish_struct(vector, reader->arena);
    return true;
}

static bool read_bool(KeyReader *reader, Vector *vector)
{
    unsigned byte;
    if (!read_byte(reader, &byte) || byte > 1) {
        return false;
    }
    vector_append_bool(vector, reader->arena, byte == 1);
    return true;
}

static bool read_payload(KeyReader *reader, Vector *vector)
{
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        return false;
    case PHYSICAL_BOOL:
        return read_bool(reader, vector);
    case PHYSICAL_INT8:
        return read_signed(reader, vector, 1);
    case PHYSICAL_INT16:
        return read_signed(reader, vector, 2);
    case PHYSICAL_INT32:
        return read_signed(reader, vector, 4);
    case PHYSICAL_INT64:
        return read_signed(reader, vector, 8);
    case PHYSICAL_INT128:
        return read_int128(reader, vector);
    case PHYSICAL_FLOAT:
        return read_float(reader, vector);
    case PHYSICAL_DOUBLE:
        return read_double(reader, vector);
    case PHYSICAL_STR:
        return read_escaped(reader, vector);
    case PHYSICAL_LIST:
        return read_list(reader, vector);
    case PHYSICAL_STRUCT:
        return read_struct(reader, vector);
    }
    return false;
}

static bool read_value(KeyReader *reader, Vector *vector)
{
    unsigned mark;
    if (!read_byte(reader, &mark) || mark > MARK_VALUE) {
        return false;
    }
    if (mark == MARK_NULL) {
        vector_append_null(vector, reader->arena);
        return true;
    }
    return read_payload(reader, vector);
}

/* Takes back what was appended before the bytes turned out to be no key. */
static COLD Error *damaged(const KeyReader *reader, Str key, Vector **columns, size_t count,
                           uint32_t length)
{
    for (size_t i = 0; i < count; i++) {
        vector_truncate(columns[i], length);
    }
    return error_new(ERROR_STATE_CORRUPT, "A stored key is damaged at byte %td of %zu.",
                     reader->at - (const unsigned char *)key.data, key.size);
}

Error *key_decode(Str key, Arena *arena, Vector **columns, size_t column_count)
{
    const unsigned char *begin = (const unsigned char *)(key.data == NULL ? "" : key.data);
    KeyReader reader = {begin, begin + key.size, arena};
    key.data = (const char *)begin;
    uint32_t length = column_count == 0 ? 0 : columns[0]->length;
    for (size_t i = 0; i < column_count; i++) {
        assert(columns[i]->length == length);
        assert(type_is_orderable(columns[i]->type));
        if (!read_value(&reader, columns[i])) {
            return damaged(&reader, key, columns, column_count, length);
        }
    }
    if (reader.at != reader.end) {
        return damaged(&reader, key, columns, column_count, length);
    }
    return NULL;
}
