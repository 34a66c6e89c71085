/* REPLACE USING by example: RU-1 … RU-7, RU-15, RU-16, the cases sequence.* and state-output.*, and
 * what is published for it. Expected tables are those of the requirements. */
#include "tests/unit/flow/fixture.h"

#include "processor/base/banned.h"

static const uint32_t FIRST[] = {0};
static const uint32_t FIRST_TWO[] = {0, 1};

static void open_events(FlowFixture *self)
{
    const Field fields[] = {{.name = STR("region_id"), .type = &type_int},
                            {.name = STR("device_type"), .type = &type_string},
                            {.name = STR("event_type"), .type = &type_string},
                            {.name = STR("seq"), .type = &type_int}};
    flow_fixture_open(self, fields, 4, FIRST, 1, 3);
}

static const char EVENTS_BEFORE[] = "1 Android conversion 1\n"
                                    "1 iOS click 1\n"
                                    "2 desktop click 1\n"
                                    "2 iOS click 1\n";
static const char EVENTS_AFTER[] = "1 Android conversion 2\n"
                                   "1 desktop click 2\n"
                                   "1 iOS click 2\n"
                                   "2 desktop click 1\n"
                                   "2 iOS click 1\n"
                                   "3 desktop click 2\n";

static void worked_example(void **unused)
{
    (void)unused;
    FlowFixture self;
    open_events(&self);
    AUTO_BUFFER Buffer text = {0};
    flow_fixture_apply(&self, "1 iOS click 1\n1 Android conversion 1\n2 iOS click 1\n"
                              "2 desktop click 1\n");
    flow_fixture_commit(&self);
    assert_string_equal(flow_fixture_table(&self, &text), EVENTS_BEFORE);
    assert_int_equal(self.upserts, 4);
    flow_fixture_apply(&self, "1 iOS click 2\n1 Android conversion 2\n1 desktop click 2\n"
                              "3 iOS click 1\n3 desktop click 2\n");
    flow_fixture_commit(&self);
    assert_string_equal(flow_fixture_table(&self, &text), EVENTS_AFTER);
    /* RU-2: (3, iOS, click, 1) was applied and replaced within the epoch: never published. */
    assert_int_equal(self.upserts, 4 + 4);
    assert_int_equal(self.tombstones, 0);
    assert_int_equal(flow_counters(self.flow)->applied, 9);
    assert_int_equal(flow_counters(self.flow)->late, 0);
    flow_fixture_close(&self);
}

/* S-RU-2: the same rows one at a time and backwards. */
static void worked_example_backwards(void **unused)
{
    (void)unused;
    static const char *const rows[] = {
        "3 desktop click 2\n",      "3 iOS click 1\n",          "1 desktop click 2\n",
        "1 Android conversion 2\n", "1 iOS click 2\n",          "2 desktop click 1\n",
        "2 iOS click 1\n",          "1 Android conversion 1\n", "1 iOS click 1\n"};
    FlowFixture self;
    open_events(&self);
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        flow_fixture_apply(&self, rows[i]);
        flow_fixture_commit(&self);
        (void)flow_fixture_table(&self, &text);
    }
    assert_string_equal(buffer_cstr(&text), EVENTS_AFTER);
    assert_int_equal(flow_counters(self.flow)->applied, 6);
    assert_int_equal(flow_counters(self.flow)->late, 3);
    flow_clear_counters(self.flow);
    assert_int_equal(flow_counters(self.flow)->late, 0);
    flow_fixture_close(&self);
}

/* k STRING, v STRING, seq of a type. */
static void open_sequence(FlowFixture *self, const Type *type)
{
    const Field fields[] = {{.name = STR("k"), .type = &type_string},
                            {.name = STR("v"), .type = &type_string},
                            {.name = STR("seq"), .type = type}};
    flow_fixture_open(self, fields, 3, FIRST, 1, 2);
}

typedef struct SequenceCase {
    const char *id;
    const Type *type;
    const char *epochs[5]; /* each one batch, committed */
    const char *table;
} SequenceCase;

