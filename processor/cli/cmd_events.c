/* tidemark events T.yaml [-f] [-o text|json]: the event log, for people or as it is. */
#include <stdio.h>
#include <string.h>

#include "connectors/format/json_tree.h"
#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/run/event_print.h"
#include "processor/run/names.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark events T.yaml [-f] [-o text|json]";

enum { TIMEOUT_MS = 10000, POLL_MS = 200, POLL_RECORDS = 512 };

typedef struct EventsOptions {
    const char *path;
    bool follow;
    bool json;
} EventsOptions;

static bool parse_options(int argc, char **argv, EventsOptions *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-f") == 0) {
            options->follow = true;
        } else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            i++;
            options->json = strcmp(argv[i], "json") == 0;
            if (!options->json && strcmp(argv[i], "text") != 0) {
                return false;
            }
        } else if (argv[i][0] != '-' && options->path == NULL) {
            options->path = argv[i];
        } else {
            return false;
        }
    }
    return options->path != NULL;
}

static void print_event(Str value, bool json, Arena *arena)
{
    AUTO_BUFFER Buffer line = {0};
    if (json) {
        buffer_append_str(&line, value);
    } else {
        event_print(value, arena, &line);
        buffer_hide_controls(&line, 0);
    }
    (void)printf("%s\n", buffer_cstr(&line));
}

/* Until the end as it was at the start, or for ever with -f. */
static Error *print_events(Log *log, const char *topic, const EventsOptions *options,
                           const atomic_bool *stop)
{
    int64_t start = 0;
    int64_t end = 0;
    TRY(log_watermarks(log, topic, 0, READ_UNCOMMITTED, TIMEOUT_MS, &start, &end));
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions consumer_options = {.isolation = READ_COMMITTED};
    TRY(log_consumer_open(log, &consumer_options, &consumer));
    TRY(log_consumer_assign(consumer, &(LogPosition){topic, 0, start}, 1));
    AUTO(arena) Arena *arena = arena_new("events");
    int64_t next = start;
    while (!atomic_load(stop) && ferror(stdout) == 0 && (options->follow || next < end)) {
        LogPoll poll = {0};
        TRY(log_consumer_poll(consumer, POLL_MS, POLL_RECORDS, arena, &poll));
        for (size_t i = 0; i < poll.record_count; i++) {
            print_event(poll.records[i].value, options->json, arena);
            next = poll.records[i].offset + 1;
        }
        if (poll.end_count > 0 && poll.ends[poll.end_count - 1].offset > next) {
            next = poll.ends[poll.end_count - 1].offset;
        }
        (void)fflush(stdout);
        arena_reset(arena);
    }
    return NULL;
}

int cmd_events(int argc, char **argv)
{
    EventsOptions options = {0};
    if (!parse_options(argc, argv, &options)) {
        return cli_usage(usage);
    }
    AUTO(arena) Arena *arena = arena_new("topology");
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    topology_load_file(options.path, arena, &diagnostics, &topology);
    if (cli_print_diagnostics(&diagnostics) > 0) {
        return EXIT_USAGE;
    }
    const atomic_bool *stop = cli_catch_signals();
    Log *log = NULL;
    Error *error = cli_connect(topology, NULL, &log);
    if (error == NULL) {
        error = print_events(log, name_event_log_topic(arena, topology->pipeline), &options, stop);
        if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
            error_set_hint(error, "the first `tidemark run` of the pipeline makes it");
        }
    }
    log_close(log);
    if (error != NULL) {
        cli_print_error(error);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}
