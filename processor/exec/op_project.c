/* PROJECT: computes the output columns for the selected rows. A plain column is the child's vector
 * itself. Rows that fail in any column are taken out, with their first error. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct Project {
    Operator op;
    const LogicalNode *node;
    ExpressionList list; /* of the columns that are computed */
} Project;

static Error *compute(const Project *project, const Pull *pull, const Batch *in, RowErrors *failed,
                      Vector **columns)
{
    size_t computed = 0;
    for (size_t i = 0; i < project->node->expression_count; i++) {
        const BoundExpr *expr = project->node->expressions[i];
        if (expr->kind == BOUND_COLUMN) {
            columns[i] = in->columns[expr->column];
            continue;
        }
        const Vector *value = NULL;
        TRY(expression_evaluate(project->list.expressions[computed++], in, pull->arena, failed,
                                &value));
        columns[i] = arena_new_object(pull->arena, Vector);
        *columns[i] = *value;
    }
    return NULL;
}

static Error *project_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    const Project *project = (const Project *)op;
    Batch *in = NULL;
    TRY(op->child->next(op->child, pull, &in));
    if (in == NULL) {
        *ret_batch = NULL;
        return NULL;
    }
    Vector **columns = arena_new_array(pull->arena, Vector *, project->node->expression_count);
    RowErrors failed = {0};
    Error *error = compute(project, pull, in, &failed, columns);
    if (error != NULL) {
        row_errors_done(&failed);
        return error;
    }
    Batch *out = batch_from_columns(pull->arena, project->node->schema, columns, in->row_count);
    out->selection = in->selection;
    out->selected_count = in->selected_count;
    out->origin = in->origin;
    out->generation = in->generation;
    pull_take_errors(pull, out, &failed);
    *ret_batch = out;
    return NULL;
}

static void project_set_now(Operator *op, int64_t now_us)
{
    expression_list_set_now(&((Project *)op)->list, now_us);
}

static void project_close(Operator *op)
{
    expression_list_done(&((Project *)op)->list);
    mem_free(op);
}

/* The expressions of the node that are more than a column. */
static Error *open_computed(Project *project, const ExecContext *context)
{
    const LogicalNode *node = project->node;
    BoundExpr **computed = mem_alloc_array(node->expression_count, sizeof(BoundExpr *));
    size_t count = 0;
    for (size_t i = 0; i < node->expression_count; i++) {
        if (node->expressions[i]->kind != BOUND_COLUMN) {
            computed[count++] = node->expressions[i];
        }
    }
    Error *error = expression_list_open(&project->list, computed, count, context);
    mem_free(computed);
    return error;
}

Error *op_project_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Project *project = mem_new(Project);
    project->op =
        (Operator){.next = project_next, .set_now = project_set_now, .close = project_close};
    project->node = node;
    Error *error = open_computed(project, context);
    if (error != NULL) {
        project_close(&project->op);
        return error;
    }
    *ret_op = &project->op;
    return NULL;
}
