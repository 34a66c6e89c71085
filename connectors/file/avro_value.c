/* Avro's binary encoding: integers are zigzag varints, texts a length and bytes, unions the number
 * of the branch before its value, lists come in blocks of a count and the elements, a negative
 * count has the block's bytes behind it. Recursion follows the schema, whose depth is bounded
 * (AVRO_DEPTH_MAX). */
#include "connectors/file/avro_value.h"

#include "processor/base/banned.h"

enum { VARINT_BYTES = 10, INT128_BYTES = 16 };

static bool fail(AvroReader *reader, const char *problem)
{
    reader->problem = problem;
    return false;
}

bool avro_read_long(AvroReader *reader, int64_t *ret_value)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < VARINT_BYTES; i++) {
        if (reader->at == reader->end) {
            return fail(reader, "it ends inside a number");
        }
        uint8_t byte = (uint8_t)*reader->at++;
        bits |= (uint64_t)(byte & 0x7F) << (7 * i);
        if ((byte & 0x80) == 0) {
            *ret_value = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
            return true;
        }
    }
    return fail(reader, "a number has more than ten bytes");
}

static bool take_bytes(AvroReader *reader, size_t size, Str *ret_bytes)
{
    if (size > (size_t)(reader->end - reader->at)) {
        return fail(reader, "it ends inside a value");
    }
    *ret_bytes = (Str){reader->at, size};
    reader->at += size;
    return true;
}

bool avro_read_bytes(AvroReader *reader, Str *ret_bytes)
{
    int64_t size = 0;
    if (!avro_read_long(reader, &size)) {
        return false;
    }
    return size < 0 ? fail(reader, "a length is negative")
                    : take_bytes(reader, (size_t)size, ret_bytes);
}

/* --------------------------------------------------------------- scalars --- */

static bool read_integer(AvroReader *reader, const AvroNode *node, Vector *vector)
{
    int64_t value = 0;
    if (!avro_read_long(reader, &value)) {
        return false;
    }
    if (node->kind == AVRO_INT_TYPE && value != (int32_t)value) {
        return fail(reader, "an int has more than 32 bits");
    }
    if (node->scale_to_us > 1 && __builtin_mul_overflow(value, node->scale_to_us, &value)) {
        return fail(reader, "a timestamp is out of range");
    }
    vector_append_int(vector, reader->arena, value);
    return true;
}

static bool read_real(AvroReader *reader, const AvroNode *node, Vector *vector)
{
    Str bytes = STR_NULL;
    float narrow = 0;
    double wide = 0;
    if (!take_bytes(reader, node->kind == AVRO_FLOAT_TYPE ? sizeof narrow : sizeof wide, &bytes)) {
        return false;
    }
    if (node->kind == AVRO_FLOAT_TYPE) {
        memcpy(&narrow, bytes.data, sizeof narrow);
        wide = (double)narrow;
    } else {
        memcpy(&wide, bytes.data, sizeof wide);
    }
    vector_append_double(vector, reader->arena, wide);
    return true;
}

/* Two's complement, the highest byte first. */
static bool append_decimal(AvroReader *reader, Str bytes, Vector *vector)
{
    bool negative = bytes.size > 0 && (bytes.data[0] & 0x80) != 0;
    uint128 value = negative ? ~(uint128)0 : 0;
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t sign_bytes = negative ? 0xFF : 0;
        if (bytes.size - i > INT128_BYTES && (uint8_t)bytes.data[i] != sign_bytes) {
            return fail(reader, "a decimal has more digits than its type");
        }
        value = value << 8 | (uint8_t)bytes.data[i];
    }
    int128 number = (int128)value;
    uint128 size = number < 0 ? 0 - (uint128)number : (uint128)number;
    uint128 limit = 1;
    for (int i = 0; i < vector->type->precision; i++) {
        limit *= 10;
    }
    if (size >= limit || (bytes.size >= INT128_BYTES && negative != (number < 0))) {
        return fail(reader, "a decimal has more digits than its type");
    }
    vector_append_int128(vector, reader->arena, number);
    return true;
}

