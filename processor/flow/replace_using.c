/* REPLACE USING (keys) SEQUENCE BY s: per key the rows of the highest sequence.
 *
 * Three passes over a batch: encode keys and sequences, look all keys up at once, then decide row
 * by row in arrival order against the key's slot in the key table. The slot is changed at once, so
 * a row sees what the rows before it did, whether they came in the same batch or not: batch borders
 * never show (decisions, "Flows").
 *
 *     sequence greater, or key unknown   the row becomes the whole row set             RU-1, RU-2
 *     equal                              it joins the set, even beside an identical    RU-4
 *     lower                              ignored                                       RU-3
 *
 * Sequences compare as encoded bytes: NULL lowest, two NULLs equal (RU-16), NaN largest. */
#include <assert.h>

#include "processor/base/memory.h"
#include "processor/data/key_encoding.h"
#include "processor/flow/flow_internal.h"

#include "processor/base/banned.h"

typedef struct ReplaceUsing {
    Flow flow;
    const SchemaHistory *history;
    Overlay *overlay;
    const uint32_t *keys;
    size_t key_count;
    uint32_t sequence;
    Buffer bytes;     /* keys and sequences of a batch, one after the other */
    Buffer row_bytes; /* one encoded row */
} ReplaceUsing;

/* Where the encoded key and sequence of a row lie in flow->bytes. */
typedef struct RowKey {
    size_t start;
    size_t key_size;
    size_t sequence_size;
} RowKey;

static void encode_keys(ReplaceUsing *self, const Batch *batch, RowKey *rows)
{
    buffer_clear(&self->bytes);
    const Vector *sequence = batch->columns[self->sequence];
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        rows[i].start = self->bytes.size;
        for (size_t k = 0; k < self->key_count; k++) {
            key_encode_value(batch->columns[self->keys[k]], row, &self->bytes);
        }
        rows[i].key_size = self->bytes.size - rows[i].start;
        key_encode_value(sequence, row, &self->bytes);
        rows[i].sequence_size = self->bytes.size - rows[i].start - rows[i].key_size;
        self->flow.counters.null_sequences += !vector_is_valid(sequence, row);
    }
}

static void decide(ReplaceUsing *self, const Batch *batch, uint32_t row, Str key, Str sequence,
                   KeySlot *slot)
{
    int order = slot->count == 0 ? 1 : str_compare(sequence, key_slot_sequence(slot));
    if (order < 0) {
        self->flow.counters.late++;
        return;
    }
    buffer_clear(&self->row_bytes);
    row_encode(self->history, batch, row, &self->row_bytes);
    if (order > 0) {
        overlay_replace(self->overlay, slot, key, sequence, buffer_str(&self->row_bytes));
    } else {
        overlay_append(self->overlay, slot, key, buffer_str(&self->row_bytes));
    }
    self->flow.counters.applied++;
}

static Error *replace_using_apply(Flow *flow, const Batch *batch, Arena *batch_arena)
{
    ReplaceUsing *self = (ReplaceUsing *)flow;
    uint32_t count = batch->selected_count;
    RowKey *rows = arena_alloc(batch_arena, count * sizeof *rows);
    Str *keys = arena_alloc(batch_arena, count * sizeof *keys);
    KeySlot **slots = arena_alloc(batch_arena, count * sizeof(KeySlot *));
    encode_keys(self, batch, rows);
    Str bytes = buffer_str(&self->bytes);
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = (Str){bytes.data + rows[i].start, rows[i].key_size};
    }
    TRY(overlay_find(self->overlay, keys, count, batch_arena, slots));
    for (uint32_t i = 0; i < count; i++) {
        Str sequence = {keys[i].data + keys[i].size, rows[i].sequence_size};
        decide(self, batch, batch_selected(batch, i), keys[i], sequence, slots[i]);
    }
    return NULL;
}

static void replace_using_close(Flow *flow)
{
    ReplaceUsing *self = (ReplaceUsing *)flow;
    buffer_done(&self->bytes);
    buffer_done(&self->row_bytes);
    mem_free(self);
}

static const FlowOps replace_using_ops = {replace_using_apply, replace_using_close};

Error *replace_using_open(const FlowOptions *options, Flow **ret_flow)
{
    assert(options->bound->kind == FLOW_REPLACE_USING && options->bound->key_count > 0);
    ReplaceUsing *self = mem_new(ReplaceUsing);
    self->flow.ops = &replace_using_ops;
    self->history = options->history;
    self->overlay = options->overlay;
    self->keys = options->bound->keys;
    self->key_count = options->bound->key_count;
    self->sequence = options->bound->sequence;
    *ret_flow = &self->flow;
    return NULL;
}
