/* Checkpoints: what is committed goes to RocksDB on a thread of its own, many epochs at once. */
#include "processor/base/fault.h"
#include "processor/run/flow_runner_internal.h"

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

static bool is_large(const FlowRunner *runner)
{
    const Overlay *overlay = table_overlay(runner->table);
    return overlay_committed_bytes(overlay) >= runner->context->memory.checkpoint_max ||
           overlay_is_crowded(overlay);
}

static bool is_due(const FlowRunner *runner)
{
    int64_t age_ms = clock_monotonic_ms() - runner->last_checkpoint_ms;
    return is_large(runner) ||
           age_ms >= runner->context->program->topology->state.checkpoint_interval_ms;
}

Error *flow_checkpoint_step(FlowRunner *runner)
{
    if (worker_is_busy(runner->checkpointer)) {
        /* Memory stays bounded: when as much again has gathered, the flow waits. */
        bool wait = worker_is_done(runner->checkpointer) || is_large(runner);
        return wait ? flow_checkpoint_wait(runner) : NULL;
    }
    size_t bytes = overlay_committed_bytes(table_overlay(runner->table));
    if (!is_due(runner) || !overlay_checkpoint_begin(table_overlay(runner->table))) {
        return NULL;
    }
    runner->last_checkpoint_ms = clock_monotonic_ms();
    runner->checkpoint_bytes = bytes;
    worker_give(runner->checkpointer, write_checkpoint, runner);
    return runner->context->inline_work ? flow_checkpoint_wait(runner) : NULL;
}
