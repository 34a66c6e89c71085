/* String functions that look at one text: case, length, parts, trimming, padding. */
#include "processor/exec/kernels/text.h"

#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include "processor/base/banned.h"

/* ---- Shared ---- */

void utf8_append(Buffer *out, uint32_t c)
{
    if (c < 0x80) {
        buffer_append_byte(out, (char)c);
    } else if (c < 0x800) {
        buffer_append_byte(out, (char)(0xC0 | (c >> 6)));
        buffer_append_byte(out, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        buffer_append_byte(out, (char)(0xE0 | (c >> 12)));
        buffer_append_byte(out, (char)(0x80 | ((c >> 6) & 0x3F)));
        buffer_append_byte(out, (char)(0x80 | (c & 0x3F)));
    } else {
        buffer_append_byte(out, (char)(0xF0 | (c >> 18)));
        buffer_append_byte(out, (char)(0x80 | ((c >> 12) & 0x3F)));
        buffer_append_byte(out, (char)(0x80 | ((c >> 6) & 0x3F)));
        buffer_append_byte(out, (char)(0x80 | (c & 0x3F)));
    }
}

uint32_t utf8_decode(Str s, size_t at)
{
    unsigned char first = (unsigned char)s.data[at];
    size_t size = utf8_size(first);
    if (size == 1 || at + size > s.size) {
        return first < 0x80 ? first : 0xFFFD;
    }
    uint32_t c = first & (0xFFU >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        c = (c << 6) | ((unsigned char)s.data[at + i] & 0x3F);
    }
    return c;
}

bool text_is_upper(uint32_t code_point)
{
    return u_isUUppercase((UChar32)code_point);
}

bool text_is_lower(uint32_t code_point)
{
    return u_isULowercase((UChar32)code_point);
}

bool text_is_digit(uint32_t code_point)
{
    return u_isdigit((UChar32)code_point);
}

bool text_fits(const KernelCall *call, uint32_t row, size_t size)
{
    if (size <= TEXT_SIZE_MAX && arena_used_bytes(call->arena) <= BATCH_TEXT_MAX) {
        return true;
    }
    kernel_fail(call, row,
                error_new(ERROR_ROW_TOO_LARGE, "A text of %zu bytes is too large.", size));
    return false;
}

char *text_alloc(const KernelCall *call, uint32_t row, size_t size)
{
    return text_fits(call, row, size) ? arena_alloc_bytes(call->arena, size) : NULL;
}

void text_store(const KernelCall *call, uint32_t row, Str text)
{
    char *bytes = text_alloc(call, row, text.size);
    if (bytes != NULL) {
        if (text.size > 0) {
            memcpy(bytes, text.data, text.size);
        }
        RESULT(call, Str)[row] = (Str){bytes, text.size};
    }
}

/* ---- Case ---- */

static bool is_ascii(Str s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.size; i++) {
        all |= (unsigned char)s.data[i];
    }
    return all < 0x80;
}

typedef int32_t MapCase(const UCaseMap *map, char *to, int32_t capacity, const char *from,
                        int32_t size, UErrorCode *status);

/* Full Unicode mapping: ß becomes SS. */
static void map_unicode(const KernelCall *call, uint32_t row, Str s, MapCase *map_case)
{
    UErrorCode status = U_ZERO_ERROR;
    size_t capacity = s.size * 3; /* no mapping grows a text more */
    char *bytes = text_alloc(call, row, capacity);
    if (bytes == NULL) {
        return;
    }
    int32_t size =
        map_case(call->state, bytes, (int32_t)capacity, s.data, (int32_t)s.size, &status);
    if (U_FAILURE(status)) {
        kernel_fail(call, row, error_new(ERROR_INTERNAL_ERROR, "%s", u_errorName(status)));
        return;
    }
    RESULT(call, Str)[row] = (Str){bytes, (size_t)size};
}

static void map_ascii(const KernelCall *call, uint32_t row, Str s, char first, char last)
{
    char *bytes = text_alloc(call, row, s.size);
    if (bytes == NULL) {
        return;
    }
    for (size_t i = 0; i < s.size; i++) {
        bytes[i] = (char)(s.data[i] ^ (s.data[i] >= first && s.data[i] <= last ? 0x20 : 0));
    }
    RESULT(call, Str)[row] = (Str){bytes, s.size};
}

