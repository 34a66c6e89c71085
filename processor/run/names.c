/* Names the pipeline gives. */
#include "processor/run/names.h"

#include "processor/base/banned.h"

const char *name_progress_topic(Arena *arena, Str pipeline)
{
    return arena_printf(arena, "%.*s.progress", STR_ARG(pipeline));
}

const char *name_event_log_topic(Arena *arena, Str pipeline)
{
    return arena_printf(arena, "%.*s.event_log", STR_ARG(pipeline));
}

const char *name_quarantine_topic(Arena *arena, Str pipeline)
{
    return arena_printf(arena, "%.*s.quarantine", STR_ARG(pipeline));
}

const char *name_flow_id(Arena *arena, Str pipeline, Str flow)
{
    return arena_printf(arena, "%.*s.%.*s", STR_ARG(pipeline), STR_ARG(flow));
}

const char *name_state_topic(Arena *arena, Str pipeline, Str flow, Str operator_name)
{
    return arena_printf(arena, "%.*s.%.*s.%.*s", STR_ARG(pipeline), STR_ARG(flow),
                        STR_ARG(operator_name));
}
