/* The columns of a relation. Immutable once built; lives in an arena. */
#ifndef DATA_SCHEMA_H
#define DATA_SCHEMA_H

#include "processor/base/error.h"
#include "processor/data/type.h"

typedef struct Schema {
    const Field *fields;
    size_t field_count;
    /* Of a wide schema: columns by the hash of their names, each + 1, 0 where there is none. */
    const uint32_t *slots;
    size_t slot_count; /* 0: few columns, or a power of two */
} Schema;

/* Copies the fields' array. */
const Schema *schema_new(Arena *arena, const Field *fields, size_t count);
/* Deep copy. */
const Schema *schema_copy(Arena *arena, const Schema *schema);
/* Index of the first column of that name (ignoring case), or -1. */
int schema_find(const Schema *schema, Str name);
/* The nearest column name by edit distance, STR_NULL when none is near. */
Str schema_nearest(const Schema *schema, Str name);
/* "a BIGINT, b STRING NOT NULL" — parses back as a column list. */
void schema_format(const Schema *schema, Buffer *out);
bool schema_equal(const Schema *a, const Schema *b); /* names (ignoring case), types, order */

#endif
