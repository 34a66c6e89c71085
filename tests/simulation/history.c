/* Copying what is committed, before it goes. */
#include "tests/simulation/history.h"

#include <assert.h>

#include "tests/simulation/world_internal.h"

#include "processor/base/banned.h"

enum { TOPICS_MAX = 8, PARTITIONS_MAX = 16, POLL_MS = 10, POLL_RECORDS = 1000 };

typedef struct HistoryTopic {
    const char *name;
    int partitions;               /* in the museum so far */
    int64_t next[PARTITIONS_MAX]; /* not taken yet */
} HistoryTopic;

struct History {
    SimBroker *museum;
    Log *log;
    HistoryTopic topics[TOPICS_MAX]; /* the source first */
    int topic_count;
};

static void follow(History *history, const char *name)
{
    assert(history->topic_count < TOPICS_MAX);
    history->topics[history->topic_count++] = (HistoryTopic){.name = name};
}

void history_open(World *world)
{
    History *history = arena_new_object(world->arena, History);
    history->museum = sim_broker_new();
    history->log = sim_broker_connect(history->museum);
    follow(history, "src");
    follow(history, "p.progress");
    follow(history, "p.quarantine");
    follow(history, "p.event_log");
    for (size_t t = 0; t < world->program->table_count; t++) {
        follow(history, world->program->tables[t].topic);
    }
    world->history = history;
}

Log *history_log(const World *world)
{
    return world->history->log;
}

/* False: the topic does not exist yet. */
static bool follow_partitions(World *world, HistoryTopic *topic)
{
    LogTopicDescription description = {0};
    for (;;) {
        Error *error = log_topic_describe(world->log, topic->name, WORLD_TIMEOUT_MS, &description);
        if (error == NULL) {
            break;
        }
        if (error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
            error_free(error);
            return false;
        }
        world_wait_out(world, error, "describe");
    }
    int count = description.partition_count;
    assert(count <= PARTITIONS_MAX);
    Log *log = world->history->log;
    if (topic->partitions == 0) {
        LogTopicSpec spec = {.name = topic->name, .partitions = count, .replication_factor = -1};
        world_call(world, log_topic_create(log, &spec, WORLD_TIMEOUT_MS));
    } else if (topic->partitions < count) {
        world_call(world, log_topic_add_partitions(log, topic->name, count, WORLD_TIMEOUT_MS));
    }
    topic->partitions = count;
    return true;
}

static void place(World *world, HistoryTopic *topic, int32_t p, int64_t end, const LogPoll *poll)
{
    for (size_t i = 0; i < poll->record_count; i++) {
        const LogRecord *record = &poll->records[i];
        if (record->offset < end) {
            sim_broker_place(world->history->museum, record);
        }
        topic->next[p] = record->offset + 1;
    }
    if (poll->end_count > 0 && poll->ends[0].offset > topic->next[p]) {
        topic->next[p] = poll->ends[0].offset;
    }
}

/* Up to `limit` (< 0: none) and what is stable. */
static void take_partition(World *world, HistoryTopic *topic, int32_t p, int64_t limit)
{
    int64_t start = 0;
    int64_t end = 0;
    world_call(world, log_watermarks(world->log, topic->name, p, READ_COMMITTED, WORLD_TIMEOUT_MS,
                                     &start, &end));
    end = limit >= 0 && limit < end ? limit : end;
    if (topic->next[p] >= end) {
        return;
    }
    assert(topic->next[p] >= start && "cut before it was taken");
    AUTO(arena) Arena *arena = arena_new("history");
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    world_call(world, log_consumer_open(world->log, &options, &consumer));
    LogPosition from = {topic->name, p, topic->next[p]};
    world_call(world, log_consumer_assign(consumer, &from, 1));
    while (topic->next[p] < end) {
        LogPoll poll = {0};
        world_call(world, log_consumer_poll(consumer, POLL_MS, POLL_RECORDS, arena, &poll));
        place(world, topic, p, end, &poll);
        arena_reset(arena);
    }
    topic->next[p] = end;
    sim_broker_extend(world->history->museum, topic->name, p, end);
}

static void take_topic(World *world, HistoryTopic *topic)
{
    for (int p = 0; follow_partitions(world, topic) && p < topic->partitions; p++) {
        take_partition(world, topic, p, -1);
    }
}

void history_take(World *world)
{
    for (int i = 1; i < world->history->topic_count; i++) {
        take_topic(world, &world->history->topics[i]);
    }
}

void history_take_source(World *world, int32_t partition, int64_t until)
{
    HistoryTopic *source = &world->history->topics[0];
    if (follow_partitions(world, source)) {
        take_partition(world, source, partition, until);
    }
}

void history_skip_source(World *world, int32_t partition, int64_t until)
{
    HistoryTopic *source = &world->history->topics[0];
    if (follow_partitions(world, source) && source->next[partition] < until) {
        source->next[partition] = until;
        sim_broker_extend(world->history->museum, source->name, partition, until);
    }
}

void history_take_all(World *world)
{
    take_topic(world, &world->history->topics[0]);
    history_take(world);
}
