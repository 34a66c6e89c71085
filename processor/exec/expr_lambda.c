/* Calls with lambdas: finds out what a body captures, compiles it as an expression of its own, runs
 * it over elements (lambda.h).
 *
 * The body is copied with other columns: parameter i becomes column i, a column of the row around
 * becomes a captured one behind the parameters. A lambda inside the body is copied along, so that
 * when its turn comes, it too sees parameters of its own and columns, nothing else: the parameter
 * of an outer lambda is a column by then. */
#include "processor/exec/expr_lambda.h"

#include <assert.h>

#include "processor/exec/lambda.h"

#include "processor/base/banned.h"

/* Elements computed at once; a multiple of 64 (vector_view) that 16 bits can select from. */
enum { LAMBDA_ROWS = 16384 };

/* ---- Captures ---- */

typedef struct Captures {
    Arena *arena;
    const BoundExpr *lambda;
    uint32_t *columns; /* captured: columns of the batch around */
    const Type **types;
    size_t count;
    size_t capacity;
    size_t type_capacity;
} Captures;

/* The number of a captured column among the captures. */
static uint32_t capture(Captures *captures, const BoundExpr *column)
{
    for (size_t i = 0; i < captures->count; i++) {
        if (captures->columns[i] == column->column) {
            return (uint32_t)i;
        }
    }
    size_t type_count = captures->count;
    *arena_push(captures->arena, captures->types, type_count, captures->type_capacity) =
        column->type;
    *arena_push(captures->arena, captures->columns, captures->count, captures->capacity) =
        column->column;
    return (uint32_t)captures->count - 1;
}

/* The lambdas inside the body, around an expression in it. One may bind the same numbers when it
 * came there later (a column replaced by what it is computed from): those are its own. */
typedef struct Inner {
    const BoundExpr *lambda;
    const struct Inner *outer;
} Inner;

static bool binds(const BoundExpr *lambda, uint32_t parameter)
{
    return parameter >= lambda->parameter &&
           parameter < lambda->parameter + lambda->parameter_count;
}

/* Is the expression a parameter of the lambda being compiled? */
static bool is_own(const Captures *captures, const BoundExpr *expr, const Inner *inner)
{
    if (expr->kind != BOUND_PARAMETER || !binds(captures->lambda, expr->parameter)) {
        return false;
    }
    for (; inner != NULL; inner = inner->outer) {
        if (binds(inner->lambda, expr->parameter)) {
            return false;
        }
    }
    return true;
}

/* The column of the batch of elements that takes the place of a parameter or column; UINT32_MAX:
 * it stays (a parameter of a lambda inside). */
static uint32_t element_column(Captures *captures, const BoundExpr *expr, const Inner *inner)
{
    const BoundExpr *lambda = captures->lambda;
    if (expr->kind == BOUND_COLUMN) {
        return lambda->parameter_count + capture(captures, expr);
    }
    return is_own(captures, expr, inner) ? expr->parameter - lambda->parameter : UINT32_MAX;
}

static BoundExpr *over_elements(Captures *captures, const BoundExpr *expr, const Inner *inner)
{
    BoundExpr *copy = arena_new_object(captures->arena, BoundExpr);
    *copy = *expr;
    uint32_t column = element_column(captures, expr, inner);
    if (column != UINT32_MAX) {
        copy->kind = BOUND_COLUMN;
        copy->column = column;
        return copy;
    }
    const Inner own = {expr, inner};
    const Inner *around = expr->kind == BOUND_LAMBDA ? &own : inner;
    copy->children = arena_new_array(captures->arena, BoundExpr *, expr->child_count);
    for (size_t i = 0; i < expr->child_count; i++) {
        copy->children[i] = over_elements(captures, expr->children[i], around);
    }
    return copy;
}

/* ---- Compiling ---- */

static void close_body(void *body)
{
    expression_close(body);
}

/* The types of parameters nobody reads are not known and not needed. */
static void find_parameter_types(const Captures *captures, const BoundExpr *expr,
                                 const Inner *inner, Field *fields)
{
    if (is_own(captures, expr, inner)) {
        fields[expr->parameter - captures->lambda->parameter].type = expr->type;
    }
    const Inner own = {expr, inner};
    const Inner *around = expr->kind == BOUND_LAMBDA ? &own : inner;
    for (size_t i = 0; i < expr->child_count; i++) {
        find_parameter_types(captures, expr->children[i], around, fields);
    }
}

static const Schema *schema_of_elements(const Captures *captures)
{
    size_t parameters = captures->lambda->parameter_count;
    Field *fields = arena_new_array(captures->arena, Field, parameters + captures->count);
    for (size_t i = 0; i < parameters; i++) {
        fields[i].type = &type_null;
    }
    find_parameter_types(captures, captures->lambda->children[0], NULL, fields);
    for (size_t i = 0; i < captures->count; i++) {
        fields[parameters + i].type = captures->types[i];
    }
    return schema_new(captures->arena, fields, parameters + captures->count);
}

