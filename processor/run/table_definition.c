/* Definitions of tables: made from a program, compared with the one before. */
#include "processor/run/table_definition.h"

#include "processor/bind/bind.h"
#include "processor/data/type_widening.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

Error *definition_schemas(const ProgressDefinition *definition, Arena *arena,
                          const Schema ***ret_schemas)
{
    const Schema **schemas = arena_new_array(arena, const Schema *, definition->schema_count + 1);
    for (size_t i = 0; i < definition->schema_count; i++) {
        AstColumnDefinition *columns = NULL;
        size_t count = 0;
        TRY(sql_parse_column_definitions(definition->schemas[i], arena, &columns, &count));
        TRY(bind_schema(arena, columns, count, &schemas[i]));
    }
    *ret_schemas = schemas;
    return NULL;
}

/* -------------------------------------------------------------------------------- clauses ---- */

typedef struct Clauses {
    Arena *arena;
    Str *texts;
    size_t count;
    size_t capacity;
} Clauses;

static void add_clause(Clauses *clauses, const char *what, Str name, const char *more)
{
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, what);
    if (name.data != NULL) {
        buffer_printf(&text, " `%.*s`", STR_ARG(name));
    }
    buffer_append_cstr(&text, more);
    *arena_push(clauses->arena, clauses->texts, clauses->count, clauses->capacity) =
        arena_copy_str(clauses->arena, buffer_str(&text));
}

/* Whatever CREATE OR REFRESH takes away when it does not repeat it (ST-5). */
static Clauses clauses_of(const BoundTable *table, Arena *arena)
{
    Clauses clauses = {.arena = arena};
    if (table->comment.data != NULL) {
        add_clause(&clauses, "COMMENT", STR_NULL, "");
    }
    for (size_t i = 0; i < table->property_count; i++) {
        add_clause(&clauses, "TBLPROPERTIES", table->properties[i].name, "");
    }
    for (size_t i = 0; i < table->expectation_count; i++) {
        add_clause(&clauses, "CONSTRAINT", table->expectations[i].name, "");
    }
    for (size_t i = 0; i < table->schema->field_count; i++) {
        const Field *field = &table->schema->fields[i];
        if (field->not_null) {
            add_clause(&clauses, "column", field->name, " NOT NULL");
        }
        if (field->comment.data != NULL) {
            add_clause(&clauses, "column", field->name, " COMMENT");
        }
    }
    return clauses;
}

static bool has_text(const Str *texts, size_t count, Str text)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal_ignore_case(texts[i], text)) {
            return true;
        }
    }
    return false;
}

void definition_format_removed(const ProgressDefinition *old, const ProgressDefinition *now,
                               Buffer *out)
{
    const char *separator = "";
    for (size_t i = 0; i < old->clause_count; i++) {
        if (!has_text(now->clauses, now->clause_count, old->clauses[i])) {
            buffer_printf(out, "%s%.*s", separator, STR_ARG(old->clauses[i]));
            separator = ", ";
        }
    }
}

/* ------------------------------------------------------------------------ from the program ---- */

static Str schema_text(const Schema *schema, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    schema_format(schema, &text);
    return arena_copy_str(arena, buffer_str(&text));
}

/* Without schemas. */
static ProgressDefinition wanted_definition(const ProgramTable *table, Arena *arena)
{
    const BoundFlow *flow = table->flow;
    const Schema *schema = table->bound->schema;
    Clauses clauses = clauses_of(table->bound, arena);
    ProgressDefinition wanted = {.key_count = flow->key_count,
                                 .sequence = schema->fields[flow->sequence].name,
                                 .query = flow->text,
                                 .topic = str_from(table->topic),
                                 .date_zone = STR(""),
                                 .clauses = clauses.texts,
                                 .clause_count = clauses.count};
    wanted.keys = arena_new_array(arena, Str, flow->key_count);
    for (size_t i = 0; i < flow->key_count; i++) {
        wanted.keys[i] = schema->fields[flow->keys[i]].name;
    }
    return wanted;
}

ProgressDefinition definition_fresh(const ProgramTable *table, const int64_t *begins,
                                    size_t begin_count, Arena *arena)
{
    ProgressDefinition fresh = wanted_definition(table, arena);
    fresh.schemas = arena_new_array(arena, Str, 1);
    fresh.schemas[0] = schema_text(table->bound->schema, arena);
    fresh.schema_count = 1;
    fresh.begins = arena_new_array(arena, int64_t, begin_count);
    for (size_t i = 0; i < begin_count; i++) {
        fresh.begins[i] = begins[i];
    }
    fresh.begin_count = begin_count;
    return fresh;
}

/* ---------------------------------------------------------------------- against the old one ----
 */

