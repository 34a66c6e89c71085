/* JOIN: which side is built, what each kind gives, and the phases of a task: its build side into
 * the table, its probe side against it, then the rows of the build side that are left. See join.h.
 */
#include <assert.h>

#include "processor/base/memory.h"
#include "processor/exec/join.h"

#include "processor/base/banned.h"

/* ---- Reading ---- */

static Error *read_child(const KeyedRows *side, Operator *child, const Pull *pull, Arena *arena,
                         Batch **ret_extended)
{
    Pull own = *pull;
    own.arena = arena;
    Batch *batch = NULL;
    TRY(child->next(child, &own, &batch));
    if (batch == NULL) {
        *ret_extended = NULL;
        return NULL;
    }
    TRY(keyed_rows_extend(side, &own, batch, ret_extended));
    return pull_check(pull, NULL);
}

static Error *read_file(SpillFile *file, Arena *arena, Batch **ret_extended)
{
    *ret_extended = NULL;
    return file == NULL ? NULL : spill_read(file, arena, ret_extended);
}

/* What IN has to know of the whole build side. */
static void count_nulls(Join *join, const Batch *extended)
{
    join->build_count += extended->selected_count;
    for (uint32_t i = 0; i < extended->selected_count; i++) {
        join->build_null_count += keyed_rows_is_null(&join->build, join->node->null_equal, extended,
                                                     batch_selected(extended, i));
    }
}

Error *join_read_build(Join *join, const Pull *pull, Batch **ret_extended)
{
    arena_reset(join->input);
    if (join->task.level > 0) {
        return read_file(join->task.build, join->input, ret_extended);
    }
    Operator *child = join->build_is_left ? join->op.child : join->op.right;
    TRY(read_child(&join->build, child, pull, join->input, ret_extended));
    if (*ret_extended != NULL &&
        (join->gives == JOIN_GIVES_NOT_IN || join->gives == JOIN_GIVES_MARK)) {
        count_nulls(join, *ret_extended);
    }
    return NULL;
}

Error *join_read_probe(Join *join, const Pull *pull, Arena *arena, Batch **ret_extended)
{
    if (join->task.level > 0) {
        return read_file(join->task.probe, arena, ret_extended);
    }
    Operator *child = join->build_is_left ? join->op.right : join->op.child;
    return read_child(&join->probe, child, pull, arena, ret_extended);
}

void join_count_memory(Join *join)
{
    memory_hold(join->context.memory, &join->held,
                join->table == NULL ? 0 : join_table_bytes(join->table));
}

/* ---- Phases ---- */

/* A query as a value, over nothing of the other side, has one row whether it is asked for or not.
 */
static Error *check_single(const Join *join)
{
    if (join->single && join->build.key_count == 0 && join->condition == NULL &&
        join->table->count > 1) {
        return error_at(ERROR_SCALAR_SUBQUERY_TOO_MANY_ROWS, join->node->place,
                        "More than one row returned by a subquery used as an expression.");
    }
    return NULL;
}

/* Without rows on the build side, do rows of the probe side give anything? */
static bool probe_matters(const Join *join)
{
    switch (join->gives) {
    case JOIN_GIVES_PAIRS:
        return join->table->count > 0 || join->probe_outer;
    case JOIN_GIVES_MATCHED:
    case JOIN_GIVES_NOTHING:
        return join->table->count > 0;
    case JOIN_GIVES_UNMATCHED:
    case JOIN_GIVES_NOT_IN:
    case JOIN_GIVES_MARK:
        return true;
    }
    return true;
}

/* Reads the task's build side; a task that is too large becomes several. */
static Error *begin_task(Join *join, const Pull *pull)
{
    join->table = join_table_new(&join->build, join->node->null_equal);
    for (;;) {
        Batch *batch = NULL;
        TRY(join_read_build(join, pull, &batch));
        if (batch == NULL) {
            break;
        }
        join_table_add(join->table, batch);
        join_count_memory(join);
        if (join_must_spill(join)) {
            return join_spill(join, pull);
        }
        TRY(memory_check(join->context.memory, join->held,
                         join->build.key_count == 0
                             ? "The rows of one side of a join without equal columns"
                             : "The rows of one side of a join whose keys are equal",
                         "join by columns that are equal for fewer rows", join->node->place));
    }
    arena_reset(join->input);
    TRY(check_single(join));
    join_table_finish(join->table);
    join->next_unmatched = 0;
    bool probe = join->node->streaming || probe_matters(join);
    join->phase = probe ? JOIN_PHASE_PROBE : JOIN_PHASE_UNMATCHED;
    return NULL;
}

