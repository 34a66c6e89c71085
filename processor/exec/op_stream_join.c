/* JOIN of two streams (RU-29, RU-31). Each side keeps its rows in a state by the values of the
 * keys. A row that comes joins its own side's rows, and is given with each row of the other side
 * that matches: so every pair is given once, by whichever of the two comes last.
 *
 *     left:  batch ─► keys ─► into the left state  ─► rows of the right state with that key ─►
 * pairs right: batch ─► keys ─► into the right state ─► rows of the left state with that key  ─►
 * pairs
 *
 * Where times bound the matches (plan/streaming_join.c), a calendar says when a row has met all
 * that it can: then an outer join gives it alone if it met nothing, and it is forgotten. Whether it
 * did is asked of the other side once more, so rows there stay until all have asked:
 *
 *     INNER          left, right: forgotten at time + own reach
 *     LEFT           left: asked and forgotten at time + own reach
 *                    right: forgotten at time + own reach + left's reach
 *     FULL           both: asked at time + own reach, forgotten later by the other's reach
 *
 * Watermarks tell lateness by partition (op_watermark.c), so which pairs there are, and which rows
 * stay alone, does not depend on how the streams interleave. */
#include <assert.h>

#include "processor/base/map.h"
#include "processor/base/memory.h"
#include "processor/data/key_encoding.h"
#include "processor/exec/operator.h"
#include "processor/exec/stream.h"
#include "processor/exec/stream_calendar.h"

#include "processor/base/banned.h"

typedef enum Action { ACTION_ASK, ACTION_FORGET } Action;

enum { TIME_BYTES = 8, ACTIONS = 2, SECOND_US = 1000000 };

typedef struct Side {
    const OperatorState *state;
    const Schema *rows; /* the child's columns */
    ExpressionList keys;
    const StreamJoinSide *time;
    bool outer;   /* a row without a match is given alone */
    bool forgets; /* … and rows are forgotten */
    int64_t ask_after_us;
    int64_t forget_after_us;
} Side;

/* The batch that is being joined. All in the pull's arena. */
typedef struct Probe {
    Batch *batch; /* NULL: none */
    size_t side;
    const Vector **keys;
    Str *encoded;       /* by number of the selected row; data == NULL: it matches nothing */
    KeySlot **slots;    /* of the other side */
    uint32_t at;        /* the selected row in hand */
    const Str *matches; /* rows of the other side with its key; NULL: not read */
    uint32_t match_count;
    uint32_t match; /* next of them */
    uint32_t alone; /* next selected row that may have to be given alone */
} Probe;

typedef struct StreamJoinOp {
    Operator op;
    const LogicalNode *node;
    StreamContext *stream;
    Side sides[2];
    Expression *condition; /* NULL: none */
    StreamCalendar *calendar;
    Probe probe;
    Map asked;         /* entries of the second in hand that were done */
    Batch **unmatched; /* rows found to be alone, of that second */
    size_t unmatched_count;
    size_t unmatched_capacity;
    size_t next_unmatched;
    Buffer bytes;
    Buffer row;
} StreamJoinOp;

/* ------------------------------------------------------------------------ rows and keys ---- */

/* Keys in front of the side's columns: a row of the state. */
static Batch *state_batch(const Side *side, const Batch *batch, const Vector *const *keys,
                          Arena *arena)
{
    size_t key_count = side->keys.count;
    Vector **columns = arena_new_array(arena, Vector *, side->state->spec->schema->field_count);
    for (size_t i = 0; i < key_count; i++) {
        columns[i] = arena_new_object(arena, Vector);
        *columns[i] = *keys[i];
    }
    for (size_t i = 0; i < side->rows->field_count; i++) {
        columns[key_count + i] = batch->columns[i];
    }
    return batch_from_columns(arena, side->state->spec->schema, columns, batch->row_count);
}

static bool matches_nothing(const StreamJoinOp *join, const Side *side, const Batch *batch,
                            const Vector *const *keys, uint32_t row)
{
    for (size_t i = 0; i < side->keys.count; i++) {
        if (!join->node->null_equal[i] && !vector_is_valid(keys[i], row)) {
            return true;
        }
    }
    return side->time->bounded && !vector_is_valid(batch->columns[side->time->column], row);
}

