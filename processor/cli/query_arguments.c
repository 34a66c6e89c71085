/* The command line of `tidemark query`: one table of options, each with what takes its value. */
#include "processor/cli/query_arguments.h"

#include <unistd.h>

#include "processor/data/schema.h"

#include "processor/base/banned.h"

typedef struct Option {
    const char *name;
    bool (*take)(QueryArguments *arguments, const char *value); /* NULL: it has no value */
    const char *wants;                                          /* what its value may be */
} Option;

static bool take_input(QueryArguments *arguments, const char *value)
{
    if (arguments->input_count == QUERY_INPUTS_MAX) {
        return false;
    }
    arguments->inputs[arguments->input_count++] = value;
    return true;
}

static bool take_output(QueryArguments *arguments, const char *value)
{
    arguments->output = value;
    return strcmp(value, "table") == 0 || strcmp(value, "jsonl") == 0 || strcmp(value, "csv") == 0;
}

static bool is_any_of(Str text, const char *word, const char *other)
{
    return str_equal(text, str_from(word)) || str_equal(text, str_from(other));
}

/* header=yes, header=no, separator=; */
static bool take_csv(QueryArguments *arguments, const char *value)
{
    Str rest = str_from(value);
    Str name = str_cut(&rest, '=');
    if (str_equal(name, STR("header"))) {
        bool yes = is_any_of(rest, "yes", "true");
        arguments->session.csv_header = yes ? CSV_HEADER_YES : CSV_HEADER_NO;
        return yes || is_any_of(rest, "no", "false");
    }
    bool tab = str_equal(rest, STR("\\t"));
    char separator = tab ? '\t' : rest.size == 1 ? rest.data[0] : '\0';
    arguments->session.csv_separator = separator;
    return str_equal(name, STR("separator")) && separator != '\0' && separator != '"' &&
           separator != '\n';
}

/* 512KiB, 1GiB, or plain bytes. */
static bool take_memory(QueryArguments *arguments, const char *value)
{
    static const struct {
        const char *unit;
        int shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"", 0}};
    Str rest = str_from(value);
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
        Str unit = str_from(units[i].unit);
        int64_t number = 0;
        if (str_ends_with(rest, unit)) {
            Str digits = {rest.data, rest.size - unit.size};
            bool fits = str_to_int64(digits, &number) && number > 0 &&
                        number <= INT64_MAX >> units[i].shift;
            arguments->session.memory_bytes = fits ? (size_t)number << units[i].shift : 0;
            return fits;
        }
    }
    return false;
}

static bool take_threads(QueryArguments *arguments, const char *value)
{
    int64_t count = 0;
    bool fits = str_to_int64(str_from(value), &count) && count >= 1 && count <= 64;
    arguments->session.threads = fits ? (unsigned)count : 0;
    return fits;
}

static bool take_clock(QueryArguments *arguments, const char *value)
{
    arguments->clock = value;
    return true;
}

static bool take_time_zone(QueryArguments *arguments, const char *value)
{
    arguments->session.time_zone = str_from(value);
    return true;
}

static bool take_topology(QueryArguments *arguments, const char *value)
{
    arguments->topology = value;
    return true;
}

static const Option options[] = {
    {"--input", take_input, "NAME=FILE or NAME=FILE,COLUMNS (256 times at most)"},
    {"-o", take_output, "table, jsonl or csv"},
    {"--csv", take_csv, "header=yes, header=no or separator=C, C being one character or \\t"},
    {"--memory", take_memory, "a size such as 512MiB or 2GiB"},
    {"--threads", take_threads, "a number from 1 to 64"},
    {"--clock", take_clock, "a time such as 2026-03-01T12:00:00Z"},
    {"--time-zone", take_time_zone, "a zone such as Europe/Oslo"},
    {"-t", take_topology, "a topology"},
    {"--explain", NULL, NULL},
    {"--schema", NULL, NULL},
};

