/* The state fails while the pipeline runs: damaged blocks, files gone, a disk that takes no more.
 * The pipeline opens or makes it anew by itself and goes on; the table is always right. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "processor/base/clock.h"
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { RECORDS = 400, PATIENCE_MS = 20000 };

static Topology *topology_of(const Rig *rig)
{
    return (Topology *)(uintptr_t)rig->program->topology;
}

/* Calls `act` with each table file of the state; gives their number. */
static int each_table_file(const Rig *rig, void (*act)(const char *path))
{
    AUTO_BUFFER Buffer path = {0};
    buffer_printf(&path, "%s/rocksdb", rig->dir);
    DIR *folder = opendir(buffer_cstr(&path));
    assert_non_null(folder);
    int count = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".sst") != NULL) {
            buffer_clear(&path);
            buffer_printf(&path, "%s/rocksdb/%s", rig->dir, entry->d_name);
            act(buffer_cstr(&path));
            count++;
        }
    }
    (void)closedir(folder);
    return count;
}

/* The first half of a table file is rows; its end, which opening looks at, stays whole. */
static void spoil_rows(const char *path)
{
    int fd = open(path, O_RDWR);
    struct stat info;
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    for (off_t at = 0; at < info.st_size / 2; at += 64) {
        char byte = 0;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x55;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    (void)close(fd);
}

static void delete_file(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

/* The files are spoiled between two lives; the second one meets it as soon as it reads. */
static void damage_heals(void (*act)(const char *path), bool threaded)
{
    Rig rig;
    rig_init(&rig, 3);
    rig.threaded = threaded;
    feed(&rig, RECORDS);
    (void)rig_run_through(&rig, false, false);
    ok(flow_runner_checkpoint(pipeline_flow(rig.pipeline, 0)));
    rig_close(&rig, false);
    assert_true(each_table_file(&rig, act) > 0);
    feed(&rig, RECORDS);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    assert_true(count_in_topic(&rig, "p.event_log", "STATE_REBUILT") > 0);
    rig_done(&rig);
}

static void damaged_rows(void **state)
{
    (void)state;
    damage_heals(spoil_rows, false);
    damage_heals(spoil_rows, true);
}

/* Opening sees it: made anew before anything runs. */
static void missing_files(void **state)
{
    (void)state;
    damage_heals(delete_file, false);
}

/* Damage in the middle of a life, between two updates. */
static void damaged_while_open(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 4);
    feed(&rig, RECORDS);
    (void)rig_run_through(&rig, false, false);
    for (int round = 0; round < 3; round++) {
        ok(flow_runner_checkpoint(pipeline_flow(rig.pipeline, 0)));
        (void)each_table_file(&rig, round == 1 ? delete_file : spoil_rows);
        feed(&rig, RECORDS / 4);
        ok(rig_try_update(&rig, round == 2));
        rig.went_back = rig.went_back || round == 2;
        (void)rig_audit(&rig, true);
    }
    rig_close(&rig, false);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

static struct rlimit limit_before;

/* As a full disk: no file grows beyond a few bytes. */
static void fill_disk(void)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit_before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = {100, limit_before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static void empty_disk(void)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit_before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
}

/* Commits go on without checkpoints while memory bears it. */
static void full_disk_and_room_in_memory(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 5);
    topology_of(&rig)->state.checkpoint_bytes = 1 << 20;
    topology_of(&rig)->state.checkpoint_interval_ms = 1;
    feed(&rig, RECORDS);
    (void)rig_run_through(&rig, false, false);
    fill_disk();
    feed(&rig, RECORDS);
    clock_sleep_ms(2);
    Error *error = rig_try_update(&rig, false);
    AuditResult result = rig_audit(&rig, true);
    empty_disk();
    ok(error);
    assert_true(result.rows > 0);
    assert_true(count_in_topic(&rig, "p.event_log", "STATE_UNWRITABLE") > 0);
    feed(&rig, RECORDS);
    ok(rig_try_update(&rig, false));
    (void)rig_audit(&rig, true); /* no checkpoint: RocksDB may refuse it until opened again */
    rig_close(&rig, false);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

typedef struct Service {
    Rig *rig;
    atomic_bool stop;
    pthread_t thread;
    Error *error;
} Service;

static void *serve(void *argument)
{
    Service *service = argument;
    service->error = pipeline_serve(service->rig->pipeline);
    return NULL;
}

static void wait_for(Rig *rig, const char *topic, const char *part, size_t count)
{
    int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    while (count_in_topic(rig, topic, part) < count) {
        assert_true(clock_monotonic_ms() < deadline);
        clock_sleep_ms(10);
    }
}

/* Nothing may wait in memory: the service waits for the disk, and goes on when there is space. */
static void a_service_waits_for_the_disk(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 6);
    Service service = {.rig = &rig};
    rig.stop = &service.stop;
    rig.metrics = metrics_new(rig.program);
    rig.threaded = true;
    feed(&rig, RECORDS);
    ok(rig_try_open(&rig));
    fill_disk();
    assert_int_equal(pthread_create(&service.thread, NULL, serve, &service), 0);
    wait_for(&rig, "p.event_log", "opened again until it can", 3);
    AUTO_BUFFER Buffer health = {0};
    assert_true(metrics_is_healthy(rig.metrics, &health)); /* another process would not help */
    feed_one(&rig, 0, "{\"k\":\"late\",\"seq\":1,\"v\":\"x\"}");
    empty_disk();
    int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    int64_t offset = -1;
    for (int64_t start = 0, end = 1; offset < end;) {
        ok(log_watermarks(rig.log, "src", 0, READ_COMMITTED, TIMEOUT_MS, &start, &end));
        ok(log_group_offset(rig.log, "p.t", "src", 0, TIMEOUT_MS, &offset));
        assert_true(clock_monotonic_ms() < deadline);
        clock_sleep_ms(10);
    }
    atomic_store(&service.stop, true);
    (void)pthread_join(service.thread, NULL);
    ok(service.error);
    rig.stop = NULL;
    rig_close(&rig, false);
    metrics_free(rig.metrics);
    rig.metrics = NULL;
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

/* A running service meets damage and heals, with commits before and after. */
static void a_service_heals(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 7);
    feed(&rig, RECORDS);
    (void)rig_run_through(&rig, false, false);
    ok(flow_runner_checkpoint(pipeline_flow(rig.pipeline, 0)));
    rig_close(&rig, false);
    (void)each_table_file(&rig, spoil_rows);
    Service service = {.rig = &rig};
    rig.stop = &service.stop;
    rig.threaded = true;
    feed(&rig, RECORDS);
    ok(rig_try_open(&rig));
    assert_int_equal(pthread_create(&service.thread, NULL, serve, &service), 0);
    wait_for(&rig, "p.event_log", "STATE_REBUILT", 1);
    feed(&rig, RECORDS);
    atomic_store(&service.stop, true);
    (void)pthread_join(service.thread, NULL);
    ok(service.error);
    rig.stop = NULL;
    rig_close(&rig, false);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

static void replace_identity(const Rig *rig, const char *text)
{
    AUTO_BUFFER Buffer path = {0};
    buffer_printf(&path, "%s/TIDEMARK", rig->dir);
    int fd = open(buffer_cstr(&path), O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
}

/* A directory of somebody else is refused and left as it is. */
static void foreign_directories(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 8);
    feed(&rig, RECORDS);
    (void)rig_run_through(&rig, false, false);
    rig_close(&rig, false);
    replace_identity(&rig, "tidemark state\nformat 2\npipeline other\n");
    fails(rig_try_open(&rig), ERROR_STATE_FORMAT, "belongs to pipeline `other`");
    replace_identity(&rig, "tidemark state\nformat 99\nsomething new\n");
    fails(rig_try_open(&rig), ERROR_STATE_FORMAT, "format 99");
    replace_identity(&rig, "tidemark state\nformat 2\npipeline p\n");
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_rows),
        cmocka_unit_test(missing_files),
        cmocka_unit_test(damaged_while_open),
        cmocka_unit_test(full_disk_and_room_in_memory),
        cmocka_unit_test(a_service_waits_for_the_disk),
        cmocka_unit_test(a_service_heals),
        cmocka_unit_test(foreign_directories),
    };
    return cmocka_run_group_tests_name("run/state_trouble", tests, NULL, NULL);
}
