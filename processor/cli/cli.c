/* What the commands share. */
#include "processor/cli/cli.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "connectors/kafka/kafka.h"
#include "processor/base/clock.h"
#include "processor/base/logger.h"
#include "processor/cli/commands.h"

#include "processor/base/banned.h"

enum { STOP_GRACE_MS = 850 };

void cli_print_error(Error *error)
{
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    (void)fwrite(text.data, 1, text.size, stderr);
    error_free(error);
}

size_t cli_print_diagnostics(Diagnostics *diagnostics)
{
    size_t count = diagnostics->count;
    for (size_t i = 0; i < count; i++) {
        cli_print_error(diagnostics->errors[i]);
        diagnostics->errors[i] = NULL;
    }
    diagnostics_done(diagnostics);
    return count;
}

int cli_usage(const char *usage)
{
    (void)fprintf(stderr, "usage: %s\n", usage);
    return EXIT_USAGE;
}

bool cli_load_program(const char *path, Arena *arena, Program **ret_program)
{
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    topology_load_file(path, arena, &diagnostics, &topology);
    if (topology != NULL) {
        Diagnostics more = {0};
        program_load(topology, arena, &more, ret_program);
        for (size_t i = 0; i < more.count; i++) {
            diagnostics_add(&diagnostics, more.errors[i]);
            more.errors[i] = NULL;
        }
        diagnostics_done(&more);
        diagnostics_sort(&diagnostics);
    }
    size_t mistakes = cli_print_diagnostics(&diagnostics);
    if (mistakes > 0) {
        (void)fprintf(stderr, "%s: %zu mistake%s\n", path, mistakes, mistakes == 1 ? "" : "s");
    }
    return mistakes == 0;
}

Error *cli_connect(const Topology *topology, const char *bootstrap, Log **ret_log)
{
    AUTO(arena) Arena *arena = arena_new("connect");
    const TopologyKafka *kafka = &topology->kafka;
    KafkaProperty *properties = arena_new_array(arena, KafkaProperty, kafka->property_count);
    for (size_t i = 0; i < kafka->property_count; i++) {
        properties[i].name = arena_copy_cstr(arena, kafka->properties[i].name);
        properties[i].value = arena_copy_cstr(arena, kafka->properties[i].value);
    }
    if (bootstrap == NULL) {
        bootstrap = arena_copy_cstr(arena, kafka->bootstrap);
    }
    return kafka_log_open(bootstrap, properties, kafka->property_count, ret_log);
}

static atomic_bool stop_requested;

static sigset_t caught_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
        sigaddset(&signals, numbers[i]);
    }
    return signals;
}

static void *wait_for_signal(void *argument)
{
    (void)argument;
    sigset_t signals = caught_signals();
    int signal_number = 0;
    for (;;) {
        (void)sigwait(&signals, &signal_number);
        if (signal_number != SIGUSR1 && signal_number != SIGUSR2) {
            break;
        }
        LogLevel level = logger_step_level(signal_number == SIGUSR1);
        logger_write(level, "log level is %s now", logger_level_name(level));
    }
    atomic_store(&stop_requested, true);
    log_info("stopping");
    clock_sleep_ms(STOP_GRACE_MS);
    log_warn(
        "Kafka, the disk or a restore takes its time: stopping without the last epoch, which is "
        "read again at the next start");
    _exit(EXIT_DONE);
}

const atomic_bool *cli_catch_signals(void)
{
    sigset_t signals = caught_signals();
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_signal, NULL) == 0) {
        (void)pthread_detach(thread);
    }
    return &stop_requested;
}
