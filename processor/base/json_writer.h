/* A small writer of compact JSON into a Buffer. JsonWriter puts the commas; json_write_string alone
 * writes one quoted text. */
#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/base/str.h"

/* A quoted JSON string; control characters are escaped, invalid UTF-8 bytes become U+FFFD. */
void json_write_string(Buffer *out, Str text);

typedef struct JsonWriter {
    Buffer *out;
    bool need_comma;
} JsonWriter;

/* A writer that appends one value to `out`. */
static inline JsonWriter json_writer(Buffer *out)
{
    return (JsonWriter){out, false};
}

/* A key is followed by its value, every begin has its end; the writer does not check. */
void json_object_begin(JsonWriter *w);
void json_object_end(JsonWriter *w);
void json_array_begin(JsonWriter *w);
void json_array_end(JsonWriter *w);
void json_key(JsonWriter *w, const char *key);
void json_str(JsonWriter *w, Str value); /* STR_NULL writes null */
void json_cstr(JsonWriter *w, const char *value);
void json_int(JsonWriter *w, int64_t value);
void json_bool(JsonWriter *w, bool value);
void json_null(JsonWriter *w);
/* `json` is one JSON value as text. */
void json_raw(JsonWriter *w, Str json);

/* key and value in one call */
void json_field_str(JsonWriter *w, const char *key, Str value);
void json_field_cstr(JsonWriter *w, const char *key, const char *value);
void json_field_int(JsonWriter *w, const char *key, int64_t value);
void json_field_bool(JsonWriter *w, const char *key, bool value);

#endif
