/* The loader with small schemas given as data: the cases of the public catalogue (config.*), typed
 * values, everything at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "config/config_schema.h"
#include "config/config_value.h"

/* ---- A small schema ---- */

typedef struct Text {
    Str text;
    SourcePlace place;
} Text;

typedef struct Named {
    Str name;
    SourcePlace name_place;
    Str value;
} Named;

typedef struct Flow {
    Str name;
    SourcePlace name_place;
    Str target;
    Str sequence_by;
    bool broken;
} Flow;

typedef struct Small {
    Str title;
    Text *regions;
    size_t region_count;
    Named *columns;
    size_t column_count;
    Flow *flows;
    size_t flow_count;
    bool enabled;
    int64_t retries;
    int64_t memory;
    int64_t wait;
    int mode;
    Str user;
    Str password;
    Str url;
    Str literal;
    Str sql;
} Small;

static const ConfigKey text_element[] = {
    {.kind = CONFIG_TEXT, .offset = offsetof(Text, text), .place_offset = offsetof(Text, place)},
};
static const ConfigSchema text_schema = {CONFIG_KEYS(Text, text_element)};
static const ConfigKey named_element[] = {
    {.kind = CONFIG_TEXT, .offset = offsetof(Named, value)},
};
static const ConfigSchema named_schema = {CONFIG_KEYS(Named, named_element),
                                          .name_place_offset = offsetof(Named, name_place)};
static const ConfigKey flow_keys[] = {
    {.name = "target",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_REQUIRED,
     .offset = offsetof(Flow, target)},
    {.name = "sequence_by", .kind = CONFIG_TEXT, .offset = offsetof(Flow, sequence_by)},
};
static const ConfigSchema flow_schema = {CONFIG_KEYS(Flow, flow_keys),
                                         .name_place_offset = offsetof(Flow, name_place),
                                         .broken_offset = offsetof(Flow, broken)};
static const ConfigChoice modes[] = {
    {.name = "slow", .value = 1},
    {.name = "fast", .value = 2},
    {.name = "magic", .value = 3, .not_yet = true},
};
static const ConfigKey small_keys[] = {
    {.name = "title", .kind = CONFIG_TEXT, .offset = offsetof(Small, title), .default_text = "-"},
    {.name = "regions",
     .kind = CONFIG_LIST,
     .flags = CONFIG_ONE_OR_LIST,
     .offset = offsetof(Small, regions),
     .count_offset = offsetof(Small, region_count),
     .schema = &text_schema},
    {.name = "columns",
     .kind = CONFIG_MAP,
     .offset = offsetof(Small, columns),
     .count_offset = offsetof(Small, column_count),
     .schema = &named_schema},
    {.name = "flows",
     .kind = CONFIG_MAP,
     .offset = offsetof(Small, flows),
     .count_offset = offsetof(Small, flow_count),
     .schema = &flow_schema},
    {.name = "enabled",
     .kind = CONFIG_BOOL,
     .offset = offsetof(Small, enabled),
     .default_text = "false"},
    {.name = "retries",
     .kind = CONFIG_INTEGER,
     .offset = offsetof(Small, retries),
     .default_text = "3",
     .min = 1,
     .max = 1000},
    {.name = "memory",
     .kind = CONFIG_SIZE,
     .offset = offsetof(Small, memory),
     .default_text = "64MiB",
     .min = 1024,
     .max = INT64_MAX},
    {.name = "wait",
     .kind = CONFIG_DURATION,
     .offset = offsetof(Small, wait),
     .default_text = "100ms"},
    {.name = "mode",
     .kind = CONFIG_ENUM,
     .offset = offsetof(Small, mode),
     .default_text = "slow",
     CONFIG_CHOICES(modes)},
    {.name = "user", .kind = CONFIG_TEXT, .offset = offsetof(Small, user)},
    {.name = "password", .kind = CONFIG_TEXT, .offset = offsetof(Small, password)},
    {.name = "url", .kind = CONFIG_TEXT, .offset = offsetof(Small, url)},
    {.name = "literal", .kind = CONFIG_TEXT, .offset = offsetof(Small, literal)},
    {.name = "sql", .kind = CONFIG_TEXT, .offset = offsetof(Small, sql)},
};
static const ConfigSchema small_schema = {CONFIG_KEYS(Small, small_keys)};

