/* A schema of a configuration, given as constant data, and the loader it drives: YAML tree in,
 * filled C struct out, every mistake reported with its place.
 *
 * A schema lists the keys of a mapping; a key says what its value is, where in the struct it goes
 * and what it may be. Example:
 *
 *     typedef struct Commit { int64_t interval_ms; int64_t max_rows; } Commit;
 *     static const ConfigKey commit_keys[] = {
 *         {.name = "interval", .kind = CONFIG_DURATION, .offset = offsetof(Commit, interval_ms),
 *          .default_text = "100ms", .min = 1, .max = 3600000},
 *         {.name = "max_rows", .kind = CONFIG_INTEGER, .offset = offsetof(Commit, max_rows),
 *          .default_text = "100000", .min = 1, .max = INT64_MAX}};
 *     static const ConfigSchema commit_schema = {CONFIG_KEYS(Commit, commit_keys)};
 *
 * The schema decides a value's type, not its look: NO, 1.10, 0x1F stay text where text is expected.
 * Null (`~`, `null`, nothing) leaves an optional key at its default and is an error elsewhere. */
#ifndef CONFIG_CONFIG_SCHEMA_H
#define CONFIG_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/secret.h"
#include "config/yaml_node.h"
#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

typedef enum ConfigKind {
    /* Scalars */
    CONFIG_TEXT,     /* Str */
    CONFIG_BOOL,     /* bool */
    CONFIG_INTEGER,  /* int64_t */
    CONFIG_SIZE,     /* int64_t, bytes */
    CONFIG_DURATION, /* int64_t, milliseconds */
    CONFIG_ENUM,     /* an enum; the words are in `choices` */
    /* Others */
    CONFIG_STRUCT, /* a struct in place, by `schema` */
    CONFIG_LIST,   /* pointer to elements by `schema`, and their count */
    CONFIG_MAP,    /* the same; the elements bear names */
    CONFIG_CUSTOM, /* whatever `load` makes of it */
} ConfigKind;

enum {
    CONFIG_REQUIRED = 1 << 0,
    CONFIG_SECRET = 1 << 1,      /* the value is never shown (also by name: config_is_secret_key) */
    CONFIG_NOT_YET = 1 << 2,     /* any value but the default is an error of class NOT_YET */
    CONFIG_ONE_OR_LIST = 1 << 3, /* CONFIG_LIST: one element may stand without a list */
    CONFIG_NOT_EMPTY = 1 << 4,   /* a text or list must hold something */
};

typedef struct ConfigChoice {
    const char *name;
    int value;
    bool not_yet;
} ConfigChoice;

typedef struct ConfigKey ConfigKey;
typedef struct ConfigSchema ConfigSchema;
typedef struct ConfigLoader ConfigLoader;

struct ConfigKey {
    const char *name; /* NULL: the element of a list or map itself, when it is no mapping */
    ConfigKind kind;
    unsigned flags;
    size_t offset;       /* of the member in the struct */
    size_t count_offset; /* CONFIG_LIST, CONFIG_MAP: of the size_t beside it */
    size_t place_offset; /* of a SourcePlace for the value; 0: none (no struct begins with it) */
    const char *default_text; /* as one would write it; NULL: the member stays zero */
    int64_t min;              /* INTEGER, SIZE, DURATION; min and max 0: no bounds */
    int64_t max;
    const ConfigChoice *choices;
    size_t choice_count;
    const ConfigSchema *schema; /* of the struct or the elements */
    /* CONFIG_CUSTOM: reads `node` into the member; reports its own mistakes. */
    void (*load)(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node, void *member);
};

struct ConfigSchema {
    const ConfigKey *keys;
    size_t key_count;
    size_t size; /* of the struct */
    /* CONFIG_MAP: where the element's name (Str) and its place go; the struct begins with the name.
     */
    size_t name_place_offset;
    size_t broken_offset; /* of a bool that is set when the struct had mistakes; 0: none */
};

#define CONFIG_KEYS(Struct, key_array)                                                             \
    .keys = (key_array), .key_count = ARRAY_LENGTH(key_array), .size = sizeof(Struct)
#define CONFIG_CHOICES(array) .choices = (array), .choice_count = ARRAY_LENGTH(array)

/* The key being read; a chain up to the root. */
typedef struct ConfigPath {
    const struct ConfigPath *parent;
    Str name; /* STR_NULL: an element of a list */
    size_t index;
    SourcePlace place; /* of the key, or of the element */
} ConfigPath;

struct ConfigLoader {
    const YamlDocument *document;
    Arena *arena;
    Diagnostics *diagnostics;
    const ConfigPath *path;
    size_t error_count; /* of all, also those Diagnostics had no room for */
};

/* Fills `target` (zeroed by the caller, schema->size bytes) from the document's root. Members whose
 * value is missing or mistaken hold their default. */
void config_load(ConfigLoader *loader, const ConfigSchema *schema, void *target);

/* ---- For CONFIG_CUSTOM and checks after the load ---- */

/* Takes the error over; gives it the file and the line for the caret. */
void config_report(ConfigLoader *loader, Error *error);
/* "sources.orders.topic"; lives in the arena. */
const char *config_path_text(const ConfigLoader *loader);
/* The text of a scalar with variables replaced. False (and reported) when it is none, is null, or
 * lacks a variable; *ret_changed (may be NULL) tells whether anything was replaced. */
bool config_read_text(ConfigLoader *loader, const YamlNode *node, Str *ret_text, bool *ret_changed);
/* One key of a mapping, as config_load does for each. */
void config_load_struct(ConfigLoader *loader, const ConfigSchema *schema, const YamlNode *node,
                        SourcePlace place, void *target);
/* The nearest of `names` for a "did you mean", or NULL. */
const char *config_nearest(Str word, const char *const *names, size_t count);

#endif
