/* A table's topic that somebody changed behind our back is told before anything is written. */
#include <string.h>

#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { RECORDS = 60 };

/* A pipeline that has written, and was closed. */
static void rig_with_table(Rig *rig)
{
    rig_init(rig, 1);
    feed(rig, RECORDS);
    ok(rig_try_open(rig));
    ok(rig_try_update(rig, false));
    rig_close(rig, false);
    feed(rig, RECORDS);
}

/* Opening or the first update tells. */
static void check_refused(Rig *rig, const char *part)
{
    Error *error = rig_try_open(rig);
    fails(error == NULL ? rig_try_update(rig, false) : error, ERROR_KAFKA_TOPIC_MISMATCH, part);
}

/* `partitions` of the topology is left out, so that only the progress topic can know. */
static void partitions_were_added(void **state)
{
    (void)state;
    Rig rig;
    rig_with_table(&rig);
    ok(log_topic_add_partitions(rig.log, "t", 5, TIMEOUT_MS));
    rig.program->tables[0].config = NULL;
    check_refused(&rig, "has 5 partitions, and its rows were written to 3");
    rig_done(&rig);
}

static void it_was_made_anew(void **state)
{
    (void)state;
    Rig rig;
    rig_with_table(&rig);
    ok(log_topic_delete(rig.log, "t", TIMEOUT_MS));
    check_refused(&rig, "it was deleted and made anew, or cut");
    rig_done(&rig);
}

static void its_progress_is_gone(void **state)
{
    (void)state;
    Rig rig;
    rig_with_table(&rig);
    ok(log_topic_delete(rig.log, "p.progress", TIMEOUT_MS));
    check_refused(&rig, "topic `p.progress` knows nothing of the table");
    rig_done(&rig);
}

/* The state is not blamed: it would be made anew again and again, and the record stay. */
static void somebody_wrote_to_it(void **state)
{
    (void)state;
    Rig rig;
    rig_with_table(&rig);
    LogProducer *producer = NULL;
    ok(log_producer_open(rig.log, &(LogProducerOptions){0}, &producer));
    LogOutput foreign = {.topic = "t", .key = STR("{\"k\":\"a\"}"), .value = STR("no row")};
    ok(log_producer_produce(producer, &foreign, 1, NULL));
    ok(log_producer_flush(producer, TIMEOUT_MS));
    log_producer_close(producer);
    check_refused(&rig, "is no row of table `t`");
    assert_int_equal(count_in_topic(&rig, "p.event_log", "STATE_REBUILT"), 0);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_were_added),
        cmocka_unit_test(it_was_made_anew),
        cmocka_unit_test(its_progress_is_gone),
        cmocka_unit_test(somebody_wrote_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
