/* What the operators of a streaming query share with who runs it.
 *
 * A streaming query gets batch after batch and has no end. What an operator must remember between
 * them lies in its states: tables of the pipeline like those that flows write (plan: StateSpec). A
 * change goes into the running epoch of the state's overlay, so it is published, committed and
 * undone with the rows that caused it. Operators hold nothing else that an abort would have to
 * undo, but for what is marked below: after one the query is closed and opened again. */
#ifndef EXEC_STREAM_H
#define EXEC_STREAM_H

#include "processor/data/row_encoding.h"
#include "processor/exec/query.h"
#include "state/overlay.h"

typedef struct OperatorState {
    const StateSpec *spec;
    const SchemaHistory *history; /* its newest version is spec->schema */
    Overlay *overlay;
} OperatorState;

/* What is known of a stream's records beside their columns. */
typedef struct StreamInput {
    const int32_t *partitions; /* of the pushed batch, a row; set before each push */
    size_t partition_count;    /* of the topic */
    const bool *empty;         /* a partition: it never had a record, so it holds up no watermark */
} StreamInput;

struct StreamContext {
    OperatorState *states; /* as plan->states */
    StreamInput *inputs;   /* as plan->sources */
    int64_t *watermarks;   /* as they are numbered in the plan, microseconds: all rows to come are
                            * at it or later; INT64_MIN: unknown. Of the operators: read again
                            * after an abort */
    uint64_t late_rows;    /* that went, since the caller looked */
};

/* No rows to come are below it on any of these. */
int64_t stream_watermark(const StreamContext *stream, const size_t *watermarks, size_t count);

#endif
