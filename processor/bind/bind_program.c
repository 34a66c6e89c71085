/* A program: the statements of some scripts bound as one. Three passes:
 *
 *   1. collect   which tables, flows and views there are, which flow belongs to which table; names
 *                twice, targets that are not there, kinds of flows that exclude each other
 *                (RU-18 … RU-20)
 *   2. bind      functions first, then tables in any order: one that reads another binds that
 * first; then what else there is
 *   3. report    each statement's mistakes, in order. A statement with a real mistake does not also
 *                say what of it is NOT_YET, and mistakes come before every NOT_YET, so that the
 *                first thing told is the thing to mend
 */
#include <assert.h>

#include "processor/base/map.h"
#include "processor/bind/routine.h"
#include "processor/bind/schedule.h"
#include "processor/bind/statement.h"
#include "processor/bind/trigger.h"
#include "processor/bind/view.h"
#include "processor/sql/ast_print.h"

#include "processor/base/banned.h"

/* Tables that read each other in a row, each bound inside the one before. */
enum { TABLE_CHAIN_MAX = 200 };

typedef struct Statement {
    size_t script;
    const AstStatement *ast;
    Diagnostics diagnostics;
} Statement;

typedef enum TableState { TABLE_NEW, TABLE_BINDING, TABLE_BOUND, TABLE_FAILED } TableState;

typedef struct ProgramFlow ProgramFlow;

typedef struct ProgramTable {
    Statement *statement;
    const AstCreateStreamingTable *create;
    Str parts[3];
    size_t part_count;
    TableState state;
    ProgramFlow *flows; /* in order of statements */
    Relation relation;
    BoundTable bound;
} ProgramTable;

struct ProgramFlow {
    Statement *statement;
    FlowKind kind;
    const AstFlow *ast;    /* NULL: AS query */
    const AstQuery *query; /* NULL: AUTO CDC */
    Str name;
    SourcePlace place;
    ProgramTable *table;     /* NULL: of another pipeline, … */
    const Relation *foreign; /* … this one, when there is such a table */
    ProgramFlow *next;       /* of the same table */
    bool refused;            /* by pass 1 */
    BoundFlow bound;
};

struct Program {
    const BindContext *context;
    Statement *statements;
    size_t statement_count;
    ProgramTable *tables;
    size_t table_count;
    ProgramFlow *flows;
    size_t flow_count;
    View *views;
    size_t view_count;
    Map tables_by_name; /* full name -> ProgramTable */
    Map views_by_name;  /* full name -> View */
    int chain;          /* tables and views being bound inside each other */
};

static bool report(Statement *statement, Error *error)
{
    diagnostics_add(&statement->diagnostics, error);
    return error == NULL;
}

Error *consequence(SourcePlace place)
{
    return error_set_disposition(error_at(ERROR_NOT_YET, place, "not shown"), ERROR_ABORT);
}

static bool is_consequence(const Error *error)
{
    return error_disposition(error) == ERROR_ABORT;
}

/* --------------------------------------------------------- 1. collect --- */

/* STR_NULL when the name has too many parts. */
static Str full_name(const Program *program, const AstName *name)
{
    Str parts[3];
    size_t count = ast_name_parts(name, parts, ARRAY_LENGTH(parts));
    const BindContext *context = program->context;
    return count == 0 ? STR_NULL
                      : catalog_full_name(context->catalog, parts, count, context->arena);
}

static ProgramTable *find_table(const Program *program, const AstName *name)
{
    Str key = full_name(program, name);
    return key.data == NULL ? NULL : map_get(&program->tables_by_name, key);
}

static Str dotted_name(Arena *arena, const Str *parts, size_t count)
{
    AUTO_BUFFER Buffer out = {0};
    for (size_t i = 0; i < count; i++) {
        buffer_append_cstr(&out, i == 0 ? "" : ".");
        buffer_append_str(&out, parts[i]);
    }
    return arena_copy_str(arena, buffer_str(&out));
}

