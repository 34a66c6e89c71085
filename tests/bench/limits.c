/* The parts of the path alone, and the whole, on a real broker: what the machine allows.
 *
 *     bench_limits BOOTSTRAP consume INPUT          the source's reader
 *     bench_limits BOOTSTRAP decode INPUT           … and the decoder
 *     bench_limits BOOTSTRAP produce INPUT OUTPUT   … and every row encoded and written, keys too,
 * in transactions of 100 ms, by a thread of its own: nothing is decided, no state is kept
 *     bench_limits BOOTSTRAP decide TOPOLOGY TABLE_TOPIC
 *                                                   the product's path, state and checkpoints, but
 *                                                   the table's records are dropped, not sent
 *     bench_limits BOOTSTRAP whole TOPOLOGY         the product
 *
 * One line: rows/s, CPU seconds per million rows of this process. Times are from the opening of the
 * reader to the last commit. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "connectors/format/format.h"
#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "tests/bench/common/bench.h"
#include "tests/bench/common/update.h"

#include "processor/base/banned.h"

#define FIELD(text, kind) ((Field){.name = STR(text), .type = (kind)})

enum {
    KEY_COLUMNS = 2,
    COMMIT_MS = 100,
    CHUNKS = 32, /* as much as gathers while a commit is under way */
};

/* ------------------------------------------------------------------------------ sender ---- */

/* Encoded rows on their way to the sender. */
typedef struct Chunk {
    Buffer bytes; /* key, value, key, value … */
    size_t (*sizes)[2];
    size_t count;
} Chunk;

/* Chunks go round between the thread that fills them and the one that sends them. */
typedef struct Sender {
    LogProducer *producer;
    const char *topic;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Chunk chunks[CHUNKS];
    int full;      /* chunks to be sent; under lock */
    bool finished; /* no more will come; under lock */
    int fill;      /* the filler's next chunk */
} Sender;

static void on_delivery(void *context, const LogDelivery *delivery)
{
    (void)context;
    if (delivery->error != NULL) {
        bench_check(error_copy(delivery->error));
    }
}

static void send_chunk(Sender *sender, const Chunk *chunk)
{
    LogOutput outputs[BATCH_ROWS];
    const char *at = chunk->bytes.data;
    for (size_t i = 0; i < chunk->count; i++) {
        size_t key = chunk->sizes[i][0];
        size_t value = chunk->sizes[i][1];
        outputs[i] = (LogOutput){.topic = sender->topic,
                                 .partition = LOG_PARTITION_BY_KEY,
                                 .key = {at, key},
                                 .value = {at + key, value}};
        at += key + value;
    }
    bench_check(log_producer_produce(sender->producer, outputs, chunk->count, NULL));
}

static bool wait_for_chunk(Sender *sender)
{
    (void)pthread_mutex_lock(&sender->lock);
    while (sender->full == 0 && !sender->finished) {
        (void)pthread_cond_wait(&sender->changed, &sender->lock);
    }
    bool have = sender->full > 0;
    (void)pthread_mutex_unlock(&sender->lock);
    return have;
}

static void give_back(Sender *sender)
{
    (void)pthread_mutex_lock(&sender->lock);
    sender->full--;
    (void)pthread_cond_signal(&sender->changed);
    (void)pthread_mutex_unlock(&sender->lock);
}

static void *send_all(void *argument)
{
    Sender *sender = argument;
    int64_t began_ms = clock_monotonic_ms();
    bench_check(log_producer_begin(sender->producer));
    for (int next = 0; wait_for_chunk(sender); next = (next + 1) % CHUNKS) {
        send_chunk(sender, &sender->chunks[next]);
        give_back(sender);
        if (clock_monotonic_ms() - began_ms >= COMMIT_MS) {
            bench_check(log_producer_commit(sender->producer, BENCH_TIMEOUT_MS));
            bench_check(log_producer_begin(sender->producer));
            began_ms = clock_monotonic_ms();
        }
    }
    bench_check(log_producer_commit(sender->producer, BENCH_TIMEOUT_MS));
    return NULL;
}