static void upper(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        if (is_ascii(s)) {
            map_ascii(call, i, s, 'a', 'z');
        } else {
            map_unicode(call, i, s, ucasemap_utf8ToUpper);
        }
    }
}

static void lower(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        if (is_ascii(s)) {
            map_ascii(call, i, s, 'A', 'Z');
        } else {
            map_unicode(call, i, s, ucasemap_utf8ToLower);
        }
    }
}

/* The letter as a word begins with it: ß becomes Ss. */
static void append_title(uint32_t c, Buffer *out)
{
    UChar letter[U16_MAX_LENGTH];
    UChar title[8];
    int32_t size = 0;
    UErrorCode status = U_ZERO_ERROR;
    U16_APPEND_UNSAFE(letter, size, c);
    size = u_strToTitle(title, ARRAY_LENGTH(title), letter, size, NULL, "", &status);
    for (int32_t i = 0; U_SUCCESS(status) && i < size;) {
        UChar32 next = 0;
        U16_NEXT(title, i, size, next);
        utf8_append(out, (uint32_t)next);
    }
}

/* Words are what blanks divide. */
static void title_words(Str s, Buffer *out)
{
    bool start = true;
    for (size_t i = 0; i < s.size; i = utf8_next(s, i)) {
        uint32_t c = utf8_decode(s, i);
        if (start) {
            append_title(c, out);
        } else {
            utf8_append(out, c);
        }
        start = c == ' ';
    }
}

static void initcap(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    lower(call);
    FOR_VALID_ROWS(call, i)
    {
        buffer_clear(&out);
        title_words(RESULT(call, Str)[i], &out);
        text_store(call, i, buffer_str(&out));
    }
}

static void close_case_map(void *map)
{
    ucasemap_close(map);
}

static void prepare_case(KernelSetup *setup)
{
    UErrorCode status = U_ZERO_ERROR;
    UCaseMap *map = ucasemap_open("", 0, &status);
    arena_on_reset(setup->arena, close_case_map, map);
    setup->state = map;
}

static KernelRun *choose_upper(KernelSetup *setup)
{
    prepare_case(setup);
    return upper;
}

static KernelRun *choose_lower(KernelSetup *setup)
{
    prepare_case(setup);
    return lower;
}

static KernelRun *choose_initcap(KernelSetup *setup)
{
    prepare_case(setup);
    return initcap;
}

const Kernel kernel_upper = {.choose = choose_upper};
const Kernel kernel_lower = {.choose = choose_lower};
const Kernel kernel_initcap = {.choose = choose_initcap};

/* ---- Length ---- */

static int32_t to_int(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

static void length_text(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, int32_t)[i] = to_int(utf8_length(STR_ARGUMENT(call, 0, i)));
    }
}

static void length_bytes(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, int32_t)[i] = to_int((int64_t)STR_ARGUMENT(call, 0, i).size);
    }
}

static void length_bits(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, int32_t)[i] = to_int((int64_t)STR_ARGUMENT(call, 0, i).size * 8);
    }
}

static KernelRun *choose_length(KernelSetup *setup)
{
    return setup->types[0]->kind == TYPE_BINARY ? length_bytes : length_text;
}

const Kernel kernel_length = {.choose = choose_length};
const Kernel kernel_octet_length = {.run = length_bytes};
const Kernel kernel_bit_length = {.run = length_bits};

/* ---- Parts ---- */

/* Characters start … end - 1; a binary's characters are its bytes. */
static Str cut(Str s, int64_t start, int64_t end, bool bytes)
{
    if (end <= start || end <= 0) {
        return (Str){s.data, 0};
    }
    size_t from = 0;
    size_t to = 0;
    if (bytes) {
        from = start < 0 ? 0 : (size_t)start < s.size ? (size_t)start : s.size;
        to = (size_t)end < s.size ? (size_t)end : s.size;
    } else {
        from = utf8_offset(s, start);
        Str rest = {s.data + from, s.size - from};
        to = from + utf8_offset(rest, end - (start < 0 ? 0 : start));
    }
    return (Str){s.data + from, to - from};
}

/* Position from 1; 0 is the first too; negative ones count from the end. */
static Str substring_of(Str s, int32_t position, int64_t length, bool bytes)
{
    int64_t start = position > 0 ? position - 1 : 0;
    if (position < 0) {
        start = (bytes ? (int64_t)s.size : utf8_length(s)) + position;
    }
    return cut(s, start, start + length, bytes);
}

static bool reads_bytes(const KernelCall *call)
{
    return call->arguments[0]->type->kind == TYPE_BINARY;
}

