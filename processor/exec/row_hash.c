/* Hashes and equality of rows of key columns.
 *
 * One column after the other: the first gives each row a hash, the others mix their value into it.
 * Numbers hash by value, so that 1 of any width is the same; FLOAT goes by way of DOUBLE, where
 * -0.0 becomes 0.0 and every NaN the same one. Texts of up to 16 bytes are read as two words that
 * overlap, longer ones by XXH3. The entries of a MAP count without their order, in the hash (a sum)
 * and in equality: two maps are the same group when they hold the same entries. */
#include "processor/exec/row_hash.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "processor/base/hash.h"

#include "processor/base/banned.h"

#define SEED UINT64_C(0x2D358DCCAA6C78A5)
#define NULL_BITS UINT64_C(0x8BB84B93962EACC9)

/* ---- Mixing ---- */

/* Both halves of a 128-bit product, folded (wyhash's step), then spread once more: every bit of
 * either input reaches every bit of the result. */
static inline uint64_t mix(uint64_t seed, uint64_t bits)
{
    uint128 product = (uint128)(bits ^ UINT64_C(0x9E3779B97F4A7C15)) * (seed | 1);
    uint64_t hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

static inline uint64_t double_bits(double value)
{
    value = value == 0 ? 0.0 : value;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? UINT64_C(0x7FF8000000000000) : bits;
}

static inline uint64_t load_64(const char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint64_t load_32(const char *from)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint64_t mix_str(uint64_t seed, Str value)
{
    const char *data = value.data;
    size_t size = value.size;
    if (size > 16) {
        return mix(seed, hash_bytes(value));
    }
    if (size >= 8) {
        return mix(mix(seed ^ size << 8, load_64(data)), load_64(data + size - 8));
    }
    if (size >= 4) {
        return mix(seed ^ size << 8, load_32(data) << 32 | load_32(data + size - 4));
    }
    uint64_t bits = size;
    for (size_t i = 0; i < size; i++) {
        bits = bits << 8 | (unsigned char)data[i];
    }
    return mix(seed, bits);
}

static inline uint64_t mix_int128(uint64_t seed, int128 value)
{
    uint64_t high = (uint64_t)(value >> 64);
    uint64_t low = (uint64_t)value;
    /* What fits 64 bits hashes as an integer; most decimals do. */
    return high == (uint64_t)((int64_t)low >> 63) ? mix(seed, low) : mix(mix(seed, low), high);
}

/* ---- Nested values ---- */

static uint64_t mix_value(uint64_t seed, const Vector *vector, uint32_t row);

static uint64_t mix_list(uint64_t seed, const Vector *vector, uint32_t row)
{
    uint32_t begin = vector->offsets[row];
    uint32_t end = vector->offsets[row + 1];
    uint64_t hash = mix(seed, end - begin);
    if (vector->type->kind == TYPE_MAP) {
        uint64_t sum = 0;
        for (uint32_t i = begin; i < end; i++) {
            sum += mix_value(mix_value(SEED, vector->children[0], i), vector->children[1], i);
        }
        return mix(hash, sum);
    }
    for (uint32_t i = begin; i < end; i++) {
        hash = mix_value(hash, vector->children[0], i);
    }
    return hash;
}

/* The depth of a type is bounded by the parser, so recursion is. */
static uint64_t mix_value(uint64_t seed, const Vector *vector, uint32_t row)
{
    if (!vector_is_valid(vector, row)) {
        return mix(seed, NULL_BITS);
    }
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        return mix(seed, NULL_BITS);
    case PHYSICAL_BOOL:
        return mix(seed, VECTOR_VALUE(vector, uint8_t, row));
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
        return mix(seed, (uint64_t)vector_int_value(vector, row));
    case PHYSICAL_INT128:
        return mix_int128(seed, VECTOR_VALUE(vector, int128, row));
    case PHYSICAL_FLOAT:
        return mix(seed, double_bits((double)VECTOR_VALUE(vector, float, row)));
    case PHYSICAL_DOUBLE:
        return mix(seed, double_bits(VECTOR_VALUE(vector, double, row)));
    case PHYSICAL_STR:
        return mix_str(seed, VECTOR_VALUE(vector, Str, row));
    case PHYSICAL_LIST:
        return mix_list(seed, vector, row);
    case PHYSICAL_STRUCT:
        seed = mix(seed, vector->child_count); /* a NULL is no struct of NULLs */
        for (uint32_t i = 0; i < vector->child_count; i++) {
            seed = mix_value(seed, vector->children[i], row);
        }
        return seed;
    }
    return seed;
}

/* ---- Columns ---- */

/* `first`: the rows have no hash yet. */
typedef void HashColumn(const Vector *column, Rows rows, bool first, uint64_t *hashes);

/* A loop each for columns with and without NULLs. `x` is the value, `seed` the hash so far. */
#define HASH_COLUMN(name, CType, mixed)                                                            \
    static void hash_##name(const Vector *column, Rows rows, bool first, uint64_t *hashes)         \
    {                                                                                              \
        const CType *values = column->data;                                                        \
        if (column->validity == NULL && first) {                                                   \
            const uint64_t seed = SEED;                                                            \
            FOR_ROWS(rows, i, {                                                                    \
                const CType x = values[i];                                                         \
                hashes[i] = (mixed);                                                               \
            });                                                                                    \
            return;                                                                                \
        }                                                                                          \
        FOR_ROWS(rows, i, {                                                                        \
            const uint64_t seed = first ? SEED : hashes[i];                                        \
            const CType x = values[i];                                                             \
            hashes[i] = vector_is_valid(column, i) ? (mixed) : mix(seed, NULL_BITS);               \
        });                                                                                        \
    }

HASH_COLUMN(bool, uint8_t, mix(seed, x))
HASH_COLUMN(int8, int8_t, mix(seed, (uint64_t)x))
HASH_COLUMN(int16, int16_t, mix(seed, (uint64_t)x))
HASH_COLUMN(int32, int32_t, mix(seed, (uint64_t)x))
HASH_COLUMN(int64, int64_t, mix(seed, (uint64_t)x))
HASH_COLUMN(int128, int128, mix_int128(seed, x))
HASH_COLUMN(float, float, mix(seed, double_bits((double)x)))
HASH_COLUMN(double, double, mix(seed, double_bits(x)))
HASH_COLUMN(str, Str, mix_str(seed, x))

static void hash_nested(const Vector *column, Rows rows, bool first, uint64_t *hashes)
{
    FOR_ROWS(rows, i, { hashes[i] = mix_value(first ? SEED : hashes[i], column, i); });
}

void row_hash(const Vector *const *columns, size_t column_count, Rows rows, uint64_t *hashes)
{
    static HashColumn *const loops[PHYSICAL_STRUCT + 1] = {
        [PHYSICAL_NONE] = hash_nested,   [PHYSICAL_BOOL] = hash_bool,
        [PHYSICAL_INT8] = hash_int8,     [PHYSICAL_INT16] = hash_int16,
        [PHYSICAL_INT32] = hash_int32,   [PHYSICAL_INT64] = hash_int64,
        [PHYSICAL_INT128] = hash_int128, [PHYSICAL_FLOAT] = hash_float,
        [PHYSICAL_DOUBLE] = hash_double, [PHYSICAL_STR] = hash_str,
        [PHYSICAL_LIST] = hash_nested,   [PHYSICAL_STRUCT] = hash_nested,
    };
    if (column_count == 0) {
        FOR_ROWS(rows, i, { hashes[i] = SEED; });
    }
    for (size_t i = 0; i < column_count; i++) {
        loops[type_physical(columns[i]->type)](columns[i], rows, i == 0, hashes);
    }
}

uint64_t row_value_hash(const Vector *vector, uint32_t row)
{
    return mix_value(SEED, vector, row);
}

/* ---- Equality ---- */

static bool has_entry(const Vector *map, uint32_t begin, uint32_t end, const Vector *other,
                      uint32_t entry)
{
    for (uint32_t i = begin; i < end; i++) {
        if (row_value_equal(map->children[0], i, other->children[0], entry)) {
            return row_value_equal(map->children[1], i, other->children[1], entry);
        }
    }
    return false;
}

static bool maps_equal(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    uint32_t begin = a->offsets[row_a];
    uint32_t end = a->offsets[row_a + 1];
    if (end - begin != b->offsets[row_b + 1] - b->offsets[row_b]) {
        return false;
    }
    for (uint32_t i = 0; i < end - begin; i++) {
        uint32_t entry = b->offsets[row_b] + i;
        /* Equal maps mostly have their entries in the same order. */
        if (!has_entry(a, begin + i, begin + i + 1, b, entry) &&
            !has_entry(a, begin, end, b, entry)) {
            return false;
        }
    }
    return true;
}

static bool arrays_equal(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    uint32_t begin_a = a->offsets[row_a];
    uint32_t begin_b = b->offsets[row_b];
    uint32_t count = a->offsets[row_a + 1] - begin_a;
    if (count != b->offsets[row_b + 1] - begin_b) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!row_value_equal(a->children[0], begin_a + i, b->children[0], begin_b + i)) {
            return false;
        }
    }
    return true;
}