typedef struct Loaded {
    Arena *arena;
    Diagnostics diagnostics;
    Small small;
} Loaded;

static Loaded load(const char *yaml)
{
    Loaded loaded = {.arena = arena_new("test")};
    YamlDocument *document = NULL;
    yaml_parse(str_from(yaml), "t.yaml", loaded.arena, &loaded.diagnostics, &document);
    if (document != NULL) {
        ConfigLoader loader = {
            .document = document, .arena = loaded.arena, .diagnostics = &loaded.diagnostics};
        config_load(&loader, &small_schema, &loaded.small);
    }
    return loaded;
}

static void done(Loaded *loaded)
{
    diagnostics_done(&loaded->diagnostics);
    arena_free(loaded->arena);
}

static void assert_str(Str actual, const char *expected)
{
    assert_int_equal(actual.size, strlen(expected));
    assert_memory_equal(actual.data, expected, actual.size);
}

static void assert_error(const Loaded *loaded, size_t index, ErrorClass class, int line, int column,
                         const char *words)
{
    assert_true(index < loaded->diagnostics.count);
    const Error *error = loaded->diagnostics.errors[index];
    if (strstr(error_message(error), words) == NULL) {
        fail_msg("`%s` is not in: %s", words, error_message(error));
    }
    assert_int_equal(error_class(error), class);
    assert_int_equal(error_place(error).line, line);
    assert_int_equal(error_place(error).column, column);
}

static void assert_one_error(const char *yaml, ErrorClass class, int line, int column,
                             const char *words)
{
    Loaded loaded = load(yaml);
    assert_int_equal(loaded.diagnostics.count, 1);
    assert_error(&loaded, 0, class, line, column, words);
    done(&loaded);
}

/* ---- The cases ---- */

/* config.norway */
static void config_norway(void **state)
{
    (void)state;
    Loaded loaded = load("regions: [NO, SE, on, y]\n"
                         "columns:\n"
                         "  N: INT\n"
                         "  on: STRING\n"
                         "enabled: true\n"
                         "retries: 010\n");
    const char *const regions[] = {"NO", "SE", "on", "y"};
    assert_int_equal(loaded.small.region_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_str(loaded.small.regions[i].text, regions[i]);
    }
    assert_int_equal(loaded.small.column_count, 2);
    assert_str(loaded.small.columns[0].name, "N");
    assert_str(loaded.small.columns[1].name, "on");
    assert_str(loaded.small.columns[1].value, "STRING");
    assert_true(loaded.small.enabled);
    assert_int_equal(loaded.diagnostics.count, 1);
    assert_error(&loaded, 0, ERROR_CONFIG_INVALID_VALUE, 6, 10, "leading zeros");
    assert_int_not_equal(loaded.small.retries, 8);
    done(&loaded);
    const char *const no_booleans[] = {"yes", "no", "on", "off", "y", "True", "TRUE", "1"};
    for (size_t i = 0; i < ARRAY_LENGTH(no_booleans); i++) {
        char yaml[40];
        (void)snprintf(yaml, sizeof yaml, "enabled: %s\n", no_booleans[i]);
        assert_one_error(yaml, ERROR_CONFIG_INVALID_VALUE, 1, 10, "true or false");
    }
}

/* config.duplicate-key */
static void config_duplicate_key(void **state)
{
    (void)state;
    assert_one_error("flows:\n  orders:\n    target: a\n  orders:\n    target: b\n",
                     ERROR_CONFIG_DUPLICATE_KEY, 4, 3, "flows.orders");
    Loaded loaded = load("flows:\n  orders:\n    target: a\n    sequnce_by: seq\n");
    assert_int_equal(loaded.diagnostics.count, 1);
    assert_error(&loaded, 0, ERROR_CONFIG_UNKNOWN_KEY, 4, 5, "sequnce_by");
    assert_string_equal(error_hint(loaded.diagnostics.errors[0]), "did you mean `sequence_by`?");
    assert_true(loaded.small.flows[0].broken);
    done(&loaded);
}

