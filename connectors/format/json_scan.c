/* Scanning JSON text: the parts that are not inline, and passing over whole values. Passing over is
 * a loop with a stack of one bit a level (object or array), so nesting costs no C stack. */
#include "connectors/format/json_scan.h"

#include <stdint.h>

#include "processor/base/banned.h"

JsonScan json_scan_text(Str text)
{
    JsonScan scan = {text.data, text.data, text.data + text.size, NULL, NULL};
    if (text.size >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0) {
        scan.at += 3;
    }
    return scan;
}

bool json_problem(JsonScan *scan, const char *at, const char *problem)
{
    scan->problem = problem;
    scan->problem_at = at;
    return false;
}

/* The four hex digits behind \u, or -1. */
static int32_t code_unit(const char *at, const char *end)
{
    if (end - at < 4) {
        return -1;
    }
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = char_hex_value(at[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

static size_t encode_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* `*at` stands behind "\u". Passes four digits, or ten where two units make one character. */
static bool unicode_escape(JsonScan *scan, const char **at, const char *end, uint32_t *ret_code)
{
    int32_t unit = code_unit(*at, end);
    if (unit < 0) {
        return json_problem(scan, *at, "\\u needs four hexadecimal digits");
    }
    uint32_t code = (uint32_t)unit;
    *at += 4;
    if (code >= 0xD800 && code <= 0xDFFF) {
        int32_t low = code <= 0xDBFF && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u'
                          ? code_unit(*at + 2, end)
                          : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            return json_problem(scan, *at - 6, "half a surrogate pair stands for no character");
        }
        code = 0x10000 + ((code - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
        *at += 6;
    }
    *ret_code = code;
    return true;
}

/* The character a one-letter escape stands for, or '\0'. */
static char simple_escape(char letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/':
        return letter;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return '\0';
    }
}

bool json_unescape(JsonScan *scan, Str raw, char *out, size_t *ret_size)
{
    const char *at = raw.data;
    const char *end = raw.data + raw.size;
    char discarded[4];
    size_t size = 0;
    while (at < end) {
        const char *stop = memchr(at, '\\', (size_t)(end - at));
        size_t run = (size_t)((stop == NULL ? end : stop) - at);
        if (out != NULL) {
            memcpy(out + size, at, run);
        }
        size += run;
        at += run;
        if (at == end) {
            break;
        }
        if (end - at >= 2 && at[1] == 'u') {
            uint32_t code = 0;
            at += 2;
            if (!unicode_escape(scan, &at, end, &code)) {
                return false;
            }
            size += encode_utf8(code, out == NULL ? discarded : out + size);
            continue;
        }
        char c = end - at >= 2 ? simple_escape(at[1]) : '\0';
        if (c == '\0') {
            return json_problem(scan, at, "a backslash starts no known escape");
        }
        if (out != NULL) {
            out[size] = c;
        }
        size++;
        at += 2;
    }
    *ret_size = size;
    return true;
}

static void pass_digits(JsonScan *scan)
{
    while (scan->at < scan->end && char_is_digit(*scan->at)) {
        scan->at++;
    }
}

static bool need_digits(JsonScan *scan, const char *problem)
{
    if (!char_is_digit(json_peek(scan))) {
        return json_problem(scan, scan->at, problem);
    }
    pass_digits(scan);
    return true;
}

static bool number_word(JsonScan *scan)
{
    return json_scan_word(scan, json_peek(scan) == 'N' ? STR("NaN") : STR("Infinity"));
}

static bool scan_number_parts(JsonScan *scan)
{
    if (json_peek(scan) == 'N') {
        return number_word(scan);
    }
    if (json_peek(scan) == '-') {
        scan->at++;
    }
    if (json_peek(scan) == 'I') {
        return number_word(scan);
    }
    if (json_peek(scan) == '0') {
        scan->at++;
        if (char_is_digit(json_peek(scan))) {
            return json_problem(scan, scan->at, "a number must not start with a zero digit");
        }
    } else if (!need_digits(scan, "a number needs a digit here")) {
        return false;
    }
    if (json_peek(scan) == '.') {
        scan->at++;
        if (!need_digits(scan, "a number needs a digit after its point")) {
            return false;
        }
    }
    if (json_peek(scan) == 'e' || json_peek(scan) == 'E') {
        scan->at++;
        if (json_peek(scan) == '+' || json_peek(scan) == '-') {
            scan->at++;
        }
        return need_digits(scan, "a number needs a digit in its exponent");
    }
    return true;
}

bool json_scan_number(JsonScan *scan, Str *ret_text)
{
    const char *first = scan->at;
    if (!scan_number_parts(scan)) {
        return false;
    }
    *ret_text = (Str){first, (size_t)(scan->at - first)};
    return true;
}

static bool continues_word(char c)
{
    return char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool json_scan_word(JsonScan *scan, Str word)
{
    Str rest = {scan->at, (size_t)(scan->end - scan->at)};
    if (!str_starts_with(rest, word) ||
        (rest.size > word.size && continues_word(rest.data[word.size]))) {
        return json_problem(scan, scan->at, "an unknown word stands where a value is expected");
    }
    scan->at += word.size;
    return true;
}

static bool skip_string(JsonScan *scan)
{
    Str raw = STR_NULL;
    bool escaped = false;
    size_t size = 0;
    return json_scan_string(scan, &raw, &escaped) &&
           (!escaped || json_unescape(scan, raw, NULL, &size));
}

static bool skip_name(JsonScan *scan)
{
    json_skip_space(scan);
    if (json_peek(scan) != '"') {
        return json_problem(scan, scan->at, "a field name in quotes is expected");
    }
    return skip_string(scan) && json_scan_colon(scan);
}

static bool skip_scalar(JsonScan *scan)
{
    Str text = STR_NULL;
    switch (json_peek(scan)) {
    case '"':
        return skip_string(scan);
    case 't':
        return json_scan_word(scan, STR("true"));
    case 'f':
        return json_scan_word(scan, STR("false"));
    case 'n':
        return json_scan_word(scan, STR("null"));
    case '-':
    case 'N':
    case 'I':
        return json_scan_number(scan, &text);
    default:
        if (char_is_digit(json_peek(scan))) {
            return json_scan_number(scan, &text);
        }
        return json_problem(scan, scan->at,
                            scan->at == scan->end ? "the text ends where a value is expected"
                                                  : "a value is expected");
    }
}

/* The arrays and objects being passed: bit set = object. */
typedef struct OpenLevels {
    uint64_t objects[JSON_DEPTH_MAX / 64 + 1];
    unsigned count;
    unsigned limit;
} OpenLevels;

static bool top_is_object(const OpenLevels *open)
{
    unsigned top = open->count - 1;
    return (open->objects[top / 64] >> (top % 64) & 1) != 0;
}

/* At a bracket: opens a level. *ret_empty when it closes at once; else stands at its first value.
 */
static bool open_level(JsonScan *scan, OpenLevels *open, bool *ret_empty)
{
    bool object = *scan->at == '{';
    if (open->count >= open->limit) {
        return json_problem(scan, scan->at, "arrays and objects are nested too deeply");
    }
    scan->at++;
    json_skip_space(scan);
    if (json_peek(scan) == (object ? '}' : ']')) {
        scan->at++;
        *ret_empty = true;
        return true;
    }
    uint64_t bit = UINT64_C(1) << (open->count % 64);
    uint64_t *word = &open->objects[open->count / 64];
    if (open->count % 64 == 0) {
        *word = 0;
    }
    *word = object ? *word | bit : *word & ~bit;
    open->count++;
    *ret_empty = false;
    return !object || skip_name(scan);
}

/* Behind a value: closes what closes here, until a comma leads to the next value or nothing is
 * open. */
static bool after_value(JsonScan *scan, OpenLevels *open)
{
    while (open->count > 0) {
        bool object = top_is_object(open);
        json_skip_space(scan);
        char c = json_peek(scan);
        if (c == ',') {
            scan->at++;
            if (object) {
                return skip_name(scan);
            }
            json_skip_space(scan);
            return true;
        }
        if (c != (object ? '}' : ']')) {
            return json_problem(scan, scan->at,
                                object ? "a comma or a closing brace is expected"
                                       : "a comma or a closing bracket is expected");
        }
        scan->at++;
        open->count--;
    }
    return true;
}

bool json_skip_value(JsonScan *scan, unsigned depth)
{
    OpenLevels open; /* words are cleared when their first level opens */
    open.count = 0;
    open.limit = depth < JSON_DEPTH_MAX ? JSON_DEPTH_MAX - depth : 0;
    do {
        char c = json_peek(scan);
        if (c == '{' || c == '[') {
            bool empty = false;
            if (!open_level(scan, &open, &empty)) {
                return false;
            }
            if (!empty) {
                continue;
            }
        } else if (!skip_scalar(scan)) {
            return false;
        }
        if (!after_value(scan, &open)) {
            return false;
        }
    } while (open.count > 0);
    return true;
}

bool json_scan_end(JsonScan *scan)
{
    json_skip_space(scan);
    if (scan->at != scan->end) {
        return json_problem(scan, scan->at, "only white space may follow the value");
    }
    return true;
}
