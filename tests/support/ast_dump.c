/* Dump of statements. */
#include "tests/support/ast_dump.h"

#include "tests/support/ast_dump_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------ table specification --- */

static void dump_routine(const char *field, const AstRoutine *routine, Buffer *out)
{
    dump_name(field, &routine->function, out);
    dump_number("arguments", (int64_t)routine->argument_count, out);
    for (size_t i = 0; i < routine->argument_count; i++) {
        dump_identifier("column", &routine->arguments[i].column, out);
        dump_expr("literal", routine->arguments[i].literal, out);
    }
}

static void dump_constraint(const AstConstraint *constraint, Buffer *out)
{
    dump_open("constraint", out);
    dump_number("kind", constraint->kind, out);
    dump_identifier("name", &constraint->name, out);
    dump_list("columns", &constraint->columns, out);
    dump_name("references", &constraint->references, out);
    dump_list("referenced", &constraint->referenced_columns, out);
    dump_flag("not_enforced", constraint->not_enforced, out);
    dump_flag("rely", constraint->rely, out);
    dump_flag("norely", constraint->norely, out);
    dump_close(out);
}

static void dump_column(const AstColumnDefinition *column, Buffer *out)
{
    dump_open("column", out);
    dump_identifier("name", &column->name, out);
    dump_type("type", column->type, out);
    for (size_t i = 0; i < column->property_count; i++) {
        const AstColumnProperty *property = &column->properties[i];
        buffer_printf(out, " property=%d", (int)property->kind);
        dump_text("comment", property->comment.value, out);
        if (property->constraint != NULL) {
            dump_constraint(property->constraint, out);
        }
        dump_routine("mask", &property->mask, out);
        dump_expr("expr", property->expr, out);
    }
    dump_close(out);
}

static void dump_properties(const AstProperty *items, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        dump_text("key", items[i].key, out);
        dump_text("value", items[i].value, out);
    }
}

static void dump_schedule(const AstSchedule *schedule, Buffer *out)
{
    if (schedule == NULL) {
        return;
    }
    dump_open("schedule", out);
    dump_number("kind", schedule->kind, out);
    dump_number("every", schedule->every.value, out);
    dump_number("unit", schedule->every_unit, out);
    dump_text("cron", schedule->cron.value, out);
    dump_text("zone", schedule->time_zone.value, out);
    dump_flag("local", schedule->time_zone_local, out);
    dump_interval("at_most_every", schedule->at_most_every, out);
    dump_close(out);
}

static void dump_clauses(const AstTableClause *items, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        const AstTableClause *clause = &items[i];
        dump_open("clause", out);
        dump_number("kind", clause->kind, out);
        dump_list("columns", &clause->columns, out);
        dump_flag("auto", clause->cluster_auto, out);
        dump_text("string", clause->string.value, out);
        dump_identifier("identifier", &clause->identifier, out);
        dump_properties(clause->properties, clause->property_count, out);
        dump_schedule(clause->schedule, out);
        dump_routine("row_filter", &clause->row_filter, out);
        dump_close(out);
    }
}

/* ------------------------------------------------------------------ flows --- */

static void dump_selection(const char *field, const AstColumnSelection *selection, Buffer *out)
{
    if (selection->given) {
        dump_list(field, &selection->columns, out);
        dump_flag("except", selection->except, out);
    }
}

static void dump_cdc(const AstCdc *cdc, Buffer *out)
{
    dump_open("cdc", out);
    dump_relation("source", cdc->source, out);
    dump_list("keys", &cdc->keys, out);
    dump_flag("ignore_null_updates", cdc->ignore_null_updates, out);
    dump_expr("delete_when", cdc->delete_when, out);
    dump_expr("truncate_when", cdc->truncate_when, out);
    dump_expr("sequence_by", cdc->sequence_by, out);
    dump_selection("columns", &cdc->columns, out);
    dump_flag("scd_type_given", cdc->scd_type_given, out);
    dump_number("scd_type", cdc->scd_type.value, out);
    dump_selection("track_history", &cdc->track_history, out);
    dump_close(out);
}

static void dump_flow(const AstFlow *flow, Buffer *out)
{
    if (flow == NULL) {
        return;
    }
    dump_open("flow", out);
    dump_number("kind", flow->kind, out);
    dump_flag("once", flow->once, out);
    dump_expr("where", flow->where, out);
    dump_list("using", &flow->using, out);
    dump_identifier("sequence_by", &flow->sequence_by, out);
    dump_query("query", flow->query, out);
    if (flow->cdc != NULL) {
        dump_cdc(flow->cdc, out);
    }
    dump_close(out);
}

