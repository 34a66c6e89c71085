/* Scalars of a topology: booleans, integers, sizes and durations. */
#include "config/config_value.h"

#include <inttypes.h>

#include "processor/base/compiler.h"

#include "processor/base/banned.h"

typedef struct Unit {
    const char *name;
    int64_t factor;
} Unit;

/* Largest first, for printing. */
static const Unit size_units[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}};
static const Unit duration_units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
};

const char *config_parse_bool(Str text, bool *ret)
{
    bool is_true = str_equal(text, STR("true"));
    if (!is_true && !str_equal(text, STR("false"))) {
        return "true or false";
    }
    *ret = is_true;
    return NULL;
}

static size_t count_digits(Str text)
{
    size_t count = 0;
    while (count < text.size && text.data[count] >= '0' && text.data[count] <= '9') {
        count++;
    }
    return count;
}

const char *config_parse_integer(Str text, int64_t *ret)
{
    size_t sign = text.size > 0 && text.data[0] == '-' ? 1 : 0;
    Str digits = {text.data + sign, text.size - sign};
    if (digits.size == 0 || count_digits(digits) != digits.size) {
        return "a whole number";
    }
    if (digits.data[0] == '0' && (digits.size > 1 || sign == 1)) {
        return "a whole number without leading zeros";
    }
    return str_to_int64(text, ret) ? NULL : "a whole number of at most 64 bits";
}

static const char *parse_with_unit(Str text, const Unit *units, size_t count, const char *expected,
                                   int64_t *ret)
{
    size_t digits = count_digits(text);
    int64_t number = 0;
    if (digits == 0 || config_parse_integer((Str){text.data, digits}, &number) != NULL) {
        return expected;
    }
    Str unit = str_trim((Str){text.data + digits, text.size - digits});
    for (size_t i = 0; i < count; i++) {
        if (str_equal(unit, str_from(units[i].name))) {
            int64_t value = 0;
            if (__builtin_mul_overflow(number, units[i].factor, &value)) {
                return expected;
            }
            *ret = value;
            return NULL;
        }
    }
    return expected;
}

const char *config_parse_size(Str text, int64_t *ret_bytes)
{
    return parse_with_unit(text, size_units, ARRAY_LENGTH(size_units),
                           "a number with KiB, MiB or GiB (such as 64MiB)", ret_bytes);
}

const char *config_parse_duration(Str text, int64_t *ret_ms)
{
    return parse_with_unit(text, duration_units, ARRAY_LENGTH(duration_units),
                           "a number with ms, s, m, h or d (such as 500ms)", ret_ms);
}

static void format_with_unit(int64_t value, const Unit *units, size_t count, const char *fallback,
                             Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        if (value != 0 && value % units[i].factor == 0) {
            buffer_printf(out, "%" PRId64 "%s", value / units[i].factor, units[i].name);
            return;
        }
    }
    buffer_printf(out, "%" PRId64 "%s", value, fallback);
}

void config_format_size(int64_t bytes, Buffer *out)
{
    format_with_unit(bytes, size_units, ARRAY_LENGTH(size_units), bytes == 0 ? "KiB" : " bytes",
                     out);
}

void config_format_duration(int64_t ms, Buffer *out)
{
    format_with_unit(ms, duration_units, ARRAY_LENGTH(duration_units), "ms", out);
}
