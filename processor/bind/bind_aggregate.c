/* Calls of aggregates and of window functions: what may stand where, FILTER, DISTINCT, WITHIN
 * GROUP, IGNORE NULLS. A call becomes a special (bind_select_internal.h); the nodes that compute it
 * are built later. */
#include "processor/bind/bind_select_internal.h"

#include "processor/base/banned.h"

/* What some functions take besides arguments; the others take none of it. */
typedef struct Syntax {
    const char *name;
    size_t sort_min;
    size_t sort_max;
    bool ignore_nulls;
    bool null_flag;    /* first(x, true): ignore NULLs */
    bool sorted_alone; /* its sort keys are what it computes on: no DISTINCT, no ORDER BY in OVER */
} Syntax;

static const Syntax syntaxes[] = {
    {"first", 0, 0, true, true, false},
    {"first_value", 0, 0, true, true, false},
    {"last", 0, 0, true, true, false},
    {"last_value", 0, 0, true, true, false},
    {"any_value", 0, 0, true, true, false},
    {"nth_value", 0, 0, true, true, false},
    {"lag", 0, 0, true, false, false},
    {"lead", 0, 0, true, false, false},
    {"percentile_cont", 1, 1, false, false, true},
    {"percentile_disc", 1, 1, false, false, true},
    {"mode", 0, 1, false, false, true},
    {"collect_list", 0, 0, true, false, false},
    {"array_agg", 0, 0, true, false, false},
    {"collect_set", 0, 0, true, false, false},
    {"collect_union", 0, 0, true, false, false},
    {"listagg", 0, SIZE_MAX, false, false, false},
    {"string_agg", 0, SIZE_MAX, false, false, false},
};

static const Syntax *syntax_of(const Function *function)
{
    static const Syntax plain = {.name = ""};
    for (size_t i = 0; i < ARRAY_LENGTH(syntaxes); i++) {
        if (str_equal(str_from(syntaxes[i].name), str_from(function->name))) {
            return &syntaxes[i];
        }
    }
    return &plain;
}

/* A call while its parts are bound. */
typedef struct Parts {
    Binder *binder;
    const Scope *scope;
    const AstExpr *expr;
    const Function *function;
    const Syntax *syntax;
    BoundExpr pattern;
    BoundExpr **arguments;
    size_t argument_count;
    BoundExpr *filter;
    BoundExpr **sorts;
    BoundSortKey *keys;
    size_t sort_count;
    bool distinct;
    bool ignore_nulls;
} Parts;

/* --------------------------------------------------------------- checks --- */

static Error *unsupported_syntax(const Parts *parts, const char *what)
{
    return error_at(ERROR_FUNCTION_WITH_UNSUPPORTED_SYNTAX, parts->expr->place,
                    "Invalid SQL syntax: The function `%s` does not support %s.",
                    parts->function->name, what);
}

static Error *wrong_within_group(const Parts *parts, ErrorClass class, const char *what)
{
    return error_at(class, parts->expr->place, "Invalid function `%s` with WITHIN GROUP. %s",
                    parts->function->name, what);
}

static Error *check_within_group(const Parts *parts)
{
    const AstCall *call = parts->expr->call;
    const Syntax *syntax = parts->syntax;
    size_t sort_min = syntax->sort_min;
    size_t sort_max = syntax->sort_max;
    if (call->within_group_count > 0 && sort_max == 0) {
        return unsupported_syntax(parts, "WITHIN GROUP (ORDER BY ...)");
    }
    if (syntax->sorted_alone && sort_min == 0) { /* mode(x), or mode() WITHIN GROUP */
        sort_max = call->argument_count == 0 ? 1 : 0;
        sort_min = sort_max;
    }
    if (call->within_group_count == 0 && sort_min > 0) {
        return wrong_within_group(parts, ERROR_WITHIN_GROUP_MISSING,
                                  "WITHIN GROUP is required for the function.");
    }
    if (call->within_group_count > 0 && syntax->sorted_alone && call->distinct) {
        return wrong_within_group(parts, ERROR_WITHIN_GROUP_DISTINCT,
                                  "The function does not support DISTINCT with WITHIN GROUP.");
    }
    if (call->within_group_count > sort_max) {
        const char *text = arena_printf(parts->binder->arena,
                                        "The function requires %zu orderings in WITHIN GROUP but "
                                        "got %zu.",
                                        sort_max, call->within_group_count);
        return wrong_within_group(parts, ERROR_WITHIN_GROUP_ORDERINGS, text);
    }
    return NULL;
}