static void dump_create_streaming_table(const AstCreateStreamingTable *create, Buffer *out)
{
    dump_flag("or_refresh", create->or_refresh, out);
    dump_flag("if_not_exists", create->if_not_exists, out);
    dump_name("name", &create->name, out);
    dump_flag("has_specification", create->has_specification, out);
    for (size_t i = 0; i < create->column_count; i++) {
        dump_column(&create->columns[i], out);
    }
    for (size_t i = 0; i < create->expectation_count; i++) {
        dump_open("expectation", out);
        dump_identifier("name", &create->expectations[i].name, out);
        dump_expr("condition", create->expectations[i].condition, out);
        dump_number("action", create->expectations[i].action, out);
        dump_close(out);
    }
    for (size_t i = 0; i < create->constraint_count; i++) {
        dump_constraint(&create->constraints[i], out);
    }
    dump_clauses(create->clauses, create->clause_count, out);
    dump_flow(create->flow, out);
    dump_query("as", create->as_query, out);
}

/* -------------------------------------------------------------------- DML --- */

static void dump_assignments(const AstAssignment *items, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        dump_name("set", &items[i].column, out);
        dump_expr("to", items[i].value, out);
    }
}

static void dump_insert(const AstInsert *insert, Buffer *out)
{
    dump_name("target", &insert->target, out);
    dump_flag("by_name", insert->by_name, out);
    dump_flag("has_columns", insert->has_columns, out);
    dump_list("columns", &insert->columns, out);
    dump_query("query", insert->query, out);
}

static void dump_delete(const AstDelete *delete_, Buffer *out)
{
    dump_name("target", &delete_->target, out);
    dump_alias("alias", &delete_->alias, out);
    dump_expr("where", delete_->where, out);
}

static void dump_update(const AstUpdate *update, Buffer *out)
{
    dump_name("target", &update->target, out);
    dump_alias("alias", &update->alias, out);
    dump_assignments(update->assignments, update->assignment_count, out);
    dump_expr("where", update->where, out);
}

static void dump_merge(const AstMerge *merge, Buffer *out)
{
    dump_name("target", &merge->target, out);
    dump_alias("alias", &merge->alias, out);
    dump_relation("source", merge->source, out);
    dump_expr("on", merge->on, out);
    for (size_t i = 0; i < merge->branch_count; i++) {
        const AstMergeBranch *branch = &merge->branches[i];
        dump_open("branch", out);
        dump_number("action", branch->action, out);
        dump_expr("condition", branch->condition, out);
        dump_assignments(branch->assignments, branch->assignment_count, out);
        dump_list("columns", &branch->columns, out);
        dump_exprs("values", branch->values, branch->value_count, out);
        dump_close(out);
    }
}

/* ---------------------------------------------------------------- catalog --- */

static void dump_alter(const AstAlter *alter, Buffer *out)
{
    dump_name("name", &alter->name, out);
    dump_number("action", alter->kind, out);
    dump_schedule(alter->schedule, out);
    dump_properties(alter->properties, alter->property_count, out);
    dump_routine("routine", &alter->routine, out);
    dump_identifier("column", &alter->column, out);
    dump_name("new_name", &alter->new_name, out);
    dump_identifier("owner", &alter->owner, out);
}

static void dump_describe(const AstDescribe *describe, Buffer *out)
{
    dump_number("what", describe->kind, out);
    dump_flag("extended", describe->extended, out);
    dump_flag("formatted", describe->formatted, out);
    dump_name("name", &describe->name, out);
    dump_name("column", &describe->column, out);
    dump_flag("as_json", describe->as_json, out);
    dump_query("query", describe->query, out);
}

static void dump_show(const AstShow *show, Buffer *out)
{
    dump_number("what", show->kind, out);
    dump_number("scope", show->scope, out);
    dump_name("table", &show->table, out);
    dump_name("schema", &show->schema, out);
    dump_text("pattern", show->pattern.value, out);
    dump_name("function", &show->function, out);
}

static void dump_create_view(const AstCreateView *create, Buffer *out)
{
    dump_flag("or_replace", create->or_replace, out);
    dump_flag("temporary", create->temporary, out);
    dump_flag("if_not_exists", create->if_not_exists, out);
    dump_name("name", &create->name, out);
    for (size_t i = 0; i < create->column_count; i++) {
        dump_identifier("column", &create->columns[i].name, out);
        dump_text("comment", create->columns[i].comment.value, out);
    }
    dump_clauses(create->clauses, create->clause_count, out);
    dump_query("query", create->query, out);
}

