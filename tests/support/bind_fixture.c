/* See bind_fixture.h. A text that does not parse where it must fails an assertion. */
#include "tests/support/bind_fixture.h"

#include <assert.h>

#include "processor/exec/query.h"
#include "processor/sql/parser.h"

void bind_fixture_init(BindFixture *fixture)
{
    *fixture = (BindFixture){.arena = arena_new("test")};
    fixture->context = (BindContext){.functions = function_catalog(),
                                     .time_zone = time_zone_utc(),
                                     .pipeline = true,
                                     .owner = STR("alice"),
                                     .arena = fixture->arena};
    fixture->context.catalog = catalog_new(fixture->arena, STR("main"), STR("default"));
}

void bind_fixture_done(BindFixture *fixture)
{
    diagnostics_done(&fixture->diagnostics);
    arena_free(fixture->arena);
}

const Schema *bind_fixture_schema(Arena *arena, const char *columns)
{
    AstColumnDefinition *definitions = NULL;
    size_t count = 0;
    Error *error = sql_parse_column_definitions(arena_copy_str(arena, str_from(columns)), arena,
                                                &definitions, &count);
    assert(error == NULL);
    Field *fields = arena_new_array(arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = (Field){definitions[i].name.name, NULL, false, STR_NULL};
        error = bind_type(arena, definitions[i].type, &fields[i].type);
        assert(error == NULL);
    }
    (void)error;
    return schema_new(arena, fields, count);
}

void bind_fixture_add(BindFixture *fixture, RelationKind kind, const char *name,
                      const char *columns)
{
    Relation relation = {.name = arena_copy_str(fixture->arena, str_from(name)),
                         .kind = kind,
                         .schema = bind_fixture_schema(fixture->arena, columns)};
    Error *error = catalog_add(fixture->context.catalog, &relation);
    assert(error == NULL);
    (void)error;
}

static void keep_error(void *context, size_t script, Error *error)
{
    assert(script == 0);
    (void)script;
    diagnostics_add(context, error);
}

bool bind_fixture_parse(BindFixture *fixture, const char *text)
{
    diagnostics_done(&fixture->diagnostics);
    fixture->diagnostics = (Diagnostics){0};
    Str copy = arena_copy_str(fixture->arena, str_from(text));
    sql_parse_script(copy, fixture->arena, &fixture->diagnostics, &fixture->script);
    return fixture->diagnostics.count == 0;
}

void bind_fixture_bind(BindFixture *fixture)
{
    const AstScript *scripts[] = {fixture->script};
    bind_program(&fixture->context, scripts, 1, keep_error, &fixture->diagnostics,
                 &fixture->program);
}

void bind_fixture_program(BindFixture *fixture, const char *text)
{
    if (bind_fixture_parse(fixture, text)) {
        bind_fixture_bind(fixture);
    }
}

const char *bind_fixture_verdict(const BindFixture *fixture)
{
    return fixture->diagnostics.count == 0 ? "accept" : error_kind(fixture->diagnostics.errors[0]);
}

Error *bind_fixture_query(BindFixture *fixture, const char *text, BoundNode **ret_query)
{
    AstQuery *query = NULL;
    TRY(sql_parse_query(arena_copy_str(fixture->arena, str_from(text)), fixture->arena, &query));
    return bind_query(&fixture->context, query, ret_query);
}

Error *bind_fixture_expr(BindFixture *fixture, const char *text, const char *columns,
                         BoundExpr **ret_expr)
{
    AstExpr *expr = NULL;
    TRY(sql_parse_expression(arena_copy_str(fixture->arena, str_from(text)), fixture->arena,
                             &expr));
    return bind_expression(&fixture->context, expr, bind_fixture_schema(fixture->arena, columns),
                           ret_expr);
}
