/* Borrowed byte strings: comparison, trimming, parsing of small numbers, UTF-8 validation. */
#include "processor/base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "processor/base/banned.h"

int str_compare(Str a, Str b)
{
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared == 0 ? 0 : memcmp(a.data, b.data, shared);
    if (order != 0) {
        return order;
    }
    return a.size < b.size ? -1 : a.size > b.size;
}

bool str_equal_ignore_case(Str a, Str b)
{
    if (a.size != b.size) {
        return false;
    }
    for (size_t i = 0; i < a.size; i++) {
        if (ascii_lower(a.data[i]) != ascii_lower(b.data[i])) {
            return false;
        }
    }
    return true;
}

bool str_starts_with(Str s, Str prefix)
{
    return s.size >= prefix.size && str_equal((Str){s.data, prefix.size}, prefix);
}

bool str_ends_with(Str s, Str suffix)
{
    return s.size >= suffix.size &&
           str_equal((Str){s.data + (s.size - suffix.size), suffix.size}, suffix);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

Str str_trim(Str s)
{
    while (s.size > 0 && is_space(s.data[0])) {
        s.data++;
        s.size--;
    }
    while (s.size > 0 && is_space(s.data[s.size - 1])) {
        s.size--;
    }
    return s;
}

size_t str_find_byte(Str s, char byte)
{
    const char *at = s.size == 0 ? NULL : memchr(s.data, byte, s.size);
    return at == NULL ? s.size : (size_t)(at - s.data);
}

Str str_cut(Str *rest, char separator)
{
    size_t at = str_find_byte(*rest, separator);
    Str head = {rest->data, at};
    *rest = at == rest->size ? STR_NULL : (Str){rest->data + at + 1, rest->size - at - 1};
    return head;
}

bool str_to_int64(Str s, int64_t *ret)
{
    char text[24];
    if (s.size == 0 || s.size >= sizeof text) {
        return false;
    }
    size_t first = s.data[0] == '-' || s.data[0] == '+' ? 1 : 0;
    if (first == s.size) {
        return false;
    }
    for (size_t i = first; i < s.size; i++) {
        if (s.data[i] < '0' || s.data[i] > '9') {
            return false;
        }
    }
    memcpy(text, s.data, s.size);
    text[s.size] = '\0';
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno != 0) {
        return false;
    }
    *ret = value;
    return true;
}

/* Bytes that follow a leading byte, or -1 when it cannot lead. */
static int utf8_continuations(unsigned char lead)
{
    if (lead < 0x80) {
        return 0;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 1;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return 2;
    }
    return lead >= 0xF0 && lead <= 0xF4 ? 3 : -1;
}

/* The second byte has a narrower range after some leading bytes: no overlong forms, no surrogates,
 * nothing beyond U+10FFFF. */
static bool utf8_second_allowed(unsigned char lead, unsigned char second)
{
    switch (lead) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second <= 0x9F;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second <= 0x8F;
    default:
        return true;
    }
}

bool str_is_utf8(Str s)
{
    const unsigned char *p = (const unsigned char *)s.data;
    for (size_t i = 0; i < s.size;) {
        if (i + 8 <= s.size) {
            uint64_t word;
            memcpy(&word, p + i, sizeof word);
            uint64_t high = word & UINT64_C(0x8080808080808080);
            if (high == 0) {
                i += 8;
                continue;
            }
            i += (size_t)__builtin_ctzll(high) / 8;
        }
        int more = utf8_continuations(p[i]);
        if (more < 0 || i + (size_t)more >= s.size) {
            return false;
        }
        for (int k = 1; k <= more; k++) {
            if ((p[i + (size_t)k] & 0xC0) != 0x80) {
                return false;
            }
        }
        if (more > 0 && !utf8_second_allowed(p[i], p[i + 1])) {
            return false;
        }
        i += (size_t)more + 1;
    }
    return true;
}

enum { DISTANCE_MAX = 64 };

size_t str_distance(Str a, Str b)
{
    if (a.size > DISTANCE_MAX || b.size > DISTANCE_MAX) {
        return str_equal_ignore_case(a, b) ? 0 : DISTANCE_MAX;
    }
    size_t rows[3][DISTANCE_MAX + 1];
    for (size_t j = 0; j <= b.size; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.size; i++) {
        size_t *now = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3];
        const size_t *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            char x = ascii_lower(a.data[i - 1]);
            char y = ascii_lower(b.data[j - 1]);
            size_t best = last[j - 1] + (x == y ? 0 : 1);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && x == ascii_lower(b.data[j - 2]) &&
                y == ascii_lower(a.data[i - 2]) && before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return rows[a.size % 3][b.size];
}

bool str_is_nearer(Str candidate, Str name, size_t *best)
{
    size_t longer = candidate.size > name.size ? candidate.size : name.size;
    size_t allowed = longer / 3 > 0 ? longer / 3 : 1;
    size_t distance = str_distance(candidate, name);
    if (distance > allowed || distance >= longer || distance >= *best) {
        return false;
    }
    *best = distance;
    return true;
}
