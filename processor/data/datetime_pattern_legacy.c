/* Could Spark 2 have read a text with a pattern? Spark 4 tells that apart from a text that is no
 * date at all. Its reader was Java's SimpleDateFormat, not lenient: numbers have any number of
 * digits unless numbers follow one another, blanks stand before them, what follows is not read. */
#include "processor/data/datetime_pattern_parts.h"

#include <string.h>

#include "processor/data/number_text.h"

#include "processor/base/banned.h"

enum { OLD_UNREAD = INT32_MIN };

typedef struct OldReader {
    Str pattern;
    Str text;
    size_t at;
    int64_t year;
    int64_t month;
    int64_t day;
    int64_t day_of_year;
} OldReader;

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

static bool is_numeric(char letter, size_t count)
{
    return strchr("GEazZX", letter) == NULL && ((letter != 'M' && letter != 'L') || count < 3);
}

static void skip_blanks(OldReader *reader)
{
    while (reader->at < reader->text.size &&
           (reader->text.data[reader->at] == ' ' || reader->text.data[reader->at] == '\t')) {
        reader->at++;
    }
}

static bool take_old_number(OldReader *reader, size_t max, int64_t *ret_value)
{
    bool negative = reader->at < reader->text.size && reader->text.data[reader->at] == '-';
    size_t at = reader->at + negative;
    size_t count = 0;
    int64_t value = 0;
    while (count < max && at < reader->text.size && char_is_digit(reader->text.data[at])) {
        value = value < INT32_MAX ? value * 10 + (reader->text.data[at] - '0') : value;
        at++;
        count++;
    }
    if (count == 0) {
        return false;
    }
    reader->at = at;
    *ret_value = negative ? -value : value;
    return true;
}

/* The longest of the names, in full or short. */
static bool take_old_name(OldReader *reader, const char *const *names, size_t count,
                          int64_t *ret_index)
{
    size_t best = 0;
    for (size_t i = 0; i < count; i++) {
        size_t full = strlen(names[i]);
        for (size_t size = full; size >= 3; size = size == full && full > 3 ? 3 : 2) {
            Str rest = {reader->text.data + reader->at, reader->text.size - reader->at};
            if (size > best && rest.size >= size &&
                str_equal_ignore_case((Str){rest.data, size}, (Str){names[i], size})) {
                best = size;
                *ret_index = (int64_t)i;
            }
        }
    }
    reader->at += best;
    return best > 0;
}

/* X: Z, or ±hh, ±hhmm, ±hh:mm by the number of letters. */
static bool take_old_offset(OldReader *reader, size_t letters)
{
    static const char *const forms[] = {"+00", "+0000", "+00:00"};
    Str rest = {reader->text.data + reader->at, reader->text.size - reader->at};
    Str form = str_from(forms[letters - 1]);
    if (rest.size > 0 && rest.data[0] == 'Z') {
        reader->at++;
        return true;
    }
    for (size_t i = 0; i < form.size; i++) {
        char c = i < rest.size ? rest.data[i] : '\0';
        c = char_is_digit(c) ? '0' : c == '-' && i == 0 ? '+' : c;
        if (c != form.data[i]) {
            return false;
        }
    }
    reader->at += form.size;
    return true;
}

static bool take_word(OldReader *reader)
{
    size_t start = reader->at;
    while (reader->at < reader->text.size && reader->text.data[reader->at] != ' ') {
        reader->at++;
    }
    return reader->at > start;
}

static bool in_old_range(char letter, int64_t value)
{
    switch (letter) {
    case 'H':
    case 'K':
        return value >= 0 && value <= (letter == 'H' ? 23 : 11);
    case 'k':
    case 'h':
        return value >= 1 && value <= (letter == 'k' ? 24 : 12);
    case 'm':
    case 's':
        return value >= 0 && value <= 59;
    case 'S':
        return value >= 0 && value <= 999;
    case 'D':
        return value >= 1 && value <= 366;
    default:
        return true;
    }
}

