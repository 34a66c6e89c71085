/* Ranking functions: they count rows and groups of peers. */
#include "processor/exec/window.h"

#include "processor/base/banned.h"

static void row_number(const WindowCall *call, const WindowPartition *partition, Vector *result)
{
    (void)call;
    int32_t *values = VECTOR_DATA(result, int32_t);
    for (uint32_t row = partition->begin; row < partition->end; row++) {
        values[row] = (int32_t)(row - partition->begin + 1);
    }
}

/* RANK(name, CType, value): `value` of every row of a group of peers, number `group`, which begins
 * at `first` and ends before `last`; `size` are the partition's rows. */
#define RANK(name, CType, value)                                                                   \
    static void name(const WindowCall *call, const WindowPartition *partition, Vector *result)     \
    {                                                                                              \
        (void)call;                                                                                \
        CType *values = VECTOR_DATA(result, CType);                                                \
        const uint32_t size UNUSED = partition->end - partition->begin;                            \
        for (uint32_t group = 0; group < partition->peer_count; group++) {                         \
            const uint32_t first UNUSED = partition->peers[group] - partition->begin;              \
            const uint32_t last = partition->peers[group + 1] - partition->begin;                  \
            const CType same = value;                                                              \
            for (uint32_t row = partition->peers[group]; row < partition->begin + last; row++) {   \
                values[row] = same;                                                                \
            }                                                                                      \
        }                                                                                          \
    }

RANK(rank, int32_t, (int32_t)(first + 1))
RANK(dense_rank, int32_t, (int32_t)(group + 1))
RANK(percent_rank, double, size == 1 ? 0.0 : (double)first / (double)(size - 1))
RANK(cume_dist, double, (double)last / (double)size)

/* The first buckets have one row more where the rows do not come out even. */
static void ntile(const WindowCall *call, const WindowPartition *partition, Vector *result)
{
    int32_t *values = VECTOR_DATA(result, int32_t);
    uint64_t size = partition->end - partition->begin;
    uint64_t buckets = (uint64_t)call->constant;
    uint64_t small = size / buckets;
    uint64_t large_rows = size % buckets * (small + 1); /* rows of the larger buckets */
    for (uint64_t i = 0; i < size; i++) {
        uint64_t bucket =
            i < large_rows ? i / (small + 1) : size % buckets + (i - large_rows) / small;
        values[partition->begin + i] = (int32_t)(bucket + 1);
    }
}

const WindowKernel window_row_number = {.rank = row_number};
const WindowKernel window_rank = {.rank = rank};
const WindowKernel window_dense_rank = {.rank = dense_rank};
const WindowKernel window_percent_rank = {.rank = percent_rank};
const WindowKernel window_cume_dist = {.rank = cume_dist};
const WindowKernel window_ntile = {.rank = ntile, .constant = 1};
