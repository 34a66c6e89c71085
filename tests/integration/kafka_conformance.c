/* The real client passes the conformance suite of the log interface on the broker at
 * TIDEMARK_BOOTSTRAP. An argument selects cases by a part of their name. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "connectors/kafka/kafka.h"
#include "processor/base/clock.h"
#include "tests/support/log_conformance.h"

#include "processor/base/banned.h"

static void require(Error *error)
{
    if (error != NULL) {
        Buffer text = {0};
        error_format(error, &text);
        (void)fputs(buffer_cstr(&text), stderr);
        exit(1);
    }
}

static Log *connect_to(void *context)
{
    Log *log = NULL;
    require(kafka_log_open(context, NULL, 0, &log));
    return log;
}

/* A broker never cleans the active segment; a record written after segment.ms rolls it. Two: the
 * first begins a new segment, the second one more, should the first have come too soon. */
static void compact(void *context, Log *log, const char *topic)
{
    (void)context;
    LogTopicDescription description = {0};
    require(log_topic_describe(log, topic, 10000, &description));
    LogProducer *producer = NULL;
    require(log_producer_open(log, &(LogProducerOptions){0}, &producer));
    for (int round = 0; round < 2; round++) {
        clock_sleep_ms(700);
        for (int partition = 0; partition < description.partition_count; partition++) {
            LogOutput roll = {.topic = topic,
                              .partition = partition,
                              .key = STR(LOG_CONFORMANCE_ROLL_KEY),
                              .value = STR("roll")};
            require(log_producer_produce(producer, &roll, 1, NULL));
        }
        require(log_producer_flush(producer, 10000));
    }
    log_producer_close(producer);
}

int main(int argc, char **argv)
{
    char *bootstrap = getenv("TIDEMARK_BOOTSTRAP");
    if (bootstrap == NULL) {
        (void)fprintf(stderr, "TIDEMARK_BOOTSTRAP is not set (scripts/kafka start prints it)\n");
        return 1;
    }
    char prefix[64];
    (void)snprintf(prefix, sizeof prefix, "conformance-%d-%lld", (int)getpid(),
                   (long long)clock_now_us(NULL));
    LogConformanceTarget target = {.prefix = prefix,
                                   .slow = true,
                                   .only = argc > 1 ? argv[1] : NULL,
                                   .connect = connect_to,
                                   .compact = compact,
                                   .context = bootstrap};
    return log_conformance_run(&target);
}
