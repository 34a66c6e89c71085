/* Catalog: the relations and the user's functions a statement may name. Names have one to three
 * parts; unqualified ones resolve in the current catalog and schema (ST-8), compared ignoring case.
 */
#ifndef BIND_CATALOG_H
#define BIND_CATALOG_H

#include "processor/base/error.h"
#include "processor/data/schema.h"

typedef struct Catalog Catalog;

typedef enum RelationKind {
    RELATION_STREAM, /* append-only topic: STREAM(…) or all retained records */
    RELATION_TABLE,  /* latest value per key */
    RELATION_TARGET, /* streaming table of this or another pipeline */
    RELATION_INLINE, /* rows given in place (.test files, --input): batch only */
} RelationKind;

/* Has a table a SCHEDULE or TRIGGER (ST-42)? */
typedef enum ScheduleState { SCHEDULE_UNKNOWN, SCHEDULE_NONE, SCHEDULE_SET } ScheduleState;

typedef struct Relation {
    Str name; /* as declared */
    RelationKind kind;
    const Schema *schema;
    size_t index;           /* the owner's number for it (source, table) */
    int64_t estimated_rows; /* for choosing what a join hashes; 0: unknown */
    /* TARGET that exists with a REPLACE USING flow: what RU-55 compares. NULL / 0 when unknown. */
    const Str *keys;
    size_t key_count;
    Str sequence;
    /* TARGET: what decides whether statements may change it. */
    Str owner;            /* data NULL: unknown, anybody's */
    bool append_only;     /* delta.appendOnly = 'true' (ST-31) */
    bool reset_forbidden; /* pipelines.reset.allowed = 'false' (ST-30) */
    ScheduleState schedule;
} Relation;

typedef struct RoutineParameter {
    Str name;
    const Type *type;
    bool has_default; /* only the last parameters have one */
} RoutineParameter;

/* A user's function (CREATE FUNCTION): what masks, filters and calls are checked against. */
typedef struct Routine {
    Str name; /* as declared */
    /* False: it exists, and nothing more is known of it. */
    bool signature_known;
    const RoutineParameter *parameters;
    size_t parameter_count;
    const Type *returns;
    const void *program; /* whose statement makes it; NULL: it was there before */
} Routine;

/* Empty, in `arena`. Names of fewer than three parts are completed from the left with the current
 * catalog and schema. */
Catalog *catalog_new(Arena *arena, Str current_catalog, Str current_schema);
/* Copies `relation` (names and schema are shared). A name twice is TABLE_OR_VIEW_ALREADY_EXISTS. */
NODISCARD Error *catalog_add(Catalog *catalog, const Relation *relation);
/* The same under a name given in parts, replacing what bears it: how CREATE OR REFRESH takes the
 * place of an earlier definition. `relation->name` is what messages show. */
void catalog_put(Catalog *catalog, const Str *parts, size_t part_count, const Relation *relation);
/* Cuts "a.b.`c.d`" into parts; 0 when it has none, more than part_max, or an empty one. */
size_t catalog_split_name(Str name, Str *ret_parts, size_t part_max);
/* parts: 1 to 3 name parts. NULL when there is none. */
const Relation *catalog_find(const Catalog *catalog, const Str *parts, size_t part_count);
/* The name with current catalog and schema filled in, as three parts. part_count: 1 to 3. */
void catalog_qualify(const Catalog *catalog, const Str *parts, size_t part_count, Str ret_parts[3]);
/* The same name with catalog and schema filled in, lower case: "main.default.bookings". */
Str catalog_full_name(const Catalog *catalog, const Str *parts, size_t part_count, Arena *arena);
/* A function under a name of 1 to 3 parts, in place of one that bears it. */
void catalog_put_routine(Catalog *catalog, const Str *parts, size_t part_count,
                         const Routine *routine);
/* NULL when there is none. */
const Routine *catalog_find_routine(const Catalog *catalog, const Str *parts, size_t part_count);
/* The nearest name of a user's function, STR_NULL when none is near. */
Str catalog_nearest_routine(const Catalog *catalog, Str name);
/* The nearest relation name, STR_NULL when none is near. */
Str catalog_nearest(const Catalog *catalog, Str name);

#endif