/* What stands behind the name that this function does not take. */
static Error *check_syntax(const Parts *parts)
{
    const AstCall *call = parts->expr->call;
    bool aggregate = parts->function->kind == FUNCTION_AGGREGATE;
    if (call->filter != NULL && !aggregate) {
        return unsupported_syntax(parts, "FILTER CLAUSE");
    }
    if (call->distinct && !aggregate) {
        return unsupported_syntax(parts, "DISTINCT");
    }
    if (call->nulls != AST_NULLS_DEFAULT && !parts->syntax->ignore_nulls) {
        return unsupported_syntax(parts, call->nulls == AST_NULLS_IGNORE ? "IGNORE NULLS"
                                                                         : "RESPECT NULLS");
    }
    TRY(check_within_group(parts));
    if (call->distinct && call->over != NULL) {
        return error_at(ERROR_DISTINCT_WINDOW_FUNCTION, parts->expr->place,
                        "Distinct window functions are not supported: \"%.*s\".",
                        STR_ARG(parts->pattern.text));
    }
    return NULL;
}

static Error *misplaced_in_aggregate(const Parts *parts)
{
    if (parts->expr->call->over == NULL) {
        return error_at(ERROR_NESTED_AGGREGATE_FUNCTION, parts->expr->place,
                        "It is not allowed to use an aggregate function in the argument of another "
                        "aggregate function. Please use the inner aggregate function in a "
                        "sub-query.");
    }
    return error_at(ERROR_WINDOW_FUNCTION_IN_AGGREGATE, parts->expr->place,
                    "It is not allowed to use a window function inside an aggregate function. "
                    "Please use the inner window function in a sub-query.");
}

static Error *misplaced(const Parts *parts, const char *operator_)
{
    return error_at(ERROR_UNSUPPORTED_EXPR_FOR_OPERATOR, parts->expr->place,
                    "The query operator %s contains one or more unsupported expressions. Invalid "
                    "expressions: [\"%.*s\"].",
                    operator_, STR_ARG(parts->pattern.text));
}

/* May such a call stand here at all? */
static Error *check_place(const Parts *parts)
{
    const SelectScope *select = parts->scope->select;
    bool windowed = parts->expr->call->over != NULL;
    switch (select == NULL ? CALLS_NONE : select->calls) {
    case CALLS_ALL:
        return NULL;
    case CALLS_AGGREGATES:
        if (windowed && str_equal(str_from(select->clause), STR("HAVING"))) {
            return error_at(ERROR_WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE, parts->expr->place,
                            "It is not allowed to use window functions inside HAVING clause.");
        }
        return windowed ? misplaced(parts, "Sort") : NULL;
    case CALLS_WINDOWS:
        return windowed ? NULL
                        : error_at(ERROR_QUALIFY_AGGREGATE_NOT_ALLOWED, parts->expr->place,
                                   "Aggregate functions are not supported in QUALIFY: \"%.*s\".",
                                   STR_ARG(parts->pattern.text));
    case CALLS_IN_AGGREGATE:
        return misplaced_in_aggregate(parts);
    case CALLS_NONE:
        return misplaced(parts, "of this clause");
    }
    return NULL;
}

/* Inside of a lambda a call must not name its parameters: it is computed before. */
static bool holds_parameter(const BoundExpr *expr, uint32_t from, uint32_t to)
{
    bool found =
        expr->kind == BOUND_PARAMETER && !(expr->parameter >= from && expr->parameter < to);
    for (size_t i = 0; i < expr->child_count && !found; i++) {
        bool lambda = expr->kind == BOUND_LAMBDA;
        found = holds_parameter(expr->children[i], lambda ? expr->parameter : from,
                                lambda ? expr->parameter + expr->parameter_count : to);
    }
    return found;
}