static void substring(const KernelCall *call)
{
    bool bytes = reads_bytes(call);
    bool has_length = call->argument_count > 2;
    FOR_VALID_ROWS(call, i)
    {
        int64_t length = has_length ? INT_ARGUMENT(call, 2, i) : INT32_MAX;
        RESULT(call, Str)
        [i] = substring_of(STR_ARGUMENT(call, 0, i), INT_ARGUMENT(call, 1, i), length, bytes);
    }
}

static void left(const KernelCall *call)
{
    bool bytes = reads_bytes(call);
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, Str)
        [i] = substring_of(STR_ARGUMENT(call, 0, i), 1, INT_ARGUMENT(call, 1, i), bytes);
    }
}

static void right(const KernelCall *call)
{
    bool bytes = reads_bytes(call);
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        int32_t count = INT_ARGUMENT(call, 1, i);
        RESULT(call, Str)
        [i] = count <= 0 ? (Str){s.data, 0} : substring_of(s, -count, INT32_MAX, bytes);
    }
}

const Kernel kernel_substring = {.run = substring};
const Kernel kernel_left = {.run = left};
const Kernel kernel_right = {.run = right};

/* ---- Trimming ---- */

static bool is_among(Str characters, Str c)
{
    for (size_t i = 0; i < characters.size; i = utf8_next(characters, i)) {
        if (str_equal((Str){characters.data + i, utf8_next(characters, i) - i}, c)) {
            return true;
        }
    }
    return false;
}

static Str trim_left(Str s, Str characters)
{
    size_t at = 0;
    while (at < s.size && is_among(characters, (Str){s.data + at, utf8_next(s, at) - at})) {
        at = utf8_next(s, at);
    }
    return (Str){s.data + at, s.size - at};
}

/* Start of the last character. */
static size_t last_character(Str s)
{
    size_t at = s.size - 1;
    while (at > 0 && ((unsigned char)s.data[at] & 0xC0) == 0x80) {
        at--;
    }
    return at;
}

static Str trim_right(Str s, Str characters)
{
    while (s.size > 0) {
        size_t at = last_character(s);
        if (!is_among(characters, (Str){s.data + at, s.size - at})) {
            break;
        }
        s.size = at;
    }
    return s;
}

/* trim(text), or trim(characters, text); btrim has them the other way round. */
static void trim_ends(const KernelCall *call, bool at_left, bool at_right, bool text_first)
{
    size_t text = call->argument_count == 1 || text_first ? 0 : 1;
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, text, i);
        Str characters = call->argument_count == 1 ? STR(" ") : STR_ARGUMENT(call, 1 - text, i);
        s = at_left ? trim_left(s, characters) : s;
        RESULT(call, Str)[i] = at_right ? trim_right(s, characters) : s;
    }
}

static void trim(const KernelCall *call)
{
    trim_ends(call, true, true, false);
}

static void ltrim(const KernelCall *call)
{
    trim_ends(call, true, false, false);
}

static void rtrim(const KernelCall *call)
{
    trim_ends(call, false, true, false);
}

static void btrim(const KernelCall *call)
{
    trim_ends(call, true, true, true);
}

const Kernel kernel_trim = {.run = trim};
const Kernel kernel_ltrim = {.run = ltrim};
const Kernel kernel_rtrim = {.run = rtrim};
const Kernel kernel_btrim = {.run = btrim};

/* ---- Padding, repeating ---- */

/* `count` characters of `pattern` (not empty), begun anew as often as needed. */
static void append_repeated(Buffer *out, Str pattern, int64_t count)
{
    int64_t length = utf8_length(pattern);
    for (; count >= length; count -= length) {
        buffer_append_str(out, pattern);
    }
    buffer_append(out, pattern.data, utf8_offset(pattern, count));
}

static void store_padded(const KernelCall *call, uint32_t row, Str pattern, int64_t count,
                         bool in_front, Buffer *out)
{
    Str s = STR_ARGUMENT(call, 0, row);
    buffer_clear(out);
    if (in_front) {
        append_repeated(out, pattern, count);
    }
    buffer_append_str(out, s);
    if (!in_front) {
        append_repeated(out, pattern, count);
    }
    text_store(call, row, buffer_str(out));
}

