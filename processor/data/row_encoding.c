/* Rows as bytes: what the state keeps.
 *
 *     row      version (varint) · fields
 *     fields   a bit a column, set where NULL, in whole bytes · the values that are not NULL
 *     integer  zigzag varint, also DATE, TIMESTAMP, intervals, and DECIMAL (to 128 bits)
 *     BOOLEAN  a byte · FLOAT, DOUBLE 4 or 8 bytes, little-endian
 *     STRING   size (varint) · bytes; BINARY and VARIANT likewise
 *     ARRAY    count (varint) · a bit an element, set where NULL · the elements that are not NULL
 *     MAP      count · keys (bits, values) · values (bits, values)
 *     STRUCT   fields
 *
 * A struct and a row are the same thing, so one plan serves both. A plan says, for one version,
 * what becomes of each stored value in the newest schema: which column it goes to, or that it is
 * skipped, and which columns are missing. Plans are made when a version is added; reading a row
 * only follows one. Stored types may be narrower than the newest ones (data/type_widening.h, and
 * FLOAT in DOUBLE); a column whose type changed otherwise reads NULL.
 *
 * Sizes and counts are checked against the bytes that are there before anything is appended; a list
 * takes a bit an element at least, so what a damaged row can make us append is bounded by its
 * length. */
#include "processor/data/row_encoding.h"

#include <assert.h>
#include <string.h>

#include "processor/data/decimal.h"
#include "processor/data/row_reader.h"
#include "processor/data/type_widening.h"
#include "processor/base/banned.h"

/* ---- Plans and versions ---- */

typedef struct ReadPlan ReadPlan;

struct ReadPlan {
    const Type *stored;
    const Type *target; /* as which it is read; NULL: skipped */
    bool skip;          /* read over it: gone from the newest schema, or of another type there */
    uint32_t child_count;
    ReadPlan *children; /* of ARRAY, MAP, STRUCT, by position as stored */
    uint32_t *targets;  /* STRUCT: child of the newest type each stored field goes to */
    uint32_t *missing;  /* STRUCT: children of the newest type that were not stored */
    uint32_t missing_count;
};

struct SchemaHistory {
    Arena *arena;
    Arena *plan_arena; /* plans are made anew at every version added */
    const TimeZone *date_zone;
    const Schema **schemas;
    ReadPlan *plans; /* to the newest, by version - 1 */
    uint32_t count;
    uint32_t capacity;
};

static void free_plan_arena(void *arena)
{
    arena_free(arena);
}

SchemaHistory *schema_history_new(Arena *arena)
{
    SchemaHistory *history = arena_new_object(arena, SchemaHistory);
    history->arena = arena;
    history->date_zone = time_zone_utc();
    history->plan_arena = arena_new("row plans");
    arena_on_reset(arena, free_plan_arena, history->plan_arena);
    return history;
}

void schema_history_set_date_zone(SchemaHistory *history, const TimeZone *zone)
{
    history->date_zone = zone;
}

uint32_t schema_history_newest(const SchemaHistory *history)
{
    return history->count;
}

const Schema *schema_history_get(const SchemaHistory *history, uint32_t version)
{
    assert(version >= 1 && version <= history->count);
    return history->schemas[version - 1];
}

static ReadPlan make_plan(Arena *arena, const Type *stored, const Type *target);

/* The first field of that name that no stored one goes to yet, or -1. */
static int find_field(const Type *target, const bool *found, Str name, bool exact)
{
    for (size_t i = 0; i < target->field_count; i++) {
        Str other = target->fields[i].name;
        if (!found[i] && (exact ? str_equal(other, name) : str_equal_ignore_case(other, name))) {
            return (int)i;
        }
    }
    return -1;
}

/* Where each stored field goes, -1: nowhere. Fields of a struct may differ in case only: equal
 * spellings find each other first. */
