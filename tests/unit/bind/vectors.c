/* The catalogue's vectors through the binder. What the issue promises must have its verdict; every
 * other vector has it or is NOT_YET: never accepted when it is to be refused, never refused for
 * another reason. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/bind_fixture.h"
#include "tests/support/vectors.h"

typedef struct Counts {
    size_t right;
    size_t not_yet;
    size_t wrong;
} Counts;

static RelationKind relation_kind(Str kind)
{
    if (str_equal(kind, STR("table"))) {
        return RELATION_TABLE;
    }
    return str_equal(kind, STR("target")) ? RELATION_TARGET : RELATION_STREAM;
}

static void add_relations(BindFixture *fixture, const VectorSet *set)
{
    for (size_t i = 0; i < set->relation_count; i++) {
        const VectorRelation *relation = &set->relations[i];
        AUTO_BUFFER Buffer columns = {0};
        if (str_equal(relation->kind, STR("function"))) {
            continue;
        }
        for (size_t k = 0; k < relation->column_count; k++) {
            buffer_printf(&columns, "%s%.*s %.*s", k == 0 ? "" : ", ",
                          STR_ARG(relation->columns[k].name), STR_ARG(relation->columns[k].type));
        }
        bind_fixture_add(fixture, relation_kind(relation->kind),
                         arena_copy_cstr(fixture->arena, relation->name), buffer_cstr(&columns));
    }
}

/* ST-R40, ST-A39: u1 … u11 are copies of tickets. */
static void add_copies_of_tickets(BindFixture *fixture)
{
    Str name = STR("tickets");
    const Relation *tickets = catalog_find(fixture->context.catalog, &name, 1);
    for (int i = 1; i <= 11; i++) {
        Relation copy = *tickets;
        copy.name = str_from(arena_printf(fixture->arena, "u%d", i));
        assert_null(catalog_add(fixture->context.catalog, &copy));
    }
}

/* "tickets_now: REPLACE USING (ticket_id) SEQUENCE BY ver" */
static void add_existing_flow(BindFixture *fixture, const TestVector *vector)
{
    const VectorSetting *setting = vector_setting(vector, "existing_flow");
    if (setting == NULL) {
        return;
    }
    assert_true(
        str_equal(setting->value, STR("tickets_now: REPLACE USING (ticket_id) SEQUENCE BY ver")));
    static const Str keys[] = {{"ticket_id", 9}};
    Str name = STR("tickets_now");
    Relation relation = *catalog_find(fixture->context.catalog, &name, 1);
    relation.keys = keys;
    relation.key_count = 1;
    relation.sequence = STR("ver");
    catalog_put(fixture->context.catalog, &name, 1, &relation);
}

static void bind_vector(BindFixture *fixture, const VectorSet *set, const TestVector *vector)
{
    bind_fixture_init(fixture);
    add_relations(fixture, set);
    add_copies_of_tickets(fixture);
    add_existing_flow(fixture, vector);
    fixture->context.pipeline = !str_equal(vector->context, STR("standalone"));
    bind_fixture_program(fixture, arena_copy_cstr(fixture->arena, vector->text));
}

/* What the binder must say: rejections of the run stage are accepted here. */
static const char *expected_verdict(BindFixture *fixture, const TestVector *vector)
{
    bool rejects = !vector->accept && vector->stage != VECTOR_STAGE_RUN;
    return rejects ? arena_copy_cstr(fixture->arena, vector->error) : "accept";
}

