/* A part of a key table keeps slots for two batches at least; what it has beyond them may become
 * its archive. With four batches a part there would be more parts, up to 16. So that is how sizes
 * are drawn: archives of 1 to 24 keys, some of which take all there are. */
#include "tests/simulation/small_table.h"

#include "processor/run/memory_plan.h"
#include "state/key_archive.h"
#include "state/overlay.h"
#include "tests/simulation/chance.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/trace.h"

#include "processor/base/banned.h"

enum { PARTS_MAX = 16 };

/* What a process is at, as far as keys are put away because of it. */
typedef enum Phase { AT_WORK, RESTORING, WARMING } Phase;

typedef struct Life {
    Phase phase;
    int writing; /* checkpoints under way */
    bool has_archived;
} Life;

MemoryPlan __real_memory_plan(const Topology *topology, size_t flows);
MemoryPlan __wrap_memory_plan(const Topology *topology, size_t flows);
ArchivePut __real_key_archive_put(KeyArchive *archive, Hash128 hash, uint32_t count, Str sequence,
                                  Hash128 *ret_replaced);
ArchivePut __wrap_key_archive_put(KeyArchive *archive, Hash128 hash, uint32_t count, Str sequence,
                                  Hash128 *ret_replaced);
bool __real_key_archive_find(const KeyArchive *archive, Hash128 hash, ArchivedKey *ret_key);
bool __wrap_key_archive_find(const KeyArchive *archive, Hash128 hash, ArchivedKey *ret_key);
void __real_overlay_note_restored(Overlay *overlay, Str key, uint32_t ordinal, Str sequence);
void __wrap_overlay_note_restored(Overlay *overlay, Str key, uint32_t ordinal, Str sequence);
Error *__real_overlay_warm(Overlay *overlay, size_t rows, bool *ret_done);
Error *__wrap_overlay_warm(Overlay *overlay, size_t rows, bool *ret_done);
void __real_overlay_abort(Overlay *overlay);
void __wrap_overlay_abort(Overlay *overlay);
bool __real_overlay_checkpoint_begin(Overlay *overlay);
bool __wrap_overlay_checkpoint_begin(Overlay *overlay);
void __real_overlay_checkpoint_end(Overlay *overlay, bool written);
void __wrap_overlay_checkpoint_end(Overlay *overlay, bool written);

static bool on;
static size_t batch_rows;
static size_t slots; /* of the key table */
static uint32_t keys;
static Life lives[GROUPS_MAX];
static WorldResult counts;

void small_table_open(uint64_t seed)
{
    static const uint32_t batches[] = {1, 3, 7};
    static const uint32_t parts[][4] = {{2, 4, 16, 16}, {1, 2, 4, 4}, {1, 1, 2, 2}};
    static const uint32_t fed[] = {8, 25, 25, 60};
    Chance chance = chance_stream(seed, 7);
    on = chance_one_in(&chance, 3);
    uint32_t size = chance_below(&chance, 3);
    uint32_t batch = batches[size];
    uint32_t part_count = parts[size][chance_below(&chance, 4)];
    uint32_t most = part_count == PARTS_MAX ? 8 * batch : 4 * batch - 1;
    slots = (size_t)part_count * chance_between(&chance, 2 * batch + 1, most);
    keys = fed[chance_below(&chance, 4)];
    batch_rows = batch;
    counts.small_tables = on;
}

bool small_table_is_on(void)
{
    return on;
}

size_t small_table_batch_rows(void)
{
    return batch_rows;
}

uint32_t small_table_keys(void)
{
    return keys;
}

MemoryPlan __wrap_memory_plan(const Topology *topology, size_t flows)
{
    MemoryPlan plan = __real_memory_plan(topology, flows);
    if (on) {
        plan.key_table = slots * sizeof(KeySlot);
        trace_say("key tables of %zu slots", slots);
    }
    return plan;
}

/* ------------------------------------------------------------------------ what happens to it ----
 */

static Life *life(void)
{
    return &lives[scheduler_group()];
}

static void count_archived(Life *now)
{
    now->has_archived = true;
    counts.archived++;
    counts.archived_writing += now->writing > 0;
    counts.archived_restore += now->phase == RESTORING;
    counts.archived_warming += now->phase == WARMING;
}

ArchivePut __wrap_key_archive_put(KeyArchive *archive, Hash128 hash, uint32_t count, Str sequence,
                                  Hash128 *ret_replaced)
{
    ArchivePut put = __real_key_archive_put(archive, hash, count, sequence, ret_replaced);
    if (put != ARCHIVE_FULL) {
        count_archived(life());
    }
    counts.archive_full += put != ARCHIVE_PUT;
    return put;
}

bool __wrap_key_archive_find(const KeyArchive *archive, Hash128 hash, ArchivedKey *ret_key)
{
    bool found = __real_key_archive_find(archive, hash, ret_key);
    counts.came_back += found;
    return found;
}

void __wrap_overlay_note_restored(Overlay *overlay, Str key, uint32_t ordinal, Str sequence)
{
    life()->phase = RESTORING;
    __real_overlay_note_restored(overlay, key, ordinal, sequence);
    life()->phase = AT_WORK;
}

Error *__wrap_overlay_warm(Overlay *overlay, size_t rows, bool *ret_done)
{
    life()->phase = WARMING;
    Error *error = __real_overlay_warm(overlay, rows, ret_done);
    life()->phase = AT_WORK;
    return error;
}

void __wrap_overlay_abort(Overlay *overlay)
{
    counts.archive_aborts += life()->has_archived;
    __real_overlay_abort(overlay);
}

bool __wrap_overlay_checkpoint_begin(Overlay *overlay)
{
    bool begun = __real_overlay_checkpoint_begin(overlay);
    life()->writing += begun;
    return begun;
}

void __wrap_overlay_checkpoint_end(Overlay *overlay, bool written)
{
    life()->writing--;
    __real_overlay_checkpoint_end(overlay, written);
}

void small_table_count(WorldResult *result)
{
#define X(name) result->name += counts.name;
    WORLD_COUNTS(X)
#undef X
}
