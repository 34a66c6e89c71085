/* Numbers in DecimalFormat's patterns: a prefix, digits before the point (# may be missing, 0 is
 * always there), digits behind it, a suffix; behind ';' what stands around negative numbers. */
#include "processor/data/number_format.h"

#include <math.h>
#include <string.h>

#include "processor/data/decimal.h"

#include "processor/base/banned.h"

enum { GROUP_SIZE = 3 };

/* ---- The pattern ---- */

NumberFormat number_format_digits(int digits)
{
    digits = digits > FRACTION_SHOWN_MAX ? FRACTION_SHOWN_MAX : digits;
    return (NumberFormat){.negative_prefix = "-",
                          .whole_min = 1,
                          .fraction_min = digits,
                          .fraction_max = digits,
                          .group = GROUP_SIZE};
}

static COLD Error *invalid(Str pattern)
{
    return error_new(ERROR_INVALID_PATTERN,
                     "The value of parameter(s) `format` in `format_number` is invalid: '%.*s'.",
                     STR_ARG(pattern));
}

typedef struct Affix {
    char *text;
    size_t size;
} Affix;

static bool add_byte(Affix *affix, char c)
{
    if (affix->size + 1 >= NUMBER_AFFIX_MAX) {
        return false;
    }
    affix->text[affix->size++] = c;
    affix->text[affix->size] = '\0';
    return true;
}

/* Text up to a digit's sign (prefix) or the end or ';' (suffix). False: the pattern is wrong. */
static bool take_affix(Str *rest, bool suffix, char *ret_text, bool *percent)
{
    Affix affix = {.text = ret_text};
    bool quoted = false;
    ret_text[0] = '\0';
    while (rest->size > 0) {
        char c = rest->data[0];
        bool digit = c == '#' || c == '0' || c == ',' || c == '.';
        if (!quoted && (c == ';' || (digit && !suffix))) {
            break;
        }
        if (!quoted && digit) {
            return false;
        }
        *rest = (Str){rest->data + 1, rest->size - 1};
        if (c == '\'') {
            bool twice = rest->size > 0 && rest->data[0] == '\'';
            if (twice) {
                *rest = (Str){rest->data + 1, rest->size - 1};
            }
            quoted = twice ? quoted : !quoted;
            if (!twice) {
                continue;
            }
        }
        *percent = *percent || (c == '%' && !quoted);
        if (!add_byte(&affix, c)) {
            return false;
        }
    }
    return !quoted;
}

/* How many # before, 0 among and # behind the digits, and where the point is. */
typedef struct DigitCounts {
    int left;
    int zeros;
    int right;
    int point; /* digits before it; -1: none */
    int group; /* digits behind the last comma; -1: none */
} DigitCounts;

static bool count_digit(DigitCounts *counts, char c)
{
    if (c == '#') {
        *(counts->zeros > 0 ? &counts->right : &counts->left) += 1;
    } else if (c == '0') {
        if (counts->right > 0) {
            return false;
        }
        counts->zeros++;
    } else if (c == ',') {
        counts->group = 0;
        return true;
    } else {
        if (counts->point >= 0) {
            return false;
        }
        counts->point = counts->left + counts->zeros + counts->right;
        return true;
    }
    counts->group += counts->group >= 0 && counts->point < 0;
    return true;
}

static bool take_digits(Str *rest, DigitCounts *ret)
{
    *ret = (DigitCounts){.point = -1, .group = -1};
    while (rest->size > 0 && strchr("#0,.", rest->data[0]) != NULL && rest->data[0] != '\0') {
        if (!count_digit(ret, rest->data[0])) {
            return false;
        }
        *rest = (Str){rest->data + 1, rest->size - 1};
    }
    /* "#.##" has one digit before the point. */
    if (ret->zeros == 0 && ret->left > 0 && ret->point >= 0) {
        int whole = ret->point == 0 ? 1 : ret->point;
        ret->right = ret->left - whole;
        ret->left = whole - 1;
        ret->zeros = 1;
    }
    return (ret->point < 0 || (ret->point >= ret->left && ret->point <= ret->left + ret->zeros)) &&
           !(ret->point < 0 && ret->right > 0) && ret->group != 0;
}