static bool read_text(AvroReader *reader, const AvroNode *node, Vector *vector)
{
    Str bytes = STR_NULL;
    bool good = node->kind == AVRO_FIXED_TYPE ? take_bytes(reader, node->size, &bytes)
                                              : avro_read_bytes(reader, &bytes);
    if (!good) {
        return false;
    }
    if (node->type->kind == TYPE_DECIMAL) {
        return append_decimal(reader, bytes, vector);
    }
    if (node->kind == AVRO_STRING_TYPE && !str_is_utf8(bytes)) {
        return fail(reader, "a string is not valid UTF-8");
    }
    vector_append_str(vector, reader->arena, bytes);
    return true;
}

static bool read_enum(AvroReader *reader, const AvroNode *node, Vector *vector)
{
    int64_t index = 0;
    if (!avro_read_long(reader, &index)) {
        return false;
    }
    if (index < 0 || (uint64_t)index >= node->symbol_count) {
        return fail(reader, "an enum has no such symbol");
    }
    vector_append_str(vector, reader->arena, node->symbols[index]);
    return true;
}

static bool read_boolean(AvroReader *reader, Vector *vector)
{
    Str byte = STR_NULL;
    if (!take_bytes(reader, 1, &byte)) {
        return false;
    }
    vector_append_bool(vector, reader->arena, byte.data[0] != 0);
    return true;
}

/* ----------------------------------------------------------------- lists --- */

bool avro_next_list_block(AvroReader *reader, int64_t *ret_count, int64_t *ret_size)
{
    *ret_size = -1;
    if (!avro_read_long(reader, ret_count)) {
        return false;
    }
    if (*ret_count < 0) {
        if (*ret_count == INT64_MIN || !avro_read_long(reader, ret_size)) {
            return fail(reader, "a list has no length");
        }
        *ret_count = -*ret_count;
        if (*ret_size < 0) {
            return fail(reader, "a length is negative");
        }
    }
    /* Nothing takes no bytes but nulls and empty records: more of them than bytes is damage, not
     * data. */
    if (*ret_count > reader->end - reader->at) {
        return fail(reader, "it ends inside a list");
    }
    return true;
}

static bool read_element(AvroReader *reader, const AvroNode *node, Vector *vector)
{
    if (node->kind == AVRO_MAP_TYPE) {
        Str key = STR_NULL;
        if (!avro_read_bytes(reader, &key)) {
            return false;
        }
        vector_append_str(vector->children[0], reader->arena, key);
        return avro_read_value(reader, node->members[0].node, vector->children[1]);
    }
    return avro_read_value(reader, node->members[0].node, vector->children[0]);
}

static bool read_list(AvroReader *reader, const AvroNode *node, Vector *vector)
{
    for (;;) {
        int64_t count = 0;
        int64_t size = 0;
        if (!avro_next_list_block(reader, &count, &size)) {
            return false;
        }
        if (count == 0) {
            vector_finish_list(vector, reader->arena);
            return true;
        }
        for (int64_t i = 0; i < count; i++) {
            if (!read_element(reader, node, vector)) {
                return false;
            }
        }
    }
}

static bool read_record(AvroReader *reader, const AvroNode *node, Vector *vector)
{
    for (size_t i = 0; i < node->member_count; i++) {
        if (!avro_read_value(reader, node->members[i].node, vector->children[i])) {
            return false;
        }
    }
    vector_finish_struct(vector, reader->arena);
    return true;
}

static bool find_branch(AvroReader *reader, const AvroNode *node, const AvroNode **ret_branch)
{
    int64_t index = 0;
    if (!avro_read_long(reader, &index)) {
        return false;
    }
    if (index < 0 || (uint64_t)index >= node->member_count) {
        return fail(reader, "a union has no such branch");
    }
    *ret_branch = node->members[index].node;
    return true;
}

