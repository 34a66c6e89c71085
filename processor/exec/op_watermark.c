/* WATERMARK: how far a stream has come in event time (SQ-28).
 *
 * Each partition has a watermark of its own: the highest event time of its rows so far, less the
 * delay. A row below that of the rows before it in its partition is late. So which rows are late
 * depends on the order within partitions alone, which Kafka keeps, and on no batch border. The
 * stream's watermark is the least of its partitions': no row that is not late will come below it.
 *
 * A partition that gets its first row when others have moved on does not turn the stream back: what
 * is below the stream's watermark may be forgotten, so it is late there too.
 *
 * The highest times are the state: (partition, time), the sequence is the time. Partition -1 is the
 * stream's watermark, written while the others do not tell it.
 *
 *     delay 10 s   partition 0: 12:00:20 12:00:05 12:00:40   12:00:05 is late; watermark 12:00:30
 *                  partition 1: 12:00:15                     watermark 12:00:05, the stream's too
 */
#include "processor/base/memory.h"
#include "processor/data/key_encoding.h"
#include "processor/exec/operator.h"
#include "processor/exec/stream.h"

#include "processor/base/banned.h"

enum { COLUMN_PARTITION, COLUMN_TIME };
enum { WHOLE_STREAM = -1 }; /* in place of a partition */

typedef struct Watermark {
    Operator op;
    const LogicalNode *node;
    StreamContext *stream;
    size_t source;
    int64_t *highest; /* a partition: event time; INT64_MIN: none yet */
    size_t partition_count;
    bool *moved;  /* since the state was written */
    int64_t held; /* the stream's watermark as the state has it */
    Buffer bytes;
    Buffer row;
} Watermark;

static const OperatorState *state_of(const Watermark *watermark)
{
    return &watermark->stream->states[watermark->node->state];
}

static const Type *time_type(const Watermark *watermark)
{
    return state_of(watermark)->spec->schema->fields[COLUMN_TIME].type;
}

static const StreamInput *input_of(const Watermark *watermark)
{
    return &watermark->stream->inputs[watermark->source];
}

/* Keys of `count` partitions from `first` on, as views of watermark->bytes. */
static Str *encode_partitions(Watermark *watermark, int64_t first, size_t count, Arena *arena)
{
    Vector *numbers = vector_new(arena, &type_int, (uint32_t)count);
    size_t *ends = arena_new_array(arena, size_t, count);
    buffer_clear(&watermark->bytes);
    for (size_t i = 0; i < count; i++) {
        vector_append_int(numbers, arena, first + (int64_t)i);
        key_encode_value(numbers, (uint32_t)i, &watermark->bytes);
        ends[i] = watermark->bytes.size;
    }
    Str *keys = arena_new_array(arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        size_t start = i == 0 ? 0 : ends[i - 1];
        keys[i] = (Str){watermark->bytes.data + start, ends[i] - start};
    }
    return keys;
}

/* Times of partitions that the state does not have stay as they are. */
static Error *read_times(Watermark *watermark, int64_t first, size_t count, Arena *arena,
                         int64_t *times)
{
    const Str *keys = encode_partitions(watermark, first, count, arena);
    KeySlot **slots = arena_new_array(arena, KeySlot *, count);
    TRY(overlay_find(state_of(watermark)->overlay, keys, count, arena, slots));
    for (size_t i = 0; i < count; i++) {
        if (slots[i]->count > 0) {
            Vector *time = vector_new(arena, time_type(watermark), 1);
            TRY(key_decode(key_slot_sequence(slots[i]), arena, &time, 1));
            times[i] = VECTOR_VALUE(time, int64_t, 0);
        }
    }
    return NULL;
}

static int64_t *stream_watermark_place(const Watermark *watermark)
{
    return &watermark->stream->watermarks[watermark->node->watermark];
}

/* The topic has more partitions than were known: also at the first batch. */
static Error *learn_partitions(Watermark *watermark, Arena *arena)
{
    size_t known = watermark->partition_count;
    size_t count = input_of(watermark)->partition_count;
    watermark->highest = mem_realloc(watermark->highest, count * sizeof(int64_t));
    watermark->moved = mem_realloc(watermark->moved, count * sizeof(bool));
    for (size_t p = known; p < count; p++) {
        watermark->highest[p] = INT64_MIN;
        watermark->moved[p] = false;
    }
    watermark->partition_count = count;
    for (size_t p = known; p < count; p += BATCH_ROWS) {
        TRY(read_times(watermark, (int64_t)p, count - p < BATCH_ROWS ? count - p : BATCH_ROWS,
                       arena, watermark->highest + p));
    }
    if (known == 0) {
        TRY(read_times(watermark, WHOLE_STREAM, 1, arena, &watermark->held));
        *stream_watermark_place(watermark) = watermark->held;
    }
    return NULL;
}

static int64_t less_delay(const Watermark *watermark, int64_t time)
{
    int64_t result = 0;
    return time == INT64_MIN || __builtin_sub_overflow(time, watermark->node->delay_us, &result)
               ? INT64_MIN
               : result;
}

/* A partition that has rows, but none with an event time, holds the stream back. */
static void settle(Watermark *watermark)
{
    int64_t least = INT64_MAX;
    for (size_t p = 0; p < watermark->partition_count; p++) {
        int64_t highest = watermark->highest[p];
        if (highest == INT64_MIN && input_of(watermark)->empty[p]) {
            continue;
        }
        int64_t own = less_delay(watermark, highest);
        least = own < least ? own : least;
    }
    int64_t *now = stream_watermark_place(watermark);
    least = least == INT64_MAX ? INT64_MIN : least;
    *now = least > *now ? least : *now; /* a partition that was empty does not turn it back */
}

/* Notes the row's time; false: it is late. A row without a time is neither late nor moves a thing.
 */
