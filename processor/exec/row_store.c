/* Rows kept in memory: chunks of BATCH_ROWS rows, each a batch whose columns are copies.
 *
 * A chunk is filled before the next one is begun, so a row's chunk and its place there are its
 * number's high and low bits. Gathering reads through two small arrays a column (values and
 * validity by chunk) that stay in the cache while the rows it jumps between do not. The first chunk
 * grows as it fills, since many stores hold a handful of rows; later ones get their full size. */
#include "processor/exec/row_store.h"

#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { CHUNK_SHIFT = 11, CHUNK_MASK = BATCH_ROWS - 1, FIRST_CHUNK_ROWS = 16 };
_Static_assert(BATCH_ROWS == 1 << CHUNK_SHIFT, "a chunk holds a batch");

typedef struct StoreColumn {
    const void **data;         /* by chunk */
    const uint64_t **validity; /* by chunk; NULL: no nulls there */
    bool has_nulls;
} StoreColumn;

struct RowStore {
    const Schema *schema;
    Arena *arena;
    Batch **chunks;
    StoreColumn *columns;
    size_t column_count; /* the schema may end before a store that is kept */
    size_t chunk_count;
    size_t chunk_capacity;
    uint32_t count;
    uint32_t keepers; /* besides the owner */
};

RowStore *row_store_new(const Schema *schema)
{
    RowStore *store = mem_new(RowStore);
    store->schema = schema;
    store->column_count = schema->field_count;
    store->arena = arena_new("row store");
    store->columns = mem_alloc_array(schema->field_count, sizeof(StoreColumn));
    return store;
}

void row_store_free(RowStore *store)
{
    if (store == NULL) {
        return;
    }
    if (store->keepers > 0) {
        store->keepers--;
        return;
    }
    for (size_t i = 0; i < store->column_count; i++) {
        mem_free(store->columns[i].data);
        mem_free(store->columns[i].validity);
    }
    mem_free(store->columns);
    mem_free(store->chunks);
    arena_free(store->arena);
    mem_free(store);
}

static void let_go(void *store)
{
    row_store_free(store);
}

void row_store_keep(RowStore *store, Arena *arena)
{
    store->keepers++;
    arena_on_reset(arena, let_go, store);
}

void row_store_clear(RowStore *store)
{
    assert(store->keepers == 0);
    arena_reset(store->arena);
    for (size_t i = 0; i < store->column_count; i++) {
        store->columns[i].has_nulls = false;
    }
    store->chunk_count = 0;
    store->count = 0;
}

uint32_t row_store_count(const RowStore *store)
{
    return store->count;
}

/* What the rows take. Memory kept by a clear is not counted: the next rows use it again. */
size_t row_store_bytes(const RowStore *store)
{
    return arena_used_bytes(store->arena);
}

const Schema *row_store_schema(const RowStore *store)
{
    return store->schema;
}

const Batch *row_store_chunk(const RowStore *store, uint32_t row)
{
    assert(row < store->count);
    return store->chunks[row >> CHUNK_SHIFT];
}

/* Values by their size alone. */
typedef uint8_t Value1;
typedef uint16_t __attribute__((may_alias)) Value2;
typedef uint32_t __attribute__((may_alias)) Value4;
typedef uint64_t __attribute__((may_alias)) Value8;
typedef uint128 __attribute__((may_alias)) Value16;
#define FOR_VALUE_SIZES(X) X(Value1) X(Value2) X(Value4) X(Value8) X(Value16)

/* ---- Copying rows to the end of a vector ---- */

/* Rows to copy: rows[begin …], or begin, begin + 1, … when `rows` is NULL. */
typedef struct Span {
    const uint16_t *rows;
    uint32_t begin;
    uint32_t count;
} Span;

static inline uint32_t span_row(Span span, uint32_t i)
{
    return span.rows == NULL ? span.begin + i : span.rows[span.begin + i];
}

static void copy_fixed(Vector *to, const Vector *from, Span span)
{
    size_t size = type_value_size(to->type);
    if (span.rows == NULL) {
        memcpy((char *)to->data + (size_t)to->length * size,
               (const char *)from->data + (size_t)span.begin * size, span.count * size);
        return;
    }
#define COPY(CType)                                                                                \
    case sizeof(CType): {                                                                          \
        CType *values = VECTOR_DATA(to, CType) + to->length;                                       \
        for (uint32_t i = 0; i < span.count; i++) {                                                \
            values[i] = VECTOR_VALUE(from, CType, span.rows[span.begin + i]);                      \
        }                                                                                          \
        return;                                                                                    \
    }
    switch (size) {
        FOR_VALUE_SIZES(COPY)
    default:
        assert(false);
    }
#undef COPY
}