static Error *duplicate_table(const ProgramTable *table)
{
    return error_at(ERROR_DUPLICATE_TABLE, table->create->name.place,
                    "Found duplicate output `%.*s` in the pipeline: two statements create it.",
                    STR_ARG(table->bound.name));
}

/* ST-3, ST-6, ST-7: what may stand where something of that name exists. */
static Error *check_existing_name(const Program *program, const ProgramTable *table)
{
    const Relation *existing =
        catalog_find(program->context->catalog, table->parts, table->part_count);
    bool declarative =
        program->context->pipeline || table->create->or_refresh || table->create->if_not_exists;
    if (existing == NULL || (existing->kind == RELATION_TARGET && declarative)) {
        return NULL;
    }
    Error *error = error_at(ERROR_TABLE_OR_VIEW_ALREADY_EXISTS, table->create->name.place,
                            "Cannot create table or view `%.*s` because it already exists.",
                            STR_ARG(table->bound.name));
    return existing->kind == RELATION_TARGET
               ? error_set_hint(error, "CREATE OR REFRESH changes its definition")
               : error_set_hint(error, "a source has this name; choose another one");
}

/* ST-6: a single statement with IF NOT EXISTS on a name that exists does nothing. */
static bool is_skipped(const Program *program, const ProgramTable *table)
{
    const Relation *existing =
        catalog_find(program->context->catalog, table->parts, table->part_count);
    return table->create->if_not_exists && !program->context->pipeline && existing != NULL &&
           existing->kind == RELATION_TARGET;
}

static bool collect_table(Program *program, Statement *statement)
{
    const AstCreateStreamingTable *create = &statement->ast->create_streaming_table;
    ProgramTable *table = &program->tables[program->table_count];
    Arena *arena = program->context->arena;
    *table = (ProgramTable){.statement = statement, .create = create};
    table->part_count = ast_name_parts(&create->name, table->parts, ARRAY_LENGTH(table->parts));
    if (table->part_count == 0) {
        return report(statement, error_at(ERROR_INVALID_IDENTIFIER, create->name.place,
                                          "A table's name has one to three parts: "
                                          "[catalog.][schema.]name."));
    }
    if (is_skipped(program, table)) {
        return true;
    }
    table->bound = (BoundTable){.name = dotted_name(arena, table->parts, table->part_count),
                                .or_refresh = create->or_refresh,
                                .if_not_exists = create->if_not_exists,
                                .comment = STR_NULL,
                                .text = statement->ast->text,
                                .script = statement->script,
                                .place = create->name.place};
    Str key = catalog_full_name(program->context->catalog, table->parts, table->part_count, arena);
    if (map_get(&program->tables_by_name, key) != NULL) {
        return report(statement, duplicate_table(table));
    }
    report(statement, check_existing_name(program, table));
    map_put(&program->tables_by_name, key, table);
    program->table_count++;
    return true;
}

static FlowKind flow_kind(AstFlowKind kind)
{
    switch (kind) {
    case AST_FLOW_INSERT:
        return FLOW_APPEND;
    case AST_FLOW_REPLACE_WHERE:
        return FLOW_REPLACE_WHERE;
    case AST_FLOW_REPLACE_USING:
        return FLOW_REPLACE_USING;
    case AST_FLOW_AUTO_CDC:
        return FLOW_AUTO_CDC;
    }
    return FLOW_APPEND;
}

/* Flow names are unique in a pipeline, ignoring case. An inline flow bears its table's name. */
static Error *check_flow_name(const Program *program, const ProgramFlow *flow)
{
    for (const ProgramFlow *other = program->flows; other < flow; other++) {
        if (str_equal_ignore_case(other->name, flow->name)) {
            return error_at(ERROR_DUPLICATE_FLOW, flow->place,
                            "Flow `%.*s` was found in several statements. Flow names are unique in "
                            "a pipeline.",
                            STR_ARG(flow->name));
        }
    }
    return NULL;
}

