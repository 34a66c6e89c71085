/* From the overlay to the log, in one transaction; checkpoints of what is committed. */
#include "processor/base/fault.h"
#include "processor/run/flow_runner_internal.h"

#include "processor/base/banned.h"

void flow_metrics_clear(FlowMetrics *metrics, size_t expectation_count)
{
    ExpectationCount *expectations = metrics->expectations;
    memset(expectations, 0, expectation_count * sizeof *expectations);
    *metrics = (FlowMetrics){.expectations = expectations};
}

static void add_metrics(FlowMetrics *sum, const FlowMetrics *part, size_t expectation_count)
{
    sum->source_rows += part->source_rows;
    sum->output_rows += part->output_rows;
    sum->upserted_rows += part->upserted_rows;
    sum->deleted_rows += part->deleted_rows;
    sum->output_bytes += part->output_bytes;
    sum->late_rows += part->late_rows;
    sum->null_sequences += part->null_sequences;
    sum->null_values += part->null_values;
    sum->bad_records += part->bad_records;
    sum->dropped_records += part->dropped_records;
    sum->epochs += part->epochs;
    for (size_t i = 0; i < expectation_count; i++) {
        sum->expectations[i].passed += part->expectations[i].passed;
        sum->expectations[i].failed += part->expectations[i].failed;
        sum->expectations[i].dropped += part->expectations[i].dropped;
    }
}

static void note_unclear(FlowRunner *runner)
{
    size_t expectations = runner->program->bound->expectation_count;
    flow_metrics_clear(&runner->unclear_metrics, expectations);
    add_metrics(&runner->unclear_metrics, &runner->epoch_metrics, expectations);
    runner->unclear_metrics.epochs = 1;
    runner->unclear_epoch = runner->epoch + 1;
}

void flow_settle_unclear(FlowRunner *runner, const Progress *progress)
{
    bool committed = false;
    for (size_t i = 0; i < progress->position_count && runner->unclear_epoch != 0; i++) {
        const ProgressPosition *position = &progress->positions[i];
        committed =
            committed || (position->epoch == runner->unclear_epoch &&
                          str_equal(position->instance, str_from(runner->context->instance)));
    }
    if (committed) {
        add_metrics(&runner->metrics, &runner->unclear_metrics,
                    runner->program->bound->expectation_count);
    }
    if (runner->unclear) {
        flow_meter_settle_unclear(runner->meter, runner->unclear_epoch,
                                  committed ? &runner->unclear_metrics : NULL);
        runner->unclear = false;
    }
    runner->unclear_epoch = 0;
}

void flow_drop_epoch(FlowRunner *runner)
{
    if (runner->table != NULL) {
        overlay_abort_epoch(table_overlay(runner->table));
    }
    if (runner->flow != NULL) {
        flow_clear_counters(runner->flow);
    }
    quarantine_clear(runner->quarantine);
    flow_metrics_clear(&runner->epoch_metrics, runner->program->bound->expectation_count);
}

static Error *write_transaction(FlowRunner *runner, const char *update_id)
{
    FlowWriter *writer = runner->writer;
    TRY(flow_writer_begin(writer));
    TRY(fault_check("commit.after_begin"));
    TRY(flow_writer_write_delta(writer, runner->table, &runner->epoch_metrics));
    TRY(flow_writer_write_quarantine(writer, runner->quarantine));
    TRY(flow_writer_write_positions(writer, runner->reader, runner->epoch + 1,
                                    str_from(update_id)));
    note_unclear(runner);
    return flow_writer_commit(writer);
}

Error *flow_commit(FlowRunner *runner, const char *update_id)
{
    if (!source_reader_moved(runner->reader)) {
        return NULL;
    }
    flow_meter_set_memory(runner->meter, MEMORY_OVERLAY,
                          overlay_epoch_bytes(table_overlay(runner->table)) +
                              overlay_committed_bytes(table_overlay(runner->table)));
    flow_meter_set_memory(runner->meter, MEMORY_QUARANTINE, quarantine_bytes(runner->quarantine));
    flow_meter_begin_commit(runner->meter);
    TRY(write_transaction(runner, update_id));
    runner->unclear_epoch = 0;
    runner->epoch++;
    runner->fenced = 0;
    runner->last_commit_ms = clock_monotonic_ms();
    runner->epoch_started_ms = runner->last_commit_ms;
    overlay_commit_epoch(table_overlay(runner->table), flow_writer_ends(runner->writer));
    source_reader_commit(runner->reader);
    size_t expectations = runner->program->bound->expectation_count;
    runner->epoch_metrics.epochs = 1;
    flow_meter_add_epoch(runner->meter, runner->epoch, &runner->epoch_metrics);
    flow_meter_set_positions(runner->meter, runner->reader);
    add_metrics(&runner->metrics, &runner->epoch_metrics, expectations);
    flow_metrics_clear(&runner->epoch_metrics, expectations);
    quarantine_clear(runner->quarantine);
    return fault_check("commit.after_overlay_merge");
}

/* ---------------------------------------------------------------------------- checkpoint ---- */

static void *write_checkpoint(void *argument)
{
    FlowRunner *runner = argument;
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
    runner->checkpoint_error = error;
    atomic_store(&runner->checkpoint_finished, true);
    return NULL;
}

Error *flow_checkpoint_wait(FlowRunner *runner)
{
    if (!runner->checkpoint_running) {
        return NULL;
    }
    if (runner->checkpoint_threaded) {
        (void)pthread_join(runner->checkpoint_thread, NULL);
    }
    runner->checkpoint_running = false;
    Error *error = runner->checkpoint_error;
    runner->checkpoint_error = NULL;
    overlay_checkpoint_end(table_overlay(runner->table), error == NULL);
    return error;
}

static bool checkpoint_is_due(const FlowRunner *runner)
{
    const TopologyState *state = &runner->context->program->topology->state;
    int64_t age_ms = clock_monotonic_ms() - runner->last_checkpoint_ms;
    size_t bytes = overlay_committed_bytes(table_overlay(runner->table));
    return bytes > 0 &&
           (age_ms >= state->checkpoint_interval_ms || bytes >= (size_t)state->checkpoint_bytes);
}

Error *flow_checkpoint_step(FlowRunner *runner)
{
    if (runner->checkpoint_running) {
        /* Memory stays bounded: when as much again has gathered, the flow waits. */
        bool wait = atomic_load(&runner->checkpoint_finished) ||
                    overlay_committed_bytes(table_overlay(runner->table)) >=
                        (size_t)runner->context->program->topology->state.checkpoint_bytes;
        return wait ? flow_checkpoint_wait(runner) : NULL;
    }
    size_t bytes = overlay_committed_bytes(table_overlay(runner->table));
    if (!checkpoint_is_due(runner) || !overlay_checkpoint_begin(table_overlay(runner->table))) {
        return NULL;
    }
    runner->last_checkpoint_ms = clock_monotonic_ms();
    runner->checkpoint_bytes = bytes;
    runner->checkpoint_running = true;
    atomic_store(&runner->checkpoint_finished, false);
    runner->checkpoint_threaded =
        !runner->context->checkpoints_inline &&
        pthread_create(&runner->checkpoint_thread, NULL, write_checkpoint, runner) == 0;
    if (!runner->checkpoint_threaded) {
        (void)write_checkpoint(runner);
        return flow_checkpoint_wait(runner);
    }
    return NULL;
}