/* config.environment-values */
static void config_environment_values(void **state)
{
    (void)state;
    const char *password = "p$$w{x}: #]>\\C\"'";
    (void)setenv("PW", password, 1);
    (void)setenv("HOST", "h", 1);
    Loaded loaded = load("user: u\n"
                         "password: ${PW}\n"
                         "url: k://${HOST}:9092/x\n"
                         "literal: $${HOST}\n");
    assert_int_equal(loaded.diagnostics.count, 0);
    assert_str(loaded.small.user, "u");
    assert_str(loaded.small.password, password);
    assert_str(loaded.small.url, "k://h:9092/x");
    assert_str(loaded.small.literal, "${HOST}");
    done(&loaded);
}

/* config.tabs-and-block-scalar */
static void config_tabs_and_block_scalar(void **state)
{
    (void)state;
    assert_one_error("flows:\n\torders: {}\n", ERROR_YAML_SYNTAX, 2, 1, "tab");
    Loaded loaded = load("sql: |\n"
                         "  SELECT 1 -- one\n"
                         "  , 2\n"
                         "  WHERE a = 'x: y # z';\n");
    assert_int_equal(loaded.diagnostics.count, 0);
    assert_str(loaded.small.sql, "SELECT 1 -- one\n, 2\nWHERE a = 'x: y # z';\n");
    done(&loaded);
}

/* ---- Values ---- */

static void texts_stay_as_written(void **state)
{
    (void)state;
    Loaded loaded = load("regions: [1.10, 22:30, 0x1F, 1e3, 2024-01-01, 'null', -0, \".\"]\n");
    const char *const expected[] = {"1.10",       "22:30", "0x1F", "1e3",
                                    "2024-01-01", "null",  "-0",   "."};
    assert_int_equal(loaded.diagnostics.count, 0);
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++) {
        assert_str(loaded.small.regions[i].text, expected[i]);
    }
    done(&loaded);
}

static void defaults_fill_what_is_missing_or_null(void **state)
{
    (void)state;
    Loaded loaded = load("title: ~\nretries: null\nwait:\nregions: alone\n");
    assert_int_equal(loaded.diagnostics.count, 0);
    assert_str(loaded.small.title, "-");
    assert_int_equal(loaded.small.retries, 3);
    assert_int_equal(loaded.small.wait, 100);
    assert_int_equal(loaded.small.memory, 64 * 1024 * 1024);
    assert_int_equal(loaded.small.mode, 1);
    assert_null(loaded.small.user.data);
    assert_int_equal(loaded.small.region_count, 1);
    assert_str(loaded.small.regions[0].text, "alone");
    done(&loaded);
}

static void null_is_an_error_where_a_value_is_required(void **state)
{
    (void)state;
    assert_one_error("flows:\n  a:\n    target: ~\n", ERROR_CONFIG_INVALID_VALUE, 3, 13,
                     "`flows.a.target` must be a single value, not nothing (null)");
    assert_one_error("regions: [a, ~]\n", ERROR_CONFIG_INVALID_VALUE, 1, 14, "`regions[1]`");
    assert_one_error("columns: {a: }\n", ERROR_CONFIG_INVALID_VALUE, 1, 14, "`columns.a`");
    assert_one_error("flows:\n  a:\n", ERROR_CONFIG_INVALID_VALUE, 2, 5,
                     "`flows.a` must be a mapping");
}