bool row_value_equal(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    if (type_child_count(a->type) == 0) {
        return vector_value_equal(a, row_a, b, row_b);
    }
    bool valid = vector_is_valid(a, row_a);
    if (!valid || !vector_is_valid(b, row_b)) {
        return valid == vector_is_valid(b, row_b);
    }
    if (a->type->kind == TYPE_MAP) {
        return maps_equal(a, row_a, b, row_b);
    }
    if (a->type->kind == TYPE_ARRAY) {
        return arrays_equal(a, row_a, b, row_b);
    }
    for (uint32_t i = 0; i < a->child_count; i++) {
        if (!row_value_equal(a->children[i], row_a, b->children[i], row_b)) {
            return false;
        }
    }
    return true;
}

/* Narrows the list of pairs in `matches` to those that are equal in this column. */
typedef uint32_t EqualColumn(const Vector *left, const uint32_t *left_rows, const Vector *right,
                             const uint32_t *right_rows, uint32_t *matches, uint32_t count);

/* A pair is written, then kept or overwritten by the next: no branch on the outcome. */
#define EQUAL_COLUMN(name, CType, equal)                                                           \
    static uint32_t equal_##name(const Vector *left, const uint32_t *left_rows,                    \
                                 const Vector *right, const uint32_t *right_rows,                  \
                                 uint32_t *matches, uint32_t count)                                \
    {                                                                                              \
        const CType *left_values = left->data;                                                     \
        const CType *right_values = right->data;                                                   \
        const bool nulls = left->validity != NULL || right->validity != NULL;                      \
        uint32_t kept = 0;                                                                         \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const uint32_t pair = matches[i];                                                      \
            const CType a = left_values[left_rows[pair]];                                          \
            const CType b = right_values[right_rows[pair]];                                        \
            bool same;                                                                             \
            if (nulls && (!vector_is_valid(left, left_rows[pair]) ||                               \
                          !vector_is_valid(right, right_rows[pair]))) {                            \
                same = !vector_is_valid(left, left_rows[pair]) &&                                  \
                       !vector_is_valid(right, right_rows[pair]);                                  \
            } else {                                                                               \
                same = (equal);                                                                    \
            }                                                                                      \
            matches[kept] = pair;                                                                  \
            kept += same;                                                                          \
        }                                                                                          \
        return kept;                                                                               \
    }

