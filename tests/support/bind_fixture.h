/* Binding texts in tests: a catalog of relations, a program or a query bound, its errors kept. */
#ifndef TESTS_SUPPORT_BIND_FIXTURE_H
#define TESTS_SUPPORT_BIND_FIXTURE_H

#include "processor/bind/bind.h"

typedef struct BindFixture {
    Arena *arena;
    BindContext context;
    Diagnostics diagnostics; /* of the last program */
    AstScript *script;
    BoundProgram program;
} BindFixture;

/* Current catalog and schema main.default, UTC, the functions of exec. */
void bind_fixture_init(BindFixture *fixture);
void bind_fixture_done(BindFixture *fixture);
/* Relation `name` with columns as SQL text ("a INT, b STRING"). */
void bind_fixture_add(BindFixture *fixture, RelationKind kind, const char *name,
                      const char *columns);
/* Parses a program; false when its mistakes are in `diagnostics`. Then bind_fixture_bind. */
bool bind_fixture_parse(BindFixture *fixture, const char *text);
void bind_fixture_bind(BindFixture *fixture);
/* Parses and binds a program; syntax errors go to diagnostics too. */
void bind_fixture_program(BindFixture *fixture, const char *text);
/* Kind of the first error of the last program, "accept" when there was none. */
const char *bind_fixture_verdict(const BindFixture *fixture);
/* A query; NULL when it parsed and bound. The error is the caller's. */
NODISCARD Error *bind_fixture_query(BindFixture *fixture, const char *text, BoundNode **ret_query);
/* An expression over columns given as SQL text. */
NODISCARD Error *bind_fixture_expr(BindFixture *fixture, const char *text, const char *columns,
                                   BoundExpr **ret_expr);
/* "a INT, b STRING" as a schema; unlike bind_schema takes every type. */
const Schema *bind_fixture_schema(Arena *arena, const char *columns);

#endif