static int *match_fields(Arena *arena, const Type *stored, const Type *target)
{
    int *matches = arena_new_array(arena, int, stored->field_count);
    bool *found = arena_new_array(arena, bool, target->field_count);
    for (int exact = 1; exact >= 0; exact--) {
        for (size_t i = 0; i < stored->field_count; i++) {
            if (exact == 1 || matches[i] < 0) {
                matches[i] = find_field(target, found, stored->fields[i].name, exact == 1);
            }
            if (matches[i] >= 0) {
                found[matches[i]] = true;
            }
        }
    }
    return matches;
}

/* The fields of a struct or a row, found by name in the newest. */
static void plan_fields(Arena *arena, const Type *stored, const Type *target, ReadPlan *plan)
{
    uint32_t count = (uint32_t)stored->field_count;
    plan->child_count = count;
    plan->children = arena_new_array(arena, ReadPlan, count);
    plan->targets = arena_new_array(arena, uint32_t, count);
    plan->missing = arena_new_array(arena, uint32_t, target->field_count);
    bool *found = arena_new_array(arena, bool, target->field_count);
    const int *matches = match_fields(arena, stored, target);
    for (uint32_t i = 0; i < count; i++) {
        int at = matches[i];
        assert(at < (int)target->field_count);
        plan->children[i] =
            make_plan(arena, stored->fields[i].type, at >= 0 ? target->fields[at].type : NULL);
        if (!plan->children[i].skip) {
            plan->targets[i] = (uint32_t)at;
            found[at] = true;
        }
    }
    for (size_t i = 0; i < target->field_count; i++) {
        if (!found[i]) {
            plan->missing[plan->missing_count++] = (uint32_t)i;
        }
    }
}

/* Can a stored value that has no parts be read as the newest type? */
static bool widens(const Type *stored, const Type *target)
{
    return type_widens_to(stored, target) ||
           (stored->kind == TYPE_FLOAT && target->kind == TYPE_DOUBLE);
}

/* A list is skipped whole when its elements cannot be read. */
static void plan_list(Arena *arena, const Type *stored, const Type *target, ReadPlan *plan)
{
    bool map = stored->kind == TYPE_MAP;
    plan->child_count = map ? 2 : 1;
    plan->children = arena_new_array(arena, ReadPlan, plan->child_count);
    for (uint32_t i = 0; i < plan->child_count; i++) {
        bool key = map && i == 0;
        const Type *element = key ? stored->key : stored->element;
        const Type *wanted = target == NULL ? NULL : key ? target->key : target->element;
        plan->children[i] = make_plan(arena, element, wanted);
        plan->skip |= plan->children[i].skip;
    }
}

/* target == NULL: to be skipped. */
static ReadPlan make_plan(Arena *arena, const Type *stored, const Type *target)
{
    ReadPlan plan = {.stored = stored, .skip = target == NULL};
    const Type nothing = {.kind = TYPE_STRUCT};
    if (target != NULL && target->kind != stored->kind && !widens(stored, target)) {
        target = NULL;
        plan.skip = true;
    }
    switch (type_physical(stored)) {
    case PHYSICAL_STRUCT:
        plan_fields(arena, stored, target == NULL ? &nothing : target, &plan);
        break;
    case PHYSICAL_LIST:
        plan_list(arena, stored, target, &plan);
        break;
    case PHYSICAL_NONE:
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
    case PHYSICAL_INT128:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
    case PHYSICAL_STR:
        plan.skip |= target == NULL || !widens(stored, target);
        break;
    }
    plan.target = plan.skip ? NULL : target;
    return plan;
}

static const Type *row_type(Arena *arena, const Schema *schema)
{
    return type_struct(arena, schema->fields, schema->field_count);
}

static void make_plans(SchemaHistory *history)
{
    arena_reset(history->plan_arena);
    history->plans = arena_new_array(history->plan_arena, ReadPlan, history->count);
    const Type *newest = row_type(history->plan_arena, history->schemas[history->count - 1]);
    for (uint32_t i = 0; i < history->count; i++) {
        const Type *stored = row_type(history->plan_arena, history->schemas[i]);
        history->plans[i] = make_plan(history->plan_arena, stored, newest);
    }
}

