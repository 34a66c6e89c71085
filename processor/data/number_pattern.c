/* Number patterns: taken apart, printed, read. */
#include "processor/data/number_pattern.h"

#include <string.h>

#include "processor/data/decimal.h"
#include "processor/data/number_text.h"

#include "processor/base/banned.h"

/* ---- The pattern ---- */

typedef enum Mistake {
    MISTAKE_NONE,
    MISTAKE_EMPTY,
    MISTAKE_NO_DIGIT,
    MISTAKE_TWICE,
    MISTAKE_CURRENCY_BEHIND_DIGIT,
    MISTAKE_CURRENCY_BEHIND_POINT,
    MISTAKE_COMMA_ALONE,
    MISTAKE_COMMA_BEHIND_POINT,
    MISTAKE_ORDER,
} Mistake;

static COLD Error *mistake_error(Mistake mistake, Str text)
{
    static const struct {
        ErrorClass class;
        const char *why;
    } mistakes[] = {
        [MISTAKE_EMPTY] = {ERROR_NUMBER_FORMAT_EMPTY, "The number format string cannot be empty"},
        [MISTAKE_NO_DIGIT] = {ERROR_NUMBER_FORMAT_DIGIT,
                              "The format string requires at least one number digit"},
        [MISTAKE_TWICE] = {ERROR_NUMBER_FORMAT_TOKEN,
                           "A token is allowed at most once in the number format"},
        [MISTAKE_CURRENCY_BEHIND_DIGIT] = {ERROR_NUMBER_FORMAT_CURRENCY_DIGIT,
                                           "Currency characters must appear before digits"},
        [MISTAKE_CURRENCY_BEHIND_POINT] = {ERROR_NUMBER_FORMAT_CURRENCY_POINT,
                                           "Currency characters must appear before any decimal "
                                           "point"},
        [MISTAKE_COMMA_ALONE] = {ERROR_NUMBER_FORMAT_COMMA,
                                 "Thousands separators (, or G) must have digits in between them"},
        [MISTAKE_COMMA_BEHIND_POINT] = {ERROR_NUMBER_FORMAT_COMMA_POINT,
                                        "Thousands separators (, or G) may not appear after the "
                                        "decimal point"},
        [MISTAKE_ORDER] = {ERROR_NUMBER_FORMAT_ORDER,
                           "Found an unexpected token; the structure of the format string must "
                           "match: `[MI|S]` `[$]` `[0|9|G|,]*` `[.|D]` `[0|9]*` `[$]` "
                           "`[PR|MI|S]`"},
    };
    return error_new(mistakes[mistake].class, "The format is invalid: '%.*s'. %s.", STR_ARG(text),
                     mistakes[mistake].why);
}

/* What stands at a place of the pattern: '9' '0' ',' '.' '$' 'S' 'M' 'P', '?' for anything else. */
static char token_at(Str text, size_t at, size_t *ret_size)
{
    char c = text.data[at];
    char next = at + 1 < text.size ? (char)(text.data[at + 1] & ~0x20) : '\0';
    *ret_size = 1;
    switch (c) {
    case '0':
    case '9':
    case ',':
    case '.':
    case '$':
        return c;
    case 'G':
    case 'g':
        return ',';
    case 'D':
    case 'd':
        return '.';
    case 'S':
    case 's':
        return 'S';
    case 'M':
    case 'm':
        *ret_size = next == 'I' ? 2 : 1;
        return next == 'I' ? 'M' : '?';
    case 'P':
    case 'p':
        *ret_size = next == 'R' ? 2 : 1;
        return next == 'R' ? 'P' : '?';
    default:
        return '?';
    }
}

typedef struct Tokens {
    char kinds[2 * NUMBER_PATTERN_DIGITS_MAX];
    size_t count;
} Tokens;

static bool is_digit_token(char kind)
{
    return kind == '0' || kind == '9';
}

static size_t count_of(const Tokens *tokens, char kind)
{
    size_t count = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        count += tokens->kinds[i] == kind;
    }
    return count;
}

/* Place of the first such token, the number of tokens when there is none. */
static size_t first_of(const Tokens *tokens, char kind)
{
    size_t at = 0;
    while (at < tokens->count && tokens->kinds[at] != kind) {
        at++;
    }
    return at;
}

