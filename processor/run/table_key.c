/* Message keys: encoded keys written in the narrowest form, and read back.
 *
 * Where the newest types write every key as the older ones did (always, but for a table whose key
 * columns widened to another form), the writer of the format does all. */
#include "processor/run/table_key.h"

#include <assert.h>
#include <math.h>

#include "connectors/format/format.h"
#include "processor/data/decimal.h"
#include "processor/data/key_encoding.h"

#include "processor/base/banned.h"

#define DAY_US INT64_C(86400000000)

/* The types of one column whose texts differ, oldest first; the last is the newest. */
typedef struct KeyForms {
    const Type **types;
    size_t count;
} KeyForms;

struct TableKey {
    const Field *fields; /* of the newest version */
    size_t count;
    KeyForms *forms;
    bool several; /* some column has several forms */
    const TimeZone *date_zone;
    const JsonKeyWriter *writer;
};

/* ---------------------------------------------------------------------------------- forms ---- */

static int scale_of(const Type *type)
{
    return type->kind == TYPE_DECIMAL ? type->scale : type_is_integral(type) ? 0 : -1;
}

/* Is every value of `narrow` written alike as `wide`? */
static bool has_same_text(const Type *narrow, const Type *wide)
{
    return type_equal(narrow, wide) ||
           (scale_of(narrow) >= 0 && scale_of(narrow) == scale_of(wide));
}

static void add_form(KeyForms *forms, const Type *type)
{
    if (forms->count > 0 && has_same_text(forms->types[forms->count - 1], type)) {
        forms->count--; /* the wider one writes more values so */
    }
    forms->types[forms->count++] = type;
}

static KeyForms forms_of(Arena *arena, const TableKeyOptions *options, Str name)
{
    KeyForms forms = {arena_new_array(arena, const Type *, options->version_count), 0};
    for (size_t i = 0; i < options->version_count; i++) {
        int column = schema_find(options->versions[i], name);
        if (column >= 0) {
            add_form(&forms, options->versions[i]->fields[column].type);
        }
    }
    return forms;
}

const TableKey *table_key_new(Arena *arena, const TableKeyOptions *options)
{
    assert(options->version_count > 0);
    const Schema *newest = options->versions[options->version_count - 1];
    TableKey *key = arena_new_object(arena, TableKey);
    Field *fields = arena_new_array(arena, Field, options->column_count);
    key->fields = fields;
    key->count = options->column_count;
    key->forms = arena_new_array(arena, KeyForms, options->column_count);
    key->date_zone = options->date_zone;
    for (size_t i = 0; i < options->column_count; i++) {
        fields[i] = newest->fields[options->columns[i]];
        key->forms[i] = forms_of(arena, options, fields[i].name);
        key->several = key->several || key->forms[i].count > 1;
    }
    key->writer = json_key_writer_new(arena, fields, key->count);
    return key;
}

/* ---------------------------------------------------------------------------------- values ---- */

static void integral_range(const Type *type, int128 *ret_min, int128 *ret_max)
{
    int bits = (int)type_value_size(type) * 8 - 1;
    *ret_min = -((int128)1 << bits);
    *ret_max = ((int128)1 << bits) - 1;
}

static bool append_integral(int128 value, const Type *form, Arena *arena, Vector *to)
{
    int128 min = 0;
    int128 max = 0;
    integral_range(form, &min, &max);
    if (value < min || value > max) {
        return false;
    }
    vector_append_int(to, arena, (int64_t)value);
    return true;
}

static bool narrow_decimal(const Vector *from, const Type *form, Arena *arena, Vector *to)
{
    int128 value = VECTOR_VALUE(from, int128, 0);
    int128 unit = decimal_power_of_ten(from->type->scale - scale_of(form));
    if (value % unit != 0) {
        return false;
    }
    if (form->kind != TYPE_DECIMAL) {
        return append_integral(value / unit, form, arena, to);
    }
    if (!decimal_fits(value / unit, form->precision)) {
        return false;
    }
    vector_append_int128(to, arena, value / unit);
    return true;
}

