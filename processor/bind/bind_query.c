/* A query: its terms and set operations, what stands around them (WITH, ORDER BY, LIMIT), and the
 * first of its mistakes. */
#include <assert.h>
#include <inttypes.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

BoundNode *bound_node_new(Binder *binder, BoundNodeKind kind, const Schema *schema,
                          SourcePlace place)
{
    BoundNode *node = arena_new_object(binder->arena, BoundNode);
    node->kind = kind;
    node->schema = schema;
    node->place = place;
    return node;
}

BoundNode *bound_project(Arena *arena, BoundNode *child, BoundExpr **expressions,
                         const Schema *schema, SourcePlace place)
{
    BoundNode *node = arena_new_object(arena, BoundNode);
    *node = (BoundNode){.kind = BOUND_PROJECT,
                        .schema = schema,
                        .child = child,
                        .expressions = expressions,
                        .expression_count = schema->field_count,
                        .place = place};
    return node;
}

/* ---------------------------------------------------------------- query --- */

static BoundNode *bind_values_term(Binder *binder, const AstQueryTerm *term)
{
    FromResult result = {0};
    if (!binder_report(binder,
                       bind_values(binder, term->values, &term->values_alias, &result.node))) {
        return NULL;
    }
    const Schema *schema = result.node->schema;
    result.scope = scope_of_schema(binder->arena, schema, NULL, 0);
    if (!binder_report(binder, rename_columns(binder, &term->values_alias, term->place, &result))) {
        return NULL;
    }
    Field *fields = arena_new_array(binder->arena, Field, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        fields[i] = *result.scope.columns[i].field;
    }
    result.node->schema = schema_new(binder->arena, fields, schema->field_count);
    return result.node;
}

BoundNode *bind_term(Binder *binder, const AstQueryTerm *term)
{
    switch (term->kind) {
    case AST_TERM_SELECT:
        return bind_select(binder, term->select, NULL);
    case AST_TERM_VALUES:
        return bind_values_term(binder, term);
    case AST_TERM_QUERY:
        return bind_query_node(binder, term->query);
    case AST_TERM_SET:
        return bind_set(binder, term);
    }
    return NULL;
}

/* ---------------------------------------------------------------- LIMIT --- */

/* What LIMIT or OFFSET says: a constant INT, not negative. */
static Error *bind_row_count(Binder *binder, const BoundNode *node, const AstExpr *expr,
                             const char *clause, int64_t *ret_count)
{
    Str text = bound_text(binder, expr);
    Scope scope = scope_of_schema(binder->arena, node->schema, NULL, 0);
    ExprTraits traits;
    expr_traits(binder->context->functions, expr, &traits);
    if (traits.generator != NULL) {
        return generator_outside_select(binder, traits.generator, clause);
    }
    BoundExpr *bound = NULL;
    bool computed = traits.aggregate == NULL && traits.analytic == NULL && traits.subquery == NULL;
    if (computed) {
        TRY(bind_expr(binder, &scope, expr, &bound));
    }
    if (!computed || !bound_is_foldable(bound)) {
        return error_at(ERROR_LIMIT_IS_UNFOLDABLE, expr->place,
                        "The limit like expression \"%.*s\" is invalid. The %s expression must "
                        "evaluate to a constant value.",
                        STR_ARG(text), clause);
    }
    if (bound->type->kind != TYPE_INT) {
        return error_at(ERROR_LIMIT_DATA_TYPE, expr->place,
                        "The limit like expression \"%.*s\" is invalid. The %s expression must be "
                        "integer type, but got \"%s\".",
                        STR_ARG(text), clause, type_text(binder->arena, bound->type));
    }
    const Vector *value = NULL;
    TRY(bound_evaluate(binder, bound, &value));
    if (!vector_is_valid(value, 0)) {
        return error_at(ERROR_LIMIT_IS_NULL, expr->place,
                        "The limit like expression \"%.*s\" is invalid. The evaluated %s "
                        "expression must not be null.",
                        STR_ARG(text), clause);
    }
    int64_t count = vector_int_value(value, 0);
    if (count < 0) {
        return error_at(ERROR_LIMIT_IS_NEGATIVE, expr->place,
                        "The limit like expression \"%.*s\" is invalid. The %s expression must be "
                        "equal to or greater than 0, but got %" PRId64 ".",
                        STR_ARG(text), clause, count);
    }
    *ret_count = count;
    return NULL;
}

