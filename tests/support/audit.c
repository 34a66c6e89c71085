/* The audit. Three lists are read into memory (source, table, progress), then the progress records
 * are walked; each takes the source on to its positions and the table on to its ends. Row sets are
 * compared as (number of rows, sum of their hashes), so a step costs what it changed. */
#include "tests/support/audit.h"

#include <stdio.h>
#include <stdlib.h>

#include "connectors/format/json_tree.h"
#include "connectors/partitioner.h"
#include "processor/base/clock.h"
#include "processor/base/hash.h"
#include "processor/base/map.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { POLL_MS = 100, POLL_RECORDS = 4096 };

/* One key: what the model says, and what the table shows. */
typedef struct AuditKey {
    Str text; /* as in JSON: 7, "a" */
    bool known;
    bool null_sequence;
    int64_t sequence;
    uint64_t rows;
    uint64_t row_sum;
    uint64_t *slots; /* hash of the row of each ordinal, 0: none */
    size_t slot_capacity;
    size_t slot_end; /* behind the highest ordinal in use */
    uint64_t slot_rows;
    uint64_t slot_sum;
    bool touched;
} AuditKey;

typedef struct AuditRecord {
    int64_t offset;
    AuditKey *key; /* NULL: a bad record */
    uint64_t hash; /* of the row, 0: tombstone */
    int64_t sequence;
    bool null_sequence;
    uint32_t ordinal;
} AuditRecord;

/* The records of one partition and how far they were applied. */
typedef struct AuditPartition {
    AuditRecord *records;
    size_t count;
    size_t capacity;
    size_t applied;
    int64_t stable_end;
    int64_t position; /* of the last progress record; -1: none yet */
} AuditPartition;

typedef struct AuditTopic {
    const char *name;
    AuditPartition *partitions;
    int count;
} AuditTopic;

typedef struct Audit {
    AuditOptions options;
    Arena *arena;
    Map keys;
    Map instances;
    AuditTopic source;
    AuditTopic table;
    AuditKey **touched;
    size_t touched_count;
    size_t touched_capacity;
    int64_t epoch;  /* of the last group; -1: none yet */
    bool resetting; /* a full refresh is under way */
    AuditResult result;
} Audit;

static Error *failed(const char *text)
{
    return error_new(ERROR_TEST_FAILED, "%s", text);
}

#define FAILED(audit, ...) failed(arena_printf((audit)->arena, __VA_ARGS__))

/* ------------------------------------------------------------------------------ reading ---- */

static AuditKey *key_of(Audit *audit, Str text)
{
    bool added = false;
    MapEntry *slot = map_find_or_add(&audit->keys, text, hash_bytes(text), &added);
    if (added) {
        AuditKey *key = arena_new_object(audit->arena, AuditKey);
        key->text = arena_copy_str(audit->arena, text);
        slot->key = key->text;
        slot->value = key;
    }
    return slot->value;
}

static uint64_t row_hash(Str row)
{
    return hash_bytes(row) | 1;
}

/* What lies between `before` (at the start of *rest) and the first `after`; moves behind it. */
static bool cut(Str *rest, Str before, Str after, Str *ret_text)
{
    if (!str_starts_with(*rest, before)) {
        return false;
    }
    Str text = {rest->data + before.size, rest->size - before.size};
    for (size_t i = 0; i + after.size <= text.size; i++) {
        if (memcmp(text.data + i, after.data, after.size) == 0) {
            *ret_text = (Str){text.data, i};
            *rest = (Str){text.data + i + after.size, text.size - i - after.size};
            return true;
        }
    }
    return false;
}

static bool parse_row(Str value, Str *ret_key, AuditRecord *record)
{
    Str rest = value;
    Str sequence = STR_NULL;
    if (!cut(&rest, STR("{\"k\":"), STR(",\"seq\":"), ret_key) ||
        !cut(&rest, STR(""), STR(",\"v\":"), &sequence) || !str_ends_with(rest, STR("}"))) {
        return false;
    }
    record->null_sequence = str_equal(sequence, STR("null"));
    record->hash = row_hash(value);
    return record->null_sequence || str_to_int64(sequence, &record->sequence);
}

