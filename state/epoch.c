/* Epochs and their memory. A commit every few milliseconds makes many small epochs, a flood makes
 * few large ones: small ones share an arena, which is used again when the last of them is gone. */
#include "state/epoch.h"

#include <assert.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    SHARED_BYTES_MAX = 2 << 20, /* beyond it the next epoch gets memory of its own */
    SHARED_PART = 4,            /* … or beyond this part of an epoch's bound */
    SPARE_MAX = 4,              /* memories kept for the next epochs, … */
    SPARE_EPOCHS = 2,           /* … together no more than so many epochs may take */
};

void epoch_list_append(EpochList *list, Epoch *epoch)
{
    epoch->next = NULL;
    if (list->last == NULL) {
        list->first = epoch;
    } else {
        list->last->next = epoch;
    }
    list->last = epoch;
    list->change_count += epoch->change_count;
    list->bytes += epoch->bytes;
}

void epoch_list_prepend(EpochList *list, EpochList *older)
{
    if (older->last != NULL) {
        older->last->next = list->first;
        list->first = older->first;
        list->last = list->last == NULL ? older->last : list->last;
        list->change_count += older->change_count;
        list->bytes += older->bytes;
    }
    *older = (EpochList){0};
}

static EpochMemory *take_memory(EpochPool *pool)
{
    if (pool->spare_count > 0) {
        EpochMemory *memory = pool->spare[--pool->spare_count];
        pool->spare_bytes -= arena_held_bytes(memory->arena);
        return memory;
    }
    EpochMemory *memory = mem_new(EpochMemory);
    memory->arena = arena_new("epoch");
    return memory;
}

static void drop_memory(EpochMemory *memory)
{
    arena_free(memory->arena);
    mem_free(memory);
}

static void give_memory_back(EpochPool *pool, EpochMemory *memory)
{
    assert(memory->users > 0);
    if (--memory->users > 0) {
        return;
    }
    arena_reset(memory->arena);
    if (pool->shared == memory) {
        return; /* goes on being shared, empty */
    }
    size_t spare = pool->spare_bytes + arena_held_bytes(memory->arena);
    bool too_much = pool->epoch_bytes > 0 && spare > pool->epoch_bytes * SPARE_EPOCHS;
    if (pool->spare_count == SPARE_MAX || too_much) {
        drop_memory(memory);
        return;
    }
    mem_reserve(pool->spare, &pool->spare_capacity, pool->spare_count + 1);
    pool->spare[pool->spare_count++] = memory;
    pool->spare_bytes += arena_held_bytes(memory->arena);
}

static size_t shared_bytes_max(const EpochPool *pool)
{
    size_t part = pool->epoch_bytes / SHARED_PART;
    return pool->epoch_bytes > 0 && part < SHARED_BYTES_MAX ? part : SHARED_BYTES_MAX;
}

static EpochMemory *shared_memory(EpochPool *pool)
{
    EpochMemory *shared = pool->shared;
    if (shared != NULL && arena_used_bytes(shared->arena) < shared_bytes_max(pool)) {
        return shared;
    }
    pool->shared = take_memory(pool);
    return pool->shared;
}

Epoch *epoch_new(EpochPool *pool, uint32_t number)
{
    EpochMemory *memory = shared_memory(pool);
    memory->users++;
    Epoch *epoch = mem_new(Epoch);
    epoch->memory = memory;
    epoch->used_before = arena_used_bytes(memory->arena);
    epoch->number = number;
    return epoch;
}

static uint32_t renumbered(uint32_t epoch, uint32_t written_epoch)
{
    return epoch > written_epoch ? epoch - written_epoch : 0;
}

void epoch_renumber(Epoch *epoch, uint32_t written_epoch)
{
    epoch->number = renumbered(epoch->number, written_epoch);
    for (KeyChange *change = epoch->first; change != NULL; change = change->next) {
        change->previous_epoch = renumbered(change->previous_epoch, written_epoch);
    }
}

void epoch_free(EpochPool *pool, Epoch *epoch)
{
    if (epoch != NULL) {
        give_memory_back(pool, epoch->memory);
        mem_free(epoch);
    }
}

void epoch_list_free(EpochPool *pool, EpochList *list)
{
    while (list->first != NULL) {
        Epoch *epoch = list->first;
        list->first = epoch->next;
        epoch_free(pool, epoch);
    }
    *list = (EpochList){0};
}

void epoch_pool_done(EpochPool *pool)
{
    for (size_t i = 0; i < pool->spare_count; i++) {
        drop_memory(pool->spare[i]);
    }
    mem_free(pool->spare);
    if (pool->shared != NULL) {
        assert(pool->shared->users == 0);
        drop_memory(pool->shared);
    }
    *pool = (EpochPool){0};
}

const KeyChange *epoch_first_change(const Epoch *epoch)
{
    return epoch->first;
}
