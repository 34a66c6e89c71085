/* SELECT: WHERE, GROUP BY, HAVING, QUALIFY around the SELECT list and ORDER BY. All clauses are
 * bound first, so that every mistake is reported; then the nodes are built from the bottom up (see
 * bind_select_internal.h). */
#include "processor/bind/bind_select_internal.h"

#include "processor/base/banned.h"

/* One SELECT while it is bound. */
typedef struct Select {
    Binder *binder;
    const AstSelect *ast;
    const AstQuery *around;
    Scope scope; /* columns of FROM */
    Scope output;
    SelectList list;
    TimeWindow time_window;
    Grouping grouping;
    bool aggregated;
    BoundExpr *having;
    BoundExpr *qualify;
    OrderKeys order;
    BoundNode *node;
} Select;

/* ----------------------------------------------------------------- WHERE --- */

/* What needs all rows of a group, or gives several, has no place in WHERE. */
static Error *check_where(Binder *binder, const AstExpr *where)
{
    ExprTraits traits;
    expr_traits(binder->context->functions, where, &traits);
    if (traits.analytic != NULL) {
        return error_set_hint(error_at(ERROR_WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE,
                                       traits.analytic->place,
                                       "Window functions are not allowed in the WHERE clause."),
                              "QUALIFY filters by window functions");
    }
    if (traits.generator != NULL) {
        return generator_outside_select(binder, traits.generator, "Filter");
    }
    const AstExpr *wrong = traits.aggregate;
    if (wrong == NULL) {
        return NULL;
    }
    if (str_equal_ignore_case(wrong->call->name.text, STR("grouping")) ||
        str_equal_ignore_case(wrong->call->name.text, STR("grouping_id"))) {
        return unsupported_grouping(wrong->place);
    }
    Str condition = bound_text(binder, where);
    Str inner = bound_text(binder, wrong);
    return error_at(ERROR_INVALID_WHERE_CONDITION, wrong->place,
                    "The WHERE condition \"%.*s\" contains invalid expressions: %.*s. Rewrite the "
                    "query to avoid window functions, aggregate functions, and generator functions "
                    "in the WHERE clause.",
                    STR_ARG(condition), STR_ARG(inner));
}

static Error *bind_where(Select *select)
{
    BoundExpr *condition = NULL;
    TRY(check_where(select->binder, select->ast->where));
    TRY(bind_condition(select->binder, &select->scope, select->ast->where, &condition));
    select->node = bound_filter(select->binder, select->node, condition);
    return NULL;
}

/* --------------------------------------------------------------- streams --- */

/* Clauses that a query over a stream cannot have yet. */
static bool check_stream_clauses(Select *select)
{
    const AstSelect *ast = select->ast;
    Binder *binder = select->binder;
    bool ok = true;
    if (ast->group_by != NULL) {
        ok = binder_report(binder, not_yet(ast->group_by->place, "GROUP BY over a stream"));
    }
    if (ast->having != NULL) {
        ok = binder_report(binder, not_yet(ast->having->place, "HAVING over a stream"));
    }
    if (ast->qualify != NULL) {
        ok = binder_report(binder, not_yet(ast->qualify->place, "QUALIFY over a stream"));
    }
    return ok;
}

static Error *check_stream_item(const FunctionCatalog *functions, const AstExpr *expr)
{
    ExprTraits traits;
    expr_traits(functions, expr, &traits);
    if (traits.aggregate != NULL) {
        return not_yet(traits.aggregate->place, "An aggregate over a stream");
    }
    return traits.analytic == NULL
               ? NULL
               : not_yet(traits.analytic->place, "A window function over a stream");
}

static bool check_stream(Select *select)
{
    bool ok = check_stream_clauses(select);
    for (size_t i = 0; i < select->ast->item_count; i++) {
        const AstSelectItem *item = &select->ast->items[i];
        if (!item->star) {
            ok = binder_report(select->binder,
                               check_stream_item(select->binder->context->functions, item->expr)) &&
                 ok;
        }
    }
    return ok;
}

