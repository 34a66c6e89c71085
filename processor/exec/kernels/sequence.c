/* sequence(start, stop[, step]): whole numbers, dates and times. Steps of days and shorter are
 * steps of a number; months are counted in the calendar, each from the start, so that the 31st of
 * January is followed by the end of February and then by the 31st of March. */
#include "processor/data/datetime.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

enum { SEQUENCE_ELEMENTS_MAX = 16 * 1024 * 1024 };
#define DAY_US INT64_C(86400000000)

/* How a row's sequence goes on. */
typedef struct Series {
    int64_t start;
    int64_t stop;
    int64_t step;   /* in the unit of the values, or */
    int64_t months; /* calendar months; then `step` is only its sign */
} Series;

static int64_t value_at(const KernelCall *call, size_t argument, uint32_t row)
{
    return vector_int_value(call->arguments[argument], row);
}

static Error *uneven_step(void)
{
    return error_new(ERROR_INVALID_PARAMETER_VALUE,
                     "sequence step must be an interval day to second of day granularity if start "
                     "and end values are dates");
}

/* The step of a row; 1 (a day) towards the end when none is given. */
static Error *find_step(const KernelCall *call, uint32_t row, Series *series)
{
    TypeKind kind = call->result->type->element->kind;
    int64_t one = kind == TYPE_TIMESTAMP || kind == TYPE_TIMESTAMP_NTZ ? DAY_US : 1;
    if (call->argument_count < 3) {
        series->step = series->start <= series->stop ? one : -one;
        return NULL;
    }
    int64_t step = value_at(call, 2, row);
    TypeKind step_kind = call->arguments[2]->type->kind;
    if (step_kind == TYPE_INTERVAL_YEAR_MONTH) {
        series->months = step;
        series->step = step > 0 ? 1 : step < 0 ? -1 : 0;
        return NULL;
    }
    if (kind == TYPE_DATE && step_kind == TYPE_INTERVAL_DAY_TIME) {
        if (step % DAY_US != 0) {
            return uneven_step();
        }
        step /= DAY_US;
    }
    series->step = step;
    return NULL;
}

static Error *check_bounds(const Series *series)
{
    bool good = series->step > 0   ? series->start <= series->stop
                : series->step < 0 ? series->start >= series->stop
                                   : series->start == series->stop;
    if (good) {
        return NULL;
    }
    return error_new(ERROR_INVALID_PARAMETER_VALUE,
                     "Illegal sequence boundaries: %lld to %lld by %lld", (long long)series->start,
                     (long long)series->stop,
                     (long long)(series->months != 0 ? series->months : series->step));
}

static Error *too_long(int128 count)
{
    return error_new(ERROR_COLLECTION_SIZE_LIMIT_EXCEEDED,
                     "Can't create array with %lld elements which exceeding the array size limit "
                     "%d.",
                     (long long)(count > INT64_MAX ? INT64_MAX : count), SEQUENCE_ELEMENTS_MAX);
}

/* ---- Equal steps ---- */

static Error *append_steps(const KernelCall *call, const Series *series)
{
    Vector *elements = call->result->children[0];
    int128 count =
        series->step == 0 ? 1 : ((int128)series->stop - series->start) / series->step + 1;
    if (count > SEQUENCE_ELEMENTS_MAX) {
        return too_long(count);
    }
    for (int64_t i = 0; i < (int64_t)count; i++) {
        int128 value = series->start + (int128)i * series->step;
        vector_append_int(elements, call->arena, (int64_t)value);
    }
    return NULL;
}

/* ---- Months ---- */

/* The start so many months later, in its own unit. */
static int64_t months_later(const KernelCall *call, int64_t start, int64_t months)
{
    TypeKind kind = call->result->type->element->kind;
    if (kind == TYPE_DATE) {
        return date_add_months((int32_t)start, (int32_t)months);
    }
    const TimeZone *zone = kind == TYPE_TIMESTAMP ? call->context->time_zone : time_zone_utc();
    int64_t local = start + time_zone_offset_us(zone, start);
    int64_t days = local / DAY_US - (local % DAY_US < 0);
    int64_t time = local - days * DAY_US;
    return time_zone_to_instant_us(zone,
                                   date_add_months((int32_t)days, (int32_t)months) * DAY_US + time);
}

/* Months from year 1 to 9999 are few: the sequence ends before they are through. */
enum { MONTHS_MAX = 12 * 10000 };

static Error *append_months(const KernelCall *call, const Series *series)
{
    Vector *elements = call->result->children[0];
    for (int64_t i = 0; i <= MONTHS_MAX; i++) {
        int64_t months = i * series->months;
        if (months > MONTHS_MAX || months < -MONTHS_MAX) {
            return NULL;
        }
        int64_t value = months_later(call, series->start, months);
        if (series->step > 0 ? value > series->stop : value < series->stop) {
            return NULL;
        }
        vector_append_int(elements, call->arena, value);
    }
    return NULL;
}

/* ---- Rows ---- */

static Error *append_series(const KernelCall *call, uint32_t row)
{
    Series series = {.start = value_at(call, 0, row), .stop = value_at(call, 1, row)};
    TRY(find_step(call, row, &series));
    TRY(check_bounds(&series));
    return series.months != 0 ? append_months(call, &series) : append_steps(call, &series);
}

static void append_sequence(const KernelCall *call, uint32_t row)
{
    Error *error = NULL;
    if (kernel_arguments_valid(call, row)) {
        error = append_series(call, row);
        if (error == NULL) {
            vector_finish_list(call->result, call->arena);
            return;
        }
        kernel_fail(call, row, error);
    }
    vector_append_null(call->result, call->arena);
}

static void sequence(const KernelCall *call)
{
    append_rows(call, append_sequence);
}

const Kernel kernel_sequence = {.run = sequence};
