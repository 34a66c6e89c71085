/* One topology at work. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#include "processor/base/logger.h"
#include "processor/base/memory.h"
#include "processor/base/uuid.h"
#include "processor/run/names.h"
#include "processor/run/pipeline_internal.h"
#include "processor/run/retry.h"
#include "processor/run/topics.h"

#include "processor/base/banned.h"

enum {
    TIMEOUT_MS = 30000,
    PING_MS = 5000,
    EVENT_FLUSH_MS = 10000,
    LAST_EVENTS_MS = 300,
    WATCH_MS = 50,
};

void pipeline_wait_ms(const Pipeline *pipeline, int64_t milliseconds)
{
    int64_t until = clock_monotonic_ms() + milliseconds;
    while (!pipeline_must_stop(pipeline) && clock_monotonic_ms() < until) {
        clock_sleep_ms(WATCH_MS);
    }
}

static void log_failure(const char *what, const Error *error)
{
    AUTO_BUFFER Buffer text = {0};
    error_format_line(error, &text);
    if (error_hint(error) != NULL) {
        buffer_printf(&text, " Hint: %s", error_hint(error));
    }
    log_warn("%s: %s", what, buffer_cstr(&text));
}

bool pipeline_must_stop(const Pipeline *pipeline)
{
    const atomic_bool *stop = pipeline->context.stop;
    return atomic_load(&pipeline->stop_flows) || (stop != NULL && atomic_load(stop));
}

static void fill_context(Pipeline *pipeline, const PipelineOptions *options)
{
    Str name = options->program->topology->pipeline;
    pipeline->given = options->program;
    pipeline->context = (RunContext){
        .program = options->program,
        .log = options->log,
        .clock = options->clock,
        .instance = pipeline->instance,
        .progress_topic = name_progress_topic(pipeline->arena, name),
        .quarantine_topic = name_quarantine_topic(pipeline->arena, name),
        .batch_rows = options->batch_rows == 0 ? BATCH_ROWS : options->batch_rows,
        .one_epoch = options->one_epoch,
        .inline_work = options->inline_work,
        .timeout_ms = options->timeout_ms == 0 ? TIMEOUT_MS : options->timeout_ms,
        .attempts_max = options->attempts_max,
        .stop = options->stop,
        .stop_flows = &pipeline->stop_flows,
        .on_restore = options->on_restore,
        .on_restore_context = options->on_restore_context,
        .metrics = options->metrics,
        .memory = memory_plan(options->program->topology, options->program->table_count),
    };
    pipeline->state_dir =
        options->state_dir != NULL
            ? options->state_dir
            : arena_copy_cstr(pipeline->arena, options->program->topology->state.dir);
    pipeline->retry = &options->program->topology->retry;
}

static Error *open_events(Pipeline *pipeline)
{
    Str name = pipeline->context.program->topology->pipeline;
    EventLogOptions options = {.log = pipeline->context.log,
                               .topic = name_event_log_topic(pipeline->arena, name),
                               .pipeline = name,
                               .instance = pipeline->instance,
                               .clock = pipeline->context.clock};
    TRY(event_log_open(&options, &pipeline->events));
    pipeline->context.events = pipeline->events;
    metrics_set_events(pipeline->context.metrics, pipeline->events);
    return NULL;
}

static Error *reach_log(Pipeline *pipeline, const UpdateRequest *rebuilt)
{
    int timeout_ms = pipeline->context.timeout_ms;
    /* A broker that is away is told of soon, not after the patience of a call. */
    TRY(log_ping(pipeline->context.log, timeout_ms < PING_MS ? timeout_ms : PING_MS));
    TRY(topics_prepare(pipeline->context.log, pipeline->context.program, timeout_ms));
    if (pipeline->events == NULL) {
        TRY(open_events(pipeline));
    }
    return pipeline_load_over_stored(pipeline, rebuilt);
}

