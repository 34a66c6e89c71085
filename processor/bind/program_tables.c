/* Pass 2 of a program: its tables with their clauses and flows, in any order; one that reads
 * another binds that first. */
#include "processor/bind/program.h"
#include "processor/bind/schedule.h"
#include "processor/bind/trigger.h"
#include "processor/sql/ast_print.h"

#include "processor/base/banned.h"

/* Tables that read each other in a row, each bound inside the one before. */
enum { TABLE_CHAIN_MAX = 200 };

Binder program_binder(Program *program, Statement *statement)
{
    return (Binder){.context = program->context,
                    .arena = program->context->arena,
                    .diagnostics = &statement->diagnostics,
                    .program = program,
                    .flow_query = true};
}

static Str flow_text(Arena *arena, const AstFlow *flow)
{
    AUTO_BUFFER Buffer out = {0};
    ast_print_flow(flow, &out);
    return arena_copy_str(arena, buffer_str(&out));
}

/* Append flows are not built; what is wrong with one is told all the same (ST-46 … ST-51). A flow
 * that runs once reads its sources as they are. */
static void bind_append(Binder *binder, const ProgramFlow *flow, FlowTarget *target)
{
    bool once = flow->ast != NULL && flow->ast->once;
    size_t before = binder->diagnostics->count;
    if (!once) {
        check_streaming_query(binder, flow->query, FLOW_APPEND);
    }
    if (binder->diagnostics->count == before) {
        const Schema *output = NULL;
        (void)bind_flow_query(binder, flow->query, target, &output);
    }
    SourcePlace place = flow->ast == NULL ? flow->query->place : flow->ast->place;
    statement_report(
        flow->statement,
        not_yet(place, flow->ast == NULL ? "AS query" : "FLOW INSERT (an append flow)"));
}

/* RW-41 */
static Error *check_expectations_allowed(const ProgramFlow *flow)
{
    const AstCreateStreamingTable *create = flow->table == NULL ? NULL : flow->table->create;
    return create == NULL || create->expectation_count == 0
               ? NULL
               : error_set_hint(
                     error_at(ERROR_EXPECTATIONS_NOT_SUPPORTED, create->expectations[0].place,
                              "The table `%.*s` has a REPLACE WHERE flow, and such a table has no "
                              "expectations: `%.*s` is one.",
                              STR_ARG(flow->table->bound.name),
                              STR_ARG(create->expectations[0].name.name)),
                     "a WHERE in the flow's query drops rows");
}

static bool bind_flow(Program *program, ProgramFlow *flow, FlowTarget *target)
{
    if (flow->refused) {
        return false;
    }
    Binder binder = program_binder(program, flow->statement);
    switch (flow->kind) {
    case FLOW_APPEND:
        bind_append(&binder, flow, target);
        return false;
    case FLOW_REPLACE_WHERE:
        statement_report(flow->statement, check_expectations_allowed(flow));
        (void)bind_replace_where(&binder, flow->ast, target);
        return statement_report(flow->statement, not_yet(flow->ast->place, "REPLACE WHERE"));
    case FLOW_AUTO_CDC:
        bind_auto_cdc(&binder, flow->ast, target);
        return statement_report(flow->statement, not_yet(flow->ast->place, "AUTO CDC"));
    case FLOW_REPLACE_USING:
        flow->bound = (BoundFlow){.name = flow->name,
                                  .kind = FLOW_REPLACE_USING,
                                  .table = (size_t)(flow->table - program->tables),
                                  .text = flow_text(binder.arena, flow->ast),
                                  .script = flow->statement->script,
                                  .place = flow->place};
        return bind_replace_using(&binder, flow->ast, target, &flow->bound);
    }
    return false;
}

static Error *without_flow(const Program *program, const ProgramTable *table)
{
    const AstCreateStreamingTable *create = table->create;
    if (create->column_count > 0) {
        return not_yet(create->name.place, "A streaming table without a flow");
    }
    Error *error = error_at(ERROR_MISSING_QUERY, create->name.place,
                            "Pipeline dataset `%.*s` does not have any defined flow.",
                            STR_ARG(table->bound.name));
    return error_set_hint(error, program->context->pipeline
                                     ? "add a FLOW clause, AS query, or CREATE FLOW … INSERT INTO "
                                       "this table"
                                     : "add a FLOW clause or AS query");
}

static const Str *key_names(Arena *arena, const Schema *schema, const BoundFlow *flow)
{
    Str *names = arena_new_array(arena, Str, flow->key_count);
    for (size_t i = 0; i < flow->key_count; i++) {
        names[i] = schema->fields[flow->keys[i]].name;
    }
    return names;
}

/* ST-31 */
static void check_table_append_only(Binder *binder, const ProgramTable *table)
{
    bool replaces = false;
    for (const ProgramFlow *flow = table->flows; flow != NULL; flow = flow->next) {
        replaces = replaces || flow->kind != FLOW_APPEND;
    }
    for (size_t i = 0; replaces && i < table->create->clause_count; i++) {
        const AstTableClause *clause = &table->create->clauses[i];
        check_append_only(binder, clause->properties, clause->property_count);
    }
}

/* What statements about the table ask: its schedule, its properties. */
static void note_clauses(Relation *relation, const AstCreateStreamingTable *create,
                         const BoundTable *bound)
{
    for (size_t i = 0; i < create->clause_count; i++) {
        if (create->clauses[i].kind == AST_CLAUSE_SCHEDULE) {
            relation->schedule = SCHEDULE_SET;
        }
    }
    for (size_t i = 0; i < bound->property_count; i++) {
        const BoundProperty *property = &bound->properties[i];
        bool yes = str_equal_ignore_case(property->value, STR("true"));
        bool no = str_equal_ignore_case(property->value, STR("false"));
        relation->append_only |= yes && str_equal(property->name, STR("delta.appendOnly"));
        relation->reset_forbidden |=
            no && str_equal(property->name, STR("pipelines.reset.allowed"));
    }
}

