/* States of a flow's operators as tables. */
#include "processor/run/flow_states.h"

#include "processor/base/fault.h"
#include "processor/base/memory.h"
#include "processor/run/table_definition.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

typedef struct FlowState {
    const StateSpec *spec;
    const ProgramTable *program;
    Table *table;
    const Epoch *closed;
} FlowState;

struct FlowStates {
    FlowState *states;
    size_t count;
};

/* ------------------------------------------------------------------------------- opening ---- */

Error *flow_states_partitions(Log *log, const ProgramTable *program, int timeout_ms,
                              int *ret_partitions)
{
    for (size_t i = 0; i < program->state_count; i++) {
        LogTopicDescription description = {0};
        TRY(log_topic_describe(log, program->states[i].topic, timeout_ms, &description));
        ret_partitions[i] = description.partition_count;
    }
    return NULL;
}

static const ProgressDefinition *stored_definition(const ProgressState *states, size_t count,
                                                   Str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(states[i].name, name)) {
            return &states[i].definition;
        }
    }
    return NULL;
}

static bool same_keys(const ProgressDefinition *a, const ProgressDefinition *b)
{
    bool same = a->key_count == b->key_count && str_equal(a->sequence, b->sequence);
    for (size_t i = 0; same && i < a->key_count; i++) {
        same = str_equal(a->keys[i], b->keys[i]);
    }
    return same;
}

/* What was remembered in another shape means something else. */
static Error *check_shape(const ProgramTable *flow, const StateSpec *spec,
                          const ProgramTable *state, const ProgressDefinition *stored, Arena *arena)
{
    ProgressDefinition now = definition_fresh(state, NULL, 0, arena);
    if (stored->schema_count == 1 && str_equal(stored->schemas[0], now.schemas[0]) &&
        same_keys(stored, &now)) {
        return NULL;
    }
    Error *error =
        error_at(ERROR_FULL_REFRESH_REQUIRED, spec->place,
                 "The query of flow `%.*s` changed: what its operator %.*s remembers of the rows "
                 "before does not fit the new one.",
                 STR_ARG(flow->flow->name), STR_ARG(spec->name));
    return error_set_hint(error, "a full refresh builds the table anew, or restore the old query");
}

Error *flow_states_check(const ProgramTable *program, const ProgressState *stored, size_t count,
                         Arena *arena)
{
    for (size_t i = 0; i < program->state_count; i++) {
        const StateSpec *spec = &program->plan->states[i];
        const ProgressDefinition *definition = stored_definition(stored, count, spec->name);
        if (definition != NULL) {
            TRY(check_shape(program, spec, &program->states[i], definition, arena));
        }
    }
    return NULL;
}

static Error *topic_is_foreign(const FlowState *state)
{
    Error *error = error_new(ERROR_KAFKA_TOPIC_MISMATCH,
                             "Topic `%s` has records, but the pipeline knows nothing of them.",
                             state->program->topic);
    return error_set_hint(error, "it is the memory of a flow's operator: delete the topic");
}

static Error *open_state(const FlowStatesOptions *options, const Progress *progress,
                         FlowState *state)
{
    const ProgressDefinition *stored =
        stored_definition(progress->states, progress->state_count, state->spec->name);
    if (stored != NULL) {
        TRY(check_shape(options->program, state->spec, state->program, stored, options->arena));
    }
    LogTopicDescription description = {0};
    TRY(log_topic_describe(options->log, state->program->topic, options->timeout_ms, &description));
    TableOptions table = {.program = state->program,
                          .time_zone = options->time_zone,
                          .partitions = description.partition_count,
                          .state = options->state,
                          .key_memory = options->key_memory,
                          .epoch_memory = options->epoch_memory,
                          .batch_rows = options->batch_rows,
                          .arena = options->arena};
    TRY(table_open(&table, stored, &state->table));
    TRY(table_restore(state->table, options->log, options->timeout_ms, options->now_us, NULL,
                      NULL));
    for (int p = 0; stored == NULL && p < description.partition_count; p++) {
        if (table_ends(state->table)[p] > 0) {
            return topic_is_foreign(state);
        }
    }
    return NULL;
}

static FlowStates *new_states(const ProgramTable *program)
{
    FlowStates *states = mem_new(FlowStates);
    states->count = program->state_count;
    states->states = mem_alloc_array(states->count, sizeof *states->states);
    for (size_t i = 0; i < states->count; i++) {
        states->states[i] =
            (FlowState){.spec = &program->plan->states[i], .program = &program->states[i]};
    }
    return states;
}

Error *flow_states_open(const FlowStatesOptions *options, const Progress *progress,
                        FlowWriter *writer, FlowStates **ret_states)
{
    FlowStates *states = new_states(options->program);
    for (size_t i = 0; i < states->count; i++) {
        Error *error = open_state(options, progress, &states->states[i]);
        if (error != NULL) {
            flow_states_close(states);
            return error;
        }
        flow_writer_set_ends(writer, i + 1, table_ends(states->states[i].table));
    }
    *ret_states = states;
    return NULL;
}

void flow_states_close(FlowStates *states)
{
    if (states == NULL) {
        return;
    }
    for (size_t i = 0; i < states->count; i++) {
        table_close(states->states[i].table);
    }
    mem_free(states->states);
    mem_free(states);
}

size_t flow_states_count(const FlowStates *states)
{
    return states == NULL ? 0 : states->count;
}

Overlay *flow_states_overlay(const FlowStates *states, size_t number)
{
    return table_overlay(states->states[number].table);
}

