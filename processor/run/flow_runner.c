/* One flow at work: life and loops. */
#include "processor/run/flow_runner.h"

#include <assert.h>

#include "processor/base/logger.h"
#include "processor/base/memory.h"
#include "processor/run/flow_runner_internal.h"
#include "processor/run/names.h"

#include "processor/base/banned.h"

enum {
    IDLE_POLL_MS = 100, /* nothing in hand: how long a stop may wait */
    BUSY_POLL_MS = 5,   /* an epoch in hand: how soon "drained" is noticed */
    EVENT_INTERVAL_MS = 5000,
    PARTITIONS_INTERVAL_MS = 30000,
    WARM_ROWS_IDLE = 4096,
    WARM_ROWS_A_RECORD = 4,
};

FlowRunner *flow_runner_new(const RunContext *context, const ProgramTable *table)
{
    FlowRunner *runner = mem_new(FlowRunner);
    const Program *program = context->program;
    runner->context = context;
    runner->program = table;
    runner->inputs = flow_inputs_new(table);
    runner->arena = arena_new("runner");
    runner->start_arena = arena_new("start");
    runner->batch_arena = arena_new("batch");
    runner->query_arena = arena_new("query");
    runner->flow_id = name_flow_id(runner->arena, program->topology->pipeline, table->flow->name);
    size_t expectations = table->bound->expectation_count;
    runner->metrics.expectations = arena_new_array(runner->arena, ExpectationCount, expectations);
    runner->epoch_metrics.expectations =
        arena_new_array(runner->arena, ExpectationCount, expectations);
    runner->unclear_metrics.expectations =
        arena_new_array(runner->arena, ExpectationCount, expectations);
    runner->commit.metrics.expectations =
        arena_new_array(runner->arena, ExpectationCount, expectations);
    runner->quarantine = quarantine_new(context->quarantine_topic, table->flow->name);
    runner->commit.quarantine = quarantine_new(context->quarantine_topic, table->flow->name);
    runner->committer = worker_new("commit", context->inline_work);
    runner->checkpoint_begun = arena_new_array(runner->arena, bool, 1 + table->state_count);
    runner->checkpointer = worker_new("checkpoint", context->inline_work);
    runner->meter = metrics_flow(context->metrics, (size_t)(table - program->tables));
    return runner;
}

void flow_runner_free(FlowRunner *runner)
{
    if (runner == NULL) {
        return;
    }
    worker_free(runner->committer);
    error_free(flow_checkpoint_wait(runner));
    worker_free(runner->checkpointer);
    flow_close(runner->flow);
    flow_query_close(runner);
    expectations_close(runner->expectations);
    flow_writer_close(runner->writer);
    table_close(runner->table);
    flow_states_close(runner->states);
    flow_inputs_free(runner->inputs);
    quarantine_free(runner->quarantine);
    quarantine_free(runner->commit.quarantine);
    arena_free(runner->batch_arena);
    arena_free(runner->query_arena);
    arena_free(runner->start_arena);
    arena_free(runner->arena);
    mem_free(runner);
}

void flow_runner_release(FlowRunner *runner)
{
    Error *error = flow_commit_finish(runner);
    runner->unclear =
        runner->unclear || (error != NULL && error_class(error) == ERROR_KAFKA_COMMIT_UNCLEAR);
    error_free(error);
    error_free(flow_checkpoint_wait(runner));
    flow_drop_epoch(runner);
    runner->started = false;
    runner->checkpoint_failures = 0;
    flow_meter_set_state(runner->meter, FLOW_WAITING);
    flow_close(runner->flow);
    runner->flow = NULL;
    table_close(runner->table);
    runner->table = NULL;
    flow_states_close(runner->states);
    runner->states = NULL;
}

const FlowMetrics *flow_runner_metrics(const FlowRunner *runner)
{
    return &runner->metrics;
}

const ProgramTable *flow_runner_table(const FlowRunner *runner)
{
    return runner->program;
}

Table *flow_runner_table_state(FlowRunner *runner)
{
    return runner->table;
}

bool flow_must_stop(const FlowRunner *runner)
{
    const RunContext *context = runner->context;
    return atomic_load(context->stop_flows) ||
           (context->stop != NULL && atomic_load(context->stop));
}

