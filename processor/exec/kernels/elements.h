/* Elements of lists as rows of their own, and lists put together again. For kernels that look into
 * arrays and maps. */
#ifndef EXEC_KERNELS_ELEMENTS_H
#define EXEC_KERNELS_ELEMENTS_H

#include "processor/exec/lambda.h"

/* The elements of the rows asked for, row by row; rows that are NULL have none. */
typedef struct Elements {
    uint32_t count;
    uint32_t *row_of; /* the row each lies in */
    uint32_t *places; /* where it lies in the list's children; NULL: element i at i */
} Elements;

void elements_of(const KernelCall *call, const Vector *list, Elements *ret);
/* One child of the list, cut or gathered to the elements. */
Vector *elements_gather(const KernelCall *call, const Elements *elements, const Vector *child);
/* Errors of elements become errors of their rows; the list of errors is empty then. */
void elements_fail(const KernelCall *call, const Elements *elements, RowErrors *errors);

static inline uint32_t list_count(const Vector *list, uint32_t row)
{
    return list->offsets[row + 1] - list->offsets[row];
}

/* One count a row of the call, NULL_ROW for all: a row that stays so becomes a NULL. */
uint32_t *list_counts_new(const KernelCall *call);
/* The result's rows take so many of the elements that lie in its children, in order. */
void list_finish_all(const KernelCall *call, const uint32_t *counts);
/* The result's rows are as long as those of `list`, where they were asked for. */
void list_finish_like(const KernelCall *call, const Vector *list);

/* Fails the row when the keys `first` … before `end` hold a NULL or one key twice. */
bool map_keys_are_good(const KernelCall *call, uint32_t row, const Vector *keys, uint32_t first,
                       uint32_t end);

/* A set of elements of one vector (by null-safe equality). Elements are added in turn. */
typedef struct ElementSet {
    const Vector *vector;
    const uint64_t *hashes; /* one an element of the vector */
    uint32_t *slots;        /* element + 1, 0: free; open addressing */
    uint32_t mask;
    uint32_t slot_capacity;
    Arena *arena;
} ElementSet;

/* Hashes of all elements of a vector, for the sets over it. */
uint64_t *element_hashes(Arena *arena, const Vector *vector);
/* Empties the set; there will be at most `element_count` elements. */
void element_set_start(ElementSet *set, uint32_t element_count);
/* Is the element of `vector` (hashed as the set's are) there? */
bool element_set_has(const ElementSet *set, const Vector *vector, uint32_t element, uint64_t hash);
/* False when an equal one was there before. */
bool element_set_add(ElementSet *set, uint32_t element);

#endif
