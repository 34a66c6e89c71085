/* Where the sources end. A log that does not answer is asked again later: the numbers stay as they
 * were, and the flows report the trouble. */
#include "processor/run/metrics_lag.h"

#include <pthread.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { INTERVAL_MS = 5000, CALL_MS = 500, WAIT_MS = 50 };

struct LagWatch {
    LagWatchOptions options;
    pthread_t thread;
    atomic_bool closing;
};

static bool must_end(const LagWatch *watch)
{
    return atomic_load(&watch->closing) ||
           (watch->options.stop != NULL && atomic_load(watch->options.stop));
}

/* Every partition of a topic that a flow reads; a call that fails ends the round. */
static Error *look_at_input(LagWatch *watch, size_t flow, size_t input)
{
    const LagWatchOptions *options = &watch->options;
    const char *topic = options->program->tables[flow].inputs[input].source->topic;
    LogTopicDescription description = {0};
    TRY(log_topic_describe(options->log, topic, CALL_MS, &description));
    for (int p = 0; p < description.partition_count && !must_end(watch); p++) {
        int64_t start = 0;
        int64_t end = 0;
        TRY(log_watermarks(options->log, topic, p, READ_COMMITTED, CALL_MS, &start, &end));
        flow_meter_set_end(metrics_flow(options->metrics, flow), input, p, end);
    }
    return NULL;
}

static void look_at_flow(LagWatch *watch, size_t flow)
{
    size_t count = watch->options.program->tables[flow].input_count;
    for (size_t i = 0; i < count && !must_end(watch); i++) {
        error_free(look_at_input(watch, flow, i));
    }
}

static void *watch_ends(void *argument)
{
    LagWatch *watch = argument;
    int interval_ms = watch->options.interval_ms == 0 ? INTERVAL_MS : watch->options.interval_ms;
    while (!must_end(watch)) {
        for (size_t i = 0; i < watch->options.program->table_count && !must_end(watch); i++) {
            look_at_flow(watch, i);
        }
        int64_t until = clock_monotonic_ms() + interval_ms;
        while (!must_end(watch) && clock_monotonic_ms() < until) {
            clock_sleep_ms(WAIT_MS < interval_ms ? WAIT_MS : interval_ms);
        }
    }
    return NULL;
}

Error *lag_watch_open(const LagWatchOptions *options, LagWatch **ret_watch)
{
    LagWatch *watch = mem_new(LagWatch);
    watch->options = *options;
    if (pthread_create(&watch->thread, NULL, watch_ends, watch) != 0) {
        mem_free(watch);
        return error_new(ERROR_INTERNAL_ERROR, "A thread could not be started.");
    }
    *ret_watch = watch;
    return NULL;
}

void lag_watch_close(LagWatch *watch)
{
    if (watch != NULL) {
        atomic_store(&watch->closing, true);
        (void)pthread_join(watch->thread, NULL);
        mem_free(watch);
    }
}
