/* window(ts, length[, slide[, start]]): the time windows that hold an instant (SQ-15).
 *
 * In a SELECT it is one more column of the input, and rows without a time are gone, as in Spark.
 * Where windows overlap, an EXPAND gives each row once a window:
 *
 *     SELECT window.start, count(*) FROM t GROUP BY window(ts, '10 minutes', '5 minutes')
 *     Aggregate [1; count(*)]
 *       Expand [0, {start, end}] [0, {start - 5 min, end - 5 min}]
 *         Filter isnotnull(0)
 *           Scan t [ts]
 *
 * Elsewhere (WHERE, a column's expression) it is a plain value, and windows must not overlap. */
#include <assert.h>

#include "processor/bind/bind_select_internal.h"
#include "processor/data/interval_text.h"

#include "processor/base/banned.h"

enum { OVERLAPS_MAX = 100000 };

/* ------------------------------------------------------------- arguments --- */

static Error *not_literal(const AstExpr *expr)
{
    return error_at(ERROR_TIME_WINDOW_NOT_LITERAL, expr->place,
                    "The duration and time inputs to window must be an integer, long or string "
                    "literal.");
}

static Error *parse_duration(Str text, const AstExpr *expr, int64_t *ret_us)
{
    IntervalUnits units = {0};
    Error *cause = interval_parse_units(text, &units);
    if (cause != NULL) {
        error_free(cause);
        return error_at(ERROR_CANNOT_PARSE_INTERVAL, expr->place,
                        "Unable to parse '%.*s'. Please ensure that the value provided is in a "
                        "valid format for defining an interval.",
                        STR_ARG(text));
    }
    if (units.months != 0) {
        return error_at(ERROR_TIME_WINDOW_OF_MONTHS, expr->place,
                        "Intervals greater than a month is not supported (%.*s).", STR_ARG(text));
    }
    int64_t us = 0;
    if (__builtin_mul_overflow(units.days, INT64_C(86400000000), &us) ||
        __builtin_add_overflow(us, units.us, &us)) {
        return error_at(ERROR_CANNOT_PARSE_INTERVAL, expr->place, "Unable to parse '%.*s'.",
                        STR_ARG(text));
    }
    *ret_us = us;
    return NULL;
}

/* '10 minutes', or microseconds as a number. */
static Error *bind_duration(Binder *binder, const AstExpr *expr, int64_t *ret_us)
{
    Scope nothing = {0};
    BoundExpr *bound = NULL;
    TRY(bind_expr(binder, &nothing, expr, &bound));
    if (bound->kind != BOUND_LITERAL || bound_is_null_literal(bound)) {
        return not_literal(expr);
    }
    if (bound->type->kind == TYPE_INT || bound->type->kind == TYPE_BIGINT) {
        *ret_us = vector_int_value(bound->literal, 0);
        return NULL;
    }
    return bound->type->kind == TYPE_STRING
               ? parse_duration(VECTOR_VALUE(bound->literal, Str, 0), expr, ret_us)
               : not_literal(expr);
}

static Error *out_of_range(const AstExpr *expr, const char *what, int64_t value)
{
    return error_at(ERROR_VALUE_OUT_OF_RANGE, expr->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The `%s` must be between "
                    "(0, 9223372036854775807] (current value = %lldL).",
                    STR_ARG(expr->text), what, (long long)value);
}

static Error *bad_relation(const AstExpr *expr, const char *left, int64_t left_value,
                           const char *relation, const char *right, int64_t right_value)
{
    return error_at(ERROR_PARAMETER_CONSTRAINT_VIOLATION, expr->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The `%s`(%lldL) must be "
                    "%s the `%s`(%lldL).",
                    STR_ARG(expr->text), left, (long long)left_value, relation, right,
                    (long long)right_value);
}

static Error *check_durations(const AstExpr *expr, const TimeWindow *window)
{
    if (window->length_us <= 0) {
        return out_of_range(expr, "window_duration", window->length_us);
    }
    if (window->slide_us <= 0) {
        return out_of_range(expr, "slide_duration", window->slide_us);
    }
    if (window->slide_us > window->length_us) {
        return bad_relation(expr, "slide_duration", window->slide_us, "<=", "window_duration",
                            window->length_us);
    }
    if (window->start_us == INT64_MIN || window->start_us >= window->slide_us ||
        -window->start_us >= window->slide_us) {
        return bad_relation(expr, "abs(start_time)", window->start_us, "<", "slide_duration",
                            window->slide_us);
    }
    return NULL;
}

