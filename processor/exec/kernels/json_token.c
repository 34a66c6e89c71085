/* See json_token.h. */
#include "processor/exec/kernels/json_token.h"

#include <math.h>
#include <string.h>

#include "processor/data/number_text.h"
#include "processor/data/value_text.h"
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

void json_tokens_init(JsonTokens *tokens, Str text, JsonSyntax syntax, Arena *arena)
{
    tokens->at = text.data;
    tokens->end = text.size == 0 ? text.data : text.data + text.size;
    tokens->arena = arena;
    tokens->syntax = syntax;
    tokens->token = JSON_END;
    tokens->text = STR_NULL;
    tokens->depth = 0;
    tokens->need_comma = false;
    tokens->need_value = false;
    tokens->done = false;
}

static JsonToken give(JsonTokens *tokens, JsonToken token)
{
    tokens->token = token;
    return token;
}

static char peek(const JsonTokens *tokens)
{
    return tokens->at < tokens->end ? *tokens->at : '\0';
}

/* ---- White space ---- */

/* At '/': passes a comment; false when it is none. */
static bool skip_comment(JsonTokens *tokens)
{
    const char *at = tokens->at + 1;
    if (!tokens->syntax.comments || at >= tokens->end) {
        return false;
    }
    size_t rest = (size_t)(tokens->end - at);
    if (*at == '/') {
        const char *line = memchr(at, '\n', rest);
        tokens->at = line == NULL ? tokens->end : line + 1;
        return true;
    }
    const char *close = *at == '*' ? memmem(at + 1, rest - 1, "*/", 2) : NULL;
    if (close == NULL) {
        return false;
    }
    tokens->at = close + 2;
    return true;
}

static void skip_space(JsonTokens *tokens)
{
    while (tokens->at < tokens->end) {
        char c = *tokens->at;
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            tokens->at++;
        } else if (c != '/' || !skip_comment(tokens)) {
            return;
        }
    }
}

/* ---- Strings ---- */

/* \uXXXX behind the 'u': the code unit, or false. */
static bool read_hex(const char *at, const char *end, uint32_t *ret)
{
    if (end - at < 4) {
        return false;
    }
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = char_hex_value(at[i]);
        if (digit < 0) {
            return false;
        }
        value = value * 16 + (uint32_t)digit;
    }
    *ret = value;
    return true;
}

