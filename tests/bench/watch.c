/* Watches an engine from outside, the same way whoever it is. Times are seconds of CLOCK_MONOTONIC.
 *
 *     bench_watch BOOTSTRAP committed GROUP TOPIC
 *         ready ROWS       rows of the topic that are not committed yet
 *         first TIME ROWS  some rows are committed: so many of them
 *         done TIME        everything that was in the topic at "ready" is
 *     bench_watch BOOTSTRAP record TOPIC
 *         ready            (waits for the topic to be made)
 *         record TIME      a read_committed reader got the first record that came after "ready" */
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "tests/bench/common/bench.h"

#include "processor/base/banned.h"

enum {
    PAUSE_MS = 20,
    TOPIC_PAUSE_MS = 50,
};

typedef struct Watched {
    Log *log;
    const char *group;
    const char *topic;
    BenchEnds ends;
    int64_t *committed; /* a partition: its last answer, 0 when there was none */
} Watched;

/* A group whose commit is under way has no answer; the call then asks again after 50 ms. */
static void ask(Watched *watched, int partition)
{
    int64_t offset = -1;
    bench_check(log_group_offset(watched->log, watched->group, watched->topic, partition,
                                 BENCH_TIMEOUT_MS, &offset));
    if (offset > watched->committed[partition]) {
        watched->committed[partition] = offset;
    }
}

/* Rows committed; asks only for partitions that are not at their end. */
static int64_t committed_rows(Watched *watched, bool *ret_all)
{
    int64_t sum = 0;
    *ret_all = true;
    for (int p = 0; p < watched->ends.count; p++) {
        if (watched->committed[p] < watched->ends.offsets[p]) {
            ask(watched, p);
        }
        *ret_all = *ret_all && watched->committed[p] >= watched->ends.offsets[p];
        sum += watched->committed[p];
    }
    return sum;
}

static void watch_group(Log *log, const char *group, const char *topic)
{
    Watched watched = {.log = log, .group = group, .topic = topic};
    watched.ends = bench_ends(log, topic, READ_COMMITTED);
    watched.committed = mem_alloc_array((size_t)watched.ends.count, sizeof *watched.committed);
    bool all = false;
    int64_t before = committed_rows(&watched, &all);
    int64_t rows = -before;
    for (int p = 0; p < watched.ends.count; p++) {
        rows += watched.ends.offsets[p];
    }
    (void)printf("ready %lld\n", (long long)rows);
    bool first = false;
    while (!all) {
        clock_sleep_ms(PAUSE_MS);
        int64_t now = committed_rows(&watched, &all);
        if (!first && now > before) {
            first = true;
            (void)printf("first %.3f %lld\n", bench_seconds(), (long long)(now - before));
        }
    }
    (void)printf("done %.3f\n", bench_seconds());
    mem_free(watched.ends.offsets);
    mem_free(watched.committed);
}

static void wait_for_topic(Log *log, const char *topic)
{
    int64_t deadline_ms = clock_monotonic_ms() + BENCH_TIMEOUT_MS;
    for (;;) {
        LogTopicDescription description = {0};
        Error *error = log_topic_describe(log, topic, BENCH_TIMEOUT_MS, &description);
        if (error == NULL) {
            return;
        }
        if (error_class(error) != ERROR_KAFKA_TOPIC_NOT_FOUND ||
            clock_monotonic_ms() > deadline_ms) {
            bench_check(error);
        }
        error_free(error);
        clock_sleep_ms(TOPIC_PAUSE_MS);
    }
}

static void watch_records(Log *log, const char *topic)
{
    wait_for_topic(log, topic);
    BenchEnds ends = bench_ends(log, topic, READ_COMMITTED);
    AUTO(log_consumer) LogConsumer *reader = bench_reader(log, topic, &ends);
    AUTO(arena) Arena *arena = arena_new("poll");
    mem_free(ends.offsets);
    bool ready = false;
    for (;;) {
        LogPoll poll = {0};
        arena_reset(arena);
        bench_check(log_consumer_poll(reader, 100, 1000, arena, &poll));
        if (!ready) {
            /* After the first poll the reader is assigned and fetching. */
            ready = true;
            (void)printf("ready\n");
        }
        if (poll.record_count > 0) {
            (void)printf("record %.3f\n", bench_seconds());
            return;
        }
    }
}

int main(int argc, char **argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    bool group = argc == 5 && strcmp(argv[2], "committed") == 0;
    bool record = argc == 4 && strcmp(argv[2], "record") == 0;
    if (!group && !record) {
        bench_usage("bench_watch BOOTSTRAP committed GROUP TOPIC | record TOPIC");
    }
    Log *log = bench_connect(argv[1]);
    if (group) {
        watch_group(log, argv[3], argv[4]);
    } else {
        watch_records(log, argv[3]);
    }
    log_close(log);
    return 0;
}
