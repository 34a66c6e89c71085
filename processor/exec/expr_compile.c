/* From a bound expression to a program (program.h): post-order walk, one step a node, constants
 * folded on the way up, row sets narrowed where later children are evaluated lazily. */
#include "processor/exec/expr_lambda.h"

#include <assert.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

/* At least as deep as the binder lets expressions be. */
enum { DEPTH_MAX = 2100 };

typedef struct Compiler {
    Expression *out;
    int depth;
} Compiler;

static Error *compile(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                      uint32_t *ret_register);

static uint32_t new_register(Expression *out, const Vector *constant)
{
    mem_reserve(out->registers, &out->register_capacity, out->register_count + 1);
    out->registers[out->register_count] = (Register){.constant = constant};
    return (uint32_t)out->register_count++;
}

static uint32_t new_set(Expression *out)
{
    return out->set_count++;
}

/* Adds a step; the arguments' array is copied. Only PICK reads constants as they are. */
static Step *add_step(Expression *out, StepKind kind, const BoundExpr *expr, uint32_t rows,
                      const uint32_t *arguments, size_t argument_count)
{
    mem_reserve(out->steps, &out->step_capacity, out->step_count + 1);
    Step *step = &out->steps[out->step_count++];
    uint32_t *own = arena_new_array(out->arena, uint32_t, argument_count);
    for (size_t i = 0; i < argument_count; i++) {
        own[i] = arguments[i];
        if (kind != STEP_PICK) {
            out->registers[arguments[i]].needs_broadcast = true;
        }
    }
    *step = (Step){.kind = kind,
                   .rows = rows,
                   .arguments = own,
                   .argument_count = argument_count,
                   .type = expr->type,
                   .place = expr->place};
    return step;
}

static uint32_t add_value_step(Expression *out, StepKind kind, const BoundExpr *expr, uint32_t rows,
                               const uint32_t *arguments, size_t argument_count)
{
    uint32_t result = new_register(out, NULL);
    add_step(out, kind, expr, rows, arguments, argument_count)->result = result;
    return result;
}

static Step *last_step(Expression *out)
{
    return &out->steps[out->step_count - 1];
}

/* Splits `rows` by the value of `reg` into one or two new sets; returns the first's number, the
 * second's is one higher. */
static uint32_t add_split(Expression *out, StepKind kind, const BoundExpr *expr, uint32_t rows,
                          uint32_t reg)
{
    uint32_t *sets = arena_new_array(out->arena, uint32_t, 2);
    sets[0] = new_set(out);
    sets[1] = new_set(out);
    add_step(out, kind, expr, rows, &reg, 1)->sets = sets;
    return sets[0];
}

/* ---- Kernels ---- */

/* A kernel about to become a step: what was chosen, over which registers. */
typedef struct Choice {
    KernelRun *run;
    const void *state;
    const Type *type;
    bool nulls_pass;
    bool tolerant;
    bool foldable;
} Choice;

/* Runs the kernel over one row of constants; NULL when a row error came of it. */
static const Vector *fold(Expression *out, const Choice *choice, const Vector *const *constants,
                          size_t count)
{
    RowErrors errors = {0};
    Failures failures = {.errors = &errors, .tolerant = choice->tolerant};
    KernelCall call = {.arguments = constants,
                       .argument_count = count,
                       .rows = {NULL, 1},
                       .arena = out->arena,
                       .state = choice->state,
                       .context = &out->context,
                       .failures = &failures};
    const Vector *value = kernel_run(choice->run, &call, choice->type, 1, choice->nulls_pass);
    bool failed = errors.count > 0;
    row_errors_done(&errors);
    return failed ? NULL : value;
}

static const Vector **constants_of(const Expression *out, const uint32_t *registers, size_t count,
                                   bool *ret_all)
{
    const Vector **constants = arena_new_array(out->arena, const Vector *, count);
    *ret_all = true;
    for (size_t i = 0; i < count; i++) {
        constants[i] = out->registers[registers[i]].constant;
        *ret_all = *ret_all && constants[i] != NULL;
    }
    return constants;
}

static uint32_t add_kernel(Expression *out, const Choice *choice, const BoundExpr *expr,
                           uint32_t rows, const uint32_t *registers, size_t count)
{
    bool all = false;
    const Vector **constants = constants_of(out, registers, count, &all);
    if (choice->foldable && all) {
        const Vector *value = fold(out, choice, constants, count);
        if (value != NULL) {
            return new_register(out, value);
        }
    }
    uint32_t result = add_value_step(out, STEP_KERNEL, expr, rows, registers, count);
    Step *step = last_step(out);
    step->type = choice->type;
    step->run = choice->run;
    step->state = choice->state;
    step->nulls_pass = choice->nulls_pass;
    step->tolerant = choice->tolerant;
    return result;
}

