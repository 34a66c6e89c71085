/* Latency through an engine, from outside: one thread writes rows at an even pace, each with the
 * time it was handed to the producer; the other reads the output topic read_committed and takes the
 * time when it has the row. Both sides of a race are measured by this program, with the same
 * clients.
 *
 *     bench_latency BOOTSTRAP INPUT OUTPUT WORK RATE SECONDS WARMUP [keys=N] [base=N]
 *
 * Rows of the first WARMUP seconds do not count. Rows that were replaced before they were committed
 * never come out; `received` tells how many did. `pacer_late_ms` is the most by which the pacer was
 * behind its plan: when it is large the machine was too busy for the rate. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "tests/bench/common/bench.h"
#include "tests/bench/common/rows.h"

#include "processor/base/banned.h"

enum {
    BURST_MAX = 1000,
    RECORDS_A_POLL = 1000,
    IDLE_MS = 3000,   /* after the last row: nothing more comes */
    BUCKET_US = 100,  /* of the histogram */
    BUCKETS = 600000, /* a minute */
    US = 1000000,
};

typedef struct Pacer {
    Log *log;
    const char *topic;
    RowSource *rows;
    int64_t rate;
    int64_t count;
    int64_t late_us_max;
    atomic_bool finished;
} Pacer;

static void on_delivery(void *context, const LogDelivery *delivery)
{
    (void)context;
    if (delivery->error != NULL) {
        bench_check(error_copy(delivery->error));
    }
}

static void send_row(Pacer *pacer, LogProducer *producer, Buffer *key, Buffer *value)
{
    AUTO_BUFFER Buffer mark = {0};
    buffer_printf(&mark, "T%lld", (long long)clock_monotonic_us());
    buffer_clear(key);
    buffer_clear(value);
    row_source_next(pacer->rows, buffer_str(&mark), key, value);
    LogOutput output = {.topic = pacer->topic,
                        .partition = LOG_PARTITION_BY_KEY,
                        .key = buffer_str(key),
                        .value = buffer_str(value)};
    bench_check(log_producer_produce(producer, &output, 1, NULL));
}

static void *pace(void *argument)
{
    Pacer *pacer = argument;
    LogProducer *producer = NULL;
    bench_check(log_producer_open(pacer->log, &(LogProducerOptions){.on_delivery = on_delivery},
                                  &producer));
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer value = {0};
    int64_t started_us = clock_monotonic_us();
    for (int64_t sent = 0; sent < pacer->count;) {
        int64_t elapsed_us = clock_monotonic_us() - started_us;
        int64_t due = elapsed_us * pacer->rate / US + 1;
        if (sent >= due) {
            clock_sleep_ms(1);
            continue;
        }
        int64_t late_us = elapsed_us - sent * US / pacer->rate;
        if (sent > pacer->rate && late_us > pacer->late_us_max) { /* not while it connects */
            pacer->late_us_max = late_us;
        }
        for (int burst = 0; sent < due && sent < pacer->count && burst < BURST_MAX; burst++) {
            send_row(pacer, producer, &key, &value);
            sent++;
        }
        log_producer_poll(producer);
    }
    bench_check(log_producer_flush(producer, BENCH_TIMEOUT_MS));
    log_producer_close(producer);
    atomic_store(&pacer->finished, true);
    return NULL;
}

/* ------------------------------------------------------------------------------ figures ---- */

typedef struct Latencies {
    int64_t counts_from_us; /* rows sent before do not count */
    int64_t count;
    int64_t max_us;
    uint32_t *buckets;
} Latencies;

static void take_records(Latencies *latencies, const LogPoll *poll)
{
    int64_t now_us = clock_monotonic_us();
    for (size_t i = 0; i < poll->record_count; i++) {
        RowText row;
        int64_t sent_us = 0;
        const LogRecord *record = &poll->records[i];
        if (record->value.data == NULL || !row_text_read(record->value, &row)) {
            continue;
        }
        Str mark = str_cut(&row.note, ' ');
        if (mark.size < 2 || mark.data[0] != 'T' ||
            !str_to_int64((Str){mark.data + 1, mark.size - 1}, &sent_us) ||
            sent_us < latencies->counts_from_us) {
            continue;
        }
        int64_t us = now_us - sent_us;
        int64_t bucket = us / BUCKET_US;
        latencies->buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
        latencies->count++;
        latencies->max_us = us > latencies->max_us ? us : latencies->max_us;
    }
}

static double percentile_ms(const Latencies *latencies, double part)
{
    int64_t wanted = (int64_t)((double)latencies->count * part);
    int64_t seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
        seen += latencies->buckets[i];
        if (seen > wanted) {
            return (double)(i + 1) * BUCKET_US / 1000;
        }
    }
    return (double)latencies->max_us / 1000;
}

static void read_output(LogConsumer *reader, Pacer *pacer, Latencies *latencies)
{
    AUTO(arena) Arena *arena = arena_new("poll");
    int64_t last_ms = clock_monotonic_ms();
    while (!atomic_load(&pacer->finished) || clock_monotonic_ms() - last_ms < IDLE_MS) {
        LogPoll poll = {0};
        arena_reset(arena);
        bench_check(log_consumer_poll(reader, 100, RECORDS_A_POLL, arena, &poll));
        take_records(latencies, &poll);
        if (poll.record_count > 0 || !atomic_load(&pacer->finished)) {
            last_ms = clock_monotonic_ms();
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 8) {
        bench_usage("bench_latency BOOTSTRAP INPUT OUTPUT WORK RATE SECONDS WARMUP [keys=N] "
                    "[base=N]");
    }
    Work work = work_from_name(argv[4]);
    int64_t rate = bench_number(argv[5]);
    int64_t warmup = bench_number(argv[7]);
    Log *log = bench_connect(argv[1]);
    BenchEnds ends = bench_ends(log, argv[3], READ_COMMITTED);
    LogConsumer *reader = bench_reader(log, argv[3], &ends);
    Pacer pacer = {
        .log = log,
        .topic = argv[2],
        .rate = rate,
        .count = rate * bench_number(argv[6]),
        .rows = row_source_new(work, bench_option(argv + 8, "keys", work_default_keys(work)),
                               (uint64_t)clock_monotonic_us(), bench_option(argv + 8, "base", 0))};
    Latencies latencies = {.counts_from_us = clock_monotonic_us() + warmup * US};
    latencies.buckets = mem_alloc_array(BUCKETS, sizeof *latencies.buckets);
    pthread_t thread;
    if (pthread_create(&thread, NULL, pace, &pacer) != 0) {
        return 1;
    }
    read_output(reader, &pacer, &latencies);
    (void)pthread_join(thread, NULL);
    (void)printf("latency sent=%lld received=%lld p50_ms=%.1f p90_ms=%.1f p99_ms=%.1f "
                 "p999_ms=%.1f max_ms=%.1f pacer_late_ms=%.1f\n",
                 (long long)pacer.count, (long long)latencies.count, percentile_ms(&latencies, 0.5),
                 percentile_ms(&latencies, 0.9), percentile_ms(&latencies, 0.99),
                 percentile_ms(&latencies, 0.999), (double)latencies.max_us / 1000,
                 (double)pacer.late_us_max / 1000);
    log_consumer_close(reader);
    row_source_free(pacer.rows);
    mem_free(latencies.buckets);
    mem_free(ends.offsets);
    log_close(log);
    return latencies.count > 0 ? 0 : 1;
}
