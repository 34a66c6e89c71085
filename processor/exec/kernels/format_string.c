/* format_string, printf: values in a format as Java's Formatter has it,
 * %[position$][flags][width][.digits]conversion. Dates and times print as the numbers they are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "processor/data/number_format.h"
#include "processor/data/number_text.h"
#include "processor/data/value_text.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

enum { WIDTH_MAX = 1 << 20, DIGITS_DEFAULT = 6, DIGITS_SHOWN_MAX = 1000 };

typedef struct Directive {
    int64_t position; /* from 1; 0: the next one, -1: the last one again */
    bool left;
    bool alternate;
    bool plus;
    bool blank;
    bool zeros;
    bool groups;
    bool parentheses;
    int64_t width;  /* -1: none */
    int64_t digits; /* -1: none */
    char conversion;
} Directive;

/* ---- The format ---- */

static int64_t take_number(Str *rest)
{
    int64_t value = 0;
    while (rest->size > 0 && char_is_digit(rest->data[0])) {
        value = value < WIDTH_MAX ? value * 10 + (rest->data[0] - '0') : value;
        *rest = (Str){rest->data + 1, rest->size - 1};
    }
    return value;
}

static bool take_flag(Str *rest, Directive *directive)
{
    bool *flag = NULL;
    switch (rest->size == 0 ? '\0' : rest->data[0]) {
    case '-':
        flag = &directive->left;
        break;
    case '#':
        flag = &directive->alternate;
        break;
    case '+':
        flag = &directive->plus;
        break;
    case ' ':
        flag = &directive->blank;
        break;
    case '0':
        flag = &directive->zeros;
        break;
    case ',':
        flag = &directive->groups;
        break;
    case '(':
        flag = &directive->parentheses;
        break;
    default:
        return false;
    }
    *flag = true;
    *rest = (Str){rest->data + 1, rest->size - 1};
    return true;
}

/* Behind the %. False: it is none. */
static bool take_directive(Str *rest, Directive *ret)
{
    *ret = (Directive){.width = -1, .digits = -1};
    Str ahead = *rest;
    if (ahead.size > 0 && ahead.data[0] == '<') {
        ret->position = -1;
        *rest = (Str){ahead.data + 1, ahead.size - 1};
    } else if (ahead.size > 0 && char_is_digit(ahead.data[0])) {
        int64_t position = take_number(&ahead);
        if (ahead.size > 0 && ahead.data[0] == '$') {
            ret->position = position == 0 ? INT64_MIN : position;
            *rest = (Str){ahead.data + 1, ahead.size - 1};
        }
    }
    while (take_flag(rest, ret)) {
    }
    if (rest->size > 0 && char_is_digit(rest->data[0])) {
        ret->width = take_number(rest);
    }
    if (rest->size > 1 && rest->data[0] == '.' && char_is_digit(rest->data[1])) {
        *rest = (Str){rest->data + 1, rest->size - 1};
        ret->digits = take_number(rest);
    }
    if (rest->size == 0 || ret->width >= WIDTH_MAX || ret->digits >= DIGITS_SHOWN_MAX) {
        return false;
    }
    ret->conversion = rest->data[0];
    *rest = (Str){rest->data + 1, rest->size - 1};
    return ret->width >= 0 || (!ret->left && !ret->zeros);
}

/* ---- Padding ---- */

static size_t count_characters(Str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) {
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    }
    return count;
}

static void put_padded(const Directive *directive, Str text, Buffer *out)
{
    int64_t missing = directive->width - (int64_t)count_characters(text);
    for (int64_t i = 0; !directive->left && i < missing; i++) {
        buffer_append_byte(out, ' ');
    }
    buffer_append_str(out, text);
    for (int64_t i = 0; directive->left && i < missing; i++) {
        buffer_append_byte(out, ' ');
    }
}

