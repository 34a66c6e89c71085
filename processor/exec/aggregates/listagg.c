/* listagg(x [, delimiter]) (string_agg): the texts but NULLs joined, in the order of the rows or of
 * WITHIN GROUP; NULL when there is none. With an order, texts and sort keys are kept and sorted at
 * the end; without one, texts are joined as they come. A result may have 16 MiB. */
#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/aggregates/constants.h"
#include "processor/exec/aggregates/row_order.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

enum { TEXT_MAX = 16 * 1024 * 1024 };

typedef struct Setup {
    Str delimiter;
    size_t first_key; /* argument where the sort keys begin */
    size_t key_count;
    const BoundSortKey *keys;
} Setup;

COLD static Error *too_long(void)
{
    return error_new(ERROR_ROW_TOO_LARGE, "The text listagg() makes is longer than 16 MiB.");
}

/* ---- Joined as they come ---- */

typedef struct Text {
    KeptStr text;
    bool any;
} Text;

static void append(KeptStr *text, Str more, Arena *arena)
{
    if (text->str.size + more.size > text->capacity) {
        text->capacity = 2 * (text->str.size + more.size) + 16;
        char *bytes = arena_alloc_bytes(arena, text->capacity);
        if (text->str.size > 0) {
            memcpy(bytes, text->str.data, text->str.size);
        }
        text->str.data = bytes;
    }
    if (more.size > 0) {
        char *bytes;
        memcpy(&bytes, &text->str.data, sizeof bytes); /* ours */
        memcpy(bytes + text->str.size, more.data, more.size);
    }
    text->str.size += more.size;
}

ADD_LOOPS(joined, Text, Str, {
    const Setup *setup = call->setup;
    if (s->any) {
        append(&s->text, setup->delimiter, call->arena);
    }
    append(&s->text, x, call->arena);
    s->any = true;
    if (s->text.str.size > TEXT_MAX) {
        return too_long();
    }
})

static Error *finish_joined(const AggregateCall *call, void *const *states, uint32_t count,
                            Arena *arena, Vector *result)
{
    (void)call;
    for (uint32_t i = 0; i < count; i++) {
        const Text *s = states[i];
        if (s->any) {
            vector_append_str(
                result, arena,
                (Str){s->text.str.size == 0 ? "" : s->text.str.data, s->text.str.size});
        } else {
            vector_append_null(result, arena);
        }
    }
    return NULL;
}

/* ---- Sorted at the end ---- */

typedef struct Sorted {
    Vector *texts;
    Vector **keys;
    size_t bytes;
} Sorted;

static Error *add_sorted_row(const AggregateCall *call, Sorted *s, uint32_t row)
{
    const Setup *setup = call->setup;
    if (!vector_is_valid(call->arguments[0], row)) {
        return NULL;
    }
    if (s->texts == NULL) {
        s->texts = vector_new(call->arena, call->types[0], 0);
        s->keys = arena_new_array(call->arena, Vector *, setup->key_count);
        for (size_t i = 0; i < setup->key_count; i++) {
            s->keys[i] = vector_new(call->arena, call->types[setup->first_key + i], 0);
        }
    }
    append_copy(s->texts, call->arguments[0], row, call->arena);
    for (size_t i = 0; i < setup->key_count; i++) {
        append_copy(s->keys[i], call->arguments[setup->first_key + i], row, call->arena);
    }
    s->bytes += VECTOR_VALUE(call->arguments[0], Str, row).size + setup->delimiter.size;
    return s->bytes > TEXT_MAX ? too_long() : NULL;
}

static Error *add_sorted(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        TRY(add_sorted_row(call, states[i], rows_at(rows, i)));
    }
    return NULL;
}

static Error *add_all_sorted(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_sorted);
}

typedef struct Order {
    Vector *const *values; /* of the keys */
    const Setup *setup;
} Order;

static bool is_behind(const void *context, uint32_t a, uint32_t b)
{
    const Order *order = context;
    for (size_t i = 0; i < order->setup->key_count; i++) {
        const Vector *key = order->values[i];
        const BoundSortKey *as = &order->setup->keys[i];
        bool null = !vector_is_valid(key, a);
        if (null != !vector_is_valid(key, b)) {
            return null != as->nulls_first;
        }
        int difference = value_compare(key, a, key, b);
        if (difference != 0) {
            return as->descending ? difference < 0 : difference > 0;
        }
    }
    return false;
}

static void append_sorted(const Sorted *s, const Setup *setup, Vector *result, Arena *arena)
{
    uint32_t count = s->texts->length;
    const Order order = {s->keys, setup};
    uint32_t *rows = row_order_new(count, is_behind, &order);
    KeptStr text = {.str = {"", 0}};
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            append(&text, setup->delimiter, arena);
        }
        append(&text, VECTOR_VALUE(s->texts, Str, rows[i]), arena);
    }
    vector_append_str(result, arena, text.str);
    mem_free(rows);
}

static Error *finish_sorted(const AggregateCall *call, void *const *states, uint32_t count,
                            Arena *arena, Vector *result)
{
    for (uint32_t i = 0; i < count; i++) {
        const Sorted *s = states[i];
        if (s->texts == NULL) {
            vector_append_null(result, arena);
        } else {
            append_sorted(s, call->setup, result, arena);
        }
    }
    return NULL;
}

/* ---- Choice ---- */

static const AggregateLoops *choose_listagg(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops joined = {sizeof(Text), add_joined, add_all_joined,
                                          NULL,         NULL,       finish_joined};
    static const AggregateLoops sorted = {sizeof(Sorted), add_sorted, add_all_sorted,
                                          NULL,           NULL,       finish_sorted};
    Setup *setup = arena_new_object(call->arena, Setup);
    const Vector *delimiter = call_constant(call, 1);
    if (delimiter != NULL && vector_is_valid(delimiter, 0)) {
        setup->delimiter = VECTOR_VALUE(delimiter, Str, 0);
    }
    setup->first_key = call->bound->argument_count;
    setup->key_count = call->bound->sort_key_count;
    setup->keys = call->bound->sort_keys;
    *ret_setup = setup;
    return setup->key_count > 0 ? &sorted : &joined;
}

const AggregateKernel aggregate_listagg = {.choose = choose_listagg, .order_dependent = true};
