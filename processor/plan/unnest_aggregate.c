/* A scalar subquery that aggregates the rows of which `outer = inner`, without grouping:
 *
 *     (SELECT count(*) + 1 FROM t WHERE t.k = outer(a) AND t.b > 1)
 *
 *     Project [left, CASE WHEN found THEN n ELSE n of no rows END + 1]
 *       Join INNER                                     one row: what the aggregates give for no
 * rows Join LEFT on a = k                           at most one match left Project [k, n, TRUE AS
 * found] Aggregate [k] [count(*) AS n] Filter (b > 1) Aggregate [] [count(*)] over no rows */
#include <assert.h>

#include "processor/plan/unnest.h"

#include "processor/base/banned.h"

/* The parts of a subquery of this form. */
typedef struct Form {
    LogicalNode *aggregate; /* below projections */
    LogicalNode *input;     /* what it aggregates, without the equalities */
    ExprList outer;         /* sides of the equalities: over the left */
    ExprList inner;         /* over `input` */
} Form;

static bool is_equality(const BoundExpr *expr)
{
    return expr->kind == BOUND_CALL && expr->child_count == 2 &&
           str_equal(str_from(expr->function->name), STR("="));
}

/* One side of outer columns only, the other without any. */
static bool add_equality(Arena *arena, Form *form, const BoundExpr *conjunct)
{
    if (!is_equality(conjunct)) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        BoundExpr *outer = conjunct->children[i];
        BoundExpr *inner = conjunct->children[1 - i];
        if (!expr_uses_columns(outer) && !expr_has_kind(inner, BOUND_OUTER_COLUMN) &&
            expr_uses_columns(inner) && expr_is_deterministic(conjunct)) {
            expr_list_add(arena, &form->outer, outer);
            expr_list_add(arena, &form->inner, inner);
            return true;
        }
    }
    return false;
}

static bool find_form(Arena *arena, LogicalNode *right, Form *form)
{
    LogicalNode *node = right;
    while (node->kind == LOGICAL_PROJECT) {
        if (node_has_outer(node)) {
            return false;
        }
        node = node->child;
    }
    if (node->kind != LOGICAL_AGGREGATE || node->expression_count > 0 || node_has_outer(node)) {
        return false;
    }
    form->aggregate = node;
    ExprList pulled = {0};
    form->input = unnest_pull(arena, node->child, &pulled);
    if (form->input == NULL) {
        return false;
    }
    for (size_t i = 0; i < pulled.count; i++) {
        if (!add_equality(arena, form, pulled.items[i])) {
            return false;
        }
    }
    return true;
}

/* The aggregates by the inner sides: keys, values, TRUE. */
static LogicalNode *grouped(Arena *arena, const Form *form)
{
    size_t key_count = form->inner.count;
    size_t value_count = form->aggregate->aggregate_count;
    size_t count = key_count + value_count + 1;
    Field *fields = arena_new_array(arena, Field, count);
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        if (i < key_count) {
            fields[i] = (Field){.name = STR("key"), .type = form->inner.items[i]->type};
        } else if (i < count - 1) {
            fields[i] = form->aggregate->schema->fields[i - key_count];
        } else {
            fields[i] = (Field){.name = STR("found"), .type = &type_boolean};
        }
        columns[i] = i < count - 1 ? expr_column(arena, &fields[i], i) : expr_boolean(arena, true);
    }
    LogicalNode *aggregate = node_copy(arena, form->aggregate);
    aggregate->child = form->input;
    aggregate->expressions = form->inner.items;
    aggregate->expression_count = key_count;
    aggregate->schema = schema_new(arena, fields, count - 1);
    return node_project(arena, aggregate, fields, columns, count);
}

LogicalNode *unnest_values_of_none(Arena *arena, const LogicalNode *aggregate)
{
    LogicalNode *none = node_copy(arena, aggregate);
    none->child = node_empty(arena, aggregate->child->schema);
    none->schema = schema_new(arena, aggregate->schema->fields + aggregate->expression_count,
                              aggregate->aggregate_count);
    none->expressions = NULL;
    none->expression_count = 0;
    return none;
}

static LogicalNode *join_groups(Arena *arena, const DependentJoin *join, const Form *form,
                                LogicalNode *groups)
{
    LogicalNode *both = node_join(arena, JOIN_LEFT, join->left, groups, STR(""));
    size_t count = form->inner.count;
    both->expressions = arena_new_array(arena, BoundExpr *, count);
    both->right_keys = arena_new_array(arena, BoundExpr *, count);
    both->null_equal = arena_new_array(arena, bool, count);
    both->expression_count = count;
    both->place = join->place;
    for (size_t i = 0; i < count; i++) {
        both->expressions[i] = unnest_over_join(arena, form->outer.items[i], join->left->schema);
        both->right_keys[i] = expr_column(arena, &groups->schema->fields[i], i);
    }
    return node_join(arena, JOIN_INNER, both, unnest_values_of_none(arena, form->aggregate),
                     STR(""));
}

/* The left's columns, then the aggregates': those of the group where one was found. */
static LogicalNode *choose_values(Arena *arena, const DependentJoin *join, const Form *form,
                                  LogicalNode *joined, size_t group_columns)
{
    size_t left_count = join->left->schema->field_count;
    size_t value_count = form->aggregate->aggregate_count;
    const Schema *schema = schema_concat(arena, join->left->schema, form->aggregate->schema);
    size_t found = left_count + group_columns - 1;
    BoundExpr *condition = expr_column(arena, &joined->schema->fields[found], found);
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        if (i < left_count) {
            columns[i] = expr_column(arena, &schema->fields[i], i);
            continue;
        }
        BoundExpr *then = expr_column(arena, &schema->fields[i], i + form->inner.count);
        BoundExpr *otherwise = expr_column(arena, &schema->fields[i], i + group_columns);
        columns[i] = expr_case(arena, condition, then, otherwise);
    }
    assert(schema->field_count == left_count + value_count);
    return node_project(arena, joined, schema->fields, columns, schema->field_count);
}

/* A projection that stood over the aggregate, beside the left's columns. */
static LogicalNode *project_beside(Arena *arena, const Schema *left, LogicalNode *child,
                                   const LogicalNode *project)
{
    const Schema *schema = schema_concat(arena, left, project->schema);
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        columns[i] = i < left->field_count
                         ? expr_column(arena, &schema->fields[i], i)
                         : expr_shift_columns(arena, project->expressions[i - left->field_count],
                                              (int64_t)left->field_count);
    }
    return node_project(arena, child, schema->fields, columns, schema->field_count);
}

static LogicalNode *project_all_beside(Arena *arena, const Schema *left, LogicalNode *child,
                                       const LogicalNode *project)
{
    if (project->kind != LOGICAL_PROJECT) {
        return child;
    }
    return project_beside(arena, left, project_all_beside(arena, left, child, project->child),
                          project);
}

LogicalNode *unnest_aggregate(Arena *arena, const DependentJoin *join)
{
    Form form = {0};
    if (!find_form(arena, join->right, &form)) {
        return NULL;
    }
    LogicalNode *groups = grouped(arena, &form);
    LogicalNode *joined = join_groups(arena, join, &form, groups);
    LogicalNode *values = choose_values(arena, join, &form, joined, groups->schema->field_count);
    return project_all_beside(arena, join->left->schema, values, join->right);
}