static Error *compile_children(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                               uint32_t **ret_registers)
{
    Expression *out = compiler->out;
    uint32_t *registers = arena_new_array(out->arena, uint32_t, expr->child_count);
    for (size_t i = 0; i < expr->child_count; i++) {
        TRY(compile(compiler, expr->children[i], rows, &registers[i]));
    }
    *ret_registers = registers;
    return NULL;
}

static void setup_init(KernelSetup *setup, const Expression *out, const BoundExpr *expr,
                       const uint32_t *registers)
{
    const Type **types = arena_new_array(out->arena, const Type *, expr->child_count);
    for (size_t i = 0; i < expr->child_count; i++) {
        types[i] = expr->children[i]->type;
    }
    bool all = false;
    *setup = (KernelSetup){.expr = expr,
                           .result = expr->type,
                           .types = types,
                           .constants = constants_of(out, registers, expr->child_count, &all),
                           .argument_count = expr->child_count,
                           .arena = out->arena,
                           .context = &out->context};
}

/* The loop of a function for the types at hand; NOT_YET when there is none. */
static Error *choose_loop(const BoundExpr *expr, KernelSetup *setup, KernelRun **ret)
{
    const Kernel *kernel = expr->function->kernel;
    if (kernel != NULL) {
        *ret = kernel->run != NULL ? kernel->run : kernel->choose(setup);
    }
    return *ret != NULL
               ? NULL
               : error_at(ERROR_NOT_YET, expr->place,
                          "The function `%s` is not supported yet here.", expr->function->name);
}

/* ---- Higher-order functions ---- */

typedef struct LambdaCall {
    LambdaState state;
    uint32_t *registers; /* of the arguments that are no lambdas, then of the captures */
    size_t register_count;
    bool pure;
} LambdaCall;

static Error *compile_lambda(Compiler *compiler, const BoundExpr *lambda, uint32_t rows,
                             LambdaCall *call)
{
    Lambda *own = &call->state.lambdas[call->state.lambda_count++];
    BoundExpr **captures = NULL;
    TRY(lambda_compile(compiler->out, lambda, own, &captures));
    own->first_capture = (uint32_t)call->register_count;
    size_t count = call->register_count + own->capture_count;
    uint32_t *registers = arena_new_array(compiler->out->arena, uint32_t, count);
    for (size_t i = 0; i < count; i++) {
        if (i < call->register_count) {
            registers[i] = call->registers[i];
        } else {
            TRY(compile(compiler, captures[i - call->register_count], rows, &registers[i]));
        }
    }
    call->registers = registers;
    call->register_count = count;
    call->pure = call->pure && expr_is_pure(lambda);
    return NULL;
}

static Error *compile_higher_order(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                                   uint32_t *ret_register)
{
    Expression *out = compiler->out;
    LambdaCall call = {.registers = arena_new_array(out->arena, uint32_t, expr->child_count),
                       .pure = true};
    call.state.lambdas = arena_new_array(out->arena, Lambda, expr->child_count);
    for (size_t i = 0; i < expr->child_count; i++) {
        const BoundExpr *child = expr->children[i];
        if (child->kind == BOUND_LAMBDA) {
            TRY(compile_lambda(compiler, child, rows, &call));
        } else {
            assert(call.state.lambda_count == 0);
            TRY(compile(compiler, child, rows, &call.registers[call.register_count++]));
        }
    }
    LambdaState *state = arena_new_object(out->arena, LambdaState);
    *state = call.state;
    KernelSetup setup = {.expr = expr, .result = expr->type, .arena = out->arena};
    Choice choice = {.state = state, .type = expr->type, .foldable = call.pure};
    TRY(choose_loop(expr, &setup, &choice.run));
    *ret_register = add_kernel(out, &choice, expr, rows, call.registers, call.register_count);
    return NULL;
}

/* ---- Calls ---- */

