/* /healthz and /readyz: what the meters say about life and readiness.
 *
 * Healthy: no flow is dead. A process that waits for Kafka or its disk is healthy: starting it
 * again would not help. Ready: every flow has finished its start and its commits go through; a
 * commit under way for longer than STALL_US is not going through. An idle flow is ready. */
#include <stdio.h>

#include "processor/base/clock.h"
#include "processor/base/json_writer.h"
#include "processor/run/metrics_internal.h"

#include "processor/base/banned.h"

enum { STALL_US = 10 * 1000 * 1000 };

static const char *const phase_names[] = {"opening", "waiting_for_kafka", "starting", "running",
                                          "stopping"};

/* What keeps a flow from being ready, as state and details; false: nothing. */
typedef struct Trouble {
    const char *state;
    char detail[600];
} Trouble;

static void copy_detail(FlowMeter *meter, Trouble *trouble)
{
    pthread_mutex_lock(&meter->lock);
    (void)snprintf(trouble->detail, sizeof trouble->detail, "%s", meter->detail);
    pthread_mutex_unlock(&meter->lock);
}

static bool flow_is_waited_for(FlowMeter *meter, Trouble *trouble)
{
    FlowState state = flow_meter_state(meter);
    *trouble = (Trouble){.state = flow_state_names[state]};
    if (state == FLOW_RESTORING) {
        (void)snprintf(trouble->detail, sizeof trouble->detail,
                       "table %.*s: %llu of about %llu records", STR_ARG(meter->table),
                       (unsigned long long)counter_get(&meter->restore_done),
                       (unsigned long long)counter_get(&meter->restore_expected));
        return true;
    }
    copy_detail(meter, trouble);
    int64_t began_us = atomic_load(&meter->commit_began_us);
    int64_t waited_us = began_us == 0 ? 0 : clock_monotonic_us() - began_us;
    if (state == FLOW_RUNNING && waited_us > STALL_US) {
        trouble->state = "committing";
        (void)snprintf(trouble->detail, sizeof trouble->detail, "a commit is under way for %lld s",
                       (long long)(waited_us / 1000000));
        return true;
    }
    return state != FLOW_RUNNING || atomic_load(&meter->failing);
}

static void write_trouble(JsonWriter *json, const FlowMeter *meter, const Trouble *trouble)
{
    json_object_begin(json);
    json_field_str(json, "flow", meter->flow);
    json_field_cstr(json, "state", trouble->state);
    if (trouble->detail[0] != '\0') {
        json_field_cstr(json, "detail", trouble->detail);
    }
    json_object_end(json);
}

static void begin_answer(JsonWriter *json, Metrics *metrics, const char *word, bool good)
{
    json_object_begin(json);
    json_field_bool(json, word, good);
    json_field_str(json, "pipeline", metrics->program->topology->pipeline);
    json_field_cstr(json, "phase", phase_names[atomic_load(&metrics->phase)]);
    pthread_mutex_lock(&metrics->lock);
    if (metrics->phase_detail[0] != '\0') {
        json_field_cstr(json, "detail", metrics->phase_detail);
    }
    pthread_mutex_unlock(&metrics->lock);
}

static void end_answer(JsonWriter *json, Buffer *out)
{
    json_array_end(json);
    json_object_end(json);
    buffer_append_byte(out, '\n');
}

bool metrics_is_healthy(Metrics *metrics, Buffer *out)
{
    bool healthy = true;
    for (size_t i = 0; i < metrics->flow_count; i++) {
        healthy = healthy && flow_meter_state(&metrics->flows[i]) != FLOW_FAILED;
    }
    JsonWriter json = json_writer(out);
    begin_answer(&json, metrics, "healthy", healthy);
    json_key(&json, "failed");
    json_array_begin(&json);
    for (size_t i = 0; i < metrics->flow_count && !healthy; i++) {
        FlowMeter *meter = &metrics->flows[i];
        if (flow_meter_state(meter) == FLOW_FAILED) {
            Trouble trouble = {.state = flow_state_names[FLOW_FAILED]};
            copy_detail(meter, &trouble);
            write_trouble(&json, meter, &trouble);
        }
    }
    end_answer(&json, out);
    return healthy;
}

bool metrics_is_ready(Metrics *metrics, Buffer *out)
{
    bool ready = atomic_load(&metrics->phase) == PIPELINE_RUNNING;
    Trouble trouble;
    for (size_t i = 0; i < metrics->flow_count; i++) {
        ready = ready && !flow_is_waited_for(&metrics->flows[i], &trouble);
    }
    JsonWriter json = json_writer(out);
    begin_answer(&json, metrics, "ready", ready);
    json_key(&json, "waiting_for");
    json_array_begin(&json);
    for (size_t i = 0; i < metrics->flow_count && !ready; i++) {
        if (flow_is_waited_for(&metrics->flows[i], &trouble)) {
            write_trouble(&json, &metrics->flows[i], &trouble);
        }
    }
    end_answer(&json, out);
    return ready;
}

void metrics_describe(Metrics *metrics, Buffer *out)
{
    int phase = atomic_load(&metrics->phase);
    if (phase == PIPELINE_OPENING || phase == PIPELINE_WAITING_KAFKA ||
        phase == PIPELINE_STOPPING) {
        buffer_append_cstr(out, phase == PIPELINE_WAITING_KAFKA ? "waiting for Kafka"
                                                                : phase_names[phase]);
        pthread_mutex_lock(&metrics->lock);
        buffer_printf(out, "%s%s", metrics->phase_detail[0] == '\0' ? "" : ": ",
                      metrics->phase_detail);
        pthread_mutex_unlock(&metrics->lock);
        return;
    }
    size_t before = out->size;
    for (size_t i = 0; i < metrics->flow_count; i++) {
        Trouble trouble;
        if (flow_is_waited_for(&metrics->flows[i], &trouble)) {
            buffer_printf(out, "%sflow %.*s %s%s%s", out->size == before ? "" : "; ",
                          STR_ARG(metrics->flows[i].flow), trouble.state,
                          trouble.detail[0] == '\0' ? "" : ": ", trouble.detail);
        }
    }
    if (out->size == before) {
        buffer_printf(out, "%zu flow%s running", metrics->flow_count,
                      metrics->flow_count == 1 ? "" : "s");
    }
}
