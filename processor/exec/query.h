/* A query ready to run: operators over column batches, expressions compiled to kernels once.
 *
 * Pull model: the caller gives batches to sources and pulls results until there are none left of
 * what was given: query_push(query, source, batch); for (;;) { TRY(query_next(query, arena, errors,
 * &out)); if (out == NULL) break; … } Results live in the arena given (and in the pushed batch)
 * until it is reset; bytes of constants belong to the query, so close it after that.
 *
 * Thread: one at a time for a query or expression (they keep compiled patterns). */
#ifndef EXEC_QUERY_H
#define EXEC_QUERY_H

#include "processor/base/clock.h"
#include "processor/data/batch.h"
#include "processor/data/batch_source.h"
#include "processor/data/datetime.h"
#include "processor/plan/logical.h"

typedef struct Query Query;
typedef struct Expression Expression;
typedef struct StreamContext StreamContext; /* stream.h */

/* How much the operators of a query may hold in memory (`--memory`), and where they put what goes
 * beyond. */
typedef struct QueryMemory {
    size_t limit_bytes;
    size_t used_bytes;     /* operators add what they hold and take it back */
    const char *spill_dir; /* temporary files, unlinked when made */
} QueryMemory;

/* What expressions may ask of the world. Set before the first row; the clock may be moved between
 * epochs by query_set_now. */
typedef struct ExecContext {
    const TimeZone *time_zone; /* session zone */
    int64_t now_us;            /* now(), current_date(): fixed per update or epoch */
    Str current_user;
    QueryMemory *memory;     /* what operators may hold together; NULL: no bound, nothing spills */
    const bool *interrupted; /* asked between batches; NULL: never */
    StreamContext *stream;   /* of a streaming query, which must not outlive it; else NULL */
} ExecContext;

/* Compiles the plan. The plan must outlive the query. */
NODISCARD Error *query_open(const LogicalPlan *plan, const ExecContext *context, Query **ret_query);
void query_close(Query *query);
void query_set_now(Query *query, int64_t now_us);
/* Gives source number `source` its next batch (schema = plan->sources[source].schema); the one
 * before must have been pulled to its end. */
void query_push(Query *query, size_t source, Batch *batch);
/* Source number `source` is read by pulling instead (taken over, closed with the query): batch
 * queries over files and retained records. */
void query_set_source(Query *query, size_t source, BatchSource *batches);
/* The next result batch, NULL when what was pushed is used up (queries without sources: when done).
 * A row whose expression fails: with `errors`, it is left out and noted there under its row number
 * in the pushed batch; without (NULL), the first one is returned as the error. */
NODISCARD Error *query_next(Query *query, Arena *batch_arena, RowErrors *errors, Batch **ret_batch);

/* One expression alone, e.g. an expectation's condition. `expr` must outlive it. */
NODISCARD Error *expression_open(const BoundExpr *expr, const ExecContext *context,
                                 Expression **ret_expression);
void expression_close(Expression *expression);
void expression_set_now(Expression *expression, int64_t now_us);
/* Its value for the selected rows of the batch (other rows of *ret_vector are undefined). Failing
 * rows are noted in `errors` under their row number in this batch and undefined in the result. */
NODISCARD Error *expression_evaluate(Expression *expression, const Batch *batch, Arena *batch_arena,
                                     RowErrors *errors, const Vector **ret_vector);

/* The registry, for the binder. */
const FunctionCatalog *function_catalog(void);
/* All functions, in the order of functions.def (for reference and help); NULL behind the last.
 * Those with resolve == NULL are known by name only. */
const Function *function_at(size_t index);

DEFINE_AUTO(query, Query, query_close)
DEFINE_AUTO(expression, Expression, expression_close)

#endif
