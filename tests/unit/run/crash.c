/* The process dies at every named fault point, with and without its state directory: the table is
 * as if it had not. */
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { RECORDS = 150, NTH_MAX = 3 };

static bool is_of_a_full_refresh(const char *fault)
{
    return str_starts_with(str_from(fault), STR("full_refresh."));
}

/* One life with one crash: gives whether the point was reached. */
static bool survive(const char *fault, unsigned nth, bool wipe, bool threaded)
{
    Rig rig;
    rig_init(&rig, nth * 2 + wipe);
    rig.threaded = threaded;
    feed(&rig, RECORDS);
    bool refresh = is_of_a_full_refresh(fault);
    if (refresh) {
        (void)rig_run_through(&rig, wipe, false);
        feed(&rig, RECORDS / 5);
    }
    fault_arm(fault, nth, FAULT_CRASH);
    int crashes = rig_run_through(&rig, wipe, refresh);
    /* What was done before the crash does not come again, what comes later is added. */
    feed(&rig, RECORDS / 3);
    crashes += rig_run_through(&rig, wipe, false);
    AuditResult result = all_is_well(&rig);
    assert_true(result.epochs > 3 && result.rows > 0);
    rig_done(&rig);
    return crashes > 0;
}

/* Among them case state-output.store-ahead-of-commit: the state never holds what is not committed.
 */
static void every_fault_point(void **state)
{
    (void)state;
    for (size_t i = 0; i < fault_name_count; i++) {
        for (unsigned nth = 1; nth <= NTH_MAX; nth++) {
            for (unsigned way = 0; way < 4; way++) {
                bool reached = survive(fault_names[i], nth, (way & 1) != 0, (way & 2) != 0);
                if (!reached && nth == 1) {
                    print_error("%s is never reached\n", fault_names[i]);
                }
                assert_true(reached || nth > 1);
            }
        }
    }
}

/* A retriable error at the same places: nothing dies, the flow helps itself. */
static void every_fault_point_as_a_lost_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < fault_name_count; i++) {
        for (unsigned nth = 1; nth <= 2; nth++) {
            Rig rig;
            rig_init(&rig, 77 + nth);
            rig.threaded = (i + nth) % 2 == 0;
            feed(&rig, RECORDS);
            bool refresh = is_of_a_full_refresh(fault_names[i]);
            if (refresh) {
                (void)rig_run_through(&rig, false, false);
            }
            fault_arm(fault_names[i], nth, FAULT_ERROR);
            assert_int_equal(rig_run_through(&rig, false, refresh), 0);
            (void)all_is_well(&rig);
            rig_done(&rig);
        }
    }
}

/* Many crashes in one life, at random points, while the source grows. */
static void crash_after_crash(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Rig rig;
        rig_init(&rig, seed);
        rig.threaded = seed % 2 == 0;
        int crashes = 0;
        for (int round = 0; round < 40; round++) {
            feed(&rig, 1 + (int)draw(&rig, 40));
            const char *fault = fault_names[draw(&rig, (uint32_t)fault_name_count)];
            fault_arm(fault, 1 + draw(&rig, 2), FAULT_CRASH);
            bool wipe = draw(&rig, 2) == 0;
            crashes += rig_run_through(&rig, wipe, draw(&rig, 12) == 0);
            if (draw(&rig, 3) == 0) {
                rig_close(&rig, wipe);
            }
        }
        fault_disarm();
        (void)rig_run_through(&rig, false, false);
        (void)all_is_well(&rig);
        assert_true(crashes > 5);
        rig_done(&rig);
    }
}

/* The state is older than the topic by a whole life: only what it lacks is replayed; the topic
 * compacted meanwhile makes no difference. */
static void old_state_and_a_compacted_topic(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 5);
    feed(&rig, RECORDS);
    (void)rig_run_through(&rig, false, false);
    char newer[64];
    memcpy(newer, rig.dir, sizeof newer);
    rig_close(&rig, false);
    /* A second directory lives through more, the first one stays behind. */
    memcpy(rig.dir + strlen(rig.dir) - 6, "second", 6);
    feed(&rig, RECORDS);
    (void)rig_run_through(&rig, false, false);
    rig_close(&rig, true);
    sim_broker_compact(rig.broker, "t");
    memcpy(rig.dir, newer, sizeof newer);
    feed(&rig, RECORDS);
    (void)rig_run_through(&rig, false, false);
    state_equals_topic(&rig);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_point),
        cmocka_unit_test(every_fault_point_as_a_lost_answer),
        cmocka_unit_test(crash_after_crash),
        cmocka_unit_test(old_state_and_a_compacted_topic),
    };
    return cmocka_run_group_tests_name("run/crash", tests, NULL, NULL);
}
