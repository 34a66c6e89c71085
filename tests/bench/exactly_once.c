/* What exactly once costs: one update of a topology, with transactions as always or without.
 *
 *     bench_exactly_once TOPOLOGY on|off
 *
 * Off: the log of this process gets other operations. Its producers are idempotent ones without a
 * transactional id; begin does nothing, commit and abort wait for the deliveries, positions go into
 * the progress topic as ever but not into the consumer group. The product itself cannot do that and
 * knows nothing of it: what it would write after a crash would be wrong. */
#include <stdio.h>
#include <string.h>

#include "tests/bench/common/bench.h"
#include "tests/bench/common/update.h"

#include "processor/base/banned.h"

/* The library's own operations, and those that take their place. Set once, before any producer. */
static const LogOps *transactional;
static LogOps plain;

static Error *open_plain(Log *log, const LogProducerOptions *options, LogProducer **ret)
{
    LogProducerOptions changed = *options;
    changed.transactional_id = NULL;
    TRY(transactional->producer_open(log, &changed, ret));
    (*ret)->ops = &plain;
    return NULL;
}

static Error *do_nothing(LogProducer *producer)
{
    (void)producer;
    return NULL;
}

static Error *do_nothing_in_time(LogProducer *producer, int timeout_ms)
{
    (void)timeout_ms;
    return do_nothing(producer);
}

static Error *send_no_offsets(LogProducer *producer, const char *group, const LogPosition *offsets,
                              size_t count, int timeout_ms)
{
    (void)group;
    (void)offsets;
    (void)count;
    return do_nothing_in_time(producer, timeout_ms);
}

static Error *flush(LogProducer *producer, int timeout_ms)
{
    return transactional->flush(producer, timeout_ms);
}

static void without_transactions(Log *log)
{
    transactional = log->ops;
    plain = *log->ops;
    plain.producer_open = open_plain;
    plain.init_transactions = do_nothing_in_time;
    plain.begin = do_nothing;
    plain.send_offsets = send_no_offsets;
    plain.commit = flush;
    plain.abort = flush;
    log->ops = &plain;
}

int main(int argc, char **argv)
{
    bool on = argc == 3 && strcmp(argv[2], "on") == 0;
    bool off = argc == 3 && strcmp(argv[2], "off") == 0;
    if (!on && !off) {
        bench_usage("bench_exactly_once TOPOLOGY on|off");
    }
    BenchUpdate update = bench_update(argv[1], off ? without_transactions : NULL);
    (void)printf("transactions=%s rows=%llu seconds=%.3f rows_per_s=%.0f cpu_s_per_million=%.3f\n",
                 argv[2], (unsigned long long)update.rows, update.seconds,
                 (double)update.rows / update.seconds, update.cpu / (double)update.rows * 1e6);
    return 0;
}
