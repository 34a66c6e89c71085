/* INSERT, DELETE, UPDATE. Queries and conditions are those of a batch: no STREAM in them. No
 * statement changes a table's columns (DM-3, ST-61). */
#include "processor/bind/dml.h"

#include "processor/base/banned.h"

/* ---------------------------------------------------------------- shared --- */

Error *target_scope(Binder *binder, const AstName *name, const AstTableAlias *alias,
                    const Relation *target, uint32_t first, Scope *ret_scope)
{
    ScopeQualifier qualifier = {.parts = {alias->name.name}, .part_count = 1};
    if (alias->columns.item_count > 0) {
        return error_at(ERROR_PARSE_SYNTAX_ERROR, alias->columns.items[0].place,
                        "Syntax error at or near '(': the target of a statement keeps the names of "
                        "its columns.");
    }
    if (alias->name.name.data == NULL) {
        Str parts[3];
        size_t count = ast_name_parts(name, parts, ARRAY_LENGTH(parts));
        qualifier.part_count = 3;
        catalog_qualify(binder->context->catalog, parts, count, qualifier.parts);
    }
    *ret_scope = scope_of_schema(binder->arena, target->schema, &qualifier, first);
    return NULL;
}

static Error *check_row_expression(Binder *binder, const AstExpr *expr)
{
    ExprTraits traits;
    expr_traits(binder->context->functions, expr, &traits);
    const AstExpr *wrong = traits.aggregate != NULL  ? traits.aggregate
                           : traits.analytic != NULL ? traits.analytic
                                                     : traits.generator;
    return wrong == NULL ? NULL
                         : error_at(ERROR_INVALID_WHERE_CONDITION, wrong->place,
                                    "\"%.*s\" stands for many rows; here each row is looked at by "
                                    "itself, without aggregate, window and generator functions.",
                                    STR_ARG(wrong->text));
}

Error *bind_row_condition(Binder *binder, const Scope *scope, const AstExpr *condition)
{
    BoundExpr *bound = NULL;
    if (condition == NULL) {
        return NULL;
    }
    TRY(check_row_expression(binder, condition));
    return bind_condition(binder, scope, condition, &bound);
}

Error *bind_row_value(Binder *binder, const Scope *scope, const AstExpr *value,
                      const Type **ret_type)
{
    BoundExpr *bound = NULL;
    TRY(check_row_expression(binder, value));
    TRY(bind_expr(binder, scope, value, &bound));
    *ret_type = bound->type;
    return NULL;
}

Error *check_assignable(Binder *binder, const Relation *target, const Field *column,
                        const Type *type, SourcePlace place)
{
    const FlowTarget shape = {.casts_strings = true};
    return target_takes(&shape, type, column)
               ? NULL
               : error_set_hint(error_at(ERROR_CANNOT_SAFELY_CAST, place,
                                         "Cannot write incompatible data for the table `%.*s`: "
                                         "Cannot safely cast `%.*s` \"%s\" to \"%s\".",
                                         STR_ARG(target->name), STR_ARG(column->name),
                                         type_text(binder->arena, type),
                                         type_text(binder->arena, column->type)),
                                "write a CAST");
}

Error *check_not_append_only(const Relation *target, SourcePlace place, const char *what)
{
    return target->append_only
               ? error_set_hint(error_at(ERROR_APPEND_ONLY_TABLE, place,
                                         "The table `%.*s` is append-only (delta.appendOnly = "
                                         "'true'): %s is not allowed.",
                                         STR_ARG(target->name), what),
                                "INSERT is")
               : NULL;
}

Error *check_value_count(const Relation *target, size_t columns, size_t values, SourcePlace place)
{
    if (columns == values) {
        return NULL;
    }
    bool few = values < columns;
    Error *error =
        error_at(few ? ERROR_INSERT_NOT_ENOUGH_COLUMNS : ERROR_INSERT_TOO_MANY_COLUMNS, place,
                 "Cannot write to `%.*s`, the reason is %s data columns: %zu for %zu columns.",
                 STR_ARG(target->name), few ? "not enough" : "too many", values, columns);
    return error_set_hint(error, "%s",
                          few ? "name the columns that get a value: INSERT INTO table (a, b) …"
                              : "a statement cannot add columns to a table");
}

/* ------------------------------------------------------- column lists --- */

static Error *unknown_insert_column(const Relation *target, const AstIdentifier *name)
{
    Error *error = error_at(ERROR_EXTRA_COLUMNS, name->place,
                            "Cannot write incompatible data for the table `%.*s`: Cannot write "
                            "extra columns `%.*s`.",
                            STR_ARG(target->name), STR_ARG(name->name));
    Str nearest = schema_nearest(target->schema, name->name);
    return nearest.data == NULL ? error_set_hint(error, "a statement cannot add columns to a table")
                                : error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
}

static bool lists_column(const AstIdentifierList *columns, size_t count, Str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal_ignore_case(columns->items[i].name, name)) {
            return true;
        }
    }
    return false;
}

static Error *cannot_find_data(const Relation *target, const Field *column, SourcePlace place)
{
    return error_at(ERROR_CANNOT_FIND_DATA, place,
                    "Cannot write incompatible data for the table `%.*s`: Cannot find data for "
                    "the output column `%.*s`, which is NOT NULL.",
                    STR_ARG(target->name), STR_ARG(column->name));
}

