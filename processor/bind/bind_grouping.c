/* GROUP BY: keys by expression, position and alias, ALL; ROLLUP, CUBE and GROUPING SETS; what the
 * rest of a SELECT may say of groups; the AGGREGATE node.
 *
 * Grouping sets are an AGGREGATE over an EXPAND, which repeats each row once a set, with NULL for
 * the keys the set lacks. A hidden key tells the sets apart: bit i (from the left) is set when key
 * i is not in the set, as grouping_id() shows it. Sets written twice give their rows twice, so then
 * their position is a key too.
 *
 *     SELECT a, b, sum(c) FROM t GROUP BY ROLLUP (a, b)
 *     Project [0, 1, 3]
 *       Aggregate [3, 4, 5; sum(2)]
 *         Expand [0, 1, 2, 0, 1, 0] [0, 1, 2, 0, NULL, 1] [0, 1, 2, NULL, NULL, 3]
 *           Scan t [a, b, c]
 */
#include <assert.h>

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
    if (is_generated(list, item)) {
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

/* GROUP BY ALL: every item without an aggregate is a key. */
static Error *bind_all(Binder *binder, const Scope *scope, const AstGroupBy *group_by,
                       Grouping *grouping)
{
    const SelectList *list = scope->select->list;
    bool mixed = false;
    for (size_t i = 0; i < list->count; i++) {
        if (is_generated(list, i)) {
            return not_yet(list->expressions[i]->place, "GROUP BY ALL with a generator");
        }
        if (find_special(list->expressions[i], SPECIAL_AGGREGATE) != NULL) {
            mixed = mixed || find_plain_column(list->expressions[i]) != NULL;
            continue;
        }
        TRY(check_key(binder, list->expressions[i], list->expressions[i]->place));
        add_key(binder, grouping, list->expressions[i]);
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

/* ------------------------------------------------------------ over groups --- */

typedef struct GroupMap {
    Binder *binder;
    Grouping *grouping;
    const SelectList *list;
    GroupClause clause;
} GroupMap;

static BoundExpr *output_column(const GroupMap *map, const BoundExpr *expr, size_t column)
{
    Field field = {.name = expr->text, .type = expr->type, .comment = STR_NULL};
    return bound_column(map->binder->arena, &field, (uint32_t)column, expr->place);
}

static BoundExpr *aggregate_column(const GroupMap *map, BoundExpr *expr)
{
    Grouping *grouping = map->grouping;
    size_t at = 0;
    while (at < grouping->call_count && !bound_equal(grouping->calls[at], expr)) {
        at++;
    }
    if (at == grouping->call_count) {
        *arena_push(map->binder->arena, grouping->calls, grouping->call_count,
                    grouping->call_capacity) = expr;
    }
    return output_column(map, expr, grouping->key_count + grouping->hidden_keys + at);
}

static size_t find_key(const Grouping *grouping, const BoundExpr *expr)
{
    size_t at = 0;
    while (at < grouping->key_count && !bound_equal(grouping->keys[at], expr)) {
        at++;
    }
    return at;
}

static Error *no_group(const GroupMap *map, const BoundExpr *expr)
{
    if (map->grouping->key_count == 0) {
        return error_at(ERROR_MISSING_GROUP_BY, expr->place,
                        "The query does not include a GROUP BY clause. Add GROUP BY or turn it "
                        "into the window functions using OVER clauses.");
    }
    Error *error = error_at(ERROR_MISSING_AGGREGATION, expr->place,
                            "The non-aggregating expression \"%.*s\" is based on columns which are "
                            "not participating in the GROUP BY clause.",
                            STR_ARG(expr->text));
    return error_set_hint(error,
                          "add it to GROUP BY, or use any_value(%.*s) if it does not matter which "
                          "value of the group is taken",
                          STR_ARG(expr->text));
}

static Error *no_output_column(const GroupMap *map, const BoundExpr *expr)
{
    AstIdentifier part = {.name = expr->text, .place = expr->place};
    AstName name = {&part, 1, expr->place, expr->text};
    Scope output = select_output_scope(map->binder, map->list);
    return scope_unresolved(&output, &name);
}

/* HAVING b > 1 where b is no key: an output column of that name. */
static Error *having_column(const GroupMap *map, BoundExpr *expr, BoundExpr **ret)
{
    for (size_t i = 0; i < map->list->count; i++) {
        if (str_equal_ignore_case(map->list->fields[i].name, expr->text)) {
            return bound_item(map->binder, map->list->expressions[i], i, expr, ret);
        }
    }
    return no_output_column(map, expr);
}

static Error *replace_plain_column(const GroupMap *map, BoundExpr *expr, BoundExpr **ret)
{
    switch (map->clause) {
    case GROUPS_OF_LIST:
        return no_group(map, expr);
    case GROUPS_OF_HAVING:
        return having_column(map, expr, ret);
    case GROUPS_OF_ORDER:
        return no_output_column(map, expr);
    }
    return NULL;
}

/* grouping(a): the bit of the key in the hidden key. */
static Error *grouping_bit(const GroupMap *map, const BoundExpr *expr, BoundExpr **ret)
{
    const Grouping *grouping = map->grouping;
    size_t key = find_key(grouping, expr->children[0]);
    if (key == grouping->key_count) {
        return error_at(ERROR_GROUPING_COLUMN_MISMATCH, expr->place,
                        "Column of grouping (%.*s) can't be found in grouping columns.",
                        STR_ARG(expr->children[0]->text));
    }
    Field field = {STR("grouping_id"), &type_bigint, true, STR_NULL};
    BoundExpr *id =
        bound_column(map->binder->arena, &field, (uint32_t)grouping->key_count, expr->place);
    BoundExpr *shift = bound_int(map->binder->arena, &type_int,
                                 (int64_t)(grouping->key_count - 1 - key), expr->place);
    BoundExpr *one = bound_int(map->binder->arena, &type_bigint, 1, expr->place);
    BoundExpr pattern = {.place = expr->place, .text = expr->text};
    BoundExpr *shifted[2] = {id, shift};
    BoundExpr *masked[2] = {NULL, one};
    TRY(bind_function(map->binder, STR(">>"), shifted, 2, &pattern, &masked[0]));
    TRY(bind_function(map->binder, STR("&"), masked, 2, &pattern, ret));
    return bound_cast(map->binder, *ret, &type_tinyint, ret);
}

static Error *check_grouping_id(const GroupMap *map, const BoundExpr *expr)
{
    const Grouping *grouping = map->grouping;
    bool fits = expr->child_count == 0 || expr->child_count == grouping->key_count;
    for (size_t i = 0; i < expr->child_count && fits; i++) {
        fits = bound_equal(grouping->keys[i], expr->children[i]);
    }
    return fits ? NULL
                : error_at(ERROR_GROUPING_ID_COLUMN_MISMATCH, expr->place,
                           "Columns of grouping_id do not match the grouping columns.");
}

static Error *replace_grouping(const GroupMap *map, const BoundExpr *expr, BoundExpr **ret)
{
    if (map->grouping->sets == NULL) {
        return unsupported_grouping(expr->place);
    }
    if (is_special(expr, SPECIAL_GROUPING)) {
        return grouping_bit(map, expr, ret);
    }
    TRY(check_grouping_id(map, expr));
    *ret = output_column(map, expr, map->grouping->key_count);
    return NULL;
}

static Error *replace_by_group(void *context, BoundExpr *expr, BoundExpr **ret)
{
    const GroupMap *map = context;
    size_t key = find_key(map->grouping, expr);
    if (key < map->grouping->key_count) {
        *ret = output_column(map, expr, key);
        return NULL;
    }
    if (is_special(expr, SPECIAL_ITEM)) {
        *ret = expr;
    } else if (is_special(expr, SPECIAL_AGGREGATE)) {
        *ret = aggregate_column(map, expr);
    } else if (is_special(expr, SPECIAL_GROUPING) || is_special(expr, SPECIAL_GROUPING_ID)) {
        return replace_grouping(map, expr, ret);
    } else if (expr->kind == BOUND_COLUMN) {
        return replace_plain_column(map, expr, ret);
    }
    return NULL;
}

/* In the SELECT list a correlated scalar subquery must be a key or stand in an aggregate. */
static Error *check_subqueries(const GroupMap *map, const BoundExpr *expr)
{
    if (find_key(map->grouping, expr) < map->grouping->key_count ||
        is_special(expr, SPECIAL_AGGREGATE)) {
        return NULL;
    }
    if (expr->kind == BOUND_SUBQUERY && expr->subquery->correlated &&
        expr->subquery->kind == SUBQUERY_SCALAR) {
        return error_at(ERROR_SCALAR_SUBQUERY_IN_GROUP_BY, expr->place,
                        "The correlated scalar subquery '\"%.*s\"' is neither present in GROUP BY, "
                        "nor in an aggregate function. Add it to GROUP BY using ordinal position "
                        "or wrap it in `first()` (or `first_value`) if you don't care which value "
                        "you get.",
                        STR_ARG(expr->text));
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        TRY(check_subqueries(map, expr->children[i]));
    }
    return NULL;
}

Error *over_groups(Binder *binder, Grouping *grouping, const SelectList *list, GroupClause clause,
                   BoundExpr **expr)
{
    GroupMap map = {binder, grouping, list, clause};
    if (clause == GROUPS_OF_LIST) {
        TRY(check_subqueries(&map, *expr));
    }
    return bound_map(binder, *expr, replace_by_group, &map, expr);
}

/* --------------------------------------------------------------- building --- */

/* A row of EXPAND: the input's columns, the keys or NULL, the set, its position. */
static void fill_expand_row(Binder *binder, const Grouping *grouping, const Schema *input,
                            size_t set, SourcePlace place, BoundExpr **row)
{
    size_t at = 0;
    for (size_t i = 0; i < input->field_count; i++) {
        row[at++] = bound_column(binder->arena, &input->fields[i], (uint32_t)i, place);
    }
    int64_t id = 0;
    for (size_t i = 0; i < grouping->key_count; i++) {
        bool in_set = (grouping->sets[set] >> i & 1) != 0;
        BoundExpr *key = grouping->keys[i];
        row[at++] = in_set ? key : bound_null(binder->arena, key->type, place);
        id = (int64_t)((uint64_t)id << 1 | !in_set);
    }
    row[at++] = bound_int(binder->arena, &type_bigint, id, place);
    if (grouping->hidden_keys > 1) {
        row[at++] = bound_int(binder->arena, &type_bigint, (int64_t)set, place);
    }
}

static const Schema *expand_schema(Binder *binder, const Grouping *grouping, const Schema *input,
                                   size_t width)
{
    Field *fields = arena_new_array(binder->arena, Field, width);
    size_t at = 0;
    for (size_t i = 0; i < input->field_count; i++) {
        fields[at++] = input->fields[i];
    }
    for (size_t i = 0; i < grouping->key_count; i++) {
        const BoundExpr *key = grouping->keys[i];
        fields[at++] = (Field){key->text, key->type, false, STR_NULL};
    }
    fields[at++] = (Field){STR("spark_grouping_id"), &type_bigint, true, STR_NULL};
    if (at < width) {
        fields[at] = (Field){STR("_gen_grouping_pos"), &type_bigint, true, STR_NULL};
    }
    return schema_new(binder->arena, fields, width);
}

/* EXPAND over *node; the keys become its columns. */
static void build_expand(Binder *binder, const Grouping *grouping, SourcePlace place,
                         BoundExpr ***keys, size_t *key_count, BoundNode **node)
{
    const Schema *input = (*node)->schema;
    size_t hidden = grouping->hidden_keys;
    size_t width = input->field_count + grouping->key_count + hidden;
    size_t count = width * grouping->set_count;
    BoundExpr **cells = arena_new_array(binder->arena, BoundExpr *, count);
    for (size_t i = 0; i < grouping->set_count; i++) {
        fill_expand_row(binder, grouping, input, i, place, cells + i * width);
    }
    BoundNode *expand =
        bound_node_new(binder, BOUND_EXPAND, expand_schema(binder, grouping, input, width), place);
    expand->child = *node;
    expand->expressions = cells;
    expand->expression_count = count;
    expand->row_count = grouping->set_count;
    *key_count = grouping->key_count + hidden;
    *keys = arena_new_array(binder->arena, BoundExpr *, *key_count);
    for (size_t i = 0; i < *key_count; i++) {
        size_t column = input->field_count + i;
        (*keys)[i] =
            bound_column(binder->arena, &expand->schema->fields[column], (uint32_t)column, place);
    }
    *node = expand;
}

/* Subqueries in keys and arguments are computed by a Project below. */
static Error *hoist_parts(Binder *binder, Grouping *grouping, BoundNode **node)
{
    size_t count = grouping->key_count;
    for (size_t i = 0; i < grouping->call_count; i++) {
        BoundExpr *call = grouping->calls[i];
        TRY(bound_new(binder, call, call->children, call->child_count, &grouping->calls[i]));
        count += call->child_count;
    }
    BoundExpr ***slots = arena_new_array(binder->arena, BoundExpr **, count);
    size_t at = 0;
    for (size_t i = 0; i < grouping->key_count; i++) {
        slots[at++] = &grouping->keys[i];
    }
    for (size_t i = 0; i < grouping->call_count; i++) {
        for (size_t k = 0; k < grouping->calls[i]->child_count; k++) {
            slots[at++] = &grouping->calls[i]->children[k];
        }
    }
    return hoist_subqueries(binder, slots, count, node);
}

static BoundNode *new_aggregate(Binder *binder, BoundNode *child, BoundExpr **keys,
                                size_t key_count, const Grouping *grouping, SourcePlace place)
{
    size_t calls = grouping == NULL ? 0 : grouping->call_count;
    Field *fields = arena_new_array(binder->arena, Field, key_count + calls);
    BoundAggregate *aggregates = arena_new_array(binder->arena, BoundAggregate, calls);
    for (size_t i = 0; i < key_count; i++) {
        fields[i] = (Field){keys[i]->text, keys[i]->type, false, STR_NULL};
    }
    for (size_t i = 0; i < calls; i++) {
        const BoundExpr *call = grouping->calls[i];
        aggregates[i] = special_call(binder, call);
        fields[key_count + i] = (Field){call->text, call->type, false, STR_NULL};
    }
    BoundNode *node = bound_node_new(binder, BOUND_AGGREGATE,
                                     schema_new(binder->arena, fields, key_count + calls), place);
    node->child = child;
    node->expressions = keys;
    node->expression_count = key_count;
    node->aggregates = aggregates;
    node->aggregate_count = calls;
    return node;
}

Error *build_aggregate(Binder *binder, Grouping *grouping, SourcePlace place, BoundNode **node)
{
    TRY(hoist_parts(binder, grouping, node));
    BoundExpr **keys = grouping->keys;
    size_t key_count = grouping->key_count;
    if (grouping->sets != NULL) {
        build_expand(binder, grouping, place, &keys, &key_count, node);
    }
    *node = new_aggregate(binder, *node, keys, key_count, grouping, place);
    return NULL;
}
