/* ORDER BY and SORT BY: keys by position, output column, column of FROM, expression; and the end of
 * a SELECT: its last Project, DISTINCT, SORT.
 *
 * A name means an output column before it means a column of FROM. What keys need and the SELECT
 * list has not becomes hidden columns of the last Project, which one more Project drops:
 *
 *     SELECT a + 1 AS x FROM t ORDER BY x, b
 *     Project [0]
 *       Sort [0, 1]
 *         Project [0 + 1 AS x, 1]
 *           Scan t [a, b]
 */
#include <assert.h>

#include "processor/bind/bind_select_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------------ keys --- */

Error *check_sort_key(Binder *binder, const AstSortItem *item, const BoundExpr *key)
{
    if (type_is_orderable(key->type) || key->type->kind == TYPE_NULL) {
        return NULL;
    }
    return error_at(ERROR_INVALID_ORDERING_TYPE, item->place,
                    "Cannot resolve \"%.*s %s NULLS %s\" due to data type mismatch: The "
                    "`sortorder` does not support ordering on type \"%s\".",
                    STR_ARG(key->text), item->descending ? "DESC" : "ASC",
                    item->nulls_first ? "FIRST" : "LAST", type_text(binder->arena, key->type));
}

static Error *unsupported_in_sort(const BoundExpr *call)
{
    return error_at(ERROR_UNSUPPORTED_EXPR_FOR_OPERATOR, call->place,
                    "The query operator Sort contains one or more unsupported expressions. "
                    "Consider to rewrite it to avoid window functions, aggregate functions, and "
                    "generator functions in ORDER BY. Invalid expressions: [\"%.*s\"].",
                    STR_ARG(call->text));
}

/* Aggregates are for queries that have groups. */
static Error *check_calls(const BoundExpr *key, bool aggregated)
{
    const BoundExpr *window = find_special(key, SPECIAL_WINDOW);
    if (window != NULL) {
        return unsupported_in_sort(window);
    }
    const BoundExpr *aggregate = find_special(key, SPECIAL_AGGREGATE);
    for (SpecialKind kind = SPECIAL_GROUPING; kind <= SPECIAL_GROUPING_ID; kind++) {
        aggregate = aggregate == NULL ? find_special(key, kind) : aggregate;
    }
    return aggregate == NULL || aggregated ? NULL : unsupported_in_sort(aggregate);
}

static Error *item_key(Binder *binder, const SelectList *list, size_t item, SourcePlace place,
                       BoundExpr **ret)
{
    BoundExpr pattern = {.place = place, .text = list->fields[item].name};
    return bound_item(binder, list->expressions[item], item, &pattern, ret);
}

static Error *bind_order_key(Binder *binder, const Scope *scope, const AstSortItem *item,
                             bool aggregated, BoundSortKey *ret)
{
    const SelectList *list = scope->select->list;
    bool by_position = false;
    size_t position = 0;
    *ret = (BoundSortKey){NULL, item->descending, item->nulls_first};
    TRY(bind_position(list, item->expr, ERROR_ORDER_BY_POS_OUT_OF_RANGE, "ORDER BY", &by_position,
                      &position));
    if (by_position) {
        TRY(item_key(binder, list, position, item->expr->place, &ret->expr));
    } else {
        TRY(bind_expr(binder, scope, item->expr, &ret->expr));
        TRY(check_calls(ret->expr, aggregated));
        TRY(check_sort_subqueries(ret->expr));
    }
    return check_sort_key(binder, item, ret->expr);
}

/* ORDER BY ALL: the columns from left to right. */
static Error *bind_order_by_all(Binder *binder, const SelectList *list, const AstSortItem *item,
                                OrderKeys *ret)
{
    ret->count = list->count;
    ret->keys = arena_new_array(binder->arena, BoundSortKey, list->count);
    for (size_t i = 0; i < list->count; i++) {
        ret->keys[i] = (BoundSortKey){NULL, item->descending, item->nulls_first};
        TRY(item_key(binder, list, i, item->place, &ret->keys[i].expr));
        TRY(check_sort_key(binder, item, ret->keys[i].expr));
    }
    return NULL;
}

bool bind_order_keys(Binder *binder, const Scope *scope, bool aggregated, OrderKeys *ret)
{
    const AstQuery *query = scope->select->around;
    ret->place = query->sort_place;
    if (query->sort_kind == AST_SORT_ORDER_BY_ALL) {
        return binder_report(
            binder, bind_order_by_all(binder, scope->select->list, &query->sort_items[0], ret));
    }
    bool ok = true;
    ret->count = query->sort_item_count;
    ret->keys = arena_new_array(binder->arena, BoundSortKey, ret->count);
    for (size_t i = 0; i < ret->count; i++) {
        ok = binder_report(binder, bind_order_key(binder, scope, &query->sort_items[i], aggregated,
                                                  &ret->keys[i])) &&
             ok;
    }
    return ok;
}

/* --------------------------------------------------------------- building --- */

/* The last Project while it grows: the SELECT list, then hidden columns. */
typedef struct Output {
    Binder *binder;
    BoundExpr **expressions;
    Field *fields;
    size_t count;
    size_t capacity;
    size_t field_capacity;
    size_t visible;
} Output;

static void add_output(Output *output, BoundExpr *expr, Field field)
{
    size_t field_count = output->count;
    *arena_push(output->binder->arena, output->fields, field_count, output->field_capacity) = field;
    *arena_push(output->binder->arena, output->expressions, output->count, output->capacity) = expr;
}

