/* Column vectors: making, growing, appending, comparing.
 *
 * Invariants: bits of `validity` at and beyond `length` are set, so a kernel may write values there
 * without a look at it; values at and beyond `length` are initialised. A null row of a
 * LIST is an empty range, a null row of a STRUCT has null children, so that the children of a
 * struct are always as long as the struct. Growth doubles and copies: the old memory stays in the
 * arena until its reset, at most as much as the vector in use. */
#include "processor/data/vector.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "processor/base/banned.h"

enum { CAPACITY_MIN = 8 };

Vector *vector_new(Arena *arena, const Type *type, uint32_t capacity)
{
    Vector *vector = arena_new_object(arena, Vector);
    vector->type = type;
    vector->capacity = capacity < CAPACITY_MIN ? CAPACITY_MIN : capacity;
    size_t size = type_value_size(type);
    if (size > 0) {
        vector->data = arena_alloc_zero(arena, arena_array_size_(vector->capacity, size));
    }
    if (type_physical(type) == PHYSICAL_LIST) {
        vector->offsets = arena_new_array(arena, uint32_t, (size_t)vector->capacity + 1);
    }
    vector->child_count = type_child_count(type);
    if (vector->child_count > 0) {
        vector->children = arena_new_array(arena, Vector *, vector->child_count);
        for (uint32_t i = 0; i < vector->child_count; i++) {
            vector->children[i] = vector_new(arena, type_child(type, i), capacity);
        }
    }
    return vector;
}

/* ---- Validity ---- */

static size_t bitmap_words(uint32_t rows)
{
    return ((size_t)rows + 63) / 64;
}

uint64_t *vector_need_validity(Vector *vector, Arena *arena)
{
    if (vector->validity == NULL) {
        size_t words = bitmap_words(vector->capacity);
        vector->validity = arena_alloc(arena, arena_array_size_(words, sizeof(uint64_t)));
        memset(vector->validity, 0xFF, words * sizeof(uint64_t));
    }
    return vector->validity;
}

void vector_set_null(Vector *vector, Arena *arena, uint32_t row)
{
    assert(row < vector->capacity);
    vector_need_validity(vector, arena)[row >> 6] &= ~(UINT64_C(1) << (row & 63));
}

void vector_set_valid(Vector *vector, uint32_t row)
{
    assert(row < vector->capacity);
    if (vector->validity != NULL) {
        vector->validity[row >> 6] |= UINT64_C(1) << (row & 63);
    }
}

/* ---- Growth ---- */

static void *grow_array(Arena *arena, const void *from, size_t used, size_t count, size_t size)
{
    char *memory = arena_alloc(arena, arena_array_size_(count, size));
    if (used > 0) {
        memcpy(memory, from, used * size);
    }
    memset(memory + used * size, 0, (count - used) * size);
    return memory;
}

static void grow_to(Vector *vector, Arena *arena, uint32_t capacity)
{
    size_t size = type_value_size(vector->type);
    if (size > 0) {
        vector->data = grow_array(arena, vector->data, vector->capacity, capacity, size);
    }
    if (vector->offsets != NULL) {
        vector->offsets = grow_array(arena, vector->offsets, (size_t)vector->capacity + 1,
                                     (size_t)capacity + 1, sizeof(uint32_t));
    }
    if (vector->validity != NULL) {
        size_t old_words = bitmap_words(vector->capacity);
        size_t words = bitmap_words(capacity);
        uint64_t *validity = arena_alloc(arena, words * sizeof(uint64_t));
        memcpy(validity, vector->validity, old_words * sizeof(uint64_t));
        memset(validity + old_words, 0xFF, (words - old_words) * sizeof(uint64_t));
        vector->validity = validity;
    }
    vector->capacity = capacity;
}

void vector_reserve(Vector *vector, Arena *arena, uint32_t capacity)
{
    if (capacity <= vector->capacity) {
        return;
    }
    uint64_t doubled = (uint64_t)vector->capacity * 2;
    uint64_t wanted = doubled > capacity ? doubled : capacity;
    grow_to(vector, arena, wanted > UINT32_MAX ? UINT32_MAX : (uint32_t)wanted);
    if (type_physical(vector->type) == PHYSICAL_STRUCT) {
        for (uint32_t i = 0; i < vector->child_count; i++) {
            vector_reserve(vector->children[i], arena, capacity);
        }
    }
}

