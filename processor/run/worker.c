/* A thread that does one piece of work at a time. */
#include "processor/run/worker.h"

#include <assert.h>
#include <pthread.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef enum WorkerState { WORKER_IDLE, WORKER_WORKING, WORKER_DONE, WORKER_ENDING } WorkerState;

struct Worker {
    const char *name;
    bool is_inline;
    bool threaded;
    pthread_t thread;
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    WorkerState state;
    Error *(*work)(void *context);
    void *context;
    Error *result;
};

Worker *worker_new(const char *name, bool is_inline)
{
    Worker *worker = mem_new(Worker);
    worker->name = name;
    worker->is_inline = is_inline;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    return worker;
}

static void *run(void *argument)
{
    Worker *worker = argument;
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        while (worker->state != WORKER_WORKING && worker->state != WORKER_ENDING) {
            pthread_cond_wait(&worker->changed, &worker->lock);
        }
        if (worker->state == WORKER_ENDING) {
            break;
        }
        pthread_mutex_unlock(&worker->lock);
        Error *result = worker->work(worker->context);
        pthread_mutex_lock(&worker->lock);
        worker->result = result;
        worker->state = WORKER_DONE;
        pthread_cond_broadcast(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

static bool has_thread(Worker *worker)
{
    if (!worker->threaded && !worker->is_inline) {
        worker->threaded = pthread_create(&worker->thread, NULL, run, worker) == 0;
        if (worker->threaded) {
            (void)pthread_setname_np(worker->thread, worker->name);
        }
    }
    return worker->threaded;
}

void worker_give(Worker *worker, Error *(*work)(void *context), void *context)
{
    assert(!worker_is_busy(worker));
    if (!has_thread(worker)) {
        worker->result = work(context);
        worker->state = WORKER_DONE;
        return;
    }
    pthread_mutex_lock(&worker->lock);
    worker->work = work;
    worker->context = context;
    worker->state = WORKER_WORKING;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

static WorkerState state_of(Worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    WorkerState state = worker->state;
    pthread_mutex_unlock(&worker->lock);
    return state;
}

bool worker_is_busy(Worker *worker)
{
    return state_of(worker) != WORKER_IDLE;
}

bool worker_is_done(Worker *worker)
{
    return state_of(worker) == WORKER_DONE;
}

Error *worker_take(Worker *worker)
{
    assert(worker_is_busy(worker));
    pthread_mutex_lock(&worker->lock);
    while (worker->state == WORKER_WORKING) {
        pthread_cond_wait(&worker->changed, &worker->lock);
    }
    Error *result = worker->result;
    worker->result = NULL;
    worker->state = WORKER_IDLE;
    pthread_mutex_unlock(&worker->lock);
    return result;
}

void worker_free(Worker *worker)
{
    if (worker == NULL) {
        return;
    }
    if (worker_is_busy(worker)) {
        error_free(worker_take(worker));
    }
    if (worker->threaded) {
        pthread_mutex_lock(&worker->lock);
        worker->state = WORKER_ENDING;
        pthread_cond_broadcast(&worker->changed);
        pthread_mutex_unlock(&worker->lock);
        (void)pthread_join(worker->thread, NULL);
    }
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
    mem_free(worker);
}
