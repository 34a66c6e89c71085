/* Column vector in Arrow's layout: a validity bitmap, values, and for lists offsets into children.
 * Strings are (pointer, length) views; their bytes belong to some arena or record that lives as
 * long as the vector. Structs of this file are open: kernels read them directly. */
#ifndef DATA_VECTOR_H
#define DATA_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/data/type.h"

typedef struct Vector Vector;

struct Vector {
    const Type *type;
    uint32_t length;
    uint32_t capacity;
    uint64_t *validity; /* bit i set: row i has a value. NULL: every row has one */
    void *data; /* values of type_physical(type); garbage (but initialised) where not valid */
    uint32_t *offsets; /* LIST: capacity + 1; row i = children[offsets[i] … offsets[i + 1]) */
    Vector **children; /* ARRAY: 1, MAP: keys and values, STRUCT: one a field, of equal length */
    uint32_t child_count;
};

/* Zeroed values for `capacity` rows, length 0. validity stays NULL until vector_set_null. */
Vector *vector_new(Arena *arena, const Type *type, uint32_t capacity);

/* Has the row a value (is it not NULL)? */
static inline bool vector_is_valid(const Vector *vector, uint32_t row)
{
    return vector->validity == NULL || (vector->validity[row >> 6] >> (row & 63) & 1) != 0;
}

/* Makes the bitmap if there is none (all valid so far). */
uint64_t *vector_need_validity(Vector *vector, Arena *arena);
/* The row of a vector that has room for it becomes NULL, or has the value that lies there. */
void vector_set_null(Vector *vector, Arena *arena, uint32_t row);
void vector_set_valid(Vector *vector, uint32_t row);

/* An integer of any width, of a row that is not NULL. */
int64_t vector_int_value(const Vector *vector, uint32_t row);

#define VECTOR_DATA(vector, CType) ((CType *)(vector)->data)
#define VECTOR_VALUE(vector, CType, row) (((const CType *)(vector)->data)[row])

/* Room for more rows: reallocates in `arena` and copies. */
void vector_reserve(Vector *vector, Arena *arena, uint32_t capacity);
/* Appends one row copied from `from` (same type); string bytes are shared, not copied. */
void vector_append_from(Vector *vector, Arena *arena, const Vector *from, uint32_t row);
/* Appends a null row (structs: null children too). */
void vector_append_null(Vector *vector, Arena *arena);
/* Appends typed values to vectors of that physical kind; the vector grows in `arena`. */
void vector_append_bool(Vector *vector, Arena *arena, bool value);
void vector_append_int(Vector *vector, Arena *arena, int64_t value); /* INT8 … INT64 */
void vector_append_int128(Vector *vector, Arena *arena, int128 value);
void vector_append_double(Vector *vector, Arena *arena, double value); /* FLOAT, DOUBLE */
void vector_append_str(Vector *vector, Arena *arena, Str value);
/* LIST: after its elements were appended to the children, closes the row. STRUCT: after one value
 * was appended to each child. */
void vector_finish_list(Vector *vector, Arena *arena);
void vector_finish_struct(Vector *vector, Arena *arena);
/* Takes back every row from `length` on, and what was appended to the children of a row that was
 * not finished: the way out of a decoder that fails half-way. */
void vector_truncate(Vector *vector, uint32_t length);
/* Its bytes become copies in `arena`, those of nested values too. */
void vector_own_bytes(Vector *vector, Arena *arena);
/* Deep copy of one row into a vector of length 1 in `arena`, bytes included: a single value. */
Vector *vector_copy_value(Arena *arena, const Vector *from, uint32_t row);

/* Rows rows[0] … rows[count - 1] of `from`, in that order; NULL_ROW gives a NULL. String bytes are
 * shared. */
#define NULL_ROW UINT32_MAX
Vector *vector_gather(Arena *arena, const Vector *from, const uint32_t *rows, uint32_t count);
/* The rows first … first + count - 1 without copying them: `first` is a multiple of 64. */
Vector *vector_view(Arena *arena, const Vector *from, uint32_t first, uint32_t count);
/* Deep copy, bytes included. */
Vector *vector_copy(Arena *arena, const Vector *from);

/* Equality of two rows as SQL's null-safe `<=>` (NULL equal NULL, NaN equal NaN, -0.0 equal 0.0).
 */
bool vector_value_equal(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b);

#endif
