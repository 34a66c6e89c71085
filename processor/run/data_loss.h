/* What a full refresh loses: records that a flow has read and its source no longer holds, so that
 * the rows made from them cannot be made again (ST-56, decisions "Full refresh"). */
#ifndef RUN_DATA_LOSS_H
#define RUN_DATA_LOSS_H

#include "connectors/log.h"
#include "processor/run/program.h"

typedef struct DataLoss {
    const char *topic;
    int64_t records; /* offsets, which may have gaps: at most so many */
} DataLoss;

/* Adds what is gone of the partition, which was read from `begin` up to `position`. */
NODISCARD Error *data_loss_add(DataLoss *loss, Log *log, int partition, int64_t begin,
                               int64_t position, int timeout_ms);
/* "Full refresh of `t`: …" */
void data_loss_format(const DataLoss *loss, Str table, Buffer *out);

/* One a topic that the table's flow has read and that lost something, by the flow's positions. */
NODISCARD Error *data_losses_of(Log *log, const Program *program, const ProgramTable *table,
                                int timeout_ms, Arena *arena, DataLoss **ret_losses,
                                size_t *ret_count);

#endif
