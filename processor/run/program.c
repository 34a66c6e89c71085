/* Judging a topology as a whole. */
#include "processor/run/program.h"

#include <assert.h>

#include "connectors/format/format.h"
#include "connectors/kafka/kafka.h"
#include "processor/exec/query.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

typedef struct Loading {
    Program *program;
    Arena *arena;
    Diagnostics *diagnostics;
    bool has_syntax_errors;
} Loading;

static void report_at(Loading *loading, SourcePlace place, Error *error)
{
    error_set_place(error, place);
    topology_place_error(loading->program->topology, error);
    diagnostics_add(loading->diagnostics, error);
}

static void release_zone(void *zone)
{
    time_zone_free(zone);
}

static void load_time_zone(Loading *loading)
{
    const Topology *topology = loading->program->topology;
    TimeZone *zone = NULL;
    Error *error = time_zone_open(topology->time_zone, &zone);
    if (error != NULL) {
        report_at(loading, topology->time_zone_place, error);
        loading->program->time_zone = time_zone_utc();
        return;
    }
    arena_on_reset(loading->arena, release_zone, zone);
    loading->program->time_zone = zone;
}

static void check_properties(Loading *loading)
{
    const TopologyKafka *kafka = &loading->program->topology->kafka;
    for (size_t i = 0; i < kafka->property_count; i++) {
        const TopologyProperty *property = &kafka->properties[i];
        if (property->value.data == NULL) { /* no single value, and reported */
            continue;
        }
        Error *error = kafka_check_property(arena_copy_cstr(loading->arena, property->name),
                                            arena_copy_cstr(loading->arena, property->value));
        if (error != NULL) {
            report_at(loading, property->name_place, error);
        }
    }
}

/* The schema of a source's `columns`, which the JSON decoder can bring. */
static Error *source_schema(Loading *loading, const TopologySource *config,
                            const Schema **ret_schema)
{
    AstColumnDefinition *columns = NULL;
    size_t count = 0;
    TRY(sql_parse_column_definitions(config->columns.text, loading->arena, &columns, &count));
    const Schema *schema = NULL;
    TRY(bind_schema(loading->arena, columns, count, &schema));
    DecoderOptions options = {
        .kind = FORMAT_JSON, .time_zone = loading->program->time_zone, .coerce = config->coerce};
    Decoder *decoder = NULL;
    TRY(decoder_open(&options, schema, &decoder));
    decoder_close(decoder);
    *ret_schema = schema;
    return NULL;
}

bool program_start_time(const TopologySource *config, const TimeZone *zone, int64_t *ret_us)
{
    int32_t days = 0;
    if (!date_parse_iso(config->start_text, &days)) {
        return timestamp_parse_iso(config->start_text, zone, ret_us);
    }
    AUTO_BUFFER Buffer midnight = {0};
    buffer_printf(&midnight, "%.*sT00:00", STR_ARG(config->start_text));
    return timestamp_parse_iso(buffer_str(&midnight), zone, ret_us);
}

static void load_start(Loading *loading, const TopologySource *config)
{
    int64_t time_us = 0;
    if (config->start == TOPOLOGY_START_TIMESTAMP &&
        !program_start_time(config, loading->program->time_zone, &time_us)) {
        Error *error = error_new(ERROR_CONFIG_INVALID_VALUE,
                                 "`start` of source `%.*s` is no timestamp: `%.*s`.",
                                 STR_ARG(config->name), STR_ARG(config->start_text));
        error_set_hint(error, "earliest, latest, or ISO 8601 such as 2026-03-01T00:00:00Z");
        report_at(loading, config->start_place, error);
    }
}

static Error *key_column_unknown(const TopologySource *config, const TopologyText *key,
                                 const Schema *schema)
{
    Error *error =
        error_new(ERROR_CONFIG_INVALID_VALUE, "`sources.%.*s.key`: there is no column `%.*s`.",
                  STR_ARG(config->name), STR_ARG(key->text));
    Str nearest = schema_nearest(schema, key->text);
    return nearest.data == NULL ? error
                                : error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
}

