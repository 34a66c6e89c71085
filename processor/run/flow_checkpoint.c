/* Checkpoints: what is committed goes to RocksDB on a thread of its own, many epochs at once. A
 * disk that is full or fails holds up no commit while memory bears it. */
#include "processor/base/fault.h"
#include "processor/base/logger.h"
#include "processor/run/flow_runner_internal.h"
#include "processor/run/retry.h"

#include "processor/base/banned.h"

/* On the checkpointer. */
static Error *write_checkpoint(void *context)
{
    FlowRunner *runner = context;
    int64_t started_us = clock_monotonic_us();
    Error *error = fault_check("checkpoint.before_write");
    if (error == NULL) {
        error = overlay_checkpoint_write(table_overlay(runner->table),
                                         clock_now_us(runner->context->clock));
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
    overlay_checkpoint_end(table_overlay(runner->table), error == NULL);
    return error;
}

static size_t checkpoint_max(const FlowRunner *runner)
{
    return memory_plan_checkpoint_max(&runner->context->memory,
                                      overlay_key_bytes(table_overlay(runner->table)));
}

static bool is_large(const FlowRunner *runner)
{
    const Overlay *overlay = table_overlay(runner->table);
    return overlay_committed_bytes(overlay) >= checkpoint_max(runner) ||
           overlay_is_crowded(overlay);
}

/* What failed checkpoints should have written waits in memory: up to twice of what begins one. */
static bool has_room(const FlowRunner *runner)
{
    const Overlay *overlay = table_overlay(runner->table);
    return overlay_committed_bytes(overlay) < 2 * checkpoint_max(runner) &&
           !overlay_is_crowded(overlay);
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

Error *flow_checkpoint_step(FlowRunner *runner)
{
    if (worker_is_busy(runner->checkpointer)) {
        /* Memory stays bounded: when as much again has gathered, the flow waits. */
        bool wait = worker_is_done(runner->checkpointer) || is_large(runner);
        return wait ? end_checkpoint(runner) : NULL;
    }
    Overlay *overlay = table_overlay(runner->table);
    size_t bytes = overlay_committed_bytes(overlay);
    overlay_set_epoch_memory(
        overlay, memory_plan_epoch_max(&runner->context->memory, overlay_key_bytes(overlay)));
    if (!is_due(runner) || !overlay_checkpoint_begin(overlay)) {
        return NULL;
    }
    runner->last_checkpoint_ms = clock_monotonic_ms();
    runner->checkpoint_bytes = bytes;
    worker_give(runner->checkpointer, write_checkpoint, runner);
    return runner->context->inline_work ? end_checkpoint(runner) : NULL;
}
