/* The names objects were seen to have. Their number is bounded: a source whose names never come
 * twice (keys of a map written as fields) makes the table forget now and then, not grow. */
#include "connectors/format/json_names.h"

#include <assert.h>

#include "processor/base/banned.h"

enum { NAMES_FIRST = 16, NAMES_MAX = 2048 };

static void release_map(void *map)
{
    map_done(map);
}

void json_names_init(KnownNames *known, Arena *arena)
{
    known->arena = arena;
    known->capacity = NAMES_FIRST;
    known->names = arena_new_array(arena, KnownName, known->capacity);
    known->count = 1;
    arena_on_reset(arena, release_map, &known->by_text);
}

const KnownName *json_names_find(const KnownNames *known, Str name)
{
    return name.size + 3 > KNOWN_NAME_BYTES ? NULL : map_get(&known->by_text, name);
}

static void forget_all(KnownNames *known)
{
    map_clear(&known->by_text);
    known->names[0] = (KnownName){.size = 0};
    known->count = 1;
}

static Str text_of(const KnownName *name)
{
    return (Str){name->text + 1, (size_t)name->size - 3};
}

/* Twice as many; the names move. */
static void grow(KnownNames *known)
{
    known->capacity *= 2;
    KnownName *names = arena_new_array(known->arena, KnownName, known->capacity);
    memcpy(names, known->names, known->count * sizeof *names);
    known->names = names;
    map_clear(&known->by_text);
    for (uint32_t i = 1; i < known->count; i++) {
        map_put(&known->by_text, text_of(&names[i]), &names[i]);
    }
}

const KnownName *json_names_add(KnownNames *known, Str name, int32_t field, bool exact,
                                const KnownName **before)
{
    if (name.size + 3 > KNOWN_NAME_BYTES) {
        return NULL;
    }
    if (known->count == known->capacity) {
        size_t number = (size_t)(*before - known->names);
        if (known->capacity < NAMES_MAX) {
            grow(known);
        } else {
            forget_all(known);
            number = 0;
        }
        *before = &known->names[number];
    }
    KnownName *added = &known->names[known->count++];
    *added = (KnownName){.field = field, .exact = exact, .size = (uint8_t)(name.size + 3)};
    added->text[0] = '"';
    if (name.size > 0) {
        memcpy(added->text + 1, name.data, name.size);
    }
    added->text[name.size + 1] = '"';
    added->text[name.size + 2] = ':';
    map_put(&known->by_text, text_of(added), added);
    return added;
}

void json_names_follow(KnownNames *known, const KnownName *before, const KnownName *name)
{
    KnownName *from = &known->names[before - known->names];
    uint16_t number = (uint16_t)(name - known->names);
    assert(number > 0 && number < known->count);
    if (from->next[0] != number) {
        from->next[1] = from->next[0];
        from->next[0] = number;
    }
}