/* Signs, groups and zeros around the digits of a number's magnitude; `tail` follows the digits. */
static void put_signed(const Directive *directive, bool negative, Str digits, Str tail, Buffer *out)
{
    AUTO_BUFFER Buffer body = {0};
    AUTO_BUFFER Buffer text = {0};
    digits_put_grouped(digits, directive->groups ? 3 : 0, &body);
    buffer_append_str(&body, tail);
    const char *sign = negative           ? (directive->parentheses ? "(" : "-")
                       : directive->plus  ? "+"
                       : directive->blank ? " "
                                          : "";
    const char *end = negative && directive->parentheses ? ")" : "";
    int64_t missing =
        directive->zeros ? directive->width - (int64_t)(body.size + strlen(sign) + strlen(end)) : 0;
    buffer_append_cstr(&text, sign);
    for (int64_t i = 0; i < missing; i++) {
        buffer_append_byte(&text, '0');
    }
    buffer_append_str(&text, buffer_str(&body));
    buffer_append_cstr(&text, end);
    put_padded(directive, buffer_str(&text), out);
}

/* ---- Whole numbers ---- */

static void put_decimal_integer(const Directive *directive, int64_t value, Buffer *out)
{
    char digits[24];
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)size);
    put_signed(directive, value < 0, (Str){digits, (size_t)count}, STR(""), out);
}

/* %x, %o: of as many bits as the type has. */
static void put_bits(const Directive *directive, int64_t value, size_t bytes, Buffer *out)
{
    char digits[32];
    uint64_t bits = (uint64_t)value;
    if (bytes < sizeof bits) {
        bits &= (UINT64_C(1) << (8 * bytes)) - 1;
    }
    bool octal = directive->conversion == 'o';
    int count = snprintf(digits, sizeof digits, octal ? "%s%llo" : "%s%llx",
                         !directive->alternate ? ""
                         : octal               ? "0"
                                               : "0x",
                         (unsigned long long)bits);
    Directive plain = *directive;
    plain.plus = plain.blank = plain.groups = false;
    put_signed(&plain, false, (Str){digits, (size_t)count}, STR(""), out);
}

/* ---- Fractions ---- */

/* Decimal digits of a double's shortest text and the power of ten of the first one. */
typedef struct Digits {
    char digits[400];
    int count;
    int exponent; /* 0: d.ddd */
} Digits;

static Digits digits_of(double size)
{
    char text[DOUBLE_TEXT_MAX];
    Digits ret = {.count = 0, .exponent = -1};
    Str rest = {text, (size_t)(double_put(text, size) - text)};
    bool behind = false;
    int exponent = 0;
    for (size_t i = 0; i < rest.size; i++) {
        char c = rest.data[i];
        if (c == 'E') {
            int64_t value = 0;
            (void)str_to_int64((Str){rest.data + i + 1, rest.size - i - 1}, &value);
            exponent = (int)value;
            break;
        }
        if (c == '.') {
            behind = true;
            continue;
        }
        if (ret.count == 0 && c == '0') {
            ret.exponent -= behind;
            continue;
        }
        ret.digits[ret.count++] = c;
        ret.exponent += !behind;
    }
    ret.exponent = ret.count == 0 ? 0 : ret.exponent + exponent;
    return ret;
}

/* Keeps `count` digits (0 or less: none), rounded half up. */
static void round_digits(Digits *digits, int count)
{
    if (count >= digits->count) {
        return;
    }
    bool up = count >= 0 && digits->digits[count] >= '5';
    digits->count = count < 0 ? 0 : count;
    for (int i = digits->count - 1; up && i >= 0; i--) {
        up = digits->digits[i] == '9';
        digits->digits[i] = up ? '0' : (char)(digits->digits[i] + 1);
    }
    if (up) {
        memmove(digits->digits + 1, digits->digits, (size_t)digits->count);
        digits->digits[0] = '1';
        digits->count = digits->count == 0 ? 1 : digits->count;
        digits->exponent++;
    }
}

static char digit_at(const Digits *digits, int power)
{
    int index = digits->exponent - power;
    return index >= 0 && index < digits->count ? digits->digits[index] : '0';
}

static void put_fixed(const Directive *directive, double value, int fraction, Buffer *out)
{
    AUTO_BUFFER Buffer whole = {0};
    AUTO_BUFFER Buffer tail = {0};
    Digits digits = digits_of(fabs(value));
    round_digits(&digits, digits.exponent + 1 + fraction);
    for (int power = digits.exponent > 0 ? digits.exponent : 0; power >= 0; power--) {
        buffer_append_byte(&whole, digit_at(&digits, power));
    }
    buffer_append_cstr(&tail, fraction > 0 || directive->alternate ? "." : "");
    for (int i = 1; i <= fraction; i++) {
        buffer_append_byte(&tail, digit_at(&digits, -i));
    }
    put_signed(directive, signbit(value), buffer_str(&whole), buffer_str(&tail), out);
}

