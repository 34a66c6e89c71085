/* What the measuring programs share: arguments, errors, a log, topics, time and CPU. They are run
 * by race, limits and memory: a mistake ends the program with a message. */
#ifndef BENCH_COMMON_BENCH_H
#define BENCH_COMMON_BENCH_H

#include "connectors/log.h"

enum { BENCH_TIMEOUT_MS = 60000 };

/* Prints the error and ends the program; NULL does nothing. */
void bench_check(Error *error);
/* Ends the program with the usage (exit code 2). */
__attribute__((noreturn)) void bench_usage(const char *usage);
/* A whole number, not negative. */
int64_t bench_number(const char *text);
/* The value of the argument NAME=VALUE among `arguments` (NULL-terminated), or `otherwise`. */
int64_t bench_option(char **arguments, const char *name, int64_t otherwise);

Log *bench_connect(const char *bootstrap);
int bench_partitions(Log *log, const char *topic);

/* Where the partitions of a topic end. */
typedef struct BenchEnds {
    int count;
    int64_t *offsets; /* mem_free */
} BenchEnds;

BenchEnds bench_ends(Log *log, const char *topic, Isolation isolation);
/* A reader of all partitions, from the given offsets or (NULL) from the start. */
LogConsumer *bench_reader(Log *log, const char *topic, const BenchEnds *from);

/* Reads what is committed in a topic now, from the start, at most `records_max` records at a time;
 * records live until the next call of `use`. A batch may have a few that came later. */
void bench_read_batches(Log *log, const char *topic, size_t records_max,
                        void (*use)(void *context, const LogRecord *records, size_t count),
                        void *context);
/* The same record by record, and only those. Partitions are mixed, each is in order. */
void bench_read_topic(Log *log, const char *topic,
                      void (*use)(void *context, const LogRecord *record), void *context);

/* User and system time of this process so far. */
double bench_cpu_seconds(void);
/* Of CLOCK_MONOTONIC, which all processes share. */
double bench_seconds(void);

#endif
