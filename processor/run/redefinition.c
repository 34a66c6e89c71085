/* Programs over stored tables. */
#include "processor/run/redefinition.h"

#include "processor/data/type_widening.h"
#include "processor/run/flow_states.h"
#include "processor/run/names.h"
#include "processor/run/table_definition.h"

#include "processor/base/banned.h"

Error *stored_tables_read(Log *log, const Program *program, int timeout_ms, Arena *arena,
                          StoredTable **ret_stored)
{
    const char *topic = name_progress_topic(arena, program->topology->pipeline);
    size_t count = program->table_count;
    Str *flows = arena_new_array(arena, Str, count);
    Str *tables = arena_new_array(arena, Str, count);
    Progress *progress = arena_new_array(arena, Progress, count);
    for (size_t i = 0; i < count; i++) {
        flows[i] = program->tables[i].flow->name;
        tables[i] = program->tables[i].bound->name;
    }
    Error *error = progress_read_all(log, topic, READ_COMMITTED, flows, tables, count, timeout_ms,
                                     arena, progress);
    if (error != NULL && error_class(error) != ERROR_KAFKA_TOPIC_NOT_FOUND) {
        return error;
    }
    error_free(error);
    StoredTable *stored = arena_new_array(arena, StoredTable, count);
    for (size_t i = 0; i < count; i++) {
        stored[i] =
            (StoredTable){progress[i].has_definition, progress[i].resetting, progress[i].definition,
                          progress[i].states, progress[i].state_count};
    }
    *ret_stored = stored;
    return NULL;
}

static bool same_schema_text(const ProgramTable *table, const ProgressDefinition *definition)
{
    AUTO_BUFFER Buffer text = {0};
    schema_format(table->bound->schema, &text);
    return definition->schema_count > 0 &&
           str_equal(buffer_str(&text), definition->schemas[definition->schema_count - 1]);
}

static bool same_key(const ProgramTable *table, const ProgressDefinition *definition)
{
    const Schema *schema = table->bound->schema;
    bool same = table->flow->key_count == definition->key_count &&
                str_equal(schema->fields[table->flow->sequence].name, definition->sequence);
    for (size_t i = 0; same && i < definition->key_count; i++) {
        same = str_equal(schema->fields[table->flow->keys[i]].name, definition->keys[i]);
    }
    return same;
}

static Error *first_error(Diagnostics *diagnostics)
{
    Error *error = NULL;
    if (diagnostics->count > 0) {
        error = diagnostics->errors[0];
        diagnostics->errors[0] = NULL;
    }
    diagnostics_done(diagnostics);
    return error;
}

Error *program_over_stored(const Program *program, const StoredTable *stored, const bool *rebuilt,
                           Arena *arena, const Program **ret_program)
{
    Relation *relations = arena_new_array(arena, Relation, program->table_count);
    size_t count = 0;
    bool same = true;
    for (size_t i = 0; i < program->table_count; i++) {
        const ProgramTable *table = &program->tables[i];
        const ProgressDefinition *definition = &stored[i].definition;
        if (!stored[i].known || stored[i].resetting || (rebuilt != NULL && rebuilt[i])) {
            continue;
        }
        TRY(definition_relation(table->bound->name, definition, arena, &relations[count++]));
        same = same && same_schema_text(table, definition) && same_key(table, definition);
    }
    if (same) {
        *ret_program = program;
        return NULL;
    }
    Diagnostics diagnostics = {0};
    Program *over = NULL;
    program_load_over(program->topology, relations, count, arena, &diagnostics, &over);
    TRY(first_error(&diagnostics));
    *ret_program = over;
    return NULL;
}

/* -------------------------------------------------------------------------------- judging ---- */

const char *redefinition_name(RedefinitionKind kind)
{
    switch (kind) {
    case REDEFINITION_NEW:
        return "new";
    case REDEFINITION_NONE:
        return "unchanged";
    case REDEFINITION_COMPATIBLE:
        return "compatible";
    case REDEFINITION_FULL_REFRESH:
        return "needs a full refresh";
    case REDEFINITION_REFUSED:
        return "refused";
    }
    return "";
}

Error *check_reset_allowed(const ProgramTable *table)
{
    for (size_t i = 0; i < table->bound->property_count; i++) {
        const BoundProperty *property = &table->bound->properties[i];
        if (str_equal(property->name, STR("pipelines.reset.allowed")) &&
            str_equal_ignore_case(property->value, STR("false"))) {
            return error_set_hint(
                error_new(ERROR_RESET_NOT_ALLOWED,
                          "The table `%.*s` forbids a full refresh by its property "
                          "pipelines.reset.allowed.",
                          STR_ARG(table->bound->name)),
                "a refresh without FULL works; set the property to 'true' to build it anew");
        }
    }
    return NULL;
}

typedef struct Changes {
    Arena *arena;
    Redefinition *redefinition;
    size_t capacity;
} Changes;

static void add_change(Changes *changes, const Buffer *text)
{
    Redefinition *redefinition = changes->redefinition;
    *arena_push(changes->arena, redefinition->changes, redefinition->change_count,
                changes->capacity) = arena_copy_str(changes->arena, buffer_str(text));
}