/* {"k":7} or {"k":7,"_row":2} */
static bool parse_message_key(Str message_key, Str *ret_key, uint32_t *ret_ordinal)
{
    Str rest = message_key;
    int64_t ordinal = 0;
    Str text = STR_NULL;
    if (cut(&rest, STR("{\"k\":"), STR(",\"_row\":"), ret_key)) {
        if (!cut(&rest, STR(""), STR("}"), &text) || !str_to_int64(text, &ordinal) || ordinal < 1) {
            return false;
        }
    } else if (!cut(&rest, STR("{\"k\":"), STR("}"), ret_key)) {
        return false;
    }
    *ret_ordinal = (uint32_t)ordinal;
    return rest.size == 0;
}

static Error *take_source(Audit *audit, const LogRecord *record, AuditRecord *ret)
{
    Str key = STR_NULL;
    audit->result.source_records++;
    if (record->value.data != NULL && parse_row(record->value, &key, ret)) {
        ret->key = key_of(audit, key);
    } else {
        audit->result.bad_records++;
    }
    return NULL;
}

static Error *take_table(Audit *audit, const LogRecord *record, AuditRecord *ret)
{
    Str key = STR_NULL;
    Str row_key = STR_NULL;
    audit->result.table_records++;
    if (record->key.data == NULL || !parse_message_key(record->key, &key, &ret->ordinal)) {
        return FAILED(audit, "table partition %d offset %lld: strange key %.*s",
                      (int)record->partition, (long long)record->offset, STR_ARG(record->key));
    }
    if (record->value.data != NULL &&
        (!parse_row(record->value, &row_key, ret) || !str_equal(row_key, key))) {
        return FAILED(audit, "table partition %d offset %lld: key %.*s, but the row is %.*s",
                      (int)record->partition, (long long)record->offset, STR_ARG(record->key),
                      STR_ARG(record->value));
    }
    ret->key = key_of(audit, key);
    const char *first = arena_printf(audit->arena, "{\"k\":%.*s}", STR_ARG(key));
    if (partition_of_key(str_from(first), audit->table.count) != record->partition) {
        return FAILED(audit, "table partition %d offset %lld: key %.*s belongs elsewhere",
                      (int)record->partition, (long long)record->offset, STR_ARG(record->key));
    }
    return NULL;
}

typedef Error *(*TakeRecord)(Audit *audit, const LogRecord *record, AuditRecord *ret);

static Error *take_poll(Audit *audit, AuditTopic *topic, const LogPoll *poll, TakeRecord take,
                        int64_t *reached)
{
    for (size_t i = 0; i < poll->record_count; i++) {
        const LogRecord *record = &poll->records[i];
        AuditPartition *partition = &topic->partitions[record->partition];
        reached[record->partition] = record->offset + 1;
        if (record->offset >= partition->stable_end) {
            continue;
        }
        AuditRecord taken = {.offset = record->offset};
        TRY(take(audit, record, &taken));
        mem_reserve(partition->records, &partition->capacity, partition->count + 1);
        partition->records[partition->count++] = taken;
    }
    for (size_t i = 0; i < poll->end_count; i++) {
        int32_t p = poll->ends[i].partition;
        reached[p] = poll->ends[i].offset > reached[p] ? poll->ends[i].offset : reached[p];
    }
    return NULL;
}

static bool all_reached(const AuditTopic *topic, const int64_t *reached)
{
    for (int p = 0; p < topic->count; p++) {
        if (reached[p] < topic->partitions[p].stable_end) {
            return false;
        }
    }
    return true;
}

/* How far a read_committed reader sees. A broker writes the markers of a commit a moment after it
 * has answered it: where nothing else is going on they are waited for. */
static Error *stable_end(Audit *audit, const char *name, int partition, bool settle,
                         int64_t *ret_start, int64_t *ret_end)
{
    Log *log = audit->options.log;
    int timeout_ms = audit->options.timeout_ms;
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    int64_t end = 0;
    for (;;) {
        TRY(log_watermarks(log, name, partition, READ_UNCOMMITTED, timeout_ms, ret_start, &end));
        TRY(log_watermarks(log, name, partition, READ_COMMITTED, timeout_ms, ret_start, ret_end));
        if (*ret_end >= end || !settle) {
            return NULL;
        }
        if (clock_monotonic_ms() > deadline) {
            return FAILED(audit, "topic %s partition %d: a transaction stays open", name,
                          partition);
        }
        clock_sleep_ms(POLL_MS / 5);
    }
}

