/* Heap memory that never fails. */
#include "processor/base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "processor/base/banned.h"

COLD static _Noreturn void out_of_memory(size_t size)
{
    (void)fprintf(stderr, "tidemark: out of memory (%zu bytes wanted); see state.memory\n", size);
    abort();
}

void *mem_alloc(size_t size)
{
    void *memory = calloc(1, size == 0 ? 1 : size);
    if (memory == NULL) {
        out_of_memory(size);
    }
    return memory;
}

void *mem_alloc_array(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        out_of_memory(SIZE_MAX);
    }
    return mem_alloc(total);
}

void *mem_alloc_large_pages(size_t count, size_t size)
{
    char *memory = mem_alloc_array(count, size);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)memory + count * size) & ~(page - 1);
    if (end > start) {
        (void)madvise(memory + (start - (uintptr_t)memory), end - start, MADV_HUGEPAGE);
    }
    return memory;
}

void *mem_alloc_pages(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        out_of_memory(SIZE_MAX);
    }
    void *memory = mmap(NULL, total == 0 ? 1 : total, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        out_of_memory(total);
    }
    (void)madvise(memory, total, MADV_HUGEPAGE);
    return memory;
}

void mem_free_pages(void *memory, size_t count, size_t size)
{
    if (memory != NULL) {
        (void)munmap(memory, count * size == 0 ? 1 : count * size);
    }
}

void mem_give_back(void)
{
    (void)malloc_trim(0);
}

void *mem_realloc(void *memory, size_t size)
{
    void *grown = realloc(memory, size == 0 ? 1 : size);
    if (grown == NULL) {
        out_of_memory(size);
    }
    return grown;
}

char *mem_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mem_alloc(size);
    memcpy(copy, text, size);
    return copy;
}

void mem_free(const void *memory)
{
    free((void *)(uintptr_t)memory);
}

void mem_grow(void **items, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity) {
        return;
    }
    size_t wanted = *capacity < 8 ? 8 : *capacity * 2;
    wanted = wanted < needed ? needed : wanted;
    size_t bytes;
    if (__builtin_mul_overflow(wanted, size, &bytes)) {
        out_of_memory(SIZE_MAX);
    }
    *items = mem_realloc(*items, bytes);
    *capacity = wanted;
}