void flow_wait_ms(const FlowRunner *runner, int64_t milliseconds)
{
    int64_t until = clock_monotonic_ms() + milliseconds;
    while (!flow_must_stop(runner) && clock_monotonic_ms() < until) {
        int64_t left = until - clock_monotonic_ms();
        clock_sleep_ms(left < IDLE_POLL_MS ? left : IDLE_POLL_MS);
    }
}

Error *flow_runner_fence(FlowRunner *runner)
{
    return flow_fence(runner);
}

Error *flow_runner_start(FlowRunner *runner, const char *update_id)
{
    TRY(flow_start(runner, update_id));
    return runner->resetting ? flow_runner_reset(runner, update_id) : NULL;
}

/* An error may have left the runner without a producer, or a full refresh half done. */
static Error *make_ready(FlowRunner *runner, const char *update_id)
{
    if (!runner->started) {
        TRY(flow_start(runner, update_id));
    }
    return runner->resetting || runner->rebuild ? flow_runner_reset(runner, update_id) : NULL;
}

/* ---------------------------------------------------------------------- triggered update ---- */

/* Adds up a size of every overlay. */
static size_t sum_of_all(const FlowRunner *runner, size_t (*size)(const Overlay *overlay))
{
    size_t sum = size(table_overlay(runner->table));
    for (size_t i = 0; i < flow_states_count(runner->states); i++) {
        sum += size(flow_states_overlay(runner->states, i));
    }
    return sum;
}

size_t flow_key_bytes(const FlowRunner *runner)
{
    return sum_of_all(runner, overlay_key_bytes);
}

size_t flow_epoch_bytes(const FlowRunner *runner)
{
    return sum_of_all(runner, overlay_epoch_bytes);
}

size_t flow_epoch_rows(const FlowRunner *runner)
{
    return sum_of_all(runner, overlay_epoch_rows);
}

static bool epoch_is_full(const FlowRunner *runner)
{
    const TopologyCommit *commit = &runner->context->program->topology->commit;
    size_t bytes = flow_epoch_bytes(runner) + quarantine_bytes(runner->quarantine);
    size_t rows = flow_epoch_rows(runner) + quarantine_count(runner->quarantine);
    size_t most = memory_plan_epoch_max(&runner->context->memory, flow_key_bytes(runner));
    return rows >= (size_t)commit->max_rows || bytes >= most;
}

static size_t records_left(const FlowRunner *runner, const UpdateLimits *limits, size_t used)
{
    size_t batch = runner->context->batch_rows;
    if (limits->records_max == 0) {
        return batch;
    }
    size_t left = limits->records_max - used;
    return left < batch ? left : batch;
}

/* What came before a broken batch is good: it must not wait for an operator. When that commit
 * fails, it is what must heal first; the broken batch will come again. */
static Error *keep_what_came_before(FlowRunner *runner, const char *update_id, Error *error)
{
    if (error == NULL || error_class(error) != ERROR_KAFKA_CORRUPT_BATCH) {
        return error;
    }
    Error *unkept = flow_commit(runner, update_id);
    if (unkept == NULL) {
        return error;
    }
    error_free(error);
    return unkept;
}

/* After a start with state its keys are brought into memory beside the work, some for each record,
 * so that neither the first commit nor a backlog waits for all of them. */
static Error *warm(FlowRunner *runner, size_t records)
{
    if (runner->warm) {
        return NULL;
    }
    size_t rows = records == 0 ? WARM_ROWS_IDLE : records * WARM_ROWS_A_RECORD;
    TRY(overlay_warm(table_overlay(runner->table), rows, &runner->warm));
    for (size_t i = 0; i < flow_states_count(runner->states); i++) {
        bool warm = false;
        TRY(overlay_warm(flow_states_overlay(runner->states, i), rows, &warm));
        runner->warm = runner->warm && warm;
    }
    return NULL;
}

/* The epoch in hand goes out as soon as the one before it is through. */
static Error *commit_next(FlowRunner *runner, const char *update_id)
{
    TRY(flow_commit_finish(runner));
    flow_commit_begin(runner, update_id);
    return flow_checkpoint_step(runner);
}

/* One try: epochs until everything is in. `used` counts records of committed epochs and of this
 * one. */
