/* From records to the overlay: decode, query, expectations, flow. A record that cannot become a row
 * is set aside for the quarantine, or, with on_error: fail, ends the update right before it. */
#include <assert.h>

#include "processor/base/fault.h"
#include "processor/run/flow_runner_internal.h"

#include "processor/base/banned.h"

enum { BAD_RECORD_EVENTS_MAX = 10 };

void flow_set_now(FlowRunner *runner)
{
    runner->now_us = clock_now_us(runner->context->clock);
    if (runner->query != NULL) {
        query_set_now(runner->query, runner->now_us);
    }
    if (runner->expectations != NULL) {
        expectations_set_now(runner->expectations, runner->now_us);
    }
}

/* The records of a batch that have a value, with their number among the polled ones. */
typedef struct Rows {
    const LogRecord **records;
    Str *values;
    size_t count;
    size_t null_values;
} Rows;

static Rows rows_with_values(FlowRunner *runner, const LogRecord *records, size_t count)
{
    Arena *arena = runner->batch_arena;
    Rows rows = {arena_new_array(arena, const LogRecord *, count),
                 arena_new_array(arena, Str, count), 0, 0};
    for (size_t i = 0; i < count; i++) {
        if (records[i].value.data == NULL) {
            rows.null_values++;
            continue;
        }
        rows.records[rows.count] = &records[i];
        rows.values[rows.count++] = records[i].value;
    }
    return rows;
}

static void report_bad_record(FlowRunner *runner, const char *update_id, const LogRecord *record,
                              const Error *error)
{
    if (runner->bad_records_reported++ >= BAD_RECORD_EVENTS_MAX) {
        return;
    }
    AUTO_BUFFER Buffer message = {0};
    AUTO_BUFFER Buffer fields = {0};
    buffer_printf(&message,
                  "Topic `%s` partition %d offset %lld went to quarantine: ", record->topic,
                  record->partition, (long long)record->offset);
    error_format_line(error, &message);
    buffer_printf(&fields, "\"topic\":\"%s\",\"partition\":%d,\"offset\":%lld,\"class\":\"%s\"",
                  record->topic, record->partition, (long long)record->offset,
                  error_class_name(error_class(error)));
    event_warning(runner->context->events, update_id, runner->program, "BAD_RECORD",
                  buffer_str(&message), buffer_str(&fields));
}

static void set_aside(FlowRunner *runner, const char *update_id, const Rows *rows,
                      const RowErrors *bad)
{
    for (size_t i = 0; i < bad->count; i++) {
        const LogRecord *record = rows->records[bad->rows[i]];
        quarantine_add(runner->quarantine, record, bad->errors[i]);
        report_bad_record(runner, update_id, record, bad->errors[i]);
    }
    runner->epoch_metrics.bad_records += bad->count;
}

/* Result batches of the query, kept until the whole input is known to be good. */
typedef struct Results {
    Batch **batches;
    size_t count;
    size_t capacity;
} Results;

static void keep_result(Results *results, Arena *arena, Batch *batch)
{
    *arena_push(arena, results->batches, results->count, results->capacity) = batch;
}

/* A record without a value for a NOT NULL column of its source does not fit the source: it is that
 * record's trouble, like any other that does not fit (decisions, "Records in"). */
static void refuse_nulls(Batch *batch, Arena *batch_arena, RowErrors *bad)
{
    size_t before = bad->count;
    for (size_t c = 0; c < batch->schema->field_count; c++) {
        const Field *field = &batch->schema->fields[c];
        if (!field->not_null || batch->columns[c]->validity == NULL) {
            continue;
        }
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            uint32_t row = batch_selected(batch, i);
            if (!vector_is_valid(batch->columns[c], row)) {
                row_errors_add(bad, row,
                               error_new(ERROR_MALFORMED_RECORD,
                                         "Column `%.*s` is NOT NULL; the record brings none.",
                                         STR_ARG(field->name)));
            }
        }
    }
    if (bad->count > before) {
        batch_remove_rows(batch, batch_arena, bad);
    }
}

/* The query's results for one batch of one scan. */
static Error *pull_results(FlowRunner *runner, size_t scan, Batch *input, RowErrors *bad,
                           Results *results)
{
    query_push(runner->query, scan, input);
    for (;;) {
        Batch *output = NULL;
        TRY(query_next(runner->query, runner->batch_arena, bad, &output));
        if (output == NULL) {
            return NULL;
        }
        keep_result(results, runner->batch_arena, output);
    }
}

static const int32_t *partitions_of(const Rows *rows, Arena *arena)
{
    int32_t *partitions = arena_new_array(arena, int32_t, rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        partitions[i] = rows->records[i]->partition;
    }
    return partitions;
}

/* A topic that the query reads more than once is decoded for each scan, and a record that is bad
 * for one is so for all. */
static Batch **decode(FlowRunner *runner, const FlowInput *input, const Rows *rows, RowErrors *bad)
{
    Arena *arena = runner->batch_arena;
    size_t scan_count = input->program->scan_count;
    Batch **batches = arena_new_array(arena, Batch *, scan_count);
    for (size_t i = 0; i < scan_count; i++) {
        decoder_decode(input->decoders[i], rows->values, rows->count, arena, bad, &batches[i]);
        refuse_nulls(batches[i], arena, bad);
    }
    for (size_t i = 0; scan_count > 1 && bad->count > 0 && i < scan_count; i++) {
        batch_remove_rows(batches[i], arena, bad);
    }
    return batches;
}

