/* Checkpoints: what is committed goes to RocksDB on a thread of its own, many epochs at once. A
 * disk that is full or fails holds up no commit while memory bears it. */
#include "processor/base/fault.h"
#include "processor/base/logger.h"
#include "processor/run/flow_runner_internal.h"
#include "processor/run/retry.h"

#include "processor/base/banned.h"

/* The target's overlay, then those of the operators' states. */
static size_t overlay_count(const FlowRunner *runner)
{
    return 1 + flow_states_count(runner->states);
}

static Overlay *overlay_at(const FlowRunner *runner, size_t number)
{
    return number == 0 ? table_overlay(runner->table)
                       : flow_states_overlay(runner->states, number - 1);
}

/* The positions get the time of the last commit, for that is how long they are known to be the
 * topics' ends. Now would be wrong: a process that slept for days writes what it still holds when
 * it wakes, while another went on and the tombstones of that are gone. */
static bool begin_all(FlowRunner *runner)
{
    bool any = false;
    runner->checkpoint_us = runner->committed_us;
    for (size_t i = 0; i < overlay_count(runner); i++) {
        runner->checkpoint_begun[i] = overlay_checkpoint_begin(overlay_at(runner, i));
        any = any || runner->checkpoint_begun[i];
    }
    return any;
}

static Error *write_all(const FlowRunner *runner)
{
    for (size_t i = 0; i < overlay_count(runner); i++) {
        if (runner->checkpoint_begun[i]) {
            TRY(overlay_checkpoint_write(overlay_at(runner, i), runner->checkpoint_us));
        }
    }
    return NULL;
}

/* One that was written and is taken for failed is written again: that changes nothing. */
static void end_all(FlowRunner *runner, bool written)
{
    for (size_t i = 0; i < overlay_count(runner); i++) {
        if (runner->checkpoint_begun[i]) {
            overlay_checkpoint_end(overlay_at(runner, i), written);
            runner->checkpoint_begun[i] = false;
        }
    }
}

/* On the checkpointer. */
static Error *write_checkpoint(void *context)
{
    FlowRunner *runner = context;
    int64_t started_us = clock_monotonic_us();
    Error *error = fault_check("checkpoint.before_write");
    if (error == NULL) {
        error = write_all(runner);
    }
    if (error == NULL) {
        error = fault_check("checkpoint.after_write");
    }
    flow_meter_add_checkpoint(runner->meter, clock_monotonic_us() - started_us,
                              runner->checkpoint_bytes, error == NULL);
    return error;
}

Error *flow_checkpoint_wait(FlowRunner *runner)
{
    if (!worker_is_busy(runner->checkpointer)) {
        return NULL;
    }
    Error *error = worker_take(runner->checkpointer);
    end_all(runner, error == NULL);
    return error;
}

Error *flow_checkpoint_now(FlowRunner *runner)
{
    if (!begin_all(runner)) {
        return NULL;
    }
    Error *error = write_all(runner);
    end_all(runner, error == NULL);
    return error;
}

static size_t committed_bytes(const FlowRunner *runner)
{
    size_t bytes = 0;
    for (size_t i = 0; i < overlay_count(runner); i++) {
        bytes += overlay_committed_bytes(overlay_at(runner, i));
    }
    return bytes;
}

static bool is_crowded(const FlowRunner *runner)
{
    bool crowded = false;
    for (size_t i = 0; i < overlay_count(runner); i++) {
        crowded = crowded || overlay_is_crowded(overlay_at(runner, i));
    }
    return crowded;
}

static size_t checkpoint_max(const FlowRunner *runner)
{
    return memory_plan_checkpoint_max(&runner->context->memory, flow_key_bytes(runner));
}

static bool is_large(const FlowRunner *runner)
{
    return committed_bytes(runner) >= checkpoint_max(runner) || is_crowded(runner);
}

/* What failed checkpoints should have written waits in memory: up to twice of what begins one. */
static bool has_room(const FlowRunner *runner)
{
    return committed_bytes(runner) < 2 * checkpoint_max(runner) && !is_crowded(runner);
}

static bool is_due(const FlowRunner *runner)
{
    int64_t now_ms = clock_monotonic_ms();
    int64_t age_ms = now_ms - runner->last_checkpoint_ms;
    if (runner->checkpoint_failures > 0) {
        return now_ms >= runner->checkpoint_retry_ms || !has_room(runner);
    }
    return is_large(runner) ||
           age_ms >= runner->context->program->topology->state.checkpoint_interval_ms;
}

static bool may_wait(const FlowRunner *runner, const Error *error)
{
    bool disk =
        error_class(error) == ERROR_STATE_UNWRITABLE || error_class(error) == ERROR_STATE_IO;
    return disk && has_room(runner);
}

static void tell_waiting(const FlowRunner *runner, const Error *error)
{
    AUTO_BUFFER Buffer message = {0};
    buffer_printf(&message, "Flow '%.*s': a checkpoint failed, commits go on without. ",
                  STR_ARG(runner->program->flow->name));
    error_format_line(error, &message);
    if (error_hint(error) != NULL) {
        buffer_printf(&message, " Hint: %s.", error_hint(error));
    }
    log_warn("%s", buffer_cstr(&message));
    event_warning(runner->context->events, NULL, runner->program, "STATE_UNWRITABLE",
                  buffer_str(&message), STR_NULL);
}

/* Takes the result of the checkpoint that is done, or waits for it. */
static Error *end_checkpoint(FlowRunner *runner)
{
    Error *error = flow_checkpoint_wait(runner);
    if (error == NULL) {
        runner->checkpoint_failures = 0;
        return NULL;
    }
    if (!may_wait(runner, error)) {
        return error;
    }
    tell_waiting(runner, error);
    error_free(error);
    const TopologyRetry *retry = &runner->context->program->topology->retry;
    runner->checkpoint_failures++;
    runner->checkpoint_retry_ms =
        clock_monotonic_ms() + retry_backoff_ms(retry, runner->checkpoint_failures);
    return NULL;
}

static void share_epoch_memory(const FlowRunner *runner)
{
    size_t count = overlay_count(runner);
    size_t most = memory_plan_epoch_max(&runner->context->memory, flow_key_bytes(runner));
    for (size_t i = 0; i < count; i++) {
        overlay_set_epoch_memory(overlay_at(runner, i), most / count);
    }
}

Error *flow_checkpoint_step(FlowRunner *runner)
{
    if (worker_is_busy(runner->checkpointer)) {
        /* Memory stays bounded: when as much again has gathered, the flow waits. */
        bool wait = worker_is_done(runner->checkpointer) || is_large(runner);
        return wait ? end_checkpoint(runner) : NULL;
    }
    size_t bytes = committed_bytes(runner);
    share_epoch_memory(runner);
    if (!is_due(runner) || !begin_all(runner)) {
        return NULL;
    }
    runner->last_checkpoint_ms = clock_monotonic_ms();
    runner->checkpoint_bytes = bytes;
    worker_give(runner->checkpointer, write_checkpoint, runner);
    return runner->context->inline_work ? end_checkpoint(runner) : NULL;
}
