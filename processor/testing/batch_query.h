/* Ad-hoc SELECT over rows at hand: parse, bind, plan, run. What `.test` files and the step `query`
 * do. */
#ifndef TESTING_BATCH_QUERY_H
#define TESTING_BATCH_QUERY_H

#include "processor/bind/bind.h"
#include "processor/exec/query.h"

typedef struct BatchQuery {
    Str sql;
    Catalog *catalog;
    const TimeZone *zone;
    int64_t now_us;
    size_t batch_rows; /* rows of a relation are pushed in batches of so many; 0: BATCH_ROWS */
    /* The rows of a relation, with its whole schema; any number. */
    Error *(*rows_of)(void *context, const Relation *relation, Arena *arena, Batch **ret_rows);
    void *context;
} BatchQuery;

/* Placed errors count in `sql`. The result, all rows in one batch, is in `arena`. */
NODISCARD Error *batch_query_run(const BatchQuery *query, Arena *arena, Batch **ret_result);

#endif
