/* Calls that take a field or a unit of time as a word: EXTRACT(field FROM x), date_part('field',
 * x), timestampadd(unit, n, x), timestampdiff(unit, a, b) and their other names. The word decides
 * which function it is; a unit is handed on as a string. */
#include "processor/bind/binder.h"

#include "processor/base/banned.h"

/* ---- EXTRACT, date_part ---- */

/* A field: its names, the function for dates and times, the function for intervals that have it. */
typedef struct TimeField {
    const char *names[7];
    const char *of_time;
    const char *of_interval;
    int field; /* IntervalField; -1: intervals have none such */
} TimeField;

static const TimeField time_fields[] = {
    {{"year", "y", "years", "yr", "yrs"}, "year", "extract(year)", FIELD_YEAR},
    {{"yearofweek"}, "extract(yearofweek)", NULL, -1},
    {{"quarter", "qtr"}, "quarter", NULL, -1},
    {{"month", "mon", "mons", "months"}, "month", "extract(month)", FIELD_MONTH},
    {{"week", "w", "weeks"}, "weekofyear", NULL, -1},
    {{"day", "d", "days"}, "day", "extract(day)", FIELD_DAY},
    {{"dayofweek", "dow"}, "dayofweek", NULL, -1},
    {{"dayofweek_iso", "dow_iso"}, "extract(dayofweek_iso)", NULL, -1},
    {{"doy"}, "dayofyear", NULL, -1},
    {{"hour", "h", "hours", "hr", "hrs"}, "hour", "extract(hour)", FIELD_HOUR},
    {{"minute", "m", "min", "mins", "minutes"}, "minute", "extract(minute)", FIELD_MINUTE},
    {{"second", "s", "sec", "seconds", "secs"}, "extract(second)", "extract(second)", FIELD_SECOND},
};

static const TimeField *find_field(Str name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(time_fields); i++) {
        for (size_t k = 0; time_fields[i].names[k] != NULL; k++) {
            if (str_equal_ignore_case(str_from(time_fields[i].names[k]), name)) {
                return &time_fields[i];
            }
        }
    }
    return NULL;
}

/* The function that takes the field out of a value of the type, NULL when it has no such field. */
static const char *field_function(Str name, const Type *type)
{
    const TimeField *field = find_field(name);
    if (field == NULL) {
        return NULL;
    }
    if (!type_is_interval(type)) {
        return field->of_time;
    }
    bool has = field->field >= type->precision && field->field <= type->scale;
    return has ? field->of_interval : NULL;
}

static Error *extract_field(Binder *binder, Str field, BoundExpr *source, const BoundExpr *pattern,
                            BoundExpr **ret)
{
    const char *function = field_function(field, source->type);
    if (function == NULL) {
        return error_at(ERROR_INVALID_EXTRACT_FIELD, pattern->place,
                        "Cannot extract `%.*s` from \"%.*s\".", STR_ARG(field),
                        STR_ARG(source->text));
    }
    return bind_function(binder, str_from(function), &source, 1, pattern, ret);
}

Error *bind_extract(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    BoundExpr *source = NULL;
    TRY(bind_expr(binder, scope, expr->extract.source, &source));
    BoundExpr pattern = {.place = expr->place, .text = bound_text(binder, expr)};
    return extract_field(binder, expr->extract.field.name, source, &pattern, ret);
}

Error *bind_date_part(Binder *binder, BoundExpr **arguments, const BoundExpr *pattern,
                      BoundExpr **ret)
{
    const BoundExpr *field = arguments[0];
    if (bound_is_null_literal(field)) {
        *ret = bound_null(binder->arena, &type_double, pattern->place);
        return NULL;
    }
    if (field->kind != BOUND_LITERAL || field->type->kind != TYPE_STRING) {
        return error_at(ERROR_NON_FOLDABLE_ARGUMENT, field->place,
                        "The function `date_part` requires the parameter `field` to be a foldable "
                        "expression of the type \"STRING\", but the actual argument is a "
                        "non-foldable.");
    }
    return extract_field(binder, VECTOR_VALUE(field->literal, Str, 0), arguments[1], pattern, ret);
}

/* ---- timestampadd, timestampdiff ---- */

