/* What the chaos test asks of a cluster of brokers.
 *
 *     chaos_tool leaders BOOTSTRAP TOPIC     a line a partition: PARTITION LEADER REPLICAS IN_SYNC
 *     chaos_tool progress BOOTSTRAP PIPELINE a line a committed epoch: its time in ms, its number
 *
 * Leaders and in-sync replicas are no part of the log interface, so they are asked for directly. */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

#include "connectors/format/json_tree.h"
#include "connectors/kafka/kafka.h"
#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { TIMEOUT_MS = 30000, METADATA_TIMEOUT_MS = 5000, POLL_MS = 100, POLL_RECORDS = 4096 };

static void require(Error *error)
{
    if (error != NULL) {
        Buffer text = {0};
        error_format(error, &text);
        (void)fputs(buffer_cstr(&text), stderr);
        exit(1);
    }
}

/* ------------------------------------------------------------------------------ leaders ---- */

static int print_leaders(const struct rd_kafka_metadata *metadata)
{
    for (int t = 0; t < metadata->topic_cnt; t++) {
        const rd_kafka_metadata_topic_t *topic = &metadata->topics[t];
        if (topic->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            (void)fprintf(stderr, "%s: %s\n", topic->topic, rd_kafka_err2str(topic->err));
            return 1;
        }
        for (int p = 0; p < topic->partition_cnt; p++) {
            const rd_kafka_metadata_partition_t *partition = &topic->partitions[p];
            (void)printf("%d %d %d %d\n", (int)partition->id, (int)partition->leader,
                         partition->replica_cnt, partition->isr_cnt);
        }
    }
    return 0;
}

static int leaders(const char *bootstrap, const char *name)
{
    char text[512] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, text, sizeof text) !=
        RD_KAFKA_CONF_OK) {
        (void)fprintf(stderr, "%s\n", text);
        return 1;
    }
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    if (rk == NULL) {
        (void)fprintf(stderr, "%s\n", text);
        return 1;
    }
    int code = 1;
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, name, NULL);
    rd_kafka_resp_err_t error = rd_kafka_metadata(rk, 0, topic, &metadata, METADATA_TIMEOUT_MS);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = print_leaders(metadata);
        rd_kafka_metadata_destroy(metadata);
    } else {
        (void)fprintf(stderr, "%s: %s\n", name, rd_kafka_err2str(error));
    }
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(rk);
    return code;
}

/* ----------------------------------------------------------------------------- progress ---- */

/* An epoch has a record for each source partition that moved, all with its number. */
static void print_epoch(const LogRecord *record, Arena *arena, int64_t *last)
{
    const JsonTree *key = NULL;
    const JsonTree *value = NULL;
    if (record->value.data == NULL) {
        return;
    }
    require(json_tree_parse(record->key, arena, &key));
    if (json_tree_get(key, "partition") == NULL) {
        return; /* a claim, or a definition */
    }
    require(json_tree_parse(record->value, arena, &value));
    int64_t epoch = json_tree_int(json_tree_get(value, "epoch"), -1);
    if (epoch > *last) {
        (void)printf("%lld %lld\n", (long long)record->timestamp_ms, (long long)epoch);
        *last = epoch;
    }
}

static void print_progress(Log *log, const char *topic)
{
    AUTO(arena) Arena *arena = arena_new("progress");
    int64_t start = 0;
    int64_t end = 0;
    int64_t last = 0;
    require(log_watermarks(log, topic, 0, READ_COMMITTED, TIMEOUT_MS, &start, &end));
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    require(log_consumer_open(log, &(LogConsumerOptions){.isolation = READ_COMMITTED}, &consumer));
    require(log_consumer_assign(consumer, &(LogPosition){topic, 0, start}, 1));
    int64_t deadline = clock_monotonic_ms() + TIMEOUT_MS;
    while (start < end) {
        LogPoll poll = {0};
        require(log_consumer_poll(consumer, POLL_MS, POLL_RECORDS, arena, &poll));
        for (size_t i = 0; i < poll.record_count; i++) {
            print_epoch(&poll.records[i], arena, &last);
            start = poll.records[i].offset + 1;
        }
        if (poll.end_count > 0 && poll.ends[0].offset > start) {
            start = poll.ends[0].offset;
        }
        if (poll.record_count > 0) {
            deadline = clock_monotonic_ms() + TIMEOUT_MS;
        } else if (clock_monotonic_ms() > deadline) {
            (void)fprintf(stderr, "%s: nothing came for %d ms\n", topic, TIMEOUT_MS);
            exit(1);
        }
        arena_reset(arena);
    }
}

static int progress(const char *bootstrap, const char *pipeline)
{
    AUTO(arena) Arena *names = arena_new("names");
    Log *log = NULL;
    require(kafka_log_open(bootstrap, NULL, 0, &log));
    print_progress(log, arena_printf(names, "%s.progress", pipeline));
    log_close(log);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "leaders") == 0) {
        return leaders(argv[2], argv[3]);
    }
    if (argc == 4 && strcmp(argv[1], "progress") == 0) {
        return progress(argv[2], argv[3]);
    }
    (void)fprintf(stderr, "usage: chaos_tool leaders BOOTSTRAP TOPIC\n"
                          "       chaos_tool progress BOOTSTRAP PIPELINE\n");
    return 2;
}