static void numbers_sizes_durations(void **state)
{
    (void)state;
    int64_t n = 0;
    assert_null(config_parse_integer(STR("-9223372036854775808"), &n));
    assert_true(n == INT64_MIN);
    const char *const no_integers[] = {"",
                                       "-",
                                       "+1",
                                       "010",
                                       "-0",
                                       "0x1F",
                                       "1_000",
                                       "1.0",
                                       "1e3",
                                       " 1",
                                       "1 ",
                                       "0o17",
                                       "9223372036854775808"};
    for (size_t i = 0; i < ARRAY_LENGTH(no_integers); i++) {
        assert_non_null(config_parse_integer(str_from(no_integers[i]), &n));
    }
    assert_null(config_parse_size(STR("64KiB"), &n));
    assert_int_equal(n, 65536);
    assert_null(config_parse_size(STR("2 GiB"), &n));
    assert_true(n == 2147483648);
    const char *const no_sizes[] = {
        "64", "64MB", "64mib", "64M", "1.5GiB", "-1KiB", "MiB", "010KiB", "9223372036854775807KiB"};
    for (size_t i = 0; i < ARRAY_LENGTH(no_sizes); i++) {
        assert_non_null(config_parse_size(str_from(no_sizes[i]), &n));
    }
    const struct {
        const char *text;
        int64_t ms;
    } durations[] = {{"5ms", 5},     {"0s", 0},       {"90s", 90000},
                     {"2m", 120000}, {"1h", 3600000}, {"7d", 604800000}};
    for (size_t i = 0; i < ARRAY_LENGTH(durations); i++) {
        assert_null(config_parse_duration(str_from(durations[i].text), &n));
        assert_int_equal(n, durations[i].ms);
    }
    const char *const no_durations[] = {"5", "5 sec", "1M", "1h30m", "-1s", "1.5s", ""};
    for (size_t i = 0; i < ARRAY_LENGTH(no_durations); i++) {
        assert_non_null(config_parse_duration(str_from(no_durations[i]), &n));
    }
}

static void bounds_are_said_in_units(void **state)
{
    (void)state;
    assert_one_error("retries: 0\n", ERROR_CONFIG_INVALID_VALUE, 1, 10,
                     "`retries` must be from 1 to 1000, not `0`");
    Loaded loaded = load("memory: 0KiB\nmode: quick\n");
    assert_int_equal(loaded.diagnostics.count, 2);
    assert_error(&loaded, 0, ERROR_CONFIG_INVALID_VALUE, 1, 9, "at least 1KiB");
    assert_int_equal(loaded.small.memory, 64 * 1024 * 1024);
    assert_error(&loaded, 1, ERROR_CONFIG_INVALID_VALUE, 2, 7, "slow, fast or magic");
    done(&loaded);
}

static void wrong_shapes_are_named(void **state)
{
    (void)state;
    assert_one_error("title: [a]\n", ERROR_CONFIG_INVALID_VALUE, 1, 8, "not a list");
    assert_one_error("columns: [a]\n", ERROR_CONFIG_INVALID_VALUE, 1, 10, "must be a mapping");
    assert_one_error("columns: x\n", ERROR_CONFIG_INVALID_VALUE, 1, 10, "not a single value");
    assert_one_error("[a]\n", ERROR_CONFIG_INVALID_VALUE, 1, 1, "The file must hold a mapping");
    assert_one_error("mode: magic\n", ERROR_NOT_YET, 1, 7, "`magic` of `mode`");
    assert_one_error("columns: {'': INT}\n", ERROR_CONFIG_INVALID_VALUE, 1, 11, "empty");
}

static void all_mistakes_come_at_once(void **state)
{
    (void)state;
    Loaded loaded = load("title: {}\n"
                         "enabled: yes\n"
                         "colums: {}\n"
                         "wait: 5\n"
                         "flows:\n"
                         "  a: {sequence_by: x}\n"
                         "  b:\n"
                         "    target: t\n"
                         "    zzzzzzzzzz: 1\n"
                         "wait: 6s\n");
    diagnostics_sort(&loaded.diagnostics);
    assert_int_equal(loaded.diagnostics.count, 7);
    assert_error(&loaded, 0, ERROR_CONFIG_INVALID_VALUE, 1, 8, "`title`");
    assert_error(&loaded, 1, ERROR_CONFIG_INVALID_VALUE, 2, 10, "`enabled`");
    assert_error(&loaded, 2, ERROR_CONFIG_UNKNOWN_KEY, 3, 1, "`colums`");
    assert_string_equal(error_hint(loaded.diagnostics.errors[2]), "did you mean `columns`?");
    assert_error(&loaded, 3, ERROR_CONFIG_INVALID_VALUE, 4, 7, "`wait`");
    assert_error(&loaded, 4, ERROR_CONFIG_MISSING_KEY, 6, 3, "`flows.a.target` is required");
    assert_error(&loaded, 5, ERROR_CONFIG_UNKNOWN_KEY, 9, 5, "`flows.b.zzzzzzzzzz`");
    assert_string_equal(error_hint(loaded.diagnostics.errors[5]),
                        "known keys: target, sequence_by");
    assert_error(&loaded, 6, ERROR_CONFIG_DUPLICATE_KEY, 10, 1, "`wait`");
    done(&loaded);
}

