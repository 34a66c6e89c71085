/* Progress records: JSON written with base/json_writer, read with format/json_tree. */
#include "processor/run/progress.h"

#include <assert.h>
#include <stdio.h>

#include "connectors/format/json_tree.h"
#include "processor/base/clock.h"
#include "processor/base/hash.h"
#include "processor/base/json_writer.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

void progress_position_key(Str flow, Str topic, int32_t partition, Buffer *out)
{
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    json_field_str(&w, "flow", flow);
    json_field_str(&w, "topic", topic);
    json_field_int(&w, "partition", partition);
    json_object_end(&w);
}

/* Offsets go as numbers: they stay below 2^53 for any log there will ever be; the checksum as text.
 */
static void write_fingerprint(JsonWriter *w, const Fingerprint *fingerprint)
{
    if (fingerprint->offset < 0) {
        json_null(w);
        return;
    }
    char text[17];
    (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)fingerprint->checksum);
    json_object_begin(w);
    json_field_int(w, "offset", fingerprint->offset);
    json_field_int(w, "timestamp", fingerprint->timestamp_ms);
    json_field_cstr(w, "checksum", text);
    json_object_end(w);
}

void progress_position_value(const ProgressPosition *position, const int64_t *ends,
                             size_t end_count, int64_t time_us, Buffer *out)
{
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    json_field_int(&w, "offset", position->offset);
    json_field_int(&w, "begin", position->begin);
    json_field_str(&w, "update", position->update);
    json_field_int(&w, "epoch", position->epoch);
    json_key(&w, "ends");
    json_object_begin(&w);
    for (size_t i = 0; i < end_count; i++) {
        if (ends[i] >= 0) {
            char partition[24];
            (void)snprintf(partition, sizeof partition, "%zu", i);
            json_field_int(&w, partition, ends[i]);
        }
    }
    json_object_end(&w);
    json_key(&w, "fingerprint");
    write_fingerprint(&w, &position->fingerprint);
    json_field_str(&w, "instance", position->instance);
    AUTO_BUFFER Buffer time = {0};
    clock_format_utc(time_us, &time);
    json_field_str(&w, "time", buffer_str(&time));
    json_object_end(&w);
}

void progress_claim_key(Str flow, Buffer *out)
{
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    json_field_str(&w, "flow", flow);
    json_object_end(&w);
}

void progress_claim_value(const ProgressClaim *claim, Buffer *out)
{
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    json_field_str(&w, "instance", claim->instance);
    json_field_str(&w, "host", claim->host);
    json_field_int(&w, "pid", claim->pid);
    json_field_str(&w, "time", claim->time);
    json_object_end(&w);
}

void progress_resetting_key(Str flow, Buffer *out)
{
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    json_field_str(&w, "flow", flow);
    json_field_bool(&w, "resetting", true);
    json_object_end(&w);
}

void progress_definition_key(Str table, Buffer *out)
{
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    json_field_str(&w, "table", table);
    json_object_end(&w);
}

void progress_state_key(Str flow, Str state, Buffer *out)
{
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    json_field_str(&w, "flow", flow);
    json_field_str(&w, "state", state);
    json_object_end(&w);
}

static void write_texts(JsonWriter *w, const char *key, const Str *texts, size_t count)
{
    json_key(w, key);
    json_array_begin(w);
    for (size_t i = 0; i < count; i++) {
        json_str(w, texts[i]);
    }
    json_array_end(w);
}

void progress_definition_value(const ProgressDefinition *definition, Buffer *out)
{
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    write_texts(&w, "schemas", definition->schemas, definition->schema_count);
    write_texts(&w, "keys", definition->keys, definition->key_count);
    json_field_str(&w, "sequence", definition->sequence);
    json_field_str(&w, "query", definition->query);
    json_field_str(&w, "topic", definition->topic);
    json_field_str(&w, "date_zone", definition->date_zone);
    write_texts(&w, "clauses", definition->clauses, definition->clause_count);
    json_key(&w, "begins");
    json_array_begin(&w);
    for (size_t i = 0; i < definition->begin_count; i++) {
        json_int(&w, definition->begins[i]);
    }
    json_array_end(&w);
    json_object_end(&w);
}