static bool reads_stream(const BoundNode *node)
{
    for (; node != NULL; node = node->child) {
        if (node->stream || reads_stream(node->right)) {
            return true;
        }
    }
    return false;
}

/* --------------------------------------------------------------- clauses --- */

/* The scope of a clause. `names` must live as long as it is used. */
static Scope clause_scope(Select *select, SelectScope *names, AliasRule aliases, CallRule calls,
                          const char *clause)
{
    *names = (SelectScope){.ast = select->ast,
                           .around = select->around,
                           .list = &select->list,
                           .aliases = aliases,
                           .calls = calls,
                           .clause = clause,
                           .time_window = &select->time_window};
    if (aliases == ALIAS_OUTPUT || aliases == ALIAS_FIRST) {
        names->output = &select->output;
    }
    Scope scope = select->scope;
    scope.select = names;
    return scope;
}

static bool bind_list(Select *select)
{
    SelectScope names;
    Scope scope = clause_scope(select, &names, ALIAS_LATERAL, CALLS_ALL, "SELECT");
    select->time_window.column = (uint32_t)select->node->schema->field_count;
    if (!binder_report(select->binder, check_named_windows(select->ast, select->around)) ||
        !binder_report(select->binder, find_time_window(select->binder, &scope))) {
        return false;
    }
    bool ok = bind_select_list(select->binder, &scope, &select->list);
    select->output = select_output_scope(select->binder, &select->list);
    return ok;
}

static bool bind_groups(Select *select)
{
    SelectScope names;
    Scope scope = clause_scope(select, &names, ALIAS_GROUP, CALLS_ALL, "GROUP BY");
    return select->ast->group_by == NULL ||
           bind_group_by(select->binder, &scope, &select->grouping);
}

/* HAVING casts what is no BOOLEAN, unlike WHERE. */
static Error *bind_having_condition(Binder *binder, const Scope *scope, const AstExpr *expr,
                                    BoundExpr **ret)
{
    BoundExpr *bound = NULL;
    TRY(bind_expr(binder, scope, expr, &bound));
    if (bound->type->kind != TYPE_BOOLEAN) {
        BoundExpr pattern = {.place = expr->place, .text = bound_text(binder, expr)};
        TRY(check_cast(binder, bound->type, &type_boolean, false, &pattern));
    }
    return bound_cast(binder, bound, &type_boolean, ret);
}

static bool bind_having(Select *select)
{
    SelectScope names;
    Scope scope = clause_scope(select, &names, ALIAS_OUTPUT, CALLS_AGGREGATES, "HAVING");
    return select->ast->having == NULL ||
           binder_report(
               select->binder,
               bind_having_condition(select->binder, &scope, select->ast->having, &select->having));
}

static bool has_window_call(const Select *select, const AstExpr *expr)
{
    ExprTraits traits = {0};
    if (expr != NULL) {
        expr_traits(select->binder->context->functions, expr, &traits);
    }
    return traits.analytic != NULL;
}

static Error *check_qualify(const Select *select)
{
    const AstExpr *qualify = select->ast->qualify;
    bool found = has_window_call(select, qualify);
    for (size_t i = 0; i < select->ast->item_count && !found; i++) {
        found = has_window_call(select, select->ast->items[i].expr);
    }
    return found ? NULL
                 : error_at(ERROR_QUALIFY_REQUIRES_WINDOW_FUNCTION, qualify->place,
                            "The QUALIFY clause requires at least one window function in the "
                            "current SELECT list or the QUALIFY condition.");
}

static bool bind_qualify(Select *select)
{
    SelectScope names;
    Scope scope = clause_scope(select, &names, ALIAS_OUTPUT, CALLS_WINDOWS, "QUALIFY");
    if (select->ast->qualify == NULL) {
        return true;
    }
    return binder_report(select->binder, check_qualify(select)) &&
           binder_report(select->binder, bind_condition(select->binder, &scope,
                                                        select->ast->qualify, &select->qualify));
}

