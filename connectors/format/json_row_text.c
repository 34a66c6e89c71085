/* Stored rows as JSON text, in one pass over the bytes of the row (drawn at the top of
 * processor/data/row_encoding.c) and without vectors.
 *
 * A writer is the newest schema compiled: for each column the text before its value and what is to
 * be read. While a row is written there is always room for the largest text of all columns that are
 * no texts, and for the bytes the row has left; only a value that takes more (a text with escapes,
 * base64, lists and structs) looks for room itself.
 *
 * Whatever is not a row of the newest version, or no row at all, goes the general way (row_decode,
 * json_encode_row), which also words the error: so both ways agree on what a row is. */
#include <assert.h>

#include "connectors/format/format.h"
#include "connectors/format/json_put.h"
#include "processor/data/decimal.h"
#include "processor/data/row_reader.h"

#include "processor/base/banned.h"

typedef struct TextNode TextNode;

/* A column, the field of a struct, an element. */
struct TextNode {
    JsonName name; /* columns and fields: what stands before the value */
    const Type *type;
    TypeKind kind;
    uint8_t scale;
    uint32_t child_count;
    TextNode *children; /* ARRAY, MAP, STRUCT */
};

struct JsonRowWriter {
    const SchemaHistory *history;
    uint32_t version;
    uint32_t column_count;
    bool general; /* a type without a form of its own here */
    TextNode *columns;
    size_t room; /* of all columns but the bytes of texts */
};

/* ---- Compiling ---- */

static bool has_text(const Type *type)
{
    if (type->kind == TYPE_VARIANT || type_is_interval(type)) {
        return false;
    }
    for (uint32_t i = 0; i < type_child_count(type); i++) {
        if (!has_text(type_child(type, i))) {
            return false;
        }
    }
    return true;
}

static void init_node(TextNode *node, Arena *arena, const Type *type)
{
    node->type = type;
    node->kind = type->kind;
    node->scale = type->scale;
    node->child_count = type_child_count(type);
    node->children = arena_new_array(arena, TextNode, node->child_count);
    for (uint32_t i = 0; i < node->child_count; i++) {
        init_node(&node->children[i], arena, type_child(type, i));
        if (type->kind == TYPE_STRUCT) {
            node->children[i].name = json_name_new(arena, type->fields[i].name, i == 0 ? '{' : ',');
        }
    }
}

JsonRowWriter *json_row_writer_new(Arena *arena, const SchemaHistory *history)
{
    JsonRowWriter *writer = arena_new_object(arena, JsonRowWriter);
    writer->history = history;
    writer->version = schema_history_newest(history);
    const Schema *schema = schema_history_get(history, writer->version);
    writer->column_count = (uint32_t)schema->field_count;
    writer->columns = arena_new_array(arena, TextNode, writer->column_count);
    writer->room = 2; /* braces, of which a row without columns has both */
    for (uint32_t i = 0; i < writer->column_count; i++) {
        TextNode *column = &writer->columns[i];
        init_node(column, arena, schema->fields[i].type);
        column->name = json_name_new(arena, schema->fields[i].name, i == 0 ? '{' : ',');
        writer->general |= !has_text(column->type);
        writer->room += (size_t)column->name.blocks * JSON_NAME_BLOCK + JSON_SCALAR_MAX;
    }
    return writer;
}

/* ---- Scalars ---- */

static inline size_t integer_size(TypeKind kind)
{
    return kind == TYPE_TINYINT ? 1 : kind == TYPE_SMALLINT ? 2 : kind == TYPE_INT ? 4 : 8;
}

static inline char *put_integer(RowReader *row, TypeKind kind, char *to)
{
    int64_t value = 0;
    return row_read_integer(row, integer_size(kind), &value) ? integer_put(to, value) : NULL;
}

static inline char *put_decimal(RowReader *row, const TextNode *node, char *to)
{
    int128 value = 0;
    return row_read_int128(row, &value) && decimal_fits(value, node->type->precision)
               ? decimal_put(to, value, node->scale)
               : NULL;
}

static inline char *put_float(RowReader *row, char *to)
{
    float value = 0;
    return row_read_float(row, &value) ? json_put_double(to, (double)value, true) : NULL;
}

static inline char *put_double(RowReader *row, char *to)
{
    double value = 0;
    return row_read_double(row, &value) ? json_put_double(to, value, false) : NULL;
}

static inline char *put_bool(RowReader *row, char *to)
{
    bool value = false;
    return row_read_bool(row, &value) ? json_put_bool(to, value) : NULL;
}

static inline char *put_date(RowReader *row, char *to)
{
    int64_t days = 0;
    return row_read_integer(row, 4, &days) ? json_put_date(to, (int32_t)days) : NULL;
}

