/* The function registry: functions.def as a table, found by name. */
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

#define FUNCTION(name, flags, min, max, resolve, signature, kernel, doc, example)                  \
    extern const Kernel kernel_##kernel;
#define LATER(name, kind, flags, min, max)
#include "processor/exec/functions.def"
#undef FUNCTION
#undef LATER

#define P FUNCTION_DETERMINISTIC
#define N FUNCTION_NULL_IN_NULL_OUT
#define F FUNCTION_CAN_FAIL
#define FUNCTION(name, flags, min, max, resolve, signature, kernel, doc, example)                  \
    {{name, FUNCTION_SCALAR, flags, min, max, resolve, &kernel_##kernel, doc, example}, signature},
#define LATER(name, kind, flags, min, max)                                                         \
    {{name, FUNCTION_##kind, flags, min, max, NULL, NULL, "", ""}, ""},
static const FunctionEntry entries[] = {
#include "processor/exec/functions.def"
};
#undef FUNCTION
#undef LATER
#undef P
#undef N
#undef F

static const Function *find(Str name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(entries); i++) {
        if (str_equal_ignore_case(name, str_from(entries[i].function.name))) {
            return &entries[i].function;
        }
    }
    return NULL;
}

static const char *nearest(Str name)
{
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
    static const FunctionCatalog catalog = {find, nearest, function_at};
    return &catalog;
}

const Function *function_at(size_t index)
{
    return index < ARRAY_LENGTH(entries) ? &entries[index].function : NULL;
}
