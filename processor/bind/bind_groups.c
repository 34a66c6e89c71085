/* Groups: what the rest of a SELECT may say of them, and the AGGREGATE node that makes them.
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
#include "processor/bind/bind_select_internal.h"

#include "processor/base/banned.h"

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
