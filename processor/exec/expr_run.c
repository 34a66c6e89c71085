/* Runs a compiled expression over a batch: one pass over its steps, each a loop over rows. */
#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/program.h"

#include "processor/base/banned.h"

typedef struct Run {
    Expression *expression;
    const Batch *batch;
    Arena *arena;
    RowErrors *errors;
    Vector **values; /* one a register */
    Rows *sets;
} Run;

/* ---- Constants ---- */

static Vector *repeat(Arena *arena, const Vector *constant, uint32_t row_count)
{
    Vector *vector = vector_new(arena, constant->type, row_count);
    for (uint32_t i = 0; i < row_count; i++) {
        vector_append_from(vector, arena, constant, 0);
    }
    return vector;
}

/* Makes every broadcast at least `row_count` long. */
static void need_broadcasts(Expression *expression, uint32_t row_count)
{
    if (row_count <= expression->broadcast_rows) {
        return;
    }
    uint32_t rows = 16;
    while (rows < row_count) {
        rows *= 2;
    }
    for (size_t i = 0; i < expression->register_count; i++) {
        Register *reg = &expression->registers[i];
        if (reg->constant != NULL && reg->needs_broadcast) {
            reg->broadcast = repeat(expression->arena, reg->constant, rows);
        }
    }
    expression->broadcast_rows = rows;
}

/* ---- Row sets ---- */

static uint16_t *new_selection(const Run *run, const Step *step)
{
    return arena_alloc(run->arena,
                       arena_array_size_(run->sets[step->rows].count, sizeof(uint16_t)));
}

static bool split_keeps(const Step *step, const Vector *value, uint32_t row)
{
    bool valid = vector_is_valid(value, row) && type_physical(value->type) != PHYSICAL_NONE;
    if (step->kind == STEP_SPLIT_VALID) {
        return valid;
    }
    bool truth = valid && VECTOR_VALUE(value, uint8_t, row) != 0;
    return step->kind == STEP_SPLIT_TRUE ? truth : !valid || truth != step->decisive;
}

static void run_split(Run *run, const Step *step)
{
    Rows rows = run->sets[step->rows];
    const Vector *value = run->values[step->arguments[0]];
    if (step->kind == STEP_SPLIT_VALID && value->validity == NULL &&
        type_physical(value->type) != PHYSICAL_NONE) {
        run->sets[step->sets[0]] = rows;
        run->sets[step->sets[1]] = (Rows){NULL, 0};
        return;
    }
    uint16_t *kept = new_selection(run, step);
    uint16_t *others = new_selection(run, step);
    uint32_t kept_count = 0;
    uint32_t other_count = 0;
    const uint8_t *truths = value->data;
    bool all_there = value->validity == NULL && type_physical(value->type) == PHYSICAL_BOOL;
    bool wanted = step->kind == STEP_SPLIT_TRUE || !step->decisive;
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t row = rows_at(rows, i);
        bool keep = all_there ? (truths[row] != 0) == wanted : split_keeps(step, value, row);
        kept[kept_count] = (uint16_t)row;
        others[other_count] = (uint16_t)row;
        kept_count += keep;
        other_count += !keep;
    }
    run->sets[step->sets[0]] = kept_count == rows.count ? rows : (Rows){kept, kept_count};
    run->sets[step->sets[1]] = other_count == rows.count ? rows : (Rows){others, other_count};
}

/* ---- AND, OR ---- */

static bool has_value(const Vector *vector, uint32_t row, bool value)
{
    return vector_is_valid(vector, row) && (VECTOR_VALUE(vector, uint8_t, row) != 0) == value;
}

static Vector *copy_booleans(const Run *run, const Vector *from, uint32_t row_count)
{
    Vector *copy = vector_new(run->arena, &type_boolean, row_count);
    copy->length = row_count;
    memcpy(copy->data, from->data, row_count);
    if (from->validity != NULL) {
        uint64_t *validity = vector_need_validity(copy, run->arena);
        memcpy(validity, from->validity, ((size_t)row_count + 63) / 64 * sizeof(uint64_t));
    }
    return copy;
}

