/* One operator under test: children that give rows in any order and size of batches, and what comes
 * out as text. */
#ifndef TESTS_SUPPORT_OPERATOR_FIXTURE_H
#define TESTS_SUPPORT_OPERATOR_FIXTURE_H

#include "processor/exec/operator.h"

/* A child that gives the rows order[0 … count) of `rows` in batches of `batch_rows`, between them
 * rows that are not selected. The bytes of a batch go when its arena is reset. */
Operator *operator_fixture_feed(const Batch *rows, const uint32_t *order, uint32_t count,
                                uint32_t batch_rows);
/* Pulls all rows, in an arena that is reset between batches: a line a row, "1|a\n". */
NODISCARD Error *operator_fixture_run(Operator *op, Buffer *out);
/* Closes the operator and its children. */
void operator_fixture_close(Operator *op);
/* The text's lines in the order of their bytes. */
void operator_fixture_sort_lines(Buffer *text);

/* Numbers that follow from a seed, below `bound`. */
typedef struct OperatorRandom {
    uint64_t state;
} OperatorRandom;
uint32_t operator_fixture_random(OperatorRandom *random, uint32_t bound);
/* 0 … count - 1 in a random order. */
void operator_fixture_shuffle(OperatorRandom *random, uint32_t *order, uint32_t count);

#endif