static const SequenceCase SEQUENCE_CASES[] = {
    {"sequence.bigint-not-text", &type_bigint, {"a nine 9\na ten 10\na minus -3\n"}, "a ten 10\n"},
    {"sequence.bigint-not-text, in three",
     &type_bigint,
     {"a nine 9\n", "a ten 10\n", "a minus -3\n"},
     "a ten 10\n"},
    {"sequence.tie-appends, state-output.ties-have-own-output-keys",
     &type_bigint,
     {"a x 5\n", "a y 5\na y 5\n"},
     "a x 5\na y 5\na y 5\n"},
    {"sequence.late-lower-ignored",
     &type_bigint,
     {"a n1 3\na n2 3\n", "a old 2\nb b1 1\n"},
     "a n1 3\na n2 3\nb b1 1\n"},
    {"sequence.null-does-not-displace",
     &type_bigint,
     {"a x 4\n", "a nul NULL\na missing NULL\n"},
     "a x 4\n"},
    {"RU-16: NULLs are equal to each other and below the least BIGINT",
     &type_bigint,
     {"a p NULL\na q NULL\nb p NULL\n", "b least -9223372036854775808\n", "a r NULL\n"},
     "a p NULL\na q NULL\na r NULL\nb least -9223372036854775808\n"},
    {"sequence.timestamp-fraction-tie",
     &type_timestamp,
     {"a p 1704067200100000\na q 1704067200100000\nb r 1704067200100000\n"
      "b s 1704067200100001\n"},
     "a p 1704067200100000\na q 1704067200100000\nb s 1704067200100001\n"},
    {"timestamps before 1970 are below those after",
     &type_timestamp,
     {"a old -1\na new 0\n", "a older -62135596800000000\n"},
     "a new 0\n"},
    {"state-output.prefix-is-not-a-key",
     &type_bigint,
     {"k1 a 1\nk10 b 1\nk c 1\n", "k1 A 2\n"},
     "k c 1\nk1 A 2\nk10 b 1\n"},
    {"strings compare by bytes: Z < a < aa < b < ä",
     &type_string,
     {"a x a\n", "a y Z\n", "a z aa\n", "a w b\n", "a v ä\na u b\n"},
     "a v ä\n"},
    {"the empty string is above NULL", &type_string, {"a x NULL\n", "a y \n"}, "a y \n"},
    {"NaN equals NaN and is the largest; -0.0 equals 0.0",
     &type_double,
     {"a x inf\na y nan\nb p -0.0\nb q 0.0\n", "a z -nan\na w 1e308\nb r 0\nb s -1e-320\n"},
     "a y nan\na z -nan\nb p -0\nb q 0\nb r 0\n"},
    {"RU-15: NULL keys are one key",
     &type_int,
     {"NULL x 1\nb y 1\n", "NULL z 2\n"},
     "NULL z 2\nb y 1\n"},
    {"a replacement may grow the set again",
     &type_int,
     {"a p 1\na q 1\na r 1\n", "a s 2\n", "a t 2\na u 2\na v 2\n", "a w 2\n"},
     "a s 2\na t 2\na u 2\na v 2\na w 2\n"},
};

static void cases_of_sequences(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ARRAY_LENGTH(SEQUENCE_CASES); i++) {
        const SequenceCase *one = &SEQUENCE_CASES[i];
        for (int checkpoints = 0; checkpoints < 2; checkpoints++) {
            FlowFixture self;
            open_sequence(&self, one->type);
            AUTO_BUFFER Buffer text = {0};
            for (size_t e = 0; e < ARRAY_LENGTH(one->epochs) && one->epochs[e] != NULL; e++) {
                flow_fixture_apply(&self, one->epochs[e]);
                flow_fixture_commit(&self);
                if (checkpoints == 1) {
                    (void)flow_fixture_table(&self, &text);
                }
            }
            if (strcmp(flow_fixture_table(&self, &text), one->table) != 0) {
                print_error("%s\n", one->id);
            }
            assert_string_equal(buffer_cstr(&text), one->table);
            flow_fixture_close(&self);
        }
    }
}

