/* Queries as values: (SELECT …), EXISTS (SELECT …), x IN (SELECT …). A subquery may name columns of
 * the query it stands in (one level out, as in Spark): names that its own relations do not have
 * become BOUND_OUTER_COLUMNs, and planning turns the whole into a join. */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

/* How a correlated subquery is shown: scalarsubquery(a). */
typedef struct SubqueryText {
    const AstExpr *expr;
    Str arguments; /* "a, b" */
    const struct SubqueryText *next;
} SubqueryText;

/* -------------------------------------------------------- outer columns --- */

Error *bind_outer_column(Binder *binder, const AstExpr *expr, BoundExpr **ret,
                         size_t *ret_used_parts)
{
    *ret = NULL;
    OuterQuery *outer = binder->outer;
    if (outer == NULL) {
        return NULL;
    }
    bool found = false;
    ScopeMatch match = {0};
    TRY(scope_find(outer->scope, &expr->column.name, &found, &match));
    if (!found) {
        return NULL;
    }
    BoundExpr *column = bound_column(binder->arena, match.field, match.column, expr->place);
    column->kind = BOUND_OUTER_COLUMN;
    column->text = bound_text(binder, expr);
    *arena_push(binder->arena, outer->names, outer->name_count, outer->name_capacity) =
        match.field->name;
    *ret = column;
    *ret_used_parts = match.used_parts;
    return NULL;
}

/* ----------------------------------------------------------------- size --- */

typedef struct Size {
    uint32_t height;
    uint64_t nodes;
} Size;

static void add_expression(Size *size, const BoundExpr *expr)
{
    if (expr != NULL) {
        size->height = expr->height > size->height ? expr->height : size->height;
        size->nodes += expr->node_count;
    }
}

static void add_sort_keys(Size *size, const BoundSortKey *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_expression(size, keys[i].expr);
    }
}

static void add_call(Size *size, const BoundAggregate *call)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        add_expression(size, call->arguments[i]);
    }
    add_expression(size, call->filter);
    add_sort_keys(size, call->sort_keys, call->sort_key_count);
}

/* Depth is bounded: beyond BOUND_HEIGHT_MAX, or BOUND_NODES_MAX in all, it goes no further. */
static Size measure(const BoundNode *node, uint32_t depth, uint64_t before)
{
    Size size = {.nodes = 1};
    if (node == NULL || depth > BOUND_HEIGHT_MAX || before > BOUND_NODES_MAX) {
        size.nodes = node == NULL ? 0 : BOUND_NODES_MAX + 1;
        return size;
    }
    for (size_t i = 0; i < node->expression_count; i++) {
        add_expression(&size, node->expressions[i]);
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        add_call(&size, &node->aggregates[i]);
    }
    for (size_t i = 0; i < node->window_count; i++) {
        add_call(&size, &node->windows[i].call);
    }
    add_sort_keys(&size, node->sort_keys, node->sort_key_count);
    const BoundNode *children[] = {node->child, node->right};
    for (size_t i = 0; i < ARRAY_LENGTH(children); i++) {
        Size child = measure(children[i], depth + 1, before + size.nodes);
        size.height = child.height > size.height ? child.height : size.height;
        size.nodes += child.nodes;
    }
    size.height++;
    return size;
}

Error *query_size(const BoundNode *query, uint32_t *ret_height, uint32_t *ret_nodes)
{
    Size size = measure(query, 1, 0);
    if (size.height > BOUND_HEIGHT_MAX || size.nodes > BOUND_NODES_MAX) {
        return error_set_hint(error_at(ERROR_STATEMENT_TOO_COMPLEX, query->place,
                                       "The query has more than %d levels or more than %d parts.",
                                       BOUND_HEIGHT_MAX, BOUND_NODES_MAX),
                              "split it over several tables");
    }
    *ret_height = size.height;
    *ret_nodes = (uint32_t)size.nodes;
    return NULL;
}

/* -------------------------------------------------------------- binding --- */

static const AstQuery *subquery_of(const AstExpr *expr)
{
    switch (expr->kind) {
    case AST_EXPR_SUBQUERY:
        return expr->subquery;
    case AST_EXPR_EXISTS:
        return expr->exists;
    default:
        assert(expr->kind == AST_EXPR_IN_QUERY);
        return expr->in_query.query;
    }
}

/* The query with `scope` around it. Its mistakes are its own: the first becomes the error. */
static Error *bind_inner(Binder *binder, const Scope *scope, const AstExpr *expr, OuterQuery *outer,
                         BoundNode **ret_node)
{
    Diagnostics diagnostics = {0};
    Binder saved = *binder;
    *outer = (OuterQuery){.scope = scope};
    binder->diagnostics = &diagnostics;
    binder->outer = outer;
    BoundNode *node = bind_query_node(binder, subquery_of(expr));
    binder->diagnostics = saved.diagnostics;
    binder->outer = saved.outer;
    Error *error = diagnostics.count > 0 ? diagnostics_first(&diagnostics) : NULL;
    diagnostics_done(&diagnostics);
    assert(error != NULL || node != NULL);
    *ret_node = node;
    return error;
}

