/* The names objects were seen to have, and which one came behind which: the next record mostly has
 * the same names in the same order, or one of a few orders where some are left out at times.
 *
 * A known name is kept as it was written, with quotes and colon. When the bytes that stand where a
 * name must stand are those of the name that last followed the name before, there is nothing to
 * parse, fold or hash. Names with escapes, white space before the colon or many bytes are not kept.
 */
#ifndef FORMAT_JSON_NAMES_H
#define FORMAT_JSON_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "connectors/format/json_scan.h"
#include "processor/base/arena.h"
#include "processor/base/map.h"

enum { KNOWN_NAME_BYTES = 52, KNOWN_NEXT = 2 };

typedef struct KnownName {
    char text[KNOWN_NAME_BYTES]; /* with both quotes and the colon */
    int32_t field;               /* -1: no column has this name */
    uint16_t next[KNOWN_NEXT];   /* numbers of the names seen behind it; 0: none */
    uint8_t size;                /* of text */
    bool exact;                  /* the column's own spelling */
} KnownName;

/* Number 0 stands for the opening brace. */
typedef struct KnownNames {
    Arena *arena;
    KnownName *names;
    uint32_t count;
    uint32_t capacity;
    Map by_text; /* without quotes -> KnownName */
} KnownNames;

/* All memory belongs to `arena`. */
void json_names_init(KnownNames *known, Arena *arena);
/* A name met before (as written, without quotes), or NULL. */
const KnownName *json_names_find(const KnownNames *known, Str name);
/* Keeps a name, NULL when it is too long. Names may move: *before is moved along. When there are
 * too many, all others are forgotten, and *before becomes the opening brace. */
const KnownName *json_names_add(KnownNames *known, Str name, int32_t field, bool exact,
                                const KnownName **before);
/* `name` came behind `before`. */
void json_names_follow(KnownNames *known, const KnownName *before, const KnownName *name);

static inline bool json_name_stands(const KnownName *name, const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    if (UNLIKELY(left < name->size)) {
        return false;
    }
#if defined(__SSE2__)
    if (LIKELY(left >= 16 && name->size <= 16)) {
        __m128i known = _mm_loadu_si128((const __m128i_u *)(const void *)name->text);
        __m128i bytes = _mm_loadu_si128((const __m128i_u *)(const void *)at);
        unsigned equal = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(known, bytes));
        unsigned wanted = (1U << name->size) - 1;
        return (equal & wanted) == wanted;
    }
#endif
    return memcmp(name->text, at, name->size) == 0;
}

/* The name that stands at `at`, if it is one that was seen behind `before`. */
static inline const KnownName *json_names_next(const KnownName *names, const KnownName *before,
                                               const char *at, const char *end)
{
    for (int i = 0; i < KNOWN_NEXT && before->next[i] != 0; i++) {
        const KnownName *name = &names[before->next[i]];
        if (LIKELY(json_name_stands(name, at, end))) {
            return name;
        }
    }
    return NULL;
}

#endif
