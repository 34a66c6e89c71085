/* tidemark run T.yaml [--once]: the service with its API, or one triggered update of everything. */
#include <unistd.h>

#include "config/listen_address.h"
#include "processor/base/clock.h"
#include "processor/base/logger.h"
#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/cli/service_notify.h"
#include "processor/run/api.h"
#include "processor/run/metrics_lag.h"
#include "processor/run/pipeline.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark run T.yaml [--once]";

static void print_restore(void *context, const RestoreProgress *progress)
{
    (void)context;
    if (progress->finished && progress->rows == 0) {
        return;
    }
    double seconds = (double)progress->elapsed_ms / 1000;
    double rate = progress->elapsed_ms > 0 ? (double)progress->rows / seconds : 0;
    if (progress->finished) {
        log_info("table %.*s: %s from its topic: %llu records in %.1f s (%.0f records/s)",
                 STR_ARG(progress->table), progress->whole ? "restored" : "state caught up",
                 (unsigned long long)progress->rows, seconds, rate);
    } else {
        log_info("table %.*s: restoring: %llu records, %.0f records/s, about %.0f s left",
                 STR_ARG(progress->table), (unsigned long long)progress->rows, rate,
                 progress->left_ms < 0 ? 0 : (double)progress->left_ms / 1000);
    }
}

static void print_summary(Pipeline *pipeline, int64_t elapsed_ms)
{
    for (size_t i = 0; i < pipeline_flow_count(pipeline); i++) {
        FlowRunner *flow = pipeline_flow(pipeline, i);
        const FlowMetrics *metrics = flow_runner_metrics(flow);
        log_info(
            "flow %.*s: %llu records read, %llu rows applied, %llu late, %llu dropped, "
            "%llu to quarantine; topic %s got %llu rows and %llu tombstones in %llu commits",
            STR_ARG(flow_runner_table(flow)->flow->name), (unsigned long long)metrics->source_rows,
            (unsigned long long)metrics->output_rows, (unsigned long long)metrics->late_rows,
            (unsigned long long)metrics->dropped_records, (unsigned long long)metrics->bad_records,
            flow_runner_table(flow)->topic, (unsigned long long)metrics->upserted_rows,
            (unsigned long long)metrics->deleted_rows, (unsigned long long)metrics->epochs);
    }
    log_info("update completed in %.1f s", (double)elapsed_ms / 1000);
}

static Error *run_once(Pipeline *pipeline)
{
    int64_t started_ms = clock_monotonic_ms();
    UpdateRequest request = {.cause = "USER_ACTION"};
    UpdateResult result;
    TRY(pipeline_update(pipeline, &request, &result));
    print_summary(pipeline, clock_monotonic_ms() - started_ms);
    return NULL;
}

static void announce(Pipeline *pipeline, const Program *program, const Log *log)
{
    log_info("pipeline %.*s: %zu flow%s on Kafka at %s", STR_ARG(program->topology->pipeline),
             pipeline_flow_count(pipeline), pipeline_flow_count(pipeline) == 1 ? "" : "s",
             log_name(log));
}

static Error *run_update(const Program *program, Log *log, const atomic_bool *stop)
{
    PipelineOptions options = {.program = program,
                               .log = log,
                               .stop = stop,
                               .attempts_max = (int)program->topology->retry.max_attempts,
                               .on_restore = print_restore};
    AUTO(pipeline) Pipeline *pipeline = NULL;
    TRY(pipeline_open(&options, &pipeline));
    announce(pipeline, program, log);
    return run_once(pipeline);
}

/* Where the user asked for an address, being unable to listen there is an error. The default one
 * nobody asked for: a second pipeline on the machine must not fail for it. */
static Error *open_api(const Topology *topology, Metrics *metrics, Api **ret_api)
{
    const TopologyApi *config = &topology->api;
    if (listen_address_is_none(config->listen)) {
        return NULL;
    }
    Error *error = api_open(config->listen, metrics, ret_api);
    if (error == NULL) {
        log_info("API at http://%s: /metrics, /healthz, /readyz, /log/level",
                 api_address(*ret_api));
        return NULL;
    }
    if (config->listen_place.line > 0) {
        topology_place_error(topology, error_set_place(error, config->listen_place));
        return error;
    }
    log_warn("%s It goes on without /metrics; `api: {listen: HOST:PORT}` gives it an address of "
             "its own.",
             error_message(error));
    error_free(error);
    return NULL;
}

/* The API answers from the first moment: a restore may take minutes, and Kafka may be away. What is
 * opened last is closed first. */
static Error *run_service(const Program *program, Log *log, const atomic_bool *stop)
{
    AUTO(metrics) Metrics *metrics = metrics_new(program);
    AUTO(api) Api *api = NULL;
    TRY(open_api(program->topology, metrics, &api));
    AUTO(service_notify) UNUSED ServiceNotify *notify = service_notify_open(metrics, stop);
    LagWatchOptions watch_options = {
        .program = program, .log = log, .metrics = metrics, .stop = stop};
    AUTO(lag_watch) LagWatch *watch = NULL;
    PipelineOptions options = {.program = program,
                               .log = log,
                               .stop = stop,
                               .attempts_max = -1,
                               .on_restore = print_restore,
                               .metrics = metrics};
    AUTO(pipeline) Pipeline *pipeline = NULL;
    TRY(pipeline_open(&options, &pipeline));
    TRY(lag_watch_open(&watch_options, &watch));
    announce(pipeline, program, log);
    return pipeline_serve(pipeline);
}

int cmd_run(int argc, char **argv)
{
    const char *path = NULL;
    bool once = false;
    for (int i = 1; i < argc; i++) {
        if (str_equal(str_from(argv[i]), STR("--once"))) {
            once = true;
        } else if (argv[i][0] != '-' && path == NULL) {
            path = argv[i];
        } else {
            return cli_usage(usage);
        }
    }
    if (path == NULL) {
        return cli_usage(usage);
    }
    AUTO(arena) Arena *arena = arena_new("topology");
    Program *program = NULL;
    if (!cli_load_program(path, arena, &program)) {
        return EXIT_USAGE;
    }
    const Topology *topology = program->topology;
    logger_configure(topology->log.level, topology->log.format == TOPOLOGY_LOG_JSON);
    const atomic_bool *stop = cli_catch_signals();
    Log *log = NULL;
    Error *error = cli_connect(topology, NULL, &log);
    if (error == NULL) {
        bool update = once || topology->mode == TOPOLOGY_TRIGGERED;
        error = update ? run_update(program, log, stop) : run_service(program, log, stop);
    }
    int code = EXIT_DONE;
    if (error != NULL && !atomic_load(stop)) {
        cli_print_error(error);
        code = EXIT_FAILED;
    } else {
        error_free(error);
    }
    if (atomic_load(stop)) {
        /* The client library takes up to a second to wind its broker threads up; nothing is left to
         * be written, so a stop does not wait for it. */
        _exit(code);
    }
    log_close(log);
    return code;
}
