/* GROUP BY: keys by expression, position and alias, ALL; the sets of ROLLUP, CUBE and GROUPING
 * SETS. What is computed of the groups is in bind_groups.c. */
#include "processor/bind/bind_select_internal.h"

#include "processor/base/banned.h"

enum { KEYS_OF_SETS_MAX = 64, SETS_MAX = 4096 };

/* ------------------------------------------------------------------ keys --- */

/* The position a bare integer means; false for other expressions. */
static bool is_position(const AstExpr *expr, int64_t *ret)
{
    bool negative = expr->kind == AST_EXPR_UNARY && expr->unary.operator_ == AST_UNARY_MINUS;
    const AstExpr *number = negative ? expr->unary.operand : expr;
    if (number->kind != AST_EXPR_LITERAL || number->literal.kind != AST_LITERAL_INTEGER ||
        number->literal.suffix != AST_SUFFIX_NONE || number->literal.value.size > 9) {
        return false;
    }
    int64_t value = 0;
    for (size_t i = 0; i < number->literal.value.size; i++) {
        value = value * 10 + (number->literal.value.data[i] - '0');
    }
    *ret = negative ? -value : value;
    return true;
}

static Error *bad_position(ErrorClass class, const AstExpr *expr, const char *clause,
                           int64_t position, size_t count)
{
    return error_at(class, expr->place,
                    "%s position %lld is not in select list (valid range is [1, %zu]).", clause,
                    (long long)position, count);
}

Error *bind_position(const SelectList *list, const AstExpr *expr, ErrorClass class,
                     const char *clause, bool *ret_found, size_t *ret_item)
{
    int64_t position = 0;
    *ret_found = is_position(expr, &position);
    if (!*ret_found) {
        return NULL;
    }
    if (position < 1 || position > (int64_t)list->count) {
        return bad_position(class, expr, clause, position, list->count);
    }
    *ret_item = (size_t)position - 1;
    return NULL;
}

static Error *check_key(Binder *binder, const BoundExpr *key, SourcePlace place)
{
    const BoundExpr *aggregate = find_special(key, SPECIAL_AGGREGATE);
    if (aggregate != NULL) {
        return error_at(ERROR_GROUP_BY_AGGREGATE, place,
                        "Aggregate functions are not allowed in GROUP BY, but found %.*s.",
                        STR_ARG(aggregate->text));
    }
    const BoundExpr *window = find_special(key, SPECIAL_WINDOW);
    if (window != NULL) {
        return error_at(ERROR_UNSUPPORTED_EXPR_FOR_OPERATOR, place,
                        "The query operator Aggregate contains one or more unsupported "
                        "expressions. Invalid expressions: [\"%.*s\"].",
                        STR_ARG(window->text));
    }
    if (find_special(key, SPECIAL_ITEM) != NULL) {
        return error_at(ERROR_LATERAL_ALIAS_IN_GROUP_BY, place,
                        "The feature is not supported: Referencing a lateral column alias via "
                        "GROUP BY alias/ALL is not supported yet.");
    }
    if (key->type->kind == TYPE_VARIANT) {
        return error_at(ERROR_GROUP_EXPRESSION_NOT_ORDERABLE, place,
                        "The expression \"%.*s\" cannot be used as a grouping expression because "
                        "its data type \"%s\" is not an orderable data type.",
                        STR_ARG(key->text), type_text(binder->arena, key->type));
    }
    return NULL;
}

