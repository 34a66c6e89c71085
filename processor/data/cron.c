/* See cron.h. */
#include "processor/data/cron.h"

#include "processor/base/banned.h"

enum { FIELD_COUNT = 6, DAY_FIELD = 3, WEEKDAY_FIELD = 5 };

typedef struct Field {
    const char *name;
    int first;
    int last;
    const char *const *words; /* names of the values from `first` on */
} Field;

static const char *const months[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL",
                                     "AUG", "SEP", "OCT", "NOV", "DEC", NULL};
static const char *const weekdays[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", NULL};

static const Field fields[FIELD_COUNT] = {
    {"seconds", 0, 59, NULL}, {"minutes", 0, 59, NULL},
    {"hours", 0, 23, NULL},   {"day of the month", 1, 31, NULL},
    {"month", 1, 12, months}, {"day of the week", 1, 7, weekdays},
};

/* One field being read. */
typedef struct Reader {
    Str text; /* all of it */
    const Field *field;
    Str rest;
} Reader;

static Error *invalid(const Reader *reader, const char *what)
{
    int column = (int)(reader->rest.data - reader->text.data) + 1;
    return error_at(ERROR_INVALID_CRON, (SourcePlace){1, column, 1},
                    "The cron expression '%.*s' is invalid: %s in the field for the %s.",
                    STR_ARG(reader->text), what, reader->field->name);
}

static bool at(const Reader *reader, char byte)
{
    return reader->rest.size > 0 && reader->rest.data[0] == byte;
}

static bool accept(Reader *reader, char byte)
{
    if (!at(reader, byte)) {
        return false;
    }
    reader->rest = (Str){reader->rest.data + 1, reader->rest.size - 1};
    return true;
}

static bool read_word(Reader *reader, int *ret_value)
{
    for (int i = 0; reader->field->words != NULL && reader->field->words[i] != NULL; i++) {
        Str head = {reader->rest.data, 3};
        if (reader->rest.size >= 3 &&
            str_equal_ignore_case(head, str_from(reader->field->words[i]))) {
            reader->rest = (Str){reader->rest.data + 3, reader->rest.size - 3};
            *ret_value = reader->field->first + i;
            return true;
        }
    }
    return false;
}

/* Digits; a number that is too long stays out of every range. */
static bool read_digits(Reader *reader, int *ret_value)
{
    int value = 0;
    bool any = false;
    while (reader->rest.size > 0 && reader->rest.data[0] >= '0' && reader->rest.data[0] <= '9') {
        int digit = reader->rest.data[0] - '0';
        value = value < 10000 ? value * 10 + digit : value;
        any = true;
        (void)accept(reader, reader->rest.data[0]);
    }
    *ret_value = any ? value : *ret_value;
    return any;
}

static Error *read_value(Reader *reader, int *ret_value)
{
    Reader before = *reader;
    int value = 0;
    if (!read_word(reader, &value) && !read_digits(reader, &value)) {
        return invalid(reader, at(reader, '?') ? "`?` stands for a whole day field only; it is"
                                               : "a number, a name, `*` or `?` is expected");
    }
    if (value < reader->field->first || value > reader->field->last) {
        return invalid(&before, "there is no such value");
    }
    *ret_value = value;
    return NULL;
}

/* From `first` to `last` by `step`, over the field's end when last is lower. */
static uint64_t bits_of(const Field *field, int first, int last, int step)
{
    int span = field->last - field->first + 1;
    int count = last >= first ? last - first : last - first + span;
    uint64_t bits = 0;
    for (int i = 0; i <= count; i += step) {
        int value = field->first + (first - field->first + i) % span;
        bits |= UINT64_C(1) << value;
    }
    return bits;
}

/* `*`, n, a-b, each with /step. */
static Error *read_item(Reader *reader, uint64_t *bits)
{
    const Field *field = reader->field;
    int first = field->first;
    int last = field->last;
    bool single = false;
    if (!accept(reader, '*') && !at(reader, '/')) {
        TRY(read_value(reader, &first));
        single = !accept(reader, '-');
        last = first;
        if (!single) {
            TRY(read_value(reader, &last));
        }
    }
    int step = 1;
    if (accept(reader, '/')) {
        last = single ? field->last : last;
        if (!read_digits(reader, &step) || step < 1 || step > field->last) {
            return invalid(reader, "a step behind `/` is expected");
        }
    }
    *bits |= bits_of(field, first, last, step);
    return NULL;
}

static Error *read_field(Reader *reader, uint64_t *ret_bits)
{
    uint64_t bits = 0;
    do {
        TRY(read_item(reader, &bits));
    } while (accept(reader, ','));
    if (reader->rest.size > 0) {
        return invalid(reader, at(reader, '?') ? "`?` stands alone; more is"
                               : at(reader, 'L') || at(reader, 'W') || at(reader, '#')
                                   ? "L, W and # are not supported; one is"
                                   : "something is left over");
    }
    *ret_bits = bits;
    return NULL;
}

static Error *wrong_count(Str text, size_t count)
{
    return error_set_hint(error_at(ERROR_INVALID_CRON, (SourcePlace){1, 1, (int)text.size},
                                   "The cron expression '%.*s' has %zu fields, and six are needed.",
                                   STR_ARG(text), count),
                          count == FIELD_COUNT + 1
                              ? "leave out the year"
                              : "seconds minutes hours day-of-month month day-of-week, as in "
                                "'0 30 6 * * ?'");
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Fields are separated by blanks. Counts them all, keeps the first six. */
static size_t split(Str text, Str parts[FIELD_COUNT])
{
    size_t count = 0;
    for (size_t i = 0; i < text.size;) {
        size_t start = i;
        while (i < text.size && !is_blank(text.data[i])) {
            i++;
        }
        if (i > start && count++ < FIELD_COUNT) {
            parts[count - 1] = (Str){text.data + start, i - start};
        }
        while (i < text.size && is_blank(text.data[i])) {
            i++;
        }
    }
    return count;
}

static Error *check_days(Str text, const Str parts[FIELD_COUNT])
{
    bool day_open = str_equal(parts[DAY_FIELD], STR("?"));
    bool weekday_open = str_equal(parts[WEEKDAY_FIELD], STR("?"));
    if (day_open != weekday_open) {
        return NULL;
    }
    int column = (int)(parts[WEEKDAY_FIELD].data - text.data) + 1;
    return error_set_hint(
        error_at(ERROR_INVALID_CRON, (SourcePlace){1, column, (int)parts[WEEKDAY_FIELD].size},
                 "The cron expression '%.*s' is invalid: %s of its two day fields is `?`.",
                 STR_ARG(text), day_open ? "each" : "none"),
        "give the day of the month or the day of the week, and write `?` for the other");
}

Error *cron_parse(Str text, Cron *ret_cron)
{
    Str parts[FIELD_COUNT] = {{0}};
    uint64_t bits[FIELD_COUNT] = {0};
    size_t count = split(text, parts);
    if (count != FIELD_COUNT) {
        return wrong_count(text, count);
    }
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const Field *field = &fields[i];
        bool open = (i == DAY_FIELD || i == WEEKDAY_FIELD) && str_equal(parts[i], STR("?"));
        Reader reader = {text, field, parts[i]};
        if (open) {
            bits[i] = bits_of(field, field->first, field->last, 1);
        } else {
            TRY(read_field(&reader, &bits[i]));
        }
    }
    TRY(check_days(text, parts));
    *ret_cron = (Cron){bits[0], bits[1], bits[2], bits[3], bits[4], bits[5]};
    return NULL;
}
