/* Sort keys. Columns of fixed width are written side by side, column by column, into slots of equal
 * size; with a STRING or a nested value among them, row by row.
 *
 * A column's part begins with a byte for NULL. Ascending with NULLs first that is what key_encoding
 * writes: 00 for NULL, 01 for a value. DESC inverts all bytes of a value, so 01 becomes FE; the
 * byte of a NULL is then 00 where NULLs come first, FF where they come last.
 *
 * Many keys that differ in few bytes of their heads, as numbers do, are dealt out byte by byte
 * (radix sort), then groups of equal heads sorted by their rests. Others are merged: runs of a few
 * keys by insertion, then pairs of runs; two neighbours that are in order already are only copied,
 * so sorted input costs little. Both are stable. */
#include "processor/exec/sort_keys.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/data/key_encoding.h"

#include "processor/base/banned.h"

enum {
    MARK_VALUE = 0x01,
    MARK_INVERTED = 0xFE,
    RUN_KEYS = 16,
    RADIX_MIN = 1024,
    RADIX_BYTES_MAX = 8
};

static unsigned char null_mark(SortOrder order)
{
    return order.nulls_first ? 0x00 : 0xFF;
}

/* ---- Keys of fixed width ---- */

/* Bytes of a value's part, the mark too; 0: it has no fixed width. */
static size_t fixed_width(const Type *type)
{
    switch (type_physical(type)) {
    case PHYSICAL_NONE:
    case PHYSICAL_STR:
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        return type_physical(type) == PHYSICAL_NONE ? 1 : 0;
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
    case PHYSICAL_INT128:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
        return 1 + type_value_size(type);
    }
    return 0;
}

/* Of all columns together; 0: none. */
static size_t fixed_total(const Vector *const *columns, size_t column_count)
{
    size_t total = 0;
    for (size_t i = 0; i < column_count; i++) {
        size_t width = fixed_width(columns[i]->type);
        if (width == 0) {
            return 0;
        }
        total += width;
    }
    return total;
}

/* Where a column's parts go: `bytes + i * stride`. */
typedef struct Slots {
    unsigned char *bytes;
    size_t stride;
} Slots;

