/* The broker fails: every kind of failure at every kind of call, fencing by time-out and by a
 * successor, an outage. Exactly once holds, and the flow helps itself wherever it can. */
#include <unistd.h>

#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { RECORDS = 90 };

/* Runs until an update works: what is the user's to mend was mended meanwhile. Gives the number of
 * failed tries. */
static int run_until_good(Rig *rig)
{
    for (int tries = 0; tries < 10; tries++) {
        Error *error = rig->pipeline == NULL ? rig_try_open(rig) : NULL;
        if (error == NULL) {
            error = rig_try_update(rig, false);
        }
        if (error == NULL) {
            return tries;
        }
        bool lost = error_class(error) == ERROR_KAFKA_FENCED;
        error_free(error);
        assert_false(lost); /* nobody else is there */
    }
    fail_msg("no update works");
    return 0;
}

static void one_failure(SimCall call, SimFailure failure, unsigned nth, bool while_starting)
{
    Rig rig;
    rig_init(&rig, (uint64_t)call * 64 + (uint64_t)failure * 8 + nth);
    feed(&rig, RECORDS);
    if (!while_starting) {
        ok(rig_try_open(&rig));
    }
    sim_broker_fail_next(rig.broker, call, failure, nth);
    int tries = run_until_good(&rig);
    bool users = failure == SIM_TOO_LARGE;
    if (tries > (users ? 1 : 0)) {
        print_error("call %d failure %d nth %u: %d tries\n", (int)call, (int)failure, nth, tries);
    }
    assert_true(tries <= (users ? 1 : 0));
    sim_broker_clear_faults(rig.broker);
    feed(&rig, RECORDS / 3);
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

static void every_failure_at_every_call(void **state)
{
    (void)state;
    for (int call = 0; call < SIM_CALL_COUNT; call++) {
        for (int failure = SIM_RETRIABLE; failure < SIM_FAILURE_COUNT; failure++) {
            one_failure((SimCall)call, (SimFailure)failure, 1, false);
            one_failure((SimCall)call, (SimFailure)failure, 2, false);
            one_failure((SimCall)call, (SimFailure)failure, 4, false);
        }
    }
}

static void every_failure_while_starting(void **state)
{
    (void)state;
    for (int call = 0; call < SIM_CALL_COUNT; call++) {
        for (int failure = SIM_RETRIABLE; failure < SIM_FAILURE_COUNT; failure++) {
            one_failure((SimCall)call, (SimFailure)failure, 1, true);
            one_failure((SimCall)call, (SimFailure)failure, 5, true);
        }
    }
}

/* Any call fails in any way, with a chance of one in a hundred. */
typedef struct Storm {
    Rig *rig;
    bool on;
} Storm;

static SimFailure storm_hook(void *context, SimCall call, const char *topic)
{
    Storm *storm = context;
    (void)call;
    bool ours = topic == NULL || strcmp(topic, "src") != 0;
    if (!storm->on || !ours || draw(storm->rig, 100) > 0) {
        return SIM_NO_FAILURE;
    }
    return (SimFailure)(SIM_RETRIABLE + draw(storm->rig, SIM_FAILURE_COUNT - SIM_RETRIABLE));
}

static void a_storm_of_failures(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Rig rig;
        rig_init(&rig, seed);
        Storm storm = {.rig = &rig};
        sim_broker_set_fault_hook(rig.broker, storm_hook, &storm);
        for (int round = 0; round < 8; round++) {
            feed(&rig, 60);
            storm.on = true;
            for (int tries = 0; tries < 5; tries++) {
                Error *error = rig.pipeline == NULL ? rig_try_open(&rig) : NULL;
                error = error == NULL ? rig_try_update(&rig, false) : error;
                bool lost = error != NULL && error_class(error) == ERROR_KAFKA_FENCED;
                bool good = error == NULL;
                error_free(error);
                if (lost) {
                    rig_close(&rig, draw(&rig, 2) == 0);
                }
                if (good) {
                    break;
                }
            }
            storm.on = false;
        }
        (void)run_until_good(&rig);
        (void)all_is_well(&rig);
        rig_done(&rig);
    }
}

/* A second process of the same pipeline, with a state directory of its own. */
static void open_successor(Rig *rig, Rig *successor)
{
    *successor = *rig;
    successor->pipeline = NULL;
    memcpy(successor->dir + strlen(rig->dir) - 6, "second", 6);
    ok(rig_try_open(successor));
}

static void close_successor(Rig *successor)
{
    pipeline_close(successor->pipeline);
    state_remove(successor->dir);
}