static bool note_row(Watermark *watermark, const Batch *batch, uint32_t row)
{
    const Vector *times = batch->columns[watermark->node->event_time];
    if (!vector_is_valid(times, row)) {
        return true;
    }
    int64_t time = VECTOR_VALUE(times, int64_t, row);
    int32_t partition = input_of(watermark)->partitions[batch_origin(batch, row)];
    int64_t *highest = &watermark->highest[partition];
    /* Below the stream's only where the partition was empty when others moved on. */
    int64_t passed = *stream_watermark_place(watermark);
    bool late = time < less_delay(watermark, *highest) || time < passed;
    if (time > *highest) {
        *highest = time;
        watermark->moved[partition] = true;
    }
    return !late;
}

static void note_batch(Watermark *watermark, const Pull *pull, Batch *batch)
{
    uint16_t *selection =
        arena_alloc(pull->arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        selection[count] = (uint16_t)row;
        count += note_row(watermark, batch, row);
    }
    if (watermark->node->drop_late && count < batch->selected_count) {
        watermark->stream->late_rows += batch->selected_count - count;
        batch->selection = selection;
        batch->selected_count = count;
    }
}

static void write_time(Watermark *watermark, Arena *arena, KeySlot *slot, Str key,
                       int64_t partition, int64_t time)
{
    const OperatorState *state = state_of(watermark);
    Batch *batch = batch_new(arena, state->spec->schema, 1);
    vector_append_int(batch->columns[COLUMN_PARTITION], arena, partition);
    vector_append_int(batch->columns[COLUMN_TIME], arena, time);
    batch->row_count = 1;
    batch->selected_count = 1;
    buffer_clear(&watermark->row);
    key_encode_value(batch->columns[COLUMN_TIME], 0, &watermark->row);
    size_t size = watermark->row.size;
    row_encode(state->history, batch, 0, &watermark->row);
    Str bytes = buffer_str(&watermark->row);
    overlay_replace(state->overlay, slot, key, (Str){bytes.data, size},
                    (Str){bytes.data + size, bytes.size - size});
}

/* The times that moved, of up to BATCH_ROWS partitions. */
static Error *write_some(Watermark *watermark, size_t first, size_t count, Arena *arena)
{
    const Str *keys = encode_partitions(watermark, (int64_t)first, count, arena);
    KeySlot **slots = arena_new_array(arena, KeySlot *, count);
    TRY(overlay_find(state_of(watermark)->overlay, keys, count, arena, slots));
    for (size_t i = 0; i < count; i++) {
        if (watermark->moved[first + i]) {
            write_time(watermark, arena, slots[i], keys[i], (int64_t)(first + i),
                       watermark->highest[first + i]);
            watermark->moved[first + i] = false;
        }
    }
    return NULL;
}

static Error *write_times(Watermark *watermark, Arena *arena)
{
    for (size_t p = 0; p < watermark->partition_count; p += BATCH_ROWS) {
        size_t left = watermark->partition_count - p;
        size_t count = left < BATCH_ROWS ? left : BATCH_ROWS;
        if (memchr(watermark->moved + p, true, count) != NULL) {
            TRY(write_some(watermark, p, count, arena));
        }
    }
    return NULL;
}

/* What all partitions tell, also those that are empty as yet. */
static int64_t least_of_all(const Watermark *watermark)
{
    int64_t least = INT64_MAX;
    for (size_t p = 0; p < watermark->partition_count; p++) {
        int64_t own = less_delay(watermark, watermark->highest[p]);
        least = own < least ? own : least;
    }
    return least;
}

/* Opened again, the stream stands where it stood: a partition that is empty now may have its first
 * row by then. */
static Error *hold(Watermark *watermark, Arena *arena)
{
    int64_t now = *stream_watermark_place(watermark);
    if (now == watermark->held || now <= least_of_all(watermark)) {
        return NULL;
    }
    watermark->held = now;
    const Str *key = encode_partitions(watermark, WHOLE_STREAM, 1, arena);
    KeySlot *slot = NULL;
    TRY(overlay_find(state_of(watermark)->overlay, key, 1, arena, &slot));
    write_time(watermark, arena, slot, *key, WHOLE_STREAM, now);
    return NULL;
}

static Error *watermark_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Watermark *watermark = (Watermark *)op;
    if (watermark->partition_count < input_of(watermark)->partition_count) {
        TRY(learn_partitions(watermark, pull->arena));
        settle(watermark);
    }
    Batch *in = NULL;
    TRY(op->child->next(op->child, pull, &in));
    *ret_batch = NULL;
    if (in == NULL) {
        settle(watermark);
        return hold(watermark, pull->arena);
    }
    Batch *out = arena_new_object(pull->arena, Batch);
    *out = *in;
    note_batch(watermark, pull, out);
    *ret_batch = out;
    return write_times(watermark, pull->arena);
}

static void watermark_close(Operator *op)
{
    Watermark *watermark = (Watermark *)op;
    mem_free(watermark->highest);
    mem_free(watermark->moved);
    buffer_done(&watermark->bytes);
    buffer_done(&watermark->row);
    mem_free(watermark);
}

/* The stream below: nodes between a scan and its watermark have one child. */
static size_t source_below(const LogicalNode *node)
{
    while (node->child != NULL) {
        node = node->child;
    }
    return node->source;
}

Error *op_watermark_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Watermark *watermark = mem_new(Watermark);
    watermark->op = (Operator){.next = watermark_next, .close = watermark_close};
    watermark->node = node;
    watermark->stream = context->stream;
    watermark->source = source_below(node);
    watermark->held = INT64_MIN;
    *stream_watermark_place(watermark) = INT64_MIN;
    *ret_op = &watermark->op;
    return NULL;
}