static inline char *put_timestamp(RowReader *row, TypeKind kind, char *to)
{
    int64_t us = 0;
    return row_read_integer(row, 8, &us) ? json_put_timestamp(to, us, kind == TYPE_TIMESTAMP)
                                         : NULL;
}

/* A value of at most JSON_SCALAR_MAX bytes; NULL: no such value. */
static inline char *put_scalar(RowReader *row, const TextNode *node, char *to)
{
    switch (node->kind) {
    case TYPE_BOOLEAN:
        return put_bool(row, to);
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return put_integer(row, node->kind, to);
    case TYPE_FLOAT:
        return put_float(row, to);
    case TYPE_DOUBLE:
        return put_double(row, to);
    case TYPE_DECIMAL:
        return put_decimal(row, node, to);
    case TYPE_DATE:
        return put_date(row, to);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return put_timestamp(row, node->kind, to);
    case TYPE_NULL:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_VARIANT:
        break;
    }
    return NULL;
}

/* ---- Values of any size ---- */

/* Reads over a value. */
static bool pass_value(RowReader *row, const TextNode *node);

static bool pass_values(RowReader *row, const TextNode *node, uint64_t count)
{
    const unsigned char *bits = NULL;
    if (!row_read_null_bits(row, count, &bits)) {
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!row_null_bit(bits, i) && !pass_value(row, node)) {
            return false;
        }
    }
    return true;
}

static bool pass_fields(RowReader *row, const TextNode *node)
{
    const unsigned char *bits = NULL;
    if (!row_read_null_bits(row, node->child_count, &bits)) {
        return false;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (!row_null_bit(bits, i) && !pass_value(row, &node->children[i])) {
            return false;
        }
    }
    return true;
}

static bool pass_value(RowReader *row, const TextNode *node)
{
    char scalar[JSON_SCALAR_MAX];
    Str text = STR_NULL;
    uint64_t count = 0;
    switch (type_physical(node->type)) {
    case PHYSICAL_STR:
        return row_read_str(row, &text);
    case PHYSICAL_LIST:
        if (!row_read_varint(row, &count)) {
            return false;
        }
        for (uint32_t i = 0; i < node->child_count; i++) {
            if (!pass_values(row, &node->children[i], count)) {
                return false;
            }
        }
        return true;
    case PHYSICAL_STRUCT:
        return pass_fields(row, node);
    case PHYSICAL_NONE:
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
    case PHYSICAL_INT128:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
        break;
    }
    return put_scalar(row, node, scalar) != NULL;
}

static bool write_value(RowReader *row, const TextNode *node, bool null, Buffer *out);

static bool write_array(RowReader *row, const TextNode *node, Buffer *out)
{
    uint64_t count = 0;
    const unsigned char *bits = NULL;
    if (!row_read_varint(row, &count) || !row_read_null_bits(row, count, &bits)) {
        return false;
    }
    buffer_append_byte(out, '[');
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_append_byte(out, ',');
        }
        if (!write_value(row, &node->children[0], row_null_bit(bits, i), out)) {
            return false;
        }
    }
    buffer_append_byte(out, ']');
    return true;
}

/* Keys and values lie in two lists: two readers go over them side by side. String keys are field
 * names; other keys have no such form, so each entry is a pair. */
static bool write_map(RowReader *row, const TextNode *node, Buffer *out)
{
    uint64_t count = 0;
    const unsigned char *key_bits = NULL;
    const unsigned char *value_bits = NULL;
    if (!row_read_varint(row, &count)) {
        return false;
    }
    RowReader keys = *row;
    if (!pass_values(row, &node->children[0], count) ||
        !row_read_null_bits(&keys, count, &key_bits) ||
        !row_read_null_bits(row, count, &value_bits)) {
        return false;
    }
    bool object = node->children[0].kind == TYPE_STRING;
    buffer_append_byte(out, object ? '{' : '[');
    for (uint64_t i = 0; i < count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ",");
        buffer_append_cstr(out, object ? "" : "[");
        if (!write_value(&keys, &node->children[0], row_null_bit(key_bits, i), out)) {
            return false;
        }
        buffer_append_byte(out, object ? ':' : ',');
        if (!write_value(row, &node->children[1], row_null_bit(value_bits, i), out)) {
            return false;
        }
        buffer_append_cstr(out, object ? "" : "]");
    }
    buffer_append_byte(out, object ? '}' : ']');
    return true;
}

static bool write_struct(RowReader *row, const TextNode *node, Buffer *out)
{
    const unsigned char *bits = NULL;
    if (!row_read_null_bits(row, node->child_count, &bits)) {
        return false;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        const TextNode *field = &node->children[i];
        buffer_append(out, field->name.text, field->name.size);
        if (!write_value(row, field, row_null_bit(bits, i), out)) {
            return false;
        }
    }
    buffer_append_cstr(out, node->child_count == 0 ? "{}" : "}");
    return true;
}

