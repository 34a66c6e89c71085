/* The auditor is audited: topics written by hand, right ones and ones with a single thing wrong. */
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

/* One transaction: rows of the table ("key value", no value: a tombstone) and its progress. */
typedef struct Step {
    const char *const *table; /* key, value, key, value, …, NULL */
    int64_t position;
    int64_t epoch;
    int64_t end;
} Step;

typedef struct Story {
    const Step *steps;
    size_t count;
    const char *complaint; /* NULL: all is well */
} Story;

#define A1 "{\"k\":\"a\",\"seq\":1,\"v\":\"x\"}"
#define A1B "{\"k\":\"a\",\"seq\":1,\"v\":\"y\"}"
#define A2 "{\"k\":\"a\",\"seq\":2,\"v\":\"z\"}"
#define KA "{\"k\":\"a\"}"
#define KA1 "{\"k\":\"a\",\"_row\":1}"
#define KA2 "{\"k\":\"a\",\"_row\":2}"

/* The source: offsets 0 and 1 are ties, 2 replaces both, 3 is late. */
static const char *const source[] = {A1, A1B, A2, A1};

#define ROWS(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define NO_ROWS                                                                                    \
    (const char *const[])                                                                          \
    {                                                                                              \
        NULL                                                                                       \
    }

static void put_to(LogProducer *producer, const char *topic, const char *key, const char *value)
{
    LogOutput output = {.topic = topic, .key = str_from(key)};
    output.value = value == NULL || value[0] == '\0' ? STR_NULL : str_from(value);
    ok(log_producer_produce(producer, &output, 1, NULL));
}

static void make_topics(Rig *rig)
{
    const char *const names[] = {"src", "t", "p.progress"};
    ok(log_topic_delete(rig->log, "src", TIMEOUT_MS));
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        LogTopicSpec spec = {.name = names[i], .partitions = 1, .replication_factor = -1};
        ok(log_topic_create(rig->log, &spec, TIMEOUT_MS));
    }
    for (size_t i = 0; i < ARRAY_LENGTH(source); i++) {
        feed_one(rig, 0, source[i]);
    }
}

static void write_step(Rig *rig, LogProducer *producer, const Step *step)
{
    ok(log_producer_begin(producer));
    for (const char *const *row = step->table; *row != NULL; row += 2) {
        put_to(producer, "t", row[0], row[1]);
    }
    put_to(producer, "p.progress", "{\"flow\":\"t\",\"topic\":\"src\",\"partition\":0}",
           arena_printf(rig->arena,
                        "{\"offset\":%lld,\"update\":\"u\",\"epoch\":%lld,\"ends\":{\"0\":%lld},"
                        "\"fingerprint\":null,\"instance\":\"i\"}",
                        (long long)step->position, (long long)step->epoch, (long long)step->end));
    ok(log_producer_commit(producer, TIMEOUT_MS));
}

static void tell(const Story *story)
{
    Rig rig;
    rig_init(&rig, 1);
    make_topics(&rig);
    LogProducer *producer = NULL;
    LogProducerOptions options = {.transactional_id = "by hand"};
    ok(log_producer_open(rig.log, &options, &producer));
    ok(log_producer_init_transactions(producer, TIMEOUT_MS));
    for (size_t i = 0; i < story->count; i++) {
        write_step(&rig, producer, &story->steps[i]);
    }
    log_producer_close(producer);
    AuditOptions audit = {.log = rig.log,
                          .source_topic = "src",
                          .table_topic = "t",
                          .progress_topic = "p.progress",
                          .flow = "t",
                          .complete = true,
                          .timeout_ms = TIMEOUT_MS};
    AuditResult result = {0};
    Error *error = audit_run(&audit, &result);
    if (story->complaint == NULL) {
        ok(error);
        assert_int_equal(result.rows, 1);
        assert_int_equal(result.epochs, story->count - 1);
    } else {
        fails(error, ERROR_TEST_FAILED, story->complaint);
    }
    rig_done(&rig);
}

/* Offsets of the table's topic: 0 1 (marker 2) 3 4 (marker 5). */
#define BEGINNING {NO_ROWS, 0, 0, 0}
#define TIES {ROWS(KA, A1, KA1, A1B), 2, 1, 2}
#define REPLACEMENT {ROWS(KA, A2, KA1, ""), 4, 2, 5}

#define STORY(complaint, ...)                                                                      \
    {(const Step[]){BEGINNING, __VA_ARGS__},                                                       \
     ARRAY_LENGTH(((const Step[]){BEGINNING, __VA_ARGS__})), complaint}

static void stories(void **state)
{
    (void)state;
    const Story all[] = {
        STORY(NULL, TIES, REPLACEMENT),
        STORY("the model has 2 rows, the table 1", {ROWS(KA, A1), 2, 1, 1}),
        STORY("the model has 2 rows, the table 3", {ROWS(KA, A1, KA1, A1B, KA2, A1B), 2, 1, 3}),
        STORY("other rows", {ROWS(KA, A1, KA1, A1), 2, 1, 2}),
        STORY("highest number 2", {ROWS(KA, A1, KA2, A1B), 2, 1, 2}),
        /* The position says more, or less, than the rows. */
        STORY("the model has 1 rows, the table 2", {ROWS(KA, A1, KA1, A1B), 3, 1, 2}),
        STORY("the model has 1 rows, the table 2", {ROWS(KA, A1, KA1, A1B), 1, 1, 2}),
        /* The ends leave a row out. */
        STORY("the model has 2 rows, the table 1", {ROWS(KA, A1, KA1, A1B), 2, 1, 1}),
        /* A replacement that forgets to take the second row away. */
        STORY("the model has 1 rows, the table 2", TIES, {ROWS(KA, A2), 4, 2, 4}),
        STORY("went back", TIES, {NO_ROWS, 1, 2, 3}),
        STORY("end of table partition 0 went back", TIES, {NO_ROWS, 4, 2, 1}),
        STORY("epoch 3 follows epoch 1", TIES, {ROWS(KA, A2, KA1, ""), 4, 3, 5}),
        /* A start may write down a position again, but not one that moves over records. */
        STORY("epoch 1 a second time", TIES, {NO_ROWS, 4, 1, 3}),
        STORY("progress stands at 2, the end is 4", TIES),
        STORY("strange key", {ROWS("{\"key\":1}", A1), 1, 1, 1}),
        STORY("but the row is", {ROWS("{\"k\":\"b\"}", A1), 1, 1, 1}),
    };
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++) {
        tell(&all[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stories),
    };
    return cmocka_run_group_tests_name("run/audit", tests, NULL, NULL);
}