static void put_scientific(const Directive *directive, double value, int fraction, Buffer *out)
{
    AUTO_BUFFER Buffer tail = {0};
    Digits digits = digits_of(fabs(value));
    round_digits(&digits, 1 + fraction);
    buffer_append_cstr(&tail, fraction > 0 || directive->alternate ? "." : "");
    for (int i = 1; i <= fraction; i++) {
        buffer_append_byte(&tail, digit_at(&digits, digits.exponent - i));
    }
    int exponent = digits.exponent;
    buffer_printf(&tail, "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
    char first = digit_at(&digits, exponent);
    put_signed(directive, signbit(value), (Str){&first, 1}, buffer_str(&tail), out);
}

static void put_general(const Directive *directive, double value, int digits, Buffer *out)
{
    int count = digits == 0 ? 1 : digits;
    Digits rounded = digits_of(fabs(value));
    round_digits(&rounded, count);
    bool plain = value == 0 || (rounded.exponent >= -4 && rounded.exponent < count);
    if (plain) {
        put_fixed(directive, value, count - 1 - (value == 0 ? 0 : rounded.exponent), out);
    } else {
        put_scientific(directive, value, count - 1, out);
    }
}

static void put_double(const Directive *directive, double value, Buffer *out)
{
    int digits = directive->digits < 0 ? DIGITS_DEFAULT : (int)directive->digits;
    if (!isfinite(value)) {
        Directive plain = *directive;
        plain.zeros = plain.groups = false;
        put_signed(&plain, value < 0, isnan(value) ? STR("NaN") : STR("Infinity"), STR(""), out);
    } else if (directive->conversion == 'f') {
        put_fixed(directive, value, digits, out);
    } else if (directive->conversion == 'e') {
        put_scientific(directive, value, digits, out);
    } else {
        put_general(directive, value, digits, out);
    }
}

/* ---- Arguments ---- */

/* A value as %s shows it: dates and times are the numbers they are. */
static void put_text(const Vector *vector, uint32_t row, Buffer *out)
{
    if (type_is_datetime(vector->type) || type_is_interval(vector->type)) {
        buffer_printf(out, "%lld", (long long)vector_int_value(vector, row));
    } else {
        value_format(vector, row, time_zone_utc(), out);
    }
}

static void put_cut(const Directive *directive, Str text, Buffer *out)
{
    if (directive->digits >= 0) {
        size_t size = 0;
        for (int64_t count = 0; size < text.size; size++) {
            bool begins = ((unsigned char)text.data[size] & 0xC0) != 0x80;
            if (begins && count++ == directive->digits) {
                break;
            }
        }
        text.size = size;
    }
    put_padded(directive, text, out);
}

static bool is_integer(const Type *type)
{
    return type_is_integral(type) || type_is_datetime(type) || type_is_interval(type);
}

static void put_utf8(uint32_t code, Buffer *out)
{
    if (code < 0x80) {
        buffer_append_byte(out, (char)code);
        return;
    }
    int rest = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
    buffer_append_byte(out, (char)(lead[rest] | code >> (6 * rest)));
    for (int i = rest - 1; i >= 0; i--) {
        buffer_append_byte(out, (char)(0x80 | (code >> (6 * i) & 0x3F)));
    }
}

static bool put_character(const Directive *directive, int64_t code, Buffer *out)
{
    if (code < 0 || code > 0x10FFFF) {
        return false;
    }
    AUTO_BUFFER Buffer text = {0};
    put_utf8((uint32_t)code, &text);
    put_padded(directive, buffer_str(&text), out);
    return true;
}

/* False: the conversion does not take the value's type. */
static bool put_value(const Directive *directive, const Vector *vector, uint32_t row, Buffer *out)
{
    const Type *type = vector->type;
    AUTO_BUFFER Buffer text = {0};
    bool valid = vector_is_valid(vector, row) && type->kind != TYPE_NULL;
    if (!valid || strchr("bs", directive->conversion) != NULL) {
        if (directive->conversion == 'b') {
            bool truth =
                valid && (type->kind != TYPE_BOOLEAN || VECTOR_VALUE(vector, uint8_t, row));
            buffer_append_cstr(&text, truth ? "true" : "false");
        } else if (valid) {
            put_text(vector, row, &text);
        } else {
            buffer_append_cstr(&text, "null");
        }
        put_cut(directive, buffer_str(&text), out);
        return true;
    }
    switch (directive->conversion) {
    case 'd':
        if (is_integer(type)) {
            put_decimal_integer(directive, vector_int_value(vector, row), out);
        }
        return is_integer(type);
    case 'x':
    case 'o':
        if (is_integer(type)) {
            put_bits(directive, vector_int_value(vector, row), type_value_size(type), out);
        }
        return is_integer(type);
    case 'c':
        return is_integer(type) && put_character(directive, vector_int_value(vector, row), out);
    default:
        if (type->kind == TYPE_DOUBLE) {
            put_double(directive, VECTOR_VALUE(vector, double, row), out);
        } else if (type->kind == TYPE_FLOAT) {
            put_double(directive, (double)VECTOR_VALUE(vector, float, row), out);
        }
        return type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT;
    }
}

static void make_upper(Buffer *out, size_t start)
{
    for (size_t i = start; i < out->size; i++) {
        char c = out->data[i];
        out->data[i] = c >= 'a' && c <= 'z' ? (char)(c - 0x20) : c;
    }
}

/* One directive. False: it is wrong. */
static bool put_directive(const KernelCall *call, uint32_t row, Directive *directive, size_t *next,
                          size_t *last, Buffer *out)
{
    size_t start = out->size;
    if (directive->conversion == '%' || directive->conversion == 'n') {
        put_padded(directive, directive->conversion == 'n' ? STR("\n") : STR("%"), out);
        return true;
    }
    bool upper = directive->conversion >= 'A' && directive->conversion <= 'Z';
    directive->conversion = (char)(directive->conversion | 0x20);
    if (strchr(upper ? "bsxegc" : "bsdxofegc", directive->conversion) == NULL) {
        return false;
    }
    if (directive->position >= 0) {
        *last = directive->position > 0 ? (size_t)directive->position : ++*next;
    }
    if (*last == 0 || *last >= call->argument_count ||
        !put_value(directive, call->arguments[*last], row, out)) {
        return false;
    }
    if (upper) {
        make_upper(out, start);
    }
    return true;
}

static Error *wrong_format(Str format)
{
    return error_new(
        ERROR_INVALID_PARAMETER_VALUE,
        "The value of parameter(s) `strfmt` in `format_string` is invalid: '%.*s' does "
        "not fit the arguments.",
        STR_ARG(format));
}

static Error *format_row(const KernelCall *call, uint32_t row, Str format, Buffer *out)
{
    size_t next = 0;
    size_t last = 0;
    for (Str rest = format; rest.size > 0;) {
        if (rest.data[0] != '%') {
            buffer_append_byte(out, rest.data[0]);
            rest = (Str){rest.data + 1, rest.size - 1};
            continue;
        }
        Directive directive;
        rest = (Str){rest.data + 1, rest.size - 1};
        bool good = take_directive(&rest, &directive);
        if (directive.position == INT64_MIN) {
            return error_new(ERROR_ZERO_INDEX,
                             "The value of parameter(s) `strfmt` in `format_string` is invalid: "
                             "expects %%1$, %%2$ and so on, but got %%0$.");
        }
        if (!good || !put_directive(call, row, &directive, &next, &last, out)) {
            return wrong_format(format);
        }
    }
    return NULL;
}

static void format_string(const KernelCall *call)
{
    const Vector *formats = call->arguments[0];
    FOR_ROWS(call->rows, i, {
        if (!vector_is_valid(formats, i)) {
            vector_set_null(call->result, call->arena, i);
            continue;
        }
        AUTO_BUFFER Buffer text = {0};
        Error *error = format_row(call, i, VECTOR_VALUE(formats, Str, i), &text);
        if (error != NULL) {
            kernel_fail(call, i, error);
        } else {
            RESULT(call, Str)[i] = arena_copy_str(call->arena, buffer_str(&text));
        }
    });
}

const Kernel kernel_format_string = {.run = format_string};
