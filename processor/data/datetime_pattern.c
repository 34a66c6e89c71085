/* Patterns compiled: letters to parts. As java.time's DateTimeFormatterBuilder.appendPattern does
 * it, after Spark's own refusals. A number that stands right before others of fixed width leaves
 * them their digits: yyyyMMdd reads 20240209. */
#include "processor/data/datetime_pattern_parts.h"

#include <assert.h>
#include <string.h>

#include "processor/base/banned.h"

typedef struct Compiler {
    Arena *arena;
    DatePattern *pattern;
    size_t capacity;
    bool parsing;
    bool has_era;
    int64_t number;    /* the part numbers behind it lean on; -1: none */
    const char *wrong; /* what java.time dislikes */
} Compiler;

/* ---- Errors ---- */

static COLD Error *illegal_character(char letter)
{
    return error_new(ERROR_PATTERN_ILLEGAL_CHARACTER,
                     "Illegal pattern character found in datetime pattern: %c. Please provide "
                     "legal character.",
                     letter);
}

static COLD Error *too_long(Str pattern)
{
    return error_new(ERROR_PATTERN_LENGTH,
                     "Too many letters in datetime pattern: %.*s. Please reduce pattern length.",
                     STR_ARG(pattern));
}

static COLD Error *unknown_pattern(Str pattern)
{
    return error_new(ERROR_PATTERN_UNRECOGNIZED, "Unrecognized datetime pattern: %.*s.",
                     STR_ARG(pattern));
}

static COLD Error *week_based(char letter)
{
    return error_new(ERROR_PATTERN_WEEK_BASED,
                     "All week-based patterns are unsupported, detected week-based character: %c. "
                     "Please use the SQL function EXTRACT instead.",
                     letter);
}

static COLD Error *known_before(Str pattern)
{
    return error_new(ERROR_PATTERN_RECOGNITION,
                     "Fail to recognize '%.*s' pattern in the DateTimeFormatter.",
                     STR_ARG(pattern));
}

/* ---- What Spark refuses ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t run_length(Str pattern, size_t at)
{
    size_t count = 1;
    while (at + count < pattern.size && pattern.data[at + count] == pattern.data[at]) {
        count++;
    }
    return count;
}

static bool contains(const char *set, char c)
{
    return strchr(set, c) != NULL;
}

/* Text between quotes is split off as Spark does it: at every quote. */
static Error *refuse_letters(Str pattern, bool parsing)
{
    bool quoted = false;
    Error *worst = NULL;
    for (size_t i = 0; i < pattern.size && worst == NULL; i++) {
        char c = pattern.data[i];
        if (c == '\'') {
            quoted = !quoted;
        } else if (!quoted && contains("YWwuec", c)) {
            worst = week_based(c);
        }
    }
    quoted = false;
    for (size_t i = 0; i < pattern.size && worst == NULL; i++) {
        char c = pattern.data[i];
        if (c == '\'') {
            quoted = !quoted;
        } else if (!quoted && (contains("ABnNp", c) || (parsing && contains("EFqQ", c)))) {
            worst = illegal_character(c);
        }
    }
    quoted = false;
    for (size_t i = 0; i < pattern.size && worst == NULL; i++) {
        char c = pattern.data[i];
        if (c == '\'') {
            quoted = !quoted;
        } else if (!quoted && is_letter(c)) {
            size_t count = run_length(pattern, i);
            bool long_text = contains("GMLEQq", c) && count >= 5;
            if (long_text || (c == 'y' && count >= 7)) {
                worst = too_long(pattern);
            }
            i += count - 1;
        }
    }
    return worst;
}

/* Would SimpleDateFormat, which Spark 2 used, take the pattern? */
static bool was_pattern(Str pattern)
{
    bool quoted = false;
    for (size_t i = 0; i < pattern.size; i++) {
        char c = pattern.data[i];
        if (c == '\'') {
            quoted = !quoted;
        } else if (!quoted && is_letter(c)) {
            size_t count = run_length(pattern, i);
            if (!contains("GyYMLwWDdFEuaHkKhmsSzZX", c) || (c == 'X' && count > 3)) {
                return false;
            }
            i += count - 1;
        }
    }
    return !quoted;
}

