/* Greenwald and Khanna's summary of quantiles.
 *
 * Values wait in a head; when it is full they are sorted and merged into the samples, each with the
 * uncertainty its rank has at that time, and neighbours whose ranks stay within the error are
 * joined from the right to the left. */
#include "processor/exec/aggregates/quantiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "processor/base/banned.h"

enum { HEAD_MAX = 50000, COMPRESS_MIN = 10000, HEAD_MIN = 8 };

/* NaN is the greatest. */
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y || (isnan(y) && !isnan(x)) ? -1 : x > y || (isnan(x) && !isnan(y));
}

static QuantileSample *reserve(Quantiles *q, uint32_t count, Arena *arena)
{
    return arena_alloc(arena, arena_array_size_((size_t)count + 1, sizeof *q->samples));
}

static void merge_head(Quantiles *q, double error, Arena *arena)
{
    if (q->head_count == 0) {
        return;
    }
    qsort(q->head, q->head_count, sizeof(double), by_value);
    QuantileSample *merged = reserve(q, q->sample_count + q->head_count, arena);
    uint32_t count = 0;
    uint32_t old = 0;
    for (uint32_t i = 0; i < q->head_count; i++) {
        while (old < q->sample_count && by_value(&q->samples[old].value, &q->head[i]) <= 0) {
            merged[count++] = q->samples[old++];
        }
        q->count++;
        bool extreme = count == 0 || (old == q->sample_count && i == q->head_count - 1);
        int64_t delta = extreme ? 0 : (int64_t)floor(2 * error * (double)q->count);
        merged[count++] = (QuantileSample){q->head[i], 1, delta};
    }
    while (old < q->sample_count) {
        merged[count++] = q->samples[old++];
    }
    q->samples = merged;
    q->sample_count = count;
    q->head_count = 0;
}

/* Joins from the last sample on, which stays; the first one is kept too. */
static void join_samples(Quantiles *q, double error)
{
    if (q->sample_count == 0) {
        return;
    }
    double threshold = 2 * error * (double)q->count;
    QuantileSample first = q->samples[0];
    uint32_t to = q->sample_count; /* results are written backwards, in place */
    QuantileSample head = q->samples[q->sample_count - 1];
    for (uint32_t i = q->sample_count - 1; i-- > 1;) {
        QuantileSample sample = q->samples[i];
        if ((double)(sample.g + head.g + head.delta) < threshold) {
            head.g += sample.g;
        } else {
            q->samples[--to] = head;
            head = sample;
        }
    }
    q->samples[--to] = head;
    if (q->sample_count > 1 && by_value(&first.value, &head.value) <= 0) {
        q->samples[--to] = first;
    }
    q->sample_count -= to;
    memmove(q->samples, q->samples + to, q->sample_count * sizeof *q->samples);
}

void quantiles_compress(Quantiles *q, double error, Arena *arena)
{
    merge_head(q, error, arena);
    join_samples(q, error);
}

void quantiles_add(Quantiles *q, double value, double error, Arena *arena)
{
    if (q->head_count == q->head_capacity) {
        q->head_capacity = q->head_capacity == 0 ? HEAD_MIN : q->head_capacity * 2;
        double *head = arena_alloc(arena, arena_array_size_(q->head_capacity, sizeof(double)));
        if (q->head_count > 0) {
            memcpy(head, q->head, q->head_count * sizeof(double));
        }
        q->head = head;
    }
    q->head[q->head_count++] = value;
    if (q->head_count >= HEAD_MAX) {
        merge_head(q, error, arena);
        if (q->sample_count >= COMPRESS_MIN) {
            join_samples(q, error);
        }
    }
}

double quantiles_find(const Quantiles *q, double fraction, double error)
{
    if (fraction <= error || q->sample_count == 1) {
        return q->samples[0].value;
    }
    if (fraction >= 1 - error) {
        return q->samples[q->sample_count - 1].value;
    }
    int64_t widest = INT64_MIN;
    for (uint32_t i = 0; i < q->sample_count; i++) {
        int64_t width = q->samples[i].g + q->samples[i].delta;
        widest = width > widest ? width : widest;
    }
    int64_t tolerance = widest / 2;
    int64_t rank = (int64_t)ceil(fraction * (double)q->count);
    int64_t rank_min = q->samples[0].g;
    for (uint32_t i = 0; i + 1 < q->sample_count; i++) {
        int64_t rank_max = rank_min + q->samples[i].delta;
        if (rank_max - tolerance <= rank && rank <= rank_min + tolerance) {
            return q->samples[i].value;
        }
        rank_min += q->samples[i + 1].g;
    }
    return q->samples[q->sample_count - 1].value;
}