static void sender_open(Sender *sender, Log *log, const char *topic)
{
    LogProducerOptions options = {.transactional_id = "bench_limits", .on_delivery = on_delivery};
    *sender = (Sender){.topic = topic};
    (void)pthread_mutex_init(&sender->lock, NULL);
    (void)pthread_cond_init(&sender->changed, NULL);
    for (int i = 0; i < CHUNKS; i++) {
        sender->chunks[i].sizes = mem_alloc_array(BATCH_ROWS, sizeof *sender->chunks[i].sizes);
    }
    bench_check(log_producer_open(log, &options, &sender->producer));
    bench_check(log_producer_init_transactions(sender->producer, BENCH_TIMEOUT_MS));
    if (pthread_create(&sender->thread, NULL, send_all, sender) != 0) {
        bench_check(error_new(ERROR_INTERNAL_ERROR, "no thread could be started"));
    }
}

static Chunk *empty_chunk(Sender *sender)
{
    (void)pthread_mutex_lock(&sender->lock);
    while (sender->full == CHUNKS) {
        (void)pthread_cond_wait(&sender->changed, &sender->lock);
    }
    (void)pthread_mutex_unlock(&sender->lock);
    Chunk *chunk = &sender->chunks[sender->fill];
    sender->fill = (sender->fill + 1) % CHUNKS;
    buffer_clear(&chunk->bytes);
    chunk->count = 0;
    return chunk;
}

static void sender_take(Sender *sender, bool finished)
{
    (void)pthread_mutex_lock(&sender->lock);
    sender->full += !finished;
    sender->finished = finished;
    (void)pthread_cond_signal(&sender->changed);
    (void)pthread_mutex_unlock(&sender->lock);
}

static void sender_close(Sender *sender)
{
    sender_take(sender, true);
    (void)pthread_join(sender->thread, NULL);
    log_producer_close(sender->producer);
    for (int i = 0; i < CHUNKS; i++) {
        buffer_done(&sender->chunks[i].bytes);
        mem_free(sender->chunks[i].sizes);
    }
    (void)pthread_mutex_destroy(&sender->lock);
    (void)pthread_cond_destroy(&sender->changed);
}

/* ------------------------------------------------------------------------------- parts ---- */

typedef struct Parts {
    uint64_t rows;
    const Schema *schema;
    Decoder *decoder; /* NULL: consume only */
    Arena *arena;     /* of a batch */
    Sender *sender;   /* NULL: nothing is sent */
} Parts;

static void encode(Parts *parts, const Batch *batch)
{
    Chunk *chunk = empty_chunk(parts->sender);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        size_t start = chunk->bytes.size;
        json_encode_key(parts->schema->fields, batch->columns, KEY_COLUMNS, row, 0, &chunk->bytes);
        size_t middle = chunk->bytes.size;
        json_encode_row(batch, row, &chunk->bytes);
        chunk->sizes[chunk->count][0] = middle - start;
        chunk->sizes[chunk->count++][1] = chunk->bytes.size - middle;
    }
    sender_take(parts->sender, false);
}

static void take_batch(void *context, const LogRecord *records, size_t count)
{
    Parts *parts = context;
    parts->rows += count;
    if (parts->decoder == NULL) {
        return;
    }
    arena_reset(parts->arena);
    Str *values = arena_new_array(parts->arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = records[i].value;
    }
    RowErrors bad = {0};
    Batch *batch = NULL;
    decoder_decode(parts->decoder, values, count, parts->arena, &bad, &batch);
    if (bad.count > 0) {
        bench_check(error_copy(bad.errors[0]));
    }
    if (parts->sender != NULL) {
        encode(parts, batch);
    }
    row_errors_done(&bad);
}

static const Schema *make_schema(Arena *arena)
{
    const Field columns[] = {
        FIELD("region", &type_string), FIELD("customer_id", &type_bigint),
        FIELD("seq", &type_bigint),    FIELD("amount", type_decimal(arena, 10, 2)),
        FIELD("status", &type_string), FIELD("updated_at", &type_timestamp),
        FIELD("note", &type_string)};
    return schema_new(arena, columns, ARRAY_LENGTH(columns));
}

