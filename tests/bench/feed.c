/* Fills a topic with the rows of a work (common/rows.h). Makes the topic when it is not there.
 *
 *     bench_feed BOOTSTRAP TOPIC WORK ROWS [keys=N] [partitions=4] [seed=1] [base=0]
 *
 * `base`: sequences begin behind it, so that more rows can follow over the same keys. */
#include <stdio.h>

#include "processor/base/memory.h"
#include "tests/bench/common/bench.h"
#include "tests/bench/common/rows.h"

#include "processor/base/banned.h"

enum { CHUNK = 1000 };

static void make_topic(Log *log, const char *topic, int partitions)
{
    LogConfigEntry keep = {"retention.ms", "-1"};
    LogTopicSpec spec = {.name = topic,
                         .partitions = partitions,
                         .replication_factor = -1,
                         .config = &keep,
                         .config_count = 1};
    Error *error = log_topic_create(log, &spec, BENCH_TIMEOUT_MS);
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_EXISTS) {
        error_free(error);
        return;
    }
    bench_check(error);
}

static void on_delivery(void *context, const LogDelivery *delivery)
{
    (void)context;
    if (delivery->error != NULL) {
        bench_check(error_copy(delivery->error));
    }
}

/* The rows of one chunk lie in one buffer, which moves while it grows. */
static void produce_chunk(LogProducer *producer, const char *topic, RowSource *rows, int64_t first,
                          size_t count, Buffer *bytes)
{
    size_t ends[CHUNK][2];
    LogOutput outputs[CHUNK];
    AUTO_BUFFER Buffer key = {0};
    buffer_clear(bytes);
    for (size_t i = 0; i < count; i++) {
        AUTO_BUFFER Buffer mark = {0};
        buffer_printf(&mark, "n%lld", (long long)first + (long long)i);
        buffer_clear(&key);
        size_t start = bytes->size;
        row_source_next(rows, buffer_str(&mark), &key, bytes);
        ends[i][0] = bytes->size - start;
        buffer_append_str(bytes, buffer_str(&key));
        ends[i][1] = key.size;
    }
    const char *at = bytes->data;
    for (size_t i = 0; i < count; i++) {
        outputs[i] = (LogOutput){.topic = topic,
                                 .partition = LOG_PARTITION_BY_KEY,
                                 .value = {at, ends[i][0]},
                                 .key = {at + ends[i][0], ends[i][1]}};
        at += ends[i][0] + ends[i][1];
    }
    bench_check(log_producer_produce(producer, outputs, count, NULL));
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        bench_usage("bench_feed BOOTSTRAP TOPIC WORK ROWS [keys=N] [partitions=N] [seed=N] "
                    "[base=N]");
    }
    const char *topic = argv[2];
    Work work = work_from_name(argv[3]);
    int64_t count = bench_number(argv[4]);
    char **options = argv + 5;
    int64_t base = bench_option(options, "base", 0);
    Log *log = bench_connect(argv[1]);
    make_topic(log, topic, (int)bench_option(options, "partitions", 4));
    RowSource *rows = row_source_new(work, bench_option(options, "keys", work_default_keys(work)),
                                     (uint64_t)bench_option(options, "seed", 1), base);
    LogProducer *producer = NULL;
    bench_check(
        log_producer_open(log, &(LogProducerOptions){.on_delivery = on_delivery}, &producer));
    AUTO_BUFFER Buffer bytes = {0};
    double started = bench_seconds();
    for (int64_t i = 0; i < count; i += CHUNK) {
        size_t size = count - i < CHUNK ? (size_t)(count - i) : CHUNK;
        produce_chunk(producer, topic, rows, base + i, size, &bytes);
    }
    bench_check(log_producer_flush(producer, BENCH_TIMEOUT_MS));
    double seconds = bench_seconds() - started;
    (void)printf("fed topic=%s rows=%lld seconds=%.1f\n", topic, (long long)count, seconds);
    log_producer_close(producer);
    row_source_free(rows);
    log_close(log);
    return 0;
}