static Error *read_topic(Audit *audit, AuditTopic *topic, const char *name, TakeRecord take)
{
    Log *log = audit->options.log;
    int timeout_ms = audit->options.timeout_ms;
    LogTopicDescription description = {0};
    TRY(log_topic_describe(log, name, timeout_ms, &description));
    topic->name = name;
    topic->count = description.partition_count;
    topic->partitions = arena_new_array(audit->arena, AuditPartition, (size_t)topic->count);
    int64_t *reached = arena_new_array(audit->arena, int64_t, (size_t)topic->count);
    LogPosition *from = arena_new_array(audit->arena, LogPosition, (size_t)topic->count);
    for (int p = 0; p < topic->count; p++) {
        AuditPartition *partition = &topic->partitions[p];
        bool settle = audit->options.complete && topic == &audit->table;
        TRY(stable_end(audit, name, p, settle, &reached[p], &partition->stable_end));
        partition->position = -1;
        from[p] = (LogPosition){name, p, reached[p]};
    }
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    TRY(log_consumer_open(log, &options, &consumer));
    TRY(log_consumer_assign(consumer, from, (size_t)topic->count));
    AUTO(arena) Arena *poll_arena = arena_new("poll");
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    while (!all_reached(topic, reached)) {
        LogPoll poll = {0};
        TRY(log_consumer_poll(consumer, POLL_MS, POLL_RECORDS, poll_arena, &poll));
        TRY(take_poll(audit, topic, &poll, take, reached));
        if (poll.record_count + poll.end_count > 0) {
            deadline = clock_monotonic_ms() + timeout_ms;
        } else if (clock_monotonic_ms() > deadline) {
            return FAILED(audit, "topic %s: nothing came for %d ms", name, timeout_ms);
        }
        arena_reset(poll_arena);
    }
    return NULL;
}

/* ---------------------------------------------------------------------------- the model ---- */

static void touch(Audit *audit, AuditKey *key)
{
    if (!key->touched) {
        key->touched = true;
        mem_reserve(audit->touched, &audit->touched_capacity, audit->touched_count + 1);
        audit->touched[audit->touched_count++] = key;
    }
}

/* Greater, equal or lower than what the key has; NULL is the lowest and equals itself. */
static int compare_sequence(const AuditRecord *record, const AuditKey *key)
{
    if (!key->known) {
        return 1;
    }
    if (record->null_sequence || key->null_sequence) {
        return (int)key->null_sequence - (int)record->null_sequence;
    }
    return (record->sequence > key->sequence) - (record->sequence < key->sequence);
}

static void apply_to_model(Audit *audit, const AuditRecord *record)
{
    AuditKey *key = record->key;
    int order = compare_sequence(record, key);
    if (order < 0) {
        return;
    }
    touch(audit, key);
    if (order > 0) {
        key->rows = 0;
        key->row_sum = 0;
    }
    key->known = true;
    key->null_sequence = record->null_sequence;
    key->sequence = record->sequence;
    key->rows++;
    key->row_sum += record->hash;
}

static void apply_to_table(Audit *audit, const AuditRecord *record)
{
    AuditKey *key = record->key;
    touch(audit, key);
    size_t had = key->slot_capacity;
    mem_reserve(key->slots, &key->slot_capacity, (size_t)record->ordinal + 1);
    for (size_t i = had; i < key->slot_capacity; i++) {
        key->slots[i] = 0;
    }
    uint64_t *slot = &key->slots[record->ordinal];
    key->slot_rows += (record->hash != 0) - (*slot != 0);
    key->slot_sum += record->hash - *slot;
    *slot = record->hash;
    if (record->hash != 0 && record->ordinal >= key->slot_end) {
        key->slot_end = (size_t)record->ordinal + 1;
    }
    while (key->slot_end > 0 && key->slots[key->slot_end - 1] == 0) {
        key->slot_end--;
    }
}

