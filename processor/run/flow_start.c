/* The start of a flow, and what happens after errors. The order matters (DESIGN section 4, "Start
 * order"): fence first, then learn how far the log goes, then read up to there, then seek the
 * source. A recovery after a fatal error is the same start again: whatever became of the epoch in
 * hand, the progress topic tells. */
#include <assert.h>
#include <unistd.h>

#include "processor/base/fault.h"
#include "processor/base/logger.h"
#include "processor/run/flow_runner_internal.h"
#include "processor/run/retry.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

enum { OUTDATED_WAIT_MS = 2000, OUTDATED_POLL_MS = 50 };

static void on_loss(void *context, const char *topic, int partition, int64_t position,
                    int64_t start)
{
    const FlowRunner *runner = context;
    AUTO_BUFFER Buffer message = {0};
    AUTO_BUFFER Buffer fields = {0};
    buffer_printf(&message,
                  "Flow '%.*s': records of topic `%s` partition %d from offset %lld to %lld were "
                  "removed before they were read.",
                  STR_ARG(runner->program->flow->name), topic, partition, (long long)position,
                  (long long)start - 1);
    buffer_printf(&fields, "\"topic\":\"%s\",\"partition\":%d,\"from\":%lld,\"to\":%lld", topic,
                  partition, (long long)position, (long long)start - 1);
    event_warning(runner->context->events, NULL, runner->program, "SOURCE_DATA_LOST",
                  buffer_str(&message), buffer_str(&fields));
}

static Error *list_tables(const FlowRunner *runner, int partitions, FlowWriterTable *tables)
{
    const ProgramTable *program = runner->program;
    int *of_states = arena_new_array(runner->batch_arena, int, program->state_count);
    TRY(flow_states_partitions(runner->context->log, program, runner->context->timeout_ms,
                               of_states));
    tables[0] = (FlowWriterTable){program->bound->name, program->topic, partitions};
    for (size_t i = 0; i < program->state_count; i++) {
        const ProgramTable *state = &program->states[i];
        tables[i + 1] = (FlowWriterTable){state->bound->name, state->topic, of_states[i]};
    }
    return NULL;
}

static Error *open_writer(FlowRunner *runner, int partitions)
{
    const RunContext *context = runner->context;
    size_t table_count = 1 + runner->program->state_count;
    FlowWriterTable *tables = arena_new_array(runner->batch_arena, FlowWriterTable, table_count);
    TRY(list_tables(runner, partitions, tables));
    FlowWriterOptions options = {.log = context->log,
                                 .transactional_id = runner->flow_id,
                                 .group = runner->flow_id,
                                 .progress_topic = context->progress_topic,
                                 .flow = runner->program->flow->name,
                                 .tables = tables,
                                 .table_count = table_count,
                                 .instance = context->instance,
                                 .clock = context->clock,
                                 .queue_bytes_max = context->memory.producer_queue,
                                 .timeout_ms = context->timeout_ms};
    flow_writer_close(runner->writer);
    runner->writer = NULL;
    return flow_writer_open(&options, &runner->writer);
}

/* What an earlier start committed goes into the store before the topic is replayed: what is there
 * need not be read again. When it cannot be written the next start's replay brings it. */
static Error *settle_table(FlowRunner *runner)
{
    if (runner->table == NULL) {
        return NULL;
    }
    Error *error = flow_checkpoint_wait(runner);
    if (error == NULL) {
        error = flow_checkpoint_now(runner);
    }
    flow_close(runner->flow);
    runner->flow = NULL;
    table_close(runner->table);
    runner->table = NULL;
    flow_query_forget(runner);
    flow_states_close(runner->states);
    runner->states = NULL;
    return error;
}

static Error *table_topic_is_foreign(const FlowRunner *runner)
{
    const char *progress = runner->context->progress_topic;
    Error *error =
        error_new(ERROR_KAFKA_TOPIC_MISMATCH,
                  "Topic `%s` of table `%.*s` has records, but topic `%s` knows nothing "
                  "of the table: they were not written by this pipeline.",
                  runner->program->topic, STR_ARG(runner->program->bound->name), progress);
    return error_set_hint(error,
                          "to make the table anew from its source, delete topic `%s`; or give the "
                          "table another topic",
                          runner->program->topic);
}

