/* How `tidemark test` runs its cases: every option is another way to the same tables (DESIGN
 * section 10). Read-only while tests run. */
#ifndef TESTING_OPTIONS_H
#define TESTING_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "processor/base/fault.h"
#include "processor/base/str.h"

typedef enum TestOutput { TEST_OUTPUT_TEXT, TEST_OUTPUT_JSON, TEST_OUTPUT_JUNIT } TestOutput;

typedef struct TestOptions {
    const Str *only; /* ids of scenarios to run; NULL: all */
    size_t only_count;
    size_t split;      /* an update reads at most so many records, again until drained; 0: all */
    size_t batch_rows; /* 0: BATCH_ROWS */
    size_t shards;     /* partitions of table topics; 0: as the largest source */
    bool restart_every_step;
    bool wipe_state_every_step;
    const char *bootstrap;  /* a real cluster; NULL: the model */
    const char *fault_name; /* the process "dies" there in every update; NULL: nowhere */
    unsigned fault_nth;
    FaultAction fault_action;
    bool accept; /* .test files: write what came out as what is expected */
    TestOutput output;
} TestOptions;

/* Is a case run another way than as it is written? Then records of a topic are compared folded by
 * key. */
static inline bool test_options_vary(const TestOptions *options)
{
    return options->split != 0 || options->batch_rows != 0 || options->shards != 0 ||
           options->restart_every_step || options->wipe_state_every_step ||
           options->fault_name != NULL;
}

#endif
