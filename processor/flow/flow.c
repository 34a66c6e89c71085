/* Dispatch to the kinds of flow. */
#include "processor/flow/flow.h"

#include "processor/flow/flow_internal.h"

#include "processor/base/banned.h"

Error *flow_open(const FlowOptions *options, Flow **ret_flow)
{
    if (options->bound->kind == FLOW_REPLACE_USING) {
        return replace_using_open(options, ret_flow);
    }
    return error_at(ERROR_NOT_YET, options->bound->place, "%s flows are not supported yet.",
                    flow_kind_name(options->bound->kind));
}

void flow_close(Flow *flow)
{
    if (flow != NULL) {
        flow->ops->close(flow);
    }
}

Error *flow_apply(Flow *flow, const Batch *batch, Arena *batch_arena)
{
    return flow->ops->apply(flow, batch, batch_arena);
}

const FlowCounters *flow_counters(const Flow *flow)
{
    return &flow->counters;
}

void flow_clear_counters(Flow *flow)
{
    flow->counters = (FlowCounters){0};
}