/* An alias of the same list in the call (Spark computes aliases above aggregates and windows). */
static Error *check_lateral_alias(const Parts *parts, const BoundExpr *part)
{
    const BoundExpr *item = find_special(part, SPECIAL_ITEM);
    if (item == NULL || parts->scope->select->aliases != ALIAS_LATERAL) {
        return NULL;
    }
    bool windowed = parts->expr->call->over != NULL;
    return error_at(windowed ? ERROR_LATERAL_ALIAS_IN_WINDOW : ERROR_LATERAL_ALIAS_IN_AGGREGATE,
                    item->place,
                    "The feature is not supported: Referencing a lateral column alias `%.*s` in %s "
                    "\"%.*s\".",
                    STR_ARG(item->text), windowed ? "window expression" : "the aggregate function",
                    STR_ARG(parts->pattern.text));
}

/* ---------------------------------------------------------------- parts --- */

/* f(*): all columns that `*` shows; count(*) counts rows. */
static Error *bind_star_arguments(Parts *parts)
{
    const AstCall *call = parts->expr->call;
    const Scope *scope = parts->scope;
    bool counts = str_equal(str_from(parts->function->name), STR("count")) && !call->distinct;
    parts->arguments =
        arena_new_array(parts->binder->arena, BoundExpr *, counts ? 0 : scope->column_count);
    for (size_t i = 0; !counts && i < scope->column_count; i++) {
        const ScopeColumn *column = &scope->columns[i];
        if (!column->hidden) {
            parts->arguments[parts->argument_count++] = bound_column(
                parts->binder->arena, column->field, column->column, parts->expr->place);
        }
    }
    return NULL;
}

static Error *bind_arguments(Parts *parts, const Scope *scope)
{
    const AstCall *call = parts->expr->call;
    if (call->star) {
        return bind_star_arguments(parts);
    }
    if (call->argument_count == 0 && str_equal(str_from(parts->function->name), STR("count"))) {
        return error_at(ERROR_WRONG_NUM_ARGS_SUGGESTION, parts->expr->place,
                        "The `count` requires >= 1 parameters but the actual number is 0.");
    }
    parts->argument_count = call->argument_count;
    parts->arguments = arena_new_array(parts->binder->arena, BoundExpr *, call->argument_count);
    for (size_t i = 0; i < call->argument_count; i++) {
        if (call->arguments[i].name.name.data != NULL) {
            return not_yet(call->arguments[i].name.place, "A named argument of an aggregate");
        }
        TRY(bind_expr(parts->binder, scope, call->arguments[i].expr, &parts->arguments[i]));
    }
    return NULL;
}

/* Collected values leave NULLs out unless the call says RESPECT NULLS. */
static bool collects(const Parts *parts)
{
    Str name = str_from(parts->function->name);
    return str_starts_with(name, STR("collect_")) || str_equal(name, STR("array_agg"));
}

/* first(x, true): the flag becomes ignore_nulls. */
static Error *take_null_flag(Parts *parts)
{
    size_t plain = str_equal(str_from(parts->function->name), STR("nth_value")) ? 2 : 1;
    AstNullTreatment nulls = parts->expr->call->nulls;
    parts->ignore_nulls =
        nulls == AST_NULLS_IGNORE || (nulls == AST_NULLS_DEFAULT && collects(parts));
    if (!parts->syntax->null_flag || parts->argument_count != plain + 1) {
        return NULL;
    }
    const BoundExpr *flag = parts->arguments[plain];
    if (flag->kind != BOUND_LITERAL || flag->type->kind != TYPE_BOOLEAN ||
        bound_is_null_literal(flag)) {
        return error_at(ERROR_NON_FOLDABLE_INPUT, flag->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: the second argument "
                        "of %s should be a boolean literal.",
                        STR_ARG(parts->pattern.text), parts->function->name);
    }
    parts->ignore_nulls = parts->ignore_nulls || VECTOR_VALUE(flag->literal, bool, 0);
    parts->argument_count = plain;
    return NULL;
}

