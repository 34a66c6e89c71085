/* Statements to topology to program. */
#include "processor/testing/implicit_program.h"

#include <ctype.h>

#include "processor/base/json_writer.h"
#include "processor/base/memory.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

typedef struct Statement {
    Str text;
    Str table;  /* full name of the table it defines or fills; STR_NULL for any other statement */
    Str name;   /* the table's as written, without backquotes */
    Str flow;   /* CREATE FLOW: its name */
    bool fresh; /* of the latest step */
} Statement;

/* REFRESH defines nothing: it is carried out, not kept. */
typedef struct Refresh {
    Str table; /* full name */
    bool full;
    SourcePlace place;
} Refresh;

struct ImplicitProgram {
    Arena *arena;
    Statement *statements;
    size_t statement_count;
    Program *program;
    Refresh *refreshes; /* of the latest step */
    size_t refresh_count;
    size_t *touched;
    size_t touched_count;
    size_t *rebuilt;
    size_t rebuilt_count;
};

void implicit_program_free(ImplicitProgram *program)
{
    if (program != NULL) {
        arena_free(program->arena);
        mem_free(program);
    }
}

const Program *implicit_program(const ImplicitProgram *program)
{
    return program->program;
}

const size_t *implicit_program_touched(const ImplicitProgram *program, size_t *ret_count)
{
    *ret_count = program->touched_count;
    return program->touched;
}

const size_t *implicit_program_rebuilt(const ImplicitProgram *program, size_t *ret_count)
{
    *ret_count = program->rebuilt_count;
    return program->rebuilt;
}

/* ----------------------------------------------------------------------------------- names ---- */

/* main.default.name in small letters, of one to three parts. */
static Str full_name(const Str *parts, size_t count, Arena *arena)
{
    static const char *const defaults[] = {"main.default.", "main.", ""};
    AUTO_BUFFER Buffer name = {0};
    if (count >= 1 && count <= 3) {
        buffer_append_cstr(&name, defaults[count - 1]);
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_append_byte(&name, '.');
        }
        for (size_t k = 0; k < parts[i].size; k++) {
            buffer_append_byte(&name, (char)tolower((unsigned char)parts[i].data[k]));
        }
    }
    return arena_copy_str(arena, buffer_str(&name));
}

static Str full_name_of_text(Str text, Arena *arena)
{
    Str parts[3];
    size_t count = catalog_split_name(text, parts, ARRAY_LENGTH(parts));
    return full_name(parts, count, arena);
}

static Str full_name_of_ast(const AstName *name, Arena *arena)
{
    Str parts[3];
    size_t count = name->part_count < 3 ? name->part_count : 3;
    for (size_t i = 0; i < count; i++) {
        parts[i] = name->parts[i].name;
    }
    return full_name(parts, count, arena);
}

static Str plain_name(const AstName *name, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < name->part_count; i++) {
        if (i > 0) {
            buffer_append_byte(&text, '.');
        }
        buffer_append_str(&text, name->parts[i].name);
    }
    return arena_copy_str(arena, buffer_str(&text));
}

int implicit_program_table(const ImplicitProgram *program, Str name)
{
    AUTO(arena) Arena *arena = arena_new("name");
    Str wanted = full_name_of_text(name, arena);
    for (size_t i = 0; i < program->program->table_count; i++) {
        Str own = full_name_of_text(program->program->tables[i].bound->name, arena);
        if (str_equal(own, wanted)) {
            return (int)i;
        }
    }
    return -1;
}

/* ------------------------------------------------------------------------------ statements ---- */

static Statement statement_of(const AstStatement *ast, Arena *arena)
{
    Statement statement = {.text = arena_copy_str(arena, ast->text), .fresh = true};
    if (ast->kind == AST_STATEMENT_CREATE_STREAMING_TABLE) {
        statement.table = full_name_of_ast(&ast->create_streaming_table.name, arena);
        statement.name = plain_name(&ast->create_streaming_table.name, arena);
    } else if (ast->kind == AST_STATEMENT_CREATE_FLOW) {
        statement.table = full_name_of_ast(&ast->create_flow.target, arena);
        statement.name = plain_name(&ast->create_flow.target, arena);
        statement.flow = arena_copy_str(arena, ast->create_flow.name.name);
    } else if (ast->kind == AST_STATEMENT_CREATE_VIEW) { /* no topic: it has no `name` */
        statement.table = full_name_of_ast(&ast->create_view.name, arena);
    }
    return statement;
}

