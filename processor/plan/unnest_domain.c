/* A correlated tree computed for all values of its outer columns at once ("Unnesting Arbitrary
 * Queries", Neumann and Kemper). The domain is a relation of those values; it is joined to the
 * leaves and its columns ride up, behind the columns of each node:
 *
 *     Sort (b) limit 1                            Limit 1 of each run of equal a
 *       Filter (k < outer(a))                       Sort (a)
 *         Scan t [k, b]                               Sort (b)
 *                                    ->                 Filter (k < a)
 *                                                         Join CROSS [k, b, a]
 *                                                           Scan t [k, b]
 *                                                           Aggregate [a]
 *                                                             the left side
 *
 * What a node does for one value of the outer columns it then does for each: groups, partitions and
 * limits get the domain's columns as keys. Each part of the tree that refers outside has a domain
 * of its own; where two meet they are joined by it. */
#include <assert.h>

#include "processor/plan/unnest.h"

#include "processor/base/banned.h"

/* -------------------------------------------------------------- the domain --- */

static void note_outer(void *context, const BoundExpr *expr, ExprRole role)
{
    bool *used = context;
    if (expr->kind == BOUND_OUTER_COLUMN) {
        used[expr->column] = true;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        note_outer(context, expr->children[i], role);
    }
}

static void note_tree(const LogicalNode *tree, bool *used)
{
    if (tree != NULL) {
        node_visit_exprs(tree, note_outer, used);
        note_tree(tree->child, used);
        note_tree(tree->right, used);
    }
}

/* The columns of a projection, if all that are used are plain ones. */
static bool through_project(const LogicalNode *project, uint32_t *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (project->expressions[columns[i]]->kind != BOUND_COLUMN) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        columns[i] = project->expressions[columns[i]]->column;
    }
    return true;
}

/* To the side of a join that has all columns, when every row of the join has values of that side.
 */
static LogicalNode *through_join(const LogicalNode *join, uint32_t *columns, size_t count)
{
    size_t left_count = join->child->schema->field_count;
    size_t in_left = 0;
    for (size_t i = 0; i < count; i++) {
        in_left += columns[i] < left_count;
    }
    if (in_left == count && join->join != JOIN_RIGHT && join->join != JOIN_FULL) {
        return join->child;
    }
    if (in_left > 0 || join->join != JOIN_INNER) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        columns[i] -= (uint32_t)left_count;
    }
    return join->right;
}

/* The left side may hold joins with other subqueries, each with a copy of what was there before.
 * Copying those too would double the plan with every subquery. */
static void find_base(Domain *domain)
{
    domain->base = domain->left;
    domain->base_columns = arena_new_array(domain->builder->arena, uint32_t, domain->count);
    for (size_t i = 0; i < domain->count; i++) {
        domain->base_columns[i] = domain->columns[i];
    }
    for (;;) {
        LogicalNode *next = NULL;
        if (domain->base->kind == LOGICAL_PROJECT &&
            through_project(domain->base, domain->base_columns, domain->count)) {
            next = domain->base->child;
        } else if (domain->base->kind == LOGICAL_JOIN) {
            next = through_join(domain->base, domain->base_columns, domain->count);
        }
        if (next == NULL) {
            return;
        }
        domain->base = next;
    }
}

Domain unnest_domain(PlanBuilder *builder, LogicalNode *left, const LogicalNode *right, bool direct)
{
    size_t width = left->schema->field_count;
    Domain domain = {.builder = builder,
                     .left = left,
                     .direct = direct,
                     .columns = arena_new_array(builder->arena, uint32_t, width),
                     .number = arena_new_array(builder->arena, uint32_t, width)};
    bool *used = arena_new_array(builder->arena, bool, width);
    note_tree(right, used);
    for (size_t i = 0; i < width; i++) {
        if (direct || used[i]) {
            domain.number[i] = (uint32_t)domain.count;
            domain.columns[domain.count++] = (uint32_t)i;
        }
    }
    find_base(&domain);
    return domain;
}

static const Field *domain_field(const Domain *domain, size_t i)
{
    return &domain->left->schema->fields[domain->columns[i]];
}