/* A value that finds its room itself. */
static bool write_value(RowReader *row, const TextNode *node, bool null, Buffer *out)
{
    Str text = STR_NULL;
    char *to = buffer_reserve(out, JSON_SCALAR_MAX);
    if (null) {
        out->size += (size_t)(json_put_null(to) - to);
        return true;
    }
    switch (node->kind) {
    case TYPE_STRING:
    case TYPE_BINARY:
        if (!row_read_str(row, &text)) {
            return false;
        }
        (node->kind == TYPE_STRING ? json_write_text : json_write_bytes)(out, text);
        return true;
    case TYPE_ARRAY:
        return write_array(row, node, out);
    case TYPE_MAP:
        return write_map(row, node, out);
    case TYPE_STRUCT:
        return write_struct(row, node, out);
    case TYPE_NULL:
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_VARIANT:
        break;
    }
    char *end = put_scalar(row, node, to);
    if (end == NULL) {
        return false;
    }
    out->size += (size_t)(end - to);
    return true;
}

/* ---- Rows ---- */

/* Room for the rest of a row, whatever it is made of. */
static char *make_room(const JsonRowWriter *writer, const RowReader *row, Buffer *out)
{
    return buffer_reserve(out, writer->room + row_bytes_left(row));
}

/* A column that takes more than its share of the room. */
__attribute__((noinline)) static char *put_large(const JsonRowWriter *writer, RowReader *row,
                                                 const TextNode *column, Buffer *out, char *to)
{
    out->size = (size_t)(to - out->data);
    return write_value(row, column, false, out) ? make_room(writer, row, out) : NULL;
}

static inline char *put_text(const JsonRowWriter *writer, RowReader *row, const TextNode *column,
                             Buffer *out, char *to)
{
    const unsigned char *before = row->at;
    Str text = STR_NULL;
    if (!row_read_str(row, &text)) {
        return NULL;
    }
    if (LIKELY(json_copy_plain(to + 1, text.data, text.size))) {
        to[0] = '"';
        to[text.size + 1] = '"';
        return to + text.size + 2;
    }
    row->at = before;
    return put_large(writer, row, column, out, to);
}

static inline char *put_column(const JsonRowWriter *writer, RowReader *row, const TextNode *column,
                               Buffer *out, char *to)
{
    if (column->kind == TYPE_STRING) {
        return put_text(writer, row, column, out, to);
    }
    bool large = column->kind == TYPE_BINARY || column->kind == TYPE_ARRAY ||
                 column->kind == TYPE_MAP || column->kind == TYPE_STRUCT;
    return large ? put_large(writer, row, column, out, to) : put_scalar(row, column, to);
}

/* False: not a row of the writer's version, or none at all. Flattened: the loop over columns is
 * where the time goes, and calls in it cost as much as what they do. */
__attribute__((flatten)) static bool write_newest(const JsonRowWriter *writer, Str bytes,
                                                  Buffer *out)
{
    RowReader row = row_reader_of(bytes);
    uint64_t version = 0;
    const unsigned char *bits = NULL;
    if (!row_read_varint(&row, &version) || version != writer->version ||
        !row_read_null_bits(&row, writer->column_count, &bits)) {
        return false;
    }
    char *to = make_room(writer, &row, out);
    for (uint32_t i = 0; i < writer->column_count; i++) {
        const TextNode *column = &writer->columns[i];
        to = json_put_name(to, &column->name);
        to = row_null_bit(bits, i) ? json_put_null(to) : put_column(writer, &row, column, out, to);
        if (UNLIKELY(to == NULL)) {
            return false;
        }
    }
    if (writer->column_count == 0) {
        *to++ = '{';
    }
    *to++ = '}';
    out->size = (size_t)(to - out->data);
    return row.at == row.end;
}

static Error *write_general(const JsonRowWriter *writer, Str bytes, Buffer *out)
{
    AUTO(arena) Arena *arena = arena_new("row text");
    Batch *batch = batch_new(arena, schema_history_get(writer->history, writer->version), 1);
    TRY(row_decode(writer->history, bytes, arena, batch));
    json_encode_row(batch, 0, out);
    return NULL;
}

Error *json_row_write(const JsonRowWriter *writer, Str row, Buffer *out)
{
    assert(schema_history_newest(writer->history) == writer->version);
    size_t size = out->size;
    if (LIKELY(!writer->general && write_newest(writer, row, out))) {
        return NULL;
    }
    out->size = size;
    return write_general(writer, row, out);
}
