/* Properties of AGGREGATE: the same groups for every order of the rows (what depends on the order
 * aside), every size of the batches, and with memory for next to nothing, where rows spill. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "processor/exec/spill.h"
#include "tests/support/sql_fixture.h"
#include "tests/unit/data/random_values.h"

static const char columns[] = "g INT, h STRING, i INT, l BIGINT, e DECIMAL(12,3), s STRING, b "
                              "BOOLEAN, d DOUBLE, a ARRAY<INT>";
enum { COLUMN_COUNT = 9 };

/* Rows of a table in some order, handed out in batches of `size`. */
typedef struct Slices {
    BatchSource source;
    const Batch *table;
    const uint32_t *order;
    uint32_t size;
    uint32_t next;
} Slices;

static Error *next_slice(BatchSource *source, Arena *arena, Batch **ret_batch)
{
    Slices *slices = (Slices *)source;
    uint32_t left = slices->table->row_count - slices->next;
    uint32_t count = left < slices->size ? left : slices->size;
    *ret_batch = NULL;
    if (count == 0) {
        return NULL;
    }
    Vector **vectors = arena_new_array(arena, Vector *, COLUMN_COUNT);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        Vector *rows =
            vector_gather(arena, slices->table->columns[i], slices->order + slices->next, count);
        vectors[i] = rows;
    }
    slices->next += count;
    *ret_batch = batch_from_columns(arena, slices->table->schema, vectors, count);
    return NULL;
}

static void close_slices(BatchSource *source)
{
    free(source);
}

static Batch *random_table(SqlFixture *sql, Random *random, uint32_t rows, uint32_t groups)
{
    const Schema *schema = sql_fixture_schema(sql, columns);
    Batch *table = batch_new(sql->arena, schema, rows);
    for (uint32_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            Vector *column = table->columns[i];
            if (i == 0 && random_below(random, 20) > 0) {
                vector_append_int(column, sql->arena, random_below(random, groups));
            } else if (i == 7 && random_below(random, 3) > 0) {
                vector_append_double(column, sql->arena, random_below(random, 2) == 0 ? -0.0 : 0.0);
            } else if (i == 3 || i == 2) {
                vector_append_int(column, sql->arena, (int)random_below(random, 2000) - 1000);
            } else if (column->type->kind == TYPE_STRING && random_below(random, 8) > 0) {
                /* no zero bytes: results are compared as C texts */
                static const char letters[] = "abcabdabcabcabcabcabcdef";
                vector_append_str(column, sql->arena,
                                  (Str){letters + random_below(random, 4),
                                        random_below(random, sizeof letters - 4)});
            } else if (column->type->kind == TYPE_STRING) {
                vector_append_null(column, sql->arena);
            } else {
                random_append(random, sql->arena, column);
            }
        }
    }
    table->row_count = rows;
    table->selected_count = rows;
    return table;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in order: groups come in any. */
static const char *sorted_lines(SqlFixture *sql, char *text)
{
    static char *lines[20000];
    size_t count = 0;
    for (char *line = strtok_r(text, "\n", &text); line != NULL;
         line = strtok_r(NULL, "\n", &text)) {
        lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, by_text);
    AUTO_BUFFER Buffer out = {0};
    for (size_t i = 0; i < count; i++) {
        buffer_append_cstr(&out, lines[i]);
        buffer_append_byte(&out, '\n');
    }
    return arena_copy_cstr(sql->arena, buffer_str(&out));
}

typedef struct Way {
    const uint32_t *order;
    uint32_t batch_rows;
    size_t memory; /* 0: no bound */
} Way;

static const char *run(SqlFixture *sql, const char *text, const Batch *table, Way way)
{
    QueryMemory memory = {.limit_bytes = way.memory};
    ExecContext context = sql->exec;
    context.memory = way.memory == 0 ? NULL : &memory;
    LogicalPlan *plan = NULL;
    AUTO(query) Query *query = NULL;
    AUTO_BUFFER Buffer out = {0};
    Error *error = sql_fixture_plan(sql, text, &plan);
    if (error == NULL) {
        error = query_open(plan, &context, &query);
    }
    if (error == NULL) {
        Slices *slices = calloc(1, sizeof *slices);
        *slices = (Slices){{next_slice, -1, close_slices}, table, way.order, way.batch_rows, 0};
        query_set_source(query, 0, &slices->source);
    }
    Arena *arena = arena_new("results");
    for (Batch *batch = NULL; error == NULL;) {
        arena_reset(arena); /* who looks at an older batch fails here */
        error = query_next(query, arena, NULL, &batch);
        if (error != NULL || batch == NULL) {
            break;
        }
        assert_true(batch->selected_count <= BATCH_ROWS);
        buffer_append_cstr(&out, sql_fixture_rows(sql, batch));
    }
    if (error != NULL) {
        error_format_line(error, &out);
        error_free(error);
    }
    arena_free(arena);
    query_close(query);
    query = NULL;
    assert_int_equal(memory.used_bytes, 0);
    (void)buffer_cstr(&out);
    char *copy = arena_alloc_bytes(sql->arena, out.size + 1);
    memcpy(copy, out.data, out.size + 1);
    return sorted_lines(sql, copy);
}