/* Encoded keys of the selected rows, as views of bytes in the arena. */
static Str *encode_keys(StreamJoinOp *join, const Side *side, const Batch *batch,
                        const Vector *const *keys, Arena *arena)
{
    uint32_t count = batch->selected_count;
    Str *encoded = arena_new_array(arena, Str, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = batch_selected(batch, i);
        if (matches_nothing(join, side, batch, keys, row)) {
            encoded[i] = STR_NULL;
            continue;
        }
        buffer_clear(&join->bytes);
        for (size_t k = 0; k < side->keys.count; k++) {
            key_encode_value(keys[k], row, &join->bytes);
        }
        encoded[i] = arena_copy_str(arena, buffer_str(&join->bytes));
    }
    return encoded;
}

/* The slots of the keys that are there, by number of the selected row; NULL for the others. */
static Error *find_slots(const Side *side, const Str *keys, uint32_t count, Arena *arena,
                         KeySlot **ret_slots)
{
    Str *asked = arena_new_array(arena, Str, count);
    KeySlot **found = arena_new_array(arena, KeySlot *, count);
    size_t asked_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i].data != NULL) {
            asked[asked_count++] = keys[i];
        }
    }
    TRY(overlay_find(side->state->overlay, asked, asked_count, arena, found));
    size_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        ret_slots[i] = keys[i].data == NULL ? NULL : found[next++];
    }
    return NULL;
}

/* All rows of a key have one sequence, its first column. */
static Error *put_row(StreamJoinOp *join, const Side *side, const Batch *row_batch, uint32_t row,
                      Str key, KeySlot *slot)
{
    buffer_clear(&join->row);
    key_encode_value(row_batch->columns[side->state->spec->sequence], row, &join->row);
    size_t size = join->row.size;
    row_encode(side->state->history, row_batch, row, &join->row);
    Str bytes = buffer_str(&join->row);
    Str encoded = {bytes.data + size, bytes.size - size};
    if (slot->count == 0) {
        overlay_replace(side->state->overlay, slot, key, (Str){bytes.data, size}, encoded);
    } else {
        overlay_append(side->state->overlay, slot, key, encoded);
    }
    return NULL;
}

/* ----------------------------------------------------------------------------- calendar ---- */

static void write_time(int64_t time_us, Buffer *out)
{
    for (int i = TIME_BYTES - 1; i >= 0; i--) {
        buffer_append_byte(out, (char)((uint64_t)time_us >> (8 * i)));
    }
}

static int64_t read_time(Str bytes)
{
    uint64_t time = 0;
    for (int i = 0; i < TIME_BYTES; i++) {
        time = time << 8 | (unsigned char)bytes.data[i];
    }
    return (int64_t)time;
}

static int64_t later_by(int64_t time_us, int64_t after_us)
{
    int64_t sum = 0;
    return __builtin_add_overflow(time_us, after_us, &sum) ? INT64_MAX - SECOND_US : sum;
}

/* Entries are of (side, action) and (time, key): all rows of the key with that time. */
static Error *plan_end(StreamJoinOp *join, size_t number, const Batch *batch, uint32_t row, Str key)
{
    const Side *side = &join->sides[number];
    if (join->calendar == NULL || !side->time->bounded) {
        return NULL;
    }
    int64_t time = VECTOR_VALUE(batch->columns[side->time->column], int64_t, row);
    buffer_clear(&join->bytes);
    write_time(time, &join->bytes);
    buffer_append_str(&join->bytes, key);
    uint32_t first = (uint32_t)number * ACTIONS;
    if (side->outer) {
        TRY(stream_calendar_add(join->calendar, later_by(time, side->ask_after_us),
                                first + ACTION_ASK, buffer_str(&join->bytes)));
    }
    return side->forgets
               ? stream_calendar_add(join->calendar, later_by(time, side->forget_after_us),
                                     first + ACTION_FORGET, buffer_str(&join->bytes))
               : NULL;
}

/* ------------------------------------------------------------------------------ arrival ---- */

static Error *keep_rows(StreamJoinOp *join, size_t number, const Batch *batch,
                        const Vector *const *keys, const Str *encoded, Arena *arena)
{
    const Side *side = &join->sides[number];
    uint32_t count = batch->selected_count;
    KeySlot **slots = arena_new_array(arena, KeySlot *, count);
    TRY(find_slots(side, encoded, count, arena, slots));
    Batch *rows = state_batch(side, batch, keys, arena);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = batch_selected(batch, i);
        if (slots[i] != NULL) {
            TRY(put_row(join, side, rows, row, encoded[i], slots[i]));
            TRY(plan_end(join, number, batch, row, encoded[i]));
        }
    }
    return NULL;
}

