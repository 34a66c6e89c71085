/* Any bytes as a row, of an old version or the newest: never a crash, nothing appended after an
 * error, and memory in proportion to the input. What is taken encodes and decodes to equal values.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "processor/data/row_encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static Field field(const char *name, const Type *type)
{
    return (Field){str_from(name), type, false, STR_NULL};
}

static void add_versions(SchemaHistory *history, Arena *arena)
{
    const Field old_inner[] = {field("x", &type_int), field("y", &type_string)};
    const Field new_inner[] = {field("y", &type_string), field("x", &type_bigint)};
    const Field old[] = {field("a", &type_smallint),
                         field("gone", type_map(arena, &type_string, &type_double)),
                         field("l", type_array(arena, type_struct(arena, old_inner, 2))),
                         field("d", type_decimal(arena, 10, 2))};
    const Field newest[] = {field("l", type_array(arena, type_struct(arena, new_inner, 2))),
                            field("d", type_decimal(arena, 38, 2)),
                            field("a", &type_bigint),
                            field("b", &type_binary),
                            field("m", type_map(arena, &type_int, type_array(arena, &type_float))),
                            field("t", &type_boolean),
                            field("v", &type_null)};
    schema_history_add(history, schema_new(arena, old, 4));
    schema_history_add(history, schema_new(arena, newest, 7));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    AUTO(arena) Arena *arena = arena_new("fuzz");
    SchemaHistory *history = schema_history_new(arena);
    add_versions(history, arena);
    Batch *batch = batch_new(arena, schema_history_get(history, 2), 1);
    Error *error = row_decode(history, (Str){(const char *)bytes, size}, arena, batch);
    if (arena_held_bytes(arena) > (1U << 17) + size * 4096) {
        abort();
    }
    if (error != NULL) {
        if (batch->row_count != 0 || batch->columns[0]->length != 0) {
            abort();
        }
        error_free(error);
        return 0;
    }
    AUTO_BUFFER Buffer again = {0};
    row_encode(history, batch, 0, &again);
    if (row_decode(history, buffer_str(&again), arena, batch) != NULL) {
        abort();
    }
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        if (!vector_value_equal(batch->columns[i], 0, batch->columns[i], 1)) {
            abort();
        }
    }
    return 0;
}
