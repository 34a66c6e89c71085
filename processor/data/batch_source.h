/* A source of batches that is pulled: a file, standard input, a topic's retained records. Who reads
 * it does not know what lies behind. */
#ifndef DATA_BATCH_SOURCE_H
#define DATA_BATCH_SOURCE_H

#include "processor/data/batch.h"

typedef struct BatchSource BatchSource;

struct BatchSource {
    /* The next batch, NULL at the end. It and its bytes live in `arena`, or in the source until the
     * next call when `arena` is NULL. A row that cannot be decoded is the source's error. */
    NODISCARD Error *(*next)(BatchSource *source, Arena *arena, Batch **ret_batch);
    /* Estimated rows in all; -1: unknown. For choosing a join's build side. */
    int64_t estimated_rows;
    void (*close)(BatchSource *source); /* frees the source itself */
};

#endif
