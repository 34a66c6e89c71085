/* A query: the tree of operators built from a logical plan. */
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
    const Schema *schema; /* of the results */
};

/* Plans are at most PLAN_HEIGHT_MAX high: recursion is bounded. */
static void operator_close(Operator *op)
{
    if (op == NULL) {
        return;
    }
    Operator *child = op->child;
    Operator *right = op->right;
    op->close(op);
    operator_close(child);
    operator_close(right);
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
    case LOGICAL_RANGE:
        return op_range_open(node, context, ret_op);
    case LOGICAL_FILTER:
        return op_filter_open(node, context, ret_op);
    case LOGICAL_PROJECT:
        return op_project_open(node, context, ret_op);
    case LOGICAL_EXPAND:
        return op_expand_open(node, context, ret_op);
    case LOGICAL_SET:
        return op_set_open(node, context, ret_op);
    case LOGICAL_SORT:
        return op_sort_open(node, context, ret_op);
    case LOGICAL_LIMIT:
        return op_limit_open(node, context, ret_op);
    case LOGICAL_GENERATE:
        return op_generate_open(node, context, ret_op);
    case LOGICAL_AGGREGATE:
        return op_aggregate_open(node, context, ret_op);
    case LOGICAL_WINDOW:
        return op_window_open(node, context, ret_op);
    case LOGICAL_JOIN:
        return op_join_open(node, context, ret_op);
    case LOGICAL_WATERMARK:
        break;
    }
    assert(false);
    return NULL;
}

/* Nodes that do something else over a stream than over all rows. */
static Error *open_streaming(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    switch (node->kind) {
    case LOGICAL_WATERMARK:
        return op_watermark_open(node, context, ret_op);
    case LOGICAL_AGGREGATE:
        return op_stream_distinct_open(node, context, ret_op);
    case LOGICAL_LIMIT:
        return op_stream_limit_open(node, context, ret_op);
    case LOGICAL_JOIN:
        return node->stream_join == NULL ? op_join_open(node, context, ret_op)
                                         : op_stream_join_open(node, context, ret_op);
    default:
        return open_one(node, context, ret_op);
    }
}

/* The operator is in *link before its inputs are opened: what is open when one fails is closed from
 * the root. */
static Error *open_tree(const LogicalNode *node, const ExecContext *context, Operator **link)
{
    TRY(node->streaming ? open_streaming(node, context, link) : open_one(node, context, link));
    if (node->child != NULL) {
        TRY(open_tree(node->child, context, &(*link)->child));
    }
    return node->right == NULL ? NULL : open_tree(node->right, context, &(*link)->right);
}

Error *query_open(const LogicalPlan *plan, const ExecContext *context, Query **ret_query)
{
    Query *query = mem_new(Query);
    query->source_count = plan->source_count;
    query->schema = plan->root->schema;
    query->pushed = mem_alloc_array(plan->source_count, sizeof(Batch *));
    query->sources = mem_alloc_array(plan->source_count, sizeof(BatchSource *));
    Error *error = open_tree(plan->root, context, &query->root);
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

static void operator_set_now(Operator *op, int64_t now_us)
{
    if (op == NULL) {
        return;
    }
    if (op->set_now != NULL) {
        op->set_now(op, now_us);
    }
    operator_set_now(op->child, now_us);
    operator_set_now(op->right, now_us);
}

void query_set_now(Query *query, int64_t now_us)
{
    operator_set_now(query->root, now_us);
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

/* Operators hand their input's batches on, under the names those had. */
static Batch *as_result(const Query *query, Arena *arena, Batch *batch)
{
    if (batch->schema == query->schema) {
        return batch;
    }
    Batch *result = arena_new_object(arena, Batch);
    *result = *batch;
    result->schema = query->schema;
    return result;
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
    *ret_batch = batch == NULL ? NULL : as_result(query, batch_arena, batch);
    return NULL;
}
