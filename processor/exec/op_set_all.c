/* INTERSECT ALL and EXCEPT ALL: the right side is counted, row by equal row; then each row of the
 * left takes one away. INTERSECT ALL gives the rows that found one, EXCEPT ALL those that did not.
 *
 * When the counts outgrow the query's memory, both sides are written to files, PARTITION_COUNT
 * pairs by bits of the rows' hash, and the pairs are done one after the other; a pair that is still
 * too large is divided again by the next bits. Equal rows meet in one pair, so that nothing else
 * changes. */
#include "processor/exec/op_set_all.h"

#include "processor/base/memory.h"
#include "processor/exec/group_table.h"
#include "processor/exec/row_hash.h"
#include "processor/exec/spill.h"

#include "processor/base/banned.h"

enum {
    PARTITION_BITS = 4,
    PARTITION_COUNT = 1 << PARTITION_BITS,
    LEVEL_MAX = 6,
    ROWS_MIN = 2048, /* fewer distinct rows are not divided: it would not help */
};

/* Rows of both sides whose hashes agree in some bits. */
typedef struct Pair {
    SpillFile *left;
    SpillFile *right; /* with a last column: how often */
    uint32_t level;
} Pair;

typedef struct SetAll {
    Operator op;
    const Schema *schema;
    const Schema *counted; /* with the count */
    bool intersect;
    QueryMemory *memory;
    const bool *interrupted;
    Arena *plan_arena; /* of `counted`, `types` */
    const Type **types;
    GroupTable *counts;
    size_t held;
    Arena *input; /* of one batch that is read */
    bool built;
    Pair *pairs; /* still to do, the last one first */
    size_t pair_count;
    size_t pair_capacity;
    SpillFile *left; /* of the pair at work; NULL: rows come from the child */
    bool from_files;
} SetAll;

/* ------------------------------------------------------------------ counts --- */

static uint64_t *hash_rows(const SetAll *set, const Batch *batch, Arena *arena)
{
    uint64_t *hashes = arena_new_array(arena, uint64_t, batch->row_count);
    row_hash((const Vector *const *)batch->columns, set->schema->field_count,
             (Rows){batch->selection, batch->selected_count}, hashes);
    return hashes;
}

static void new_counts(SetAll *set)
{
    group_table_free(set->counts);
    set->counts = group_table_new(set->types, set->schema->field_count, sizeof(int64_t));
    memory_hold(set->memory, &set->held, 0);
}

/* `times`: the column of counts, NULL for once each. */
static void count_rows(SetAll *set, const Batch *batch, const Vector *times, Arena *arena)
{
    GroupRows *groups = arena_new_object(arena, GroupRows);
    group_table_add(set->counts, (const Vector *const *)batch->columns,
                    hash_rows(set, batch, arena), (Rows){batch->selection, batch->selected_count},
                    groups);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        int64_t *count = groups->blocks[i];
        *count += times == NULL ? 1 : VECTOR_VALUE(times, int64_t, batch_selected(batch, i));
    }
    memory_hold(set->memory, &set->held, group_table_bytes(set->counts));
}

/* Takes the rows of the left out of the counts; narrows the batch to those that are given. */
static void take_rows(const SetAll *set, Batch *batch, Arena *arena)
{
    GroupRows *groups = arena_new_object(arena, GroupRows);
    group_table_find(set->counts, (const Vector *const *)batch->columns,
                     hash_rows(set, batch, arena), (Rows){batch->selection, batch->selected_count},
                     groups);
    uint16_t *selection =
        arena_alloc(arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        int64_t *count = groups->blocks[i];
        bool found = count != NULL && *count > 0;
        if (found) {
            (*count)--;
        }
        selection[kept] = (uint16_t)batch_selected(batch, i);
        kept += found == set->intersect;
    }
    batch->selection = selection;
    batch->selected_count = kept;
}

static bool outgrown(const SetAll *set)
{
    return memory_exceeded(set->memory) && group_table_count(set->counts) > ROWS_MIN;
}

/* ------------------------------------------------------------------- files --- */

static Error *add_pairs(SetAll *set, uint32_t level)
{
    mem_reserve(set->pairs, &set->pair_capacity, set->pair_count + PARTITION_COUNT);
    for (size_t i = 0; i < PARTITION_COUNT; i++) {
        Pair *pair = &set->pairs[set->pair_count];
        *pair = (Pair){.level = level};
        set->pair_count++;
        TRY(spill_open(set->memory, set->schema, &pair->left));
        TRY(spill_open(set->memory, set->counted, &pair->right));
    }
    return NULL;
}

