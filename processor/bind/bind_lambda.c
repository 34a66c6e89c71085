/* Lambdas: x -> x + 1 as an argument of a higher-order function. The function says which types its
 * parameters have (Function.lambda_types), so the other arguments are bound first, then the lambdas
 * from left to right: the second lambda of aggregate() takes what its start value is.
 *
 * Parameters are numbered from the outermost lambda inwards, so that equal lambdas are equal trees.
 * A name means the innermost lambda's parameter before it means a column. A lambda may name columns
 * and the parameters of the lambdas around it: the compiler (exec/expr_lambda.c) finds out which.
 */
#include "processor/bind/binder.h"

#include "processor/base/banned.h"

/* The parameters of one lambda whose body is being bound. */
typedef struct LambdaScope {
    const struct LambdaScope *outer;
    const AstIdentifier *names;
    size_t count;
    const LambdaTypes *types;
    uint32_t first; /* number of its first parameter */
} LambdaScope;

/* ----------------------------------------------------------- parameters --- */

static BoundExpr *new_parameter(Arena *arena, const LambdaScope *lambda, size_t index)
{
    BoundExpr *parameter = arena_new_object(arena, BoundExpr);
    *parameter = (BoundExpr){.kind = BOUND_PARAMETER,
                             .type = lambda->types->types[index],
                             .text = lambda->names[index].name,
                             .parameter = lambda->first + (uint32_t)index,
                             .height = 1,
                             .node_count = 1};
    return parameter;
}

BoundExpr *bind_parameter(const Binder *binder, const AstExpr *expr)
{
    Str name = expr->column.name.parts[0].name;
    for (const LambdaScope *lambda = binder->lambda; lambda != NULL; lambda = lambda->outer) {
        for (size_t i = 0; i < lambda->count; i++) {
            if (str_equal_ignore_case(lambda->names[i].name, name)) {
                BoundExpr *parameter = new_parameter(binder->arena, lambda, i);
                parameter->place = expr->place;
                return parameter;
            }
        }
    }
    return NULL;
}

/* -------------------------------------------------------------- lambdas --- */

Error *lambda_misplaced(SourcePlace place)
{
    return error_at(ERROR_LAMBDA_NON_HIGHER_ORDER_FUNCTION, place,
                    "Invalid lambda function call. A lambda function should only be used in a "
                    "higher order function.");
}

static Error *check_count(const AstExpr *expr, const LambdaTypes *types)
{
    size_t count = expr->lambda.parameter_count;
    if (count >= types->count_min && count <= types->count) {
        return NULL;
    }
    return error_at(ERROR_LAMBDA_NUM_ARGS_MISMATCH, expr->place,
                    "Invalid lambda function call. A higher order function expects %zu arguments, "
                    "but got %zu.",
                    types->count_min, count);
}

static Error *check_names(const AstExpr *expr)
{
    const AstLambda *lambda = &expr->lambda;
    for (size_t i = 1; i < lambda->parameter_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (str_equal_ignore_case(lambda->parameters[i].name, lambda->parameters[k].name)) {
                return error_at(ERROR_LAMBDA_DUPLICATE_ARG_NAMES, lambda->parameters[i].place,
                                "Invalid lambda function call. The lambda function has duplicate "
                                "arguments `%.*s`. Please, consider to rename the argument names.",
                                STR_ARG(lambda->parameters[i].name));
            }
        }
    }
    return NULL;
}

