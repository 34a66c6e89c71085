/* Calls of catalog functions and what every node of a bound tree needs: its height and size, the
 * casts of its arguments, a common type.
 *
 * A chain of n operators (AstBinary) becomes a tree n high, BETWEEN uses its operand twice; so each
 * node knows the height and the size of its tree, and what is too large is refused here, before
 * anything walks it by recursion. */
#include <stdio.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"
#include "processor/sql/ast_print.h"

#include "processor/base/banned.h"

enum { PRINTED_TEXT_MAX = 512 };

/* ---------------------------------------------------------------- nodes --- */

Str bound_text(Binder *binder, const AstExpr *expr)
{
    /* Printing every part of a long expression would take quadratic time. */
    if (expr->text.size > PRINTED_TEXT_MAX) {
        return expr->text;
    }
    AUTO_BUFFER Buffer out = {0};
    ast_print_column_name(expr, &out);
    return arena_copy_str(binder->arena, buffer_str(&out));
}

const char *type_text(Arena *arena, const Type *type)
{
    AUTO_BUFFER Buffer out = {0};
    type_format(type, &out);
    return arena_copy_cstr(arena, buffer_str(&out));
}

static Error *too_complex(const BoundExpr *pattern)
{
    return error_set_hint(error_at(ERROR_STATEMENT_TOO_COMPLEX, pattern->place,
                                   "The expression has more than %d levels or more than %d parts.",
                                   BOUND_HEIGHT_MAX, BOUND_NODES_MAX),
                          "split it over several subqueries");
}

Error *bound_new(Binder *binder, const BoundExpr *pattern, BoundExpr **children, size_t child_count,
                 BoundExpr **ret)
{
    return bound_new_around(binder, pattern, children, child_count, 0, 0, ret);
}

Error *bound_new_around(Binder *binder, const BoundExpr *pattern, BoundExpr **children,
                        size_t child_count, uint32_t query_height, uint32_t query_nodes,
                        BoundExpr **ret)
{
    uint32_t height = query_height;
    uint64_t nodes = 1 + (uint64_t)query_nodes;
    for (size_t i = 0; i < child_count; i++) {
        height = children[i]->height > height ? children[i]->height : height;
        nodes += children[i]->node_count;
    }
    if (height + 1 > BOUND_HEIGHT_MAX || nodes > BOUND_NODES_MAX) {
        return too_complex(pattern);
    }
    BoundExpr *expr = arena_new_object(binder->arena, BoundExpr);
    *expr = *pattern;
    expr->children = arena_new_array(binder->arena, BoundExpr *, child_count);
    for (size_t i = 0; i < child_count; i++) {
        expr->children[i] = children[i];
    }
    expr->child_count = child_count;
    expr->height = height + 1;
    expr->node_count = (uint32_t)nodes;
    bound_set_digest(expr);
    *ret = expr;
    return NULL;
}

BoundExpr *bound_column(Arena *arena, const Field *field, uint32_t column, SourcePlace place)
{
    BoundExpr *expr = arena_new_object(arena, BoundExpr);
    *expr = (BoundExpr){.kind = BOUND_COLUMN,
                        .type = field->type,
                        .place = place,
                        .text = field->name,
                        .column = column,
                        .height = 1,
                        .node_count = 1};
    return expr;
}

Error *bound_cast(Binder *binder, BoundExpr *expr, const Type *type, BoundExpr **ret)
{
    if (type_equal(expr->type, type)) {
        *ret = expr;
        return NULL;
    }
    if (bound_is_null_literal(expr)) {
        *ret = bound_null(binder->arena, type, expr->place);
        return NULL;
    }
    if (means_special_time(expr, type)) {
        return bind_special_time(binder, VECTOR_VALUE(expr->literal, Str, 0), type, expr, ret);
    }
    BoundExpr pattern = {.kind = BOUND_CAST, .type = type, .place = expr->place};
    pattern.text = expr->text;
    return bound_new(binder, &pattern, &expr, 1, ret);
}

/* ------------------------------------------------------------ functions --- */

static Error *unresolved_routine(Binder *binder, Str name, SourcePlace place)
{
    Error *error = error_at(ERROR_UNRESOLVED_ROUTINE, place,
                            "Cannot resolve routine `%.*s` on search path [`system`.`builtin`, "
                            "`system`.`session`].",
                            STR_ARG(name));
    const char *nearest = binder->context->functions->nearest(name);
    return nearest == NULL ? error : error_set_hint(error, "did you mean `%s`?", nearest);
}

Error *check_argument_count(const Function *function, size_t count, SourcePlace place)
{
    char expected[64];
    if ((int64_t)count >= function->argument_min &&
        (function->argument_max < 0 || (int64_t)count <= function->argument_max)) {
        return NULL;
    }
    if (function->argument_max < 0) {
        (void)snprintf(expected, sizeof expected, "> %d", function->argument_min - 1);
    } else if (function->argument_min == function->argument_max) {
        (void)snprintf(expected, sizeof expected, "%d", function->argument_min);
    } else {
        (void)snprintf(expected, sizeof expected, "[%d, %d]", function->argument_min,
                       function->argument_max);
    }
    return error_at(ERROR_WRONG_NUM_ARGS, place,
                    "The `%s` requires %s parameters but the actual number is %zu.", function->name,
                    expected, count);
}

