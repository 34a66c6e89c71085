/* Makes the rows of the works and reads them back. Reading goes by the names of the fields and by
 * what a column is worth, not by its spelling where spellings differ: of a time the first 19
 * characters count, so `2026-08-31T00:00:00Z` and `2026-08-31T00:00:00.000000Z` are the same. */
#include "tests/bench/common/rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "processor/base/hash.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    ROWS_A_SEQUENCE = 5, /* of w2 */
    REGIONS = 1000,
    NOTE_SIZE = 78,
    TIME_SIZE = 19,
    DAYS = 90,
};

struct RowSource {
    Work work;
    int64_t keys;
    int64_t base;
    int64_t made;
    uint64_t random;
    int32_t *current;    /* a key's newest sequence */
    unsigned char *left; /* w2: rows to come with it */
};

static const char *const statuses[] = {"open", "paid", "shipped", "closed"};

Work work_from_name(const char *name)
{
    static const char *const names[] = {"w1", "w2", "one"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return (Work)i;
        }
    }
    (void)fprintf(stderr, "there is no work %s (w1, w2, one)\n", name);
    exit(2);
}

int64_t work_default_keys(Work work)
{
    switch (work) {
    case WORK_W1:
        return 1000000;
    case WORK_W2:
        return 10000;
    case WORK_ONE:
        return 1;
    }
    return 1;
}

RowSource *row_source_new(Work work, int64_t keys, uint64_t seed, int64_t base)
{
    RowSource *source = mem_new(RowSource);
    source->work = work;
    source->keys = keys < 1 ? 1 : keys;
    source->base = base;
    source->random = seed * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(88172645463325252);
    source->current = mem_alloc_array((size_t)source->keys, sizeof *source->current);
    source->left = mem_alloc_array((size_t)source->keys, sizeof *source->left);
    return source;
}

void row_source_free(RowSource *source)
{
    mem_free(source->current);
    mem_free(source->left);
    mem_free(source);
}

static int64_t next_random(RowSource *source, int64_t bound)
{
    source->random ^= source->random << 13;
    source->random ^= source->random >> 7;
    source->random ^= source->random << 17;
    return (int64_t)(source->random % (uint64_t)bound);
}

static int32_t next_sequence(RowSource *source, int64_t key)
{
    int32_t *current = &source->current[key];
    switch (source->work) {
    case WORK_W1:
        if (*current > 0 && next_random(source, 5) == 0) {
            int32_t late = *current - 1 - (int32_t)next_random(source, 3);
            return late < 0 ? 0 : late;
        }
        return ++*current;
    case WORK_W2:
        if (source->left[key] == 0) {
            ++*current;
            source->left[key] = ROWS_A_SEQUENCE;
        }
        source->left[key]--;
        return *current;
    case WORK_ONE:
        return 1;
    }
    return 0;
}

void row_source_next(RowSource *source, Str mark, Buffer *key, Buffer *value)
{
    static const char filler[] = " abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz "
                                 "abcdefghijklmnopqrstuvwxyz";
    int64_t customer = next_random(source, source->keys);
    int32_t sequence = next_sequence(source, customer);
    unsigned amount = (unsigned)next_random(source, 100000);
    unsigned second = (unsigned)(source->made++ % (DAYS * 86400L));
    unsigned day = second / 86400;
    int fill = mark.size < NOTE_SIZE ? NOTE_SIZE - (int)mark.size : 0;
    buffer_printf(key, "r%d|%lld", (int)(customer % REGIONS), (long long)customer);
    buffer_printf(value,
                  "{\"region\":\"r%d\",\"customer_id\":%lld,\"seq\":%lld,\"amount\":%u.%02u,"
                  "\"status\":\"%s\",\"updated_at\":\"2026-%02u-%02uT%02u:%02u:%02uZ\","
                  "\"note\":\"%.*s%.*s\"}",
                  (int)(customer % REGIONS), (long long)customer,
                  (long long)(source->base + sequence), amount / 100, amount % 100,
                  statuses[amount & 3], 1 + day / 28, 1 + day % 28, second / 3600 % 24,
                  second / 60 % 60, second % 60, STR_ARG(mark), fill, filler);
}

/* ------------------------------------------------------------------------------ reading ---- */

/* The text of a field's value; `rest` moves behind it. Fields come in the order they are asked
 * for. */
static bool cut_field(Str *rest, Str name, Str *ret_value)
{
    const char *at = memmem(rest->data, rest->size, name.data, name.size);
    if (at == NULL) {
        return false;
    }
    const char *end = rest->data + rest->size;
    at += name.size;
    bool text = at < end && *at == '"';
    at += text;
    const char *stop = at;
    while (stop < end && (text ? *stop != '"' : *stop != ',' && *stop != '}')) {
        stop++;
    }
    *ret_value = (Str){at, (size_t)(stop - at)};
    *rest = (Str){stop, (size_t)(end - stop)};
    return stop < end;
}

bool row_text_read(Str value, RowText *ret_row)
{
    static const struct {
        const char *text;
        size_t size;
    } names[] = {{"\"region\":", 9}, {"\"customer_id\":", 14}, {"\"seq\":", 6}, {"\"amount\":", 9},
                 {"\"status\":", 9}, {"\"updated_at\":", 13},  {"\"note\":", 7}};
    Str columns[ARRAY_LENGTH(names)];
    Str rest = value;
    uint64_t hash = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (!cut_field(&rest, (Str){names[i].text, names[i].size}, &columns[i])) {
            return false;
        }
        Str column = columns[i];
        bool is_time = i == 5;
        if (is_time && column.size > TIME_SIZE) {
            column.size = TIME_SIZE;
        }
        hash = hash_combine(hash, hash_bytes(column));
    }
    ret_row->hash = hash;
    ret_row->note = columns[6];
    return str_to_int64(columns[1], &ret_row->customer) &&
           str_to_int64(columns[2], &ret_row->sequence) && ret_row->customer >= 0;
}
