/* Catalog: relations by full name. A name of one to three parts is completed by the current catalog
 * and schema (ST-8), lower-cased, and looked up in a map; the parts are joined by a byte no name
 * holds, so `a.b` in backquotes is not the table b of schema a. */
#include "processor/bind/catalog.h"

#include <assert.h>

#include "processor/base/map.h"

#include "processor/base/banned.h"

enum { NAME_PARTS_MAX = 3 };

struct Catalog {
    Arena *arena;
    Str current_catalog;
    Str current_schema;
    Map relations; /* key: parts joined by key_separator -> Relation */
    const Relation **list;
    size_t count;
    size_t capacity;
    Map routines; /* the same -> Routine */
    const Routine **routine_list;
    size_t routine_count;
    size_t routine_capacity;
};

static const char key_separator = '\x1f';

static void release_map(void *map)
{
    map_done(map);
}

Catalog *catalog_new(Arena *arena, Str current_catalog, Str current_schema)
{
    Catalog *catalog = arena_new_object(arena, Catalog);
    catalog->arena = arena;
    catalog->current_catalog = arena_copy_str(arena, current_catalog);
    catalog->current_schema = arena_copy_str(arena, current_schema);
    arena_on_reset(arena, release_map, &catalog->relations);
    arena_on_reset(arena, release_map, &catalog->routines);
    return catalog;
}

void catalog_qualify(const Catalog *catalog, const Str *parts, size_t part_count, Str ret_parts[3])
{
    assert(part_count >= 1 && part_count <= NAME_PARTS_MAX);
    ret_parts[0] = catalog->current_catalog;
    ret_parts[1] = catalog->current_schema;
    for (size_t i = 0; i < part_count; i++) {
        ret_parts[NAME_PARTS_MAX - part_count + i] = parts[i];
    }
}

/* All three parts, lower case, with `separator` between them. */
static Str join_full_name(const Catalog *catalog, const Str *parts, size_t part_count,
                          char separator, Arena *arena)
{
    Str full[NAME_PARTS_MAX];
    catalog_qualify(catalog, parts, part_count, full);
    size_t size = NAME_PARTS_MAX - 1;
    for (size_t i = 0; i < NAME_PARTS_MAX; i++) {
        size += full[i].size;
    }
    char *bytes = arena_alloc_bytes(arena, size);
    size_t at = 0;
    for (size_t i = 0; i < NAME_PARTS_MAX; i++) {
        if (i > 0) {
            bytes[at++] = separator;
        }
        for (size_t k = 0; k < full[i].size; k++) {
            char byte = full[i].data[k];
            bytes[at++] = byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
        }
    }
    assert(at == size);
    return (Str){bytes, size};
}

Str catalog_full_name(const Catalog *catalog, const Str *parts, size_t part_count, Arena *arena)
{
    return join_full_name(catalog, parts, part_count, '.', arena);
}

size_t catalog_split_name(Str name, Str *ret_parts, size_t part_max)
{
    size_t count = 0;
    Str rest = name;
    while (rest.data != NULL) {
        Str part;
        if (rest.size > 0 && rest.data[0] == '`') {
            Str inside = {rest.data + 1, rest.size - 1};
            part = str_cut(&inside, '`');
            rest = inside;
            if (rest.data != NULL && rest.size > 0 && rest.data[0] == '.') {
                rest = (Str){rest.data + 1, rest.size - 1};
            } else {
                rest = STR_NULL;
            }
        } else {
            part = str_cut(&rest, '.');
        }
        if (count == part_max || part.size == 0) {
            return 0;
        }
        ret_parts[count++] = part;
    }
    return count;
}

static const Relation *copy_relation(Catalog *catalog, const Relation *relation)
{
    Relation *copy = arena_new_object(catalog->arena, Relation);
    *copy = *relation;
    return copy;
}

void catalog_put(Catalog *catalog, const Str *parts, size_t part_count, const Relation *relation)
{
    Str key = join_full_name(catalog, parts, part_count, key_separator, catalog->arena);
    const Relation *copy = copy_relation(catalog, relation);
    const Relation *old = map_get(&catalog->relations, key);
    union {
        const Relation *relation;
        void *value;
    } entry = {.relation = copy};
    map_put(&catalog->relations, key, entry.value);
    for (size_t i = 0; old != NULL && i < catalog->count; i++) {
        if (catalog->list[i] == old) {
            catalog->list[i] = copy;
            return;
        }
    }
    *arena_push(catalog->arena, catalog->list, catalog->count, catalog->capacity) = copy;
}

Error *catalog_add(Catalog *catalog, const Relation *relation)
{
    Str parts[NAME_PARTS_MAX];
    size_t count = catalog_split_name(relation->name, parts, NAME_PARTS_MAX);
    if (count == 0) {
        return error_set_hint(error_new(ERROR_INVALID_IDENTIFIER,
                                        "`%.*s` is no name of a relation.",
                                        STR_ARG(relation->name)),
                              "a relation has one to three parts: [catalog.][schema.]name");
    }
    if (catalog_find(catalog, parts, count) != NULL) {
        return error_new(ERROR_TABLE_OR_VIEW_ALREADY_EXISTS,
                         "Cannot create table or view `%.*s` because it already exists.",
                         STR_ARG(relation->name));
    }
    catalog_put(catalog, parts, count, relation);
    return NULL;
}

const Relation *catalog_find(const Catalog *catalog, const Str *parts, size_t part_count)
{
    if (part_count == 0 || part_count > NAME_PARTS_MAX) {
        return NULL;
    }
    Str key = join_full_name(catalog, parts, part_count, key_separator, catalog->arena);
    return map_get(&catalog->relations, key);
}

Str catalog_nearest(const Catalog *catalog, Str name)
{
    Str nearest = STR_NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < catalog->count; i++) {
        if (str_is_nearer(catalog->list[i]->name, name, &best)) {
            nearest = catalog->list[i]->name;
        }
    }
    return nearest;
}

/* -------------------------------------------------------------- routines --- */

void catalog_put_routine(Catalog *catalog, const Str *parts, size_t part_count,
                         const Routine *routine)
{
    Str key = join_full_name(catalog, parts, part_count, key_separator, catalog->arena);
    Routine *copy = arena_new_object(catalog->arena, Routine);
    *copy = *routine;
    map_put(&catalog->routines, key, copy);
    *arena_push(catalog->arena, catalog->routine_list, catalog->routine_count,
                catalog->routine_capacity) = copy;
}

const Routine *catalog_find_routine(const Catalog *catalog, const Str *parts, size_t part_count)
{
    if (part_count == 0 || part_count > NAME_PARTS_MAX) {
        return NULL;
    }
    Str key = join_full_name(catalog, parts, part_count, key_separator, catalog->arena);
    return map_get(&catalog->routines, key);
}

Str catalog_nearest_routine(const Catalog *catalog, Str name)
{
    Str nearest = STR_NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < catalog->routine_count; i++) {
        if (str_is_nearer(catalog->routine_list[i]->name, name, &best)) {
            nearest = catalog->routine_list[i]->name;
        }
    }
    return nearest;
}