/* Does `fresh` take the place of the earlier statement? A table made again starts from nothing; a
 * flow replaces the one of its name. */
static bool takes_place(const Statement *fresh, const Statement *old)
{
    if (fresh->table.data == NULL || old->table.data == NULL ||
        !str_equal(fresh->table, old->table)) {
        return false;
    }
    return fresh->flow.data == NULL ||
           (old->flow.data != NULL && str_equal_ignore_case(fresh->flow, old->flow));
}

static bool is_replaced(const Statement *old, const Statement *fresh, size_t fresh_count)
{
    for (size_t i = 0; i < fresh_count; i++) {
        if (takes_place(&fresh[i], old)) {
            return true;
        }
    }
    return false;
}

static Statement copy_statement(const Statement *statement, Arena *arena)
{
    return (Statement){.text = arena_copy_str(arena, statement->text),
                       .table = arena_copy_str(arena, statement->table),
                       .name = arena_copy_str(arena, statement->name),
                       .flow = arena_copy_str(arena, statement->flow)};
}

/* A mistake before what is not built. */
static Error *first_error(Diagnostics *diagnostics)
{
    size_t first = 0;
    while (first < diagnostics->count && error_class(diagnostics->errors[first]) == ERROR_NOT_YET) {
        first++;
    }
    first = first < diagnostics->count ? first : 0;
    Error *error = diagnostics->count == 0 ? NULL : error_copy(diagnostics->errors[first]);
    diagnostics_done(diagnostics);
    return error;
}

static Error *gather_statements(ImplicitProgram *program, const ImplicitProgram *before, Str sql)
{
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(arena_copy_str(program->arena, sql), program->arena, &diagnostics, &script);
    TRY(first_error(&diagnostics));
    size_t fresh_count = 0;
    Statement *fresh = arena_new_array(program->arena, Statement, script->statement_count);
    program->refreshes = arena_new_array(program->arena, Refresh, script->statement_count);
    for (size_t i = 0; i < script->statement_count; i++) {
        const AstStatement *ast = script->statements[i];
        if (ast->kind == AST_STATEMENT_REFRESH) {
            program->refreshes[program->refresh_count++] =
                (Refresh){full_name_of_ast(&ast->refresh.name, program->arena),
                          ast->refresh.mode == AST_REFRESH_FULL, ast->refresh.name.place};
        } else {
            fresh[fresh_count++] = statement_of(ast, program->arena);
        }
    }
    size_t old_count = before == NULL ? 0 : before->statement_count;
    program->statements = arena_new_array(program->arena, Statement, old_count + fresh_count);
    for (size_t i = 0; i < old_count; i++) {
        if (!is_replaced(&before->statements[i], fresh, fresh_count)) {
            program->statements[program->statement_count++] =
                copy_statement(&before->statements[i], program->arena);
        }
    }
    for (size_t i = 0; i < fresh_count; i++) {
        program->statements[program->statement_count++] = fresh[i];
    }
    return NULL;
}

/* ------------------------------------------------------------------------------- topology ---- */

/* A YAML value of a relation as JSON: plain words stay bare where that decides their meaning. */
static void write_yaml_value(JsonWriter *w, const YamlNode *node)
{
    if (node->kind == YAML_SEQUENCE) {
        json_array_begin(w);
        for (size_t i = 0; i < node->count; i++) {
            write_yaml_value(w, node->items[i]);
        }
        json_array_end(w);
    } else if (node->kind == YAML_SCALAR && node->style == YAML_PLAIN &&
               (str_equal(node->text, STR("true")) || str_equal(node->text, STR("false")))) {
        json_raw(w, node->text);
    } else {
        json_str(w, node->text);
    }
}