/* `key` names columns, each once; a table of latest values needs it. */
static void check_key(Loading *loading, const TopologySource *config, const Schema *schema)
{
    if (config->kind == TOPOLOGY_TABLE && config->key_count == 0) {
        Error *error = error_new(ERROR_CONFIG_MISSING_KEY, "`sources.%.*s.key` is required.",
                                 STR_ARG(config->name));
        error_set_hint(error, "a source of `kind: table` keeps the latest row per key: name the "
                              "columns of the record's key");
        report_at(loading, config->name_place, error);
    }
    for (size_t i = 0; i < config->key_count; i++) {
        const TopologyText *key = &config->key[i];
        bool twice = false;
        for (size_t k = 0; k < i; k++) {
            twice = twice || str_equal_ignore_case(config->key[k].text, key->text);
        }
        if (schema_find(schema, key->text) < 0) {
            report_at(loading, key->place, key_column_unknown(config, key, schema));
        } else if (twice) {
            report_at(loading, key->place,
                      error_new(ERROR_DUPLICATE_KEY_COLUMN,
                                "`sources.%.*s.key`: the column `%.*s` is given twice.",
                                STR_ARG(config->name), STR_ARG(key->text)));
        }
    }
}

static void load_source(Loading *loading, const TopologySource *config, ProgramSource *source)
{
    source->config = config;
    source->topic = arena_copy_cstr(loading->arena, config->topic);
    Error *error = source_schema(loading, config, &source->schema);
    if (error != NULL) {
        topology_place_sql_error(&config->columns, error);
        diagnostics_add(loading->diagnostics, error);
        return;
    }
    load_start(loading, config);
    check_key(loading, config, source->schema);
    Relation relation = {.name = config->name,
                         .kind = config->kind == TOPOLOGY_STREAM ? RELATION_STREAM : RELATION_TABLE,
                         .schema = source->schema,
                         .index = (size_t)(source - loading->program->sources)};
    error = catalog_add(loading->program->catalog, &relation);
    if (error != NULL) {
        report_at(loading, config->name_place, error);
    }
}

static void load_sources(Loading *loading)
{
    Program *program = loading->program;
    const Topology *topology = program->topology;
    program->sources = arena_new_array(loading->arena, ProgramSource, topology->source_count);
    program->source_count = topology->source_count;
    for (size_t i = 0; i < topology->source_count; i++) {
        if (!topology->sources[i].broken) {
            load_source(loading, &topology->sources[i], &program->sources[i]);
        }
    }
}

static void report_script_error(void *context, size_t script, Error *error)
{
    Loading *loading = context;
    topology_place_sql_error(&loading->program->topology->sql[script], error);
    diagnostics_add(loading->diagnostics, error);
}

static AstScript **parse_scripts(Loading *loading)
{
    const Topology *topology = loading->program->topology;
    AstScript **scripts = arena_new_array(loading->arena, AstScript *, topology->sql_count);
    for (size_t i = 0; i < topology->sql_count; i++) {
        Diagnostics own = {0};
        sql_parse_script(topology->sql[i].text, loading->arena, &own, &scripts[i]);
        loading->has_syntax_errors = loading->has_syntax_errors || own.count > 0;
        for (size_t k = 0; k < own.count; k++) {
            report_script_error(loading, i, own.errors[k]);
            own.errors[k] = NULL;
        }
        diagnostics_done(&own);
    }
    return scripts;
}

static void bind_scripts(Loading *loading, AstScript **scripts)
{
    Program *program = loading->program;
    BindContext context = {.catalog = program->catalog,
                           .functions = function_catalog(),
                           .time_zone = program->time_zone,
                           .pipeline = true,
                           .owner = program->topology->owner,
                           .incomplete = loading->has_syntax_errors,
                           .arena = loading->arena};
    bind_program(&context, (const AstScript *const *)scripts, program->topology->sql_count,
                 report_script_error, loading, &program->bound);
}

/* The configured table of that name; names are compared whole, in full and in short form. */
static const TopologyTable *table_config(const Program *program, Str name, Arena *arena)
{
    Str parts[3];
    size_t count = 0;
    for (Str rest = name; rest.data != NULL && count < 3;) {
        parts[count++] = str_cut(&rest, '.');
    }
    Str full = catalog_full_name(program->catalog, parts, count, arena);
    for (size_t i = 0; i < program->topology->table_count; i++) {
        const TopologyTable *table = &program->topology->tables[i];
        Str other[3];
        size_t other_count = 0;
        for (Str rest = table->name; rest.data != NULL && other_count < 3;) {
            other[other_count++] = str_cut(&rest, '.');
        }
        if (str_equal_ignore_case(full,
                                  catalog_full_name(program->catalog, other, other_count, arena))) {
            return table;
        }
    }
    return NULL;
}

