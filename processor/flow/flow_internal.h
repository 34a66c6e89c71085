/* What the kinds of flow implement. */
#ifndef FLOW_FLOW_INTERNAL_H
#define FLOW_FLOW_INTERNAL_H

#include "processor/flow/flow.h"

typedef struct FlowOps {
    Error *(*apply)(Flow *flow, const Batch *batch, Arena *batch_arena);
    void (*close)(Flow *flow);
} FlowOps;

/* First member of every kind's own struct. */
struct Flow {
    const FlowOps *ops;
    FlowCounters counters;
};

/* replace_using.c */
NODISCARD Error *replace_using_open(const FlowOptions *options, Flow **ret_flow);

#endif
