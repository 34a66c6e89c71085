/* Maps: map_concat, map_entries, map_from_entries, map_from_arrays, map_contains_key, str_to_map. A
 * map never holds a NULL key or one key twice: what would make such a map fails its row. */
#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/kernels/regex.h"

#include "processor/base/banned.h"

static void append_nothing(const KernelCall *call)
{
    vector_append_null(call->result, call->arena);
}

/* Closes the row whose keys and values were appended, if the keys are good. */
static void finish_map(const KernelCall *call, uint32_t row)
{
    Vector *result = call->result;
    Vector *keys = result->children[0];
    uint32_t first = result->offsets[result->length];
    if (map_keys_are_good(call, row, keys, first, keys->length)) {
        vector_finish_list(result, call->arena);
        return;
    }
    vector_truncate(keys, first);
    vector_truncate(result->children[1], first);
    append_nothing(call);
}

static void append_entry(const KernelCall *call, const Vector *keys, const Vector *values,
                         uint32_t key, uint32_t value)
{
    vector_append_from(call->result->children[0], call->arena, keys, key);
    vector_append_from(call->result->children[1], call->arena, values, value);
}

/* ---- map_concat ---- */

static void append_concatenated(const KernelCall *call, uint32_t row)
{
    if (!kernel_arguments_valid(call, row)) {
        append_nothing(call);
        return;
    }
    for (size_t k = 0; k < call->argument_count; k++) {
        const Vector *map = call->arguments[k];
        for (uint32_t i = map->offsets[row]; i < map->offsets[row + 1]; i++) {
            append_entry(call, map->children[0], map->children[1], i, i);
        }
    }
    finish_map(call, row);
}

static void map_concat(const KernelCall *call)
{
    append_rows(call, append_concatenated);
}

/* ---- Entries ---- */

static void append_entries(const KernelCall *call, uint32_t row)
{
    const Vector *map = call->arguments[0];
    if (!vector_is_valid(map, row)) {
        append_nothing(call);
        return;
    }
    Vector *structs = call->result->children[0];
    for (uint32_t i = map->offsets[row]; i < map->offsets[row + 1]; i++) {
        vector_append_from(structs->children[0], call->arena, map->children[0], i);
        vector_append_from(structs->children[1], call->arena, map->children[1], i);
        vector_finish_struct(structs, call->arena);
    }
    vector_finish_list(call->result, call->arena);
}

static void append_from_entries(const KernelCall *call, uint32_t row)
{
    const Vector *list = call->arguments[0];
    const Vector *structs = list->children[0];
    bool valid = vector_is_valid(list, row);
    for (uint32_t i = list->offsets[row]; valid && i < list->offsets[row + 1]; i++) {
        valid = vector_is_valid(structs, i);
    }
    if (!valid) {
        append_nothing(call);
        return;
    }
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        append_entry(call, structs->children[0], structs->children[1], i, i);
    }
    finish_map(call, row);
}

static void map_entries(const KernelCall *call)
{
    append_rows(call, append_entries);
}

static void map_from_entries(const KernelCall *call)
{
    append_rows(call, append_from_entries);
}

/* ---- map_from_arrays ---- */

static void append_from_arrays(const KernelCall *call, uint32_t row)
{
    if (!kernel_arguments_valid(call, row)) {
        append_nothing(call);
        return;
    }
    const Vector *keys = call->arguments[0];
    const Vector *values = call->arguments[1];
    uint32_t count = list_count(keys, row);
    if (count != list_count(values, row)) {
        kernel_fail(call, row,
                    error_new(ERROR_MAP_LENGTHS_DIFFER,
                              "The key array and value array of MapData must have the same "
                              "length."));
        append_nothing(call);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        append_entry(call, keys->children[0], values->children[0], keys->offsets[row] + i,
                     values->offsets[row] + i);
    }
    finish_map(call, row);
}

