/* Arena: memory of one lifetime. Allocation is a pointer bump; nothing is freed alone, the owner
 * resets the whole. Blocks are kept over a reset, so a warm arena does not touch the heap. Under
 * AddressSanitizer a reset poisons the blocks: a view kept too long fails the test that did it.
 * Thread: one at a time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "processor/base/compiler.h"
#include "processor/base/str.h"

typedef struct Arena Arena;

/* `name` is a literal naming the lifetime ("batch", "epoch"). */
RETURNS_NONNULL Arena *arena_new(const char *name);
void arena_free(Arena *arena);
/* Runs the arena_on_reset functions (last registered first), then forgets all memory. */
void arena_reset(Arena *arena);
/* What an arena holds now; releasing the mark forgets what was allocated after it, as a reset would
 * forget all. Marks are released in the reverse of their order, or die with a reset. */
typedef struct ArenaMark {
    void *block;
    size_t offset;
    size_t used_bytes;
    void *cleanups;
} ArenaMark;
ArenaMark arena_mark(const Arena *arena);
void arena_release(Arena *arena, ArenaMark mark);
/* Not zeroed, aligned to 16 bytes. */
RETURNS_NONNULL void *arena_alloc(Arena *arena, size_t size);
RETURNS_NONNULL void *arena_alloc_zero(Arena *arena, size_t size);
/* Not aligned; for bytes. */
RETURNS_NONNULL char *arena_alloc_bytes(Arena *arena, size_t size);
/* Bytes handed out since the last reset. */
size_t arena_used_bytes(const Arena *arena);
/* Bytes held from the heap. */
size_t arena_held_bytes(const Arena *arena);
/* Ties a foreign resource to the arena: release(object) runs at the next reset or free. */
void arena_on_reset(Arena *arena, void (*release)(void *object), void *object);
/* Copies; the copy of a STR_NULL is STR_NULL. A NUL byte follows the copy (not counted). */
Str arena_copy_str(Arena *arena, Str s);
RETURNS_NONNULL const char *arena_copy_cstr(Arena *arena, Str s);
RETURNS_NONNULL const char *arena_printf(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);

#define arena_new_object(arena, Type) ((Type *)arena_alloc_zero((arena), sizeof(Type)))
#define arena_new_array(arena, Type, count)                                                        \
    ((Type *)arena_alloc_zero((arena), arena_array_size_((count), sizeof(Type))))

/* *arena_push(arena, items, count, capacity) = item; appends to an array that grows in the arena:
 * its pointer, count and capacity (size_t, 0 at first) are lvalues. */
#define arena_push(arena, items, count, capacity)                                                  \
    ((items) = arena_grow_((arena), (items), (count), &(capacity), sizeof *(items)),               \
     &(items)[(count)++])
/* The array, or a copy twice as large (zeroed behind `count`), with room for one more element. */
RETURNS_NONNULL void *arena_grow_(Arena *arena, void *items, size_t count, size_t *capacity,
                                  size_t size);
/* count * size, aborting on overflow. */
size_t arena_array_size_(size_t count, size_t size);

DEFINE_AUTO(arena, Arena, arena_free)

#endif
