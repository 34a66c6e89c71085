/* Values of any type in the states of aggregates. */
#include <string.h>

#include "processor/exec/aggregates/aggregates.h"

#include "processor/base/banned.h"

Error *add_all_by_rows(const AggregateCall *call, void *state, Rows rows,
                       Error *(*add)(const AggregateCall *, void *const *, Rows))
{
    void *states[BATCH_ROWS];
    for (uint32_t i = 0; i < rows.count; i++) {
        states[i] = state;
    }
    return add(call, states, rows);
}

/* Room doubles, so that a text that grows step by step costs no more than its last size. */
void kept_str_set(KeptStr *kept, Str value, Arena *arena)
{
    char *bytes = NULL;
    if (value.size > kept->capacity) {
        kept->capacity = value.size > 2 * kept->capacity ? value.size : 2 * kept->capacity;
        bytes = arena_alloc_bytes(arena, kept->capacity);
        kept->str.data = bytes;
    } else {
        memcpy(&bytes, &kept->str.data, sizeof bytes); /* ours, written before */
    }
    if (value.size > 0) {
        memcpy(bytes, value.data, value.size);
    }
    kept->str.size = value.size;
}

void append_copy(Vector *values, const Vector *from, uint32_t row, Arena *arena)
{
    PhysicalKind kind = type_physical(values->type);
    if (kind == PHYSICAL_STR && vector_is_valid(from, row)) {
        vector_append_str(values, arena, arena_copy_str(arena, VECTOR_VALUE(from, Str, row)));
    } else if (kind == PHYSICAL_LIST || kind == PHYSICAL_STRUCT) {
        vector_append_from(values, arena, vector_copy_value(arena, from, row), 0);
    } else {
        vector_append_from(values, arena, from, row);
    }
}

static void set_nested(KeptValue *kept, const Vector *from, uint32_t row, Arena *arena)
{
    kept->nested = vector_copy_value(arena, from, row);
}

void kept_set(KeptValue *kept, const Vector *from, uint32_t row, Arena *arena)
{
    kept->is_set = true;
    kept->is_valid = vector_is_valid(from, row) && type_physical(from->type) != PHYSICAL_NONE;
    if (!kept->is_valid) {
        return;
    }
    switch (type_physical(from->type)) {
    case PHYSICAL_STR:
        kept_str_set(&kept->text, VECTOR_VALUE(from, Str, row), arena);
        return;
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        set_nested(kept, from, row, arena);
        return;
    default: {
        size_t size = type_value_size(from->type);
        memcpy(kept->fixed, (const char *)from->data + row * size, size);
    }
    }
}

const Vector *kept_view(const KeptValue *kept, const Type *type, Vector *scratch)
{
    PhysicalKind kind = type_physical(type);
    if (kind == PHYSICAL_LIST || kind == PHYSICAL_STRUCT) {
        return kept->nested;
    }
    *scratch = (Vector){.type = type, .length = 1, .capacity = 1};
    const void *data = kind == PHYSICAL_STR ? (const void *)&kept->text.str : kept->fixed;
    memcpy(&scratch->data, &data, sizeof data); /* read only */
    return scratch;
}

void kept_append(const KeptValue *kept, Vector *result, Arena *arena)
{
    if (!kept->is_set || !kept->is_valid) {
        vector_append_null(result, arena);
        return;
    }
    Vector scratch;
    vector_append_from(result, arena, kept_view(kept, result->type, &scratch), 0);
}
