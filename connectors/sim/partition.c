/* The log of one partition: entries in offset order, with gaps where compaction took some out.
 *
 *   offset   0      1       2        3      4       5
 *          [k=a] [k=b T1] [k=a] [commit T1] [k=c T2] |
 *                                            ^ LSO    ^ end
 *
 * A transaction's records are in the log at once, in state OPEN; its end decides their state and
 * takes an offset for the marker. The last stable offset is the first record of the oldest
 * transaction still open. */
#include "connectors/sim/broker.h"

#include <assert.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

size_t sim_partition_seek(const SimPartition *partition, int64_t offset)
{
    size_t low = 0;
    size_t high = partition->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (partition->entries[middle].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t sim_partition_visible_end(const SimPartition *partition, Isolation isolation)
{
    int64_t end = partition->end;
    for (size_t i = 0; isolation == READ_COMMITTED && i < partition->open_count; i++) {
        int64_t first = partition->open[i].first_offset;
        end = first < end ? first : end;
    }
    return end > partition->start ? end : partition->start;
}

/* ------------------------------------------------------------------------------- writing ---- */

static size_t varint_bytes(int64_t value)
{
    uint64_t zigzag = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    size_t bytes = 1;
    for (; zigzag >= 0x80; zigzag >>= 7) {
        bytes++;
    }
    return bytes;
}

static size_t field_bytes(Str field)
{
    return field.data == NULL ? varint_bytes(-1) : varint_bytes((int64_t)field.size) + field.size;
}

size_t sim_record_batch_bytes(const LogOutput *output)
{
    enum { BATCH_HEADER = 61, ATTRIBUTES_AND_DELTAS = 3 };
    size_t record = ATTRIBUTES_AND_DELTAS + field_bytes(output->key) + field_bytes(output->value) +
                    varint_bytes((int64_t)output->header_count);
    for (size_t i = 0; i < output->header_count; i++) {
        record += field_bytes(output->headers[i].name) + field_bytes(output->headers[i].value);
    }
    return BATCH_HEADER + varint_bytes((int64_t)record) + record;
}

static SimEntry *add_entry(SimPartition *partition)
{
    mem_reserve(partition->entries, &partition->entry_capacity, partition->entry_count + 1);
    SimEntry *entry = &partition->entries[partition->entry_count++];
    *entry = (SimEntry){.offset = partition->end++};
    return entry;
}

static Str copy_field(char **place, Str field)
{
    if (field.data == NULL) {
        return STR_NULL;
    }
    Str copy = {*place, field.size};
    if (field.size > 0) {
        memcpy(*place, field.data, field.size);
    }
    *place += field.size;
    return copy;
}

/* One block: the header array, then all bytes. */
static void copy_payload(SimEntry *entry, const LogOutput *output)
{
    size_t array_bytes = output->header_count * sizeof(LogHeader);
    size_t size = array_bytes + output->key.size + output->value.size;
    for (size_t i = 0; i < output->header_count; i++) {
        size += output->headers[i].name.size + output->headers[i].value.size;
    }
    entry->bytes = mem_alloc(size);
    LogHeader *headers = entry->bytes;
    char *place = (char *)entry->bytes + array_bytes;
    entry->key = copy_field(&place, output->key);
    entry->value = copy_field(&place, output->value);
    for (size_t i = 0; i < output->header_count; i++) {
        headers[i].name = copy_field(&place, output->headers[i].name);
        headers[i].value = copy_field(&place, output->headers[i].value);
    }
    entry->headers = output->header_count == 0 ? NULL : headers;
    entry->header_count = (uint32_t)output->header_count;
}

static void note_open(SimPartition *partition, uint64_t producer, int64_t offset)
{
    for (size_t i = 0; i < partition->open_count; i++) {
        if (partition->open[i].producer == producer) {
            return;
        }
    }
    mem_reserve(partition->open, &partition->open_capacity, partition->open_count + 1);
    partition->open[partition->open_count++] = (SimOpen){producer, offset};
}

int64_t sim_partition_append(SimPartition *partition, const LogOutput *output, int64_t timestamp_ms,
                             int64_t now_ms, const SimId *id)
{
    SimEntry *entry = add_entry(partition);
    entry->timestamp_ms = timestamp_ms;
    entry->written_ms = now_ms;
    entry->producer = id == NULL ? 0 : id->producer;
    entry->state = id == NULL ? SIM_ENTRY_STABLE : SIM_ENTRY_OPEN;
    copy_payload(entry, output);
    int64_t offset = entry->offset;
    if (id != NULL) {
        note_open(partition, id->producer, offset);
    }
    return offset;
}

void sim_partition_settle(SimPartition *partition, uint64_t producer, bool commit, int64_t now_ms)
{
    for (size_t i = 0; i < partition->open_count; i++) {
        if (partition->open[i].producer != producer) {
            continue;
        }
        size_t first = sim_partition_seek(partition, partition->open[i].first_offset);
        for (size_t at = first; at < partition->entry_count; at++) {
            SimEntry *entry = &partition->entries[at];
            if (entry->producer == producer && entry->state == SIM_ENTRY_OPEN) {
                entry->state = commit ? SIM_ENTRY_STABLE : SIM_ENTRY_ABORTED;
            }
        }
        partition->open[i] = partition->open[--partition->open_count];
        break;
    }
    SimEntry *marker = add_entry(partition);
    marker->timestamp_ms = now_ms;
    marker->written_ms = now_ms;
    marker->producer = producer;
    marker->state = SIM_ENTRY_MARKER;
}

/* ------------------------------------------------------------------------------- looking ---- */

/* As a broker does it: markers and aborted records count. */
int64_t sim_partition_offset_for_time(const SimPartition *partition, int64_t time_ms)
{
    for (size_t i = sim_partition_seek(partition, partition->start); i < partition->entry_count;
         i++) {
        if (partition->entries[i].timestamp_ms >= time_ms) {
            return partition->entries[i].offset;
        }
    }
    return partition->end;
}

/* ------------------------------------------------------------------------------ removing ---- */

void sim_partition_trim(SimPartition *partition, int64_t offset)
{
    assert(offset <= partition->end);
    if (offset <= partition->start) {
        return;
    }
    partition->start = offset;
    size_t gone = sim_partition_seek(partition, offset);
    for (size_t i = 0; i < gone; i++) {
        mem_free(partition->entries[i].bytes);
    }
    partition->entry_count -= gone;
    memmove(partition->entries, partition->entries + gone,
            partition->entry_count * sizeof *partition->entries);
}

static bool survives(const SimEntry *entry, const Map *newest, int64_t oldest_tombstone_ms)
{
    switch (entry->state) {
    case SIM_ENTRY_ABORTED:
        return false;
    case SIM_ENTRY_OPEN:
    case SIM_ENTRY_MARKER:
        return true;
    case SIM_ENTRY_STABLE:
        break;
    }
    if (entry->key.data == NULL) {
        return true;
    }
    if (map_get(newest, entry->key) != entry->bytes) {
        return false;
    }
    return entry->value.data != NULL || entry->written_ms >= oldest_tombstone_ms;
}

void sim_partition_compact(SimPartition *partition, int64_t now_ms, int64_t delete_retention_ms)
{
    size_t limit =
        sim_partition_seek(partition, sim_partition_visible_end(partition, READ_COMMITTED));
    Map newest = {0}; /* key → bytes of its last record */
    for (size_t i = 0; i < limit; i++) {
        const SimEntry *entry = &partition->entries[i];
        if (entry->state == SIM_ENTRY_STABLE && entry->key.data != NULL) {
            map_put(&newest, entry->key, entry->bytes);
        }
    }
    size_t kept = 0;
    void **gone = mem_alloc_array(partition->entry_count, sizeof *gone); /* hold newest's keys */
    size_t gone_count = 0;
    for (size_t i = 0; i < partition->entry_count; i++) {
        SimEntry *entry = &partition->entries[i];
        if (i >= limit || survives(entry, &newest, now_ms - delete_retention_ms)) {
            partition->entries[kept++] = *entry;
        } else {
            gone[gone_count++] = entry->bytes;
        }
    }
    partition->entry_count = kept;
    map_done(&newest);
    for (size_t i = 0; i < gone_count; i++) {
        mem_free(gone[i]);
    }
    mem_free(gone);
}

void sim_partition_free(SimPartition *partition)
{
    for (size_t i = 0; i < partition->entry_count; i++) {
        mem_free(partition->entries[i].bytes);
    }
    mem_free(partition->entries);
    mem_free(partition->open);
    mem_free(partition);
}
