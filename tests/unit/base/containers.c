/* Str, Buffer, Map, error printing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/json_writer.h"
#include "processor/base/map.h"

static void utf8_refuses_overlong_surrogate_and_cut_sequences(void **state)
{
    (void)state;
    assert_true(str_is_utf8(STR("plain ascii, longer than eight bytes")));
    assert_true(str_is_utf8(STR("é\xF0\x9F\x98\x80 デ")));
    assert_false(str_is_utf8(STR("\xC0\x80")));
    assert_false(str_is_utf8(STR("\xED\xA0\x80")));
    assert_false(str_is_utf8(STR("\xF4\x90\x80\x80")));
    assert_false(str_is_utf8(STR("\xE3\x83")));
    assert_false(str_is_utf8(STR("\x80")));
}

static void distance_counts_edits_without_case(void **state)
{
    (void)state;
    assert_int_equal(str_distance(STR("sequnce_by"), STR("sequence_by")), 1);
    assert_int_equal(str_distance(STR("STATE"), STR("state")), 0);
    assert_int_equal(str_distance(STR("form"), STR("from")), 1);
    assert_int_equal(str_distance(STR(""), STR("abc")), 3);
}

static void the_nearest_name_is_near_enough(void **state)
{
    (void)state;
    size_t best = SIZE_MAX;
    assert_true(str_is_nearer(STR("statu"), STR("stat"), &best));
    assert_int_equal(best, 1);
    assert_false(str_is_nearer(STR("stats"), STR("stat"), &best)); /* not nearer */
    assert_true(str_is_nearer(STR("STAT"), STR("stat"), &best));
    assert_int_equal(best, 0);
    best = SIZE_MAX;
    assert_false(str_is_nearer(STR("booking_id"), STR("x"), &best));
    assert_false(str_is_nearer(STR("y"), STR("x"), &best)); /* nothing is left of it */
    assert_int_equal(best, SIZE_MAX);
}

static void hexadecimal_digits_and_no_others(void **state)
{
    (void)state;
    const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 256; i++) {
        char c = (char)i;
        char lower = c >= 'A' && c <= 'F' ? (char)(c + ('a' - 'A')) : c;
        const char *at = c == '\0' ? NULL : strchr(digits, lower);
        assert_int_equal(char_hex_value(c), at == NULL ? -1 : at - digits);
    }
}

static void integers_parse_whole_or_not_at_all(void **state)
{
    (void)state;
    int64_t value = 0;
    assert_true(str_to_int64(STR("-9223372036854775808"), &value));
    assert_true(value == INT64_MIN);
    assert_false(str_to_int64(STR("9223372036854775808"), &value));
    assert_false(str_to_int64(STR("12x"), &value));
    assert_false(str_to_int64(STR("-"), &value));
    assert_false(str_to_int64(STR(" 1"), &value));
}

static void map_survives_growth_and_removal(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Map map = {0};
    for (uintptr_t i = 1; i <= 5000; i++) {
        map_put(&map, str_from(arena_printf(arena, "key%u", (unsigned)i)), (void *)i);
    }
    for (uintptr_t i = 1; i <= 5000; i += 3) {
        map_remove(&map, str_from(arena_printf(arena, "key%u", (unsigned)i)));
    }
    for (uintptr_t i = 1; i <= 5000; i++) {
        void *want = i % 3 == 1 ? NULL : (void *)i;
        assert_ptr_equal(map_get(&map, str_from(arena_printf(arena, "key%u", (unsigned)i))), want);
    }
    size_t seen = 0;
    for (MapEntry *e = map_first(&map); e != NULL; e = map_next(&map, e)) {
        seen++;
    }
    assert_int_equal(seen, map.count);
    map_done(&map);
}

static void errors_print_class_place_caret_and_hint(void **state)
{
    (void)state;
    Error *error = error_at(ERROR_UNRESOLVED_COLUMN, (SourcePlace){2, 8, 4},
                            "A column `%s` cannot be resolved.", "stat");
    error_set_source(error, STR("-- first\nSELECT stat FROM t\n"));
    error_set_file(error, "bookings.yaml");
    error_set_hint(error, "did you mean `%s`?", "status");
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    assert_string_equal(buffer_cstr(&text),
                        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `stat` cannot be resolved. "
                        "SQLSTATE: 42703\n"
                        "  at bookings.yaml:2:8\n"
                        "    SELECT stat FROM t\n"
                        "           ^^^^\n"
                        "  hint: did you mean `status`?\n");
    assert_string_equal(error_kind(error), "UNRESOLVED_COLUMN");
    error_free(error);
}

static void json_strings_are_escaped_and_valid(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer text = {0};
    json_write_string(&text, STR("a\"\\\n\x01é\xFF"));
    assert_string_equal(buffer_cstr(&text), "\"a\\\"\\\\\\n\\u0001é\xEF\xBF\xBD\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_refuses_overlong_surrogate_and_cut_sequences),
        cmocka_unit_test(distance_counts_edits_without_case),
        cmocka_unit_test(the_nearest_name_is_near_enough),
        cmocka_unit_test(hexadecimal_digits_and_no_others),
        cmocka_unit_test(integers_parse_whole_or_not_at_all),
        cmocka_unit_test(map_survives_growth_and_removal),
        cmocka_unit_test(errors_print_class_place_caret_and_hint),
        cmocka_unit_test(json_strings_are_escaped_and_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