static Error *bind_window_arguments(Binder *binder, const Scope *scope, const AstExpr *expr,
                                    TimeWindow *ret)
{
    const AstCall *call = expr->call;
    if (call->argument_count < 2 || call->argument_count > 4) {
        return error_at(ERROR_WRONG_NUM_ARGS, expr->place,
                        "The `window` requires [2, 3, 4] parameters but the actual number is %zu.",
                        call->argument_count);
    }
    int64_t *durations[] = {&ret->length_us, &ret->slide_us, &ret->start_us};
    TRY(bind_expr(binder, scope, call->arguments[0].expr, &ret->time));
    for (size_t i = 1; i < call->argument_count; i++) {
        TRY(bind_duration(binder, call->arguments[i].expr, durations[i - 1]));
    }
    ret->slide_us = call->argument_count < 3 ? ret->length_us : ret->slide_us;
    ret->place = expr->place;
    return check_durations(expr, ret);
}

/* ---------------------------------------------------------------- values --- */

/* The start of the last window that holds the time, moved by shift_us. */
static Error *window_time(Binder *binder, const TimeWindow *window, int64_t shift_us,
                          BoundExpr **ret)
{
    Arena *arena = binder->arena;
    BoundExpr *arguments[4] = {window->time,
                               bound_int(arena, &type_bigint, window->slide_us, window->place),
                               bound_int(arena, &type_bigint, window->start_us, window->place),
                               bound_int(arena, &type_bigint, shift_us, window->place)};
    BoundExpr pattern = {.place = window->place, .text = STR("window")};
    return bind_function(binder, STR("window"), arguments, 4, &pattern, ret);
}

/* Window number `back` before the last one that holds the time, as STRUCT<start, end>. */
static Error *window_value(Binder *binder, const TimeWindow *window, int64_t back, BoundExpr **ret)
{
    BoundExpr *ends[2] = {NULL, NULL};
    int64_t shift = -back * window->slide_us;
    TRY(window_time(binder, window, shift, &ends[0]));
    TRY(window_time(binder, window, shift + window->length_us, &ends[1]));
    Field *fields = arena_new_array(binder->arena, Field, 2);
    fields[0] = (Field){STR("start"), ends[0]->type, false, STR_NULL};
    fields[1] = (Field){STR("end"), ends[1]->type, false, STR_NULL};
    BoundExpr pattern = {.kind = BOUND_STRUCT,
                         .type = type_struct(binder->arena, fields, 2),
                         .place = window->place,
                         .text = STR("window")};
    return bound_new(binder, &pattern, ends, 2, ret);
}

static Error *plain_value(Binder *binder, const AstExpr *expr, const TimeWindow *window,
                          BoundExpr **ret)
{
    if (window->slide_us != window->length_us) {
        return not_yet(expr->place, "window() with overlapping windows in this place");
    }
    return window_value(binder, window, 0, ret);
}

static bool same_time_window(const TimeWindow *a, const TimeWindow *b)
{
    return a->length_us == b->length_us && a->slide_us == b->slide_us &&
           a->start_us == b->start_us && bound_equal(a->time, b->time);
}

/* The window's column; the first call of a SELECT settles which window that is. */
static Error *column_value(Binder *binder, const AstExpr *expr, const TimeWindow *window,
                           TimeWindow *known, BoundExpr **ret)
{
    if (known->time == NULL) {
        BoundExpr *value = NULL;
        uint32_t column = known->column;
        TRY(window_value(binder, window, 0, &value));
        *known = *window;
        known->column = column;
        known->field = (Field){STR("window"), value->type, false, STR_NULL};
    } else if (!same_time_window(known, window)) {
        return error_at(ERROR_MULTIPLE_TIME_WINDOWS, expr->place,
                        "Multiple time/session window expressions would result in a cartesian "
                        "product of rows, therefore they are currently not supported.");
    }
    *ret = bound_column(binder->arena, &known->field, known->column, expr->place);
    return NULL;
}

Error *bind_time_window(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    TimeWindow window = {0};
    TRY(bind_window_arguments(binder, scope, expr, &window));
    TimeWindow *known = scope->select == NULL ? NULL : scope->select->time_window;
    return known == NULL ? plain_value(binder, expr, &window, ret)
                         : column_value(binder, expr, &window, known, ret);
}

/* -------------------------------------------------------------- building --- */

static const AstExpr *find_window_call(const FunctionCatalog *functions, const AstExpr *expr)
{
    ExprTraits traits = {0};
    if (expr != NULL) {
        expr_traits(functions, expr, &traits);
    }
    return traits.time_window;
}