/* Makes room for one more row, counts it, marks it valid; returns its number. */
static inline uint32_t add_row(Vector *vector, Arena *arena)
{
    if (UNLIKELY(vector->length == vector->capacity)) {
        assert(vector->length < UINT32_MAX);
        vector_reserve(vector, arena, vector->length + 1);
    }
    uint32_t row = vector->length++;
    vector_set_valid(vector, row);
    return row;
}

/* ---- Appending ---- */

void vector_append_null(Vector *vector, Arena *arena)
{
    uint32_t row = add_row(vector, arena);
    vector_set_null(vector, arena, row);
    size_t size = type_value_size(vector->type);
    if (size > 0) {
        memset((char *)vector->data + (size_t)row * size, 0, size);
    }
    if (vector->offsets != NULL) {
        vector->offsets[row + 1] = vector->offsets[row];
    }
    if (type_physical(vector->type) == PHYSICAL_STRUCT) {
        for (uint32_t i = 0; i < vector->child_count; i++) {
            vector_append_null(vector->children[i], arena);
        }
    }
}

void vector_append_bool(Vector *vector, Arena *arena, bool value)
{
    assert(type_physical(vector->type) == PHYSICAL_BOOL);
    uint32_t row = add_row(vector, arena);
    VECTOR_DATA(vector, uint8_t)[row] = value;
}

void vector_append_int(Vector *vector, Arena *arena, int64_t value)
{
    uint32_t row = add_row(vector, arena);
    switch (type_value_size(vector->type)) {
    case sizeof(int8_t):
        assert(value >= INT8_MIN && value <= INT8_MAX);
        VECTOR_DATA(vector, int8_t)[row] = (int8_t)value;
        return;
    case sizeof(int16_t):
        assert(value >= INT16_MIN && value <= INT16_MAX);
        VECTOR_DATA(vector, int16_t)[row] = (int16_t)value;
        return;
    case sizeof(int32_t):
        assert(value >= INT32_MIN && value <= INT32_MAX);
        VECTOR_DATA(vector, int32_t)[row] = (int32_t)value;
        return;
    default:
        assert(type_physical(vector->type) == PHYSICAL_INT64);
        VECTOR_DATA(vector, int64_t)[row] = value;
    }
}

void vector_append_int128(Vector *vector, Arena *arena, int128 value)
{
    assert(type_physical(vector->type) == PHYSICAL_INT128);
    uint32_t row = add_row(vector, arena);
    VECTOR_DATA(vector, int128)[row] = value;
}

void vector_append_double(Vector *vector, Arena *arena, double value)
{
    uint32_t row = add_row(vector, arena);
    if (type_physical(vector->type) == PHYSICAL_FLOAT) {
        VECTOR_DATA(vector, float)[row] = (float)value;
    } else {
        assert(type_physical(vector->type) == PHYSICAL_DOUBLE);
        VECTOR_DATA(vector, double)[row] = value;
    }
}

int64_t vector_int_value(const Vector *vector, uint32_t row)
{
    assert(row < vector->length);
    switch (type_value_size(vector->type)) {
    case sizeof(int8_t):
        return VECTOR_VALUE(vector, int8_t, row);
    case sizeof(int16_t):
        return VECTOR_VALUE(vector, int16_t, row);
    case sizeof(int32_t):
        return VECTOR_VALUE(vector, int32_t, row);
    default:
        assert(type_value_size(vector->type) == sizeof(int64_t));
        return VECTOR_VALUE(vector, int64_t, row);
    }
}

void vector_append_str(Vector *vector, Arena *arena, Str value)
{
    assert(type_physical(vector->type) == PHYSICAL_STR);
    uint32_t row = add_row(vector, arena);
    VECTOR_DATA(vector, Str)[row] = value;
}

void vector_finish_list(Vector *vector, Arena *arena)
{
    assert(type_physical(vector->type) == PHYSICAL_LIST);
    assert(vector->child_count == 1 || vector->children[0]->length == vector->children[1]->length);
    uint32_t row = add_row(vector, arena);
    vector->offsets[row + 1] = vector->children[0]->length;
}

void vector_finish_struct(Vector *vector, Arena *arena)
{
    assert(type_physical(vector->type) == PHYSICAL_STRUCT);
    uint32_t row = add_row(vector, arena);
    for (uint32_t i = 0; i < vector->child_count; i++) {
        assert(vector->children[i]->length == row + 1);
    }
}