/* A broker that hung and woke believes for a moment that it still leads a topic. */
static Error *answer_is_outdated(const char *topic)
{
    return error_set_disposition(
        error_new(ERROR_KAFKA_ERROR,
                  "A broker answered that does not know what was written to topic `%s` last.",
                  topic),
        ERROR_RETRY);
}

/* `progress` tells how far each flow came in its table: all tables of a pipeline are made anew, or
 * the one under a new name. */
static Error *table_topic_was_cut(const FlowRunner *runner, int partition, int64_t known)
{
    int64_t start = 0;
    int64_t end = 0;
    TRY(topic_known_range(runner->context->log, runner->program->topic, partition, known,
                          runner->context->timeout_ms, &start, &end));
    if (end >= known) {
        return answer_is_outdated(runner->program->topic);
    }
    Error *error = error_new(ERROR_KAFKA_TOPIC_MISMATCH,
                             "Topic `%s` of table `%.*s` ends at offset %lld in partition %d, but "
                             "%lld was reached before: it was deleted and made anew, or cut.",
                             runner->program->topic, STR_ARG(runner->program->bound->name),
                             (long long)end, partition, (long long)known);
    return error_set_hint(error,
                          "give the table another name, or delete topic `%s` and the topics of all "
                          "tables of the pipeline: then they are made anew from their sources",
                          runner->context->progress_topic);
}

/* A key's partition is a hash modulo their number: with another number its old rows would stay
 * where nobody replaces them. */
static Error *table_partitions_changed(const FlowRunner *runner, size_t known)
{
    const char *topic = runner->program->topic;
    Error *error = error_new(ERROR_KAFKA_TOPIC_MISMATCH,
                             "Topic `%s` of table `%.*s` has %d partitions, and its rows were "
                             "written to %zu: keys would move.",
                             topic, STR_ARG(runner->program->bound->name),
                             table_partitions(runner->table), known);
    return error_set_hint(error,
                          "the partitions of a table cannot change; give the table another name, "
                          "which makes it anew from its source");
}

/* The table's topic and the progress topic belong together. Rows without progress would be counted
 * again on top (an equal sequence adds), progress without rows would leave them out for ever. */
static Error *check_table_topic(const FlowRunner *runner, const Progress *progress)
{
    const int64_t *ends = table_ends(runner->table);
    size_t count = (size_t)table_partitions(runner->table);
    for (size_t p = 0; p < count; p++) {
        int64_t known = p < progress->end_count ? progress->ends[p] : -1;
        if (!progress->has_definition && ends[p] > 0) {
            return table_topic_is_foreign(runner);
        }
        if (known > ends[p]) {
            return table_topic_was_cut(runner, (int)p, known);
        }
    }
    if (progress->end_count > 0 && progress->end_count != count) {
        return table_partitions_changed(runner, progress->end_count);
    }
    return NULL;
}

static void on_restore(void *context, const RestoreProgress *progress)
{
    const FlowRunner *runner = context;
    flow_meter_set_restore(runner->meter, progress->offsets_done, progress->offsets_total,
                           progress->elapsed_ms, progress->finished);
    if (runner->context->on_restore != NULL) {
        runner->context->on_restore(runner->context->on_restore_context, progress);
    }
}

FlowStatesOptions flow_states_options(const FlowRunner *runner, Arena *arena)
{
    const RunContext *context = runner->context;
    size_t table_count = 1 + runner->program->state_count;
    return (FlowStatesOptions){.program = runner->program,
                               .time_zone = context->program->time_zone,
                               .state = context->state,
                               .log = context->log,
                               .key_memory = context->memory.key_table / table_count,
                               .epoch_memory = memory_plan_epoch_max(&context->memory, 0),
                               .batch_rows = context->batch_rows,
                               .timeout_ms = context->timeout_ms,
                               .now_us = clock_now_us(context->clock),
                               .arena = arena};
}