static bool same_names(const Str *a, size_t a_count, const Str *b, size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!str_equal_ignore_case(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

static Error *rebuild_hint(Error *error)
{
    return error_set_hint(error, "restore the old definition, or build the table anew: tidemark "
                                 "refresh T.yaml TABLE --full");
}

/* RU-55: rows were keyed and ordered by the old columns. */
static Error *check_keys(const ProgramTable *table, const ProgressDefinition *old,
                         const ProgressDefinition *now)
{
    bool keys = same_names(old->keys, old->key_count, now->keys, now->key_count);
    if (keys && str_equal_ignore_case(old->sequence, now->sequence)) {
        return NULL;
    }
    return rebuild_hint(error_at(ERROR_FULL_REFRESH_REQUIRED, table->flow->place,
                                 "Table `%.*s`: the %s of its REPLACE USING flow changed.",
                                 STR_ARG(table->bound->name),
                                 keys ? "SEQUENCE BY column" : "key columns"));
}

static Error *column_changed(const ProgramTable *table, const Field *old, const Field *now)
{
    AUTO_BUFFER Buffer from = {0};
    AUTO_BUFFER Buffer to = {0};
    type_format(old->type, &from);
    if (now == NULL) {
        buffer_append_cstr(&to, "nothing");
    } else {
        type_format(now->type, &to);
    }
    return rebuild_hint(error_at(ERROR_SCHEMA_MISMATCH, table->bound->place,
                                 "Table `%.*s`: column `%.*s` was %s and would be %s.",
                                 STR_ARG(table->bound->name), STR_ARG(old->name),
                                 buffer_cstr(&from), buffer_cstr(&to)));
}

static bool has_new_instants(const Type *from, const Type *to);

static bool field_has_new_instants(const Field *field, const Type *to)
{
    for (size_t i = 0; i < to->field_count; i++) {
        if (str_equal_ignore_case(to->fields[i].name, field->name)) {
            return has_new_instants(field->type, to->fields[i].type);
        }
    }
    return false;
}

/* Does a DATE, also one inside of a value, become a TIMESTAMP? Depth is bounded by the types. */
static bool has_new_instants(const Type *from, const Type *to)
{
    bool any = from->kind == TYPE_DATE && to->kind == TYPE_TIMESTAMP;
    if (from->kind == TYPE_ARRAY || from->kind == TYPE_MAP) {
        any = has_new_instants(from->element, to->element);
    }
    for (size_t i = 0; from->kind == TYPE_STRUCT && i < from->field_count; i++) {
        any = any || field_has_new_instants(&from->fields[i], to);
    }
    return any;
}

/* Dates that are timestamps from now on begin in the session's zone. It is kept: another zone later
 * would move the rows there are. */
static Error *note_dates(const ProgramTable *table, const Type *from, const Type *to,
                         const TimeZone *zone, ProgressDefinition *now)
{
    if (!has_new_instants(from, to)) {
        return NULL;
    }
    if (now->date_zone.size > 0 && !str_equal(now->date_zone, time_zone_id(zone))) {
        return rebuild_hint(error_at(ERROR_FULL_REFRESH_REQUIRED, table->bound->place,
                                     "Table `%.*s`: a DATE becomes a timestamp in zone %.*s, "
                                     "others of the table did so in %.*s.",
                                     STR_ARG(table->bound->name), STR_ARG(time_zone_id(zone)),
                                     STR_ARG(now->date_zone)));
    }
    now->date_zone = time_zone_id(zone);
    return NULL;
}

/* Every column that is stored stays, under a type that holds its values. */
static Error *check_columns(const ProgramTable *table, const Schema *old, const TimeZone *zone,
                            ProgressDefinition *now)
{
    const Schema *schema = table->bound->schema;
    for (size_t i = 0; i < old->field_count; i++) {
        int at = schema_find(schema, old->fields[i].name);
        if (at < 0 || !type_widens_to(old->fields[i].type, schema->fields[at].type)) {
            return column_changed(table, &old->fields[i], at < 0 ? NULL : &schema->fields[at]);
        }
        TRY(note_dates(table, old->fields[i].type, schema->fields[at].type, zone, now));
    }
    return NULL;
}

Error *definition_next(const ProgramTable *table, const ProgressDefinition *old,
                       const Schema *const *schemas, const TimeZone *zone, Arena *arena,
                       ProgressDefinition *ret_definition)
{
    ProgressDefinition now = wanted_definition(table, arena);
    now.date_zone = old->date_zone;
    now.begins = old->begins;
    now.begin_count = old->begin_count;
    TRY(check_keys(table, old, &now));
    const Schema *newest = old->schema_count == 0 ? NULL : schemas[old->schema_count - 1];
    if (newest != NULL) {
        TRY(check_columns(table, newest, zone, &now));
    }
    now.schemas = arena_new_array(arena, Str, old->schema_count + 1);
    for (size_t i = 0; i < old->schema_count; i++) {
        now.schemas[i] = old->schemas[i];
    }
    now.schema_count = old->schema_count;
    /* A version more also when NOT NULL or a comment changed: the next definition is judged by it.
     */
    Str text = schema_text(table->bound->schema, arena);
    if (newest == NULL || !str_equal(text, old->schemas[old->schema_count - 1])) {
        now.schemas[now.schema_count++] = text;
    }
    *ret_definition = now;
    return NULL;
}

static bool same_texts(const Str *a, size_t a_count, const Str *b, size_t b_count)
{
    for (size_t i = 0; a_count == b_count && i < a_count; i++) {
        if (!str_equal(a[i], b[i])) {
            return false;
        }
    }
    return a_count == b_count;
}

bool definition_equal(const ProgressDefinition *a, const ProgressDefinition *b)
{
    return a->schema_count == b->schema_count && str_equal(a->query, b->query) &&
           str_equal(a->topic, b->topic) && str_equal(a->date_zone, b->date_zone) &&
           same_texts(a->clauses, a->clause_count, b->clauses, b->clause_count);
}

Error *definition_relation(Str table, const ProgressDefinition *definition, Arena *arena,
                           Relation *ret_relation)
{
    const Schema **schemas = NULL;
    TRY(definition_schemas(definition, arena, &schemas));
    *ret_relation = (Relation){
        .name = table,
        .kind = RELATION_TARGET,
        .schema = definition->schema_count == 0 ? NULL : schemas[definition->schema_count - 1],
        .keys = definition->keys,
        .key_count = definition->key_count,
        .sequence = definition->sequence};
    return NULL;
}