static Error *begin_probe(StreamJoinOp *join, const Pull *pull, size_t number, Batch *in)
{
    Arena *arena = pull->arena;
    const Side *side = &join->sides[number];
    Batch *batch = arena_new_object(arena, Batch);
    *batch = *in;
    const Vector **keys = arena_new_array(arena, const Vector *, side->keys.count);
    TRY(expression_list_evaluate(&side->keys, pull, batch, keys));
    uint32_t count = batch->selected_count;
    Str *encoded = encode_keys(join, side, batch, keys, arena);
    TRY(keep_rows(join, number, batch, keys, encoded, arena));
    KeySlot **slots = arena_new_array(arena, KeySlot *, count);
    TRY(find_slots(&join->sides[1 - number], encoded, count, arena, slots));
    join->probe = (Probe){.batch = batch,
                          .side = number,
                          .keys = keys,
                          .encoded = encoded,
                          .slots = slots,
                          .alone = side->outer ? 0 : count};
    return NULL;
}

/* -------------------------------------------------------------------------------- pairs ---- */

/* Pairs on their way out: the columns of left and right. */
typedef struct Output {
    Batch *batch;
    uint32_t *origin;
} Output;

static Output output_new(const StreamJoinOp *join, Arena *arena)
{
    Output output = {.batch = batch_new(arena, join->node->schema, BATCH_ROWS),
                     .origin = arena_new_array(arena, uint32_t, BATCH_ROWS)};
    output.batch->origin = output.origin;
    return output;
}

static void append_side(const StreamJoinOp *join, Output *output, Arena *arena, size_t number,
                        const Batch *batch, size_t first, uint32_t row)
{
    size_t offset = number == 0 ? 0 : join->sides[0].rows->field_count;
    for (size_t i = 0; i < join->sides[number].rows->field_count; i++) {
        vector_append_from(output->batch->columns[offset + i], arena, batch->columns[first + i],
                           row);
    }
}

static void append_nulls(const StreamJoinOp *join, Output *output, Arena *arena, size_t number)
{
    size_t offset = number == 0 ? 0 : join->sides[0].rows->field_count;
    for (size_t i = 0; i < join->sides[number].rows->field_count; i++) {
        vector_append_null(output->batch->columns[offset + i], arena);
    }
}

static void end_row(Output *output, uint32_t origin)
{
    output->origin[output->batch->row_count++] = origin;
    output->batch->selected_count = output->batch->row_count;
}

/* The matches of the row in hand; false: it has none (any more). */
static Error *next_matches(StreamJoinOp *join, Arena *arena, bool *ret_found)
{
    Probe *probe = &join->probe;
    const Side *other = &join->sides[1 - probe->side];
    while (probe->match == probe->match_count && probe->at < probe->batch->selected_count) {
        probe->at += probe->matches != NULL; /* the first row has not been looked at yet */
        probe->matches = NULL;
        if (probe->at == probe->batch->selected_count) {
            break;
        }
        const KeySlot *slot = probe->slots[probe->at];
        static const Str none = {0};
        probe->match = 0;
        probe->match_count = slot == NULL ? 0 : slot->count;
        probe->matches = &none;
        if (probe->match_count > 0) {
            TRY(overlay_rows(other->state->overlay, slot, probe->encoded[probe->at], arena,
                             &probe->matches));
        }
    }
    *ret_found = probe->match < probe->match_count;
    return NULL;
}

/* Pairs of the row in hand with its next matches, as many as there is room. */
static Error *append_pairs(StreamJoinOp *join, Output *output, Arena *arena)
{
    Probe *probe = &join->probe;
    const Side *other = &join->sides[1 - probe->side];
    uint32_t room = BATCH_ROWS - output->batch->row_count;
    uint32_t left = probe->match_count - probe->match;
    uint32_t count = left < room ? left : room;
    Batch *rows = batch_new(arena, other->state->spec->schema, count);
    for (uint32_t i = 0; i < count; i++) {
        TRY(row_decode(other->state->history, probe->matches[probe->match + i], arena, rows));
    }
    uint32_t row = batch_selected(probe->batch, probe->at);
    for (uint32_t i = 0; i < count; i++) {
        append_side(join, output, arena, probe->side, probe->batch, 0, row);
        append_side(join, output, arena, 1 - probe->side, rows, other->keys.count, i);
        end_row(output, batch_origin(probe->batch, row));
    }
    probe->match += count;
    return NULL;
}

