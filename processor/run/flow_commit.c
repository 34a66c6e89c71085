/* From the overlay to the log: an epoch is closed and committed in one transaction on a thread of
 * its own, while the next one runs. One is under way at a time. */
#include <assert.h>
#include <stdio.h>

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
    sum->behind_watermark_rows += part->behind_watermark_rows;
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

static void note_unclear(FlowRunner *runner, const FlowCommit *commit)
{
    size_t expectations = runner->program->bound->expectation_count;
    flow_metrics_clear(&runner->unclear_metrics, expectations);
    add_metrics(&runner->unclear_metrics, &commit->metrics, expectations);
    runner->unclear_metrics.epochs = 1;
    runner->unclear_epoch = commit->number;
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
    assert(!worker_is_busy(runner->committer));
    size_t expectations = runner->program->bound->expectation_count;
    if (runner->table != NULL) {
        overlay_abort(table_overlay(runner->table));
    }
    flow_states_abort(runner->states);
    flow_query_forget(runner);
    if (runner->flow != NULL) {
        flow_clear_counters(runner->flow);
    }
    quarantine_clear(runner->quarantine);
    flow_metrics_clear(&runner->epoch_metrics, expectations);
    quarantine_clear(runner->commit.quarantine);
    flow_metrics_clear(&runner->commit.metrics, expectations);
    runner->commit.failed = false;
}

Error *flow_write_positions(FlowRunner *runner, int64_t epoch, Str update)
{
    for (size_t i = 0; i < flow_inputs_count(runner->inputs); i++) {
        const FlowInput *input = flow_inputs_at(runner->inputs, i);
        TRY(flow_writer_write_positions(runner->writer, input->program->source->topic,
                                        &input->moved, epoch, update));
    }
    return NULL;
}

/* On the committer: the transaction of a closed epoch. */
static Error *write_transaction(void *context)
{
    FlowRunner *runner = context;
    FlowCommit *commit = &runner->commit;
    FlowWriter *writer = runner->writer;
    commit->begun_us = clock_now_us(runner->context->clock);
    TRY(flow_writer_begin(writer));
    TRY(fault_check("commit.after_begin"));
    TRY(flow_states_write_delta(runner->states, writer));
    TRY(flow_writer_write_delta(writer, 0, runner->table, commit->epoch, &commit->metrics));
    TRY(flow_writer_write_quarantine(writer, commit->quarantine));
    TRY(flow_write_positions(runner, commit->number, str_from(commit->update_id)));
    TRY(flow_writer_commit(writer));
    flow_meter_end_commit(runner->meter);
    return NULL;
}

/* Moves what the epoch gathered from the runner's hand into the commit. */
static void close_epoch(FlowRunner *runner, const char *update_id)
{
    FlowCommit *commit = &runner->commit;
    commit->number = runner->epoch + 1;
    (void)snprintf(commit->update_id, sizeof commit->update_id, "%s", update_id);
    commit->epoch = overlay_close_epoch(table_overlay(runner->table));
    flow_states_close_epoch(runner->states);
    flow_inputs_close_epoch(runner->inputs);
    Quarantine *quarantine = commit->quarantine;
    commit->quarantine = runner->quarantine;
    runner->quarantine = quarantine;
    FlowMetrics metrics = commit->metrics;
    commit->metrics = runner->epoch_metrics;
    runner->epoch_metrics = metrics;
}

void flow_report_positions(const FlowRunner *runner)
{
    for (size_t i = 0; i < flow_inputs_count(runner->inputs); i++) {
        flow_meter_set_positions(runner->meter, i, flow_inputs_at(runner->inputs, i)->reader);
    }
}

static OverlayMemory memory_of_all(const FlowRunner *runner)
{
    OverlayMemory sum = overlay_memory(table_overlay(runner->table));
    for (size_t i = 0; i < flow_states_count(runner->states); i++) {
        OverlayMemory state = overlay_memory(flow_states_overlay(runner->states, i));
        sum.keys += state.keys;
        sum.changes += state.changes;
        sum.spare += state.spare;
    }
    return sum;
}

void flow_report_memory(const FlowRunner *runner)
{
    OverlayMemory memory = memory_of_all(runner);
    flow_meter_set_memory(runner->meter, MEMORY_OVERLAY, memory.changes + memory.spare);
    flow_meter_set_memory(runner->meter, MEMORY_KEY_TABLE, memory.keys);
    flow_meter_set_memory(runner->meter, MEMORY_QUARANTINE,
                          quarantine_bytes(runner->quarantine) +
                              quarantine_bytes(runner->commit.quarantine));
}

void flow_commit_begin(FlowRunner *runner, const char *update_id)
{
    assert(!flow_commit_is_under_way(runner));
    if (!flow_inputs_moved(runner->inputs)) {
        return;
    }
    flow_report_memory(runner);
    flow_meter_begin_commit(runner->meter);
    runner->last_commit_ms = clock_monotonic_ms();
    close_epoch(runner, update_id);
    worker_give(runner->committer, write_transaction, runner);
}

bool flow_commit_is_under_way(const FlowRunner *runner)
{
    return worker_is_busy(runner->committer);
}

static void count_epoch(FlowRunner *runner)
{
    FlowCommit *commit = &runner->commit;
    size_t expectations = runner->program->bound->expectation_count;
    commit->metrics.epochs = 1;
    flow_meter_add_epoch(runner->meter, runner->epoch, &commit->metrics);
    flow_report_positions(runner);
    add_metrics(&runner->metrics, &commit->metrics, expectations);
    flow_metrics_clear(&commit->metrics, expectations);
    quarantine_clear(commit->quarantine);
}

Error *flow_commit_finish(FlowRunner *runner)
{
    if (!flow_commit_is_under_way(runner)) {
        return NULL;
    }
    Error *error = worker_take(runner->committer);
    if (error != NULL) {
        note_unclear(runner, &runner->commit);
        runner->commit.failed = true;
        return error;
    }
    runner->unclear_epoch = 0;
    runner->epoch = runner->commit.number;
    runner->committed_us = runner->commit.begun_us;
    runner->fenced = 0;
    overlay_commit(table_overlay(runner->table), flow_writer_ends(runner->writer, 0));
    flow_states_commit(runner->states, runner->writer);
    flow_inputs_commit(runner->inputs);
    count_epoch(runner);
    return fault_check("commit.after_overlay_merge");
}

Error *flow_commit_poll(FlowRunner *runner)
{
    return worker_is_done(runner->committer) ? flow_commit_finish(runner) : NULL;
}

Error *flow_commit(FlowRunner *runner, const char *update_id)
{
    TRY(flow_commit_finish(runner));
    flow_commit_begin(runner, update_id);
    return flow_commit_finish(runner);
}