static Error *open_table(FlowRunner *runner, const Progress *progress, int partitions)
{
    const RunContext *context = runner->context;
    bool as_stored = runner->rebuild || progress->resetting;
    size_t table_count = 1 + runner->program->state_count;
    TableOptions options = {.program = runner->program,
                            .time_zone = context->program->time_zone,
                            .as_stored = as_stored,
                            .partitions = partitions,
                            .state = context->state,
                            .key_memory = context->memory.key_table / table_count,
                            .epoch_memory = memory_plan_epoch_max(&context->memory, 0),
                            .batch_rows = context->batch_rows,
                            .arena = runner->start_arena};
    TRY(table_open(&options, progress->has_definition ? &progress->definition : NULL,
                   &runner->table));
    runner->committed_us = clock_now_us(context->clock);
    TRY(table_restore(runner->table, context->log, context->timeout_ms, runner->committed_us,
                      on_restore, runner));
    TRY(check_table_topic(runner, progress));
    flow_writer_set_ends(runner->writer, 0, table_ends(runner->table));
    if (as_stored) {
        return NULL; /* it is emptied first */
    }
    FlowStatesOptions states = flow_states_options(runner, runner->start_arena);
    TRY(flow_states_open(&states, progress, runner->writer, &runner->states));
    FlowOptions flow = {.bound = runner->program->flow,
                        .schema = runner->program->bound->schema,
                        .history = table_history(runner->table),
                        .overlay = table_overlay(runner->table)};
    return flow_open(&flow, &runner->flow);
}

static Error *open_reader(FlowRunner *runner, const Progress *progress, FlowInput *input)
{
    const RunContext *context = runner->context;
    SourceReaderOptions options = {.log = context->log,
                                   .source = input->program->source,
                                   .time_zone = context->program->time_zone,
                                   .queue_bytes_max = context->memory.consumer_queue /
                                                      runner->program->input_count,
                                   .timeout_ms = context->timeout_ms,
                                   .on_loss = on_loss,
                                   .context = runner};
    SourceReader *reader = NULL;
    TRY(source_reader_open(&options, progress, &reader));
    flow_input_set_reader(input, reader);
    return NULL;
}

static Error *open_readers(FlowRunner *runner, const Progress *progress)
{
    for (size_t i = 0; i < flow_inputs_count(runner->inputs); i++) {
        TRY(open_reader(runner, progress, flow_inputs_at(runner->inputs, i)));
    }
    return NULL;
}

/* Right after fencing, before the long work of a restore: who runs the flow now. A process that is
 * fenced finds it here and does not fence back. */
static Error *write_claim(FlowRunner *runner)
{
    char host[256] = "unknown";
    (void)gethostname(host, sizeof host - 1);
    AUTO_BUFFER Buffer time = {0};
    clock_format_utc(clock_now_us(runner->context->clock), &time);
    ProgressClaim claim = {.instance = str_from(runner->context->instance),
                           .host = str_from(host),
                           .pid = getpid(),
                           .time = buffer_str(&time)};
    TRY(flow_writer_begin(runner->writer));
    TRY(flow_writer_write_claim(runner->writer, &claim));
    TRY(flow_writer_commit(runner->writer));
    runner->claimed = true;
    return NULL;
}

/* What a start may have to put down: the definition when it changed, and where partitions start
 * that were never read: `start` is resolved once and kept. */
static Error *write_beginnings(FlowRunner *runner, const char *update_id)
{
    bool changed = false;
    const ProgressDefinition *definition = table_definition(runner->table, &changed);
    bool moved = flow_inputs_moved(runner->inputs);
    if (!changed && !moved && !flow_states_are_new(runner->states)) {
        return NULL;
    }
    TRY(flow_writer_begin(runner->writer));
    if (changed) {
        TRY(flow_writer_write_definition(runner->writer, definition));
    }
    TRY(flow_states_write_definitions(runner->states, runner->writer));
    if (moved) {
        flow_inputs_close_epoch(runner->inputs);
        TRY(flow_write_positions(runner, runner->epoch, str_from(update_id)));
    }
    TRY(flow_writer_commit(runner->writer));
    if (moved) {
        flow_inputs_commit(runner->inputs);
    }
    return NULL;
}