static Error *next_task(Join *join, const Pull *pull)
{
    join_task_done(&join->task);
    join_table_free(join->table);
    join->table = NULL;
    join_count_memory(join);
    if (join->task_count == 0) {
        join->phase = JOIN_PHASE_DONE;
        return NULL;
    }
    join->task = join->tasks[--join->task_count];
    return begin_task(join, pull);
}

/* What the batch at hand gives next; NULL: nothing more. */
static Error *join_batch(Join *join, const Pull *pull, Batch **ret_batch)
{
    Batch *out = NULL;
    while (out == NULL && !join_probe_is_complete(join)) {
        TRY(pull_check(pull, join->context.interrupted));
        TRY(join_probe_block(join));
        out = join_give_pairs(join, pull->arena);
    }
    if (!join_probe_is_complete(join)) {
        join_probe_keep(join);
    } else {
        if (out == NULL) {
            TRY(join_find_open(join, pull));
            out = join_give_probe_rows(join, pull->arena);
        }
        join_probe_done(join);
    }
    *ret_batch = out;
    return NULL;
}

/* The next result, or an empty batch where a batch gives nothing: what it took in the pull's arena
 * is then not held any longer. NULL: the probe side is used up. */
static Error *probe_next(Join *join, const Pull *pull, Batch **ret_batch)
{
    if (join->at.batch == NULL) {
        Batch *extended = NULL;
        TRY(join_read_probe(join, pull, pull->arena, &extended));
        if (extended == NULL) {
            *ret_batch = NULL;
            return NULL;
        }
        join_probe_begin(join, extended, pull->arena);
    }
    TRY(join_batch(join, pull, ret_batch));
    if (*ret_batch == NULL) {
        *ret_batch = batch_new(pull->arena, join->node->schema, 0);
    }
    return NULL;
}

static Error *join_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Join *join = (Join *)op;
    *ret_batch = NULL;
    while (join->phase != JOIN_PHASE_DONE && *ret_batch == NULL) {
        switch (join->phase) {
        case JOIN_PHASE_TASK:
            TRY(next_task(join, pull));
            break;
        case JOIN_PHASE_PROBE:
            TRY(probe_next(join, pull, ret_batch));
            if (*ret_batch == NULL && join->node->streaming) {
                return NULL; /* the next batch of the stream meets the same table */
            }
            join->phase = *ret_batch == NULL ? JOIN_PHASE_UNMATCHED : JOIN_PHASE_PROBE;
            break;
        case JOIN_PHASE_UNMATCHED:
            *ret_batch = join_give_build_rows(join, pull->arena);
            join->phase = *ret_batch == NULL ? JOIN_PHASE_TASK : JOIN_PHASE_UNMATCHED;
            break;
        case JOIN_PHASE_DONE:
            break;
        }
    }
    return NULL;
}

/* ---- Opening ---- */

static void join_set_now(Operator *op, int64_t now_us)
{
    Join *join = (Join *)op;
    expression_list_set_now(&join->build.computed, now_us);
    expression_list_set_now(&join->probe.computed, now_us);
    if (join->condition != NULL) {
        expression_set_now(join->condition, now_us);
    }
}

static void join_close(Operator *op)
{
    Join *join = (Join *)op;
    memory_hold(join->context.memory, &join->held, 0);
    for (size_t i = 0; i < join->task_count; i++) {
        join_task_done(&join->tasks[i]);
    }
    mem_free(join->tasks);
    join_task_done(&join->task);
    join_table_free(join->table);
    row_store_free(join->at.kept);
    keyed_rows_done(&join->build);
    keyed_rows_done(&join->probe);
    expression_close(join->condition);
    arena_free(join->scratch);
    arena_free(join->input);
    arena_free(join->arena);
    mem_free(join);
}

