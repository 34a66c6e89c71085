/* The formats behind one interface: picks the one a source names, and runs it over a batch. */
#include "connectors/format/format.h"

#include <assert.h>

#include "connectors/format/json_decode.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

struct Decoder {
    FormatKind kind;
    const Schema *schema;
    JsonDecoder *json; /* FORMAT_JSON */
};

Error *decoder_open(const DecoderOptions *options, const Schema *schema, Decoder **ret_decoder)
{
    Decoder decoder = {.kind = options->kind, .schema = schema};
    switch (options->kind) {
    case FORMAT_JSON:
        TRY(json_decoder_open(options, schema, &decoder.json));
        break;
    }
    *ret_decoder = mem_new(Decoder);
    **ret_decoder = decoder;
    return NULL;
}

void decoder_close(Decoder *decoder)
{
    if (decoder != NULL) {
        json_decoder_close(decoder->json);
        mem_free(decoder);
    }
}

static Error *read_record(Decoder *decoder, Str record, Arena *batch_arena, Vector *const *columns,
                          uint32_t row)
{
    switch (decoder->kind) {
    case FORMAT_JSON:
        return json_decoder_read(decoder->json, record, batch_arena, columns, row);
    }
    assert(false && "a format without a decoder");
    return NULL;
}

void decoder_decode(Decoder *decoder, const Str *values, size_t count, Arena *batch_arena,
                    RowErrors *errors, Batch **ret_batch)
{
    assert(count <= BATCH_ROWS);
    Batch *batch = batch_new(batch_arena, decoder->schema, (uint32_t)count);
    bool failed = false;
    for (uint32_t row = 0; row < (uint32_t)count; row++) {
        Error *error = read_record(decoder, values[row], batch_arena, batch->columns, row);
        if (UNLIKELY(error != NULL)) {
            row_errors_add(errors, row, error);
            failed = true;
        }
    }
    batch->row_count = (uint32_t)count;
    batch->selected_count = (uint32_t)count;
    if (failed) {
        batch_remove_rows(batch, batch_arena, errors);
    }
    *ret_batch = batch;
}
