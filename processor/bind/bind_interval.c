/* Interval literals as values (SQ-34). Three spellings, two families:
 *
 *     INTERVAL '1-2' YEAR TO MONTH   the fields of that type
 *     INTERVAL 3 DAYS 4 HOURS        numbers of units; the type spans the units named
 *     INTERVAL '3 days 4 hours'      the same in one string
 *
 * A literal names units of one family only. */
#include "processor/bind/binder.h"
#include "processor/data/interval_text.h"

#include "processor/base/banned.h"

enum { MONTH_FIELDS = 1U << FIELD_YEAR | 1U << FIELD_MONTH };

static const int64_t us_per_day = INT64_C(86400000000);

static Error *interval_literal(Binder *binder, const AstInterval *interval, const Type *type,
                               int64_t value, BoundExpr **ret)
{
    BoundExpr *expr = arena_new_object(binder->arena, BoundExpr);
    Vector *vector = vector_new(binder->arena, type, 1);
    vector_append_int(vector, binder->arena, value);
    *expr = (BoundExpr){.kind = BOUND_LITERAL,
                        .type = type,
                        .place = interval->place,
                        .text = interval->text,
                        .literal = vector,
                        .height = 1,
                        .node_count = 1};
    *ret = expr;
    return NULL;
}

static Error *at_literal(Error *error, const AstInterval *interval)
{
    if (error != NULL && error_place(error).line == 0) {
        error_set_place(error, interval->place);
    }
    return error;
}

/* ---- Units ---- */

static const char *unit_word(AstIntervalUnit unit)
{
    static const char *const words[] = {
        [AST_UNIT_MICROSECOND] = "microsecond",
        [AST_UNIT_MILLISECOND] = "millisecond",
        [AST_UNIT_SECOND] = "second",
        [AST_UNIT_MINUTE] = "minute",
        [AST_UNIT_HOUR] = "hour",
        [AST_UNIT_DAY] = "day",
        [AST_UNIT_WEEK] = "week",
        [AST_UNIT_MONTH] = "month",
        [AST_UNIT_YEAR] = "year",
    };
    return words[unit];
}

static bool has_letter(Str text)
{
    for (size_t i = 0; i < text.size; i++) {
        char lower = (char)(text.data[i] | 0x20);
        if (lower >= 'a' && lower <= 'z') {
            return true;
        }
    }
    return false;
}

/* The value with the sign that stands outside of it: two minus signs are none. */
static void append_value(const AstIntervalPart *part, Buffer *out)
{
    bool negative = part->value.size > 0 && part->value.data[0] == '-';
    if (part->negative && negative) {
        buffer_append_str(out, (Str){part->value.data + 1, part->value.size - 1});
        return;
    }
    buffer_append_cstr(out, part->negative ? "-" : "");
    buffer_append_str(out, part->value);
}

/* The parts as one text, which is read as the spelling in a string is. */
static Error *units_text(const AstInterval *interval, Buffer *out)
{
    for (size_t i = 0; i < interval->part_count; i++) {
        const AstIntervalPart *part = &interval->parts[i];
        if (part->is_string && has_letter(part->value)) {
            return error_at(ERROR_INVALID_INTERVAL_FORMAT, part->place,
                            "numbers are expected for the value part, but got '%.*s'.",
                            STR_ARG(part->value));
        }
        buffer_append_byte(out, ' ');
        append_value(part, out);
        buffer_printf(out, " %s", unit_word(part->unit));
    }
    return NULL;
}

static Error *bind_units(Binder *binder, const AstInterval *interval, const IntervalUnits *units,
                         BoundExpr **ret)
{
    bool months = (units->fields & ~(unsigned)MONTH_FIELDS) == 0;
    if (!months && (units->fields & MONTH_FIELDS) != 0) {
        return error_at(ERROR_INVALID_INTERVAL_FORMAT, interval->place,
                        "Cannot mix year-month and day-time fields: %.*s.",
                        STR_ARG(interval->text));
    }
    int first = FIELD_YEAR;
    int last = FIELD_SECOND;
    for (; (units->fields >> first & 1) == 0; first++) {
    }
    for (; (units->fields >> last & 1) == 0; last--) {
    }
    int64_t value = months ? units->months : units->us;
    int64_t days_us = 0;
    if (!months && (__builtin_mul_overflow(units->days, us_per_day, &days_us) ||
                    __builtin_add_overflow(value, days_us, &value))) {
        return error_at(ERROR_INTERVAL_OVERFLOW, interval->place,
                        "Integer overflow while operating with intervals. Try devising "
                        "appropriate values for the interval parameters.");
    }
    const Type *type =
        type_interval(binder->arena, months ? TYPE_INTERVAL_YEAR_MONTH : TYPE_INTERVAL_DAY_TIME,
                      (enum IntervalField)first, (enum IntervalField)last);
    return interval_literal(binder, interval, type, value, ret);
}

