/* Whole numbers by their digits in a base, and by their bits: conv, bin, bit_count, getbit. */
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

enum { BASE_MIN = 2, BASE_MAX = 36, DIGITS_MAX = 65 };

/* ---- conv, bin ---- */

static int digit_value(char c)
{
    char lower = (char)(c | 0x20);
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : BASE_MAX;
}

/* The digits up to the first that is none in the base; false when they are too many. */
static bool read_digits(Str text, uint64_t base, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.size; i++) {
        int digit = digit_value(text.data[i]);
        if (digit >= (int)base) {
            break;
        }
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value)) {
            return false;
        }
    }
    *ret_value = value;
    return true;
}

/* Digits end at `to + DIGITS_MAX`; returns where they begin. */
static char *put_digits(char *to, uint64_t value, uint64_t base)
{
    char *at = to + DIGITS_MAX;
    do {
        *--at = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % base];
        value /= base;
    } while (value > 0);
    return at;
}

/* To a negative base the number is signed, else negative ones are those of 64 bits. */
static Str convert(Arena *arena, uint64_t value, bool negative, int32_t to)
{
    char digits[DIGITS_MAX + 1];
    bool is_signed = to < 0;
    if (negative && !is_signed) {
        value = (int64_t)value < 0 ? UINT64_MAX : 0 - value;
    }
    if (is_signed && (int64_t)value < 0) {
        value = 0 - value;
        negative = true;
    }
    char *begin = put_digits(digits + 1, value, (uint64_t)(is_signed ? -to : to));
    if (negative && is_signed) {
        *--begin = '-';
    }
    return arena_copy_str(arena, (Str){begin, (size_t)(digits + 1 + DIGITS_MAX - begin)});
}

static bool is_base(int64_t base)
{
    return base >= BASE_MIN && base <= BASE_MAX;
}

static void conv(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str text = str_trim(ARGUMENT(call, 0, Str)[i]);
        int32_t from = ARGUMENT(call, 1, int32_t)[i];
        int32_t to = ARGUMENT(call, 2, int32_t)[i];
        if (text.size == 0 || !is_base(from) || !is_base(to < 0 ? -(int64_t)to : to)) {
            vector_set_null(call->result, call->arena, i);
            continue;
        }
        bool negative = text.data[0] == '-';
        uint64_t value = 0;
        if (read_digits((Str){text.data + negative, text.size - negative}, (uint64_t)from,
                        &value)) {
            RESULT(call, Str)[i] = convert(call->arena, value, negative, to);
        } else if (!kernel_forgives(call, i)) {
            kernel_fail(call, i,
                        error_new(ERROR_ARITHMETIC_OVERFLOW, "Overflow in function conv()."));
        }
    }
}

static void bin(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, Str)
        [i] = convert(call->arena, ARGUMENT(call, 0, uint64_t)[i], false, BASE_MIN);
    }
}

const Kernel kernel_conv = {.run = conv};
const Kernel kernel_bin = {.run = bin};

/* ---- Bits ---- */

static void bit_count(const KernelCall *call)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    int32_t *r = RESULT(call, int32_t);
    FOR_ROWS(call->rows, i, { r[i] = __builtin_popcountll((unsigned long long)a[i]); });
}

static void getbit(const KernelCall *call)
{
    const Vector *numbers = call->arguments[0];
    int32_t bits = (int32_t)type_value_size(numbers->type) * 8;
    FOR_VALID_ROWS(call, i)
    {
        int32_t position = ARGUMENT(call, 1, int32_t)[i];
        if (position >= 0 && position < bits) {
            RESULT(call, int8_t)[i] = (int8_t)(vector_int_value(numbers, i) >> position & 1);
        } else if (!kernel_forgives(call, i)) {
            kernel_fail(call, i,
                        error_new(ERROR_BIT_POSITION_RANGE,
                                  "The value of parameter(s) `pos` in `getbit` is invalid: expects "
                                  "an integer value in [0, %d), but got %d.",
                                  bits, position));
        }
    }
}

const Kernel kernel_bit_count = {.run = bit_count};
const Kernel kernel_getbit = {.run = getbit};
