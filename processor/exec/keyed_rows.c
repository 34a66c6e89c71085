/* Extended rows: see keyed_rows.h. */
#include "processor/exec/keyed_rows.h"

#include <string.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

/* The schema with a field for each computed key; notes where the keys are. */
static const Schema *extend_schema(KeyedRows *side, BoundExpr *const *keys, BoundExpr **computed,
                                   size_t *ret_count, Arena *arena)
{
    const Schema *schema = side->schema;
    Field *fields = arena_new_array(arena, Field, schema->field_count + side->key_count);
    if (schema->field_count > 0) {
        memcpy(fields, schema->fields, schema->field_count * sizeof *fields);
    }
    size_t count = schema->field_count;
    for (size_t i = 0; i < side->key_count; i++) {
        if (keys[i]->kind == BOUND_COLUMN) {
            side->key_columns[i] = keys[i]->column;
            continue;
        }
        computed[count - schema->field_count] = keys[i];
        side->key_columns[i] = count;
        fields[count++] = (Field){.name = STR("key"), .type = keys[i]->type};
    }
    *ret_count = count - schema->field_count;
    return schema_new(arena, fields, count);
}

Error *keyed_rows_open(KeyedRows *side, const Schema *schema, BoundExpr *const *keys,
                       size_t key_count, const ExecContext *context, Arena *arena)
{
    BoundExpr **computed = arena_new_array(arena, BoundExpr *, key_count);
    size_t computed_count = 0;
    side->schema = schema;
    side->key_count = key_count;
    side->key_columns = arena_new_array(arena, size_t, key_count);
    side->extended = extend_schema(side, keys, computed, &computed_count, arena);
    return expression_list_open(&side->computed, computed, computed_count, context);
}

void keyed_rows_done(KeyedRows *side)
{
    expression_list_done(&side->computed);
}

Error *keyed_rows_extend(const KeyedRows *side, const Pull *pull, const Batch *batch,
                         Batch **ret_extended)
{
    Batch *extended = arena_new_object(pull->arena, Batch);
    *extended = *batch;
    extended->schema = side->extended;
    if (side->computed.count > 0) {
        size_t field_count = side->schema->field_count;
        const Vector **values = arena_new_array(pull->arena, const Vector *, side->computed.count);
        TRY(expression_list_evaluate(&side->computed, pull, extended, values));
        extended->columns = arena_new_array(pull->arena, Vector *, side->extended->field_count);
        for (size_t i = 0; i < side->extended->field_count; i++) {
            if (i < field_count) {
                extended->columns[i] = batch->columns[i];
                continue;
            }
            extended->columns[i] = arena_new_object(pull->arena, Vector);
            *extended->columns[i] = *values[i - field_count];
        }
    }
    *ret_extended = extended;
    return NULL;
}

bool keyed_rows_is_null(const KeyedRows *side, const bool *null_equal, const Batch *batch,
                        uint32_t row)
{
    for (size_t i = 0; i < side->key_count; i++) {
        if (!null_equal[i] && keyed_value_is_null(batch->columns[side->key_columns[i]], row)) {
            return true;
        }
    }
    return false;
}
