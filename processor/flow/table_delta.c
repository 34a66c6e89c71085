/* Walking an epoch's changes as rows. */
#include "processor/flow/table_delta.h"

#include "processor/base/banned.h"

TableDelta table_delta_of(const Epoch *epoch)
{
    return (TableDelta){.change = epoch_first_change(epoch)};
}

bool table_delta_next(TableDelta *delta, DeltaRow *ret_row)
{
    for (; delta->change != NULL; delta->change = delta->change->next, delta->row = 0) {
        const KeyChange *change = delta->change;
        uint32_t row = delta->row;
        uint32_t gone = change->published > change->count ? change->published - change->count : 0;
        if (row >= change->row_count + gone) {
            continue;
        }
        bool upsert = row < change->row_count;
        *ret_row = (DeltaRow){
            .key = change->key,
            .message_key = change->message_key,
            .shard = change->shard,
            .ordinal = upsert ? change->kept + row : change->count + (row - change->row_count),
            .row = upsert ? change->rows[row] : STR_NULL,
        };
        delta->row++;
        return true;
    }
    return false;
}