static Error *compile_call(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                           uint32_t *ret_register)
{
    Expression *out = compiler->out;
    const Function *function = expr->function;
    if ((function->flags & FUNCTION_HIGHER_ORDER) != 0) {
        return compile_higher_order(compiler, expr, rows, ret_register);
    }
    uint32_t *registers = NULL;
    TRY(compile_children(compiler, expr, rows, &registers));
    KernelSetup setup;
    setup_init(&setup, out, expr, registers);
    KernelRun *run = NULL;
    TRY(choose_loop(expr, &setup, &run));
    unsigned pure = function->flags & (FUNCTION_DETERMINISTIC | FUNCTION_CLOCK);
    Choice choice = {.run = run,
                     .state = setup.state,
                     .type = expr->type,
                     .nulls_pass = (function->flags & FUNCTION_NULL_IN_NULL_OUT) != 0,
                     .tolerant = function->kernel->tolerant,
                     .foldable = pure == FUNCTION_DETERMINISTIC};
    *ret_register = add_kernel(out, &choice, expr, rows, registers, expr->child_count);
    return NULL;
}

static Error *compile_cast(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                           uint32_t *ret_register)
{
    Expression *out = compiler->out;
    const BoundExpr *child = expr->children[0];
    uint32_t reg = 0;
    TRY(compile(compiler, child, rows, &reg));
    if (type_equal(child->type, expr->type) && child->type->kind != TYPE_STRUCT) {
        *ret_register = reg;
        return NULL;
    }
    KernelSetup setup;
    setup_init(&setup, out, expr, &reg);
    KernelRun *run = cast_choose(&setup);
    if (run == NULL) {
        AUTO_BUFFER Buffer from = {0};
        AUTO_BUFFER Buffer to = {0};
        type_format(child->type, &from);
        type_format(expr->type, &to);
        return error_at(ERROR_NOT_YET, expr->place, "CAST from %s to %s is not supported yet.",
                        buffer_cstr(&from), buffer_cstr(&to));
    }
    Choice choice = {.run = run,
                     .state = setup.state,
                     .type = expr->type,
                     .nulls_pass = true,
                     .tolerant = expr->try_cast,
                     .foldable = true};
    *ret_register = add_kernel(out, &choice, expr, rows, &reg, 1);
    return NULL;
}

/* ---- Lazy forms ---- */

/* Casts that work for every value. */
static bool is_lossless(const Type *from, const Type *to)
{
    if (to->kind == TYPE_STRING || from->kind == TYPE_NULL) {
        return true;
    }
    if (type_is_numeric(from)) {
        return to->kind == TYPE_DOUBLE || to->kind == TYPE_FLOAT || to->kind == TYPE_BOOLEAN ||
               (type_is_integral(from) && type_is_integral(to) && from->kind <= to->kind);
    }
    return from->kind != TYPE_STRING &&
           (to->kind == TYPE_DATE || to->kind == TYPE_TIMESTAMP || to->kind == TYPE_TIMESTAMP_NTZ);
}

/* Is it a literal, cast or not, whose value is known when the expression is compiled? */
static bool is_known(const Compiler *compiler, const BoundExpr *expr)
{
    if (expr->kind != BOUND_CAST || expr->children[0]->kind != BOUND_LITERAL) {
        return false;
    }
    AUTO(expression) Expression *alone = NULL;
    Error *error = expression_open(expr, &compiler->out->context, &alone);
    bool known = error == NULL && alone->step_count == 0;
    error_free(error);
    return known;
}

/* Can evaluating it fail on a row? What cannot is not worth narrowing the rows for. */
static bool can_fail(const Compiler *compiler, const BoundExpr *expr)
{
    switch (expr->kind) {
    case BOUND_LITERAL:
    case BOUND_COLUMN:
        return false;
    case BOUND_CAST:
        if (is_known(compiler, expr)) {
            return false;
        }
        if (!expr->try_cast && !is_lossless(expr->children[0]->type, expr->type)) {
            return true;
        }
        break;
    case BOUND_CALL:
        if ((expr->function->flags & FUNCTION_CAN_FAIL) != 0) {
            return true;
        }
        break;
    case BOUND_CASE:
    case BOUND_AND:
    case BOUND_OR:
    case BOUND_NOT:
    case BOUND_COALESCE:
    case BOUND_IN:
    case BOUND_FIELD:
    case BOUND_STRUCT:
    case BOUND_LAMBDA:
    case BOUND_PARAMETER:
    case BOUND_SUBQUERY:
    case BOUND_OUTER_COLUMN:
        break;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (can_fail(compiler, expr->children[i])) {
            return true;
        }
    }
    return false;
}

/* The set of rows for which the next operand of an AND (OR) must be evaluated. */
static uint32_t open_rows(Expression *out, const BoundExpr *expr, uint32_t rows, uint32_t so_far,
                          bool is_or)
{
    uint32_t set = add_split(out, STEP_SPLIT_OPEN, expr, rows, so_far);
    last_step(out)->decisive = is_or;
    return set;
}