static void rows_without_sequence_are_counted(void **unused)
{
    (void)unused;
    FlowFixture self;
    open_sequence(&self, &type_bigint);
    flow_fixture_apply(&self, "a x 4\n");
    flow_fixture_apply(&self, "a nul NULL\na missing NULL\nb first NULL\n");
    const FlowCounters *counters = flow_counters(self.flow);
    assert_int_equal(counters->null_sequences, 3);
    assert_int_equal(counters->late, 2);
    assert_int_equal(counters->applied, 2);
    flow_fixture_commit(&self);
    flow_fixture_close(&self);
}

/* S-RU-4: keys of two columns, NULL parts among them. */
static void composite_keys(void **unused)
{
    (void)unused;
    const Field fields[] = {{.name = STR("property_id"), .type = &type_int},
                            {.name = STR("booking_id"), .type = &type_int},
                            {.name = STR("status"), .type = &type_string},
                            {.name = STR("upd"), .type = &type_int}};
    FlowFixture self;
    flow_fixture_open(&self, fields, 4, FIRST_TWO, 2, 3);
    AUTO_BUFFER Buffer text = {0};
    flow_fixture_apply(&self, "10 1 new 1\n11 1 new 2\nNULL 1 lost 3\n10 1 paid 4\n");
    flow_fixture_commit(&self);
    assert_string_equal(flow_fixture_table(&self, &text),
                        "10 1 paid 4\n11 1 new 2\nNULL 1 lost 3\n");
    flow_fixture_apply(&self, "NULL 1 found 5\nNULL NULL odd 6\nNULL NULL odder 7\n");
    flow_fixture_commit(&self);
    assert_string_equal(flow_fixture_table(&self, &text),
                        "10 1 paid 4\n11 1 new 2\nNULL 1 found 5\nNULL NULL odder 7\n");
    flow_fixture_close(&self);
}

static void double_keys_are_equal_as_values(void **unused)
{
    (void)unused;
    const Field fields[] = {{.name = STR("k"), .type = &type_double},
                            {.name = STR("v"), .type = &type_string},
                            {.name = STR("seq"), .type = &type_int}};
    FlowFixture self;
    flow_fixture_open(&self, fields, 3, FIRST, 1, 2);
    AUTO_BUFFER Buffer text = {0};
    flow_fixture_apply(&self, "nan a 1\n-0.0 b 1\n0.5 c 1\nNULL d 1\n");
    flow_fixture_commit(&self);
    flow_fixture_apply(&self, "-nan A 2\n0.0 B 2\n-0.5 C 2\nNULL D 2\n");
    flow_fixture_commit(&self);
    assert_string_equal(flow_fixture_table(&self, &text),
                        "-0.5 C 2\n-nan A 2\n0 B 2\n0.5 c 1\nNULL D 2\n");
    flow_fixture_close(&self);
}

/* Rows of an aborted epoch never were. */
static void an_aborted_epoch_leaves_nothing(void **unused)
{
    (void)unused;
    FlowFixture self;
    open_sequence(&self, &type_int);
    AUTO_BUFFER Buffer text = {0};
    flow_fixture_apply(&self, "a x 1\n");
    flow_fixture_commit(&self);
    flow_fixture_apply(&self, "a y 9\nb z 9\n");
    overlay_abort(self.overlay);
    flow_fixture_apply(&self, "a w 1\nb v 3\n");
    flow_fixture_commit(&self);
    assert_string_equal(flow_fixture_table(&self, &text), "a w 1\na x 1\nb v 3\n");
    flow_fixture_close(&self);
}

/* Nothing changed: nothing is published. */
static void late_rows_publish_nothing(void **unused)
{
    (void)unused;
    FlowFixture self;
    open_sequence(&self, &type_int);
    flow_fixture_apply(&self, "a x 5\n");
    flow_fixture_commit(&self);
    flow_fixture_apply(&self, "");
    flow_fixture_apply(&self, "a y 4\na z NULL\n");
    assert_int_equal(overlay_epoch_rows(self.overlay), 0);
    TableDelta delta = flow_fixture_delta(&self);
    DeltaRow row;
    assert_false(table_delta_next(&delta, &row));
    flow_fixture_commit(&self);
    assert_int_equal(self.upserts, 1);
    assert_int_equal(self.tombstones, 0);
    flow_fixture_close(&self);
}