/* Gives the number of records. */
static size_t advance(Audit *audit, AuditPartition *partition, int64_t end,
                      void (*apply)(Audit *audit, const AuditRecord *record))
{
    size_t before = partition->applied;
    while (partition->applied < partition->count &&
           partition->records[partition->applied].offset < end) {
        const AuditRecord *record = &partition->records[partition->applied++];
        if (record->key != NULL && apply != NULL) {
            apply(audit, record);
        }
    }
    return partition->applied - before;
}

static Error *check_key(Audit *audit, const AuditKey *key)
{
    if (key->slot_rows == key->rows && key->slot_sum == key->row_sum &&
        key->slot_end == key->slot_rows) {
        return NULL;
    }
    return FAILED(audit,
                  "epoch %lld, key %.*s: the model has %llu rows, the table %llu with the highest "
                  "number %lld%s",
                  (long long)audit->epoch, STR_ARG(key->text), (unsigned long long)key->rows,
                  (unsigned long long)key->slot_rows, (long long)key->slot_end - 1,
                  key->slot_rows == key->rows ? " (other rows)" : "");
}

/* While a full refresh is under way readers see the table shrink: what was touched is compared when
 * it is over. */
static Error *check_touched(Audit *audit)
{
    if (audit->resetting) {
        return NULL;
    }
    for (size_t i = 0; i < audit->touched_count; i++) {
        audit->touched[i]->touched = false;
    }
    for (size_t i = 0; i < audit->touched_count; i++) {
        TRY(check_key(audit, audit->touched[i]));
    }
    audit->touched_count = 0;
    return NULL;
}

/* The source is read again from its beginning: the model is empty, and so must the table be. */
static void begin_again(Audit *audit)
{
    audit->result.resets++;
    for (MapEntry *e = map_first(&audit->keys); e != NULL; e = map_next(&audit->keys, e)) {
        AuditKey *key = e->value;
        key->known = false;
        key->rows = 0;
        key->row_sum = 0;
        touch(audit, key);
    }
    for (int p = 0; p < audit->source.count; p++) {
        audit->source.partitions[p].applied = 0;
        audit->source.partitions[p].position = -1;
    }
}

/* ------------------------------------------------------------------------ the progress ---- */

/* The progress records of one transaction: same epoch, update and ends. */
typedef struct Group {
    int64_t epoch;
    const char *update;
    int64_t *ends;      /* a table partition */
    int64_t *positions; /* a source partition; -1: not in this group */
    bool open;
} Group;

static Error *check_order(Audit *audit, const Group *group, bool *ret_back)
{
    int64_t last = audit->epoch < 0 ? 0 : audit->epoch;
    if (group->epoch != last && group->epoch != last + 1) {
        return FAILED(audit, "epoch %lld follows epoch %lld", (long long)group->epoch,
                      (long long)last);
    }
    for (int p = 0; p < audit->table.count; p++) {
        if (group->ends[p] >= 0 && group->ends[p] < audit->table.partitions[p].position) {
            return FAILED(audit, "epoch %lld: the end of table partition %d went back",
                          (long long)group->epoch, p);
        }
    }
    for (int p = 0; p < audit->source.count; p++) {
        if (group->positions[p] < 0 ||
            group->positions[p] >= audit->source.partitions[p].position) {
            continue;
        }
        if (!audit->options.may_go_back) {
            return FAILED(audit,
                          "epoch %lld: progress of source partition %d went back, %lld to "
                          "%lld",
                          (long long)group->epoch, p,
                          (long long)audit->source.partitions[p].position,
                          (long long)group->positions[p]);
        }
        *ret_back = true;
    }
    return NULL;
}

static Error *apply_group(Audit *audit, Group *group)
{
    if (!group->open) {
        return NULL;
    }
    group->open = false;
    bool back = false;
    TRY(check_order(audit, group, &back));
    /* A start writes down where partitions begin; records before that are not the table's. */
    bool beginnings = group->epoch == audit->epoch || (audit->epoch < 0 && group->epoch == 0);
    audit->result.epochs += group->epoch > audit->epoch && !beginnings;
    audit->epoch = group->epoch;
    if (back) {
        begin_again(audit);
    }
    for (int p = 0; p < audit->source.count; p++) {
        AuditPartition *partition = &audit->source.partitions[p];
        if (group->positions[p] >= 0) {
            bool skip = partition->position < 0 && (beginnings || back);
            size_t moved =
                advance(audit, partition, group->positions[p], skip ? NULL : apply_to_model);
            if (beginnings && !skip && moved > 0) {
                return FAILED(
                    audit, "epoch %lld a second time: source partition %d moves over %zu records",
                    (long long)group->epoch, p, moved);
            }
            partition->position = group->positions[p];
        }
    }
    for (int p = 0; p < audit->table.count; p++) {
        if (group->ends[p] >= 0) {
            (void)advance(audit, &audit->table.partitions[p], group->ends[p], apply_to_table);
            audit->table.partitions[p].position = group->ends[p];
        }
    }
    return check_touched(audit);
}

