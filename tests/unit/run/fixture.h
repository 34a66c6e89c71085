/* A pipeline on the Kafka model, its input, and what must hold afterwards. */
#ifndef TESTS_RUN_FIXTURE_H
#define TESTS_RUN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "connectors/format/format.h"
#include "connectors/format/json_tree.h"
#include "connectors/sim/sim.h"
#include "processor/base/fault.h"
#include "processor/base/map.h"
#include "processor/base/memory.h"
#include "processor/run/pipeline.h"
#include "processor/run/table_fold.h"
#include "tests/support/audit.h"

enum { TIMEOUT_MS = 2000, KEYS = 23 };

typedef struct Rig {
    SimBroker *broker;
    Log *log; /* of the test */
    Log *pipeline_log;
    Arena *arena;
    Program *program;
    Pipeline *pipeline;
    char dir[64];
    uint64_t random; /* state of the generator */
    int64_t fed;
    int partitions; /* of the source */
    int attempts_max;
    size_t batch_rows;
    const atomic_bool *stop;
    Metrics *metrics;
    const UpdateRequest *full_refresh; /* comes first after the opening */
    bool went_back;                    /* a full refresh happened */
    bool one_epoch;
    bool threaded; /* commits and checkpoints on threads of their own */
} Rig;

UNUSED static void ok_at(Error *error, const char *call, const char *file, int line)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        print_error("%s: %s", call, buffer_cstr(&text));
        error_free(error);
        _fail(file, line);
    }
}
#define ok(call) ok_at((call), #call, __FILE__, __LINE__)

UNUSED static void fails_at(Error *error, ErrorClass class, const char *part, const char *file,
                            int line)
{
    if (error == NULL) {
        print_error("no error instead of %s\n", error_class_name(class));
        _fail(file, line);
    }
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    bool good = error_class(error) == class && strstr(buffer_cstr(&text), part) != NULL;
    error_free(error);
    if (!good) {
        print_error("expected %s with '%s', got %s", error_class_name(class), part,
                    buffer_cstr(&text));
        _fail(file, line);
    }
}
#define fails(call, class, part) fails_at((call), (class), (part), __FILE__, __LINE__)

/* xorshift64* */
UNUSED static uint32_t draw(Rig *rig, uint32_t below)
{
    rig->random ^= rig->random >> 12;
    rig->random ^= rig->random << 25;
    rig->random ^= rig->random >> 27;
    return (uint32_t)((rig->random * UINT64_C(2685821657736338717)) >> 33) % below;
}

#define RIG_COLUMNS "k STRING, seq BIGINT, v STRING"
#define RIG_SQL                                                                                    \
    "  CREATE OR REFRESH STREAMING TABLE t\n"                                                      \
    "  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME\n"                                           \
    "  SELECT * FROM STREAM(src);\n"

/* Loads a topology: `source` are more keys of the source ("on_error: fail, "), NULL: none. */
UNUSED static void rig_load(Rig *rig, const char *source, const char *columns, const char *sql)
{
    const char *text =
        arena_printf(rig->arena,
                     "pipeline: p\n"
                     "kafka: {bootstrap: model:9092}\n"
                     "state: {dir: %s}\n"
                     "commit: {interval: 5ms, min_spacing: 0ms, max_rows: 20}\n"
                     "retry: {max_attempts: 5, backoff: 1ms, backoff_max: 2ms}\n"
                     "sources:\n"
                     "  src: {%scolumns: \"%s\"}\n"
                     "tables:\n"
                     "  t: {partitions: 3}\n"
                     "sql: |\n%s",
                     rig->dir, source == NULL ? "" : source,
                     columns == NULL ? RIG_COLUMNS : columns, sql == NULL ? RIG_SQL : sql);
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    topology_load_text(str_from(text), "p.yaml", NULL, rig->arena, &diagnostics, &topology);
    if (diagnostics.count == 0) {
        topology->state.checkpoint_bytes = 1; /* after every epoch */
        program_load(topology, rig->arena, &diagnostics, &rig->program);
    }
    for (size_t i = 0; i < diagnostics.count; i++) {
        AUTO_BUFFER Buffer message = {0};
        error_format(diagnostics.errors[i], &message);
        print_error("%s", buffer_cstr(&message));
    }
    assert_int_equal(diagnostics.count, 0);
    diagnostics_done(&diagnostics);
}

UNUSED static void rig_init(Rig *rig, uint64_t seed)
{
    *rig = (Rig){.arena = arena_new("rig"),
                 .broker = sim_broker_new(),
                 .random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1,
                 .partitions = 4,
                 .attempts_max = 5,
                 .batch_rows = 7};
    rig->log = sim_broker_connect(rig->broker);
    rig->pipeline_log = sim_broker_connect(rig->broker);
    /* In memory where there is such a place: hundreds of states are opened and flushed. */
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir;
    (void)snprintf(rig->dir, sizeof rig->dir, "%s/tidemark-run-XXXXXX", base);
    assert_non_null(mkdtemp(rig->dir));
    LogTopicSpec spec = {.name = "src", .partitions = rig->partitions, .replication_factor = -1};
    ok(log_topic_create(rig->log, &spec, TIMEOUT_MS));
    rig_load(rig, NULL, NULL, NULL);
}

