/* /metrics: every family, in one order, from what the meters hold. Families are written also while
 * they have no sample, so that a dashboard can be checked against a service that just began. */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "processor/base/clock.h"
#include "processor/run/metrics_internal.h"
#include "processor/run/metrics_process.h"
#include "processor/run/metrics_text.h"
#include "state/sizes.h"

#include "processor/base/banned.h"

/* Series of single partitions are for flows one can still look at; the flow's totals are always
 * there. */
enum { PARTITIONS_SHOWN_MAX = 256 };

typedef struct FlowCounter {
    const char *name;
    const char *help;
    size_t offset; /* of the Counter in FlowMeter */
} FlowCounter;

/* What happened to the records and rows of committed epochs. */
static const FlowCounter flow_counters[] = {
    {"tidemark_rows_in_total", "Records read from the source.", offsetof(FlowMeter, rows_in)},
    {"tidemark_rows_applied_total", "Rows that changed the table.",
     offsetof(FlowMeter, rows_applied)},
    {"tidemark_rows_late_total", "Rows ignored: the table holds a higher sequence of their key.",
     offsetof(FlowMeter, rows_late)},
    {"tidemark_rows_behind_watermark_total", "Rows ignored: the watermark had passed their time.",
     offsetof(FlowMeter, rows_behind_watermark)},
    {"tidemark_rows_quarantined_total", "Records that could not become rows, in the quarantine.",
     offsetof(FlowMeter, rows_quarantined)},
    {"tidemark_rows_dropped_total", "Rows dropped by expectations.",
     offsetof(FlowMeter, rows_dropped)},
    {"tidemark_rows_without_value_total", "Records without a value in a stream: ignored.",
     offsetof(FlowMeter, rows_without_value)},
    {"tidemark_rows_null_sequence_total", "Rows with a NULL sequence, which orders lowest.",
     offsetof(FlowMeter, rows_null_sequence)},
    {"tidemark_output_bytes_total", "Bytes of keys and values written to the table's topic.",
     offsetof(FlowMeter, bytes_out)},
    {"tidemark_flow_starts_total", "Starts of the flow, those after errors too.",
     offsetof(FlowMeter, starts)},
    {"tidemark_checkpoint_bytes_total", "Bytes of changes written to the local state.",
     offsetof(FlowMeter, checkpoint_bytes)},
};

static const char *const part_names[MEMORY_PART_COUNT] = {
#define MEMORY_NAME(constant, name) name,
    MEMORY_PARTS(MEMORY_NAME)
#undef MEMORY_NAME
};
static const char *const error_names[ERROR_FATAL + 1] = {[ERROR_USER] = "user",
                                                         [ERROR_RETRY] = "retry",
                                                         [ERROR_ABORT] = "abort",
                                                         [ERROR_FATAL] = "fatal"};

typedef struct Writer {
    Metrics *metrics;
    MetricsText text;
    int64_t now_us;
} Writer;

static MetricLabel flow_label(const FlowMeter *meter)
{
    return (MetricLabel){"flow", meter->flow};
}

static MetricLabel table_label(const FlowMeter *meter)
{
    return (MetricLabel){"table", meter->table};
}

#define FOR_FLOWS(writer, meter)                                                                   \
    for (FlowMeter *meter = (writer)->metrics->flows;                                              \
         meter < (writer)->metrics->flows + (writer)->metrics->flow_count; meter++)

/* ------------------------------------------------------------------------------- counts ---- */

static void write_flow_counters(Writer *writer)
{
    for (size_t i = 0; i < ARRAY_LENGTH(flow_counters); i++) {
        const FlowCounter *counter = &flow_counters[i];
        metrics_text_family(&writer->text, counter->name, "counter", counter->help);
        FOR_FLOWS(writer, meter)
        {
            const void *at = (const char *)meter + counter->offset;
            MetricLabel label = flow_label(meter);
            metrics_text_sample(&writer->text, "", &label, 1, counter_get(at));
        }
    }
}

