/* A calendar over a state: see the header. */
#include "processor/exec/stream_calendar.h"

#include <stdlib.h>

#include "processor/base/memory.h"
#include "processor/data/key_encoding.h"

#include "processor/base/banned.h"

enum { COLUMN_DUE, COLUMN_SIDE, COLUMN_KEY, SECOND_US = 1000000 };

struct StreamCalendar {
    const OperatorState *state;
    int64_t *seconds; /* ascending, from `first` on; of some nothing may be left */
    size_t first;
    size_t count; /* with those before `first` */
    size_t capacity;
    Buffer key;
    Buffer row;
    Arena *arena; /* of one entry */
};

/* ---- the seconds in use */

static size_t place_of(const StreamCalendar *calendar, int64_t second)
{
    size_t low = calendar->first;
    size_t high = calendar->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calendar->seconds[middle] < second) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Most come behind all others, or are there. */
static void note_second(StreamCalendar *calendar, int64_t second)
{
    size_t at = place_of(calendar, second);
    if (at < calendar->count && calendar->seconds[at] == second) {
        return;
    }
    if (calendar->first > calendar->count / 2) {
        memmove(calendar->seconds, calendar->seconds + calendar->first,
                (calendar->count - calendar->first) * sizeof(int64_t));
        at -= calendar->first;
        calendar->count -= calendar->first;
        calendar->first = 0;
    }
    mem_reserve(calendar->seconds, &calendar->capacity, calendar->count + 1);
    memmove(calendar->seconds + at + 1, calendar->seconds + at,
            (calendar->count - at) * sizeof(int64_t));
    calendar->seconds[at] = second;
    calendar->count++;
}

