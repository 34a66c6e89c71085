/* Watches an engine from outside, the same way whoever it is. Times are seconds of CLOCK_MONOTONIC.
 *
 *     bench_watch BOOTSTRAP committed GROUP TOPIC
 *         ready ROWS       rows of the topic that are not committed yet
 *         first TIME ROWS  some rows are committed: so many of them
 *         done TIME        everything that was in the topic at "ready" is
 *     bench_watch BOOTSTRAP record TOPIC
 *         ready            (waits for the topic to be made)
 *         record TIME      a read_committed reader got the first record that came after "ready"
 *
 * What a group has committed is read from the broker's own topic of such commits, read_committed:
 * they come the moment they are true, and nobody has to be asked over and over. Its keys are:
 * version (2 bytes; 0 and 1 are offsets), group, topic (a 2-byte length before each), partition (4
 * bytes); its values begin with version (2 bytes) and offset (8 bytes). */
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "tests/bench/common/bench.h"

#include "processor/base/banned.h"

enum { POLL_MS = 100, RECORDS_A_POLL = 1000, TOPIC_PAUSE_MS = 50, OFFSET_KEY_VERSION_MAX = 1 };

static const char commits_topic[] = "__consumer_offsets";

/* ---------------------------------------------------------------------------- commits ---- */

/* A big-endian number of `size` bytes off the front; -1 when there are not as many. */
static int64_t cut_number(Str *bytes, size_t size)
{
    if (bytes->size < size) {
        *bytes = (Str){bytes->data, 0};
        return -1;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | (unsigned char)bytes->data[i];
    }
    *bytes = (Str){bytes->data + size, bytes->size - size};
    return (int64_t)value;
}

static Str cut_text(Str *bytes)
{
    int64_t size = cut_number(bytes, 2);
    if (size < 0 || (size_t)size > bytes->size) {
        return STR_NULL;
    }
    Str text = {bytes->data, (size_t)size};
    *bytes = (Str){bytes->data + size, bytes->size - (size_t)size};
    return text;
}

typedef struct Watched {
    Str group;
    Str topic;
    BenchEnds ends;     /* of the topic */
    int64_t *committed; /* a partition: its newest commit, 0 when there is none */
} Watched;

static void take_commit(void *context, const LogRecord *record)
{
    Watched *watched = context;
    Str key = record->key;
    Str value = record->value;
    int64_t version = cut_number(&key, 2);
    if (version < 0 || version > OFFSET_KEY_VERSION_MAX || value.data == NULL ||
        !str_equal(cut_text(&key), watched->group) || !str_equal(cut_text(&key), watched->topic)) {
        return;
    }
    int64_t partition = cut_number(&key, 4);
    (void)cut_number(&value, 2);
    int64_t offset = cut_number(&value, 8);
    if (partition >= 0 && partition < watched->ends.count &&
        offset > watched->committed[partition]) {
        watched->committed[partition] = offset;
    }
}

static int64_t committed_rows(const Watched *watched, bool *ret_all)
{
    int64_t sum = 0;
    *ret_all = true;
    for (int p = 0; p < watched->ends.count; p++) {
        *ret_all = *ret_all && watched->committed[p] >= watched->ends.offsets[p];
        sum += watched->committed[p];
    }
    return sum;
}

static bool topic_exists(Log *log, const char *topic)
{
    LogTopicDescription description = {0};
    Error *error = log_topic_describe(log, topic, BENCH_TIMEOUT_MS, &description);
    if (error == NULL) {
        return true;
    }
    if (error_class(error) != ERROR_KAFKA_TOPIC_NOT_FOUND) {
        bench_check(error);
    }
    error_free(error);
    return false;
}

/* How far the group was before, and a reader of what it commits from now on. A broker that had no
 * group yet has no such topic either: the first group makes it. */
static LogConsumer *read_commits(Log *log, Watched *watched, int64_t *ret_before)
{
    BenchEnds start = {0};
    bool all = false;
    if (topic_exists(log, commits_topic)) {
        start = bench_ends(log, commits_topic, READ_COMMITTED);
        bench_read_topic(log, commits_topic, take_commit, watched);
    }
    int64_t rows = -(*ret_before = committed_rows(watched, &all));
    for (int p = 0; p < watched->ends.count; p++) {
        rows += watched->ends.offsets[p];
    }
    (void)printf("ready %lld\n", (long long)rows);
    while (!topic_exists(log, commits_topic)) {
        clock_sleep_ms(TOPIC_PAUSE_MS);
    }
    LogConsumer *reader = bench_reader(log, commits_topic, start.count == 0 ? NULL : &start);
    mem_free(start.offsets);
    return reader;
}

static void watch_group(Log *log, const char *group, const char *topic)
{
    Watched watched = {.group = str_from(group), .topic = str_from(topic)};
    watched.ends = bench_ends(log, topic, READ_COMMITTED);
    watched.committed = mem_alloc_array((size_t)watched.ends.count, sizeof *watched.committed);
    int64_t before = 0;
    AUTO(log_consumer) LogConsumer *reader = read_commits(log, &watched, &before);
    AUTO(arena) Arena *arena = arena_new("poll");
    bool first = false;
    for (;;) {
        LogPoll poll = {0};
        bool all = false;
        arena_reset(arena);
        int64_t now = committed_rows(&watched, &all);
        if (!first && now > before) {
            first = true;
            (void)printf("first %.3f %lld\n", bench_seconds(), (long long)(now - before));
        }
        if (all) {
            break;
        }
        bench_check(log_consumer_poll(reader, POLL_MS, RECORDS_A_POLL, arena, &poll));
        for (size_t i = 0; i < poll.record_count; i++) {
            take_commit(&watched, &poll.records[i]);
        }
    }
    (void)printf("done %.3f\n", bench_seconds());
    mem_free(watched.ends.offsets);
    mem_free(watched.committed);
}

/* ---------------------------------------------------------------------------- records ---- */

static void wait_for_topic(Log *log, const char *topic)
{
    int64_t deadline_ms = clock_monotonic_ms() + BENCH_TIMEOUT_MS;
    while (!topic_exists(log, topic)) {
        if (clock_monotonic_ms() > deadline_ms) {
            (void)fprintf(stderr, "topic %s is not made\n", topic);
            exit(1);
        }
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
        bench_check(log_consumer_poll(reader, POLL_MS, RECORDS_A_POLL, arena, &poll));
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