static Error *read_ends(Audit *audit, const JsonTree *node, int64_t *ret_ends)
{
    for (int p = 0; p < audit->table.count; p++) {
        ret_ends[p] = -1;
    }
    for (size_t i = 0; i < json_tree_size(node); i++) {
        Str name = STR_NULL;
        int64_t end = json_tree_int(json_tree_member(node, i, &name), -1);
        int64_t p = -1;
        if (!str_to_int64(name, &p) || p < 0 || p >= audit->table.count) {
            return FAILED(audit, "a progress record has an end of partition %.*s", STR_ARG(name));
        }
        ret_ends[p] = end;
    }
    return NULL;
}

static Error *take_position(Audit *audit, Group *group, const JsonTree *key, const JsonTree *value)
{
    int64_t partition = json_tree_int(json_tree_get(key, "partition"), -1);
    if (partition < 0 || partition >= audit->source.count) {
        return FAILED(audit, "progress of source partition %lld", (long long)partition);
    }
    int64_t epoch = json_tree_int(json_tree_get(value, "epoch"), -1);
    Str update = json_tree_str(json_tree_get(value, "update"), STR(""));
    int64_t *ends = arena_new_array(audit->arena, int64_t, (size_t)audit->table.count);
    TRY(read_ends(audit, json_tree_get(value, "ends"), ends));
    bool same = group->open && group->epoch == epoch &&
                str_equal(update, str_from(group->update)) && group->positions[partition] < 0;
    /* A start writes where partitions begin with the epoch it found: other ends, a group of its own
     * (apply_group checks that it moves over nothing). */
    same = same && memcmp(ends, group->ends, (size_t)audit->table.count * sizeof *ends) == 0;
    if (!same) {
        TRY(apply_group(audit, group));
        *group = (Group){.epoch = epoch,
                         .update = arena_copy_cstr(audit->arena, update),
                         .ends = ends,
                         .open = true};
        group->positions = arena_new_array(audit->arena, int64_t, (size_t)audit->source.count);
        for (int p = 0; p < audit->source.count; p++) {
            group->positions[p] = -1;
        }
    }
    group->positions[partition] = json_tree_int(json_tree_get(value, "offset"), -1);
    audit->result.progress_records++;
    Str instance = json_tree_str(json_tree_get(value, "instance"), STR("?"));
    if (map_get(&audit->instances, instance) == NULL) {
        map_put(&audit->instances, arena_copy_str(audit->arena, instance), audit);
        audit->result.instances++;
    }
    return NULL;
}

static Error *take_progress(Audit *audit, Group *group, const LogRecord *record, Arena *poll_arena)
{
    const JsonTree *key = NULL;
    const JsonTree *value = NULL;
    TRY(json_tree_parse(record->key, poll_arena, &key));
    bool of_flow = str_equal(json_tree_str(json_tree_get(key, "flow"), STR("")),
                             str_from(audit->options.flow));
    if (of_flow && json_tree_bool(json_tree_get(key, "resetting"), false)) {
        TRY(apply_group(audit, group));
        audit->resetting = record->value.data != NULL;
        return NULL;
    }
    bool of_source = str_equal(json_tree_str(json_tree_get(key, "topic"), STR("")),
                               str_from(audit->options.source_topic));
    if (!of_flow || !of_source || record->value.data == NULL) {
        return NULL;
    }
    TRY(json_tree_parse(record->value, poll_arena, &value));
    return take_position(audit, group, key, value);
}

