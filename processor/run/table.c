/* A streaming table at run time. */
#include "processor/run/table.h"

#include <assert.h>

#include "connectors/format/format.h"
#include "connectors/partitioner.h"
#include "processor/run/table_definition.h"
#include "processor/run/table_internal.h"

#include "processor/base/banned.h"

static void release_zone(void *zone)
{
    time_zone_free(zone);
}

/* ----------------------------------------------------------------------------- definition ---- */

/* The zone in which dates of older versions are timestamps. */
static Error *open_date_zone(Table *table)
{
    table->date_zone = time_zone_utc();
    if (table->definition.date_zone.size == 0) {
        return NULL;
    }
    TimeZone *zone = NULL;
    TRY(time_zone_open(table->definition.date_zone, &zone));
    arena_on_reset(table->arena, release_zone, zone);
    table->date_zone = zone;
    return NULL;
}

/* The progress topic was written by somebody else. */
static Error *definition_lacks(const Table *table, Str column)
{
    return error_new(ERROR_KAFKA_TOPIC_MISMATCH,
                     "Table `%.*s`: what the progress topic says of it has no column `%.*s`.",
                     STR_ARG(table->program->bound->name), STR_ARG(column));
}

/* As stored: the table is to be emptied, whatever its SQL says now. */
static Error *load_definition(Table *table, const ProgressDefinition *old, bool as_stored)
{
    const ProgressDefinition none = {.date_zone = STR("")};
    const Schema **schemas = NULL;
    TRY(definition_schemas(old == NULL ? &none : old, table->arena, &schemas));
    if (old == NULL) {
        table->definition = definition_fresh(table->program, NULL, 0, table->arena);
    } else if (as_stored && old->schema_count == 0) {
        return definition_lacks(table, old->sequence);
    } else if (as_stored) {
        table->definition = *old;
    } else {
        TRY(definition_next(table->program, old, schemas, table->zone, table->arena,
                            &table->definition));
    }
    size_t stored = old == NULL ? 0 : old->schema_count;
    if (table->definition.schema_count > stored) {
        schemas[stored] = table->program->bound->schema;
    }
    table->definition_changed = old == NULL || !definition_equal(old, &table->definition);
    table->schema = schemas[table->definition.schema_count - 1];
    table->versions = schemas;
    return open_date_zone(table);
}

static Error *find_column(const Table *table, Str name, uint32_t *ret_column)
{
    int column = schema_find(table->schema, name);
    if (column < 0) {
        return definition_lacks(table, name);
    }
    *ret_column = (uint32_t)column;
    return NULL;
}

static Error *load_shape(Table *table)
{
    const ProgressDefinition *definition = &table->definition;
    table->key_count = definition->key_count;
    table->keys = arena_new_array(table->arena, uint32_t, table->key_count);
    for (size_t i = 0; i < table->key_count; i++) {
        TRY(find_column(table, definition->keys[i], &table->keys[i]));
    }
    TRY(find_column(table, definition->sequence, &table->sequence));
    schema_history_set_date_zone(table->history, table->date_zone);
    for (size_t i = 0; i < definition->schema_count; i++) {
        (void)schema_history_add(table->history, table->versions[i]);
    }
    TableKeyOptions options = {.versions = table->versions,
                               .version_count = definition->schema_count,
                               .columns = table->keys,
                               .column_count = table->key_count,
                               .date_zone = table->date_zone};
    table->key = table_key_new(table->arena, &options);
    table->row_writer = json_row_writer_new(table->arena, table->history);
    return NULL;
}

/* ---------------------------------------------------------------------------------- store ---- */

/* The message key of the key's first row; its partition is the shard. */
static uint32_t name_key(void *context, Str key, Buffer *out)
{
    const Table *table = context;
    Error *error = table_format_key(table, key, 0, out);
    /* The key was encoded by this process from typed columns: it decodes. */
    assert(error == NULL);
    error_free(error);
    return (uint32_t)partition_of_key(buffer_str(out), table->partitions);
}

static void format_compared_types(const Table *table, const Schema *schema, Buffer *out)
{
    for (size_t i = 0; i <= table->key_count; i++) {
        uint32_t column = i < table->key_count ? table->keys[i] : table->sequence;
        int at = schema_find(schema, table->schema->fields[column].name);
        buffer_append_cstr(out, i == 0 ? " (" : ", ");
        if (at >= 0) {
            type_format(schema->fields[at].type, out);
        }
    }
    buffer_append_byte(out, ')');
}

/* What the store caches. Keys and sequences of wider types are other bytes: then the rows are read
 * again from the topic. */
static void format_origin(const Table *table, Buffer *out)
{
    AUTO_BUFFER Buffer first = {0};
    AUTO_BUFFER Buffer now = {0};
    format_compared_types(table, table->versions[0], &first);
    format_compared_types(table, table->schema, &now);
    buffer_append_cstr(out, table->program->topic);
    if (!str_equal(buffer_str(&first), buffer_str(&now))) {
        buffer_append_str(out, buffer_str(&now));
    }
}

static Error *open_store(Table *table, const TableOptions *options)
{
    AUTO_BUFFER Buffer origin = {0};
    format_origin(table, &origin);
    TRY(state_table(options->state, options->program->bound->name, buffer_str(&origin),
                    (uint32_t)options->partitions, &table->store));
    OverlayOptions overlay = {.name_key = name_key,
                              .context = table,
                              .key_memory = options->key_memory,
                              .epoch_memory = options->epoch_memory,
                              .batch_max = options->batch_rows};
    TRY(table_store_is_empty(table->store, &overlay.store_is_empty));
    table->overlay = overlay_new(table->store, &overlay);
    return NULL;
}

Error *table_open(const TableOptions *options, const ProgressDefinition *old, Table **ret_table)
{
    Table *table = arena_new_object(options->arena, Table);
    table->program = options->program;
    table->arena = options->arena;
    table->zone = options->time_zone;
    table->partitions = options->partitions;
    table->history = schema_history_new(table->arena);
    table->ends = arena_new_array(table->arena, int64_t, (size_t)options->partitions);
    Error *error = load_definition(table, old, options->as_stored);
    if (error == NULL) {
        error = load_shape(table);
    }
    if (error == NULL) {
        error = open_store(table, options);
    }
    if (error != NULL) {
        table_close(table);
        return error;
    }
    *ret_table = table;
    return NULL;
}

void table_close(Table *table)
{
    if (table != NULL) {
        overlay_free(table->overlay);
    }
}

const ProgressDefinition *table_definition(const Table *table, bool *ret_changed)
{
    *ret_changed = table->definition_changed;
    return &table->definition;
}

const SchemaHistory *table_history(const Table *table)
{
    return table->history;
}

const Schema *table_schema(const Table *table)
{
    return table->schema;
}

Overlay *table_overlay(Table *table)
{
    return table->overlay;
}

TableStore *table_store(Table *table)
{
    return table->store;
}

int table_partitions(const Table *table)
{
    return table->partitions;
}

const int64_t *table_ends(const Table *table)
{
    return table->ends;
}

Error *table_format_key(const Table *table, Str key, uint32_t ordinal, Buffer *out)
{
    return table_key_write(table->key, key, ordinal, out);
}

const JsonRowWriter *table_row_writer(const Table *table)
{
    return table->row_writer;
}

Error *table_decode_rows(const Table *table, const Str *rows, size_t count, Arena *arena,
                         Batch **ret_batch)
{
    Batch *batch = batch_new(arena, table->schema, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        TRY(row_decode(table->history, rows[i], arena, batch));
    }
    *ret_batch = batch;
    return NULL;
}
