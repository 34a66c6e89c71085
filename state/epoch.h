/* Epoch: the changes between two commits, a list in memory of its own. Shared by the files of
 * state/ only. */
#ifndef STATE_EPOCH_H
#define STATE_EPOCH_H

#include "state/overlay.h"

/* Memory of epochs: a large epoch has one of its own, small ones that follow one another share. */
typedef struct EpochMemory {
    Arena *arena;
    unsigned users;
} EpochMemory;

struct Epoch {
    Epoch *next; /* in an EpochList */
    EpochMemory *memory;
    KeyChange *first;
    KeyChange *last;
    size_t change_count;
    size_t rows;
    size_t bytes;       /* once it is closed */
    size_t used_before; /* of its memory, by others */
    uint32_t number;    /* ascending; not the number in the progress topic */
    bool maybe_written; /* a checkpoint of it failed: the store may hold it all the same */
};

typedef struct EpochList {
    Epoch *first;
    Epoch *last;
    size_t change_count;
    size_t bytes;
} EpochList;

void epoch_list_append(EpochList *list, Epoch *epoch);
/* Puts `older` in front of `list` and empties it. */
void epoch_list_prepend(EpochList *list, EpochList *older);

/* Where memory of epochs comes from and goes back to. */
typedef struct EpochPool {
    size_t epoch_bytes; /* of an epoch, at most; 0: no bound */
    EpochMemory **spare;
    size_t spare_count;
    size_t spare_capacity;
    size_t spare_bytes;
    EpochMemory *shared; /* small epochs go on in it */
} EpochPool;

Epoch *epoch_new(EpochPool *pool, uint32_t number);
/* Epochs are counted from `written_epoch` on, which becomes 0. */
void epoch_renumber(Epoch *epoch, uint32_t written_epoch);
void epoch_free(EpochPool *pool, Epoch *epoch);
void epoch_list_free(EpochPool *pool, EpochList *list);
void epoch_pool_done(EpochPool *pool);

/* checkpoint.c: writes the epochs and the positions (a shard, -1: none) in one atomic step. */
NODISCARD Error *checkpoint_write(TableStore *store, const EpochList *epochs,
                                  const int64_t *positions, int64_t time_us);

#endif
