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

/* Rows at hand as a source, `step` at a time, of the columns the plan reads. */
typedef struct RowSource {
    BatchSource source;
    const LogicalSource *reads;
    const Batch *rows;
    uint32_t next;
    uint32_t step;
    Arena *arena;
} RowSource;

static Error *row_source_next(BatchSource *source, Arena *arena, Batch **ret_batch)
{
    RowSource *own = (RowSource *)source;
    Arena *into = arena != NULL ? arena : own->arena;
    uint32_t left = own->rows->row_count - own->next;
    uint32_t count = left < own->step ? left : own->step;
    *ret_batch = NULL;
    if (count == 0) {
        return NULL;
    }
    Batch *batch = batch_new(into, own->reads->schema, count);
    for (size_t c = 0; c < own->reads->schema->field_count; c++) {
        const Vector *column = own->rows->columns[own->reads->columns[c]];
        for (uint32_t i = 0; i < count; i++) {
            vector_append_from(batch->columns[c], into, column, own->next + i);
        }
    }
    batch->row_count = count;
    batch->selected_count = count;
    own->next += count;
    *ret_batch = batch;
    return NULL;
}

static void row_source_close(BatchSource *source)
{
    (void)source; /* lies in the arena */
}

static Error *set_sources(const BatchQuery *request, const LogicalPlan *plan, Query *query,
                          Arena *arena)
{
    for (size_t i = 0; i < plan->source_count; i++) {
        Batch *rows = NULL;
        TRY(request->rows_of(request->context, plan->sources[i].relation, arena, &rows));
        RowSource *source = arena_new_object(arena, RowSource);
        *source = (RowSource){
            .source = {row_source_next, (int64_t)rows->row_count, row_source_close},
            .reads = &plan->sources[i],
            .rows = rows,
            .step = request->batch_rows == 0 ? BATCH_ROWS : (uint32_t)request->batch_rows,
            .arena = arena};
        query_set_source(query, i, &source->source);
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
    TRY(set_sources(request, plan, query, arena));
    TRY(pull_results(query, arena, result));
    *ret_result = result;
    return NULL;
}
