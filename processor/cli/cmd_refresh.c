/* tidemark refresh T.yaml [TABLE…] [--full] [--yes] [--dry-run]: one triggered update of these
 * tables, in this process. A service that has the state open refuses it: refreshes through the
 * service come with its API.
 *
 * A full refresh of a table whose source has lost records loses the rows made from them: it is told
 * with the count before anything is deleted, and done only when the user says so (ST-56). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "processor/base/clock.h"
#include "processor/base/logger.h"
#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/run/data_loss.h"
#include "processor/run/pipeline.h"
#include "processor/run/redefinition.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark refresh T.yaml [TABLE…] [--full] [--yes] [--dry-run]";

enum { CALL_MS = 10000 };

typedef struct RefreshCommand {
    const char *path;
    Str *tables;
    size_t table_count;
    bool full;
    bool yes;
    bool dry_run;
} RefreshCommand;

/* -1: go on; else the exit code. */
static int parse_arguments(int argc, char **argv, Arena *arena, RefreshCommand *command)
{
    command->tables = arena_new_array(arena, Str, (size_t)argc);
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (strcmp(argument, "--full") == 0) {
            command->full = true;
        } else if (strcmp(argument, "--yes") == 0) {
            command->yes = true;
        } else if (strcmp(argument, "--dry-run") == 0) {
            command->dry_run = true;
        } else if (strcmp(argument, "--replace-where") == 0) {
            cli_print_error(
                error_new(ERROR_NOT_YET, "`refresh --replace-where` is not supported yet."));
            return EXIT_FAILED;
        } else if (argument[0] == '-') {
            return cli_usage(usage);
        } else if (command->path == NULL) {
            command->path = argument;
        } else {
            command->tables[command->table_count++] = str_from(argument);
        }
    }
    return command->path == NULL ? cli_usage(usage) : -1;
}

static bool is_selected(const RefreshCommand *command, Str table)
{
    for (size_t i = 0; i < command->table_count; i++) {
        if (str_equal_ignore_case(command->tables[i], table)) {
            return true;
        }
    }
    return command->table_count == 0;
}

static Error *check_tables(const RefreshCommand *command, const Program *program)
{
    for (size_t i = 0; i < command->table_count; i++) {
        bool known = false;
        for (size_t t = 0; t < program->table_count; t++) {
            known =
                known || str_equal_ignore_case(program->tables[t].bound->name, command->tables[i]);
        }
        if (!known) {
            return error_new(ERROR_TABLE_OR_VIEW_NOT_FOUND, "The topology has no table `%.*s`.",
                             STR_ARG(command->tables[i]));
        }
    }
    for (size_t t = 0; command->full && t < program->table_count; t++) {
        if (is_selected(command, program->tables[t].bound->name)) {
            TRY(check_reset_allowed(&program->tables[t]));
        }
    }
    return NULL;
}

/* Prints what would be lost; *ret_any: something. */
static Error *tell_losses(const RefreshCommand *command, const Program *program, Log *log,
                          bool *ret_any)
{
    AUTO(arena) Arena *arena = arena_new("losses");
    *ret_any = false;
    for (size_t t = 0; t < program->table_count; t++) {
        const ProgramTable *table = &program->tables[t];
        DataLoss *losses = NULL;
        size_t count = 0;
        if (is_selected(command, table->bound->name)) {
            TRY(data_losses_of(log, program, table, CALL_MS, arena, &losses, &count));
        }
        for (size_t i = 0; i < count; i++) {
            AUTO_BUFFER Buffer text = {0};
            data_loss_format(&losses[i], table->bound->name, &text);
            (void)fprintf(stderr, "%s\n", buffer_cstr(&text));
            *ret_any = true;
        }
    }
    return NULL;
}