static Error *kinds_exclude_each_other(const ProgramFlow *first, const ProgramFlow *flow)
{
    /* RU-57: which kind is for what. */
    return error_set_hint(
        error_at(ERROR_FLOW_TYPE_CONFLICT, flow->place,
                 "The table `%.*s` has a %s flow already, `%.*s`, and cannot also have %s %s flow, "
                 "`%.*s`.",
                 STR_ARG(flow->table->bound.name), flow_kind_name(first->kind),
                 STR_ARG(first->name),
                 flow->kind == FLOW_APPEND || flow->kind == FLOW_AUTO_CDC ? "an" : "a",
                 flow_kind_name(flow->kind), STR_ARG(flow->name)),
        "a source that resends all rows of a key: REPLACE USING; a change feed with deletes or "
        "history: AUTO CDC; a range recomputed in batch: REPLACE WHERE");
}

/* RU-18, RU-19, RW-39, RW-40, CD-9: against the table's first flow. */
static Error *check_flow_conflict(const ProgramFlow *flow)
{
    const ProgramFlow *first = flow->table->flows;
    if (first == flow) {
        return NULL;
    }
    if (first->kind != flow->kind) {
        return kinds_exclude_each_other(first, flow);
    }
    bool single = flow->kind == FLOW_REPLACE_USING || flow->kind == FLOW_REPLACE_WHERE;
    return single ? error_set_hint(
                        error_at(ERROR_MULTIPLE_FLOWS, flow->place,
                                 "The table `%.*s` has a %s flow already, `%.*s`, and can have no "
                                 "other, `%.*s`: a table has at most one.",
                                 STR_ARG(flow->table->bound.name), flow_kind_name(flow->kind),
                                 STR_ARG(first->name), STR_ARG(flow->name)),
                        "UNION ALL in one flow reads several sources")
                  : NULL;
}

static void add_flow(Program *program, ProgramFlow flow)
{
    ProgramFlow *added = &program->flows[program->flow_count++];
    *added = flow;
    bool ok = report(flow.statement, check_flow_name(program, added));
    if (flow.table != NULL) {
        ProgramFlow **last = &flow.table->flows;
        while (*last != NULL) {
            last = &(*last)->next;
        }
        *last = added;
        ok = report(flow.statement, check_flow_conflict(added)) && ok;
    }
    added->refused = !ok;
}

static void collect_inline_flow(Program *program, ProgramTable *table)
{
    const AstCreateStreamingTable *create = table->create;
    ProgramFlow flow = {.statement = table->statement,
                        .name = table->bound.name,
                        .place = create->name.place,
                        .table = table};
    if (create->flow != NULL) {
        flow.kind = flow_kind(create->flow->kind);
        flow.ast = create->flow;
        flow.query = create->flow->query;
        flow.place = create->flow->place;
        add_flow(program, flow);
    } else if (create->as_query != NULL) {
        flow.kind = FLOW_APPEND;
        flow.query = create->as_query;
        flow.place = create->as_query->place;
        add_flow(program, flow);
    }
}

Str program_nearest(const Program *program, Str name)
{
    Str nearest = STR_NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < program->table_count; i++) {
        if (str_is_nearer(program->tables[i].bound.name, name, &best)) {
            nearest = program->tables[i].bound.name;
        }
    }
    for (size_t i = 0; i < program->view_count; i++) {
        if (str_is_nearer(program->views[i].create->name.text, name, &best)) {
            nearest = program->views[i].create->name.text;
        }
    }
    return nearest;
}

/* A target nobody creates: misspelt, or its CREATE is missing. */
static Error *hint_target(const Program *program, const AstName *target, Error *error)
{
    Str nearest = program_nearest(program, target->text);
    return nearest.data != NULL
               ? error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest))
               : error_set_hint(error, "write CREATE STREAMING TABLE %.*s in the same program",
                                STR_ARG(target->text));
}

