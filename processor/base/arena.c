/* Arena memory: a list of blocks, a bump pointer in the current one. Blocks double from 4 KiB to
 * 1 MiB; a larger request gets a block of its own size. A reset rewinds to the first block. */
#include "processor/base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#include "processor/base/banned.h"

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1 << 20, ALIGNMENT = 16 };

typedef struct Block {
    struct Block *next;
    size_t size;
    _Alignas(ALIGNMENT) char bytes[];
} Block;

typedef struct Cleanup {
    struct Cleanup *next;
    void (*release)(void *object);
    void *object;
} Cleanup;

struct Arena {
    const char *name;
    Block *first;
    Block *current;
    size_t offset; /* in current */
    size_t used_bytes;
    size_t held_bytes;
    Cleanup *cleanups;
};

Arena *arena_new(const char *name)
{
    Arena *arena = mem_new(Arena);
    arena->name = name;
    return arena;
}

static void run_cleanups(Arena *arena, const Cleanup *until)
{
    while (arena->cleanups != until) {
        Cleanup *cleanup = arena->cleanups;
        arena->cleanups = cleanup->next;
        cleanup->release(cleanup->object);
        mem_free(cleanup);
    }
}

void arena_free(Arena *arena)
{
    if (arena == NULL) {
        return;
    }
    run_cleanups(arena, NULL);
    for (Block *block = arena->first; block != NULL;) {
        Block *next = block->next;
        ASAN_UNPOISON_MEMORY_REGION(block->bytes, block->size);
        mem_free(block);
        block = next;
    }
    mem_free(arena);
}

void arena_reset(Arena *arena)
{
    run_cleanups(arena, NULL);
    for (Block *block = arena->first; block != NULL; block = block->next) {
        ASAN_POISON_MEMORY_REGION(block->bytes, block->size);
    }
    arena->current = arena->first;
    arena->offset = 0;
    arena->used_bytes = 0;
}

ArenaMark arena_mark(const Arena *arena)
{
    return (ArenaMark){arena->current, arena->offset, arena->used_bytes, arena->cleanups};
}

void arena_release(Arena *arena, ArenaMark mark)
{
    run_cleanups(arena, mark.cleanups);
    Block *current = mark.block;
    for (Block *block = current == NULL ? arena->first : current->next; block != NULL;
         block = block->next) {
        ASAN_POISON_MEMORY_REGION(block->bytes, block->size);
    }
    if (current != NULL) {
        ASAN_POISON_MEMORY_REGION(current->bytes + mark.offset, current->size - mark.offset);
    }
    arena->current = current == NULL ? arena->first : current;
    arena->offset = current == NULL ? 0 : mark.offset;
    arena->used_bytes = mark.used_bytes;
}

static Block *block_new(Arena *arena, size_t needed)
{
    size_t size = arena->held_bytes < BLOCK_MIN ? BLOCK_MIN : arena->held_bytes;
    size = size > BLOCK_MAX ? BLOCK_MAX : size;
    size = size < needed ? needed : size;
    Block *block = mem_realloc(NULL, sizeof(Block) + size);
    block->next = NULL;
    block->size = size;
    ASAN_POISON_MEMORY_REGION(block->bytes, block->size);
    arena->held_bytes += size;
    return block;
}

/* Makes a block current that has room for `needed` bytes: a kept one if it fits, else a new one put
 * right behind the current block. */
static void next_block(Arena *arena, size_t needed)
{
    Block **link = arena->current == NULL ? &arena->first : &arena->current->next;
    if (*link == NULL || (*link)->size < needed) {
        Block *block = block_new(arena, needed);
        block->next = *link;
        *link = block;
    }
    arena->current = *link;
    arena->offset = 0;
}

static char *take(Arena *arena, size_t size, size_t alignment)
{
    size_t start = (arena->offset + alignment - 1) & ~(alignment - 1);
    if (arena->current == NULL || start > arena->current->size ||
        arena->current->size - start < size) {
        next_block(arena, size == 0 ? 1 : size);
        start = 0;
    }
    char *memory = arena->current->bytes + start;
    arena->offset = start + size;
    arena->used_bytes += size;
    ASAN_UNPOISON_MEMORY_REGION(memory, size);
    return memory;
}

void *arena_alloc(Arena *arena, size_t size)
{
    return take(arena, size, ALIGNMENT);
}

void *arena_alloc_zero(Arena *arena, size_t size)
{
    void *memory = take(arena, size, ALIGNMENT);
    memset(memory, 0, size);
    return memory;
}

char *arena_alloc_bytes(Arena *arena, size_t size)
{
    return take(arena, size, 1);
}

size_t arena_used_bytes(const Arena *arena)
{
    return arena->used_bytes;
}

size_t arena_held_bytes(const Arena *arena)
{
    return arena->held_bytes;
}

void arena_on_reset(Arena *arena, void (*release)(void *object), void *object)
{
    Cleanup *cleanup = mem_new(Cleanup);
    *cleanup = (Cleanup){arena->cleanups, release, object};
    arena->cleanups = cleanup;
}

Str arena_copy_str(Arena *arena, Str s)
{
    if (s.data == NULL) {
        return STR_NULL;
    }
    char *copy = arena_alloc_bytes(arena, s.size + 1);
    memcpy(copy, s.data, s.size);
    copy[s.size] = '\0';
    return (Str){copy, s.size};
}

const char *arena_copy_cstr(Arena *arena, Str s)
{
    Str copy = arena_copy_str(arena, s.data == NULL ? STR("") : s);
    assert(copy.data != NULL);
    return copy.data;
}

const char *arena_printf(Arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert(size >= 0);
    char *text = arena_alloc_bytes(arena, (size_t)size + 1);
    (void)vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

void *arena_grow_(Arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return items;
    }
    size_t wanted = *capacity == 0 ? 4 : *capacity * 2;
    void *larger = arena_alloc_zero(arena, arena_array_size_(wanted, size));
    if (count > 0) {
        memcpy(larger, items, count * size);
    }
    *capacity = wanted;
    return larger;
}

size_t arena_array_size_(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        (void)fprintf(stderr, "tidemark: array of %zu elements of %zu bytes is too large\n", count,
                      size);
        abort();
    }
    return total;
}