static Error *invalid_filter(const Parts *parts, ErrorClass class, SourcePlace place,
                             const char *expected)
{
    Str text = bound_text(parts->binder, parts->expr->call->filter);
    return error_at(class, place,
                    "The FILTER expression \"%.*s\" in an aggregate function is invalid. Expected "
                    "a FILTER expression %s.",
                    STR_ARG(text), expected);
}

static Error *bind_filter(Parts *parts, const Scope *scope)
{
    const AstExpr *filter = parts->expr->call->filter;
    if (filter == NULL) {
        return NULL;
    }
    ExprTraits traits;
    expr_traits(parts->binder->context->functions, filter, &traits);
    if (traits.analytic != NULL) {
        return invalid_filter(parts, ERROR_FILTER_CONTAINS_WINDOW, traits.analytic->place,
                              "without a window function");
    }
    if (traits.aggregate != NULL && parts->expr->call->over == NULL) {
        return invalid_filter(parts, ERROR_FILTER_CONTAINS_AGGREGATE, traits.aggregate->place,
                              "without an aggregation");
    }
    TRY(bind_expr(parts->binder, scope, filter, &parts->filter));
    if (!bound_is_deterministic(parts->filter)) {
        return invalid_filter(parts, ERROR_FILTER_NON_DETERMINISTIC, filter->place,
                              "that is deterministic");
    }
    if (parts->filter->type->kind == TYPE_NULL) {
        return bound_cast(parts->binder, parts->filter, &type_boolean, &parts->filter);
    }
    return parts->filter->type->kind == TYPE_BOOLEAN
               ? NULL
               : invalid_filter(parts, ERROR_FILTER_OF_AGGREGATE_NOT_BOOLEAN, filter->place,
                                "of the BOOLEAN type");
}

static Error *bind_within_group(Parts *parts, const Scope *scope)
{
    const AstCall *call = parts->expr->call;
    Arena *arena = parts->binder->arena;
    parts->sort_count = call->within_group_count;
    parts->sorts = arena_new_array(arena, BoundExpr *, parts->sort_count);
    parts->keys = arena_new_array(arena, BoundSortKey, parts->sort_count);
    for (size_t i = 0; i < parts->sort_count; i++) {
        const AstSortItem *item = &call->within_group[i];
        TRY(bind_expr(parts->binder, scope, item->expr, &parts->sorts[i]));
        TRY(check_sort_key(parts->binder, item, parts->sorts[i]));
        parts->keys[i] = (BoundSortKey){NULL, item->descending, item->nulls_first};
    }
    if (parts->sort_count > 0 && call->distinct &&
        !bound_equal(parts->sorts[0], parts->arguments[0])) {
        return wrong_within_group(parts, ERROR_WITHIN_GROUP_DISTINCT_MISMATCH,
                                  "The function is invoked with DISTINCT and WITHIN GROUP but "
                                  "expressions do not match.");
    }
    return NULL;
}

/* ---------------------------------------------------------------- types --- */

static Error *cast_all(Binder *binder, BoundExpr **exprs, const Type *const *types, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(bound_cast(binder, exprs[i], types[i], &exprs[i]));
    }
    return NULL;
}

static const Type **types_of(Arena *arena, BoundExpr *const *exprs, size_t count)
{
    const Type **types = arena_new_array(arena, const Type *, count);
    for (size_t i = 0; i < count; i++) {
        types[i] = exprs[i]->type;
    }
    return types;
}