static void a_woken_zombie_stops_and_names_its_successor(void **state)
{
    (void)state;
    Rig rig;
    Rig successor;
    rig_init(&rig, 3);
    feed(&rig, RECORDS);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    open_successor(&rig, &successor);
    feed(&successor, RECORDS);
    rig.fed = successor.fed;
    AUTO_BUFFER Buffer who = {0};
    buffer_printf(&who, "taken over by process %ld on ", (long)getpid());
    fails(rig_try_update(&rig, false), ERROR_KAFKA_FENCED, buffer_cstr(&who));
    /* It stays that way, and the successor was not fenced back. */
    fails(rig_try_update(&rig, false), ERROR_KAFKA_FENCED, "taken over");
    ok(rig_try_update(&successor, false));
    (void)all_is_well(&successor);
    close_successor(&successor);
    rig_done(&rig);
}

/* The zombie notices by an unclear commit, not by being fenced: it must look before it makes a new
 * producer. */
static void a_zombie_with_an_unclear_commit_does_not_fence_back(void **state)
{
    (void)state;
    Rig rig;
    Rig successor;
    rig_init(&rig, 4);
    feed(&rig, RECORDS);
    ok(rig_try_open(&rig));
    open_successor(&rig, &successor);
    sim_broker_fail_next(rig.broker, SIM_BEGIN, SIM_FATAL, 1);
    fails(rig_try_update(&rig, false), ERROR_KAFKA_FENCED, "taken over");
    ok(rig_try_update(&successor, false));
    (void)all_is_well(&successor);
    close_successor(&successor);
    rig_done(&rig);
}

/* Our own transaction timed out: the broker fences us, the claim is our own, the flow goes on. A
 * second time without a commit it stops. */
static void an_own_time_out_is_survived_once(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 6);
    feed(&rig, RECORDS);
    ok(rig_try_open(&rig));
    sim_broker_fail_next(rig.broker, SIM_COMMIT, SIM_FENCED, 1);
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    feed(&rig, RECORDS);
    /* Commits from here: the epoch's, then the claim's, the epoch's again. */
    sim_broker_fail_next(rig.broker, SIM_COMMIT, SIM_FENCED, 1);
    sim_broker_fail_next(rig.broker, SIM_COMMIT, SIM_FENCED, 3);
    fails(rig_try_update(&rig, false), ERROR_KAFKA_FENCED, "second time without a commit");
    rig_close(&rig, false);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

/* Without any retry a fenced flow still looks who fenced it. */
static void no_retries(void **state)
{
    (void)state;
    Rig rig;
    Rig successor;
    rig_init(&rig, 7);
    rig.attempts_max = 0;
    feed(&rig, RECORDS);
    ok(rig_try_open(&rig));
    sim_broker_fail_next(rig.broker, SIM_COMMIT, SIM_RETRIABLE, 2);
    fails(rig_try_update(&rig, false), ERROR_KAFKA_TIMED_OUT, "");
    (void)rig_audit(&rig, false);
    open_successor(&rig, &successor);
    fails(rig_try_update(&rig, false), ERROR_KAFKA_FENCED, "taken over");
    ok(rig_try_update(&successor, false));
    (void)all_is_well(&successor);
    close_successor(&successor);
    rig_done(&rig);
}

/* case kafka-log.oversized-output: nothing of the epoch is seen, the error names flow and key. */
static void an_oversized_row_fails_the_update(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 8);
    rig.batch_rows = 100;
    ok(rig_try_open(&rig));
    sim_broker_set_topic_config(rig.broker, "t", "max.message.bytes", "10000");
    feed_one(&rig, 0, "{\"k\":\"small\",\"seq\":1,\"v\":\"x\"}");
    AUTO_BUFFER Buffer large = {0};
    buffer_printf(&large, "{\"k\":\"large\",\"seq\":1,\"v\":\"%012000d\"}", 7);
    feed_one(&rig, 0, buffer_cstr(&large));
    feed_one(&rig, 0, "{\"k\":\"other\",\"seq\":1,\"v\":\"x\"}");
    Error *error = rig_try_update(&rig, false);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "`t`"));
    assert_non_null(strstr(error_message(error), "{\"k\":\"large\"}"));
    fails(error, ERROR_ROW_TOO_LARGE, "max.message.bytes");
    assert_int_equal(rig_audit(&rig, false).rows, 0);
    assert_int_equal(count_in_topic(&rig, "p.event_log", "ROW_TOO_LARGE"), 2);
    sim_broker_set_topic_config(rig.broker, "t", "max.message.bytes", "1000000");
    ok(rig_try_update(&rig, false));
    assert_int_equal(all_is_well(&rig).rows, 3);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failure_at_every_call),
        cmocka_unit_test(every_failure_while_starting),
        cmocka_unit_test(a_storm_of_failures),
        cmocka_unit_test(a_woken_zombie_stops_and_names_its_successor),
        cmocka_unit_test(a_zombie_with_an_unclear_commit_does_not_fence_back),
        cmocka_unit_test(an_own_time_out_is_survived_once),
        cmocka_unit_test(no_retries),
        cmocka_unit_test(an_oversized_row_fails_the_update),
    };
    return cmocka_run_group_tests_name("run/broker_faults", tests, NULL, NULL);
}
