/* Walking an epoch's changes as rows. */
#include "processor/flow/table_delta.h"

#include "processor/base/banned.h"

TableDelta table_delta_of(const Overlay *overlay)
{
    TableDelta delta = {0};
    delta.changes = overlay_changes(overlay, &delta.change_count);
    return delta;
}

bool table_delta_next(TableDelta *delta, DeltaRow *ret_row)
{
    for (; delta->change < delta->change_count; delta->change++, delta->row = 0) {
        const KeyEntry *entry = delta->changes[delta->change];
        uint32_t row = delta->row;
        uint32_t gone = entry->published > entry->count ? entry->published - entry->count : 0;
        if (row >= entry->row_count + gone) {
            continue;
        }
        bool upsert = row < entry->row_count;
        *ret_row = (DeltaRow){
            .key = entry->key,
            .shard = entry->shard,
            .ordinal = upsert ? entry->kept + row : entry->count + (row - entry->row_count),
            .row = upsert ? entry->rows[row] : STR_NULL,
        };
        delta->row++;
        return true;
    }
    return false;
}
