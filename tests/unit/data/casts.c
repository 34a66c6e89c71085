/* CAST from and to STRING against the answers of Apache Spark 4.3 (golden/from_spark.py), session
 * zone America/New_York. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/data/value_text.h"

#include "golden.h"

static const Type *interval_type(Arena *arena, Str name)
{
    static const char *const words[] = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"};
    Str rest = {name.data + strlen("INTERVAL "), name.size - strlen("INTERVAL ")};
    Str first = str_cut(&rest, ' ');
    int from = -1;
    int to = -1;
    for (int i = 0; i < 6; i++) {
        from = str_equal(first, str_from(words[i])) ? i : from;
        to = str_ends_with(name, str_from(words[i])) ? i : to;
    }
    return type_interval(arena,
                         from <= FIELD_MONTH ? TYPE_INTERVAL_YEAR_MONTH : TYPE_INTERVAL_DAY_TIME,
                         (enum IntervalField)from, (enum IntervalField)to);
}

static const Type *type_named(Arena *arena, Str name)
{
    static const struct {
        const char *name;
        const Type *type;
    } plain[] = {
        {"BOOLEAN", &type_boolean},
        {"TINYINT", &type_tinyint},
        {"SMALLINT", &type_smallint},
        {"INT", &type_int},
        {"BIGINT", &type_bigint},
        {"FLOAT", &type_float},
        {"DOUBLE", &type_double},
        {"DATE", &type_date},
        {"TIMESTAMP", &type_timestamp},
        {"STRING", &type_string},
        {"TIMESTAMP_NTZ", &type_timestamp_ntz},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(plain); i++) {
        if (str_equal(name, str_from(plain[i].name))) {
            return plain[i].type;
        }
    }
    if (str_starts_with(name, STR("INTERVAL "))) {
        return interval_type(arena, name);
    }
    int precision = 0;
    int scale = 0;
    assert_int_equal(sscanf(name.data, "DECIMAL(%d,%d)", &precision, &scale), 2);
    return type_decimal(arena, precision, scale);
}

/* Where we differ from Spark 4.3 on Java 17, and why. */
static bool is_known_difference(Str type, Str text)
{
    static const char *const known[][2] = {
        /* Java 17's Double.toString is not the shortest; from JDK 19 on it prints 1.0E23, 8.41E21.
         */
        {"DOUBLE", "1e23"},
        {"DOUBLE", "8.41e21"},
        {"FLOAT", "123456789012345678"},
        {"FLOAT", "9007199254740993"},
        /* Spark's product of days and microseconds wraps around; out of range here. */
        {"INTERVAL DAY", "106751992"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
        if (str_equal(type, str_from(known[i][0])) && str_equal(text, str_from(known[i][1]))) {
            return true;
        }
    }
    return false;
}

static TimeZone *open_zone(const char *name)
{
    TimeZone *zone = NULL;
    Error *error = time_zone_open(str_from(name), &zone);
    assert_null(error);
    return zone;
}

static void casts_agree_with_spark(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    AUTO(time_zone) TimeZone *zone = open_zone("America/New_York");
    Golden golden = golden_open("casts.tsv");
    AUTO_BUFFER Buffer out = {0};
    int differences = 0;
    while (golden_next(&golden)) {
        arena_reset(arena);
        Str text = golden.fields[1];
        const Type *type = type_named(arena, golden.fields[0]);
        Vector *vector = vector_new(arena, type, 1);
        AUTO(error) Error *error = value_parse(text, zone, arena, vector);
        buffer_clear(&out);
        if (error == NULL) {
            assert_int_equal(vector->length, 1);
            value_format(vector, 0, zone, &out);
        }
        Str got = error == NULL ? buffer_str(&out) : STR_NULL;
        bool same = (got.data == NULL) == (golden.fields[2].data == NULL) &&
                    str_equal(got, golden.fields[2]);
        if (!same && !is_known_difference(golden.fields[0], text)) {
            differences++;
            print_error("line %d: CAST('%.*s' AS %.*s): Spark %.*s, here %.*s\n", golden.line,
                        STR_ARG(text), STR_ARG(golden.fields[0]), STR_ARG(golden.fields[2]),
                        STR_ARG(got));
        }
    }
    assert_int_equal(differences, 0);
    assert_true(golden.line > 1500);
    golden_close(&golden);
}

static void messages_are_those_of_spark(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Golden golden = golden_open("errors.tsv");
    AUTO_BUFFER Buffer line = {0};
    while (golden_next(&golden)) {
        /* Zones are tested in zones.c; Spark's classes of intervals have sub-classes. */
        if (str_equal(golden.fields[0], STR("ZONE")) ||
            str_starts_with(golden.fields[0], STR("INTERVAL"))) {
            continue;
        }
        arena_reset(arena);
        Vector *vector = vector_new(arena, type_named(arena, golden.fields[0]), 1);
        AUTO(error) Error *error = value_parse(golden.fields[1], time_zone_utc(), arena, vector);
        assert_non_null(error);
        assert_int_equal(vector->length, 0);
        buffer_clear(&line);
        error_format_line(error, &line);
        /* Spark's [CLASS.SUBCLASS] messages begin with the empty message of the class. */
        const char *spark = golden.fields[2].data;
        const char *gap = strstr(spark, "]  ");
        AUTO_BUFFER Buffer wanted = {0};
        buffer_append_str(&wanted, golden.fields[2]);
        if (gap != NULL) {
            memmove(wanted.data + (gap - spark) + 1, gap + 2,
                    wanted.size - (size_t)(gap - spark) - 2);
            wanted.size--;
        }
        assert_string_equal(buffer_cstr(&line), buffer_cstr(&wanted));
    }
    assert_true(golden.line >= 18);
    golden_close(&golden);
}

static void nested_values_print_as_in_spark(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    AUTO_BUFFER Buffer out = {0};
    const Field fields[] = {{STR("a"), &type_int, false, STR_NULL},
                            {STR("b"), &type_string, false, STR_NULL},
                            {STR("c"), &type_int, false, STR_NULL}};
    Vector *row = vector_new(arena, type_struct(arena, fields, 3), 1);
    vector_append_int(row->children[0], arena, 1);
    vector_append_str(row->children[1], arena, STR("x"));
    vector_append_null(row->children[2], arena);
    vector_finish_struct(row, arena);
    value_format(row, 0, time_zone_utc(), &out);
    assert_string_equal(buffer_cstr(&out), "{1, x, null}");

    buffer_clear(&out);
    Vector *list = vector_new(arena, type_array(arena, &type_string), 1);
    vector_append_str(list->children[0], arena, STR("a"));
    vector_append_str(list->children[0], arena, STR(""));
    vector_append_null(list->children[0], arena);
    vector_finish_list(list, arena);
    vector_finish_list(list, arena);
    vector_append_null(list, arena);
    value_format(list, 0, time_zone_utc(), &out);
    assert_string_equal(buffer_cstr(&out), "[a, , null]");
    buffer_clear(&out);
    value_format(list, 1, time_zone_utc(), &out);
    assert_string_equal(buffer_cstr(&out), "[]");
    buffer_clear(&out);
    value_format(list, 2, time_zone_utc(), &out);
    assert_string_equal(buffer_cstr(&out), "NULL");

    buffer_clear(&out);
    Vector *map = vector_new(arena, type_map(arena, &type_string, &type_int), 1);
    vector_append_str(map->children[0], arena, STR("k"));
    vector_append_int(map->children[1], arena, 1);
    vector_append_str(map->children[0], arena, STR("l"));
    vector_append_null(map->children[1], arena);
    vector_finish_list(map, arena);
    value_format(map, 0, time_zone_utc(), &out);
    assert_string_equal(buffer_cstr(&out), "{k -> 1, l -> null}");
}

static void what_cannot_be_cast_is_refused(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Type *refused[] = {type_array(arena, &type_int), type_map(arena, &type_string, &type_int),
                             type_struct(arena, NULL, 0), &type_null};
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        Vector *vector = vector_new(arena, refused[i], 1);
        AUTO(error) Error *error = value_parse(STR("x"), time_zone_utc(), arena, vector);
        assert_non_null(error);
        assert_int_equal(error_class(error), ERROR_CAST_WITHOUT_SUGGESTION);
    }
    Vector *variant = vector_new(arena, &type_variant, 1);
    AUTO(error) Error *error = value_parse(STR("1"), time_zone_utc(), arena, variant);
    assert_int_equal(error_class(error), ERROR_NOT_YET);
}

static void strings_and_bytes_are_taken_as_they_are(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Str text = STR(" a\0b ");
    Vector *string = vector_new(arena, &type_string, 1);
    Vector *binary = vector_new(arena, &type_binary, 1);
    assert_null(value_parse(text, time_zone_utc(), arena, string));
    assert_null(value_parse(text, time_zone_utc(), arena, binary));
    assert_ptr_equal(VECTOR_VALUE(string, Str, 0).data, text.data);
    assert_true(str_equal(VECTOR_VALUE(binary, Str, 0), text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(casts_agree_with_spark),
        cmocka_unit_test(messages_are_those_of_spark),
        cmocka_unit_test(nested_values_print_as_in_spark),
        cmocka_unit_test(what_cannot_be_cast_is_refused),
        cmocka_unit_test(strings_and_bytes_are_taken_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
