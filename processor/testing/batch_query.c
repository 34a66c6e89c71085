/* Running a SELECT over rows at hand. */
#include "processor/testing/batch_query.h"

#include "processor/sql/parser.h"

#include "processor/base/banned.h"

static void append_rows(Batch *into, Arena *arena, const Batch *from)
{
    for (size_t c = 0; c < into->schema->field_count; c++) {
        for (uint32_t i = 0; i < from->selected_count; i++) {
            vector_append_from(into->columns[c], arena, from->columns[c], batch_selected(from, i));
        }
    }
    into->row_count += from->selected_count;
    into->selected_count = into->row_count;
}

static Error *pull_results(Query *query, Arena *arena, Batch *result)
{
    for (;;) {
        Batch *batch = NULL;
        TRY(query_next(query, arena, NULL, &batch));
        if (batch == NULL) {
            return NULL;
        }
        append_rows(result, arena, batch);
    }
}

/* The rows from `first` on, of the columns the plan reads. */
static Batch *slice(const Batch *rows, const LogicalSource *source, uint32_t first, uint32_t count,
                    Arena *arena)
{
    Batch *batch = batch_new(arena, source->schema, count);
    for (size_t c = 0; c < source->schema->field_count; c++) {
        const Vector *column = rows->columns[source->columns[c]];
        for (uint32_t i = 0; i < count; i++) {
            vector_append_from(batch->columns[c], arena, column, first + i);
        }
    }
    batch->row_count = count;
    batch->selected_count = count;
    return batch;
}

static Error *run_plan(const BatchQuery *request, const LogicalPlan *plan, Query *query,
                       Arena *arena, Batch *result)
{
    if (plan->source_count == 0) {
        return pull_results(query, arena, result);
    }
    if (plan->source_count > 1) {
        return error_new(ERROR_NOT_YET, "Queries over more than one relation are not supported "
                                        "yet.");
    }
    const LogicalSource *source = &plan->sources[0];
    Batch *rows = NULL;
    TRY(request->rows_of(request->context, source->relation, arena, &rows));
    uint32_t step = request->batch_rows == 0 ? BATCH_ROWS : (uint32_t)request->batch_rows;
    for (uint32_t first = 0; first < rows->row_count; first += step) {
        uint32_t left = rows->row_count - first;
        query_push(query, 0, slice(rows, source, first, left < step ? left : step, arena));
        TRY(pull_results(query, arena, result));
    }
    return NULL;
}

static void release_query(void *query)
{
    query_close(query);
}

Error *batch_query_run(const BatchQuery *request, Arena *arena, Batch **ret_result)
{
    AstQuery *ast = NULL;
    BoundNode *bound = NULL;
    LogicalPlan *plan = NULL;
    TRY(sql_parse_query(request->sql, arena, &ast));
    BindContext context = {.catalog = request->catalog,
                           .functions = function_catalog(),
                           .time_zone = request->zone,
                           .owner = STR("tidemark"),
                           .arena = arena};
    TRY(bind_query(&context, ast, &bound));
    TRY(plan_build(arena, bound, &plan));
    ExecContext exec = {
        .time_zone = request->zone, .now_us = request->now_us, .current_user = STR("tidemark")};
    Query *query = NULL;
    TRY(query_open(plan, &exec, &query));
    arena_on_reset(arena, release_query, query); /* results may point into its constants */
    Batch *result = batch_new(arena, plan->root->schema, 0);
    TRY(run_plan(request, plan, query, arena, result));
    *ret_result = result;
    return NULL;
}
