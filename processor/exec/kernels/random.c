/* What gives another value each time: rand, randn, uuid, shuffle, monotonically_increasing_id. A
 * seed makes the values repeatable; they go on from row to row and from batch to batch. */
#include "processor/base/clock.h"
#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/random_generator.h"
#include "processor/exec/kernels/text.h"

#include <string.h>
#include <sys/random.h>

#include "processor/base/banned.h"

/* Behind a pointer of its own, since kernels see their state as constant. */
typedef struct RandomState {
    bool seeded; /* the generators are ready */
    XorShift xor_shift;
    Twister twister;
    int64_t next_id;
} RandomState;

static KernelRun *with_state(KernelSetup *setup, KernelRun *run)
{
    RandomState **holder = arena_new_object(setup->arena, RandomState *);
    *holder = arena_new_object(setup->arena, RandomState);
    setup->state = holder;
    return run;
}

static int64_t random_seed(void)
{
    int64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        seed = clock_monotonic_us(); /* no random bytes (yet): at least another seed each time */
    }
    return seed;
}

/* The seed argument, or `missing` where it is NULL. */
static int64_t seed_of(const KernelCall *call, size_t argument, int64_t missing)
{
    const Vector *given = call->arguments[argument];
    uint32_t row = rows_at(call->rows, 0);
    return vector_is_valid(given, row) ? VECTOR_VALUE(given, int64_t, row) : missing;
}

/* Seeds the generators when they are first used: by the argument, else by chance. A NULL is 0 to
 * rand and randn, to others no seed. */
static RandomState *state_of(const KernelCall *call, size_t seed_argument, bool null_is_zero)
{
    RandomState *state = *(RandomState *const *)call->state;
    if (!state->seeded) {
        int64_t seed = random_seed();
        if (seed_argument < call->argument_count) {
            seed = seed_of(call, seed_argument, null_is_zero ? 0 : seed);
        }
        xor_shift_init(&state->xor_shift, seed);
        twister_init(&state->twister, seed);
        state->seeded = true;
    }
    return state;
}

static void rand_(const KernelCall *call)
{
    RandomState *state = state_of(call, 0, true);
    FOR_ROWS(call->rows, i, { RESULT(call, double)[i] = xor_shift_double(&state->xor_shift); });
}

static void randn(const KernelCall *call)
{
    RandomState *state = state_of(call, 0, true);
    FOR_ROWS(call->rows, i, { RESULT(call, double)[i] = xor_shift_gaussian(&state->xor_shift); });
}

/* ---- uuid ---- */

/* Version 4: 122 random bits. */
static void put_uuid(char *to, uint64_t high, uint64_t low)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) {
        uint64_t half = i < 16 ? high : low;
        if (i == 8 || i == 12 || i == 16 || i == 20) {
            *to++ = '-';
        }
        *to++ = digits[half >> (60 - i % 16 * 4) & 15];
    }
}

static void uuid(const KernelCall *call)
{
    enum { UUID_TEXT_SIZE = 36 };
    RandomState *state = state_of(call, 0, false);
    FOR_ROWS(call->rows, i, {
        uint64_t high = (twister_long(&state->twister) & ~UINT64_C(0xF000)) | UINT64_C(0x4000);
        uint64_t low = (twister_long(&state->twister) | UINT64_C(1) << 63) & ~(UINT64_C(1) << 62);
        char *text = arena_alloc_bytes(call->arena, UUID_TEXT_SIZE);
        put_uuid(text, high, low);
        RESULT(call, Str)[i] = (Str){text, UUID_TEXT_SIZE};
    });
}

/* ---- shuffle ---- */

static void append_shuffled(const KernelCall *call, Twister *twister, uint32_t row)
{
    const Vector *list = call->arguments[0];
    uint32_t count = list_count(list, row);
    uint32_t *places = arena_new_array(call->arena, uint32_t, count);
    /* The inside-out shuffle: element i goes to place j, what was there to the end. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = twister_below(twister, i + 1);
        places[i] = places[j];
        places[j] = list->offsets[row] + i;
    }
    for (uint32_t i = 0; i < count; i++) {
        vector_append_from(call->result->children[0], call->arena, list->children[0], places[i]);
    }
    vector_finish_list(call->result, call->arena);
}

static void shuffle(const KernelCall *call)
{
    RandomState *state = state_of(call, 1, false);
    call->result->length = 0;
    for (uint32_t k = 0; k < call->rows.count; k++) {
        uint32_t row = rows_at(call->rows, k);
        list_skip_to(call, row);
        if (vector_is_valid(call->arguments[0], row)) {
            append_shuffled(call, &state->twister, row);
        } else {
            vector_append_null(call->result, call->arena);
        }
    }
    list_skip_to(call, call->row_count);
}

/* ---- monotonically_increasing_id ---- */

static void monotonically_increasing_id(const KernelCall *call)
{
    RandomState *state = *(RandomState *const *)call->state;
    FOR_ROWS(call->rows, i, { RESULT(call, int64_t)[i] = state->next_id++; });
}

#define CHOOSE_RANDOM(name, run)                                                                   \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        return with_state(setup, run);                                                             \
    }                                                                                              \
    const Kernel kernel_##name = {.choose = choose_##name};

CHOOSE_RANDOM(rand, rand_)
CHOOSE_RANDOM(randn, randn)
CHOOSE_RANDOM(uuid, uuid)
CHOOSE_RANDOM(shuffle, shuffle)
CHOOSE_RANDOM(monotonically_increasing_id, monotonically_increasing_id)