static void tell_stored_column(Changes *changes, const Field *old, const Schema *declared,
                               const Schema *merged)
{
    AUTO_BUFFER Buffer text = {0};
    const Field *now = &merged->fields[schema_find(merged, old->name)];
    if (schema_find(declared, old->name) < 0) {
        buffer_printf(&text, "column `%.*s` stays; it is NULL in rows to come", STR_ARG(old->name));
    } else if (!type_equal(old->type, now->type)) {
        buffer_printf(&text, "column `%.*s` widens from ", STR_ARG(old->name));
        type_format(old->type, &text);
        buffer_append_cstr(&text, " to ");
        type_format(now->type, &text);
    } else {
        return;
    }
    add_change(changes, &text);
}

static void tell_new_column(Changes *changes, const Field *now)
{
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, "column ");
    field_format(now, " ", &text);
    buffer_append_cstr(&text, " is new; it is NULL in the rows there are");
    add_change(changes, &text);
}

static void tell_columns(Changes *changes, const Schema *old, const Schema *declared,
                         const Schema *merged)
{
    for (size_t i = 0; i < old->field_count; i++) {
        tell_stored_column(changes, &old->fields[i], declared, merged);
    }
    for (size_t i = 0; i < merged->field_count; i++) {
        if (schema_find(old, merged->fields[i].name) < 0) {
            tell_new_column(changes, &merged->fields[i]);
        }
    }
}

/* Not of columns: the flow's text, clauses, topic. */
static void tell_others(Changes *changes, const ProgressDefinition *old,
                        const ProgressDefinition *now)
{
    AUTO_BUFFER Buffer text = {0};
    if (!str_equal(old->query, now->query)) {
        buffer_append_cstr(&text,
                           "the flow changed; it applies to records from now on"); /* ST-54 */
        add_change(changes, &text);
    }
    buffer_clear(&text);
    definition_format_removed(old, now, &text);
    if (text.size > 0) {
        AUTO_BUFFER Buffer removed = {0};
        buffer_printf(&removed, "no longer there: %.*s", STR_ARG(buffer_str(&text)));
        add_change(changes, &removed);
    }
    buffer_clear(&text);
    definition_format_removed(now, old, &text);
    if (text.size > 0) {
        AUTO_BUFFER Buffer added = {0};
        buffer_printf(&added, "new: %.*s", STR_ARG(buffer_str(&text)));
        add_change(changes, &added);
    }
}

/* Another topic: what is stored stays in the one before. */
static Error *topic_changed(const ProgramTable *table, const ProgressDefinition *old)
{
    return error_at(ERROR_KAFKA_TOPIC_MISMATCH, table->bound->place,
                    "The rows of table `%.*s` are in topic `%.*s`, not in `%s`.",
                    STR_ARG(table->bound->name), STR_ARG(old->topic), table->topic);
}

static Error *tell_changes(const Program *over, const Program *program, size_t index,
                           const ProgressDefinition *old, Arena *arena, Redefinition *redefinition)
{
    Changes changes = {.arena = arena, .redefinition = redefinition};
    const Schema **schemas = NULL;
    TRY(definition_schemas(old, arena, &schemas));
    ProgressDefinition now = {0};
    TRY(definition_next(&over->tables[index], old, schemas, program->time_zone, arena, &now));
    if (old->schema_count > 0) {
        tell_columns(&changes, schemas[old->schema_count - 1], program->tables[index].bound->schema,
                     over->tables[index].bound->schema);
    }
    tell_others(&changes, old, &now);
    redefinition->kind =
        redefinition->change_count > 0 ? REDEFINITION_COMPATIBLE : REDEFINITION_NONE;
    return NULL;
}

/* The mistake is one of the redefinition, for the program alone has none. */
static void refuse(const ProgramTable *table, Error *error, Redefinition *redefinition)
{
    bool mended = error_class(error) == ERROR_FULL_REFRESH_REQUIRED;
    diagnostics_add(&redefinition->reasons, error);
    redefinition->kind = mended ? REDEFINITION_FULL_REFRESH : REDEFINITION_REFUSED;
    Error *forbidden = mended ? check_reset_allowed(table) : NULL;
    if (forbidden != NULL) {
        diagnostics_add(&redefinition->reasons, forbidden);
        redefinition->kind = REDEFINITION_REFUSED;
    }
}

/* What the operators of its flow remember (join, DISTINCT), placed in the user's file as a start
 * does. */
static Error *check_states(const Program *over, size_t index, const StoredTable *stored,
                           Arena *arena)
{
    const ProgramTable *table = &over->tables[index];
    Error *error = flow_states_check(table, stored->states, stored->state_count, arena);
    if (error != NULL && error_place(error).line > 0) {
        topology_place_sql_error(&over->topology->sql[table->flow->script], error);
    }
    return error;
}

Error *redefinition_judge(const Program *program, size_t index, const StoredTable *stored,
                          Arena *arena, Redefinition *ret_redefinition)
{
    *ret_redefinition = (Redefinition){.kind = REDEFINITION_NEW};
    const ProgramTable *table = &program->tables[index];
    if (!stored->known || stored->resetting) {
        return NULL;
    }
    if (!str_equal(stored->definition.topic, str_from(table->topic))) {
        refuse(table, topic_changed(table, &stored->definition), ret_redefinition);
        return NULL;
    }
    StoredTable *alone = arena_new_array(arena, StoredTable, program->table_count);
    alone[index] = *stored;
    const Program *over = program;
    Error *error = program_over_stored(program, alone, NULL, arena, &over);
    if (error == NULL) {
        error = check_states(over, index, stored, arena);
    }
    if (error == NULL) {
        error = tell_changes(over, program, index, &stored->definition, arena, ret_redefinition);
    }
    if (error != NULL) {
        refuse(table, error, ret_redefinition);
    }
    return NULL;
}
