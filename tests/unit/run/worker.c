/* Worker: one piece of work at a time, on a thread of its own or inline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/clock.h"
#include "processor/run/worker.h"

#include "processor/base/banned.h"

typedef struct Task {
    int runs;
    bool fails;
    int64_t sleep_ms;
} Task;

static Error *work(void *context)
{
    Task *task = context;
    clock_sleep_ms(task->sleep_ms);
    task->runs++;
    return task->fails ? error_new(ERROR_TEST_FAILED, "run %d", task->runs) : NULL;
}

static void results_come_back_in_turn(void **state)
{
    (void)state;
    for (int is_inline = 0; is_inline < 2; is_inline++) {
        Worker *worker = worker_new("test", is_inline != 0);
        Task task = {0};
        for (int i = 1; i <= 100; i++) {
            task.fails = i % 3 == 0;
            assert_false(worker_is_busy(worker));
            worker_give(worker, work, &task);
            assert_true(worker_is_busy(worker));
            Error *error = worker_take(worker);
            assert_int_equal(task.runs, i);
            assert_int_equal(error != NULL, task.fails);
            error_free(error);
        }
        worker_free(worker);
    }
}

static void it_goes_on_beside_its_owner(void **state)
{
    (void)state;
    Worker *worker = worker_new("test", false);
    Task task = {.sleep_ms = 50};
    worker_give(worker, work, &task);
    while (!worker_is_done(worker)) {
        clock_sleep_ms(1);
    }
    assert_null(worker_take(worker));
    assert_int_equal(task.runs, 1);
    worker_free(worker);
}

/* Freed in the middle: the work is waited for, its error dropped. */
static void a_busy_worker_is_waited_for(void **state)
{
    (void)state;
    Worker *worker = worker_new("test", false);
    Task task = {.sleep_ms = 20, .fails = true};
    worker_give(worker, work, &task);
    worker_free(worker);
    assert_int_equal(task.runs, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_back_in_turn),
        cmocka_unit_test(it_goes_on_beside_its_owner),
        cmocka_unit_test(a_busy_worker_is_waited_for),
    };
    return cmocka_run_group_tests_name("run/worker", tests, NULL, NULL);
}