uint32_t schema_history_add(SchemaHistory *history, const Schema *schema)
{
    if (history->count == history->capacity) {
        uint32_t capacity = history->capacity == 0 ? 4 : history->capacity * 2;
        const Schema **schemas = arena_new_array(history->arena, const Schema *, capacity);
        for (uint32_t i = 0; i < history->count; i++) {
            schemas[i] = history->schemas[i];
        }
        history->schemas = schemas;
        history->capacity = capacity;
    }
    history->schemas[history->count++] = schema_copy(history->arena, schema);
    make_plans(history);
    return history->count;
}

/* ---- Decoding ---- */

typedef struct RowSource {
    RowReader reader;
    Arena *arena;
    const TimeZone *date_zone;
} RowSource;

/* Reading functions take the vector a value goes to; NULL: read over it. */

/* The value as the newest type, where that is no integer of another size. */
static void append_widened(const RowSource *source, const ReadPlan *plan, int64_t value,
                           Vector *vector)
{
    const Type *target = plan->target;
    if (target->kind == TYPE_DECIMAL) {
        int128 unscaled = (int128)value * decimal_power_of_ten(target->scale);
        vector_append_int128(vector, source->arena, unscaled);
    } else if (target->kind == TYPE_DOUBLE) {
        vector_append_double(vector, source->arena, (double)value);
    } else {
        const TimeZone *zone = target->kind == TYPE_TIMESTAMP ? source->date_zone : NULL;
        vector_append_int(vector, source->arena, date_to_timestamp_us((int32_t)value, zone));
    }
}

static bool read_integer(RowSource *source, const ReadPlan *plan, Vector *vector)
{
    int64_t value = 0;
    if (!row_read_integer(&source->reader, type_value_size(plan->stored), &value)) {
        return false;
    }
    if (vector == NULL) {
        return true;
    }
    if (plan->target->kind != plan->stored->kind && !type_is_integral(plan->target)) {
        append_widened(source, plan, value, vector);
    } else {
        vector_append_int(vector, source->arena, value);
    }
    return true;
}

static bool read_decimal(RowSource *source, const ReadPlan *plan, Vector *vector)
{
    int128 value = 0;
    if (!row_read_int128(&source->reader, &value) ||
        !decimal_fits(value, plan->stored->precision)) {
        return false;
    }
    if (vector != NULL) {
        value *= decimal_power_of_ten(plan->target->scale - plan->stored->scale);
        vector_append_int128(vector, source->arena, value);
    }
    return true;
}

static bool read_bool(RowSource *source, Vector *vector)
{
    bool value = false;
    if (!row_read_bool(&source->reader, &value)) {
        return false;
    }
    if (vector != NULL) {
        vector_append_bool(vector, source->arena, value);
    }
    return true;
}

static bool read_float(RowSource *source, Vector *vector)
{
    float number = 0;
    if (!row_read_float(&source->reader, &number)) {
        return false;
    }
    if (vector != NULL) {
        vector_append_double(vector, source->arena, (double)number);
    }
    return true;
}

static bool read_double(RowSource *source, Vector *vector)
{
    double number = 0;
    if (!row_read_double(&source->reader, &number)) {
        return false;
    }
    if (vector != NULL) {
        vector_append_double(vector, source->arena, number);
    }
    return true;
}

static bool read_string(RowSource *source, Vector *vector)
{
    Str value = STR_NULL;
    if (!row_read_str(&source->reader, &value)) {
        return false;
    }
    if (vector != NULL) {
        vector_append_str(vector, source->arena, value);
    }
    return true;
}

static bool read_value(RowSource *source, const ReadPlan *plan, Vector *vector);

static bool read_or_null(RowSource *source, const ReadPlan *plan, bool null, Vector *vector)
{
    if (!null) {
        return read_value(source, plan, vector);
    }
    if (vector != NULL) {
        vector_append_null(vector, source->arena);
    }
    return true;
}

