/* See json_options.h. */
#include "processor/exec/kernels/json_options.h"

#include <stddef.h>

#include "processor/base/banned.h"

/* Where a name's value goes. */
typedef struct OptionName {
    const char *name;
    size_t offset; /* of the bool in JsonOptions */
    bool inverted;
} OptionName;

#define OPTION(name, field, inverted) {name, offsetof(JsonOptions, field), inverted}

static const OptionName option_names[] = {
    OPTION("allowComments", syntax.comments, false),
    OPTION("allowUnquotedFieldNames", syntax.unquoted_names, false),
    OPTION("allowSingleQuotes", syntax.no_single_quotes, true),
    OPTION("allowNumericLeadingZeros", syntax.leading_zeros, false),
    OPTION("allowNonNumericNumbers", syntax.no_nan, true),
    OPTION("allowUnquotedControlChars", syntax.control_characters, false),
    OPTION("allowBackslashEscapingAnyCharacter", syntax.any_escape, false),
    OPTION("primitivesAsString", primitives_as_string, false),
    OPTION("prefersDecimal", prefers_decimal, false),
    OPTION("ignoreNullFields", keep_null_fields, true),
    OPTION("pretty", pretty, false),
    OPTION("ignoreLeadingWhiteSpace", trim_leading, false),
    OPTION("ignoreTrailingWhiteSpace", trim_trailing, false),
    OPTION("quoteAll", quote_all, false),
};

static void set_format(JsonOptions *options, Str name, Str value)
{
    static const char *const names[JSON_PATTERN_COUNT] = {"dateFormat", "timestampFormat",
                                                          "timestampNTZFormat"};
    for (size_t i = 0; i < JSON_PATTERN_COUNT; i++) {
        if (str_equal_ignore_case(name, str_from(names[i]))) {
            options->formats[i] = value;
        }
    }
}

static void set_option(JsonOptions *options, Str name, Str value)
{
    if (str_equal_ignore_case(name, STR("mode"))) {
        options->fail_fast = str_equal_ignore_case(value, STR("FAILFAST"));
        options->drop_malformed = str_equal_ignore_case(value, STR("DROPMALFORMED"));
    } else if (str_equal_ignore_case(name, STR("columnNameOfCorruptRecord"))) {
        options->corrupt_column = value;
    } else if (str_equal_ignore_case(name, STR("sep")) ||
               str_equal_ignore_case(name, STR("delimiter"))) {
        options->separator = value.size > 0 ? value : options->separator;
    } else if (str_equal_ignore_case(name, STR("nullValue"))) {
        options->null_value = value;
    } else {
        set_format(options, name, value);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(option_names); i++) {
        if (str_equal_ignore_case(name, str_from(option_names[i].name))) {
            bool on = str_equal_ignore_case(value, STR("true"));
            *(bool *)((char *)options + option_names[i].offset) = on != option_names[i].inverted;
        }
    }
}

JsonOptions json_options_of(const Vector *map, uint32_t row)
{
    JsonOptions options = {
        .corrupt_column = STR("_corrupt_record"), .separator = STR(","), .null_value = STR("")};
    if (map == NULL || map->type->kind != TYPE_MAP || map->type->key->kind != TYPE_STRING ||
        !vector_is_valid(map, row)) {
        return options;
    }
    for (uint32_t i = map->offsets[row]; i < map->offsets[row + 1]; i++) {
        if (vector_is_valid(map->children[1], i)) {
            set_option(&options, VECTOR_VALUE(map->children[0], Str, i),
                       VECTOR_VALUE(map->children[1], Str, i));
        }
    }
    return options;
}

Error *json_options_compile(JsonOptions *options, Arena *arena, bool parsing)
{
    for (size_t i = 0; i < JSON_PATTERN_COUNT; i++) {
        if (options->formats[i].data != NULL) {
            TRY(date_pattern_compile(arena, options->formats[i], parsing, &options->patterns[i]));
        }
    }
    return NULL;
}

/* A bad pattern was refused when the call was bound. */
static void compile_checked(JsonOptions *options, Arena *arena, bool parsing)
{
    error_free(json_options_compile(options, arena, parsing));
}

void json_options_prepare(const KernelSetup *setup, size_t argument, bool parsing,
                          JsonOptionsState *ret)
{
    *ret = (JsonOptionsState){.argument = argument, .parsing = parsing};
    bool given = argument < setup->argument_count;
    if (!given || setup->constants[argument] != NULL) {
        ret->constant = json_options_of(given ? setup->constants[argument] : NULL, 0);
        ret->is_constant = true;
        compile_checked(&ret->constant, setup->arena, parsing);
    }
}

JsonOptions json_options_at(const JsonOptionsState *state, const KernelCall *call, uint32_t row)
{
    if (state->is_constant) {
        return state->constant;
    }
    JsonOptions options = json_options_of(call->arguments[state->argument], row);
    compile_checked(&options, call->arena, state->parsing);
    return options;
}
