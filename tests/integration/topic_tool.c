/* What the integration tests do to topics: makes them, fills the source with generated rows (ties,
 * late rows, now and then a broken one), holds a foreign transaction open, asks for positions, and
 * audits a table against its source (tests/support/audit.h).
 *
 *     topic_tool create BOOTSTRAP TOPIC PARTITIONS
 *     topic_tool produce BOOTSTRAP TOPIC ROWS SEED ROWS_PER_SECOND   rate 0: as fast as it goes;
 * prints how many rows were acknowledged topic_tool hold BOOTSTRAP TOPIC ROWS SEED       prints
 * "held"; a line "commit" or "abort" on its input ends the transaction topic_tool end BOOTSTRAP
 * TOPIC                  sum of its ends topic_tool position BOOTSTRAP GROUP TOPIC       sum of the
 * group's committed offsets topic_tool audit BOOTSTRAP PIPELINE TABLE [open]     "open": the source
 * may hold more than was read; source <PIPELINE>_source, flow TABLE */
#include <stdio.h>
#include <stdlib.h>

#include "connectors/kafka/kafka.h"
#include "processor/base/clock.h"
#include "tests/support/audit.h"

#include "processor/base/banned.h"

enum { TIMEOUT_MS = 30000, CHUNK = 500, KEYS = 20000, ROW_SIZE = 160 };
/* Longer than any broker is away, and room for what gathers meanwhile: the input must go on where
 * it can, and none of it may be given up. */
enum { DELIVERY_TIMEOUT_MS = 300000, QUEUE_BYTES = 512 << 20 };

static void require(Error *error)
{
    if (error != NULL) {
        Buffer text = {0};
        error_format(error, &text);
        (void)fputs(buffer_cstr(&text), stderr);
        exit(1);
    }
}

static int64_t number(const char *text)
{
    int64_t value = 0;
    if (!str_to_int64(str_from(text), &value)) {
        (void)fprintf(stderr, "topic_tool: %s is no number\n", text);
        exit(2);
    }
    return value;
}

static Log *connect_to(const char *bootstrap)
{
    Log *log = NULL;
    require(kafka_log_open(bootstrap, NULL, 0, &log));
    return log;
}

static int partitions_of(Log *log, const char *topic)
{
    LogTopicDescription description = {0};
    require(log_topic_describe(log, topic, TIMEOUT_MS, &description));
    return description.partition_count;
}

static int create(Log *log, char **arguments)
{
    LogTopicSpec spec = {
        .name = arguments[0], .partitions = (int)number(arguments[1]), .replication_factor = -1};
    require(log_topic_create(log, &spec, TIMEOUT_MS));
    return 0;
}

/* ------------------------------------------------------------------------------- the rows ---- */

typedef struct Generator {
    uint64_t state;
    int64_t next;
    char rows[CHUNK][ROW_SIZE];
    LogOutput outputs[CHUNK];
} Generator;

