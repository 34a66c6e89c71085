/* Plans of streaming queries. */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

Error *plan_build_streaming(Arena *arena, const BoundNode *query, LogicalPlan **ret_plan)
{
    return build_plan(arena, query, true, ret_plan);
}
