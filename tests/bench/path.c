/* The path of a row without a broker: W1 or W2 rows (as in common/rows.h) on the Kafka model,
 * through the whole pipeline into the table's topic. Prints rows/s and CPU seconds per million of
 * the update alone; run it under perf or callgrind to see where the time goes.
 *
 *     build/release/bench_path [w1|w2] [ROWS] [KEYS] [restart] [restore] [no-checkpoints] [feed]
 * [memory=MIB]
 *
 * restart: as many rows are taken first, checkpointed, and the pipeline is opened anew; what is
 * measured then finds its keys in RocksDB and none in memory. restore: the rows are taken, the
 * state is deleted, and the next start is measured, by records of the table's topic.
 * memory: state.memory, 256 MiB when it is not said; more keys than fit are looked up in RocksDB.
 * no-checkpoints: nothing is written to RocksDB while it is measured; the difference to a run with
 * checkpoints is their share. feed: only makes the rows, to be subtracted where a whole process is
 * counted (perf stat). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "connectors/sim/sim.h"
#include "processor/run/pipeline.h"

#include "processor/base/banned.h"

enum { PARTITIONS = 4, CHUNK = 1000, TIMEOUT_MS = 60000 };

static const char topology_text[] =
    "pipeline: bench\n"
    "kafka: {bootstrap: localhost:9092}\n"
    "state: {memory: 256MiB}\n"
    "sources:\n"
    "  w:\n"
    "    columns: region STRING, customer_id BIGINT, seq BIGINT, amount DECIMAL(12,2),\n"
    "      qty INT, status STRING, updated_at TIMESTAMP, note STRING\n"
    "sql: |\n"
    "  CREATE OR REFRESH STREAMING TABLE t\n"
    "  FLOW REPLACE USING (region, customer_id) SEQUENCE BY seq BY NAME\n"
    "  SELECT * FROM STREAM(w);\n";

static const char *const statuses[] = {"open", "paid", "shipped", "closed"};

typedef struct Rows {
    uint64_t random;
    bool groups; /* W2: five rows a sequence */
    long keys;
    int *current;
    unsigned char *left;
} Rows;

static uint64_t next_random(Rows *rows, uint64_t bound)
{
    rows->random ^= rows->random << 13;
    rows->random ^= rows->random >> 7;
    rows->random ^= rows->random << 17;
    return rows->random % bound;
}

static int next_sequence(Rows *rows, long key)
{
    int *current = &rows->current[key];
    if (rows->groups) {
        if (rows->left[key] == 0) {
            ++*current;
            rows->left[key] = 5;
        }
        rows->left[key]--;
        return *current;
    }
    if (*current > 0 && next_random(rows, 5) == 0) {
        int late = *current - 1 - (int)next_random(rows, 3);
        return late < 0 ? 0 : late;
    }
    return ++*current;
}

static void format_row(Rows *rows, Buffer *out, long *ret_key)
{
    long key = (long)next_random(rows, (uint64_t)rows->keys);
    int sequence = next_sequence(rows, key);
    unsigned amount = (unsigned)next_random(rows, 100000);
    buffer_printf(out,
                  "{\"region\":\"r%ld\",\"customer_id\":%ld,\"seq\":%d,\"amount\":%u.%02u,"
                  "\"qty\":%u,\"status\":\"%s\",\"updated_at\":\"2026-08-31T%02u:%02u:%02uZ\","
                  "\"note\":\"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz abcdefgh\"}",
                  key % 1000, key, sequence, amount / 100, amount % 100, amount % 9,
                  statuses[amount & 3], amount % 24, amount % 60, amount % 59);
    *ret_key = key;
}

static void check(Error *error)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        (void)fputs(buffer_cstr(&text), stderr);
        exit(1);
    }
}

static void make_topic(Log *log)
{
    LogTopicSpec spec = {.name = "w", .partitions = PARTITIONS, .replication_factor = -1};
    check(log_topic_create(log, &spec, TIMEOUT_MS));
}

