/* An arena that lives as long as any of several results refers to it: an operator that makes many
 * batches of one input batch (GENERATE, EXPAND) reads that into a shared arena and ties each result
 * to it, instead of copying bytes. Thread: one at a time. */
#ifndef EXEC_SHARED_ARENA_H
#define EXEC_SHARED_ARENA_H

#include "processor/base/arena.h"

typedef struct SharedArena SharedArena;

/* The caller holds it until shared_arena_unref. */
RETURNS_NONNULL SharedArena *shared_arena_new(const char *name);
void shared_arena_unref(SharedArena *shared); /* NULL is fine */
Arena *shared_arena(SharedArena *shared);
/* It lives at least until `holder` is reset. */
void shared_arena_keep(SharedArena *shared, Arena *holder);

#endif
