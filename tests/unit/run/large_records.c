/* Records larger than a topic takes by default: a bad one goes to quarantine like any other, and
 * where that topic is too small the error says which one it is. */
#include <string.h>

#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { LARGE = 3 * 1024 * 1024 };

static void make_source_large(Rig *rig)
{
    LogConfigEntry config = {"max.message.bytes", "5000000"};
    LogTopicSpec spec = {.name = "src",
                         .partitions = rig->partitions,
                         .replication_factor = -1,
                         .config = &config,
                         .config_count = 1};
    ok(log_topic_delete(rig->log, "src", TIMEOUT_MS));
    ok(log_topic_create(rig->log, &spec, TIMEOUT_MS));
}

/* No JSON, but for its beginning. */
static const char *large_bad_record(Rig *rig)
{
    char *text = arena_alloc_bytes(rig->arena, LARGE + 1);
    memset(text, 'x', LARGE);
    memcpy(text, "{\"k\":", 5);
    text[LARGE] = '\0';
    return text;
}

static void a_large_bad_record_goes_to_quarantine(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 1);
    make_source_large(&rig);
    feed_one(&rig, 0, "{\"k\":\"k1\",\"seq\":1,\"v\":\"a\"}");
    feed_one(&rig, 0, large_bad_record(&rig));
    feed_one(&rig, 0, "{\"k\":\"k2\",\"seq\":1,\"v\":\"b\"}");
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    assert_int_equal(count_in_topic(&rig, "p.quarantine", "{\"k\":xxxx"), 1);
    (void)all_is_well(&rig);
    rig_done(&rig);
}

static void a_quarantine_that_is_too_small_is_named(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 1);
    make_source_large(&rig);
    LogTopicSpec spec = {.name = "p.quarantine", .partitions = 1, .replication_factor = -1};
    ok(log_topic_create(rig.log, &spec, TIMEOUT_MS));
    feed_one(&rig, 0, large_bad_record(&rig));
    ok(rig_try_open(&rig));
    fails(rig_try_update(&rig, false), ERROR_ROW_TOO_LARGE,
          "a bad record is larger than topic `p.quarantine` takes");
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_bad_record_goes_to_quarantine),
        cmocka_unit_test(a_quarantine_that_is_too_small_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