/* Writes the rows to the last PARTITION_COUNT pairs, by the bits of their level. */
static Error *write_rows(SetAll *set, const Batch *batch, bool left, Arena *arena)
{
    Pair *pairs = &set->pairs[set->pair_count - PARTITION_COUNT];
    unsigned shift = PARTITION_BITS * pairs[0].level;
    const uint64_t *hashes = hash_rows(set, batch, arena);
    uint16_t *selection =
        arena_alloc(arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    for (size_t part = 0; part < PARTITION_COUNT; part++) {
        Batch rows = *batch;
        rows.selection = selection;
        rows.selected_count = 0;
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            uint32_t row = batch_selected(batch, i);
            selection[rows.selected_count] = (uint16_t)row;
            rows.selected_count += (hashes[row] >> shift) % PARTITION_COUNT == part;
        }
        if (rows.selected_count > 0) {
            TRY(spill_write(left ? pairs[part].left : pairs[part].right, &rows));
        }
    }
    return NULL;
}

/* The batch with a last column of ones. */
static Batch *counted_once(const SetAll *set, const Batch *batch, Arena *arena)
{
    size_t width = set->schema->field_count;
    Vector **columns = arena_new_array(arena, Vector *, width + 1);
    for (size_t i = 0; i < width; i++) {
        columns[i] = batch->columns[i];
    }
    columns[width] = vector_new(arena, &type_bigint, batch->row_count);
    for (uint32_t i = 0; i < batch->row_count; i++) {
        VECTOR_DATA(columns[width], int64_t)[i] = 1;
    }
    columns[width]->length = batch->row_count;
    Batch *counted = batch_from_columns(arena, set->counted, columns, batch->row_count);
    counted->selection = batch->selection;
    counted->selected_count = batch->selected_count;
    return counted;
}

/* The table's rows and counts go to new pairs; the table is empty then. */
static Error *divide_counts(SetAll *set, uint32_t level)
{
    size_t width = set->schema->field_count;
    uint32_t count = group_table_count(set->counts);
    AUTO(arena) Arena *arena = arena_new("set rows");
    TRY(add_pairs(set, level));
    for (uint32_t first = 0; first < count; first += BATCH_ROWS) {
        arena_reset(arena);
        uint32_t rows = count - first < BATCH_ROWS ? count - first : BATCH_ROWS;
        Vector **columns = arena_new_array(arena, Vector *, width + 1);
        for (size_t i = 0; i < width; i++) {
            columns[i] = group_table_keys(set->counts, i, first, rows, arena);
        }
        columns[width] = vector_new(arena, &type_bigint, rows);
        for (uint32_t i = 0; i < rows; i++) {
            const int64_t *times = group_table_block(set->counts, first + i);
            vector_append_int(columns[width], arena, *times);
        }
        TRY(write_rows(set, batch_from_columns(arena, set->counted, columns, rows), false, arena));
    }
    new_counts(set);
    return NULL;
}

/* ------------------------------------------------------------ the right side --- */

static Error *read_right(SetAll *set, const Pull *pull)
{
    new_counts(set);
    for (;;) {
        Batch *batch = NULL;
        TRY(pull_input(set->op.right, pull, set->input, &batch));
        if (batch == NULL) {
            return NULL;
        }
        if (set->from_files) {
            TRY(write_rows(set, counted_once(set, batch, set->input), false, set->input));
            continue;
        }
        count_rows(set, batch, NULL, set->input);
        if (outgrown(set)) {
            TRY(divide_counts(set, 0));
            set->from_files = true;
        }
    }
}

static Error *divide_left(SetAll *set, const Pull *pull)
{
    for (;;) {
        Batch *batch = NULL;
        TRY(pull_input(set->op.child, pull, set->input, &batch));
        if (batch == NULL) {
            return NULL;
        }
        TRY(write_rows(set, batch, true, set->input));
    }
}

static Error *build(SetAll *set, const Pull *pull)
{
    TRY(read_right(set, pull));
    if (set->from_files) {
        TRY(divide_left(set, pull));
    }
    arena_reset(set->input);
    set->built = true;
    return NULL;
}

/* ------------------------------------------------------------- pair by pair --- */

/* The rest of the pair's rows to new pairs, behind the counts that were made of it so far. */
static Error *divide_pair(SetAll *set, const Pull *pull, Pair *pair)
{
    TRY(divide_counts(set, pair->level + 1));
    for (;;) {
        arena_reset(set->input);
        TRY(pull_check(pull, set->interrupted));
        Batch *batch = NULL;
        TRY(spill_read(pair->right, set->input, &batch));
        if (batch == NULL) {
            break;
        }
        TRY(write_rows(set, batch, false, set->input));
    }
    TRY(spill_rewind(pair->left));
    for (;;) {
        arena_reset(set->input);
        TRY(pull_check(pull, set->interrupted));
        Batch *batch = NULL;
        TRY(spill_read(pair->left, set->input, &batch));
        if (batch == NULL) {
            return NULL;
        }
        TRY(write_rows(set, batch, true, set->input));
    }
}