/* A bit for each of `count` (at most 64) booleans. */
static uint64_t truth_bits(const uint8_t *truths, uint32_t count)
{
    uint64_t bits = 0;
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t eight = 0; /* the product's highest byte gathers the lowest bits of its bytes */
        memcpy(&eight, truths + i, sizeof eight);
        bits |= (eight & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56 << i;
    }
    for (; i < count; i++) {
        bits |= (uint64_t)(truths[i] != 0) << i;
    }
    return bits;
}

/* All rows at once: the values are `left & right` (`|`) wherever there is one, since what decides
 * does so whatever lies under the other's NULL. Known is what both know or one decides. */
static void logic_of_all(const Run *run, bool decisive, const Vector *left, const Vector *right,
                         Vector *result)
{
    uint32_t row_count = run->batch->row_count;
    const uint8_t *a = left->data;
    const uint8_t *b = right->data;
    uint8_t *out = VECTOR_DATA(result, uint8_t);
    uint64_t *validity = vector_need_validity(result, run->arena);
    for (uint32_t row = 0; row < row_count; row += 64) {
        uint32_t count = row_count - row < 64 ? row_count - row : 64;
        uint64_t valid_a = left->validity == NULL ? UINT64_MAX : left->validity[row / 64];
        uint64_t valid_b = right->validity == NULL ? UINT64_MAX : right->validity[row / 64];
        uint64_t flip = decisive ? 0 : UINT64_MAX;
        uint64_t decided = (valid_a & (truth_bits(a + row, count) ^ flip)) |
                           (valid_b & (truth_bits(b + row, count) ^ flip));
        uint64_t beyond = count == 64 ? 0 : UINT64_MAX << count;
        validity[row / 64] = (valid_a & valid_b) | decided | beyond;
    }
    for (uint32_t row = 0; row < row_count; row++) {
        out[row] = decisive ? a[row] | b[row] : a[row] & b[row];
    }
}

/* Three-valued: FALSE (for OR: TRUE) decides, else NULL when one is NULL. */
static void run_logic(Run *run, const Step *step)
{
    bool decisive = step->kind == STEP_OR;
    Vector *left = run->values[step->arguments[0]];
    const Vector *right = run->values[step->arguments[1]];
    Rows rows = run->sets[step->sets[0]];
    if (rows.count == 0) {
        run->values[step->result] = left;
        return;
    }
    Vector *result = copy_booleans(run, left, run->batch->row_count);
    run->values[step->result] = result;
    uint8_t *out = VECTOR_DATA(result, uint8_t);
    if (left->validity == NULL && right->validity == NULL) {
        const uint8_t *in = right->data;
        if (decisive) {
            FOR_ROWS(rows, i, { out[i] |= in[i]; });
        } else {
            FOR_ROWS(rows, i, { out[i] &= in[i]; });
        }
        return;
    }
    if (rows.selection == NULL) {
        logic_of_all(run, decisive, left, right, result);
        return;
    }
    FOR_ROWS(rows, i, {
        if (has_value(left, i, decisive) || has_value(right, i, decisive)) {
            out[i] = decisive;
            vector_set_valid(result, i);
        } else if (!vector_is_valid(left, i) || !vector_is_valid(right, i)) {
            vector_set_null(result, run->arena, i);
        } else {
            out[i] = !decisive;
        }
    });
}

/* ---- PICK ---- */

/* A branch: its vector, step 1; or a constant, step 0 (the same value for every row). */
typedef struct Branch {
    const Vector *vector;
    uint32_t stride;
    Rows rows;
} Branch;

static void pick_nulls(const Run *run, Vector *result, const Branch *branch)
{
    if (branch->vector->validity == NULL) {
        return;
    }
    FOR_ROWS(branch->rows, i, {
        if (!vector_is_valid(branch->vector, i * branch->stride)) {
            vector_set_null(result, run->arena, i);
        }
    });
}

#define PICK_VALUES(CType)                                                                         \
    do {                                                                                           \
        const CType *in = branch->vector->data;                                                    \
        CType *out = result->data;                                                                 \
        FOR_ROWS(branch->rows, i, { out[i] = in[(size_t)i * branch->stride]; });                   \
    } while (0)