bool avro_read_value(AvroReader *reader, const AvroNode *node, Vector *vector)
{
    const AvroNode *branch = NULL;
    switch (node->kind) {
    case AVRO_NULL_TYPE:
        vector_append_null(vector, reader->arena);
        return true;
    case AVRO_BOOLEAN_TYPE:
        return read_boolean(reader, vector);
    case AVRO_INT_TYPE:
    case AVRO_LONG_TYPE:
        return read_integer(reader, node, vector);
    case AVRO_FLOAT_TYPE:
    case AVRO_DOUBLE_TYPE:
        return read_real(reader, node, vector);
    case AVRO_BYTES_TYPE:
    case AVRO_STRING_TYPE:
    case AVRO_FIXED_TYPE:
        return read_text(reader, node, vector);
    case AVRO_ENUM_TYPE:
        return read_enum(reader, node, vector);
    case AVRO_ARRAY_TYPE:
    case AVRO_MAP_TYPE:
        return read_list(reader, node, vector);
    case AVRO_RECORD_TYPE:
        return read_record(reader, node, vector);
    case AVRO_UNION_TYPE:
        return find_branch(reader, node, &branch) && avro_read_value(reader, branch, vector);
    }
    return false;
}

/* -------------------------------------------------------------- skipping --- */

static bool skip_element(AvroReader *reader, const AvroNode *node)
{
    Str key = STR_NULL;
    return (node->kind != AVRO_MAP_TYPE || avro_read_bytes(reader, &key)) &&
           avro_skip_value(reader, node->members[0].node);
}

static bool skip_list(AvroReader *reader, const AvroNode *node)
{
    for (;;) {
        int64_t count = 0;
        int64_t size = 0;
        Str bytes = STR_NULL;
        if (!avro_next_list_block(reader, &count, &size)) {
            return false;
        }
        if (count == 0) {
            return true;
        }
        if (size >= 0) {
            if (!take_bytes(reader, (size_t)size, &bytes)) {
                return false;
            }
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            if (!skip_element(reader, node)) {
                return false;
            }
        }
    }
}

bool avro_skip_value(AvroReader *reader, const AvroNode *node)
{
    const AvroNode *branch = NULL;
    Str bytes = STR_NULL;
    int64_t number = 0;
    switch (node->kind) {
    case AVRO_NULL_TYPE:
        return true;
    case AVRO_BOOLEAN_TYPE:
        return take_bytes(reader, 1, &bytes);
    case AVRO_INT_TYPE:
    case AVRO_LONG_TYPE:
    case AVRO_ENUM_TYPE:
        return avro_read_long(reader, &number);
    case AVRO_FLOAT_TYPE:
        return take_bytes(reader, sizeof(float), &bytes);
    case AVRO_DOUBLE_TYPE:
        return take_bytes(reader, sizeof(double), &bytes);
    case AVRO_BYTES_TYPE:
    case AVRO_STRING_TYPE:
        return avro_read_bytes(reader, &bytes);
    case AVRO_FIXED_TYPE:
        return take_bytes(reader, node->size, &bytes);
    case AVRO_ARRAY_TYPE:
    case AVRO_MAP_TYPE:
        return skip_list(reader, node);
    case AVRO_RECORD_TYPE:
        for (size_t i = 0; i < node->member_count; i++) {
            if (!avro_skip_value(reader, node->members[i].node)) {
                return false;
            }
        }
        return true;
    case AVRO_UNION_TYPE:
        return find_branch(reader, node, &branch) && avro_skip_value(reader, branch);
    }
    return false;
}

bool avro_fits(const AvroNode *node, const Type *type)
{
    const Type *own = node->type;
    return type_equal(own, type) || (own->kind == TYPE_INT && type->kind == TYPE_BIGINT) ||
           (own->kind == TYPE_FLOAT && type->kind == TYPE_DOUBLE) || own->kind == TYPE_NULL;
}
