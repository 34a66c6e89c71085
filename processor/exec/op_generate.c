/* GENERATE: for each input row the rows of a generator, beside the columns of the input. OUTER
 * gives a row of NULLs for an input row that has none. The input batch and the arguments lie in a
 * shared arena until their last row was handed out. */
#include "processor/base/memory.h"
#include "processor/exec/generator.h"
#include "processor/exec/operator.h"
#include "processor/exec/shared_arena.h"

#include "processor/base/banned.h"

typedef struct Generate {
    Operator op;
    const LogicalNode *node;
    ExpressionList arguments;
    const Type *result;
    Arena *types; /* of `result` */
    bool outer;
    SharedArena *arena; /* of all that follows */
    Batch *input;       /* NULL: the next one is to be read */
    GeneratorCall call;
    uint32_t *counts;  /* by input row */
    uint32_t next_row; /* of the selection */
    uint32_t next_element;
} Generate;

static void forget_input(Generate *generate)
{
    shared_arena_unref(generate->arena);
    generate->arena = NULL;
    generate->input = NULL;
}

static Error *evaluate(Generate *generate, const Pull *pull)
{
    Batch *input = generate->input;
    const Vector **values = arena_new_array(pull->arena, const Vector *, generate->arguments.count);
    generate->counts = arena_new_array(pull->arena, uint32_t, input->row_count);
    TRY(expression_list_evaluate(&generate->arguments, pull, input, values));
    generate->call = (GeneratorCall){.arguments = values,
                                     .argument_count = generate->arguments.count,
                                     .result = generate->result,
                                     .row_count = input->row_count,
                                     .arena = pull->arena};
    const Rows rows = {input->selection, input->selected_count};
    generate->node->generator->generator->count(&generate->call, rows, generate->counts);
    generate->next_row = 0;
    generate->next_element = 0;
    return NULL;
}

static Error *read_input(Generate *generate, const Pull *pull)
{
    forget_input(generate);
    generate->arena = shared_arena_new("generate input");
    Pull own = *pull;
    own.arena = shared_arena(generate->arena);
    Batch *input = NULL;
    TRY(pull_input(generate->op.child, pull, own.arena, &input));
    if (input == NULL) {
        return NULL;
    }
    generate->input = arena_new_object(own.arena, Batch);
    *generate->input = *input; /* rows may be taken out of its selection */
    return evaluate(generate, &own);
}

/* The next rows of the input batch, up to BATCH_ROWS. */
static uint32_t next_rows(Generate *generate, uint32_t *rows, uint32_t *elements)
{
    const Batch *input = generate->input;
    uint32_t count = 0;
    while (count < BATCH_ROWS && generate->next_row < input->selected_count) {
        uint32_t row = batch_selected(input, generate->next_row);
        bool none = generate->counts[row] == 0;
        uint32_t end = none && generate->outer ? 1 : generate->counts[row];
        while (count < BATCH_ROWS && generate->next_element < end) {
            rows[count] = row;
            elements[count++] = none ? GENERATED_NONE : generate->next_element;
            generate->next_element++;
        }
        if (generate->next_element >= end) {
            generate->next_row++;
            generate->next_element = 0;
        }
    }
    return count;
}

static Batch *make_batch(const Generate *generate, const GeneratedRows *generated, Arena *arena)
{
    const Batch *input = generate->input;
    const Schema *schema = generate->node->schema;
    size_t passed = input->schema->field_count;
    Vector **columns = arena_new_array(arena, Vector *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        columns[i] =
            i < passed ? vector_gather(arena, input->columns[i], generated->rows, generated->count)
                       : generate->node->generator->generator->column(&generate->call, i - passed,
                                                                      generated, arena);
    }
    Batch *batch = batch_from_columns(arena, schema, columns, generated->count);
    uint32_t *origin = arena_new_array(arena, uint32_t, generated->count);
    for (uint32_t i = 0; i < generated->count; i++) {
        origin[i] = batch_origin(input, generated->rows[i]);
    }
    batch->origin = origin;
    batch->generation = input->generation;
    return batch;
}

static Error *generate_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Generate *generate = (Generate *)op;
    *ret_batch = NULL;
    for (;;) {
        if (generate->input == NULL) {
            TRY(read_input(generate, pull));
            if (generate->input == NULL) {
                forget_input(generate);
                return NULL;
            }
        }
        ArenaMark mark = arena_mark(pull->arena);
        uint32_t *rows = arena_new_array(pull->arena, uint32_t, BATCH_ROWS);
        uint32_t *elements = arena_new_array(pull->arena, uint32_t, BATCH_ROWS);
        const GeneratedRows generated = {rows, elements, next_rows(generate, rows, elements)};
        if (generated.count > 0) {
            shared_arena_keep(generate->arena, pull->arena);
            *ret_batch = make_batch(generate, &generated, pull->arena);
            return NULL;
        }
        arena_release(pull->arena, mark);
        generate->input = NULL;
    }
}

static void generate_set_now(Operator *op, int64_t now_us)
{
    expression_list_set_now(&((Generate *)op)->arguments, now_us);
}

static void generate_close(Operator *op)
{
    Generate *generate = (Generate *)op;
    expression_list_done(&generate->arguments);
    forget_input(generate);
    arena_free(generate->types);
    mem_free(generate);
}

Error *op_generate_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Generate *generate = mem_new(Generate);
    generate->op =
        (Operator){.next = generate_next, .set_now = generate_set_now, .close = generate_close};
    generate->node = node;
    generate->outer = node->outer || node->generator->generator->outer;
    generate->types = arena_new("generate");
    size_t passed = node->child->schema->field_count;
    generate->result = type_struct(generate->types, node->schema->fields + passed,
                                   node->schema->field_count - passed);
    Error *error = expression_list_open(&generate->arguments, node->expressions,
                                        node->expression_count, context);
    if (error != NULL) {
        generate_close(&generate->op);
        return error;
    }
    *ret_op = &generate->op;
    return NULL;
}
