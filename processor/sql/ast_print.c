/* Printing statements, but for the table specification and its flows (ast_print_table.c). */
#include "processor/sql/ast_print.h"

#include "processor/sql/ast_print_internal.h"
#include "processor/sql/lexer.h"
#include "processor/sql/token.h"

#include "processor/base/banned.h"

void print_condition(const char *words, const AstExpr *expr, Buffer *out)
{
    if (expr != NULL) {
        buffer_append_cstr(out, words);
        ast_print_expr(expr, out);
    }
}

void print_text(const char *words, const AstString *string, Buffer *out)
{
    if (string->value.data != NULL) {
        buffer_append_cstr(out, words);
        ast_print_string(string->value, out);
    }
}

/* ---------------------------------------------------------------------- DML --- */

static void print_insert(const AstInsert *insert, Buffer *out)
{
    buffer_append_cstr(out, "INSERT INTO ");
    ast_print_name(&insert->target, out);
    if (insert->by_name) {
        buffer_append_cstr(out, " BY NAME");
    } else if (insert->has_columns) {
        buffer_append_byte(out, ' ');
        print_columns(&insert->columns, out);
    }
    buffer_append_byte(out, ' ');
    ast_print_query(insert->query, out);
}

static void print_delete(const AstDelete *delete_, Buffer *out)
{
    buffer_append_cstr(out, "DELETE FROM ");
    ast_print_name(&delete_->target, out);
    print_table_alias(&delete_->alias, out);
    print_condition(" WHERE ", delete_->where, out);
}

static void print_assignments(const AstAssignment *items, size_t count, Buffer *out)
{
    buffer_append_cstr(out, " SET ");
    for (size_t i = 0; i < count; i++) {
        print_list_separator(out, i);
        ast_print_name(&items[i].column, out);
        buffer_append_cstr(out, " = ");
        ast_print_expr(items[i].value, out);
    }
}

static void print_update(const AstUpdate *update, Buffer *out)
{
    buffer_append_cstr(out, "UPDATE ");
    ast_print_name(&update->target, out);
    print_table_alias(&update->alias, out);
    print_assignments(update->assignments, update->assignment_count, out);
    print_condition(" WHERE ", update->where, out);
}

static void print_merge_branch(const AstMergeBranch *branch, Buffer *out)
{
    bool insert = branch->action == AST_MERGE_INSERT;
    buffer_append_cstr(out, insert ? " WHEN NOT MATCHED" : " WHEN MATCHED");
    print_condition(" AND ", branch->condition, out);
    switch (branch->action) {
    case AST_MERGE_DELETE:
        buffer_append_cstr(out, " THEN DELETE");
        return;
    case AST_MERGE_UPDATE:
        buffer_append_cstr(out, " THEN UPDATE");
        print_assignments(branch->assignments, branch->assignment_count, out);
        return;
    case AST_MERGE_INSERT:
        buffer_append_cstr(out, " THEN INSERT ");
        print_columns(&branch->columns, out);
        buffer_append_cstr(out, " VALUES (");
        print_exprs(branch->values, branch->value_count, out);
        buffer_append_byte(out, ')');
        return;
    }
}

static void print_merge(const AstMerge *merge, Buffer *out)
{
    buffer_append_cstr(out, "MERGE INTO ");
    ast_print_name(&merge->target, out);
    print_table_alias(&merge->alias, out);
    buffer_append_cstr(out, " USING ");
    print_relation(merge->source, out);
    print_condition(" ON ", merge->on, out);
    for (size_t i = 0; i < merge->branch_count; i++) {
        print_merge_branch(&merge->branches[i], out);
    }
}

/* ------------------------------------------------------------------ catalog --- */

static void print_refresh(const AstRefresh *refresh, Buffer *out)
{
    static const char *const modes[] = {[AST_REFRESH_DEFAULT] = "",
                                        [AST_REFRESH_FULL] = " FULL",
                                        [AST_REFRESH_SYNC] = " SYNC",
                                        [AST_REFRESH_ASYNC] = " ASYNC"};
    buffer_append_cstr(out, refresh->streaming ? "REFRESH STREAMING TABLE " : "REFRESH TABLE ");
    ast_print_name(&refresh->name, out);
    buffer_append_cstr(out, modes[refresh->mode]);
}