/* Two counters of a flow as one family that tells them by a label. */
static void write_pair(Writer *writer, const FlowMeter *meter, const char *label, const char *first,
                       const Counter *first_counter, const char *second,
                       const Counter *second_counter)
{
    MetricLabel labels[] = {flow_label(meter), {label, str_from(first)}};
    metrics_text_sample(&writer->text, "", labels, 2, counter_get(first_counter));
    labels[1].value = str_from(second);
    metrics_text_sample(&writer->text, "", labels, 2, counter_get(second_counter));
}

static void write_split_counters(Writer *writer)
{
    metrics_text_family(
        &writer->text, "tidemark_rows_out_total", "counter",
        "Records written to the table's topic: rows, and tombstones of removed rows.");
    FOR_FLOWS(writer, meter)
    {
        write_pair(writer, meter, "change", "upsert", &meter->rows_upserted, "delete",
                   &meter->rows_deleted);
    }
    metrics_text_family(&writer->text, "tidemark_epochs_total", "counter",
                        "Epochs, each one transaction: committed, or undone and read again.");
    FOR_FLOWS(writer, meter)
    {
        write_pair(writer, meter, "outcome", "committed", &meter->epochs_committed, "aborted",
                   &meter->epochs_aborted);
    }
    metrics_text_family(&writer->text, "tidemark_checkpoints_total", "counter",
                        "Checkpoints of the local state.");
    FOR_FLOWS(writer, meter)
    {
        write_pair(writer, meter, "outcome", "written", &meter->checkpoints_written, "failed",
                   &meter->checkpoints_failed);
    }
}

static void write_errors(Writer *writer)
{
    metrics_text_family(&writer->text, "tidemark_flow_errors_total", "counter",
                        "Errors of a flow and its transactions by what they need: retry (heals), "
                        "abort (the epoch), fatal (a new producer), user (somebody must act).");
    FOR_FLOWS(writer, meter)
    {
        for (size_t i = 0; i < ARRAY_LENGTH(error_names); i++) {
            MetricLabel labels[] = {flow_label(meter), {"kind", str_from(error_names[i])}};
            metrics_text_sample(&writer->text, "", labels, 2, counter_get(&meter->errors[i]));
        }
    }
}

static void write_expectations(Writer *writer)
{
    metrics_text_family(&writer->text, "tidemark_expectation_rows_total", "counter",
                        "Rows an expectation judged.");
    FOR_FLOWS(writer, meter)
    {
        for (size_t i = 0; i < meter->bound->expectation_count; i++) {
            MetricLabel labels[] = {flow_label(meter),
                                    {"expectation", meter->bound->expectations[i].name},
                                    {"outcome", STR("passed")}};
            const ExpectationMeter *counts = &meter->expectations[i];
            metrics_text_sample(&writer->text, "", labels, 3, counter_get(&counts->passed));
            labels[2].value = STR("failed");
            metrics_text_sample(&writer->text, "", labels, 3, counter_get(&counts->failed));
        }
    }
}

/* --------------------------------------------------------------------------- histograms ---- */

/* A bound as Prometheus writes it: seconds without trailing zeros. */
static void format_bound(int64_t bound_us, char text[32])
{
    (void)snprintf(text, 32, "%g", (double)bound_us / 1e6);
}

static void write_histogram(Writer *writer, const FlowMeter *meter, const Histogram *histogram)
{
    MetricLabel labels[] = {flow_label(meter), {"le", STR("+Inf")}};
    uint64_t total = 0;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        char bound[32] = "+Inf";
        if (i < HISTOGRAM_BOUNDS) {
            format_bound(histogram_bounds_us[i], bound);
        }
        total += counter_get(&histogram->buckets[i]);
        labels[1].value = str_from(bound);
        metrics_text_sample(&writer->text, "_bucket", labels, 2, total);
    }
    metrics_text_seconds(&writer->text, "_sum", labels, 1,
                         (int64_t)counter_get(&histogram->sum_us));
    metrics_text_sample(&writer->text, "_count", labels, 1, total);
}

