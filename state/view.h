/* A state as seen from outside: for `tidemark state`, also while a service has it open. Takes no
 * lock, writes nothing; sees the last checkpoint before it was opened and does not move on. */
#ifndef STATE_VIEW_H
#define STATE_VIEW_H

#include "state/state.h"

/* *ret_state NULL: there is no state in the directory yet. STATE_FORMAT as for state_open; close it
 * with state_close. What it gives may be read only. */
NODISCARD Error *state_view_open(const char *dir, const char *pipeline, State **ret_state);
/* *ret_store NULL: the table has none yet. */
NODISCARD Error *state_view_table(State *state, Str table, TableStore **ret_store);
/* The process that has the state open, 0: none that can be seen from here. */
int64_t state_view_owner(const char *dir);

/* The rows of one key, the last row first. */
StoreScan *table_store_scan_key(TableStore *store, uint32_t shard, Str key);

#endif