/* The fields of a struct or row; columns == NULL: read over them. */
static bool read_fields(RowSource *source, const ReadPlan *plan, Vector **columns)
{
    const unsigned char *bits;
    if (!row_read_null_bits(&source->reader, plan->child_count, &bits)) {
        return false;
    }
    for (uint32_t i = 0; i < plan->child_count; i++) {
        const ReadPlan *child = &plan->children[i];
        bool skip = columns == NULL || child->skip;
        Vector *vector = skip ? NULL : columns[plan->targets[i]];
        if (!read_or_null(source, child, row_null_bit(bits, i), vector)) {
            return false;
        }
    }
    for (uint32_t i = 0; columns != NULL && i < plan->missing_count; i++) {
        vector_append_null(columns[plan->missing[i]], source->arena);
    }
    return true;
}

static bool read_struct(RowSource *source, const ReadPlan *plan, Vector *vector)
{
    if (!read_fields(source, plan, vector == NULL ? NULL : vector->children)) {
        return false;
    }
    if (vector != NULL) {
        vector_finish_struct(vector, source->arena);
    }
    return true;
}

static bool read_list(RowSource *source, const ReadPlan *plan, Vector *vector)
{
    uint64_t count = 0;
    if (!row_read_varint(&source->reader, &count) || count > UINT32_MAX) {
        return false;
    }
    for (uint32_t child = 0; child < plan->child_count; child++) {
        const unsigned char *bits;
        if (!row_read_null_bits(&source->reader, count, &bits)) {
            return false;
        }
        Vector *elements = vector == NULL ? NULL : vector->children[child];
        for (size_t i = 0; i < count; i++) {
            if (!read_or_null(source, &plan->children[child], row_null_bit(bits, i), elements)) {
                return false;
            }
        }
    }
    if (vector != NULL) {
        vector_finish_list(vector, source->arena);
    }
    return true;
}

static bool read_value(RowSource *source, const ReadPlan *plan, Vector *vector)
{
    switch (type_physical(plan->stored)) {
    case PHYSICAL_NONE:
        return false; /* always NULL, so never a value */
    case PHYSICAL_BOOL:
        return read_bool(source, vector);
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
        return read_integer(source, plan, vector);
    case PHYSICAL_INT128:
        return read_decimal(source, plan, vector);
    case PHYSICAL_FLOAT:
        return read_float(source, vector);
    case PHYSICAL_DOUBLE:
        return read_double(source, vector);
    case PHYSICAL_STR:
        return read_string(source, vector);
    case PHYSICAL_LIST:
        return read_list(source, plan, vector);
    case PHYSICAL_STRUCT:
        return read_struct(source, plan, vector);
    }
    return false;
}

/* Takes back what was appended of the row. */
static COLD Error *damaged(const RowSource *source, Str bytes, Batch *batch)
{
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        vector_truncate(batch->columns[i], batch->row_count);
    }
    return error_new(ERROR_STATE_CORRUPT, "A stored row is damaged at byte %td of %zu.",
                     source->reader.at - (const unsigned char *)bytes.data, bytes.size);
}

Error *row_decode(const SchemaHistory *history, Str bytes, Arena *arena, Batch *batch)
{
    assert(batch->selection == NULL && batch->selected_count == batch->row_count);
    bytes.data = bytes.data == NULL ? "" : bytes.data;
    RowSource source = {row_reader_of(bytes), arena, history->date_zone};
    uint64_t version;
    if (!row_read_varint(&source.reader, &version)) {
        return damaged(&source, bytes, batch);
    }
    if (version == 0 || version > history->count) {
        return error_new(ERROR_STATE_CORRUPT,
                         "A stored row names version %llu of its table's schema; %u are known.",
                         (unsigned long long)version, history->count);
    }
    if (!read_fields(&source, &history->plans[version - 1], batch->columns) ||
        source.reader.at != source.reader.end) {
        return damaged(&source, bytes, batch);
    }
    batch->row_count++;
    batch->selected_count++;
    return NULL;
}