static bool is_named(const AstExpr *expr, const char *const *names, size_t count)
{
    const AstName *called = &expr->call->name;
    for (size_t i = 0; called->part_count == 1 && i < count; i++) {
        if (str_equal_ignore_case(called->parts[0].name, str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

/* The function behind the call's name, when it is one of those that take a unit. */
static const char *unit_function(const AstExpr *expr)
{
    static const char *const adds[] = {"timestampadd", "dateadd", "date_add"};
    static const char *const differences[] = {"timestampdiff", "datediff", "date_diff", "timediff"};
    if (expr->call->argument_count != 3) {
        return NULL;
    }
    if (is_named(expr, adds, ARRAY_LENGTH(adds))) {
        return "timestampadd";
    }
    return is_named(expr, differences, ARRAY_LENGTH(differences)) ? "timestampdiff" : NULL;
}

static bool is_unit(Str word, bool difference)
{
    static const char *const units[] = {"year",        "quarter",     "month",    "week",
                                        "day",         "hour",        "minute",   "second",
                                        "millisecond", "microsecond", "dayofyear"};
    for (size_t i = 0; i < ARRAY_LENGTH(units) - difference; i++) {
        if (str_equal_ignore_case(word, str_from(units[i]))) {
            return true;
        }
    }
    return false;
}

static Error *wrong_unit(const AstExpr *expr, const AstExpr *unit)
{
    return error_at(ERROR_INVALID_DATETIME_UNIT, unit->place,
                    "The value of parameter(s) `unit` in `%.*s` is invalid: expects one of the "
                    "units without quotes YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, HOUR, "
                    "MINUTE, SECOND, MILLISECOND, MICROSECOND, but got %.*s.",
                    STR_ARG(expr->call->name.text), STR_ARG(unit->text));
}

/* Without a unit, date_add and datediff are other functions; these three are none. */
static Error *check_other_function(const AstExpr *expr)
{
    static const char *const names[] = {"timestampadd", "timestampdiff", "timediff"};
    if (!is_named(expr, names, ARRAY_LENGTH(names))) {
        return NULL;
    }
    return error_set_hint(error_at(ERROR_UNRESOLVED_ROUTINE, expr->place,
                                   "Cannot resolve routine `%.*s` on search path "
                                   "[`system`.`builtin`, `system`.`session`].",
                                   STR_ARG(expr->call->name.text)),
                          "it takes a unit, as in timestampadd(DAY, 1, ts)");
}

Error *bind_unit_call(Binder *binder, const Scope *scope, const AstExpr *expr, bool *ret_is_one,
                      BoundExpr **ret)
{
    const char *function = unit_function(expr);
    *ret_is_one = false;
    if (function == NULL) {
        return check_other_function(expr);
    }
    const AstExpr *unit = expr->call->arguments[0].expr;
    bool text = unit->kind == AST_EXPR_LITERAL && unit->literal.kind == AST_LITERAL_STRING;
    bool word = unit->kind == AST_EXPR_COLUMN && unit->column.name.part_count == 1;
    if (!text && !word) {
        return NULL;
    }
    Str name = text ? unit->literal.value : unit->column.name.parts[0].name;
    bool difference = str_equal(str_from(function), STR("timestampdiff"));
    bool dayofyear = str_equal_ignore_case(name, STR("dayofyear"));
    if (text || (difference && dayofyear)) {
        return wrong_unit(expr, unit);
    }
    if (!is_unit(name, difference)) {
        return check_other_function(expr);
    }
    *ret_is_one = true;
    AstExpr literal = {.kind = AST_EXPR_LITERAL, .place = unit->place, .text = unit->text};
    literal.literal = (AstLiteral){AST_LITERAL_STRING, AST_SUFFIX_NONE, name};
    BoundExpr *arguments[3] = {NULL, NULL, NULL};
    TRY(bind_literal(binder, &literal, false, &arguments[0]));
    TRY(bind_expr(binder, scope, expr->call->arguments[1].expr, &arguments[1]));
    TRY(bind_expr(binder, scope, expr->call->arguments[2].expr, &arguments[2]));
    BoundExpr pattern = {.place = expr->place, .text = bound_text(binder, expr)};
    return bind_function(binder, str_from(function), arguments, 3, &pattern, ret);
}
