/* Is an output topic what the input says? Reads both whole and compares, independent of any engine:
 * of each key of the input the rows with the highest sequence must be the live rows of the output,
 * column by column, no more and no less.
 *
 *     bench_verify BOOTSTRAP INPUT OUTPUT
 *
 * Live rows are the last values of the output's message keys, whatever these keys look like. Prints
 * one line; exit code 1 when something differs. */
#include <stdio.h>

#include "processor/base/hash.h"
#include "processor/base/memory.h"
#include "tests/bench/common/bench.h"
#include "tests/bench/common/rows.h"

#include "processor/base/banned.h"

/* The rows of one customer. Their hashes are added up, so the order does not count. */
typedef struct RowSet {
    int64_t sequence; /* -1: rows of different sequences */
    uint64_t hashes;
    uint32_t count;
} RowSet;

typedef struct RowSets {
    RowSet *items; /* by customer */
    size_t count;
    size_t capacity;
} RowSets;

static RowSet *set_of(RowSets *sets, int64_t customer)
{
    size_t needed = (size_t)customer + 1;
    if (needed > sets->count) {
        mem_reserve(sets->items, &sets->capacity, needed);
        memset(sets->items + sets->count, 0, (sets->capacity - sets->count) * sizeof(RowSet));
        sets->count = sets->capacity;
    }
    return &sets->items[customer];
}

/* ------------------------------------------------------------------------------- input ---- */

typedef struct Input {
    RowSets sets;
    long records;
    long foreign; /* records that are no rows */
} Input;

static void take_input(void *context, const LogRecord *record)
{
    Input *input = context;
    RowText row;
    input->records++;
    if (!row_text_read(record->value, &row)) {
        input->foreign++;
        return;
    }
    RowSet *set = set_of(&input->sets, row.customer);
    if (set->count == 0 || row.sequence > set->sequence) {
        *set = (RowSet){row.sequence, row.hash, 1};
    } else if (row.sequence == set->sequence) {
        set->hashes += row.hash;
        set->count++;
    }
}

/* ------------------------------------------------------------------------------ output ---- */

/* The last value of a message key. Keys are told apart by 64 bits of hash: among ten million a
 * confusion has a chance of one in a hundred thousand, and would show as a difference. */
typedef struct Slot {
    uint64_t key; /* 0: free */
    uint64_t hash;
    int64_t sequence;
    int64_t customer; /* -1: deleted */
} Slot;

typedef struct Output {
    Slot *slots;
    size_t capacity; /* a power of two */
    size_t used;
    long records;
    long tombstones;
    long foreign;
} Output;

static Slot *slot_of(Slot *slots, size_t capacity, uint64_t key)
{
    size_t at = key & (capacity - 1);
    while (slots[at].key != 0 && slots[at].key != key) {
        at = (at + 1) & (capacity - 1);
    }
    return &slots[at];
}

static void grow(Output *output)
{
    size_t capacity = output->capacity * 2;
    Slot *slots = mem_alloc_array(capacity, sizeof *slots);
    for (size_t i = 0; i < output->capacity; i++) {
        if (output->slots[i].key != 0) {
            *slot_of(slots, capacity, output->slots[i].key) = output->slots[i];
        }
    }
    mem_free(output->slots);
    output->slots = slots;
    output->capacity = capacity;
}

static void take_output(void *context, const LogRecord *record)
{
    Output *output = context;
    RowText row = {.customer = -1};
    output->records++;
    if (record->value.data == NULL) {
        output->tombstones++;
    } else if (!row_text_read(record->value, &row)) {
        output->foreign++;
        return;
    }
    if (output->used * 2 >= output->capacity) {
        grow(output);
    }
    uint64_t key = hash_bytes(record->key) | 1;
    Slot *slot = slot_of(output->slots, output->capacity, key);
    output->used += slot->key == 0;
    *slot = (Slot){key, row.hash, row.sequence, row.customer};
}

static void gather(const Output *output, RowSets *sets)
{
    for (size_t i = 0; i < output->capacity; i++) {
        const Slot *slot = &output->slots[i];
        if (slot->key == 0 || slot->customer < 0) {
            continue;
        }
        RowSet *set = set_of(sets, slot->customer);
        set->sequence = set->count == 0 || set->sequence == slot->sequence ? slot->sequence : -1;
        set->hashes += slot->hash;
        set->count++;
    }
}

/* ----------------------------------------------------------------------------- compare ---- */

typedef struct Verdict {
    long keys;
    long rows;
    long wrong; /* keys whose rows differ */
    int64_t first_wrong;
} Verdict;

static Verdict compare(RowSets *expected, RowSets *actual)
{
    Verdict verdict = {.first_wrong = -1};
    size_t count = expected->count > actual->count ? expected->count : actual->count;
    for (size_t i = 0; i < count; i++) {
        RowSet want = i < expected->count ? expected->items[i] : (RowSet){0};
        RowSet have = i < actual->count ? actual->items[i] : (RowSet){0};
        verdict.keys += want.count > 0;
        verdict.rows += want.count;
        if (want.count == have.count &&
            (want.count == 0 || (want.sequence == have.sequence && want.hashes == have.hashes))) {
            continue;
        }
        if (verdict.wrong++ == 0) {
            verdict.first_wrong = (int64_t)i;
        }
    }
    return verdict;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        bench_usage("bench_verify BOOTSTRAP INPUT OUTPUT");
    }
    Log *log = bench_connect(argv[1]);
    Input input = {0};
    Output output = {.capacity = 1 << 16};
    output.slots = mem_alloc_array(output.capacity, sizeof *output.slots);
    RowSets actual = {0};
    bench_read_topic(log, argv[2], take_input, &input);
    bench_read_topic(log, argv[3], take_output, &output);
    gather(&output, &actual);
    Verdict verdict = compare(&input.sets, &actual);
    bool good = verdict.wrong == 0 && verdict.rows > 0 && input.foreign == 0 && output.foreign == 0;
    (void)printf("verified input=%ld output=%ld tombstones=%ld keys=%ld rows=%ld wrong_keys=%ld "
                 "no_rows=%ld/%ld %s\n",
                 input.records, output.records, output.tombstones, verdict.keys, verdict.rows,
                 verdict.wrong, input.foreign, output.foreign, good ? "OK" : "WRONG");
    if (verdict.wrong > 0) {
        (void)printf("first wrong key: customer %lld\n", (long long)verdict.first_wrong);
    }
    mem_free(input.sets.items);
    mem_free(actual.items);
    mem_free(output.slots);
    log_close(log);
    return good ? 0 : 1;
}
