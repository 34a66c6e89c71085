/* Pass 1 of a program: which tables, flows and views there are, which flow belongs to which table;
 * names twice, targets that are not there, kinds of flows that exclude each other (RU-18 … RU-20).
 */
#include "processor/bind/program.h"

#include "processor/base/banned.h"

/* STR_NULL when the name has too many parts. */
static Str full_name(const Program *program, const AstName *name)
{
    Str parts[3];
    size_t count = ast_name_parts(name, parts, ARRAY_LENGTH(parts));
    const BindContext *context = program->context;
    return count == 0 ? STR_NULL
                      : catalog_full_name(context->catalog, parts, count, context->arena);
}

ProgramTable *program_find_table(const Program *program, const AstName *name)
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
        return statement_report(statement, error_at(ERROR_INVALID_IDENTIFIER, create->name.place,
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
        return statement_report(statement, duplicate_table(table));
    }
    statement_report(statement, check_existing_name(program, table));
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
    bool ok = statement_report(flow.statement, check_flow_name(program, added));
    if (flow.table != NULL) {
        ProgramFlow **last = &flow.table->flows;
        while (*last != NULL) {
            last = &(*last)->next;
        }
        *last = added;
        ok = statement_report(flow.statement, check_flow_conflict(added)) && ok;
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
                        .table = program_find_table(program, &create->target)};
    if (flow.table == NULL) {
        statement_report(statement, check_foreign_target(program, create, &flow.foreign));
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
    statement_report(statement, check_view_name(program, create, key));
    View *view = &program->views[program->view_count++];
    *view = (View){.create = create, .diagnostics = &statement->diagnostics};
    if (!create->if_not_exists || map_get(&program->views_by_name, key) == NULL) {
        map_put(&program->views_by_name, key, view);
    }
}

void program_collect(Program *program)
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

View *program_find_view(const Program *program, const AstName *name)
{
    Str key = full_name(program, name);
    return key.data == NULL ? NULL : map_get(&program->views_by_name, key);
}