static void many_mistakes_and_variables_end_soon(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer text = {0};
    for (int i = 0; i < 100000; i++) {
        buffer_printf(&text, "unknown_key_%d: 1\n", i);
    }
    buffer_append_cstr(&text, "title: \"");
    for (int i = 0; i < 100000; i++) {
        buffer_append_cstr(&text, "${TM_NONE:-}");
    }
    buffer_append_cstr(&text, "\"\n");
    (void)unsetenv("TM_NONE");
    clock_t start = clock();
    Loaded loaded = load(buffer_cstr(&text));
    assert_int_equal(loaded.diagnostics.count, 100);
    assert_str(loaded.small.title, "");
    assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
    done(&loaded);
}

/* ---- Variables ---- */

static void variables_have_defaults_and_can_be_empty(void **state)
{
    (void)state;
    (void)unsetenv("TM_NONE");
    (void)setenv("TM_EMPTY", "", 1);
    (void)setenv("TM_NUMBER", "7", 1);
    (void)setenv("TM_AGAIN", "${TM_NUMBER}", 1);
    (void)setenv("TM_NULL", "null", 1);
    Loaded loaded = load("title: a${TM_NONE:-b:c}d${TM_NONE:-}\n"
                         "user: x${TM_EMPTY:-default}y\n"
                         "url: ${TM_AGAIN}\n"
                         "literal: $a $$ $$${TM_NUMBER} $5 {}\n"
                         "sql: ${TM_NULL}\n"
                         "retries: ${TM_NUMBER}\n");
    assert_int_equal(loaded.diagnostics.count, 0);
    assert_str(loaded.small.title, "ab:cd");
    assert_str(loaded.small.user, "xy");
    assert_str(loaded.small.url, "${TM_NUMBER}");
    assert_str(loaded.small.literal, "$a $$ $${TM_NUMBER} $5 {}");
    assert_str(loaded.small.sql, "null");
    assert_int_equal(loaded.small.retries, 7);
    done(&loaded);
}

static void missing_variables_name_key_and_variable(void **state)
{
    (void)state;
    (void)unsetenv("TM_NONE");
    Loaded loaded = load("url: k://${TM_NONE}/\n"
                         "columns:\n"
                         "  a: >\n"
                         "    one\n"
                         "    two ${TM_NONE}\n"
                         "title: ${}\n"
                         "user: \"${TM NONE}\"\n"
                         "literal: ${TM_NONE\n");
    assert_int_equal(loaded.diagnostics.count, 5);
    diagnostics_sort(&loaded.diagnostics);
    assert_error(&loaded, 0, ERROR_CONFIG_MISSING_VARIABLE, 1, 10, "`url`");
    assert_error(&loaded, 0, ERROR_CONFIG_MISSING_VARIABLE, 1, 10, "TM_NONE");
    assert_error(&loaded, 1, ERROR_CONFIG_MISSING_VARIABLE, 5, 9, "`columns.a`");
    assert_error(&loaded, 2, ERROR_CONFIG_INVALID_VALUE, 6, 8, "`title`");
    assert_error(&loaded, 3, ERROR_CONFIG_INVALID_VALUE, 7, 8, "`user`");
    assert_error(&loaded, 4, ERROR_CONFIG_INVALID_VALUE, 8, 10, "`literal`");
    done(&loaded);
    (void)setenv("TM_BYTES", "\xFF", 1);
    assert_one_error("title: ${TM_BYTES}\n", ERROR_CONFIG_INVALID_VALUE, 1, 8, "UTF-8");
}

