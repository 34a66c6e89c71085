/* The catalogue's vectors judged by parser and binder: all of them, in the context they name or in
 * both. A vector is right when it is accepted or refused at the stated stage with the stated kind;
 * NOT_YET counts as accepted, apart, since the binder says it only of what has no mistake. The
 * table of all verdicts is printed; the last line sums up. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/vector_fixture.h"

typedef struct Clause {
    Str message; /* of NOT_YET, quoted names replaced */
    size_t count;
} Clause;

typedef struct Counts {
    size_t vectors;
    size_t stated;
    size_t not_yet;
    size_t wrong;
    Clause clauses[100];
    size_t clause_count;
} Counts;

static bool is_judged(const TestVector *vector)
{
    return vector->kind == VECTOR_SQL || vector->kind == VECTOR_EXPR;
}

static void count_clause(Counts *counts, Arena *arena, Str message)
{
    for (size_t i = 0; i < counts->clause_count; i++) {
        if (str_equal(counts->clauses[i].message, message)) {
            counts->clauses[i].count++;
            return;
        }
    }
    if (counts->clause_count < ARRAY_LENGTH(counts->clauses)) {
        counts->clauses[counts->clause_count++] = (Clause){arena_copy_str(arena, message), 1};
    }
}

/* Is the place of the error inside the text, or just behind it? */
static bool has_place(const TestVector *vector, const Error *error)
{
    SourcePlace place = error_place(error);
    Str rest = vector->text;
    Str line = STR_NULL;
    for (int i = 0; i < place.line && rest.data != NULL; i++) {
        line = str_cut(&rest, '\n');
    }
    return place.line > 0 && line.data != NULL && place.column > 0 &&
           (size_t)place.column <= line.size + 1;
}

static bool is_right(const TestVector *vector, const VectorVerdict *verdict, const char *expected)
{
    bool as_stated = str_equal(str_from(verdict->kind), str_from(expected));
    bool in_stage =
        vector->accept || vector->stage == VECTOR_STAGE_RUN || vector->stage == verdict->stage;
    bool placed = verdict->error == NULL || has_place(vector, verdict->error);
    return as_stated && in_stage && placed;
}

static bool is_not_yet(const VectorVerdict *verdict, const char *expected)
{
    return str_equal(str_from(expected), STR("accept")) &&
           str_equal(str_from(verdict->kind), STR("NOT_YET"));
}

static void print_verdict(const TestVector *vector, bool pipeline, const char *expected,
                          const VectorVerdict *verdict, const char *mark)
{
    AUTO_BUFFER Buffer text = {0};
    if (verdict->error != NULL) {
        error_format_line(verdict->error, &text);
    }
    const char *hint = verdict->error == NULL ? NULL : error_hint(verdict->error);
    print_message("%-7.*s %-10s %-32s %-7s %-32s %-5s %s%s%s\n", STR_ARG(vector->id),
                  pipeline ? "pipeline" : "standalone", expected, vector_stage_name(verdict->stage),
                  verdict->kind, mark, buffer_cstr(&text),
                  hint == NULL ? "" : " hint: ", hint == NULL ? "" : hint);
}

static bool judge(const VectorSet *set, const TestVector *vector, bool pipeline, Arena *arena,
                  Counts *counts)
{
    BindFixture fixture;
    bind_fixture_init(&fixture);
    VectorVerdict verdict = vector_judge(&fixture, set, vector, pipeline);
    const char *expected = vector_expected(vector, fixture.arena);
    bool right = is_right(vector, &verdict, expected);
    bool not_yet = !right && is_not_yet(&verdict, expected);
    counts->stated += right;
    counts->not_yet += not_yet;
    counts->wrong += !right && !not_yet;
    if (not_yet) {
        count_clause(counts, arena, str_from(error_message(verdict.error)));
    }
    print_verdict(vector, pipeline, expected, &verdict, right ? "" : not_yet ? "later" : "WRONG");
    bind_fixture_done(&fixture);
    return right || not_yet;
}

static bool judge_in_contexts(const VectorSet *set, const TestVector *vector, Arena *arena,
                              Counts *counts)
{
    bool ok = true;
    counts->vectors++;
    if (!str_equal(vector->context, STR("standalone"))) {
        ok = judge(set, vector, true, arena, counts) && ok;
    }
    if (!str_equal(vector->context, STR("pipeline"))) {
        ok = judge(set, vector, false, arena, counts) && ok;
    }
    return ok;
}

/* Vectors of stage `run` are accepted here; what sees them fail. */
static const struct {
    const char *id;
    const char *seen_by;
} failing_on_data[] = {
    {"SQ-R17", "tests/sql/errors/vectors_that_fail_on_data.test"},
    {"SQ-R18", "tests/sql/errors/vectors_that_fail_on_data.test"},
    {"SQ-R69", "tests/sql/errors/vectors_that_fail_on_data.test"},
    {"RU-R39", "tests/vectors/20_scenarios.yaml: S-RU-7"},
    {"ST-R52", "tests/pipeline/not_null.yaml: of REPLACE USING, append flows are not built"},
    {"ST-R60", "nothing: append flows are not built"},
    {"ST-R63", "nothing: read_files is not built"},
    {"DM-R05", "nothing: INSERT is not built"},
};

static const char *seen_by(const TestVector *vector)
{
    for (size_t i = 0; i < ARRAY_LENGTH(failing_on_data); i++) {
        if (str_equal(vector->id, str_from(failing_on_data[i].id))) {
            return failing_on_data[i].seen_by;
        }
    }
    return NULL;
}

static void test_run_stage(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    assert_null(vectors_read(VECTORS_FOLDER, arena, &set));
    size_t count = 0;
    for (size_t i = 0; i < set.count; i++) {
        const TestVector *vector = &set.items[i];
        if (is_judged(vector) && vector->stage == VECTOR_STAGE_RUN) {
            assert_non_null(seen_by(vector));
            print_message("%-7.*s fails on data, seen by %s\n", STR_ARG(vector->id),
                          seen_by(vector));
            count++;
        }
    }
    assert_int_equal(count, ARRAY_LENGTH(failing_on_data));
}

static void test_all(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    Counts counts = {0};
    assert_null(vectors_read(VECTORS_FOLDER, arena, &set));
    bool ok = true;
    for (size_t i = 0; i < set.count; i++) {
        if (is_judged(&set.items[i])) {
            ok = judge_in_contexts(&set, &set.items[i], arena, &counts) && ok;
        }
    }
    for (size_t i = 0; i < counts.clause_count; i++) {
        print_message("%4zu later: %.*s\n", counts.clauses[i].count,
                      STR_ARG(counts.clauses[i].message));
    }
    print_message("%zu vectors: %zu verdicts as stated, %zu right and not built yet, %zu wrong\n",
                  counts.vectors, counts.stated, counts.not_yet, counts.wrong);
    assert_true(counts.vectors > 420);
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_stage),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