static void make_relation(Program *program, ProgramTable *table)
{
    table->relation = (Relation){.name = table->bound.name,
                                 .kind = RELATION_TARGET,
                                 .schema = table->bound.schema,
                                 .index = (size_t)(table - program->tables),
                                 .sequence = STR_NULL,
                                 .owner = program->context->owner,
                                 .schedule = SCHEDULE_NONE};
    note_clauses(&table->relation, table->create, &table->bound);
    const ProgramFlow *flow = table->flows;
    if (table->state == TABLE_BOUND && flow != NULL && flow->kind == FLOW_REPLACE_USING) {
        const Schema *schema = table->bound.schema;
        table->relation.keys = key_names(program->context->arena, schema, &flow->bound);
        table->relation.key_count = flow->bound.key_count;
        table->relation.sequence = schema->fields[flow->bound.sequence].name;
    }
}

/* The clause of that kind, or NULL. */
static const AstTableClause *trigger_of(const ProgramTable *table)
{
    const AstTableClause *trigger = NULL;
    for (size_t i = 0; i < table->create->clause_count; i++) {
        const AstTableClause *clause = &table->create->clauses[i];
        if (clause->kind == AST_CLAUSE_SCHEDULE && clause->schedule->kind == AST_SCHEDULE_TRIGGER) {
            trigger = clause;
        }
    }
    return trigger;
}

/* Tables with a TRIGGER there are: those of the installation and the program's before this one. */
static size_t triggers_before(const Program *program, const ProgramTable *table)
{
    size_t count = program->context->trigger_tables;
    for (const ProgramTable *other = program->tables; other < table; other++) {
        count += trigger_of(other) != NULL;
    }
    return count;
}

/* TRIGGER ON UPDATE against all that the table's flows read. */
static void check_trigger(Binder *binder, const ProgramTable *table)
{
    const AstTableClause *trigger = trigger_of(table);
    if (trigger == NULL) {
        return;
    }
    binder_report(binder,
                  check_trigger_count(triggers_before(binder->program, table), trigger->place));
    if (table->flows == NULL) {
        return;
    }
    Upstreams upstreams;
    upstreams_init(&upstreams, binder);
    for (const ProgramFlow *flow = table->flows; flow != NULL; flow = flow->next) {
        if (flow->query != NULL) {
            upstreams_add_query(&upstreams, flow->query);
        } else {
            upstreams_add_relation(&upstreams, flow->ast->cdc->source);
        }
    }
    binder_report(binder, upstreams_check(&upstreams, trigger->place));
    upstreams_done(&upstreams);
}

void program_bind_table(Program *program, ProgramTable *table)
{
    table->state = TABLE_BINDING;
    Binder binder = program_binder(program, table->statement);
    FlowTarget target = {.table_name = table->bound.name};
    target.existing = catalog_find(program->context->catalog, table->parts, table->part_count);
    bool columns_known = bind_table_columns(&binder, table->create, &target.columns);
    bind_table_clauses(&binder, table->create, &table->bound);
    bool ok = columns_known;
    if (table->flows == NULL) {
        ok = program->context->incomplete
                 ? false
                 : statement_report(table->statement, without_flow(program, table));
    }
    for (ProgramFlow *flow = table->flows; flow != NULL && columns_known; flow = flow->next) {
        ok = bind_flow(program, flow, &target) && ok;
    }
    check_trigger(&binder, table);
    check_table_append_only(&binder, table);
    table->bound.schema = target.columns;
    if (table->bound.schema != NULL) {
        bind_table_over_columns(&binder, table->create, &table->bound);
    }
    table->state = ok && table->bound.schema != NULL ? TABLE_BOUND : TABLE_FAILED;
    make_relation(program, table);
}

Error *program_enter(Program *program, SourcePlace place)
{
    if (program->chain >= TABLE_CHAIN_MAX) {
        return error_at(ERROR_STATEMENT_TOO_COMPLEX, place,
                        "More than %d tables and views read each other in a row.", TABLE_CHAIN_MAX);
    }
    program->chain++;
    return NULL;
}

void program_leave(Program *program)
{
    program->chain--;
}

Error *program_find_relation(Program *program, const AstName *name, bool *ret_found,
                             const Relation **ret_relation)
{
    ProgramTable *table = program_find_table(program, name);
    if (table == NULL) {
        *ret_found = false;
        return NULL;
    }
    if (table->state == TABLE_BINDING) {
        return error_at(ERROR_PIPELINE_CYCLE, name->place,
                        "The table `%.*s` is computed from itself.", STR_ARG(table->bound.name));
    }
    if (table->state == TABLE_NEW) {
        TRY(program_enter(program, name->place));
        program_bind_table(program, table);
        program_leave(program);
    }
    if (table->bound.schema == NULL) {
        return consequence(name->place);
    }
    *ret_found = true;
    *ret_relation = &table->relation;
    return NULL;
}

/* A flow into a table that exists elsewhere: its query is fitted to that table's columns. */
void program_bind_foreign_flow(Program *program, ProgramFlow *flow)
{
    FlowTarget target = {.table_name = flow->foreign->name, .columns = flow->foreign->schema};
    (void)bind_flow(program, flow, &target);
}
