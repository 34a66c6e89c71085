/* The demo. */
#include "processor/testing/demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "connectors/kafka/kafka.h"
#include "connectors/sim/sim.h"
#include "processor/run/event_print.h"
#include "processor/run/names.h"
#include "processor/run/pipeline.h"
#include "processor/run/table_fold.h"
#include "processor/run/topic_reader.h"
#include "processor/testing/table_print.h"

#include "processor/base/banned.h"

enum { TIMEOUT_MS = 15000 };

/* The name of the pipeline is the prefix of its topics. */
static const char *topology_of(Arena *arena, const char *name)
{
    return arena_printf(
        arena,
        "pipeline: %s\n"
        "kafka: {bootstrap: localhost:9092}\n"
        "sources:\n"
        "  booking_updates:\n"
        "    topic: %s_updates\n"
        "    columns: booking_id BIGINT, status STRING, total_amount DECIMAL(10,2), update_id "
        "BIGINT\n"
        "tables:\n"
        "  bookings_current: {topic: %s_current}\n"
        "sql: |\n"
        "  CREATE OR REFRESH STREAMING TABLE bookings_current\n"
        "    (CONSTRAINT positive_amount EXPECT (total_amount >= 0) ON VIOLATION DROP ROW)\n"
        "  FLOW REPLACE USING (booking_id) SEQUENCE BY update_id BY NAME\n"
        "  SELECT * FROM STREAM(booking_updates);\n",
        name, name, name);
}

typedef struct Round {
    const char *story;
    const char *const *records;
    size_t count;
} Round;

static const char *const first_records[] = {
    "{\"booking_id\":1,\"status\":\"pending\",\"total_amount\":100.00,\"update_id\":11}",
    "{\"booking_id\":2,\"status\":\"pending\",\"total_amount\":80.00,\"update_id\":12}",
    "{\"booking_id\":3,\"status\":\"pending\",\"total_amount\":45.50,\"update_id\":13}",
};
static const char *const second_records[] = {
    "{\"booking_id\":1,\"status\":\"cancelled\",\"total_amount\":0.00,\"update_id\":16}",
    "{\"booking_id\":1,\"status\":\"confirmed\",\"total_amount\":90.00,\"update_id\":14}",
    "{\"booking_id\":2,\"status\":\"split: room A\",\"total_amount\":50.00,\"update_id\":15}",
    "{\"booking_id\":2,\"status\":\"split: room B\",\"total_amount\":30.00,\"update_id\":15}",
};
static const char *const third_records[] = {
    "{\"booking_id\":2,\"status\":\"confirmed\",\"total_amount\":80.00,\"update_id\":18}",
    "{\"booking_id\":3,\"status\":\"refund\",\"total_amount\":-45.50,\"update_id\":19}",
    "{\"booking_id\":3,\"status\":\"confirmed\",\"total_amount\":45.50,\"update_id\":17}",
    "{\"booking_id\":4,\"status\":\"pending\"",
};

#define ROUND(story, records) {story, records, ARRAY_LENGTH(records)}
static const Round rounds[] = {
    ROUND("Three bookings arrive.", first_records),
    ROUND("Booking 1: update 16 overtakes update 14, which is then too late. Booking 2: two rows\n"
          "share update 15, so both stay.",
          second_records),
    ROUND("Booking 2: one row replaces both. Booking 3: an invalid row (negative amount) is\n"
          "dropped and leaves no mark, so the older update 17 still applies. The last record is\n"
          "broken JSON: it goes to quarantine.",
          third_records),
};

typedef struct Demo {
    Arena *arena;
    Log *log;
    const char *name;
    const char *source_topic;
    const char *table_topic;
    char state_dir[64];
    Program *program;
    Pipeline *pipeline;
} Demo;

static Error *first_mistake(Diagnostics *diagnostics)
{
    Error *error = NULL;
    if (diagnostics->count > 0) {
        error = diagnostics->errors[0];
        diagnostics->errors[0] = NULL;
    }
    diagnostics_done(diagnostics);
    return error;
}

static Error *load(Demo *demo)
{
    const char *text = topology_of(demo->arena, demo->name);
    (void)printf("The topology:\n\n%s\n", text);
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    topology_load_text(str_from(text), "demo.yaml", NULL, demo->arena, &diagnostics, &topology);
    if (diagnostics.count == 0) {
        program_load(topology, demo->arena, &diagnostics, &demo->program);
    }
    return first_mistake(&diagnostics);
}

static Error *feed(Demo *demo, const Round *round)
{
    AUTO(log_producer) LogProducer *producer = NULL;
    TRY(log_producer_open(demo->log, &(LogProducerOptions){0}, &producer));
    for (size_t i = 0; i < round->count; i++) {
        LogOutput output = {
            .topic = demo->source_topic, .partition = 0, .value = str_from(round->records[i])};
        TRY(log_producer_produce(producer, &output, 1, NULL));
    }
    return log_producer_flush(producer, TIMEOUT_MS);
}

static Error *print_table(Demo *demo)
{
    AUTO(arena) Arena *arena = arena_new("fold");
    FoldedTable table = {0};
    TRY(table_fold(demo->log, demo->table_topic, demo->program->tables[0].bound->schema, NULL,
                   TIMEOUT_MS, arena, &table));
    AUTO_BUFFER Buffer text = {0};
    table_print(table.rows, time_zone_utc(), &text);
    (void)printf("\n  bookings_current is now:\n%s", buffer_cstr(&text));
    return NULL;
}