static Error *bind_key_at(const SelectList *list, const AstExpr *expr, size_t item,
                          int64_t position, BoundExpr **ret)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->starred[i]) {
            return error_at(ERROR_STAR_GROUP_BY_POS, expr->place,
                            "Star (*) is not allowed in a select list when GROUP BY an ordinal "
                            "position is used.");
        }
    }
    const BoundExpr *aggregate = find_special(list->expressions[item], SPECIAL_AGGREGATE);
    if (aggregate != NULL) {
        return error_at(ERROR_GROUP_BY_POS_AGGREGATE, expr->place,
                        "GROUP BY %lld refers to an expression %.*s that contains an aggregate "
                        "function. Aggregate functions are not allowed in GROUP BY.",
                        (long long)position, STR_ARG(aggregate->text));
    }
    if (is_generated(list, item) && list->generator->next == NULL) {
        return not_yet(expr->place, "GROUP BY the column of a generator");
    }
    *ret = list->expressions[item];
    return NULL;
}

static Error *bind_key(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const SelectList *list = scope->select->list;
    bool by_position = false;
    size_t item = 0;
    TRY(bind_position(list, expr, ERROR_GROUP_BY_POS_OUT_OF_RANGE, "GROUP BY", &by_position,
                      &item));
    if (by_position) {
        TRY(bind_key_at(list, expr, item, (int64_t)item + 1, ret));
    } else {
        TRY(bind_expr(binder, scope, expr, ret));
    }
    return check_key(binder, *ret, expr->place);
}

/* Its number; a key written twice is one. */
static size_t add_key(Binder *binder, Grouping *grouping, BoundExpr *key)
{
    for (size_t i = 0; i < grouping->key_count; i++) {
        if (bound_equal(grouping->keys[i], key)) {
            return i;
        }
    }
    *arena_push(binder->arena, grouping->keys, grouping->key_count, grouping->key_capacity) = key;
    return grouping->key_count - 1;
}

/* ------------------------------------------------------------------ sets --- */

/* Grouping sets, a bit a key. */
typedef struct Sets {
    uint64_t *items;
    size_t count;
    size_t capacity;
} Sets;

typedef struct SetBinder {
    Binder *binder;
    const Scope *scope;
    Grouping *grouping;
} SetBinder;

static Error *add_set(const SetBinder *sets, Sets *to, uint64_t set, SourcePlace place)
{
    if (to->count == SETS_MAX) {
        return error_at(ERROR_STATEMENT_TOO_COMPLEX, place,
                        "GROUP BY has more than %d grouping sets.", SETS_MAX);
    }
    *arena_push(sets->binder->arena, to->items, to->count, to->capacity) = set;
    return NULL;
}

/* The keys of one element, a or (a, b). */
static Error *bind_element(const SetBinder *sets, const AstGroupingItem *item, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < item->expr_count; i++) {
        BoundExpr *key = NULL;
        TRY(bind_key(sets->binder, sets->scope, item->exprs[i], &key));
        size_t number = add_key(sets->binder, sets->grouping, key);
        if (number >= KEYS_OF_SETS_MAX) {
            return error_at(ERROR_GROUPING_SIZE_LIMIT_EXCEEDED, item->exprs[i]->place,
                            "Grouping sets size cannot be greater than %d.", KEYS_OF_SETS_MAX);
        }
        *ret |= UINT64_C(1) << number;
    }
    return NULL;
}

static Error *bind_elements(const SetBinder *sets, const AstGroupingItem *item, uint64_t **ret)
{
    *ret = arena_new_array(sets->binder->arena, uint64_t, item->item_count);
    for (size_t i = 0; i < item->item_count; i++) {
        if (item->items[i].expr_count == 0) {
            return error_at(ERROR_EMPTY_GROUPING_ELEMENT, item->items[i].place,
                            "Empty set in %s grouping sets is not supported.",
                            item->kind == AST_GROUPING_CUBE ? "CUBE" : "ROLLUP");
        }
        TRY(bind_element(sets, &item->items[i], &(*ret)[i]));
    }
    return NULL;
}

/* (a, b, c), (a, b), (a), () */
static Error *add_rollup(const SetBinder *sets, const uint64_t *elements, size_t count,
                         SourcePlace place, Sets *to)
{
    for (size_t length = count + 1; length-- > 0;) {
        uint64_t set = 0;
        for (size_t i = 0; i < length; i++) {
            set |= elements[i];
        }
        TRY(add_set(sets, to, set, place));
    }
    return NULL;
}

