/* Parts of texts and texts changed character by character: find_in_set, substring_index, elt,
 * overlay, mask, luhn_check, quote. */
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

/* ---- find_in_set ---- */

/* Position of the text among those between commas, from 1. */
static int32_t find_in_list(Str text, Str list)
{
    int32_t position = 1;
    if (text.size > 0 && memchr(text.data, ',', text.size) != NULL) {
        return 0;
    }
    for (size_t at = 0;; position++) {
        size_t end = text_find(list, STR(","), at);
        Str part = {list.data + at, (end == SIZE_MAX ? list.size : end) - at};
        if (str_equal(part, text)) {
            return position;
        }
        if (end == SIZE_MAX) {
            return 0;
        }
        at = end + 1;
    }
}

static void find_in_set(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, int32_t)[i] = find_in_list(STR_ARGUMENT(call, 0, i), STR_ARGUMENT(call, 1, i));
    }
}

/* ---- substring_index ---- */

/* Offset of the last occurrence that begins at or before `from`; SIZE_MAX when there is none. */
static size_t find_last(Str s, Str needle, size_t from)
{
    for (size_t at = from + 1; at-- > 0;) {
        if (s.size - at >= needle.size && memcmp(s.data + at, needle.data, needle.size) == 0) {
            return at;
        }
    }
    return SIZE_MAX;
}

/* Occurrences may overlap: the next is looked for one byte further. */
static Str before_occurrence(Str s, Str separator, int64_t count)
{
    size_t found = SIZE_MAX;
    for (int64_t i = 0; i < count; i++) {
        found = text_find(s, separator, found == SIZE_MAX ? 0 : found + 1);
        if (found == SIZE_MAX) {
            return s;
        }
    }
    return (Str){s.data, found};
}

static Str behind_occurrence(Str s, Str separator, int64_t count)
{
    size_t found = s.size - separator.size + 1;
    for (int64_t i = 0; i < count; i++) {
        found = found == 0 ? SIZE_MAX : find_last(s, separator, found - 1);
        if (found == SIZE_MAX) {
            return s;
        }
    }
    size_t start = found + separator.size;
    return (Str){s.data + start, s.size - start};
}

static Str part_by_count(Str s, Str separator, int64_t count)
{
    if (count == 0 || separator.size == 0 || s.size == 0) {
        return STR("");
    }
    if (separator.size > s.size) {
        return s;
    }
    return count > 0 ? before_occurrence(s, separator, count)
                     : behind_occurrence(s, separator, -count);
}

static void substring_index(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, Str)
        [i] = part_by_count(STR_ARGUMENT(call, 0, i), STR_ARGUMENT(call, 1, i),
                            INT_ARGUMENT(call, 2, i));
    }
}

/* ---- elt ---- */

static void elt(const KernelCall *call)
{
    const Vector *numbers = call->arguments[0];
    int32_t count = (int32_t)call->argument_count - 1;
    FOR_ROWS(call->rows, i, {
        int32_t number = VECTOR_VALUE(numbers, int32_t, i);
        bool given = vector_is_valid(numbers, i);
        bool inside = given && number >= 1 && number <= count;
        if (given && !inside) {
            kernel_fail(call, i,
                        error_new(ERROR_INVALID_ARRAY_INDEX,
                                  "The index %d is out of bounds. The array has %d elements.",
                                  number, count));
        } else if (!inside || !vector_is_valid(call->arguments[number], i)) {
            vector_set_null(call->result, call->arena, i);
        } else {
            RESULT(call, Str)[i] = STR_ARGUMENT(call, number, i);
        }
    });
}

/* ---- overlay ---- */

/* Offset of a character (of a byte, in a BINARY). */
static size_t offset_of(const KernelCall *call, Str s, int64_t count)
{
    if (count <= 0) {
        return 0;
    }
    if (call->result->type->kind == TYPE_BINARY) {
        return (uint64_t)count < s.size ? (size_t)count : s.size;
    }
    return utf8_offset(s, count);
}

