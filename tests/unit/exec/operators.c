/* RANGE, LIMIT, EXPAND, UNION, INTERSECT ALL, EXCEPT ALL, GENERATE as parts of queries: batches
 * stay within their size, memory does not grow with rows that are dropped, nothing is read that is
 * not needed, what is spilled changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sql_fixture.h"

typedef struct Run {
    SqlFixture sql;
    QueryMemory memory;
    bool interrupted;
    size_t batch_rows_max;
    size_t batch_bytes_max; /* of one result's arena */
    uint64_t rows;
    int64_t sum; /* of the first column's values, modulo 2^64 */
} Run;

static void init(Run *run, size_t memory_bytes)
{
    *run = (Run){.memory = {.limit_bytes = memory_bytes}};
    sql_fixture_init(&run->sql, "UTC");
    run->sql.exec.memory = &run->memory;
    run->sql.exec.interrupted = &run->interrupted;
}

static void done(Run *run)
{
    assert_int_equal(run->memory.used_bytes, 0);
    sql_fixture_done(&run->sql);
}

static void look_at(Run *run, const Batch *batch, const Arena *arena)
{
    run->rows += batch->selected_count;
    run->batch_rows_max =
        batch->row_count > run->batch_rows_max ? batch->row_count : run->batch_rows_max;
    size_t bytes = arena_held_bytes(arena);
    run->batch_bytes_max = bytes > run->batch_bytes_max ? bytes : run->batch_bytes_max;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        if (vector_is_valid(batch->columns[0], row)) {
            run->sum =
                (int64_t)((uint64_t)run->sum + (uint64_t)vector_int_value(batch->columns[0], row));
        }
    }
}

/* Pulls all of the query, resetting the results' arena each time. */
static Error *pull_all(Run *run, const char *text)
{
    LogicalPlan *plan = NULL;
    AUTO(query) Query *query = NULL;
    AUTO(arena) Arena *arena = arena_new("results");
    TRY(sql_fixture_plan(&run->sql, text, &plan));
    TRY(query_open(plan, &run->sql.exec, &query));
    for (;;) {
        Batch *batch = NULL;
        arena_reset(arena);
        TRY(query_next(query, arena, NULL, &batch));
        if (batch == NULL) {
            return NULL;
        }
        look_at(run, batch, arena);
    }
}

static void check_sum(const char *text, uint64_t rows, int64_t sum)
{
    Run run;
    init(&run, SIZE_MAX);
    assert_null(pull_all(&run, text));
    assert_int_equal(run.rows, rows);
    assert_int_equal(run.sum, sum);
    assert_in_range(run.batch_rows_max, 0, BATCH_ROWS);
    done(&run);
}

static void check_error(const char *text, ErrorClass class)
{
    Run run;
    init(&run, SIZE_MAX);
    Error *error = pull_all(&run, text);
    assert_non_null(error);
    assert_int_equal(error_class(error), class);
    error_free(error);
    done(&run);
}

static void test_range(void **state)
{
    (void)state;
    check_sum("SELECT * FROM range(5000)", 5000, 12497500);
    check_sum("SELECT * FROM range(10, 0, -3)", 4, 22);
    check_sum("SELECT * FROM range(3, 3)", 0, 0);
    check_sum("SELECT * FROM range(9223372036854775800, 9223372036854775807, 3) LIMIT 1", 1,
              9223372036854775800);
    check_sum("SELECT * FROM range(-9223372036854775808, 9223372036854775807, "
              "9223372036854775807)",
              3, -3);
}

static void test_limit(void **state)
{
    (void)state;
    /* Would never end if it read on. */
    check_sum("SELECT * FROM range(9000000000000000000) LIMIT 3 OFFSET 4000", 3, 12003);
    check_sum("SELECT id FROM range(9000000000000000000) UNION ALL SELECT 1 LIMIT 2", 2, 1);
    check_sum("SELECT * FROM range(10) OFFSET 8", 2, 17);
    check_sum("SELECT * FROM range(10) LIMIT 0", 0, 0);
    check_sum("SELECT * FROM range(10) LIMIT 100 OFFSET 100", 0, 0);
}