/* The log may be away at the start: that heals. */
static Error *reach_log_patiently(Pipeline *pipeline, const UpdateRequest *rebuilt)
{
    for (int attempt = 1;; attempt++) {
        Error *error = reach_log(pipeline, rebuilt);
        if (error == NULL || error_disposition(error) != ERROR_RETRY ||
            pipeline_must_stop(pipeline) ||
            (pipeline->context.attempts_max >= 0 && attempt > pipeline->context.attempts_max)) {
            return error;
        }
        log_failure("waiting for Kafka", error);
        metrics_set_phase(pipeline->context.metrics, PIPELINE_WAITING_KAFKA, error_message(error));
        error_free(error);
        pipeline_wait_ms(pipeline, retry_backoff_ms(pipeline->retry, attempt));
    }
}

static void announce(Pipeline *pipeline, const char *update_id)
{
    const Program *program = pipeline->context.program;
    for (size_t i = 0; i < program->table_count; i++) {
        event_dataset_definition(pipeline->events, update_id, &program->tables[i]);
        event_flow_definition(pipeline->events, update_id, program, &program->tables[i]);
    }
}

/* "An update counts as finished when its events are acknowledged" (DESIGN section 10). */
static void finish_events(Pipeline *pipeline, int timeout_ms)
{
    Error *error = event_log_flush(pipeline->events, timeout_ms);
    if (error != NULL) {
        log_failure("event log", error);
        error_free(error);
    }
}

static Error *start_flow(Pipeline *pipeline, FlowRunner *flow, const char *update_id)
{
    Error *error = flow_runner_start(flow, update_id);
    if (error != NULL && error_class(error) != ERROR_SIMULATED_CRASH) {
        event_flow_progress(pipeline->events, update_id, flow_runner_table(flow), "FAILED", NULL,
                            error);
        finish_events(pipeline, EVENT_FLUSH_MS);
    }
    return error;
}

static Error *start_all(Pipeline *pipeline, const char *update_id)
{
    for (size_t i = 0; i < pipeline->flow_count; i++) {
        TRY(start_flow(pipeline, pipeline->flows[i], update_id));
    }
    return NULL;
}

/* `rebuilt`: a full refresh of these tables comes next. */
static Error *start_flows(Pipeline *pipeline, const UpdateRequest *rebuilt)
{
    const Program *program = pipeline->context.program;
    pipeline->flows = arena_new_array(pipeline->arena, FlowRunner *, program->table_count);
    char update_id[UUID_TEXT_SIZE];
    uuid_generate(update_id);
    for (size_t i = 0; i < program->table_count; i++) {
        pipeline->flows[pipeline->flow_count++] =
            flow_runner_new(&pipeline->context, &program->tables[i]);
        if (rebuilt != NULL && pipeline_is_selected(pipeline, rebuilt, i)) {
            flow_runner_expect_reset(pipeline->flows[i]);
        }
        error_free(flow_runner_fence(pipeline->flows[i]));
    }
    for (int attempt = 1;; attempt++) {
        Error *error = start_all(pipeline, update_id);
        if (error == NULL || !pipeline_can_mend(pipeline, error, attempt)) {
            return error;
        }
        TRY(pipeline_mend_state(pipeline, update_id, error, attempt));
    }
}

static void stop_flows(Pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->flow_count; i++) {
        flow_runner_free(pipeline->flows[i]);
    }
    pipeline->flow_count = 0;
}

Error *pipeline_open(const PipelineOptions *options, Pipeline **ret_pipeline)
{
    Pipeline *pipeline = mem_new(Pipeline);
    pipeline->arena = arena_new("pipeline");
    uuid_generate(pipeline->instance);
    fill_context(pipeline, options);
    bool rebuilt = false;
    Error *error = options->full_refresh == NULL
                       ? NULL
                       : pipeline_check_reset(pipeline, options->full_refresh);
    if (error == NULL) {
        error = pipeline_open_state(pipeline, &rebuilt);
    }
    if (error == NULL) {
        error = reach_log_patiently(pipeline, options->full_refresh);
    }
    if (error == NULL) {
        if (rebuilt) {
            pipeline_tell_rebuilt(pipeline);
        }
        metrics_set_phase(pipeline->context.metrics, PIPELINE_STARTING, NULL);
        error = start_flows(pipeline, options->full_refresh);
    }
    if (error != NULL) {
        pipeline_close(pipeline);
        return error;
    }
    *ret_pipeline = pipeline;
    return NULL;
}

