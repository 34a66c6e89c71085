/* What a flow reads and keeps: its streams, its static relations, the states of its operators. A
 * state is a table like those that flows write, so it is stored, published and restored like one:
 * here it gets what makes a table. */
#include "processor/run/names.h"
#include "processor/run/program.h"

#include "processor/base/banned.h"

static Error *check_stream(const LogicalSource *source, const BoundFlow *flow)
{
    if (source->relation->kind == RELATION_STREAM) {
        return NULL;
    }
    return error_at(ERROR_NOT_YET, flow->place,
                    "Flow `%.*s` reads `%.*s` as a stream: reading another streaming table is not "
                    "supported yet.",
                    STR_ARG(flow->name), STR_ARG(source->relation->name));
}

static Error *check_static(const LogicalSource *source, const BoundFlow *flow)
{
    if (source->relation->kind == RELATION_TABLE) {
        return NULL;
    }
    const char *what = source->relation->kind == RELATION_STREAM ? "all records of the stream"
                                                                 : "the streaming table";
    return error_at(ERROR_NOT_YET, flow->place,
                    "Flow `%.*s` joins a stream with %s `%.*s`, which is not supported yet.",
                    STR_ARG(flow->name), what, STR_ARG(source->relation->name));
}

static ProgramInput *find_input(ProgramInput *inputs, size_t count, const ProgramSource *source)
{
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].source == source) {
            return &inputs[i];
        }
    }
    return NULL;
}

/* The scans of the plan that read the source. */
static void list_scans(const Program *program, const LogicalPlan *plan, Arena *arena,
                       ProgramInput *input)
{
    size_t *scans = arena_new_array(arena, size_t, plan->source_count);
    for (size_t i = 0; i < plan->source_count; i++) {
        const LogicalSource *source = &plan->sources[i];
        if (source->stream && &program->sources[source->relation->index] == input->source) {
            scans[input->scan_count++] = i;
        }
    }
    input->scans = scans;
}

static Error *load_sources(const Program *program, Arena *arena, ProgramTable *table)
{
    const LogicalPlan *plan = table->plan;
    ProgramInput *inputs = arena_new_array(arena, ProgramInput, plan->source_count);
    ProgramStatic *statics = arena_new_array(arena, ProgramStatic, plan->source_count);
    for (size_t i = 0; i < plan->source_count; i++) {
        const LogicalSource *source = &plan->sources[i];
        TRY(source->stream ? check_stream(source, table->flow) : check_static(source, table->flow));
        const ProgramSource *read = &program->sources[source->relation->index];
        if (!source->stream) {
            statics[table->static_count++] = (ProgramStatic){read, i};
        } else if (find_input(inputs, table->input_count, read) == NULL) {
            ProgramInput *input = &inputs[table->input_count++];
            input->source = read;
            list_scans(program, plan, arena, input);
        }
    }
    table->inputs = inputs;
    table->statics = statics;
    return NULL;
}

/* A plan of which nothing is left that reads a stream: WHERE false. */
static Error *reads_nothing(const BoundFlow *flow)
{
    return error_set_hint(error_at(ERROR_NOT_YET, flow->place,
                                   "Flow `%.*s` can never have a row: nothing of its query is left "
                                   "that reads a stream.",
                                   STR_ARG(flow->name)),
                          "leave the flow out");
}

static void load_state(const Program *program, Arena *arena, const ProgramTable *owner,
                       const StateSpec *spec, ProgramTable *state)
{
    BoundTable *bound = arena_new_object(arena, BoundTable);
    BoundFlow *flow = arena_new_object(arena, BoundFlow);
    const char *topic =
        name_state_topic(arena, program->topology->pipeline, owner->flow->name, spec->name);
    *bound = (BoundTable){.name = str_from(topic),
                          .schema = spec->schema,
                          .script = owner->bound->script,
                          .place = spec->place};
    *flow = (BoundFlow){.name = owner->flow->name,
                        .kind = FLOW_REPLACE_USING,
                        .keys = spec->keys,
                        .key_count = spec->key_count,
                        .sequence = spec->sequence,
                        .text = spec->name,
                        .script = owner->flow->script,
                        .place = spec->place};
    *state = (ProgramTable){.bound = bound, .topic = topic, .flow = flow};
}

Error *program_load_flow(const Program *program, Arena *arena, ProgramTable *table)
{
    TRY(load_sources(program, arena, table));
    if (table->input_count == 0) {
        return reads_nothing(table->flow);
    }
    const LogicalPlan *plan = table->plan;
    table->states = arena_new_array(arena, ProgramTable, plan->state_count);
    table->state_count = plan->state_count;
    for (size_t i = 0; i < plan->state_count; i++) {
        load_state(program, arena, table, &plan->states[i], &table->states[i]);
    }
    return NULL;
}
