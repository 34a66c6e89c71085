/* Any bytes as a key: never a crash; what is taken encodes back to the same bytes. The first byte
 * picks the columns' types. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "processor/data/key_encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const Type *nested(Arena *arena)
{
    const Field fields[] = {{STR("a"), &type_string, false, STR_NULL},
                            {STR("b"), type_array(arena, &type_double), false, STR_NULL},
                            {STR("c"), type_decimal(arena, 20, 2), false, STR_NULL}};
    return type_array(arena, type_struct(arena, fields, 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0) {
        return 0;
    }
    AUTO(arena) Arena *arena = arena_new("fuzz");
    const Type *const types[] = {&type_string,  &type_bigint, &type_double, &type_float,
                                 &type_boolean, &type_date,   &type_null,   nested(arena)};
    Vector *columns[2] = {vector_new(arena, types[bytes[0] & 7], 1),
                          vector_new(arena, types[bytes[0] >> 3 & 7], 1)};
    Str key = {(const char *)bytes + 1, size - 1};
    Error *error = key_decode(key, arena, columns, 2);
    if (error != NULL) {
        if (columns[0]->length != 0 || columns[1]->length != 0) {
            abort();
        }
        error_free(error);
        return 0;
    }
    AUTO_BUFFER Buffer again = {0};
    key_encode(columns, 2, 0, &again);
    if (!str_equal(buffer_str(&again), key)) {
        abort();
    }
    return 0;
}
