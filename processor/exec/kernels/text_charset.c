/* Texts as bytes of a charset and back: encode, decode; and whether bytes are UTF-8. */
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

typedef enum Charset {
    CHARSET_ASCII,
    CHARSET_LATIN_1,
    CHARSET_UTF_8,
    CHARSET_UTF_16, /* with a byte order mark */
    CHARSET_UTF_16BE,
    CHARSET_UTF_16LE,
    CHARSET_UTF_32,
    CHARSET_COUNT
} Charset;

static const char *const charset_names[] = {"US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16",
                                            "UTF-16BE", "UTF-16LE",   "UTF-32"};

static Charset find_charset(Str name)
{
    for (size_t i = 0; i < CHARSET_COUNT; i++) {
        if (str_equal_ignore_case(name, str_from(charset_names[i]))) {
            return (Charset)i;
        }
    }
    return CHARSET_COUNT;
}

static bool want_charset(const KernelCall *call, uint32_t row, const char *function, Str name,
                         Charset *ret)
{
    *ret = find_charset(name);
    if (*ret == CHARSET_COUNT) {
        kernel_fail(call, row,
                    error_new(ERROR_INVALID_CHARSET,
                              "The value of parameter(s) `charset` in `%s` is invalid: expects one "
                              "of the iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, "
                              "utf-8, but got %.*s.",
                              function, STR_ARG(name)));
    }
    return *ret != CHARSET_COUNT;
}

static void fail_coding(const KernelCall *call, uint32_t row, const char *function, Charset charset)
{
    kernel_fail(call, row,
                error_new(ERROR_MALFORMED_CHARACTER_CODING,
                          "Invalid value found when performing `%s` with %s.", function,
                          charset_names[charset]));
}

/* ---- encode ---- */

static void put_16(Buffer *out, uint32_t unit, bool little)
{
    buffer_append_byte(out, (char)(unsigned char)(little ? unit : unit >> 8));
    buffer_append_byte(out, (char)(unsigned char)(little ? unit >> 8 : unit));
}

static void put_utf16(Buffer *out, uint32_t point, bool little)
{
    if (point < 0x10000) {
        put_16(out, point, little);
        return;
    }
    put_16(out, 0xD800 + ((point - 0x10000) >> 10), little);
    put_16(out, 0xDC00 + ((point - 0x10000) & 0x3FF), little);
}

/* False: the charset has no such character. */
static bool put_point(Buffer *out, Charset charset, uint32_t point)
{
    switch (charset) {
    case CHARSET_ASCII:
    case CHARSET_LATIN_1:
        buffer_append_byte(out, (char)(unsigned char)point);
        return point < (charset == CHARSET_ASCII ? 0x80U : 0x100U);
    case CHARSET_UTF_16:
    case CHARSET_UTF_16BE:
        put_utf16(out, point, false);
        return true;
    case CHARSET_UTF_16LE:
        put_utf16(out, point, true);
        return true;
    case CHARSET_UTF_32:
        put_16(out, point >> 16, false);
        put_16(out, point & 0xFFFF, false);
        return true;
    case CHARSET_UTF_8:
    case CHARSET_COUNT:
        break;
    }
    return false;
}

static bool encode_text(Str s, Charset charset, Buffer *out)
{
    if (charset == CHARSET_UTF_8) {
        buffer_append_str(out, s);
        return true;
    }
    if (charset == CHARSET_UTF_16 && s.size > 0) {
        put_16(out, 0xFEFF, false);
    }
    for (size_t at = 0; at < s.size; at = utf8_next(s, at)) {
        if (!put_point(out, charset, utf8_decode(s, at))) {
            return false;
        }
    }
    return true;
}

static void encode(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Charset charset = CHARSET_COUNT;
        buffer_clear(&out);
        if (!want_charset(call, i, "encode", STR_ARGUMENT(call, 1, i), &charset)) {
            continue;
        }
        if (encode_text(STR_ARGUMENT(call, 0, i), charset, &out)) {
            text_store(call, i, buffer_str(&out));
        } else {
            fail_coding(call, i, "encode", charset);
        }
    }
}

/* ---- decode ---- */

static uint32_t unit_at(Str s, size_t at, bool little)
{
    uint32_t first = (unsigned char)s.data[at];
    uint32_t second = (unsigned char)s.data[at + 1];
    return little ? second << 8 | first : first << 8 | second;
}