static int64_t length_of(const KernelCall *call, Str s)
{
    return call->result->type->kind == TYPE_BINARY ? (int64_t)s.size : utf8_length(s);
}

static void overlay(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        Str by = STR_ARGUMENT(call, 1, i);
        int64_t position = INT_ARGUMENT(call, 2, i);
        int64_t length = call->argument_count > 3 ? INT_ARGUMENT(call, 3, i) : -1;
        length = length >= 0 ? length : length_of(call, by);
        size_t before = offset_of(call, s, position - 1);
        size_t behind = offset_of(call, s, position + length - 1);
        buffer_clear(&out);
        buffer_append(&out, s.data, before);
        buffer_append_str(&out, by);
        if (behind < s.size) {
            buffer_append(&out, s.data + behind, s.size - behind);
        }
        text_store(call, i, buffer_str(&out));
    }
}

/* ---- mask ---- */

/* What a class of characters becomes; STR_NULL: itself. */
static Str replacement(const KernelCall *call, uint32_t row, size_t argument, const char *usual)
{
    if (argument >= call->argument_count) {
        return str_from(usual);
    }
    return vector_is_valid(call->arguments[argument], row) ? STR_ARGUMENT(call, argument, row)
                                                           : STR_NULL;
}

enum { CLASS_UPPER, CLASS_LOWER, CLASS_DIGIT, CLASS_OTHER, CLASS_COUNT };

static int class_of(uint32_t point)
{
    return text_is_upper(point)   ? CLASS_UPPER
           : text_is_lower(point) ? CLASS_LOWER
           : text_is_digit(point) ? CLASS_DIGIT
                                  : CLASS_OTHER;
}

static void mask(const KernelCall *call)
{
    static const char *const usual[CLASS_COUNT] = {"X", "x", "n", NULL};
    AUTO_BUFFER Buffer out = {0};
    FOR_ROWS(call->rows, row, {
        if (!vector_is_valid(call->arguments[0], row)) {
            vector_set_null(call->result, call->arena, row);
            continue;
        }
        Str s = STR_ARGUMENT(call, 0, row);
        buffer_clear(&out);
        for (size_t at = 0; at < s.size; at = utf8_next(s, at)) {
            int class = class_of(utf8_decode(s, at));
            Str by = replacement(call, row, (size_t)class + 1, usual[class]);
            Str own = {s.data + at, utf8_next(s, at) - at};
            buffer_append_str(&out, by.data == NULL ? own : by);
        }
        text_store(call, row, buffer_str(&out));
    });
}

/* ---- luhn_check ---- */

/* Every second digit from the right counts double; the sum of all digits is a multiple of 10. */
static bool passes_luhn(Str digits)
{
    int sum = 0;
    for (size_t i = 0; i < digits.size; i++) {
        char c = digits.data[digits.size - 1 - i];
        if (!char_is_digit(c)) {
            return false;
        }
        int value = (c - '0') * (i % 2 == 1 ? 2 : 1);
        sum = (sum + value / 10 + value % 10) % 10;
    }
    return digits.size > 0 && sum == 0;
}

static void luhn_check(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, uint8_t)[i] = passes_luhn(STR_ARGUMENT(call, 0, i));
    }
}

/* ---- quote ---- */

static void quote(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        buffer_clear(&out);
        buffer_append_byte(&out, '\'');
        for (size_t k = 0; k < s.size; k++) {
            buffer_append_cstr(&out, s.data[k] == '\'' ? "\\" : "");
            buffer_append_byte(&out, s.data[k]);
        }
        buffer_append_byte(&out, '\'');
        text_store(call, i, buffer_str(&out));
    }
}

const Kernel kernel_find_in_set = {.run = find_in_set};
const Kernel kernel_substring_index = {.run = substring_index};
const Kernel kernel_elt = {.run = elt};
const Kernel kernel_overlay = {.run = overlay};
const Kernel kernel_mask = {.run = mask};
const Kernel kernel_luhn_check = {.run = luhn_check};
const Kernel kernel_quote = {.run = quote};
