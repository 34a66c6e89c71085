/* Bad records on their way to the quarantine topic. */
#include "processor/run/quarantine.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { PROVENANCE_HEADERS = 7 };

struct Quarantine {
    char *topic;
    char *flow;
    Arena *arena;
    LogOutput *outputs;
    size_t count;
    size_t capacity;
};

Quarantine *quarantine_new(const char *topic, Str flow)
{
    Quarantine *quarantine = mem_new(Quarantine);
    AUTO_BUFFER Buffer name = {0};
    buffer_append_str(&name, flow);
    quarantine->topic = mem_strdup(topic);
    quarantine->flow = mem_strdup(buffer_cstr(&name));
    quarantine->arena = arena_new("quarantine");
    return quarantine;
}

void quarantine_free(Quarantine *quarantine)
{
    if (quarantine != NULL) {
        arena_free(quarantine->arena);
        mem_free(quarantine->outputs);
        mem_free(quarantine->topic);
        mem_free(quarantine->flow);
        mem_free(quarantine);
    }
}

static LogHeader text_header(const char *name, const char *text)
{
    return (LogHeader){str_from(name), str_from(text)};
}

static void provenance(const Quarantine *quarantine, const LogRecord *record, const Error *error,
                       LogHeader headers[PROVENANCE_HEADERS])
{
    Arena *arena = quarantine->arena;
    headers[0] = text_header("tidemark.flow", quarantine->flow);
    headers[1] = text_header("tidemark.topic", arena_copy_cstr(arena, str_from(record->topic)));
    headers[2] = text_header("tidemark.partition", arena_printf(arena, "%d", record->partition));
    headers[3] =
        text_header("tidemark.offset", arena_printf(arena, "%lld", (long long)record->offset));
    headers[4] = text_header("tidemark.timestamp",
                             arena_printf(arena, "%lld", (long long)record->timestamp_ms));
    headers[5] = text_header("tidemark.error.class", error_class_name(error_class(error)));
    headers[6] = text_header("tidemark.error.message",
                             arena_copy_cstr(arena, str_from(error_message(error))));
}

void quarantine_add(Quarantine *quarantine, const LogRecord *record, const Error *error)
{
    Arena *arena = quarantine->arena;
    size_t count = record->header_count;
    LogHeader *headers = arena_new_array(arena, LogHeader, count + PROVENANCE_HEADERS);
    for (size_t i = 0; i < count; i++) {
        headers[i].name = arena_copy_str(arena, record->headers[i].name);
        headers[i].value = arena_copy_str(arena, record->headers[i].value);
    }
    provenance(quarantine, record, error, headers + count);
    mem_reserve(quarantine->outputs, &quarantine->capacity, quarantine->count + 1);
    quarantine->outputs[quarantine->count++] =
        (LogOutput){.topic = quarantine->topic,
                    .partition = 0,
                    .key = arena_copy_str(arena, record->key),
                    .value = arena_copy_str(arena, record->value),
                    .headers = headers,
                    .header_count = count + PROVENANCE_HEADERS};
}

const char *quarantine_topic(const Quarantine *quarantine)
{
    return quarantine->topic;
}

size_t quarantine_count(const Quarantine *quarantine)
{
    return quarantine->count;
}

size_t quarantine_bytes(const Quarantine *quarantine)
{
    return arena_used_bytes(quarantine->arena);
}

void quarantine_clear(Quarantine *quarantine)
{
    quarantine->count = 0;
    arena_reset(quarantine->arena);
}

Error *quarantine_write(const Quarantine *quarantine, LogProducer *producer, int64_t time_ms)
{
    for (size_t i = 0; i < quarantine->count; i++) {
        quarantine->outputs[i].timestamp_ms = time_ms;
    }
    return log_producer_produce(producer, quarantine->outputs, quarantine->count, NULL);
}
