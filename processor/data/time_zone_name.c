/* Names of time zones as java.time.ZoneId.of(name, SHORT_IDS) takes them, with the two old forms of
 * offsets Spark repairs first ("+7:30", "+07:5").
 *
 *     Z · UTC GMT UT · ±h ±hh ±hh:mm ±hhmm ±hh:mm:ss ±hhmmss · UTC±… GMT±… UT±… · region · EST PST
 * …
 */
#include "processor/data/time_zone_name.h"

#include <string.h>

#include "processor/base/banned.h"

/* java.time.ZoneId.SHORT_IDS */
static const struct {
    const char *name;
    const char *meaning;
} short_ids[] = {
    {"ACT", "Australia/Darwin"},
    {"AET", "Australia/Sydney"},
    {"AGT", "America/Argentina/Buenos_Aires"},
    {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},
    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},
    {"CAT", "Africa/Harare"},
    {"CNT", "America/St_Johns"},
    {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},
    {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},
    {"EST", "-05:00"},
    {"HST", "-10:00"},
    {"IET", "America/Indiana/Indianapolis"},
    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},
    {"MST", "-07:00"},
    {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},
    {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},
    {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},
    {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
};

static bool is_sign(char c)
{
    return c == '+' || c == '-';
}

/* Copies `name` with the first "±h:" made "±0h:" and a final "±hh:m" made "±hh:0m". */
static Str repair(Str name, char *to)
{
    size_t size = 0;
    bool repaired = false;
    for (size_t i = 0; i < name.size; i++) {
        to[size++] = name.data[i];
        if (!repaired && is_sign(name.data[i]) && i + 2 < name.size &&
            char_is_digit(name.data[i + 1]) && name.data[i + 2] == ':') {
            to[size++] = '0';
            repaired = true;
        }
    }
    if (size >= 5 && is_sign(to[size - 5]) && char_is_digit(to[size - 4]) &&
        char_is_digit(to[size - 3]) && to[size - 2] == ':' && char_is_digit(to[size - 1])) {
        to[size] = to[size - 1];
        to[size - 1] = '0';
        size++;
    }
    return (Str){to, size};
}

static int two_digits(Str text, size_t at)
{
    if (at + 2 > text.size || !char_is_digit(text.data[at]) || !char_is_digit(text.data[at + 1])) {
        return -1;
    }
    return (text.data[at] - '0') * 10 + (text.data[at + 1] - '0');
}

/* ±h, ±hh, ±hhmm, ±hhmmss, ±hh:mm, ±hh:mm:ss, up to 18 hours. */
static bool parse_offset(Str text, int32_t *ret_seconds)
{
    if (text.size < 2 || !is_sign(text.data[0])) {
        return false;
    }
    int parts[3] = {0, 0, 0};
    size_t at = 1;
    if (text.size == 2) {
        if (!char_is_digit(text.data[1])) {
            return false;
        }
        parts[0] = text.data[1] - '0';
        at = 2;
    }
    bool colons = text.size > 3 && text.data[3] == ':';
    for (size_t part = 0; part < 3 && at < text.size; part++) {
        if (part > 0 && colons) {
            if (text.data[at] != ':') {
                return false;
            }
            at++;
        }
        parts[part] = two_digits(text, at);
        if (parts[part] < 0) {
            return false;
        }
        at += 2;
    }
    int32_t seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
    if (at != text.size || parts[1] > 59 || parts[2] > 59 || seconds > 18 * 3600) {
        return false;
    }
    *ret_seconds = text.data[0] == '-' ? -seconds : seconds;
    return true;
}

/* Letters, digits and ~ / . _ + -, a letter first, at least two. */
static bool is_region_id(Str id)
{
    for (size_t i = 0; i < id.size; i++) {
        char c = id.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter &&
            (i == 0 || !(char_is_digit(c) || (c != '\0' && strchr("~/._+-", c) != NULL)))) {
            return false;
        }
    }
    return id.size >= 2;
}

/* Behind UTC, GMT or UT comes an offset or nothing: how long is the prefix, 0 = none? */
static size_t utc_prefix(Str id)
{
    if (str_starts_with(id, STR("UTC")) || str_starts_with(id, STR("GMT"))) {
        return 3;
    }
    return str_starts_with(id, STR("UT")) ? 2 : 0;
}

/* What a short id stands for; another id stands for itself. */
static Str expand_short_id(Str id)
{
    for (size_t i = 0; id.size == 3 && i < ARRAY_LENGTH(short_ids); i++) {
        if (memcmp(id.data, short_ids[i].name, 3) == 0) {
            return str_from(short_ids[i].meaning);
        }
    }
    return id;
}

TimeZoneNameKind time_zone_name_parse(Str name, char *ret_region, int32_t *ret_offset_seconds,
                                      Str *ret_id)
{
    *ret_offset_seconds = 0;
    if (name.size == 1) {
        return name.data[0] == 'Z' ? TIME_ZONE_NAME_OFFSET : TIME_ZONE_NAME_INVALID;
    }
    if (name.size == 0 || name.size + 3 > TIME_ZONE_NAME_MAX) {
        return TIME_ZONE_NAME_INVALID;
    }
    Str id = expand_short_id(repair(name, ret_region));
    size_t prefix = is_sign(id.data[0]) ? 0 : utc_prefix(id);
    Str rest = {id.data + prefix, id.size - prefix};
    if (prefix > 0 && rest.size == 0) {
        return TIME_ZONE_NAME_OFFSET;
    }
    if (is_sign(id.data[0]) || (prefix > 0 && is_sign(rest.data[0]))) {
        return parse_offset(rest, ret_offset_seconds) ? TIME_ZONE_NAME_OFFSET
                                                      : TIME_ZONE_NAME_INVALID;
    }
    *ret_id = id;
    return is_region_id(id) ? TIME_ZONE_NAME_REGION : TIME_ZONE_NAME_INVALID;
}
