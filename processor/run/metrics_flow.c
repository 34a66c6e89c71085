/* The numbers of one flow. */
#include "processor/run/metrics_flow.h"

#include <assert.h>
#include <stdio.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "processor/run/metrics_internal.h"
#include "processor/run/source_reader.h"

#include "processor/base/banned.h"

const char *const flow_state_names[FLOW_STATE_COUNT] = {
    "waiting", "starting", "restoring", "running", "retrying", "failed", "stopped"};

/* From an idle broker beside us to one that fails over. */
const int64_t histogram_bounds_us[HISTOGRAM_BOUNDS] = {1000,    2500,    5000,     10000,   25000,
                                                       50000,   100000,  250000,   500000,  1000000,
                                                       2500000, 5000000, 10000000, 30000000};

static void count(Counter *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

static void observe(Histogram *histogram, int64_t elapsed_us)
{
    size_t bucket = 0;
    while (bucket < HISTOGRAM_BOUNDS && elapsed_us > histogram_bounds_us[bucket]) {
        bucket++;
    }
    count(&histogram->buckets[bucket], 1);
    count(&histogram->sum_us, (uint64_t)(elapsed_us < 0 ? 0 : elapsed_us));
}

void flow_meter_init(FlowMeter *meter, const ProgramTable *table)
{
    meter->flow = table->flow->name;
    meter->table = table->bound->name;
    meter->source_count = table->input_count;
    meter->sources = mem_alloc_array(meter->source_count, sizeof *meter->sources);
    for (size_t i = 0; i < meter->source_count; i++) {
        meter->sources[i].topic = table->inputs[i].source->topic;
    }
    meter->bound = table->bound;
    meter->expectations =
        mem_alloc_array(table->bound->expectation_count, sizeof *meter->expectations);
    for (int i = 0; i < MEMORY_PART_COUNT; i++) {
        atomic_store(&meter->memory[i], -1);
    }
    pthread_mutex_init(&meter->lock, NULL);
}

void flow_meter_done(FlowMeter *meter)
{
    pthread_mutex_destroy(&meter->lock);
    for (size_t i = 0; i < meter->source_count; i++) {
        mem_free(meter->sources[i].partitions);
    }
    mem_free(meter->sources);
    mem_free(meter->expectations);
}

void flow_meter_set_state(FlowMeter *meter, FlowState state)
{
    if (meter == NULL) {
        return;
    }
    if (state == FLOW_STARTING) {
        count(&meter->starts, 1);
    }
    if (state == FLOW_FAILED || state == FLOW_STOPPED) {
        atomic_store(&meter->commit_began_us, 0);
    }
    atomic_store(&meter->state, (int)state);
}

FlowState flow_meter_state(const FlowMeter *meter)
{
    return meter == NULL ? FLOW_WAITING : (FlowState)atomic_load(&meter->state);
}

void flow_meter_begin_commit(FlowMeter *meter)
{
    if (meter != NULL) {
        atomic_store(&meter->commit_began_us, clock_monotonic_us());
    }
}

void flow_meter_end_commit(FlowMeter *meter)
{
    int64_t began_us = meter == NULL ? 0 : atomic_exchange(&meter->commit_began_us, 0);
    if (began_us > 0) {
        observe(&meter->commit, clock_monotonic_us() - began_us);
    }
}

/* An error is over when something went well after it. */
static void note_success(FlowMeter *meter)
{
    if (atomic_exchange(&meter->failing, false)) {
        pthread_mutex_lock(&meter->lock);
        meter->detail[0] = '\0';
        pthread_mutex_unlock(&meter->lock);
    }
    int retrying = FLOW_RETRYING;
    (void)atomic_compare_exchange_strong(&meter->state, &retrying, (int)FLOW_RUNNING);
}

static void add_counts(FlowMeter *meter, int64_t epoch, const FlowMetrics *counts)
{
    count(&meter->rows_in, counts->source_rows);
    count(&meter->rows_applied, counts->output_rows);
    count(&meter->rows_upserted, counts->upserted_rows);
    count(&meter->rows_deleted, counts->deleted_rows);
    count(&meter->bytes_out, counts->output_bytes);
    count(&meter->rows_late, counts->late_rows);
    count(&meter->rows_behind_watermark, counts->behind_watermark_rows);
    count(&meter->rows_quarantined, counts->bad_records);
    count(&meter->rows_dropped, counts->dropped_records);
    count(&meter->rows_without_value, counts->null_values);
    count(&meter->rows_null_sequence, counts->null_sequences);
    for (size_t i = 0; i < meter->bound->expectation_count; i++) {
        count(&meter->expectations[i].passed, counts->expectations[i].passed);
        count(&meter->expectations[i].failed, counts->expectations[i].failed);
    }
    count(&meter->epochs_committed, 1);
    atomic_store(&meter->epoch, epoch);
    atomic_store(&meter->last_commit_us, clock_now_us(NULL));
}

void flow_meter_add_epoch(FlowMeter *meter, int64_t epoch, const FlowMetrics *counts)
{
    if (meter == NULL) {
        return;
    }
    flow_meter_end_commit(meter);
    add_counts(meter, epoch, counts);
    note_success(meter);
}

void flow_meter_add_error(FlowMeter *meter, const Error *error, bool epoch_lost)
{
    if (meter == NULL) {
        return;
    }
    count(&meter->errors[error_disposition(error)], 1);
    if (epoch_lost) {
        count(&meter->epochs_aborted, 1);
    }
    AUTO_BUFFER Buffer text = {0};
    error_format_line(error, &text);
    pthread_mutex_lock(&meter->lock);
    (void)snprintf(meter->detail, sizeof meter->detail, "%s", buffer_cstr(&text));
    pthread_mutex_unlock(&meter->lock);
    atomic_store(&meter->commit_began_us, 0);
    atomic_store(&meter->failing, true);
    atomic_store(&meter->state, (int)FLOW_RETRYING);
}

void flow_meter_settle_unclear(FlowMeter *meter, int64_t epoch, const FlowMetrics *counts)
{
    if (meter == NULL) {
        return;
    }
    if (counts == NULL) {
        count(&meter->epochs_aborted, 1);
    } else {
        add_counts(meter, epoch, counts);
    }
}

void flow_meter_set_idle(FlowMeter *meter)
{
    if (meter != NULL && atomic_load_explicit(&meter->failing, memory_order_relaxed)) {
        note_success(meter);
    }
}

/* ---------------------------------------------------------------------------- positions ---- */

/* Call with the lock held. */
static void need_partitions(SourceMeter *source, size_t needed)
{
    mem_reserve(source->partitions, &source->partition_capacity, needed);
    while (source->partition_count < needed) {
        source->partitions[source->partition_count++] = (PartitionMeter){-1, -1, -1, -1};
    }
}

void flow_meter_set_positions(FlowMeter *meter, size_t input, const SourceReader *reader)
{
    if (meter == NULL) {
        return;
    }
    int partitions = source_reader_partitions(reader);
    SourceMeter *source = &meter->sources[input];
    pthread_mutex_lock(&meter->lock);
    need_partitions(source, (size_t)partitions);
    for (int p = 0; p < partitions; p++) {
        const SourcePartition *position = source_reader_partition(reader, p);
        bool has_record = position->committed_last.offset >= 0;
        source->partitions[p].committed = position->committed;
        source->partitions[p].last_timestamp_ms =
            has_record ? position->committed_last.timestamp_ms : -1;
    }
    pthread_mutex_unlock(&meter->lock);
}

void flow_meter_set_end(FlowMeter *meter, size_t input, int partition, int64_t end)
{
    if (meter == NULL) {
        return;
    }
    assert(partition >= 0);
    SourceMeter *source = &meter->sources[input];
    pthread_mutex_lock(&meter->lock);
    need_partitions(source, (size_t)partition + 1);
    PartitionMeter *at = &source->partitions[partition];
    at->end = end;
    if (at->committed >= end) {
        at->caught_up_us = clock_now_us(NULL);
    }
    pthread_mutex_unlock(&meter->lock);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The oldest record that waits came after we were last at the end, and, where producers stamp in
 * order, not before the last record read. So it has waited no longer than either says; a topic that
 * was quiet for a day does not show a day of lag when one record arrives. */
bool partition_lag(const PartitionMeter *partition, int64_t created_us, int64_t now_us,
                   Lag *ret_lag)
{
    if (partition->committed < 0 || partition->end < 0) {
        return false;
    }
    *ret_lag = (Lag){0};
    if (partition->end <= partition->committed) {
        return true;
    }
    int64_t waited_us = INT64_MAX;
    if (partition->last_timestamp_ms >= 0) {
        waited_us = now_us - partition->last_timestamp_ms * 1000;
    }
    if (partition->caught_up_us >= 0) {
        waited_us = least(waited_us, now_us - partition->caught_up_us);
    }
    if (waited_us == INT64_MAX) { /* nothing was read yet: as long as we know of it */
        waited_us = now_us - created_us;
    }
    ret_lag->records = (uint64_t)(partition->end - partition->committed);
    ret_lag->microseconds = waited_us < 0 ? 0 : waited_us;
    return true;
}

/* ----------------------------------------------------------------- restore, checkpoints ---- */

void flow_meter_set_restore(FlowMeter *meter, uint64_t done, uint64_t expected, int64_t elapsed_ms,
                            bool finished)
{
    if (meter == NULL) {
        return;
    }
    atomic_store(&meter->restore_done, done);
    atomic_store(&meter->restore_expected, finished ? done : expected);
    atomic_store(&meter->restore_elapsed_ms, (uint64_t)elapsed_ms);
    atomic_store(&meter->state, (int)(finished ? FLOW_STARTING : FLOW_RESTORING));
}

void flow_meter_add_checkpoint(FlowMeter *meter, int64_t elapsed_us, size_t bytes, bool written)
{
    if (meter == NULL) {
        return;
    }
    observe(&meter->checkpoint, elapsed_us);
    if (!written) {
        count(&meter->checkpoints_failed, 1);
        return;
    }
    count(&meter->checkpoints_written, 1);
    count(&meter->checkpoint_bytes, bytes);
    atomic_store(&meter->last_checkpoint_us, clock_now_us(NULL));
}

void flow_meter_set_memory(FlowMeter *meter, MemoryPart part, size_t bytes)
{
    if (meter != NULL) {
        atomic_store_explicit(&meter->memory[part], (int64_t)bytes, memory_order_relaxed);
    }
}