bool check_insert_columns(Binder *binder, const Relation *target, const AstIdentifierList *columns,
                          SourcePlace place)
{
    bool ok = true;
    for (size_t i = 0; i < columns->item_count; i++) {
        const AstIdentifier *name = &columns->items[i];
        if (schema_find(target->schema, name->name) < 0) { /* DM-3 */
            ok = binder_report(binder, unknown_insert_column(target, name));
        } else if (lists_column(columns, i, name->name)) {
            ok = binder_report(binder,
                               error_at(ERROR_COLUMN_ALREADY_EXISTS, name->place,
                                        "The column `%.*s` is given twice.", STR_ARG(name->name)));
        }
    }
    for (size_t i = 0; i < target->schema->field_count; i++) {
        const Field *field = &target->schema->fields[i];
        if (field->not_null && !lists_column(columns, columns->item_count, field->name)) {
            ok = binder_report(binder, cannot_find_data(target, field, place));
        }
    }
    return ok;
}

/* ---------------------------------------------------------------- INSERT --- */

/* By position, into all columns or those listed (DM-2). */
static void check_positions(Binder *binder, const AstInsert *insert, const Relation *target,
                            const BoundNode *node)
{
    size_t columns = insert->has_columns ? insert->columns.item_count : target->schema->field_count;
    if (insert->has_columns &&
        !check_insert_columns(binder, target, &insert->columns, insert->target.place)) {
        return;
    }
    if (!binder_report(binder, check_value_count(target, columns, node->schema->field_count,
                                                 insert->query->place))) {
        return;
    }
    for (size_t i = 0; i < columns; i++) {
        int column = insert->has_columns
                         ? schema_find(target->schema, insert->columns.items[i].name)
                         : (int)i;
        SourcePlace place =
            node->kind == BOUND_PROJECT ? node->expressions[i]->place : insert->query->place;
        binder_report(binder, check_assignable(binder, target, &target->schema->fields[column],
                                               node->schema->fields[i].type, place));
    }
}

void bind_insert(Binder *binder, const AstInsert *insert)
{
    const Relation *target = NULL;
    bool found = binder_report(binder, find_target(binder, &insert->target, "INSERT", &target));
    binder->batch_reader = "INSERT"; /* DM-1 */
    BoundNode *node = bind_query_node(binder, insert->query);
    if (!found || node == NULL) {
        return;
    }
    if (insert->by_name) {
        FlowTarget shape = {
            .table_name = target->name, .columns = target->schema, .casts_strings = true};
        const Schema *output = NULL;
        (void)fit_by_name(binder, insert->query, node, &shape, &output);
    } else {
        check_positions(binder, insert, target, node);
    }
}

/* -------------------------------------------------------- DELETE, UPDATE --- */

void bind_delete(Binder *binder, const AstDelete *delete_)
{
    const Relation *target = NULL;
    Scope scope = {0};
    binder->batch_reader = "DELETE";
    if (!binder_report(binder, find_target(binder, &delete_->target, "DELETE", &target)) ||
        !binder_report(
            binder, target_scope(binder, &delete_->target, &delete_->alias, target, 0, &scope))) {
        return;
    }
    binder_report(binder, check_not_append_only(target, delete_->target.place, "DELETE"));
    binder_report(binder, bind_row_condition(binder, &scope, delete_->where));
}

/* The column an assignment means; fields inside a column are not built. */
static Error *assigned_column(const Scope *targets, const AstName *name, const Field **ret_column)
{
    bool found = false;
    ScopeMatch match;
    TRY(scope_find(targets, name, &found, &match));
    if (!found) {
        return scope_unresolved(targets, name);
    }
    if (match.used_parts < name->part_count) {
        return not_yet(name->place, "An assignment to a field of a STRUCT");
    }
    *ret_column = match.field;
    return NULL;
}

void bind_assignments(Binder *binder, const Relation *target, const Scope *targets,
                      const Scope *scope, const AstAssignment *assignments, size_t count)
{
    const Field **columns = arena_new_array(binder->arena, const Field *, count);
    for (size_t i = 0; i < count; i++) {
        const AstAssignment *assignment = &assignments[i];
        const Type *type = NULL;
        bool known =
            binder_report(binder, assigned_column(targets, &assignment->column, &columns[i]));
        for (size_t k = 0; known && k < i; k++) {
            if (columns[k] == columns[i]) {
                binder_report(binder,
                              error_at(ERROR_COLUMN_ALREADY_EXISTS, assignment->column.place,
                                       "The column `%.*s` is assigned twice.",
                                       STR_ARG(assignment->column.text)));
                break;
            }
        }
        if (binder_report(binder, bind_row_value(binder, scope, assignment->value, &type)) &&
            known) {
            binder_report(binder, check_assignable(binder, target, columns[i], type,
                                                   assignment->value->place));
        }
    }
}

void bind_update(Binder *binder, const AstUpdate *update)
{
    const Relation *target = NULL;
    Scope scope = {0};
    binder->batch_reader = "UPDATE";
    if (!binder_report(binder, find_target(binder, &update->target, "UPDATE", &target)) ||
        !binder_report(binder,
                       target_scope(binder, &update->target, &update->alias, target, 0, &scope))) {
        return;
    }
    binder_report(binder, check_not_append_only(target, update->target.place, "UPDATE"));
    bind_assignments(binder, target, &scope, &scope, update->assignments, update->assignment_count);
    binder_report(binder, bind_row_condition(binder, &scope, update->where));
}
