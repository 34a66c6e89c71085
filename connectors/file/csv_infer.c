/* Inferring types of CSV columns. A text is tried as the kinds that may take it, beginning with the
 * kind of the column so far: INT ─► BIGINT ─► DECIMAL ─► DOUBLE ─► DATE ─► TIMESTAMP ─► BOOLEAN ─►
 * STRING. What it is and what the column was so far give the kind that takes both. */
#include "connectors/file/csv_infer.h"

#include "processor/data/datetime.h"
#include "processor/data/value_text.h"

#include "processor/base/banned.h"

enum { INT_AS_DECIMAL = 10, LONG_AS_DECIMAL = 20 };

/* Digits of a whole number with or without a sign, 0 when it is none; commas are counted in
 * neither. */
static int whole_digits(Str text, bool commas)
{
    int digits = 0;
    size_t i = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
    for (; i < text.size; i++) {
        if (char_is_digit(text.data[i])) {
            digits += digits > 0 || text.data[i] != '0' || i + 1 == text.size;
        } else if (!commas || text.data[i] != ',') {
            return 0;
        }
    }
    return digits;
}

static bool to_integer(Str text, int64_t *ret_value)
{
    if (text.size > 1 && text.data[0] == '+' && char_is_digit(text.data[1])) {
        text = (Str){text.data + 1, text.size - 1};
    }
    return str_to_int64(text, ret_value);
}

static bool is_double(Str text)
{
    double number = 0;
    return text.size > 0 && text.data[0] > ' ' && text.data[text.size - 1] > ' ' &&
           (double_parse(text, &number) || str_equal(text, STR("Inf")) ||
            str_equal(text, STR("-Inf")));
}

static bool is_timestamp(Str text)
{
    int64_t us = 0;
    return text.size > 0 && text.data[0] > ' ' && text.data[text.size - 1] > ' ' &&
           timestamp_parse(text, time_zone_utc(), &us);
}

static bool is_boolean(Str text)
{
    return str_equal_ignore_case(text, STR("true")) || str_equal_ignore_case(text, STR("false"));
}

/* What the text is, no kind before `first` counted. */
static CsvShape shape_of(CsvKind first, Str text)
{
    int64_t value = 0;
    int32_t days = 0;
    bool whole = first <= CSV_LONG && to_integer(text, &value);
    if (whole && first <= CSV_INT && value == (int32_t)value) {
        return (CsvShape){CSV_INT, 0};
    }
    if (whole) {
        return (CsvShape){CSV_LONG, 0};
    }
    int digits = first <= CSV_DECIMAL ? whole_digits(text, true) : 0;
    if (digits > 0 && digits <= DECIMAL_PRECISION_MAX) {
        return (CsvShape){CSV_DECIMAL, digits};
    }
    if (first <= CSV_DOUBLE && is_double(text)) {
        return (CsvShape){CSV_DOUBLE, 0};
    }
    if (first <= CSV_DATE && date_parse_iso(text, &days)) {
        return (CsvShape){CSV_DATE, 0};
    }
    if (first <= CSV_TIMESTAMP && is_timestamp(text)) {
        return (CsvShape){CSV_TIMESTAMP, 0};
    }
    return (CsvShape){is_boolean(text) ? CSV_BOOLEAN : CSV_STRING, 0};
}

static bool is_number(CsvKind kind)
{
    return kind >= CSV_INT && kind <= CSV_DOUBLE;
}

static int decimal_digits(const CsvShape *shape)
{
    return shape->kind == CSV_INT    ? INT_AS_DECIMAL
           : shape->kind == CSV_LONG ? LONG_AS_DECIMAL
                                     : shape->digits;
}

static CsvShape wider_number(const CsvShape *a, const CsvShape *b)
{
    CsvKind kind = a->kind > b->kind ? a->kind : b->kind;
    if (kind != CSV_DECIMAL) {
        return (CsvShape){kind, 0};
    }
    int x = decimal_digits(a);
    int y = decimal_digits(b);
    return (CsvShape){kind, x > y ? x : y};
}

void csv_shape_merge(CsvShape *shape, const CsvShape *other)
{
    if (other->kind == CSV_NULL) {
        return;
    }
    if (shape->kind == CSV_NULL) {
        *shape = *other;
    } else if (is_number(shape->kind) && is_number(other->kind)) {
        *shape = wider_number(shape, other);
    } else if (shape->kind != other->kind) {
        bool times = (shape->kind == CSV_DATE && other->kind == CSV_TIMESTAMP) ||
                     (shape->kind == CSV_TIMESTAMP && other->kind == CSV_DATE);
        shape->kind = times ? CSV_TIMESTAMP : CSV_STRING;
    }
}

void csv_shape_add(CsvShape *shape, Str text)
{
    if (text.data == NULL || text.size == 0 || shape->kind == CSV_STRING) {
        return;
    }
    CsvShape found = shape_of(shape->kind, text);
    csv_shape_merge(shape, &found);
}

const Type *csv_shape_type(const CsvShape *shape, Arena *arena)
{
    switch (shape->kind) {
    case CSV_NULL:
    case CSV_STRING:
        return &type_string;
    case CSV_INT:
        return &type_int;
    case CSV_LONG:
        return &type_bigint;
    case CSV_DECIMAL:
        return type_decimal(arena, shape->digits, 0);
    case CSV_DOUBLE:
        return &type_double;
    case CSV_DATE:
        return &type_date;
    case CSV_TIMESTAMP:
        return &type_timestamp;
    case CSV_BOOLEAN:
        return &type_boolean;
    }
    return &type_string;
}