static void write_histograms(Writer *writer)
{
    metrics_text_family(&writer->text, "tidemark_commit_duration_seconds", "histogram",
                        "From the begin of an epoch's transaction until it is known to be "
                        "committed.");
    FOR_FLOWS(writer, meter)
    {
        write_histogram(writer, meter, &meter->commit);
    }
    metrics_text_family(&writer->text, "tidemark_checkpoint_duration_seconds", "histogram",
                        "Writing a checkpoint of the local state.");
    FOR_FLOWS(writer, meter)
    {
        write_histogram(writer, meter, &meter->checkpoint);
    }
}

/* ------------------------------------------------------------------------------- gauges ---- */

static void write_states(Writer *writer)
{
    metrics_text_family(&writer->text, "tidemark_flow_state", "gauge",
                        "1 for the state a flow is in.");
    FOR_FLOWS(writer, meter)
    {
        FlowState state = flow_meter_state(meter);
        for (int i = 0; i < FLOW_STATE_COUNT; i++) {
            MetricLabel labels[] = {flow_label(meter), {"state", str_from(flow_state_names[i])}};
            metrics_text_sample(&writer->text, "", labels, 2, (uint64_t)(i == (int)state));
        }
    }
    AUTO_BUFFER Buffer unused = {0};
    bool ready = metrics_is_ready(writer->metrics, &unused);
    metrics_text_family(&writer->text, "tidemark_ready", "gauge", "1 while /readyz says so.");
    metrics_text_sample(&writer->text, "", NULL, 0, (uint64_t)ready);
}

static void write_moment(Writer *writer, const char *name, const char *help, size_t offset)
{
    metrics_text_family(&writer->text, name, "gauge", help);
    FOR_FLOWS(writer, meter)
    {
        const void *at = (const char *)meter + offset;
        const atomic_int_least64_t *moment = at;
        MetricLabel label = flow_label(meter);
        metrics_text_seconds(&writer->text, "", &label, 1, atomic_load(moment));
    }
}

static void write_progress(Writer *writer)
{
    metrics_text_family(&writer->text, "tidemark_epoch", "gauge",
                        "Number of the last committed epoch since the table was made.");
    FOR_FLOWS(writer, meter)
    {
        MetricLabel label = flow_label(meter);
        metrics_text_sample(&writer->text, "", &label, 1, (uint64_t)atomic_load(&meter->epoch));
    }
    write_moment(writer, "tidemark_last_commit_timestamp_seconds",
                 "When an epoch was last committed, seconds since 1970; 0: not since the start.",
                 offsetof(FlowMeter, last_commit_us));
    write_moment(writer, "tidemark_last_checkpoint_timestamp_seconds",
                 "When a checkpoint was last written, seconds since 1970; 0: not since the start.",
                 offsetof(FlowMeter, last_checkpoint_us));
}

static void write_restore(Writer *writer)
{
    static const FlowCounter gauges[] = {
        {"tidemark_restore_records_done", "Records of the table's topic read by its last restore.",
         offsetof(FlowMeter, restore_done)},
        {"tidemark_restore_records_expected", "How many there are about (offsets have gaps).",
         offsetof(FlowMeter, restore_expected)},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(gauges); i++) {
        metrics_text_family(&writer->text, gauges[i].name, "gauge", gauges[i].help);
        FOR_FLOWS(writer, meter)
        {
            const void *at = (const char *)meter + gauges[i].offset;
            MetricLabel label = table_label(meter);
            metrics_text_sample(&writer->text, "", &label, 1, counter_get(at));
        }
    }
    metrics_text_family(&writer->text, "tidemark_restore_duration_seconds", "gauge",
                        "How long the last restore has taken so far, or took.");
    FOR_FLOWS(writer, meter)
    {
        MetricLabel label = table_label(meter);
        metrics_text_seconds(&writer->text, "", &label, 1,
                             (int64_t)counter_get(&meter->restore_elapsed_ms) * 1000);
    }
}

/* --------------------------------------------------------------------------------- lag ---- */

