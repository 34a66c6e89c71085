/* Base64: three bytes are four characters of six bits. */
#include "processor/base/base64.h"

#include "processor/base/banned.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(Str bytes, Buffer *out)
{
    const unsigned char *from = (const unsigned char *)bytes.data;
    char *to = buffer_reserve(out, (bytes.size + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t left = bytes.size - i;
        unsigned group = (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0) |
                         (left > 2 ? from[i + 2] : 0);
        *to++ = alphabet[group >> 18];
        *to++ = alphabet[group >> 12 & 63];
        *to++ = left > 1 ? alphabet[group >> 6 & 63] : '=';
        *to++ = left > 2 ? alphabet[group & 63] : '=';
    }
    out->size += (bytes.size + 2) / 3 * 4;
}

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    if (c == '+') {
        return 62;
    }
    return c == '/' ? 63 : -1;
}

/* Four characters of which the last `padding` are '='; -1 when one is not of the alphabet or bits
 * are left over. */
static int32_t group_bits(const char *text, int padding)
{
    int32_t bits = 0;
    for (int i = 0; i < 4; i++) {
        int value = i < 4 - padding ? sextet(text[i]) : 0;
        if (value < 0) {
            return -1;
        }
        bits = bits << 6 | value;
    }
    return (bits & ((1 << (8 * padding)) - 1)) == 0 ? bits : -1;
}

bool base64_decode(Str text, Arena *arena, Str *ret_bytes)
{
    if (text.size % 4 != 0) {
        return false;
    }
    int padding = 0;
    while (padding < 2 && text.size > 0 && text.data[text.size - 1 - (size_t)padding] == '=') {
        padding++;
    }
    char *out = arena_alloc_bytes(arena, text.size / 4 * 3);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i += 4) {
        int here = i + 4 == text.size ? padding : 0;
        int32_t bits = group_bits(text.data + i, here);
        if (bits < 0) {
            return false;
        }
        out[size++] = (char)(bits >> 16);
        out[size++] = (char)(bits >> 8);
        out[size++] = (char)bits;
        size -= (size_t)here;
    }
    *ret_bytes = (Str){out, size};
    return true;
}