/* What a variable held is not shown, what the file holds is. */
static void messages_show_the_file_not_the_variable(void **state)
{
    (void)state;
    (void)setenv("TM_SECRET", "hunter2", 1);
    Loaded loaded = load("retries: ${TM_SECRET}\n");
    assert_error(&loaded, 0, ERROR_CONFIG_INVALID_VALUE, 1, 10, "`${TM_SECRET}`");
    done(&loaded);
}

/* ---- Secrets ---- */

static void secret_keys_are_known(void **state)
{
    (void)state;
    const char *const secrets[] = {"password",
                                   "sasl.password",
                                   "SASL.Password",
                                   "ssl.key.password",
                                   "ssl.key.pem",
                                   "ssl.keystore.password",
                                   "sasl.oauthbearer.client.secret",
                                   "sasl.oauthbearer.config",
                                   "tokens",
                                   "api_key",
                                   "private_key",
                                   "basic.auth.user.info",
                                   "sasl.jaas.config",
                                   "passphrase",
                                   "sasl.pasword",
                                   "sasl.passwrod",
                                   "client_secert"};
    for (size_t i = 0; i < ARRAY_LENGTH(secrets); i++) {
        if (!config_is_secret_key(str_from(secrets[i]))) {
            fail_msg("%s", secrets[i]);
        }
    }
    const char *const open[] = {
        "key",         "bootstrap", "sasl.username", "topic",   "sources",           "client.id",
        "memory",      "group.id",  "booking",       "broker",  "security.protocol", "state",
        "sequence_by", "pipeline",  "partitions",    "columns", "sasl.mechanisms",   "message.key",
        "regions"};
    for (size_t i = 0; i < ARRAY_LENGTH(open); i++) {
        if (config_is_secret_key(str_from(open[i]))) {
            fail_msg("%s", open[i]);
        }
    }
}

static void secrets_are_not_shown(void **state)
{
    (void)state;
    const char *const files[] = {
        "password: [hunter2]\n",
        "password:\n  hunter2: x\n",
        "pasword: hunter2\n",
        "passwrd: {a: hunter2}\n",
        "columns: {sasl.password: hunter2, b: }\n",
        "columns:\n  sasl.password: [hunter2]\n",
        "columns: {sasl.password: &p hunter2}\nretries: *p\n",
        "unknown: hunter2\n",
        "enabled: x\nuser: [\"k://me:hunter2@host\"]\n",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        Loaded loaded = load(files[i]);
        assert_true(loaded.diagnostics.count > 0);
        AUTO_BUFFER Buffer printed = {0};
        for (size_t k = 0; k < loaded.diagnostics.count; k++) {
            error_format(loaded.diagnostics.errors[k], &printed);
        }
        if (strstr(buffer_cstr(&printed), "hunter2") != NULL) {
            fail_msg("shown: %s", buffer_cstr(&printed));
        }
        done(&loaded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_norway),
        cmocka_unit_test(config_duplicate_key),
        cmocka_unit_test(config_environment_values),
        cmocka_unit_test(config_tabs_and_block_scalar),
        cmocka_unit_test(texts_stay_as_written),
        cmocka_unit_test(defaults_fill_what_is_missing_or_null),
        cmocka_unit_test(null_is_an_error_where_a_value_is_required),
        cmocka_unit_test(numbers_sizes_durations),
        cmocka_unit_test(bounds_are_said_in_units),
        cmocka_unit_test(wrong_shapes_are_named),
        cmocka_unit_test(all_mistakes_come_at_once),
        cmocka_unit_test(many_mistakes_and_variables_end_soon),
        cmocka_unit_test(variables_have_defaults_and_can_be_empty),
        cmocka_unit_test(missing_variables_name_key_and_variable),
        cmocka_unit_test(messages_show_the_file_not_the_variable),
        cmocka_unit_test(secret_keys_are_known),
        cmocka_unit_test(secrets_are_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