static bool add_lag(const Writer *writer, const SourceMeter *source, Lag *sum)
{
    bool known = false;
    for (size_t p = 0; p < source->partition_count; p++) {
        Lag lag;
        if (partition_lag(&source->partitions[p], writer->metrics->created_us, writer->now_us,
                          &lag)) {
            known = true;
            sum->records += lag.records;
            sum->microseconds =
                lag.microseconds > sum->microseconds ? lag.microseconds : sum->microseconds;
        }
    }
    return known;
}

static void write_flow_lag(Writer *writer, FlowMeter *meter, bool seconds)
{
    Lag sum = {0};
    bool known = false;
    pthread_mutex_lock(&meter->lock);
    for (size_t i = 0; i < meter->source_count; i++) {
        known = add_lag(writer, &meter->sources[i], &sum) || known;
    }
    pthread_mutex_unlock(&meter->lock);
    MetricLabel label = flow_label(meter);
    if (known && seconds) {
        metrics_text_seconds(&writer->text, "", &label, 1, sum.microseconds);
    } else if (known) {
        metrics_text_sample(&writer->text, "", &label, 1, sum.records);
    }
}

typedef enum PartitionValue {
    PARTITION_LAG_RECORDS,
    PARTITION_LAG_SECONDS,
    PARTITION_OFFSET
} PartitionValue;

static void write_partition(Writer *writer, const FlowMeter *meter, const SourceMeter *source,
                            size_t partition, PartitionValue value)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%zu", partition);
    MetricLabel labels[] = {
        flow_label(meter), {"topic", str_from(source->topic)}, {"partition", str_from(number)}};
    const PartitionMeter *at = &source->partitions[partition];
    Lag lag;
    if (value == PARTITION_OFFSET) {
        if (at->committed >= 0) {
            metrics_text_sample(&writer->text, "", labels, 3, (uint64_t)at->committed);
        }
    } else if (partition_lag(at, writer->metrics->created_us, writer->now_us, &lag)) {
        if (value == PARTITION_LAG_SECONDS) {
            metrics_text_seconds(&writer->text, "", labels, 3, lag.microseconds);
        } else {
            metrics_text_sample(&writer->text, "", labels, 3, lag.records);
        }
    }
}

static void write_partitions(Writer *writer, const char *name, const char *help,
                             PartitionValue value)
{
    metrics_text_family(&writer->text, name, "gauge", help);
    FOR_FLOWS(writer, meter)
    {
        pthread_mutex_lock(&meter->lock);
        for (size_t i = 0; i < meter->source_count; i++) {
            const SourceMeter *source = &meter->sources[i];
            for (size_t p = 0; p < source->partition_count && p < PARTITIONS_SHOWN_MAX; p++) {
                write_partition(writer, meter, source, p, value);
            }
        }
        pthread_mutex_unlock(&meter->lock);
    }
}

static void write_lag(Writer *writer)
{
    metrics_text_family(&writer->text, "tidemark_lag_records", "gauge",
                        "Offsets between what is committed and the end of the source, over its "
                        "partitions.");
    FOR_FLOWS(writer, meter)
    {
        write_flow_lag(writer, meter, false);
    }
    metrics_text_family(&writer->text, "tidemark_lag_seconds", "gauge",
                        "For how long at most the oldest record has waited that is not committed; "
                        "the worst partition.");
    FOR_FLOWS(writer, meter)
    {
        write_flow_lag(writer, meter, true);
    }
    write_partitions(writer, "tidemark_source_partition_lag_records",
                     "The same of one partition (the first 256 of a topic).",
                     PARTITION_LAG_RECORDS);
    write_partitions(writer, "tidemark_source_partition_lag_seconds",
                     "The same of one partition (the first 256 of a topic).",
                     PARTITION_LAG_SECONDS);
    write_partitions(writer, "tidemark_source_partition_offset",
                     "Next offset of the source to be applied, as committed.", PARTITION_OFFSET);
}

/* ----------------------------------------------------------------------- state, memory ---- */