/* At 'u' of an escape; half a surrogate pair is '?', as Java writes it in UTF-8. */
static bool unescape_unicode(JsonTokens *tokens, Buffer *out)
{
    uint32_t unit = 0;
    if (!read_hex(tokens->at + 1, tokens->end, &unit)) {
        return false;
    }
    tokens->at += 5;
    uint32_t low = 0;
    if (unit >= 0xD800 && unit < 0xDC00 && tokens->end - tokens->at >= 6 && tokens->at[0] == '\\' &&
        tokens->at[1] == 'u' && read_hex(tokens->at + 2, tokens->end, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        tokens->at += 6;
        utf8_append(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
    } else {
        utf8_append(out, unit >= 0xD800 && unit < 0xE000 ? '?' : unit);
    }
    return true;
}

/* Behind a backslash. */
static bool unescape(JsonTokens *tokens, Buffer *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    char c = peek(tokens);
    if (c == 'u') {
        return unescape_unicode(tokens, out);
    }
    const char *found = c == '\0' ? NULL : strchr(from, c);
    if (found == NULL && (!tokens->syntax.any_escape || c == '\0')) {
        /* Single quotes bring their own escape. */
        if (c != '\'' || tokens->syntax.no_single_quotes) {
            return false;
        }
    }
    buffer_append_byte(out, found == NULL ? c : to[found - from]);
    tokens->at++;
    return true;
}

/* The rest of a string that holds an escape. */
static bool read_escaped(JsonTokens *tokens, const char *first, char quote)
{
    AUTO_BUFFER Buffer out = {0};
    buffer_append(&out, first, (size_t)(tokens->at - first));
    while (tokens->at < tokens->end) {
        char c = *tokens->at++;
        if (c == quote) {
            tokens->text = arena_copy_str(tokens->arena, buffer_str(&out));
            if (tokens->text.data == NULL) {
                tokens->text = STR("");
            }
            return true;
        }
        if (c == '\\') {
            if (!unescape(tokens, &out)) {
                return false;
            }
        } else if ((unsigned char)c < 0x20 && !tokens->syntax.control_characters) {
            return false;
        } else {
            buffer_append_byte(&out, c);
        }
    }
    return false;
}

/* At a quote: the text between it and its partner. */
static bool read_string(JsonTokens *tokens)
{
    char quote = *tokens->at++;
    const char *first = tokens->at;
    for (; tokens->at < tokens->end; tokens->at++) {
        char c = *tokens->at;
        if (c == quote) {
            tokens->text = (Str){first, (size_t)(tokens->at - first)};
            tokens->at++;
            return true;
        }
        if (c == '\\') {
            return read_escaped(tokens, first, quote);
        }
        if ((unsigned char)c < 0x20 && !tokens->syntax.control_characters) {
            return false;
        }
    }
    return false;
}

static bool is_quote(const JsonTokens *tokens, char c)
{
    return c == '"' || (c == '\'' && !tokens->syntax.no_single_quotes);
}

/* ---- Numbers and words ---- */

static bool is_name_char(char c)
{
    return char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && char_is_digit(*at)) {
        at++;
    }
    return at;
}

/* The end of point and exponent that start at `at`; NULL when they are malformed. */
static const char *fraction_end(const char *at, const char *end)
{
    if (at < end && *at == '.') {
        const char *first = ++at;
        at = skip_digits(at, end);
        if (at == first) {
            return NULL;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        const char *first = at;
        at = skip_digits(at, end);
        if (at == first) {
            return NULL;
        }
    }
    return at;
}

static JsonToken read_number(JsonTokens *tokens)
{
    const char *start = tokens->at;
    const char *at = start + (*start == '-');
    const char *first = at;
    at = skip_digits(at, tokens->end);
    if (at == first) {
        return JSON_BAD;
    }
    if (*first == '0' && at - first > 1) {
        if (!tokens->syntax.leading_zeros) {
            return JSON_BAD;
        }
    }
    const char *end = fraction_end(at, tokens->end);
    if (end == NULL) {
        return JSON_BAD;
    }
    tokens->text = (Str){start, (size_t)(end - start)};
    tokens->at = end;
    return end == at ? JSON_INTEGER : JSON_FLOAT;
}

/* NaN, Infinity; INF only with a sign. */
static JsonToken read_word_number(JsonTokens *tokens)
{
    static const char *const words[] = {"NaN",       "Infinity", "-INF",
                                        "-Infinity", "+INF",     "+Infinity"};
    Str rest = {tokens->at, (size_t)(tokens->end - tokens->at)};
    for (size_t i = 0; !tokens->syntax.no_nan && i < ARRAY_LENGTH(words); i++) {
        Str word = str_from(words[i]);
        bool longer = rest.size > word.size && is_name_char(rest.data[word.size]);
        if (str_starts_with(rest, word) && !longer) {
            tokens->text = (Str){tokens->at, word.size};
            tokens->at += word.size;
            return JSON_FLOAT;
        }
    }
    return JSON_BAD;
}

static JsonToken read_word(JsonTokens *tokens)
{
    static const struct {
        Str word;
        JsonToken token;
    } words[] = {{{"true", 4}, JSON_TRUE}, {{"false", 5}, JSON_FALSE}, {{"null", 4}, JSON_NULL}};
    Str rest = {tokens->at, (size_t)(tokens->end - tokens->at)};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        Str word = words[i].word;
        bool longer = rest.size > word.size && is_name_char(rest.data[word.size]);
        if (str_starts_with(rest, word) && !longer) {
            tokens->at += word.size;
            return words[i].token;
        }
    }
    return read_word_number(tokens);
}

/* ---- Structure ---- */

/* A value, or an array or object around it, ends here. */
static void finish_value(JsonTokens *tokens)
{
    tokens->need_comma = true;
    tokens->done = tokens->depth == 0;
}

static JsonToken open_nested(JsonTokens *tokens, bool object)
{
    if (tokens->depth == JSON_NESTING_MAX) {
        return JSON_BAD;
    }
    tokens->at++;
    tokens->is_object[tokens->depth++] = object;
    tokens->need_comma = false;
    return object ? JSON_OBJECT : JSON_ARRAY;
}

static JsonToken close_nested(JsonTokens *tokens)
{
    bool object = tokens->is_object[--tokens->depth];
    tokens->at++;
    finish_value(tokens);
    return object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

static JsonToken read_value(JsonTokens *tokens)
{
    char c = peek(tokens);
    tokens->need_value = false;
    if (c == '{' || c == '[') {
        return open_nested(tokens, c == '{');
    }
    JsonToken token = JSON_BAD;
    if (is_quote(tokens, c)) {
        token = read_string(tokens) ? JSON_STRING : JSON_BAD;
    } else if (char_is_digit(c) ||
               (c == '-' && tokens->end - tokens->at > 1 && char_is_digit(tokens->at[1]))) {
        token = read_number(tokens);
    } else {
        token = read_word(tokens);
    }
    finish_value(tokens);
    return token;
}

static bool read_unquoted_name(JsonTokens *tokens)
{
    const char *first = tokens->at;
    while (tokens->at < tokens->end && is_name_char(*tokens->at)) {
        tokens->at++;
    }
    tokens->text = (Str){first, (size_t)(tokens->at - first)};
    return tokens->at > first && !char_is_digit(*first);
}

static JsonToken read_name(JsonTokens *tokens)
{
    bool good = is_quote(tokens, peek(tokens))  ? read_string(tokens)
                : tokens->syntax.unquoted_names ? read_unquoted_name(tokens)
                                                : false;
    if (!good) {
        return JSON_BAD;
    }
    skip_space(tokens);
    if (peek(tokens) != ':') {
        return JSON_BAD;
    }
    tokens->at++;
    tokens->need_value = true;
    return JSON_NAME;
}

static JsonToken next_inside(JsonTokens *tokens)
{
    bool object = tokens->is_object[tokens->depth - 1];
    if (peek(tokens) == (object ? '}' : ']') && tokens->at < tokens->end) {
        return close_nested(tokens);
    }
    if (tokens->need_comma) {
        if (peek(tokens) != ',') {
            return JSON_BAD;
        }
        tokens->at++;
        skip_space(tokens);
        tokens->need_comma = false;
    }
    return object ? read_name(tokens) : read_value(tokens);
}

JsonToken json_next(JsonTokens *tokens)
{
    if (tokens->token == JSON_BAD) {
        return JSON_BAD;
    }
    skip_space(tokens);
    if (tokens->depth == 0 && (tokens->done || tokens->at == tokens->end)) {
        return give(tokens, JSON_END);
    }
    if (tokens->need_value || tokens->depth == 0) {
        return give(tokens, read_value(tokens));
    }
    return give(tokens, next_inside(tokens));
}

bool json_skip(JsonTokens *tokens)
{
    if (tokens->token != JSON_OBJECT && tokens->token != JSON_ARRAY) {
        return tokens->token != JSON_BAD && tokens->token != JSON_END;
    }
    unsigned depth = tokens->depth;
    while (tokens->depth >= depth) {
        if (json_next(tokens) == JSON_BAD) {
            return false;
        }
    }
    return true;
}

/* ---- Writing ---- */

static void put_escaped(Buffer *out, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";
    const char *found = c == 0 ? NULL : strchr(from, c);
    if (found == NULL) {
        buffer_printf(out, "\\u%04X", c);
    } else {
        buffer_append_byte(out, '\\');
        buffer_append_byte(out, to[found - from]);
    }
}

void json_put_text(Buffer *out, Str text)
{
    buffer_append_byte(out, '"');
    size_t run = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            buffer_append(out, text.data + run, i - run);
            put_escaped(out, c);
            run = i + 1;
        }
    }
    if (text.size > run) {
        buffer_append(out, text.data + run, text.size - run);
    }
    buffer_append_byte(out, '"');
}