static void print_alter_action(const AstAlter *alter, Buffer *out)
{
    switch (alter->kind) {
    case AST_ALTER_ADD_SCHEDULE:
        buffer_append_cstr(out, " ADD ");
        ast_print_schedule(alter->schedule, out);
        return;
    case AST_ALTER_ALTER_SCHEDULE:
        buffer_append_cstr(out, " ALTER ");
        ast_print_schedule(alter->schedule, out);
        return;
    case AST_ALTER_DROP_SCHEDULE:
        buffer_append_cstr(out, " DROP SCHEDULE");
        return;
    case AST_ALTER_SET_PROPERTIES:
        buffer_append_cstr(out, " SET TBLPROPERTIES ");
        print_properties(alter->properties, alter->property_count, out);
        return;
    case AST_ALTER_SET_ROW_FILTER:
        buffer_append_cstr(out, " SET ROW FILTER ");
        ast_print_name(&alter->routine.function, out);
        buffer_append_cstr(out, " ON ");
        print_routine_arguments(&alter->routine, out);
        return;
    case AST_ALTER_DROP_ROW_FILTER:
        buffer_append_cstr(out, " DROP ROW FILTER");
        return;
    case AST_ALTER_SET_MASK:
        buffer_append_cstr(out, " ALTER COLUMN ");
        ast_print_identifier(&alter->column, out);
        buffer_append_cstr(out, " SET ");
        print_mask(&alter->routine, out);
        return;
    case AST_ALTER_DROP_MASK:
        buffer_append_cstr(out, " ALTER COLUMN ");
        ast_print_identifier(&alter->column, out);
        buffer_append_cstr(out, " DROP MASK");
        return;
    case AST_ALTER_RENAME:
        buffer_append_cstr(out, " RENAME TO ");
        ast_print_name(&alter->new_name, out);
        return;
    case AST_ALTER_OWNER:
        buffer_append_cstr(out, " SET OWNER TO ");
        ast_print_identifier(&alter->owner, out);
        return;
    }
}

static void print_alter(const AstAlter *alter, Buffer *out)
{
    buffer_append_cstr(out, "ALTER STREAMING TABLE ");
    ast_print_name(&alter->name, out);
    print_alter_action(alter, out);
}

static void print_describe(const AstDescribe *describe, Buffer *out)
{
    switch (describe->kind) {
    case AST_DESCRIBE_QUERY:
        buffer_append_cstr(out, "DESCRIBE QUERY ");
        ast_print_query(describe->query, out);
        return;
    case AST_DESCRIBE_FUNCTION:
        buffer_append_cstr(out, "DESCRIBE FUNCTION ");
        break;
    case AST_DESCRIBE_TABLE:
        buffer_append_cstr(out, "DESCRIBE TABLE ");
        break;
    }
    buffer_append_cstr(out, describe->extended ? "EXTENDED " : "");
    buffer_append_cstr(out, describe->formatted ? "FORMATTED " : "");
    ast_print_name(&describe->name, out);
    if (describe->column.part_count > 0) {
        buffer_append_byte(out, ' ');
        ast_print_name(&describe->column, out);
    }
    buffer_append_cstr(out, describe->as_json ? " AS JSON" : "");
}

static void print_show(const AstShow *show, Buffer *out)
{
    static const char *const kinds[] = {[AST_SHOW_TABLES] = "TABLES",
                                        [AST_SHOW_VIEWS] = "VIEWS",
                                        [AST_SHOW_COLUMNS] = "COLUMNS",
                                        [AST_SHOW_FUNCTIONS] = "FUNCTIONS"};
    static const char *const scopes[] = {[AST_FUNCTIONS_DEFAULT] = "",
                                         [AST_FUNCTIONS_USER] = "USER ",
                                         [AST_FUNCTIONS_SYSTEM] = "SYSTEM ",
                                         [AST_FUNCTIONS_ALL] = "ALL "};
    buffer_printf(out, "SHOW %s%s", scopes[show->scope], kinds[show->kind]);
    if (show->table.part_count > 0) {
        buffer_append_cstr(out, " IN ");
        ast_print_name(&show->table, out);
    }
    if (show->schema.part_count > 0) {
        buffer_append_cstr(out, " IN ");
        ast_print_name(&show->schema, out);
    }
    print_text(" LIKE ", &show->pattern, out);
    if (show->function.part_count > 0) {
        buffer_append_cstr(out, " LIKE ");
        ast_print_name(&show->function, out);
    }
}