/* For bind_output_name: what the subquery names of the query around. */
static void note_text(Binder *binder, const AstExpr *expr, const OuterQuery *outer)
{
    if (outer->name_count == 0) {
        return;
    }
    AUTO_BUFFER Buffer names = {0};
    for (size_t i = 0; i < outer->name_count; i++) {
        buffer_printf(&names, "%s%.*s", i == 0 ? "" : ", ", STR_ARG(outer->names[i]));
    }
    SubqueryText *text = arena_new_object(binder->arena, SubqueryText);
    *text = (SubqueryText){expr, arena_copy_str(binder->arena, buffer_str(&names)),
                           binder->subquery_texts};
    binder->subquery_texts = text;
}

Str subquery_arguments(const Binder *binder, const AstExpr *expr)
{
    for (const SubqueryText *at = binder->subquery_texts; at != NULL; at = at->next) {
        if (at->expr == expr) {
            return at->arguments;
        }
    }
    return STR("");
}

static Error *make_subquery(Binder *binder, const AstExpr *expr, SubqueryKind kind,
                            const OuterQuery *outer, BoundNode *query, const Type *type,
                            BoundExpr **operands, size_t operand_count, BoundExpr **ret)
{
    uint32_t height = 0;
    uint32_t nodes = 0;
    TRY(query_size(query, &height, &nodes));
    TRY(check_correlation(query));
    BoundSubquery *subquery = arena_new_object(binder->arena, BoundSubquery);
    *subquery = (BoundSubquery){kind, query, outer->name_count > 0};
    BoundExpr pattern = {.kind = BOUND_SUBQUERY,
                         .type = type,
                         .place = expr->place,
                         .text = bound_text(binder, expr),
                         .subquery = subquery};
    return bound_new_around(binder, &pattern, operands, operand_count, height, nodes, ret);
}

static Error *bind_scalar(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    OuterQuery outer;
    BoundNode *query = NULL;
    TRY(bind_inner(binder, scope, expr, &outer, &query));
    if (query->schema->field_count != 1) {
        return error_at(ERROR_SCALAR_SUBQUERY_COLUMNS, expr->place,
                        "Invalid subquery: Scalar subquery must return only one column, but got "
                        "%zu.",
                        query->schema->field_count);
    }
    note_text(binder, expr, &outer);
    return make_subquery(binder, expr, SUBQUERY_SCALAR, &outer, query,
                         query->schema->fields[0].type, NULL, 0, ret);
}

static Error *bind_exists(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    OuterQuery outer;
    BoundNode *query = NULL;
    TRY(bind_inner(binder, scope, expr, &outer, &query));
    note_text(binder, expr, &outer);
    return make_subquery(binder, expr, SUBQUERY_EXISTS, &outer, query, &type_boolean, NULL, 0, ret);
}

/* ------------------------------------------------------------------- IN --- */

/* (a, b) IN (SELECT c, d): a row is compared column by column. */
static Error *bind_operands(Binder *binder, const Scope *scope, const AstExpr *operand,
                            BoundExpr ***ret_operands, size_t *ret_count)
{
    size_t count = operand->kind == AST_EXPR_ROW      ? operand->row.item_count
                   : operand->kind == AST_EXPR_STRUCT ? operand->struct_.item_count
                                                      : 1;
    BoundExpr **operands = arena_new_array(binder->arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        const AstExpr *item = operand->kind == AST_EXPR_ROW      ? operand->row.items[i]
                              : operand->kind == AST_EXPR_STRUCT ? operand->struct_.items[i].expr
                                                                 : operand;
        TRY(bind_expr(binder, scope, item, &operands[i]));
    }
    *ret_operands = operands;
    *ret_count = count;
    return NULL;
}

static Error *length_mismatch(const AstExpr *expr, Str text, BoundExpr *const *operands,
                              size_t count, const Schema *schema)
{
    AUTO_BUFFER Buffer left = {0};
    AUTO_BUFFER Buffer right = {0};
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&left, "%s\"%.*s\"", i == 0 ? "" : ", ", STR_ARG(operands[i]->text));
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        buffer_printf(&right, "%s\"%.*s\"", i == 0 ? "" : ", ", STR_ARG(schema->fields[i].name));
    }
    return error_at(ERROR_IN_SUBQUERY_LENGTH_MISMATCH, expr->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The number of columns in "
                    "the left hand side of an IN subquery does not match the number of columns in "
                    "the output of subquery. Left hand side columns(length: %zu): [%s], right hand "
                    "side columns(length: %zu): [%s].",
                    STR_ARG(text), count, buffer_cstr(&left), schema->field_count,
                    buffer_cstr(&right));
}