void json_append_double(Buffer *out, double number)
{
    if (isfinite(number)) {
        double_format(number, out);
        return;
    }
    buffer_append_byte(out, '"');
    double_format(number, out);
    buffer_append_byte(out, '"');
}

void json_put_number(Buffer *out, const JsonTokens *tokens)
{
    Str text = tokens->text;
    if (tokens->token == JSON_FLOAT) {
        double number = (double)NAN;
        (void)double_parse_cast(text, &number);
        json_append_double(out, number);
        return;
    }
    bool negative = text.data[0] == '-';
    Str digits = {text.data + negative, text.size - negative};
    while (digits.size > 1 && digits.data[0] == '0') {
        digits = (Str){digits.data + 1, digits.size - 1};
    }
    if (negative && !str_equal(digits, STR("0"))) {
        buffer_append_byte(out, '-');
    }
    buffer_append_str(out, digits);
}

static void put_token(const JsonTokens *tokens, Buffer *out)
{
    static const char *const texts[] = {
        [JSON_OBJECT] = "{",  [JSON_OBJECT_END] = "}", [JSON_ARRAY] = "[",  [JSON_ARRAY_END] = "]",
        [JSON_TRUE] = "true", [JSON_FALSE] = "false",  [JSON_NULL] = "null"};
    switch (tokens->token) {
    case JSON_NAME:
        json_put_text(out, tokens->text);
        buffer_append_byte(out, ':');
        return;
    case JSON_STRING:
        json_put_text(out, tokens->text);
        return;
    case JSON_INTEGER:
    case JSON_FLOAT:
        json_put_number(out, tokens);
        return;
    case JSON_END:
    case JSON_BAD:
        return;
    case JSON_OBJECT:
    case JSON_OBJECT_END:
    case JSON_ARRAY:
    case JSON_ARRAY_END:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        buffer_append_cstr(out, texts[tokens->token]);
        return;
    }
}

bool json_copy(JsonTokens *tokens, Buffer *out)
{
    bool nested = tokens->token == JSON_OBJECT || tokens->token == JSON_ARRAY;
    unsigned depth = tokens->depth;
    put_token(tokens, out);
    while (nested && tokens->depth >= depth) {
        bool comma = tokens->need_comma;
        JsonToken token = json_next(tokens);
        if (token == JSON_BAD) {
            return false;
        }
        if (comma && token != JSON_OBJECT_END && token != JSON_ARRAY_END) {
            buffer_append_byte(out, ',');
        }
        put_token(tokens, out);
    }
    return tokens->token != JSON_BAD && tokens->token != JSON_END;
}
