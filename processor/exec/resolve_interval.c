/* Types of arithmetic with intervals, dates and times, as Spark 4 gives them:
 *
 *     interval ± interval       of one family: the fields of both
 *     interval * number         the whole family, YEAR TO MONTH or DAY TO SECOND; / likewise
 *     interval div interval     BIGINT
 *     DATE ± months             DATE
 *     DATE ± INTERVAL DAY       DATE; with hours and less: TIMESTAMP
 *     TIMESTAMP ± interval      TIMESTAMP; a STRING ± days-seconds is a STRING again
 *     DATE - DATE               INTERVAL DAY; of times: INTERVAL DAY TO SECOND */
#include "processor/exec/resolve.h"

#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

static const char *const any_timestamp = "(\"TIMESTAMP\" or \"TIMESTAMP WITHOUT TIME ZONE\")";

static bool is_months(const Type *type)
{
    return type->kind == TYPE_INTERVAL_YEAR_MONTH;
}

static bool is_days(const Type *type)
{
    return type->kind == TYPE_INTERVAL_DAY_TIME;
}

static bool is_null(const Type *type)
{
    return type->kind == TYPE_NULL;
}

bool resolve_has_times(const FunctionCall *call)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    return type_is_interval(a) || type_is_interval(b) || type_is_datetime(a) || type_is_datetime(b);
}

static Error *both(FunctionCall *call, const Type *type, const Type *result, const Type **ret_type)
{
    call->argument_types[0] = type;
    call->argument_types[1] = type;
    *ret_type = result;
    return NULL;
}

static const Type *whole_family(Arena *arena, const Type *type)
{
    return is_months(type) ? type_interval(arena, type->kind, FIELD_YEAR, FIELD_MONTH)
                           : type_interval(arena, type->kind, FIELD_DAY, FIELD_SECOND);
}

/* Two intervals of one family, or one and NULL. NULL when they are not. */
static const Type *common_interval(const FunctionCall *call)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    bool pair = (type_is_interval(a) || is_null(a)) && (type_is_interval(b) || is_null(b));
    return pair ? coerce_common_type(call->arena, a, b) : NULL;
}

/* ---- Dates and times moved by an interval ---- */

/* A DATE moves by whole days as a DATE, by less as a TIMESTAMP. */
static const Type *moved_type(const Type *time, const Type *interval)
{
    bool whole_days = is_days(interval) && interval->scale == FIELD_DAY;
    if (time->kind == TYPE_STRING ||
        (time->kind == TYPE_DATE && is_days(interval) && !whole_days)) {
        return &type_timestamp;
    }
    return time;
}

static Error *resolve_move(FunctionCall *call, size_t time, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[time]->kind == TYPE_STRING) {
        call->cast_to = &type_string;
    }
    types[time] = moved_type(types[time], types[1 - time]);
    *ret_type = types[time];
    return NULL;
}

static bool can_move(const Type *time, const Type *interval)
{
    return type_is_interval(interval) &&
           (type_is_datetime(time) || (time->kind == TYPE_STRING && is_days(interval)));
}

static bool is_day_count(const Type *type)
{
    return type->kind == TYPE_INT || type->kind == TYPE_SMALLINT || type->kind == TYPE_TINYINT;
}

static Error *move_by_days(FunctionCall *call, size_t date, const Type **ret_type)
{
    call->argument_types[1 - date] = &type_int;
    *ret_type = &type_date;
    return NULL;
}

/* NULL beside a DATE or time is an interval: the result is a TIMESTAMP. */
static Error *move_by_null(FunctionCall *call, size_t time, const Type **ret_type)
{
    const Type **types = call->argument_types;
    types[1 - time] = type_interval(call->arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, FIELD_SECOND);
    return resolve_move(call, time, ret_type);
}

/* ---- + and - ---- */

static Error *wrong_sum(const FunctionCall *call)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    if (a->kind == TYPE_DATE || b->kind == TYPE_DATE) {
        size_t other = a->kind == TYPE_DATE ? 1 : 0;
        return wrong_type(call, other, "(\"INT\" or \"SMALLINT\" or \"TINYINT\")");
    }
    if (is_days(a) || is_days(b)) {
        return wrong_type(call, is_days(b) ? 0 : 1, any_timestamp);
    }
    bool text = a->kind == TYPE_STRING || b->kind == TYPE_STRING;
    if (type_equal(a, b) || (text && (type_is_datetime(a) || type_is_datetime(b)))) {
        return wrong_operands(call, "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR "
                                    "TO MONTH\" or \"INTERVAL\")");
    }
    return different_operands(call);
}

Error *resolve_time_sum(FunctionCall *call, const Type **ret_type)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    const Type *common = common_interval(call);
    if (common != NULL) {
        return both(call, common, common, ret_type);
    }
    for (size_t time = 0; time < 2; time++) {
        const Type *here = call->argument_types[time];
        const Type *other = call->argument_types[1 - time];
        if (can_move(here, other)) {
            return resolve_move(call, time, ret_type);
        }
        if (here->kind == TYPE_DATE && is_day_count(other)) {
            return move_by_days(call, time, ret_type);
        }
    }
    if ((type_is_datetime(a) && is_null(b)) || (is_null(a) && type_is_datetime(b))) {
        return move_by_null(call, is_null(a) ? 1 : 0, ret_type);
    }
    return wrong_sum(call);
}