static const BoundFlow *flow_into(const Program *program, size_t table)
{
    for (size_t i = 0; i < program->bound.flow_count; i++) {
        if (program->bound.flows[i].table == table) {
            return &program->bound.flows[i];
        }
    }
    return NULL;
}

/* The name of a table is that of its topic, unless `tables` says otherwise. */
static Error *no_topic_name(Str name, SourcePlace place)
{
    static const char rule[] = "at most 249 of the characters A-Z a-z 0-9 _ . -";
    Str parts[3];
    Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, place,
                            "`%.*s` cannot be the name of a topic.", STR_ARG(name));
    if (topology_name_parts(name, parts) == 0) { /* nor can it stand below `tables` */
        return error_set_hint(error, "give the table another name; %s", rule);
    }
    return error_set_hint(error, "say tables: {%.*s: {topic: …}}; %s", STR_ARG(name), rule);
}

/* The table's topic is read back in this format: a column type it cannot hold is refused here, not
 * at the first restore. */
static Error *check_format(const Program *program, const BoundTable *table)
{
    DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = program->time_zone};
    Decoder *decoder = NULL;
    Error *error = decoder_open(&options, table->schema, &decoder);
    decoder_close(decoder);
    return error == NULL ? NULL : error_set_place(error, table->place);
}

static Error *load_table(Loading *loading, size_t index)
{
    Program *program = loading->program;
    ProgramTable *table = &program->tables[index];
    table->bound = &program->bound.tables[index];
    table->config = table_config(program, table->bound->name, loading->arena);
    Str topic = table->config != NULL && table->config->topic.data != NULL ? table->config->topic
                                                                           : table->bound->name;
    table->topic = arena_copy_cstr(loading->arena, topic);
    if (!topology_is_topic_name(topic)) {
        return no_topic_name(topic, table->bound->place);
    }
    if (topology_topic_is_reserved(program->topology, topic)) {
        return error_at(ERROR_CONFIG_INVALID_VALUE, table->bound->place,
                        "Table `%.*s`: topic `%s` is reserved for the pipeline itself.",
                        STR_ARG(table->bound->name), table->topic);
    }
    table->flow = flow_into(program, index);
    if (table->flow == NULL) {
        return error_at(ERROR_MISSING_QUERY, table->bound->place,
                        "Table `%.*s` has no flow that fills it.", STR_ARG(table->bound->name));
    }
    TRY(check_format(program, table->bound));
    TRY(plan_build_streaming(loading->arena, table->flow->query, &table->plan));
    return program_load_flow(program, loading->arena, table);
}

/* Two relations on one topic would overwrite each other. */
static void report_shared_topic(Loading *loading, const ProgramTable *table, const char *other)
{
    Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, table->bound->place,
                            "Table `%.*s` and %s share topic `%s`.", STR_ARG(table->bound->name),
                            other, table->topic);
    error_set_hint(error, "give the table a topic of its own: tables: {%.*s: {topic: …}}",
                   STR_ARG(table->bound->name));
    report_script_error(loading, table->bound->script, error);
}

static bool has_configured_topic(const ProgramTable *table)
{
    return table->config != NULL && table->config->topic.data != NULL;
}

/* Of tables whose topic bears their name; the others have been judged with the topology. */
static void check_topics(Loading *loading)
{
    const Program *program = loading->program;
    for (size_t i = 0; i < program->table_count; i++) {
        const ProgramTable *table = &program->tables[i];
        const char *other = NULL;
        for (size_t k = 0; k < i; k++) {
            const ProgramTable *before = &program->tables[k];
            bool judged = has_configured_topic(table) && has_configured_topic(before);
            if (!judged && topology_same_topic(str_from(before->topic), str_from(table->topic))) {
                other = "another table";
            }
        }
        for (size_t k = 0; k < program->source_count && !has_configured_topic(table); k++) {
            const char *topic = program->sources[k].topic;
            if (topic != NULL && topology_same_topic(str_from(topic), str_from(table->topic))) {
                other = "a source";
            }
        }
        if (other != NULL) {
            report_shared_topic(loading, table, other);
        }
        Error *error = program_check_states(program, table);
        if (error != NULL) {
            report_script_error(loading, table->bound->script, error);
        }
    }
}

