/* What the product's calls of threads, locks, clocks and randomness become: the linker sends them
 * here (--wrap, CMakeLists.txt). Outside of a run the real functions do their work.
 *
 * A lock keeps its state in the bytes of the pthread object itself, which the real functions never
 * see. A mutex that was initialized by a process of the product is that process's; all others, the
 * broker's and static ones among them, are the world's (scheduler.h). */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "processor/base/compiler.h"
#include "tests/simulation/chance.h"
#include "tests/simulation/interpose.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/trace.h"

#include "processor/base/banned.h"

typedef struct SimMutex {
    int owner; /* fiber + 1, 0: free */
    int depth;
    int group; /* whose it is */
    int recursive;
} SimMutex;

typedef struct SimCond {
    int clock;
} SimCond;

typedef struct SimRwlock {
    int writer; /* fiber + 1 */
    int readers;
    int group;
} SimRwlock;

_Static_assert(sizeof(SimMutex) <= sizeof(pthread_mutex_t), "fits");
_Static_assert(sizeof(SimCond) <= sizeof(pthread_cond_t), "fits");
_Static_assert(sizeof(SimRwlock) <= sizeof(pthread_rwlock_t), "fits");

static Chance randomness;

void interpose_open(uint64_t seed)
{
    randomness = chance_stream(seed, 2);
}

/* ------------------------------------------------------------------------------- threads ---- */

int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument)
{
    if (!scheduler_is_running()) {
        return __real_pthread_create(ret_thread, attributes, body, argument);
    }
    *ret_thread = (pthread_t)scheduler_spawn(-1, "thread", body, argument);
    scheduler_yield();
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret_result)
{
    if (!scheduler_is_running()) {
        return __real_pthread_join(thread, ret_result);
    }
    void *result = scheduler_join((int)thread);
    if (ret_result != NULL) {
        *ret_result = result;
    }
    return 0;
}

int __wrap_pthread_detach(pthread_t thread)
{
    return scheduler_is_running() ? 0 : __real_pthread_detach(thread);
}

void __wrap_pthread_exit(void *result)
{
    scheduler_exit(result);
}

pthread_t __wrap_pthread_self(void)
{
    return scheduler_is_running() ? (pthread_t)scheduler_fiber() : __real_pthread_self();
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    if (scheduler_is_running() && (int)thread == scheduler_fiber()) {
        scheduler_set_name(name);
    }
    return 0;
}

int __wrap_sched_yield(void)
{
    if (scheduler_is_running()) {
        scheduler_sleep_us(1);
    }
    return 0;
}

/* -------------------------------------------------------------------------------- mutexes ---- */

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    if (!scheduler_is_running()) {
        return __real_pthread_mutex_init(mutex, attributes);
    }
    int type = PTHREAD_MUTEX_DEFAULT;
    if (attributes != NULL) {
        (void)pthread_mutexattr_gettype(attributes, &type);
    }
    memset(mutex, 0, sizeof *mutex);
    SimMutex *sim = (SimMutex *)(void *)mutex;
    sim->group = scheduler_group();
    sim->recursive = type == PTHREAD_MUTEX_RECURSIVE;
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return scheduler_is_running() ? 0 : __real_pthread_mutex_destroy(mutex);
}

static bool take(SimMutex *mutex)
{
    int self = scheduler_fiber() + 1;
    if (mutex->owner == self && mutex->recursive != 0) {
        mutex->depth++;
        return true;
    }
    assert(mutex->owner != self && "locks twice");
    if (mutex->owner != 0) {
        return false;
    }
    mutex->owner = self;
    mutex->depth = 1;
    scheduler_hold(mutex->group == GROUP_WORLD);
    return true;
}

static void lock(SimMutex *mutex)
{
    while (!take(mutex)) {
        (void)scheduler_wait(mutex, -1, false);
    }
}

static void unlock(SimMutex *mutex)
{
    assert(mutex->owner == scheduler_fiber() + 1 && "unlocks what it did not lock");
    if (--mutex->depth == 0) {
        mutex->owner = 0;
        scheduler_hold(-(mutex->group == GROUP_WORLD));
        scheduler_wake_all(mutex);
    }
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!scheduler_is_running()) {
        return __real_pthread_mutex_lock(mutex);
    }
    scheduler_yield();
    lock((SimMutex *)(void *)mutex);
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (!scheduler_is_running()) {
        return __real_pthread_mutex_trylock(mutex);
    }
    scheduler_yield();
    return take((SimMutex *)(void *)mutex) ? 0 : EBUSY;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!scheduler_is_running()) {
        return __real_pthread_mutex_unlock(mutex);
    }
    unlock((SimMutex *)(void *)mutex);
    scheduler_yield();
    return 0;
}

