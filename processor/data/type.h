/* SQL types (DESIGN section 3). A Type is immutable; primitive types are constants, parameterised
 * and nested ones live in an arena. Compare with type_equal, never by pointer. */
#ifndef DATA_TYPE_H
#define DATA_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "processor/base/str.h"

typedef enum TypeKind {
    TYPE_NULL, /* the type of a bare NULL: "void" */
    TYPE_BOOLEAN,
    TYPE_TINYINT,
    TYPE_SMALLINT,
    TYPE_INT,
    TYPE_BIGINT,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_DECIMAL,
    TYPE_STRING,
    TYPE_BINARY,
    TYPE_DATE,                /* days since 1970-01-01 */
    TYPE_TIMESTAMP,           /* microseconds since 1970-01-01T00:00:00Z, an instant */
    TYPE_TIMESTAMP_NTZ,       /* microseconds, a local date and time */
    TYPE_INTERVAL_YEAR_MONTH, /* months */
    TYPE_INTERVAL_DAY_TIME,   /* microseconds */
    TYPE_ARRAY,
    TYPE_MAP,
    TYPE_STRUCT,
    TYPE_VARIANT,
} TypeKind;

typedef struct Type Type;

/* A named column of a relation or field of a struct. */
typedef struct Field {
    Str name; /* spelling as declared; compared ignoring ASCII case */
    const Type *type;
    bool not_null;
    Str comment; /* STR_NULL when none */
} Field;

struct Type {
    TypeKind kind;
    uint8_t precision;   /* DECIMAL: 1 … 38. Intervals: first field, see IntervalField */
    uint8_t scale;       /* DECIMAL: 0 … precision. Intervals: last field */
    const Type *element; /* ARRAY; value type of a MAP */
    const Type *key;     /* MAP */
    const Field *fields; /* STRUCT */
    size_t field_count;  /* STRUCT */
};

enum IntervalField { FIELD_YEAR, FIELD_MONTH, FIELD_DAY, FIELD_HOUR, FIELD_MINUTE, FIELD_SECOND };

enum { DECIMAL_PRECISION_MAX = 38 };

/* How values lie in a Vector's data. */
typedef enum PhysicalKind {
    PHYSICAL_NONE, /* TYPE_NULL: no data */
    PHYSICAL_BOOL, /* uint8_t, 0 or 1 */
    PHYSICAL_INT8,
    PHYSICAL_INT16,
    PHYSICAL_INT32,
    PHYSICAL_INT64,
    PHYSICAL_INT128, /* DECIMAL, unscaled */
    PHYSICAL_FLOAT,
    PHYSICAL_DOUBLE,
    PHYSICAL_STR,    /* Str: STRING, BINARY, VARIANT */
    PHYSICAL_LIST,   /* offsets into children: ARRAY (1 child), MAP (2: keys, values) */
    PHYSICAL_STRUCT, /* children, one a field */
} PhysicalKind;

extern const Type type_null, type_boolean, type_tinyint, type_smallint, type_int, type_bigint,
    type_float, type_double, type_string, type_binary, type_date, type_timestamp,
    type_timestamp_ntz, type_variant;

/* New types in `arena`. Digits within 1 … 38 and 0 … precision, interval fields of the right kind:
 * the caller has checked what a user wrote. */
RETURNS_NONNULL const Type *type_decimal(Arena *arena, int precision, int scale);
RETURNS_NONNULL const Type *type_interval(Arena *arena, TypeKind kind, enum IntervalField first,
                                          enum IntervalField last);
/* The parts are referred to, not copied. */
RETURNS_NONNULL const Type *type_array(Arena *arena, const Type *element);
RETURNS_NONNULL const Type *type_map(Arena *arena, const Type *key, const Type *value);
/* Copies the array of fields, not the names. */
RETURNS_NONNULL const Type *type_struct(Arena *arena, const Field *fields, size_t count);
/* Deep copy into another lifetime. */
const Type *type_copy(Arena *arena, const Type *type);

/* Field names compared ignoring case; comments and nullability do not count. */
bool type_equal(const Type *a, const Type *b);
/* By TypeKind. */
extern const uint8_t type_physical_kinds[];
static inline PhysicalKind type_physical(const Type *type)
{
    return (PhysicalKind)type_physical_kinds[type->kind];
}
/* Bytes of one value in Vector.data; 0 for LIST, STRUCT, NONE. */
size_t type_value_size(const Type *type);
bool type_is_integral(const Type *type); /* TINYINT … BIGINT */
bool type_is_numeric(const Type *type);  /* integral, FLOAT, DOUBLE, DECIMAL */
bool type_is_datetime(const Type *type); /* DATE, TIMESTAMP, TIMESTAMP_NTZ */
bool type_is_interval(const Type *type);
/* Digits before the point of the longest value of an integral type or DECIMAL. */
int type_whole_digits(const Type *type);
/* The types inside: element of an ARRAY; key and value of a MAP; fields of a STRUCT; else none. */
uint32_t type_child_count(const Type *type);
const Type *type_child(const Type *type, uint32_t child);
/* Can be a key or sequence: everything but MAP, VARIANT and what holds them (RU-12, RU-14). */
bool type_is_orderable(const Type *type);
/* SQL text as Spark's typeof prints it, upper case: BIGINT, DECIMAL(10,2), ARRAY<STRING>,
 * STRUCT<a: INT, b: STRING>. */
void type_format(const Type *type, Buffer *out);
/* The same in Spark's lower-case "simpleString": bigint, decimal(10,2), struct<a:int>. */
void type_format_simple(const Type *type, Buffer *out);
/* A name as SQL text: in backticks when it is not a plain word, or a reserved one. */
void name_format(Str name, Buffer *out);
/* name, `separator`, type, NOT NULL, COMMENT: "a BIGINT NOT NULL" with " ", "a: BIGINT" with ": ".
 */
void field_format(const Field *field, const char *separator, Buffer *out);

#endif
