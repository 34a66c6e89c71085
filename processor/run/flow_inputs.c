/* The streams of a flow, read in turn. */
#include "processor/run/flow_inputs.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

struct FlowInputs {
    FlowInput *inputs;
    size_t count;
    size_t next; /* whose turn it is */
};

FlowInputs *flow_inputs_new(const ProgramTable *table)
{
    FlowInputs *inputs = mem_new(FlowInputs);
    inputs->count = table->input_count;
    inputs->inputs = mem_alloc_array(inputs->count, sizeof *inputs->inputs);
    for (size_t i = 0; i < inputs->count; i++) {
        FlowInput *input = &inputs->inputs[i];
        input->program = &table->inputs[i];
        input->decoders = mem_alloc_array(input->program->scan_count, sizeof(Decoder *));
    }
    return inputs;
}

void flow_inputs_free(FlowInputs *inputs)
{
    if (inputs == NULL) {
        return;
    }
    for (size_t i = 0; i < inputs->count; i++) {
        FlowInput *input = &inputs->inputs[i];
        for (size_t k = 0; k < input->program->scan_count; k++) {
            decoder_close(input->decoders[k]);
        }
        mem_free(input->decoders);
        source_reader_close(input->reader);
        source_progress_done(&input->moved);
        mem_free(input->empty);
    }
    mem_free(inputs->inputs);
    mem_free(inputs);
}

size_t flow_inputs_count(const FlowInputs *inputs)
{
    return inputs->count;
}

FlowInput *flow_inputs_at(FlowInputs *inputs, size_t number)
{
    return &inputs->inputs[number];
}

/* A partition without a record so far is one whose log begins where it ends: nothing was handed out
 * of it and nothing waits. */
static void note_empty_partitions(FlowInput *input)
{
    size_t count = (size_t)source_reader_partitions(input->reader);
    if (count > input->partition_count) {
        input->empty = mem_realloc(input->empty, count * sizeof(bool));
        input->partition_count = count;
    }
    for (size_t p = 0; p < count; p++) {
        const SourcePartition *partition = source_reader_partition(input->reader, (int)p);
        int64_t end = partition->end >= 0 ? partition->end : partition->seen_end;
        input->empty[p] = partition->last.offset < 0 && end >= 0 && partition->next >= end;
    }
}

void flow_input_set_reader(FlowInput *input, SourceReader *reader)
{
    if (input->reader != NULL) {
        source_reader_take_bounds(reader, input->reader);
        source_reader_close(input->reader);
    }
    input->reader = reader;
    note_empty_partitions(input);
}

Error *flow_inputs_open_decoders(FlowInputs *inputs, const LogicalPlan *plan,
                                 const TimeZone *time_zone)
{
    for (size_t i = 0; i < inputs->count; i++) {
        FlowInput *input = &inputs->inputs[i];
        DecoderOptions options = {.kind = FORMAT_JSON,
                                  .time_zone = time_zone,
                                  .coerce = input->program->source->config->coerce};
        for (size_t k = 0; k < input->program->scan_count; k++) {
            if (input->decoders[k] == NULL) {
                TRY(decoder_open(&options, plan->sources[input->program->scans[k]].schema,
                                 &input->decoders[k]));
            }
        }
    }
    return NULL;
}

Error *flow_inputs_refresh(FlowInputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        bool added = false;
        TRY(source_reader_refresh(inputs->inputs[i].reader, &added));
    }
    return NULL;
}

Error *flow_inputs_set_bounds(FlowInputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        TRY(source_reader_set_bounds(inputs->inputs[i].reader));
        note_empty_partitions(&inputs->inputs[i]);
    }
    return NULL;
}

void flow_inputs_clear_bounds(FlowInputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        if (inputs->inputs[i].reader != NULL) {
            source_reader_clear_bounds(inputs->inputs[i].reader);
        }
    }
}

bool flow_inputs_are_drained(const FlowInputs *inputs)
{
    bool drained = true;
    for (size_t i = 0; i < inputs->count; i++) {
        drained = drained && source_reader_is_drained(inputs->inputs[i].reader);
    }
    return drained;
}

bool flow_inputs_are_caught_up(const FlowInputs *inputs)
{
    bool caught_up = true;
    for (size_t i = 0; i < inputs->count; i++) {
        caught_up = caught_up && source_reader_is_caught_up(inputs->inputs[i].reader);
    }
    return caught_up;
}

bool flow_inputs_moved(const FlowInputs *inputs)
{
    bool moved = false;
    for (size_t i = 0; i < inputs->count; i++) {
        const SourceReader *reader = inputs->inputs[i].reader;
        moved = moved || (reader != NULL && source_reader_moved(reader));
    }
    return moved;
}

void flow_inputs_close_epoch(FlowInputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        source_reader_close_epoch(inputs->inputs[i].reader, &inputs->inputs[i].moved);
    }
}

void flow_inputs_commit(FlowInputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        source_reader_commit(inputs->inputs[i].reader, &inputs->inputs[i].moved);
    }
}

Error *flow_inputs_rewind(FlowInputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        if (inputs->inputs[i].reader != NULL) {
            TRY(source_reader_rewind(inputs->inputs[i].reader));
        }
    }
    return NULL;
}

Error *flow_inputs_reset(FlowInputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        TRY(source_reader_reset(inputs->inputs[i].reader));
    }
    return NULL;
}

uint64_t flow_inputs_backlog(const FlowInputs *inputs)
{
    uint64_t backlog = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        backlog += source_reader_backlog(inputs->inputs[i].reader);
    }
    return backlog;
}

/* One that is done with a bounded update has nothing to wait for. */
static bool is_done(const FlowInput *input)
{
    return source_reader_is_drained(input->reader);
}

static Error *read_one(FlowInputs *inputs, size_t number, int timeout_ms, size_t records_max,
                       Arena *arena, const LogRecord **ret_records, size_t *ret_count)
{
    FlowInput *input = &inputs->inputs[number];
    inputs->next = (number + 1) % inputs->count;
    TRY(source_reader_next(input->reader, timeout_ms, records_max, arena, ret_records, ret_count));
    note_empty_partitions(input);
    return NULL;
}

/* Each has its turn; only when none has anything at hand is one waited for, for its share of the
 * time. */
Error *flow_inputs_next(FlowInputs *inputs, int timeout_ms, size_t records_max, Arena *arena,
                        FlowInput **ret_input, const LogRecord **ret_records, size_t *ret_count)
{
    *ret_count = 0;
    int share_ms = inputs->count == 1 ? timeout_ms : timeout_ms / (int)inputs->count;
    for (size_t round = inputs->count == 1 ? 1 : 0; round < 2; round++) {
        for (size_t i = 0; i < inputs->count && *ret_count == 0; i++) {
            size_t number = inputs->next;
            *ret_input = &inputs->inputs[number];
            if (inputs->count > 1 && is_done(*ret_input)) {
                inputs->next = (number + 1) % inputs->count;
                continue;
            }
            TRY(read_one(inputs, number, round == 0 ? 0 : share_ms, records_max, arena, ret_records,
                         ret_count));
        }
    }
    return NULL;
}