/* Narrows the batch to the pairs for which the condition is TRUE. */
static Error *keep_matching(const StreamJoinOp *join, const Pull *pull, Batch *batch,
                            RowErrors *failed)
{
    if (join->condition == NULL || batch->selected_count == 0) {
        return NULL;
    }
    const Vector *value = NULL;
    TRY(expression_evaluate(join->condition, batch, pull->arena, failed, &value));
    uint16_t *selection =
        arena_alloc(pull->arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        selection[count] = (uint16_t)row;
        count += !row_errors_has(failed, row) && vector_is_valid(value, row) &&
                 VECTOR_VALUE(value, bool, row);
    }
    batch->selection = selection;
    batch->selected_count = count;
    return NULL;
}

/* A pair that fails is the trouble of the record that came last. */
static Error *give_pairs(StreamJoinOp *join, const Pull *pull, Batch **ret_batch)
{
    Output output = output_new(join, pull->arena);
    bool found = false;
    do {
        TRY(next_matches(join, pull->arena, &found));
        if (found) {
            TRY(append_pairs(join, &output, pull->arena));
        }
    } while (found && output.batch->row_count < BATCH_ROWS);
    RowErrors failed = {0};
    Error *error = keep_matching(join, pull, output.batch, &failed);
    if (error != NULL) {
        row_errors_done(&failed);
        return error;
    }
    pull_take_errors(pull, output.batch, &failed);
    *ret_batch = output.batch;
    return NULL;
}

/* Rows of the batch that can match nothing. */
static Batch *give_alone(StreamJoinOp *join, Arena *arena)
{
    Probe *probe = &join->probe;
    Output output = output_new(join, arena);
    for (; probe->alone < probe->batch->selected_count; probe->alone++) {
        if (probe->encoded[probe->alone].data == NULL) {
            uint32_t row = batch_selected(probe->batch, probe->alone);
            append_side(join, &output, arena, probe->side, probe->batch, 0, row);
            append_nulls(join, &output, arena, 1 - probe->side);
            end_row(&output, batch_origin(probe->batch, row));
        }
    }
    return output.batch;
}

/* ---------------------------------------------------------------- when time has passed ---- */

typedef struct Passing {
    StreamJoinOp *join;
    const Pull *pull;
} Passing;

static Error *read_rows(const Side *side, Str key, Arena *arena, KeySlot **ret_slot,
                        const Str **ret_rows, Batch **ret_batch)
{
    TRY(overlay_find(side->state->overlay, &key, 1, arena, ret_slot));
    uint32_t count = (*ret_slot)->count;
    TRY(overlay_rows(side->state->overlay, *ret_slot, key, arena, ret_rows));
    *ret_batch = batch_new(arena, side->state->spec->schema, count);
    for (uint32_t i = 0; i < count; i++) {
        TRY(row_decode(side->state->history, (*ret_rows)[i], arena, *ret_batch));
    }
    return NULL;
}

static bool is_of_time(const Side *side, const Batch *rows, uint32_t row, int64_t time)
{
    const Vector *times = rows->columns[side->keys.count + side->time->column];
    return vector_is_valid(times, row) && VECTOR_VALUE(times, int64_t, row) == time;
}

/* Is there a row of the other side that matches it? In blocks, until one is found. A pair for which
 * the condition fails is none. */
static Error *has_match(StreamJoinOp *join, const Pull *pull, size_t number, const Batch *rows,
                        uint32_t row, const Batch *others, uint32_t other_count, bool *ret_found)
{
    const Side *side = &join->sides[number];
    const Side *other = &join->sides[1 - number];
    *ret_found = false;
    for (uint32_t first = 0; first < other_count && !*ret_found; first += BATCH_ROWS) {
        Output output = output_new(join, pull->arena);
        for (uint32_t i = first; i < other_count && i < first + BATCH_ROWS; i++) {
            append_side(join, &output, pull->arena, number, rows, side->keys.count, row);
            append_side(join, &output, pull->arena, 1 - number, others, other->keys.count, i);
            end_row(&output, 0);
        }
        RowErrors failed = {0};
        Error *error = keep_matching(join, pull, output.batch, &failed);
        row_errors_done(&failed);
        TRY(error);
        *ret_found = output.batch->selected_count > 0;
    }
    return NULL;
}

