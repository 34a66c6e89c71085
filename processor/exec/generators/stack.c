/* stack(n, a, b, c, …): its values as n rows, filled row by row; NULL where they end. */
#include "processor/exec/generator.h"

#include "processor/base/banned.h"

static void count_rows(GeneratorCall *call, Rows rows, uint32_t *counts)
{
    const Vector *row_count = call->arguments[0];
    FOR_ROWS(rows, i, { counts[i] = (uint32_t)VECTOR_VALUE(row_count, int32_t, i); });
}

/* Row by row, since each element is another argument. */
static Vector *stack_column(const GeneratorCall *call, size_t column, const GeneratedRows *rows,
                            Arena *arena)
{
    size_t width = call->result->field_count;
    Vector *out = vector_new(arena, call->result->fields[column].type, rows->count);
    for (uint32_t i = 0; i < rows->count; i++) {
        size_t argument = 1 + (size_t)rows->elements[i] * width + column;
        if (rows->elements[i] == GENERATED_NONE || argument >= call->argument_count ||
            call->arguments[argument]->type->kind == TYPE_NULL) {
            vector_append_null(out, arena);
        } else {
            vector_append_from(out, arena, call->arguments[argument], rows->rows[i]);
        }
    }
    return out;
}

const GeneratorKernel generator_stack = {count_rows, stack_column, false};