static Error *add_cube(const SetBinder *sets, const uint64_t *elements, size_t count,
                       SourcePlace place, Sets *to)
{
    size_t subsets = count < 16 ? (size_t)1 << count : SETS_MAX + 1; /* add_set refuses these */
    for (size_t subset = subsets; subset-- > 0;) {
        uint64_t set = 0;
        for (size_t i = 0; i < count && i < 16; i++) {
            set |= (subset >> (count - 1 - i) & 1) != 0 ? elements[i] : 0;
        }
        TRY(add_set(sets, to, set, place));
    }
    return NULL;
}

/* The sets of one item. Nested GROUPING SETS are as deep as the parser allows. */
static Error *add_item_sets(const SetBinder *sets, const AstGroupingItem *item, Sets *to)
{
    uint64_t *elements = NULL;
    uint64_t set = 0;
    switch (item->kind) {
    case AST_GROUPING_EXPR:
    case AST_GROUPING_SET:
        TRY(bind_element(sets, item, &set));
        return add_set(sets, to, set, item->place);
    case AST_GROUPING_ROLLUP:
        TRY(bind_elements(sets, item, &elements));
        return add_rollup(sets, elements, item->item_count, item->place, to);
    case AST_GROUPING_CUBE:
        TRY(bind_elements(sets, item, &elements));
        return add_cube(sets, elements, item->item_count, item->place, to);
    case AST_GROUPING_SETS:
        for (size_t i = 0; i < item->item_count; i++) {
            TRY(add_item_sets(sets, &item->items[i], to));
        }
        return NULL;
    }
    return NULL;
}

/* GROUP BY x, y: every set of x with every set of y. */
static Error *multiply(const SetBinder *sets, Sets *all, const Sets *more, SourcePlace place)
{
    Sets product = {0};
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < more->count; k++) {
            TRY(add_set(sets, &product, all->items[i] | more->items[k], place));
        }
    }
    *all = product;
    return NULL;
}

/* a, b WITH ROLLUP: over all the expressions. */
static Error *bind_trailing(const SetBinder *sets, const AstGroupBy *group_by, Sets *all)
{
    const AstGroupingItem *trailing = group_by->trailing;
    uint64_t *elements = arena_new_array(sets->binder->arena, uint64_t, group_by->item_count);
    for (size_t i = 0; i < group_by->item_count; i++) {
        TRY(bind_element(sets, &group_by->items[i], &elements[i]));
    }
    size_t count = group_by->item_count;
    if (trailing->kind == AST_GROUPING_ROLLUP) {
        return add_rollup(sets, elements, count, trailing->place, all);
    }
    if (trailing->kind == AST_GROUPING_CUBE) {
        return add_cube(sets, elements, count, trailing->place, all);
    }
    return add_item_sets(sets, trailing, all);
}

static Error *bind_sets(const SetBinder *sets, const AstGroupBy *group_by)
{
    Sets all = {0};
    if (group_by->trailing != NULL) {
        TRY(bind_trailing(sets, group_by, &all));
    } else {
        TRY(add_set(sets, &all, 0, group_by->place));
        for (size_t i = 0; i < group_by->item_count; i++) {
            Sets own = {0};
            TRY(add_item_sets(sets, &group_by->items[i], &own));
            TRY(multiply(sets, &all, &own, group_by->place));
        }
    }
    sets->grouping->sets = all.items;
    sets->grouping->set_count = all.count;
    return NULL;
}

static bool has_sets(const AstGroupBy *group_by)
{
    bool found = group_by->trailing != NULL;
    for (size_t i = 0; i < group_by->item_count && !found; i++) {
        found = group_by->items[i].kind != AST_GROUPING_EXPR;
    }
    return found;
}