/* The domain as a relation. */
static Error *domain_node(Domain *domain, LogicalNode **ret_node)
{
    Arena *arena = domain->builder->arena;
    if (domain->direct) {
        *ret_node = domain->left;
        return NULL;
    }
    LogicalNode *left = NULL;
    TRY(build_copy(domain->builder, domain->base, &left));
    LogicalNode *distinct = arena_new_object(arena, LogicalNode);
    *distinct = (LogicalNode){.kind = LOGICAL_AGGREGATE,
                              .child = left,
                              .expressions = arena_new_array(arena, BoundExpr *, domain->count),
                              .expression_count = domain->count,
                              .limit = -1,
                              .place = left->place};
    Field *fields = arena_new_array(arena, Field, domain->count);
    for (size_t i = 0; i < domain->count; i++) {
        fields[i] = *domain_field(domain, i);
        distinct->expressions[i] = expr_column(arena, &fields[i], domain->base_columns[i]);
    }
    distinct->schema = schema_new(arena, fields, domain->count);
    *ret_node = distinct;
    return NULL;
}

/* --------------------------------------------------------------- pieces --- */

/* Expressions of a node over a child that has the domain's columns behind `width` of its own. */
typedef struct Rewrite {
    const Domain *domain;
    size_t width;
    size_t left_width; /* JOIN: columns of the left side, which may have got the domain's … */
    size_t left_added; /* … so many behind them */
} Rewrite;

static BoundExpr *domain_column(const Domain *domain, size_t i, size_t at)
{
    return expr_column(domain->builder->arena, domain_field(domain, i), at + i);
}

static BoundExpr *rewrite_part(void *context, BoundExpr *expr)
{
    const Rewrite *rewrite = context;
    if (expr->kind == BOUND_OUTER_COLUMN) {
        return domain_column(rewrite->domain, rewrite->domain->number[expr->column],
                             rewrite->width);
    }
    if (expr->kind == BOUND_COLUMN && expr->column >= rewrite->left_width) {
        return expr_shift_columns(rewrite->domain->builder->arena, expr,
                                  (int64_t)rewrite->left_added);
    }
    return NULL;
}

static BoundExpr *rewrite_expr(void *context, BoundExpr *expr, ExprRole role)
{
    const Rewrite *rewrite = context;
    Arena *arena = rewrite->domain->builder->arena;
    if (role == OVER_RIGHT) {
        Rewrite plain = *rewrite; /* a key of the right side is over that side alone */
        plain.left_width = SIZE_MAX;
        return expr_map(arena, expr, rewrite_part, &plain);
    }
    return expr_map(arena, expr, rewrite_part, context);
}

/* A copy of the node over the new child, its expressions rewritten. */
static LogicalNode *over_child(const Domain *domain, const LogicalNode *node, LogicalNode *child)
{
    Rewrite rewrite = {
        .domain = domain, .width = node->child->schema->field_count, .left_width = SIZE_MAX};
    LogicalNode *copy = node_map_exprs(domain->builder->arena, node, rewrite_expr, &rewrite);
    copy->child = child;
    return copy;
}

static const Schema *with_domain(const Domain *domain, const Schema *schema)
{
    Arena *arena = domain->builder->arena;
    Field *fields = arena_new_array(arena, Field, domain->count);
    for (size_t i = 0; i < domain->count; i++) {
        fields[i] = *domain_field(domain, i);
    }
    const Schema own = {.fields = fields, .field_count = domain->count};
    return schema_concat(arena, schema, &own);
}

/* exprs, then the domain's columns, which stand at `at` in the child. */
static BoundExpr **append_domain(const Domain *domain, BoundExpr *const *exprs, size_t count,
                                 size_t at)
{
    BoundExpr **all = arena_new_array(domain->builder->arena, BoundExpr *, count + domain->count);
    for (size_t i = 0; i < count; i++) {
        all[i] = exprs[i];
    }
    for (size_t i = 0; i < domain->count; i++) {
        all[count + i] = domain_column(domain, i, at);
    }
    return all;
}

/* A projection that brings the columns of `node` to: those of `schema`, then the domain's. In the
 * node the domain's stand at `at`; what is behind them belongs to the schema. */
static LogicalNode *domain_last(const Domain *domain, LogicalNode *node, const Schema *schema,
                                size_t at)
{
    Arena *arena = domain->builder->arena;
    const Schema *wanted = with_domain(domain, schema);
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, wanted->field_count);
    for (size_t i = 0; i < wanted->field_count; i++) {
        size_t from = i < at ? i : i + domain->count;
        from = i < schema->field_count ? from : at + i - schema->field_count;
        columns[i] = expr_column(arena, &wanted->fields[i], from);
    }
    return node_project(arena, node, wanted->fields, columns, wanted->field_count);
}