uint64_t fingerprint_checksum(const LogRecord *record)
{
    return hash_combine(hash_bytes(record->key), hash_bytes(record->value));
}

/* ------------------------------------------------------------------------------ reading ---- */

/* Each kind of record keeps the latest value per key while reading. */
typedef struct Reading {
    Str flow;
    Str table;
    Arena *arena;
    Progress *progress;
    size_t position_capacity;
    size_t state_capacity;
} Reading;

static ProgressPosition *position_of(Reading *reading, Str topic, int32_t partition)
{
    Progress *progress = reading->progress;
    for (size_t i = 0; i < progress->position_count; i++) {
        ProgressPosition *position = &progress->positions[i];
        if (position->partition == partition && str_equal(position->topic, topic)) {
            return position;
        }
    }
    ProgressPosition *position = arena_push(reading->arena, progress->positions,
                                            progress->position_count, reading->position_capacity);
    *position =
        (ProgressPosition){.topic = arena_copy_str(reading->arena, topic), .partition = partition};
    return position;
}

static Fingerprint read_fingerprint(const JsonTree *node)
{
    Fingerprint fingerprint = {.offset = -1};
    if (json_tree_kind(node) == JSON_OBJECT) {
        fingerprint.offset = json_tree_int(json_tree_get(node, "offset"), -1);
        fingerprint.timestamp_ms = json_tree_int(json_tree_get(node, "timestamp"), 0);
        Str text = json_tree_str(json_tree_get(node, "checksum"), STR(""));
        for (size_t i = 0; i < text.size; i++) {
            char c = text.data[i];
            uint64_t digit = (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
            fingerprint.checksum = fingerprint.checksum << 4 | (digit & 15);
        }
    }
    return fingerprint;
}

static void read_ends(Reading *reading, const JsonTree *node)
{
    Progress *progress = reading->progress;
    for (size_t i = 0; i < json_tree_size(node); i++) {
        Str name = STR_NULL;
        int64_t end = json_tree_int(json_tree_member(node, i, &name), -1);
        int64_t partition = -1;
        if (!str_to_int64(name, &partition) || partition < 0 || partition > INT16_MAX) {
            continue;
        }
        if ((size_t)partition >= progress->end_count) {
            size_t count = (size_t)partition + 1;
            int64_t *larger = arena_alloc(reading->arena, count * sizeof *larger);
            for (size_t k = 0; k < count; k++) {
                larger[k] = k < progress->end_count ? progress->ends[k] : -1;
            }
            progress->ends = larger;
            progress->end_count = count;
        }
        progress->ends[partition] = end;
    }
}

static void read_position(Reading *reading, const JsonTree *key, const JsonTree *value)
{
    Progress *progress = reading->progress;
    Str topic = json_tree_str(json_tree_get(key, "topic"), STR(""));
    int64_t partition = json_tree_int(json_tree_get(key, "partition"), -1);
    if (partition < 0 || partition > INT32_MAX) {
        return;
    }
    ProgressPosition *position = position_of(reading, topic, (int32_t)partition);
    position->offset = json_tree_int(json_tree_get(value, "offset"), 0);
    position->begin = json_tree_int(json_tree_get(value, "begin"), 0);
    position->epoch = json_tree_int(json_tree_get(value, "epoch"), 0);
    position->fingerprint = read_fingerprint(json_tree_get(value, "fingerprint"));
    position->update =
        arena_copy_str(reading->arena, json_tree_str(json_tree_get(value, "update"), STR("")));
    position->instance =
        arena_copy_str(reading->arena, json_tree_str(json_tree_get(value, "instance"), STR("")));
    if (position->epoch >= progress->epoch) {
        progress->epoch = position->epoch;
        read_ends(reading, json_tree_get(value, "ends"));
    }
}

static void read_claim(Reading *reading, const JsonTree *value, int64_t offset)
{
    reading->progress->claim = (ProgressClaim){
        .offset = offset,
        .instance = arena_copy_str(reading->arena,
                                   json_tree_str(json_tree_get(value, "instance"), STR(""))),
        .host =
            arena_copy_str(reading->arena, json_tree_str(json_tree_get(value, "host"), STR("?"))),
        .pid = json_tree_int(json_tree_get(value, "pid"), 0),
        .time =
            arena_copy_str(reading->arena, json_tree_str(json_tree_get(value, "time"), STR("")))};
}

static Str *read_texts(Reading *reading, const JsonTree *node, size_t *ret_count)
{
    size_t count = json_tree_size(node);
    Str *texts = arena_new_array(reading->arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        texts[i] = arena_copy_str(reading->arena, json_tree_str(json_tree_at(node, i), STR("")));
    }
    *ret_count = count;
    return texts;
}

static void read_definition(Reading *reading, const JsonTree *value, ProgressDefinition *definition)
{
    definition->schemas =
        read_texts(reading, json_tree_get(value, "schemas"), &definition->schema_count);
    definition->keys = read_texts(reading, json_tree_get(value, "keys"), &definition->key_count);
    definition->sequence =
        arena_copy_str(reading->arena, json_tree_str(json_tree_get(value, "sequence"), STR("")));
    definition->query =
        arena_copy_str(reading->arena, json_tree_str(json_tree_get(value, "query"), STR("")));
    definition->topic =
        arena_copy_str(reading->arena, json_tree_str(json_tree_get(value, "topic"), STR("")));
    definition->date_zone =
        arena_copy_str(reading->arena, json_tree_str(json_tree_get(value, "date_zone"), STR("")));
    definition->clauses =
        read_texts(reading, json_tree_get(value, "clauses"), &definition->clause_count);
    const JsonTree *begins = json_tree_get(value, "begins");
    definition->begin_count = json_tree_size(begins);
    definition->begins = arena_new_array(reading->arena, int64_t, definition->begin_count);
    for (size_t i = 0; i < definition->begin_count; i++) {
        definition->begins[i] = json_tree_int(json_tree_at(begins, i), 0);
    }
}

static ProgressDefinition *state_definition(Reading *reading, Str name)
{
    Progress *progress = reading->progress;
    for (size_t i = 0; i < progress->state_count; i++) {
        if (str_equal(progress->states[i].name, name)) {
            return &progress->states[i].definition;
        }
    }
    ProgressState *state = arena_push(reading->arena, progress->states, progress->state_count,
                                      reading->state_capacity);
    *state = (ProgressState){.name = arena_copy_str(reading->arena, name)};
    return &state->definition;
}

/* `value` is NULL for a tombstone. */
static void read_record(Reading *reading, const LogRecord *record, const JsonTree *key,
                        const JsonTree *value)
{
    bool tombstone = record->value.data == NULL;
    Str flow = json_tree_str(json_tree_get(key, "flow"), STR_NULL);
    Str table = json_tree_str(json_tree_get(key, "table"), STR_NULL);
    if (table.data != NULL && str_equal(table, reading->table) && !tombstone) {
        read_definition(reading, value, &reading->progress->definition);
        reading->progress->has_definition = true;
    }
    if (flow.data == NULL || !str_equal(flow, reading->flow)) {
        return;
    }
    Str state = json_tree_str(json_tree_get(key, "state"), STR_NULL);
    if (json_tree_bool(json_tree_get(key, "resetting"), false)) {
        reading->progress->resetting = !tombstone;
    } else if (state.data != NULL) {
        if (!tombstone) {
            read_definition(reading, value, state_definition(reading, state));
        }
    } else if (json_tree_get(key, "topic") != NULL) {
        if (!tombstone) {
            read_position(reading, key, value);
        }
    } else if (!tombstone) {
        read_claim(reading, value, record->offset);
    }
}

typedef Error *TakeRecord(void *context, const LogRecord *record, Arena *batch_arena);

static Error *read_topic(Log *log, const char *progress_topic, Isolation until, int timeout_ms,
                         TakeRecord *take, void *context)
{
    int64_t start = 0;
    int64_t end = 0;
    TRY(log_watermarks(log, progress_topic, 0, until, timeout_ms, &start, &end));
    AUTO(topic_reader) TopicReader *reader = NULL;
    TRY(topic_reader_open(log, progress_topic, 1, &start, &end, &reader));
    AUTO(arena) Arena *batch_arena = arena_new("progress");
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(reader, timeout_ms, batch_arena, &records, &count));
        if (count == 0) {
            return NULL;
        }
        for (size_t i = 0; i < count; i++) {
            TRY(take(context, &records[i], batch_arena));
        }
        arena_reset(batch_arena);
    }
}

