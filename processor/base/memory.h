/* Heap memory that never fails: on exhaustion the process logs and aborts (state can be rebuilt, so
 * dying is safe). Use an Arena where a lifetime fits; this is for objects with an owner of their
 * own. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

#include "processor/base/compiler.h"

/* Zeroed. Free with mem_free. */
RETURNS_NONNULL void *mem_alloc(size_t size);
RETURNS_NONNULL void *mem_alloc_array(size_t count, size_t size);
/* The same in large pages where the system has them. */
RETURNS_NONNULL void *mem_alloc_large_pages(size_t count, size_t size);
/* The same straight from the system, in large pages where it has them: for tables whose every
 * look-up lands on another page, and which must leave no holes in the heap when they grow. Free
 * with mem_free_pages and the same numbers. */
RETURNS_NONNULL void *mem_alloc_pages(size_t count, size_t size);
void mem_free_pages(void *memory, size_t count, size_t size);
/* New bytes are not zeroed. */
RETURNS_NONNULL void *mem_realloc(void *memory, size_t size);
/* Copy of a NUL-terminated text. */
RETURNS_NONNULL char *mem_strdup(const char *text);
void mem_free(const void *memory);
/* What was freed goes back to the system, as far as it can; takes milliseconds. For those who hold
 * less from now on, so that others may hold more. */
void mem_give_back(void);
/* Grows `*items` (elements of `size` bytes) so that `needed` fit; `*capacity` is updated. */
void mem_grow(void **items, size_t *capacity, size_t needed, size_t size);

#define mem_new(Type) ((Type *)mem_alloc(sizeof(Type)))
/* mem_reserve(list->items, &list->capacity, list->count + 1) */
#define mem_reserve(items, capacity, needed)                                                       \
    mem_grow((void **)&(items), (capacity), (needed), sizeof *(items))

#endif