UNUSED static void rig_done(Rig *rig)
{
    fault_disarm();
    pipeline_close(rig->pipeline);
    state_remove(rig->dir);
    (void)remove(rig->dir);
    log_close(rig->pipeline_log);
    log_close(rig->log);
    sim_broker_free(rig->broker);
    arena_free(rig->arena);
}

/* ---------------------------------------------------------------------------- the input ---- */

/* Records with ties, late rows and NULL sequences, now and then a broken one. */
static const char *next_record(Rig *rig)
{
    int64_t i = rig->fed++;
    if (draw(rig, 40) == 0) {
        return "{\"k\":\"k1\",\"seq\":9999999,";
    }
    uint32_t key = draw(rig, KEYS);
    int64_t sequence = i / 6 - (draw(rig, 4) == 0 ? (int64_t)draw(rig, 30) : 0);
    if (draw(rig, 30) == 0) {
        return arena_printf(rig->arena, "{\"k\":\"k%u\",\"seq\":null,\"v\":\"r%lld\"}", key,
                            (long long)i);
    }
    /* A few rows of a key are the same to the last byte: both count. */
    int64_t value = draw(rig, 8) == 0 ? 0 : i;
    return arena_printf(rig->arena, "{\"k\":\"k%u\",\"seq\":%lld,\"v\":\"r%lld\"}", key,
                        (long long)sequence, (long long)value);
}

UNUSED static void put(Rig *rig, LogProducer *producer, int32_t partition, const char *value)
{
    (void)rig;
    LogOutput output = {.topic = "src", .partition = partition, .value = str_from(value)};
    ok(log_producer_produce(producer, &output, 1, NULL));
}

/* One record of the caller's. */
UNUSED static void feed_one(Rig *rig, int32_t partition, const char *value)
{
    AUTO(log_producer) LogProducer *producer = NULL;
    ok(log_producer_open(rig->log, &(LogProducerOptions){0}, &producer));
    put(rig, producer, partition, value);
    ok(log_producer_flush(producer, TIMEOUT_MS));
}

/* Half of the records come alone, the others in transactions, of which some are aborted. */
UNUSED static void feed(Rig *rig, int count)
{
    AUTO(log_producer) LogProducer *alone = NULL;
    ok(log_producer_open(rig->log, &(LogProducerOptions){0}, &alone));
    AUTO(log_producer) LogProducer *together = NULL;
    LogProducerOptions options = {.transactional_id = "feeder"};
    ok(log_producer_open(rig->log, &options, &together));
    ok(log_producer_init_transactions(together, TIMEOUT_MS));
    while (count > 0) {
        if (draw(rig, 5) > 0) {
            put(rig, alone, (int32_t)draw(rig, (uint32_t)rig->partitions), next_record(rig));
            count--;
            continue;
        }
        ok(log_producer_begin(together));
        for (uint32_t n = 1 + draw(rig, 6); n > 0; n--, count--) {
            put(rig, together, (int32_t)draw(rig, (uint32_t)rig->partitions), next_record(rig));
        }
        bool give_up = draw(rig, 4) == 0;
        ok(give_up ? log_producer_abort(together, TIMEOUT_MS)
                   : log_producer_commit(together, TIMEOUT_MS));
    }
    ok(log_producer_flush(alone, TIMEOUT_MS));
}

/* -------------------------------------------------------------------------- the pipeline ---- */

UNUSED static Error *rig_try_open(Rig *rig)
{
    PipelineOptions options = {.program = rig->program,
                               .log = rig->pipeline_log,
                               .state_dir = rig->dir,
                               .batch_rows = rig->batch_rows,
                               .one_epoch = rig->one_epoch,
                               .inline_work = !rig->threaded,
                               .timeout_ms = TIMEOUT_MS,
                               .attempts_max = rig->attempts_max,
                               .stop = rig->stop,
                               .full_refresh = rig->full_refresh,
                               .metrics = rig->metrics};
    return pipeline_open(&options, &rig->pipeline);
}

UNUSED static Error *rig_try_update(Rig *rig, bool full_refresh)
{
    UpdateRequest request = {.cause = "USER_ACTION", .full_refresh = full_refresh};
    UpdateResult result = {0};
    return pipeline_update(rig->pipeline, &request, &result);
}

UNUSED static void rig_close(Rig *rig, bool wipe)
{
    pipeline_close(rig->pipeline);
    rig->pipeline = NULL;
    if (wipe) {
        state_remove(rig->dir);
    }
}