static bool ask(void)
{
    (void)fprintf(stderr, "Go on and lose these rows? [y/N] ");
    char answer[16] = "";
    return fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

/* *ret_go: the full refresh may begin. */
static Error *confirm(const RefreshCommand *command, const Program *program, Log *log, bool *ret_go)
{
    bool losses = false;
    TRY(tell_losses(command, program, log, &losses));
    *ret_go = !losses || command->yes;
    if (*ret_go || command->dry_run) {
        return NULL;
    }
    if (isatty(STDIN_FILENO) == 0) {
        return error_set_hint(error_new(ERROR_USAGE, "The full refresh would lose rows, and nobody "
                                                     "can be asked."),
                              "--yes goes on");
    }
    *ret_go = ask();
    return NULL;
}

static void print_summary(Pipeline *pipeline, const RefreshCommand *command)
{
    for (size_t i = 0; i < pipeline_flow_count(pipeline); i++) {
        FlowRunner *flow = pipeline_flow(pipeline, i);
        const FlowMetrics *metrics = flow_runner_metrics(flow);
        const ProgramTable *table = flow_runner_table(flow);
        if (is_selected(command, table->bound->name)) {
            (void)printf("%.*s: %llu records read, %llu rows applied, %llu dropped, %llu to "
                         "quarantine\n",
                         STR_ARG(table->bound->name), (unsigned long long)metrics->source_rows,
                         (unsigned long long)metrics->output_rows,
                         (unsigned long long)metrics->dropped_records,
                         (unsigned long long)metrics->bad_records);
        }
    }
}

static Error *refresh(const RefreshCommand *command, const Program *program, Log *log,
                      const atomic_bool *stop)
{
    UpdateRequest request = {.tables = command->table_count == 0 ? NULL : command->tables,
                             .table_count = command->table_count,
                             .full_refresh = command->full,
                             .cause = "USER_ACTION"};
    PipelineOptions options = {.program = program,
                               .log = log,
                               .stop = stop,
                               .full_refresh = command->full ? &request : NULL,
                               .attempts_max = (int)program->topology->retry.max_attempts};
    AUTO(pipeline) Pipeline *pipeline = NULL;
    Error *error = pipeline_open(&options, &pipeline);
    if (error != NULL && error_class(error) == ERROR_STATE_LOCKED) {
        error_set_hint(error, "stop the service first: refreshing through it is not supported yet");
    }
    TRY(error);
    UpdateResult result = {0};
    TRY(pipeline_update(pipeline, &request, &result));
    print_summary(pipeline, command);
    return NULL;
}

static Error *run_command(const RefreshCommand *command, const Program *program, Log *log,
                          const atomic_bool *stop)
{
    TRY(log_ping(log, CALL_MS));
    bool go = true;
    if (command->full) {
        TRY(confirm(command, program, log, &go));
    }
    if (command->dry_run || !go) {
        (void)printf("nothing was done\n");
        return NULL;
    }
    return refresh(command, program, log, stop);
}

int cmd_refresh(int argc, char **argv)
{
    AUTO(arena) Arena *arena = arena_new("refresh");
    RefreshCommand command = {0};
    int code = parse_arguments(argc, argv, arena, &command);
    Program *program = NULL;
    if (code >= 0) {
        return code;
    }
    if (!cli_load_program(command.path, arena, &program)) {
        return EXIT_USAGE;
    }
    const Topology *topology = program->topology;
    logger_configure(topology->log.level, topology->log.format == TOPOLOGY_LOG_JSON);
    Error *error = check_tables(&command, program);
    const atomic_bool *stop = cli_catch_signals();
    Log *log = NULL;
    if (error == NULL) {
        error = cli_connect(topology, NULL, &log);
    }
    if (error == NULL) {
        error = run_command(&command, program, log, stop);
    }
    code = error == NULL ? EXIT_DONE : EXIT_FAILED;
    if (error != NULL) {
        cli_print_error(error);
    }
    if (log != NULL) {
        log_close(log);
    }
    return code;
}
