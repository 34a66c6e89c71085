/* FlowInputs: the topics that a flow reads as streams, and what of their records becomes batches of
 * its query. One topic is read once, however many scans of the plan it feeds. Positions of all move
 * in the flow's one transaction. Thread: the flow's. */
#ifndef RUN_FLOW_INPUTS_H
#define RUN_FLOW_INPUTS_H

#include "connectors/format/format.h"
#include "processor/exec/query.h"
#include "processor/run/source_reader.h"

typedef struct FlowInputs FlowInputs;

typedef struct FlowInput {
    const ProgramInput *program;
    SourceReader *reader; /* NULL before the first start */
    Decoder **decoders;   /* one a scan */
    SourceProgress moved; /* of the epoch being closed and committed */
    bool *empty;          /* a partition: it never had a record (StreamInput) */
    size_t partition_count;
} FlowInput;

FlowInputs *flow_inputs_new(const ProgramTable *table);
void flow_inputs_free(FlowInputs *inputs);
size_t flow_inputs_count(const FlowInputs *inputs);
FlowInput *flow_inputs_at(FlowInputs *inputs, size_t number);

/* Puts a reader in the place of the one before, whose bounds it takes over. */
void flow_input_set_reader(FlowInput *input, SourceReader *reader);
/* Decoders of the columns that the plan's scans read. Once. */
NODISCARD Error *flow_inputs_open_decoders(FlowInputs *inputs, const LogicalPlan *plan,
                                           const TimeZone *time_zone);

/* All of them, as the functions of source_reader.h. */
NODISCARD Error *flow_inputs_refresh(FlowInputs *inputs);
NODISCARD Error *flow_inputs_set_bounds(FlowInputs *inputs);
void flow_inputs_clear_bounds(FlowInputs *inputs);
bool flow_inputs_are_drained(const FlowInputs *inputs);
bool flow_inputs_are_caught_up(const FlowInputs *inputs);
bool flow_inputs_moved(const FlowInputs *inputs);
void flow_inputs_close_epoch(FlowInputs *inputs);
void flow_inputs_commit(FlowInputs *inputs);
NODISCARD Error *flow_inputs_rewind(FlowInputs *inputs);
NODISCARD Error *flow_inputs_reset(FlowInputs *inputs);
uint64_t flow_inputs_backlog(const FlowInputs *inputs);
/* Records of one of them, each in its turn; *ret_input says of which. */
NODISCARD Error *flow_inputs_next(FlowInputs *inputs, int timeout_ms, size_t records_max,
                                  Arena *arena, FlowInput **ret_input,
                                  const LogRecord **ret_records, size_t *ret_count);

#endif
