/* See information_schema.h. Columns as the dialect's public reference has them: a row for each
 * filter and for each masked column. */
#include "processor/bind/information_schema.h"

#include "processor/base/banned.h"

enum { COLUMNS_MAX = 6 };

typedef struct SystemRelation {
    const char *name;
    const char *columns[COLUMNS_MAX + 1];
} SystemRelation;

static const SystemRelation relations[] = {
    {"row_filters",
     {"table_catalog", "table_schema", "table_name", "filter_name", "target_columns", NULL}},
    {"column_masks",
     {"table_catalog", "table_schema", "table_name", "column_name", "mask_name", "using_columns",
      NULL}},
};

bool is_information_schema(const AstName *name)
{
    size_t count = name->part_count;
    return (count == 2 || count == 3) &&
           str_equal_ignore_case(name->parts[count - 2].name, STR("information_schema"));
}

static const Relation *make(Arena *arena, const SystemRelation *system)
{
    size_t count = 0;
    Field *fields = arena_new_array(arena, Field, COLUMNS_MAX);
    for (; system->columns[count] != NULL; count++) {
        fields[count] = (Field){str_from(system->columns[count]), &type_string, false, STR_NULL};
    }
    Relation *relation = arena_new_object(arena, Relation);
    *relation =
        (Relation){.name = str_from(arena_printf(arena, "information_schema.%s", system->name)),
                   .kind = RELATION_TABLE,
                   .schema = schema_new(arena, fields, count),
                   .sequence = STR_NULL};
    return relation;
}

const Relation *information_schema_find(Arena *arena, const AstName *name)
{
    Str last = name->parts[name->part_count - 1].name;
    for (size_t i = 0; is_information_schema(name) && i < ARRAY_LENGTH(relations); i++) {
        if (str_equal_ignore_case(last, str_from(relations[i].name))) {
            return make(arena, &relations[i]);
        }
    }
    return NULL;
}