static uint32_t draw(Generator *generator, uint32_t below)
{
    generator->state ^= generator->state >> 12;
    generator->state ^= generator->state << 25;
    generator->state ^= generator->state >> 27;
    return (uint32_t)((generator->state * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* Sequences grow with time, each is shared by many rows, so a key meets ties; a quarter of the rows
 * is late by up to a few rounds of all keys. */
static size_t write_row(Generator *generator, char *row)
{
    int64_t i = generator->next++;
    if (draw(generator, 5000) == 0) {
        return (size_t)snprintf(row, ROW_SIZE, "{\"k\":1,\"seq\":%lld,\"v\":", (long long)i);
    }
    uint32_t key = draw(generator, KEYS);
    int64_t sequence = i / (KEYS * 2);
    if (draw(generator, 4) == 0) {
        sequence -= (int64_t)draw(generator, 3);
    }
    return (size_t)snprintf(row, ROW_SIZE, "{\"k\":%u,\"seq\":%lld,\"v\":\"row %lld %040u\"}", key,
                            (long long)sequence, (long long)i, draw(generator, 1000000));
}

static void generate(Generator *generator, const char *topic, int partitions, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        size_t size = write_row(generator, generator->rows[n]);
        generator->outputs[n] = (LogOutput){.topic = topic,
                                            .partition = (int)draw(generator, (uint32_t)partitions),
                                            .value = {generator->rows[n], size}};
    }
}

/* The rows that were acknowledged, and those that were not. */
typedef struct Delivered {
    int64_t good;
    int64_t lost;
} Delivered;

static void count_delivery(void *context, const LogDelivery *delivery)
{
    Delivered *delivered = context;
    delivered->good += delivery->error == NULL;
    delivered->lost += delivery->error != NULL;
}

static LogProducer *open_producer(Log *log, Delivered *delivered)
{
    LogProducer *producer = NULL;
    LogProducerOptions options = {.delivery_timeout_ms = DELIVERY_TIMEOUT_MS,
                                  .queue_bytes_max = QUEUE_BYTES,
                                  .on_delivery = count_delivery,
                                  .context = delivered};
    require(log_producer_open(log, &options, &producer));
    return producer;
}

/* A broker that is away comes back: the same rows again, from where they were not taken. A producer
 * that died is made anew; the rows it held count as not delivered, whatever became of them. */
static void produce_patiently(Log *log, LogProducer **producer, Delivered *delivered,
                              const LogOutput *outputs, size_t count)
{
    size_t done = 0;
    while (done < count) {
        size_t queued = 0;
        Error *error = log_producer_produce(*producer, outputs + done, count - done, &queued);
        done += queued;
        if (error == NULL) {
            continue;
        }
        if (error_disposition(error) == ERROR_FATAL) {
            log_producer_close(*producer);
            *producer = open_producer(log, delivered);
        } else if (error_disposition(error) == ERROR_RETRY) {
            clock_sleep_ms(100);
        } else {
            require(error);
        }
        error_free(error);
    }
}

static void flush_patiently(LogProducer *producer)
{
    for (int tries = 0;; tries++) {
        Error *error = log_producer_flush(producer, TIMEOUT_MS);
        if (error == NULL || error_disposition(error) == ERROR_FATAL) {
            error_free(error);
            return;
        }
        if (tries > 3) {
            require(error);
        }
        error_free(error);
    }
}

static int produce(Log *log, char **arguments)
{
    const char *topic = arguments[0];
    int64_t rows = number(arguments[1]);
    int64_t rate = number(arguments[3]);
    int partitions = partitions_of(log, topic);
    Generator *generator = calloc(1, sizeof *generator);
    if (generator == NULL) {
        return 1;
    }
    generator->state = (uint64_t)number(arguments[2]) * UINT64_C(0x9E3779B97F4A7C15) + 1;
    Delivered delivered = {0};
    LogProducer *producer = open_producer(log, &delivered);
    int64_t chunk = rate > 0 && rate / 50 < CHUNK ? rate / 50 + 1 : CHUNK;
    int64_t started_ms = clock_monotonic_ms();
    for (int64_t done = 0; done < rows;) {
        size_t count = (size_t)(rows - done < chunk ? rows - done : chunk);
        generate(generator, topic, partitions, count);
        produce_patiently(log, &producer, &delivered, generator->outputs, count);
        done += (int64_t)count;
        int64_t due_ms = rate == 0 ? 0 : started_ms + done * 1000 / rate;
        int64_t wait_ms = due_ms - clock_monotonic_ms();
        if (wait_ms > 0) {
            clock_sleep_ms(wait_ms);
        }
    }
    flush_patiently(producer);
    log_producer_close(producer);
    free(generator);
    (void)printf("%lld rows delivered\n", (long long)delivered.good);
    return 0;
}

static int hold(Log *log, char **arguments)
{
    const char *topic = arguments[0];
    size_t rows = (size_t)number(arguments[1]);
    Generator *generator = calloc(1, sizeof *generator);
    if (generator == NULL || rows > CHUNK) {
        return 1;
    }
    generator->state = (uint64_t)number(arguments[2]) * UINT64_C(0x9E3779B97F4A7C15) + 1;
    LogProducer *producer = NULL;
    LogProducerOptions options = {.transactional_id = "a-foreign-producer",
                                  .transaction_timeout_ms = 300000};
    require(log_producer_open(log, &options, &producer));
    require(log_producer_init_transactions(producer, TIMEOUT_MS));
    require(log_producer_begin(producer));
    generate(generator, topic, partitions_of(log, topic), rows);
    require(log_producer_produce(producer, generator->outputs, rows, NULL));
    require(log_producer_flush(producer, TIMEOUT_MS));
    (void)puts("held");
    (void)fflush(stdout);
    char line[16] = "";
    bool commit = fgets(line, sizeof line, stdin) != NULL && line[0] == 'c';
    require(commit ? log_producer_commit(producer, TIMEOUT_MS)
                   : log_producer_abort(producer, TIMEOUT_MS));
    log_producer_close(producer);
    free(generator);
    return 0;
}

/* ---------------------------------------------------------------------------- questions ---- */

static int end(Log *log, char **arguments)
{
    int64_t sum = 0;
    int partitions = partitions_of(log, arguments[0]);
    for (int p = 0; p < partitions; p++) {
        int64_t first = 0;
        int64_t last = 0;
        require(log_watermarks(log, arguments[0], p, READ_COMMITTED, TIMEOUT_MS, &first, &last));
        sum += last;
    }
    (void)printf("%lld\n", (long long)sum);
    return 0;
}

static int position(Log *log, char **arguments)
{
    int64_t sum = 0;
    int partitions = partitions_of(log, arguments[1]);
    for (int p = 0; p < partitions; p++) {
        int64_t offset = -1;
        require(log_group_offset(log, arguments[0], arguments[1], p, TIMEOUT_MS, &offset));
        sum += offset < 0 ? 0 : offset;
    }
    (void)printf("%lld\n", (long long)sum);
    return 0;
}

static int audit(Log *log, char **arguments)
{
    AUTO(arena) Arena *arena = arena_new("audit");
    const char *pipeline = arguments[0];
    const char *table = arguments[1];
    bool open = arguments[2] != NULL && strcmp(arguments[2], "open") == 0;
    AuditOptions options = {.log = log,
                            .source_topic = arena_printf(arena, "%s_source", pipeline),
                            .table_topic = arena_printf(arena, "%s_table", pipeline),
                            .progress_topic = arena_printf(arena, "%s.progress", pipeline),
                            .flow = table,
                            .group = arena_printf(arena, "%s.%s", pipeline, table),
                            .complete = !open,
                            .timeout_ms = TIMEOUT_MS};
    AuditResult result = {0};
    Error *error = audit_run(&options, &result);
    (void)printf("%llu source records (%llu broken), %llu epochs of %llu processes, %llu table "
                 "records: %llu rows of %llu keys, at most %llu of one\n",
                 (unsigned long long)result.source_records, (unsigned long long)result.bad_records,
                 (unsigned long long)result.epochs, (unsigned long long)result.instances,
                 (unsigned long long)result.table_records, (unsigned long long)result.rows,
                 (unsigned long long)result.keys, (unsigned long long)result.largest_set);
    (void)fflush(stdout);
    require(error);
    return 0;
}

typedef struct Command {
    const char *name;
    int arguments;
    int (*run)(Log *log, char **arguments);
} Command;

static const Command commands[] = {
    {"create", 2, create}, {"produce", 4, produce},   {"hold", 3, hold},
    {"end", 1, end},       {"position", 2, position}, {"audit", 2, audit},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < ARRAY_LENGTH(commands) && argc > 2; i++) {
        if (strcmp(commands[i].name, argv[1]) == 0 && argc - 3 >= commands[i].arguments) {
            Log *log = connect_to(argv[2]);
            int code = commands[i].run(log, argv + 3);
            log_close(log);
            return code;
        }
    }
    (void)fprintf(stderr, "usage: topic_tool create|produce|hold|end|position|audit BOOTSTRAP …\n");
    return 2;
}