static Error *resolve_types(Parts *parts)
{
    Arena *arena = parts->binder->arena;
    const Function *function = parts->function;
    if (function->resolve == NULL) {
        return not_yet(parts->expr->place, "The %s function %s",
                       function->kind == FUNCTION_WINDOW ? "window" : "aggregate", function->name);
    }
    TRY(check_argument_count(function, parts->argument_count, parts->expr->place));
    FunctionCall call = {.function = function,
                         .argument_types = types_of(arena, parts->arguments, parts->argument_count),
                         .argument_count = parts->argument_count,
                         .arguments = parts->arguments,
                         .sort_types = types_of(arena, parts->sorts, parts->sort_count),
                         .sort_count = parts->sort_count,
                         .distinct = parts->distinct,
                         .arena = arena,
                         .place = parts->expr->place,
                         .text = parts->pattern.text};
    TRY(function->resolve(&call, &parts->pattern.type));
    TRY(cast_all(parts->binder, parts->arguments, call.argument_types, parts->argument_count));
    return cast_all(parts->binder, parts->sorts, call.sort_types, parts->sort_count);
}

/* rank(a) OVER (ORDER BY b) is rank(): Spark forgets the arguments. */
static void forget_arguments(Parts *parts)
{
    static const char *const names[] = {"rank", "dense_rank", "percent_rank"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (str_equal(str_from(names[i]), str_from(parts->function->name))) {
            parts->argument_count = 0;
        }
    }
}

static Error *check_deterministic(const Parts *parts)
{
    for (size_t i = 0; i < parts->argument_count; i++) {
        if (!bound_is_deterministic(parts->arguments[i])) {
            return error_at(ERROR_AGGREGATE_WITH_NONDETERMINISTIC, parts->arguments[i]->place,
                            "Non-deterministic expression \"%.*s\" should not appear in the "
                            "arguments of an aggregate function.",
                            STR_ARG(parts->pattern.text));
        }
    }
    return NULL;
}

/* ----------------------------------------------------------------- call --- */

static void append(BoundExpr **children, size_t *count, BoundExpr *const *more, size_t more_count)
{
    for (size_t i = 0; i < more_count; i++) {
        children[(*count)++] = more[i];
    }
}

static Error *make_special(const Parts *parts, const WindowParts *window, BoundExpr **ret)
{
    Arena *arena = parts->binder->arena;
    BoundSpecial *special = arena_new_object(arena, BoundSpecial);
    *special = (BoundSpecial){.kind = window == NULL ? SPECIAL_AGGREGATE : SPECIAL_WINDOW,
                              .argument_count = parts->argument_count,
                              .has_filter = parts->filter != NULL,
                              .sort_count = parts->sort_count,
                              .keys = parts->keys,
                              .distinct = parts->distinct,
                              .ignore_nulls = parts->ignore_nulls};
    size_t window_count = window == NULL ? 0 : window->partition_count + window->order_count;
    BoundExpr **children = arena_new_array(
        arena, BoundExpr *, parts->argument_count + 1 + parts->sort_count + window_count);
    size_t count = 0;
    append(children, &count, parts->arguments, parts->argument_count);
    append(children, &count, &parts->filter, parts->filter != NULL);
    append(children, &count, parts->sorts, parts->sort_count);
    if (window != NULL) {
        BoundSortKey *keys =
            arena_new_array(arena, BoundSortKey, parts->sort_count + window->order_count);
        for (size_t i = 0; i < parts->sort_count + window->order_count; i++) {
            keys[i] = i < parts->sort_count ? parts->keys[i] : window->keys[i - parts->sort_count];
        }
        special->keys = keys;
        special->partition_count = window->partition_count;
        special->order_count = window->order_count;
        special->unit = window->unit;
        special->start = window->start;
        special->end = window->end;
        append(children, &count, window->partition, window->partition_count);
        append(children, &count, window->order, window->order_count);
    }
    for (size_t i = 0; i < count; i++) {
        TRY(check_lateral_alias(parts, children[i]));
        if (parts->binder->lambda != NULL && holds_parameter(children[i], 0, 0)) {
            return misplaced(parts, "of a lambda function");
        }
    }
    BoundExpr node = parts->pattern;
    node.kind = BOUND_CALL;
    node.function = parts->function;
    node.special = special;
    return bound_new(parts->binder, &node, children, count, ret);
}

