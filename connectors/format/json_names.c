/* The names objects were seen to have. Their number is bounded: a source whose names never come
 * twice (keys of a map written as fields) makes the table forget now and then, not grow. */
#include "connectors/format/json_names.h"

#include <assert.h>

#include "processor/base/banned.h"

enum { NAMES_MIN = 32, NAMES_MAX = 1024 };

static void release_map(void *map)
{
    map_done(map);
}

void json_names_init(KnownNames *known, Arena *arena, size_t field_count)
{
    size_t capacity = field_count * 2 + 1;
    capacity = capacity < NAMES_MIN ? NAMES_MIN : capacity;
    known->capacity = (uint32_t)(capacity > NAMES_MAX ? NAMES_MAX : capacity);
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

const KnownName *json_names_add(KnownNames *known, Str name, int32_t field, bool exact,
                                const KnownName **before)
{
    if (name.size + 3 > KNOWN_NAME_BYTES) {
        return NULL;
    }
    if (known->count == known->capacity) {
        forget_all(known);
        *before = &known->names[0];
    }
    KnownName *added = &known->names[known->count++];
    *added = (KnownName){.field = field, .exact = exact, .size = (uint8_t)(name.size + 3)};
    added->text[0] = '"';
    if (name.size > 0) {
        memcpy(added->text + 1, name.data, name.size);
    }
    added->text[name.size + 1] = '"';
    added->text[name.size + 2] = ':';
    map_put(&known->by_text, (Str){added->text + 1, name.size}, added);
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
