/* explode, posexplode and inline: a row an element of an array, or an entry of a map. */
#include <assert.h>

#include "processor/exec/generator.h"

#include "processor/base/banned.h"

static void count_elements(GeneratorCall *call, Rows rows, uint32_t *counts)
{
    const Vector *list = call->arguments[0];
    FOR_ROWS(rows, i, {
        bool valid = type_physical(list->type) == PHYSICAL_LIST && vector_is_valid(list, i);
        counts[i] = valid ? list->offsets[i + 1] - list->offsets[i] : 0;
    });
}

/* Where the elements lie in the list's children; NULL rows where there is none. */
static uint32_t *element_rows(const Vector *list, const GeneratedRows *rows, Arena *arena)
{
    uint32_t *at = arena_alloc(arena, arena_array_size_(rows->count, sizeof(uint32_t)));
    for (uint32_t i = 0; i < rows->count; i++) {
        at[i] = rows->elements[i] == GENERATED_NONE
                    ? NULL_ROW
                    : list->offsets[rows->rows[i]] + rows->elements[i];
    }
    return at;
}

static Vector *all_null(const GeneratorCall *call, size_t column, const GeneratedRows *rows,
                        Arena *arena)
{
    Vector *nulls = vector_new(arena, call->result->fields[column].type, rows->count);
    for (uint32_t i = 0; i < rows->count; i++) {
        vector_append_null(nulls, arena);
    }
    return nulls;
}

/* Column k of the elements: of an array its values, of a map keys and values. */
static Vector *explode_column(const GeneratorCall *call, size_t column, const GeneratedRows *rows,
                              Arena *arena)
{
    const Vector *list = call->arguments[0];
    if (type_physical(list->type) != PHYSICAL_LIST) {
        return all_null(call, column, rows, arena);
    }
    assert(column < list->child_count);
    return vector_gather(arena, list->children[column], element_rows(list, rows, arena),
                         rows->count);
}

static Vector *posexplode_column(const GeneratorCall *call, size_t column,
                                 const GeneratedRows *rows, Arena *arena)
{
    if (column > 0) {
        return explode_column(call, column - 1, rows, arena);
    }
    Vector *positions = vector_new(arena, &type_int, rows->count);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->elements[i] == GENERATED_NONE) {
            vector_append_null(positions, arena);
        } else {
            vector_append_int(positions, arena, rows->elements[i]);
        }
    }
    return positions;
}

/* A field of the elements, which are structs; NULL for a NULL struct. */
static Vector *inline_column(const GeneratorCall *call, size_t column, const GeneratedRows *rows,
                             Arena *arena)
{
    const Vector *list = call->arguments[0];
    const Vector *structs = list->children[0];
    uint32_t *at = element_rows(list, rows, arena);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (at[i] != NULL_ROW && !vector_is_valid(structs, at[i])) {
            at[i] = NULL_ROW;
        }
    }
    return vector_gather(arena, structs->children[column], at, rows->count);
}

const GeneratorKernel generator_explode = {count_elements, explode_column, false};
const GeneratorKernel generator_explode_outer = {count_elements, explode_column, true};
const GeneratorKernel generator_posexplode = {count_elements, posexplode_column, false};
const GeneratorKernel generator_posexplode_outer = {count_elements, posexplode_column, true};
const GeneratorKernel generator_inline = {count_elements, inline_column, false};
const GeneratorKernel generator_inline_outer = {count_elements, inline_column, true};