static void write_table_sizes(Writer *writer, State *state)
{
    metrics_text_family(&writer->text, "tidemark_state_bytes", "gauge",
                        "Size of the table's local state on disk.");
    FOR_FLOWS(writer, meter)
    {
        TableSizes sizes = {0};
        MetricLabel label = table_label(meter);
        if (state != NULL) {
            state_table_sizes(state, meter->table, &sizes);
            metrics_text_sample(&writer->text, "", &label, 1, sizes.file_bytes);
        }
    }
    metrics_text_family(&writer->text, "tidemark_state_rows", "gauge",
                        "Rows of the table in the local state, an estimate.");
    FOR_FLOWS(writer, meter)
    {
        TableSizes sizes = {0};
        MetricLabel label = table_label(meter);
        if (state != NULL) {
            state_table_sizes(state, meter->table, &sizes);
            metrics_text_sample(&writer->text, "", &label, 1, sizes.rows);
        }
    }
}

static void add_part(int64_t *sum, int64_t bytes)
{
    if (bytes >= 0) {
        *sum = (*sum < 0 ? 0 : *sum) + bytes;
    }
}

static void write_memory(Writer *writer, State *state)
{
    if (state != NULL) {
        StateSizes sizes;
        state_sizes(state, &sizes);
        metrics_set_memory(writer->metrics, MEMORY_BLOCK_CACHE, sizes.block_cache_bytes);
        metrics_set_memory(writer->metrics, MEMORY_WRITE_BUFFERS, sizes.write_buffers_bytes);
    }
    metrics_text_family(&writer->text, "tidemark_memory_bytes", "gauge",
                        "Memory by what holds it, as of the last commit.");
    for (int part = 0; part < MEMORY_PART_COUNT; part++) {
        int64_t sum = -1;
        add_part(&sum, atomic_load(&writer->metrics->memory[part]));
        FOR_FLOWS(writer, meter)
        {
            add_part(&sum, atomic_load(&meter->memory[part]));
        }
        if (sum >= 0) {
            MetricLabel label = {"part", str_from(part_names[part])};
            metrics_text_sample(&writer->text, "", &label, 1, (uint64_t)sum);
        }
    }
    metrics_text_family(&writer->text, "tidemark_memory_limit_bytes", "gauge",
                        "state.memory of the topology.");
    metrics_text_sample(&writer->text, "", NULL, 0,
                        (uint64_t)writer->metrics->program->topology->state.memory_bytes);
}

static void write_events(Writer *writer, const EventLog *events)
{
    metrics_text_family(&writer->text, "tidemark_events_lost_total", "counter",
                        "Events that could not be written to the event log.");
    metrics_text_sample(&writer->text, "", NULL, 0, events == NULL ? 0 : event_log_lost(events));
}

static void write_build(Writer *writer)
{
    MetricLabel label = {"version", STR(TIDEMARK_VERSION)};
    metrics_text_family(&writer->text, "tidemark_build_info", "gauge", "1; the label tells.");
    metrics_text_sample(&writer->text, "", &label, 1, 1);
    metrics_text_family(&writer->text, "tidemark_start_time_seconds", "gauge",
                        "When the service began, seconds since 1970.");
    metrics_text_seconds(&writer->text, "", NULL, 0, writer->metrics->created_us);
}

void metrics_write(Metrics *metrics, Buffer *out)
{
    MetricLabel pipeline = {"pipeline", metrics->program->topology->pipeline};
    Writer writer = {.metrics = metrics,
                     .text = {.out = out, .common = &pipeline, .common_count = 1},
                     .now_us = clock_now_us(NULL)};
    write_build(&writer);
    write_states(&writer);
    write_flow_counters(&writer);
    write_split_counters(&writer);
    write_errors(&writer);
    write_expectations(&writer);
    write_histograms(&writer);
    write_progress(&writer);
    write_lag(&writer);
    write_restore(&writer);
    pthread_mutex_lock(&metrics->lock); /* state and event log stay open meanwhile */
    write_table_sizes(&writer, metrics->state);
    write_memory(&writer, metrics->state);
    write_events(&writer, metrics->events);
    pthread_mutex_unlock(&metrics->lock);
    writer.text.common_count = 0;
    metrics_process_write(&writer.text);
}