static bool has_repeated_sets(const Grouping *grouping)
{
    for (size_t i = 1; i < grouping->set_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (grouping->sets[i] == grouping->sets[k]) {
                return true;
            }
        }
    }
    return false;
}

/* GROUPING SETS (()) alone is a SELECT without GROUP BY. */
static void finish_sets(Grouping *grouping)
{
    if (grouping->key_count == 0 && grouping->set_count == 1) {
        grouping->sets = NULL;
        grouping->set_count = 0;
    } else {
        grouping->hidden_keys = has_repeated_sets(grouping) ? 2 : 1;
    }
}

/* ---------------------------------------------------------------- GROUP BY --- */

/* Does a column stand outside of all aggregates? */
static const BoundExpr *find_plain_column(const BoundExpr *expr)
{
    if (is_special(expr, SPECIAL_AGGREGATE)) {
        return NULL;
    }
    const BoundExpr *found = expr->kind == BOUND_COLUMN ? expr : NULL;
    for (size_t i = 0; i < expr->child_count && found == NULL; i++) {
        found = find_plain_column(expr->children[i]);
    }
    return found;
}

/* A generator gives its rows over the groups: what it is called with is a key. */
static Error *add_arguments(Binder *binder, const BoundGenerator *generator, Grouping *grouping)
{
    for (size_t i = 0; i < generator->argument_count; i++) {
        BoundExpr *argument = generator->arguments[i];
        if (find_special(argument, SPECIAL_AGGREGATE) == NULL) {
            TRY(check_key(binder, argument, argument->place));
            add_key(binder, grouping, argument);
        }
    }
    return NULL;
}

/* GROUP BY ALL: every item without an aggregate is a key. */
static Error *bind_all(Binder *binder, const Scope *scope, const AstGroupBy *group_by,
                       Grouping *grouping)
{
    const SelectList *list = scope->select->list;
    bool mixed = false;
    for (size_t i = 0; i < list->count; i++) {
        if (is_generated(list, i)) {
            continue;
        }
        if (find_special(list->expressions[i], SPECIAL_AGGREGATE) != NULL) {
            mixed = mixed || find_plain_column(list->expressions[i]) != NULL;
            continue;
        }
        TRY(check_key(binder, list->expressions[i], list->expressions[i]->place));
        add_key(binder, grouping, list->expressions[i]);
    }
    if (list->generator != NULL) {
        TRY(add_arguments(binder, list->generator, grouping));
    }
    if (grouping->key_count == 0 && mixed) {
        return error_at(ERROR_UNRESOLVED_ALL_IN_GROUP_BY, group_by->place,
                        "Cannot infer grouping columns for GROUP BY ALL based on the select "
                        "clause. Please explicitly specify the grouping columns.");
    }
    return NULL;
}

static bool bind_plain_keys(Binder *binder, const Scope *scope, const AstGroupBy *group_by,
                            Grouping *grouping)
{
    bool ok = true;
    for (size_t i = 0; i < group_by->item_count; i++) {
        BoundExpr *key = NULL;
        bool bound =
            binder_report(binder, bind_key(binder, scope, group_by->items[i].exprs[0], &key));
        if (bound) {
            add_key(binder, grouping, key);
        }
        ok = ok && bound;
    }
    return ok;
}

bool bind_group_by(Binder *binder, const Scope *scope, Grouping *grouping)
{
    const AstGroupBy *group_by = scope->select->ast->group_by;
    grouping->given = true;
    if (group_by->all) {
        return binder_report(binder, bind_all(binder, scope, group_by, grouping));
    }
    if (!has_sets(group_by)) {
        return bind_plain_keys(binder, scope, group_by, grouping);
    }
    SetBinder sets = {binder, scope, grouping};
    bool ok = binder_report(binder, bind_sets(&sets, group_by));
    finish_sets(grouping);
    return ok;
}
