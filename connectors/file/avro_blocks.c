/* Chunks of Avro blocks into batches; columns are found by name in each file's own schema. */
#include "connectors/file/avro_container.h"
#include "connectors/file/file_table_internal.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct AvroFilePlan {
    AvroHeader header;
    int32_t *column_of_field; /* which column read, -1: none */
} AvroFilePlan;

typedef struct AvroWorker {
    const ReadRequest *request;
    Batch *batch; /* being filled */
} AvroWorker;

static Error *in_file(Error *error, const FileTable *table, size_t file)
{
    return error == NULL ? NULL : error_set_file(error, table->files.files[file].name);
}

/* A header longer than what was looked at is looked at again, with more. */
static Error *read_header(FileTable *table, size_t file, Arena *arena, AvroHeader *ret_header)
{
    enum { FIRST_BYTES = 64 << 10, HEADER_BYTES_MAX = 64 << 20 };
    for (size_t size = FIRST_BYTES;; size *= 2) {
        Str bytes = STR_NULL;
        bool whole = false;
        TRY(file_entry_peek(&table->files.files[file], size, table_stop(table), arena, &bytes));
        TRY(in_file(avro_header_read(bytes, arena, &whole, ret_header), table, file));
        if (whole) {
            return NULL;
        }
        if (bytes.size < size || size > HEADER_BYTES_MAX) {
            return in_file(error_new(ERROR_MALFORMED_RECORD, "the file ends inside its header"),
                           table, file);
        }
    }
}

Error *avro_table_infer(FileTable *table, Arena *arena, const Schema **ret_schema)
{
    AvroHeader header = {0};
    TRY(file_entry_keep(&table->files.files[0], table_stop(table), table->arena));
    TRY(read_header(table, 0, table->arena, &header));
    return avro_schema_columns(header.root, arena, ret_schema);
}

/* -------------------------------------------------------------- planning --- */

/* The column read of that name, or -1. */
static int32_t find_column(const ReadRequest *request, Str name)
{
    int found = schema_find(request->read, name);
    return (int32_t)found;
}

static Error *check_type(const AvroMember *member, const Field *field)
{
    if (avro_fits(member->node, field->type)) {
        return NULL;
    }
    AUTO_BUFFER Buffer own = {0};
    AUTO_BUFFER Buffer wanted = {0};
    type_format(member->node->type, &own);
    type_format(field->type, &wanted);
    return error_new(ERROR_MALFORMED_RECORD,
                     "column `%.*s` is %s in the file and cannot be read as %s",
                     STR_ARG(field->name), buffer_cstr(&own), buffer_cstr(&wanted));
}

static Error *plan_file(const ReadRequest *request, size_t file, AvroFilePlan *plan)
{
    FileTable *table = request->table;
    TRY(read_header(table, file, request->arena, &plan->header));
    const AvroNode *root = plan->header.root;
    plan->column_of_field = arena_new_array(request->arena, int32_t, root->member_count);
    for (size_t i = 0; i < root->member_count; i++) {
        const AvroMember *member = &root->members[i];
        int32_t column = find_column(request, member->name);
        if (column >= 0) {
            TRY(in_file(check_type(member, &request->read->fields[column]), table, file));
        }
        for (size_t j = 0; j < i; j++) { /* names that differ in case only: the first */
            column = plan->column_of_field[j] == column ? -1 : column;
        }
        plan->column_of_field[i] = column;
    }
    return NULL;
}

static Error *avro_prepare(ReadRequest *request)
{
    size_t count = request->table->files.count;
    AvroFilePlan *plans = arena_new_array(request->arena, AvroFilePlan, count);
    for (size_t i = 0; i < count; i++) {
        TRY(plan_file(request, i, &plans[i]));
    }
    request->plan = plans;
    return NULL;
}

static Error *avro_open(const ReadRequest *request, void **ret_worker)
{
    AvroWorker *worker = mem_new(AvroWorker);
    worker->request = request;
    *ret_worker = worker;
    return NULL;
}

static void avro_close(void *worker)
{
    mem_free(worker);
}

/* --------------------------------------------------------------- records --- */

static bool read_record(AvroWorker *worker, const AvroFilePlan *plan, AvroReader *reader)
{
    Batch *batch = worker->batch;
    const AvroNode *root = plan->header.root;
    for (size_t i = 0; i < root->member_count; i++) {
        int32_t column = plan->column_of_field[i];
        const AvroNode *node = root->members[i].node;
        bool good = column < 0 ? avro_skip_value(reader, node)
                               : avro_read_value(reader, node, batch->columns[column]);
        if (!good) {
            return false;
        }
    }
    batch->row_count++;
    batch->selected_count = batch->row_count;
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        if (batch->columns[i]->length < batch->row_count) {
            vector_append_null(batch->columns[i], reader->arena);
        }
    }
    return true;
}

static void release_buffer(void *buffer)
{
    buffer_done(buffer);
}

static bool read_block(AvroWorker *worker, ChunkWork *chunk, const AvroFilePlan *plan,
                       const AvroBlock *block, AvroReader *outer)
{
    Buffer *unpacked = arena_new_object(chunk->arena, Buffer); /* texts point into it */
    arena_on_reset(chunk->arena, release_buffer, unpacked);
    AvroReader reader = {.arena = chunk->arena};
    Str bytes = STR_NULL;
    if (!avro_unpack(plan->header.codec, block->data, unpacked, &bytes)) {
        outer->problem = "the packed data of a block are damaged";
        return false;
    }
    reader.at = bytes.data;
    reader.end = bytes.data + bytes.size;
    for (int64_t i = 0; i < block->count; i++) {
        if (worker->batch == NULL) {
            worker->batch = batch_new(chunk->arena, worker->request->read, BATCH_ROWS);
            chunk_add_batch(chunk, worker->batch);
        }
        const char *before = reader.at;
        bool good = read_record(worker, plan, &reader);
        if (!good || (reader.at == before && i > (int64_t)block->data.size + BATCH_ROWS)) {
            outer->problem = good ? "a block has more records than bytes" : reader.problem;
            return false;
        }
        worker->batch = worker->batch->row_count == BATCH_ROWS ? NULL : worker->batch;
    }
    return true;
}

static void avro_work(void *state, ChunkWork *chunk)
{
    AvroWorker *worker = state;
    const FileTable *table = worker->request->table;
    const AvroFilePlan *plan = (const AvroFilePlan *)worker->request->plan + chunk->chunk.file;
    Str bytes = buffer_str(&chunk->chunk.bytes);
    size_t header = chunk->chunk.first ? plan->header.size : 0;
    AvroReader reader = {.at = bytes.data + (header < bytes.size ? header : bytes.size),
                         .end = bytes.data + bytes.size};
    worker->batch = NULL;
    while (reader.at < reader.end) {
        AvroBlock block = {0};
        if (!avro_next_block(&reader, &plan->header, &block) ||
            !read_block(worker, chunk, plan, &block, &reader)) {
            chunk->error = in_file(error_new(ERROR_MALFORMED_RECORD, "%s", reader.problem), table,
                                   chunk->chunk.file);
            return;
        }
    }
}

const LineFormat avro_blocks = {
    .records_end = avro_blocks_end,
    .prepare = avro_prepare,
    .open = avro_open,
    .work = avro_work,
    .close = avro_close,
};