EQUAL_COLUMN(int8, uint8_t, a == b)
EQUAL_COLUMN(int16, uint16_t, a == b)
EQUAL_COLUMN(int32, uint32_t, a == b)
EQUAL_COLUMN(int64, uint64_t, a == b)
EQUAL_COLUMN(int128, int128, a == b)
EQUAL_COLUMN(float, float, a == b || (isnan(a) && isnan(b)))
EQUAL_COLUMN(double, double, a == b || (isnan(a) && isnan(b)))
EQUAL_COLUMN(str, Str, str_equal(a, b))

static uint32_t equal_nested(const Vector *left, const uint32_t *left_rows, const Vector *right,
                             const uint32_t *right_rows, uint32_t *matches, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pair = matches[i];
        matches[kept] = pair;
        kept += row_value_equal(left, left_rows[pair], right, right_rows[pair]);
    }
    return kept;
}

/* Every value of the type "void" is NULL. */
static uint32_t equal_none(const Vector *left, const uint32_t *left_rows, const Vector *right,
                           const uint32_t *right_rows, uint32_t *matches, uint32_t count)
{
    (void)left;
    (void)left_rows;
    (void)right;
    (void)right_rows;
    (void)matches;
    return count;
}

uint32_t row_equal_pairs(const Vector *const *left, const uint32_t *left_rows,
                         const Vector *const *right, const uint32_t *right_rows,
                         size_t column_count, uint32_t pair_count, uint32_t *matches)
{
    static EqualColumn *const loops[PHYSICAL_STRUCT + 1] = {
        [PHYSICAL_NONE] = equal_none,     [PHYSICAL_BOOL] = equal_int8,
        [PHYSICAL_INT8] = equal_int8,     [PHYSICAL_INT16] = equal_int16,
        [PHYSICAL_INT32] = equal_int32,   [PHYSICAL_INT64] = equal_int64,
        [PHYSICAL_INT128] = equal_int128, [PHYSICAL_FLOAT] = equal_float,
        [PHYSICAL_DOUBLE] = equal_double, [PHYSICAL_STR] = equal_str,
        [PHYSICAL_LIST] = equal_nested,   [PHYSICAL_STRUCT] = equal_nested,
    };
    for (uint32_t i = 0; i < pair_count; i++) {
        matches[i] = i;
    }
    uint32_t count = pair_count;
    for (size_t i = 0; i < column_count && count > 0; i++) {
        assert(type_physical(left[i]->type) == type_physical(right[i]->type));
        count = loops[type_physical(left[i]->type)](left[i], left_rows, right[i], right_rows,
                                                    matches, count);
    }
    return count;
}

/* ---- One of equal values ---- */

double row_normal_double(double value)
{
    return isnan(value) ? (double)NAN : value == 0 ? 0.0 : value;
}

void row_normalize(Vector *vector, uint32_t from)
{
    if (type_physical(vector->type) == PHYSICAL_DOUBLE) {
        for (uint32_t i = from; i < vector->length; i++) {
            VECTOR_DATA(vector, double)[i] = row_normal_double(VECTOR_VALUE(vector, double, i));
        }
    } else if (type_physical(vector->type) == PHYSICAL_FLOAT) {
        for (uint32_t i = from; i < vector->length; i++) {
            VECTOR_DATA(vector, float)
            [i] = (float)row_normal_double((double)VECTOR_VALUE(vector, float, i));
        }
    }
    for (uint32_t i = 0; i < vector->child_count; i++) {
        row_normalize(vector->children[i], vector->offsets != NULL ? vector->offsets[from] : from);
    }
}