/* Several flows' progress at once. */
typedef struct Readings {
    Reading *readings;
    size_t count;
} Readings;

static Error *take_progress(void *context, const LogRecord *record, Arena *batch_arena)
{
    const Readings *all = context;
    const JsonTree *key = NULL;
    const JsonTree *value = NULL;
    TRY(json_tree_parse(record->key, batch_arena, &key));
    if (record->value.data != NULL) {
        TRY(json_tree_parse(record->value, batch_arena, &value));
    }
    for (size_t i = 0; i < all->count; i++) {
        read_record(&all->readings[i], record, key, value);
    }
    return NULL;
}

Error *progress_read_all(Log *log, const char *progress_topic, Isolation until, const Str *flows,
                         const Str *tables, size_t count, int timeout_ms, Arena *arena,
                         Progress *ret_progress)
{
    Readings all = {arena_new_array(arena, Reading, count), count};
    for (size_t i = 0; i < count; i++) {
        ret_progress[i] = (Progress){0};
        all.readings[i] = (Reading){
            .flow = flows[i], .table = tables[i], .arena = arena, .progress = &ret_progress[i]};
    }
    return read_topic(log, progress_topic, until, timeout_ms, take_progress, &all);
}

Error *progress_read(Log *log, const char *progress_topic, Isolation until, Str flow, Str table,
                     int timeout_ms, Arena *arena, Progress *ret_progress)
{
    Progress progress = {0};
    TRY(progress_read_all(log, progress_topic, until, &flow, &table, 1, timeout_ms, arena,
                          &progress));
    *ret_progress = progress;
    return NULL;
}

typedef struct Names {
    Arena *arena;
    Str *names;
    size_t count;
    size_t capacity;
} Names;

static Error *take_table(void *context, const LogRecord *record, Arena *batch_arena)
{
    Names *tables = context;
    const JsonTree *key = NULL;
    TRY(json_tree_parse(record->key, batch_arena, &key));
    Str table = json_tree_str(json_tree_get(key, "table"), STR_NULL);
    bool known = table.data == NULL || record->value.data == NULL;
    for (size_t i = 0; !known && i < tables->count; i++) {
        known = str_equal(tables->names[i], table);
    }
    if (!known) {
        *arena_push(tables->arena, tables->names, tables->count, tables->capacity) =
            arena_copy_str(tables->arena, table);
    }
    return NULL;
}

Error *progress_tables(Log *log, const char *progress_topic, int timeout_ms, Arena *arena,
                       Str **ret_tables, size_t *ret_count)
{
    Names tables = {.arena = arena};
    TRY(read_topic(log, progress_topic, READ_COMMITTED, timeout_ms, take_table, &tables));
    *ret_tables = tables.names;
    *ret_count = tables.count;
    return NULL;
}
