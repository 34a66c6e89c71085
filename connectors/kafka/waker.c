/* The thread that wakes librdkafka's broker threads, and the judgement when. */
#include "connectors/kafka/waker.h"

#include <pthread.h>
#include <stdio.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { INTERVAL_US = 5000, REQUEST_TIMEOUT_MS = 100, TOPIC_SIZE = 256 };

struct Waker {
    rd_kafka_t *rk;
    void (*release)(void *keep);
    void *keep;
    /* Reader's thread only. */
    size_t length;
    size_t peak;
    int64_t grown_us;
    int64_t woken_us;
    /* Under lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopped;
    bool wanted;
    char topic[TOPIC_SIZE];
    int32_t partition;
};

/* Waits for a request; false when the waker was closed. */
static bool next_request(Waker *waker, char *topic, int32_t *partition)
{
    pthread_mutex_lock(&waker->lock);
    while (!waker->stopped && !waker->wanted) {
        pthread_cond_wait(&waker->changed, &waker->lock);
    }
    bool wanted = !waker->stopped;
    waker->wanted = false;
    (void)snprintf(topic, TOPIC_SIZE, "%s", waker->topic);
    *partition = waker->partition;
    pthread_mutex_unlock(&waker->lock);
    return wanted;
}

static void *run(void *argument)
{
    Waker *waker = argument;
    char topic[TOPIC_SIZE];
    int32_t partition = 0;
    while (next_request(waker, topic, &partition)) {
        int64_t low = 0;
        int64_t high = 0;
        (void)rd_kafka_query_watermark_offsets(waker->rk, topic, partition, &low, &high,
                                               REQUEST_TIMEOUT_MS);
    }
    waker->release(waker->keep);
    pthread_cond_destroy(&waker->changed);
    pthread_mutex_destroy(&waker->lock);
    mem_free(waker);
    return NULL;
}

Waker *waker_open(rd_kafka_t *rk, void (*release)(void *keep), void *keep)
{
    Waker *waker = mem_new(Waker);
    *waker = (Waker){.rk = rk, .release = release, .keep = keep};
    pthread_mutex_init(&waker->lock, NULL);
    pthread_cond_init(&waker->changed, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, waker) != 0) {
        /* Without the thread reading is only slower. */
        release(keep);
        pthread_cond_destroy(&waker->changed);
        pthread_mutex_destroy(&waker->lock);
        mem_free(waker);
        return NULL;
    }
    pthread_detach(thread);
    return waker;
}

void waker_close(Waker *waker)
{
    if (waker == NULL) {
        return;
    }
    pthread_mutex_lock(&waker->lock);
    waker->stopped = true;
    pthread_cond_signal(&waker->changed);
    pthread_mutex_unlock(&waker->lock);
}

bool waker_is_due(Waker *waker, size_t length, size_t taken)
{
    if (waker == NULL) {
        return false;
    }
    bool grown = length + taken > waker->length;
    waker->length = length;
    if (grown) {
        waker->peak = length;
        waker->grown_us = clock_monotonic_us();
        return false;
    }
    if (length >= waker->peak / 10 * 6) {
        return false;
    }
    int64_t now = clock_monotonic_us();
    return now - waker->grown_us >= INTERVAL_US && now - waker->woken_us >= INTERVAL_US;
}

void waker_wake(Waker *waker, const char *topic, int32_t partition)
{
    waker->woken_us = clock_monotonic_us();
    pthread_mutex_lock(&waker->lock);
    (void)snprintf(waker->topic, sizeof waker->topic, "%s", topic);
    waker->partition = partition;
    waker->wanted = true;
    pthread_cond_signal(&waker->changed);
    pthread_mutex_unlock(&waker->lock);
}