static uint32_t add_logic(Expression *out, const BoundExpr *expr, uint32_t rows, uint32_t so_far,
                          uint32_t next, uint32_t set, bool is_or)
{
    uint32_t result =
        add_value_step(out, is_or ? STEP_OR : STEP_AND, expr, rows, (uint32_t[]){so_far, next}, 2);
    uint32_t *sets = arena_new_array(out->arena, uint32_t, 1);
    sets[0] = set;
    last_step(out)->sets = sets;
    return result;
}

static Error *compile_logic(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                            uint32_t *ret_register)
{
    Expression *out = compiler->out;
    bool is_or = expr->kind == BOUND_OR;
    uint32_t so_far = 0;
    TRY(compile(compiler, expr->children[0], rows, &so_far));
    for (size_t i = 1; i < expr->child_count; i++) {
        const BoundExpr *child = expr->children[i];
        uint32_t set = can_fail(compiler, child) ? open_rows(out, expr, rows, so_far, is_or) : rows;
        uint32_t next = 0;
        TRY(compile(compiler, child, set, &next));
        so_far = add_logic(out, expr, rows, so_far, next, set, is_or);
    }
    *ret_register = so_far;
    return NULL;
}

/* `a IN (b, c)` with operands that are no constants: a = b OR a = c. */
static Error *compile_in_chain(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                               uint32_t value, uint32_t *ret_register)
{
    Expression *out = compiler->out;
    const Type *type = expr->children[0]->type;
    const Type *types[] = {type, type};
    KernelSetup setup = {
        .result = &type_boolean, .types = types, .argument_count = 2, .arena = out->arena};
    Choice choice = {
        .run = equal_choose(&setup), .type = &type_boolean, .nulls_pass = true, .foldable = true};
    choice.state = setup.state;
    uint32_t so_far = 0;
    for (size_t i = 1; i < expr->child_count; i++) {
        const BoundExpr *child = expr->children[i];
        uint32_t set =
            i > 1 && can_fail(compiler, child) ? open_rows(out, expr, rows, so_far, true) : rows;
        uint32_t operand = 0;
        TRY(compile(compiler, child, set, &operand));
        uint32_t equal = add_kernel(out, &choice, expr, set, (uint32_t[]){value, operand}, 2);
        so_far = i == 1 ? equal : add_logic(out, expr, rows, so_far, equal, set, true);
    }
    *ret_register = so_far;
    return NULL;
}

static bool is_literal_list(const BoundExpr *expr)
{
    if (!type_is_orderable(expr->children[0]->type)) {
        return false; /* no key encoding */
    }
    for (size_t i = 1; i < expr->child_count; i++) {
        const BoundExpr *child = expr->children[i];
        while (child->kind == BOUND_CAST) {
            child = child->children[0];
        }
        if (child->kind != BOUND_LITERAL) {
            return false;
        }
    }
    return true;
}

static Error *compile_in(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                         uint32_t *ret_register)
{
    Expression *out = compiler->out;
    uint32_t *registers = arena_new_array(out->arena, uint32_t, expr->child_count);
    TRY(compile(compiler, expr->children[0], rows, &registers[0]));
    if (!is_literal_list(expr)) {
        return compile_in_chain(compiler, expr, rows, registers[0], ret_register);
    }
    size_t steps_before = out->step_count;
    for (size_t i = 1; i < expr->child_count; i++) {
        TRY(compile(compiler, expr->children[i], rows, &registers[i]));
    }
    if (out->step_count != steps_before) {
        /* A literal that cannot be cast: it must fail only where it is reached. */
        out->step_count = steps_before;
        return compile_in_chain(compiler, expr, rows, registers[0], ret_register);
    }
    KernelSetup setup;
    setup_init(&setup, out, expr, registers);
    Choice choice = {
        .run = in_choose(&setup), .type = &type_boolean, .nulls_pass = true, .foldable = true};
    choice.state = setup.state;
    *ret_register = add_kernel(out, &choice, expr, rows, registers, 1);
    return NULL;
}

