/* What a flow reads and keeps: its streams, its static relations, the states of its operators. A
 * state is a table like those that flows write, so it is stored, published and restored like one:
 * here it gets what makes a table. */
#include "connectors/format/format.h"
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

/* Its topic is named after the flow, which is named after its table. */
static Error *check_topic_name(const ProgramTable *owner, const ProgramTable *state)
{
    if (topology_is_topic_name(str_from(state->topic))) {
        return NULL;
    }
    return error_set_hint(error_at(ERROR_CONFIG_INVALID_VALUE, owner->flow->place,
                                   "`%s` cannot be the name of a topic: flow `%.*s` would keep "
                                   "what `%.*s` remembers there.",
                                   state->topic, STR_ARG(owner->flow->name),
                                   STR_ARG(state->flow->text)),
                          "give the table another name, and it its topic with tables: {…: {topic: "
                          "…}}; at most 249 of the characters A-Z a-z 0-9 _ . -");
}

static Error *cannot_store(const ProgramTable *owner, const StateSpec *spec, size_t column)
{
    AUTO_BUFFER Buffer type = {0};
    Str label = spec->labels == NULL ? spec->schema->fields[column].name : spec->labels[column];
    type_format(spec->schema->fields[column].type, &type);
    return error_at(ERROR_NOT_YET, spec->place,
                    "Flow `%.*s` would keep `%.*s` of type %s in the state of `%.*s`, and values "
                    "of this type cannot be stored there yet.",
                    STR_ARG(owner->flow->name), STR_ARG(label), buffer_cstr(&type),
                    STR_ARG(spec->operator_name));
}

/* The format of a state's topic cannot hold every type. */
static Error *check_format(const Program *program, const ProgramTable *owner, const StateSpec *spec)
{
    DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = program->time_zone};
    for (size_t i = 0; i < spec->schema->field_count; i++) {
        const Schema one = {.fields = &spec->schema->fields[i], .field_count = 1};
        Decoder *decoder = NULL;
        Error *error = decoder_open(&options, &one, &decoder);
        decoder_close(decoder);
        if (error != NULL) {
            error_free(error);
            return cannot_store(owner, spec, i);
        }
    }
    return NULL;
}

static Error *load_states(const Program *program, Arena *arena, ProgramTable *table)
{
    const LogicalPlan *plan = table->plan;
    table->states = arena_new_array(arena, ProgramTable, plan->state_count);
    table->state_count = plan->state_count;
    for (size_t i = 0; i < plan->state_count; i++) {
        load_state(program, arena, table, &plan->states[i], &table->states[i]);
        TRY(check_topic_name(table, &table->states[i]));
        TRY(check_format(program, table, &plan->states[i]));
    }
    return NULL;
}

Error *program_load_flow(const Program *program, Arena *arena, ProgramTable *table)
{
    TRY(load_sources(program, arena, table));
    if (table->input_count == 0) {
        return reads_nothing(table->flow);
    }
    return load_states(program, arena, table);
}

/* Who else has the topic; NULL: nobody. Names that differ in `.` and `_` are the same to Kafka. */
static const char *find_owner(const Program *program, const ProgramTable *state)
{
    Str topic = str_from(state->topic);
    for (size_t i = 0; i < program->source_count; i++) {
        const char *other = program->sources[i].topic;
        if (other != NULL && topology_same_topic(topic, str_from(other))) {
            return "a source";
        }
    }
    for (size_t i = 0; i < program->table_count; i++) {
        const ProgramTable *table = &program->tables[i];
        if (table->topic != NULL && topology_same_topic(topic, str_from(table->topic))) {
            return "a table";
        }
        for (size_t k = 0; k < table->state_count; k++) {
            const ProgramTable *other = &table->states[k];
            if (other != state && other->topic != NULL &&
                topology_same_topic(topic, str_from(other->topic))) {
                return "another flow's state";
            }
        }
    }
    return NULL;
}

Error *program_check_states(const Program *program, const ProgramTable *table)
{
    for (size_t i = 0; i < table->state_count; i++) {
        const ProgramTable *state = &table->states[i];
        const char *other = find_owner(program, state);
        if (other != NULL) {
            return error_set_hint(
                error_at(ERROR_CONFIG_INVALID_VALUE, table->flow->place,
                         "Flow `%.*s` would keep what `%.*s` remembers in topic `%s`, which is "
                         "that of %s.",
                         STR_ARG(table->flow->name), STR_ARG(state->flow->text), state->topic,
                         other),
                "give the table another name, or the other one another topic; Kafka holds names "
                "that differ only in `.` and `_` for the same");
        }
    }
    return NULL;
}
