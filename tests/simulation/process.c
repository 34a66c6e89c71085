/* A life of the product. */
#include "tests/simulation/process.h"

#include "processor/base/memory.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/trace.h"

#include "processor/base/banned.h"

enum { IDLE_US = 50000 };

static Error *update_again_and_again(Process *process)
{
    while (!atomic_load(&process->stop)) {
        UpdateRequest request = {.cause = "USER_ACTION",
                                 .records_max = process->options->records_max,
                                 .full_refresh = process->full_refresh};
        UpdateResult result = {0};
        process->full_refresh = false;
        Error *error = pipeline_update(process->pipeline, &request, &result);
        if (error != NULL && error_class(error) == ERROR_INTERRUPTED) {
            error_free(error); /* as told */
            return NULL;
        }
        TRY(error);
        if (result.drained) {
            scheduler_sleep_us(IDLE_US);
        }
    }
    return NULL;
}

static Error *run(Process *process, Log *log)
{
    const ProcessOptions *given = process->options;
    PipelineOptions options = {.program = given->program,
                               .log = log,
                               .state_dir = disk_dir(process->host),
                               .batch_rows = given->batch_rows,
                               .inline_work = given->inline_work,
                               .timeout_ms = given->timeout_ms,
                               .attempts_max = given->triggered ? 5 : -1,
                               .stop = &process->stop};
    TRY(pipeline_open(&options, &process->pipeline));
    process->opened = true;
    trace_say("process %d has started", process->group);
    Error *error =
        given->triggered ? update_again_and_again(process) : pipeline_serve(process->pipeline);
    pipeline_close(process->pipeline);
    process->pipeline = NULL;
    return error;
}

static void *process_main(void *argument)
{
    Process *process = argument;
    Log *log = sim_broker_connect(process->options->broker);
    process->error = run(process, log);
    log_close(log);
    AUTO_BUFFER Buffer text = {0};
    if (process->error != NULL) {
        error_format_line(process->error, &text);
    }
    trace_say("process %d ends: %s", process->group,
              process->error == NULL ? "as told" : buffer_cstr(&text));
    process->ended = true;
    return NULL;
}

Process *process_start(const ProcessOptions *options, int group, int host)
{
    Process *process = mem_new(Process);
    process->options = options;
    process->group = group;
    process->host = host;
    disk_attach(host, group);
    (void)scheduler_spawn(group, "main", process_main, process);
    return process;
}
