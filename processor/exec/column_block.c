/* Batches as bytes. Values are copied column by column with loops that know their size; a row
 * number list stands for the selection, and for the elements of the lists that are selected. */
#include "processor/exec/column_block.h"

#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

/* ---- Writing ---- */

/* The rows of a vector that are written, in that order. */
typedef struct Picked {
    const uint32_t *rows; /* NULL: from 0 on */
    uint32_t count;
} Picked;

static inline uint32_t picked_at(const Picked *picked, uint32_t i)
{
    return picked->rows == NULL ? i : picked->rows[i];
}

static void put_column(const Vector *vector, const Picked *picked, Buffer *out);

/* Elements must cost bytes, or a damaged count could ask for any memory: where values take none
 * there is always a bitmap. */
static bool needs_bitmap(const Type *type)
{
    return type_physical(type) == PHYSICAL_NONE || type_physical(type) == PHYSICAL_STRUCT;
}

static void put_validity(const Vector *vector, const Picked *picked, Buffer *out)
{
    bool has_bitmap = vector->validity != NULL || needs_bitmap(vector->type);
    buffer_append_byte(out, (char)has_bitmap);
    if (!has_bitmap) {
        return;
    }
    size_t size = ((size_t)picked->count + 7) / 8;
    char *bits = buffer_reserve(out, size);
    memset(bits, 0, size);
    bool none = type_physical(vector->type) == PHYSICAL_NONE;
    for (uint32_t i = 0; i < picked->count; i++) {
        int valid = !none && vector_is_valid(vector, picked_at(picked, i));
        bits[i / 8] = (char)(bits[i / 8] | valid << (i % 8));
    }
    out->size += size;
}

#define PUT_SIZE(size)                                                                             \
    case size:                                                                                     \
        for (uint32_t i = 0; i < picked->count; i++) {                                             \
            memcpy(to + (size_t)i * (size), from + (size_t)picked->rows[i] * (size), size);        \
        }                                                                                          \
        break

static void put_fixed(const Vector *vector, const Picked *picked, size_t value_size, Buffer *out)
{
    size_t size = picked->count * value_size;
    char *to = buffer_reserve(out, size);
    const char *from = vector->data;
    out->size += size;
    if (picked->rows == NULL) {
        memcpy(to, from, size);
        return;
    }
    switch (value_size) {
        PUT_SIZE(1);
        PUT_SIZE(2);
        PUT_SIZE(4);
        PUT_SIZE(8);
        PUT_SIZE(16);
    default:
        assert(false);
    }
}

static inline uint32_t put_size(char *sizes, uint32_t i, size_t size)
{
    uint32_t value = (uint32_t)size;
    memcpy(sizes + (size_t)i * sizeof value, &value, sizeof value);
    return value;
}

static void put_strings(const Vector *vector, const Picked *picked, Buffer *out)
{
    const Str *values = vector->data;
    size_t sizes_size = picked->count * sizeof(uint32_t);
    char *sizes = buffer_reserve(out, sizes_size);
    uint64_t total = 0;
    for (uint32_t i = 0; i < picked->count; i++) {
        uint32_t row = picked_at(picked, i);
        total += put_size(sizes, i, vector_is_valid(vector, row) ? values[row].size : 0);
    }
    out->size += sizes_size;
    char *to = buffer_reserve(out, total);
    for (uint32_t i = 0; i < picked->count; i++) {
        uint32_t row = picked_at(picked, i);
        if (vector_is_valid(vector, row) && values[row].size > 0) {
            memcpy(to, values[row].data, values[row].size);
            to += values[row].size;
        }
    }
    out->size += total;
}

static void put_lists(const Vector *vector, const Picked *picked, Buffer *out)
{
    size_t sizes_size = picked->count * sizeof(uint32_t);
    char *sizes = buffer_reserve(out, sizes_size);
    uint32_t total = 0;
    for (uint32_t i = 0; i < picked->count; i++) {
        uint32_t row = picked_at(picked, i);
        total += put_size(sizes, i, vector->offsets[row + 1] - vector->offsets[row]);
    }
    out->size += sizes_size;
    uint32_t *elements = mem_alloc_array(total, sizeof(uint32_t));
    uint32_t count = 0;
    for (uint32_t i = 0; i < picked->count; i++) {
        uint32_t row = picked_at(picked, i);
        for (uint32_t e = vector->offsets[row]; e < vector->offsets[row + 1]; e++) {
            elements[count++] = e;
        }
    }
    const Picked inner = {elements, count};
    for (uint32_t i = 0; i < vector->child_count; i++) {
        put_column(vector->children[i], &inner, out);
    }
    mem_free(elements);
}

/* The depth of a type is bounded by the parser, so recursion is. */
static void put_column(const Vector *vector, const Picked *picked, Buffer *out)
{
    put_validity(vector, picked, out);
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        return;
    case PHYSICAL_STR:
        put_strings(vector, picked, out);
        return;
    case PHYSICAL_LIST:
        put_lists(vector, picked, out);
        return;
    case PHYSICAL_STRUCT:
        for (uint32_t i = 0; i < vector->child_count; i++) {
            put_column(vector->children[i], picked, out);
        }
        return;
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
    case PHYSICAL_INT128:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
        put_fixed(vector, picked, type_value_size(vector->type), out);
        return;
    }
}

