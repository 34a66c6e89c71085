/* Random numbers: the values of a seed are Spark's (4.3.0), they go on from row to row and from
 * batch to batch, and without a seed they differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "processor/data/value_text.h"
#include "tests/support/sql_fixture.h"

/* The values of `rows` rows, in batches of `batch_rows`, one a line. */
static const char *values_of(SqlFixture *sql, const char *text, uint32_t rows, uint32_t batch_rows)
{
    static const Schema no_columns = {0};
    BoundExpr *bound = NULL;
    AUTO(expression) Expression *expression = NULL;
    AUTO_BUFFER Buffer out = {0};
    assert_null(sql_fixture_expression(sql, text, NULL, &bound));
    assert_null(expression_open(bound, &sql->exec, &expression));
    for (uint32_t first = 0; first < rows; first += batch_rows) {
        const Vector *vector = NULL;
        RowErrors errors = {0};
        Batch *batch = batch_from_columns(sql->arena, &no_columns, NULL, batch_rows);
        assert_null(expression_evaluate(expression, batch, sql->arena, &errors, &vector));
        assert_int_equal(errors.count, 0);
        for (uint32_t row = 0; row < batch_rows; row++) {
            value_format(vector, row, sql->exec.time_zone, &out);
            buffer_append_byte(&out, '\n');
        }
    }
    return arena_copy_cstr(sql->arena, buffer_str(&out));
}

/* What Spark gives for SELECT f FROM range(0, 4, 1, 1). */
static void test_values_of_a_seed(void **state)
{
    static const struct {
        const char *text;
        const char *values;
    } known[] = {
        {"rand(0)", "0.7604953758285915\n"
                    "0.5234194256885571\n"
                    "0.0953472826424725\n"
                    "0.3163249920547614\n"},
        {"rand(-7)", "0.14773215621571878\n"
                     "0.0914602266360357\n"
                     "0.024990435468302152\n"
                     "0.12921121156209348\n"},
        {"rand(42)", "0.619189370225301\n"
                     "0.5096018842446481\n"
                     "0.8325259388871524\n"
                     "0.26322809041172357\n"},
        {"rand(NULL)", "0.7604953758285915\n"
                       "0.5234194256885571\n"
                       "0.0953472826424725\n"
                       "0.3163249920547614\n"},
        {"randn(0)", "1.6034991609278433\n"
                     "0.14416006165776865\n"
                     "-0.6253564498627744\n"
                     "-0.28385414448030416\n"},
        {"randn(42)", "2.384479054241165\n"
                      "0.1920934041293524\n"
                      "0.7337336533286575\n"
                      "-0.5224480195716871\n"},
        {"uuid(0)", "269567e9-5d09-4af5-b20f-16851fc4a81a\n"
                    "2a52c3b8-890f-4aae-9607-3331ab0d4f01\n"
                    "46beb52b-622b-4226-bb12-4f40c6cdba04\n"
                    "24fdcf77-ec9f-4ac6-a096-b36d3b9fe378\n"},
        {"uuid(5)", "99b370cd-2be6-4419-b53a-bf23bbe7c58b\n"
                    "f818d780-2c21-4ec4-8941-9ac0541ea444\n"
                    "7767b1d4-1251-4a28-aaf7-b457bfdba8b7\n"
                    "88661aa3-3d0b-4092-bbc6-9b42765a4759\n"},
        {"shuffle(array(1, 2, 3, 4, 5), 42)", "[5, 3, 2, 1, 4]\n"
                                              "[4, 2, 3, 1, 5]\n"
                                              "[3, 1, 4, 2, 5]\n"
                                              "[5, 4, 3, 2, 1]\n"},
        {"shuffle(array('a', 'b', 'c'), 0)", "[c, a, b]\n"
                                             "[c, a, b]\n"
                                             "[c, b, a]\n"
                                             "[a, c, b]\n"},
        {"shuffle(sequence(1, 20), 123456789)",
         "[3, 7, 19, 15, 11, 1, 16, 4, 10, 13, 5, 2, 9, 18, 8, 6, 14, 12, 17, 20]\n"
         "[18, 20, 7, 6, 3, 1, 4, 12, 8, 19, 15, 5, 2, 13, 14, 17, 9, 10, 16, 11]\n"
         "[13, 15, 4, 19, 8, 10, 16, 11, 3, 9, 7, 14, 20, 2, 1, 17, 18, 12, 5, 6]\n"
         "[5, 20, 9, 7, 11, 10, 1, 18, 12, 14, 17, 3, 19, 6, 4, 16, 2, 13, 15, 8]\n"},
        {"monotonically_increasing_id()", "0\n"
                                          "1\n"
                                          "2\n"
                                          "3\n"},
    };
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
        for (uint32_t batch_rows = 1; batch_rows <= 4; batch_rows *= 2) {
            assert_string_equal(values_of(&sql, known[i].text, 4, batch_rows), known[i].values);
        }
    }
    sql_fixture_done(&sql);
}

static void test_without_a_seed(void **state)
{
    static const char *const texts[] = {"rand()", "randn()", "uuid()", "shuffle(sequence(1, 30))",
                                        "shuffle(sequence(1, 30), NULL)"};
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        const char *once = values_of(&sql, texts[i], 4, 2);
        assert_string_not_equal(once, values_of(&sql, texts[i], 4, 2));
    }
    sql_fixture_done(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_a_seed),
        cmocka_unit_test(test_without_a_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
