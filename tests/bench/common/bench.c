/* Arguments, errors, topics, time: the small change of the measuring programs. */
#include "tests/bench/common/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "connectors/kafka/kafka.h"
#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { RECORDS_A_POLL = 4096 };

void bench_check(Error *error)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        (void)fputs(buffer_cstr(&text), stderr);
        exit(1);
    }
}

void bench_usage(const char *usage)
{
    (void)fprintf(stderr, "usage: %s\n", usage);
    exit(2);
}

int64_t bench_number(const char *text)
{
    int64_t value = 0;
    if (!str_to_int64(str_from(text), &value) || value < 0) {
        (void)fprintf(stderr, "%s is no whole number\n", text);
        exit(2);
    }
    return value;
}

int64_t bench_option(char **arguments, const char *name, int64_t otherwise)
{
    size_t length = strlen(name);
    for (; *arguments != NULL; arguments++) {
        if (strncmp(*arguments, name, length) == 0 && (*arguments)[length] == '=') {
            return bench_number(*arguments + length + 1);
        }
    }
    return otherwise;
}

Log *bench_connect(const char *bootstrap)
{
    Log *log = NULL;
    bench_check(kafka_log_open(bootstrap, NULL, 0, &log));
    return log;
}

int bench_partitions(Log *log, const char *topic)
{
    LogTopicDescription description = {0};
    bench_check(log_topic_describe(log, topic, BENCH_TIMEOUT_MS, &description));
    return description.partition_count;
}

BenchEnds bench_ends(Log *log, const char *topic, Isolation isolation)
{
    BenchEnds ends = {.count = bench_partitions(log, topic)};
    ends.offsets = mem_alloc_array((size_t)ends.count, sizeof *ends.offsets);
    for (int p = 0; p < ends.count; p++) {
        int64_t start = 0;
        bench_check(
            log_watermarks(log, topic, p, isolation, BENCH_TIMEOUT_MS, &start, &ends.offsets[p]));
    }
    return ends;
}

LogConsumer *bench_reader(Log *log, const char *topic, const BenchEnds *from)
{
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    LogConsumer *reader = NULL;
    bench_check(log_consumer_open(log, &options, &reader));
    size_t count = (size_t)(from == NULL ? bench_partitions(log, topic) : from->count);
    LogPosition *positions = mem_alloc_array(count, sizeof *positions);
    for (size_t p = 0; p < count; p++) {
        positions[p] = (LogPosition){topic, (int32_t)p, from == NULL ? 0 : from->offsets[p]};
    }
    bench_check(log_consumer_assign(reader, positions, count));
    mem_free(positions);
    return reader;
}

/* How far a read of the whole topic came. */
typedef struct Reading {
    BenchEnds ends;
    bool *reached;
    int left; /* partitions not read to their end */
} Reading;

static void reach(Reading *reading, int32_t partition, int64_t next)
{
    if (!reading->reached[partition] && next >= reading->ends.offsets[partition]) {
        reading->reached[partition] = true;
        reading->left--;
    }
}

static void begin_reading(Reading *reading, Log *log, const char *topic)
{
    reading->ends = bench_ends(log, topic, READ_COMMITTED);
    reading->left = reading->ends.count;
    reading->reached = mem_alloc_array((size_t)reading->ends.count, sizeof *reading->reached);
    for (int p = 0; p < reading->ends.count; p++) {
        reach(reading, p, 0); /* an empty partition */
    }
}

static void note_poll(Reading *reading, const LogPoll *poll)
{
    for (size_t i = 0; i < poll->record_count; i++) {
        reach(reading, poll->records[i].partition, poll->records[i].offset + 1);
    }
    for (size_t i = 0; i < poll->end_count; i++) {
        reach(reading, poll->ends[i].partition, poll->ends[i].offset);
    }
}

void bench_read_batches(Log *log, const char *topic, size_t records_max,
                        void (*use)(void *context, const LogRecord *records, size_t count),
                        void *context)
{
    Reading reading = {0};
    begin_reading(&reading, log, topic);
    AUTO(log_consumer) LogConsumer *reader = bench_reader(log, topic, NULL);
    AUTO(arena) Arena *arena = arena_new("poll");
    int64_t progress_ms = clock_monotonic_ms();
    while (reading.left > 0) {
        LogPoll poll = {0};
        arena_reset(arena);
        bench_check(log_consumer_poll(reader, 1000, records_max, arena, &poll));
        if (poll.record_count > 0) {
            use(context, poll.records, poll.record_count);
            progress_ms = clock_monotonic_ms();
        } else if (clock_monotonic_ms() - progress_ms > BENCH_TIMEOUT_MS) {
            (void)fprintf(stderr, "reading topic %s: nothing came for a minute\n", topic);
            exit(1);
        }
        note_poll(&reading, &poll);
    }
    mem_free(reading.reached);
    mem_free(reading.ends.offsets);
}

typedef struct OneByOne {
    BenchEnds ends;
    void (*use)(void *context, const LogRecord *record);
    void *context;
} OneByOne;

static void use_one_by_one(void *context, const LogRecord *records, size_t count)
{
    const OneByOne *way = context;
    for (size_t i = 0; i < count; i++) {
        if (records[i].offset < way->ends.offsets[records[i].partition]) {
            way->use(way->context, &records[i]);
        }
    }
}

void bench_read_topic(Log *log, const char *topic,
                      void (*use)(void *context, const LogRecord *record), void *context)
{
    OneByOne way = {bench_ends(log, topic, READ_COMMITTED), use, context};
    bench_read_batches(log, topic, RECORDS_A_POLL, use_one_by_one, &way);
    mem_free(way.ends.offsets);
}

double bench_cpu_seconds(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double bench_seconds(void)
{
    return (double)clock_monotonic_us() / 1e6;
}
