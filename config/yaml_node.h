/* YAML text to a tree of nodes in an arena; the only user of libyaml.
 *
 * Text stays text: a node says how a scalar was written (plain, quoted, block), never what type it
 * might be; the schema decides that (config_schema.h). Places are lines and columns of characters,
 * counted from 1.
 *
 * Refused, with place: anything libyaml refuses, duplicate keys (naming the full path), tabs as
 * indentation, several documents, an empty file, unknown or self-containing aliases, merge keys,
 * tags, keys that are not scalars, invalid UTF-8. Aliases share the node they name, so a file never
 * takes more memory than its own size suggests; what walking them would visit is bounded too. */
#ifndef CONFIG_YAML_NODE_H
#define CONFIG_YAML_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

typedef enum YamlKind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING } YamlKind;

typedef enum YamlStyle {
    YAML_PLAIN,
    YAML_SINGLE_QUOTED,
    YAML_DOUBLE_QUOTED,
    YAML_LITERAL,
    YAML_FOLDED
} YamlStyle;

typedef struct YamlNode YamlNode;

typedef struct YamlEntry {
    Str key;
    SourcePlace key_place;
    const YamlNode *value;
} YamlEntry;

struct YamlNode {
    YamlKind kind;
    YamlStyle style;   /* of a scalar */
    SourcePlace place; /* of the node's text, behind an anchor; length ends with its line */
    size_t begin;      /* the same as bytes of document->text */
    size_t end;
    int last_line;       /* the line in which it ends */
    Str text;            /* scalar: folded and unescaped, never STR_NULL; a NUL byte follows */
    YamlNode **items;    /* sequence */
    YamlEntry *entries;  /* mapping, in order, without repeated keys */
    size_t count;        /* of items or entries */
    uint64_t walk_nodes; /* nodes and bytes a full walk visits */
    uint64_t walk_bytes;
};

typedef struct YamlLines {
    int first;
    int last;
} YamlLines;

typedef struct YamlDocument {
    const char *file; /* as messages name it */
    Str text;         /* without byte order mark */
    YamlNode *root;
    YamlLines *hidden; /* lines that hold secrets: never shown */
    size_t hidden_count;
    size_t hidden_capacity;
} YamlDocument;

enum {
    YAML_DEPTH_MAX = 64,
    YAML_TEXT_BYTES_MAX = 4 * 1024 * 1024,
    YAML_NODES_MAX = 500000,
    YAML_REPORTS_MAX = 100, /* as many as a Diagnostics keeps */
    YAML_ALIAS_NODES_MAX = 100000,
    YAML_ALIAS_BYTES_MAX = 4 * 1024 * 1024,
};

/* `text` is borrowed and must live as long as the arena. Mistakes that leave a tree (duplicate or
 * merge keys, tags, unknown aliases) are all reported and *ret_document is set; after one that does
 * not, it stays as it is. */
void yaml_parse(Str text, const char *file, Arena *arena, Diagnostics *diagnostics,
                YamlDocument **ret_document);

/* Plain `~`, `null`, `Null`, `NULL` or nothing at all. */
bool yaml_node_is_null(const YamlNode *node);
/* "a single value", "a list", "a mapping", "nothing (null)" for messages. */
const char *yaml_node_describe(const YamlNode *node);
/* The value of a key of a mapping, or NULL. */
const YamlNode *yaml_node_get(const YamlNode *mapping, Str key);

/* Gives an error with a place in the document its file and the line for the caret, unless that line
 * may hold a secret. */
void yaml_document_place_error(const YamlDocument *document, Error *error);
/* The same, and into the diagnostics. Past what those keep, the error is only freed. */
void yaml_document_report(const YamlDocument *document, Error *error, Diagnostics *diagnostics);
/* May any of these lines be shown? */
bool yaml_document_may_show(const YamlDocument *document, int first_line, int last_line);

#endif