static bool may_build_left(JoinKind kind)
{
    switch (kind) {
    case JOIN_INNER:
    case JOIN_LEFT:
    case JOIN_RIGHT:
    case JOIN_FULL:
    case JOIN_SEMI:
    case JOIN_ANTI:
        return true;
    case JOIN_NULL_ANTI:
    case JOIN_MARK:
    case JOIN_SINGLE:
        return false;
    }
    return false;
}

static void choose_gives(Join *join)
{
    JoinKind kind = join->node->join;
    join->gives = JOIN_GIVES_PAIRS;
    switch (kind) {
    case JOIN_INNER:
    case JOIN_LEFT:
    case JOIN_RIGHT:
    case JOIN_FULL:
        join->probe_outer =
            kind == JOIN_FULL || kind == (join->build_is_left ? JOIN_RIGHT : JOIN_LEFT);
        join->build_rows_after =
            kind == JOIN_FULL || kind == (join->build_is_left ? JOIN_LEFT : JOIN_RIGHT);
        return;
    case JOIN_SEMI:
    case JOIN_ANTI:
        join->gives = join->build_is_left ? JOIN_GIVES_NOTHING
                      : kind == JOIN_SEMI ? JOIN_GIVES_MATCHED
                                          : JOIN_GIVES_UNMATCHED;
        join->build_rows_after = join->build_is_left;
        join->build_matched = kind == JOIN_SEMI;
        return;
    case JOIN_NULL_ANTI:
        join->gives = JOIN_GIVES_NOT_IN;
        return;
    case JOIN_MARK:
        join->gives = JOIN_GIVES_MARK;
        return;
    case JOIN_SINGLE:
        join->probe_outer = true;
        join->single = true;
    }
}

static const Schema *schema_of_both(const Schema *left, const Schema *right, Arena *arena)
{
    size_t count = left->field_count + right->field_count;
    Field *fields = arena_new_array(arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = i < left->field_count ? left->fields[i] : right->fields[i - left->field_count];
    }
    return schema_new(arena, fields, count);
}

/* Height of expressions is bounded. */
static void note_reads(const BoundExpr *expr, bool *reads)
{
    if (expr->kind == BOUND_COLUMN) {
        reads[expr->column] = true;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        note_reads(expr->children[i], reads);
    }
}

static Error *open_parts(Join *join)
{
    const LogicalNode *node = join->node;
    const Schema *left = node->child->schema;
    const Schema *right = node->right->schema;
    join->both = schema_of_both(left, right, join->arena);
    KeyedRows *left_side = join->build_is_left ? &join->build : &join->probe;
    KeyedRows *right_side = join->build_is_left ? &join->probe : &join->build;
    TRY(keyed_rows_open(left_side, left, node->expressions, node->expression_count, &join->context,
                        join->arena));
    TRY(keyed_rows_open(right_side, right, node->right_keys, node->expression_count, &join->context,
                        join->arena));
    if (node->condition != NULL) {
        join->condition_reads = arena_new_array(join->arena, bool, join->both->field_count);
        note_reads(node->condition, join->condition_reads);
        TRY(expression_open(node->condition, &join->context, &join->condition));
    }
    return NULL;
}

Error *op_join_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Join *join = mem_new(Join);
    join->op = (Operator){.next = join_next, .set_now = join_set_now, .close = join_close};
    join->node = node;
    join->context = *context;
    join->arena = arena_new("join");
    join->input = arena_new("join input");
    join->scratch = arena_new("join block");
    join->build_is_left = node->build_left && may_build_left(node->join);
    choose_gives(join);
    Error *error = open_parts(join);
    if (error != NULL) {
        join_close(&join->op);
        return error;
    }
    mem_reserve(join->tasks, &join->task_capacity, 1);
    join->tasks[join->task_count++] = (JoinTask){0}; /* the children themselves */
    *ret_op = &join->op;
    return NULL;
}
