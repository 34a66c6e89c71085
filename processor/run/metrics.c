/* The metrics of a pipeline: the registry. metrics_text.c writes them out, metrics_health.c judges
 * them. */
#include "processor/run/metrics.h"

#include <assert.h>
#include <stdio.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "processor/run/metrics_internal.h"

#include "processor/base/banned.h"

Metrics *metrics_new(const Program *program)
{
    Metrics *metrics = mem_new(Metrics);
    metrics->program = program;
    metrics->created_us = clock_now_us(NULL);
    pthread_mutex_init(&metrics->lock, NULL);
    for (int i = 0; i < MEMORY_PART_COUNT; i++) {
        atomic_store(&metrics->memory[i], -1);
    }
    metrics->flow_count = program->table_count;
    metrics->flows = mem_alloc_array(metrics->flow_count, sizeof *metrics->flows);
    for (size_t i = 0; i < metrics->flow_count; i++) {
        flow_meter_init(&metrics->flows[i], &program->tables[i]);
    }
    return metrics;
}

void metrics_free(Metrics *metrics)
{
    if (metrics == NULL) {
        return;
    }
    for (size_t i = 0; i < metrics->flow_count; i++) {
        flow_meter_done(&metrics->flows[i]);
    }
    mem_free(metrics->flows);
    pthread_mutex_destroy(&metrics->lock);
    mem_free(metrics);
}

FlowMeter *metrics_flow(Metrics *metrics, size_t index)
{
    if (metrics == NULL) {
        return NULL;
    }
    assert(index < metrics->flow_count);
    return &metrics->flows[index];
}

size_t metrics_flow_count(const Metrics *metrics)
{
    return metrics == NULL ? 0 : metrics->flow_count;
}

void metrics_set_phase(Metrics *metrics, PipelinePhase phase, const char *detail)
{
    if (metrics == NULL) {
        return;
    }
    pthread_mutex_lock(&metrics->lock);
    (void)snprintf(metrics->phase_detail, sizeof metrics->phase_detail, "%s",
                   detail == NULL ? "" : detail);
    pthread_mutex_unlock(&metrics->lock);
    atomic_store(&metrics->phase, (int)phase);
}

void metrics_set_state(Metrics *metrics, State *state)
{
    if (metrics != NULL) {
        pthread_mutex_lock(&metrics->lock);
        metrics->state = state;
        pthread_mutex_unlock(&metrics->lock);
    }
}

void metrics_set_events(Metrics *metrics, EventLog *events)
{
    if (metrics != NULL) {
        pthread_mutex_lock(&metrics->lock);
        metrics->events = events;
        pthread_mutex_unlock(&metrics->lock);
    }
}

void metrics_set_memory(Metrics *metrics, MemoryPart part, size_t bytes)
{
    if (metrics != NULL) {
        atomic_store_explicit(&metrics->memory[part], (int64_t)bytes, memory_order_relaxed);
    }
}
