/* Text and bytes in other notations: code points, hexadecimal digits, base 64. */
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

static void ascii(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        RESULT(call, int32_t)[i] = s.size == 0 ? 0 : (int32_t)utf8_decode(s, 0);
    }
}

/* Negative: the empty text; else the character of code n % 256. */
static void chr(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        int64_t code = ARGUMENT(call, 0, int64_t)[i];
        buffer_clear(&out);
        if (code >= 0) {
            utf8_append(&out, (uint32_t)(code & 0xFF));
        }
        text_store(call, i, buffer_str(&out));
    }
}

const Kernel kernel_ascii = {.run = ascii};
const Kernel kernel_chr = {.run = chr};

/* ---- Hexadecimal ---- */

static const char hex_digits[] = "0123456789ABCDEF";

static void hex_number(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        char digits[16];
        size_t count = 0;
        uint64_t number = ARGUMENT(call, 0, uint64_t)[i];
        do {
            digits[sizeof digits - ++count] = hex_digits[number & 0xF];
            number >>= 4;
        } while (number != 0);
        text_store(call, i, (Str){digits + sizeof digits - count, count});
    }
}

static void hex_bytes(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        char *out = text_alloc(call, i, s.size * 2);
        if (out == NULL) {
            continue;
        }
        for (size_t k = 0; k < s.size; k++) {
            out[2 * k] = hex_digits[(unsigned char)s.data[k] >> 4];
            out[2 * k + 1] = hex_digits[(unsigned char)s.data[k] & 0xF];
        }
        RESULT(call, Str)[i] = (Str){out, s.size * 2};
    }
}

static KernelRun *choose_hex(KernelSetup *setup)
{
    return type_physical(setup->types[0]) == PHYSICAL_STR ? hex_bytes : hex_number;
}

/* An odd first digit is a byte of its own. False when something is no digit. */
static bool unhex_into(Str s, char *out)
{
    bool half = s.size % 2 != 0;
    int high = 0;
    for (size_t k = 0; k < s.size; k++) {
        int value = char_hex_value(s.data[k]);
        if (value < 0) {
            return false;
        }
        if (half) {
            *out++ = (char)(high << 4 | value);
            high = 0;
        } else {
            high = value;
        }
        half = !half;
    }
    return true;
}

static void unhex(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        size_t size = (s.size + 1) / 2;
        char *out = text_alloc(call, i, size);
        if (out == NULL) {
            continue;
        }
        if (unhex_into(s, out)) {
            RESULT(call, Str)[i] = (Str){out, size};
        } else {
            vector_set_null(call->result, call->arena, i);
        }
    }
}

const Kernel kernel_hex = {.choose = choose_hex};
const Kernel kernel_unhex = {.run = unhex};

/* ---- Base 64 ---- */

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode_group(const unsigned char *in, size_t size, char *out)
{
    uint32_t bits = (uint32_t)in[0] << 16;
    bits |= size > 1 ? (uint32_t)in[1] << 8 : 0;
    bits |= size > 2 ? (uint32_t)in[2] : 0;
    out[0] = base64_digits[bits >> 18];
    out[1] = base64_digits[(bits >> 12) & 63];
    out[2] = size > 1 ? base64_digits[(bits >> 6) & 63] : '=';
    out[3] = size > 2 ? base64_digits[bits & 63] : '=';
}

static void base64(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        size_t size = (s.size + 2) / 3 * 4;
        char *out = text_alloc(call, i, size);
        if (out == NULL) {
            continue;
        }
        for (size_t k = 0; k < s.size; k += 3) {
            encode_group((const unsigned char *)s.data + k, s.size - k < 3 ? s.size - k : 3,
                         out + k / 3 * 4);
        }
        RESULT(call, Str)[i] = (Str){out, size};
    }
}

/* What is no digit is skipped, '=' ends: Java's MIME decoder. */
static size_t decode_base64(Str s, char *out)
{
    uint32_t bits = 0;
    unsigned count = 0;
    size_t size = 0;
    for (size_t k = 0; k < s.size && s.data[k] != '='; k++) {
        const char *digit = s.data[k] == '\0' ? NULL : strchr(base64_digits, s.data[k]);
        if (digit == NULL) {
            continue;
        }
        bits = (bits << 6 | (uint32_t)(digit - base64_digits)) & 0xFFFFFF;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[size++] = (char)(bits >> count);
        }
    }
    return size;
}

static void unbase64(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        char *out = text_alloc(call, i, s.size);
        if (out != NULL) {
            RESULT(call, Str)[i] = (Str){out, decode_base64(s, out)};
        }
    }
}

const Kernel kernel_base64 = {.run = base64};
const Kernel kernel_unbase64 = {.run = unbase64};