/* percentile_cont(…) OVER (ORDER BY …) has no meaning Spark gives it. */
static Error *check_sorted_window(const Parts *parts)
{
    const AstWindow *over = parts->expr->call->over;
    bool sorted =
        parts->sort_count > 0 || str_equal(str_from(parts->function->name), STR("median"));
    if (!sorted || (over->order_by_count == 0 && over->frame == NULL)) {
        return NULL;
    }
    return error_at(ERROR_INVALID_WINDOW_SPEC_FOR_AGGREGATION, parts->expr->place,
                    "Cannot specify ORDER BY or a window frame for \"%.*s\".",
                    STR_ARG(parts->pattern.text));
}

/* regr_avgx(y, x) of a DECIMAL x is avg(x) where y is not NULL: exact, of avg's type. */
static Error *average_of_regression(Parts *parts)
{
    Str name = str_from(parts->function->name);
    bool of_x = str_equal(name, STR("regr_avgx"));
    if ((!of_x && !str_equal(name, STR("regr_avgy"))) || parts->argument_count != 2 ||
        parts->arguments[of_x]->type->kind != TYPE_DECIMAL) {
        return NULL;
    }
    Binder *binder = parts->binder;
    BoundExpr *conditions[2] = {NULL, parts->filter};
    TRY(bind_function(binder, STR("isnotnull"), &parts->arguments[!of_x], 1, &parts->pattern,
                      &conditions[0]));
    BoundExpr both = parts->pattern;
    both.kind = BOUND_AND;
    both.type = &type_boolean;
    if (parts->filter == NULL) {
        parts->filter = conditions[0];
    } else {
        BoundExpr **children = arena_new_array(binder->arena, BoundExpr *, 2);
        memcpy(children, conditions, sizeof conditions);
        TRY(bound_new(binder, &both, children, 2, &parts->filter));
    }
    parts->arguments[0] = parts->arguments[of_x];
    parts->argument_count = 1;
    parts->function = binder->context->functions->find(STR("avg"));
    return NULL;
}

static Error *bind_parts(Parts *parts, const Scope *inner, BoundExpr **ret)
{
    TRY(bind_arguments(parts, inner));
    TRY(take_null_flag(parts));
    TRY(bind_filter(parts, inner));
    TRY(average_of_regression(parts));
    TRY(bind_within_group(parts, inner));
    if (parts->expr->call->over == NULL) {
        TRY(resolve_types(parts));
        TRY(check_deterministic(parts));
        return make_special(parts, NULL, ret);
    }
    WindowParts window = {0};
    TRY(check_sorted_window(parts));
    TRY(bind_window(parts->binder, parts->scope, parts->expr, parts->function, &window));
    TRY(resolve_types(parts));
    forget_arguments(parts);
    return make_special(parts, &window, ret);
}

Error *unsupported_grouping(SourcePlace place)
{
    return error_at(ERROR_UNSUPPORTED_GROUPING_EXPRESSION, place,
                    "grouping()/grouping_id() can only be used with GroupingSets/Cube/Rollup.");
}

/* grouping(a), grouping_id(…): the grouping set of a row, of which only GROUP BY knows. */
static Error *bind_grouping_call(Parts *parts, bool id, BoundExpr **ret)
{
    const SelectScope *names = parts->scope->select;
    if (names == NULL || names->calls == CALLS_NONE || names->calls == CALLS_WINDOWS) {
        return unsupported_grouping(parts->expr->place);
    }
    if (names->calls == CALLS_IN_AGGREGATE) {
        return not_yet(parts->expr->place, "%s() in an aggregate's arguments",
                       parts->function->name);
    }
    Scope columns = *parts->scope;
    SelectScope select = *names;
    select.aliases = select.aliases == ALIAS_LATERAL ? ALIAS_LATERAL : ALIAS_NONE;
    columns.select = &select;
    TRY(bind_arguments(parts, &columns));
    if (!id && parts->argument_count != 1) {
        return error_at(ERROR_WRONG_NUM_ARGS, parts->expr->place,
                        "The `grouping` requires 1 parameters but the actual number is %zu.",
                        parts->argument_count);
    }
    BoundSpecial *special = arena_new_object(parts->binder->arena, BoundSpecial);
    special->kind = id ? SPECIAL_GROUPING_ID : SPECIAL_GROUPING;
    special->argument_count = parts->argument_count;
    BoundExpr node = parts->pattern;
    node.kind = BOUND_CALL;
    node.type = id ? &type_bigint : &type_tinyint;
    node.function = parts->function;
    node.special = special;
    return bound_new(parts->binder, &node, parts->arguments, parts->argument_count, ret);
}