/* The domain's columns of both sides of a join are equal, as grouping means it. */
static void join_on_domain(const Domain *domain, LogicalNode *join, size_t left_at, size_t right_at)
{
    Arena *arena = domain->builder->arena;
    size_t before = join->expression_count;
    size_t count = before + domain->count;
    bool *null_equal = arena_new_array(arena, bool, count);
    BoundExpr **right_keys = arena_new_array(arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        null_equal[i] = i >= before || join->null_equal[i];
        right_keys[i] =
            i < before ? join->right_keys[i] : domain_column(domain, i - before, right_at);
    }
    join->expressions = append_domain(domain, join->expressions, before, left_at);
    join->right_keys = right_keys;
    join->null_equal = null_equal;
    join->expression_count = count;
}

/* ------------------------------------------------------------ node by node --- */

static Error *push_leaf(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    LogicalNode *values = NULL;
    TRY(domain_node(domain, &values));
    *ret_node = node->kind == LOGICAL_ONE_ROW
                    ? values
                    : node_join(domain->builder->arena, JOIN_INNER, node, values, STR(""));
    return NULL;
}

/* Rows of expressions that refer outside: for each row of the domain. */
static Error *push_values(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    LogicalNode *values = NULL;
    TRY(domain_node(domain, &values));
    LogicalNode one_row = {.kind = LOGICAL_ONE_ROW,
                           .schema = schema_new(domain->builder->arena, NULL, 0)};
    LogicalNode expand = *node;
    expand.kind = LOGICAL_EXPAND;
    expand.child = &one_row;
    *ret_node = over_child(domain, &expand, values);
    return NULL;
}

/* Row by row, `row_count` rows of as many expressions as the node has columns. */
static void append_to_rows(const Domain *domain, LogicalNode *node, const Schema *before,
                           size_t row_count, size_t at)
{
    Arena *arena = domain->builder->arena;
    size_t width = before->field_count;
    size_t wide = width + domain->count;
    BoundExpr **all = arena_new_array(arena, BoundExpr *, row_count * wide);
    for (size_t row = 0; row < row_count; row++) {
        BoundExpr **cells = append_domain(domain, node->expressions + row * width, width, at);
        for (size_t i = 0; i < wide; i++) {
            all[row * wide + i] = cells[i];
        }
    }
    node->expressions = all;
    node->expression_count = row_count * wide;
    node->schema = with_domain(domain, before);
}

static Error *push_unary(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    LogicalNode *child = NULL;
    TRY(unnest_push(domain, node->child, &child));
    *ret_node = over_child(domain, node, child);
    (*ret_node)->schema = child->schema;
    return NULL;
}

static Error *push_rows(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    LogicalNode *result = NULL;
    if (node->kind == LOGICAL_VALUES) {
        TRY(push_values(domain, node, &result));
    } else {
        TRY(push_unary(domain, node, &result));
    }
    size_t at = node->kind == LOGICAL_VALUES ? 0 : node->child->schema->field_count;
    size_t row_count = node->kind == LOGICAL_PROJECT ? 1 : node->row_count;
    append_to_rows(domain, result, node->schema, row_count, at);
    *ret_node = result;
    return NULL;
}

/* WINDOW, GENERATE: the child's columns, then their own. */
static Error *push_adding(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    LogicalNode *result = NULL;
    TRY(push_unary(domain, node, &result));
    size_t width = node->child->schema->field_count;
    const Schema own = {.fields = node->schema->fields + width,
                        .field_count = node->schema->field_count - width};
    if (node->kind == LOGICAL_WINDOW) {
        result->expressions =
            append_domain(domain, result->expressions, node->expression_count, width);
        result->expression_count += domain->count;
    }
    result->schema = schema_concat(domain->builder->arena, result->child->schema, &own);
    *ret_node = domain_last(domain, result, node->schema, width);
    return NULL;
}

static Error *push_sort_or_limit(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    TRY(push_unary(domain, node, ret_node));
    if (node->kind != LOGICAL_LIMIT) {
        assert(node->limit < 0); /* top-N comes after this */
        return NULL;
    }
    Arena *arena = domain->builder->arena;
    LogicalNode *limit = *ret_node;
    BoundSortKey *keys = arena_new_array(arena, BoundSortKey, domain->count);
    for (size_t i = 0; i < domain->count; i++) {
        keys[i].expr = domain_column(domain, i, node->schema->field_count);
        keys[i].nulls_first = true;
    }
    LogicalNode *sort = arena_new_object(arena, LogicalNode);
    *sort = (LogicalNode){.kind = LOGICAL_SORT,
                          .schema = limit->schema,
                          .child = limit->child,
                          .sort_keys = keys,
                          .sort_key_count = domain->count,
                          .limit = -1,
                          .place = node->place};
    limit->child = sort;
    limit->expressions = append_domain(domain, limit->expressions, node->expression_count,
                                       node->schema->field_count);
    limit->expression_count += domain->count;
    return NULL;
}