Error *number_format_parse(Str pattern, NumberFormat *ret)
{
    *ret = number_format_digits(0);
    if (pattern.size == 0) {
        return NULL;
    }
    Str rest = pattern;
    DigitCounts counts;
    bool ignored = false;
    if (!take_affix(&rest, false, ret->prefix, &ret->percent) || !take_digits(&rest, &counts)) {
        return invalid(pattern);
    }
    if (rest.size > 0 && rest.data[0] == 'E') {
        return error_new(ERROR_NOT_YET, "Exponents in the pattern of format_number are not "
                                        "supported yet.");
    }
    if (!take_affix(&rest, true, ret->suffix, &ret->percent)) {
        return invalid(pattern);
    }
    int total = counts.left + counts.zeros + counts.right;
    ret->whole_min = (counts.point < 0 ? total : counts.point) - counts.left;
    ret->fraction_max = counts.point < 0 ? 0 : total - counts.point;
    ret->fraction_min = counts.point < 0 ? 0 : counts.left + counts.zeros - counts.point;
    ret->group = counts.group > 0 ? counts.group : 0;
    if (ret->fraction_max > FRACTION_SHOWN_MAX || ret->whole_min > FRACTION_SHOWN_MAX) {
        return invalid(pattern);
    }
    if (rest.size > 0) {
        rest = (Str){rest.data + 1, rest.size - 1};
        if (!take_affix(&rest, false, ret->negative_prefix, &ignored) ||
            !take_digits(&rest, &counts) ||
            !take_affix(&rest, true, ret->negative_suffix, &ignored) || rest.size > 0) {
            return invalid(pattern);
        }
        return NULL;
    }
    Affix minus = {.text = ret->negative_prefix};
    bool fits = add_byte(&minus, '-');
    for (const char *c = ret->prefix; fits && *c != '\0'; c++) {
        fits = add_byte(&minus, *c);
    }
    memcpy(ret->negative_suffix, ret->suffix, sizeof ret->suffix);
    return fits ? NULL : invalid(pattern);
}

/* ---- Printing ---- */

void digits_put_grouped(Str digits, int group, Buffer *out)
{
    for (size_t i = 0; i < digits.size; i++) {
        if (i > 0 && group > 0 && (digits.size - i) % (size_t)group == 0) {
            buffer_append_byte(out, ',');
        }
        buffer_append_byte(out, digits.data[i]);
    }
}

/* `plain` is the number without its sign, rounded to the format's fraction digits. */
static void put_plain(const NumberFormat *format, Str plain, bool negative, Buffer *out)
{
    AUTO_BUFFER Buffer whole = {0};
    size_t point = str_find_byte(plain, '.');
    Str fraction = STR("");
    if (point < plain.size) {
        fraction = (Str){plain.data + point + 1, plain.size - point - 1};
    }
    while (fraction.size > 0 && fraction.size > (size_t)format->fraction_min &&
           fraction.data[fraction.size - 1] == '0') {
        fraction.size--;
    }
    Str digits = {plain.data, point};
    while (digits.size > 0 && digits.data[0] == '0') {
        digits = (Str){digits.data + 1, digits.size - 1};
    }
    int least = format->whole_min == 0 && fraction.size == 0 ? 1 : format->whole_min;
    for (int i = (int)digits.size; i < least; i++) {
        buffer_append_byte(&whole, '0');
    }
    buffer_append_str(&whole, digits);
    buffer_append_cstr(out, negative ? format->negative_prefix : format->prefix);
    digits_put_grouped(buffer_str(&whole), format->group, out);
    if (fraction.size > 0) {
        buffer_append_byte(out, '.');
        buffer_append_str(out, fraction);
    }
    buffer_append_cstr(out, negative ? format->negative_suffix : format->suffix);
}

void number_format_double(const NumberFormat *format, double value, Buffer *out)
{
    AUTO_BUFFER Buffer plain = {0};
    bool negative = signbit(value);
    if (isnan(value)) {
        buffer_append_cstr(out, "NaN");
        return;
    }
    if (isinf(value)) {
        buffer_append_cstr(out, negative ? format->negative_prefix : format->prefix);
        buffer_append_cstr(out, "∞");
        buffer_append_cstr(out, negative ? format->negative_suffix : format->suffix);
        return;
    }
    /* The exact value of the double, half to even. */
    buffer_printf(&plain, "%.*f", format->fraction_max,
                  fabs(format->percent ? value * 100 : value));
    put_plain(format, buffer_str(&plain), negative, out);
}

/* The magnitude rounded half even to `digits` behind the point. */
static int128 round_even(int128 size, int scale, int digits)
{
    int128 unit = decimal_power_of_ten(scale - digits);
    int128 quotient = size / unit;
    int128 rest = size % unit;
    bool up = rest > unit - rest || (rest == unit - rest && (quotient & 1) != 0);
    return quotient + up;
}

void number_format_decimal(const NumberFormat *format, int128 value, int scale, Buffer *out)
{
    AUTO_BUFFER Buffer plain = {0};
    bool negative = value < 0;
    int128 size = negative ? -value : value;
    int shift = format->percent ? 2 : 0;
    int kept = scale;
    if (scale - shift > format->fraction_max) {
        kept = format->fraction_max + shift;
        size = round_even(size, scale, kept);
    }
    kept -= shift;
    for (; kept < 0; kept++) {
        size *= 10;
    }
    decimal_format(size, kept, &plain);
    if (kept == 0 && format->fraction_min > 0) {
        buffer_append_byte(&plain, '.');
    }
    for (int i = kept; i < format->fraction_min; i++) {
        buffer_append_byte(&plain, '0');
    }
    put_plain(format, buffer_str(&plain), negative, out);
}