static void print_explain(const AstExplain *explain, Buffer *out)
{
    static const char *const modes[] = {[AST_EXPLAIN_DEFAULT] = "EXPLAIN ",
                                        [AST_EXPLAIN_EXTENDED] = "EXPLAIN EXTENDED ",
                                        [AST_EXPLAIN_FORMATTED] = "EXPLAIN FORMATTED ",
                                        [AST_EXPLAIN_COST] = "EXPLAIN COST "};
    buffer_append_cstr(out, modes[explain->mode]);
    ast_print_statement(explain->statement, out);
}

static void print_drop(const char *words, const AstDrop *drop, Buffer *out)
{
    buffer_printf(out, "DROP %s%s%s", drop->temporary ? "TEMPORARY " : "",
                  drop->streaming ? "STREAMING " : "", words);
    buffer_append_cstr(out, drop->if_exists ? " IF EXISTS " : " ");
    ast_print_name(&drop->name, out);
}

/* The text reads back as words with dots between, the first none of the reserved ones. */
static bool is_dotted_words(Str text)
{
    Str rest = text;
    Str first = str_cut(&rest, '.');
    bool words = lexer_is_word(first) && (keyword_flags(keyword_find(first)) & WORD_RESERVED) == 0;
    while (words && rest.data != NULL) {
        words = lexer_is_word(str_cut(&rest, '.'));
    }
    return words;
}

/* A setting's name: a.b.c, or the whole in backquotes, which is the same text. */
static void print_dotted(Str text, Buffer *out)
{
    AstIdentifier name = {.name = text, .quoted = true};
    if (is_dotted_words(text)) {
        buffer_append_str(out, text);
    } else {
        ast_print_identifier(&name, out);
    }
}

static void print_setting_value(const AstSet *set, Buffer *out)
{
    switch (set->value_kind) {
    case AST_SET_STRING:
        ast_print_string(set->value, out);
        return;
    case AST_SET_TRUE:
        buffer_append_cstr(out, "TRUE");
        return;
    case AST_SET_FALSE:
        buffer_append_cstr(out, "FALSE");
        return;
    case AST_SET_NUMBER:
        buffer_append_str(out, set->value);
        return;
    case AST_SET_WORD:
        print_dotted(set->value, out);
        return;
    }
}

static void print_set(const AstSet *set, Buffer *out)
{
    if (!set->time_zone) {
        buffer_append_cstr(out, "SET ");
        print_dotted(set->name, out);
        buffer_append_cstr(out, " = ");
        print_setting_value(set, out);
        return;
    }
    buffer_append_cstr(out, set->zone_local ? "SET TIME ZONE LOCAL" : "SET TIME ZONE");
    print_text(" ", &set->zone, out);
    if (set->zone_interval != NULL) {
        buffer_append_byte(out, ' ');
        print_interval(set->zone_interval, out);
    }
}

/* ---------------------------------------------------------- views, functions --- */

static void print_create_view(const AstCreateView *create, Buffer *out)
{
    buffer_printf(out, "CREATE %s%sVIEW %s", create->or_replace ? "OR REPLACE " : "",
                  create->temporary ? "TEMPORARY " : "",
                  create->if_not_exists ? "IF NOT EXISTS " : "");
    ast_print_name(&create->name, out);
    for (size_t i = 0; i < create->column_count; i++) {
        buffer_append_cstr(out, i == 0 ? " (" : ", ");
        ast_print_identifier(&create->columns[i].name, out);
        print_text(" COMMENT ", &create->columns[i].comment, out);
    }
    buffer_append_cstr(out, create->column_count > 0 ? ")" : "");
    print_table_clauses(create->clauses, create->clause_count, out);
    buffer_append_cstr(out, " AS ");
    ast_print_query(create->query, out);
}