/* A target that no statement of this program creates. */
static Error *check_foreign_target(const Program *program, const AstCreateFlow *create,
                                   const Relation **ret_target)
{
    AstFlowKind kind = create->flow->kind;
    if (kind == AST_FLOW_REPLACE_USING || kind == AST_FLOW_REPLACE_WHERE) { /* RU-20, RW-38 */
        return hint_target(program, &create->target,
                           error_at(ERROR_TARGET_NOT_IN_PIPELINE, create->target.place,
                                    "The target `%.*s` of the flow `%.*s` is not created in this "
                                    "pipeline.",
                                    STR_ARG(create->target.text), STR_ARG(create->name.name)));
    }
    Str parts[3];
    size_t count = ast_name_parts(&create->target, parts, ARRAY_LENGTH(parts));
    const Relation *relation = catalog_find(program->context->catalog, parts, count);
    if (relation == NULL || relation->kind != RELATION_TARGET) {
        return hint_target(program, &create->target,
                           error_at(ERROR_TABLE_OR_VIEW_NOT_FOUND, create->target.place,
                                    "The table or view `%.*s` cannot be found. Verify the spelling "
                                    "and correctness of the schema and catalog.",
                                    STR_ARG(create->target.text)));
    }
    *ret_target = relation;
    return not_yet(create->target.place, "A flow into a table of another pipeline");
}

static void collect_flow(Program *program, Statement *statement)
{
    const AstCreateFlow *create = &statement->ast->create_flow;
    ProgramFlow flow = {.statement = statement,
                        .kind = flow_kind(create->flow->kind),
                        .ast = create->flow,
                        .query = create->flow->query,
                        .name = create->name.name,
                        .place = create->name.place,
                        .table = find_table(program, &create->target)};
    if (flow.table == NULL) {
        report(statement, check_foreign_target(program, create, &flow.foreign));
    }
    add_flow(program, flow);
}

/* Two views of one name, or a view and a table. */
static Error *check_view_name(const Program *program, const AstCreateView *create, Str key)
{
    const View *other = map_get(&program->views_by_name, key);
    if (map_get(&program->tables_by_name, key) == NULL &&
        (other == NULL || create->or_replace || create->if_not_exists)) {
        return NULL;
    }
    return error_at(ERROR_DUPLICATE_TABLE, create->name.place,
                    "Found duplicate output `%.*s` in the pipeline: two statements create it.",
                    STR_ARG(create->name.text));
}

static void collect_view(Program *program, Statement *statement)
{
    const AstCreateView *create = &statement->ast->create_view;
    Str key = full_name(program, &create->name);
    report(statement, check_view_name(program, create, key));
    View *view = &program->views[program->view_count++];
    *view = (View){.create = create, .diagnostics = &statement->diagnostics};
    if (!create->if_not_exists || map_get(&program->views_by_name, key) == NULL) {
        map_put(&program->views_by_name, key, view);
    }
}

static void collect(Program *program)
{
    Arena *arena = program->context->arena;
    program->tables = arena_new_array(arena, ProgramTable, program->statement_count + 1);
    program->flows = arena_new_array(arena, ProgramFlow, program->statement_count + 1);
    program->views = arena_new_array(arena, View, program->statement_count + 1);
    for (size_t i = 0; i < program->statement_count; i++) {
        Statement *statement = &program->statements[i];
        if (statement->ast->kind == AST_STATEMENT_CREATE_STREAMING_TABLE) {
            (void)collect_table(program, statement);
        } else if (statement->ast->kind == AST_STATEMENT_CREATE_VIEW) {
            collect_view(program, statement);
        }
    }
    /* Flows in order of statements: the later of two that exclude each other is told. */
    size_t table = 0;
    for (size_t i = 0; i < program->statement_count; i++) {
        Statement *statement = &program->statements[i];
        if (statement->ast->kind == AST_STATEMENT_CREATE_FLOW) {
            collect_flow(program, statement);
        } else if (table < program->table_count && program->tables[table].statement == statement) {
            collect_inline_flow(program, &program->tables[table++]);
        }
    }
}

/* ------------------------------------------------------------ 2. bind --- */