static void add_unmatched(StreamJoinOp *join, Arena *arena, size_t number, const Batch *rows,
                          uint32_t row)
{
    Batch *last = join->unmatched_count == 0 ? NULL : join->unmatched[join->unmatched_count - 1];
    Output output;
    if (last == NULL || last->row_count == BATCH_ROWS) {
        output = output_new(join, arena);
        mem_reserve(join->unmatched, &join->unmatched_capacity, join->unmatched_count + 1);
        join->unmatched[join->unmatched_count++] = output.batch;
    } else {
        output = (Output){last, NULL};
    }
    const Side *side = &join->sides[number];
    append_side(join, &output, arena, number, rows, side->keys.count, row);
    append_nulls(join, &output, arena, 1 - number);
    output.batch->row_count++;
    output.batch->selected_count = output.batch->row_count;
}

/* The rows of the key with that time that met nothing are given. */
static Error *ask(StreamJoinOp *join, const Pull *pull, size_t number, int64_t time, Str key)
{
    Arena *arena = pull->arena;
    const Side *side = &join->sides[number];
    KeySlot *slot = NULL;
    KeySlot *other_slot = NULL;
    const Str *bytes = NULL;
    Batch *rows = NULL;
    Batch *others = NULL;
    TRY(read_rows(side, key, arena, &slot, &bytes, &rows));
    uint32_t count = slot->count;
    TRY(read_rows(&join->sides[1 - number], key, arena, &other_slot, &bytes, &others));
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;
        if (!is_of_time(side, rows, i, time)) {
            continue;
        }
        TRY(has_match(join, pull, number, rows, i, others, other_slot->count, &found));
        if (!found) {
            add_unmatched(join, arena, number, rows, i);
        }
    }
    return NULL;
}

/* What is left of the key's rows is written anew, from its first. */
static Error *forget_rows(const StreamJoinOp *join, Arena *arena, size_t number, int64_t time,
                          Str key)
{
    const Side *side = &join->sides[number];
    KeySlot *slot = NULL;
    const Str *bytes = NULL;
    Batch *rows = NULL;
    TRY(read_rows(side, key, arena, &slot, &bytes, &rows));
    uint32_t count = slot->count;
    uint32_t left = 0;
    Str *kept = arena_new_array(arena, Str, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_of_time(side, rows, i, time)) {
            kept[left++] = arena_copy_str(arena, bytes[i]);
        }
    }
    if (left == count) {
        return NULL;
    }
    Str sequence = arena_copy_str(arena, key_slot_sequence(slot));
    if (left == 0) {
        overlay_remove(side->state->overlay, slot, key);
    }
    for (uint32_t i = 0; i < left; i++) {
        if (i == 0) {
            overlay_replace(side->state->overlay, slot, key, sequence, kept[i]);
        } else {
            overlay_append(side->state->overlay, slot, key, kept[i]);
        }
    }
    return NULL;
}

/* An entry of the second that has passed. There is one for each row; those of rows with the same
 * key and time say the same. */
static Error *pass_entry(void *context, uint32_t which, Str entry, Arena *arena)
{
    const Passing *passing = context;
    StreamJoinOp *join = passing->join;
    buffer_clear(&join->bytes);
    buffer_append_byte(&join->bytes, (char)which);
    buffer_append_str(&join->bytes, entry);
    Str name = arena_copy_str(arena, buffer_str(&join->bytes));
    if (entry.size < TIME_BYTES || map_get(&join->asked, name) != NULL) {
        return NULL;
    }
    map_put(&join->asked, name, join);
    int64_t time = read_time(entry);
    Str key = {name.data + 1 + TIME_BYTES, name.size - 1 - TIME_BYTES};
    size_t number = which / ACTIONS;
    return which % ACTIONS == ACTION_ASK ? ask(join, passing->pull, number, time, key)
                                         : forget_rows(join, arena, number, time, key);
}

/* Rows of the next second that has passed, until some are to be given. */
static Error *give_unmatched(StreamJoinOp *join, const Pull *pull, Batch **ret_batch)
{
    Passing passing = {join, pull};
    const StreamJoin *plan = join->node->stream_join;
    int64_t watermark = stream_watermark(join->stream, plan->watermarks, plan->watermark_count);
    bool taken = join->calendar != NULL;
    while (taken && join->next_unmatched == join->unmatched_count) {
        ArenaMark mark = arena_mark(pull->arena);
        join->unmatched_count = 0;
        join->next_unmatched = 0;
        TRY(stream_calendar_take(join->calendar, watermark, pull->arena, pass_entry, &passing,
                                 &taken));
        map_clear(&join->asked);
        if (join->unmatched_count == 0) {
            arena_release(pull->arena, mark);
        }
    }
    if (join->next_unmatched < join->unmatched_count) {
        *ret_batch = join->unmatched[join->next_unmatched++];
    }
    return NULL;
}

