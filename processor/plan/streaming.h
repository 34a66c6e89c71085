/* What the files about streaming plans share. */
#ifndef PLAN_STREAMING_H
#define PLAN_STREAMING_H

#include "processor/plan/plan_internal.h"

/* The WATERMARK node whose event time a column of the node's output is; NULL: of none, or of two.
 */
LogicalNode *stream_watermark_of(LogicalNode *node, uint32_t column);

/* A join of two streams: finds what bounds its state, and marks the watermarks it forgets by.
 * TIME_RANGE_REQUIRED where an outer join is not bounded (RU-31). */
NODISCARD Error *stream_join_bounds(Arena *arena, LogicalNode *join);
/* Once watermarks are numbered. */
void stream_join_number_watermarks(Arena *arena, LogicalNode *join);

#endif