static Error *walk_progress(Audit *audit)
{
    const char *name = audit->options.progress_topic;
    int timeout_ms = audit->options.timeout_ms;
    int64_t reached = 0;
    int64_t end = 0;
    TRY(stable_end(audit, name, 0, audit->options.complete, &reached, &end));
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    TRY(log_consumer_open(audit->options.log, &options, &consumer));
    TRY(log_consumer_assign(consumer, &(LogPosition){name, 0, reached}, 1));
    AUTO(arena) Arena *poll_arena = arena_new("poll");
    Group group = {0};
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    while (reached < end) {
        LogPoll poll = {0};
        TRY(log_consumer_poll(consumer, POLL_MS, POLL_RECORDS, poll_arena, &poll));
        for (size_t i = 0; i < poll.record_count; i++) {
            TRY(take_progress(audit, &group, &poll.records[i], poll_arena));
            reached = poll.records[i].offset + 1;
        }
        if (poll.end_count > 0 && poll.ends[0].offset > reached) {
            reached = poll.ends[0].offset;
        }
        if (poll.record_count == 0 && clock_monotonic_ms() > deadline) {
            return FAILED(audit, "topic %s: nothing came for %d ms", name, timeout_ms);
        }
        arena_reset(poll_arena);
    }
    return apply_group(audit, &group);
}

/* ------------------------------------------------------------------------------ the end ---- */

static Error *check_ends(Audit *audit)
{
    for (int p = 0; p < audit->table.count; p++) {
        const AuditPartition *partition = &audit->table.partitions[p];
        if (partition->applied < partition->count && !audit->options.may_go_back) {
            return FAILED(audit, "table partition %d offset %lld lies beyond the last ends", p,
                          (long long)partition->records[partition->applied].offset);
        }
    }
    for (int p = 0; p < audit->source.count && audit->options.complete; p++) {
        const AuditPartition *partition = &audit->source.partitions[p];
        if (partition->position != partition->stable_end) {
            return FAILED(audit, "source partition %d: progress stands at %lld, the end is %lld", p,
                          (long long)partition->position, (long long)partition->stable_end);
        }
    }
    return NULL;
}

static Error *check_group_offsets(Audit *audit)
{
    for (int p = 0; p < audit->source.count && audit->options.group != NULL; p++) {
        int64_t offset = -1;
        TRY(log_group_offset(audit->options.log, audit->options.group, audit->options.source_topic,
                             p, audit->options.timeout_ms, &offset));
        if (offset != audit->source.partitions[p].position) {
            return FAILED(audit, "source partition %d: the group's offset is %lld, progress %lld",
                          p, (long long)offset, (long long)audit->source.partitions[p].position);
        }
    }
    return NULL;
}

static Error *count_rows(Audit *audit)
{
    for (MapEntry *e = map_first(&audit->keys); e != NULL; e = map_next(&audit->keys, e)) {
        const AuditKey *key = e->value;
        TRY(check_key(audit, key));
        audit->result.keys += key->rows > 0;
        audit->result.rows += key->rows;
        if (key->rows > audit->result.largest_set) {
            audit->result.largest_set = key->rows;
        }
    }
    return NULL;
}

static Error *run(Audit *audit)
{
    TRY(read_topic(audit, &audit->source, audit->options.source_topic, take_source));
    TRY(read_topic(audit, &audit->table, audit->options.table_topic, take_table));
    TRY(walk_progress(audit));
    TRY(check_ends(audit));
    TRY(check_group_offsets(audit));
    return count_rows(audit);
}

static void free_topic(const AuditTopic *topic)
{
    for (int p = 0; p < topic->count && topic->partitions != NULL; p++) {
        mem_free(topic->partitions[p].records);
    }
}

Error *audit_run(const AuditOptions *options, AuditResult *ret_result)
{
    Audit audit = {.options = *options, .arena = arena_new("audit"), .epoch = -1};
    Error *error = run(&audit);
    *ret_result = audit.result;
    for (MapEntry *e = map_first(&audit.keys); e != NULL; e = map_next(&audit.keys, e)) {
        mem_free(((AuditKey *)e->value)->slots);
    }
    map_done(&audit.keys);
    map_done(&audit.instances);
    mem_free(audit.touched);
    free_topic(&audit.source);
    free_topic(&audit.table);
    arena_free(audit.arena);
    return error;
}
