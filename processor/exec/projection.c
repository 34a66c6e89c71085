/* The columns of a projection, see projection.h. */
#include "processor/exec/projection.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

Error *projection_open(Projection *projection, const Schema *schema, BoundExpr *const *exprs,
                       const ExecContext *context)
{
    projection->schema = schema;
    projection->exprs = exprs;
    BoundExpr **computed = mem_alloc_array(schema->field_count, sizeof(BoundExpr *));
    size_t count = 0;
    for (size_t i = 0; i < schema->field_count; i++) {
        if (exprs[i]->kind != BOUND_COLUMN) {
            computed[count++] = exprs[i];
        }
    }
    Error *error = expression_list_open(&projection->computed, computed, count, context);
    mem_free(computed);
    return error;
}

void projection_done(Projection *projection)
{
    expression_list_done(&projection->computed);
}

static Error *compute(const Projection *projection, const Pull *pull, const Batch *in,
                      RowErrors *failed, Vector **columns)
{
    size_t computed = 0;
    for (size_t i = 0; i < projection->schema->field_count; i++) {
        const BoundExpr *expr = projection->exprs[i];
        if (expr->kind == BOUND_COLUMN) {
            columns[i] = in->columns[expr->column];
            continue;
        }
        const Vector *value = NULL;
        TRY(expression_evaluate(projection->computed.expressions[computed++], in, pull->arena,
                                failed, &value));
        columns[i] = arena_new_object(pull->arena, Vector);
        *columns[i] = *value;
    }
    return NULL;
}

Error *projection_run(const Projection *projection, const Pull *pull, const Batch *in,
                      Batch **ret_batch)
{
    Vector **columns = arena_new_array(pull->arena, Vector *, projection->schema->field_count);
    RowErrors failed = {0};
    Error *error = compute(projection, pull, in, &failed, columns);
    if (error != NULL) {
        row_errors_done(&failed);
        return error;
    }
    Batch *out = batch_from_columns(pull->arena, projection->schema, columns, in->row_count);
    out->selection = in->selection;
    out->selected_count = in->selected_count;
    out->origin = in->origin;
    out->generation = in->generation;
    pull_take_errors(pull, out, &failed);
    *ret_batch = out;
    return NULL;
}