void pipeline_close(Pipeline *pipeline)
{
    if (pipeline == NULL) {
        return;
    }
    stop_flows(pipeline);
    metrics_set_events(pipeline->context.metrics, NULL);
    event_log_close(pipeline->events);
    pipeline_close_state(pipeline);
    arena_free(pipeline->arena);
    mem_free(pipeline);
}

const Program *pipeline_program(const Pipeline *pipeline)
{
    return pipeline->context.program;
}

size_t pipeline_flow_count(const Pipeline *pipeline)
{
    return pipeline->flow_count;
}

FlowRunner *pipeline_flow(Pipeline *pipeline, size_t index)
{
    assert(index < pipeline->flow_count);
    return pipeline->flows[index];
}

/* ---------------------------------------------------------------------- triggered update ---- */

static Str flow_table_name(const Pipeline *pipeline, size_t flow)
{
    return flow_runner_table(pipeline->flows[flow])->bound->name;
}

static Error *check_selection(const Pipeline *pipeline, const UpdateRequest *request)
{
    for (size_t i = 0; i < request->table_count; i++) {
        bool known = false;
        for (size_t k = 0; k < pipeline->flow_count; k++) {
            known =
                known || str_equal_ignore_case(request->tables[i], flow_table_name(pipeline, k));
        }
        if (!known) {
            return error_new(ERROR_TABLE_OR_VIEW_NOT_FOUND, "The pipeline has no table `%.*s`.",
                             STR_ARG(request->tables[i]));
        }
    }
    return NULL;
}

static Error *update_flow(Pipeline *pipeline, FlowRunner *flow, const UpdateRequest *request,
                          UpdateResult *result)
{
    event_flow_progress(pipeline->events, result->update_id, flow_runner_table(flow), "STARTING",
                        NULL, NULL);
    if (request->full_refresh) {
        TRY(flow_runner_reset(flow, result->update_id));
    }
    UpdateLimits limits = {.records_max = request->records_max};
    bool drained = false;
    TRY(flow_runner_update(flow, result->update_id, &limits, &drained));
    result->drained = result->drained && drained;
    return NULL;
}

/* Mending was given up for the flow before, or in the update before. */
static Error *need_state(Pipeline *pipeline)
{
    bool rebuilt = false;
    return pipeline->state != NULL ? NULL : pipeline_open_state(pipeline, &rebuilt);
}

/* A state that failed is opened again, and the update goes on from the last commit. */
static Error *update_flow_patiently(Pipeline *pipeline, FlowRunner *flow,
                                    const UpdateRequest *request, UpdateResult *result)
{
    for (int attempt = 1;; attempt++) {
        Error *error = need_state(pipeline);
        if (error == NULL) {
            error = update_flow(pipeline, flow, request, result);
        }
        if (error == NULL || !pipeline_can_mend(pipeline, error, attempt)) {
            return error;
        }
        TRY(pipeline_mend_state(pipeline, result->update_id, error, attempt));
    }
}

static UpdateState final_state(const Error *error)
{
    if (error == NULL) {
        return UPDATE_COMPLETED;
    }
    return error_class(error) == ERROR_INTERRUPTED ? UPDATE_CANCELED : UPDATE_FAILED;
}

/* A table built anew has the columns of its statement alone: those it kept for its old rows, which
 * the running program has, go with the rows. */
static Error *prepare_full_refresh(Pipeline *pipeline, const UpdateRequest *request)
{
    TRY(pipeline_check_reset(pipeline, request));
    if (pipeline->context.program == pipeline->given) {
        return NULL;
    }
    TRY(pipeline_load_over_stored(pipeline, request));
    stop_flows(pipeline);
    return start_flows(pipeline, request);
}

