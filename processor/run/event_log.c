/* Writing events. */
#include "processor/run/event_log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "connectors/format/json_tree.h"
#include "processor/base/hash.h"
#include "processor/base/json_writer.h"
#include "processor/base/memory.h"
#include "processor/base/uuid.h"

#include "processor/base/banned.h"

enum { READ_TIMEOUT_MS = 10000, POLL_MS = 100, HOST_SIZE = 256 };

struct EventLog {
    Log *log;
    LogProducer *producer; /* protected by lock, as are sequence and local_sequence */
    char *topic;
    char *pipeline;
    char pipeline_id[37];
    char *instance;
    const Clock *clock;
    char host[HOST_SIZE];
    pthread_mutex_t lock;
    int64_t sequence;
    int64_t local_sequence;
    atomic_ullong lost;
};

void pipeline_id_of(Str pipeline, char ret_id[37])
{
    uint64_t a = hash_bytes(pipeline);
    uint64_t b = hash_combine(a, hash_bytes(STR("tidemark pipeline")));
    (void)snprintf(ret_id, 37, "%08x-%04x-8%03x-a%03x-%012llx", (unsigned)(a >> 32),
                   (unsigned)(a >> 16 & 0xFFFF), (unsigned)(a & 0xFFF), (unsigned)(b >> 52 & 0xFFF),
                   (unsigned long long)(b & UINT64_C(0xFFFFFFFFFFFF)));
}

static void on_delivery(void *context, const LogDelivery *delivery)
{
    EventLog *events = context;
    if (delivery->error != NULL) {
        atomic_fetch_add(&events->lost, 1);
    }
}

/* The sequence number of the last event in the topic, 0 for an empty one. */
static Error *read_last_sequence(Log *log, const char *topic, int64_t *ret_sequence)
{
    int64_t start = 0;
    int64_t end = 0;
    TRY(log_watermarks(log, topic, 0, READ_UNCOMMITTED, READ_TIMEOUT_MS, &start, &end));
    *ret_sequence = 0;
    if (start >= end) {
        return NULL;
    }
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions options = {.isolation = READ_UNCOMMITTED};
    TRY(log_consumer_open(log, &options, &consumer));
    TRY(log_consumer_assign(consumer, &(LogPosition){topic, 0, end - 1}, 1));
    AUTO(arena) Arena *arena = arena_new("events");
    int64_t deadline = clock_monotonic_ms() + READ_TIMEOUT_MS;
    while (clock_monotonic_ms() < deadline) {
        LogPoll poll = {0};
        TRY(log_consumer_poll(consumer, POLL_MS, 16, arena, &poll));
        for (size_t i = 0; i < poll.record_count; i++) {
            const JsonTree *event = NULL;
            TRY(json_tree_parse(poll.records[i].value, arena, &event));
            const JsonTree *sequence = json_tree_get(event, "sequence");
            *ret_sequence =
                json_tree_int(json_tree_get(sequence, "control_plane_seq_no"), *ret_sequence);
        }
        if (poll.record_count > 0 || poll.end_count > 0) {
            return NULL;
        }
    }
    return error_set_disposition(
        error_new(ERROR_KAFKA_TIMED_OUT, "The last event of topic `%s` could not be read.", topic),
        ERROR_RETRY);
}

static Error *open_producer(EventLog *events)
{
    LogProducerOptions options = {.on_delivery = on_delivery, .context = events};
    return log_producer_open(events->log, &options, &events->producer);
}

Error *event_log_open(const EventLogOptions *options, EventLog **ret_events)
{
    int64_t sequence = 0;
    TRY(read_last_sequence(options->log, options->topic, &sequence));
    EventLog *events = mem_new(EventLog);
    pthread_mutex_init(&events->lock, NULL);
    events->topic = mem_strdup(options->topic);
    events->instance = mem_strdup(options->instance);
    events->clock = options->clock;
    events->log = options->log;
    events->sequence = sequence;
    AUTO_BUFFER Buffer name = {0};
    buffer_append_str(&name, options->pipeline);
    events->pipeline = mem_strdup(buffer_cstr(&name));
    pipeline_id_of(options->pipeline, events->pipeline_id);
    if (gethostname(events->host, sizeof events->host - 1) != 0) {
        (void)snprintf(events->host, sizeof events->host, "unknown");
    }
    Error *error = open_producer(events);
    if (error != NULL) {
        event_log_close(events);
        return error;
    }
    *ret_events = events;
    return NULL;
}

void event_log_close(EventLog *events)
{
    if (events == NULL) {
        return;
    }
    log_producer_close(events->producer);
    pthread_mutex_destroy(&events->lock);
    mem_free(events->topic);
    mem_free(events->pipeline);
    mem_free(events->instance);
    mem_free(events);
}

