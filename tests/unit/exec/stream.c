/* Operators of streaming queries over tables made by hand: what they give batch after batch, what
 * they know again after a commit and a restart, and that an abort leaves nothing behind. */
#include "tests/unit/state/fixture.h"

#include "processor/exec/stream_calendar.h"
#include "tests/support/sql_fixture.h"

enum { STATES_MAX = 8, SOURCES = 2, PARTITIONS = 3, ROWS_MAX = 8 };

typedef struct Rig {
    SqlFixture sql;
    char *folder;
    State *state;
    LogicalPlan *plan;
    Overlay *overlays[STATES_MAX];
    OperatorState states[STATES_MAX];
    StreamInput inputs[SOURCES];
    bool empty[PARTITIONS];
    int64_t watermarks[STATES_MAX];
    StreamContext stream;
    Query *query;
    Arena *results;
    Buffer rows; /* of the last push */
    size_t failed;
    int64_t end;
} Rig;

static uint32_t name_key(void *context, Str key, Buffer *out)
{
    (void)context;
    buffer_append_str(out, key);
    return 0;
}

static void open_query(Rig *rig)
{
    query_close(rig->query);
    rig->query = NULL;
    for (size_t i = 0; i < STATES_MAX; i++) {
        rig->watermarks[i] = INT64_MIN;
    }
    rig->stream = (StreamContext){
        .states = rig->states, .inputs = rig->inputs, .watermarks = rig->watermarks};
    rig->sql.exec.stream = &rig->stream;
    ok(query_open(rig->plan, &rig->sql.exec, &rig->query));
}

/* Relations: a (id INT, ts TIMESTAMP, ver INT), b (id INT, ts TIMESTAMP, n INT). */
static void rig_open(Rig *rig, const char *text)
{
    *rig = (Rig){.folder = new_folder(), .results = arena_new("results")};
    rig->state = open_state(rig->folder);
    sql_fixture_init(&rig->sql, "UTC");
    sql_fixture_relation(&rig->sql, RELATION_STREAM, "a", "id INT, ts TIMESTAMP, ver INT");
    sql_fixture_relation(&rig->sql, RELATION_STREAM, "b", "id INT, ts TIMESTAMP, n INT");
    ok(sql_fixture_plan_flow(&rig->sql, text, &rig->plan));
    assert_in_range(rig->plan->state_count, 1, STATES_MAX);
    assert_in_range(rig->plan->source_count, 1, SOURCES);
    for (size_t i = 0; i < rig->plan->state_count; i++) {
        const StateSpec *spec = &rig->plan->states[i];
        const char *name = arena_copy_cstr(rig->sql.arena, spec->name);
        OverlayOptions options = {.name_key = name_key};
        SchemaHistory *history = schema_history_new(rig->sql.arena);
        (void)schema_history_add(history, spec->schema);
        rig->overlays[i] = overlay_new(open_table(rig->state, name, 1), &options);
        rig->states[i] = (OperatorState){spec, history, rig->overlays[i]};
    }
    for (size_t i = 0; i < SOURCES; i++) {
        rig->inputs[i] = (StreamInput){.partition_count = PARTITIONS, .empty = rig->empty};
    }
    rig->empty[1] = true;
    rig->empty[2] = true;
    open_query(rig);
}

static void rig_close(Rig *rig)
{
    query_close(rig->query);
    for (size_t i = 0; i < rig->plan->state_count; i++) {
        overlay_free(rig->overlays[i]);
    }
    state_close(rig->state);
    buffer_done(&rig->rows);
    arena_free(rig->results);
    sql_fixture_done(&rig->sql);
    remove_folder(rig->folder);
}

static void commit(Rig *rig)
{
    rig->end++;
    for (size_t i = 0; i < rig->plan->state_count; i++) {
        (void)overlay_close_epoch(rig->overlays[i]);
        overlay_commit(rig->overlays[i], &rig->end);
        ok(overlay_checkpoint(rig->overlays[i], 0));
    }
}

/* What a crash after the last commit leaves. */
static void abort_epoch(Rig *rig)
{
    for (size_t i = 0; i < rig->plan->state_count; i++) {
        overlay_abort(rig->overlays[i]);
    }
    open_query(rig);
}

static void pull(Rig *rig)
{
    RowErrors errors = {0};
    for (;;) {
        Batch *batch = NULL;
        ok(query_next(rig->query, rig->results, &errors, &batch));
        if (batch == NULL) {
            break;
        }
        buffer_append_cstr(&rig->rows, sql_fixture_rows(&rig->sql, batch));
    }
    rig->failed = errors.count;
    row_errors_done(&errors);
    arena_reset(rig->results);
}