/* Bytes are copied into one piece of the arena; NULL `bytes_arena`: they are shared. */
static void copy_strings(Vector *to, Arena *bytes_arena, const Vector *from, Span span)
{
    Str *values = VECTOR_DATA(to, Str) + to->length;
    size_t total = 0;
    for (uint32_t i = 0; i < span.count; i++) {
        uint32_t row = span_row(span, i);
        values[i] = vector_is_valid(from, row) ? VECTOR_VALUE(from, Str, row) : (Str){0};
        total += values[i].size;
    }
    if (bytes_arena == NULL) {
        return;
    }
    char *bytes = arena_alloc_bytes(bytes_arena, total);
    for (uint32_t i = 0; i < span.count; i++) {
        if (values[i].size > 0) {
            memcpy(bytes, values[i].data, values[i].size);
        }
        values[i].data = bytes;
        bytes += values[i].size;
    }
}

static void copy_nulls(Vector *to, Arena *arena, const Vector *from, Span span)
{
    bool none = type_physical(to->type) == PHYSICAL_NONE;
    if (from->validity == NULL && !none) {
        return;
    }
    for (uint32_t i = 0; i < span.count; i++) {
        if (none || !vector_is_valid(from, span_row(span, i))) {
            vector_set_null(to, arena, to->length + i);
        }
    }
}

static void append_rows(Vector *to, Arena *arena, Arena *bytes_arena, const Vector *from,
                        Span span);

static void append_lists(Vector *to, Arena *arena, Arena *bytes_arena, const Vector *from,
                         Span span)
{
    for (uint32_t i = 0; i < span.count; i++) {
        uint32_t row = span_row(span, i);
        if (!vector_is_valid(from, row)) {
            vector_append_null(to, arena);
            continue;
        }
        Span elements = {.begin = from->offsets[row],
                         .count = from->offsets[row + 1] - from->offsets[row]};
        for (uint32_t child = 0; child < to->child_count; child++) {
            append_rows(to->children[child], arena, bytes_arena, from->children[child], elements);
        }
        vector_finish_list(to, arena);
    }
}

/* A NULL struct's children are NULL too, whatever lies there in `from`. */
static void append_structs(Vector *to, Arena *arena, Arena *bytes_arena, const Vector *from,
                           Span span)
{
    if (from->validity == NULL) {
        for (uint32_t child = 0; child < to->child_count; child++) {
            append_rows(to->children[child], arena, bytes_arena, from->children[child], span);
        }
        to->length += span.count;
        return;
    }
    for (uint32_t i = 0; i < span.count; i++) {
        uint32_t row = span_row(span, i);
        if (!vector_is_valid(from, row)) {
            vector_append_null(to, arena);
            continue;
        }
        for (uint32_t child = 0; child < to->child_count; child++) {
            append_rows(to->children[child], arena, bytes_arena, from->children[child],
                        (Span){.begin = row, .count = 1});
        }
        vector_finish_struct(to, arena);
    }
}

/* Vectors grow in `arena`. Recursion follows the type, whose depth the binder bounds. */
static void append_rows(Vector *to, Arena *arena, Arena *bytes_arena, const Vector *from, Span span)
{
    if (span.count == 0) {
        return;
    }
    assert(type_physical(to->type) == type_physical(from->type));
    vector_reserve(to, arena, to->length + span.count);
    switch (type_physical(to->type)) {
    case PHYSICAL_LIST:
        append_lists(to, arena, bytes_arena, from, span);
        return;
    case PHYSICAL_STRUCT:
        append_structs(to, arena, bytes_arena, from, span);
        return;
    case PHYSICAL_STR:
        copy_strings(to, bytes_arena, from, span);
        break;
    case PHYSICAL_NONE:
        break;
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
    case PHYSICAL_INT128:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
        copy_fixed(to, from, span);
        break;
    }
    copy_nulls(to, arena, from, span);
    to->length += span.count;
}

/* ---- Appending to the store ---- */

static void grow_chunk_arrays(RowStore *store)
{
    size_t capacity = store->chunk_capacity == 0 ? 8 : store->chunk_capacity * 2;
    store->chunks = (Batch **)mem_realloc(store->chunks, capacity * sizeof(Batch *));
    for (size_t i = 0; i < store->column_count; i++) {
        StoreColumn *column = &store->columns[i];
        column->data = (const void **)mem_realloc(column->data, capacity * sizeof(void *));
        column->validity =
            (const uint64_t **)mem_realloc(column->validity, capacity * sizeof(uint64_t *));
    }
    store->chunk_capacity = capacity;
}