/* After DISTINCT only the output is left. */
static bool bind_order(Select *select)
{
    SelectScope names;
    Scope scope = clause_scope(select, &names, ALIAS_FIRST, CALLS_AGGREGATES, "ORDER BY");
    if (select->around == NULL || select->around->sort_kind == AST_SORT_NONE) {
        return true;
    }
    if (select->ast->distinct) {
        scope.column_count = 0;
        names.time_window = NULL;
    }
    return bind_order_keys(select->binder, &scope, select->aggregated && !select->ast->distinct,
                           &select->order);
}

static const BoundExpr *find_in_list(const SelectList *list, SpecialKind kind)
{
    const BoundExpr *found = NULL;
    for (size_t i = 0; i < list->count && found == NULL; i++) {
        found = find_special(list->expressions[i], kind);
    }
    for (const BoundGenerator *at = list->generator; at != NULL; at = at->next) {
        for (size_t i = 0; i < at->argument_count && found == NULL; i++) {
            found = find_special(at->arguments[i], kind);
        }
    }
    return found;
}

/* SELECT without groups that is no query of groups at all. */
static Error *check_plain(const Select *select)
{
    const BoundGenerator *generator = select->list.generator;
    if (select->aggregated && generator != NULL && generator->next != NULL) {
        return error_at(ERROR_GENERATOR_MULTIPLE, generator->next->place,
                        "The generator is not supported: only one generator allowed per SELECT "
                        "clause of an aggregate query.");
    }
    const BoundExpr *grouping = find_in_list(&select->list, SPECIAL_GROUPING);
    grouping = grouping == NULL ? find_in_list(&select->list, SPECIAL_GROUPING_ID) : grouping;
    if (select->aggregated || grouping == NULL) {
        return NULL;
    }
    return unsupported_grouping(grouping->place);
}

/* Spark's limit of lateral aliases. */
static Error *check_list(const Select *select)
{
    const BoundExpr *window = find_in_list(&select->list, SPECIAL_WINDOW);
    const BoundExpr *item = find_in_list(&select->list, SPECIAL_ITEM);
    if (select->aggregated && select->having != NULL && window != NULL && item != NULL) {
        return error_at(ERROR_LATERAL_ALIAS_IN_WINDOW_AND_HAVING, item->place,
                        "The feature is not supported: Referencing lateral column alias `%.*s` in "
                        "the aggregate query both with window expressions and with having clause.",
                        STR_ARG(item->text));
    }
    return check_plain(select);
}

static bool bind_clauses(Select *select)
{
    bool ok = bind_list(select);
    if (!ok && select->list.count == 0) {
        return false; /* the list was not looked at */
    }
    ok = bind_groups(select) && ok;
    ok = bind_having(select) && ok;
    ok = bind_qualify(select) && ok;
    select->aggregated = select->ast->group_by != NULL || select->ast->having != NULL ||
                         find_in_list(&select->list, SPECIAL_AGGREGATE) != NULL;
    ok = bind_order(select) && ok;
    return ok && binder_report(select->binder, check_list(select));
}

/* -------------------------------------------------------------- building --- */

/* Every expression above the groups but ORDER BY's, which has no window functions. */
static size_t collect_slots(Select *select, BoundExpr ****ret)
{
    size_t arguments = 0;
    for (const BoundGenerator *at = select->list.generator; at != NULL; at = at->next) {
        arguments += at->argument_count;
    }
    BoundExpr ***slots =
        arena_new_array(select->binder->arena, BoundExpr **, select->list.count + arguments + 1);
    size_t count = 0;
    for (size_t i = 0; i < select->list.count; i++) {
        slots[count++] = &select->list.expressions[i];
    }
    for (const BoundGenerator *at = select->list.generator; at != NULL; at = at->next) {
        for (size_t i = 0; i < at->argument_count; i++) {
            slots[count++] = &at->arguments[i];
        }
    }
    if (select->qualify != NULL) {
        slots[count++] = &select->qualify;
    }
    *ret = slots;
    return count;
}

