/* A query: the chain of operators built from a logical plan. */
#include "processor/exec/query.h"

#include <assert.h>

#include "processor/base/memory.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

struct Query {
    Operator *root;
    Batch **pushed;
    BatchSource **sources; /* of those that are pulled, else NULL */
    size_t source_count;
};

static void operator_close(Operator *op)
{
    while (op != NULL) {
        Operator *child = op->child;
        op->close(op);
        op = child;
    }
}

static Error *open_one(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    switch (node->kind) {
    case LOGICAL_SCAN:
        return op_scan_open(node, context, ret_op);
    case LOGICAL_VALUES:
        return op_values_open(node, context, ret_op);
    case LOGICAL_ONE_ROW:
        return op_one_row_open(node, context, ret_op);
    case LOGICAL_FILTER:
        return op_filter_open(node, context, ret_op);
    case LOGICAL_PROJECT:
        return op_project_open(node, context, ret_op);
    case LOGICAL_SORT:
        return op_sort_open(node, context, ret_op);
    default:
        return error_new(ERROR_NOT_YET, "This kind of query is not supported yet.");
    }
}

/* From the root down: nodes have one child at most. */
static Error *open_chain(const LogicalNode *node, const ExecContext *context, Operator **ret_root)
{
    Operator **link = ret_root;
    for (; node != NULL; node = node->child) {
        TRY(open_one(node, context, link));
        link = &(*link)->child;
    }
    return NULL;
}

Error *query_open(const LogicalPlan *plan, const ExecContext *context, Query **ret_query)
{
    Query *query = mem_new(Query);
    query->source_count = plan->source_count;
    query->pushed = mem_alloc_array(plan->source_count, sizeof(Batch *));
    query->sources = mem_alloc_array(plan->source_count, sizeof(BatchSource *));
    Error *error = open_chain(plan->root, context, &query->root);
    if (error != NULL) {
        query_close(query);
        return error;
    }
    *ret_query = query;
    return NULL;
}

void query_close(Query *query)
{
    if (query == NULL) {
        return;
    }
    operator_close(query->root);
    for (size_t i = 0; i < query->source_count; i++) {
        if (query->sources[i] != NULL) {
            query->sources[i]->close(query->sources[i]);
        }
    }
    mem_free(query->sources);
    mem_free(query->pushed);
    mem_free(query);
}

void query_set_now(Query *query, int64_t now_us)
{
    for (Operator *op = query->root; op != NULL; op = op->child) {
        if (op->set_now != NULL) {
            op->set_now(op, now_us);
        }
    }
}

void query_push(Query *query, size_t source, Batch *batch)
{
    assert(source < query->source_count);
    assert(query->pushed[source] == NULL);
    query->pushed[source] = batch;
}

void query_set_source(Query *query, size_t source, BatchSource *batches)
{
    assert(source < query->source_count);
    assert(query->sources[source] == NULL);
    query->sources[source] = batches;
}

/* Without a list for failing rows, the first one is the query's error. */
static Error *first_error(RowErrors *errors)
{
    if (errors->count == 0) {
        return NULL;
    }
    Error *first = error_copy(errors->errors[0]);
    row_errors_done(errors);
    return first;
}

Error *query_next(Query *query, Arena *batch_arena, RowErrors *errors, Batch **ret_batch)
{
    RowErrors own = {0};
    Pull pull = {.arena = batch_arena,
                 .errors = errors != NULL ? errors : &own,
                 .pushed = query->pushed,
                 .sources = query->sources,
                 .strict = errors == NULL};
    Batch *batch = NULL;
    Error *error = query->root->next(query->root, &pull, &batch);
    if (error == NULL && errors == NULL) {
        error = first_error(&own);
    }
    row_errors_done(&own);
    TRY(error);
    *ret_batch = batch;
    return NULL;
}