static const Option *find_option(Str name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(options); i++) {
        if (str_equal(name, str_from(options[i].name))) {
            return &options[i];
        }
    }
    return NULL;
}

COLD static Error *unknown_option(Str name)
{
    AUTO(arena) Arena *arena = arena_new("options");
    Field *fields = arena_new_array(arena, Field, ARRAY_LENGTH(options));
    for (size_t i = 0; i < ARRAY_LENGTH(options); i++) {
        fields[i] = (Field){.name = str_from(options[i].name), .type = &type_string};
    }
    Str nearest = schema_nearest(schema_new(arena, fields, ARRAY_LENGTH(options)), name);
    Error *error = error_new(ERROR_USAGE, "There is no option `%.*s`.", STR_ARG(name));
    return nearest.size > 2 ? error_set_hint(error, "did you mean %.*s?", STR_ARG(nearest))
                            : error_set_hint(error, "`tidemark help query` lists the options");
}

COLD static Error *second_sql(const QueryArguments *arguments, const char *second)
{
    Error *error =
        error_new(ERROR_USAGE, "`%s` and `%s` cannot both be the SQL.", arguments->sql, second);
    return error_set_hint(error,
                          "put quotes around the whole of it; `;` stands between statements");
}

static Error *take_flag(QueryArguments *arguments, const Option *option, const char *value)
{
    if (value != NULL) {
        return error_new(ERROR_USAGE, "%s takes no value.", option->name);
    }
    if (strcmp(option->name, "--explain") == 0) {
        arguments->session.explain = true;
    } else {
        arguments->schema = true;
    }
    return NULL;
}

/* An option at argv[*at], which is left at the last argument that belongs to it. */
static Error *take_option(int argc, char **argv, int *at, QueryArguments *arguments)
{
    Str rest = str_from(argv[*at]);
    bool split = str_starts_with(rest, STR("--")) && str_find_byte(rest, '=') < rest.size;
    Str name = split ? str_cut(&rest, '=') : rest;
    const char *value = split ? rest.data : NULL;
    const Option *option = find_option(name);
    if (option == NULL) {
        return unknown_option(name);
    }
    if (option->take == NULL) {
        return take_flag(arguments, option, value);
    }
    if (value == NULL && *at + 1 < argc) {
        value = argv[++*at];
    }
    if (value == NULL) {
        return error_new(ERROR_USAGE, "%s takes %s, and nothing is behind it.", option->name,
                         option->wants);
    }
    if (!option->take(arguments, value)) {
        return error_new(ERROR_USAGE, "%s takes %s, not `%s`.", option->name, option->wants, value);
    }
    return NULL;
}

/* SQL may begin with a comment. */
static bool is_option(const char *argument)
{
    bool comment = strncmp(argument, "--", 2) == 0 &&
                   (argument[2] == '\0' || strchr(" \t\r\n", argument[2]) != NULL ||
                    strchr(argument, '\n') != NULL);
    return argument[0] == '-' && !comment;
}

/* What is given as SQL is a file's name: meant as data, or as a script. */
static Error *check_sql(const char *sql)
{
    bool name = sql != NULL && sql[0] != '\0' && strpbrk(sql, " \t\r\n;(") == NULL;
    if (!name || access(sql, F_OK) != 0) {
        return NULL;
    }
    return error_set_hint(error_new(ERROR_USAGE, "`%s` is a file, and no SQL.", sql),
                          "--input NAME=%s makes a table of it; a script is read from standard "
                          "input: tidemark query < %s",
                          sql, sql);
}

Error *query_arguments_read(int argc, char **argv, QueryArguments *arguments)
{
    for (int i = 1; i < argc; i++) {
        if (is_option(argv[i])) {
            TRY(take_option(argc, argv, &i, arguments));
        } else if (arguments->sql != NULL) {
            return second_sql(arguments, argv[i]);
        } else {
            arguments->sql = argv[i];
        }
    }
    return check_sql(arguments->sql);
}
