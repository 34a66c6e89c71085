/* IN and NOT IN are three-valued: a row without a match has no answer (NULL) when a NULL, its own
 * or one of the other side, could be that match. Keys with `null_equal` and the condition say which
 * rows of the build side are asked at all; the other keys are the operands.
 *
 * `x IN (SELECT y …)` is simple: NULL when x is NULL and there is a row, or when some y is NULL.
 * Counts answer that. In all other cases the rows that may leave the answer open are looked at one
 * by one: those with a NULL operand, and for a row that itself has one, all. */
#include "processor/exec/join.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

static bool is_three_valued(const Join *join)
{
    return join->gives == JOIN_GIVES_NOT_IN || join->gives == JOIN_GIVES_MARK;
}

/* Keys that are operands of an IN. */
static size_t operand_count(const Join *join)
{
    size_t count = 0;
    for (size_t i = 0; is_three_valued(join) && i < join->build.key_count; i++) {
        count += !join->node->null_equal[i];
    }
    return count;
}

bool join_null_is_simple(const Join *join)
{
    return operand_count(join) == 0 || (join->build.key_count == 1 && join->condition == NULL);
}

static bool row_has_null(const Join *join, uint32_t at)
{
    const JoinProbe *probe = &join->at;
    return keyed_rows_is_null(&join->probe, join->node->null_equal, probe->batch,
                              batch_selected(probe->batch, at));
}

static void find_open_by_counts(Join *join)
{
    for (uint32_t at = 0; at < join->at.batch->selected_count; at++) {
        join->at.open[at] =
            join->build_count > 0 && (join->build_null_count > 0 || row_has_null(join, at));
    }
}

/* Rows of the table with a NULL operand. */
static void list_null_rows(Join *join)
{
    const JoinTable *table = join->table;
    if (join->null_rows != NULL) {
        return;
    }
    join->null_rows = arena_new_array(join->arena, uint32_t, join->build_null_count);
    for (uint32_t row = 0; row < table->count; row++) {
        if (keyed_rows_is_null(&join->build, join->node->null_equal,
                               row_store_chunk(table->rows, row), row % BATCH_ROWS)) {
            join->null_rows[join->null_row_count++] = row;
        }
    }
}

/* Where the search for rows that leave an answer open stands. */
typedef struct OpenSearch {
    uint32_t at;        /* selected row */
    uint32_t candidate; /* the next one of its candidates */
} OpenSearch;

static void find_candidates(Join *join, OpenSearch *search, JoinPairs *pairs)
{
    const JoinProbe *probe = &join->at;
    pairs->count = 0;
    while (search->at < probe->batch->selected_count && pairs->count < BATCH_ROWS) {
        bool all = row_has_null(join, search->at);
        uint32_t count = all ? join->table->count : join->null_row_count;
        if (probe->matched[search->at] || probe->open[search->at] || search->candidate == count) {
            search->at++;
            search->candidate = 0;
            continue;
        }
        for (; search->candidate < count && pairs->count < BATCH_ROWS; search->candidate++) {
            pairs->at[pairs->count] = search->at;
            pairs->probe_rows[pairs->count] = batch_selected(probe->batch, search->at);
            pairs->build_rows[pairs->count++] =
                all ? search->candidate : join->null_rows[search->candidate];
        }
    }
}

/* Is the key of the pair equal, or for an operand NULL on a side? */
static bool may_be_equal(const Join *join, size_t key, uint32_t probe_row, uint32_t build_row)
{
    const Vector *left = join->at.keys[key];
    const Vector *right = join->table->keys[key];
    if (!join->node->null_equal[key] &&
        (keyed_value_is_null(left, probe_row) || keyed_value_is_null(right, build_row))) {
        return true;
    }
    return vector_value_equal(left, probe_row, right, build_row);
}

static void check_keys(const Join *join, JoinPairs *pairs)
{
    uint32_t holds[BATCH_ROWS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        bool equal = true;
        for (size_t key = 0; key < join->build.key_count && equal; key++) {
            equal = may_be_equal(join, key, pairs->probe_rows[i], pairs->build_rows[i]);
        }
        holds[count] = i;
        count += equal;
    }
    join_pairs_narrow(pairs, holds, count);
}

static Error *find_open_by_rows(Join *join, const Pull *pull)
{
    OpenSearch search = {0};
    JoinPairs *pairs = &join->pairs;
    list_null_rows(join);
    for (;;) {
        TRY(pull_check(pull, join->context.interrupted));
        find_candidates(join, &search, pairs);
        if (pairs->count == 0) {
            return NULL;
        }
        check_keys(join, pairs);
        TRY(join_check_condition(join, pairs));
        for (uint32_t i = 0; i < pairs->count; i++) {
            join->at.open[pairs->at[i]] = 1;
        }
    }
}

Error *join_find_open(Join *join, const Pull *pull)
{
    if (operand_count(join) == 0) {
        return NULL;
    }
    if (join_null_is_simple(join)) {
        find_open_by_counts(join);
        return NULL;
    }
    return find_open_by_rows(join, pull);
}