/* Only integers that a DOUBLE holds exactly widen to it as keys. */
static bool narrow_double(const Vector *from, const Type *form, Arena *arena, Vector *to)
{
    double value = VECTOR_VALUE(from, double, 0);
    return fabs(value) < 0x1p53 && value == trunc(value) &&
           append_integral((int128)value, form, arena, to);
}

static bool narrow_timestamp(const TableKey *key, const Vector *from, Arena *arena, Vector *to)
{
    int64_t us = VECTOR_VALUE(from, int64_t, 0);
    const TimeZone *zone = from->type->kind == TYPE_TIMESTAMP ? key->date_zone : NULL;
    int64_t local = 0;
    if (__builtin_add_overflow(us, zone == NULL ? 0 : time_zone_offset_us(zone, us), &local)) {
        return false;
    }
    int64_t days = local / DAY_US - (local % DAY_US < 0);
    if (date_to_timestamp_us((int32_t)days, zone) != us) {
        return false;
    }
    vector_append_int(to, arena, days);
    return true;
}

/* Appends the value of `from` as the older type; false, and nothing is appended: it holds no such
 * value. */
static bool narrow(const TableKey *key, const Vector *from, const Type *form, Arena *arena,
                   Vector *to)
{
    if (!vector_is_valid(from, 0)) {
        vector_append_null(to, arena);
        return true;
    }
    switch (from->type->kind) {
    case TYPE_DECIMAL:
        return narrow_decimal(from, form, arena, to);
    case TYPE_DOUBLE:
        return narrow_double(from, form, arena, to);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return narrow_timestamp(key, from, arena, to);
    case TYPE_BIGINT:
    case TYPE_INT:
    case TYPE_SMALLINT:
    case TYPE_TINYINT:
    case TYPE_NULL:
    case TYPE_BOOLEAN:
    case TYPE_FLOAT:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_DATE:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT:
        break;
    }
    return false; /* integers have one form, and nothing else widens */
}

static Vector *narrowest(const TableKey *key, size_t column, Vector *value, Arena *arena)
{
    const KeyForms *forms = &key->forms[column];
    for (size_t i = 0; i + 1 < forms->count; i++) {
        Vector *narrower = vector_new(arena, forms->types[i], 1);
        if (narrow(key, value, forms->types[i], arena, narrower)) {
            return narrower;
        }
    }
    return value;
}

static Vector **new_columns(const TableKey *key, Arena *arena)
{
    Vector **columns = arena_new_array(arena, Vector *, key->count);
    for (size_t i = 0; i < key->count; i++) {
        columns[i] = vector_new(arena, key->fields[i].type, 1);
    }
    return columns;
}

static Error *write_narrowest(const TableKey *key, Str bytes, uint32_t ordinal, Buffer *out)
{
    AUTO(arena) Arena *arena = arena_new("key");
    Vector **columns = new_columns(key, arena);
    TRY(key_decode(bytes, arena, columns, key->count));
    Field *fields = arena_new_array(arena, Field, key->count);
    for (size_t i = 0; i < key->count; i++) {
        columns[i] = narrowest(key, i, columns[i], arena);
        fields[i] = key->fields[i];
        fields[i].type = columns[i]->type;
    }
    json_encode_key(fields, columns, key->count, 0, ordinal, out);
    return NULL;
}

Error *table_key_write(const TableKey *key, Str bytes, uint32_t ordinal, Buffer *out)
{
    return key->several ? write_narrowest(key, bytes, ordinal, out)
                        : json_key_write(key->writer, bytes, ordinal, out);
}

Error *table_key_read(const TableKey *key, Str text, Arena *batch_arena, Buffer *out,
                      uint32_t *ret_ordinal)
{
    Vector **columns = new_columns(key, batch_arena);
    TRY(json_decode_key(key->fields, key->count, text, key->several ? key->date_zone : NULL,
                        batch_arena, columns, ret_ordinal));
    key_encode(columns, key->count, 0, out);
    return NULL;
}