/* Rows of the columns that the scan reads, as texts, of one partition; what comes out. */
static const char *push(Rig *rig, size_t source, int32_t partition, uint32_t count,
                        const char *const *texts)
{
    int32_t partitions[ROWS_MAX];
    assert_in_range(count, 1, ROWS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        partitions[i] = partition;
    }
    rig->empty[partition] = false;
    rig->inputs[source].partitions = partitions;
    buffer_clear(&rig->rows);
    query_push(rig->query, source,
               sql_fixture_batch(&rig->sql, rig->plan->sources[source].schema, count, texts));
    pull(rig);
    return buffer_cstr(&rig->rows);
}

#define PUSH(rig, source, partition, count, ...)                                                   \
    push((rig), (source), (partition), (count), (const char *const[]){__VA_ARGS__})

#define T(minute_second) "2026-01-01 12:" minute_second

static int64_t watermark_second(const Rig *rig)
{
    const int64_t noon_us = INT64_C(1767268800000000); /* 2026-01-01 12:00:00 UTC */
    return rig->watermarks[0] == INT64_MIN ? -1 : (rig->watermarks[0] - noon_us) / 1000000;
}

/* ---- LIMIT, DISTINCT */

static void limit_counts_over_batches(void **unused)
{
    (void)unused;
    Rig rig;
    rig_open(&rig, "SELECT id, ver FROM STREAM(a) LIMIT 3");
    assert_string_equal(PUSH(&rig, 0, 0, 2, "1", "1", "2", "1"), "1|1\n2|1\n");
    commit(&rig);
    assert_string_equal(PUSH(&rig, 0, 0, 2, "3", "1", "4", "1"), "3|1\n");
    assert_string_equal(PUSH(&rig, 0, 0, 1, "5", "1"), "");
    abort_epoch(&rig);
    assert_string_equal(PUSH(&rig, 0, 0, 1, "6", "1"), "6|1\n");
    commit(&rig);
    open_query(&rig);
    assert_string_equal(PUSH(&rig, 0, 0, 1, "7", "1"), "");
    rig_close(&rig);
}

static void distinct_remembers(void **unused)
{
    (void)unused;
    Rig rig;
    rig_open(&rig, "SELECT DISTINCT id, ver FROM STREAM(a)");
    assert_string_equal(PUSH(&rig, 0, 0, 4, "1", "1", NULL, "1", "1", "1", NULL, "1"),
                        "1|1\nNULL|1\n");
    commit(&rig);
    assert_string_equal(PUSH(&rig, 0, 0, 3, "1", "1", "2", "1", NULL, "1"), "2|1\n");
    assert_string_equal(PUSH(&rig, 0, 0, 1, "2", "1"), "");
    abort_epoch(&rig); /* of 2 it knows nothing any more */
    assert_string_equal(PUSH(&rig, 0, 0, 2, "2", "1", "1", "1"), "2|1\n");
    rig_close(&rig);
}

static void distinct_forgets(void **unused)
{
    (void)unused;
    Rig rig;
    rig_open(&rig, "SELECT DISTINCT id, ts, ver FROM STREAM(a) WATERMARK ts DELAY OF INTERVAL 10 "
                   "SECONDS");
    assert_string_equal(PUSH(&rig, 0, 0, 2, "1", T("00:00"), "1", "1", T("00:00"), "1"),
                        "1|2026-01-01 12:00:00|1\n");
    AUTO_BUFFER Buffer rows = {0};
    commit(&rig);
    assert_non_null(strstr(dump(open_table(rig.state, "distinct_1", 1), -1, &rows), "/0"));
    assert_string_equal(PUSH(&rig, 0, 0, 1, "2", T("01:00"), "1"), "2|2026-01-01 12:01:00|1\n");
    assert_string_equal(PUSH(&rig, 0, 0, 2, "1", T("00:00"), "1", "1", T("00:55"), "1"),
                        "1|2026-01-01 12:00:55|1\n");
    assert_int_equal(rig.stream.late_rows, 1);
    commit(&rig);
    /* Two rows are left of three. */
    size_t lines = 0;
    const char *text = dump(open_table(rig.state, "distinct_1", 1), -1, &rows);
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    assert_int_equal(lines, 2);
    rig_close(&rig);
}

/* ---- WATERMARK */