static void pad(const KernelCall *call, bool in_front)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        int64_t wanted = INT_ARGUMENT(call, 1, i);
        Str pattern = call->argument_count > 2 ? STR_ARGUMENT(call, 2, i) : STR(" ");
        int64_t length = utf8_length(s);
        if (wanted <= length || pattern.size == 0) {
            RESULT(call, Str)[i] = cut(s, 0, wanted, false);
        } else if (text_fits(call, i, (size_t)wanted)) {
            store_padded(call, i, pattern, wanted - length, in_front, &out);
        }
    }
}

/* BINARY: the pattern is repeated byte by byte, zeros without one. */
static void pad_bytes(const KernelCall *call, bool in_front)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        size_t wanted = INT_ARGUMENT(call, 1, i) < 0 ? 0 : (size_t)INT_ARGUMENT(call, 1, i);
        Str pattern = call->argument_count > 2 ? STR_ARGUMENT(call, 2, i) : (Str){"", 1};
        if (wanted <= s.size || pattern.size == 0) {
            RESULT(call, Str)[i] = (Str){s.data, wanted < s.size ? wanted : s.size};
            continue;
        }
        char *bytes = text_alloc(call, i, wanted);
        if (bytes == NULL) {
            continue;
        }
        size_t count = wanted - s.size;
        char *padding = in_front ? bytes : bytes + s.size;
        for (size_t k = 0; k < count; k++) {
            padding[k] = pattern.data[k % pattern.size];
        }
        if (s.size > 0) {
            memcpy(in_front ? bytes + count : bytes, s.data, s.size);
        }
        RESULT(call, Str)[i] = (Str){bytes, wanted};
    }
}

static void lpad_bytes(const KernelCall *call)
{
    pad_bytes(call, true);
}

static void rpad_bytes(const KernelCall *call)
{
    pad_bytes(call, false);
}

static void lpad(const KernelCall *call)
{
    pad(call, true);
}

static void rpad(const KernelCall *call)
{
    pad(call, false);
}

static void store_repeated(const KernelCall *call, uint32_t row, Str s, int32_t count)
{
    size_t times = count < 0 ? 0 : (size_t)count;
    char *bytes = text_alloc(call, row, s.size * times);
    if (bytes == NULL) {
        return;
    }
    for (size_t k = 0; k < times && s.size > 0; k++) {
        memcpy(bytes + k * s.size, s.data, s.size);
    }
    RESULT(call, Str)[row] = (Str){bytes, s.size * times};
}

static void repeat(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        store_repeated(call, i, STR_ARGUMENT(call, 0, i), INT_ARGUMENT(call, 1, i));
    }
}

static void space(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        store_repeated(call, i, STR(" "), INT_ARGUMENT(call, 0, i));
    }
}

static void reverse_text(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        char *bytes = text_alloc(call, i, s.size);
        if (bytes == NULL) {
            continue;
        }
        for (size_t at = 0; at < s.size; at = utf8_next(s, at)) {
            size_t next = utf8_next(s, at);
            memcpy(bytes + s.size - next, s.data + at, next - at);
        }
        RESULT(call, Str)[i] = (Str){bytes, s.size};
    }
}

static void reverse_array(const KernelCall *call)
{
    const Vector *from = call->arguments[0];
    Vector *result = call->result;
    for (uint32_t k = 0; k < call->rows.count; k++) {
        uint32_t row = rows_at(call->rows, k);
        list_skip_to(call, row);
        if (!vector_is_valid(from, row)) {
            vector_append_null(result, call->arena);
            continue;
        }
        for (uint32_t i = from->offsets[row + 1]; i > from->offsets[row]; i--) {
            vector_append_from(result->children[0], call->arena, from->children[0], i - 1);
        }
        vector_finish_list(result, call->arena);
    }
}

static KernelRun *choose_reverse(KernelSetup *setup)
{
    return setup->types[0]->kind == TYPE_ARRAY ? reverse_array : reverse_text;
}

static KernelRun *choose_lpad(KernelSetup *setup)
{
    return setup->result->kind == TYPE_BINARY ? lpad_bytes : lpad;
}

static KernelRun *choose_rpad(KernelSetup *setup)
{
    return setup->result->kind == TYPE_BINARY ? rpad_bytes : rpad;
}

const Kernel kernel_lpad = {.choose = choose_lpad};
const Kernel kernel_rpad = {.choose = choose_rpad};
const Kernel kernel_repeat = {.run = repeat};
const Kernel kernel_space = {.run = space};
const Kernel kernel_reverse = {.choose = choose_reverse};
