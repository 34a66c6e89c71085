/* Any text as a value of each type: never a crash; a value that is taken prints, and its text reads
 * back as the same value. The first byte picks the type. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "processor/data/value_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Texts that are not read back: a local time that happens twice names the earlier instant only. */
static bool prints_exactly(const Type *type)
{
    return type->kind != TYPE_TIMESTAMP;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0) {
        return 0;
    }
    AUTO(arena) Arena *arena = arena_new("fuzz");
    const Type *const types[] = {
        &type_boolean,
        &type_int,
        &type_bigint,
        &type_float,
        &type_double,
        type_decimal(arena, 38, 10),
        type_decimal(arena, 7, 2),
        &type_date,
        &type_timestamp,
        &type_timestamp_ntz,
        type_interval(arena, TYPE_INTERVAL_YEAR_MONTH, FIELD_YEAR, FIELD_MONTH),
        type_interval(arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, FIELD_SECOND),
    };
    const Type *type = types[bytes[0] % ARRAY_LENGTH(types)];
    Vector *vector = vector_new(arena, type, 2);
    Str text = {(const char *)bytes + 1, size - 1};
    Error *error = value_parse(text, time_zone_utc(), arena, vector);
    if (error != NULL) {
        error_free(error);
        return 0;
    }
    AUTO_BUFFER Buffer out = {0};
    value_format(vector, 0, time_zone_utc(), &out);
    error = value_parse(buffer_str(&out), time_zone_utc(), arena, vector);
    if (error != NULL) {
        error_free(error);
        /* Beyond six digits of a year the printed text has more than a cast takes. */
        if (type->kind != TYPE_TIMESTAMP && type->kind != TYPE_TIMESTAMP_NTZ) {
            abort();
        }
        return 0;
    }
    if (prints_exactly(type) && !vector_value_equal(vector, 0, vector, 1)) {
        abort();
    }
    return 0;
}