/* The last chunk, or a new one when that is full. */
static Batch *open_chunk(RowStore *store)
{
    if ((store->count & CHUNK_MASK) == 0) {
        if (store->chunk_count == store->chunk_capacity) {
            grow_chunk_arrays(store);
        }
        uint32_t rows = store->count == 0 ? FIRST_CHUNK_ROWS : BATCH_ROWS;
        store->chunks[store->chunk_count++] = batch_new(store->arena, store->schema, rows);
    }
    return store->chunks[store->chunk_count - 1];
}

/* The column's vector of the last chunk has changed. */
static void note_column(RowStore *store, size_t column)
{
    const Vector *vector = store->chunks[store->chunk_count - 1]->columns[column];
    StoreColumn *noted = &store->columns[column];
    noted->data[store->chunk_count - 1] = vector->data;
    noted->validity[store->chunk_count - 1] = vector->validity;
    noted->has_nulls |= vector->validity != NULL;
}

void row_store_append(RowStore *store, const Batch *batch)
{
    assert(batch->schema->field_count == store->column_count);
    for (uint32_t at = 0; at < batch->selected_count;) {
        Batch *chunk = open_chunk(store);
        uint32_t room = BATCH_ROWS - chunk->row_count;
        uint32_t left = batch->selected_count - at;
        Span span = {.rows = batch->selection, .begin = at, .count = left < room ? left : room};
        for (size_t i = 0; i < store->column_count; i++) {
            append_rows(chunk->columns[i], store->arena, store->arena, batch->columns[i], span);
            note_column(store, i);
        }
        chunk->row_count += span.count;
        chunk->selected_count = chunk->row_count;
        assert(store->count < ROW_NONE - span.count);
        store->count += span.count;
        at += span.count;
    }
}

/* ---- Gathering ---- */

/* Rows that are ROW_NONE keep the zero that lies there. */
static void gather_fixed(const StoreColumn *column, const uint32_t *rows, uint32_t count,
                         Vector *out)
{
#define GATHER(CType)                                                                              \
    case sizeof(CType): {                                                                          \
        CType *values = VECTOR_DATA(out, CType);                                                   \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            if (LIKELY(rows[i] != ROW_NONE)) {                                                     \
                const CType *chunk = column->data[rows[i] >> CHUNK_SHIFT];                         \
                values[i] = chunk[rows[i] & CHUNK_MASK];                                           \
            }                                                                                      \
        }                                                                                          \
        return;                                                                                    \
    }
    switch (type_value_size(out->type)) {
        FOR_VALUE_SIZES(GATHER)
    default:
        assert(false);
    }
#undef GATHER
}

static void gather_nulls(const StoreColumn *column, const uint32_t *rows, uint32_t count,
                         Vector *out, Arena *arena)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i] == ROW_NONE) {
            vector_set_null(out, arena, i);
        } else if (column->has_nulls) {
            const uint64_t *validity = column->validity[rows[i] >> CHUNK_SHIFT];
            uint32_t row = rows[i] & CHUNK_MASK;
            if (validity != NULL && (validity[row >> 6] >> (row & 63) & 1) == 0) {
                vector_set_null(out, arena, i);
            }
        }
    }
}

static void gather_nested(const RowStore *store, size_t column, const uint32_t *rows,
                          uint32_t count, Vector *out, Arena *arena)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i] == ROW_NONE) {
            vector_append_null(out, arena);
            continue;
        }
        const Vector *from = store->chunks[rows[i] >> CHUNK_SHIFT]->columns[column];
        append_rows(out, arena, NULL, from, (Span){.begin = rows[i] & CHUNK_MASK, .count = 1});
    }
}

Vector *row_store_gather(const RowStore *store, size_t column, const uint32_t *rows, uint32_t count,
                         Arena *arena)
{
    Vector *out = vector_new(arena, store->schema->fields[column].type, count);
    switch (type_physical(out->type)) {
    case PHYSICAL_NONE:
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        gather_nested(store, column, rows, count, out, arena);
        return out;
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
    case PHYSICAL_INT128:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
    case PHYSICAL_STR: /* 16 bytes too */
        break;
    }
    gather_fixed(&store->columns[column], rows, count, out);
    out->length = count;
    gather_nulls(&store->columns[column], rows, count, out, arena);
    return out;
}

Batch *row_store_batch(const RowStore *store, const uint32_t *rows, uint32_t count, Arena *arena)
{
    Vector **columns = arena_new_array(arena, Vector *, store->column_count);
    for (size_t i = 0; i < store->column_count; i++) {
        columns[i] = row_store_gather(store, i, rows, count, arena);
    }
    return batch_from_columns(arena, store->schema, columns, count);
}
