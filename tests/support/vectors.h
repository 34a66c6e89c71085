/* The requirement catalogue's test vectors, read from tests/vectors/flat/ (written by
 * tests/vectors/flatten.py). Everything lives in the arena given. */
#ifndef TESTS_SUPPORT_VECTORS_H
#define TESTS_SUPPORT_VECTORS_H

#include <stdbool.h>
#include <stddef.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

#define VECTORS_FOLDER "tests/vectors/flat"

typedef enum VectorKind {
    VECTOR_SQL,    /* statements */
    VECTOR_EXPR,   /* a bare expression */
    VECTOR_PYTHON, /* a Python program */
    VECTOR_JSON,   /* a request body */
} VectorKind;

typedef enum VectorStage {
    VECTOR_STAGE_NONE, /* accepted */
    VECTOR_STAGE_PARSE,
    VECTOR_STAGE_ANALYZE,
    VECTOR_STAGE_RUN,
} VectorStage;

/* path = keys joined by '/': "table_properties/plain_sink/delta.appendOnly". */
typedef struct VectorSetting {
    Str path;
    Str value; /* data NULL = null; "{}" = an empty map */
} VectorSetting;

typedef struct TestVector {
    Str id;
    Str file; /* "01_create_streaming_table" */
    VectorKind kind;
    Str text;
    bool accept;
    Str reason; /* of a rejection, for people */
    VectorStage stage;
    Str error;   /* kind, as error_kind() gives */
    Str context; /* "standalone", "pipeline", or STR_NULL = either */
    bool parse_only;
    VectorSetting *settings;
    size_t setting_count;
} TestVector;

typedef struct VectorColumn {
    Str name;
    Str type; /* SQL text */
} VectorColumn;

typedef struct VectorRelation {
    Str name;
    Str kind; /* stream, table, target, function */
    Str owner;
    VectorColumn *columns;
    size_t column_count;
} VectorRelation;

typedef struct VectorSet {
    TestVector *items;
    size_t count;
    VectorRelation *relations;
    size_t relation_count;
} VectorSet;

/* Reads one flat file ("01_create_streaming_table.txt" in `folder`), appending to `set`. */
NODISCARD Error *vectors_read_file(const char *folder, const char *file_name, Arena *arena,
                                   VectorSet *set);
/* All files of `folder`, in the order of their names. A zeroed set is empty. */
NODISCARD Error *vectors_read(const char *folder, Arena *arena, VectorSet *set);
/* The session setting at `path`, or NULL. */
const VectorSetting *vector_setting(const TestVector *vector, const char *path);
/* NULL when absent. */
const TestVector *vectors_find(const VectorSet *set, const char *id);

#endif
