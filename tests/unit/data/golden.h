/* Reading the files of known answers in tests/unit/data/golden: lines of fields, tab-separated,
 * with
 * \t \n \\ \xNN for other bytes and \N for NULL. */
#ifndef TESTS_UNIT_DATA_GOLDEN_H
#define TESTS_UNIT_DATA_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>

#include "processor/base/arena.h"
#include "processor/base/str.h"

enum { GOLDEN_FIELDS_MAX = 8 };

typedef struct Golden {
    FILE *file;
    Arena *arena; /* reset at every line */
    int line;
    Str fields[GOLDEN_FIELDS_MAX];
    size_t count;
} Golden;

static inline Golden golden_open(const char *name)
{
    AUTO(arena) Arena *arena = arena_new("path");
    Golden golden = {.arena = arena_new("golden")};
    golden.file = fopen(arena_printf(arena, "tests/unit/data/golden/%s", name), "r");
    if (golden.file == NULL) {
        fail_msg("cannot read tests/unit/data/golden/%s (run from the root of the tree)", name);
    }
    return golden;
}

static inline int golden_hex(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static inline Str golden_unescape(Arena *arena, Str text)
{
    if (str_equal(text, STR("\\N"))) {
        return STR_NULL;
    }
    char *out = arena_alloc_bytes(arena, text.size + 1);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '\\') {
            c = text.data[++i];
            if (c == 'x') {
                c = (char)(golden_hex(text.data[i + 1]) * 16 + golden_hex(text.data[i + 2]));
                i += 2;
            } else {
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
            }
        }
        out[size++] = c;
    }
    out[size] = 0;
    return (Str){out, size};
}

static inline bool golden_next(Golden *golden)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size = getline(&line, &capacity, golden->file);
    if (size > 0) {
        arena_reset(golden->arena);
        Str rest =
            arena_copy_str(golden->arena, (Str){line, (size_t)size - (line[size - 1] == '\n')});
        golden->line++;
        for (golden->count = 0; rest.data != NULL && golden->count < GOLDEN_FIELDS_MAX;) {
            Str field = str_cut(&rest, '\t');
            golden->fields[golden->count++] = golden_unescape(golden->arena, field);
        }
    }
    free(line);
    return size > 0;
}

static inline void golden_close(Golden *golden)
{
    fclose(golden->file);
    arena_free(golden->arena);
}

/* fail_msg with the place */
#define golden_fail(golden, format, ...)                                                           \
    fail_msg("line %d (%.*s): " format, (golden)->line, STR_ARG((golden)->fields[1]), __VA_ARGS__)

#endif
