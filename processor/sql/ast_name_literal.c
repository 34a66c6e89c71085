/* Spark's names of literals: numbers by their value as Java prints it, strings without quotes,
 * dates, times and intervals by their value where somebody knows it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor/sql/ast_name_internal.h"
#include "processor/sql/ast_print_internal.h"

#include "processor/base/banned.h"

static void text(NamePrinter *printer, const char *words)
{
    buffer_append_cstr(printer->out, words);
}

/* A double as Java writes it: 1.0, 0.001, 1.0E10, 1.0E-4; the shortest digits that give it back. */
static void java_double(double value, Buffer *out)
{
    char digits[40];
    int precision = 0;
    do {
        (void)snprintf(digits, sizeof digits, "%.*e", precision, value);
    } while (strtod(digits, NULL) != value && ++precision < 17);
    int exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (value != 0 && (exponent < -3 || exponent >= 7)) {
        *strchr(digits, 'e') = '\0';
        buffer_printf(out, "%s%sE%d", digits, strchr(digits, '.') == NULL ? ".0" : "", exponent);
        return;
    }
    int decimals = precision - exponent < 1 ? 1 : precision - exponent;
    buffer_printf(out, "%.*f", decimals, value);
}

static void java_float(float value, Buffer *out)
{
    char digits[40];
    int precision = 0;
    do {
        (void)snprintf(digits, sizeof digits, "%.*e", precision, (double)value);
    } while (strtof(digits, NULL) != value && ++precision < 9);
    java_double(strtod(digits, NULL), out);
}

enum { NUMBER_SIZE_MAX = 100 };

/* A decimal's digits without its point and its leading zeros, and where the point is. */
typedef struct DecimalDigits {
    char digits[NUMBER_SIZE_MAX];
    int count;
    int scale; /* digits behind the point */
} DecimalDigits;

static bool read_decimal(Str written, DecimalDigits *ret)
{
    *ret = (DecimalDigits){.count = 0};
    bool fraction = false;
    for (size_t i = 0; i < written.size; i++) {
        char c = written.data[i];
        if (c == 'e' || c == 'E') {
            size_t from = i + 1 + (i + 1 < written.size && written.data[i + 1] == '+');
            int64_t exponent = 0;
            bool valid = str_to_int64((Str){written.data + from, written.size - from}, &exponent) &&
                         exponent >= -NUMBER_SIZE_MAX && exponent <= NUMBER_SIZE_MAX;
            ret->scale -= (int)exponent;
            return valid;
        }
        if (c == '.') {
            fraction = true;
            continue;
        }
        ret->scale += fraction;
        if (ret->count > 0 || c != '0') {
            ret->digits[ret->count++] = c;
        }
    }
    return true;
}

/* As Java's BigDecimal prints it: 0.000001, 1E-7, 1.230E-26; Spark leaves no scale below 0. */
static void put_decimal(DecimalDigits *decimal, Buffer *out)
{
    while (decimal->scale < 0 && decimal->count > 0 && decimal->count < NUMBER_SIZE_MAX) {
        decimal->digits[decimal->count++] = '0';
        decimal->scale++;
    }
    if (decimal->count == 0) {
        decimal->digits[decimal->count++] = '0';
    }
    int scale = decimal->scale < 0 ? 0 : decimal->scale;
    int exponent = decimal->count - 1 - scale;
    if (scale > 0 && exponent < -6) {
        buffer_printf(out, "%c%s%.*sE%d", decimal->digits[0], decimal->count > 1 ? "." : "",
                      decimal->count - 1, decimal->digits + 1, exponent);
        return;
    }
    int whole = decimal->count - scale;
    buffer_printf(out, "%.*s", whole > 0 ? whole : 1, whole > 0 ? decimal->digits : "0");
    if (scale > 0) {
        buffer_append_byte(out, '.');
        for (int i = whole; i < 0; i++) {
            buffer_append_byte(out, '0');
        }
        int from = whole > 0 ? whole : 0;
        buffer_printf(out, "%.*s", decimal->count - from, decimal->digits + from);
    }
}

/* False when the value is out of its type's range, which the binder refuses. */
static bool name_floating(const char *digits, bool is_float, bool negative, Buffer *out)
{
    double value = is_float ? (double)strtof(digits, NULL) : strtod(digits, NULL);
    if (!isfinite(value)) {
        return false;
    }
    buffer_append_cstr(out, negative ? "-" : "");
    if (is_float) {
        java_float((float)value, out);
    } else {
        java_double(value, out);
    }
    return true;
}

