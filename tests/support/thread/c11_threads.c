/* The C11 threads of <threads.h> by POSIX threads. ThreadSanitizer of GCC 12 knows only the latter:
 * a thread that librdkafka makes with thrd_create crashes in its first allocation, and locks taken
 * with mtx_lock order nothing in its eyes. Linked into programs of the thread preset that use
 * librdkafka, whose calls then come here. glibc's C11 types are its POSIX types. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t), "mtx_t holds a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t), "cnd_t holds a pthread_cond_t");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "thrd_t is a pthread_t");

typedef struct Start {
    thrd_start_t function;
    void *argument;
} Start;

static void *run(void *memory)
{
    Start start = *(Start *)memory;
    free(memory);
    return (void *)(intptr_t)start.function(start.argument);
}

static int result_of(int code)
{
    return code == 0           ? thrd_success
           : code == EBUSY     ? thrd_busy
           : code == ETIMEDOUT ? thrd_timedout
                               : thrd_error;
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    Start *start = malloc(sizeof *start);
    if (start == NULL) {
        return thrd_nomem;
    }
    *start = (Start){function, argument};
    int code = pthread_create(thread, NULL, run, start);
    if (code != 0) {
        free(start);
    }
    return result_of(code);
}

int thrd_join(thrd_t thread, int *ret_result)
{
    void *result = NULL;
    int code = pthread_join(thread, &result);
    if (code == 0 && ret_result != NULL) {
        *ret_result = (int)(intptr_t)result;
    }
    return result_of(code);
}

int mtx_init(mtx_t *mutex, int type)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE
                                                                       : PTHREAD_MUTEX_NORMAL);
    int code = pthread_mutex_init((pthread_mutex_t *)mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return result_of(code);
}

void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int mtx_lock(mtx_t *mutex)
{
    return result_of(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

int mtx_trylock(mtx_t *mutex)
{
    return result_of(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

int mtx_unlock(mtx_t *mutex)
{
    return result_of(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

int cnd_init(cnd_t *condition)
{
    return result_of(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

void cnd_destroy(cnd_t *condition)
{
    pthread_cond_destroy((pthread_cond_t *)condition);
}

int cnd_signal(cnd_t *condition)
{
    return result_of(pthread_cond_signal((pthread_cond_t *)condition));
}

int cnd_broadcast(cnd_t *condition)
{
    return result_of(pthread_cond_broadcast((pthread_cond_t *)condition));
}

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return result_of(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                  const struct timespec *restrict until)
{
    return result_of(
        pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
