/* A SELECT from its tree to its rows. */
#include "processor/query/session_internal.h"

#include "processor/base/banned.h"

/* A plan as rows of one column, a line each. */
static Error *write_plan(const LogicalPlan *plan, Arena *arena, RowWriter *writer)
{
    AUTO_BUFFER Buffer text = {0};
    plan_format(plan, &text);
    const Schema *schema =
        schema_new(arena, &(Field){.name = STR("plan"), .type = &type_string}, 1);
    TRY(writer->begin(writer, schema));
    for (Str rest = buffer_str(&text); rest.data != NULL && rest.size > 0;) {
        Batch *line = batch_new(arena, schema, 1);
        vector_append_str(line->columns[0], arena, str_cut(&rest, '\n'));
        line->row_count = 1;
        line->selected_count = 1;
        TRY(writer->write(writer, line));
    }
    return writer->end(writer);
}

static Error *connect_sources(Session *session, const LogicalPlan *plan, Query *query)
{
    for (size_t i = 0; i < plan->source_count; i++) {
        const LogicalSource *source = &plan->sources[i];
        const Input *input = &session->inputs[source->relation->index];
        BatchSource *batches = NULL;
        TRY(file_table_read(input->table, input->schema, source->schema, source->columns,
                            &batches));
        query_set_source(query, i, progress_watch(&session->progress, input->table, batches));
    }
    return NULL;
}

static Error *write_results(Session *session, Query *query, const Schema *schema, RowWriter *writer)
{
    AUTO(arena) Arena *batch_arena = arena_new("batch");
    const volatile bool *interrupted = session->options.interrupted;
    TRY(writer->begin(writer, schema));
    for (;;) {
        Batch *batch = NULL;
        arena_reset(batch_arena);
        TRY(query_next(query, batch_arena, NULL, &batch));
        if (interrupted != NULL && *interrupted) {
            return error_new(ERROR_INTERRUPTED, "The query was interrupted.");
        }
        if (batch == NULL) {
            progress_hide(&session->progress, true);
            return writer->end(writer);
        }
        if (batch->selected_count > 0) {
            progress_hide(&session->progress, session->options.rows_on_terminal);
            TRY(writer->write(writer, batch));
        }
    }
}

static Error *run_plan(Session *session, const LogicalPlan *plan, RowWriter *writer)
{
    QueryMemory memory = {.limit_bytes = session->options.memory_bytes,
                          .spill_dir = session->options.spill_dir};
    ExecContext context = {.time_zone = session->zone,
                           .now_us = clock_now_us(&session->options.clock),
                           .current_user = STR("tidemark"),
                           .memory = &memory,
                           .interrupted = session->options.interrupted};
    AUTO(query) Query *query = NULL;
    TRY(query_open(plan, &context, &query));
    progress_start(&session->progress, session->options.show_progress);
    TRY(connect_sources(session, plan, query));
    Error *error = write_results(session, query, plan->root->schema, writer);
    progress_hide(&session->progress, true);
    return error;
}

Error *session_run_query(Session *session, const AstQuery *ast, bool explain, RowWriter *writer)
{
    AUTO(arena) Arena *arena = arena_new("query");
    BindContext context = session_bind_context(session, arena);
    BoundNode *bound = NULL;
    LogicalPlan *plan = NULL;
    TRY(bind_query(&context, ast, &bound));
    TRY(plan_build(arena, bound, &plan));
    return explain ? write_plan(plan, arena, writer) : run_plan(session, plan, writer);
}
