/* Loads a topology, opens its pipeline and runs one update. */
#include "tests/bench/common/update.h"

#include "processor/base/logger.h"
#include "processor/run/pipeline.h"
#include "tests/bench/common/bench.h"

#include "processor/base/banned.h"

static Program *load(const char *path, Arena *arena)
{
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    Program *program = NULL;
    topology_load_file(path, arena, &diagnostics, &topology);
    if (diagnostics.count == 0) {
        program_load(topology, arena, &diagnostics, &program);
    }
    if (diagnostics.count > 0) {
        bench_check(diagnostics.errors[0]);
    }
    logger_configure(topology->log.level, topology->log.format == TOPOLOGY_LOG_JSON);
    return program;
}

BenchUpdate bench_update(const char *topology_path, void (*prepare)(Log *log))
{
    Arena *arena = arena_new("bench");
    Program *program = load(topology_path, arena);
    Log *log = bench_connect(arena_copy_cstr(arena, program->topology->kafka.bootstrap));
    if (prepare != NULL) {
        prepare(log);
    }
    PipelineOptions options = {.program = program, .log = log};
    Pipeline *pipeline = NULL;
    bench_check(pipeline_open(&options, &pipeline));
    BenchUpdate update = {0};
    UpdateRequest request = {.cause = "USER_ACTION"};
    UpdateResult result;
    double cpu = bench_cpu_seconds();
    double started = bench_seconds();
    bench_check(pipeline_update(pipeline, &request, &result));
    update.seconds = bench_seconds() - started;
    update.cpu = bench_cpu_seconds() - cpu;
    update.rows = flow_runner_metrics(pipeline_flow(pipeline, 0))->source_rows;
    pipeline_close(pipeline);
    log_close(log);
    arena_free(arena);
    return update;
}