static Error *check_function_kind(const Function *function, SourcePlace place)
{
    switch (function->kind) {
    case FUNCTION_SCALAR:
        return function->resolve == NULL ? not_yet(place, "The function %s", function->name) : NULL;
    case FUNCTION_AGGREGATE:
        return not_yet(place, "The aggregate function %s", function->name);
    case FUNCTION_WINDOW:
        return not_yet(place, "The analytic function %s", function->name);
    case FUNCTION_GENERATOR:
        return function->resolve == NULL
                   ? not_yet(place, "The generator function %s", function->name)
                   : error_at(ERROR_GENERATOR_NESTED, place,
                              "The generator is not supported: nested in expressions. `%s` stands "
                              "alone in the SELECT list, or in FROM.",
                              function->name);
    case FUNCTION_TABLE:
        return error_set_hint(error_at(ERROR_UNRESOLVED_ROUTINE, place,
                                       "The function `%s` gives a table, not a value.",
                                       function->name),
                              "write it behind FROM");
    }
    return NULL;
}

static bool is_exact_operator(Str name)
{
    static const char *const names[] = {"+", "-", "*",  "/",  "%",  "div", "=",
                                        "<", ">", "<=", ">=", "<>", "<=>"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (str_equal(name, str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

/* Spark's DecimalPrecision: beside a DECIMAL an integer literal has just its own digits, so
 * DECIMAL(10,2) * 2 is DECIMAL(12,2) and not DECIMAL(21,2). */
static void narrow_integer_literals(Binder *binder, BoundExpr **arguments)
{
    for (size_t i = 0; i < 2; i++) {
        const BoundExpr *one = arguments[i];
        const BoundExpr *other = arguments[1 - i];
        if (one->kind == BOUND_LITERAL && type_is_integral(one->type) &&
            !bound_is_null_literal(one) && other->type->kind == TYPE_DECIMAL) {
            arguments[i] = bound_literal_to_decimal(binder->arena, one);
        }
    }
}

Error *bind_function(Binder *binder, Str name, BoundExpr **arguments, size_t argument_count,
                     const BoundExpr *pattern, BoundExpr **ret)
{
    const Function *function = binder->context->functions->find(name);
    if (function == NULL) {
        return unresolved_routine(binder, name, pattern->place);
    }
    TRY(check_function_kind(function, pattern->place));
    TRY(check_argument_count(function, argument_count, pattern->place));
    if (argument_count == 2 && is_exact_operator(name)) {
        narrow_integer_literals(binder, arguments);
    }
    FunctionCall call = {.function = function,
                         .argument_types =
                             arena_new_array(binder->arena, const Type *, argument_count),
                         .argument_count = argument_count,
                         .arguments = arguments,
                         .arena = binder->arena,
                         .place = pattern->place,
                         .text = pattern->text};
    for (size_t i = 0; i < argument_count; i++) {
        call.argument_types[i] = arguments[i]->type;
    }
    const Type *type = NULL;
    TRY(function->resolve(&call, &type));
    for (size_t i = 0; i < argument_count; i++) {
        const BoundExpr *given = arguments[i];
        TRY(bound_cast(binder, arguments[i], call.argument_types[i], &arguments[i]));
        arguments[i]->try_cast |= arguments[i] != given && arguments[i]->kind == BOUND_CAST &&
                                  (function->flags & FUNCTION_FORGIVES) != 0;
    }
    BoundExpr node = *pattern;
    node.kind = BOUND_CALL;
    node.type = type;
    node.function = function;
    TRY(bound_new(binder, &node, arguments, argument_count, ret));
    return call.cast_to == NULL ? NULL : bound_cast(binder, *ret, call.cast_to, ret);
}

Error *bind_common_type(Binder *binder, BoundExpr ***slots, size_t count, const char *function,
                        const BoundExpr *pattern, const Type **ret_type)
{
    const Type *type = &type_null;
    for (size_t i = 0; i < count && type != NULL; i++) {
        type = coerce_common_type(binder->arena, type, (*slots[i])->type);
    }
    if (type == NULL) {
        AUTO_BUFFER Buffer types = {0};
        for (size_t i = 0; i < count; i++) {
            buffer_printf(&types, "%s\"%s\"", i == 0 ? "" : ", ",
                          type_text(binder->arena, (*slots[i])->type));
        }
        return error_at(ERROR_DATA_DIFF_TYPES, pattern->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: Input to `%s` should "
                        "all be the same type, but it's [%s].",
                        STR_ARG(pattern->text), function, buffer_cstr(&types));
    }
    for (size_t i = 0; i < count; i++) {
        TRY(bound_cast(binder, *slots[i], type, slots[i]));
    }
    *ret_type = type;
    return NULL;
}
