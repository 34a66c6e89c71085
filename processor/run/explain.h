/* What `tidemark explain` says of a flow. */
#ifndef RUN_EXPLAIN_H
#define RUN_EXPLAIN_H

#include "processor/run/program.h"

/* Appends lines: keys, columns, the streams and static relations it reads, topics, what it
 * remembers with what bounds that, expectations, the plan. */
void explain_flow(const Program *program, const ProgramTable *table, Arena *arena, Buffer *out);

#endif