/* ------------------------------------------------------------------------- the operator ---- */

/* What is left of the batch in hand; *ret_batch NULL: nothing. */
static Error *go_on(StreamJoinOp *join, const Pull *pull, Batch **ret_batch)
{
    Probe *probe = &join->probe;
    if (probe->alone < probe->batch->selected_count) {
        *ret_batch = give_alone(join, pull->arena);
        return NULL;
    }
    TRY(give_pairs(join, pull, ret_batch));
    if (probe->at >= probe->batch->selected_count) {
        probe->batch = NULL;
    }
    return NULL;
}

static Error *stream_join_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    StreamJoinOp *join = (StreamJoinOp *)op;
    *ret_batch = NULL;
    for (size_t number = 0; number < 2 && join->probe.batch == NULL; number++) {
        Operator *child = number == 0 ? op->child : op->right;
        Batch *in = NULL;
        TRY(child->next(child, pull, &in));
        if (in != NULL) {
            TRY(begin_probe(join, pull, number, in));
        }
    }
    return join->probe.batch != NULL ? go_on(join, pull, ret_batch)
                                     : give_unmatched(join, pull, ret_batch);
}

static void stream_join_set_now(Operator *op, int64_t now_us)
{
    StreamJoinOp *join = (StreamJoinOp *)op;
    expression_list_set_now(&join->sides[0].keys, now_us);
    expression_list_set_now(&join->sides[1].keys, now_us);
    if (join->condition != NULL) {
        expression_set_now(join->condition, now_us);
    }
}

static void stream_join_close(Operator *op)
{
    StreamJoinOp *join = (StreamJoinOp *)op;
    expression_list_done(&join->sides[0].keys);
    expression_list_done(&join->sides[1].keys);
    expression_close(join->condition);
    stream_calendar_close(join->calendar);
    map_done(&join->asked);
    mem_free(join->unmatched);
    buffer_done(&join->bytes);
    buffer_done(&join->row);
    mem_free(join);
}

/* A reach below zero counts as none: no row comes when its time has passed already. */
static int64_t reach_of(const StreamJoinSide *side)
{
    return side->bounded && side->reach_us > 0 ? side->reach_us : 0;
}

static void set_ends(StreamJoinOp *join)
{
    const StreamJoin *plan = join->node->stream_join;
    JoinKind kind = join->node->join;
    for (size_t i = 0; i < 2; i++) {
        Side *side = &join->sides[i];
        const StreamJoinSide *other = i == 0 ? &plan->right : &plan->left;
        side->time = i == 0 ? &plan->left : &plan->right;
        side->outer = kind == JOIN_FULL || kind == (i == 0 ? JOIN_LEFT : JOIN_RIGHT);
        bool asked = kind == JOIN_FULL || kind == (i == 0 ? JOIN_RIGHT : JOIN_LEFT);
        side->ask_after_us = reach_of(side->time);
        side->forgets = side->time->bounded && (!asked || other->bounded);
        /* Not in the second in which the last of the other side asks. */
        side->forget_after_us = reach_of(side->time) + (asked ? reach_of(other) + SECOND_US : 0);
    }
}

static Error *open_parts(StreamJoinOp *join, const ExecContext *context)
{
    const LogicalNode *node = join->node;
    TRY(expression_list_open(&join->sides[0].keys, node->expressions, node->expression_count,
                             context));
    TRY(expression_list_open(&join->sides[1].keys, node->right_keys, node->expression_count,
                             context));
    if (node->condition != NULL) {
        TRY(expression_open(node->condition, context, &join->condition));
    }
    bool timed = node->stream_join->left.bounded || node->stream_join->right.bounded;
    return timed ? stream_calendar_open(join->sides[1].state + 1, &join->calendar) : NULL;
}

Error *op_stream_join_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    StreamJoinOp *join = mem_new(StreamJoinOp);
    join->op = (Operator){
        .next = stream_join_next, .set_now = stream_join_set_now, .close = stream_join_close};
    join->node = node;
    join->stream = context->stream;
    join->sides[0].state = &context->stream->states[node->state];
    join->sides[1].state = join->sides[0].state + 1;
    join->sides[0].rows = node->child->schema;
    join->sides[1].rows = node->right->schema;
    set_ends(join);
    Error *error = open_parts(join, context);
    if (error != NULL) {
        stream_join_close(&join->op);
        return error;
    }
    *ret_op = &join->op;
    return NULL;
}