static bool commas_are_alone(const Tokens *tokens)
{
    for (size_t i = 0; i < first_of(tokens, '.'); i++) {
        if (tokens->kinds[i] == ',' &&
            (i == 0 || !is_digit_token(tokens->kinds[i - 1]) || i + 1 == tokens->count ||
             !is_digit_token(tokens->kinds[i + 1]))) {
            return true;
        }
    }
    return false;
}

static bool comma_behind_point(const Tokens *tokens)
{
    for (size_t i = first_of(tokens, '.'); i < tokens->count; i++) {
        if (tokens->kinds[i] == ',') {
            return true;
        }
    }
    return false;
}

/* The order the grammar wants. */
static bool in_order(const Tokens *tokens)
{
    size_t at = 0;
    const char *kinds = tokens->kinds;
    size_t count = tokens->count;
    at += at < count && (kinds[at] == 'M' || kinds[at] == 'S');
    at += at < count && kinds[at] == '$';
    while (at < count && (is_digit_token(kinds[at]) || kinds[at] == ',')) {
        at++;
    }
    at += at < count && kinds[at] == '.';
    while (at < count && is_digit_token(kinds[at])) {
        at++;
    }
    at += at < count && kinds[at] == '$';
    at += at < count && (kinds[at] == 'P' || kinds[at] == 'M' || kinds[at] == 'S');
    return at == count;
}

static Mistake find_mistake(const Tokens *tokens)
{
    size_t digit = first_of(tokens, '9');
    size_t zero = first_of(tokens, '0');
    size_t first_digit = digit < zero ? digit : zero;
    size_t dollar = first_of(tokens, '$');
    size_t point = first_of(tokens, '.');
    if (tokens->count == 0) {
        return MISTAKE_EMPTY;
    }
    if (first_digit == tokens->count) {
        return MISTAKE_NO_DIGIT;
    }
    if (count_of(tokens, '.') > 1 || count_of(tokens, '$') > 1 || count_of(tokens, 'S') > 1 ||
        count_of(tokens, 'M') > 1) {
        return MISTAKE_TWICE;
    }
    if (dollar < tokens->count && first_digit < dollar) {
        return MISTAKE_CURRENCY_BEHIND_DIGIT;
    }
    if (dollar < tokens->count && point < dollar) {
        return MISTAKE_CURRENCY_BEHIND_POINT;
    }
    if (commas_are_alone(tokens)) {
        return MISTAKE_COMMA_ALONE;
    }
    if (comma_behind_point(tokens)) {
        return MISTAKE_COMMA_BEHIND_POINT;
    }
    return in_order(tokens) ? MISTAKE_NONE : MISTAKE_ORDER;
}

static NumberSign sign_of(char kind)
{
    return kind == 'S'   ? NUMBER_SIGN_PLUS_MINUS
           : kind == 'M' ? NUMBER_SIGN_MINUS
           : kind == 'P' ? NUMBER_SIGN_BRACKETS
                         : NUMBER_SIGN_NONE;
}

/* A run of digits is of the kind its first digit is. */
static void fill(const Tokens *tokens, NumberPattern *ret)
{
    char run = '\0';
    *ret = (NumberPattern){0};
    ret->sign_before = sign_of(tokens->kinds[0]);
    ret->sign_behind = tokens->count > 1 ? sign_of(tokens->kinds[tokens->count - 1]) : 0;
    for (size_t i = 0; i < tokens->count; i++) {
        char kind = tokens->kinds[i];
        ret->dollar = ret->dollar || kind == '$';
        if (is_digit_token(kind) && ret->point) {
            ret->fraction_digits++;
        } else if (is_digit_token(kind)) {
            run = run == '\0' ? kind : run;
            ret->whole[ret->whole_size++] = run;
            ret->whole_digits++;
        } else if (kind == ',') {
            run = '\0';
            ret->whole[ret->whole_size++] = ',';
        } else {
            ret->point = ret->point || kind == '.';
        }
    }
}

Error *number_pattern_parse(Str text, NumberPattern *ret)
{
    Tokens tokens = {.count = 0};
    for (size_t at = 0, size = 0; at < text.size; at += size) {
        if (tokens.count == NUMBER_PATTERN_DIGITS_MAX) {
            return mistake_error(MISTAKE_ORDER, text);
        }
        tokens.kinds[tokens.count++] = token_at(text, at, &size);
    }
    Mistake mistake = find_mistake(&tokens);
    if (mistake != MISTAKE_NONE) {
        return mistake_error(mistake, text);
    }
    fill(&tokens, ret);
    return NULL;
}

