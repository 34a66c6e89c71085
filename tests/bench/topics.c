/* Makes and deletes topics; asks how many records one has.
 *
 *     bench_topics BOOTSTRAP create PARTITIONS TOPIC [NAME=VALUE]…    with these configs
 *     bench_topics BOOTSTRAP delete TOPIC…                            unknown ones are no mistake
 *     bench_topics BOOTSTRAP count TOPIC                              committed records, by reading
 */
#include <stdio.h>

#include "processor/base/memory.h"
#include "tests/bench/common/bench.h"

#include "processor/base/banned.h"

static const char usage[] = "bench_topics BOOTSTRAP create PARTITIONS TOPIC [NAME=VALUE]… | delete "
                            "TOPIC… | count TOPIC | open TOPIC";

enum { CONFIGS_MAX = 16 };

static void create(Log *log, char **arguments)
{
    if (arguments[0] == NULL || arguments[1] == NULL) {
        bench_usage(usage);
    }
    LogConfigEntry config[CONFIGS_MAX];
    LogTopicSpec spec = {.partitions = (int)bench_number(arguments[0]),
                         .name = arguments[1],
                         .replication_factor = -1,
                         .config = config};
    for (char **entry = arguments + 2; *entry != NULL && spec.config_count < CONFIGS_MAX; entry++) {
        char *equals = strchr(*entry, '=');
        if (equals == NULL) {
            bench_usage(usage);
        }
        *equals = '\0';
        config[spec.config_count++] = (LogConfigEntry){*entry, equals + 1};
    }
    bench_check(log_topic_create(log, &spec, BENCH_TIMEOUT_MS));
}

static void count_one(void *context, const LogRecord *record)
{
    (void)record;
    ++*(long *)context;
}

/* Records of an open transaction lie between the last stable offset and the end. */
static bool has_open_transaction(Log *log, const char *topic)
{
    BenchEnds stable = bench_ends(log, topic, READ_COMMITTED);
    BenchEnds ends = bench_ends(log, topic, READ_UNCOMMITTED);
    bool open = false;
    for (int p = 0; p < ends.count; p++) {
        open = open || stable.offsets[p] < ends.offsets[p];
    }
    mem_free(stable.offsets);
    mem_free(ends.offsets);
    return open;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        bench_usage(usage);
    }
    Log *log = bench_connect(argv[1]);
    if (strcmp(argv[2], "create") == 0) {
        create(log, argv + 3);
    } else if (strcmp(argv[2], "delete") == 0) {
        for (char **topic = argv + 3; *topic != NULL; topic++) {
            bench_check(log_topic_delete(log, *topic, BENCH_TIMEOUT_MS));
        }
    } else if (strcmp(argv[2], "count") == 0) {
        long count = 0;
        bench_read_topic(log, argv[3], count_one, &count);
        (void)printf("records=%ld\n", count);
    } else if (strcmp(argv[2], "open") == 0) {
        (void)printf("open=%d\n", has_open_transaction(log, argv[3]));
    } else {
        bench_usage(usage);
    }
    log_close(log);
    return 0;
}
