/* Expressions and queries from SQL text in tests: parse, bind, plan and run with the real parts. */
#ifndef TESTS_SUPPORT_SQL_FIXTURE_H
#define TESTS_SUPPORT_SQL_FIXTURE_H

#include "processor/bind/bind.h"
#include "processor/exec/query.h"

typedef struct SqlFixture {
    Arena *arena; /* of everything bound; batches too where a test wants no other */
    BindContext bind;
    ExecContext exec;
    TimeZone *zone; /* NULL: UTC */
} SqlFixture;

/* Session zone by name ("UTC"); the clock stands at 2026-03-01 12:00:00 UTC, the user is alice. */
void sql_fixture_init(SqlFixture *fixture, const char *zone);
void sql_fixture_done(SqlFixture *fixture);
/* A relation of the catalog, with columns as SQL text. */
void sql_fixture_relation(SqlFixture *fixture, RelationKind kind, const char *name,
                          const char *columns);
/* "a INT, b STRING" as a schema. */
const Schema *sql_fixture_schema(SqlFixture *fixture, const char *columns);
/* Binds an expression over the columns of `schema` (NULL: none). The error is the caller's. */
NODISCARD Error *sql_fixture_expression(SqlFixture *fixture, const char *text, const Schema *schema,
                                        BoundExpr **ret_expr);
/* Parses, binds and plans a query. */
NODISCARD Error *sql_fixture_plan(SqlFixture *fixture, const char *text, LogicalPlan **ret_plan);
/* The same as the query of a REPLACE USING flow: its columns `id` and `ver` are key and sequence.
 */
NODISCARD Error *sql_fixture_plan_flow(SqlFixture *fixture, const char *text,
                                       LogicalPlan **ret_plan);
/* A batch over the schema with rows of texts, row by row; NULL is SQL NULL. */
Batch *sql_fixture_batch(SqlFixture *fixture, const Schema *schema, uint32_t row_count,
                         const char *const *texts);
/* The selected rows as text: "1|a\n2|NULL\n". Owned by the fixture's arena. */
const char *sql_fixture_rows(SqlFixture *fixture, const Batch *batch);

#endif
