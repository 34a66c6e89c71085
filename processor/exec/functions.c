/* The function registry: functions.def as a table, found by name. */
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

#define FUNCTION(name, flags, min, max, resolve, signature, kernel, doc, example)                  \
    extern const Kernel kernel_##kernel;
#define AGGREGATE(name, flags, min, max, resolve, signature, kernel, doc, example)                 \
    extern const AggregateKernel aggregate_##kernel;
#define WINDOW(name, flags, min, max, resolve, signature, kernel, doc, example)                    \
    extern const WindowKernel window_##kernel;
#define GENERATOR(name, flags, min, max, resolve, signature, kernel, doc, example)                 \
    extern const GeneratorKernel generator_##kernel;
#define LATER(name, kind, flags, min, max)
#include "processor/exec/functions.def"
#undef FUNCTION
#undef AGGREGATE
#undef WINDOW
#undef GENERATOR
#undef LATER

#define P FUNCTION_DETERMINISTIC
#define N FUNCTION_NULL_IN_NULL_OUT
#define F FUNCTION_CAN_FAIL
#define H FUNCTION_HIGHER_ORDER
#define ENTRY(kind_, name_, flags_, min, max, resolve_, signature_, doc_, example_, ...)           \
    {.function = {.name = (name_),                                                                 \
                  .kind = (kind_),                                                                 \
                  .flags = (flags_),                                                               \
                  .argument_min = (min),                                                           \
                  .argument_max = (max),                                                           \
                  .resolve = (resolve_),                                                           \
                  .doc = (doc_),                                                                   \
                  .example = (example_),                                                           \
                  __VA_ARGS__},                                                                    \
     .signature = (signature_)},
#define FUNCTION(name, flags, min, max, resolve, signature, loops, doc, example)                   \
    ENTRY(FUNCTION_SCALAR, name, flags, min, max, resolve, signature, doc, example,                \
          .kernel = &kernel_##loops)
#define AGGREGATE(name, flags, min, max, resolve, signature, kernel, doc, example)                 \
    ENTRY(FUNCTION_AGGREGATE, name, flags, min, max, resolve, signature, doc, example,             \
          .aggregate = &aggregate_##kernel)
#define WINDOW(name, flags, min, max, resolve, signature, kernel, doc, example)                    \
    ENTRY(FUNCTION_WINDOW, name, flags, min, max, resolve, signature, doc, example,                \
          .window = &window_##kernel)
#define GENERATOR(name, flags, min, max, resolve, signature, kernel, doc, example)                 \
    ENTRY(FUNCTION_GENERATOR, name, flags, min, max, resolve, signature, doc, example,             \
          .generator = &generator_##kernel)
#define LATER(name, kind, flags, min, max)                                                         \
    ENTRY(FUNCTION_##kind, name, flags, min, max, NULL, "", "", "", .kernel = NULL)
#define BINDERS(name, kind, flags, min, max, doc, example)                                         \
    ENTRY(FUNCTION_##kind, name, flags, min, max, NULL, "", doc, example, .kernel = NULL)
#define HIGHER_ORDER(name, min, max, lambdas, resolve, loops, doc, example)                        \
    ENTRY(FUNCTION_SCALAR, name, P | F | H, min, max, resolve, "", doc, example,                   \
          .lambda_types = (lambdas), .kernel = &kernel_##loops)
static const FunctionEntry entries[] = {
#include "processor/exec/functions.def"
};
#undef FUNCTION
#undef AGGREGATE
#undef WINDOW
#undef GENERATOR
#undef LATER
#undef ENTRY
#undef P
#undef N
#undef F
#undef H

static const Function *find(Str name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(entries); i++) {
        if (str_equal_ignore_case(name, str_from(entries[i].function.name))) {
            return &entries[i].function;
        }
    }
    return NULL;
}

/* What other databases call functions that are here by another name. */
static const char *foreign_name(Str name)
{
    static const struct {
        const char *foreign;
        const char *own;
    } names[] = {
        {"approx_quantile", "approx_percentile"},
        {"arg_max", "max_by"},
        {"arg_min", "min_by"},
        {"array_length", "size"},
        {"array_to_string", "array_join"},
        {"countif", "count_if"},
        {"ends_with", "endswith"},
        {"epoch", "unix_timestamp"},
        {"epoch_ms", "unix_millis"},
        {"format_date", "date_format"},
        {"generate_series", "sequence"},
        {"getdate", "current_timestamp"},
        {"group_concat", "listagg"},
        {"iif", "if"},
        {"json_extract", "get_json_object"},
        {"json_extract_string", "get_json_object"},
        {"json_value", "get_json_object"},
        {"list", "collect_list"},
        {"list_aggregate", "aggregate"},
        {"list_contains", "array_contains"},
        {"list_distinct", "array_distinct"},
        {"list_filter", "filter"},
        {"list_sort", "sort_array"},
        {"list_transform", "transform"},
        {"list_value", "array"},
        {"parse_date", "to_date"},
        {"parse_timestamp", "to_timestamp"},
        {"quantile", "percentile"},
        {"quantile_cont", "percentile_cont"},
        {"regexp_matches", "regexp_like"},
        {"regexp_split_to_array", "split"},
        {"safe_divide", "try_divide"},
        {"sha256", "sha2"},
        {"starts_with", "startswith"},
        {"str_split", "split"},
        {"strftime", "date_format"},
        {"string_split", "split"},
        {"strpos", "instr"},
        {"strptime", "to_timestamp"},
        {"struct_pack", "named_struct"},
        {"today", "current_date"},
        {"unnest", "explode"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (str_equal_ignore_case(name, str_from(names[i].foreign))) {
            return names[i].own;
        }
    }
    return NULL;
}

static const char *nearest(Str name)
{
    const char *own = foreign_name(name);
    if (own != NULL) {
        return own;
    }
    const char *best = NULL;
    size_t best_distance = 0;
    size_t distance_max = name.size < 4 ? 1 : name.size / 3;
    for (size_t i = 0; i < ARRAY_LENGTH(entries); i++) {
        size_t distance = str_distance(name, str_from(entries[i].function.name));
        if (distance <= distance_max && (best == NULL || distance < best_distance)) {
            best = entries[i].function.name;
            best_distance = distance;
        }
    }
    return best;
}

const FunctionCatalog *function_catalog(void)
{
    static const FunctionCatalog catalog = {find, nearest, function_at, constant_evaluate};
    return &catalog;
}

const Function *function_at(size_t index)
{
    return index < ARRAY_LENGTH(entries) ? &entries[index].function : NULL;
}