/* --------------------------------------------------------------------- condition variables ---- */

int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
    if (!scheduler_is_running()) {
        return __real_pthread_cond_init(cond, attributes);
    }
    clockid_t clock = CLOCK_REALTIME;
    if (attributes != NULL) {
        (void)pthread_condattr_getclock(attributes, &clock);
    }
    memset(cond, 0, sizeof *cond);
    ((SimCond *)(void *)cond)->clock = (int)clock;
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
    return scheduler_is_running() ? 0 : __real_pthread_cond_destroy(cond);
}

static int wait_on(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_us)
{
    SimMutex *held = (SimMutex *)(void *)mutex;
    unlock(held);
    bool woken = scheduler_wait(cond, deadline_us, true);
    lock(held);
    return woken ? 0 : ETIMEDOUT;
}

/* On the monotonic clock of the scheduler. */
static int64_t deadline_of(int clock, const struct timespec *until)
{
    int64_t us = (int64_t)until->tv_sec * 1000000 + until->tv_nsec / 1000;
    int64_t now_us = scheduler_now_us();
    int64_t deadline = clock == CLOCK_REALTIME ? us - scheduler_wall_us() + now_us : us;
    return deadline < 0 ? 0 : deadline;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return scheduler_is_running() ? wait_on(cond, mutex, -1)
                                  : __real_pthread_cond_wait(cond, mutex);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    if (!scheduler_is_running()) {
        return __real_pthread_cond_timedwait(cond, mutex, until);
    }
    return wait_on(cond, mutex, deadline_of(((SimCond *)(void *)cond)->clock, until));
}

int __wrap_pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                  const struct timespec *until)
{
    assert(scheduler_is_running());
    return wait_on(cond, mutex, deadline_of((int)clock, until));
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
    if (!scheduler_is_running()) {
        return __real_pthread_cond_signal(cond);
    }
    scheduler_wake_one(cond);
    scheduler_yield();
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
    if (!scheduler_is_running()) {
        return __real_pthread_cond_broadcast(cond);
    }
    scheduler_wake_all(cond);
    scheduler_yield();
    return 0;
}

/* ------------------------------------------------------------ rwlocks, semaphores, once ---- */

int __wrap_pthread_rwlock_init(pthread_rwlock_t *rwlock, const pthread_rwlockattr_t *attributes)
{
    if (!scheduler_is_running()) {
        return __real_pthread_rwlock_init(rwlock, attributes);
    }
    memset(rwlock, 0, sizeof *rwlock);
    ((SimRwlock *)(void *)rwlock)->group = scheduler_group();
    return 0;
}

int __wrap_pthread_rwlock_destroy(pthread_rwlock_t *rwlock)
{
    return scheduler_is_running() ? 0 : __real_pthread_rwlock_destroy(rwlock);
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
    if (!scheduler_is_running()) {
        return __real_pthread_rwlock_rdlock(rwlock);
    }
    SimRwlock *sim = (SimRwlock *)(void *)rwlock;
    scheduler_yield();
    while (sim->writer != 0) {
        (void)scheduler_wait(sim, -1, false);
    }
    sim->readers++;
    scheduler_hold(sim->group == GROUP_WORLD);
    return 0;
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
    if (!scheduler_is_running()) {
        return __real_pthread_rwlock_wrlock(rwlock);
    }
    SimRwlock *sim = (SimRwlock *)(void *)rwlock;
    scheduler_yield();
    while (sim->writer != 0 || sim->readers > 0) {
        (void)scheduler_wait(sim, -1, false);
    }
    sim->writer = scheduler_fiber() + 1;
    scheduler_hold(sim->group == GROUP_WORLD);
    return 0;
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *rwlock)
{
    if (!scheduler_is_running()) {
        return __real_pthread_rwlock_unlock(rwlock);
    }
    SimRwlock *sim = (SimRwlock *)(void *)rwlock;
    if (sim->writer == scheduler_fiber() + 1) {
        sim->writer = 0;
    } else {
        assert(sim->readers > 0);
        sim->readers--;
    }
    scheduler_hold(-(sim->group == GROUP_WORLD));
    scheduler_wake_all(sim);
    scheduler_yield();
    return 0;
}