static bool is_ours(Str key)
{
    return str_equal(key, STR("columns")) || str_equal(key, STR("partitions")) ||
           str_equal(key, STR("config"));
}

static void write_source(JsonWriter *w, const ImplicitPipeline *pipeline,
                         const ScenarioRelation *relation, Arena *arena)
{
    json_key(w, arena_copy_cstr(arena, relation->name));
    json_object_begin(w);
    json_field_cstr(w, "topic",
                    arena_printf(arena, "%s%.*s", pipeline->prefix, STR_ARG(relation->name)));
    json_field_str(w, "columns", relation->columns);
    for (size_t i = 0; i < relation->node->count; i++) {
        const YamlEntry *entry = &relation->node->entries[i];
        if (!is_ours(entry->key)) {
            json_key(w, arena_copy_cstr(arena, entry->key));
            write_yaml_value(w, entry->value);
        }
    }
    json_object_end(w);
}

static bool was_written(const ImplicitProgram *program, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (program->statements[i].table.data != NULL &&
            str_equal(program->statements[i].table, program->statements[index].table)) {
            return true;
        }
    }
    return false;
}

/* Names that a topology can name; a quoted one with odd characters keeps the defaults. */
static bool can_be_configured(const Statement *statement)
{
    Str parts[3];
    return statement->table.data != NULL && topology_name_parts(statement->name, parts) > 0;
}

static void write_tables(JsonWriter *w, const ImplicitPipeline *pipeline,
                         const ImplicitProgram *program)
{
    json_key(w, "tables");
    json_object_begin(w);
    for (size_t i = 0; i < program->statement_count; i++) {
        const Statement *statement = &program->statements[i];
        if (!can_be_configured(statement) || statement->flow.data != NULL ||
            was_written(program, i)) {
            continue;
        }
        json_key(w, arena_copy_cstr(program->arena, statement->name));
        json_object_begin(w);
        json_field_cstr(
            w, "topic",
            arena_printf(program->arena, "%s%.*s", pipeline->prefix, STR_ARG(statement->name)));
        if (pipeline->options->shards != 0) {
            json_field_int(w, "partitions", (int64_t)pipeline->options->shards);
        }
        json_object_end(w);
    }
    json_object_end(w);
}

static void write_settings(JsonWriter *w, const ImplicitPipeline *pipeline)
{
    json_field_cstr(w, "pipeline", pipeline->name);
    if (pipeline->scenario->time_zone.data != NULL) {
        json_field_str(w, "time_zone", pipeline->scenario->time_zone);
    }
    const char *bootstrap = pipeline->options->bootstrap;
    json_key(w, "kafka");
    json_object_begin(w);
    json_field_cstr(w, "bootstrap", bootstrap == NULL ? "model:9092" : bootstrap);
    json_object_end(w);
    json_key(w, "state");
    json_object_begin(w);
    json_field_cstr(w, "memory", "32MiB");
    if (pipeline->options->fault_name != NULL) {
        /* So that checkpoints, and the fault points in them, fall into every update. */
        json_field_cstr(w, "checkpoint_interval", "10ms");
    }
    json_object_end(w);
    json_key(w, "retry");
    json_object_begin(w);
    json_field_cstr(w, "backoff", "5ms");
    json_field_cstr(w, "backoff_max", "50ms");
    json_object_end(w);
}

static Str topology_text(const ImplicitPipeline *pipeline, const ImplicitProgram *program)
{
    AUTO_BUFFER Buffer text = {0};
    JsonWriter w = json_writer(&text);
    json_object_begin(&w);
    write_settings(&w, pipeline);
    json_key(&w, "sources");
    json_object_begin(&w);
    for (size_t i = 0; i < pipeline->scenario->relation_count; i++) {
        write_source(&w, pipeline, &pipeline->scenario->relations[i], program->arena);
    }
    json_object_end(&w);
    write_tables(&w, pipeline, program);
    json_key(&w, "sql");
    json_array_begin(&w);
    for (size_t i = 0; i < program->statement_count; i++) {
        json_str(&w, program->statements[i].text);
    }
    json_array_end(&w);
    json_object_end(&w);
    return arena_copy_str(program->arena, buffer_str(&text));
}

