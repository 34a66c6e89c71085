/* Flows: a query brought into its target's shape, and what REPLACE USING says of keys and sequence.
 *
 * BY NAME: each column of the target takes the query's column of that name, cast as an assignment
 * (ST-50), or NULL when the query has none (ST-51). So the flow's query is the user's with one more
 * projection on top:
 *
 *     target (a INT, b STRING, c DATE)    query gives (b STRING, a BIGINT)
 *     Project [CAST(a AS INT), b, NULL]
 */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

const char *flow_kind_name(FlowKind kind)
{
    switch (kind) {
    case FLOW_APPEND:
        return "append";
    case FLOW_REPLACE_USING:
        return "REPLACE USING";
    case FLOW_REPLACE_WHERE:
        return "REPLACE WHERE";
    case FLOW_AUTO_CDC:
        return "AUTO CDC";
    }
    return "";
}

/* ------------------------------------------------------ target's columns --- */

SourcePlace flow_output_place(const AstQuery *query, const BoundNode *node, size_t index)
{
    if (node->kind == BOUND_PROJECT) {
        return node->expressions[index]->place;
    }
    return query->place;
}

/* Rules for every column a table is to store. */
static Error *check_stored_column(const Field *field, SourcePlace place)
{
    if (str_equal_ignore_case(field->name, STR("_row"))) {
        return reserved_column(place);
    }
    if (field->type->kind == TYPE_NULL) {
        return error_set_hint(error_at(ERROR_SCHEMA_MISMATCH, place,
                                       "The column `%.*s` is NULL in every row and has no type.",
                                       STR_ARG(field->name)),
                              "give it one: CAST(NULL AS STRING)");
    }
    return NULL;
}

static bool check_output_names(Binder *binder, const AstQuery *query, const BoundNode *node)
{
    bool ok = true;
    for (size_t i = 0; i < node->schema->field_count; i++) {
        const Field *field = &node->schema->fields[i];
        if (schema_find(node->schema, field->name) < (int)i) {
            ok = binder_report(
                binder, error_at(ERROR_COLUMN_ALREADY_EXISTS, flow_output_place(query, node, i),
                                 "The column `%.*s` already exists. Choose another name or "
                                 "rename the existing column.",
                                 STR_ARG(field->name)));
        }
    }
    return ok;
}

/* A table without columns of its own takes those of the query. */
static const Schema *columns_of_query(Binder *binder, const AstQuery *query, const BoundNode *node)
{
    bool ok = true;
    Field *fields = arena_new_array(binder->arena, Field, node->schema->field_count);
    for (size_t i = 0; i < node->schema->field_count; i++) {
        fields[i] = node->schema->fields[i];
        fields[i].not_null = false;
        ok = binder_report(binder,
                           check_stored_column(&fields[i], flow_output_place(query, node, i))) &&
             ok;
    }
    return ok ? schema_new(binder->arena, fields, node->schema->field_count) : NULL;
}

static Error *extra_column(const FlowTarget *target, const Field *field, SourcePlace place)
{
    Error *error = error_at(ERROR_EXTRA_COLUMNS, place,
                            "Cannot write incompatible data for the table `%.*s`: Cannot write "
                            "extra columns `%.*s`.",
                            STR_ARG(target->table_name), STR_ARG(field->name));
    Str nearest = schema_nearest(target->columns, field->name);
    return nearest.data == NULL ? error_set_hint(error, "add the column to the table's column list")
                                : error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
}

static bool check_extra_columns(Binder *binder, const AstQuery *query, const BoundNode *node,
                                const FlowTarget *target)
{
    bool ok = true;
    for (size_t i = 0; i < node->schema->field_count; i++) {
        const Field *field = &node->schema->fields[i];
        if (schema_find(target->columns, field->name) < 0) { /* ST-50 */
            ok = binder_report(binder,
                               extra_column(target, field, flow_output_place(query, node, i)));
        }
    }
    return ok;
}