Error *lambda_compile(const Expression *out, const BoundExpr *expr, Lambda *ret,
                      BoundExpr ***ret_captures)
{
    assert(expr->kind == BOUND_LAMBDA);
    Captures captures = {.arena = out->arena, .lambda = expr};
    const BoundExpr *body = over_elements(&captures, expr->children[0], NULL);
    Lambda lambda = {.parameter_count = expr->parameter_count,
                     .capture_count = (uint32_t)captures.count,
                     .schema = schema_of_elements(&captures)};
    TRY(expression_open(body, &out->context, &lambda.body));
    arena_on_reset(out->arena, close_body, lambda.body);
    BoundExpr **columns = arena_new_array(out->arena, BoundExpr *, captures.count);
    for (size_t i = 0; i < captures.count; i++) {
        columns[i] = arena_new_object(out->arena, BoundExpr);
        *columns[i] = (BoundExpr){.kind = BOUND_COLUMN,
                                  .type = captures.types[i],
                                  .column = captures.columns[i],
                                  .height = 1,
                                  .node_count = 1};
    }
    *ret = lambda;
    *ret_captures = columns;
    return NULL;
}

bool expr_is_pure(const BoundExpr *expr)
{
    if (expr->kind == BOUND_CALL && (expr->function->flags & FUNCTION_DETERMINISTIC) == 0) {
        return false;
    }
    if (expr->kind == BOUND_CALL && (expr->function->flags & FUNCTION_CLOCK) != 0) {
        return false;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (!expr_is_pure(expr->children[i])) {
            return false;
        }
    }
    return true;
}

/* ---- Running ---- */

Vector **lambda_columns(const KernelCall *call, const Lambda *lambda, Arena *arena,
                        const uint32_t *row_of, uint32_t count)
{
    size_t column_count = lambda->parameter_count + lambda->capture_count;
    Vector **columns = arena_new_array(arena, Vector *, column_count);
    for (uint32_t i = 0; i < lambda->capture_count; i++) {
        columns[lambda->parameter_count + i] =
            vector_gather(arena, call->arguments[lambda->first_capture + i], row_of, count);
    }
    return columns;
}

/* The value of up to LAMBDA_ROWS elements. */
static const Vector *run_part(const Lambda *lambda, Vector **columns, uint32_t count, Arena *arena,
                              RowErrors *errors)
{
    Batch *batch = batch_from_columns(arena, lambda->schema, columns, count);
    const Vector *value = NULL;
    Error *error = expression_evaluate(lambda->body, batch, arena, errors, &value);
    if (error != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            row_errors_add(errors, i, error_copy(error));
        }
        error_free(error);
        return vector_of_nulls(arena, lambda->body->type, count);
    }
    return value;
}

/* In place of a parameter nobody reads. */
static Vector *unread(Arena *arena, uint32_t count)
{
    Vector *vector = arena_new_object(arena, Vector);
    *vector = (Vector){.type = &type_null, .length = count};
    return vector;
}

static Vector **views_of(const Lambda *lambda, Vector *const *columns, uint32_t first,
                         uint32_t count, Arena *arena)
{
    size_t column_count = lambda->parameter_count + lambda->capture_count;
    Vector **views = arena_new_array(arena, Vector *, column_count);
    for (size_t i = 0; i < column_count; i++) {
        views[i] = columns[i] == NULL ? unread(arena, count)
                                      : vector_view(arena, columns[i], first, count);
    }
    return views;
}

static const Vector *run_parts(const Lambda *lambda, Vector *const *columns, uint32_t count,
                               Arena *arena, RowErrors *errors)
{
    Vector *whole = vector_new(arena, lambda->body->type, count);
    for (uint32_t first = 0; first < count; first += LAMBDA_ROWS) {
        uint32_t part = count - first < LAMBDA_ROWS ? count - first : LAMBDA_ROWS;
        Vector **views = views_of(lambda, columns, first, part, arena);
        RowErrors own = {0};
        const Vector *value = run_part(lambda, views, part, arena, &own);
        for (uint32_t i = 0; i < part; i++) {
            vector_append_from(whole, arena, value, i);
        }
        for (size_t i = 0; i < own.count; i++) {
            row_errors_add(errors, first + own.rows[i], own.errors[i]);
        }
        own.count = 0;
        row_errors_done(&own);
    }
    return whole;
}

const Vector *lambda_run(const KernelCall *call, const Lambda *lambda, Vector *const *columns,
                         uint32_t count, Arena *arena, RowErrors *errors)
{
    if (count == 0) {
        return vector_new(arena, lambda->body->type, 0);
    }
    lambda->body->context = *call->context;
    if (count > LAMBDA_ROWS) {
        return run_parts(lambda, columns, count, arena, errors);
    }
    return run_part(lambda, views_of(lambda, columns, 0, count, arena), count, arena, errors);
}