static bool check_vector(const VectorSet *set, const TestVector *vector, bool must, Counts *counts)
{
    BindFixture fixture;
    bind_vector(&fixture, set, vector);
    const char *expected = expected_verdict(&fixture, vector);
    const char *verdict = bind_fixture_verdict(&fixture);
    bool right = str_equal(str_from(expected), str_from(verdict));
    bool not_yet = str_equal(str_from(verdict), STR("NOT_YET"));
    counts->right += right;
    counts->not_yet += !right && not_yet;
    counts->wrong += !right && !not_yet;
    bool ok = right || (not_yet && !must);
    if (!ok) {
        AUTO_BUFFER Buffer text = {0};
        if (fixture.diagnostics.count > 0) {
            error_format(fixture.diagnostics.errors[0], &text);
        }
        print_error("%.*s: expected %s, got %s\n  %.*s\n%s", STR_ARG(vector->id), expected, verdict,
                    STR_ARG(vector->text), buffer_cstr(&text));
    }
    bind_fixture_done(&fixture);
    return ok;
}

static void read_vectors(Arena *arena, VectorSet *set)
{
    Error *error = vectors_read(VECTORS_FOLDER, arena, set);
    assert_null(error);
}

static bool in_file(const TestVector *vector, const char *file)
{
    return str_equal(vector->file, str_from(file)) && vector->kind == VECTOR_SQL &&
           !vector->parse_only;
}

/* Issue 3: the vectors that must have their verdict. */
static void test_promised(void **state)
{
    (void)state;
    static const char *const promised[] = {
        "RU-A01", "RU-A02", "RU-A03", "RU-A04", "RU-A05", "RU-A06", "RU-R01", "RU-R02",
        "RU-R03", "RU-R04", "RU-R05", "RU-R06", "RU-R07", "RU-R08", "RU-R09", "RU-R10",
        "RU-R11", "RU-R12", "RU-R28", "RU-R29", "RU-R30", "RU-R31", "RU-R32", "RU-R33",
        "RU-R36", "RU-R37", "RU-R38", "RU-R39", "RU-A20", "RU-A21", "RU-A22",
    };
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    Counts counts = {0};
    read_vectors(arena, &set);
    bool ok = true;
    for (size_t i = 0; i < ARRAY_LENGTH(promised); i++) {
        const TestVector *vector = vectors_find(&set, promised[i]);
        assert_non_null(vector);
        ok = check_vector(&set, vector, true, &counts) && ok;
    }
    assert_true(ok);
    assert_int_equal(counts.right, ARRAY_LENGTH(promised));
}

/* The rules about streaming queries answer before NOT_YET. */
static void test_streaming_rules(void **state)
{
    (void)state;
    static const char *const ids[] = {"RU-R13", "RU-R14", "RU-R15", "RU-R16", "RU-R17",
                                      "RU-R18", "RU-R19", "RU-R20", "RU-R21", "RU-R22",
                                      "RU-R23", "RU-R24", "RU-R25", "RU-R26", "RU-R27",
                                      "RU-R34", "RU-R35", "RU-R40", "RU-R41", "RU-R42"};
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    Counts counts = {0};
    read_vectors(arena, &set);
    bool ok = true;
    for (size_t i = 0; i < ARRAY_LENGTH(ids); i++) {
        const TestVector *vector = vectors_find(&set, ids[i]);
        assert_non_null(vector);
        ok = check_vector(&set, vector, true, &counts) && ok;
    }
    assert_true(ok);
}

/* Every statement vector has its verdict or is NOT_YET. */
static void test_never_wrong(void **state)
{
    (void)state;
    static const char *const files[] = {"01_create_streaming_table", "02_replace_using",
                                        "03_replace_where", "04_auto_cdc"};
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    read_vectors(arena, &set);
    bool ok = true;
    for (size_t f = 0; f < ARRAY_LENGTH(files); f++) {
        Counts counts = {0};
        for (size_t i = 0; i < set.count; i++) {
            if (in_file(&set.items[i], files[f])) {
                ok = check_vector(&set, &set.items[i], false, &counts) && ok;
            }
        }
        print_message("%-28s %3zu as stated, %3zu not yet, %zu wrong\n", files[f], counts.right,
                      counts.not_yet, counts.wrong);
        assert_true(counts.right > 0);
    }
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promised),
        cmocka_unit_test(test_streaming_rules),
        cmocka_unit_test(test_never_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
