/* The setting of a run: topology, topics, sizes, all from the seed. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/simulation/small_table.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world_internal.h"

#include "processor/base/banned.h"

#define PICK(world, ...)                                                                           \
    pick(world, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static int64_t pick(World *world, const int64_t *from, size_t count)
{
    return from[chance_below(&world->chance, (uint32_t)count)];
}

static const char *topology_text(World *world)
{
    bool two = chance_one_in(&world->chance, 3);
    int64_t attempts = PICK(world, 1, 5, 1000, 1000);
    world->flows_give_up = attempts < 1000;
    return arena_printf(
        world->arena,
        "pipeline: p\n"
        "kafka: {bootstrap: model:9092}\n"
        "state: {dir: unused}\n"
        "commit: {interval: %lldms, min_spacing: %lldms, max_rows: %lld}\n"
        "retry: {max_attempts: %lld, backoff: %lldms, backoff_max: %lldms}\n"
        "sources:\n"
        "  src: {columns: \"k STRING, seq BIGINT, v STRING\"}\n"
        "tables:\n"
        "  t: {partitions: %lld}\n"
        "%s"
        "sql: |\n"
        "  CREATE OR REFRESH STREAMING TABLE t\n"
        "  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME SELECT * FROM STREAM(src);\n"
        "%s",
        (long long)PICK(world, 5, 20, 100), (long long)PICK(world, 0, 0, 10),
        (long long)PICK(world, 1, 5, 20, 100000), (long long)attempts,
        (long long)PICK(world, 1, 10), (long long)PICK(world, 20, 500, 5000),
        (long long)PICK(world, 1, 2, 3, 5), two ? "  u: {partitions: 2}\n" : "",
        two ? "  CREATE OR REFRESH STREAMING TABLE u\n"
              "  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME SELECT * FROM STREAM(src);\n"
            : "");
}

static void load_program(World *world)
{
    const char *text = topology_text(world);
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    topology_load_text(str_from(text), "p.yaml", NULL, world->arena, &diagnostics, &topology);
    if (diagnostics.count == 0) {
        topology->state.checkpoint_bytes = PICK(world, 1, 1, 300, 3000, 1 << 20);
        topology->state.checkpoint_interval_ms = PICK(world, 1, 50, 1000, 60000);
        topology->state.memory_bytes = PICK(world, 1 << 20, 256 << 20);
        program_load(topology, world->arena, &diagnostics, &world->program);
        trace_say("checkpoint after %lld bytes or %lld ms",
                  (long long)topology->state.checkpoint_bytes,
                  (long long)topology->state.checkpoint_interval_ms);
    }
    for (size_t i = 0; i < diagnostics.count; i++) {
        AUTO_BUFFER Buffer message = {0};
        error_format(diagnostics.errors[i], &message);
        (void)fprintf(stderr, "%s%s", text, buffer_cstr(&message));
        abort();
    }
    diagnostics_done(&diagnostics);
    trace_say("topology:\n%s", text);
}

void setting_make(World *world)
{
    world->partitions = (int)PICK(world, 1, 2, 3, 4);
    world->keys = (uint32_t)PICK(world, 2, 8, 25);
    world->pace_us = (uint32_t)PICK(world, 2000, 20000, 200000, 2000000);
    world->events = chance_between(&world->chance, 8, 40);
    world->enabled = (uint32_t)chance_next(&world->chance);
    load_program(world);
    world->options = (ProcessOptions){.broker = world->broker,
                                      .program = world->program,
                                      .batch_rows = (size_t)PICK(world, 1, 7, 50, 2048),
                                      .timeout_ms = (int)PICK(world, 200, 2000, 30000),
                                      .inline_work = chance_one_in(&world->chance, 8),
                                      .triggered = chance_one_in(&world->chance, 5),
                                      .records_max = (size_t)PICK(world, 0, 0, 3, 40)};
    if (small_table_is_on()) {
        world->options.batch_rows = small_table_batch_rows();
        world->keys = small_table_keys();
    }
    world->refreshes = world->options.triggered && chance_one_in(&world->chance, 2);
    history_open(world);
    LogTopicSpec spec = {.name = "src", .partitions = world->partitions, .replication_factor = -1};
    world_call(world, log_topic_create(world->log, &spec, WORLD_TIMEOUT_MS));
    trace_say("%d partitions, %u keys, batches of %zu, time-out %d ms%s%s", world->partitions,
              world->keys, world->options.batch_rows, world->options.timeout_ms,
              world->options.triggered ? ", triggered updates" : "",
              world->options.inline_work ? ", checkpoints inline" : "");
}