static Error *play_round(Demo *demo, size_t number)
{
    const Round *round = &rounds[number];
    (void)printf("\n--- Round %zu ---\n%s\n\n", number + 1, round->story);
    for (size_t i = 0; i < round->count; i++) {
        (void)printf("  > %s\n", round->records[i]);
    }
    TRY(feed(demo, round));
    UpdateRequest request = {.cause = "USER_ACTION"};
    UpdateResult result;
    TRY(pipeline_update(demo->pipeline, &request, &result));
    return print_table(demo);
}

static void print_record(const LogRecord *record)
{
    if (record->value.data == NULL) {
        (void)printf("  %3lld  %-28.*s (tombstone: the row is gone)\n", (long long)record->offset,
                     STR_ARG(record->key));
    } else {
        (void)printf("  %3lld  %-28.*s %.*s\n", (long long)record->offset, STR_ARG(record->key),
                     STR_ARG(record->value));
    }
}

static void print_event_record(const LogRecord *record)
{
    AUTO(arena) Arena *arena = arena_new("event");
    AUTO_BUFFER Buffer line = {0};
    event_print(record->value, arena, &line);
    (void)printf("  %s\n", buffer_cstr(&line));
}

static Error *print_topic(Demo *demo, const char *topic, void (*print)(const LogRecord *record))
{
    int64_t start = 0;
    int64_t end = 0;
    TRY(topic_settled_range(demo->log, topic, 0, TIMEOUT_MS, &start, &end));
    AUTO(topic_reader) TopicReader *reader = NULL;
    TRY(topic_reader_open(demo->log, topic, 1, &start, &end, &reader));
    AUTO(arena) Arena *arena = arena_new("records");
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(reader, TIMEOUT_MS, arena, &records, &count));
        if (count == 0) {
            return NULL;
        }
        for (size_t i = 0; i < count; i++) {
            print(&records[i]);
        }
    }
}

static Error *play(Demo *demo)
{
    TRY(load(demo));
    LogTopicSpec spec = {.name = demo->source_topic, .partitions = 1, .replication_factor = -1};
    TRY(log_topic_create(demo->log, &spec, TIMEOUT_MS));
    PipelineOptions options = {
        .program = demo->program, .log = demo->log, .state_dir = demo->state_dir};
    TRY(pipeline_open(&options, &demo->pipeline));
    for (size_t i = 0; i < ARRAY_LENGTH(rounds); i++) {
        TRY(play_round(demo, i));
    }
    (void)printf("\n--- What is in the topic %s ---\n"
                 "One record a row; folding it by key gives the table.\n\n",
                 demo->table_topic);
    TRY(print_topic(demo, demo->table_topic, print_record));
    Str pipeline = demo->program->topology->pipeline;
    (void)printf("\n--- The event log ---\n\n");
    return print_topic(demo, name_event_log_topic(demo->arena, pipeline), print_event_record);
}

/* On a real broker the demo leaves nothing behind. */
static void delete_topics(Demo *demo)
{
    if (demo->program == NULL) {
        return;
    }
    Str pipeline = demo->program->topology->pipeline;
    const char *topics[] = {
        demo->source_topic, demo->table_topic, name_progress_topic(demo->arena, pipeline),
        name_event_log_topic(demo->arena, pipeline), name_quarantine_topic(demo->arena, pipeline)};
    for (size_t i = 0; i < ARRAY_LENGTH(topics); i++) {
        error_free(log_topic_delete(demo->log, topics[i], TIMEOUT_MS));
    }
}

static Error *play_in_folder(Demo *demo)
{
    (void)snprintf(demo->state_dir, sizeof demo->state_dir, "/tmp/tidemark-demo-XXXXXX");
    if (mkdtemp(demo->state_dir) == NULL) {
        return error_new(ERROR_STATE_UNWRITABLE, "A folder for the demo's state cannot be made.");
    }
    Error *error = play(demo);
    pipeline_close(demo->pipeline);
    state_remove(demo->state_dir);
    return error;
}

Error *demo_run(const char *bootstrap)
{
    Demo demo = {.arena = arena_new("demo"), .name = "demo"};
    SimBroker *broker = NULL;
    Error *error = NULL;
    if (bootstrap == NULL) {
        broker = sim_broker_new();
        demo.log = sim_broker_connect(broker);
        (void)printf("This is tidemark on a Kafka model inside the process. Give --bootstrap "
                     "HOST:PORT to see it on yours.\n\n");
    } else {
        demo.name = arena_printf(demo.arena, "tidemark_demo_%ld", (long)getpid());
        error = kafka_log_open(bootstrap, NULL, 0, &demo.log);
    }
    if (error == NULL) {
        error = log_ping(demo.log, TIMEOUT_MS);
    }
    if (error == NULL) {
        demo.source_topic = arena_printf(demo.arena, "%s_updates", demo.name);
        demo.table_topic = arena_printf(demo.arena, "%s_current", demo.name);
        error = play_in_folder(&demo);
        if (bootstrap != NULL) {
            delete_topics(&demo);
        }
    }
    log_close(demo.log);
    if (broker != NULL) {
        sim_broker_free(broker);
    }
    arena_free(demo.arena);
    return error;
}