void column_block_put(const Batch *batch, Buffer *out)
{
    assert(batch->selected_count <= BATCH_ROWS);
    uint32_t rows[BATCH_ROWS];
    Picked picked = {NULL, batch->selected_count};
    if (batch->selection != NULL) {
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            rows[i] = batch->selection[i];
        }
        picked.rows = rows;
    }
    memcpy(buffer_reserve(out, sizeof picked.count), &picked.count, sizeof picked.count);
    out->size += sizeof picked.count;
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        put_column(batch->columns[i], &picked, out);
    }
}

/* ---- Reading ---- */

/* `size` bytes from the front, NULL when there are not as many. */
static const char *take_bytes(Str *bytes, uint64_t size)
{
    if (size > bytes->size) {
        return NULL;
    }
    const char *from = bytes->data;
    bytes->data += size;
    bytes->size -= size;
    return from;
}

static bool take_column(Str *bytes, Arena *arena, uint32_t count, Vector *vector);

static bool take_validity(Str *bytes, Arena *arena, uint32_t count, Vector *vector)
{
    const char *has_bitmap = take_bytes(bytes, 1);
    if (has_bitmap == NULL || (*has_bitmap & ~1) != 0 ||
        (*has_bitmap == 0 && needs_bitmap(vector->type))) {
        return false;
    }
    if (*has_bitmap == 0) {
        return true;
    }
    const char *bits = take_bytes(bytes, ((uint64_t)count + 7) / 8);
    if (bits == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if ((bits[i / 8] >> (i % 8) & 1) == 0) {
            vector_set_null(vector, arena, vector->length + i);
        }
    }
    return true;
}

static bool take_fixed(Str *bytes, uint32_t count, Vector *vector)
{
    size_t value_size = type_value_size(vector->type);
    const char *values = take_bytes(bytes, count * (uint64_t)value_size);
    if (values == NULL) {
        return false;
    }
    memcpy((char *)vector->data + vector->length * value_size, values, count * value_size);
    return true;
}

static inline uint32_t size_at(const char *sizes, uint32_t i)
{
    uint32_t size;
    memcpy(&size, sizes + (size_t)i * sizeof size, sizeof size);
    return size;
}

/* Sizes of so many values; their sum. */
static const char *take_sizes(Str *bytes, uint32_t count, uint64_t *ret_total)
{
    const char *sizes = take_bytes(bytes, count * (uint64_t)sizeof(uint32_t));
    *ret_total = 0;
    for (uint32_t i = 0; sizes != NULL && i < count; i++) {
        *ret_total += size_at(sizes, i);
    }
    return sizes;
}

static bool take_strings(Str *bytes, Arena *arena, uint32_t count, Vector *vector)
{
    uint64_t total = 0;
    const char *sizes = take_sizes(bytes, count, &total);
    const char *from = sizes == NULL ? NULL : take_bytes(bytes, total);
    if (from == NULL) {
        return false;
    }
    char *to = arena_alloc_bytes(arena, total + 1);
    memcpy(to, from, total);
    Str *values = VECTOR_DATA(vector, Str) + vector->length;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (Str){to, size_at(sizes, i)};
        to += values[i].size;
    }
    return true;
}

static bool take_lists(Str *bytes, Arena *arena, uint32_t count, Vector *vector)
{
    uint64_t total = 0;
    const char *sizes = take_sizes(bytes, count, &total);
    if (sizes == NULL || total > UINT32_MAX - vector->children[0]->length) {
        return false;
    }
    uint32_t *offsets = vector->offsets + vector->length;
    for (uint32_t i = 0; i < count; i++) {
        offsets[i + 1] = offsets[i] + size_at(sizes, i);
    }
    for (uint32_t i = 0; i < vector->child_count; i++) {
        if (!take_column(bytes, arena, (uint32_t)total, vector->children[i])) {
            return false;
        }
    }
    return true;
}

static bool take_values(Str *bytes, Arena *arena, uint32_t count, Vector *vector)
{
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        return true;
    case PHYSICAL_STR:
        return take_strings(bytes, arena, count, vector);
    case PHYSICAL_LIST:
        return take_lists(bytes, arena, count, vector);
    case PHYSICAL_STRUCT:
        for (uint32_t i = 0; i < vector->child_count; i++) {
            if (!take_column(bytes, arena, count, vector->children[i])) {
                return false;
            }
        }
        return true;
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
    case PHYSICAL_INT128:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
        return take_fixed(bytes, count, vector);
    }
    return false;
}

/* Room is made only for as many rows as the bytes that follow can hold: eight to the byte where
 * there is a bitmap, else no more than one. */
static bool take_column(Str *bytes, Arena *arena, uint32_t count, Vector *vector)
{
    if (count / 8 > bytes->size) {
        return false;
    }
    vector_reserve(vector, arena, vector->length + count);
    if (!take_validity(bytes, arena, count, vector) || !take_values(bytes, arena, count, vector)) {
        return false;
    }
    vector->length += count;
    return true;
}

bool column_block_rows(Str bytes, uint32_t *ret_rows)
{
    const char *rows = take_bytes(&bytes, sizeof *ret_rows);
    if (rows != NULL) {
        memcpy(ret_rows, rows, sizeof *ret_rows);
    }
    return rows != NULL && *ret_rows <= BATCH_ROWS;
}

bool column_block_take(Str *bytes, Arena *arena, Batch *batch)
{
    uint32_t count = 0;
    if (!column_block_rows(*bytes, &count)) {
        return false;
    }
    (void)take_bytes(bytes, sizeof count);
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        if (!take_column(bytes, arena, count, batch->columns[i])) {
            return false;
        }
    }
    batch->row_count += count;
    batch->selected_count = batch->row_count;
    return true;
}
