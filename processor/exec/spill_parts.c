/* Rows spilled by hash. The lower bits choose the file: a GroupTable uses the upper ones. */
#include "processor/exec/spill_parts.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

static unsigned part_of(const SpillParts *parts, uint64_t hash)
{
    return (unsigned)(hash >> (parts->level * PART_BITS)) & (PART_COUNT - 1);
}

/* A batch over the columns, which are copied since a batch may change its vectors. */
static Batch batch_over(const Schema *schema, const Vector *const *columns, Vector *copies,
                        Vector **pointers)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        copies[i] = *columns[i];
        pointers[i] = &copies[i];
    }
    return (Batch){.schema = schema,
                   .row_count = schema->field_count == 0 ? 0 : columns[0]->length,
                   .columns = pointers};
}

static Error *write_part(SpillParts *parts, unsigned part, const QueryMemory *memory,
                         const Schema *schema, Batch *batch)
{
    if (parts->files[part] == NULL) {
        TRY(spill_open(memory, schema, &parts->files[part]));
    }
    return spill_write(parts->files[part], batch);
}

static Error *write_all(SpillParts *parts, const QueryMemory *memory, const Schema *schema,
                        Batch *batch, Rows rows, const uint64_t *hashes)
{
    uint16_t selection[BATCH_ROWS];
    Error *error = NULL;
    batch->selection = selection;
    for (unsigned part = 0; part < PART_COUNT && error == NULL; part++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < rows.count; i++) {
            uint32_t row = rows_at(rows, i);
            selection[count] = (uint16_t)row;
            count += part_of(parts, hashes[row]) == part;
        }
        if (count > 0) {
            batch->selected_count = count;
            error = write_part(parts, part, memory, schema, batch);
        }
    }
    batch->selection = NULL;
    return error;
}

Error *spill_parts_write(SpillParts *parts, const QueryMemory *memory, const Schema *schema,
                         const Vector *const *columns, Rows rows, const uint64_t *hashes)
{
    Vector *copies = mem_alloc_array(schema->field_count, sizeof(Vector));
    Vector **pointers = mem_alloc_array(schema->field_count, sizeof(Vector *));
    Batch batch = batch_over(schema, columns, copies, pointers);
    Error *error = write_all(parts, memory, schema, &batch, rows, hashes);
    mem_free(pointers);
    mem_free(copies);
    return error;
}

Error *spill_parts_take(SpillParts *parts, unsigned part, SpillFile **ret_file)
{
    *ret_file = NULL;
    if (parts->files[part] == NULL) {
        return NULL;
    }
    TRY(spill_rewind(parts->files[part]));
    *ret_file = parts->files[part];
    parts->files[part] = NULL;
    return NULL;
}

bool spill_parts_any(const SpillParts *parts)
{
    for (unsigned part = 0; part < PART_COUNT; part++) {
        if (parts->files[part] != NULL) {
            return true;
        }
    }
    return false;
}

void spill_parts_done(SpillParts *parts)
{
    for (unsigned part = 0; part < PART_COUNT; part++) {
        if (parts->files[part] != NULL) {
            spill_close(parts->files[part]);
            parts->files[part] = NULL;
        }
    }
}