static void dump_create_function(const AstCreateFunction *create, Buffer *out)
{
    dump_flag("or_replace", create->or_replace, out);
    dump_flag("temporary", create->temporary, out);
    dump_flag("if_not_exists", create->if_not_exists, out);
    dump_name("name", &create->name, out);
    for (size_t i = 0; i < create->parameter_count; i++) {
        dump_identifier("parameter", &create->parameters[i].name, out);
        dump_type("type", create->parameters[i].type, out);
        dump_expr("default", create->parameters[i].default_, out);
        dump_text("comment", create->parameters[i].comment.value, out);
    }
    dump_type("returns", create->returns, out);
    for (size_t i = 0; i < create->option_count; i++) {
        buffer_printf(out, " option=%d", (int)create->options[i].kind);
        dump_text("comment", create->options[i].comment.value, out);
    }
    dump_query("query", create->query, out);
    dump_expr("expr", create->expr, out);
}

static void dump_drop(const AstDrop *drop, Buffer *out)
{
    dump_name("name", &drop->name, out);
    dump_flag("if_exists", drop->if_exists, out);
    dump_flag("streaming", drop->streaming, out);
    dump_flag("temporary", drop->temporary, out);
}

static void dump_set(const AstSet *set, Buffer *out)
{
    dump_flag("time_zone", set->time_zone, out);
    dump_text("zone", set->zone.value, out);
    dump_flag("local", set->zone_local, out);
    dump_interval("interval", set->zone_interval, out);
    dump_text("name", set->name, out);
    dump_number("value_kind", set->value_kind, out);
    dump_text("value", set->value, out);
}

static void dump_fields(const AstStatement *statement, Buffer *out)
{
    switch (statement->kind) {
    case AST_STATEMENT_CREATE_STREAMING_TABLE:
        dump_create_streaming_table(&statement->create_streaming_table, out);
        return;
    case AST_STATEMENT_CREATE_FLOW:
        dump_identifier("name", &statement->create_flow.name, out);
        dump_text("comment", statement->create_flow.comment.value, out);
        dump_name("target", &statement->create_flow.target, out);
        dump_flow(statement->create_flow.flow, out);
        return;
    case AST_STATEMENT_INSERT:
        dump_insert(&statement->insert, out);
        return;
    case AST_STATEMENT_REFRESH:
        dump_name("name", &statement->refresh.name, out);
        dump_flag("streaming", statement->refresh.streaming, out);
        dump_number("mode", statement->refresh.mode, out);
        return;
    case AST_STATEMENT_ALTER:
        dump_alter(&statement->alter, out);
        return;
    case AST_STATEMENT_DESCRIBE:
        dump_describe(&statement->describe, out);
        return;
    case AST_STATEMENT_SHOW:
        dump_show(&statement->show, out);
        return;
    case AST_STATEMENT_EXPLAIN:
        dump_number("mode", statement->explain.mode, out);
        ast_dump_statement(statement->explain.statement, out);
        return;
    case AST_STATEMENT_QUERY:
        ast_dump_query(statement->query, out);
        return;
    case AST_STATEMENT_DELETE:
        dump_delete(&statement->delete_, out);
        return;
    case AST_STATEMENT_UPDATE:
        dump_update(&statement->update, out);
        return;
    case AST_STATEMENT_MERGE:
        dump_merge(&statement->merge, out);
        return;
    case AST_STATEMENT_CREATE_VIEW:
        dump_create_view(&statement->create_view, out);
        return;
    case AST_STATEMENT_CREATE_FUNCTION:
        dump_create_function(&statement->create_function, out);
        return;
    case AST_STATEMENT_DROP_TABLE:
    case AST_STATEMENT_DROP_VIEW:
    case AST_STATEMENT_DROP_FUNCTION:
        dump_drop(&statement->drop, out);
        return;
    case AST_STATEMENT_SET:
        dump_set(&statement->set, out);
        return;
    case AST_STATEMENT_UNSUPPORTED:
        dump_number("what", statement->unsupported.kind, out);
        dump_text("words", str_from(statement->unsupported.words), out);
        dump_name("table", &statement->unsupported.table, out);
        dump_text("text", statement->text, out); /* whatever follows has no tree */
        return;
    }
}

void ast_dump_statement(const AstStatement *statement, Buffer *out)
{
    buffer_printf(out, "(statement %d", (int)statement->kind);
    dump_fields(statement, out);
    dump_close(out);
}