/* Keys, then the domain's, then the aggregates. */
static Error *push_groups(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    LogicalNode *result = NULL;
    TRY(push_unary(domain, node, &result));
    Arena *arena = domain->builder->arena;
    size_t keys = node->expression_count;
    const Schema key_schema = {.fields = node->schema->fields, .field_count = keys};
    const Schema value_schema = {.fields = node->schema->fields + keys,
                                 .field_count = node->aggregate_count};
    result->expressions =
        append_domain(domain, result->expressions, keys, node->child->schema->field_count);
    result->expression_count += domain->count;
    result->schema = schema_concat(arena, with_domain(domain, &key_schema), &value_schema);
    *ret_node = domain_last(domain, result, node->schema, keys);
    return NULL;
}

/* Without keys there is a row for each value of the domain, also where it has no rows:
 *
 *     Project [CASE WHEN found THEN n ELSE n of no rows END, domain]
 *       Join INNER
 *         Join LEFT on the domain
 *           domain
 *           Project [n, domain, TRUE AS found] of the groups
 *         Aggregate [] over no rows                                                           */
static Error *push_total(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    Arena *arena = domain->builder->arena;
    LogicalNode *groups = NULL;
    LogicalNode *values = NULL;
    TRY(push_groups(domain, node, &groups));
    TRY(domain_node(domain, &values));
    size_t width = node->schema->field_count;
    const Field found = {.name = STR("found"), .type = &type_boolean};
    const Schema found_schema = {.fields = &found, .field_count = 1};
    const Schema *wide = schema_concat(arena, groups->schema, &found_schema);
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, wide->field_count);
    for (size_t i = 0; i < wide->field_count; i++) {
        columns[i] = i + 1 < wide->field_count ? expr_column(arena, &wide->fields[i], i)
                                               : expr_boolean(arena, true);
    }
    LogicalNode *marked = node_project(arena, groups, wide->fields, columns, wide->field_count);
    LogicalNode *join = node_join(arena, JOIN_LEFT, values, marked, STR(""));
    join_on_domain(domain, join, 0, width);
    join = node_join(arena, JOIN_INNER, join, unnest_values_of_none(arena, groups->child), STR(""));
    const Schema *schema = with_domain(domain, node->schema);
    size_t found_at = domain->count + wide->field_count - 1;
    BoundExpr *condition = expr_column(arena, &found, found_at);
    BoundExpr **exprs = arena_new_array(arena, BoundExpr *, schema->field_count);
    for (size_t i = 0; i < width; i++) {
        exprs[i] =
            expr_case(arena, condition, expr_column(arena, &schema->fields[i], domain->count + i),
                      expr_column(arena, &schema->fields[i], found_at + 1 + i));
    }
    for (size_t i = 0; i < domain->count; i++) {
        exprs[width + i] = domain_column(domain, i, 0);
    }
    *ret_node = node_project(arena, join, schema->fields, exprs, schema->field_count);
    return NULL;
}

/* ----------------------------------------------------------- two children --- */

static Error *push_set(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    LogicalNode *copy = node_copy(domain->builder->arena, node);
    TRY(unnest_push(domain, node->child, &copy->child));
    TRY(unnest_push(domain, node->right, &copy->right));
    copy->schema = copy->child->schema;
    *ret_node = copy;
    return NULL;
}

/* May the domain come in through that side alone? A row of the other that finds no partner must not
 * come out without values of the domain. */
static bool one_side_suffices(JoinKind kind, bool left)
{
    switch (kind) {
    case JOIN_INNER:
        return true;
    case JOIN_LEFT:
    case JOIN_SEMI:
    case JOIN_ANTI:
    case JOIN_NULL_ANTI:
    case JOIN_MARK:
    case JOIN_SINGLE:
        return left;
    case JOIN_RIGHT:
        return !left;
    case JOIN_FULL:
        return false;
    }
    return false;
}

typedef struct Sides {
    bool left; /* has the domain's columns */
    bool right;
} Sides;