static void pick_values(Vector *result, const Branch *branch)
{
    switch (type_value_size(result->type)) {
    case sizeof(uint8_t):
        PICK_VALUES(uint8_t);
        return;
    case sizeof(uint16_t):
        PICK_VALUES(uint16_t);
        return;
    case sizeof(uint32_t):
        PICK_VALUES(uint32_t);
        return;
    case sizeof(uint64_t):
        PICK_VALUES(uint64_t);
        return;
    default:
        if (type_physical(result->type) == PHYSICAL_STR) {
            PICK_VALUES(Str);
        } else if (type_physical(result->type) == PHYSICAL_INT128) {
            PICK_VALUES(int128);
        }
    }
}

/* Lists and structs are built row by row, in order. */
static void pick_nested(const Run *run, Vector *result, const Branch *branches, size_t count,
                        uint32_t row_count)
{
    const Branch **of_row = arena_new_array(run->arena, const Branch *, row_count);
    for (size_t k = 0; k < count; k++) {
        FOR_ROWS(branches[k].rows, i, { of_row[i] = &branches[k]; });
    }
    for (uint32_t row = 0; row < row_count; row++) {
        if (of_row[row] == NULL) {
            vector_append_null(result, run->arena);
        } else {
            vector_append_from(result, run->arena, of_row[row]->vector, row * of_row[row]->stride);
        }
    }
}

static Branch branch_of(const Run *run, const Step *step, size_t k)
{
    uint32_t reg = step->arguments[k];
    const Vector *constant = run->expression->registers[reg].constant;
    return (Branch){.vector = constant != NULL ? constant : run->values[reg],
                    .stride = constant == NULL,
                    .rows = run->sets[step->sets[k]]};
}

static void run_pick(Run *run, const Step *step)
{
    uint32_t row_count = run->batch->row_count;
    Branch *branches = arena_new_array(run->arena, Branch, step->argument_count);
    for (size_t k = 0; k < step->argument_count; k++) {
        branches[k] = branch_of(run, step, k);
        if (branches[k].stride == 1 && branches[k].rows.count == run->sets[step->rows].count) {
            run->values[step->result] = run->values[step->arguments[k]];
            return;
        }
    }
    Vector *result = vector_new(run->arena, step->type, row_count);
    run->values[step->result] = result;
    PhysicalKind physical = type_physical(step->type);
    if (physical == PHYSICAL_LIST || physical == PHYSICAL_STRUCT || physical == PHYSICAL_NONE) {
        pick_nested(run, result, branches, step->argument_count, row_count);
        return;
    }
    result->length = row_count;
    for (size_t k = 0; k < step->argument_count; k++) {
        if (branches[k].rows.count > 0) {
            pick_values(result, &branches[k]);
            pick_nulls(run, result, &branches[k]);
        }
    }
}

/* ---- Structs ---- */

static void run_field(Run *run, const Step *step)
{
    const Vector *parent = run->values[step->arguments[0]];
    Vector *child = parent->children[step->column];
    if (parent->validity != NULL) {
        Vector *own = arena_new_object(run->arena, Vector);
        *own = *child;
        size_t words = ((size_t)child->capacity + 63) / 64;
        size_t used = ((size_t)parent->length + 63) / 64;
        own->validity = arena_alloc(run->arena, words * sizeof(uint64_t));
        memset(own->validity, 0xFF, words * sizeof(uint64_t));
        for (size_t i = 0; i < used; i++) {
            own->validity[i] = parent->validity[i];
            own->validity[i] &= child->validity == NULL ? UINT64_MAX : child->validity[i];
        }
        child = own;
    }
    run->values[step->result] = child;
}

/* Constants are repeated for more rows than the batch may have: the same vector, but as long. */
static Vector *cut_to(const Run *run, Vector *vector)
{
    if (vector->length == run->batch->row_count) {
        return vector;
    }
    Vector *cut = arena_new_object(run->arena, Vector);
    *cut = *vector;
    cut->length = run->batch->row_count;
    return cut;
}