/* A difference of two dates or times, of which one may be a STRING or NULL. */
static const Type *common_time(const FunctionCall *call)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    bool time_a = type_is_datetime(a);
    bool time_b = type_is_datetime(b);
    bool loose_a = a->kind == TYPE_STRING || is_null(a);
    bool loose_b = b->kind == TYPE_STRING || is_null(b);
    if ((time_a && (time_b || loose_b)) || (time_b && loose_a)) {
        return coerce_common_type(call->arena, a, b);
    }
    return NULL;
}

static Error *wrong_difference(const FunctionCall *call)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    if (is_days(b) && !is_days(a)) {
        return wrong_type(call, 0, any_timestamp);
    }
    if (type_is_datetime(b)) {
        return wrong_type(call, 0, b->kind == TYPE_DATE ? "\"DATE\"" : any_timestamp);
    }
    if (type_is_datetime(a)) {
        return wrong_type(call, 1,
                          a->kind == TYPE_DATE ? "(\"INT\" or \"SMALLINT\" or \"TINYINT\")"
                                               : any_timestamp);
    }
    return different_operands(call);
}

Error *resolve_time_difference(FunctionCall *call, const Type **ret_type)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    const Type *common = common_interval(call);
    if (common != NULL) {
        return both(call, common, common, ret_type);
    }
    if (can_move(a, b)) {
        return resolve_move(call, 0, ret_type);
    }
    if (a->kind == TYPE_DATE && is_day_count(b)) {
        return move_by_days(call, 0, ret_type);
    }
    common = common_time(call);
    if (common != NULL) {
        enum IntervalField last = common->kind == TYPE_DATE ? FIELD_DAY : FIELD_SECOND;
        const Type *result = type_interval(call->arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, last);
        return both(call, common, result, ret_type);
    }
    return wrong_difference(call);
}

/* ---- * / div % ---- */

/* What a number beside an interval is cast to; NULL when it is no number. */
static const Type *factor_type(const Type *type)
{
    if (type_is_integral(type)) {
        return &type_bigint;
    }
    if (type->kind == TYPE_DECIMAL) {
        return type;
    }
    bool number = type_is_numeric(type) || type->kind == TYPE_STRING || is_null(type);
    return number ? &type_double : NULL;
}

Error *resolve_time_product(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (!type_is_interval(types[0]) && !type_is_interval(types[1])) {
        return resolve_time_remainder(call, ret_type);
    }
    size_t interval = type_is_interval(types[0]) ? 0 : 1;
    const Type *factor = factor_type(types[1 - interval]);
    if (factor == NULL) {
        return wrong_type(call, 1 - interval, "\"NUMERIC\"");
    }
    types[1 - interval] = factor;
    *ret_type = whole_family(call->arena, types[interval]);
    return NULL;
}

Error *resolve_time_quotient(FunctionCall *call, const Type **ret_type)
{
    return type_is_interval(call->argument_types[0]) ? resolve_time_product(call, ret_type)
                                                     : resolve_time_remainder(call, ret_type);
}

Error *resolve_time_div(FunctionCall *call, const Type **ret_type)
{
    const Type *common = common_interval(call);
    return common == NULL ? resolve_time_remainder(call, ret_type)
                          : both(call, common, &type_bigint, ret_type);
}

/* There is none: the operands are different, or of one type that is no number. */
Error *resolve_time_remainder(FunctionCall *call, const Type **ret_type)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    (void)ret_type;
    bool date_and_text = (a->kind == TYPE_DATE && b->kind == TYPE_STRING) ||
                         (a->kind == TYPE_STRING && b->kind == TYPE_DATE);
    return type_equal(a, b) || date_and_text ? wrong_operands(call, "\"NUMERIC\"")
                                             : different_operands(call);
}

/* ---- Making and taking apart ---- */

Error *resolve_make_ym_interval(FunctionCall *call, const Type **ret_type)
{
    TRY(resolve_signature(call, ret_type));
    *ret_type = type_interval(call->arena, TYPE_INTERVAL_YEAR_MONTH, FIELD_YEAR, FIELD_MONTH);
    return NULL;
}

Error *resolve_make_dt_interval(FunctionCall *call, const Type **ret_type)
{
    const Type *seconds = type_decimal(call->arena, 18, 6);
    const Type *last = call->argument_count == 4 ? call->argument_types[3] : NULL;
    if (last != NULL && factor_type(last) != NULL) {
        call->argument_types[3] = &type_int; /* the signature's letter for it */
    }
    TRY(resolve_signature(call, ret_type));
    if (last != NULL) {
        call->argument_types[3] = seconds;
    }
    *ret_type = type_interval(call->arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, FIELD_SECOND);
    return NULL;
}

/* extract(year) …: the binder has seen that the interval has the field. */
Error *resolve_interval_part(FunctionCall *call, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    if (!type_is_interval(type)) {
        return wrong_type(call, 0, "\"INTERVAL\"");
    }
    *ret_type =
        ((const FunctionEntry *)call->function)->signature[0] == 'i' ? &type_int : &type_tinyint;
    return NULL;
}

Error *resolve_second_fraction(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    *ret_type = type_decimal(call->arena, 8, 6);
    if (is_days(types[0]) || types[0]->kind == TYPE_TIMESTAMP_NTZ) {
        return NULL;
    }
    if (types[0]->kind != TYPE_TIMESTAMP && !coerce_is_implicit(types[0], &type_timestamp)) {
        return wrong_type(call, 0, any_timestamp);
    }
    types[0] = &type_timestamp;
    return NULL;
}