/* The output column that is this column of the input; a hidden one when there is none. */
static size_t find_output(Output *output, BoundExpr *column)
{
    for (size_t i = 0; i < output->count; i++) {
        const BoundExpr *expr = output->expressions[i];
        if (expr->kind == BOUND_COLUMN && expr->column == column->column) {
            return i;
        }
    }
    add_output(output, column, (Field){column->text, column->type, false, STR_NULL});
    return output->count - 1;
}

static Error *replace_by_output(void *context, BoundExpr *expr, BoundExpr **ret)
{
    Output *output = context;
    size_t at = 0;
    if (is_special(expr, SPECIAL_ITEM)) {
        at = expr->special->item;
    } else if (expr->kind == BOUND_COLUMN) {
        at = find_output(output, expr);
    } else {
        return NULL;
    }
    *ret = bound_column(output->binder->arena, &output->fields[at], (uint32_t)at, expr->place);
    (*ret)->text = expr->text;
    return NULL;
}

static Error *build_sort(Binder *binder, OrderKeys *order, BoundNode **node)
{
    BoundExpr ***slots = arena_new_array(binder->arena, BoundExpr **, order->count);
    for (size_t i = 0; i < order->count; i++) {
        slots[i] = &order->keys[i].expr;
    }
    TRY(hoist_subqueries(binder, slots, order->count, node));
    BoundNode *sort = bound_node_new(binder, BOUND_SORT, (*node)->schema, order->place);
    sort->child = *node;
    sort->sort_keys = order->keys;
    sort->sort_key_count = order->count;
    *node = sort;
    return NULL;
}

/* Only the first `width` columns. */
static void drop_hidden(Binder *binder, const Schema *schema, SourcePlace place, BoundNode **node)
{
    if ((*node)->schema->field_count == schema->field_count) {
        return;
    }
    BoundExpr **columns = arena_new_array(binder->arena, BoundExpr *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        columns[i] = bound_column(binder->arena, &schema->fields[i], (uint32_t)i, place);
    }
    *node = bound_project(binder->arena, *node, columns, schema, place);
}

Error *build_output(Binder *binder, const AstSelect *select, const SelectList *list,
                    OrderKeys *order, BoundNode **node)
{
    Output output = {.binder = binder};
    for (size_t i = 0; i < list->count; i++) {
        add_output(&output, list->expressions[i], list->fields[i]);
    }
    for (size_t i = 0; i < order->count; i++) {
        TRY(bound_map(binder, order->keys[i].expr, replace_by_output, &output,
                      &order->keys[i].expr));
    }
    assert(!select->distinct || output.count == list->count);
    *node = bound_project(binder->arena, *node, output.expressions,
                          schema_new(binder->arena, output.fields, output.count), select->place);
    if (select->distinct) {
        TRY(bound_distinct(binder, *node, select->place, node));
    }
    if (order->count == 0) {
        return NULL;
    }
    TRY(build_sort(binder, order, node));
    drop_hidden(binder, schema_new(binder->arena, list->fields, list->count), order->place, node);
    return NULL;
}

/* ------------------------------------------------- queries that are no SELECT --- */

static void list_columns(Binder *binder, const BoundNode *node, SelectList *list)
{
    const Schema *schema = node->schema;
    list->count = schema->field_count;
    list->expressions = arena_new_array(binder->arena, BoundExpr *, schema->field_count);
    list->fields = arena_new_array(binder->arena, Field, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        list->fields[i] = schema->fields[i];
        list->expressions[i] =
            bound_column(binder->arena, &list->fields[i], (uint32_t)i, node->place);
    }
}

/* UNION … ORDER BY t.a: columns keep the relations they came from. */
static Scope scope_of_set(const Binder *binder, const Schema *schema)
{
    Scope scope = scope_of_schema(binder->arena, schema, NULL, 0);
    ScopeColumn *columns = arena_new_array(binder->arena, ScopeColumn, scope.column_count);
    for (size_t i = 0; i < scope.column_count; i++) {
        columns[i] = scope.columns[i];
        if (binder->output.schema == schema) {
            columns[i].qualifier = binder->output.qualifiers[i];
        }
    }
    scope.columns = columns;
    return scope;
}

BoundNode *bind_order_by(Binder *binder, const AstQuery *query, BoundNode *node)
{
    if (query->sort_kind == AST_SORT_NONE) {
        return node;
    }
    static const AstSelect no_select = {.item_count = 0};
    SelectList list = {0};
    OrderKeys order = {0};
    list_columns(binder, node, &list);
    SelectScope names = {.ast = &no_select,
                         .around = query,
                         .list = &list,
                         .calls = CALLS_AGGREGATES,
                         .clause = "ORDER BY"};
    Scope scope = scope_of_set(binder, node->schema);
    scope.select = &names;
    if (!bind_order_keys(binder, &scope, false, &order)) {
        return NULL;
    }
    for (size_t i = 0; i < order.count; i++) {
        if (!binder_report(binder, expand_items(binder, &list, &order.keys[i].expr))) {
            return NULL;
        }
    }
    const Schema *schema = node->schema;
    if (!binder_report(binder, build_sort(binder, &order, &node))) {
        return NULL;
    }
    drop_hidden(binder, schema, order.place, &node);
    return node;
}