static Error *warn_compacted(FlowRunner *runner, const char *update_id, const ProgramSource *source)
{
    if (source->config->allow_compacted || runner->epoch > 0) {
        return NULL;
    }
    const char *policy = NULL;
    TRY(log_topic_config(runner->context->log, source->topic, "cleanup.policy", runner->batch_arena,
                         &policy));
    if (policy == NULL || strstr(policy, "compact") == NULL) {
        return NULL;
    }
    AUTO_BUFFER Buffer message = {0};
    buffer_printf(&message,
                  "Source `%.*s`: topic `%s` is compacted. Compaction keeps the last record of a "
                  "message key, not the highest sequence: a late record can make the newest "
                  "snapshot vanish before it is read. `allow_compacted: true` on the source "
                  "silences this.",
                  STR_ARG(source->config->name), source->topic);
    event_warning(runner->context->events, update_id, runner->program, "SOURCE_COMPACTED",
                  buffer_str(&message), STR_NULL);
    return NULL;
}

static void warn_unbounded_state(const FlowRunner *runner, const char *update_id,
                                 const StateSpec *state)
{
    AUTO_BUFFER Buffer message = {0};
    AUTO_BUFFER Buffer fields = {0};
    buffer_printf(
        &message,
        "Flow '%.*s': nothing bounds what `%.*s` remembers, so its state grows with every "
        "row it has not seen before. A WATERMARK, %s, lets it forget.",
        STR_ARG(runner->program->flow->name), STR_ARG(state->operator_name),
        str_starts_with(state->operator_name, STR("join"))
            ? "with a time range in the condition of the join"
            : "over one of the columns of the DISTINCT");
    buffer_printf(&fields, "\"operator\":\"%.*s\"", STR_ARG(state->operator_name));
    event_warning(runner->context->events, update_id, runner->program, "UNBOUNDED_STATE",
                  buffer_str(&message), buffer_str(&fields));
}

/* Each operator once, however many states it has. */
static void warn_unbounded(FlowRunner *runner, const char *update_id)
{
    const LogicalPlan *plan = runner->program->plan;
    Str warned = STR_NULL;
    for (size_t i = 0; i < plan->state_count && !runner->warned_unbounded; i++) {
        const StateSpec *state = &plan->states[i];
        if (state->bound == NULL && !str_equal(state->operator_name, warned)) {
            warn_unbounded_state(runner, update_id, state);
            warned = state->operator_name;
        }
    }
    runner->warned_unbounded = true;
}

/* What a flow should be warned of before its first record. */
static Error *warn(FlowRunner *runner, const char *update_id)
{
    warn_unbounded(runner, update_id);
    for (size_t i = 0; i < runner->program->input_count; i++) {
        TRY(warn_compacted(runner, update_id, runner->program->inputs[i].source));
    }
    return NULL;
}

static bool claim_is_ours(const FlowRunner *runner, const Progress *progress)
{
    return str_equal(progress->claim.instance, str_from(runner->context->instance));
}

static Error *must_end(FlowRunner *runner, Error *error)
{
    runner->lost = true;
    error_set_hint(error, "run one process per topology; this one stops");
    return error_set_disposition(error, ERROR_FATAL);
}

/* A new producer fences whoever lives. So before every one but the first the progress topic is
 * asked whether another process has claimed the flow meanwhile, whatever the error was by which we
 * noticed that something is wrong: a woken zombie must not fence its successor. Our own transaction
 * may still be open there, so nothing beyond the last stable offset is waited for. */