/* A replacement takes the ordinals from 0 on and tombstones the rest (DESIGN section 5). */
static void deltas_of_a_replacement(void **unused)
{
    (void)unused;
    FlowFixture self;
    open_sequence(&self, &type_int);
    flow_fixture_apply(&self, "a p 1\na q 1\na r 1\na s 1\n");
    flow_fixture_commit(&self);
    flow_fixture_apply(&self, "a t 2\na u 2\n");
    TableDelta delta = flow_fixture_delta(&self);
    DeltaRow row;
    const bool upserts[] = {true, true, false, false};
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(table_delta_next(&delta, &row));
        assert_int_equal(row.ordinal, i);
        assert_int_equal(row.row.data != NULL, upserts[i]);
    }
    assert_false(table_delta_next(&delta, &row));
    assert_false(table_delta_next(&delta, &row));
    flow_fixture_commit(&self);
    flow_fixture_close(&self);
}

/* A set of 100,000 rows: one more is one record; a replacement tombstones what it does not use. */
static void a_large_row_set(void **unused)
{
    (void)unused;
    enum { ROWS = 100000, EPOCH = 10000 };
    FlowFixture self;
    open_sequence(&self, &type_int);
    AUTO_BUFFER Buffer lines = {0};
    for (uint32_t i = 0; i < ROWS; i++) {
        buffer_printf(&lines, "big row%u 1\n", i);
        if ((i + 1) % 1000 == 0) {
            flow_fixture_apply(&self, buffer_cstr(&lines));
            buffer_clear(&lines);
        }
        if ((i + 1) % EPOCH == 0) {
            assert_int_equal(overlay_epoch_rows(self.overlay), EPOCH);
            flow_fixture_commit(&self);
            ok(overlay_checkpoint(self.overlay, 1));
        }
    }
    assert_int_equal(self.upserts, ROWS);
    assert_int_equal(self.tombstones, 0);
    flow_fixture_apply(&self, "big last 1\n");
    TableDelta delta = flow_fixture_delta(&self);
    DeltaRow row;
    assert_true(table_delta_next(&delta, &row));
    assert_int_equal(row.ordinal, ROWS);
    assert_false(table_delta_next(&delta, &row));
    flow_fixture_commit(&self);
    flow_fixture_apply(&self, "big new 2\nbig newer 2\n");
    flow_fixture_commit(&self);
    assert_int_equal(self.upserts, ROWS + 3);
    assert_int_equal(self.tombstones, ROWS - 1);
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(flow_fixture_table(&self, &text), "big new 2\nbig newer 2\n");
    flow_fixture_close(&self);
}

static void other_kinds_are_not_yet(void **unused)
{
    (void)unused;
    BoundFlow bound = {.kind = FLOW_REPLACE_WHERE, .place = {7, 3, 1}};
    FlowOptions options = {.bound = &bound};
    Flow *flow = NULL;
    Error *error = flow_open(&options, &flow);
    assert_non_null(error);
    assert_int_equal(error_place(error).line, 7);
    fails(error, ERROR_NOT_YET, "REPLACE WHERE");
    flow_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(worked_example_backwards),
        cmocka_unit_test(cases_of_sequences),
        cmocka_unit_test(rows_without_sequence_are_counted),
        cmocka_unit_test(composite_keys),
        cmocka_unit_test(double_keys_are_equal_as_values),
        cmocka_unit_test(an_aborted_epoch_leaves_nothing),
        cmocka_unit_test(late_rows_publish_nothing),
        cmocka_unit_test(deltas_of_a_replacement),
        cmocka_unit_test(a_large_row_set),
        cmocka_unit_test(other_kinds_are_not_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
