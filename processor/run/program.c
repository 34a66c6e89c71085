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
    DecoderOptions options = {FORMAT_JSON, loading->program->time_zone, config->coerce};
    Decoder *decoder = NULL;
    TRY(decoder_open(&options, schema, &decoder));
    decoder_close(decoder);
    *ret_schema = schema;
    return NULL;
}

static void load_start(Loading *loading, const TopologySource *config)
{
    int64_t time_us = 0;
    if (config->start == TOPOLOGY_START_TIMESTAMP &&
        !timestamp_parse_iso(config->start_text, loading->program->time_zone, &time_us)) {
        Error *error = error_new(ERROR_CONFIG_INVALID_VALUE,
                                 "`start` of source `%.*s` is no timestamp: `%.*s`.",
                                 STR_ARG(config->name), STR_ARG(config->start_text));
        error_set_hint(error, "earliest, latest, or ISO 8601 such as 2026-03-01T00:00:00Z");
        report_at(loading, config->start_place, error);
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

static Error *check_plan_sources(const LogicalPlan *plan, const BoundFlow *flow)
{
    if (plan->source_count != 1) {
        return error_at(ERROR_NOT_YET, flow->place,
                        "Flow `%.*s` reads %zu relations; a flow over one stream is all that is "
                        "supported yet.",
                        STR_ARG(flow->name), plan->source_count);
    }
    const LogicalSource *source = &plan->sources[0];
    if (source->relation->kind != RELATION_STREAM || !source->stream) {
        return error_at(ERROR_NOT_YET, flow->place,
                        "Flow `%.*s` reads `%.*s` as a stream: reading another streaming table is "
                        "not supported yet.",
                        STR_ARG(flow->name), STR_ARG(source->relation->name));
    }
    return NULL;
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
    TRY(plan_build(loading->arena, table->flow->query, &table->plan));
    return check_plan_sources(table->plan, table->flow);
}

/* Two relations on one topic would overwrite each other. */
static void check_topics(Loading *loading)
{
    Program *program = loading->program;
    for (size_t i = 0; i < program->table_count; i++) {
        const ProgramTable *table = &program->tables[i];
        const char *other = NULL;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(program->tables[k].topic, table->topic) == 0) {
                other = "another table";
            }
        }
        for (size_t k = 0; k < program->source_count; k++) {
            if (program->sources[k].topic != NULL &&
                strcmp(program->sources[k].topic, table->topic) == 0) {
                other = "a source";
            }
        }
        if (other != NULL) {
            Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, table->bound->place,
                                    "Table `%.*s` and %s share topic `%s`.",
                                    STR_ARG(table->bound->name), other, table->topic);
            error_set_hint(error, "give the table a topic of its own: tables: {%.*s: {topic: …}}",
                           STR_ARG(table->bound->name));
            report_script_error(loading, 0, error);
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
    if (program->table_count == 0) {
        diagnostics_add(loading->diagnostics,
                        error_set_file(error_new(ERROR_RUN_EMPTY_PIPELINE,
                                                 "The SQL of pipeline `%.*s` creates no table.",
                                                 STR_ARG(program->topology->pipeline)),
                                       program->topology->file));
        return;
    }
    check_topics(loading);
    check_table_configs(loading);
}

void program_load(const Topology *topology, Arena *arena, Diagnostics *diagnostics,
                  Program **ret_program)
{
    Program *program = arena_new_object(arena, Program);
    program->topology = topology;
    program->catalog = catalog_new(arena, topology->catalog, topology->schema);
    Loading loading = {program, arena, diagnostics};
    load_time_zone(&loading);
    check_properties(&loading);
    load_sources(&loading);
    AstScript **scripts = parse_scripts(&loading);
    if (diagnostics->count == 0) {
        bind_scripts(&loading, scripts);
    } else {
        /* A source with mistakes has no schema: binding would report its consequences. Statements
         * are still bound when only other statements failed to parse. */
        bool sources_good = true;
        for (size_t i = 0; i < program->source_count; i++) {
            sources_good = sources_good && program->sources[i].schema != NULL;
        }
        if (sources_good) {
            bind_scripts(&loading, scripts);
        }
    }
    if (diagnostics->count == 0) {
        load_tables(&loading);
    }
    diagnostics_sort(diagnostics);
    *ret_program = program;
}
