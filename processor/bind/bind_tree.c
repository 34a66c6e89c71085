/* Bound trees compared and copied: when GROUP BY a + b means the b + a of the SELECT list, and what
 * stands in place of what (see bind_select_internal.h).
 *
 * Equality is Spark's: order does not matter to +, *, AND, OR, the bit operators, = and <=>, and
 * a < b is b > a. An expression that is not deterministic equals nothing but its own node. */
#include "processor/bind/bind_select_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------ questions --- */

const BoundExpr *find_special(const BoundExpr *expr, SpecialKind kind)
{
    if (is_special(expr, kind)) {
        return expr;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        const BoundExpr *found = find_special(expr->children[i], kind);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

bool bound_has_subquery(const BoundExpr *expr)
{
    bool found = expr->kind == BOUND_SUBQUERY;
    for (size_t i = 0; i < expr->child_count && !found; i++) {
        found = bound_has_subquery(expr->children[i]);
    }
    return found;
}

bool bound_is_deterministic(const BoundExpr *expr)
{
    if (expr->kind == BOUND_CALL && expr->special == NULL &&
        (expr->function->flags & (FUNCTION_DETERMINISTIC | FUNCTION_CLOCK)) == 0) {
        return false;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (!bound_is_deterministic(expr->children[i])) {
            return false;
        }
    }
    return true;
}

Error *bound_item(Binder *binder, const BoundExpr *value, size_t item, const BoundExpr *pattern,
                  BoundExpr **ret)
{
    static const Function function = {.name = "item"};
    BoundSpecial *special = arena_new_object(binder->arena, BoundSpecial);
    *special = (BoundSpecial){.kind = SPECIAL_ITEM, .item = item};
    BoundExpr node = {.kind = BOUND_CALL,
                      .function = &function,
                      .type = value->type,
                      .place = pattern->place,
                      .text = pattern->text,
                      .special = special};
    return bound_new(binder, &node, NULL, 0, ret);
}

/* ------------------------------------------------------------- equality --- */

static bool same(const BoundExpr *a, const BoundExpr *b);

static bool same_list(BoundExpr *const *a, size_t count_a, BoundExpr *const *b, size_t count_b)
{
    if (count_a != count_b) {
        return false;
    }
    for (size_t i = 0; i < count_a; i++) {
        if (!same(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

static bool same_sort_keys(const BoundSortKey *a, size_t count_a, const BoundSortKey *b,
                           size_t count_b)
{
    if (count_a != count_b) {
        return false;
    }
    for (size_t i = 0; i < count_a; i++) {
        bool exprs = (a[i].expr == NULL) == (b[i].expr == NULL) &&
                     (a[i].expr == NULL || same(a[i].expr, b[i].expr));
        if (!exprs || a[i].descending != b[i].descending || a[i].nulls_first != b[i].nulls_first) {
            return false;
        }
    }
    return true;
}

static bool same_bound(const BoundFrameBound *a, const BoundFrameBound *b)
{
    return a->kind == b->kind && (a->offset == NULL) == (b->offset == NULL) &&
           (a->offset == NULL || same(a->offset, b->offset));
}

static bool same_special(const BoundSpecial *a, const BoundSpecial *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    size_t sorts = a->sort_count + a->order_count;
    return a->kind == b->kind && a->argument_count == b->argument_count &&
           a->has_filter == b->has_filter && a->sort_count == b->sort_count &&
           a->partition_count == b->partition_count && a->order_count == b->order_count &&
           same_sort_keys(a->keys, sorts, b->keys, sorts) && a->distinct == b->distinct &&
           a->ignore_nulls == b->ignore_nulls && a->unit == b->unit &&
           same_bound(&a->start, &b->start) && same_bound(&a->end, &b->end) && a->item == b->item;
}

static bool same_aggregate(const BoundAggregate *a, const BoundAggregate *b)
{
    return a->function == b->function && a->distinct == b->distinct &&
           a->ignore_nulls == b->ignore_nulls &&
           same_list(a->arguments, a->argument_count, b->arguments, b->argument_count) &&
           same_sort_keys(a->sort_keys, a->sort_key_count, b->sort_keys, b->sort_key_count) &&
           (a->filter == NULL) == (b->filter == NULL) &&
           (a->filter == NULL || same(a->filter, b->filter));
}

static bool same_aggregates(const BoundNode *a, const BoundNode *b)
{
    if (a->aggregate_count != b->aggregate_count || a->window_count != b->window_count) {
        return false;
    }
    for (size_t i = 0; i < a->aggregate_count; i++) {
        if (!same_aggregate(&a->aggregates[i], &b->aggregates[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < a->window_count; i++) {
        const BoundWindowCall *x = &a->windows[i];
        const BoundWindowCall *y = &b->windows[i];
        if (!same_aggregate(&x->call, &y->call) || x->unit != y->unit ||
            !same_bound(&x->start, &y->start) || !same_bound(&x->end, &y->end)) {
            return false;
        }
    }
    return true;
}

/* Subqueries: the same query bound twice. */
static bool same_node(const BoundNode *a, const BoundNode *b)
{
    if (a == b || a == NULL || b == NULL) {
        return a == b;
    }
    return a->kind == b->kind && schema_equal(a->schema, b->schema) && a->relation == b->relation &&
           a->stream == b->stream && a->row_count == b->row_count && a->join == b->join &&
           a->lateral == b->lateral && a->set_operation == b->set_operation && a->all == b->all &&
           a->limit == b->limit && a->offset == b->offset && a->range_start == b->range_start &&
           a->range_end == b->range_end && a->range_step == b->range_step &&
           a->generator == b->generator && a->outer == b->outer &&
           same_list(a->expressions, a->expression_count, b->expressions, b->expression_count) &&
           same_sort_keys(a->sort_keys, a->sort_key_count, b->sort_keys, b->sort_key_count) &&
           same_aggregates(a, b) && same_node(a->child, b->child) && same_node(a->right, b->right);
}

static bool same_subquery(const BoundSubquery *a, const BoundSubquery *b)
{
    return a == b ||
           (a != NULL && b != NULL && a->kind == b->kind && same_node(a->query, b->query));
}

/* Operands of nested calls of one function: (a + b) + c has three. */
enum { OPERANDS_MAX = 64 };

typedef struct Operands {
    const BoundExpr *items[OPERANDS_MAX];
    size_t count;
    bool overflow;
} Operands;

static bool is_same_operator(const BoundExpr *a, const BoundExpr *b)
{
    return a->kind == b->kind && a->function == b->function && a->special == NULL &&
           type_equal(a->type, b->type);
}

static void collect_operands(const BoundExpr *expr, const BoundExpr *operator_, Operands *operands)
{
    if (is_same_operator(expr, operator_)) {
        for (size_t i = 0; i < expr->child_count; i++) {
            collect_operands(expr->children[i], operator_, operands);
        }
    } else if (operands->count < OPERANDS_MAX) {
        operands->items[operands->count++] = expr;
    } else {
        operands->overflow = true;
    }
}

/* The same operands in any order. */
static bool same_operands(const BoundExpr *a, const BoundExpr *b)
{
    Operands left = {.count = 0};
    Operands right = {.count = 0};
    uint64_t used = 0;
    collect_operands(a, a, &left);
    collect_operands(b, a, &right);
    if (left.overflow || right.overflow) {
        return same_list(a->children, a->child_count, b->children, b->child_count);
    }
    for (size_t i = 0; i < left.count; i++) {
        size_t k = 0;
        while (k < right.count && ((used >> k & 1) != 0 || !same(left.items[i], right.items[k]))) {
            k++;
        }
        if (k == right.count) {
            return false;
        }
        used |= UINT64_C(1) << k;
    }
    return left.count == right.count;
}

static bool is_called(const BoundExpr *expr, const char *name)
{
    return str_equal(str_from(expr->function->name), str_from(name));
}

static bool is_one_of(const BoundExpr *expr, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_called(expr, names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_commutative(const BoundExpr *expr)
{
    static const char *const names[] = {"+", "*", "&", "|", "^"};
    return expr->kind == BOUND_AND || expr->kind == BOUND_OR ||
           (expr->kind == BOUND_CALL && expr->special == NULL && expr->child_count == 2 &&
            is_one_of(expr, names, ARRAY_LENGTH(names)));
}

/* Is a's comparison b's, read from the right? */
static bool same_mirrored(const BoundExpr *a, const BoundExpr *b)
{
    static const char *const pairs[][2] = {{"=", "="}, {"<=>", "<=>"}, {"<>", "<>"}, {"<", ">"},
                                           {">", "<"}, {"<=", ">="},   {">=", "<="}};
    if (a->kind != BOUND_CALL || b->kind != BOUND_CALL || a->special != NULL ||
        b->special != NULL || a->child_count != 2 || b->child_count != 2) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++) {
        if (is_called(a, pairs[i][0]) && is_called(b, pairs[i][1])) {
            return same(a->children[0], b->children[1]) && same(a->children[1], b->children[0]);
        }
    }
    return false;
}

static bool same_values(const BoundExpr *a, const BoundExpr *b)
{
    if (a->kind != b->kind || a->function != b->function || !type_equal(a->type, b->type) ||
        a->column != b->column || a->field != b->field || a->try_cast != b->try_cast ||
        a->parameter_count != b->parameter_count || !same_special(a->special, b->special) ||
        !same_subquery(a->subquery, b->subquery)) {
        return false;
    }
    return a->kind != BOUND_LITERAL || vector_value_equal(a->literal, 0, b->literal, 0);
}

/* Parameters of lambdas are numbered in order, so that equal lambdas differ by a constant; they
 * count as equal only where they are one tree. */
static bool same(const BoundExpr *a, const BoundExpr *b)
{
    if (a == b) {
        return true;
    }
    /* Order and depth may differ, not the parts. */
    if (a->node_count != b->node_count || bound_digest(a) != bound_digest(b)) {
        return false;
    }
    if (same_mirrored(a, b)) {
        return true;
    }
    if (!same_values(a, b) || a->parameter != b->parameter) {
        return false;
    }
    return is_commutative(a) ? same_operands(a, b)
                             : same_list(a->children, a->child_count, b->children, b->child_count);
}

bool bound_equal(const BoundExpr *a, const BoundExpr *b)
{
    return a == b || (same(a, b) && bound_is_deterministic(a));
}

/* -------------------------------------------------------------- mapping --- */

typedef struct Map {
    Binder *binder;
    ReplaceExpr *replace;
    void *context;
} Map;

/* A column that a subquery names: what replaces it must be a column again. */
static Error *map_outer_column(void *context, const BoundExpr *expr, uint32_t *ret_column)
{
    const Map *map = context;
    BoundExpr *column = arena_new_object(map->binder->arena, BoundExpr); /* `replace` may keep it */
    BoundExpr *replaced = NULL;
    *column = *expr;
    column->kind = BOUND_COLUMN;
    TRY(map->replace(map->context, column, &replaced));
    replaced = replaced == NULL ? column : replaced;
    if (replaced->kind != BOUND_COLUMN) {
        return not_yet(expr->place, "A computed value of the query around in a subquery");
    }
    *ret_column = replaced->column;
    return NULL;
}

static Error *map_children(const Map *map, BoundExpr *expr, BoundExpr **ret)
{
    BoundExpr **children = arena_new_array(map->binder->arena, BoundExpr *, expr->child_count);
    bool changed = false;
    for (size_t i = 0; i < expr->child_count; i++) {
        TRY(bound_map(map->binder, expr->children[i], map->replace, map->context, &children[i]));
        changed = changed || children[i] != expr->children[i];
    }
    *ret = expr;
    return changed ? bound_new(map->binder, expr, children, expr->child_count, ret) : NULL;
}

Error *bound_map(Binder *binder, BoundExpr *expr, ReplaceExpr *replace, void *context,
                 BoundExpr **ret)
{
    Map map = {binder, replace, context};
    BoundExpr *replaced = NULL;
    TRY(replace(context, expr, &replaced));
    if (replaced != NULL) {
        *ret = replaced;
        return NULL;
    }
    TRY(map_children(&map, expr, &replaced));
    if (expr->kind == BOUND_SUBQUERY && expr->subquery->correlated) {
        TRY(bound_map_outer_columns(binder, replaced, map_outer_column, &map, &replaced));
    }
    *ret = replaced;
    return NULL;
}

/* ---------------------------------------------------------------- nodes --- */

BoundExpr *bound_int(Arena *arena, const Type *type, int64_t value, SourcePlace place)
{
    Vector *literal = vector_new(arena, type, 1);
    vector_append_int(literal, arena, value);
    BoundExpr *expr = arena_new_object(arena, BoundExpr);
    *expr = (BoundExpr){.kind = BOUND_LITERAL,
                        .type = type,
                        .place = place,
                        .text = str_from(arena_printf(arena, "%lld", (long long)value)),
                        .literal = literal,
                        .height = 1,
                        .node_count = 1};
    return expr;
}

BoundNode *bound_filter(Binder *binder, BoundNode *child, BoundExpr *condition)
{
    BoundNode *filter = bound_node_new(binder, BOUND_FILTER, child->schema, condition->place);
    filter->child = child;
    filter->expressions = arena_new_array(binder->arena, BoundExpr *, 1);
    filter->expressions[0] = condition;
    filter->expression_count = 1;
    return filter;
}

Error *project_below(Binder *binder, BoundExpr ***added, size_t count, BoundNode **node)
{
    if (count == 0) {
        return NULL;
    }
    const Schema *below = (*node)->schema;
    size_t width = below->field_count + count;
    BoundExpr **expressions = arena_new_array(binder->arena, BoundExpr *, width);
    Field *fields = arena_new_array(binder->arena, Field, width);
    SourcePlace place = (*added[0])->place;
    for (size_t i = 0; i < below->field_count; i++) {
        fields[i] = below->fields[i];
        expressions[i] = bound_column(binder->arena, &fields[i], (uint32_t)i, place);
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = below->field_count + i;
        BoundExpr *expr = *added[i];
        fields[at] = (Field){.name = expr->text, .type = expr->type, .comment = STR_NULL};
        expressions[at] = expr;
        *added[i] = bound_column(binder->arena, &fields[at], (uint32_t)at, expr->place);
    }
    *node = bound_project(binder->arena, *node, expressions,
                          schema_new(binder->arena, fields, width), place);
    return NULL;
}

Error *hoist_subqueries(Binder *binder, BoundExpr **const *slots, size_t count, BoundNode **node)
{
    BoundExpr ***added = arena_new_array(binder->arena, BoundExpr **, count);
    size_t added_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (bound_has_subquery(*slots[i])) {
            added[added_count++] = slots[i];
        }
    }
    return project_below(binder, added, added_count, node);
}