static Error *compile_case(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                           uint32_t *ret_register)
{
    Expression *out = compiler->out;
    assert(expr->child_count % 2 == 1);
    size_t branches = expr->child_count / 2;
    uint32_t *values = arena_new_array(out->arena, uint32_t, branches + 1);
    uint32_t *sets = arena_new_array(out->arena, uint32_t, branches + 1);
    uint32_t rest = rows;
    for (size_t i = 0; i < branches; i++) {
        uint32_t condition = 0;
        TRY(compile(compiler, expr->children[2 * i], rest, &condition));
        sets[i] = add_split(out, STEP_SPLIT_TRUE, expr, rest, condition);
        rest = sets[i] + 1;
        TRY(compile(compiler, expr->children[2 * i + 1], sets[i], &values[i]));
    }
    sets[branches] = rest;
    TRY(compile(compiler, expr->children[2 * branches], rest, &values[branches]));
    *ret_register = add_value_step(out, STEP_PICK, expr, rows, values, branches + 1);
    last_step(out)->sets = sets;
    return NULL;
}

static Error *compile_coalesce(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                               uint32_t *ret_register)
{
    Expression *out = compiler->out;
    size_t count = expr->child_count;
    uint32_t *values = arena_new_array(out->arena, uint32_t, count);
    uint32_t *sets = arena_new_array(out->arena, uint32_t, count);
    uint32_t rest = rows;
    for (size_t i = 0; i < count; i++) {
        TRY(compile(compiler, expr->children[i], rest, &values[i]));
        sets[i] = rest;
        if (i + 1 < count) {
            sets[i] = add_split(out, STEP_SPLIT_VALID, expr, rest, values[i]);
            rest = sets[i] + 1;
        }
    }
    *ret_register = add_value_step(out, STEP_PICK, expr, rows, values, count);
    last_step(out)->sets = sets;
    return NULL;
}

/* ---- The rest ---- */

static Error *compile_not(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                          uint32_t *ret_register)
{
    uint32_t reg = 0;
    TRY(compile(compiler, expr->children[0], rows, &reg));
    Choice choice = {
        .run = kernel_not.run, .type = &type_boolean, .nulls_pass = true, .foldable = true};
    *ret_register = add_kernel(compiler->out, &choice, expr, rows, &reg, 1);
    return NULL;
}

static Error *compile_step(Compiler *compiler, const BoundExpr *expr, uint32_t rows, StepKind kind,
                           uint32_t column, uint32_t *ret_register)
{
    uint32_t *registers = NULL;
    TRY(compile_children(compiler, expr, rows, &registers));
    *ret_register = add_value_step(compiler->out, kind, expr, rows, registers, expr->child_count);
    last_step(compiler->out)->column = column;
    return NULL;
}

static Error *compile_node(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                           uint32_t *ret_register)
{
    switch (expr->kind) {
    case BOUND_LITERAL:
        *ret_register = new_register(compiler->out, expr->literal);
        return NULL;
    case BOUND_COLUMN:
        return compile_step(compiler, expr, rows, STEP_COLUMN, expr->column, ret_register);
    case BOUND_CALL:
        return compile_call(compiler, expr, rows, ret_register);
    case BOUND_CAST:
        return compile_cast(compiler, expr, rows, ret_register);
    case BOUND_CASE:
        return compile_case(compiler, expr, rows, ret_register);
    case BOUND_AND:
    case BOUND_OR:
        return compile_logic(compiler, expr, rows, ret_register);
    case BOUND_NOT:
        return compile_not(compiler, expr, rows, ret_register);
    case BOUND_COALESCE:
        return compile_coalesce(compiler, expr, rows, ret_register);
    case BOUND_IN:
        return compile_in(compiler, expr, rows, ret_register);
    case BOUND_FIELD:
        return compile_step(compiler, expr, rows, STEP_FIELD, expr->field, ret_register);
    case BOUND_STRUCT:
        return compile_step(compiler, expr, rows, STEP_STRUCT, 0, ret_register);
    case BOUND_LAMBDA:
    case BOUND_PARAMETER:
    case BOUND_SUBQUERY:
    case BOUND_OUTER_COLUMN:
        break;
    }
    return error_at(ERROR_INTERNAL_ERROR, expr->place, "unknown kind of expression");
}

static Error *compile(Compiler *compiler, const BoundExpr *expr, uint32_t rows,
                      uint32_t *ret_register)
{
    if (compiler->depth >= DEPTH_MAX) {
        return error_at(ERROR_STATEMENT_TOO_COMPLEX, expr->place,
                        "The expression is nested more than %d levels deep.", DEPTH_MAX);
    }
    compiler->depth++;
    Error *error = compile_node(compiler, expr, rows, ret_register);
    compiler->depth--;
    return error;
}

Error *expression_compile(Expression *expression, const BoundExpr *expr)
{
    Compiler compiler = {.out = expression};
    expression->type = expr->type;
    uint32_t rows = new_set(expression);
    return compile(&compiler, expr, rows, &expression->root);
}
