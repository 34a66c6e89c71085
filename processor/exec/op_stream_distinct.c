/* DISTINCT over a stream: the first of equal rows goes through, over all batches there ever were
 * (RU-24). Each row that did is a key of the state.
 *
 * Where one of the columns is an event time with a watermark, an equal row that comes when that has
 * passed is late and gone before it gets here: so the state forgets what has passed. */
#include "processor/base/memory.h"
#include "processor/data/key_encoding.h"
#include "processor/exec/projection.h"
#include "processor/exec/stream.h"
#include "processor/exec/stream_calendar.h"

#include "processor/base/banned.h"

typedef struct StreamDistinct {
    Operator op;
    const LogicalNode *node;
    StreamContext *stream;
    const OperatorState *state;
    StreamCalendar *calendar; /* NULL: nothing is forgotten */
    Projection columns;       /* under the names of the state */
    Buffer bytes;             /* the keys of a batch, one after the other */
    Buffer row;
} StreamDistinct;

/* Keys of the selected rows, as views of distinct->bytes. */
static Str *encode_rows(StreamDistinct *distinct, const Batch *batch, Arena *arena)
{
    uint32_t count = batch->selected_count;
    size_t *ends = arena_new_array(arena, size_t, count);
    buffer_clear(&distinct->bytes);
    for (uint32_t i = 0; i < count; i++) {
        key_encode(batch->columns, batch->schema->field_count, batch_selected(batch, i),
                   &distinct->bytes);
        ends[i] = distinct->bytes.size;
    }
    Str *keys = arena_new_array(arena, Str, count);
    for (uint32_t i = 0; i < count; i++) {
        size_t start = i == 0 ? 0 : ends[i - 1];
        keys[i] = (Str){distinct->bytes.data + start, ends[i] - start};
    }
    return keys;
}

static void remember(StreamDistinct *distinct, const Batch *batch, uint32_t row, Str key,
                     KeySlot *slot)
{
    const OperatorState *state = distinct->state;
    buffer_clear(&distinct->row);
    key_encode_value(batch->columns[state->spec->sequence], row, &distinct->row);
    size_t size = distinct->row.size;
    row_encode(state->history, batch, row, &distinct->row);
    Str bytes = buffer_str(&distinct->row);
    overlay_replace(state->overlay, slot, key, (Str){bytes.data, size},
                    (Str){bytes.data + size, bytes.size - size});
}

/* What is new goes into the calendar too, under the time from which it may be forgotten. */
static Error *plan_end(StreamDistinct *distinct, const Batch *batch, uint32_t row, Str key)
{
    if (distinct->calendar == NULL) {
        return NULL;
    }
    const Vector *times = batch->columns[distinct->node->event_time];
    return vector_is_valid(times, row)
               ? stream_calendar_add(distinct->calendar, VECTOR_VALUE(times, int64_t, row), 0, key)
               : NULL;
}

/* `batch`: the distinct columns. Narrows its selection to the rows that are new. */
static Error *keep_new(StreamDistinct *distinct, const Pull *pull, Batch *batch)
{
    uint32_t count = batch->selected_count;
    const Str *keys = encode_rows(distinct, batch, pull->arena);
    KeySlot **slots = arena_new_array(pull->arena, KeySlot *, count);
    TRY(overlay_find(distinct->state->overlay, keys, count, pull->arena, slots));
    uint16_t *selection = arena_alloc(pull->arena, arena_array_size_(count, sizeof(uint16_t)));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = batch_selected(batch, i);
        if (slots[i]->count == 0) {
            remember(distinct, batch, row, keys[i], slots[i]);
            TRY(plan_end(distinct, batch, row, keys[i]));
            selection[kept++] = (uint16_t)row;
        }
    }
    batch->selection = selection;
    batch->selected_count = kept;
    return NULL;
}

static Error *distinct_batch(StreamDistinct *distinct, const Pull *pull, const Batch *in,
                             Batch **ret_batch)
{
    TRY(projection_run(&distinct->columns, pull, in, ret_batch));
    if ((*ret_batch)->selected_count > 0) {
        TRY(keep_new(distinct, pull, *ret_batch));
    }
    (*ret_batch)->schema = distinct->node->schema;
    return NULL;
}

static Error *forget_key(void *context, uint32_t side, Str key, Arena *arena)
{
    (void)side;
    const StreamDistinct *distinct = context;
    KeySlot *slot = NULL;
    TRY(overlay_find(distinct->state->overlay, &key, 1, arena, &slot));
    overlay_remove(distinct->state->overlay, slot, key);
    return NULL;
}

static Error *forget_passed(StreamDistinct *distinct, Arena *arena)
{
    int64_t watermark = distinct->stream->watermarks[distinct->node->watermark];
    for (bool taken = true; taken;) {
        TRY(stream_calendar_take(distinct->calendar, watermark, arena, forget_key, distinct,
                                 &taken));
    }
    return NULL;
}

static Error *distinct_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    StreamDistinct *distinct = (StreamDistinct *)op;
    Batch *in = NULL;
    TRY(op->child->next(op->child, pull, &in));
    *ret_batch = NULL;
    if (in != NULL) {
        return distinct_batch(distinct, pull, in, ret_batch);
    }
    return distinct->calendar == NULL ? NULL : forget_passed(distinct, pull->arena);
}

static void distinct_set_now(Operator *op, int64_t now_us)
{
    expression_list_set_now(&((StreamDistinct *)op)->columns.computed, now_us);
}

static void distinct_close(Operator *op)
{
    StreamDistinct *distinct = (StreamDistinct *)op;
    projection_done(&distinct->columns);
    stream_calendar_close(distinct->calendar);
    buffer_done(&distinct->bytes);
    buffer_done(&distinct->row);
    mem_free(distinct);
}

static Error *open_parts(StreamDistinct *distinct, const ExecContext *context)
{
    const LogicalNode *node = distinct->node;
    TRY(projection_open(&distinct->columns, distinct->state->spec->schema, node->expressions,
                        context));
    return node->watermark == NO_WATERMARK
               ? NULL
               : stream_calendar_open(distinct->state + 1, &distinct->calendar);
}

Error *op_stream_distinct_open(const LogicalNode *node, const ExecContext *context,
                               Operator **ret_op)
{
    StreamDistinct *distinct = mem_new(StreamDistinct);
    distinct->op =
        (Operator){.next = distinct_next, .set_now = distinct_set_now, .close = distinct_close};
    distinct->node = node;
    distinct->stream = context->stream;
    distinct->state = &context->stream->states[node->state];
    Error *error = open_parts(distinct, context);
    if (error != NULL) {
        distinct_close(&distinct->op);
        return error;
    }
    *ret_op = &distinct->op;
    return NULL;
}