static void the_slowest_partition_counts(void **unused)
{
    (void)unused;
    Rig rig;
    rig_open(&rig, "SELECT DISTINCT id, ts, ver FROM STREAM(a) WATERMARK ts DELAY OF INTERVAL 10 "
                   "SECONDS");
    assert_int_equal(watermark_second(&rig), -1);
    (void)PUSH(&rig, 0, 0, 1, "1", T("01:00"), "1");
    assert_int_equal(watermark_second(&rig), 50);
    /* A partition that was empty does not turn it back, and what it brings is late. */
    assert_string_equal(PUSH(&rig, 0, 1, 1, "2", T("00:30"), "1"), "");
    assert_int_equal(watermark_second(&rig), 50);
    assert_int_equal(rig.stream.late_rows, 1);
    (void)PUSH(&rig, 0, 1, 1, "3", T("01:10"), "1");
    (void)PUSH(&rig, 0, 0, 1, "4", T("01:20"), "1");
    assert_int_equal(watermark_second(&rig), 60);
    /* In partition 1 a row of 01:05 is not late, in partition 0 it is. */
    assert_string_equal(PUSH(&rig, 0, 1, 1, "5", T("01:05"), "1"), "5|2026-01-01 12:01:05|1\n");
    assert_string_equal(PUSH(&rig, 0, 0, 1, "6", T("01:05"), "1"), "");
    /* Rows without a time are never late and move nothing. */
    assert_string_equal(PUSH(&rig, 0, 0, 1, "7", NULL, "1"), "7|NULL|1\n");
    assert_int_equal(watermark_second(&rig), 60);
    rig_close(&rig);
}

static void watermarks_are_read_again(void **unused)
{
    (void)unused;
    Rig rig;
    rig_open(&rig, "SELECT DISTINCT id, ts, ver FROM STREAM(a) WATERMARK ts DELAY OF INTERVAL 10 "
                   "SECONDS");
    (void)PUSH(&rig, 0, 0, 1, "1", T("01:00"), "1");
    commit(&rig);
    (void)PUSH(&rig, 0, 0, 1, "2", T("05:00"), "1");
    assert_int_equal(watermark_second(&rig), 290);
    abort_epoch(&rig);
    (void)PUSH(&rig, 0, 0, 1, "3", T("00:55"), "1");
    assert_int_equal(watermark_second(&rig), 50);
    assert_string_equal(PUSH(&rig, 0, 0, 1, "4", T("00:49"), "1"), "");
    rig_close(&rig);
}

/* ---- JOIN */

static void join_meets_in_either_order(void **unused)
{
    (void)unused;
    Rig rig;
    rig_open(&rig, "SELECT a.id, a.ver, b.n FROM STREAM(a) a JOIN STREAM(b) b ON a.id = b.id");
    assert_string_equal(PUSH(&rig, 0, 0, 2, "1", "1", NULL, "1"), "");
    assert_string_equal(PUSH(&rig, 1, 0, 2, "1", "10", NULL, "11"), "1|1|10\n");
    commit(&rig);
    assert_string_equal(PUSH(&rig, 1, 0, 1, "1", "12"), "1|1|12\n");
    abort_epoch(&rig);
    assert_string_equal(PUSH(&rig, 0, 0, 1, "1", "2"), "1|2|10\n");
    rig_close(&rig);
}

/* A pair that fails is left out, and the record that came last has the trouble. */
static void join_condition_may_fail(void **unused)
{
    (void)unused;
    Rig rig;
    rig_open(&rig, "SELECT a.id, a.ver, b.n FROM STREAM(a) a JOIN STREAM(b) b ON a.id = b.id AND "
                   "a.ver / b.n > 0");
    (void)PUSH(&rig, 0, 0, 1, "1", "1");
    assert_string_equal(PUSH(&rig, 1, 0, 2, "1", "0", "1", "5"), "1|1|5\n");
    assert_int_equal(rig.failed, 1);
    /* The new row meets both. */
    assert_string_equal(PUSH(&rig, 0, 0, 2, "1", "2", "2", "1"), "1|2|5\n");
    assert_int_equal(rig.failed, 1);
    assert_string_equal(PUSH(&rig, 1, 0, 1, "2", "9"), "2|1|9\n");
    assert_int_equal(rig.failed, 0);
    rig_close(&rig);
}

