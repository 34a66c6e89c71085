/* Stored keys as JSON text, in one pass over the bytes of the key (drawn at the top of
 * processor/data/key_encoding.c) and without vectors.
 *
 * Keys of nested types, texts with NUL bytes and bytes that are no key go the general way
 * (key_decode, json_encode_key), which also words the error. */
#include <assert.h>
#include <math.h>

#include "connectors/format/format.h"
#include "connectors/format/json_put.h"
#include "processor/data/decimal.h"
#include "processor/data/key_encoding.h"

#include "processor/base/banned.h"

typedef struct KeyColumn {
    JsonName name; /* what stands before the value */
    TypeKind kind;
    PhysicalKind physical;
    const Type *type;
} KeyColumn;

struct JsonKeyWriter {
    const Field *fields;
    size_t count;
    bool general; /* some column is nested */
    KeyColumn *columns;
    size_t room; /* of all columns but the bytes of texts, and of "_row" */
};

enum { ORDINAL_MAX = 32 /* ,"_row":4294967295} */ };

JsonKeyWriter *json_key_writer_new(Arena *arena, const Field *fields, size_t count)
{
    JsonKeyWriter *writer = arena_new_object(arena, JsonKeyWriter);
    Field *copy = arena_new_array(arena, Field, count);
    writer->fields = copy;
    writer->count = count;
    writer->columns = arena_new_array(arena, KeyColumn, count);
    writer->room = ORDINAL_MAX;
    for (size_t i = 0; i < count; i++) {
        copy[i] = fields[i];
        const Type *type = fields[i].type;
        KeyColumn *column = &writer->columns[i];
        *column = (KeyColumn){json_name_new(arena, fields[i].name, i == 0 ? '{' : ','), type->kind,
                              type_physical(type), type};
        writer->general |= type_child_count(type) > 0 || type_is_interval(type);
        writer->room += (size_t)column->name.blocks * JSON_NAME_BLOCK + JSON_SCALAR_MAX;
    }
    return writer;
}

/* ---- One key ---- */

typedef struct KeyCursor {
    const unsigned char *at;
    const unsigned char *end;
} KeyCursor;

static inline size_t bytes_left(const KeyCursor *key)
{
    return (size_t)(key->end - key->at);
}

/* `size` bytes (1, 2, 4 or 8), big-endian, as the low bytes of the result. */
static inline uint64_t load_be(const unsigned char *at, size_t size)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    switch (size) {
    case 8:
        memcpy(&eight, at, 8);
        return __builtin_bswap64(eight);
    case 4:
        memcpy(&four, at, 4);
        return __builtin_bswap32(four);
    case 2:
        memcpy(&two, at, 2);
        return __builtin_bswap16(two);
    default:
        assert(size == 1);
        return *at;
    }
}

static inline bool take_word(KeyCursor *key, size_t size, uint64_t *ret_bits)
{
    if (bytes_left(key) < size) {
        return false;
    }
    *ret_bits = load_be(key->at, size);
    key->at += size;
    return true;
}

static inline bool take_signed(KeyCursor *key, size_t size, int64_t *ret_value)
{
    uint64_t bits = 0;
    if (!take_word(key, size, &bits)) {
        return false;
    }
    unsigned unused = 64 - 8 * (unsigned)size;
    bits ^= UINT64_C(1) << (63 - unused);
    *ret_value = (int64_t)(bits << unused) >> unused;
    return true;
}

static inline char *put_integer(KeyCursor *key, size_t size, char *to)
{
    int64_t value = 0;
    return take_signed(key, size, &value) ? integer_put(to, value) : NULL;
}

static inline char *put_date(KeyCursor *key, char *to)
{
    int64_t days = 0;
    return take_signed(key, 4, &days) ? json_put_date(to, (int32_t)days) : NULL;
}

static inline char *put_timestamp(KeyCursor *key, const KeyColumn *column, char *to)
{
    int64_t us = 0;
    return take_signed(key, 8, &us) ? json_put_timestamp(to, us, column->kind == TYPE_TIMESTAMP)
                                    : NULL;
}

static inline char *put_bool(KeyCursor *key, char *to)
{
    uint64_t value = 0;
    return take_word(key, 1, &value) && value <= 1 ? json_put_bool(to, value == 1) : NULL;
}

static char *put_decimal(KeyCursor *key, const KeyColumn *column, char *to)
{
    uint64_t high = 0;
    uint64_t low = 0;
    if (!take_word(key, 8, &high) || !take_word(key, 8, &low)) {
        return NULL;
    }
    int128 value = (int128)(((uint128)high << 64 | low) ^ (uint128)1 << 127);
    return decimal_fits(value, column->type->precision)
               ? decimal_put(to, value, column->type->scale)
               : NULL;
}