static void feed(Log *log, Rows *rows, long count)
{
    LogProducer *producer = NULL;
    check(log_producer_open(log, &(LogProducerOptions){0}, &producer));
    AUTO_BUFFER Buffer text = {0};
    for (long i = 0; i < count; i++) {
        long key = 0;
        buffer_clear(&text);
        format_row(rows, &text, &key);
        LogOutput output = {
            .topic = "w", .partition = (int32_t)(key % PARTITIONS), .value = buffer_str(&text)};
        check(log_producer_produce(producer, &output, 1, NULL));
        if (i % CHUNK == 0) {
            check(log_producer_flush(producer, TIMEOUT_MS));
        }
    }
    check(log_producer_flush(producer, TIMEOUT_MS));
    log_producer_close(producer);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
           (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static Program *load(Arena *arena, bool checkpoints, long memory_mib)
{
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    Program *program = NULL;
    topology_load_text(STR(topology_text), "bench.yaml", NULL, arena, &diagnostics, &topology);
    if (diagnostics.count == 0 && memory_mib > 0) {
        topology->state.memory_bytes = (int64_t)memory_mib << 20;
    }
    if (diagnostics.count == 0) {
        program_load(topology, arena, &diagnostics, &program);
    }
    if (diagnostics.count > 0) {
        check(diagnostics.errors[0]);
    }
    if (!checkpoints) {
        topology->state.checkpoint_interval_ms = INT32_MAX;
        topology->state.checkpoint_bytes = INT64_MAX;
    }
    return program;
}

static void update(Pipeline *pipeline)
{
    UpdateRequest request = {.cause = "USER_ACTION"};
    UpdateResult result;
    check(pipeline_update(pipeline, &request, &result));
}

/* An update, with the start when the pipeline is not open yet. */
static void measure(const PipelineOptions *options, Pipeline **pipeline, const char *work,
                    long count)
{
    double cpu = cpu_seconds();
    int64_t started_us = clock_monotonic_us();
    if (*pipeline == NULL) {
        check(pipeline_open(options, pipeline));
    }
    update(*pipeline);
    double seconds = (double)(clock_monotonic_us() - started_us) / 1e6;
    const FlowMetrics *metrics = flow_runner_metrics(pipeline_flow(*pipeline, 0));
    (void)printf("%s rows=%ld applied=%llu upserts=%llu epochs=%llu seconds=%.2f rows_per_s=%.0f "
                 "cpu_s_per_million=%.2f\n",
                 work, count, (unsigned long long)metrics->output_rows,
                 (unsigned long long)metrics->upserted_rows, (unsigned long long)metrics->epochs,
                 seconds, (double)count / seconds, (cpu_seconds() - cpu) / (double)count * 1e6);
}

/* With the markers of transactions, which are few. */
static long records_of_table(Log *log)
{
    long records = 0;
    for (int p = 0; p < PARTITIONS; p++) {
        int64_t start = 0;
        int64_t end = 0;
        check(log_watermarks(log, "t", p, READ_COMMITTED, TIMEOUT_MS, &start, &end));
        records += (long)(end - start);
    }
    return records;
}

typedef struct Way {
    bool restart;
    bool restore;
    bool no_checkpoints;
    bool feed;
    long memory_mib;
} Way;

static void run(Log *log, const char *work, Rows *rows, long count, Way way)
{
    Arena *arena = arena_new("bench");
    char dir[] = "/tmp/tidemark-bench-XXXXXX";
    if (mkdtemp(dir) == NULL) {
        exit(1);
    }
    PipelineOptions options = {
        .program = load(arena, !way.no_checkpoints, way.memory_mib), .log = log, .state_dir = dir};
    Pipeline *pipeline = NULL;
    make_topic(log);
    feed(log, rows, count);
    if (way.feed) {
        state_remove(dir);
        arena_free(arena);
        return;
    }
    check(pipeline_open(&options, &pipeline));
    if (way.restart) {
        update(pipeline);
        check(flow_runner_checkpoint(pipeline_flow(pipeline, 0)));
        pipeline_close(pipeline);
        feed(log, rows, count);
        check(pipeline_open(&options, &pipeline));
    }
    if (way.restore) {
        update(pipeline);
        pipeline_close(pipeline);
        state_remove(dir);
        pipeline = NULL;
        count = records_of_table(log);
    }
    measure(&options, &pipeline, work, count);
    pipeline_close(pipeline);
    state_remove(dir);
    arena_free(arena);
}

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* memory=64: state.memory in MiB; 0 when it is not said. */
static long memory_word(int argc, char **argv)
{
    for (int i = 4; i < argc; i++) {
        if (strncmp(argv[i], "memory=", 7) == 0) {
            return strtol(argv[i] + 7, NULL, 10);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *work = argc > 1 ? argv[1] : "w1";
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 500000;
    bool groups = strcmp(work, "w2") == 0;
    long keys = argc > 3 ? strtol(argv[3], NULL, 10) : groups ? 10000 : 1000000;
    Way way = {.restart = has_word(argc, argv, "restart"),
               .restore = has_word(argc, argv, "restore"),
               .no_checkpoints = has_word(argc, argv, "no-checkpoints"),
               .feed = has_word(argc, argv, "feed"),
               .memory_mib = memory_word(argc, argv)};
    Rows rows = {.random = 88172645463325252u, .groups = groups, .keys = keys};
    rows.current = calloc((size_t)keys, sizeof *rows.current);
    rows.left = calloc((size_t)keys, 1);
    if (rows.current == NULL || rows.left == NULL) {
        return 1;
    }
    SimBroker *broker = sim_broker_new();
    Log *log = sim_broker_connect(broker);
    run(log, work, &rows, count, way);
    log_close(log);
    sim_broker_free(broker);
    free(rows.current);
    free(rows.left);
    return 0;
}