/* ---- Printing ---- */

/* A blank goes before a sign it would follow. */
static void put_blank(Buffer *out)
{
    char last = out->size > 0 ? out->data[out->size - 1] : '\0';
    if (last == '+' || last == '-' || last == '<') {
        out->data[out->size - 1] = ' ';
        buffer_append_byte(out, last);
    } else {
        buffer_append_byte(out, ' ');
    }
}

static void put_sign(NumberSign sign, bool negative, Buffer *out)
{
    switch (sign) {
    case NUMBER_SIGN_NONE:
        return;
    case NUMBER_SIGN_PLUS_MINUS:
        buffer_append_byte(out, negative ? '-' : '+');
        return;
    case NUMBER_SIGN_MINUS:
        buffer_append_byte(out, negative ? '-' : ' ');
        return;
    case NUMBER_SIGN_BRACKETS:
        buffer_append_cstr(out, negative ? ">" : "  ");
        return;
    }
}

/* All of the pattern's places as #, with the sign the number has. */
static void put_too_large(const NumberPattern *pattern, bool negative, Buffer *out)
{
    bool brackets = pattern->sign_behind == NUMBER_SIGN_BRACKETS;
    buffer_append_cstr(out, brackets && negative ? "<" : "");
    put_sign(pattern->sign_before, negative, out);
    buffer_append_cstr(out, pattern->dollar ? "$" : "");
    for (size_t i = 0; i < pattern->whole_size; i++) {
        buffer_append_byte(out, pattern->whole[i] == ',' ? ' ' : '#');
    }
    buffer_append_cstr(out, pattern->point ? "." : "");
    for (size_t i = 0; i < pattern->fraction_digits; i++) {
        buffer_append_byte(out, '#');
    }
    put_sign(pattern->sign_behind, negative, out);
}

static void put_whole(const NumberPattern *pattern, Str digits, Buffer *out)
{
    size_t missing = pattern->whole_digits - digits.size;
    size_t used = 0;
    bool begun = false;
    for (size_t i = 0; i < pattern->whole_size; i++) {
        char kind = pattern->whole[i];
        if (kind == ',') {
            if (begun) {
                buffer_append_byte(out, ',');
            } else {
                put_blank(out);
            }
            continue;
        }
        char digit = used < missing ? '0' : digits.data[used - missing];
        used++;
        begun = begun || kind == '0' || digit != '0';
        if (begun) {
            buffer_append_byte(out, digit);
        } else {
            put_blank(out);
        }
    }
}

static void put_fraction(const NumberPattern *pattern, Str digits, Buffer *out)
{
    if (!pattern->point) {
        return;
    }
    if (out->size > 0 && out->data[out->size - 1] == ' ') {
        out->data[out->size - 1] = '0';
    }
    buffer_append_byte(out, pattern->fraction_digits > 0 ? '.' : ' ');
    for (size_t i = 0; i < pattern->fraction_digits; i++) {
        buffer_append_byte(out, i < digits.size ? digits.data[i] : '0');
    }
}

void number_pattern_format(const NumberPattern *pattern, int128 value, int scale, Buffer *out)
{
    AUTO_BUFFER Buffer text = {0};
    AUTO_BUFFER Buffer printed = {0};
    bool negative = value < 0;
    decimal_format(negative ? -value : value, scale, &text);
    Str plain = buffer_str(&text);
    size_t point = str_find_byte(plain, '.');
    point = point > plain.size ? plain.size : point;
    Str whole = {plain.data, point};
    Str fraction = {plain.data + point + (point < plain.size),
                    plain.size - point - (point < plain.size)};
    while (whole.size > 0 && whole.data[0] == '0') {
        whole = (Str){whole.data + 1, whole.size - 1};
    }
    while (fraction.size > 0 && fraction.data[fraction.size - 1] == '0') {
        fraction.size--;
    }
    if (whole.size > pattern->whole_digits || fraction.size > pattern->fraction_digits) {
        put_too_large(pattern, negative, out);
        return;
    }
    if (pattern->sign_behind == NUMBER_SIGN_BRACKETS && negative) {
        buffer_append_byte(&printed, '<');
    }
    put_sign(pattern->sign_before, negative, &printed);
    buffer_append_cstr(&printed, pattern->dollar ? "$" : "");
    put_whole(pattern, whole, &printed);
    put_fraction(pattern, fraction, &printed);
    put_sign(pattern->sign_behind, negative, &printed);
    buffer_append_str(out, buffer_str(&printed));
}