/* ---- Parts ---- */

static PatternPart *add_part(Compiler *compiler, PatternPart part)
{
    DatePattern *pattern = compiler->pattern;
    if (pattern->count == compiler->capacity) {
        size_t capacity = compiler->capacity == 0 ? 16 : compiler->capacity * 2;
        PatternPart *parts = arena_new_array(compiler->arena, PatternPart, capacity);
        for (size_t i = 0; i < pattern->count; i++) {
            parts[i] = pattern->parts[i];
        }
        pattern->parts = parts;
        compiler->capacity = capacity;
    }
    pattern->parts[pattern->count] = part;
    compiler->number = -1;
    return &pattern->parts[pattern->count++];
}

/* Behind another number: one of fixed width takes its digits from it, another ends its freedom. */
static void add_number(Compiler *compiler, PatternPart part)
{
    int64_t before = compiler->number;
    bool fixed = part.width_min == part.width_max && part.sign == PATTERN_SIGN_NONE;
    if (before >= 0) {
        if (fixed) {
            compiler->pattern->parts[before].reserved += part.width_max;
            (void)add_part(compiler, part);
            compiler->number = before;
            return;
        }
    }
    (void)add_part(compiler, part);
    compiler->number = (int64_t)compiler->pattern->count - 1;
}

static void add_value(Compiler *compiler, PatternField field, int min, int max, PatternSign sign)
{
    add_number(compiler, (PatternPart){.kind = PATTERN_NUMBER,
                                       .field = field,
                                       .width_min = min,
                                       .width_max = max,
                                       .sign = sign});
}

/* One or two letters: any digits, or two. */
static void add_short_value(Compiler *compiler, PatternField field, size_t count)
{
    if (count == 1) {
        add_value(compiler, field, 1, 19, PATTERN_SIGN_MINUS);
    } else if (count == 2) {
        add_value(compiler, field, 2, 2, PATTERN_SIGN_NONE);
    } else {
        compiler->wrong = "too many letters";
    }
}

static void add_text(Compiler *compiler, PatternField field, bool full)
{
    (void)add_part(compiler, (PatternPart){.kind = PATTERN_TEXT, .field = field, .full = full});
}

static void add_year(Compiler *compiler, size_t count)
{
    PatternField field = compiler->has_era ? PATTERN_YEAR_OF_ERA : PATTERN_YEAR;
    if (count == 2) {
        add_number(compiler, (PatternPart){.kind = PATTERN_TWO_DIGIT_YEAR,
                                           .field = field,
                                           .width_min = 2,
                                           .width_max = 2});
    } else {
        add_value(compiler, field, (int)count, 19,
                  count < 4 ? PATTERN_SIGN_MINUS : PATTERN_SIGN_PADDED);
    }
}

static void add_number_or_text(Compiler *compiler, PatternField field, size_t count)
{
    if (count < 3) {
        add_short_value(compiler, field, count);
    } else {
        add_text(compiler, field, count == 4);
    }
}

/* When read, a fraction of a second may have fewer digits than the pattern has letters. */
static void add_fraction(Compiler *compiler, size_t count)
{
    if (count > 9) {
        compiler->wrong = "too many letters";
        return;
    }
    PatternPart part = {.kind = PATTERN_FRACTION,
                        .field = PATTERN_NANOSECOND,
                        .width_min = compiler->parsing ? 1 : (int)count,
                        .width_max = (int)count};
    if (part.width_min == part.width_max) {
        add_number(compiler, part);
    } else {
        (void)add_part(compiler, part);
    }
}

static void add_offset(Compiler *compiler, int form, const char *none)
{
    (void)add_part(
        compiler, (PatternPart){.kind = PATTERN_OFFSET, .offset = form, .literal = str_from(none)});
}