Error *pipeline_update(Pipeline *pipeline, const UpdateRequest *request, UpdateResult *ret_result)
{
    TRY(check_selection(pipeline, request));
    if (request->full_refresh) {
        TRY(prepare_full_refresh(pipeline, request));
    }
    UpdateResult result = {.drained = true};
    uuid_generate(result.update_id);
    const char *id = result.update_id;
    event_create_update(pipeline->events, id, request->cause, pipeline->context.program,
                        request->full_refresh);
    event_update_progress(pipeline->events, id, UPDATE_INITIALIZING, NULL);
    announce(pipeline, id);
    event_update_progress(pipeline->events, id, UPDATE_RUNNING, NULL);
    Error *first = NULL;
    for (size_t i = 0; i < pipeline->flow_count; i++) {
        if (!pipeline_is_selected(pipeline, request, i)) {
            continue;
        }
        Error *error = update_flow_patiently(pipeline, pipeline->flows[i], request, &result);
        if (error != NULL && error_class(error) == ERROR_SIMULATED_CRASH) {
            error_free(first);
            return error;
        }
        if (first == NULL) {
            first = error;
        } else {
            error_free(error);
        }
    }
    event_update_progress(pipeline->events, id, final_state(first), first);
    finish_events(pipeline, EVENT_FLUSH_MS);
    *ret_result = result;
    return first;
}

/* --------------------------------------------------------------------- continuous update ---- */

typedef struct FlowThread {
    Pipeline *pipeline;
    FlowRunner *flow;
    const char *update_id;
    pthread_t thread;
    bool running;
    atomic_bool ended;
    Error *error;
} FlowThread;

/* A broken batch waits for an operator, however long that takes: it is told again once a while, and
 * the flow neither skips it nor gives up (case kafka-log.corrupt-batch). */
static bool waits_for_operator(const Error *error)
{
    return error_class(error) == ERROR_KAFKA_CORRUPT_BATCH;
}

/* A failure the user must mend may have been mended meanwhile: it is tried again, a few times in a
 * row. A flow that ran well for a while since the last failure starts counting anew. */
static Error *run_flow(FlowThread *thread)
{
    const TopologyRetry *retry = thread->pipeline->retry;
    Error *error = NULL; /* of the start before the run: it counts like any other */
    for (int attempt = 1;; attempt++) {
        if (error == NULL) {
            int64_t started_ms = clock_monotonic_ms();
            error = flow_runner_run(thread->flow, thread->update_id);
            bool ran_well = clock_monotonic_ms() - started_ms > retry->backoff_max_ms;
            attempt = ran_well ? 1 : attempt;
        }
        if (error == NULL || error_disposition(error) == ERROR_FATAL ||
            pipeline_is_state_error(error) || pipeline_must_stop(thread->pipeline)) {
            return error;
        }
        bool patient = waits_for_operator(error);
        if (!patient && attempt >= retry->max_attempts) {
            return error;
        }
        log_failure("flow failed, it is tried again", error);
        error_free(error);
        pipeline_wait_ms(thread->pipeline,
                         patient ? retry->backoff_max_ms : retry_backoff_ms(retry, attempt));
        error = flow_runner_start(thread->flow, thread->update_id);
    }
}

static void *flow_thread_main(void *argument)
{
    FlowThread *thread = argument;
    thread->error = run_flow(thread);
    /* Who fails with the state goes on with the next one. */
    if (thread->error == NULL || !pipeline_is_state_error(thread->error)) {
        flow_runner_ended(thread->flow, thread->error);
    }
    atomic_store(&thread->ended, true);
    return NULL;
}

static Error *start_thread(FlowThread *thread)
{
    if (pthread_create(&thread->thread, NULL, flow_thread_main, thread) != 0) {
        return error_new(ERROR_INTERNAL_ERROR, "A thread could not be started.");
    }
    thread->running = true;
    return NULL;
}