static Error *check_owner(FlowRunner *runner)
{
    Str flow = runner->program->flow->name;
    if (runner->claimed) {
        Progress progress = {0};
        TRY(progress_read(runner->context->log, runner->context->progress_topic, READ_COMMITTED,
                          flow, runner->program->bound->name, runner->context->timeout_ms,
                          runner->batch_arena, &progress));
        if (!claim_is_ours(runner, &progress) && progress.claim.offset < runner->claim_offset) {
            return answer_is_outdated(runner->context->progress_topic);
        }
        if (!claim_is_ours(runner, &progress)) {
            return must_end(runner,
                            error_new(ERROR_KAFKA_FENCED,
                                      "Flow `%.*s` was taken over by process %lld on %.*s at %.*s.",
                                      STR_ARG(flow), (long long)progress.claim.pid,
                                      STR_ARG(progress.claim.host), STR_ARG(progress.claim.time)));
        }
    }
    if (runner->fenced > 1) {
        return must_end(runner,
                        error_new(ERROR_KAFKA_FENCED,
                                  "Flow `%.*s`: fenced a second time without a commit in between.",
                                  STR_ARG(flow)));
    }
    return NULL;
}

/* What a start refuses in the statement is shown where the user wrote it. */
static Error *in_users_file(const FlowRunner *runner, Error *error)
{
    if (error != NULL && error_place(error).line > 0 && error_file(error) == NULL) {
        const Topology *topology = runner->context->program->topology;
        topology_place_sql_error(&topology->sql[runner->program->flow->script], error);
    }
    return error;
}

static Error *table_topic_partitions(const FlowRunner *runner, int *ret_partitions)
{
    LogTopicDescription description = {0};
    TRY(log_topic_describe(runner->context->log, runner->program->topic,
                           runner->context->timeout_ms, &description));
    *ret_partitions = description.partition_count;
    return NULL;
}

Error *flow_fence(FlowRunner *runner)
{
    int partitions = 0;
    TRY(table_topic_partitions(runner, &partitions));
    TRY(open_writer(runner, partitions));
    runner->fenced_ahead = true;
    return NULL;
}

/* What a start reads must contain its claim, committed a moment ago. An outdated answer would have
 * positions of before, and records would be applied twice; it is asked for again. The claim of
 * another process stays: check_owner judges it. */
static Error *read_progress(FlowRunner *runner, Progress *ret_progress)
{
    const RunContext *context = runner->context;
    int64_t deadline = clock_monotonic_ms() + OUTDATED_WAIT_MS;
    for (;;) {
        arena_reset(runner->start_arena);
        TRY(progress_read(context->log, context->progress_topic, READ_UNCOMMITTED,
                          runner->program->flow->name, runner->program->bound->name,
                          context->timeout_ms, runner->start_arena, ret_progress));
        if (claim_is_ours(runner, ret_progress)) {
            runner->claim_offset = ret_progress->claim.offset;
            return NULL;
        }
        if (clock_monotonic_ms() >= deadline) {
            return answer_is_outdated(context->progress_topic);
        }
        clock_sleep_ms(OUTDATED_POLL_MS);
    }
}

static Error *start_once(FlowRunner *runner, const char *update_id)
{
    runner->started = false;
    flow_meter_set_state(runner->meter, FLOW_STARTING);
    flow_drop_epoch(runner);
    int partitions = 0;
    TRY(table_topic_partitions(runner, &partitions));
    if (!runner->fenced_ahead || runner->writer == NULL) {
        TRY(check_owner(runner));
        TRY(open_writer(runner, partitions));
    }
    runner->fenced_ahead = false;
    TRY(fault_check("start.after_fencing"));
    TRY(write_claim(runner));
    TRY(settle_table(runner));
    Progress progress = {0};
    TRY(read_progress(runner, &progress));
    TRY(fault_check("start.after_progress_read"));
    flow_settle_unclear(runner, &progress);
    runner->epoch = progress.epoch;
    runner->resetting = progress.resetting;
    TRY(in_users_file(runner, open_table(runner, &progress, partitions)));
    TRY(open_readers(runner, &progress));
    TRY(in_users_file(runner, flow_query_open(runner)));
    TRY(write_beginnings(runner, update_id));
    TRY(warn(runner, update_id));
    runner->started = true;
    runner->warm = false;
    flow_report_positions(runner);
    flow_meter_set_state(runner->meter, FLOW_RUNNING);
    return NULL;
}

Error *flow_start(FlowRunner *runner, const char *update_id)
{
    Error *error = start_once(runner, update_id);
    int attempt = 0;
    return error == NULL ? NULL : flow_recover(runner, update_id, error, &attempt);
}

