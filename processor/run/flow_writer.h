/* FlowWriter: the one transactional producer of a flow and the transactions it writes. Everything
 * the flow makes goes through it: table deltas, quarantine, progress, group offsets (DESIGN section
 * 4).
 *
 * A transaction is: begin, any writes, positions last, commit. After any error the transaction is
 * gone: call flow_writer_abort, which says what to do next by the error it returns. Thread: one at
 * a time, the flow's or the one its epochs are committed on. */
#ifndef RUN_FLOW_WRITER_H
#define RUN_FLOW_WRITER_H

#include "processor/run/events.h"
#include "processor/run/progress.h"
#include "processor/run/quarantine.h"
#include "processor/run/source_reader.h"
#include "processor/run/table.h"

typedef struct FlowWriter FlowWriter;

/* A table that a flow writes: its target, then the states of its operators. */
typedef struct FlowWriterTable {
    Str name;
    const char *topic;
    int partitions;
} FlowWriterTable;

typedef struct FlowWriterOptions {
    Log *log;
    const char *transactional_id;
    const char *group; /* committed offsets of the source, for lag tools */
    const char *progress_topic;
    Str flow;
    const FlowWriterTable *tables; /* copied; numbers below count them */
    size_t table_count;
    const char *instance;
    const Clock *clock;
    size_t queue_bytes_max; /* records that are not delivered yet */
    int timeout_ms;
} FlowWriterOptions;

/* Opens the producer and fences predecessors; retriable errors are retried until the time-out. */
NODISCARD Error *flow_writer_open(const FlowWriterOptions *options, FlowWriter **ret_writer);
void flow_writer_close(FlowWriter *writer);

/* Offsets behind the partitions of table `number`: set after a restore, moved on by commits. */
void flow_writer_set_ends(FlowWriter *writer, size_t number, const int64_t *ends);
const int64_t *flow_writer_ends(const FlowWriter *writer, size_t number);

NODISCARD Error *flow_writer_begin(FlowWriter *writer);
/* The changes of a closed epoch of table `number`. The target's come last: they wait for the
 * deliveries of all. Adds to upserted_rows, deleted_rows, output_bytes, which are those of the
 * target alone. A row a topic does not take is ROW_TOO_LARGE naming flow and key. */
NODISCARD Error *flow_writer_write_delta(FlowWriter *writer, size_t number, const Table *table,
                                         const Epoch *epoch, FlowMetrics *metrics);
/* Tombstones for stored rows (full refresh). */
NODISCARD Error *flow_writer_write_tombstone(FlowWriter *writer, size_t number, const Table *table,
                                             Str key, uint32_t shard, uint32_t ordinal);
/* A tombstone for a record of table `number` that is given by its message key. */
NODISCARD Error *flow_writer_remove_record(FlowWriter *writer, size_t number, Str message_key,
                                           int32_t partition);
NODISCARD Error *flow_writer_write_quarantine(FlowWriter *writer, const Quarantine *quarantine);
/* Waits for all deliveries, then writes the position of every partition of the source that moved,
 * all with the target's ends known from the deliveries. */
NODISCARD Error *flow_writer_write_positions(FlowWriter *writer, const char *topic,
                                             const SourceProgress *moved, int64_t epoch,
                                             Str update);
NODISCARD Error *flow_writer_write_claim(FlowWriter *writer, const ProgressClaim *claim);
NODISCARD Error *flow_writer_write_definition(FlowWriter *writer,
                                              const ProgressDefinition *definition);
/* Of the state of an operator. */
NODISCARD Error *flow_writer_write_state(FlowWriter *writer, Str state,
                                         const ProgressDefinition *definition);
NODISCARD Error *flow_writer_write_resetting(FlowWriter *writer, bool resetting, Str update);
/* NULL: committed; flow_writer_ends tell how far the tables' partitions reach. */
NODISCARD Error *flow_writer_commit(FlowWriter *writer);
/* Ends the transaction after an error. An error of its own is fatal: the writer must be made anew.
 */
NODISCARD Error *flow_writer_abort(FlowWriter *writer);

DEFINE_AUTO(flow_writer, FlowWriter, flow_writer_close)

#endif
