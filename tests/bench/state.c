/* The state alone: CPU seconds a million rows of writing sorted runs (with what compaction adds),
 * and microseconds of looking up keys that are there and keys that are not.
 *
 *     bench_state [KEYS] [ROWS] [MEMORY MIB] [BYTES A ROW]
 *
 * ROWS random changes of KEYS keys go in by runs of the state's share of memory, as in a restore.
 * Look-ups come in batches of 2,000, as in an epoch. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "processor/base/buffer.h"
#include "processor/base/clock.h"
#include "state/sizes.h"
#include "state/state.h"

enum { SHARDS = 4, LOOKUP_BATCH = 2000, LOOKUPS = 100000, KEY_SIZE = 9 };

typedef struct Work {
    TableStore *store;
    uint64_t random;
    uint64_t keys;
    uint64_t rows;
    size_t row_size;
    char *row;
} Work;

static void check(Error *error)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        (void)fprintf(stderr, "%s", buffer_cstr(&text));
        exit(1);
    }
}

static uint64_t draw(Work *work)
{
    work->random ^= work->random << 13;
    work->random ^= work->random >> 7;
    work->random ^= work->random << 17;
    return work->random;
}

/* who: RUSAGE_SELF with, RUSAGE_THREAD without what RocksDB does beside. */
static double cpu_seconds(int who)
{
    struct rusage usage;
    (void)getrusage(who, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
           (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

/* A BIGINT key as key_encode writes it. Even numbers are stored, odd ones are not. */
static Str make_key(char *out, uint64_t number)
{
    out[0] = 1;
    uint64_t bytes = __builtin_bswap64(number ^ UINT64_C(1) << 63);
    memcpy(out + 1, &bytes, sizeof bytes);
    return (Str){out, KEY_SIZE};
}

/* Text that compresses about as well as rows do. */
static Str make_row(Work *work)
{
    static const char words[] = "open paid shipped closed region-1 region-2 2026-03-01T00:00:00 ";
    for (size_t at = 0; at < work->row_size; at += 8) {
        uint64_t bits = draw(work);
        const char *from = (bits & 3) == 0 ? (const char *)&bits : &words[(bits >> 8) % 48];
        memcpy(work->row + at, from, 8);
    }
    return (Str){work->row, work->row_size};
}

/* Parts of the memory, beside all of it. */
static void report_memory(State *state)
{
    StateSizes sizes;
    state_sizes(state, &sizes);
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("cache_mib=%llu filters_mib=%llu buffers_mib=%llu runs_mib=%llu peak_mib=%ld\n",
                 (unsigned long long)sizes.block_cache_bytes >> 20,
                 (unsigned long long)sizes.filter_bytes >> 20,
                 (unsigned long long)sizes.write_buffers_bytes >> 20,
                 (unsigned long long)sizes.run_bytes >> 20, usage.ru_maxrss / 1024);
}

static void report(const char *what, uint64_t count, double cpu, int64_t started_us)
{
    double seconds = (double)(clock_monotonic_us() - started_us) / 1e6;
    (void)printf("%-16s %9llu  cpu_s_per_million=%.3f  wall_s_per_million=%.3f\n", what,
                 (unsigned long long)count, cpu / (double)count * 1e6,
                 seconds / (double)count * 1e6);
}

static void write_rows(Work *work)
{
    double cpu = cpu_seconds(RUSAGE_SELF);
    int64_t started_us = clock_monotonic_us();
    StoreRun *run = store_run_new(work->store);
    StoreRun *others[] = {store_run_new(work->store), store_run_new(work->store)};
    char key[KEY_SIZE];
    char sequence[KEY_SIZE];
    unsigned files = 0;
    for (uint64_t i = 0; i < work->rows; i++) {
        /* Every key once, then at random: a permutation by an odd factor. */
        uint64_t number = i < work->keys ? i * 2654435761U % work->keys : draw(work) % work->keys;
        Str row = make_row(work);
        store_run_put(run, (uint32_t)(number % SHARDS), make_key(key, number * 2), 0,
                      make_key(sequence, i), row);
        if (store_run_is_full(run) || i + 1 == work->rows) {
            check(store_run_write(run));
            files++;
        }
    }
    store_run_free(run);
    store_run_free(others[0]);
    store_run_free(others[1]);
    report("write", work->rows, cpu_seconds(RUSAGE_SELF) - cpu, started_us);
    cpu = cpu_seconds(RUSAGE_SELF);
    started_us = clock_monotonic_us();
    while (cpu_seconds(RUSAGE_SELF) - cpu > 0.01 || clock_monotonic_us() - started_us < 300000) {
        cpu = cpu_seconds(RUSAGE_SELF);
        clock_sleep_ms(100);
    }
    (void)printf("%u runs; compaction went on for %.1f s\n", files,
                 (double)(clock_monotonic_us() - started_us) / 1e6);
}

static void look_up(Work *work, const char *what, unsigned odd)
{
    Arena *arena = arena_new("bench");
    uint32_t *shards = calloc(LOOKUP_BATCH, sizeof *shards);
    Str *keys = calloc(LOOKUP_BATCH, sizeof *keys);
    KeyState *states = calloc(LOOKUP_BATCH, sizeof *states);
    char(*texts)[KEY_SIZE] = calloc(LOOKUP_BATCH, KEY_SIZE);
    uint64_t found = 0;
    for (int warm = 1; warm >= 0; warm--) {
        double cpu = cpu_seconds(RUSAGE_THREAD);
        int64_t started_us = clock_monotonic_us();
        found = 0;
        for (int done = 0; done < LOOKUPS; done += LOOKUP_BATCH) {
            for (int i = 0; i < LOOKUP_BATCH; i++) {
                uint64_t number = draw(work) % work->keys;
                shards[i] = (uint32_t)(number % SHARDS);
                keys[i] = make_key(texts[i], number * 2 + odd);
            }
            check(table_store_lookup(work->store, shards, keys, LOOKUP_BATCH, arena, states));
            for (int i = 0; i < LOOKUP_BATCH; i++) {
                found += states[i].count;
            }
            arena_reset(arena);
        }
        if (warm == 0) {
            report(what, LOOKUPS, cpu_seconds(RUSAGE_THREAD) - cpu, started_us);
        }
    }
    if (found != (odd ? 0 : LOOKUPS)) {
        (void)printf("wrong: %llu found\n", (unsigned long long)found);
        exit(1);
    }
    free(shards);
    free(keys);
    free(states);
    free(texts);
    arena_free(arena);
}

int main(int argc, char **argv)
{
    Work work = {.random = 88172645463325252U};
    work.keys = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    work.rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 2 * work.keys;
    size_t memory = (size_t)(argc > 3 ? strtoul(argv[3], NULL, 10) : 128) << 20;
    work.row_size = argc > 4 ? strtoul(argv[4], NULL, 10) : 120;
    work.row = calloc(1, work.row_size + 8);
    char dir[] = "/tmp/tidemark-bench-XXXXXX";
    if (work.row == NULL || mkdtemp(dir) == NULL) {
        return 1;
    }
    StateOptions options = {.dir = dir, .pipeline = "bench", .memory_bytes = memory};
    State *state = NULL;
    check(state_open(&options, &state, NULL));
    check(state_table(state, STR("t"), STR("t"), SHARDS, &work.store));
    write_rows(&work);
    report_memory(state);
    look_up(&work, "look up, miss", 1);
    look_up(&work, "look up, hit", 0);
    report_memory(state);
    state_close(state);
    if (getenv("KEEP") == NULL) {
        state_remove(dir);
    }
    free(work.row);
    return 0;
}