static inline uint64_t ordered_double(double value)
{
    value = isnan(value) ? (double)NAN : value == 0 ? 0.0 : value;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline uint32_t ordered_float(float value)
{
    value = isnan(value) ? NAN : value == 0 ? 0.0F : value;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static inline uint128 swap_128(uint128 bits)
{
    return (uint128)__builtin_bswap64((uint64_t)bits) << 64 |
           __builtin_bswap64((uint64_t)(bits >> 64));
}

#define SAME(bits) (bits)
/* `to_bits` makes an unsigned number of the value's order. */
#define ENCODE(CType, UType, to_bits, swap)                                                        \
    do {                                                                                           \
        const CType *values = column->data;                                                        \
        const UType invert = order.descending ? (UType) ~(UType)0 : 0;                             \
        for (uint32_t i = 0; i < rows.count; i++) {                                                \
            uint32_t row = rows_at(rows, i);                                                       \
            UType bits = (UType)(to_bits ^ invert);                                                \
            bits = (UType)swap(bits);                                                              \
            unsigned char *to = slots.bytes + i * slots.stride;                                    \
            to[0] = order.descending ? MARK_INVERTED : MARK_VALUE;                                 \
            memcpy(to + 1, &bits, sizeof bits);                                                    \
        }                                                                                          \
    } while (0)
#define SIGNED(UType) ((UType)values[row] ^ (UType)((UType)1 << (8 * sizeof(UType) - 1)))

static void encode_values(const Vector *column, SortOrder order, Rows rows, Slots slots)
{
    switch (type_physical(column->type)) {
    case PHYSICAL_BOOL:
        ENCODE(uint8_t, uint8_t, values[row], SAME);
        return;
    case PHYSICAL_INT8:
        ENCODE(int8_t, uint8_t, SIGNED(uint8_t), SAME);
        return;
    case PHYSICAL_INT16:
        ENCODE(int16_t, uint16_t, SIGNED(uint16_t), __builtin_bswap16);
        return;
    case PHYSICAL_INT32:
        ENCODE(int32_t, uint32_t, SIGNED(uint32_t), __builtin_bswap32);
        return;
    case PHYSICAL_INT64:
        ENCODE(int64_t, uint64_t, SIGNED(uint64_t), __builtin_bswap64);
        return;
    case PHYSICAL_INT128:
        ENCODE(int128, uint128, SIGNED(uint128), swap_128);
        return;
    case PHYSICAL_FLOAT:
        ENCODE(float, uint32_t, ordered_float(values[row]), __builtin_bswap32);
        return;
    case PHYSICAL_DOUBLE:
        ENCODE(double, uint64_t, ordered_double(values[row]), __builtin_bswap64);
        return;
    case PHYSICAL_NONE: /* NULLs only */
        return;
    case PHYSICAL_STR:
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        assert(false);
    }
}

static void encode_nulls(const Vector *column, SortOrder order, Rows rows, Slots slots)
{
    bool all = type_physical(column->type) == PHYSICAL_NONE;
    if (column->validity == NULL && !all) {
        return;
    }
    size_t width = fixed_width(column->type);
    for (uint32_t i = 0; i < rows.count; i++) {
        if (all || !vector_is_valid(column, rows_at(rows, i))) {
            unsigned char *to = slots.bytes + i * slots.stride;
            to[0] = null_mark(order);
            memset(to + 1, 0, width - 1);
        }
    }
}

/* ---- From bytes to keys ---- */

static void take_key(const unsigned char *bytes, size_t size, uint32_t i, SortKey *key, Str *rest)
{
    unsigned char head[SORT_KEY_HEAD] = {0};
    size_t head_size = size < SORT_KEY_HEAD ? size : SORT_KEY_HEAD;
    if (head_size > 0) {
        memcpy(head, bytes, head_size);
    }
    memcpy(&key->high, head, sizeof key->high);
    memcpy(&key->low, head + 8, sizeof key->low);
    key->high = __builtin_bswap64(key->high);
    key->low = __builtin_bswap64(key->low);
    key->row = i;
    *rest = (Str){(const char *)bytes + head_size, size - head_size};
}

static bool encode_fixed(const SortOrder *orders, const Vector *const *columns, size_t column_count,
                         size_t width, Rows rows, Arena *arena, SortKey *keys, Str *rests)
{
    Slots slots = {.stride = width < SORT_KEY_HEAD ? SORT_KEY_HEAD : width};
    unsigned char *bytes = arena_new_array(arena, unsigned char, rows.count *slots.stride);
    slots.bytes = bytes;
    for (size_t i = 0; i < column_count; i++) {
        encode_values(columns[i], orders[i], rows, slots);
        encode_nulls(columns[i], orders[i], rows, slots);
        slots.bytes += fixed_width(columns[i]->type);
    }
    bool longer = width > SORT_KEY_HEAD;
    Str unused;
    for (uint32_t i = 0; i < rows.count; i++) {
        take_key(bytes + i * slots.stride, slots.stride, i, &keys[i], longer ? &rests[i] : &unused);
    }
    return longer;
}

static void encode_row(const SortOrder *orders, const Vector *const *columns, size_t column_count,
                       uint32_t row, Buffer *out)
{
    for (size_t i = 0; i < column_count; i++) {
        if (!vector_is_valid(columns[i], row)) {
            buffer_append_byte(out, (char)null_mark(orders[i]));
            continue;
        }
        size_t begin = out->size;
        key_encode_value(columns[i], row, out);
        for (size_t k = begin; orders[i].descending && k < out->size; k++) {
            out->data[k] = (char)~out->data[k];
        }
    }
}

static bool encode_any(const SortOrder *orders, const Vector *const *columns, size_t column_count,
                       Rows rows, Arena *arena, SortKey *keys, Str *rests)
{
    AUTO_BUFFER Buffer out = {0};
    size_t *ends = arena_new_array(arena, size_t, rows.count);
    for (uint32_t i = 0; i < rows.count; i++) {
        encode_row(orders, columns, column_count, rows_at(rows, i), &out);
        ends[i] = out.size;
    }
    const char *bytes = arena_copy_str(arena, buffer_str(&out)).data;
    bool longer = false;
    for (uint32_t i = 0; i < rows.count; i++) {
        size_t begin = i == 0 ? 0 : ends[i - 1];
        take_key((const unsigned char *)bytes + begin, ends[i] - begin, i, &keys[i], &rests[i]);
        longer |= rests[i].size > 0;
    }
    return longer;
}

bool sort_keys_encode(const SortOrder *orders, const Vector *const *columns, size_t column_count,
                      Rows rows, Arena *arena, SortKey *keys, Str *rests)
{
    size_t width = fixed_total(columns, column_count);
    if (width > 0 || column_count == 0) {
        return encode_fixed(orders, columns, column_count, width, rows, arena, keys, rests);
    }
    return encode_any(orders, columns, column_count, rows, arena, keys, rests);
}

/* ---- Sorting ---- */

static inline bool comes_before(const SortKey *a, const SortKey *b, const Str *rests)
{
    if (a->high != b->high) {
        return a->high < b->high;
    }
    if (a->low != b->low) {
        return a->low < b->low;
    }
    return rests != NULL && sort_rest_compare(rests[a->row], rests[b->row]) < 0;
}

static void sort_run(SortKey *keys, uint32_t count, const Str *rests)
{
    for (uint32_t i = 1; i < count; i++) {
        SortKey key = keys[i];
        uint32_t at = i;
        for (; at > 0 && comes_before(&key, &keys[at - 1], rests); at--) {
            keys[at] = keys[at - 1];
        }
        keys[at] = key;
    }
}

/* from[0 … middle) and from[middle … count) into `to`; equal keys: the left ones first. */
static void merge_runs(const SortKey *from, size_t middle, size_t count, SortKey *to,
                       const Str *rests)
{
    if (middle >= count || !comes_before(&from[middle], &from[middle - 1], rests)) {
        memcpy(to, from, count * sizeof *to);
        return;
    }
    size_t left = 0;
    size_t right = middle;
    while (left < middle && right < count) {
        bool take_right = comes_before(&from[right], &from[left], rests);
        *to++ = from[take_right ? right : left];
        right += take_right;
        left += !take_right;
    }
    memcpy(to, &from[left], (middle - left) * sizeof *to);
    memcpy(to + (middle - left), &from[right], (count - right) * sizeof *to);
}

/* `room`: as many keys again. */
static void merge_sort(SortKey *keys, uint32_t count, const Str *rests, SortKey *room)
{
    for (size_t begin = 0; begin < count; begin += RUN_KEYS) {
        size_t left = count - begin;
        sort_run(keys + begin, left < RUN_KEYS ? (uint32_t)left : RUN_KEYS, rests);
    }
    SortKey *from = keys;
    SortKey *to = room;
    for (size_t run = RUN_KEYS; run < count; run *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * run) {
            size_t left = count - begin < 2 * run ? count - begin : 2 * run;
            merge_runs(from + begin, run < left ? run : left, left, to + begin, rests);
        }
        SortKey *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != keys) {
        memcpy(keys, from, (size_t)count * sizeof *keys);
    }
}

/* Which bytes of the heads differ, as masks of `high` and `low`. */
typedef struct HeadBits {
    uint64_t high;
    uint64_t low;
} HeadBits;

static HeadBits differing_bits(const SortKey *keys, uint32_t count)
{
    HeadBits bits = {0};
    for (uint32_t i = 1; i < count; i++) {
        bits.high |= keys[i].high ^ keys[0].high;
        bits.low |= keys[i].low ^ keys[0].low;
    }
    return bits;
}

static unsigned bytes_set(uint64_t bits)
{
    unsigned count = 0;
    for (; bits != 0; bits >>= 8) {
        count += (bits & 0xFF) != 0;
    }
    return count;
}

/* Deals the keys to 256 places by one byte of a word, stably. */
#define DEAL(word)                                                                                 \
    do {                                                                                           \
        size_t starts[257] = {0};                                                                  \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            starts[(from[i].word >> shift & 0xFF) + 1]++;                                          \
        }                                                                                          \
        for (unsigned i = 0; i < 256; i++) {                                                       \
            starts[i + 1] += starts[i];                                                            \
        }                                                                                          \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            to[starts[from[i].word >> shift & 0xFF]++] = from[i];                                  \
        }                                                                                          \
    } while (0)