static void outer_rows_come_when_time_has_passed(void **unused)
{
    (void)unused;
    Rig rig;
    rig_open(&rig, "SELECT a.id, a.ver, b.n FROM STREAM(a) WATERMARK ts DELAY OF INTERVAL 10 "
                   "SECONDS a LEFT JOIN STREAM(b) WATERMARK ts DELAY OF INTERVAL 10 SECONDS b ON "
                   "a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 MINUTE");
    assert_string_equal(PUSH(&rig, 0, 0, 2, "1", T("00:00"), "1", "2", T("00:00"), "1"), "");
    assert_string_equal(PUSH(&rig, 1, 0, 1, "1", T("00:30"), "7"), "1|1|7\n");
    commit(&rig);
    /* Both must have passed. */
    assert_string_equal(PUSH(&rig, 0, 0, 1, "3", T("10:00"), "1"), "");
    assert_string_equal(PUSH(&rig, 1, 0, 1, "9", T("10:00"), "8"), "2|1|NULL\n");
    abort_epoch(&rig);
    assert_string_equal(PUSH(&rig, 1, 0, 1, "9", T("10:00"), "8"), "");
    assert_string_equal(PUSH(&rig, 0, 0, 1, "3", T("10:00"), "1"), "2|1|NULL\n");
    commit(&rig);
    open_query(&rig);
    assert_string_equal(PUSH(&rig, 1, 0, 1, "3", T("10:30"), "5"), "3|1|5\n");
    rig_close(&rig);
}

/* ---- calendar */

typedef struct Taken {
    Buffer text;
} Taken;

static Error *take(void *context, uint32_t side, Str key, Arena *arena)
{
    Taken *taken = context;
    (void)arena;
    buffer_printf(&taken->text, "%u%.*s ", side, STR_ARG(key));
    return NULL;
}

static const char *take_until(Rig *rig, StreamCalendar *calendar, int64_t time_us, Taken *taken)
{
    bool more = true;
    buffer_clear(&taken->text);
    while (more) {
        ok(stream_calendar_take(calendar, time_us, rig->results, take, taken, &more));
    }
    arena_reset(rig->results);
    return buffer_cstr(&taken->text);
}

static void calendar_hands_out_in_time(void **unused)
{
    (void)unused;
    Rig rig;
    Taken taken = {0};
    StreamCalendar *calendar = NULL;
    rig_open(&rig, "SELECT DISTINCT id, ts, ver FROM STREAM(a) WATERMARK ts DELAY OF INTERVAL 10 "
                   "SECONDS");
    const OperatorState *state = &rig.states[2];
    assert_true(str_equal(state->spec->name, STR("distinct_1_calendar")));
    ok(stream_calendar_open(state, &calendar));
    ok(stream_calendar_add(calendar, 3500000, 0, STR("c")));
    ok(stream_calendar_add(calendar, -1, 1, STR("a")));
    ok(stream_calendar_add(calendar, 3000000, 1, STR("d")));
    ok(stream_calendar_add(calendar, 3000000, 1, STR("d")));
    ok(stream_calendar_add(calendar, 0, 0, STR("b")));
    commit(&rig);
    assert_string_equal(take_until(&rig, calendar, -2, &taken), "");
    assert_string_equal(take_until(&rig, calendar, 0, &taken), "1a ");
    assert_string_equal(take_until(&rig, calendar, 999999, &taken), "");
    assert_string_equal(take_until(&rig, calendar, 3999999, &taken), "0b ");
    assert_string_equal(take_until(&rig, calendar, 4000000, &taken), "0c 1d 1d ");
    assert_string_equal(take_until(&rig, calendar, INT64_MAX, &taken), "");
    /* What was taken is there again. */
    ok(stream_calendar_add(calendar, 9000000, 0, STR("e")));
    stream_calendar_close(calendar);
    abort_epoch(&rig);
    ok(stream_calendar_open(state, &calendar));
    assert_string_equal(take_until(&rig, calendar, INT64_MAX - 2000000, &taken), "1a 0b 0c 1d 1d ");
    stream_calendar_close(calendar);
    commit(&rig);
    ok(stream_calendar_open(state, &calendar));
    assert_string_equal(take_until(&rig, calendar, INT64_MAX - 2000000, &taken), "");
    stream_calendar_close(calendar);
    buffer_done(&taken.text);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_counts_over_batches),
        cmocka_unit_test(distinct_remembers),
        cmocka_unit_test(distinct_forgets),
        cmocka_unit_test(the_slowest_partition_counts),
        cmocka_unit_test(watermarks_are_read_again),
        cmocka_unit_test(join_meets_in_either_order),
        cmocka_unit_test(join_condition_may_fail),
        cmocka_unit_test(outer_rows_come_when_time_has_passed),
        cmocka_unit_test(calendar_hands_out_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