static void run_struct(Run *run, const Step *step)
{
    Vector *result = arena_new_object(run->arena, Vector);
    uint32_t row_count = run->batch->row_count;
    *result = (Vector){.type = step->type,
                       .length = row_count,
                       .capacity = row_count,
                       .children = arena_new_array(run->arena, Vector *, step->argument_count),
                       .child_count = (uint32_t)step->argument_count};
    for (size_t i = 0; i < step->argument_count; i++) {
        result->children[i] = cut_to(run, run->values[step->arguments[i]]);
    }
    run->values[step->result] = result;
}

/* ---- The loop over steps ---- */

static void run_kernel(Run *run, const Step *step)
{
    const Vector **arguments = arena_new_array(run->arena, const Vector *, step->argument_count);
    for (size_t i = 0; i < step->argument_count; i++) {
        arguments[i] = run->values[step->arguments[i]];
    }
    Failures failures = {.errors = run->errors, .place = step->place, .tolerant = step->tolerant};
    KernelCall call = {.arguments = arguments,
                       .argument_count = step->argument_count,
                       .rows = run->sets[step->rows],
                       .arena = run->arena,
                       .state = step->state,
                       .context = &run->expression->context,
                       .failures = &failures};
    run->values[step->result] =
        kernel_run(step->run, &call, step->type, run->batch->row_count, step->nulls_pass);
}

static void run_step(Run *run, const Step *step)
{
    switch (step->kind) {
    case STEP_COLUMN:
        run->values[step->result] = run->batch->columns[step->column];
        return;
    case STEP_KERNEL:
        run_kernel(run, step);
        return;
    case STEP_SPLIT_TRUE:
    case STEP_SPLIT_VALID:
    case STEP_SPLIT_OPEN:
        run_split(run, step);
        return;
    case STEP_PICK:
        run_pick(run, step);
        return;
    case STEP_AND:
    case STEP_OR:
        run_logic(run, step);
        return;
    case STEP_FIELD:
        run_field(run, step);
        return;
    case STEP_STRUCT:
        run_struct(run, step);
        return;
    }
}

static void run_start(Run *run)
{
    Expression *expression = run->expression;
    run->values = arena_new_array(run->arena, Vector *, expression->register_count);
    run->sets = arena_new_array(run->arena, Rows, expression->set_count);
    run->sets[0] = (Rows){run->batch->selection, run->batch->selected_count};
    need_broadcasts(expression, run->batch->row_count);
    for (size_t i = 0; i < expression->register_count; i++) {
        run->values[i] = expression->registers[i].broadcast;
    }
}

Error *expression_evaluate(Expression *expression, const Batch *batch, Arena *batch_arena,
                           RowErrors *errors, const Vector **ret_vector)
{
    const Vector *constant = expression->registers[expression->root].constant;
    if (constant != NULL) {
        *ret_vector = repeat(batch_arena, constant, batch->row_count);
        return NULL;
    }
    if (batch->selected_count == 0) {
        *ret_vector = vector_of_nulls(batch_arena, expression->type, batch->row_count);
        return NULL;
    }
    assert(batch->row_count <= (uint32_t)UINT16_MAX + 1);
    Run run = {.expression = expression, .batch = batch, .arena = batch_arena, .errors = errors};
    run_start(&run);
    for (size_t i = 0; i < expression->step_count; i++) {
        const Step *step = &expression->steps[i];
        if (run.sets[step->rows].count > 0) {
            run_step(&run, step);
        }
    }
    assert(run.values[expression->root] != NULL);
    *ret_vector = cut_to(&run, run.values[expression->root]);
    return NULL;
}

Error *expression_open(const BoundExpr *expr, const ExecContext *context,
                       Expression **ret_expression)
{
    AUTO(expression) Expression *expression = mem_new(Expression);
    expression->arena = arena_new("expression");
    expression->context = *context;
    TRY(expression_compile(expression, expr));
    *ret_expression = expression;
    expression = NULL;
    return NULL;
}

void expression_close(Expression *expression)
{
    if (expression == NULL) {
        return;
    }
    mem_free(expression->steps);
    mem_free(expression->registers);
    arena_free(expression->arena);
    mem_free(expression);
}

void expression_set_now(Expression *expression, int64_t now_us)
{
    expression->context.now_us = now_us;
}