static Sides sides_with_domain(const Domain *domain, const LogicalNode *node)
{
    Sides sides = {tree_has_outer(node->child), tree_has_outer(node->right)};
    if (domain->direct) {
        sides.left = sides.left || !sides.right;
        return sides;
    }
    if (node_has_outer(node) && (!sides.right || node->expression_count > 0)) {
        sides.left = true; /* keys are over one side */
    }
    bool one = sides.left != sides.right;
    if (!one || !one_side_suffices(node->join, sides.left)) {
        return (Sides){true, true};
    }
    return sides;
}

/* Where the domain's columns stand in the join, and what its own columns are. */
static LogicalNode *arrange_join(const Domain *domain, const LogicalNode *node, LogicalNode *join,
                                 Sides sides)
{
    Arena *arena = domain->builder->arena;
    size_t left_width = node->child->schema->field_count;
    size_t left_added = sides.left ? domain->count : 0;
    size_t count = node->schema->field_count;
    const Schema *schema = with_domain(domain, node->schema);
    bool from_right = !sides.left || node->join == JOIN_RIGHT;
    size_t at =
        from_right ? left_width + left_added + node->right->schema->field_count : left_width;
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, schema->field_count);
    for (size_t i = 0; i < count; i++) {
        size_t from = i < left_width ? i : i + left_added;
        columns[i] = expr_column(arena, &schema->fields[i], from);
    }
    for (size_t i = 0; i < domain->count; i++) {
        BoundExpr *column = domain_column(domain, i, at);
        if (node->join == JOIN_FULL) { /* of the side that is there */
            size_t right_at = left_width + left_added + node->right->schema->field_count;
            column = expr_coalesce(arena, column, domain_column(domain, i, right_at));
        }
        columns[count + i] = column;
    }
    return node_project(arena, join, schema->fields, columns, schema->field_count);
}

static Error *push_join(Domain *domain, LogicalNode *node, LogicalNode **ret_node)
{
    Arena *arena = domain->builder->arena;
    Sides sides = sides_with_domain(domain, node);
    size_t left_width = node->child->schema->field_count;
    LogicalNode *left = node->child;
    LogicalNode *right = node->right;
    if (sides.left) {
        TRY(unnest_push(domain, node->child, &left));
    }
    if (sides.right) {
        TRY(unnest_push(domain, node->right, &right));
    }
    size_t added = sides.left ? domain->count : 0;
    size_t domain_at = sides.left ? left_width : left_width + node->right->schema->field_count;
    Rewrite rewrite = {
        .domain = domain, .width = domain_at, .left_width = left_width, .left_added = added};
    LogicalNode *mapped = node_map_exprs(arena, node, rewrite_expr, &rewrite);
    Str mark = node->join == JOIN_MARK ? node->schema->fields[left_width].name : STR("");
    LogicalNode *join = node_join(arena, node->join, left, right, mark);
    join->expressions = mapped->expressions;
    join->right_keys = mapped->right_keys;
    join->null_equal = mapped->null_equal;
    join->expression_count = mapped->expression_count;
    join->condition = mapped->condition;
    join->place = node->place;
    if (sides.left && sides.right) {
        join_on_domain(domain, join, left_width, node->right->schema->field_count);
    }
    *ret_node = arrange_join(domain, node, join, sides);
    return NULL;
}

Error *unnest_push(Domain *domain, LogicalNode *tree, LogicalNode **ret_node)
{
    if (!tree_has_outer(tree)) {
        return push_leaf(domain, tree, ret_node);
    }
    switch (tree->kind) {
    case LOGICAL_SCAN:
    case LOGICAL_ONE_ROW:
    case LOGICAL_RANGE:
        return push_leaf(domain, tree, ret_node);
    case LOGICAL_PROJECT:
    case LOGICAL_EXPAND:
    case LOGICAL_VALUES:
        return push_rows(domain, tree, ret_node);
    case LOGICAL_FILTER:
    case LOGICAL_WATERMARK:
        return push_unary(domain, tree, ret_node);
    case LOGICAL_WINDOW:
    case LOGICAL_GENERATE:
        return push_adding(domain, tree, ret_node);
    case LOGICAL_AGGREGATE:
        return tree->expression_count > 0 ? push_groups(domain, tree, ret_node)
                                          : push_total(domain, tree, ret_node);
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
        return push_sort_or_limit(domain, tree, ret_node);
    case LOGICAL_SET:
        return push_set(domain, tree, ret_node);
    case LOGICAL_JOIN:
        return push_join(domain, tree, ret_node);
    }
    return NULL;
}