static Error *bind_limit(Binder *binder, const AstQuery *query, BoundNode **node)
{
    int64_t limit = -1;
    int64_t offset = 0;
    if (query->limit != NULL) {
        TRY(bind_row_count(binder, *node, query->limit, "limit", &limit));
    }
    if (query->offset != NULL) {
        TRY(bind_row_count(binder, *node, query->offset, "offset", &offset));
    }
    if (limit + offset > INT32_MAX) {
        return error_at(ERROR_SUM_OF_LIMIT_AND_OFFSET, query->limit_place,
                        "The sum of the LIMIT clause and the OFFSET clause must not be greater "
                        "than the maximum 32-bit integer value (2,147,483,647) but found limit = "
                        "%" PRId64 ", offset = %" PRId64 ".",
                        limit, offset);
    }
    if (query->limit == NULL && query->offset == NULL) {
        return NULL;
    }
    BoundNode *cut =
        bound_node_new(binder, BOUND_LIMIT, (*node)->schema,
                       query->limit != NULL ? query->limit_place : query->offset_place);
    cut->child = *node;
    cut->limit = limit;
    cut->offset = offset;
    *node = cut;
    return NULL;
}

/* ---------------------------------------------------------------- query --- */

/* The SELECT the query sorts: its body, in parentheses of its own or not. */
static const AstSelect *sorted_select(const AstQuery *query)
{
    const AstQueryTerm *term = query->body;
    while (term->kind == AST_TERM_QUERY && term->query->common_table_count == 0 &&
           !term->query->recursive && term->query->sort_kind == AST_SORT_NONE &&
           term->query->window_count == 0 && term->query->limit == NULL &&
           term->query->offset == NULL) {
        term = term->query->body;
    }
    return term->kind == AST_TERM_SELECT ? term->select : NULL;
}

/* Body and ORDER BY, then LIMIT. */
static BoundNode *bind_body(Binder *binder, const AstQuery *query)
{
    BoundNode *node = NULL;
    const AstSelect *select = sorted_select(query);
    if (select != NULL) {
        node = bind_select(binder, select, query);
    } else {
        node = bind_term(binder, query->body);
        node = node == NULL ? NULL : bind_order_by(binder, query, node);
    }
    if (node == NULL || !binder_report(binder, bind_limit(binder, query, &node))) {
        return NULL;
    }
    return node;
}

BoundNode *bind_query_node(Binder *binder, const AstQuery *query)
{
    if (query->recursive) {
        (void)binder_report(binder, error_at(ERROR_UNSUPPORTED_CLAUSE, query->recursive_place,
                                             "WITH RECURSIVE is not supported."));
        return NULL;
    }
    const CommonTable *around = binder->common_tables;
    BoundNode *node = bind_common_tables(binder, query) ? bind_body(binder, query) : NULL;
    binder->common_tables = around;
    return node;
}

Error *diagnostics_first(Diagnostics *diagnostics)
{
    diagnostics_sort(diagnostics);
    size_t first = 0;
    while (first + 1 < diagnostics->count &&
           error_class(diagnostics->errors[first]) == ERROR_NOT_YET) {
        first++;
    }
    if (error_class(diagnostics->errors[first]) == ERROR_NOT_YET) {
        first = 0;
    }
    return error_copy(diagnostics->errors[first]);
}

Error *bind_query(const BindContext *context, const AstQuery *query, BoundNode **ret_query)
{
    Diagnostics diagnostics = {0};
    Binder binder = {.context = context, .arena = context->arena, .diagnostics = &diagnostics};
    BoundNode *node = bind_query_node(&binder, query);
    uint32_t height = 0;
    uint32_t nodes = 0;
    if (node != NULL && diagnostics.count == 0) {
        (void)binder_report(&binder, query_size(node, &height, &nodes));
    }
    Error *error = diagnostics.count > 0 ? diagnostics_first(&diagnostics) : NULL;
    diagnostics_done(&diagnostics);
    assert(error != NULL || node != NULL);
    if (error == NULL) {
        *ret_query = node;
    }
    return error;
}
