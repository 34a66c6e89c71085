/* Dates and times in words: DATE 'today', TIMESTAMP 'epoch', and strings written as such that
 * become dates (Spark reads no others so). The epoch is a value; what depends on the clock becomes
 * a call of current_date or current_timestamp, so that it is the query's moment, the same wherever
 * it is asked. */
#include "processor/bind/binder.h"

#include "processor/base/banned.h"

typedef enum SpecialTime {
    SPECIAL_NONE,
    SPECIAL_EPOCH,
    SPECIAL_NOW,
    SPECIAL_YESTERDAY,
    SPECIAL_TODAY,
    SPECIAL_TOMORROW,
} SpecialTime;

static size_t letters_at_start(Str text)
{
    size_t count = 0;
    while (count < text.size && ((text.data[count] >= 'a' && text.data[count] <= 'z') ||
                                 (text.data[count] >= 'A' && text.data[count] <= 'Z'))) {
        count++;
    }
    return count;
}

static bool is_zone(Str name)
{
    TimeZone *zone = NULL;
    Error *error = time_zone_open(name, &zone);
    if (error != NULL) {
        error_free(error);
        return false;
    }
    time_zone_free(zone);
    return true;
}

/* A zone behind the word must be one, and is ignored; behind `now` there may be none. */
static SpecialTime special_of(Str text)
{
    static const char *const words[] = {
        [SPECIAL_EPOCH] = "epoch",         [SPECIAL_NOW] = "now",
        [SPECIAL_YESTERDAY] = "yesterday", [SPECIAL_TODAY] = "today",
        [SPECIAL_TOMORROW] = "tomorrow",
    };
    Str whole = str_trim(text);
    Str word = {whole.data, letters_at_start(whole)};
    Str zone = str_trim((Str){whole.data + word.size, whole.size - word.size});
    SpecialTime special = SPECIAL_NONE;
    for (size_t i = SPECIAL_EPOCH; i < ARRAY_LENGTH(words); i++) {
        if (str_equal_ignore_case(word, str_from(words[i]))) {
            special = (SpecialTime)i;
        }
    }
    bool valid =
        zone.size == 0 || (special != SPECIAL_NONE && special != SPECIAL_NOW && is_zone(zone));
    return valid ? special : SPECIAL_NONE;
}

bool is_special_time(Str text, const Type *type)
{
    return (type->kind == TYPE_DATE || type->kind == TYPE_TIMESTAMP ||
            type->kind == TYPE_TIMESTAMP_NTZ) &&
           text.size > 0 && special_of(text) != SPECIAL_NONE;
}

bool means_special_time(const BoundExpr *expr, const Type *type)
{
    return expr->kind == BOUND_LITERAL && expr->type->kind == TYPE_STRING &&
           is_special_time(VECTOR_VALUE(expr->literal, Str, 0), type);
}

static BoundExpr *whole_number(Binder *binder, const Type *type, int64_t value,
                               const BoundExpr *pattern)
{
    BoundExpr *expr = arena_new_object(binder->arena, BoundExpr);
    Vector *vector = vector_new(binder->arena, type, 1);
    vector_append_int(vector, binder->arena, value);
    *expr = *pattern;
    expr->kind = BOUND_LITERAL;
    expr->type = type;
    expr->literal = vector;
    return expr;
}

/* Midnight `days` from today, as the type wants it. */
static Error *bind_day(Binder *binder, int days, const Type *type, const BoundExpr *pattern,
                       BoundExpr **ret)
{
    BoundExpr *pair[2] = {NULL, whole_number(binder, &type_int, days, pattern)};
    TRY(bind_function(binder, STR("current_date"), NULL, 0, pattern, &pair[0]));
    BoundExpr *day = pair[0];
    if (days != 0) {
        TRY(bind_function(binder, STR("date_add"), pair, 2, pattern, &day));
    }
    return bound_cast(binder, day, type, ret);
}

Error *bind_special_time(Binder *binder, Str text, const Type *type, const BoundExpr *place,
                         BoundExpr **ret)
{
    BoundExpr pattern = {.kind = BOUND_CALL,
                         .place = place->place,
                         .text = place->text,
                         .height = 1,
                         .node_count = 1};
    SpecialTime special = special_of(text);
    if (special == SPECIAL_EPOCH) {
        *ret = whole_number(binder, type, 0, &pattern);
        return NULL;
    }
    if (special == SPECIAL_NOW && type->kind != TYPE_DATE) {
        BoundExpr *now = NULL;
        TRY(bind_function(binder, STR("current_timestamp"), NULL, 0, &pattern, &now));
        return bound_cast(binder, now, type, ret);
    }
    int days = special == SPECIAL_YESTERDAY ? -1 : special == SPECIAL_TOMORROW ? 1 : 0;
    return bind_day(binder, days, type, &pattern, ret);
}
