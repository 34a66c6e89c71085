/* Records that are one JSON object each: into a row of a batch, and message keys back into values.
 *
 * A record is read in one pass straight into the columns (json_object.c, json_value.c). When it
 * fails, every column is cut back to the rows before it and gets a null, so that row i of a batch
 * stays record i. */
#include "connectors/format/json_decode.h"

#include <assert.h>

#include "connectors/format/json_number.h"
#include "connectors/format/json_value.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

struct JsonDecoder {
    DecoderOptions options;
    Arena *arena; /* of the nodes */
    ObjectNode *root;
};

Error *json_decoder_open(const DecoderOptions *options, const Schema *schema,
                         JsonDecoder **ret_decoder)
{
    Arena *arena = arena_new("json decoder");
    ObjectNode *root = NULL;
    Error *error = json_object_node_new(arena, schema->fields, schema->field_count, NULL, &root);
    if (error != NULL) {
        arena_free(arena);
        return error;
    }
    JsonDecoder *decoder = mem_new(JsonDecoder);
    *decoder = (JsonDecoder){*options, arena, root};
    *ret_decoder = decoder;
    return NULL;
}

void json_decoder_close(JsonDecoder *decoder)
{
    if (decoder != NULL) {
        arena_free(decoder->arena);
        mem_free(decoder);
    }
}

COLD static ReadResult not_an_object(JsonReader *reader)
{
    JsonScan *scan = &reader->scan;
    if (scan->at < scan->end) {
        json_problem(scan, scan->at, "a record must be a JSON object");
    } else {
        json_problem(scan, scan->at,
                     scan->begin == scan->end ? "the record is empty"
                                              : "the record holds no JSON text");
    }
    return json_broken(reader, NULL);
}

static ReadResult read_record(JsonReader *reader, ObjectNode *root, Vector *const *columns,
                              uint32_t row)
{
    json_skip_space(&reader->scan);
    if (json_peek(&reader->scan) != '{') {
        return not_an_object(reader);
    }
    ReadResult result = json_read_object(reader, root, NULL, columns, row);
    /* What follows is judged also behind a value that does not fit: no JSON at all weighs more. */
    if (result != READ_BROKEN && !json_scan_end(&reader->scan)) {
        error_free(reader->error);
        return json_broken(reader, NULL);
    }
    return result;
}

Error *json_decoder_read(JsonDecoder *decoder, Str record, Arena *batch_arena,
                         Vector *const *columns, uint32_t row)
{
    assert(record.data != NULL);
    JsonReader reader = {.scan = json_scan_text(record),
                         .arena = batch_arena,
                         .time_zone = decoder->options.time_zone,
                         .coerce = decoder->options.coerce,
                         .dates = decoder->options.dates};
    if (LIKELY(read_record(&reader, decoder->root, columns, row) == READ_OK)) {
        return NULL;
    }
    for (size_t i = 0; i < decoder->root->field_count; i++) {
        vector_truncate(columns[i], row);
        vector_append_null(columns[i], batch_arena);
    }
    return reader.error;
}