Error *bind_grouping_id(Binder *binder, const AstExpr *expr, BoundExpr **ret)
{
    static const Function function = {.name = "grouping_id"};
    static const BoundSpecial special = {.kind = SPECIAL_GROUPING_ID};
    BoundExpr node = {.kind = BOUND_CALL,
                      .type = &type_bigint,
                      .place = expr->place,
                      .text = expr->text,
                      .function = &function,
                      .special = &special};
    return bound_new(binder, &node, NULL, 0, ret);
}

/* Names in an aggregate's arguments mean columns; in a window's they mean what they mean around. */
static Scope argument_scope(const Parts *parts, SelectScope *select)
{
    Scope inner = *parts->scope;
    *select = *parts->scope->select;
    if (parts->expr->call->over == NULL) {
        select->calls = CALLS_IN_AGGREGATE;
        if (select->aliases != ALIAS_LATERAL) {
            select->aliases = ALIAS_NONE;
        }
    }
    inner.select = select;
    return inner;
}

Error *bind_special_call(Binder *binder, const Scope *scope, const AstExpr *expr,
                         const Function *function, BoundExpr **ret)
{
    Parts parts = {.binder = binder,
                   .scope = scope,
                   .expr = expr,
                   .function = function,
                   .syntax = syntax_of(function),
                   .distinct = expr->call->distinct};
    parts.pattern = (BoundExpr){.place = expr->place, .text = bound_text(binder, expr)};
    Str name = str_from(function->name);
    bool id = str_equal(name, STR("grouping_id"));
    if (id || str_equal(name, STR("grouping"))) {
        return bind_grouping_call(&parts, id, ret);
    }
    if (function->kind == FUNCTION_WINDOW && expr->call->over == NULL) {
        return error_at(ERROR_WINDOW_FUNCTION_WITHOUT_OVER, expr->place,
                        "Window function \"%.*s\" requires an OVER clause.",
                        STR_ARG(parts.pattern.text));
    }
    if (function->kind != FUNCTION_AGGREGATE && function->kind != FUNCTION_WINDOW) {
        return error_at(ERROR_UNSUPPORTED_EXPR_FOR_WINDOW, expr->place,
                        "Expression \"%.*s\" not supported within a window function.",
                        STR_ARG(parts.pattern.text));
    }
    TRY(check_place(&parts));
    TRY(check_syntax(&parts));
    SelectScope select;
    Scope inner = argument_scope(&parts, &select);
    return bind_parts(&parts, &inner, ret);
}

BoundAggregate special_call(const Binder *binder, const BoundExpr *expr)
{
    const BoundSpecial *special = expr->special;
    BoundAggregate call = {.function = expr->function,
                           .arguments = expr->children,
                           .argument_count = special->argument_count,
                           .distinct = special->distinct,
                           .ignore_nulls = special->ignore_nulls,
                           .sort_key_count = special->sort_count,
                           .type = expr->type,
                           .text = expr->text,
                           .place = expr->place};
    size_t next = special->argument_count;
    if (special->has_filter) {
        call.filter = expr->children[next++];
    }
    BoundSortKey *keys = arena_new_array(binder->arena, BoundSortKey, special->sort_count);
    for (size_t i = 0; i < special->sort_count; i++) {
        keys[i] = special->keys[i];
        keys[i].expr = expr->children[next++];
    }
    call.sort_keys = keys;
    return call;
}