int __wrap_sem_init(sem_t *semaphore, int shared, unsigned value)
{
    assert(scheduler_is_running() && shared == 0);
    memset(semaphore, 0, sizeof *semaphore);
    *(unsigned *)(void *)semaphore = value;
    return 0;
}

int __wrap_sem_destroy(sem_t *semaphore)
{
    (void)semaphore;
    return 0;
}

static int sem_take(sem_t *semaphore, int64_t deadline_us)
{
    unsigned *value = (unsigned *)(void *)semaphore;
    scheduler_yield();
    while (*value == 0) {
        if (!scheduler_wait(value, deadline_us, false)) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    --*value;
    return 0;
}

int __wrap_sem_wait(sem_t *semaphore)
{
    return sem_take(semaphore, -1);
}

int __wrap_sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    return sem_take(semaphore, deadline_of(CLOCK_REALTIME, until));
}

int __wrap_sem_trywait(sem_t *semaphore)
{
    unsigned *value = (unsigned *)(void *)semaphore;
    scheduler_yield();
    if (*value == 0) {
        errno = EAGAIN;
        return -1;
    }
    --*value;
    return 0;
}

int __wrap_sem_post(sem_t *semaphore)
{
    unsigned *value = (unsigned *)(void *)semaphore;
    ++*value;
    scheduler_wake_one(value);
    scheduler_yield();
    return 0;
}

int __wrap_pthread_once(pthread_once_t *once, void (*body)(void))
{
    enum { NEW = 0, RUNS = 1, DONE = 2 };
    if (!scheduler_is_running()) {
        return __real_pthread_once(once, body);
    }
    while (*once == RUNS) {
        (void)scheduler_wait(once, -1, false);
    }
    if (*once == NEW) {
        *once = RUNS;
        scheduler_hold(1);
        body();
        scheduler_hold(-1);
        *once = DONE;
        scheduler_wake_all(once);
    }
    return 0;
}

/* ------------------------------------------------------------- clocks, sleeps, randomness ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    if (!scheduler_is_running()) {
        return __real_clock_gettime(clock, ret_time);
    }
    scheduler_yield();
    bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    int64_t us = wall ? scheduler_wall_us() : scheduler_now_us();
    *ret_time = (struct timespec){us / 1000000, us % 1000000 * 1000};
    return 0;
}

int __wrap_gettimeofday(struct timeval *ret_time, void *zone)
{
    (void)zone;
    struct timespec now;
    (void)__wrap_clock_gettime(CLOCK_REALTIME, &now);
    *ret_time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t __wrap_time(time_t *ret_time)
{
    struct timespec now;
    (void)__wrap_clock_gettime(CLOCK_REALTIME, &now);
    if (ret_time != NULL) {
        *ret_time = now.tv_sec;
    }
    return now.tv_sec;
}

int __wrap_nanosleep(const struct timespec *wait, struct timespec *left)
{
    if (!scheduler_is_running()) {
        return __real_nanosleep(wait, left);
    }
    scheduler_sleep_us((int64_t)wait->tv_sec * 1000000 + wait->tv_nsec / 1000);
    return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *wait,
                           struct timespec *left)
{
    assert(scheduler_is_running());
    (void)left;
    if ((flags & TIMER_ABSTIME) != 0) {
        scheduler_sleep_us(deadline_of((int)clock, wait) - scheduler_now_us());
    } else {
        scheduler_sleep_us((int64_t)wait->tv_sec * 1000000 + wait->tv_nsec / 1000);
    }
    return 0;
}

int __wrap_usleep(useconds_t us)
{
    scheduler_sleep_us(us);
    return 0;
}

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags)
{
    if (!scheduler_is_running()) {
        return __real_getrandom(bytes, size, flags);
    }
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)bytes)[i] = (unsigned char)chance_next(&randomness);
    }
    return (ssize_t)size;
}

pid_t __wrap_getpid(void)
{
    return scheduler_is_running() ? 1000 + scheduler_group() : __real_getpid();
}

int __wrap_gethostname(char *name, size_t size)
{
    if (!scheduler_is_running()) {
        return __real_gethostname(name, size);
    }
    (void)snprintf(name, size, "host");
    return 0;
}