OperatorState *flow_states_operators(const FlowStates *states, Arena *arena)
{
    size_t count = flow_states_count(states);
    OperatorState *operators = arena_new_array(arena, OperatorState, count);
    for (size_t i = 0; i < count; i++) {
        const FlowState *state = &states->states[i];
        operators[i] = (OperatorState){.spec = state->spec,
                                       .history = table_history(state->table),
                                       .overlay = table_overlay(state->table)};
    }
    return operators;
}

bool flow_states_are_new(const FlowStates *states)
{
    bool any = false;
    for (size_t i = 0; i < flow_states_count(states); i++) {
        bool changed = false;
        (void)table_definition(states->states[i].table, &changed);
        any = any || changed;
    }
    return any;
}

Error *flow_states_write_definitions(const FlowStates *states, FlowWriter *writer)
{
    for (size_t i = 0; i < flow_states_count(states); i++) {
        bool changed = false;
        const ProgressDefinition *definition = table_definition(states->states[i].table, &changed);
        if (changed) {
            TRY(flow_writer_write_state(writer, states->states[i].spec->name, definition));
        }
    }
    return NULL;
}

/* -------------------------------------------------------------------------------- epochs ---- */

void flow_states_close_epoch(FlowStates *states)
{
    for (size_t i = 0; i < flow_states_count(states); i++) {
        FlowState *state = &states->states[i];
        state->closed = overlay_close_epoch(table_overlay(state->table));
    }
}

Error *flow_states_write_delta(const FlowStates *states, FlowWriter *writer)
{
    for (size_t i = 0; i < flow_states_count(states); i++) {
        const FlowState *state = &states->states[i];
        TRY(flow_writer_write_delta(writer, i + 1, state->table, state->closed, NULL));
    }
    return NULL;
}

void flow_states_commit(FlowStates *states, const FlowWriter *writer)
{
    for (size_t i = 0; i < flow_states_count(states); i++) {
        overlay_commit(table_overlay(states->states[i].table), flow_writer_ends(writer, i + 1));
        states->states[i].closed = NULL;
    }
}

void flow_states_abort(FlowStates *states)
{
    for (size_t i = 0; i < flow_states_count(states); i++) {
        overlay_abort(table_overlay(states->states[i].table));
        states->states[i].closed = NULL;
    }
}

/* -------------------------------------------------------------------------- full refresh ---- */

/* Where the records of now end, in every partition of the topic. */
static Error *find_range(const FlowStatesOptions *options, const char *topic, int partitions,
                         int64_t *starts, int64_t *ends)
{
    for (int p = 0; p < partitions; p++) {
        TRY(log_watermarks(options->log, topic, p, READ_COMMITTED, options->timeout_ms, &starts[p],
                           &ends[p]));
    }
    return NULL;
}

/* Removes the records of one poll; those that were removed already are tombstones themselves. */
static Error *remove_records(FlowWriter *writer, size_t number, const LogRecord *records,
                             size_t count, int64_t *rows)
{
    for (size_t i = 0; i < count; i++) {
        if (records[i].value.data != NULL) {
            TRY(flow_writer_remove_record(writer, number, records[i].key, records[i].partition));
            (*rows)++;
        }
    }
    return NULL;
}

static Error *remove_some(const FlowStatesOptions *options, FlowWriter *writer, size_t number,
                          TopicReader *reader, int64_t rows_max, bool *ret_done)
{
    AUTO(arena) Arena *arena = arena_new("removed");
    int64_t rows = 0;
    TRY(flow_writer_begin(writer));
    while (rows < rows_max) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(reader, options->timeout_ms, arena, &records, &count));
        if (count == 0) {
            *ret_done = true;
            break;
        }
        TRY(remove_records(writer, number, records, count, &rows));
        arena_reset(arena);
    }
    return flow_writer_commit(writer);
}

/* What a state's records say cannot be read where the query changed; their keys are enough. */
static Error *remove_state(const FlowStatesOptions *options, FlowWriter *writer, size_t number,
                           int64_t rows_max)
{
    const ProgramTable *program = &options->program->states[number - 1];
    LogTopicDescription description = {0};
    TRY(log_topic_describe(options->log, program->topic, options->timeout_ms, &description));
    int partitions = description.partition_count;
    AUTO(arena) Arena *arena = arena_new("range");
    int64_t *starts = arena_new_array(arena, int64_t, (size_t)partitions);
    int64_t *ends = arena_new_array(arena, int64_t, (size_t)partitions);
    TRY(find_range(options, program->topic, partitions, starts, ends));
    flow_writer_set_ends(writer, number, ends);
    AUTO(topic_reader) TopicReader *reader = NULL;
    TRY(topic_reader_open(options->log, program->topic, partitions, starts, ends, &reader));
    for (bool done = false; !done;) {
        TRY(remove_some(options, writer, number, reader, rows_max, &done));
        TRY(fault_check("full_refresh.mid_tombstones"));
    }
    return NULL;
}

Error *flow_states_remove(const FlowStatesOptions *options, FlowWriter *writer, int64_t rows)
{
    for (size_t i = 0; i < options->program->state_count; i++) {
        TRY(remove_state(options, writer, i + 1, rows));
    }
    return NULL;
}

Error *flow_states_write_fresh(const FlowStatesOptions *options, FlowWriter *writer)
{
    const ProgramTable *program = options->program;
    AUTO(arena) Arena *arena = arena_new("definitions");
    int *partitions = arena_new_array(arena, int, program->state_count);
    TRY(flow_states_partitions(options->log, program, options->timeout_ms, partitions));
    for (size_t i = 0; i < program->state_count; i++) {
        ProgressDefinition fresh = definition_fresh(
            &program->states[i], flow_writer_ends(writer, i + 1), (size_t)partitions[i], arena);
        TRY(flow_writer_write_state(writer, program->plan->states[i].name, &fresh));
    }
    return NULL;
}