/* ---- Reading ---- */

typedef struct NumberReader {
    Str text; /* without blanks */
    size_t at;
    char digits[2 * NUMBER_PATTERN_DIGITS_MAX];
    size_t digit_count;
} NumberReader;

static char peek(const NumberReader *reader)
{
    return reader->at < reader->text.size ? reader->text.data[reader->at] : '\0';
}

static bool skip(NumberReader *reader, char c)
{
    bool there = peek(reader) == c && c != '\0';
    reader->at += there;
    return there;
}

/* Runs of digits between commas from `at` to the run's end; how many commas are in the text? */
static size_t runs_ahead(const NumberReader *reader)
{
    size_t runs = 1;
    for (size_t i = reader->at; i < reader->text.size; i++) {
        char c = reader->text.data[i];
        if (c == ',') {
            runs++;
        } else if (!char_is_digit(c)) {
            break;
        }
    }
    return runs;
}

/* One run of the pattern: 9s take up to so many digits, 0s just so many. */
static bool read_run(NumberReader *reader, const char *kinds, size_t size)
{
    size_t count = 0;
    while (count < size && char_is_digit(peek(reader))) {
        reader->digits[reader->digit_count++] = peek(reader);
        reader->at++;
        count++;
    }
    return kinds[0] == '9' || count == size;
}

/* Leading runs of the pattern may be missing in the text. */
static bool read_whole(NumberReader *reader, const NumberPattern *pattern)
{
    size_t runs = pattern->whole_size == 0 ? 0 : 1;
    for (size_t i = 0; i < pattern->whole_size; i++) {
        runs += pattern->whole[i] == ',';
    }
    size_t present = runs_ahead(reader);
    if (present > runs) {
        return runs == 0 && present == 1;
    }
    size_t begin = 0;
    for (size_t run = 0; run < runs; run++) {
        size_t end = begin;
        while (end < pattern->whole_size && pattern->whole[end] != ',') {
            end++;
        }
        bool missing = run + present < runs;
        if (missing && pattern->whole[begin] == '0') {
            return false;
        }
        if (!missing && ((run + present > runs && !skip(reader, ',')) ||
                         !read_run(reader, &pattern->whole[begin], end - begin))) {
            return false;
        }
        begin = end + 1;
    }
    return true;
}

static void read_fraction(NumberReader *reader, const NumberPattern *pattern)
{
    size_t count = 0;
    if (pattern->point && skip(reader, '.')) {
        while (count < pattern->fraction_digits && char_is_digit(peek(reader))) {
            reader->digits[reader->digit_count++] = peek(reader);
            reader->at++;
            count++;
        }
    }
    for (; count < pattern->fraction_digits; count++) {
        reader->digits[reader->digit_count++] = '0';
    }
}

static bool read_sign(NumberReader *reader, NumberSign sign)
{
    if (sign == NUMBER_SIGN_PLUS_MINUS && skip(reader, '+')) {
        return false;
    }
    return (sign == NUMBER_SIGN_PLUS_MINUS || sign == NUMBER_SIGN_MINUS) && skip(reader, '-');
}

bool number_pattern_read(const NumberPattern *pattern, Str text, int128 *ret_value)
{
    AUTO_BUFFER Buffer plain = {0};
    NumberReader reader = {.at = 0};
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != ' ') {
            buffer_append_byte(&plain, text.data[i]);
        }
    }
    reader.text = buffer_str(&plain);
    bool brackets = pattern->sign_behind == NUMBER_SIGN_BRACKETS && skip(&reader, '<');
    bool negative = read_sign(&reader, pattern->sign_before) || brackets;
    if ((pattern->dollar && !skip(&reader, '$')) || !read_whole(&reader, pattern)) {
        return false;
    }
    read_fraction(&reader, pattern);
    negative = read_sign(&reader, pattern->sign_behind) || negative;
    if ((brackets && !skip(&reader, '>')) || reader.at < reader.text.size ||
        reader.text.size == 0) {
        return false;
    }
    int128 value = 0;
    for (size_t i = 0; i < reader.digit_count; i++) {
        value = value * 10 + (reader.digits[i] - '0');
    }
    *ret_value = negative ? -value : value;
    return true;
}