/* `tables:` that no statement creates is most often a misspelling. */
static void check_table_configs(Loading *loading)
{
    const Topology *topology = loading->program->topology;
    for (size_t i = 0; i < topology->table_count; i++) {
        bool used = false;
        for (size_t k = 0; k < loading->program->table_count; k++) {
            used = used || loading->program->tables[k].config == &topology->tables[i];
        }
        if (!used) {
            Error *error = error_new(ERROR_CONFIG_UNKNOWN_KEY,
                                     "`tables.%.*s`: no statement of `sql` creates this table.",
                                     STR_ARG(topology->tables[i].name));
            report_at(loading, topology->tables[i].name_place, error);
        }
    }
}

/* An empty text, or one that could not be read, has been reported. */
static bool has_all_scripts(const Topology *topology)
{
    for (size_t i = 0; i < topology->sql_count; i++) {
        if (topology->sql[i].text.size == 0) {
            return false;
        }
    }
    return topology->sql_count > 0;
}

static void load_tables(Loading *loading)
{
    Program *program = loading->program;
    program->table_count = program->bound.table_count;
    program->tables = arena_new_array(loading->arena, ProgramTable, program->table_count);
    for (size_t i = 0; i < program->table_count; i++) {
        Error *error = load_table(loading, i);
        if (error != NULL) {
            report_script_error(loading, program->bound.tables[i].script, error);
        }
    }
    if (program->table_count == 0 && has_all_scripts(program->topology)) {
        diagnostics_add(loading->diagnostics,
                        error_set_file(error_new(ERROR_RUN_EMPTY_PIPELINE,
                                                 "The SQL of pipeline `%.*s` creates no table.",
                                                 STR_ARG(program->topology->pipeline)),
                                       program->topology->file));
    }
    if (program->table_count == 0) {
        return;
    }
    check_topics(loading);
    check_table_configs(loading);
}

/* A source with mistakes has no schema: binding would report its consequences. */
static bool sources_are_good(const Program *program)
{
    for (size_t i = 0; i < program->source_count; i++) {
        if (program->sources[i].schema == NULL) {
            return false;
        }
    }
    return true;
}

/* Where a source bears the name now, the statement is told so. */
static void add_stored_tables(Loading *loading, const Relation *stored, size_t count)
{
    Catalog *catalog = loading->program->catalog;
    for (size_t i = 0; i < count; i++) {
        Str parts[3];
        size_t part_count = catalog_split_name(stored[i].name, parts, ARRAY_LENGTH(parts));
        if (part_count > 0 && catalog_find(catalog, parts, part_count) == NULL) {
            catalog_put(catalog, parts, part_count, &stored[i]);
        }
    }
}

void program_load(const Topology *topology, Arena *arena, Diagnostics *diagnostics,
                  Program **ret_program)
{
    program_load_over(topology, NULL, 0, arena, diagnostics, ret_program);
}

void program_load_over(const Topology *topology, const Relation *stored, size_t stored_count,
                       Arena *arena, Diagnostics *diagnostics, Program **ret_program)
{
    Program *program = arena_new_object(arena, Program);
    program->topology = topology;
    program->catalog = catalog_new(arena, topology->catalog, topology->schema);
    Loading loading = {.program = program, .arena = arena, .diagnostics = diagnostics};
    load_time_zone(&loading);
    check_properties(&loading);
    load_sources(&loading);
    add_stored_tables(&loading, stored, stored_count);
    AstScript **scripts = parse_scripts(&loading);
    if (!sources_are_good(program)) {
        diagnostics_sort(diagnostics);
        *ret_program = program;
        return;
    }
    bind_scripts(&loading,
                 scripts); /* also when statements failed to parse: the others are judged */
    if (diagnostics->count == 0) {
        load_tables(&loading);
    }
    diagnostics_sort(diagnostics);
    *ret_program = program;
}