static Error *update_once(FlowRunner *runner, const char *update_id, const UpdateLimits *limits,
                          size_t *used)
{
    TRY(make_ready(runner, update_id));
    while (!flow_inputs_are_drained(runner->inputs) &&
           (limits->records_max == 0 || *used < limits->records_max)) {
        if (flow_must_stop(runner)) {
            return error_new(ERROR_INTERRUPTED, "The update was stopped.");
        }
        size_t count = 0;
        Error *error = flow_process(runner, update_id, IDLE_POLL_MS,
                                    records_left(runner, limits, *used), &count);
        *used += count;
        TRY(keep_what_came_before(runner, update_id, error));
        TRY(warm(runner, count));
        TRY(flow_commit_poll(runner));
        if (!runner->context->one_epoch && epoch_is_full(runner)) {
            TRY(commit_next(runner, update_id));
        }
    }
    TRY(flow_commit(runner, update_id));
    return flow_checkpoint_step(runner);
}

static void warn_null_sequences(FlowRunner *runner, const char *update_id)
{
    uint64_t count = runner->metrics.null_sequences;
    if (count == runner->warned_null_sequences) {
        return;
    }
    AUTO_BUFFER Buffer message = {0};
    AUTO_BUFFER Buffer fields = {0};
    uint64_t fresh = count - runner->warned_null_sequences;
    buffer_printf(&message,
                  "Flow '%.*s': %llu rows have a NULL sequence; NULL orders below every value.",
                  STR_ARG(runner->program->flow->name), (unsigned long long)fresh);
    buffer_printf(&fields, "\"rows\":%llu", (unsigned long long)fresh);
    event_warning(runner->context->events, update_id, runner->program, "NULL_SEQUENCE",
                  buffer_str(&message), buffer_str(&fields));
    runner->warned_null_sequences = count;
}

static void begin_update(FlowRunner *runner)
{
    flow_metrics_clear(&runner->metrics, runner->program->bound->expectation_count);
    runner->warned_null_sequences = 0;
    runner->bad_records_reported = 0;
    flow_set_now(runner);
}

static void end_update(FlowRunner *runner, const char *update_id, const char *status,
                       const Error *error)
{
    runner->metrics.backlog_records = flow_inputs_backlog(runner->inputs);
    warn_null_sequences(runner, update_id);
    event_flow_progress(runner->context->events, update_id, runner->program, status,
                        &runner->metrics, error);
}

/* How far the update goes is settled once: tries after an error keep it. */
static Error *set_bounds(FlowRunner *runner, const char *update_id)
{
    TRY(make_ready(runner, update_id));
    TRY(flow_inputs_refresh(runner->inputs));
    TRY(flow_statics_refresh(runner));
    return flow_inputs_set_bounds(runner->inputs);
}

Error *flow_runner_update(FlowRunner *runner, const char *update_id, const UpdateLimits *limits,
                          bool *ret_drained)
{
    begin_update(runner);
    int attempt = 0;
    size_t used = 0;
    bool bounded = false;
    for (;;) {
        int64_t epoch = runner->epoch;
        Error *error = bounded ? NULL : set_bounds(runner, update_id);
        bounded = error == NULL;
        if (error == NULL) {
            error = update_once(runner, update_id, limits, &used);
        }
        if (error == NULL) {
            break;
        }
        attempt = runner->epoch > epoch ? 0 : attempt;
        error = flow_recover(runner, update_id, error, &attempt);
        if (error != NULL) {
            if (error_class(error) != ERROR_SIMULATED_CRASH) {
                end_update(runner, update_id, "FAILED", error);
            }
            return error;
        }
        used = runner->metrics.source_rows;
    }
    *ret_drained = flow_inputs_are_drained(runner->inputs);
    flow_inputs_clear_bounds(runner->inputs);
    end_update(runner, update_id, "COMPLETED", NULL);
    return NULL;
}

/* --------------------------------------------------------------------- continuous update ---- */

/* Nothing more is at hand: the last poll brought nothing, or the source was read to its end before
 * and the poll did not find a backlog. Rows that trickle in need not wait for the interval. */
static bool is_drained(const FlowRunner *runner, size_t polled)
{
    return polled == 0 ||
           (polled < runner->context->batch_rows && flow_inputs_are_caught_up(runner->inputs));
}

/* Is it time to commit? */
static bool epoch_is_due(const FlowRunner *runner, bool drained)
{
    if (!flow_inputs_moved(runner->inputs)) {
        return false;
    }
    const TopologyCommit *commit = &runner->context->program->topology->commit;
    int64_t now_ms = clock_monotonic_ms();
    bool spaced = now_ms - runner->last_commit_ms >= commit->min_spacing_ms;
    return spaced && (drained || now_ms - runner->epoch_started_ms >= commit->interval_ms);
}

