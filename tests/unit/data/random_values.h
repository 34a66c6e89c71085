/* Random types and values for property tests: every kind, nested, with the awkward values (limits,
 * NaN, -0.0, zero bytes, empty strings and lists) often. */
#ifndef TESTS_UNIT_DATA_RANDOM_VALUES_H
#define TESTS_UNIT_DATA_RANDOM_VALUES_H

#include <math.h>

#include "processor/data/decimal.h"
#include "processor/data/schema.h"
#include "processor/data/vector.h"

typedef struct Random {
    uint64_t state;
} Random;

static inline uint64_t random_next(Random *random)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return random->state * UINT64_C(0x2545F4914F6CDD1D);
}

static inline uint32_t random_below(Random *random, uint32_t limit)
{
    return (uint32_t)((random_next(random) >> 32) * limit >> 32);
}

/* A type; with `orderable` one a key can have. */
static inline const Type *random_type(Random *random, Arena *arena, bool orderable, int depth)
{
    static const Type *const plain[] = {&type_boolean, &type_tinyint,   &type_smallint,
                                        &type_int,     &type_bigint,    &type_float,
                                        &type_double,  &type_string,    &type_binary,
                                        &type_date,    &type_timestamp, &type_timestamp_ntz};
    uint32_t pick = random_below(random, depth > 0 ? 20 : 15);
    if (pick < ARRAY_LENGTH(plain)) {
        return plain[pick];
    }
    if (pick == 12) {
        int precision = 1 + (int)random_below(random, 38);
        return type_decimal(arena, precision, (int)random_below(random, (uint32_t)precision + 1));
    }
    if (pick == 13) {
        return type_interval(arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, FIELD_SECOND);
    }
    if (pick == 14) {
        return random_below(random, 2) == 0
                   ? type_interval(arena, TYPE_INTERVAL_YEAR_MONTH, FIELD_YEAR, FIELD_MONTH)
                   : &type_null;
    }
    if (pick < 17 || (pick == 19 && orderable)) {
        return type_array(arena, random_type(random, arena, orderable, depth - 1));
    }
    if (pick == 19) {
        return type_map(arena, random_type(random, arena, true, depth - 1),
                        random_type(random, arena, false, depth - 1));
    }
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    Field fields[5] = {0};
    uint32_t count = random_below(random, 5);
    for (uint32_t i = 0; i < count; i++) {
        fields[i].name = str_from(names[i]);
        fields[i].type = random_type(random, arena, orderable, depth - 1);
    }
    return type_struct(arena, fields, count);
}

/* Small numbers, limits, and all in between. */
static inline int64_t random_integer(Random *random, unsigned bits)
{
    int64_t min = INT64_MIN >> (64 - bits);
    int64_t max = INT64_MAX >> (64 - bits);
    switch (random_below(random, 6)) {
    case 0:
        return min + random_below(random, 3);
    case 1:
        return max - random_below(random, 3);
    case 2:
    case 3:
        return (int64_t)random_below(random, 7) - 3;
    default:
        return (int64_t)random_next(random) >> (64 - bits);
    }
}

static inline int128 random_decimal(Random *random, int precision)
{
    int128 limit = decimal_power_of_ten(precision);
    uint128 bits = (uint128)random_next(random) << 64 | random_next(random);
    int128 value = (int128)(bits % (uint128)limit);
    switch (random_below(random, 4)) {
    case 0:
        value = limit - 1 - (int128)random_below(random, 3);
        break;
    case 1:
        value = (int128)random_below(random, 4);
        break;
    default:
        break;
    }
    value = value < 0 ? 0 : value % limit;
    return random_below(random, 2) == 0 ? value : -value;
}

static inline double random_double(Random *random)
{
    static const double special[] = {0.0,     -0.0,     1.0,      -1.0, 4.9e-324, -4.9e-324,
                                     1.5e308, -1.5e308, 2.2e-308, 0.1,  1e23,     -2.5};
    uint32_t pick = random_below(random, 20);
    if (pick < ARRAY_LENGTH(special)) {
        return special[pick];
    }
    if (pick < 14) {
        return pick == 12 ? (double)INFINITY : (double)-INFINITY;
    }
    if (pick < 16) {
        return (double)NAN;
    }
    double value;
    uint64_t bits = random_next(random);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline Str random_str(Random *random, Arena *arena)
{
    static const char *const letters = "ab\0\xFF\x01\x00z"; /* zero bytes and their escape too */
    size_t size = random_below(random, 6);
    if (random_below(random, 20) == 0) {
        size = 200;
    }
    char *bytes = arena_alloc_bytes(arena, size + 1);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = letters[random_below(random, 7)];
    }
    return (Str){bytes, size};
}

/* Appends a value; NULL now and then. */
static inline void random_append(Random *random, Arena *arena, Vector *vector)
{
    if (random_below(random, 8) == 0) {
        vector_append_null(vector, arena);
        return;
    }
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        vector_append_null(vector, arena);
        return;
    case PHYSICAL_BOOL:
        vector_append_bool(vector, arena, random_below(random, 2) == 1);
        return;
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
        vector_append_int(vector, arena,
                          random_integer(random, 8 * (unsigned)type_value_size(vector->type)));
        return;
    case PHYSICAL_INT128:
        vector_append_int128(vector, arena, random_decimal(random, vector->type->precision));
        return;
    case PHYSICAL_FLOAT: {
        uint32_t bits = (uint32_t)random_next(random);
        float value;
        memcpy(&value, &bits, sizeof value);
        double number = random_double(random);
        bool usable = isnan(number) || isinf(number) || fabs(number) < 1e30;
        vector_append_double(vector, arena, usable ? (double)(float)number : (double)value);
        return;
    }
    case PHYSICAL_DOUBLE:
        vector_append_double(vector, arena, random_double(random));
        return;
    case PHYSICAL_STR:
        vector_append_str(vector, arena, random_str(random, arena));
        return;
    case PHYSICAL_LIST: {
        uint32_t count = random_below(random, 4);
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t child = 0; child < vector->child_count; child++) {
                random_append(random, arena, vector->children[child]);
            }
        }
        vector_finish_list(vector, arena);
        return;
    }
    case PHYSICAL_STRUCT:
        for (uint32_t child = 0; child < vector->child_count; child++) {
            random_append(random, arena, vector->children[child]);
        }
        vector_finish_struct(vector, arena);
        return;
    }
}

#endif
