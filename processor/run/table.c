/* A streaming table at run time. */
#include "processor/run/table.h"

#include <assert.h>

#include "connectors/format/format.h"
#include "connectors/partitioner.h"
#include "processor/bind/bind.h"
#include "processor/data/key_encoding.h"
#include "processor/run/table_internal.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

/* Schema of a stored column list. */
static Error *parse_schema(Str text, Arena *arena, const Schema **ret_schema)
{
    AstColumnDefinition *columns = NULL;
    size_t count = 0;
    TRY(sql_parse_column_definitions(text, arena, &columns, &count));
    return bind_schema(arena, columns, count, ret_schema);
}

static Str schema_text(const Schema *schema, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    schema_format(schema, &text);
    return arena_copy_str(arena, buffer_str(&text));
}

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

/* RU-55: rows were keyed and ordered by the old columns. */
static Error *check_keys(const Table *table, const ProgressDefinition *old,
                         const ProgressDefinition *now)
{
    bool keys = same_names(old->keys, old->key_count, now->keys, now->key_count);
    if (keys && str_equal_ignore_case(old->sequence, now->sequence)) {
        return NULL;
    }
    Error *error =
        error_at(ERROR_FULL_REFRESH_REQUIRED, table->program->flow->place,
                 "Table `%.*s`: the %s of its REPLACE USING flow changed.",
                 STR_ARG(table->program->bound->name), keys ? "SEQUENCE BY column" : "key columns");
    return error_set_hint(error, "keep the columns as they were, or give the new shape to a new "
                                 "table");
}

/* Columns may be added; what is there keeps its type (a widening or dropped column comes later). */
static Error *check_schema(const Table *table, const Schema *old, const Schema *now)
{
    for (size_t i = 0; i < old->field_count; i++) {
        Str name = old->fields[i].name;
        int at = schema_find(now, name);
        if (at < 0) {
            return error_at(ERROR_NOT_YET, table->program->bound->place,
                            "Table `%.*s`: dropping column `%.*s` from an existing table is not "
                            "supported yet.",
                            STR_ARG(table->program->bound->name), STR_ARG(name));
        }
        if (!type_equal(old->fields[i].type, now->fields[at].type)) {
            AUTO_BUFFER Buffer from = {0};
            AUTO_BUFFER Buffer to = {0};
            type_format(old->fields[i].type, &from);
            type_format(now->fields[at].type, &to);
            return error_at(ERROR_NOT_YET, table->program->bound->place,
                            "Table `%.*s`: changing column `%.*s` from %s to %s in an existing "
                            "table is not supported yet.",
                            STR_ARG(table->program->bound->name), STR_ARG(name), buffer_cstr(&from),
                            buffer_cstr(&to));
        }
    }
    return NULL;
}

/* The definition the program asks for, without schemas. */
static ProgressDefinition wanted_definition(const Table *table)
{
    const BoundFlow *flow = table->program->flow;
    const Schema *schema = table->program->bound->schema;
    ProgressDefinition wanted = {.key_count = flow->key_count,
                                 .sequence = schema->fields[flow->sequence].name,
                                 .query = flow->text,
                                 .topic = str_from(table->program->topic)};
    wanted.keys = arena_new_array(table->arena, Str, flow->key_count);
    for (size_t i = 0; i < flow->key_count; i++) {
        wanted.keys[i] = schema->fields[flow->keys[i]].name;
    }
    return wanted;
}

static Error *load_definition(Table *table, const ProgressDefinition *old)
{
    ProgressDefinition now = wanted_definition(table);
    size_t old_count = old == NULL ? 0 : old->schema_count;
    now.schemas = arena_new_array(table->arena, Str, old_count + 1);
    const Schema *newest = NULL;
    for (size_t i = 0; i < old_count; i++) {
        now.schemas[i] = old->schemas[i];
        TRY(parse_schema(old->schemas[i], table->arena, &newest));
        (void)schema_history_add(table->history, newest);
    }
    now.schema_count = old_count;
    if (old != NULL) {
        TRY(check_keys(table, old, &now));
    }
    if (newest != NULL) {
        TRY(check_schema(table, newest, table->program->bound->schema));
    }
    if (newest == NULL || !schema_equal(newest, table->program->bound->schema)) {
        now.schemas[now.schema_count++] = schema_text(table->program->bound->schema, table->arena);
        (void)schema_history_add(table->history, table->program->bound->schema);
    }
    table->definition_changed = old == NULL || now.schema_count != old_count ||
                                !str_equal(old->query, now.query) ||
                                !str_equal(old->topic, now.topic);
    table->definition = now;
    return NULL;
}

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

static void load_key_fields(Table *table)
{
    const BoundFlow *flow = table->program->flow;
    table->key_count = flow->key_count;
    Field *fields = arena_new_array(table->arena, Field, flow->key_count);
    for (size_t i = 0; i < flow->key_count; i++) {
        fields[i] = table->program->bound->schema->fields[flow->keys[i]];
    }
    table->key_fields = fields;
}

static Error *open_store(Table *table, const TableOptions *options)
{
    TRY(state_table(options->state, options->program->bound->name,
                    str_from(options->program->topic), (uint32_t)options->partitions,
                    &table->store));
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
    table->partitions = options->partitions;
    table->history = schema_history_new(table->arena);
    table->ends = arena_new_array(table->arena, int64_t, (size_t)options->partitions);
    load_key_fields(table);
    table->key_writer = json_key_writer_new(table->arena, table->key_fields, table->key_count);
    Error *error = load_definition(table, old);
    if (error == NULL) {
        table->row_writer = json_row_writer_new(table->arena, table->history);
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
    return json_key_write(table->key_writer, key, ordinal, out);
}

const JsonRowWriter *table_row_writer(const Table *table)
{
    return table->row_writer;
}

Error *table_decode_rows(const Table *table, const Str *rows, size_t count, Arena *arena,
                         Batch **ret_batch)
{
    Batch *batch = batch_new(arena, table->program->bound->schema, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        TRY(row_decode(table->history, rows[i], arena, batch));
    }
    *ret_batch = batch;
    return NULL;
}