static const AstExpr *find_grouped(const FunctionCatalog *functions, const AstGroupingItem *item)
{
    const AstExpr *found = NULL;
    for (size_t i = 0; i < item->expr_count && found == NULL; i++) {
        found = find_window_call(functions, item->exprs[i]);
    }
    for (size_t i = 0; i < item->item_count && found == NULL; i++) {
        found = find_grouped(functions, &item->items[i]);
    }
    return found;
}

Error *find_time_window(Binder *binder, const Scope *scope)
{
    const AstSelect *ast = scope->select->ast;
    const FunctionCatalog *functions = binder->context->functions;
    const AstExpr *found = NULL;
    for (size_t i = 0; ast->group_by != NULL && i < ast->group_by->item_count && found == NULL;
         i++) {
        found = find_grouped(functions, &ast->group_by->items[i]);
    }
    for (size_t i = 0; i < ast->item_count && found == NULL; i++) {
        found = find_window_call(functions, ast->items[i].expr);
    }
    BoundExpr *column = NULL;
    bool is_window = found != NULL && str_equal_ignore_case(found->call->name.text, STR("window"));
    return is_window ? bind_time_window(binder, scope, found, &column) : NULL;
}

/* The columns of the input and the window `back` before the last one. */
static Error *fill_row(Binder *binder, const TimeWindow *window, const Schema *input, int64_t back,
                       BoundExpr **row)
{
    for (size_t i = 0; i < input->field_count; i++) {
        row[i] = bound_column(binder->arena, &input->fields[i], (uint32_t)i, window->place);
    }
    return window_value(binder, window, back, &row[input->field_count]);
}

static Error *filter_times(Binder *binder, const TimeWindow *window, BoundNode **node)
{
    BoundExpr *time = window->time;
    BoundExpr *there = NULL;
    BoundExpr pattern = {.place = window->place, .text = STR("isnotnull(window)")};
    TRY(bind_function(binder, STR("isnotnull"), &time, 1, &pattern, &there));
    *node = bound_filter(binder, *node, there);
    return NULL;
}

/* Where the length is no multiple of the slide, the earliest of the windows may end too early. */
static Error *filter_ends(Binder *binder, const TimeWindow *window, BoundNode **node)
{
    if (window->length_us % window->slide_us == 0) {
        return NULL;
    }
    BoundExpr *column = bound_column(binder->arena, &window->field, window->column, window->place);
    BoundExpr pattern = {.kind = BOUND_FIELD,
                         .type = window->field.type->fields[1].type,
                         .place = window->place,
                         .text = STR("window.end"),
                         .field = 1};
    BoundExpr *pair[2] = {window->time, NULL};
    BoundExpr *inside = NULL;
    TRY(bound_new(binder, &pattern, &column, 1, &pair[1]));
    TRY(bind_function(binder, STR("<"), pair, 2, &pattern, &inside));
    *node = bound_filter(binder, *node, inside);
    return NULL;
}

Error *build_time_window(Binder *binder, const TimeWindow *window, BoundNode **node)
{
    if (window->time == NULL) {
        return NULL;
    }
    int64_t overlaps = (window->length_us - 1) / window->slide_us + 1;
    const Schema *input = (*node)->schema;
    size_t width = input->field_count + 1;
    assert(window->column == input->field_count);
    if (overlaps > OVERLAPS_MAX / (int64_t)width) {
        return error_at(ERROR_STATEMENT_TOO_COMPLEX, window->place,
                        "An instant lies in %lld windows at once.", (long long)overlaps);
    }
    TRY(filter_times(binder, window, node));
    size_t count = width * (size_t)overlaps;
    BoundExpr **cells = arena_new_array(binder->arena, BoundExpr *, count);
    for (int64_t i = 0; i < overlaps; i++) {
        TRY(fill_row(binder, window, input, i, cells + (size_t)i * width));
    }
    Field *fields = arena_new_array(binder->arena, Field, width);
    for (size_t i = 0; i < input->field_count; i++) {
        fields[i] = input->fields[i];
    }
    fields[input->field_count] = window->field;
    const Schema *schema = schema_new(binder->arena, fields, width);
    if (overlaps == 1) {
        *node = bound_project(binder->arena, *node, cells, schema, window->place);
        return NULL;
    }
    BoundNode *expand = bound_node_new(binder, BOUND_EXPAND, schema, window->place);
    expand->child = *node;
    expand->expressions = cells;
    expand->expression_count = count;
    expand->row_count = (size_t)overlaps;
    *node = expand;
    return filter_ends(binder, window, node);
}
