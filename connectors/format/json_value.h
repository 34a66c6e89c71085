/* Typed values: from JSON text straight into column vectors, directed by the types of a schema.
 *
 * A schema is compiled once into nodes (json_nodes.c); reading walks nodes and text together. Every
 * read function appends exactly one row to the vector it is given, or fails:
 *   READ_MISFIT  the text is (as far as read) JSON, but this value is not one of the type. The
 *                vector may hold part of it: vector_truncate it. Where reading stands is not
 * defined. READ_BROKEN  the text is no JSON: nothing of the record counts. Then reader->error says
 * why; whoever stops the failure owns it. */
#ifndef FORMAT_JSON_VALUE_H
#define FORMAT_JSON_VALUE_H

#include "connectors/format/json_names.h"
#include "connectors/format/json_scan.h"
#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/map.h"
#include "processor/data/datetime.h"
#include "processor/data/schema.h"
#include "processor/data/vector.h"

typedef struct ValueNode ValueNode;
typedef struct ObjectNode ObjectNode;

/* Whether values of the type have a plain form, and of which kind (json_plain.h). */
typedef enum PlainKind {
    PLAIN_NONE,
    PLAIN_STRING,
    PLAIN_TIME, /* DATE, TIMESTAMP, TIMESTAMP_NTZ */
    PLAIN_INTEGER,
    PLAIN_DECIMAL,
    PLAIN_DOUBLE,
    PLAIN_BOOLEAN
} PlainKind;

/* A place in the schema that values are read for. */
struct ValueNode {
    const Type *type;
    TypeKind kind; /* these four: of the type, at hand */
    PlainKind plain;
    int precision;
    int scale;
    Str name;                /* of the column or field; "element", "key", "value" */
    const ValueNode *parent; /* NULL for a column */
    ValueNode *children;     /* ARRAY: the element; MAP: key and value */
    ObjectNode *object;      /* STRUCT */
    ValueNode *same_name;    /* another field of the object whose name differs in case only */
};

typedef enum FieldMatch {
    FIELD_ABSENT,
    FIELD_LOOSE, /* one name equal ignoring case */
    FIELD_AMBIGUOUS,
    FIELD_EXACT,
} FieldMatch;

/* A value that does not fit its field; counts only if no later field takes its place. */
typedef struct Misfit {
    Error *error; /* NULL: none */
    const char *at;
} Misfit;

/* The columns of a record, or the fields of a STRUCT, with what one object being read needs. A node
 * is never active twice at once: schemas are trees. */
struct ObjectNode {
    ValueNode *fields;
    size_t field_count;
    Map by_folded_name; /* name in lower case -> ValueNode */
    size_t name_size_max;
    KnownNames known;
    /* The object being read: */
    uint8_t *matches; /* FieldMatch of each field */
    Str *loose_names; /* the spelling behind FIELD_LOOSE */
    const char **ambiguous_at;
    Misfit *misfits;
    size_t misfit_count;
    size_t seen_count;  /* fields that are not FIELD_ABSENT */
    bool any_ambiguous; /* some field is or was FIELD_AMBIGUOUS */
};

/* Nodes for those fields, in `arena` (which also releases the name maps). NOT_YET for INTERVAL and
 * VARIANT, COLUMN_ALREADY_EXISTS for two equal names; both name the column. */
NODISCARD Error *json_object_node_new(Arena *arena, const Field *fields, size_t count,
                                      const ValueNode *parent, ObjectNode **ret_object);
/* A node for one field; its parts are in `arena`. */
NODISCARD Error *json_value_node_init(ValueNode *node, Arena *arena, const Field *field,
                                      const ValueNode *parent);

typedef enum ReadResult { READ_OK, READ_MISFIT, READ_BROKEN } ReadResult;

typedef struct JsonReader {
    JsonScan scan;
    Arena *arena; /* of the batch */
    const TimeZone *time_zone;
    bool coerce;
    bool dates;           /* see DecoderOptions */
    unsigned depth;       /* arrays and objects open around the value */
    Error *error;         /* after a failure, owned */
    const char *error_at; /* the byte it names */
} JsonReader;

/* Stands at the first byte of a value. */
ReadResult json_read_value(JsonReader *reader, const ValueNode *node, Vector *vector);
/* Stands at '{'. Appends row `row` to each column (all have that length). `parent`: the STRUCT,
 * NULL for a record. */
ReadResult json_read_object(JsonReader *reader, ObjectNode *object, const ValueNode *parent,
                            Vector *const *columns, uint32_t row);
/* A string value or the name of a map's entry, unescaped, that stood at `at`. */
ReadResult json_read_text_value(JsonReader *reader, const ValueNode *node, Str text, const char *at,
                                Vector *vector);
/* At '"': the text, in the record itself or unescaped in the arena. READ_BROKEN or READ_OK. */
ReadResult json_read_text(JsonReader *reader, const ValueNode *node, Str *ret_text);

/* At '[': passes it; *ret_more says whether an element follows. Behind an element: passes the comma
 * or the bracket. */
ReadResult json_open_array(JsonReader *reader, const ValueNode *node, bool *ret_more);
ReadResult json_next_element(JsonReader *reader, const ValueNode *node, bool *ret_more);

/* Makes the failures. `node` NULL: no column is concerned. */
COLD ReadResult json_broken(JsonReader *reader, const ValueNode *node);
COLD ReadResult json_misfit(JsonReader *reader, const ValueNode *node, const char *at,
                            const char *format, ...) PRINTF_LIKE(4, 5);
/* An error MALFORMED_RECORD that names column and byte. */
NODISCARD COLD RETURNS_NONNULL Error *json_record_error(const JsonReader *reader,
                                                        const ValueNode *node, const char *at,
                                                        const char *reason);

#endif