void vector_append_from(Vector *vector, Arena *arena, const Vector *from, uint32_t row)
{
    assert(row < from->length);
    assert(type_physical(vector->type) == type_physical(from->type));
    if (!vector_is_valid(from, row) || type_physical(from->type) == PHYSICAL_NONE) {
        vector_append_null(vector, arena);
        return;
    }
    if (type_physical(vector->type) == PHYSICAL_LIST) {
        for (uint32_t child = 0; child < vector->child_count; child++) {
            for (uint32_t i = from->offsets[row]; i < from->offsets[row + 1]; i++) {
                vector_append_from(vector->children[child], arena, from->children[child], i);
            }
        }
        vector_finish_list(vector, arena);
        return;
    }
    if (type_physical(vector->type) == PHYSICAL_STRUCT) {
        assert(vector->child_count == from->child_count);
        for (uint32_t child = 0; child < vector->child_count; child++) {
            vector_append_from(vector->children[child], arena, from->children[child], row);
        }
        vector_finish_struct(vector, arena);
        return;
    }
    size_t size = type_value_size(vector->type);
    uint32_t to = add_row(vector, arena);
    memcpy((char *)vector->data + to * size, (const char *)from->data + row * size, size);
}

void vector_truncate(Vector *vector, uint32_t length)
{
    assert(length <= vector->length);
    if (vector->validity != NULL) {
        for (uint32_t row = length; row < vector->length; row++) {
            vector_set_valid(vector, row);
        }
    }
    vector->length = length;
    uint32_t child_length = vector->offsets == NULL ? length : vector->offsets[length];
    for (uint32_t i = 0; i < vector->child_count; i++) {
        vector_truncate(vector->children[i], child_length);
    }
}

void vector_own_bytes(Vector *vector, Arena *arena)
{
    if (type_physical(vector->type) == PHYSICAL_STR) {
        for (uint32_t row = 0; row < vector->length; row++) {
            if (vector_is_valid(vector, row)) {
                Str *value = &VECTOR_DATA(vector, Str)[row];
                *value = arena_copy_str(arena, *value);
            }
        }
    }
    for (uint32_t i = 0; i < vector->child_count; i++) {
        vector_own_bytes(vector->children[i], arena);
    }
}

Vector *vector_copy_value(Arena *arena, const Vector *from, uint32_t row)
{
    Vector *copy = vector_new(arena, from->type, 1);
    vector_append_from(copy, arena, from, row);
    vector_own_bytes(copy, arena);
    return copy;
}

/* ---- Many rows ---- */

static void gather_validity(Vector *to, Arena *arena, const Vector *from, const uint32_t *rows,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i] == NULL_ROW || !vector_is_valid(from, rows[i])) {
            vector_set_null(to, arena, i);
        }
    }
}

#define GATHER(CType)                                                                              \
    do {                                                                                           \
        const CType *in = from->data;                                                              \
        CType *out = to->data;                                                                     \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            if (rows[i] != NULL_ROW) {                                                             \
                out[i] = in[rows[i]];                                                              \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void gather_values(Vector *to, const Vector *from, const uint32_t *rows, uint32_t count)
{
    switch (type_physical(from->type)) {
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
        GATHER(uint8_t);
        return;
    case PHYSICAL_INT16:
        GATHER(uint16_t);
        return;
    case PHYSICAL_INT32:
    case PHYSICAL_FLOAT:
        GATHER(uint32_t);
        return;
    case PHYSICAL_INT64:
    case PHYSICAL_DOUBLE:
        GATHER(uint64_t);
        return;
    case PHYSICAL_INT128:
        GATHER(int128);
        return;
    case PHYSICAL_STR:
        GATHER(Str);
        return;
    case PHYSICAL_NONE:
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        return;
    }
}

static void gather_nested(Vector *to, Arena *arena, const Vector *from, const uint32_t *rows,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i] == NULL_ROW) {
            vector_append_null(to, arena);
        } else {
            vector_append_from(to, arena, from, rows[i]);
        }
    }
}

