/* PROJECT: computes the output columns for the selected rows. A plain column is the child's vector
 * itself. Rows that fail in any column are taken out, with their first error. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"
#include "processor/exec/projection.h"

#include "processor/base/banned.h"

typedef struct Project {
    Operator op;
    Projection projection;
} Project;

static Error *project_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    const Project *project = (const Project *)op;
    Batch *in = NULL;
    TRY(op->child->next(op->child, pull, &in));
    if (in == NULL) {
        *ret_batch = NULL;
        return NULL;
    }
    return projection_run(&project->projection, pull, in, ret_batch);
}

static void project_set_now(Operator *op, int64_t now_us)
{
    expression_list_set_now(&((Project *)op)->projection.computed, now_us);
}

static void project_close(Operator *op)
{
    projection_done(&((Project *)op)->projection);
    mem_free(op);
}

Error *op_project_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Project *project = mem_new(Project);
    project->op =
        (Operator){.next = project_next, .set_now = project_set_now, .close = project_close};
    Error *error = projection_open(&project->projection, node->schema, node->expressions, context);
    if (error != NULL) {
        project_close(&project->op);
        return error;
    }
    *ret_op = &project->op;
    return NULL;
}