static Error *compute(FlowRunner *runner, const FlowInput *input, const Rows *rows,
                      Batch *const *batches, RowErrors *bad, Results *results)
{
    TRY(fault_check("epoch.after_decode"));
    TRY(flow_query_open(runner));
    flow_query_note_input(runner, input, partitions_of(rows, runner->batch_arena));
    for (size_t i = 0; i < input->program->scan_count; i++) {
        TRY(pull_results(runner, input->program->scans[i], batches[i], bad, results));
    }
    return NULL;
}

static Error *apply(FlowRunner *runner, const Results *results)
{
    FlowMetrics *metrics = &runner->epoch_metrics;
    for (size_t i = 0; i < results->count; i++) {
        Batch *batch = results->batches[i];
        TRY(expectations_apply(runner->expectations, batch, runner->batch_arena,
                               metrics->expectations, &metrics->dropped_records));
        TRY(check_not_null(runner->program->bound, batch));
        TRY(flow_apply(runner->flow, batch, runner->batch_arena));
    }
    const FlowCounters *counters = flow_counters(runner->flow);
    metrics->output_rows += counters->applied;
    metrics->late_rows += counters->late;
    metrics->behind_watermark_rows += runner->stream.late_rows;
    runner->stream.late_rows = 0;
    metrics->null_sequences += counters->null_sequences;
    flow_clear_counters(runner->flow);
    return fault_check("epoch.after_apply");
}

static Error *stop_before(const LogRecord *record, Error *cause)
{
    Error *error = error_new(ERROR_MALFORMED_RECORD,
                             "Topic `%s` partition %d offset %lld cannot be read, and the source "
                             "says `on_error: fail`.",
                             record->topic, record->partition, (long long)record->offset);
    error_set_hint(error, "correct the producer, or set `on_error: quarantine` to set such "
                          "records aside and go on");
    return error_set_cause(error, cause);
}

/* The first polled record that is bad, or `count`. */
static size_t first_bad(const Rows *rows, const RowErrors *bad, const LogRecord *records,
                        size_t count, Error **ret_error)
{
    size_t first = count;
    size_t which = 0;
    for (size_t i = 0; i < bad->count; i++) {
        size_t at = (size_t)(rows->records[bad->rows[i]] - records);
        if (at < first) {
            first = at;
            which = i;
        }
    }
    if (first < count) {
        *ret_error = bad->errors[which];
        bad->errors[which] = NULL;
    }
    return first;
}

/* With on_error: fail, the records before the first bad one are to be used, and then the failure
 * told; false: there is none. */
static bool must_stop_before(const FlowInput *input, const Rows *rows, RowErrors *bad,
                             const LogRecord *records, size_t count, size_t *ret_used,
                             Error **ret_failure)
{
    if (bad->count == 0 || input->program->source->config->on_error != TOPOLOGY_FAIL) {
        return false;
    }
    Error *cause = NULL;
    *ret_used = first_bad(rows, bad, records, count, &cause);
    *ret_failure = stop_before(&records[*ret_used], cause);
    return true;
}

/* All records or, with on_error: fail, those before the first bad one; then *ret_used < count. */
static Error *process_records(FlowRunner *runner, const char *update_id, const FlowInput *input,
                              const LogRecord *records, size_t count, RowErrors *bad,
                              size_t *ret_used, Error **ret_failure)
{
    Rows rows = rows_with_values(runner, records, count);
    Batch **batches = decode(runner, input, &rows, bad);
    if (must_stop_before(input, &rows, bad, records, count, ret_used, ret_failure)) {
        return NULL;
    }
    Results results = {0};
    TRY(compute(runner, input, &rows, batches, bad, &results));
    if (must_stop_before(input, &rows, bad, records, count, ret_used, ret_failure)) {
        if (runner->program->state_count == 0) {
            return NULL;
        }
        /* Operators remember the records already: they cannot come again but with the epoch. */
        Error *failure = *ret_failure;
        *ret_failure = NULL;
        return failure;
    }
    *ret_used = count;
    runner->epoch_metrics.source_rows += count;
    runner->epoch_metrics.null_values += rows.null_values;
    set_aside(runner, update_id, &rows, bad);
    return apply(runner, &results);
}

Error *flow_process(FlowRunner *runner, const char *update_id, int timeout_ms, size_t records_max,
                    size_t *ret_count)
{
    arena_reset(runner->batch_arena);
    FlowInput *input = NULL;
    const LogRecord *records = NULL;
    size_t count = 0;
    *ret_count = 0;
    TRY(flow_inputs_next(runner->inputs, timeout_ms, records_max, runner->batch_arena, &input,
                         &records, &count));
    if (count == 0) {
        return NULL;
    }
    RowErrors bad = {0};
    size_t used = 0;
    Error *failure = NULL;
    Error *error = process_records(runner, update_id, input, records, count, &bad, &used, &failure);
    row_errors_done(&bad);
    if (error != NULL || failure == NULL) {
        *ret_count = error == NULL ? count : 0;
        return error;
    }
    /* on_error: fail. What came before the bad record is applied and committed, then the update
     * fails; the bad record and all behind it come again. */
    error = source_reader_give_back(input->reader, records + used, count - used);
    if (error == NULL && used > 0) {
        Error *none = NULL;
        size_t again = 0;
        error = process_records(runner, update_id, input, records, used, &bad, &again, &none);
        row_errors_done(&bad);
        assert(error != NULL || none == NULL);
    }
    if (error == NULL) {
        error = flow_commit(runner, update_id);
    }
    if (error != NULL) {
        error_free(failure);
        return error;
    }
    return failure;
}
