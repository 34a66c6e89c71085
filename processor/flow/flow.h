/* Flow: the only thing that changes a table. A batch of target rows goes in; the change of the
 * table gathers in the table's overlay until the epoch ends, and leaves it as a table delta.
 * Thread: the flow's. */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include "processor/bind/bound.h"
#include "processor/data/batch.h"
#include "processor/data/row_encoding.h"
#include "state/overlay.h"

typedef struct Flow Flow;

/* What became of the rows since the last flow_clear_counters. */
typedef struct FlowCounters {
    uint64_t applied;        /* rows that replaced or joined a row set */
    uint64_t late;           /* rows with a sequence below the table's: ignored (RU-3) */
    uint64_t null_sequences; /* rows without a sequence (RU-16) */
} FlowCounters;

typedef struct FlowOptions {
    const BoundFlow *bound;
    const Schema *schema;         /* the table's: of every batch applied */
    const SchemaHistory *history; /* its newest version is `schema` */
    Overlay *overlay;
} FlowOptions;

/* NOT_YET for kinds of flow that are not built. Everything in `options` must outlive the flow. */
NODISCARD Error *flow_open(const FlowOptions *options, Flow **ret_flow);
void flow_close(Flow *flow);
/* Applies the selected rows of the batch, in their order. */
NODISCARD Error *flow_apply(Flow *flow, const Batch *batch, Arena *batch_arena);
const FlowCounters *flow_counters(const Flow *flow);
void flow_clear_counters(Flow *flow);

DEFINE_AUTO(flow, Flow, flow_close)

#endif