/* Counts the pair's right side; it is divided instead when that does not fit. */
static Error *load_pair(SetAll *set, const Pull *pull, Pair *pair, bool *ret_divided)
{
    *ret_divided = false;
    new_counts(set);
    TRY(spill_rewind(pair->right));
    for (;;) {
        arena_reset(set->input);
        TRY(pull_check(pull, set->interrupted));
        Batch *batch = NULL;
        TRY(spill_read(pair->right, set->input, &batch));
        if (batch == NULL) {
            return spill_rewind(pair->left);
        }
        count_rows(set, batch, batch->columns[set->schema->field_count], set->input);
        if (outgrown(set) && pair->level < LEVEL_MAX) {
            *ret_divided = true;
            return divide_pair(set, pull, pair);
        }
    }
}

static void close_file(SpillFile *file)
{
    if (file != NULL) {
        spill_close(file);
    }
}

static void close_pair(const Pair *pair)
{
    close_file(pair->left);
    close_file(pair->right);
}

/* Makes the next pair's left side the one to read; `left` stays NULL when none is left. */
static Error *next_pair(SetAll *set, const Pull *pull)
{
    while (set->left == NULL && set->pair_count > 0) {
        Pair pair = set->pairs[--set->pair_count];
        bool divided = false;
        Error *error = load_pair(set, pull, &pair, &divided);
        if (error == NULL && !divided) {
            set->left = pair.left;
            pair.left = NULL;
        }
        close_pair(&pair);
        TRY(error);
    }
    return NULL;
}

static Error *next_left(SetAll *set, const Pull *pull, Batch **ret_batch)
{
    if (!set->from_files) {
        return set->op.child->next(set->op.child, pull, ret_batch);
    }
    *ret_batch = NULL;
    for (;;) {
        TRY(next_pair(set, pull));
        if (set->left == NULL) {
            return NULL;
        }
        TRY(spill_read(set->left, pull->arena, ret_batch));
        if (*ret_batch != NULL) {
            return NULL;
        }
        spill_close(set->left);
        set->left = NULL;
    }
}

/* ---------------------------------------------------------------- operator --- */

static Error *set_all_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    SetAll *set = (SetAll *)op;
    *ret_batch = NULL;
    if (!set->built) {
        TRY(build(set, pull));
    }
    for (;;) {
        TRY(pull_check(pull, set->interrupted));
        ArenaMark mark = arena_mark(pull->arena);
        Batch *in = NULL;
        TRY(next_left(set, pull, &in));
        if (in == NULL) {
            return NULL;
        }
        Batch *out = arena_new_object(pull->arena, Batch);
        *out = *in;
        out->schema = set->schema;
        take_rows(set, out, pull->arena);
        if (out->selected_count > 0) {
            *ret_batch = out;
            return NULL;
        }
        arena_release(pull->arena, mark);
    }
}

static void set_all_close(Operator *op)
{
    SetAll *set = (SetAll *)op;
    group_table_free(set->counts);
    memory_hold(set->memory, &set->held, 0);
    for (size_t i = 0; i < set->pair_count; i++) {
        close_pair(&set->pairs[i]);
    }
    mem_free(set->pairs);
    close_file(set->left);
    arena_free(set->input);
    arena_free(set->plan_arena);
    mem_free(set);
}

Error *op_set_all_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    SetAll *set = mem_new(SetAll);
    set->op = (Operator){.next = set_all_next, .close = set_all_close};
    set->schema = node->schema;
    set->intersect = node->set_operation == SET_INTERSECT;
    set->memory = context->memory;
    set->interrupted = context->interrupted;
    set->input = arena_new("set input");
    set->plan_arena = arena_new("set");
    size_t width = node->schema->field_count;
    Field *fields = arena_new_array(set->plan_arena, Field, width + 1);
    set->types = arena_new_array(set->plan_arena, const Type *, width);
    for (size_t i = 0; i < width; i++) {
        fields[i] = node->schema->fields[i];
        set->types[i] = fields[i].type;
    }
    fields[width] = (Field){.name = STR("count"), .type = &type_bigint};
    set->counted = schema_new(set->plan_arena, fields, width + 1);
    *ret_op = &set->op;
    return NULL;
}
