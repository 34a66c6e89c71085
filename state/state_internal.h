/* What state.c and store.c share. */
#ifndef STATE_STATE_INTERNAL_H
#define STATE_STATE_INTERNAL_H

#include "state/rocks.h"
#include "state/state.h"

struct TableStore {
    State *state;
    Rocks *rocks;
    RocksFamily *family;
    char *name;
    uint32_t shards;
    TableStore *next;
};

/* Deletes all rows and positions of the store, durably. */
NODISCARD Error *table_store_clear(TableStore *store);

#endif
