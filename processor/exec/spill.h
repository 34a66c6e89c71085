/* Rows in a temporary file: written once, read once from the beginning, as batches. Blocks of rows
 * in the row encoding of data/, compressed. The file is unlinked when it is made, so a killed query
 * leaves nothing. Errors: INSUFFICIENT_DISK and what the system says, with the folder. */
#ifndef EXEC_SPILL_H
#define EXEC_SPILL_H

#include "processor/exec/query.h"

typedef struct SpillFile SpillFile;

NODISCARD Error *spill_open(const QueryMemory *memory, const Schema *schema, SpillFile **ret_file);
void spill_close(SpillFile *file);
/* Appends the selected rows. */
NODISCARD Error *spill_write(SpillFile *file, const Batch *batch);
uint64_t spill_rows(const SpillFile *file);
/* Writing ends; reading starts at the first row. */
NODISCARD Error *spill_rewind(SpillFile *file);
/* The next batch in `arena`, NULL at the end. */
NODISCARD Error *spill_read(SpillFile *file, Arena *arena, Batch **ret_batch);

/* What an operator holds against the query's bound. */
bool memory_exceeded(const QueryMemory *memory);
/* The operator now holds `bytes` (before: *held): keeps QueryMemory.used_bytes right. */
void memory_hold(QueryMemory *memory, size_t *held, size_t bytes);
/* What an operator holds and cannot put into files may be more than the bound, but not without end:
 * INSUFFICIENT_MEMORY where `held` is more than twice the bound and more than 256 MiB. `what`: the
 * rows that must be in memory, `hint`: how to need fewer. */
NODISCARD Error *memory_check(const QueryMemory *memory, size_t held, const char *what,
                              const char *hint, SourcePlace place);

DEFINE_AUTO(spill, SpillFile, spill_close)

#endif
