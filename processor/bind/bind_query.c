/* A query: its terms and set operations, what stands around them (WITH, ORDER BY, LIMIT), and the
 * first of its mistakes. */
#include <assert.h>

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

static const char *set_operator_name(const AstSetStep *step)
{
    switch (step->operator_) {
    case AST_SET_UNION:
        return step->all ? "UNION ALL" : "UNION";
    case AST_SET_EXCEPT:
        return "EXCEPT";
    case AST_SET_INTERSECT:
        return "INTERSECT";
    }
    return "";
}

static BoundNode *bind_values_term(Binder *binder, const AstQueryTerm *term)
{
    FromResult result = {0};
    if (!binder_report(binder, bind_values(binder, term->values, &result.node))) {
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

static BoundNode *bind_term(Binder *binder, const AstQueryTerm *term)
{
    switch (term->kind) {
    case AST_TERM_SELECT:
        return bind_select(binder, term->select);
    case AST_TERM_VALUES:
        return bind_values_term(binder, term);
    case AST_TERM_QUERY:
        return bind_query_node(binder, term->query);
    case AST_TERM_SET:
        binder_report(binder, not_yet(term->steps[0].operator_place, "%s",
                                      set_operator_name(&term->steps[0])));
        (void)bind_term(binder, term->first);
        for (size_t i = 0; i < term->step_count; i++) {
            (void)bind_term(binder, term->steps[i].right);
        }
        return NULL;
    }
    return NULL;
}

static bool check_query_clauses(Binder *binder, const AstQuery *query)
{
    bool ok = true;
    if (query->recursive) {
        ok = binder_report(binder, error_at(ERROR_UNSUPPORTED_CLAUSE, query->recursive_place,
                                            "WITH RECURSIVE is not supported."));
    } else if (query->common_table_count > 0) {
        ok = binder_report(binder, not_yet(query->common_tables[0].name.place, "WITH"));
    }
    if (query->sort_kind != AST_SORT_NONE) {
        ok = binder_report(binder,
                           not_yet(query->sort_place, "%s",
                                   query->sort_kind == AST_SORT_SORT_BY ? "SORT BY" : "ORDER BY"));
    }
    if (query->window_count > 0) {
        ok = binder_report(binder, not_yet(query->windows[0].name.place, "WINDOW"));
    }
    if (query->limit != NULL) {
        ok = binder_report(binder, not_yet(query->limit_place, "LIMIT"));
    }
    if (query->offset != NULL) {
        ok = binder_report(binder, not_yet(query->offset_place, "OFFSET"));
    }
    return ok;
}

BoundNode *bind_query_node(Binder *binder, const AstQuery *query)
{
    bool ok = check_query_clauses(binder, query);
    if (query->common_table_count > 0) {
        return NULL; /* names of WITH are no relations yet */
    }
    BoundNode *node = bind_term(binder, query->body);
    return ok ? node : NULL;
}

/* The first mistake in reading order, one that is not NOT_YET before others. */
static Error *take_first(Diagnostics *diagnostics)
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
    Error *error = error_copy(diagnostics->errors[first]);
    return error;
}

Error *bind_query(const BindContext *context, const AstQuery *query, BoundNode **ret_query)
{
    Diagnostics diagnostics = {0};
    Binder binder = {.context = context, .arena = context->arena, .diagnostics = &diagnostics};
    BoundNode *node = bind_query_node(&binder, query);
    Error *error = diagnostics.count > 0 ? take_first(&diagnostics) : NULL;
    diagnostics_done(&diagnostics);
    assert(error != NULL || node != NULL);
    if (error == NULL) {
        *ret_query = node;
    }
    return error;
}
