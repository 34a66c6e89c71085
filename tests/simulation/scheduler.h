/* Scheduler: threads of the product as fibers of one real thread, one at a time, in an order that
 * the seed decides; and time, which passes only when the scheduler says so.
 *
 * The product is not changed for it: the linker sends its calls of pthread_*, clocks and sleeps
 * here (interpose_threads.c). At each of them another fiber may go on. When nobody can, time jumps
 * to the next moment somebody waits for.
 *
 * A fiber belongs to a group: 0 is the world (test, feeders, broker), every other group a process
 * of the product. A process can be killed (its fibers never go on: no cleanup, as by SIGKILL) or
 * frozen (SIGSTOP). Locks of the world, above all the broker's, are released first: what happens
 * inside the broker happens whole.
 *
 * RocksDB's own threads are real and stay outside: a fiber that calls RocksDB waits for it. */
#ifndef TESTS_SIMULATION_SCHEDULER_H
#define TESTS_SIMULATION_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "processor/base/clock.h"

enum { GROUP_WORLD = 0, GROUPS_MAX = 256 };

/* Runs `body` as the first fiber of the world until it returns. */
void scheduler_run(uint64_t seed, void (*body)(void *context), void *context);
bool scheduler_is_running(void);

/* A new fiber; its number. group < 0: that of the caller. */
int scheduler_spawn(int group, const char *name, void *(*body)(void *), void *argument);
/* Waits for its end, gives its result. */
void *scheduler_join(int fiber);
__attribute__((noreturn)) void scheduler_exit(void *result);

/* Of the fiber at work. */
int scheduler_fiber(void);
int scheduler_group(void);
const char *scheduler_name(void);
void scheduler_set_name(const char *name);

/* Another fiber may go on. */
void scheduler_yield(void);
/* Until this is taken back the fiber goes on alone, unless it has to wait for something. */
void scheduler_go_on_alone(bool alone);
void scheduler_sleep_us(int64_t us);
int64_t scheduler_now_us(void); /* monotonic */
int64_t scheduler_steps(void);  /* decisions so far */
/* Since 1970, by the clock of the group of the fiber at work, which may be wrong by `skew`. */
int64_t scheduler_wall_us(void);
void scheduler_set_skew(int group, int64_t skew_us);
/* Much time passes for everybody at once, as if all were asleep. */
void scheduler_pass(int64_t us);
/* Kept at the world's wall clock as time passes: the broker's. */
void scheduler_drive_clock(Clock *clock);
/* One yield in `n` of a process becomes a long pause; 0: none. */
void scheduler_set_pauses(uint32_t n);

/* May be called by a fiber of the group itself: then it does not return, or goes on until the locks
 * of the world it holds are released. */
void scheduler_kill(int group);
/* The same from anywhere, a thread of RocksDB included: it takes effect at the next yield. */
void scheduler_mark_dead(int group);
bool scheduler_is_dead(int group);
/* Frozen fibers go on only as long as they hold a lock of the world. */
void scheduler_freeze(int group, bool frozen);

/* Waiting and waking, for locks. `place` is what is waited for. Until scheduler_wake* or the
 * deadline (us of the monotonic clock; < 0: none); false: it was the deadline. `may_wake_early`:
 * the seed may end the wait for no reason, as POSIX allows. */
bool scheduler_wait(const void *place, int64_t deadline_us, bool may_wake_early);
void scheduler_wake_one(const void *place);
void scheduler_wake_all(const void *place);
/* The fiber holds (or released) a lock of the world. */
void scheduler_hold(int by);

#endif