static const char *level_name(EventLevel level)
{
    switch (level) {
    case EVENT_INFO:
        return "INFO";
    case EVENT_WARN:
        return "WARN";
    case EVENT_ERROR:
        return "ERROR";
    case EVENT_METRICS:
        return "METRICS";
    }
    return "INFO";
}

static void write_origin(JsonWriter *w, const EventLog *events, const Event *event)
{
    json_key(w, "origin");
    json_object_begin(w);
    json_field_cstr(w, "pipeline_id", events->pipeline_id);
    json_field_cstr(w, "pipeline_name", events->pipeline);
    json_field_cstr(w, "pipeline_type", "WORKSPACE");
    json_field_cstr(w, "host", events->host);
    if (event->update_id != NULL) {
        json_field_cstr(w, "update_id", event->update_id);
    }
    if (event->flow.data != NULL) {
        json_field_str(w, "flow_name", event->flow);
    }
    if (event->dataset.data != NULL) {
        json_field_str(w, "dataset_name", event->dataset);
    }
    json_object_end(w);
}

/* ErrorDetail: the cause chain in order, class_name = error class. */
static void write_error(JsonWriter *w, const Error *error)
{
    json_key(w, "error");
    json_object_begin(w);
    json_field_bool(w, "fatal", error_disposition(error) == ERROR_FATAL);
    json_key(w, "exceptions");
    json_array_begin(w);
    for (const Error *at = error; at != NULL; at = error_cause(at)) {
        json_object_begin(w);
        json_field_cstr(w, "class_name", error_class_name(error_class(at)));
        json_field_cstr(w, "message", error_message(at));
        json_key(w, "stack");
        json_array_begin(w);
        json_array_end(w);
        json_object_end(w);
    }
    json_array_end(w);
    json_object_end(w);
}

static void write_sequence(JsonWriter *w, const EventLog *events)
{
    json_key(w, "sequence");
    json_object_begin(w);
    json_field_int(w, "control_plane_seq_no", events->sequence);
    json_key(w, "data_plane_id");
    json_object_begin(w);
    json_field_cstr(w, "instance", events->instance);
    json_field_int(w, "seq_no", events->local_sequence);
    json_object_end(w);
    json_object_end(w);
}

static void format_event(const EventLog *events, const Event *event, int64_t now_us, Buffer *out)
{
    char id[UUID_TEXT_SIZE];
    uuid_generate(id);
    AUTO_BUFFER Buffer time = {0};
    clock_format_utc(now_us, &time);
    JsonWriter w = json_writer(out);
    json_object_begin(&w);
    json_field_cstr(&w, "id", id);
    write_sequence(&w, events);
    write_origin(&w, events, event);
    json_field_str(&w, "timestamp", buffer_str(&time));
    json_field_str(&w, "message", event->message);
    json_field_cstr(&w, "level", level_name(event->level));
    json_field_cstr(&w, "maturity_level", "EVOLVING");
    if (event->error != NULL) {
        write_error(&w, event->error);
    }
    json_key(&w, "details");
    json_object_begin(&w);
    json_key(&w, event->type);
    json_raw(&w, event->details.data == NULL ? STR("{}") : event->details);
    json_object_end(&w);
    json_field_cstr(&w, "event_type", event->type);
    json_object_end(&w);
}

/* A producer that died is made anew: one accident must not end the event log. */
static Error *produce(EventLog *events, const LogOutput *output)
{
    if (events->producer != NULL) {
        Error *error = log_producer_produce(events->producer, output, 1, NULL);
        log_producer_poll(events->producer);
        if (error == NULL || error_disposition(error) != ERROR_FATAL) {
            return error;
        }
        error_free(error);
        log_producer_close(events->producer);
        events->producer = NULL;
    }
    TRY(open_producer(events));
    return log_producer_produce(events->producer, output, 1, NULL);
}

void event_log_write(EventLog *events, const Event *event)
{
    AUTO_BUFFER Buffer value = {0};
    pthread_mutex_lock(&events->lock);
    events->sequence++;
    events->local_sequence++;
    int64_t now_us = clock_now_us(events->clock);
    format_event(events, event, now_us, &value);
    LogOutput output = {.topic = events->topic,
                        .partition = 0,
                        .key = str_from(events->pipeline_id),
                        .value = buffer_str(&value),
                        .timestamp_ms = now_us / 1000};
    Error *error = produce(events, &output);
    pthread_mutex_unlock(&events->lock);
    if (error != NULL) {
        atomic_fetch_add(&events->lost, 1);
        error_free(error);
    }
}

Error *event_log_flush(EventLog *events, int timeout_ms)
{
    pthread_mutex_lock(&events->lock);
    Error *error =
        events->producer == NULL ? NULL : log_producer_flush(events->producer, timeout_ms);
    pthread_mutex_unlock(&events->lock);
    return error;
}

uint64_t event_log_lost(const EventLog *events)
{
    return atomic_load(&events->lost);
}
