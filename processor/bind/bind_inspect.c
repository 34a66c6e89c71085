/* DESCRIBE and SHOW: is there what they ask for (SQ-47, ST-69)? */
#include "processor/bind/routine.h"
#include "processor/bind/statement.h"
#include "processor/bind/view.h"

#include "processor/base/banned.h"

/* -------------------------------------------------------------- DESCRIBE --- */

/* The column, or a field inside it. */
static Error *check_column(Binder *binder, const Schema *schema, const AstName *column)
{
    Scope scope = scope_of_schema(binder->arena, schema, NULL, 0);
    bool found = false;
    ScopeMatch match;
    TRY(scope_find(&scope, column, &found, &match));
    return found ? NULL : scope_unresolved(&scope, column);
}

static Error *check_json(const AstDescribe *describe)
{
    if (!describe->as_json) {
        return NULL;
    }
    if (describe->column.part_count > 0) {
        return error_at(ERROR_DESCRIBE_COLUMN_JSON, describe->column.place,
                        "The feature is not supported: DESC TABLE COLUMN AS JSON of one column.");
    }
    return describe->extended || describe->formatted
               ? NULL
               : error_set_hint(error_at(ERROR_DESCRIBE_JSON_NOT_EXTENDED, describe->name.place,
                                         "DESCRIBE TABLE … AS JSON needs EXTENDED."),
                                "write DESCRIBE TABLE EXTENDED %.*s AS JSON",
                                STR_ARG(describe->name.text));
}

static void describe_table(Binder *binder, const AstDescribe *describe)
{
    binder_report(binder, check_json(describe));
    const Schema *schema = NULL;
    if (binder_report(binder, binder_find_columns(binder, &describe->name, &schema)) &&
        describe->column.part_count > 0 && schema != NULL) {
        binder_report(binder, check_column(binder, schema, &describe->column));
    }
}

void bind_describe(Binder *binder, const AstDescribe *describe)
{
    switch (describe->kind) {
    case AST_DESCRIBE_TABLE:
        describe_table(binder, describe);
        return;
    case AST_DESCRIBE_QUERY:
        (void)bind_query_node(binder, describe->query);
        return;
    case AST_DESCRIBE_FUNCTION:
        binder_report(binder, check_function_exists(binder, &describe->name));
        return;
    }
}

/* ------------------------------------------------------------------ SHOW --- */

/* SHOW COLUMNS IN t IN s: the table of schema s. */
static Error *qualified_name(Binder *binder, const AstShow *show, AstName *ret_name)
{
    const AstName *table = &show->table;
    const AstName *schema = &show->schema;
    *ret_name = *table;
    if (schema->part_count == 0) {
        return NULL;
    }
    const AstIdentifier *last = &schema->parts[schema->part_count - 1];
    if (table->part_count > 1 &&
        !str_equal_ignore_case(table->parts[table->part_count - 2].name, last->name)) {
        return error_at(ERROR_SHOW_COLUMNS_CONFLICT, schema->place,
                        "SHOW COLUMNS with conflicting namespaces: `%.*s` and `%.*s`.",
                        STR_ARG(table->text), STR_ARG(schema->text));
    }
    ret_name->part_count = schema->part_count + 1;
    ret_name->parts = arena_new_array(binder->arena, AstIdentifier, ret_name->part_count);
    for (size_t i = 0; i < schema->part_count; i++) {
        ret_name->parts[i] = schema->parts[i];
    }
    ret_name->parts[schema->part_count] = table->parts[table->part_count - 1];
    return NULL;
}

void bind_show(Binder *binder, const AstShow *show)
{
    AstName name;
    const Schema *schema = NULL;
    switch (show->kind) {
    case AST_SHOW_COLUMNS:
        if (binder_report(binder, qualified_name(binder, show, &name))) {
            binder_report(binder, binder_find_columns(binder, &name, &schema));
        }
        return;
    case AST_SHOW_TABLES: /* what does not exist is an empty list */
    case AST_SHOW_VIEWS:
    case AST_SHOW_FUNCTIONS:
        return;
    }
}
