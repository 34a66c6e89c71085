/* Avro schemas: the JSON of a file's header compiled into a tree, and the SQL types it stands for,
 * as Spark maps them: int INT, long BIGINT, bytes and fixed BINARY, enum STRING, record STRUCT, the
 * logical types date, timestamp-*, local-timestamp-*, decimal; a union with null is the other type;
 * [int, long] BIGINT, [float, double] DOUBLE. */
#ifndef FILE_AVRO_SCHEMA_H
#define FILE_AVRO_SCHEMA_H

#include "processor/base/error.h"
#include "processor/data/schema.h"

typedef enum AvroKind {
    AVRO_NULL_TYPE,
    AVRO_BOOLEAN_TYPE,
    AVRO_INT_TYPE, /* varints */
    AVRO_LONG_TYPE,
    AVRO_FLOAT_TYPE,
    AVRO_DOUBLE_TYPE,
    AVRO_BYTES_TYPE,
    AVRO_STRING_TYPE,
    AVRO_FIXED_TYPE,
    AVRO_ENUM_TYPE,
    AVRO_ARRAY_TYPE,
    AVRO_MAP_TYPE,
    AVRO_RECORD_TYPE,
    AVRO_UNION_TYPE,
} AvroKind;

typedef struct AvroNode AvroNode;

typedef struct AvroMember {
    Str name; /* RECORD: of the field */
    const AvroNode *node;
} AvroMember;

struct AvroNode {
    AvroKind kind;
    const Type *type;          /* what it is read as; NULL: it cannot be */
    const AvroMember *members; /* RECORD: fields, UNION: branches; ARRAY, MAP: the one inside */
    size_t member_count;
    const Str *symbols; /* ENUM */
    size_t symbol_count;
    size_t size;         /* FIXED */
    int64_t scale_to_us; /* timestamps: microseconds a unit; 0: nanoseconds, to be divided */
};

enum { AVRO_DEPTH_MAX = 200 };

/* In `arena`. MALFORMED_RECORD for what is no schema, NOT_YET for what is not read. */
NODISCARD Error *avro_schema_parse(Str json, Arena *arena, const AvroNode **ret_root);
/* The fields of the root record as columns. */
NODISCARD Error *avro_schema_columns(const AvroNode *root, Arena *arena, const Schema **ret_schema);

#endif