static void print_parameter(const AstParameter *parameter, Buffer *out)
{
    ast_print_identifier(&parameter->name, out);
    buffer_append_byte(out, ' ');
    ast_print_data_type(parameter->type, out);
    print_condition(" DEFAULT ", parameter->default_, out);
    print_text(" COMMENT ", &parameter->comment, out);
}

static void print_function_option(const AstFunctionOption *option, Buffer *out)
{
    switch (option->kind) {
    case AST_FUNCTION_COMMENT:
        print_text(" COMMENT ", &option->comment, out);
        return;
    case AST_FUNCTION_LANGUAGE_SQL:
        buffer_append_cstr(out, " LANGUAGE SQL");
        return;
    case AST_FUNCTION_DETERMINISTIC:
        buffer_append_cstr(out, " DETERMINISTIC");
        return;
    case AST_FUNCTION_NOT_DETERMINISTIC:
        buffer_append_cstr(out, " NOT DETERMINISTIC");
        return;
    }
}

static void print_create_function(const AstCreateFunction *create, Buffer *out)
{
    buffer_printf(out, "CREATE %s%sFUNCTION %s", create->or_replace ? "OR REPLACE " : "",
                  create->temporary ? "TEMPORARY " : "",
                  create->if_not_exists ? "IF NOT EXISTS " : "");
    ast_print_name(&create->name, out);
    buffer_append_byte(out, '(');
    for (size_t i = 0; i < create->parameter_count; i++) {
        print_list_separator(out, i);
        print_parameter(&create->parameters[i], out);
    }
    buffer_append_byte(out, ')');
    if (create->returns != NULL) {
        buffer_append_cstr(out, " RETURNS ");
        ast_print_data_type(create->returns, out);
    }
    for (size_t i = 0; i < create->option_count; i++) {
        print_function_option(&create->options[i], out);
    }
    buffer_append_cstr(out, " RETURN ");
    if (create->query != NULL) {
        ast_print_query(create->query, out);
    } else {
        ast_print_expr(create->expr, out);
    }
}

void ast_print_statement(const AstStatement *statement, Buffer *out)
{
    switch (statement->kind) {
    case AST_STATEMENT_CREATE_STREAMING_TABLE:
        print_create_streaming_table(&statement->create_streaming_table, out);
        return;
    case AST_STATEMENT_CREATE_FLOW:
        print_create_flow(&statement->create_flow, out);
        return;
    case AST_STATEMENT_INSERT:
        print_insert(&statement->insert, out);
        return;
    case AST_STATEMENT_REFRESH:
        print_refresh(&statement->refresh, out);
        return;
    case AST_STATEMENT_ALTER:
        print_alter(&statement->alter, out);
        return;
    case AST_STATEMENT_DESCRIBE:
        print_describe(&statement->describe, out);
        return;
    case AST_STATEMENT_SHOW:
        print_show(&statement->show, out);
        return;
    case AST_STATEMENT_EXPLAIN:
        print_explain(&statement->explain, out);
        return;
    case AST_STATEMENT_QUERY:
        ast_print_query(statement->query, out);
        return;
    case AST_STATEMENT_DELETE:
        print_delete(&statement->delete_, out);
        return;
    case AST_STATEMENT_UPDATE:
        print_update(&statement->update, out);
        return;
    case AST_STATEMENT_MERGE:
        print_merge(&statement->merge, out);
        return;
    case AST_STATEMENT_DROP_TABLE:
        print_drop("TABLE", &statement->drop, out);
        return;
    case AST_STATEMENT_CREATE_VIEW:
        print_create_view(&statement->create_view, out);
        return;
    case AST_STATEMENT_DROP_VIEW:
        print_drop("VIEW", &statement->drop, out);
        return;
    case AST_STATEMENT_CREATE_FUNCTION:
        print_create_function(&statement->create_function, out);
        return;
    case AST_STATEMENT_DROP_FUNCTION:
        print_drop("FUNCTION", &statement->drop, out);
        return;
    case AST_STATEMENT_SET:
        print_set(&statement->set, out);
        return;
    case AST_STATEMENT_UNSUPPORTED:
        buffer_append_str(out, statement->text);
        return;
    }
}