bool target_takes(const FlowTarget *target, const Type *type, const Field *column)
{
    return coerce_is_assignable(type, column->type) ||
           (target->casts_strings && type->kind == TYPE_STRING &&
            coerce_is_castable(type, column->type));
}

static Error *bind_stored_column(Binder *binder, const AstQuery *query, const BoundNode *node,
                                 const FlowTarget *target, const Field *column, BoundExpr **ret)
{
    int found = schema_find(node->schema, column->name);
    if (found < 0) {
        if (column->not_null) { /* ST-51 */
            return error_at(ERROR_CANNOT_FIND_DATA, query->place,
                            "Cannot write incompatible data for the table `%.*s`: Cannot find data "
                            "for the output column `%.*s`, which is NOT NULL.",
                            STR_ARG(target->table_name), STR_ARG(column->name));
        }
        *ret = bound_null(binder->arena, column->type, query->place);
        return NULL;
    }
    const Field *field = &node->schema->fields[found];
    SourcePlace place = flow_output_place(query, node, (size_t)found);
    if (!target_takes(target, field->type, column)) {
        return error_set_hint(
            error_at(ERROR_CANNOT_SAFELY_CAST, place,
                     "Cannot write incompatible data for the table `%.*s`: Cannot safely cast "
                     "`%.*s` \"%s\" to \"%s\".",
                     STR_ARG(target->table_name), STR_ARG(column->name),
                     type_text(binder->arena, field->type), type_text(binder->arena, column->type)),
            "write a CAST in the query");
    }
    BoundExpr *value = bound_column(binder->arena, field, (uint32_t)found, place);
    return bound_cast(binder, value, column->type, ret);
}

static bool is_same_shape(const Schema *output, const Schema *columns)
{
    if (output->field_count != columns->field_count) {
        return false;
    }
    for (size_t i = 0; i < columns->field_count; i++) {
        if (!str_equal(output->fields[i].name, columns->fields[i].name) ||
            !type_equal(output->fields[i].type, columns->fields[i].type)) {
            return false;
        }
    }
    return true;
}

static BoundNode *fit_to_target(Binder *binder, const AstQuery *query, BoundNode *node,
                                const FlowTarget *target)
{
    const Schema *columns = target->columns;
    bool ok = true;
    BoundExpr **values = arena_new_array(binder->arena, BoundExpr *, columns->field_count);
    for (size_t i = 0; i < columns->field_count; i++) {
        ok = binder_report(binder, bind_stored_column(binder, query, node, target,
                                                      &columns->fields[i], &values[i])) &&
             ok;
    }
    if (!ok) {
        return NULL;
    }
    if (is_same_shape(node->schema, columns)) {
        return node;
    }
    return bound_project(binder->arena, node, values, columns, query->place);
}

BoundNode *bind_flow_query(Binder *binder, const AstQuery *query, FlowTarget *target,
                           const Schema **ret_output)
{
    BoundNode *node = bind_query_node(binder, query);
    return node == NULL ? NULL : fit_by_name(binder, query, node, target, ret_output);
}

BoundNode *fit_by_name(Binder *binder, const AstQuery *query, BoundNode *node, FlowTarget *target,
                       const Schema **ret_output)
{
    if (!check_output_names(binder, query, node)) {
        return NULL;
    }
    *ret_output = node->schema;
    bool listed = target->columns != NULL;
    bool ok = !listed || check_extra_columns(binder, query, node, target);
    if (!listed) {
        target->columns = columns_of_query(binder, query, node);
    }
    if (target->columns == NULL) {
        return NULL;
    }
    const Schema *merged = merge_stored_columns(binder, query, node, target, listed);
    ok = ok && merged != NULL;
    target->columns = merged == NULL ? target->columns : merged;
    BoundNode *fitted = fit_to_target(binder, query, node, target);
    return ok ? fitted : NULL;
}

/* -------------------------------------------------------- REPLACE USING --- */

/* A key or sequence column: of the query's output, since the target is compared by what is stored
 * (RU-49). Gives its number in the target. */