static bool decode_utf16(Str s, bool little, Buffer *out)
{
    for (size_t at = 0; at < s.size; at += 2) {
        if (s.size - at < 2) {
            return false;
        }
        uint32_t point = unit_at(s, at, little);
        if (point >= 0xD800 && point < 0xE000) {
            uint32_t low = s.size - at >= 4 ? unit_at(s, at + 2, little) : 0;
            if (point >= 0xDC00 || low < 0xDC00 || low >= 0xE000) {
                return false;
            }
            point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
            at += 2;
        }
        utf8_append(out, point);
    }
    return true;
}

static bool decode_utf32(Str s, Buffer *out)
{
    for (size_t at = 0; at < s.size; at += 4) {
        if (s.size - at < 4) {
            return false;
        }
        uint32_t point = unit_at(s, at, false) << 16 | unit_at(s, at + 2, false);
        if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
            return false;
        }
        utf8_append(out, point);
    }
    return true;
}

static bool decode_bytes(Str s, uint32_t limit, Buffer *out)
{
    for (size_t i = 0; i < s.size; i++) {
        uint32_t point = (unsigned char)s.data[i];
        if (point >= limit) {
            return false;
        }
        utf8_append(out, point);
    }
    return true;
}

static bool decode_marked_utf16(Str s, Buffer *out)
{
    bool marked = s.size >= 2 && (unit_at(s, 0, false) == 0xFEFF || unit_at(s, 0, true) == 0xFEFF);
    bool little = marked && unit_at(s, 0, true) == 0xFEFF;
    return decode_utf16(marked ? (Str){s.data + 2, s.size - 2} : s, little, out);
}

static bool decode_text(Str s, Charset charset, Buffer *out)
{
    switch (charset) {
    case CHARSET_ASCII:
        return decode_bytes(s, 0x80, out);
    case CHARSET_LATIN_1:
        return decode_bytes(s, 0x100, out);
    case CHARSET_UTF_8:
        buffer_append_str(out, s);
        return str_is_utf8(s);
    case CHARSET_UTF_16:
        return decode_marked_utf16(s, out);
    case CHARSET_UTF_16BE:
    case CHARSET_UTF_16LE:
        return decode_utf16(s, charset == CHARSET_UTF_16LE, out);
    case CHARSET_UTF_32:
        return decode_utf32(s, out);
    case CHARSET_COUNT:
        break;
    }
    return false;
}

static void decode(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Charset charset = CHARSET_COUNT;
        buffer_clear(&out);
        if (!want_charset(call, i, "decode", STR_ARGUMENT(call, 1, i), &charset)) {
            continue;
        }
        if (decode_text(STR_ARGUMENT(call, 0, i), charset, &out)) {
            text_store(call, i, buffer_str(&out));
        } else {
            fail_coding(call, i, "decode", charset);
        }
    }
}

const Kernel kernel_encode = {.run = encode};
const Kernel kernel_decode = {.run = decode};

/* ---- Is it UTF-8? ---- */

static void is_valid_utf8(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, uint8_t)[i] = str_is_utf8(STR_ARGUMENT(call, 0, i));
    }
}

/* The length of the good sequence at the offset; 0: none starts there. */
static size_t good_sequence(Str s, size_t at)
{
    size_t size = utf8_size((unsigned char)s.data[at]);
    return at + size <= s.size && str_is_utf8((Str){s.data + at, size}) ? size : 0;
}

static void make_valid_utf8(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        buffer_clear(&out);
        for (size_t at = 0; at < s.size;) {
            size_t size = good_sequence(s, at);
            buffer_append(&out, size > 0 ? s.data + at : "\xEF\xBF\xBD", size > 0 ? size : 3);
            at += size > 0 ? size : 1;
        }
        text_store(call, i, buffer_str(&out));
    }
}

static void validate_utf8(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        RESULT(call, Str)[i] = s;
        if (!str_is_utf8(s) && !kernel_forgives(call, i)) {
            kernel_fail(call, i,
                        error_new(ERROR_INVALID_UTF8_STRING,
                                  "Invalid UTF8 byte sequence found in string."));
        }
    }
}

const Kernel kernel_is_valid_utf8 = {.run = is_valid_utf8};
const Kernel kernel_make_valid_utf8 = {.run = make_valid_utf8};
const Kernel kernel_validate_utf8 = {.run = validate_utf8};
const Kernel kernel_try_validate_utf8 = {.run = validate_utf8, .tolerant = true};