static void add_x_offset(Compiler *compiler, char letter, size_t count)
{
    static const int forms[] = {
        0, OFFSET_HH_OPTIONAL_MM, OFFSET_HHMM, OFFSET_HH_MM, OFFSET_HHMMSS, OFFSET_HH_MM_SS};
    if (count > 5) {
        compiler->wrong = "too many letters";
    } else if (letter == 'X') {
        add_offset(compiler, forms[count], "Z");
    } else {
        add_offset(compiler, forms[count],
                   count == 1       ? "+00"
                   : count % 2 == 0 ? "+0000"
                                    : "+00:00");
    }
}

static void add_z_offset(Compiler *compiler, size_t count)
{
    if (count < 4) {
        add_offset(compiler, OFFSET_HHMM, "+0000");
    } else if (count == 4) {
        (void)add_part(compiler, (PatternPart){.kind = PATTERN_GMT_OFFSET, .full = true});
    } else if (count == 5) {
        add_offset(compiler, OFFSET_HH_MM_SS, "Z");
    } else {
        compiler->wrong = "too many letters";
    }
}

static void add_zone(Compiler *compiler, char letter, size_t count)
{
    bool full = count == 4;
    switch (letter) {
    case 'V':
        if (count == 2) {
            (void)add_part(compiler, (PatternPart){.kind = PATTERN_ZONE_ID});
            return;
        }
        break;
    case 'O':
        if (count == 1 || full) {
            (void)add_part(compiler, (PatternPart){.kind = PATTERN_GMT_OFFSET, .full = full});
            return;
        }
        break;
    default: /* v, z */
        if (letter == 'z' ? count <= 4 : count == 1 || full) {
            (void)add_part(compiler, (PatternPart){.kind = PATTERN_ZONE_NAME, .full = full});
            return;
        }
        break;
    }
    compiler->wrong = "letter count";
}

static void add_one_letter(Compiler *compiler, PatternField field, size_t count)
{
    if (count > 1) {
        compiler->wrong = "too many letters";
    } else if (field == PATTERN_HALF) {
        add_text(compiler, field, false);
    } else {
        add_short_value(compiler, field, 1);
    }
}

static void add_letters(Compiler *compiler, char letter, size_t count)
{
    switch (letter) {
    case 'G':
        add_text(compiler, PATTERN_ERA, count == 4);
        return;
    case 'y':
        add_year(compiler, count);
        return;
    case 'Q':
    case 'q':
        add_number_or_text(compiler, PATTERN_QUARTER, count);
        return;
    case 'M':
    case 'L':
        add_number_or_text(compiler, PATTERN_MONTH, count);
        return;
    case 'd':
        add_short_value(compiler, PATTERN_DAY, count);
        return;
    case 'D':
        if (count == 1) {
            add_short_value(compiler, PATTERN_DAY_OF_YEAR, 1);
        } else if (count <= 3) {
            add_value(compiler, PATTERN_DAY_OF_YEAR, (int)count, 3, PATTERN_SIGN_NONE);
        } else {
            compiler->wrong = "too many letters";
        }
        return;
    case 'F':
        add_one_letter(compiler, PATTERN_ALIGNED_DAY, count);
        return;
    case 'E':
        add_text(compiler, PATTERN_WEEKDAY, count == 4);
        return;
    case 'g':
        add_value(compiler, PATTERN_JULIAN_DAY, (int)count, 19, PATTERN_SIGN_MINUS);
        return;
    case 'a':
        add_one_letter(compiler, PATTERN_HALF, count);
        return;
    case 'H':
        add_short_value(compiler, PATTERN_HOUR, count);
        return;
    case 'k':
        add_short_value(compiler, PATTERN_CLOCK_HOUR, count);
        return;
    case 'K':
        add_short_value(compiler, PATTERN_HALF_HOUR, count);
        return;
    case 'h':
        add_short_value(compiler, PATTERN_CLOCK_HALF_HOUR, count);
        return;
    case 'm':
        add_short_value(compiler, PATTERN_MINUTE, count);
        return;
    case 's':
        add_short_value(compiler, PATTERN_SECOND, count);
        return;
    case 'S':
        add_fraction(compiler, count);
        return;
    case 'X':
    case 'x':
        add_x_offset(compiler, letter, count);
        return;
    case 'Z':
        add_z_offset(compiler, count);
        return;
    case 'V':
    case 'O':
    case 'v':
    case 'z':
        add_zone(compiler, letter, count);
        return;
    default:
        compiler->wrong = "unknown letter";
        return;
    }
}