/* A number is shown as its value: 07 is 7, -0 is 0. */
static void name_number(NamePrinter *printer, const AstLiteral *literal, bool negative)
{
    bool is_float = literal->suffix == AST_SUFFIX_F;
    bool is_double = literal->suffix == AST_SUFFIX_D ||
                     (literal->kind == AST_LITERAL_DOUBLE && literal->suffix == AST_SUFFIX_NONE);
    Str digits = literal->value;
    char copy[NUMBER_SIZE_MAX + 1];
    DecimalDigits decimal;
    bool shown = digits.size <= NUMBER_SIZE_MAX;
    if (shown && (is_float || is_double)) {
        memcpy(copy, digits.data, digits.size);
        copy[digits.size] = '\0';
        shown = name_floating(copy, is_float, negative, printer->out);
    } else if (shown && (shown = read_decimal(digits, &decimal))) {
        text(printer, negative && decimal.count > 0 ? "-" : "");
        put_decimal(&decimal, printer->out);
    }
    if (!shown) {
        text(printer, negative ? "-" : "");
        buffer_append_str(printer->out, digits);
    }
}

static void name_binary(NamePrinter *printer, Str hex)
{
    text(printer, "X'");
    for (size_t i = 0; i < hex.size; i++) {
        char c = hex.data[i];
        buffer_append_byte(printer->out, c >= 'a' && c <= 'f' ? (char)(c - 'a' + 'A') : c);
    }
    text(printer, "'");
}

static void name_typed(NamePrinter *printer, const char *word, Str value)
{
    buffer_printf(printer->out, "%s '%.*s'", word, STR_ARG(value));
}

static void name_written(NamePrinter *printer, const AstLiteral *literal)
{
    switch (literal->kind) {
    case AST_LITERAL_NULL:
        text(printer, "NULL");
        return;
    case AST_LITERAL_TRUE:
        text(printer, "true");
        return;
    case AST_LITERAL_FALSE:
        text(printer, "false");
        return;
    case AST_LITERAL_STRING:
        buffer_append_str(printer->out, literal->value);
        return;
    case AST_LITERAL_INTEGER:
    case AST_LITERAL_DECIMAL:
    case AST_LITERAL_DOUBLE:
        name_number(printer, literal, false);
        return;
    case AST_LITERAL_DATE:
        name_typed(printer, "DATE", literal->value);
        return;
    case AST_LITERAL_TIMESTAMP:
    case AST_LITERAL_TIMESTAMP_LTZ:
        name_typed(printer, "TIMESTAMP", literal->value);
        return;
    case AST_LITERAL_TIMESTAMP_NTZ:
        name_typed(printer, "TIMESTAMP_NTZ", literal->value);
        return;
    case AST_LITERAL_BINARY:
        name_binary(printer, literal->value);
        return;
    }
}

/* The value of a date, a time or an interval, when somebody knows it. */
static bool name_value(NamePrinter *printer, const AstExpr *expr)
{
    const AstNames *names = printer->names;
    return names->literal_text != NULL && names->literal_text(names->context, expr, printer->out);
}

static bool is_time_literal(const AstExpr *expr)
{
    return expr->literal.kind == AST_LITERAL_DATE || expr->literal.kind == AST_LITERAL_TIMESTAMP ||
           expr->literal.kind == AST_LITERAL_TIMESTAMP_LTZ ||
           expr->literal.kind == AST_LITERAL_TIMESTAMP_NTZ;
}

/* INTERVAL 3 DAYS is INTERVAL '3' DAY; hours, minutes and seconds have two digits. What Spark
 * rearranges further (several units, weeks in fractions) is shown as written. */
static void name_units(NamePrinter *printer, const AstInterval *interval)
{
    const AstIntervalPart *part = &interval->parts[0];
    int64_t value = 0;
    Str digits = str_trim(part->value);
    bool negative = part->negative;
    if (str_starts_with(digits, STR("-"))) {
        negative = !negative;
        digits = (Str){digits.data + 1, digits.size - 1};
    }
    bool plain = interval->form == AST_INTERVAL_UNITS && interval->part_count == 1 &&
                 part->unit >= AST_UNIT_SECOND && str_to_int64(digits, &value) && value >= 0 &&
                 value < INT64_MAX / 7;
    if (!plain) {
        print_interval(interval, printer->out);
        return;
    }
    AstIntervalUnit unit = part->unit == AST_UNIT_WEEK ? AST_UNIT_DAY : part->unit;
    value *= part->unit == AST_UNIT_WEEK ? 7 : 1;
    int width = unit <= AST_UNIT_HOUR ? 2 : 1;
    buffer_printf(printer->out, "INTERVAL '%s%0*lld' %s", negative ? "-" : "", width,
                  (long long)value, interval_unit_name(unit));
}

void name_literal(NamePrinter *printer, const AstExpr *expr)
{
    if (!is_time_literal(expr) || !name_value(printer, expr)) {
        name_written(printer, &expr->literal);
    }
}

void name_negative_number(NamePrinter *printer, const AstLiteral *literal)
{
    name_number(printer, literal, true);
}

void name_interval(NamePrinter *printer, const AstExpr *expr)
{
    if (!name_value(printer, expr)) {
        name_units(printer, &expr->interval);
    }
}
