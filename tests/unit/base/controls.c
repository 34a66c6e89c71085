/* What a user or a record wrote does not steer the terminal a message is shown on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/error.h"

#include "processor/base/banned.h"

static void controls_are_hidden(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, "\033before");
    size_t from = text.size;
    /* ESC, BEL, DEL, and CSI as one character (U+009B); é and U+00A0 begin with the same bytes. */
    buffer_append_cstr(&text, "a\033[2J\a\177\r\tb\n\xC2\x9B"
                              "31m\xC3\xA9\xC2\xA0\xC2");
    buffer_hide_controls(&text, from);
    assert_string_equal(buffer_cstr(&text), "\033beforea?[2J???\tb\n?31m\xC3\xA9\xC2\xA0\xC2");
    AUTO_BUFFER Buffer empty = {0};
    buffer_hide_controls(&empty, 0);
    assert_int_equal(empty.size, 0);
}

static void errors_are_shown_without(void **state)
{
    (void)state;
    SourcePlace place = {1, 3, 1};
    Error *error = error_at(ERROR_YAML_SYNTAX, place, "Not `%s`.", "\033[31m");
    error_set_file(error, "x\033.yaml");
    error_set_source(error, STR("a\033b"));
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    error_free(error);
    assert_string_equal(buffer_cstr(&text), "[YAML_SYNTAX] Not `?[31m`. SQLSTATE: 22023\n"
                                            "  at x?.yaml:1:3\n"
                                            "    a?b\n"
                                            "      ^\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controls_are_hidden),
        cmocka_unit_test(errors_are_shown_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
