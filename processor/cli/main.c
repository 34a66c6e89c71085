/* tidemark: keeps tables up to date from Kafka. Finds the command and runs it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "processor/base/fault.h"
#include "processor/cli/cli.h"
#include "processor/cli/commands.h"

#include "processor/base/banned.h"

typedef struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *arguments;
    const char *help;
} Command;

static const Command commands[] = {
    {"run", cmd_run, "T.yaml [--once]", "run the topology as a service; --once: one update"},
    {"validate", cmd_validate, "T.yaml | FILE.sql", "report every mistake, touch no broker"},
    {"explain", cmd_explain, "T.yaml [FLOW]", "plans, topics and state of the flows"},
    {"events", cmd_events, "T.yaml [-f] [-o text|json]", "the event log"},
    {"demo", cmd_demo, "[--bootstrap HOST:PORT]", "the bookings example, nothing else needed"},
    {"test", cmd_test, "FILE…", "run scenario and .test files"},
    {"functions", cmd_functions, "[NAME]", "the function reference"},
    {"query", cmd_not_yet, "", "not yet: ad-hoc SELECT"},
    {"sql", cmd_not_yet, "", "not yet: statements against the running service"},
    {"refresh", cmd_not_yet, "", "not yet: start an update of the running service"},
    {"state", cmd_not_yet, "", "not yet: stores, offsets and rows of a key"},
};

static void print_help(FILE *out)
{
    (void)fprintf(out, "tidemark keeps tables up to date from Kafka.\n\n"
                       "usage: tidemark COMMAND …\n\n");
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
        (void)fprintf(out, "  %-9s %-28s %s\n", commands[i].name, commands[i].arguments,
                      commands[i].help);
    }
    (void)fprintf(out, "\nExit codes: 0 done, 1 failed, 2 wrong usage or topology.\n");
}

static int unknown_command(const char *name)
{
    const char *nearest = NULL;
    size_t best = 3;
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
        size_t distance = str_distance(str_from(name), str_from(commands[i].name));
        if (distance < best) {
            best = distance;
            nearest = commands[i].name;
        }
    }
    (void)fprintf(stderr, "tidemark: there is no command `%s`; ", name);
    if (nearest != NULL) {
        (void)fprintf(stderr, "did you mean `%s`?\n", nearest);
    } else {
        (void)fputs("`tidemark help` lists them\n", stderr);
    }
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    (void)signal(SIGPIPE, SIG_IGN);
    Error *error = fault_arm_from_environment();
    if (error != NULL) {
        cli_print_error(error);
        return EXIT_USAGE;
    }
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        (void)puts("tidemark " TIDEMARK_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return unknown_command(name);
}