static void report_progress(FlowRunner *runner, const char *update_id)
{
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms - runner->last_event_ms < EVENT_INTERVAL_MS || runner->metrics.epochs == 0) {
        return;
    }
    runner->last_event_ms = now_ms;
    end_update(runner, update_id, "RUNNING", NULL);
    flow_metrics_clear(&runner->metrics, runner->program->bound->expectation_count);
    runner->warned_null_sequences = 0;
    runner->bad_records_reported = 0;
}

static Error *look_for_partitions(FlowRunner *runner)
{
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms - runner->last_refresh_ms < PARTITIONS_INTERVAL_MS) {
        return NULL;
    }
    runner->last_refresh_ms = now_ms;
    return flow_inputs_refresh(runner->inputs);
}

static Error *run_step(FlowRunner *runner, const char *update_id)
{
    TRY(make_ready(runner, update_id));
    bool in_hand = flow_inputs_moved(runner->inputs);
    if (!in_hand) {
        runner->epoch_started_ms = clock_monotonic_ms();
        flow_set_now(runner);
        TRY(flow_statics_follow(runner));
    }
    size_t count = 0;
    bool busy = in_hand || flow_commit_is_under_way(runner);
    int patience_ms = !runner->warm ? 0 : busy ? BUSY_POLL_MS : IDLE_POLL_MS;
    Error *error =
        flow_process(runner, update_id, patience_ms, runner->context->batch_rows, &count);
    TRY(keep_what_came_before(runner, update_id, error));
    TRY(warm(runner, count));
    TRY(flow_commit_poll(runner));
    /* While a commit is under way the next epoch grows, until it is full. */
    if (epoch_is_full(runner) ||
        (!flow_commit_is_under_way(runner) && epoch_is_due(runner, is_drained(runner, count)))) {
        TRY(flow_commit_finish(runner));
        flow_commit_begin(runner, update_id);
    }
    TRY(flow_checkpoint_step(runner));
    if (!flow_inputs_moved(runner->inputs) && !flow_commit_is_under_way(runner)) {
        flow_meter_set_idle(runner->meter);
        flow_report_memory(runner);
    }
    report_progress(runner, update_id);
    return look_for_partitions(runner);
}

/* A stop finishes the epoch when that is quick, and skips the checkpoint. What cannot be committed
 * is read again by the next start, which judges why: it is no failure of the stop, nor of the state
 * that all flows are stopped for. */
static Error *commit_at_stop(FlowRunner *runner, const char *update_id)
{
    Error *error = runner->started ? flow_commit(runner, update_id) : NULL;
    if (error == NULL || error_class(error) == ERROR_SIMULATED_CRASH) {
        return error;
    }
    runner->unclear = runner->unclear || error_class(error) == ERROR_KAFKA_COMMIT_UNCLEAR;
    log_info("flow %.*s stops without its last epoch: %s", STR_ARG(runner->program->flow->name),
             error_message(error));
    error_free(error);
    return NULL;
}

Error *flow_runner_run(FlowRunner *runner, const char *update_id)
{
    begin_update(runner);
    flow_inputs_clear_bounds(runner->inputs);
    runner->last_refresh_ms = clock_monotonic_ms();
    int attempt = 0;
    int64_t epoch = runner->epoch;
    while (!flow_must_stop(runner)) {
        Error *error = run_step(runner, update_id);
        if (runner->epoch != epoch) {
            epoch = runner->epoch;
            attempt = 0;
        }
        if (error == NULL) {
            continue;
        }
        error = flow_recover(runner, update_id, error, &attempt);
        if (error != NULL && !flow_must_stop(runner)) {
            end_update(runner, update_id, "FAILED", error);
            return error;
        }
        error_free(error);
    }
    Error *error = commit_at_stop(runner, update_id);
    end_update(runner, update_id, "STOPPED", NULL);
    return error;
}

void flow_runner_ended(FlowRunner *runner, const Error *error)
{
    flow_meter_set_state(runner->meter, error == NULL ? FLOW_STOPPED : FLOW_FAILED);
}

Error *flow_runner_checkpoint(FlowRunner *runner)
{
    TRY(flow_checkpoint_wait(runner));
    return flow_checkpoint_now(runner);
}