static int compare_seconds(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The keys of a state come in no order: sorted once all are in. */
typedef struct Reading {
    StreamCalendar *calendar;
    Error *error;
} Reading;

static void read_key(void *context, Str key)
{
    Reading *reading = context;
    StreamCalendar *calendar = reading->calendar;
    if (reading->error != NULL) {
        return;
    }
    arena_reset(calendar->arena);
    Vector *due = vector_new(calendar->arena, &type_bigint, 1);
    reading->error = key_decode(key, calendar->arena, &due, 1);
    if (reading->error == NULL) {
        mem_reserve(calendar->seconds, &calendar->capacity, calendar->count + 1);
        calendar->seconds[calendar->count++] = VECTOR_VALUE(due, int64_t, 0);
    }
}

static void sort_seconds(StreamCalendar *calendar)
{
    if (calendar->count == 0) {
        return;
    }
    qsort(calendar->seconds, calendar->count, sizeof(int64_t), compare_seconds);
    size_t kept = 1;
    for (size_t i = 1; i < calendar->count; i++) {
        calendar->seconds[kept] = calendar->seconds[i];
        kept += calendar->seconds[i] != calendar->seconds[kept - 1];
    }
    calendar->count = kept;
}

Error *stream_calendar_open(const OperatorState *state, StreamCalendar **ret_calendar)
{
    StreamCalendar *calendar = mem_new(StreamCalendar);
    calendar->state = state;
    calendar->arena = arena_new("calendar");
    Reading reading = {.calendar = calendar};
    Error *error = overlay_visit_keys(state->overlay, read_key, &reading);
    if (error != NULL) {
        error_free(reading.error);
    } else {
        error = reading.error;
    }
    if (error != NULL) {
        stream_calendar_close(calendar);
        return error;
    }
    sort_seconds(calendar);
    *ret_calendar = calendar;
    return NULL;
}

void stream_calendar_close(StreamCalendar *calendar)
{
    if (calendar == NULL) {
        return;
    }
    mem_free(calendar->seconds);
    buffer_done(&calendar->key);
    buffer_done(&calendar->row);
    arena_free(calendar->arena);
    mem_free(calendar);
}

/* ---- entries */

static int64_t second_behind(int64_t time_us)
{
    int64_t second = time_us / SECOND_US;
    return (time_us % SECOND_US < 0 ? second - 1 : second) + 1;
}

/* The slot of a second's entries; its key is in calendar->key. */
static Error *find_second(StreamCalendar *calendar, int64_t second, KeySlot **ret_slot)
{
    Vector *due = vector_new(calendar->arena, &type_bigint, 1);
    vector_append_int(due, calendar->arena, second);
    buffer_clear(&calendar->key);
    key_encode_value(due, 0, &calendar->key);
    Str key = buffer_str(&calendar->key);
    return overlay_find(calendar->state->overlay, &key, 1, calendar->arena, ret_slot);
}

static void encode_entry(StreamCalendar *calendar, int64_t second, uint32_t side, Str key)
{
    Batch *batch = batch_new(calendar->arena, calendar->state->spec->schema, 1);
    vector_append_int(batch->columns[COLUMN_DUE], calendar->arena, second);
    vector_append_int(batch->columns[COLUMN_SIDE], calendar->arena, side);
    vector_append_str(batch->columns[COLUMN_KEY], calendar->arena, key);
    batch->row_count = 1;
    batch->selected_count = 1;
    buffer_clear(&calendar->row);
    row_encode(calendar->state->history, batch, 0, &calendar->row);
}

Error *stream_calendar_add(StreamCalendar *calendar, int64_t time_us, uint32_t side, Str key)
{
    arena_reset(calendar->arena);
    int64_t second = second_behind(time_us);
    KeySlot *slot = NULL;
    TRY(find_second(calendar, second, &slot));
    encode_entry(calendar, second, side, key);
    Str due = buffer_str(&calendar->key);
    Str row = buffer_str(&calendar->row);
    if (slot->count == 0) {
        overlay_replace(calendar->state->overlay, slot, due, due, row);
    } else {
        overlay_append(calendar->state->overlay, slot, due, row);
    }
    note_second(calendar, second);
    return NULL;
}

/* ---- what has passed */

typedef Error *Take(void *context, uint32_t side, Str key, Arena *arena);

static Error *take_entries(const StreamCalendar *calendar, const Str *rows, uint32_t count,
                           Arena *arena, Take *take, void *context)
{
    Batch *batch = batch_new(arena, calendar->state->spec->schema, count);
    for (uint32_t i = 0; i < count; i++) {
        TRY(row_decode(calendar->state->history, rows[i], arena, batch));
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t side = (uint32_t)VECTOR_VALUE(batch->columns[COLUMN_SIDE], int32_t, i);
        TRY(take(context, side, VECTOR_VALUE(batch->columns[COLUMN_KEY], Str, i), arena));
    }
    return NULL;
}

static Error *take_second(StreamCalendar *calendar, int64_t second, Arena *arena, Take *take,
                          void *context)
{
    arena_reset(calendar->arena);
    KeySlot *slot = NULL;
    TRY(find_second(calendar, second, &slot));
    Str key = arena_copy_str(arena, buffer_str(&calendar->key));
    uint32_t count = slot->count;
    const Str *rows = NULL;
    TRY(overlay_rows(calendar->state->overlay, slot, key, arena, &rows));
    overlay_remove(calendar->state->overlay, slot, key);
    for (uint32_t i = 0; i < count; i += BATCH_ROWS) {
        uint32_t some = count - i < BATCH_ROWS ? count - i : BATCH_ROWS;
        TRY(take_entries(calendar, rows + i, some, arena, take, context));
    }
    return NULL;
}

Error *stream_calendar_take(StreamCalendar *calendar, int64_t watermark_us, Arena *arena,
                            Take *take, void *context, bool *ret_taken)
{
    *ret_taken = calendar->first < calendar->count &&
                 second_behind(watermark_us) > calendar->seconds[calendar->first];
    if (!*ret_taken) {
        return NULL;
    }
    int64_t second = calendar->seconds[calendar->first++];
    return take_second(calendar, second, arena, take, context);
}