/* -------------------------------------------------------------------------------- programs ---- */

static Error *judge(ImplicitProgram *program, const Topology *topology, Diagnostics *diagnostics)
{
    if (diagnostics->count == 0) {
        program_load(topology, program->arena, diagnostics, &program->program);
    }
    return first_error(diagnostics);
}

static Error *load_from_text(ImplicitProgram *program, const ImplicitPipeline *pipeline)
{
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    topology_load_text(topology_text(pipeline, program), "scenario", NULL, program->arena,
                       &diagnostics, &topology);
    return judge(program, topology, &diagnostics);
}

/* A statement that defines nothing has no place in a pipeline; the binder says so of most. */
static Error *check_effects(const ImplicitProgram *program)
{
    for (size_t i = 0; i < program->statement_count; i++) {
        if (program->statements[i].table.data == NULL) {
            return error_new(ERROR_NOT_YET,
                             "Statements other than CREATE are not supported yet: %.*s",
                             STR_ARG(program->statements[i].text));
        }
    }
    return NULL;
}

static const Refresh *find_refresh(const ImplicitProgram *program, Str table)
{
    const Refresh *found = NULL;
    for (size_t i = 0; i < program->refresh_count; i++) {
        const Refresh *refresh = &program->refreshes[i];
        if (str_equal(refresh->table, table) && (found == NULL || refresh->full)) {
            found = refresh;
        }
    }
    return found;
}

static bool is_defined_afresh(const ImplicitProgram *program, Str table)
{
    for (size_t i = 0; i < program->statement_count; i++) {
        if (program->statements[i].fresh && str_equal(program->statements[i].table, table)) {
            return true;
        }
    }
    return false;
}

static void find_touched(ImplicitProgram *program)
{
    const Program *loaded = program->program;
    program->touched = arena_new_array(program->arena, size_t, loaded->table_count);
    program->rebuilt = arena_new_array(program->arena, size_t, loaded->table_count);
    for (size_t t = 0; t < loaded->table_count; t++) {
        Str name = full_name_of_text(loaded->tables[t].bound->name, program->arena);
        const Refresh *refresh = find_refresh(program, name);
        if (refresh != NULL && refresh->full) {
            program->rebuilt[program->rebuilt_count++] = t;
        } else if (refresh != NULL || is_defined_afresh(program, name)) {
            program->touched[program->touched_count++] = t;
        }
    }
}

static Error *check_refreshes(const ImplicitProgram *program)
{
    for (size_t i = 0; i < program->refresh_count; i++) {
        const Refresh *refresh = &program->refreshes[i];
        if (implicit_program_table(program, refresh->table) < 0) {
            return error_at(ERROR_TABLE_OR_VIEW_NOT_FOUND, refresh->place,
                            "The table or view `%.*s` cannot be found. Verify the spelling and "
                            "correctness of the schema and catalog.",
                            STR_ARG(refresh->table));
        }
    }
    return NULL;
}

static ImplicitProgram *new_program(void)
{
    ImplicitProgram *program = mem_new(ImplicitProgram);
    program->arena = arena_new("program");
    return program;
}

Error *implicit_program_add(const ImplicitPipeline *pipeline, const ImplicitProgram *before,
                            Str sql, ImplicitProgram **ret_program)
{
    AUTO(implicit_program) ImplicitProgram *program = new_program();
    TRY(gather_statements(program, before, sql));
    TRY(load_from_text(program, pipeline));
    TRY(check_effects(program));
    TRY(check_refreshes(program));
    find_touched(program);
    *ret_program = program;
    program = NULL;
    return NULL;
}

Error *implicit_program_from_file(const ImplicitPipeline *pipeline, ImplicitProgram **ret_program)
{
    AUTO(implicit_program) ImplicitProgram *program = new_program();
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    const char *path = arena_copy_cstr(program->arena, pipeline->scenario->topology);
    topology_load_file(path, program->arena, &diagnostics, &topology);
    TRY(judge(program, topology, &diagnostics));
    *ret_program = program;
    program = NULL;
    return NULL;
}
