/* The expectations of a table, evaluated on the rows of its flow after projection and before the
 * flow chooses (RU-39 … RU-44): drop takes the row out, fail stops the update, warn counts. */
#ifndef RUN_EXPECTATIONS_H
#define RUN_EXPECTATIONS_H

#include "processor/exec/query.h"
#include "processor/run/events.h"

typedef struct Expectations Expectations;

NODISCARD Error *expectations_open(const BoundTable *table, const ExecContext *context,
                                   Expectations **ret_expectations);
void expectations_close(Expectations *expectations);
void expectations_set_now(Expectations *expectations, int64_t now_us);
/* Narrows the batch's selection and adds to `counts` (one each) and *dropped_rows. A violated FAIL
 * is EXPECTATION_VIOLATION naming the expectation and the row; a condition that is NULL or raises
 * an error on a row is violated by it (ST-20). */
NODISCARD Error *expectations_apply(Expectations *expectations, Batch *batch, Arena *batch_arena,
                                    ExpectationCount *counts, uint64_t *dropped_rows);

/* NOT NULL columns of the target: NOT_NULL_CONSTRAINT_VIOLATION naming column and row (ST-12). */
NODISCARD Error *check_not_null(const BoundTable *table, const Batch *batch);

DEFINE_AUTO(expectations, Expectations, expectations_close)

#endif
