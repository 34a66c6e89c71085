/* Aggregate functions: what the hash aggregate, DISTINCT and window frames need of one.
 *
 * The state of a group is a block of state_size bytes, zeroed at first, in memory of the operator;
 * what does not fit in it lies in `arena` (collect_list). States are never moved while referred to.
 * FILTER and DISTINCT are the operator's: a kernel sees only the rows it shall add. Errors it
 * returns have no place yet: the operator knows where the call stands. */
#ifndef EXEC_AGGREGATE_H
#define EXEC_AGGREGATE_H

#include "processor/exec/kernel.h"

typedef struct AggregateCall {
    /* The arguments, then the values of the sort keys; each as long as the batch. */
    const Vector *const *arguments;
    size_t argument_count;    /* with the sort keys */
    const Type *const *types; /* of the arguments */
    const Type *result;
    bool ignore_nulls;
    const BoundAggregate *bound; /* sort keys and constants */
    const void *setup;           /* what choose() made */
    Arena *arena;                /* lives as long as the states; choose() may use it too */
    const ExecContext *context;
} AggregateCall;

struct AggregateKernel {
    /* Chooses loops by type and gives the size of a state. NULL: `state_size` and `add` are for all
     * types. */
    const struct AggregateLoops *(*choose)(const AggregateCall *call, const void **ret_setup);
    bool order_dependent; /* first, last, collect_list …: rows must come in input order */
};

typedef struct AggregateLoops {
    size_t state_size;
    /* Adds row rows[i] to the state states[i]; NULL arguments are the kernel's to skip. */
    NODISCARD Error *(*add)(const AggregateCall *call, void *const *states, Rows rows);
    /* Adds every row asked for to one state: aggregates without keys, window frames. */
    NODISCARD Error *(*add_all)(const AggregateCall *call, void *state, Rows rows);
    /* Joins state b into a (sessions, partial results of threads); NULL where that is impossible.
     */
    NODISCARD Error *(*merge)(const AggregateCall *call, void *a, const void *b);
    /* Takes a row back out (sliding frames); NULL: the frame is computed anew. */
    void (*remove)(const AggregateCall *call, void *state, uint32_t row);
    /* Appends the values of states[0 … count) to the result (grown in `arena`). Bytes may stay the
     * state's. */
    NODISCARD Error *(*finish)(const AggregateCall *call, void *const *states, uint32_t count,
                               Arena *arena, Vector *result);
} AggregateLoops;

#endif
