/* Schemas: an ordered list of named, typed columns. Looking a name up is a scan: relations have
 * tens of columns and names are resolved when a statement is bound, never per row. */
#include "processor/data/schema.h"

#include <assert.h>

#include "processor/base/banned.h"

const Schema *schema_new(Arena *arena, const Field *fields, size_t count)
{
    assert(fields != NULL || count == 0);
    Field *copy = arena_new_array(arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        copy[i] = fields[i];
    }
    Schema *schema = arena_new_object(arena, Schema);
    *schema = (Schema){copy, count};
    return schema;
}

const Schema *schema_copy(Arena *arena, const Schema *schema)
{
    Field *copy = arena_new_array(arena, Field, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        const Field *from = &schema->fields[i];
        copy[i] = (Field){arena_copy_str(arena, from->name), type_copy(arena, from->type),
                          from->not_null, arena_copy_str(arena, from->comment)};
    }
    Schema *result = arena_new_object(arena, Schema);
    *result = (Schema){copy, schema->field_count};
    return result;
}

int schema_find(const Schema *schema, Str name)
{
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