/* ---- The pattern as a whole ---- */

enum { OPTIONAL_DEPTH_MAX = 64 };

static void add_literal(Compiler *compiler, Str text)
{
    if (text.size > 0) {
        (void)add_part(compiler, (PatternPart){.kind = PATTERN_LITERAL, .literal = text});
    }
}

/* From the opening quote; returns where the text goes on. '' is a quote. */
static size_t add_quoted(Compiler *compiler, Str pattern, size_t at)
{
    size_t start = ++at;
    if (at < pattern.size && pattern.data[at] == '\'') {
        add_literal(compiler, (Str){pattern.data + at, 1});
        return at + 1;
    }
    for (; at < pattern.size; at++) {
        if (pattern.data[at] != '\'') {
            continue;
        }
        if (at + 1 == pattern.size || pattern.data[at + 1] != '\'') {
            add_literal(compiler, (Str){pattern.data + start, at - start});
            return at + 1;
        }
        add_literal(compiler, (Str){pattern.data + start, at - start + 1});
        at++;
        start = at + 1;
    }
    compiler->wrong = "quote";
    return at;
}

static void close_optional(Compiler *compiler, size_t opened)
{
    compiler->pattern->parts[opened].inner = compiler->pattern->count - opened - 1;
    compiler->number = -1;
}

static void compile(Compiler *compiler, Str pattern)
{
    size_t open[OPTIONAL_DEPTH_MAX];
    size_t depth = 0;
    for (size_t at = 0; at < pattern.size && compiler->wrong == NULL;) {
        char c = pattern.data[at];
        if (is_letter(c)) {
            size_t count = run_length(pattern, at);
            add_letters(compiler, c, count);
            at += count;
        } else if (c == '\'') {
            at = add_quoted(compiler, pattern, at);
        } else if (c == '[' && depth < OPTIONAL_DEPTH_MAX) {
            open[depth++] = compiler->pattern->count;
            (void)add_part(compiler, (PatternPart){.kind = PATTERN_OPTIONAL});
            at++;
        } else if (c == ']' && depth > 0) {
            close_optional(compiler, open[--depth]);
            at++;
        } else if (contains("[]{}#", c) && c != '\0') {
            compiler->wrong = "reserved character";
        } else {
            add_literal(compiler, (Str){pattern.data + at, 1});
            at++;
        }
    }
    while (depth > 0) {
        close_optional(compiler, open[--depth]);
    }
}

static bool has_unquoted(Str pattern, char letter)
{
    bool quoted = false;
    for (size_t i = 0; i < pattern.size; i++) {
        quoted = pattern.data[i] == '\'' ? !quoted : quoted;
        if (!quoted && pattern.data[i] == letter) {
            return true;
        }
    }
    return false;
}

Error *date_pattern_compile(Arena *arena, Str pattern, bool parsing,
                            const DatePattern **ret_pattern)
{
    Error *error = refuse_letters(pattern, parsing);
    DatePattern *result = arena_new_object(arena, DatePattern);
    *result = (DatePattern){.source = arena_copy_str(arena, pattern)};
    Compiler compiler = {.arena = arena,
                         .pattern = result,
                         .parsing = parsing,
                         .has_era = has_unquoted(pattern, 'G'),
                         .number = -1};
    if (error == NULL) {
        compile(&compiler, result->source);
        error = compiler.wrong == NULL ? NULL : unknown_pattern(pattern);
    }
    if (error != NULL && was_pattern(pattern)) {
        error_free(error);
        error = known_before(pattern);
    }
    if (error == NULL) {
        *ret_pattern = result;
    }
    return error;
}