Vector *vector_gather(Arena *arena, const Vector *from, const uint32_t *rows, uint32_t count)
{
    Vector *to = vector_new(arena, from->type, count);
    if (type_value_size(from->type) == 0) {
        gather_nested(to, arena, from, rows, count);
        return to;
    }
    to->length = count;
    gather_values(to, from, rows, count);
    gather_validity(to, arena, from, rows, count);
    return to;
}

Vector *vector_view(Arena *arena, const Vector *from, uint32_t first, uint32_t count)
{
    assert(first % 64 == 0 && first + count <= from->length);
    Vector *view = arena_new_object(arena, Vector);
    *view = *from;
    view->length = count;
    view->capacity = from->capacity - first;
    size_t size = type_value_size(from->type);
    view->data = size == 0 ? NULL : (char *)from->data + first * size;
    view->validity = from->validity == NULL ? NULL : from->validity + first / 64;
    view->offsets = from->offsets == NULL ? NULL : from->offsets + first;
    if (type_physical(from->type) == PHYSICAL_STRUCT) {
        view->children = arena_new_array(arena, Vector *, from->child_count);
        for (uint32_t i = 0; i < from->child_count; i++) {
            view->children[i] = vector_view(arena, from->children[i], first, count);
        }
    }
    return view;
}

Vector *vector_copy(Arena *arena, const Vector *from)
{
    Vector *copy = vector_new(arena, from->type, from->length);
    for (uint32_t row = 0; row < from->length; row++) {
        vector_append_from(copy, arena, from, row);
    }
    vector_own_bytes(copy, arena);
    return copy;
}

/* ---- Equality ---- */

static bool doubles_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool lists_equal(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    uint32_t begin_a = a->offsets[row_a];
    uint32_t begin_b = b->offsets[row_b];
    uint32_t count = a->offsets[row_a + 1] - begin_a;
    if (count != b->offsets[row_b + 1] - begin_b) {
        return false;
    }
    for (uint32_t child = 0; child < a->child_count; child++) {
        for (uint32_t i = 0; i < count; i++) {
            if (!vector_value_equal(a->children[child], begin_a + i, b->children[child],
                                    begin_b + i)) {
                return false;
            }
        }
    }
    return true;
}

static bool structs_equal(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    if (a->child_count != b->child_count) {
        return false;
    }
    for (uint32_t child = 0; child < a->child_count; child++) {
        if (!vector_value_equal(a->children[child], row_a, b->children[child], row_b)) {
            return false;
        }
    }
    return true;
}

bool vector_value_equal(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    bool valid = vector_is_valid(a, row_a);
    if (!valid || !vector_is_valid(b, row_b)) {
        return valid == vector_is_valid(b, row_b);
    }
    assert(type_physical(a->type) == type_physical(b->type));
    switch (type_physical(a->type)) {
    case PHYSICAL_NONE:
        return true;
    case PHYSICAL_BOOL:
        return VECTOR_VALUE(a, uint8_t, row_a) == VECTOR_VALUE(b, uint8_t, row_b);
    case PHYSICAL_INT8:
        return VECTOR_VALUE(a, int8_t, row_a) == VECTOR_VALUE(b, int8_t, row_b);
    case PHYSICAL_INT16:
        return VECTOR_VALUE(a, int16_t, row_a) == VECTOR_VALUE(b, int16_t, row_b);
    case PHYSICAL_INT32:
        return VECTOR_VALUE(a, int32_t, row_a) == VECTOR_VALUE(b, int32_t, row_b);
    case PHYSICAL_INT64:
        return VECTOR_VALUE(a, int64_t, row_a) == VECTOR_VALUE(b, int64_t, row_b);
    case PHYSICAL_INT128:
        return VECTOR_VALUE(a, int128, row_a) == VECTOR_VALUE(b, int128, row_b);
    case PHYSICAL_FLOAT:
        return doubles_equal((double)VECTOR_VALUE(a, float, row_a),
                             (double)VECTOR_VALUE(b, float, row_b));
    case PHYSICAL_DOUBLE:
        return doubles_equal(VECTOR_VALUE(a, double, row_a), VECTOR_VALUE(b, double, row_b));
    case PHYSICAL_STR:
        return str_equal(VECTOR_VALUE(a, Str, row_a), VECTOR_VALUE(b, Str, row_b));
    case PHYSICAL_LIST:
        return lists_equal(a, row_a, b, row_b);
    case PHYSICAL_STRUCT:
        return structs_equal(a, row_a, b, row_b);
    }
    return false;
}