static Error *find_stored_column(const FlowTarget *target, const Schema *output,
                                 const AstIdentifier *name, uint32_t *ret_column)
{
    int column = schema_find(target->columns, name->name);
    if (schema_find(output, name->name) < 0) {
        return schema_unresolved(output, name);
    }
    if (column < 0) {
        return schema_unresolved(target->columns, name);
    }
    *ret_column = (uint32_t)column;
    return NULL;
}

static bool bind_keys(Binder *binder, const AstFlow *flow, const FlowTarget *target,
                      const Schema *output, BoundFlow *ret_flow)
{
    bool ok = true;
    uint32_t *keys = arena_new_array(binder->arena, uint32_t, flow->using.item_count);
    for (size_t i = 0; i < flow->using.item_count; i++) {
        const AstIdentifier *name = &flow->using.items[i];
        if (!binder_report(binder, find_stored_column(target, output, name, &keys[i]))) {
            ok = false;
            continue;
        }
        const Type *type = target->columns->fields[keys[i]].type;
        if (!type_is_orderable(type)) { /* RU-14 */
            ok = binder_report(binder,
                               error_at(ERROR_KEY_TYPE_NOT_ORDERABLE, name->place,
                                        "The key column `%.*s` has the type \"%s\", whose values "
                                        "have no order.",
                                        STR_ARG(name->name), type_text(binder->arena, type)));
        }
    }
    ret_flow->keys = keys;
    ret_flow->key_count = flow->using.item_count;
    return ok;
}

/* RU-13 */
static bool check_keys_repeated(Binder *binder, const AstFlow *flow)
{
    bool ok = true;
    for (size_t i = 0; i < flow->using.item_count; i++) {
        const AstIdentifier *name = &flow->using.items[i];
        for (size_t k = 0; k < i; k++) {
            if (str_equal_ignore_case(flow->using.items[k].name, name->name)) {
                ok = binder_report(binder, error_at(ERROR_DUPLICATE_KEY_COLUMN, name->place,
                                                    "The key column `%.*s` is given twice.",
                                                    STR_ARG(name->name)));
                break;
            }
        }
    }
    return ok;
}

static bool bind_sequence(Binder *binder, const AstFlow *flow, const FlowTarget *target,
                          const Schema *output, BoundFlow *ret_flow)
{
    const AstIdentifier *name = &flow->sequence_by;
    if (!binder_report(binder, find_stored_column(target, output, name, &ret_flow->sequence))) {
        return false;
    }
    const Type *type = target->columns->fields[ret_flow->sequence].type;
    if (type_is_orderable(type)) {
        return true;
    }
    return binder_report(binder,
                         error_at(ERROR_DATATYPE_CANNOT_ORDER, name->place,
                                  "The SEQUENCE BY column `%.*s` has the type \"%s\", whose "
                                  "values have no order.",
                                  STR_ARG(name->name), type_text(binder->arena, type))); /* RU-12 */
}

bool bind_replace_using(Binder *binder, const AstFlow *flow, FlowTarget *target,
                        BoundFlow *ret_flow)
{
    assert(flow->kind == AST_FLOW_REPLACE_USING && flow->using.item_count > 0);
    bool ok = check_keys_repeated(binder, flow);
    ok = check_keys_kept(binder, flow, target) && ok;
    size_t before = binder->diagnostics->count;
    check_streaming_query(binder, flow->query, FLOW_REPLACE_USING);
    if (binder->diagnostics->count > before) {
        return false; /* what is told of the query would only repeat it */
    }
    const Schema *output = NULL;
    ret_flow->query = bind_flow_query(binder, flow->query, target, &output);
    if (output != NULL && target->columns != NULL) {
        ok = bind_keys(binder, flow, target, output, ret_flow) && ok;
        ok = bind_sequence(binder, flow, target, output, ret_flow) && ok;
    }
    return ok && ret_flow->query != NULL && check_key_types_kept(binder, flow, target);
}
