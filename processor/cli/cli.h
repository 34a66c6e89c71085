/* What the commands share: loading a topology with its errors printed, connecting to Kafka,
 * signals. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdatomic.h>

#include "connectors/log.h"
#include "processor/run/program.h"

/* Prints the error in its long form to stderr and frees it. */
void cli_print_error(Error *error);
/* Prints all of them; returns how many there were. */
size_t cli_print_diagnostics(Diagnostics *diagnostics);
/* A usage line to stderr; returns EXIT_USAGE. */
int cli_usage(const char *usage);

/* Loads topology and program; prints every mistake. False when there were any. */
bool cli_load_program(const char *path, Arena *arena, Program **ret_program);
/* The topology's Kafka; `bootstrap` NULL: as the topology says. */
NODISCARD Error *cli_connect(const Topology *topology, const char *bootstrap, Log **ret_log);

/* From now on SIGUSR1 logs one level more, SIGUSR2 one less; SIGTERM and SIGINT set the flag; a
 * process that has not ended a moment later (Kafka does not answer) is ended hard: everything
 * unfinished is an open transaction that the next start settles. Call once, before other threads
 * start. */
const atomic_bool *cli_catch_signals(void);

#endif
