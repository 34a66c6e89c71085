/* Random types, and random values for them: nested, odd strings, extreme numbers. */
#ifndef TESTS_UNIT_FORMAT_RANDOM_VALUES_H
#define TESTS_UNIT_FORMAT_RANDOM_VALUES_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "processor/base/compiler.h"
#include "processor/data/datetime.h"
#include "processor/data/decimal.h"
#include "processor/data/vector.h"

typedef struct Random {
    uint64_t state;
} Random;

/* splitmix64 */
UNUSED static uint64_t random_bits(Random *random)
{
    uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

UNUSED static uint32_t random_below(Random *random, uint32_t limit)
{
    return (uint32_t)(random_bits(random) % limit);
}

UNUSED static bool random_chance(Random *random, uint32_t one_in)
{
    return random_below(random, one_in) == 0;
}

static uint32_t random_character(Random *random)
{
    switch (random_below(random, 8)) {
    case 0:
        return random_below(random, 0x20);
    case 1:
        return (uint32_t)"\"\\/\x7F"[random_below(random, 4)];
    case 2:
        return 0x80 + random_below(random, 0xD800 - 0x80);
    case 3:
        return 0xE000 + random_below(random, 0x110000 - 0xE000);
    default:
        return 0x20 + random_below(random, 0x5F);
    }
}

static void append_character(Buffer *out, uint32_t c)
{
    if (c < 0x80) {
        buffer_append_byte(out, (char)c);
    } else if (c < 0x800) {
        buffer_append_byte(out, (char)(0xC0 | c >> 6));
        buffer_append_byte(out, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        buffer_append_byte(out, (char)(0xE0 | c >> 12));
        buffer_append_byte(out, (char)(0x80 | (c >> 6 & 0x3F)));
        buffer_append_byte(out, (char)(0x80 | (c & 0x3F)));
    } else {
        buffer_append_byte(out, (char)(0xF0 | c >> 18));
        buffer_append_byte(out, (char)(0x80 | (c >> 12 & 0x3F)));
        buffer_append_byte(out, (char)(0x80 | (c >> 6 & 0x3F)));
        buffer_append_byte(out, (char)(0x80 | (c & 0x3F)));
    }
}

UNUSED static Str random_string(Random *random, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    uint32_t size =
        random_chance(random, 20) ? random_below(random, 300) : random_below(random, 24);
    bool plain = random_chance(random, 2);
    for (uint32_t i = 0; i < size; i++) {
        append_character(&text, plain ? 'a' + random_below(random, 26) : random_character(random));
    }
    return arena_copy_str(arena, buffer_str(&text));
}

static double random_double(Random *random)
{
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     0.1,
                                     1e10,
                                     1e-5,
                                     DBL_MAX,
                                     DBL_MIN,
                                     0x1p-1074,
                                     1e22,
                                     1e23,
                                     9007199254740993.0,
                                     (double)NAN,
                                     (double)INFINITY,
                                     -(double)INFINITY,
                                     123456.789};
    if (random_chance(random, 3)) {
        return special[random_below(random, (uint32_t)ARRAY_LENGTH(special))];
    }
    if (random_chance(random, 2)) {
        return (double)(int32_t)random_bits(random) / 100;
    }
    uint64_t bits = random_bits(random);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float random_float(Random *random)
{
    if (random_chance(random, 2)) {
        double value = random_double(random);
        return (float)value;
    }
    uint32_t bits = (uint32_t)random_bits(random);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Of any size: 1, 8, … 64 bits, and the ends of the range. */
static int64_t random_integer(Random *random, int bits)
{
    int64_t max = (int64_t)(UINT64_MAX >> (65 - bits));
    switch (random_below(random, 8)) {
    case 0:
        return max;
    case 1:
        return -max - 1;
    default: {
        int64_t value = (int64_t)random_bits(random) >> (64 - bits);
        return value >> random_below(random, (uint32_t)bits);
    }
    }
}

static int128 random_decimal(Random *random, int precision)
{
    uint128 wide = (uint128)random_bits(random) << 64 | random_bits(random);
    uint128 limit =
        (uint128)decimal_power_of_ten(1 + (int)random_below(random, (uint32_t)precision));
    int128 value = random_chance(random, 8) ? (int128)(limit - 1) : (int128)(wide % limit);
    return random_chance(random, 2) ? -value : value;
}

static int64_t random_timestamp(Random *random)
{
    int64_t first = (int64_t)date_from_civil(1, 1, 1) * INT64_C(86400000000);
    int64_t end = ((int64_t)date_from_civil(9999, 12, 31) + 1) * INT64_C(86400000000);
    if (random_chance(random, 8)) {
        return random_chance(random, 2) ? first : end - 1;
    }
    int64_t us = first + (int64_t)(random_bits(random) % (uint64_t)(end - first));
    return random_chance(random, 2) ? us - us % 1000000 : us;
}

static void append_random(Random *random, Arena *arena, Vector *vector, bool nulls);

static bool is_new_key(const Vector *keys, uint32_t begin)
{
    for (uint32_t i = begin; i + 1 < keys->length; i++) {
        if (vector_value_equal(keys, i, keys, keys->length - 1)) {
            return false;
        }
    }
    return true;
}

static void append_random_map(Random *random, Arena *arena, Vector *vector)
{
    Vector *keys = vector->children[0];
    uint32_t begin = keys->length;
    uint32_t count = random_chance(random, 10) ? random_below(random, 20) : random_below(random, 4);
    Vector *tried = vector_new(arena, keys->type, count);
    for (uint32_t i = 0; i < count; i++) {
        append_random(random, arena, tried, false);
        if (is_new_key(tried, 0)) {
            vector_append_from(keys, arena, tried, tried->length - 1);
            append_random(random, arena, vector->children[1], true);
        }
    }
    (void)begin;
    vector_finish_list(vector, arena);
}

UNUSED static void append_random(Random *random, Arena *arena, Vector *vector, bool nulls)
{
    const Type *type = vector->type;
    if (nulls && random_chance(random, 6)) {
        vector_append_null(vector, arena);
        return;
    }
    switch (type->kind) {
    case TYPE_BOOLEAN:
        vector_append_bool(vector, arena, random_chance(random, 2));
        return;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        vector_append_int(vector, arena, random_integer(random, (int)type_value_size(type) * 8));
        return;
    case TYPE_FLOAT:
        vector_append_double(vector, arena, (double)random_float(random));
        return;
    case TYPE_DOUBLE:
        vector_append_double(vector, arena, random_double(random));
        return;
    case TYPE_DECIMAL:
        vector_append_int128(vector, arena, random_decimal(random, type->precision));
        return;
    case TYPE_STRING:
    case TYPE_BINARY: {
        Str text = random_string(random, arena);
        vector_append_str(vector, arena, text);
        return;
    }
    case TYPE_DATE:
        vector_append_int(vector, arena, random_timestamp(random) / INT64_C(86400000000));
        return;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        vector_append_int(vector, arena, random_timestamp(random));
        return;
    case TYPE_ARRAY:
        for (uint32_t count = random_below(random, 4); count > 0; count--) {
            append_random(random, arena, vector->children[0], true);
        }
        vector_finish_list(vector, arena);
        return;
    case TYPE_MAP:
        append_random_map(random, arena, vector);
        return;
    case TYPE_STRUCT:
        for (uint32_t i = 0; i < vector->child_count; i++) {
            append_random(random, arena, vector->children[i], true);
        }
        vector_finish_struct(vector, arena);
        return;
    case TYPE_NULL:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_VARIANT:
        vector_append_null(vector, arena);
        return;
    }
}

static const Type *random_scalar_type(Random *random, Arena *arena)
{
    static const Type *const scalars[] = {
        &type_boolean, &type_tinyint,   &type_smallint,     &type_int,    &type_bigint,
        &type_float,   &type_double,    &type_string,       &type_string, &type_binary,
        &type_date,    &type_timestamp, &type_timestamp_ntz};
    uint32_t pick = random_below(random, (uint32_t)ARRAY_LENGTH(scalars) + 2);
    if (pick >= ARRAY_LENGTH(scalars)) {
        int precision = 1 + (int)random_below(random, 38);
        return type_decimal(arena, precision, (int)random_below(random, (uint32_t)precision + 1));
    }
    return scalars[pick];
}

static const Type *random_type(Random *random, Arena *arena, int depth);

/* Names that differ also ignoring case: each begins with its number. */
UNUSED static Field random_field(Random *random, Arena *arena, uint32_t number, int depth)
{
    AUTO_BUFFER Buffer name = {0};
    buffer_printf(&name, "%u", (unsigned)number);
    if (random_chance(random, 3)) {
        buffer_append_str(&name, random_string(random, arena));
    } else {
        buffer_append_cstr(&name, "_Column");
    }
    return (Field){.name = arena_copy_str(arena, buffer_str(&name)),
                   .type = random_type(random, arena, depth)};
}

UNUSED static const Type *random_type(Random *random, Arena *arena, int depth)
{
    if (depth == 0 || random_chance(random, 2)) {
        return random_scalar_type(random, arena);
    }
    switch (random_below(random, 3)) {
    case 0:
        return type_array(arena, random_type(random, arena, depth - 1));
    case 1: {
        const Type *key = random_type(random, arena, depth - 1);
        key = type_is_orderable(key) ? key : random_scalar_type(random, arena);
        return type_map(arena, key, random_type(random, arena, depth - 1));
    }
    default: {
        Field fields[4];
        uint32_t count = random_below(random, 5);
        for (uint32_t i = 0; i < count; i++) {
            fields[i] = random_field(random, arena, i, depth - 1);
        }
        return type_struct(arena, fields, count);
    }
    }
}

#endif
