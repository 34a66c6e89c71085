/* Functions that take a value from another row: a distance away, or of the frame. With IGNORE NULLS
 * they count only rows that have a value. */
#include "processor/exec/window.h"

#include "processor/base/banned.h"

/* ---- lag, lead ---- */

static void by_distance(const WindowPartition *partition, int64_t distance, uint32_t *rows)
{
    for (uint32_t row = partition->begin; row < partition->end; row++) {
        int64_t from = (int64_t)row + distance;
        rows[row] = from >= partition->begin && from < partition->end ? (uint32_t)from : ROW_NONE;
    }
}

/* `before` rows with a value come before the row, `upto` with the row itself. */
static uint32_t valued_at(const WindowCall *call, int64_t distance, int64_t before, int64_t upto)
{
    int64_t at = distance < 0 ? before + distance : upto + distance - 1;
    return at >= 0 && at < call->valued_count ? call->valued[at] : ROW_NONE;
}

static void by_valued_distance(const WindowCall *call, const WindowPartition *partition,
                               int64_t distance, uint32_t *rows)
{
    uint32_t before = 0;
    for (uint32_t row = partition->begin; row < partition->end; row++) {
        bool valued = before < call->valued_count && call->valued[before] == row;
        rows[row] = distance == 0 ? row : valued_at(call, distance, before, before + valued);
        before += valued;
    }
}

static void locate_distance(const WindowCall *call, const WindowPartition *partition,
                            int64_t distance, uint32_t *rows)
{
    if (call->ignore_nulls) {
        by_valued_distance(call, partition, distance, rows);
    } else {
        by_distance(partition, distance, rows);
    }
}

static void locate_lag(const WindowCall *call, const WindowPartition *partition, uint32_t *rows)
{
    locate_distance(call, partition, -call->constant, rows);
}

static void locate_lead(const WindowCall *call, const WindowPartition *partition, uint32_t *rows)
{
    locate_distance(call, partition, call->constant, rows);
}

/* ---- Rows of the frame ---- */

/* How many of the valued rows come before `row`. */
static uint32_t count_valued(const WindowCall *call, uint32_t row)
{
    uint32_t low = 0;
    uint32_t high = call->valued_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (call->valued[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The n-th row of the frame, from 0. */
static uint32_t nth_of_frame(const WindowCall *call, uint32_t row, uint64_t n)
{
    uint32_t begin = call->frame_begin[row];
    uint32_t end = call->frame_end[row];
    if (!call->ignore_nulls) {
        return n < end - begin ? begin + (uint32_t)n : ROW_NONE;
    }
    uint64_t at = count_valued(call, begin) + n;
    return at < call->valued_count && call->valued[at] < end ? call->valued[at] : ROW_NONE;
}

static void locate_nth(const WindowCall *call, const WindowPartition *partition, uint32_t *rows)
{
    for (uint32_t row = partition->begin; row < partition->end; row++) {
        rows[row] = nth_of_frame(call, row, (uint64_t)call->constant - 1);
    }
}

static void locate_first(const WindowCall *call, const WindowPartition *partition, uint32_t *rows)
{
    for (uint32_t row = partition->begin; row < partition->end; row++) {
        rows[row] = nth_of_frame(call, row, 0);
    }
}

static void locate_last(const WindowCall *call, const WindowPartition *partition, uint32_t *rows)
{
    for (uint32_t row = partition->begin; row < partition->end; row++) {
        uint32_t begin = call->frame_begin[row];
        uint32_t end = call->frame_end[row];
        rows[row] = begin < end ? end - 1 : ROW_NONE;
        if (call->ignore_nulls) {
            uint32_t count = count_valued(call, end);
            bool found = count > 0 && call->valued[count - 1] >= begin;
            rows[row] = found ? call->valued[count - 1] : ROW_NONE;
        }
    }
}

const WindowKernel window_lag = {.locate = locate_lag, .constant = 2, .fallback = 3};
const WindowKernel window_lead = {.locate = locate_lead, .constant = 2, .fallback = 3};
const WindowKernel window_nth_value = {
    .locate = locate_nth, .framed = true, .constant = 2, .ignore_nulls = 3};
const WindowKernel window_first = {.locate = locate_first, .framed = true, .ignore_nulls = 2};
const WindowKernel window_last = {.locate = locate_last, .framed = true, .ignore_nulls = 2};