static Error *bind_unit_parts(Binder *binder, const AstInterval *interval, BoundExpr **ret)
{
    AUTO_BUFFER Buffer text = {0};
    IntervalUnits units;
    TRY(units_text(interval, &text));
    TRY(at_literal(interval_parse_units(buffer_str(&text), &units), interval));
    return bind_units(binder, interval, &units, ret);
}

static Error *bind_unit_string(Binder *binder, const AstInterval *interval, BoundExpr **ret)
{
    IntervalUnits units;
    Error *error = interval_parse_units(interval->parts[0].value, &units);
    if (error != NULL) {
        error_free(error);
        return error_at(ERROR_INVALID_TYPED_LITERAL, interval->place,
                        "The value of the typed literal \"INTERVAL\" is invalid: '%.*s'.",
                        STR_ARG(interval->parts[0].value));
    }
    return bind_units(binder, interval, &units, ret);
}

/* ---- FROM TO ---- */

static bool field_of(AstIntervalUnit unit, enum IntervalField *ret)
{
    switch (unit) {
    case AST_UNIT_YEAR:
        *ret = FIELD_YEAR;
        return true;
    case AST_UNIT_MONTH:
        *ret = FIELD_MONTH;
        return true;
    case AST_UNIT_DAY:
        *ret = FIELD_DAY;
        return true;
    case AST_UNIT_HOUR:
        *ret = FIELD_HOUR;
        return true;
    case AST_UNIT_MINUTE:
        *ret = FIELD_MINUTE;
        return true;
    case AST_UNIT_SECOND:
        *ret = FIELD_SECOND;
        return true;
    case AST_UNIT_MICROSECOND:
    case AST_UNIT_MILLISECOND:
    case AST_UNIT_WEEK:
        break;
    }
    return false;
}

static Error *bind_fields(Binder *binder, const AstInterval *interval, BoundExpr **ret)
{
    const AstIntervalPart *part = &interval->parts[0];
    AUTO_BUFFER Buffer text = {0};
    append_value(part, &text);
    enum IntervalField first = FIELD_YEAR;
    enum IntervalField last = FIELD_YEAR;
    bool known = field_of(part->unit, &first) && field_of(interval->to_unit, &last);
    bool one_family = (first <= FIELD_MONTH) == (last <= FIELD_MONTH);
    if (!known || !one_family || first >= last) {
        return error_at(ERROR_INTERVAL_FROM_TO, interval->place,
                        "Cannot support (interval '%.*s' %s to %s) expression.",
                        STR_ARG(buffer_str(&text)), unit_word(part->unit),
                        unit_word(interval->to_unit));
    }
    if (!part->is_string) {
        return error_at(ERROR_INVALID_INTERVAL_FORMAT, part->place,
                        "The value of from-to unit must be a string.");
    }
    const Type *type = type_interval(
        binder->arena, first <= FIELD_MONTH ? TYPE_INTERVAL_YEAR_MONTH : TYPE_INTERVAL_DAY_TIME,
        first, last);
    int64_t value = 0;
    TRY(at_literal(interval_parse_fields(buffer_str(&text), type, &value), interval));
    return interval_literal(binder, interval, type, value, ret);
}

Error *bind_interval_literal(Binder *binder, const AstExpr *expr, BoundExpr **ret)
{
    const AstInterval *interval = &expr->interval;
    switch (interval->form) {
    case AST_INTERVAL_UNITS:
        TRY(bind_unit_parts(binder, interval, ret));
        break;
    case AST_INTERVAL_FIELDS:
        TRY(bind_fields(binder, interval, ret));
        break;
    case AST_INTERVAL_STRING:
        TRY(bind_unit_string(binder, interval, ret));
        break;
    }
    (*ret)->text = bound_text(binder, expr);
    return NULL;
}
