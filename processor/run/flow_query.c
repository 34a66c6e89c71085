/* The query of a flow at work: opened over the states of its operators and the static relations it
 * reads, and opened anew when an abort undid what operators know, or a static relation moved on. */
#include "processor/run/flow_runner_internal.h"

#include "processor/base/banned.h"

enum { STATICS_INTERVAL_MS = 100, BAD_RECORD_EVENTS_MAX = 10 };

static ExecContext exec_context(FlowRunner *runner)
{
    const RunContext *context = runner->context;
    return (ExecContext){.time_zone = context->program->time_zone,
                         .now_us = clock_now_us(context->clock),
                         .current_user = context->program->topology->owner,
                         .stream = &runner->stream};
}

static void on_bad_static(void *context, const LogRecord *record, const Error *error)
{
    FlowRunner *runner = context;
    if (runner->bad_records_reported++ >= BAD_RECORD_EVENTS_MAX) {
        return;
    }
    AUTO_BUFFER Buffer message = {0};
    AUTO_BUFFER Buffer fields = {0};
    buffer_printf(&message,
                  "Topic `%s` partition %d offset %lld is no row of the relation, and is "
                  "passed over: ",
                  record->topic, record->partition, (long long)record->offset);
    error_format_line(error, &message);
    buffer_printf(&fields, "\"topic\":\"%s\",\"partition\":%d,\"offset\":%lld,\"class\":\"%s\"",
                  record->topic, record->partition, (long long)record->offset,
                  error_class_name(error_class(error)));
    event_warning(runner->context->events, NULL, runner->program, "BAD_RECORD",
                  buffer_str(&message), buffer_str(&fields));
}

static Error *open_statics(FlowRunner *runner)
{
    const ProgramTable *program = runner->program;
    if (runner->statics == NULL) {
        runner->statics = arena_new_array(runner->arena, StaticTable *, program->static_count);
    }
    for (size_t i = 0; i < program->static_count; i++) {
        const ProgramStatic *relation = &program->statics[i];
        StaticTableOptions options = {.log = runner->context->log,
                                      .source = relation->source,
                                      .scan = &program->plan->sources[relation->scan],
                                      .time_zone = runner->context->program->time_zone,
                                      .timeout_ms = runner->context->timeout_ms,
                                      .on_bad = on_bad_static,
                                      .context = runner};
        if (runner->statics[i] == NULL) {
            TRY(static_table_open(&options, &runner->statics[i]));
        }
    }
    return NULL;
}

void flow_query_close(FlowRunner *runner)
{
    query_close(runner->query);
    runner->query = NULL;
    for (size_t i = 0; runner->statics != NULL && i < runner->program->static_count; i++) {
        static_table_close(runner->statics[i]);
        runner->statics[i] = NULL;
    }
}

Error *flow_statics_refresh(FlowRunner *runner)
{
    TRY(open_statics(runner));
    for (size_t i = 0; i < runner->program->static_count; i++) {
        bool changed = false;
        Error *error = static_table_refresh(runner->statics[i], &changed);
        if (changed) { /* also by part of what was to be read: the query stands on the rows */
            query_close(runner->query);
            runner->query = NULL;
        }
        TRY(error);
    }
    runner->statics_ms = clock_monotonic_ms();
    return NULL;
}

Error *flow_statics_follow(FlowRunner *runner)
{
    bool due = clock_monotonic_ms() - runner->statics_ms >= STATICS_INTERVAL_MS;
    return runner->program->static_count > 0 && due ? flow_statics_refresh(runner) : NULL;
}

/* What the query's operators share with us. */
static void make_stream(FlowRunner *runner)
{
    const LogicalPlan *plan = runner->program->plan;
    arena_reset(runner->query_arena);
    runner->stream = (StreamContext){
        .states = flow_states_operators(runner->states, runner->query_arena),
        .inputs = arena_new_array(runner->query_arena, StreamInput, plan->source_count),
        .watermarks = arena_new_array(runner->query_arena, int64_t, plan->watermark_count)};
    for (size_t i = 0; i < flow_inputs_count(runner->inputs); i++) {
        flow_query_note_input(runner, flow_inputs_at(runner->inputs, i), NULL);
    }
}

void flow_query_note_input(FlowRunner *runner, const FlowInput *input, const int32_t *partitions)
{
    for (size_t k = 0; k < input->program->scan_count; k++) {
        runner->stream.inputs[input->program->scans[k]] =
            (StreamInput){.partitions = partitions,
                          .partition_count = input->partition_count,
                          .empty = input->empty};
    }
}

Error *flow_query_open(FlowRunner *runner)
{
    const ProgramTable *program = runner->program;
    TRY(flow_inputs_open_decoders(runner->inputs, program->plan,
                                  runner->context->program->time_zone));
    ExecContext exec = exec_context(runner);
    if (runner->expectations == NULL) {
        TRY(expectations_open(program->bound, &exec, &runner->expectations));
    }
    if (runner->query != NULL || (program->state_count > 0 && runner->states == NULL)) {
        return NULL; /* without states the table is to be emptied first */
    }
    if (program->static_count > 0 && runner->statics == NULL) {
        TRY(flow_statics_refresh(runner));
    }
    make_stream(runner);
    TRY(query_open(program->plan, &exec, &runner->query));
    query_set_now(runner->query, runner->now_us);
    for (size_t i = 0; i < program->static_count; i++) {
        query_set_source(runner->query, program->statics[i].scan,
                         static_table_rows(runner->statics[i]));
    }
    return NULL;
}

void flow_query_forget(FlowRunner *runner)
{
    if (runner->program->state_count > 0) {
        query_close(runner->query);
        runner->query = NULL;
    }
}
