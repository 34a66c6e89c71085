/* Schemas: an ordered list of named, typed columns. Looking a name up is a scan where there are
 * tens of columns, a look into a table of hashes where there are more: who asks for each of ten
 * thousand names does not ask a hundred million times. */
#include "processor/data/schema.h"

#include <assert.h>

#include "processor/base/banned.h"

enum { SCANNED_FIELDS = 32 };

/* ---- Names of a wide schema ---- */

/* FNV-1a over lower case, then mixed: the lower bits choose the slot. */
static size_t name_hash(Str name)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ (unsigned char)ascii_lower(name.data[i])) * UINT64_C(0x100000001B3);
    }
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of the column of that name, or the free one where it would be. */
static size_t find_slot(const Schema *schema, Str name)
{
    size_t at = name_hash(name) & (schema->slot_count - 1);
    while (schema->slots[at] != 0 &&
           !str_equal_ignore_case(schema->fields[schema->slots[at] - 1].name, name)) {
        at = (at + 1) & (schema->slot_count - 1);
    }
    return at;
}

static void index_names(Schema *schema, Arena *arena)
{
    if (schema->field_count <= SCANNED_FIELDS) {
        return;
    }
    size_t count = 2 * SCANNED_FIELDS;
    while (count < 2 * schema->field_count) {
        count *= 2;
    }
    uint32_t *slots = arena_new_array(arena, uint32_t, count);
    schema->slots = slots;
    schema->slot_count = count;
    for (size_t i = 0; i < schema->field_count; i++) {
        size_t slot = find_slot(schema, schema->fields[i].name);
        slots[slot] = slots[slot] == 0 ? (uint32_t)i + 1 : slots[slot]; /* the first one counts */
    }
}

static const Schema *schema_over(Arena *arena, const Field *fields, size_t count)
{
    Schema *schema = arena_new_object(arena, Schema);
    *schema = (Schema){.fields = fields, .field_count = count};
    index_names(schema, arena);
    return schema;
}

/* ---- Schemas ---- */

const Schema *schema_new(Arena *arena, const Field *fields, size_t count)
{
    assert(fields != NULL || count == 0);
    Field *copy = arena_new_array(arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        copy[i] = fields[i];
    }
    return schema_over(arena, copy, count);
}

const Schema *schema_copy(Arena *arena, const Schema *schema)
{
    Field *copy = arena_new_array(arena, Field, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        const Field *from = &schema->fields[i];
        copy[i] = (Field){arena_copy_str(arena, from->name), type_copy(arena, from->type),
                          from->not_null, arena_copy_str(arena, from->comment)};
    }
    return schema_over(arena, copy, schema->field_count);
}

int schema_find(const Schema *schema, Str name)
{
    if (schema->slot_count > 0) {
        return (int)schema->slots[find_slot(schema, name)] - 1;
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        if (str_equal_ignore_case(schema->fields[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

Str schema_nearest(const Schema *schema, Str name)
{
    Str nearest = STR_NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < schema->field_count; i++) {
        if (str_is_nearer(schema->fields[i].name, name, &best)) {
            nearest = schema->fields[i].name;
        }
    }
    return nearest;
}

void schema_format(const Schema *schema, Buffer *out)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        field_format(&schema->fields[i], " ", out);
    }
}

bool schema_equal(const Schema *a, const Schema *b)
{
    Type row_a = {.kind = TYPE_STRUCT, .fields = a->fields, .field_count = a->field_count};
    Type row_b = {.kind = TYPE_STRUCT, .fields = b->fields, .field_count = b->field_count};
    return type_equal(&row_a, &row_b);
}
