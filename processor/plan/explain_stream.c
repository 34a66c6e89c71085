/* Nodes over streams as text. Each is marked with a ~, and those that remember say in which state
 * and by which time they forget:
 *
 *     ~Distinct [k, ts] STATE distinct_1 FORGETS BY ts
 *       ~Watermark ts DELAY 10 seconds STATE watermark_1, late rows go
 *         ~Scan STREAM tickets [k, ts]
 */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

typedef struct Unit {
    int64_t us;
    const char *name;
} Unit;

/* "1 day 2 hours", "10 seconds": whole units, without those that are none. */
static void format_duration(uint64_t us, Buffer *out)
{
    static const Unit units[] = {{INT64_C(86400000000), "day"}, {INT64_C(3600000000), "hour"},
                                 {60000000, "minute"},          {1000000, "second"},
                                 {1000, "millisecond"},         {1, "microsecond"}};
    const char *before = "";
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
        uint64_t count = us / (uint64_t)units[i].us;
        us %= (uint64_t)units[i].us;
        if (count > 0) {
            buffer_printf(out, "%s%llu %s%s", before, (unsigned long long)count, units[i].name,
                          count == 1 ? "" : "s");
            before = " ";
        }
    }
    buffer_append_cstr(out, before[0] == '\0' ? "0 seconds" : "");
}

static void format_state(const LogicalPlan *plan, size_t number, Buffer *out)
{
    if (number < plan->state_count) {
        buffer_printf(out, " STATE %.*s", STR_ARG(plan->states[number].name));
    }
}

void format_stream_watermark(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    Str name = node->schema->fields[node->event_time].name;
    buffer_printf(out, "Watermark %.*s DELAY ", STR_ARG(name));
    format_duration((uint64_t)node->delay_us, out);
    format_state(plan, node->state, out);
    buffer_append_cstr(out, node->drop_late ? ", late rows go" : "");
}

void format_stream_distinct(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    format_state(plan, node->state, out);
    if (node->watermark != NO_WATERMARK) {
        Str name = node->schema->fields[node->event_time].name;
        buffer_printf(out, " FORGETS BY %.*s", STR_ARG(name));
    }
}

void format_stream_limit(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    format_state(plan, node->state, out);
}

static void format_side(const char *name, const StreamJoinSide *side, const Schema *schema,
                        Buffer *out)
{
    if (!side->bounded) {
        return;
    }
    buffer_printf(out, ", %s FORGETS BY %.*s", name, STR_ARG(schema->fields[side->column].name));
    if (side->reach_us != 0) {
        bool minus = side->reach_us < 0;
        buffer_append_cstr(out, minus ? " - " : " + ");
        format_duration(minus ? 0 - (uint64_t)side->reach_us : (uint64_t)side->reach_us, out);
    }
}

void format_stream_join(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    format_state(plan, node->state, out);
    format_state(plan, node->state + 1, out);
    format_side("LEFT", &node->stream_join->left, node->child->schema, out);
    format_side("RIGHT", &node->stream_join->right, node->right->schema, out);
}