static void run_parts(const char *bootstrap, bool decode, const char *input, const char *output)
{
    AUTO(arena) Arena *arena = arena_new("bench");
    Log *log = bench_connect(bootstrap);
    Parts parts = {.schema = make_schema(arena), .arena = arena_new("batch")};
    const DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = time_zone_utc()};
    Sender sender;
    if (decode) {
        bench_check(decoder_open(&options, parts.schema, &parts.decoder));
    }
    if (output != NULL) {
        sender_open(&sender, log, output);
        parts.sender = &sender;
    }
    double cpu = bench_cpu_seconds();
    double started = bench_seconds();
    bench_read_batches(log, input, BATCH_ROWS, take_batch, &parts);
    if (output != NULL) {
        sender_close(&sender);
    }
    double seconds = bench_seconds() - started;
    (void)printf("rows=%llu rows_per_s=%.0f cpu_s_per_million=%.3f\n",
                 (unsigned long long)parts.rows, (double)parts.rows / seconds,
                 (bench_cpu_seconds() - cpu) / (double)parts.rows * 1e6);
    decoder_close(parts.decoder);
    arena_free(parts.arena);
    log_close(log);
}

/* ------------------------------------------------------------------- decide and whole ---- */

/* Records of one topic are dropped; all else, progress records and transactions too, is real. */
static struct Muted {
    const char *topic;
    const LogOps *real;
    LogOps ops;
    void (*on_delivery)(void *context, const LogDelivery *delivery); /* of the flow's producer */
    void *context;
    int64_t offset;
} muted;

static bool is_muted(const LogOutput *output)
{
    return strcmp(output->topic, muted.topic) == 0;
}

static void drop_record(const LogOutput *output)
{
    LogDelivery delivery = {.topic = output->topic,
                            .partition = output->partition,
                            .offset = muted.offset++,
                            .tag = output->tag};
    if (muted.on_delivery != NULL) {
        muted.on_delivery(muted.context, &delivery);
    }
}

static Error *produce_others(LogProducer *producer, const LogOutput *outputs, size_t count,
                             size_t *ret_queued)
{
    for (size_t i = 0; i < count; i++) {
        if (is_muted(&outputs[i])) {
            drop_record(&outputs[i]);
        } else {
            TRY(muted.real->produce(producer, &outputs[i], 1, NULL));
        }
        if (ret_queued != NULL) {
            *ret_queued = i + 1;
        }
    }
    return NULL;
}

static Error *open_producer(Log *log, const LogProducerOptions *options, LogProducer **ret)
{
    TRY(muted.real->producer_open(log, options, ret));
    if (options->transactional_id == NULL) {
        (*ret)->ops = muted.real; /* the event log's */
        return NULL;
    }
    muted.on_delivery = options->on_delivery;
    muted.context = options->context;
    return NULL;
}

static void mute(Log *log)
{
    muted.real = log->ops;
    muted.ops = *log->ops;
    muted.ops.produce = produce_others;
    muted.ops.producer_open = open_producer;
    log->ops = &muted.ops;
}

/* `silent_topic`: nothing is sent there; NULL: all is. */
static void run_product(const char *topology, const char *silent_topic)
{
    muted.topic = silent_topic;
    BenchUpdate update = bench_update(topology, silent_topic == NULL ? NULL : mute);
    (void)printf("rows=%llu rows_per_s=%.0f cpu_s_per_million=%.3f\n",
                 (unsigned long long)update.rows, (double)update.rows / update.seconds,
                 update.cpu / (double)update.rows * 1e6);
}

int main(int argc, char **argv)
{
    const char *part = argc >= 4 ? argv[2] : "";
    if (argc == 4 && strcmp(part, "consume") == 0) {
        run_parts(argv[1], false, argv[3], NULL);
    } else if (argc == 4 && strcmp(part, "decode") == 0) {
        run_parts(argv[1], true, argv[3], NULL);
    } else if (argc == 5 && strcmp(part, "produce") == 0) {
        run_parts(argv[1], true, argv[3], argv[4]);
    } else if (argc == 5 && strcmp(part, "decide") == 0) {
        run_product(argv[3], argv[4]);
    } else if (argc == 4 && strcmp(part, "whole") == 0) {
        run_product(argv[3], NULL);
    } else {
        bench_usage("bench_limits BOOTSTRAP consume|decode INPUT | produce INPUT OUTPUT | "
                    "decide TOPOLOGY TABLE_TOPIC | whole TOPOLOGY");
    }
    return 0;
}
