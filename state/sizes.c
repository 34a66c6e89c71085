/* Sizes of the state. */
#include "state/sizes.h"

#include "state/state_internal.h"

#include "processor/base/banned.h"

void state_sizes(State *state, StateSizes *ret_sizes)
{
    Rocks *rocks = state_rocks(state);
    *ret_sizes = (StateSizes){.block_cache_bytes = rocks_cache_bytes(rocks),
                              .filter_bytes = rocks_reader_bytes(rocks),
                              .write_buffers_bytes = rocks_write_buffer_bytes(rocks),
                              .run_bytes = state_run_bytes(state)};
}

void state_table_sizes(State *state, Str table, TableSizes *ret_sizes)
{
    AUTO_BUFFER Buffer name = {0};
    buffer_printf(&name, "table.%.*s", STR_ARG(table));
    *ret_sizes = (TableSizes){0};
    rocks_family_sizes(state_rocks(state), buffer_cstr(&name), &ret_sizes->file_bytes,
                       &ret_sizes->rows);
}
