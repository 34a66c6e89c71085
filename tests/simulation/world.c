/* The run. */
#include "tests/simulation/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/logger.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/eviction.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/interpose.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/small_table.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world_internal.h"

#include "processor/base/banned.h"

/* How long everything fed may take to arrive when nothing goes wrong any more. */
static const int64_t SETTLE_US = INT64_C(600) * 1000000;

enum { SETTLE_STEPS = 300000 };

void world_fail(World *world, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trace_say("WRONG: %s", text);
    world->failed = true;
}

void world_wait_out(World *world, Error *error, const char *call)
{
    world->waits++;
    /* A corrupt batch is mended before long. */
    if (error_disposition(error) != ERROR_RETRY &&
        error_class(error) != ERROR_KAFKA_CORRUPT_BATCH) {
        AUTO_BUFFER Buffer text = {0};
        error_format_line(error, &text);
        (void)fprintf(stderr, "simulation: %s: %s\n", call, buffer_cstr(&text));
        abort();
    }
    error_free(error);
    scheduler_sleep_us(10000);
}

/* What the product would print. */
void __wrap_logger_write(LogLevel level, const char *format, ...) PRINTF_LIKE(2, 3);
void __wrap_logger_write(LogLevel level, const char *format, ...)
{
    (void)level;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trace_say("log: %s", text);
}

static void live(World *world)
{
    happening_start_process(world, 0);
    for (uint32_t i = 0; i < world->events && !world->failed; i++) {
        if (chance_one_in(&world->chance, 2)) {
            input_feed(world, chance_between(&world->chance, 1, 30));
        }
        happening_draw(world);
        scheduler_sleep_us(chance_below(&world->chance, world->pace_us));
        happening_tend(world);
    }
}

static Process *only_process(World *world)
{
    Process *only = NULL;
    int count = 0;
    for (int i = 0; i < world->process_count; i++) {
        Process *process = world->processes[i];
        if (!process->ended && !process->buried) {
            only = process;
            count++;
        }
    }
    return count == 1 ? only : NULL;
}

static bool somebody_lives(const World *world)
{
    for (int i = 0; i < world->process_count; i++) {
        if (!world->processes[i]->ended && !world->processes[i]->buried) {
            return true;
        }
    }
    return false;
}

/* A flow that gave up stays down while its process lives, so an operator restarts that. */
static void stop_all(World *world)
{
    for (int i = 0; i < world->process_count; i++) {
        atomic_store(&world->processes[i]->stop, true);
    }
    int64_t deadline_us = scheduler_now_us() + SETTLE_US;
    while (somebody_lives(world) && scheduler_now_us() < deadline_us) {
        scheduler_sleep_us(100000);
    }
    if (somebody_lives(world)) {
        world_fail(world, "a process does not stop");
    }
}

/* Everything arrives, and of several processes one is left: the others find out that they have a
 * successor as soon as there is something to do. */
static Process *settle(World *world)
{
    int64_t began_us = scheduler_now_us();
    int64_t began_steps = scheduler_steps();
    while (scheduler_now_us() < began_us + SETTLE_US &&
           scheduler_steps() < began_steps + SETTLE_STEPS) {
        happening_tend(world);
        if (only_process(world) == NULL) {
            input_feed(world, 2);
        }
        scheduler_sleep_us(500000);
        Process *process = only_process(world);
        if (process != NULL && process->opened && check_is_drained(world)) {
            trace_say("everything has arrived");
            return process;
        }
    }
    world_fail(world, "no progress: not everything arrived in %lld s after the last fault",
               (long long)SETTLE_US / 1000000);
    return NULL;
}

static void stop_well(World *world, Process *process)
{
    atomic_store(&process->stop, true);
    int64_t deadline_us = scheduler_now_us() + SETTLE_US;
    while (!process->ended && scheduler_now_us() < deadline_us) {
        scheduler_sleep_us(10000);
    }
    if (!process->ended) {
        world_fail(world, "process %d does not stop", process->group);
    } else if (process->error != NULL) {
        world_fail(world, "process %d, told to stop, ends with: %s", process->group,
                   error_message(process->error));
    }
}

/* What is on the disk now makes a right state. */
static void look_into_state(World *world, int host)
{
    AUTO(pipeline) Pipeline *pipeline = NULL;
    PipelineOptions options = {.program = world->program,
                               .log = world->log,
                               .state_dir = disk_dir(host),
                               .inline_work = true,
                               .timeout_ms = WORLD_TIMEOUT_MS,
                               .attempts_max = 3};
    Error *error = pipeline_open(&options, &pipeline);
    if (error != NULL) {
        world_fail(world, "the last start fails: %s", error_message(error));
        error_free(error);
        return;
    }
    check_state(world, pipeline);
}

/* Also the other host's state, which may be old: it must catch up, or be made anew when it has
 * missed tombstones. */
static void look_into_states(World *world, int host)
{
    look_into_state(world, host);
    if (chance_one_in(&world->chance, 3)) {
        scheduler_pass(INT64_C(8) * 24 * 3600 * 1000000);
        happening_compact(world);
        trace_say("eight days later");
    }
    look_into_state(world, DISK_HOSTS - 1 - host);
    look_into_state(world, host);
}

static void world_main(void *context)
{
    World *world = context;
    world->arena = arena_new("world");
    world->broker = sim_broker_new();
    world->log = sim_broker_connect(world->broker);
    world->available = true;
    scheduler_drive_clock(&world->broker_clock);
    sim_broker_set_clock(world->broker, &world->broker_clock);
    setting_make(world);
    faults_open(world->seed, world->broker);
    faults_set(true);
    live(world);
    happening_stop(world);
    if (world->flows_give_up) {
        stop_all(world);
    }
    input_feed(world, 20);
    Process *process = world->failed ? NULL : settle(world);
    if (process != NULL) {
        stop_well(world, process);
    }
    check_topics(world, process != NULL);
    if (process != NULL && !world->failed) {
        look_into_states(world, process->host);
    }
    world->result.steps = (uint64_t)scheduler_steps();
    world->result.virtual_ms = (uint64_t)scheduler_now_us() / 1000;
}

bool world_run(uint64_t seed, WorldResult *ret_result)
{
    static World world;
    world.seed = seed;
    world.chance = chance_stream(seed, 5);
    interpose_open(seed);
    disk_open(seed);
    eviction_open(seed);
    small_table_open(seed);
    scheduler_run(seed, world_main, &world);
    small_table_count(&world.result);
    *ret_result = world.result;
    return !world.failed;
}