static bool take_old_field(OldReader *reader, char letter, size_t count, bool adjacent)
{
    int64_t value = 0;
    skip_blanks(reader);
    if (is_numeric(letter, count)) {
        if (!take_old_number(reader, adjacent ? count : SIZE_MAX, &value)) {
            return false;
        }
    } else if (letter == 'M' || letter == 'L') {
        if (!take_old_name(reader, pattern_months, 12, &value)) {
            return false;
        }
        value++;
    } else if (letter == 'E') {
        return take_old_name(reader, pattern_weekdays, 7, &value);
    } else if (letter == 'X') {
        return take_old_offset(reader, count);
    } else {
        return take_word(reader);
    }
    reader->year = letter == 'y' ? value : reader->year;
    reader->month = letter == 'M' || letter == 'L' ? value : reader->month;
    reader->day = letter == 'd' ? value : reader->day;
    reader->day_of_year = letter == 'D' ? value : reader->day_of_year;
    return in_old_range(letter, value);
}

static bool take_old_literal(OldReader *reader, char c)
{
    if (reader->at == reader->text.size || reader->text.data[reader->at] != c) {
        return false;
    }
    reader->at++;
    return true;
}

/* Are the letters from `at` on a number right behind another one? */
static bool number_follows(Str pattern, size_t at)
{
    return at < pattern.size && is_letter(pattern.data[at]) &&
           is_numeric(pattern.data[at], run_length(pattern, at));
}

static bool is_old_date(const OldReader *reader)
{
    int64_t month = reader->month == OLD_UNREAD ? 1 : reader->month;
    int64_t day = reader->day == OLD_UNREAD ? 1 : reader->day;
    return month <= 12 && day <= 31 &&
           date_is_valid((int32_t)reader->year, (int32_t)month, (int32_t)day);
}

static bool is_old_day_of_year(const OldReader *reader)
{
    int32_t year = (int32_t)reader->year;
    if (reader->day_of_year > (date_is_valid(year, 2, 29) ? 366 : 365)) {
        return false;
    }
    CivilDate date = date_to_civil(date_from_civil(year, 1, 1) + (int32_t)reader->day_of_year - 1);
    return (reader->month == OLD_UNREAD || reader->month == date.month) &&
           (reader->day == OLD_UNREAD || reader->day == date.day);
}

static bool take_old_pattern(OldReader *reader)
{
    Str pattern = reader->pattern;
    bool quoted = false;
    bool adjacent = false;
    for (size_t i = 0; i < pattern.size;) {
        char c = pattern.data[i];
        if (c == '\'') {
            bool quote = i + 1 < pattern.size && pattern.data[i + 1] == '\'';
            if (quote && !take_old_literal(reader, c)) {
                return false;
            }
            quoted = quote ? quoted : !quoted;
            i += quote ? 2 : 1;
            continue;
        }
        if (quoted || !is_letter(c)) {
            adjacent = false;
            if (!take_old_literal(reader, c)) {
                return false;
            }
            i++;
            continue;
        }
        size_t count = run_length(pattern, i);
        i += count;
        adjacent = is_numeric(c, count) && (number_follows(pattern, i) || adjacent);
        if (!take_old_field(reader, c, count, adjacent)) {
            return false;
        }
    }
    return true;
}

bool date_pattern_was_readable(const DatePattern *pattern, Str text)
{
    OldReader reader = {.pattern = pattern->source,
                        .text = text,
                        .year = 1970,
                        .month = OLD_UNREAD,
                        .day = OLD_UNREAD};
    if (!take_old_pattern(&reader) || reader.at == 0) {
        return false;
    }
    if (reader.year <= 0 || reader.year >= INT32_MAX / 400) {
        return false;
    }
    return reader.day_of_year > 0 ? is_old_day_of_year(&reader) : is_old_date(&reader);
}