static Binder binder_of(Program *program, Statement *statement)
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
    report(flow->statement,
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
    Binder binder = binder_of(program, flow->statement);
    switch (flow->kind) {
    case FLOW_APPEND:
        bind_append(&binder, flow, target);
        return false;
    case FLOW_REPLACE_WHERE:
        report(flow->statement, check_expectations_allowed(flow));
        (void)bind_replace_where(&binder, flow->ast, target);
        return report(flow->statement, not_yet(flow->ast->place, "REPLACE WHERE"));
    case FLOW_AUTO_CDC:
        bind_auto_cdc(&binder, flow->ast, target);
        return report(flow->statement, not_yet(flow->ast->place, "AUTO CDC"));
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

static void bind_table(Program *program, ProgramTable *table)
{
    table->state = TABLE_BINDING;
    Binder binder = binder_of(program, table->statement);
    FlowTarget target = {.table_name = table->bound.name};
    target.existing = catalog_find(program->context->catalog, table->parts, table->part_count);
    bool columns_known = bind_table_columns(&binder, table->create, &target.columns);
    bind_table_clauses(&binder, table->create, &table->bound);
    bool ok = columns_known;
    if (table->flows == NULL) {
        ok = program->context->incomplete ? false
                                          : report(table->statement, without_flow(program, table));
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

View *program_find_view(const Program *program, const AstName *name)
{
    Str key = full_name(program, name);
    return key.data == NULL ? NULL : map_get(&program->views_by_name, key);
}

Error *program_find_relation(Program *program, const AstName *name, bool *ret_found,
                             const Relation **ret_relation)
{
    ProgramTable *table = find_table(program, name);
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
        bind_table(program, table);
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
static void bind_foreign_flow(Program *program, ProgramFlow *flow)
{
    FlowTarget target = {.table_name = flow->foreign->name, .columns = flow->foreign->schema};
    (void)bind_flow(program, flow, &target);
}

/* Statements of one kind, or (`functions` false) all that are neither functions, tables nor flows.
 */
static void bind_statements(Program *program, bool functions)
{
    for (size_t i = 0; i < program->statement_count; i++) {
        Statement *statement = &program->statements[i];
        if ((statement->ast->kind == AST_STATEMENT_CREATE_FUNCTION) == functions) {
            Binder binder = binder_of(program, statement);
            binder.flow_query = false;
            bind_statement(&binder, statement->ast);
        }
    }
}

static void bind_all(Program *program)
{
    bind_statements(program, true);
    for (size_t i = 0; i < program->table_count; i++) {
        if (program->tables[i].state == TABLE_NEW) {
            bind_table(program, &program->tables[i]);
        }
    }
    for (size_t i = 0; i < program->flow_count; i++) {
        if (program->flows[i].foreign != NULL) {
            bind_foreign_flow(program, &program->flows[i]);
        }
    }
    bind_statements(program, false);
}

/* ---------------------------------------------------------- 3. report --- */

typedef struct Reporter {
    void (*report)(void *context, size_t script, Error *error);
    void *context;
} Reporter;

static bool is_mistake(const Error *error)
{
    return error_class(error) != ERROR_NOT_YET;
}

static bool has_mistake(const Statement *statement)
{
    for (size_t i = 0; i < statement->diagnostics.count; i++) {
        if (is_mistake(statement->diagnostics.errors[i])) {
            return true;
        }
    }
    return false;
}

/* Hands over the mistakes of a statement, or what of it is not built. */
static void report_statement(Statement *statement, bool mistakes, const Reporter *reporter)
{
    Diagnostics *diagnostics = &statement->diagnostics;
    if (has_mistake(statement) != mistakes) {
        return;
    }
    diagnostics_sort(diagnostics);
    for (size_t i = 0; i < diagnostics->count; i++) {
        Error *error = diagnostics->errors[i];
        if (is_consequence(error) || is_mistake(error) != mistakes) {
            error_free(error);
        } else {
            reporter->report(reporter->context, statement->script, error);
        }
    }
    diagnostics->count = 0;
}

static void report_all(Program *program, const Reporter *reporter)
{
    for (size_t i = 0; i < program->statement_count; i++) {
        report_statement(&program->statements[i], true, reporter);
    }
    for (size_t i = 0; i < program->statement_count; i++) {
        report_statement(&program->statements[i], false, reporter);
        diagnostics_done(&program->statements[i].diagnostics);
    }
}

static void hand_over(Program *program, BoundProgram *ret_program)
{
    Arena *arena = program->context->arena;
    *ret_program = (BoundProgram){0};
    ret_program->tables = arena_new_array(arena, BoundTable, program->table_count + 1);
    ret_program->flows = arena_new_array(arena, BoundFlow, program->flow_count + 1);
    for (size_t i = 0; i < program->table_count; i++) {
        ProgramTable *table = &program->tables[i];
        ret_program->tables[ret_program->table_count++] = table->bound;
        if (table->bound.schema != NULL && !program->context->judge_only) {
            catalog_put(program->context->catalog, table->parts, table->part_count,
                        &table->relation);
        }
    }
    for (size_t i = 0; i < program->flow_count; i++) {
        if (program->flows[i].bound.query != NULL) {
            ret_program->flows[ret_program->flow_count++] = program->flows[i].bound;
        }
    }
}

/* EXPLAIN of a definition is judged as the definition is. */
static void add_statement(Program *program, size_t script, const AstStatement *ast)
{
    Statement *statement = &program->statements[program->statement_count++];
    *statement = (Statement){.script = script, .ast = ast};
    const AstStatement *inner = ast->kind == AST_STATEMENT_EXPLAIN ? ast->explain.statement : NULL;
    if (inner != NULL && (inner->kind == AST_STATEMENT_CREATE_STREAMING_TABLE ||
                          inner->kind == AST_STATEMENT_CREATE_FLOW)) {
        statement->ast = inner;
        report(statement, not_yet(ast->place, "EXPLAIN"));
    }
}

static void list_statements(Program *program, const AstScript *const *scripts, size_t script_count)
{
    size_t count = 0;
    for (size_t i = 0; i < script_count; i++) {
        count += scripts[i]->statement_count;
    }
    program->statements = arena_new_array(program->context->arena, Statement, count + 1);
    for (size_t i = 0; i < script_count; i++) {
        for (size_t k = 0; k < scripts[i]->statement_count; k++) {
            add_statement(program, i, scripts[i]->statements[k]);
        }
    }
    assert(program->statement_count == count);
}

void bind_program(const BindContext *context, const AstScript *const *scripts, size_t script_count,
                  void (*report_error)(void *report_context, size_t script, Error *error),
                  void *report_context, BoundProgram *ret_program)
{
    Program program = {.context = context};
    Reporter reporter = {report_error, report_context};
    list_statements(&program, scripts, script_count);
    collect(&program);
    bind_all(&program);
    hand_over(&program, ret_program);
    report_all(&program, &reporter);
    map_done(&program.tables_by_name);
    map_done(&program.views_by_name);
    for (size_t i = 0; i < program.view_count; i++) {
        view_done(&program.views[i]);
    }
}

/* ---------------------------------------------------- a statement alone --- */

/* Keeps the first error, drops the rest. */
static void keep_first(void *context, size_t script, Error *error)
{
    Error **first = context;
    (void)script;
    if (*first == NULL) {
        *first = error;
    } else {
        error_free(error);
    }
}

Error *bind_judge(const BindContext *context, const AstStatement *statement)
{
    BindContext alone = *context;
    alone.pipeline = false;
    alone.judge_only = true;
    AstStatement copy = *statement;
    AstStatement *statements[] = {&copy};
    const AstScript script = {statements, 1};
    const AstScript *scripts[] = {&script};
    Error *first = NULL;
    BoundProgram program;
    bind_program(&alone, scripts, 1, keep_first, &first, &program);
    return first;
}