/* What a lambda's place holds that is no lambda is the same for every element. */
static Error *bind_body(Binder *binder, const Scope *scope, const AstExpr *expr,
                        const LambdaTypes *types, BoundExpr **ret)
{
    ExprTraits traits = {0};
    expr_traits(binder->context->functions, expr, &traits);
    if (traits.subquery != NULL) {
        return error_at(ERROR_SUBQUERY_IN_HIGHER_ORDER_FUNCTION, traits.subquery->place,
                        "Unsupported subquery expression: Subquery expressions are not supported "
                        "within higher-order functions.");
    }
    if (expr->kind != AST_EXPR_LAMBDA) {
        return bind_expr(binder, scope, expr, ret);
    }
    LambdaScope lambda = {.outer = binder->lambda,
                          .names = expr->lambda.parameters,
                          .count = expr->lambda.parameter_count,
                          .types = types,
                          .first = binder->parameter_count - (uint32_t)types->count};
    binder->lambda = &lambda;
    Error *error = bind_expr(binder, scope, expr->lambda.body, ret);
    binder->lambda = lambda.outer;
    return error;
}

static Error *bind_lambda(Binder *binder, const Scope *scope, const AstExpr *expr,
                          const LambdaTypes *types, BoundExpr **ret)
{
    if (expr->kind == AST_EXPR_LAMBDA) {
        TRY(check_count(expr, types));
        TRY(check_names(expr));
    }
    BoundExpr pattern = {.kind = BOUND_LAMBDA,
                         .place = expr->place,
                         .text = bound_text(binder, expr),
                         .parameter = binder->parameter_count,
                         .parameter_count = (uint32_t)types->count};
    binder->parameter_count += (uint32_t)types->count;
    BoundExpr *body = NULL;
    Error *error = bind_body(binder, scope, expr, types, &body);
    binder->parameter_count -= (uint32_t)types->count;
    TRY(error);
    pattern.type = body->type;
    return bound_new(binder, &pattern, &body, 1, ret);
}

/* A lambda whose body is cast to the type the function wants of it. */
static Error *cast_lambda(Binder *binder, BoundExpr *lambda, const Type *type, BoundExpr **ret)
{
    if (type_equal(lambda->type, type)) {
        *ret = lambda;
        return NULL;
    }
    BoundExpr *body = NULL;
    TRY(bound_cast(binder, lambda->children[0], type, &body));
    BoundExpr pattern = *lambda;
    pattern.type = type;
    return bound_new(binder, &pattern, &body, 1, ret);
}

/* ---------------------------------------------------------------- calls --- */

typedef struct HigherOrderCall {
    Binder *binder;
    const Scope *scope;
    const AstExpr *expr;
    FunctionCall call;
    BoundExpr **arguments;
    LambdaTypes *lambdas; /* one an argument */
} HigherOrderCall;

static const AstExpr *argument_at(const HigherOrderCall *call, size_t i)
{
    return call->expr->call->arguments[i].expr;
}

/* Arguments before the first lambda, and those behind that stand in no lambda's place. */
static Error *bind_plain(HigherOrderCall *call, size_t i)
{
    const AstExpr *expr = argument_at(call, i);
    if (expr->kind == AST_EXPR_LAMBDA) {
        return lambda_misplaced(expr->place);
    }
    TRY(bind_expr(call->binder, call->scope, expr, &call->arguments[i]));
    call->call.argument_types[i] = call->arguments[i]->type;
    return NULL;
}

static Error *bind_lambda_argument(HigherOrderCall *call, size_t i)
{
    TRY(bind_lambda(call->binder, call->scope, argument_at(call, i), &call->lambdas[i],
                    &call->arguments[i]));
    call->call.argument_types[i] = call->arguments[i]->type;
    return NULL;
}

/* In order: which argument is a lambda's place may depend on the types before it. */
static Error *bind_arguments(HigherOrderCall *call)
{
    for (size_t i = 0; i < call->call.argument_count; i++) {
        const AstIdentifier *name = &call->expr->call->arguments[i].name;
        if (name->name.data != NULL) {
            return not_yet(name->place, "A named argument of a scalar function");
        }
        TRY(call->call.function->lambda_types(&call->call, i, &call->lambdas[i]));
        if (call->lambdas[i].count == 0) {
            TRY(bind_plain(call, i));
        } else {
            TRY(bind_lambda_argument(call, i));
        }
    }
    return NULL;
}