/* So many of each run of equal values, across batches. */
static void test_limit_of_each(void **state)
{
    (void)state;
    check_sum("SELECT v FROM range(3) o, LATERAL (SELECT r.id AS v FROM range(6000) r WHERE r.id % "
              "3 = o.id ORDER BY r.id DESC LIMIT 2 OFFSET 1)",
              6, 5994 + 5991 + 5995 + 5992 + 5996 + 5993);
}

static void test_union(void **state)
{
    (void)state;
    check_sum("SELECT id FROM range(3000) UNION ALL SELECT id FROM range(10) UNION ALL SELECT 7",
              3011, 4498500 + 45 + 7);
    check_sum("SELECT id FROM range(0) UNION ALL SELECT id FROM range(0)", 0, 0);
}

static void test_expand(void **state)
{
    (void)state;
    check_sum("SELECT count(*) FROM range(5000) GROUP BY ROLLUP (id % 2, id % 3)", 9, 15000);
}

static void test_generate(void **state)
{
    (void)state;
    check_sum("SELECT explode(array_repeat(id, 3000)) FROM range(4)", 12000, 18000);
    check_sum("SELECT e FROM range(3000) LATERAL VIEW explode(array(id, 1)) v AS e", 6000,
              4498500 + 3000);
    check_sum("SELECT p FROM range(2) LATERAL VIEW OUTER posexplode(filter(array(1, 2), x -> id > "
              "0)) v AS p, e",
              3, 1);
    check_sum("SELECT stack(2147483647, id) FROM range(1) LIMIT 5000", 5000, 0);
}

/* INTERSECT ALL and EXCEPT ALL give the same within little memory as within much. */
static void test_set_all(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT id % 90000 AS k FROM range(300000) EXCEPT ALL SELECT id % 100000 FROM "
        "range(200000)",
        "SELECT id % 90000 AS k FROM range(300000) INTERSECT ALL SELECT id % 100000 FROM "
        "range(200000)",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(queries); i++) {
        Run large;
        Run small;
        init(&large, SIZE_MAX);
        init(&small, (size_t)32 * 1024);
        assert_null(pull_all(&large, queries[i]));
        assert_null(pull_all(&small, queries[i]));
        assert_int_equal(large.rows, i == 0 ? 120000 : 180000);
        assert_int_equal(large.rows, small.rows);
        assert_int_equal(large.sum, small.sum);
        done(&large);
        done(&small);
    }
}

static void test_dropped_rows_cost_no_memory(void **state)
{
    (void)state;
    Run run;
    init(&run, SIZE_MAX);
    assert_null(pull_all(&run, "SELECT id FROM range(2000000) WHERE id + 1 = 2000000"));
    assert_int_equal(run.rows, 1);
    assert_in_range(run.batch_bytes_max, 1, 1024 * 1024);
    done(&run);
}

/* A query ends at its first failing row, not after all of its input. */
static void test_fails_fast(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT sum(1 div (id - 5)) FROM range(9000000000000000000)",
        "SELECT id FROM range(9000000000000000000) WHERE 1 div (id - 5) > 1",
        "SELECT id FROM range(9000000000000000000) ORDER BY 1 div (id - 5)",
        "SELECT 1 div (id - 5) FROM range(9000000000000000000) EXCEPT ALL SELECT 1",
        "SELECT explode(array(1 div (id - 5))) FROM range(9000000000000000000)",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(queries); i++) {
        check_error(queries[i], ERROR_DIVIDE_BY_ZERO);
    }
}

static void test_interrupted(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT id FROM range(9000000000000000000) WHERE id < 0",
        "SELECT max(id) FROM range(9000000000000000000)",
        "SELECT count(*) FROM range(1000000000) a, range(1000000000) b",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(queries); i++) {
        Run run;
        init(&run, SIZE_MAX);
        run.interrupted = true;
        Error *error = pull_all(&run, queries[i]);
        assert_non_null(error);
        assert_int_equal(error_class(error), ERROR_INTERRUPTED);
        error_free(error);
        done(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_range),         cmocka_unit_test(test_limit),
        cmocka_unit_test(test_limit_of_each), cmocka_unit_test(test_union),
        cmocka_unit_test(test_expand),        cmocka_unit_test(test_generate),
        cmocka_unit_test(test_set_all),       cmocka_unit_test(test_dropped_rows_cost_no_memory),
        cmocka_unit_test(test_fails_fast),    cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
