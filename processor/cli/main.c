/* tidemark: keeps tables up to date from Kafka. Finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "processor/base/fault.h"
#include "processor/cli/cli.h"
#include "processor/cli/commands.h"

#include "processor/base/banned.h"

typedef struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *arguments;
    const char *help;
    const char *details; /* more lines for `help NAME`, or NULL */
} Command;

static const Command commands[] = {
    {"run", cmd_run, "T.yaml [--once]", "run the topology as a service; --once: one update",
     "The service runs until SIGTERM or Ctrl-C. --once takes what the sources hold now, commits "
     "it\n"
     "and exits. Both wait for a broker that is away. The topics of tables are made, those of "
     "sources\n"
     "must be there. `tidemark events` tells what happens. The service answers /metrics, "
     "/healthz,\n"
     "/readyz at api.listen; SIGUSR1 and SIGUSR2 log more and less.\n"},
    {"validate", cmd_validate, "T.yaml | FILE.sql", "report every mistake, touch no broker",
     "A topology is judged whole: keys, names, types, statements. A .sql file alone: its "
     "syntax.\n"
     "  --against-running  ask Kafka what the pipeline has, and say for each table what the\n"
     "                     topology would mean: compatible, needs a full refresh, refused; exit\n"
     "                     code 1 when one of them is not compatible\n"},
    {"explain", cmd_explain, "T.yaml [FLOW]", "keys, columns, topics and plans of the flows", NULL},
    {"events", cmd_events, "T.yaml [-f] [-o text|json]", "the event log",
     "-f goes on as events come, until Ctrl-C. -o json gives the events as they are in the "
     "topic.\n"},
    {"state", cmd_state, "T.yaml [--key K]", "stores, offsets, lag; one key's rows",
     "Works beside a running service and without one. Offsets are asked from Kafka; when it is "
     "away\n"
     "they show as `-`, and a key's rows are as of the last checkpoint.\n"
     "  --key K        a JSON object of the key's columns, or the value alone where there is one\n"
     "  --table NAME   this table only\n"
     "  -o text|json   form of the report\n"},
    {"demo", cmd_demo, "[--bootstrap HOST:PORT]", "the bookings example, nothing else needed",
     "Without --bootstrap on a Kafka model inside the process. With it on that broker, in topics\n"
     "tidemark_demo_…, which it deletes at its end.\n"},
    {"test", cmd_test, "[OPTION…] FILE…", "run scenario and .test files",
     "  --only ID,…                 these scenarios only\n"
     "  --split N                   updates of N records, again until all are read\n"
     "  --batch-rows N --shards N   rows a batch, partitions a table\n"
     "  --restart-every-step        a new process after every step\n"
     "  --wipe-state-every-step     and without its state directory\n"
     "  --fault-point NAME[:NTH[:crash|error]]\n"
     "                              dies (or fails) there and goes on\n"
     "  --bootstrap HOST:PORT       on a broker, not on the model inside the process\n"
     "  --accept                    writes what came out into the .test files\n"
     "  -o text|json|junit          form of the report\n"},
    {"functions", cmd_functions, "[NAME]", "the function reference",
     "NAME may be a pattern such as 'date_*'. --markdown prints tables for a page.\n"},
    {"query", cmd_query, "[OPTION…] [SQL]", "ad-hoc queries over files",
     "  --input NAME=FILE[,COLUMNS]  a table; JSON lines, CSV or Avro, .gz and .zst too, a folder "
     "or a\n"
     "                               pattern, `-` for standard input; columns as in CREATE TABLE\n"
     "  -o table|jsonl|csv           form of the rows; on a terminal table, else jsonl\n"
     "  --csv header=yes|no          a first line of names or none (a line that names columns is "
     "one)\n"
     "  --csv separator=C            between fields (a comma; a tab for .tsv)\n"
     "  --explain                    show plans, run nothing\n"
     "  --memory SIZE                what operators may hold before they use files (1GiB)\n"
     "  --threads N                  that decode (as many as there are cores)\n"
     "  --schema                     jsonl: a first line with the names and types of the columns\n"
     "  --clock TIME                 what now() says\n"
     "  --time-zone ZONE             of the session (UTC)\n"
     "Without SQL a terminal begins a dialogue; else statements are read from standard input.\n"},
    {"sql", cmd_not_yet, "", "not yet: statements against the running service", NULL},
    {"refresh", cmd_refresh, "T.yaml [TABLE…] [--full]",
     "one update of these tables, of all without a name",
     "It runs in this process; a service of the topology on this machine must be stopped first.\n"
     "  --full     empty the tables and make them anew from what their sources hold, by what the\n"
     "             topology says now; the way out of FULL_REFRESH_REQUIRED\n"
     "  --yes      also when rows are lost whose records the sources no longer hold\n"
     "  --dry-run  say what would be lost, do nothing\n"},
};

/* Characters of `text` that take a column. */
static int width(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return count;
}

static void print_help(FILE *out)
{
    enum { ARGUMENTS_WIDTH = 26 };
    (void)fprintf(out, "tidemark keeps tables up to date from Kafka.\n\n"
                       "usage: tidemark COMMAND …\n\n");
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
        const char *arguments = commands[i].arguments;
        (void)fprintf(out, "  %-9s %s%*s  %s\n", commands[i].name, arguments,
                      ARGUMENTS_WIDTH - width(arguments), "", commands[i].help);
    }
    (void)fprintf(out,
                  "\nT.yaml is a topology: config/examples/ has a short one and one with every "
                  "key.\n`tidemark help COMMAND` tells more about one.\n"
                  "Exit codes: 0 done, 1 failed, 2 wrong usage or topology.\n");
}

static int print_command_help(const Command *command)
{
    (void)printf("usage: tidemark %s %s\n\n%s\n", command->name, command->arguments, command->help);
    if (command->details != NULL) {
        (void)printf("\n%s", command->details);
    }
    return EXIT_DONE;
}

static const Command *find_command(const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static bool asks_for_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
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

/* A closed descriptor 0, 1 or 2 would be given to the next file or socket we open, and what is
 * printed would land in a store or at a broker. Opened for reading, so that writing still fails. */
static bool hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) { /* the lowest free */
            return false;
        }
    }
    return true;
}

/* What could not be written was not done. A reader that went away (`| head`) wants no more lines,
 * and no complaint either. */
static int end_output(int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return code;
    }
    if (errno != 0 && errno != EPIPE) {
        (void)fprintf(stderr, "tidemark: the output cannot be written: %s\n", strerror(errno));
    }
    return code == EXIT_DONE ? EXIT_FAILED : code;
}

int main(int argc, char **argv)
{
    if (!hold_standard_descriptors()) {
        return EXIT_FAILED;
    }
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
    if (strcmp(name, "--version") == 0) {
        (void)puts("tidemark " TIDEMARK_VERSION);
        return EXIT_DONE;
    }
    bool help = strcmp(name, "help") == 0 || asks_for_help(name);
    if (help && argc < 3) {
        print_help(stdout);
        return EXIT_DONE;
    }
    const char *command_name = help ? argv[2] : name;
    const Command *command = find_command(command_name);
    if (command == NULL) {
        return unknown_command(command_name);
    }
    if (help || (argc == 3 && asks_for_help(argv[2]))) {
        return print_command_help(command);
    }
    return end_output(command->run(argc - 1, argv + 1));
}