static void deal(const SortKey *from, SortKey *to, uint32_t count, bool high, unsigned shift)
{
    if (high) {
        DEAL(high);
    } else {
        DEAL(low);
    }
}

/* From the last byte that differs to the first; bytes that do not are left out. */
static void radix_sort(SortKey *keys, uint32_t count, HeadBits bits, SortKey *room)
{
    SortKey *from = keys;
    SortKey *to = room;
    for (unsigned byte = 0; byte < SORT_KEY_HEAD; byte++) {
        bool high = byte >= 8;
        unsigned shift = byte % 8 * 8;
        if (((high ? bits.high : bits.low) >> shift & 0xFF) == 0) {
            continue;
        }
        deal(from, to, count, high, shift);
        SortKey *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != keys) {
        memcpy(keys, from, (size_t)count * sizeof *keys);
    }
}

/* Groups of equal heads by their rests. */
static void sort_rests(SortKey *keys, uint32_t count, const Str *rests, SortKey *room)
{
    for (uint32_t begin = 0; begin < count;) {
        uint32_t end = begin + 1;
        while (end < count && keys[end].high == keys[begin].high &&
               keys[end].low == keys[begin].low) {
            end++;
        }
        merge_sort(keys + begin, end - begin, rests, room);
        begin = end;
    }
}

void sort_keys_sort(SortKey *keys, uint32_t count, const Str *rests)
{
    SortKey *room = mem_realloc(NULL, (size_t)count * sizeof *keys + 1);
    HeadBits bits = differing_bits(keys, count);
    if (count < RADIX_MIN || bytes_set(bits.high) + bytes_set(bits.low) > RADIX_BYTES_MAX) {
        merge_sort(keys, count, rests, room);
    } else {
        radix_sort(keys, count, bits, room);
        if (rests != NULL) {
            sort_rests(keys, count, rests, room);
        }
    }
    mem_free(room);
}
