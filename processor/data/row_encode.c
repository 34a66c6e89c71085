/* Rows of vectors as the bytes drawn at the top of row_encoding.c.
 *
 * Values are written through a bare pointer. Of the fields of one struct (or row) each takes at
 * most VALUE_MAX bytes, texts and nested values aside, so there is room for all of them beforehand;
 * a text or a nested value makes room for itself and, again, for all of them. */
#include "processor/data/row_encoding.h"

#include <assert.h>
#include <string.h>

#include "processor/base/banned.h"

enum { VALUE_MAX = 24 /* more than a 128-bit varint */ };

static inline char *put_varint(char *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (char)(value | 0x80);
        value >>= 7;
    }
    *to++ = (char)value;
    return to;
}

static inline char *put_zigzag(char *to, int64_t value)
{
    return put_varint(to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline char *put_zigzag128(char *to, int128 value)
{
    uint128 bits = (uint128)value << 1 ^ (uint128)(value >> 127);
    for (; bits > UINT64_MAX; bits >>= 7) {
        *to++ = (char)((uint64_t)bits | 0x80);
    }
    return put_varint(to, (uint64_t)bits);
}

/* Most texts are short: two words that overlap are quicker than a call. */
static inline void copy_bytes(char *to, const char *from, size_t size)
{
    if (size > 16) {
        memcpy(to, from, size);
    } else if (size >= 8) {
        uint64_t first;
        uint64_t last;
        memcpy(&first, from, 8);
        memcpy(&last, from + size - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + size - 8, &last, 8);
    } else {
        for (size_t i = 0; i < size; i++) {
            to[i] = from[i];
        }
    }
}

/* A row that is written: where, and the room all fields of the struct at hand may need. */
typedef struct RowOutput {
    Buffer *buffer;
    size_t room;
} RowOutput;

static char *make_room(const RowOutput *out, char *to, size_t size)
{
    out->buffer->size = (size_t)(to - out->buffer->data);
    return buffer_reserve(out->buffer, out->room + size);
}

/* Values always belong to a row, so out->room has place for the size. */
static inline char *put_str(const RowOutput *out, char *to, Str value)
{
    to = put_varint(make_room(out, to, value.size), value.size);
    copy_bytes(to, value.data, value.size);
    return to + value.size;
}

static inline bool is_null(const Vector *vector, uint32_t row)
{
    return UNLIKELY(!vector_is_valid(vector, row)) ||
           UNLIKELY(type_physical(vector->type) == PHYSICAL_NONE);
}

static char *put_nested(const RowOutput *out, char *to, const Vector *vector, uint32_t row);

static inline char *put_value(const RowOutput *out, char *to, const Vector *vector, uint32_t row)
{
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        return to;
    case PHYSICAL_BOOL:
        *to = (char)VECTOR_VALUE(vector, uint8_t, row);
        return to + 1;
    case PHYSICAL_INT8:
        return put_zigzag(to, VECTOR_VALUE(vector, int8_t, row));
    case PHYSICAL_INT16:
        return put_zigzag(to, VECTOR_VALUE(vector, int16_t, row));
    case PHYSICAL_INT32:
        return put_zigzag(to, VECTOR_VALUE(vector, int32_t, row));
    case PHYSICAL_INT64:
        return put_zigzag(to, VECTOR_VALUE(vector, int64_t, row));
    case PHYSICAL_INT128:
        return put_zigzag128(to, VECTOR_VALUE(vector, int128, row));
    case PHYSICAL_FLOAT:
        memcpy(to, &VECTOR_VALUE(vector, float, row), sizeof(float));
        return to + sizeof(float);
    case PHYSICAL_DOUBLE:
        memcpy(to, &VECTOR_VALUE(vector, double, row), sizeof(double));
        return to + sizeof(double);
    case PHYSICAL_STR:
        return put_str(out, to, VECTOR_VALUE(vector, Str, row));
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        return put_nested(out, to, vector, row);
    }
    return to;
}

static inline size_t bitmap_bytes(size_t count)
{
    return (count + 7) / 8;
}

/* The bit of a value in the bitmap that ends `back` bytes before `to`. */
static inline void set_null_bit(char *to, size_t back, size_t i)
{
    char *byte = to - back + i / 8;
    *byte = (char)(*byte | 1 << (i % 8));
}

/* The bitmap may move with the buffer while values are written: it is filled first. */
static inline char *put_fields(RowOutput *out, char *to, Vector *const *columns, size_t count,
                               uint32_t row)
{
    size_t bytes = bitmap_bytes(count);
    size_t outer = out->room;
    out->room = outer + bytes + count * VALUE_MAX;
    to = make_room(out, to, 0);
    memset(to, 0, bytes);
    to += bytes;
    for (size_t i = 0; i < count; i++) {
        if (is_null(columns[i], row)) {
            set_null_bit(to, bytes, i);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_null(columns[i], row)) {
            to = put_value(out, to, columns[i], row);
        }
    }
    out->room = outer;
    return to;
}

static char *put_elements(const RowOutput *out, char *to, const Vector *elements, uint32_t begin,
                          uint32_t end)
{
    size_t bytes = bitmap_bytes(end - begin);
    to = make_room(out, to, bytes);
    memset(to, 0, bytes);
    to += bytes;
    for (uint32_t i = begin; i < end; i++) {
        if (is_null(elements, i)) {
            set_null_bit(to, bytes, i - begin);
        }
    }
    for (uint32_t i = begin; i < end; i++) {
        if (!is_null(elements, i)) {
            to = put_value(out, make_room(out, to, VALUE_MAX), elements, i);
        }
    }
    return to;
}

static char *put_nested(const RowOutput *out, char *to, const Vector *vector, uint32_t row)
{
    RowOutput inner = *out;
    if (type_physical(vector->type) == PHYSICAL_STRUCT) {
        to = put_fields(&inner, to, vector->children, vector->child_count, row);
        return make_room(out, to, 0);
    }
    uint32_t begin = vector->offsets[row];
    uint32_t end = vector->offsets[row + 1];
    to = put_varint(make_room(out, to, VALUE_MAX), end - begin);
    for (uint32_t i = 0; i < vector->child_count; i++) {
        to = put_elements(out, to, vector->children[i], begin, end);
    }
    return make_room(out, to, 0);
}

void row_encode(const SchemaHistory *history, const Batch *batch, uint32_t row, Buffer *out)
{
    uint32_t version = schema_history_newest(history);
    assert(batch->schema->field_count == schema_history_get(history, version)->field_count);
    assert(row < batch->row_count);
    RowOutput output = {out, 0};
    char *to = put_varint(buffer_reserve(out, VALUE_MAX), version);
    to = put_fields(&output, to, batch->columns, batch->schema->field_count, row);
    out->size = (size_t)(to - out->data);
}