/* ------------------------------------------------------------------------- after errors ---- */

/* Drops the epoch, ends its transaction and goes back to the last commit. An error: the producer or
 * the reader is of no use any more. */
static Error *undo_epoch(FlowRunner *runner)
{
    flow_drop_epoch(runner);
    if (runner->writer != NULL) {
        TRY(flow_writer_abort(runner->writer));
    }
    return flow_inputs_rewind(runner->inputs);
}

/* Undoes the epoch; after that the runner is as after its last commit, or not started. */
static void step_back(FlowRunner *runner, const Error *error)
{
    Error *undo = undo_epoch(runner);
    bool gone = error_class(error) == ERROR_KAFKA_OFFSET_OUT_OF_RANGE;
    if (undo != NULL || error_disposition(error) == ERROR_FATAL || gone || !runner->started) {
        runner->started = false;
        flow_writer_close(runner->writer);
        runner->writer = NULL;
    }
    error_free(undo);
}

static bool attempts_are_used_up(const FlowRunner *runner, int attempt)
{
    return runner->context->attempts_max >= 0 && attempt > runner->context->attempts_max;
}

static void report_retry(const FlowRunner *runner, const char *update_id, const Error *error,
                         int attempt)
{
    AUTO_BUFFER Buffer message = {0};
    AUTO_BUFFER Buffer fields = {0};
    buffer_printf(&message, "Flow '%.*s' tries again: ", STR_ARG(runner->program->flow->name));
    error_format_line(error, &message);
    buffer_printf(&fields, "\"attempt\":%d", attempt);
    event_warning(runner->context->events, update_id, runner->program, "RETRYING",
                  buffer_str(&message), buffer_str(&fields));
    /* The event is not seen while Kafka is away. */
    const char *hint = error_hint(error);
    log_warn("%s%s%s", buffer_cstr(&message),
             hint == NULL ? "" : " Hint: ", hint == NULL ? "" : hint);
}

/* May the flow go on after this error? Being fenced is judged by the claim (check_owner), not by
 * the number of attempts. */
static bool may_try_again(FlowRunner *runner, const Error *error, int attempt)
{
    if (error_class(error) == ERROR_KAFKA_OFFSET_OUT_OF_RANGE && attempt == 1) {
        return true; /* A start tells what became of the records. */
    }
    if (error_disposition(error) == ERROR_USER || flow_must_stop(runner)) {
        return false;
    }
    if (error_class(error) == ERROR_KAFKA_FENCED) {
        runner->fenced++;
        return true;
    }
    return !attempts_are_used_up(runner, attempt);
}

/* A commit may be under way while something else went wrong. When it fails too its error decides:
 * what it says of the transaction and the producer comes first; the other will come again. */
static Error *settle_commit(FlowRunner *runner, Error *error)
{
    Error *commit = flow_commit_finish(runner);
    if (commit == NULL || error_class(error) == ERROR_SIMULATED_CRASH) {
        error_free(commit);
        return error;
    }
    error_free(error);
    return commit;
}

Error *flow_recover(FlowRunner *runner, const char *update_id, Error *error, int *attempt)
{
    error = settle_commit(runner, error);
    while (error_class(error) != ERROR_SIMULATED_CRASH && !runner->lost) {
        ErrorDisposition disposition = error_disposition(error);
        bool in_hand =
            runner->started && (runner->commit.failed || flow_inputs_moved(runner->inputs));
        runner->unclear = runner->unclear || error_class(error) == ERROR_KAFKA_COMMIT_UNCLEAR;
        flow_meter_add_error(runner->meter, error, in_hand && !runner->unclear);
        step_back(runner, error);
        (*attempt)++;
        if (!may_try_again(runner, error, *attempt)) {
            return error;
        }
        report_retry(runner, update_id, error, *attempt);
        error_free(error);
        if (disposition == ERROR_RETRY || *attempt > 1) {
            flow_wait_ms(runner,
                         retry_backoff_ms(&runner->context->program->topology->retry, *attempt));
        }
        error = runner->started ? NULL : start_once(runner, update_id);
        if (error == NULL) {
            return NULL;
        }
    }
    return error;
}