static uint32_t *shuffled(SqlFixture *sql, Random *random, uint32_t count)
{
    uint32_t *order = arena_new_array(sql->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = random_below(random, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    return order;
}

/* SELECT all columns, so that the scan reads them all and the source fits. */
#define FROM                                                                                       \
    " FROM t WHERE coalesce(h, s, CAST(d AS STRING), '') IS NOT NULL AND (size(a) > -9) IS NOT "   \
    "NULL "

static const char *const any_order[] = {
    "SELECT g, count(*), count(i), sum(i), sum(l), sum(e), avg(i), avg(e), min(s), max(s), min(a), "
    "max(e), bool_and(b), bool_or(b), bit_xor(i), count_if(b), median(i), mode(l), min(d + 0.0D), "
    "count(h)" FROM "GROUP BY g",
    "SELECT h, b, d, count(*), sum(DISTINCT i), count(DISTINCT e), count(DISTINCT s, b), "
    "sum(l) FILTER (WHERE b), count(DISTINCT i) FILTER (WHERE i > 0), min(g), max(a)" FROM
    "GROUP BY h, b, d",
    "SELECT a, count(*), count(DISTINCT h), max(s), max(g), max(i), max(l), max(e), max(b), "
    "count(d)" FROM "GROUP BY a",
    "SELECT count(*), sum(i), count(DISTINCT i), count(DISTINCT s), sum(DISTINCT e), max(h), "
    "approx_count_distinct(l), count(g), count(b), count(d), count(a)" FROM,
    "SELECT l, e, count(*), sum(i), max(g), max(h), max(s), max(b), min(d + 0.0D), max(a)" FROM
    "GROUP BY l, e",
    "SELECT g, h, i, l, e, s, b, d, a" FROM "GROUP BY ALL",
};

static const char *const in_order[] = {
    "SELECT g, first(i), last(s), first(e) IGNORE NULLS, last(a) IGNORE NULLS, collect_list(i), "
    "listagg(h, ','), max_by(s, i), sum(d), stddev(i), collect_list(l), count(b)" FROM "GROUP BY g",
    "SELECT collect_list(i), last(s), sum(d), first(h), skewness(l), count(g), count(e), count(b), "
    "count(a)" FROM,
};

static void check(SqlFixture *sql, Random *random, const char *query, const Batch *table,
                  bool depends_on_order)
{
    static const uint32_t sizes[] = {2048, 7, 1};
    static const size_t limits[] = {0, 1, 64 * 1024};
    const uint32_t *order = shuffled(sql, random, table->row_count);
    const char *expected = run(sql, query, table, (Way){order, 2048, 0});
    assert_null(strstr(expected, "SQLSTATE"));
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        for (size_t k = 0; k < ARRAY_LENGTH(limits); k++) {
            const uint32_t *own =
                depends_on_order ? order : shuffled(sql, random, table->row_count);
            assert_string_equal(run(sql, query, table, (Way){own, sizes[i], limits[k]}), expected);
        }
    }
}

static void check_table(uint64_t seed, uint32_t rows, uint32_t groups)
{
    SqlFixture sql;
    Random random = {seed};
    sql_fixture_init(&sql, "UTC");
    sql_fixture_relation(&sql, RELATION_INLINE, "t", columns);
    const Batch *table = random_table(&sql, &random, rows, groups);
    for (size_t i = 0; i < ARRAY_LENGTH(any_order); i++) {
        check(&sql, &random, any_order[i], table, false);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(in_order); i++) {
        check(&sql, &random, in_order[i], table, true);
    }
    sql_fixture_done(&sql);
}

static void test_few_groups(void **state)
{
    (void)state;
    check_table(0x9E3779B97F4A7C15, 900, 5);
}

static void test_many_groups(void **state)
{
    (void)state;
    check_table(0xD1B54A32D192ED03, 1500, 700);
}

static void test_no_rows(void **state)
{
    (void)state;
    check_table(1, 0, 1);
}

/* More groups than a batch, and files that are split more than once. */
static void test_large(void **state)
{
    (void)state;
    SqlFixture sql;
    Random random = {0xA0761D6478BD642F};
    sql_fixture_init(&sql, "UTC");
    sql_fixture_relation(&sql, RELATION_INLINE, "t", columns);
    const Batch *table = random_table(&sql, &random, 15000, 9000);
    const uint32_t *order = shuffled(&sql, &random, table->row_count);
    static const char query[] =
        "SELECT g, count(*), sum(i), count(DISTINCT l), collect_list(i), max(h), max(s), max(e), "
        "max(b), min(d + 0.0D), max(a)" FROM "GROUP BY g";
    const char *expected = run(&sql, query, table, (Way){order, 2048, 0});
    assert_string_equal(run(&sql, query, table, (Way){order, 2048, 1}), expected);
    assert_string_equal(run(&sql, query, table, (Way){order, 100, 1}), expected);
    sql_fixture_done(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_groups),
        cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
