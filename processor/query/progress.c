/* The progress line. It is written by the thread that pulls, now and then between batches: no
 * thread of its own, and nothing to take away in the middle of something else. */
#include "processor/query/progress.h"

#include <stdio.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { FIRST_AFTER_MS = 1000, EVERY_MS = 200 };

typedef struct WatchedSource {
    BatchSource source;
    BatchSource *inner;
    Progress *progress;
    const FileTable *table;
} WatchedSource;

void progress_start(Progress *progress, bool enabled)
{
    int64_t now = clock_monotonic_ms();
    *progress = (Progress){.enabled = enabled, .start_ms = now, .next_ms = now + FIRST_AFTER_MS};
}

void progress_hide(Progress *progress, bool stop)
{
    if (progress->shown) {
        (void)fputs("\r\033[K", stderr);
        progress->shown = false;
    }
    progress->enabled = progress->enabled && !stop;
}

static void show(Progress *progress, int64_t now)
{
    uint64_t read = 0;
    uint64_t total = 0;
    double seconds = (double)(now - progress->start_ms) / 1000;
    file_table_progress(progress->table, &read, &total);
    (void)fprintf(stderr, "\r\033[K%.0f s  %.1f million rows", seconds,
                  (double)progress->rows / 1e6);
    if (total > 0) {
        (void)fprintf(stderr, "  %.0f %% of %.1f MB", 100.0 * (double)read / (double)total,
                      (double)total / 1e6);
    }
    progress->shown = true;
    progress->next_ms = now + EVERY_MS;
}

static Error *watched_next(BatchSource *base, Arena *arena, Batch **ret_batch)
{
    WatchedSource *source = (WatchedSource *)base;
    Progress *progress = source->progress;
    Batch *batch = NULL;
    TRY(source->inner->next(source->inner, arena, &batch));
    *ret_batch = batch;
    if (batch != NULL && progress->enabled) {
        int64_t now = clock_monotonic_ms();
        progress->rows += batch->row_count;
        progress->table = source->table;
        if (now >= progress->next_ms) {
            show(progress, now);
        }
    }
    return NULL;
}

static void watched_close(BatchSource *base)
{
    WatchedSource *source = (WatchedSource *)base;
    source->inner->close(source->inner);
    mem_free(source);
}

BatchSource *progress_watch(Progress *progress, const FileTable *table, BatchSource *inner)
{
    if (!progress->enabled) {
        return inner;
    }
    WatchedSource *source = mem_new(WatchedSource);
    *source = (WatchedSource){.inner = inner, .progress = progress, .table = table};
    source->source = (BatchSource){
        .next = watched_next, .estimated_rows = inner->estimated_rows, .close = watched_close};
    return &source->source;
}
