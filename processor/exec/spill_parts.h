/* Rows spilled to PART_COUNT files by their hash, so that equal keys lie in one file, in the order
 * they came. At every level other bits of the hash are used. */
#ifndef EXEC_SPILL_PARTS_H
#define EXEC_SPILL_PARTS_H

#include "processor/exec/kernel.h"
#include "processor/exec/spill.h"

enum {
    PART_BITS = 4,
    PART_COUNT = 1 << PART_BITS,
    PART_LEVELS = 6, /* beyond that nothing is spilled any more */
};

typedef struct SpillParts {
    SpillFile *files[PART_COUNT]; /* NULL: no row yet */
    unsigned level;
} SpillParts;

/* Writes the rows asked for (columns of the schema) each to its file; `hashes` by row. */
NODISCARD Error *spill_parts_write(SpillParts *parts, const QueryMemory *memory,
                                   const Schema *schema, const Vector *const *columns, Rows rows,
                                   const uint64_t *hashes);
/* Takes file number `part` out, ready to be read; NULL: there is none. The caller closes it. */
NODISCARD Error *spill_parts_take(SpillParts *parts, unsigned part, SpillFile **ret_file);
bool spill_parts_any(const SpillParts *parts);
void spill_parts_done(SpillParts *parts);

#endif