UNUSED static bool crashed(const Error *error)
{
    return error != NULL && error_class(error) == ERROR_SIMULATED_CRASH;
}

/* Opens and updates, and does so again after each simulated crash. Gives the number of crashes.
 * A full refresh is asked for once. */
UNUSED static int rig_run_through(Rig *rig, bool wipe, bool full_refresh)
{
    for (int crashes = 0;;) {
        Error *error = rig->pipeline == NULL ? rig_try_open(rig) : NULL;
        if (error == NULL) {
            rig->went_back = rig->went_back || full_refresh;
            error = rig_try_update(rig, full_refresh);
            full_refresh = false;
        }
        if (!crashed(error)) {
            ok(error);
            return crashes;
        }
        error_free(error);
        rig_close(rig, wipe);
        crashes++;
        assert_true(crashes < 1000);
    }
}

/* ---------------------------------------------------------------------------- what holds ---- */

static void encode_stored_row(Table *table, const StoredRow *row, Arena *arena, Buffer *out)
{
    Batch *batch = NULL;
    ok(table_decode_rows(table, &row->row, 1, arena, &batch));
    json_encode_row(batch, 0, out);
}

/* What the state holds is what the topic tells. */
UNUSED static void state_equals_topic(Rig *rig)
{
    AUTO(arena) Arena *arena = arena_new("check");
    FlowRunner *runner = pipeline_flow(rig->pipeline, 0);
    ok(flow_runner_checkpoint(runner));
    Table *table = flow_runner_table_state(runner);
    FoldedTable folded = {0};
    ok(table_fold(rig->log, "t", pipeline_program(rig->pipeline)->tables[0].bound->schema, NULL,
                  TIMEOUT_MS, arena, &folded));
    Map rows = {0};
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < folded.count; i++) {
        buffer_clear(&text);
        json_encode_row(folded.rows, (uint32_t)i, &text);
        Str *value = arena_new_object(arena, Str);
        *value = arena_copy_str(arena, buffer_str(&text));
        map_put(&rows, folded.keys[i], value);
    }
    AUTO(store_scan) StoreScan *scan = table_store_scan(table_store(table), -1);
    size_t count = 0;
    for (bool found = true;; count++) {
        StoredRow row = {0};
        ok(store_scan_next(scan, &row, &found));
        if (!found) {
            break;
        }
        buffer_clear(&text);
        ok(table_format_key(table, row.key, row.ordinal, &text));
        const Str *value = map_get(&rows, buffer_str(&text));
        if (value == NULL) {
            print_error("the state has %s, the topic has not\n", buffer_cstr(&text));
        }
        assert_non_null(value);
        buffer_clear(&text);
        encode_stored_row(table, &row, arena, &text);
        assert_true(str_equal(buffer_str(&text), *value));
    }
    assert_int_equal(count, folded.count);
    map_done(&rows);
}

UNUSED static AuditResult rig_audit(Rig *rig, bool complete)
{
    AuditResult result = {0};
    AuditOptions options = {.log = rig->log,
                            .source_topic = "src",
                            .table_topic = "t",
                            .progress_topic = "p.progress",
                            .flow = "t",
                            .group = "p.t",
                            .complete = complete,
                            .may_go_back = rig->went_back,
                            .timeout_ms = TIMEOUT_MS};
    ok(audit_run(&options, &result));
    return result;
}

/* Everything of the source is in the table, once. */
UNUSED static AuditResult all_is_well(Rig *rig)
{
    AuditResult result = rig_audit(rig, true);
    if (rig->pipeline != NULL) {
        state_equals_topic(rig);
    }
    return result;
}

/* Records of a topic that a read_committed reader sees and whose text (value, or header names and
 * values) has `part`; -1 never. */
UNUSED static size_t count_in_topic(Rig *rig, const char *topic, const char *part)
{
    AUTO(arena) Arena *arena = arena_new("count");
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    int64_t start = 0;
    int64_t end = 0;
    ok(log_watermarks(rig->log, topic, 0, READ_COMMITTED, TIMEOUT_MS, &start, &end));
    ok(log_consumer_open(rig->log, &options, &consumer));
    ok(log_consumer_assign(consumer, &(LogPosition){topic, 0, start}, 1));
    size_t count = 0;
    while (start < end) {
        LogPoll poll = {0};
        ok(log_consumer_poll(consumer, TIMEOUT_MS, 1000, arena, &poll));
        for (size_t i = 0; i < poll.record_count; i++) {
            Str value = poll.records[i].value;
            start = poll.records[i].offset + 1;
            count +=
                value.data != NULL && memmem(value.data, value.size, part, strlen(part)) != NULL;
        }
        if (poll.end_count > 0) {
            start = poll.ends[0].offset > start ? poll.ends[0].offset : start;
        }
    }
    return count;
}

#endif