/* All mistakes are told: each item may name a column of its own that has no group. */
static bool put_over_groups(Select *select)
{
    Binder *binder = select->binder;
    Grouping *grouping = &select->grouping;
    BoundExpr ***slots = NULL;
    size_t count = collect_slots(select, &slots);
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        GroupClause clause = slots[i] == &select->qualify ? GROUPS_OF_ORDER : GROUPS_OF_LIST;
        ok =
            binder_report(binder, over_groups(binder, grouping, &select->list, clause, slots[i])) &&
            ok;
    }
    for (size_t i = 0; i < select->order.count; i++) {
        ok = binder_report(binder, over_groups(binder, grouping, &select->list, GROUPS_OF_ORDER,
                                               &select->order.keys[i].expr)) &&
             ok;
    }
    if (select->having != NULL) {
        ok = binder_report(binder, over_groups(binder, grouping, &select->list, GROUPS_OF_HAVING,
                                               &select->having)) &&
             ok;
    }
    return ok;
}

static Error *build_having(Select *select)
{
    if (select->having == NULL) {
        return NULL;
    }
    TRY(expand_items(select->binder, &select->list, &select->having));
    const BoundExpr *window = find_special(select->having, SPECIAL_WINDOW);
    if (window != NULL) {
        return error_at(ERROR_WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE, window->place,
                        "It is not allowed to use window functions inside HAVING clause.");
    }
    select->node = bound_filter(select->binder, select->node, select->having);
    return NULL;
}

static Error *build_groups(Select *select)
{
    TRY(build_aggregate(select->binder, &select->grouping, select->ast->place, &select->node));
    for (size_t i = 0; i < select->list.count; i++) { /* a set lacks keys, so all may be NULL */
        select->list.fields[i].not_null =
            select->list.fields[i].not_null && select->grouping.sets == NULL;
    }
    return build_having(select);
}

static Error *build_qualify(Select *select)
{
    if (select->qualify != NULL) {
        select->node = bound_filter(select->binder, select->node, select->qualify);
    }
    return NULL;
}

static void build_generators(Select *select)
{
    for (const BoundGenerator *at = select->list.generator; at != NULL; at = at->next) {
        select->node =
            bound_select_generate(select->binder, select->node, at, select->list.expressions);
    }
}

static Error *build_above_groups(Select *select)
{
    BoundExpr ***slots = NULL;
    if (select->qualify != NULL) {
        TRY(expand_items(select->binder, &select->list, &select->qualify));
    }
    size_t count = collect_slots(select, &slots);
    TRY(build_windows(select->binder, slots, count, &select->node));
    TRY(build_qualify(select));
    build_generators(select);
    TRY(build_lateral_aliases(select->binder, &select->list, &select->node));
    return build_output(select->binder, select->ast, &select->list, &select->order, &select->node);
}

static bool build(Select *select)
{
    Binder *binder = select->binder;
    if (!binder_report(binder, build_time_window(binder, &select->time_window, &select->node))) {
        return false;
    }
    if (select->aggregated) {
        if (!put_over_groups(select) || !binder_report(binder, build_groups(select))) {
            return false;
        }
    }
    return binder_report(binder, build_above_groups(select));
}

BoundNode *bind_select(Binder *binder, const AstSelect *ast, const AstQuery *around)
{
    FromResult from = {0};
    if (!bind_from(binder, ast, &from)) {
        return NULL; /* names cannot be told right from wrong */
    }
    Select select = {
        .binder = binder, .ast = ast, .around = around, .scope = from.scope, .node = from.node};
    if (binder->flow_query && reads_stream(from.node) && !check_stream(&select)) {
        return NULL;
    }
    bool ok = ast->where == NULL || binder_report(binder, bind_where(&select));
    ok = bind_clauses(&select) && ok;
    OutputNames names = select_output_names(binder, &select.list);
    if (!ok || !build(&select)) {
        return NULL;
    }
    names.schema = select.node->schema;
    binder->output = names;
    return select.node;
}