/* A text with escapes or more than ASCII looks for room itself; then there is again room for the
 * rest of the key. */
static char *put_special_text(const JsonKeyWriter *writer, const KeyCursor *key, Str text,
                              Buffer *out, char *to)
{
    out->size = (size_t)(to - out->data);
    json_write_text(out, text);
    return buffer_reserve(out, writer->room + bytes_left(key));
}

/* Ends with 00 00. A text with NUL bytes of its own goes the general way. */
static inline char *put_text(const JsonKeyWriter *writer, KeyCursor *key, Buffer *out, char *to)
{
    const unsigned char *zero = memchr(key->at, '\0', bytes_left(key));
    if (zero == NULL || key->end - zero < 2 || zero[1] != 0) {
        return NULL;
    }
    Str text = {(const char *)key->at, (size_t)(zero - key->at)};
    key->at = zero + 2;
    if (UNLIKELY(!json_copy_plain(to + 1, text.data, text.size))) {
        return put_special_text(writer, key, text, out, to);
    }
    to[0] = '"';
    to[text.size + 1] = '"';
    return to + text.size + 2;
}

static inline char *put_value(const JsonKeyWriter *writer, KeyCursor *key, const KeyColumn *column,
                              Buffer *out, char *to)
{
    switch (column->kind) {
    case TYPE_BOOLEAN:
        return put_bool(key, to);
    case TYPE_TINYINT:
        return put_integer(key, 1, to);
    case TYPE_SMALLINT:
        return put_integer(key, 2, to);
    case TYPE_INT:
        return put_integer(key, 4, to);
    case TYPE_BIGINT:
        return put_integer(key, 8, to);
    case TYPE_DECIMAL:
        return put_decimal(key, column, to);
    case TYPE_STRING:
        return put_text(writer, key, out, to);
    case TYPE_DATE:
        return put_date(key, to);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return put_timestamp(key, column, to);
    case TYPE_FLOAT: /* rare as keys, and only some bits are allowed */
    case TYPE_DOUBLE:
    case TYPE_BINARY:
    case TYPE_NULL:
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

static inline char *put_ordinal(char *to, bool first, uint32_t ordinal)
{
    static const char name[] = ",\"_row\":";
    size_t skip = first;
    memcpy(to, name + skip, sizeof name - 1 - skip);
    return integer_put(to + sizeof name - 1 - skip, ordinal);
}

/* False: the general way decides. */
static bool write_plain(const JsonKeyWriter *writer, Str bytes, uint32_t ordinal, Buffer *out)
{
    const unsigned char *begin = (const unsigned char *)bytes.data;
    KeyCursor key = {begin, begin + bytes.size};
    char *to = buffer_reserve(out, writer->room + bytes.size);
    for (size_t i = 0; i < writer->count; i++) {
        const KeyColumn *column = &writer->columns[i];
        if (key.at == key.end || *key.at > 1) {
            return false;
        }
        to = json_put_name(to, &column->name);
        to = *key.at++ == 0 ? json_put_null(to) : put_value(writer, &key, column, out, to);
        if (UNLIKELY(to == NULL)) {
            return false;
        }
    }
    if (writer->count == 0) {
        *to++ = '{';
    }
    if (ordinal > 0) {
        to = put_ordinal(to, writer->count == 0, ordinal);
    }
    *to++ = '}';
    out->size = (size_t)(to - out->data);
    return key.at == key.end;
}

static Error *write_general(const JsonKeyWriter *writer, Str key, uint32_t ordinal, Buffer *out)
{
    AUTO(arena) Arena *arena = arena_new("key text");
    Vector **columns = arena_new_array(arena, Vector *, writer->count);
    for (size_t i = 0; i < writer->count; i++) {
        columns[i] = vector_new(arena, writer->fields[i].type, 1);
    }
    TRY(key_decode(key, arena, columns, writer->count));
    json_encode_key(writer->fields, columns, writer->count, 0, ordinal, out);
    return NULL;
}

Error *json_key_write(const JsonKeyWriter *writer, Str key, uint32_t ordinal, Buffer *out)
{
    key.data = key.data == NULL ? "" : key.data;
    size_t size = out->size;
    if (LIKELY(!writer->general && write_plain(writer, key, ordinal, out))) {
        return NULL;
    }
    out->size = size;
    return write_general(writer, key, ordinal, out);
}

void json_key_write_ordinal(Str text, uint32_t ordinal, Buffer *out)
{
    assert(text.size >= 2 && text.data[text.size - 1] == '}');
    char *to = buffer_reserve(out, text.size + ORDINAL_MAX);
    memcpy(to, text.data, text.size);
    char *at = to + text.size;
    if (ordinal > 0) {
        at = put_ordinal(at - 1, text.size == 2, ordinal);
        *at++ = '}';
    }
    out->size += (size_t)(at - to);
}
