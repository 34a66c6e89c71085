/* Full refresh of a streaming flow: the table is emptied and the source is read again from its
 * beginning (RU-52, DESIGN section 6). In transactions:
 *
 *     resetting                               a start that finds this goes on here
 *     tombstones, at most commit.max_rows     as often as needed
 *     positions put back, resetting cleared,  from here on it is an ordinary update
 *     definition written anew
 *
 * Rows go out of the store right after their tombstones were committed, so a start after a crash
 * finds exactly the rows that are still in the topic, and deletes those.
 *
 * The table is emptied under the definition it was filled under, which the program's may not fit
 * (RU-55). The last transaction begins a definition that knows nothing of the old one: it says
 * where in the table's topic its rows begin. So the flow starts once more, on an empty table. */
#include "processor/base/fault.h"
#include "processor/run/data_loss.h"
#include "processor/run/flow_runner_internal.h"
#include "processor/run/table_definition.h"

#include "processor/base/banned.h"

/* Before anything is deleted. */
static Error *warn_data_loss_of(FlowRunner *runner, const char *update_id, const FlowInput *input)
{
    DataLoss loss = {.topic = input->program->source->topic};
    for (int p = 0; p < source_reader_partitions(input->reader); p++) {
        const SourcePartition *partition = source_reader_partition(input->reader, p);
        TRY(data_loss_add(&loss, runner->context->log, p, partition->begin, partition->next,
                          runner->context->timeout_ms));
    }
    if (loss.records == 0) {
        return NULL;
    }
    AUTO_BUFFER Buffer message = {0};
    AUTO_BUFFER Buffer fields = {0};
    data_loss_format(&loss, runner->program->bound->name, &message);
    buffer_printf(&fields, "\"topic\":\"%s\",\"records\":%lld", loss.topic,
                  (long long)loss.records);
    event_warning(runner->context->events, update_id, runner->program, "FULL_REFRESH_DATA_LOSS",
                  buffer_str(&message), buffer_str(&fields));
    return NULL;
}

static Error *warn_data_loss(FlowRunner *runner, const char *update_id)
{
    for (size_t i = 0; i < flow_inputs_count(runner->inputs); i++) {
        TRY(warn_data_loss_of(runner, update_id, flow_inputs_at(runner->inputs, i)));
    }
    return NULL;
}

static Error *mark_resetting(FlowRunner *runner, const char *update_id)
{
    TRY(flow_writer_begin(runner->writer));
    TRY(flow_writer_write_resetting(runner->writer, true, str_from(update_id)));
    TRY(flow_writer_commit(runner->writer));
    return fault_check("full_refresh.after_resetting");
}

/* `begun_us`: the clock before the transaction, as in checkpoints. */
static Error *set_positions(FlowRunner *runner, StoreBatch *deletes, int64_t begun_us)
{
    const int64_t *ends = flow_writer_ends(runner->writer, 0);
    for (int shard = 0; shard < table_partitions(runner->table); shard++) {
        store_batch_set_position(deletes, (uint32_t)shard, ends[shard], begun_us);
    }
    return store_batch_write(deletes);
}

/* One transaction of tombstones for the next rows of the scan; *ret_rows 0 at its end. */
static Error *delete_some(FlowRunner *runner, StoreScan *scan, StoreBatch *deletes,
                          int64_t *ret_rows)
{
    int64_t rows = 0;
    bool found = true;
    int64_t begun_us = clock_now_us(runner->context->clock);
    TRY(flow_writer_begin(runner->writer));
    while (rows < runner->context->program->topology->commit.max_rows) {
        StoredRow row = {0};
        TRY(store_scan_next(scan, &row, &found));
        if (!found) {
            break;
        }
        TRY(flow_writer_write_tombstone(runner->writer, 0, runner->table, row.key, row.shard,
                                        row.ordinal));
        store_batch_delete(deletes, row.shard, row.key, row.ordinal);
        rows++;
    }
    TRY(flow_writer_commit(runner->writer));
    TRY(set_positions(runner, deletes, begun_us));
    *ret_rows = rows;
    return NULL;
}

static Error *delete_rows(FlowRunner *runner)
{
    TableStore *store = table_store(runner->table);
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, -1);
    AUTO(store_batch) StoreBatch *deletes = store_batch_new(store);
    int64_t rows = 0;
    do {
        TRY(delete_some(runner, scan, deletes, &rows));
        TRY(fault_check("full_refresh.mid_tombstones"));
    } while (rows > 0);
    overlay_forget_keys(table_overlay(runner->table));
    return table_store_flush(store);
}

/* The rows to come lie behind what was written so far. */
static Error *write_fresh_definition(FlowRunner *runner)
{
    ProgressDefinition fresh =
        definition_fresh(runner->program, flow_writer_ends(runner->writer, 0),
                         (size_t)table_partitions(runner->table), runner->batch_arena);
    return flow_writer_write_definition(runner->writer, &fresh);
}

static Error *put_positions_back(FlowRunner *runner, const char *update_id)
{
    FlowStatesOptions states = flow_states_options(runner, runner->batch_arena);
    TRY(flow_inputs_reset(runner->inputs));
    TRY(fault_check("full_refresh.before_clear"));
    TRY(flow_writer_begin(runner->writer));
    TRY(flow_writer_write_resetting(runner->writer, false, str_from(update_id)));
    TRY(write_fresh_definition(runner));
    TRY(flow_states_write_fresh(&states, runner->writer));
    flow_inputs_close_epoch(runner->inputs);
    TRY(flow_write_positions(runner, runner->epoch + 1, str_from(update_id)));
    TRY(flow_writer_commit(runner->writer));
    runner->epoch++;
    runner->resetting = false;
    runner->rebuild = false;
    flow_inputs_commit(runner->inputs);
    runner->started = false; /* a table of the new definition is to be opened */
    return NULL;
}

static Error *reset_once(FlowRunner *runner, const char *update_id)
{
    TRY(flow_runner_checkpoint(runner));
    if (!runner->resetting) {
        TRY(warn_data_loss(runner, update_id));
        TRY(mark_resetting(runner, update_id));
        runner->resetting = true;
    }
    TRY(delete_rows(runner));
    FlowStatesOptions states = flow_states_options(runner, runner->batch_arena);
    TRY(flow_states_remove(&states, runner->writer,
                           runner->context->program->topology->commit.max_rows));
    return put_positions_back(runner, update_id);
}

void flow_runner_expect_reset(FlowRunner *runner)
{
    runner->rebuild = true;
}

Error *flow_runner_reset(FlowRunner *runner, const char *update_id)
{
    event_update_progress(runner->context->events, update_id, UPDATE_RESETTING, NULL);
    int attempt = 0;
    runner->rebuild = true;
    if (!runner->started) {
        TRY(flow_start(runner, update_id));
    }
    for (;;) {
        Error *error = reset_once(runner, update_id);
        if (error == NULL) {
            return flow_start(runner, update_id);
        }
        TRY(flow_recover(runner, update_id, error, &attempt));
    }
}