static void map_from_arrays(const KernelCall *call)
{
    append_rows(call, append_from_arrays);
}

/* ---- map_contains_key ---- */

static void map_contains_key(const KernelCall *call)
{
    const Vector *map = call->arguments[0];
    FOR_VALID_ROWS(call, row)
    {
        bool found = false;
        for (uint32_t i = map->offsets[row]; i < map->offsets[row + 1] && !found; i++) {
            found = vector_value_equal(map->children[0], i, call->arguments[1], row);
        }
        RESULT(call, uint8_t)[row] = found;
    }
}

/* ---- str_to_map ---- */

/* str_to_map(text, pairs, values): both are regular expressions; a pair without the second has the
 * value NULL. */
typedef struct SplitState {
    Regex *pairs;
    Regex *values;
} SplitState;

static void append_text(const KernelCall *call, size_t child, Str text)
{
    vector_append_str(call->result->children[child], call->arena, text);
}

/* False: the row failed. An empty match at the start splits nothing. */
static bool append_pair(const KernelCall *call, uint32_t row, Str pair)
{
    const SplitState *state = call->state;
    Match match = regex_find(state->values, call, row, pair, 0);
    if (match.found && match.end == 0 && pair.size > 0) {
        match = regex_find(state->values, call, row, pair, utf8_next(pair, 0));
    }
    if (match.failed) {
        return false;
    }
    append_text(call, 0, match.found ? (Str){pair.data, match.begin} : pair);
    if (match.found) {
        append_text(call, 1, (Str){pair.data + match.end, pair.size - match.end});
    } else {
        vector_append_null(call->result->children[1], call->arena);
    }
    return true;
}

static bool append_pairs(const KernelCall *call, uint32_t row, Str s)
{
    const SplitState *state = call->state;
    size_t at = 0;
    for (size_t from = 0; from <= s.size;) {
        Match match = regex_find(state->pairs, call, row, s, from);
        if (match.failed) {
            return false;
        }
        if (!match.found) {
            break;
        }
        from = regex_search_on(s, match);
        if (match.end == 0 || (match.begin == match.end && match.end == s.size)) {
            continue;
        }
        if (!append_pair(call, row, (Str){s.data + at, match.begin - at})) {
            return false;
        }
        at = match.end;
    }
    return append_pair(call, row, (Str){s.data + at, s.size - at});
}

static void append_split(const KernelCall *call, uint32_t row)
{
    const SplitState *state = call->state;
    Str pairs = call->argument_count > 1 ? STR_ARGUMENT(call, 1, row) : STR(",");
    Str values = call->argument_count > 2 ? STR_ARGUMENT(call, 2, row) : STR(":");
    if (kernel_arguments_valid(call, row) && regex_need(state->pairs, call, row, pairs) &&
        regex_need(state->values, call, row, values) &&
        append_pairs(call, row, STR_ARGUMENT(call, 0, row))) {
        finish_map(call, row);
    } else {
        uint32_t first = call->result->offsets[call->result->length];
        vector_truncate(call->result->children[0], first);
        vector_truncate(call->result->children[1], first);
        append_nothing(call);
    }
}

static void str_to_map(const KernelCall *call)
{
    append_rows(call, append_split);
}

static KernelRun *choose_str_to_map(KernelSetup *setup)
{
    SplitState *state = arena_new_object(setup->arena, SplitState);
    state->pairs = regex_new(setup, "str_to_map");
    state->values = regex_new(setup, "str_to_map");
    setup->state = state;
    return str_to_map;
}

const Kernel kernel_str_to_map = {.choose = choose_str_to_map};
const Kernel kernel_map_concat = {.run = map_concat};
const Kernel kernel_map_entries = {.run = map_entries};
const Kernel kernel_map_from_entries = {.run = map_from_entries};
const Kernel kernel_map_from_arrays = {.run = map_from_arrays};
const Kernel kernel_map_contains_key = {.run = map_contains_key};