static Error *type_mismatch(Binder *binder, const AstExpr *expr, Str text, const BoundExpr *operand,
                            const Field *field)
{
    return error_at(ERROR_IN_SUBQUERY_DATA_TYPE_MISMATCH, expr->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The data type of one or "
                    "more elements in the left hand side of an IN subquery is not compatible with "
                    "the data type of the output of the subquery. Mismatched columns: [(%.*s:%s, "
                    "`%.*s`:%s)].",
                    STR_ARG(text), STR_ARG(operand->text), type_text(binder->arena, operand->type),
                    STR_ARG(field->name), type_text(binder->arena, field->type));
}

/* Operands and columns of the query cast to their common types. */
static Error *coerce_in(Binder *binder, const AstExpr *expr, BoundExpr **operands, size_t count,
                        BoundNode **query)
{
    const Schema *schema = (*query)->schema;
    Str text = bound_text(binder, expr);
    if (schema->field_count != count) {
        return length_mismatch(expr, text, operands, count, schema);
    }
    bool changes = false;
    Field *fields = arena_new_array(binder->arena, Field, count);
    BoundExpr **columns = arena_new_array(binder->arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = schema->fields[i];
        const Type *type = coerce_common_type(binder->arena, operands[i]->type, fields[i].type);
        if (type == NULL) {
            return type_mismatch(binder, expr, text, operands[i], &schema->fields[i]);
        }
        if (!type_is_orderable(type) && type->kind != TYPE_NULL) {
            return error_at(ERROR_INVALID_ORDERING_TYPE, expr->place,
                            "Cannot resolve \"%.*s\" due to data type mismatch: The `insubquery` "
                            "does not support ordering on type \"%s\".",
                            STR_ARG(text), type_text(binder->arena, type));
        }
        columns[i] = bound_column(binder->arena, &schema->fields[i], (uint32_t)i, expr->place);
        changes = changes || !type_equal(type, fields[i].type);
        fields[i].type = type;
        TRY(bound_cast(binder, operands[i], type, &operands[i]));
        TRY(bound_cast(binder, columns[i], type, &columns[i]));
    }
    if (changes) {
        *query = bound_project(binder->arena, *query, columns,
                               schema_new(binder->arena, fields, count), expr->place);
    }
    return NULL;
}

static Error *bind_in(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    OuterQuery outer;
    BoundNode *query = NULL;
    BoundExpr **operands = NULL;
    size_t count = 0;
    TRY(bind_operands(binder, scope, expr->in_query.operand, &operands, &count));
    TRY(bind_inner(binder, scope, expr, &outer, &query));
    note_text(binder, expr, &outer);
    TRY(coerce_in(binder, expr, operands, count, &query));
    TRY(make_subquery(binder, expr, SUBQUERY_IN, &outer, query, &type_boolean, operands, count,
                      ret));
    if (expr->in_query.negated) {
        BoundExpr pattern = {.kind = BOUND_NOT, .type = &type_boolean, .place = expr->place};
        pattern.text = bound_text(binder, expr);
        return bound_new(binder, &pattern, ret, 1, ret);
    }
    return NULL;
}

Error *bind_subquery(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    if (binder->lambda != NULL) {
        return error_at(ERROR_SUBQUERY_IN_LAMBDA, expr->place,
                        "Unsupported subquery expression: Subquery expressions are not supported "
                        "within higher-order functions. Please remove all subquery expressions "
                        "from higher-order functions and then try the query again.");
    }
    if (binder->no_subqueries) {
        return not_yet(expr->place, "A subquery in an expression outside of a query");
    }
    switch (expr->kind) {
    case AST_EXPR_SUBQUERY:
        return bind_scalar(binder, scope, expr, ret);
    case AST_EXPR_EXISTS:
        return bind_exists(binder, scope, expr, ret);
    default:
        return bind_in(binder, scope, expr, ret);
    }
}

/* Bounded recursion: expressions have at most BOUND_HEIGHT_MAX levels. */
Error *check_no_correlated_scalar(const BoundExpr *expr)
{
    if (expr->kind == BOUND_SUBQUERY && expr->subquery->kind == SUBQUERY_SCALAR &&
        expr->subquery->correlated) {
        return error_at(ERROR_CORRELATED_SCALAR_SUBQUERY, expr->place,
                        "Unsupported subquery expression: Correlated scalar subqueries can only be "
                        "used in filters, aggregations, projections, and UPDATE/MERGE/DELETE "
                        "commands.");
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        TRY(check_no_correlated_scalar(expr->children[i]));
    }
    return NULL;
}

/* Bounded recursion, as above. */
static Error *check_no_in_exists(const BoundExpr *expr)
{
    if (expr->kind == BOUND_SUBQUERY && expr->subquery->kind != SUBQUERY_SCALAR) {
        return error_at(ERROR_IN_EXISTS_SUBQUERY, expr->place,
                        "Unsupported subquery expression: IN/EXISTS predicate subqueries can only "
                        "be used in filters, joins, aggregations, window functions, projections, "
                        "and UPDATE/MERGE/DELETE commands.");
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        TRY(check_no_in_exists(expr->children[i]));
    }
    return NULL;
}

Error *check_sort_subqueries(const BoundExpr *expr)
{
    TRY(check_no_in_exists(expr));
    return check_no_correlated_scalar(expr);
}
