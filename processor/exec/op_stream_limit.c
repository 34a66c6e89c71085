/* LIMIT over a stream: so many rows in all, counted since the flow began or was refreshed in full
 * (RU-25). Which rows these are is left open, so it does not matter that batches decide it.
 *
 * The state is one key whose sequence is the count: (id, emitted), always id 0. */
#include "processor/base/memory.h"
#include "processor/data/key_encoding.h"
#include "processor/exec/operator.h"
#include "processor/exec/stream.h"

#include "processor/base/banned.h"

enum { COLUMN_ID, COLUMN_EMITTED, COLUMNS };

typedef struct StreamLimit {
    Operator op;
    int64_t limit;
    const OperatorState *state;
    Buffer key;
    Buffer sequence;
    Buffer row;
} StreamLimit;

static Error *read_count(StreamLimit *limit, Arena *arena, KeySlot **ret_slot, int64_t *ret_count)
{
    Str key = buffer_str(&limit->key);
    TRY(overlay_find(limit->state->overlay, &key, 1, arena, ret_slot));
    *ret_count = 0;
    if ((*ret_slot)->count == 0) {
        return NULL;
    }
    Vector *count = vector_new(arena, &type_bigint, 1);
    TRY(key_decode(key_slot_sequence(*ret_slot), arena, &count, 1));
    *ret_count = VECTOR_VALUE(count, int64_t, 0);
    return NULL;
}

static void write_count(StreamLimit *limit, Arena *arena, KeySlot *slot, int64_t count)
{
    Batch *batch = batch_new(arena, limit->state->spec->schema, 1);
    vector_append_int(batch->columns[COLUMN_ID], arena, 0);
    vector_append_int(batch->columns[COLUMN_EMITTED], arena, count);
    batch->row_count = 1;
    batch->selected_count = 1;
    buffer_clear(&limit->sequence);
    buffer_clear(&limit->row);
    key_encode_value(batch->columns[COLUMN_EMITTED], 0, &limit->sequence);
    row_encode(limit->state->history, batch, 0, &limit->row);
    overlay_replace(limit->state->overlay, slot, buffer_str(&limit->key),
                    buffer_str(&limit->sequence), buffer_str(&limit->row));
}

static void keep_first(Batch *batch, Arena *arena, uint32_t count)
{
    uint16_t *selection = arena_alloc(arena, arena_array_size_(count, sizeof(uint16_t)));
    for (uint32_t i = 0; i < count; i++) {
        selection[i] = (uint16_t)batch_selected(batch, i);
    }
    batch->selection = selection;
    batch->selected_count = count;
}

static Error *take_rows(StreamLimit *limit, const Pull *pull, Batch *batch)
{
    KeySlot *slot = NULL;
    int64_t count = 0;
    TRY(read_count(limit, pull->arena, &slot, &count));
    int64_t left = limit->limit - count;
    if (left < (int64_t)batch->selected_count) {
        keep_first(batch, pull->arena, left < 0 ? 0 : (uint32_t)left);
    }
    if (batch->selected_count > 0) {
        write_count(limit, pull->arena, slot, count + batch->selected_count);
    }
    return NULL;
}

static Error *limit_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Batch *in = NULL;
    TRY(op->child->next(op->child, pull, &in));
    *ret_batch = NULL;
    if (in == NULL) {
        return NULL;
    }
    Batch *out = arena_new_object(pull->arena, Batch);
    *out = *in;
    *ret_batch = out;
    return out->selected_count == 0 ? NULL : take_rows((StreamLimit *)op, pull, out);
}

static void limit_close(Operator *op)
{
    StreamLimit *limit = (StreamLimit *)op;
    buffer_done(&limit->key);
    buffer_done(&limit->sequence);
    buffer_done(&limit->row);
    mem_free(limit);
}

static void encode_id(Buffer *out)
{
    AUTO(arena) Arena *arena = arena_new("limit key");
    Vector *id = vector_new(arena, &type_int, 1);
    vector_append_int(id, arena, 0);
    key_encode_value(id, 0, out);
}

Error *op_stream_limit_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    StreamLimit *limit = mem_new(StreamLimit);
    limit->op = (Operator){.next = limit_next, .close = limit_close};
    limit->limit = node->limit;
    limit->state = &context->stream->states[node->state];
    encode_id(&limit->key);
    *ret_op = &limit->op;
    return NULL;
}
