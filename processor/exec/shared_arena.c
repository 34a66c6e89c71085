/* An arena with a count of who refers to it. */
#include "processor/exec/shared_arena.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

struct SharedArena {
    Arena *arena;
    size_t references;
};

SharedArena *shared_arena_new(const char *name)
{
    SharedArena *shared = mem_new(SharedArena);
    shared->arena = arena_new(name);
    shared->references = 1;
    return shared;
}

void shared_arena_unref(SharedArena *shared)
{
    if (shared == NULL || --shared->references > 0) {
        return;
    }
    arena_free(shared->arena);
    mem_free(shared);
}

Arena *shared_arena(SharedArena *shared)
{
    return shared->arena;
}

static void unref(void *shared)
{
    shared_arena_unref(shared);
}

void shared_arena_keep(SharedArena *shared, Arena *holder)
{
    shared->references++;
    arena_on_reset(holder, unref, shared);
}