/* What concerns all flows: the process must end (the flow was taken over), or the state, which they
 * share, is of no use. */
static bool concerns_all(const Error *error)
{
    return error != NULL &&
           (error_disposition(error) == ERROR_FATAL || pipeline_is_state_error(error));
}

/* Waits for the stop, or for what stops all. */
static void watch_threads(Pipeline *pipeline, FlowThread *threads)
{
    for (;;) {
        bool all_ended = true;
        bool stop = false;
        for (size_t i = 0; i < pipeline->flow_count; i++) {
            bool ended = atomic_load(&threads[i].ended);
            all_ended = all_ended && ended;
            stop = stop || (ended && concerns_all(threads[i].error));
        }
        if (all_ended || stop || pipeline_must_stop(pipeline)) {
            return;
        }
        clock_sleep_ms(WATCH_MS);
    }
}

static int weight(const Error *error)
{
    return error == NULL                             ? 0
           : error_disposition(error) == ERROR_FATAL ? 3
           : pipeline_is_state_error(error)          ? 2
                                                     : 1;
}

/* The error that weighs most, the first of its kind. */
static Error *join_threads(Pipeline *pipeline, FlowThread *threads)
{
    atomic_store(&pipeline->stop_flows, true);
    Error *worst = NULL;
    for (size_t i = 0; i < pipeline->flow_count; i++) {
        if (threads[i].running) {
            (void)pthread_join(threads[i].thread, NULL);
        }
        Error *less = threads[i].error;
        if (weight(less) > weight(worst)) {
            less = worst;
            worst = threads[i].error;
        }
        error_free(less);
    }
    atomic_store(&pipeline->stop_flows, false);
    return worst;
}

static Error *run_threads(Pipeline *pipeline, const char *update_id)
{
    FlowThread *threads = mem_alloc_array(pipeline->flow_count, sizeof *threads);
    Error *error = NULL;
    for (size_t i = 0; i < pipeline->flow_count && error == NULL; i++) {
        threads[i].pipeline = pipeline;
        threads[i].flow = pipeline->flows[i];
        threads[i].update_id = update_id;
        error = start_thread(&threads[i]);
    }
    if (error == NULL) {
        metrics_set_phase(pipeline->context.metrics, PIPELINE_RUNNING, NULL);
        watch_threads(pipeline, threads);
    }
    metrics_set_phase(pipeline->context.metrics, PIPELINE_STOPPING, NULL);
    Error *worst = join_threads(pipeline, threads);
    mem_free(threads);
    if (error == NULL) {
        return worst;
    }
    error_free(worst);
    return error;
}

/* A state that fails is opened again, or made anew, and the flows go on; they are not told apart
 * from a start. What does not come of the disk is given up after some tries in a row. */
static Error *serve(Pipeline *pipeline, const char *update_id)
{
    for (int attempt = 1;; attempt++) {
        int64_t started_ms = clock_monotonic_ms();
        Error *error = run_threads(pipeline, update_id);
        if (clock_monotonic_ms() - started_ms > pipeline->retry->backoff_max_ms) {
            attempt = 1;
        }
        if (error == NULL || !pipeline_can_mend(pipeline, error, attempt)) {
            return error;
        }
        TRY(pipeline_mend_state(pipeline, update_id, error, attempt));
    }
}

Error *pipeline_serve(Pipeline *pipeline)
{
    char update_id[UUID_TEXT_SIZE];
    uuid_generate(update_id);
    event_create_update(pipeline->events, update_id, "USER_ACTION", pipeline->context.program,
                        false);
    announce(pipeline, update_id);
    event_update_progress(pipeline->events, update_id, UPDATE_RUNNING, NULL);
    Error *error = serve(pipeline, update_id);
    event_update_progress(pipeline->events, update_id,
                          error == NULL ? UPDATE_CANCELED : UPDATE_FAILED, error);
    finish_events(pipeline, error == NULL ? LAST_EVENTS_MS : EVENT_FLUSH_MS);
    return error;
}
