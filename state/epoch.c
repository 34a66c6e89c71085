/* Epochs and their memory. A commit every few milliseconds makes many small epochs, a flood makes
 * few large ones: small ones share an arena, which is used again when the last of them is gone. */
#include "state/epoch.h"

#include <assert.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    SHARED_BYTES_MAX = 2 << 20, /* beyond it the next epoch gets memory of its own */
    SPARE_MAX = 4,              /* memories kept for the next epochs */
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
    if (pool->spare_count == SPARE_MAX) {
        drop_memory(memory);
        return;
    }
    mem_reserve(pool->spare, &pool->spare_capacity, pool->spare_count + 1);
    pool->spare[pool->spare_count++] = memory;
    pool->spare_bytes += arena_held_bytes(memory->arena);
}

static EpochMemory *shared_memory(EpochPool *pool)
{
    EpochMemory *shared = pool->shared;
    if (shared != NULL && arena_used_bytes(shared->arena) < SHARED_BYTES_MAX) {
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
