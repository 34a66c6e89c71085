/* The functions the linker sends here (interpose_threads.c), and the real ones behind them. The
 * list in CMakeLists.txt names the same functions. */
#ifndef TESTS_SIMULATION_INTERPOSE_H
#define TESTS_SIMULATION_INTERPOSE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Random bytes of the run come from the seed. */
void interpose_open(uint64_t seed);

#define INTERPOSED(result, name, ...)                                                              \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);

INTERPOSED(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
INTERPOSED(int, pthread_join, pthread_t, void **)
INTERPOSED(int, pthread_detach, pthread_t)
INTERPOSED(void, pthread_exit, void *)
INTERPOSED(pthread_t, pthread_self, void)
INTERPOSED(int, pthread_setname_np, pthread_t, const char *)
INTERPOSED(int, sched_yield, void)
INTERPOSED(int, pthread_mutex_init, pthread_mutex_t *, const pthread_mutexattr_t *)
INTERPOSED(int, pthread_mutex_destroy, pthread_mutex_t *)
INTERPOSED(int, pthread_mutex_lock, pthread_mutex_t *)
INTERPOSED(int, pthread_mutex_trylock, pthread_mutex_t *)
INTERPOSED(int, pthread_mutex_unlock, pthread_mutex_t *)
INTERPOSED(int, pthread_cond_init, pthread_cond_t *, const pthread_condattr_t *)
INTERPOSED(int, pthread_cond_destroy, pthread_cond_t *)
INTERPOSED(int, pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *)
INTERPOSED(int, pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *,
           const struct timespec *)
INTERPOSED(int, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t,
           const struct timespec *)
INTERPOSED(int, pthread_cond_signal, pthread_cond_t *)
INTERPOSED(int, pthread_cond_broadcast, pthread_cond_t *)
INTERPOSED(int, pthread_rwlock_init, pthread_rwlock_t *, const pthread_rwlockattr_t *)
INTERPOSED(int, pthread_rwlock_destroy, pthread_rwlock_t *)
INTERPOSED(int, pthread_rwlock_rdlock, pthread_rwlock_t *)
INTERPOSED(int, pthread_rwlock_wrlock, pthread_rwlock_t *)
INTERPOSED(int, pthread_rwlock_unlock, pthread_rwlock_t *)
INTERPOSED(int, sem_init, sem_t *, int, unsigned)
INTERPOSED(int, sem_destroy, sem_t *)
INTERPOSED(int, sem_wait, sem_t *)
INTERPOSED(int, sem_timedwait, sem_t *, const struct timespec *)
INTERPOSED(int, sem_trywait, sem_t *)
INTERPOSED(int, sem_post, sem_t *)
INTERPOSED(int, pthread_once, pthread_once_t *, void (*)(void))
INTERPOSED(int, clock_gettime, clockid_t, struct timespec *)
INTERPOSED(int, gettimeofday, struct timeval *, void *)
INTERPOSED(time_t, time, time_t *)
INTERPOSED(int, nanosleep, const struct timespec *, struct timespec *)
INTERPOSED(int, clock_nanosleep, clockid_t, int, const struct timespec *, struct timespec *)
INTERPOSED(int, usleep, useconds_t)
INTERPOSED(ssize_t, getrandom, void *, size_t, unsigned)
INTERPOSED(pid_t, getpid, void)
INTERPOSED(int, gethostname, char *, size_t)

#endif
