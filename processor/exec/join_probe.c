/* From a batch of the probe side to its matches, a block of candidates at a time. */
#include "processor/exec/join.h"

#include <assert.h>
#include <string.h>

#include "processor/exec/row_hash.h"

#include "processor/base/banned.h"

static void note_keys(Join *join, Arena *arena)
{
    JoinProbe *probe = &join->at;
    probe->keys = arena_new_array(arena, const Vector *, join->probe.key_count);
    for (size_t i = 0; i < join->probe.key_count; i++) {
        probe->keys[i] = probe->batch->columns[join->probe.key_columns[i]];
    }
}

void join_probe_begin(Join *join, Batch *extended, Arena *arena)
{
    assert(extended->selected_count <= BATCH_ROWS);
    JoinProbe *probe = &join->at;
    probe->batch = extended;
    probe->kept = NULL;
    probe->at = 0;
    probe->begun = false;
    note_keys(join, arena);
    memset(probe->matched, 0, extended->selected_count);
    memset(probe->open, 0, extended->selected_count);
    Rows rows = {extended->selection, extended->selected_count};
    join_table_find(join->table, probe->keys, rows, arena, probe->heads);
}

/* The selected rows become rows 0, 1, … of the copy, which is what `at` counts. */
void join_probe_keep(Join *join)
{
    JoinProbe *probe = &join->at;
    if (probe->kept == NULL) {
        probe->kept = row_store_new(join->probe.extended);
        row_store_append(probe->kept, probe->batch);
        probe->batch = arena_new_object(join->input, Batch);
        *probe->batch = *row_store_chunk(probe->kept, 0);
        note_keys(join, join->input);
    }
}

void join_probe_done(Join *join)
{
    if (join->at.kept != NULL) {
        row_store_free(join->at.kept);
        arena_reset(join->input);
    }
    join->at.kept = NULL;
    join->at.batch = NULL;
}

/* ---- Candidates ---- */

/* Is one match all that is asked for? */
static bool one_is_enough(const Join *join)
{
    return join->gives != JOIN_GIVES_PAIRS && join->gives != JOIN_GIVES_NOTHING;
}

/* Adds candidates of the row at hand while there is room; true: it has no more. */
static bool add_candidates(const Join *join, JoinProbe *probe, JoinPairs *pairs, uint32_t room,
                           bool only_one)
{
    uint32_t row = batch_selected(probe->batch, probe->at);
    uint32_t candidate = probe->candidate;
    uint32_t end = pairs->count + room;
    while (candidate != ROW_NONE && pairs->count < end) {
        pairs->at[pairs->count] = probe->at;
        pairs->probe_rows[pairs->count] = row;
        pairs->build_rows[pairs->count++] = candidate;
        candidate = only_one ? ROW_NONE : join_table_next(join->table, candidate);
    }
    probe->candidate = candidate;
    return candidate == ROW_NONE;
}

/* Every row that is finished leaves room for itself alone, without a match: it had a candidate, or
 * a place is set aside. */
static void find_candidates(const Join *join, JoinProbe *probe, JoinPairs *pairs)
{
    bool enough = one_is_enough(join);
    bool only_one = enough && join->condition == NULL && join->build.key_count == 0;
    uint32_t set_aside = 0;
    pairs->count = 0;
    pairs->first = probe->at;
    while (probe->at < probe->batch->selected_count && pairs->count + set_aside < BATCH_ROWS) {
        if (!probe->begun) {
            probe->candidate = probe->heads[probe->at];
            probe->begun = true;
            set_aside += join->probe_outer && probe->candidate == ROW_NONE;
        }
        if (enough && probe->matched[probe->at]) {
            probe->candidate = ROW_NONE;
        }
        uint32_t room = BATCH_ROWS - pairs->count - set_aside;
        if (!add_candidates(join, probe, pairs, room, only_one)) {
            break;
        }
        probe->at++;
        probe->begun = false;
    }
    pairs->end = probe->at;
}

/* ---- Matches ---- */

void join_pairs_narrow(JoinPairs *pairs, const uint32_t *which, uint32_t count)
{
    if (count == pairs->count) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        pairs->at[i] = pairs->at[which[i]];
        pairs->probe_rows[i] = pairs->probe_rows[which[i]];
        pairs->build_rows[i] = pairs->build_rows[which[i]];
    }
    pairs->count = count;
}

static void check_keys(const Join *join, const JoinProbe *probe, JoinPairs *pairs)
{
    uint32_t equal[BATCH_ROWS];
    if (join->build.key_count > 0 && pairs->count > 0) {
        uint32_t count = row_equal_pairs(
            probe->keys, pairs->probe_rows, (const Vector *const *)join->table->keys,
            pairs->build_rows, join->build.key_count, pairs->count, equal);
        join_pairs_narrow(pairs, equal, count);
    }
}

/* A pair that fails ends the query: rows of a join are no rows of a source. */
static Error *first_failure(RowErrors *failed)
{
    Error *error = failed->count == 0 ? NULL : error_copy(failed->errors[0]);
    row_errors_done(failed);
    return error;
}

Error *join_check_condition(Join *join, JoinPairs *pairs)
{
    if (join->condition == NULL || pairs->count == 0) {
        return NULL;
    }
    arena_reset(join->scratch);
    const Batch *batch = join_pairs_batch(join, pairs, join->condition_reads, join->scratch);
    const Vector *value = NULL;
    RowErrors failed = {0};
    Error *error = expression_evaluate(join->condition, batch, join->scratch, &failed, &value);
    Error *failure = first_failure(&failed);
    if (error != NULL || failure != NULL) {
        if (error != NULL) {
            error_free(failure);
        }
        return error != NULL ? error : failure;
    }
    uint32_t holds[BATCH_ROWS];
    uint32_t count = 0;
    const uint8_t *values = value->data;
    for (uint32_t i = 0; i < pairs->count; i++) {
        holds[count] = i;
        count += vector_is_valid(value, i) && values[i] != 0;
    }
    join_pairs_narrow(pairs, holds, count);
    return NULL;
}

static Error *mark_matches(Join *join, JoinProbe *probe, const JoinPairs *pairs)
{
    uint8_t *build_matched = join->table->matched;
    for (uint32_t i = 0; i < pairs->count; i++) {
        if (join->single && probe->matched[pairs->at[i]]) {
            return error_at(ERROR_SCALAR_SUBQUERY_TOO_MANY_ROWS, join->node->place,
                            "More than one row returned by a subquery used as an expression.");
        }
        probe->matched[pairs->at[i]] = 1;
    }
    for (uint32_t i = 0; join->build_rows_after && i < pairs->count; i++) {
        build_matched[pairs->build_rows[i]] = 1;
    }
    return NULL;
}

Error *join_probe_block(Join *join)
{
    find_candidates(join, &join->at, &join->pairs);
    check_keys(join, &join->at, &join->pairs);
    TRY(join_check_condition(join, &join->pairs));
    return mark_matches(join, &join->at, &join->pairs);
}