static Error *cast_arguments(HigherOrderCall *call)
{
    for (size_t i = 0; i < call->call.argument_count; i++) {
        BoundExpr *argument = call->arguments[i];
        const Type *type = call->call.argument_types[i];
        if (argument->kind == BOUND_LAMBDA) {
            TRY(cast_lambda(call->binder, argument, type, &call->arguments[i]));
        } else {
            TRY(bound_cast(call->binder, argument, type, &call->arguments[i]));
        }
    }
    return NULL;
}

Error *bind_higher_order(Binder *binder, const Scope *scope, const AstExpr *expr,
                         const Function *function, BoundExpr **ret)
{
    size_t count = expr->call->argument_count;
    BoundExpr pattern = {.kind = BOUND_CALL,
                         .place = expr->place,
                         .text = bound_text(binder, expr),
                         .function = function};
    HigherOrderCall call = {.binder = binder,
                            .scope = scope,
                            .expr = expr,
                            .arguments = arena_new_array(binder->arena, BoundExpr *, count),
                            .lambdas = arena_new_array(binder->arena, LambdaTypes, count)};
    call.call =
        (FunctionCall){.function = function,
                       .argument_types = arena_new_array(binder->arena, const Type *, count),
                       .argument_count = count,
                       .arguments = call.arguments,
                       .arena = binder->arena,
                       .place = expr->place,
                       .text = pattern.text};
    TRY(check_argument_count(function, count, expr->place));
    TRY(bind_arguments(&call));
    TRY(function->resolve(&call.call, &pattern.type));
    TRY(cast_arguments(&call));
    return bound_new(binder, &pattern, call.arguments, count, ret);
}

/* -------------------------------------------------------- parts by name --- */

static BoundExpr *bound_text_literal(Arena *arena, const AstIdentifier *name)
{
    Vector *value = vector_new(arena, &type_string, 1);
    vector_append_str(value, arena, name->name);
    BoundExpr *literal = arena_new_object(arena, BoundExpr);
    *literal = (BoundExpr){.kind = BOUND_LITERAL,
                           .type = &type_string,
                           .place = name->place,
                           .text = name->name,
                           .literal = value,
                           .height = 1,
                           .node_count = 1};
    return literal;
}

/* array.field is transform(array, x -> x.field). */
static Error *bind_field_of_elements(Binder *binder, BoundExpr *base, const AstIdentifier *name,
                                     const BoundExpr *pattern, BoundExpr **ret)
{
    BoundExpr *children[2] = {base, NULL};
    BoundExpr *parameter = arena_new_object(binder->arena, BoundExpr);
    *parameter = (BoundExpr){.kind = BOUND_PARAMETER,
                             .type = base->type->element,
                             .place = name->place,
                             .parameter = binder->parameter_count,
                             .height = 1,
                             .node_count = 1};
    BoundExpr *body = NULL;
    TRY(bind_field(binder, parameter, name, pattern, &body));
    BoundExpr lambda = {.kind = BOUND_LAMBDA,
                        .type = body->type,
                        .place = name->place,
                        .text = pattern->text,
                        .parameter = parameter->parameter,
                        .parameter_count = 1};
    TRY(bound_new(binder, &lambda, &body, 1, &children[1]));
    BoundExpr call = *pattern;
    call.kind = BOUND_CALL;
    call.function = binder->context->functions->find(STR("transform"));
    call.type = type_array(binder->arena, body->type);
    return bound_new(binder, &call, children, 2, ret);
}

Error *bind_part_by_name(Binder *binder, BoundExpr *base, const AstIdentifier *name,
                         const BoundExpr *pattern, BoundExpr **ret)
{
    if (base->type->kind == TYPE_ARRAY && base->type->element->kind == TYPE_STRUCT) {
        return bind_field_of_elements(binder, base, name, pattern, ret);
    }
    BoundExpr *pair[2] = {base, bound_text_literal(binder->arena, name)};
    return bind_function(binder, STR("[]"), pair, 2, pattern, ret);
}
