/* Transactions of a flow. */
#include "processor/run/flow_writer.h"

#include <assert.h>

#include "connectors/format/format.h"
#include "processor/base/fault.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

/* A record's tag: number of its table and, from 1, of its row in the table's delta. */
enum { CHUNK_ROWS = 1024, TRANSACTION_TIMEOUT_MS = 60000, TAG_ROW_BITS = 48 };

typedef struct WriterTable {
    FlowWriterTable table;
    int64_t *ends;     /* a partition: behind its last record, committed */
    int64_t *new_ends; /* the same with the open transaction's deliveries */
    uint64_t rows;     /* queued in this transaction */
} WriterTable;

struct FlowWriter {
    FlowWriterOptions options;
    LogProducer *producer;
    WriterTable *tables;
    bool open;             /* a transaction */
    Error *delivery_error; /* the first record that was not stored */
    uint64_t delivery_tag; /* of that; 0: no table row */
    Buffer bytes;          /* keys and values of a chunk */
    Arena *arena;          /* of a chunk */
};

static uint64_t next_tag(FlowWriter *writer, size_t number)
{
    return (uint64_t)number << TAG_ROW_BITS | ++writer->tables[number].rows;
}

static uint64_t row_of_tag(uint64_t tag)
{
    return tag & ((UINT64_C(1) << TAG_ROW_BITS) - 1);
}

static void note_delivered(FlowWriter *writer, const LogDelivery *delivery)
{
    WriterTable *table = &writer->tables[delivery->tag >> TAG_ROW_BITS];
    if (delivery->partition < table->table.partitions &&
        delivery->offset + 1 > table->new_ends[delivery->partition]) {
        table->new_ends[delivery->partition] = delivery->offset + 1;
    }
}

static void on_delivery(void *context, const LogDelivery *delivery)
{
    FlowWriter *writer = context;
    if (delivery->error != NULL) {
        if (writer->delivery_error == NULL) {
            writer->delivery_error = error_copy(delivery->error);
            writer->delivery_tag = delivery->tag;
        }
        return;
    }
    if (delivery->tag > 0) {
        note_delivered(writer, delivery);
    }
}

static WriterTable *new_tables(const FlowWriterOptions *options)
{
    WriterTable *tables = mem_alloc_array(options->table_count, sizeof *tables);
    for (size_t i = 0; i < options->table_count; i++) {
        size_t partitions = (size_t)options->tables[i].partitions;
        tables[i] = (WriterTable){.table = options->tables[i],
                                  .ends = mem_alloc_array(partitions, sizeof(int64_t)),
                                  .new_ends = mem_alloc_array(partitions, sizeof(int64_t))};
    }
    return tables;
}

Error *flow_writer_open(const FlowWriterOptions *options, FlowWriter **ret_writer)
{
    FlowWriter *writer = mem_new(FlowWriter);
    writer->options = *options;
    writer->tables = new_tables(options);
    writer->arena = arena_new("write");
    LogProducerOptions producer = {.transactional_id = options->transactional_id,
                                   .transaction_timeout_ms = TRANSACTION_TIMEOUT_MS,
                                   .queue_bytes_max = options->queue_bytes_max,
                                   .on_delivery = on_delivery,
                                   .context = writer};
    Error *error = log_producer_open(options->log, &producer, &writer->producer);
    if (error == NULL) {
        error = log_producer_init_transactions(writer->producer, options->timeout_ms);
    }
    if (error != NULL) {
        flow_writer_close(writer);
        return error;
    }
    *ret_writer = writer;
    return NULL;
}

void flow_writer_close(FlowWriter *writer)
{
    if (writer == NULL) {
        return;
    }
    log_producer_close(writer->producer);
    error_free(writer->delivery_error);
    for (size_t i = 0; i < writer->options.table_count; i++) {
        mem_free(writer->tables[i].ends);
        mem_free(writer->tables[i].new_ends);
    }
    mem_free(writer->tables);
    buffer_done(&writer->bytes);
    arena_free(writer->arena);
    mem_free(writer);
}

static size_t ends_size(const WriterTable *table)
{
    return (size_t)table->table.partitions * sizeof(int64_t);
}

void flow_writer_set_ends(FlowWriter *writer, size_t number, const int64_t *ends)
{
    WriterTable *table = &writer->tables[number];
    memcpy(table->ends, ends, ends_size(table));
    memcpy(table->new_ends, ends, ends_size(table));
}

const int64_t *flow_writer_ends(const FlowWriter *writer, size_t number)
{
    return writer->tables[number].ends;
}

Error *flow_writer_begin(FlowWriter *writer)
{
    assert(!writer->open);
    TRY(log_producer_begin(writer->producer));
    writer->open = true;
    for (size_t i = 0; i < writer->options.table_count; i++) {
        writer->tables[i].rows = 0;
    }
    return NULL;
}

/* Key and value of one output lie in writer->bytes, which moves while it grows: offsets until the
 * chunk is complete. */
typedef struct Span {
    size_t key_start;
    size_t key_size;
    size_t value_start;
    size_t value_size;
    bool tombstone;
} Span;

static Error *format_chunk(FlowWriter *writer, const Table *table, const DeltaRow *rows,
                           size_t count, Span *spans)
{
    for (size_t i = 0; i < count; i++) {
        Span *span = &spans[i];
        span->key_start = writer->bytes.size;
        json_key_write_ordinal(rows[i].message_key, rows[i].ordinal, &writer->bytes);
        span->key_size = writer->bytes.size - span->key_start;
        span->value_start = writer->bytes.size;
        span->tombstone = rows[i].row.data == NULL;
        if (!span->tombstone) {
            TRY(json_row_write(table_row_writer(table), rows[i].row, &writer->bytes));
        }
        span->value_size = writer->bytes.size - span->value_start;
    }
    return NULL;
}

/* The client's own stamp is now, and costs nothing; a clock that tests move must be asked. */
static int64_t stamp_ms(const FlowWriter *writer)
{
    const Clock *clock = writer->options.clock;
    return clock != NULL && clock->fixed ? clock_now_us(clock) / 1000 : 0;
}

static Error *produce_chunk(FlowWriter *writer, size_t number, const Table *table,
                            const DeltaRow *rows, size_t count, FlowMetrics *metrics)
{
    buffer_clear(&writer->bytes);
    arena_reset(writer->arena);
    Span *spans = arena_new_array(writer->arena, Span, count);
    TRY(format_chunk(writer, table, rows, count, spans));
    LogOutput *outputs = arena_alloc(writer->arena, count * sizeof *outputs);
    int64_t time_ms = stamp_ms(writer);
    for (size_t i = 0; i < count; i++) {
        const char *bytes = writer->bytes.data;
        outputs[i] = (LogOutput){
            .topic = writer->tables[number].table.topic,
            .partition = (int32_t)rows[i].shard,
            .key = {bytes + spans[i].key_start, spans[i].key_size},
            .value = spans[i].tombstone ? STR_NULL
                                        : (Str){bytes + spans[i].value_start, spans[i].value_size},
            .timestamp_ms = time_ms,
            .tag = next_tag(writer, number)};
        metrics->upserted_rows += !spans[i].tombstone;
        metrics->deleted_rows += spans[i].tombstone;
    }
    metrics->output_bytes += writer->bytes.size;
    size_t queued = 0;
    Error *error = log_producer_produce(writer->producer, outputs, count, &queued);
    if (error != NULL && error_class(error) == ERROR_KAFKA_RECORD_TOO_LARGE &&
        writer->delivery_error == NULL) {
        writer->delivery_error = error_copy(error);
        writer->delivery_tag = outputs[queued].tag;
    }
    return error;
}

static Error *write_delta(FlowWriter *writer, size_t number, const Table *table, const Epoch *epoch,
                          FlowMetrics *metrics)
{
    DeltaRow rows[CHUNK_ROWS];
    TableDelta delta = table_delta_of(epoch);
    for (;;) {
        size_t count = 0;
        while (count < CHUNK_ROWS && table_delta_next(&delta, &rows[count])) {
            count++;
        }
        if (count == 0) {
            return NULL;
        }
        TRY(produce_chunk(writer, number, table, rows, count, metrics));
        TRY(fault_check("commit.mid_produce"));
    }
}

/* The failed record's key: the tag counts the rows of the delta. */
static void format_failed_key(const FlowWriter *writer, const Epoch *epoch, Buffer *out)
{
    TableDelta delta = table_delta_of(epoch);
    DeltaRow row = {0};
    uint64_t wanted = row_of_tag(writer->delivery_tag);
    uint64_t number = 0;
    while (number < wanted && table_delta_next(&delta, &row)) {
        number++;
    }
    if (number > 0 && number == wanted) {
        json_key_write_ordinal(row.message_key, row.ordinal, out);
    }
}

static Error *delivery_failure(FlowWriter *writer, const Epoch *epoch)
{
    Error *cause = writer->delivery_error;
    writer->delivery_error = NULL;
    if (error_class(cause) != ERROR_KAFKA_RECORD_TOO_LARGE || epoch == NULL) {
        return cause;
    }
    size_t number = writer->delivery_tag >> TAG_ROW_BITS;
    const FlowWriterTable *table = &writer->tables[number].table;
    AUTO_BUFFER Buffer key = {0};
    if (number == 0) {
        buffer_append_cstr(&key, "; its key is ");
        format_failed_key(writer, epoch, &key);
    }
    Error *error = error_new(ERROR_ROW_TOO_LARGE,
                             "Flow `%.*s`: a row of table `%.*s` is larger than topic `%s` "
                             "takes%s.",
                             STR_ARG(writer->options.flow), STR_ARG(table->name), table->topic,
                             buffer_cstr(&key));
    error_set_hint(error,
                   "raise max.message.bytes of the topic (tables: {%.*s: {config: "
                   "{max.message.bytes: …}}}), or leave the large column out",
                   STR_ARG(table->name));
    return error_set_cause(error, cause);
}

/* A record that was refused makes all that follows "the transaction must be aborted": its delivery
 * tells the reason, which is the better error. */
static Error *with_reason(FlowWriter *writer, Error *error)
{
    if (error == NULL || error_class(error) != ERROR_KAFKA_TRANSACTION_ABORTABLE) {
        return error;
    }
    log_producer_poll(writer->producer);
    if (writer->delivery_error == NULL) {
        return error;
    }
    error_free(error);
    return delivery_failure(writer, NULL);
}

static Error *flush(FlowWriter *writer, const Epoch *epoch)
{
    TRY(log_producer_flush(writer->producer, writer->options.timeout_ms));
    return writer->delivery_error == NULL ? NULL : delivery_failure(writer, epoch);
}

Error *flow_writer_write_delta(FlowWriter *writer, size_t number, const Table *table,
                               const Epoch *epoch, FlowMetrics *metrics)
{
    assert(writer->open);
    FlowMetrics of_state = {0};
    Error *error = write_delta(writer, number, table, epoch, number == 0 ? metrics : &of_state);
    if (error != NULL) {
        /* A refused record makes the transaction abortable: its delivery tells the reason. */
        log_producer_poll(writer->producer);
    }
    if (error != NULL && writer->delivery_error != NULL) {
        error_free(error);
        return delivery_failure(writer, epoch);
    }
    return error != NULL || number > 0 ? error : flush(writer, epoch);
}

Error *flow_writer_remove_record(FlowWriter *writer, size_t number, Str message_key,
                                 int32_t partition)
{
    LogOutput output = {.topic = writer->tables[number].table.topic,
                        .partition = partition,
                        .key = message_key,
                        .timestamp_ms = stamp_ms(writer),
                        .tag = next_tag(writer, number)};
    return with_reason(writer, log_producer_produce(writer->producer, &output, 1, NULL));
}

Error *flow_writer_write_tombstone(FlowWriter *writer, size_t number, const Table *table, Str key,
                                   uint32_t shard, uint32_t ordinal)
{
    buffer_clear(&writer->bytes);
    TRY(table_format_key(table, key, ordinal, &writer->bytes));
    return flow_writer_remove_record(writer, number, buffer_str(&writer->bytes), (int32_t)shard);
}

/* The topic was made when its sources took less. */
static Error *too_large_for_quarantine(const FlowWriter *writer, const Quarantine *quarantine,
                                       Error *cause)
{
    const char *topic = quarantine_topic(quarantine);
    Error *error =
        error_new(ERROR_ROW_TOO_LARGE, "Flow `%.*s`: a bad record is larger than topic `%s` takes.",
                  STR_ARG(writer->options.flow), topic);
    error_set_hint(error, "kafka-configs --alter --topic %s --add-config max.message.bytes=…",
                   topic);
    return error_set_cause(error, cause);
}

Error *flow_writer_write_quarantine(FlowWriter *writer, const Quarantine *quarantine)
{
    if (quarantine_count(quarantine) == 0) {
        return NULL;
    }
    Error *error =
        quarantine_write(quarantine, writer->producer, clock_now_us(writer->options.clock) / 1000);
    if (error == NULL) {
        error = log_producer_flush(writer->producer, writer->options.timeout_ms);
    } else {
        log_producer_poll(writer->producer);
    }
    if (writer->delivery_error != NULL) {
        error_free(error);
        error = writer->delivery_error;
        writer->delivery_error = NULL;
    }
    return error != NULL && error_class(error) == ERROR_KAFKA_RECORD_TOO_LARGE
               ? too_large_for_quarantine(writer, quarantine, error)
               : error;
}

static Error *write_progress(FlowWriter *writer, const Buffer *key, const Buffer *value)
{
    LogOutput output = {.topic = writer->options.progress_topic,
                        .partition = 0,
                        .key = buffer_str(key),
                        .value = value == NULL ? STR_NULL : buffer_str(value),
                        .timestamp_ms = clock_now_us(writer->options.clock) / 1000};
    return with_reason(writer, log_producer_produce(writer->producer, &output, 1, NULL));
}

static Error *write_position(FlowWriter *writer, const char *topic, const SourceMove *move,
                             int64_t epoch, Str update)
{
    ProgressPosition position = {.topic = str_from(topic),
                                 .partition = move->partition,
                                 .offset = move->next,
                                 .begin = move->begin,
                                 .fingerprint = move->last,
                                 .epoch = epoch,
                                 .update = update,
                                 .instance = str_from(writer->options.instance)};
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer value = {0};
    progress_position_key(writer->options.flow, position.topic, move->partition, &key);
    const WriterTable *target = &writer->tables[0];
    progress_position_value(&position, target->new_ends, (size_t)target->table.partitions,
                            clock_now_us(writer->options.clock), &value);
    return write_progress(writer, &key, &value);
}

static Error *send_group_offsets(FlowWriter *writer, const char *topic, const SourceProgress *moved)
{
    arena_reset(writer->arena);
    LogPosition *offsets = arena_new_array(writer->arena, LogPosition, moved->count);
    for (size_t i = 0; i < moved->count; i++) {
        offsets[i] = (LogPosition){topic, moved->moves[i].partition, moved->moves[i].next};
    }
    return log_producer_send_offsets(writer->producer, writer->options.group, offsets, moved->count,
                                     writer->options.timeout_ms);
}

Error *flow_writer_write_positions(FlowWriter *writer, const char *topic,
                                   const SourceProgress *moved, int64_t epoch, Str update)
{
    assert(writer->open);
    TRY(flush(writer, NULL));
    TRY(fault_check("commit.after_produce"));
    if (moved->count > 0) {
        TRY(send_group_offsets(writer, topic, moved));
    }
    for (size_t i = 0; i < moved->count; i++) {
        TRY(write_position(writer, topic, &moved->moves[i], epoch, update));
    }
    return fault_check("commit.after_progress");
}

Error *flow_writer_write_claim(FlowWriter *writer, const ProgressClaim *claim)
{
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer value = {0};
    progress_claim_key(writer->options.flow, &key);
    progress_claim_value(claim, &value);
    return write_progress(writer, &key, &value);
}

Error *flow_writer_write_definition(FlowWriter *writer, const ProgressDefinition *definition)
{
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer value = {0};
    progress_definition_key(writer->tables[0].table.name, &key);
    progress_definition_value(definition, &value);
    return write_progress(writer, &key, &value);
}

Error *flow_writer_write_state(FlowWriter *writer, Str state, const ProgressDefinition *definition)
{
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer value = {0};
    progress_state_key(writer->options.flow, state, &key);
    progress_definition_value(definition, &value);
    return write_progress(writer, &key, &value);
}

Error *flow_writer_write_resetting(FlowWriter *writer, bool resetting, Str update)
{
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer value = {0};
    progress_resetting_key(writer->options.flow, &key);
    buffer_printf(&value, "{\"update\":\"%.*s\"}", STR_ARG(update));
    return write_progress(writer, &key, resetting ? &value : NULL);
}

Error *flow_writer_commit(FlowWriter *writer)
{
    assert(writer->open);
    TRY(flush(writer, NULL));
    TRY(fault_check("commit.before_commit"));
    TRY(with_reason(writer, log_producer_commit(writer->producer, writer->options.timeout_ms)));
    writer->open = false;
    for (size_t i = 0; i < writer->options.table_count; i++) {
        WriterTable *table = &writer->tables[i];
        memcpy(table->ends, table->new_ends, ends_size(table));
    }
    Error *error = fault_check("commit.after_commit");
    if (error != NULL && error_disposition(error) == ERROR_RETRY) {
        /* The transaction is committed, the answer got lost. */
        Error *unclear = error_new(ERROR_KAFKA_COMMIT_UNCLEAR, "The answer to a commit got lost.");
        return error_set_cause(error_set_disposition(unclear, ERROR_FATAL), error);
    }
    return error;
}

Error *flow_writer_abort(FlowWriter *writer)
{
    if (!writer->open) {
        return NULL;
    }
    writer->open = false;
    Error *error = log_producer_abort(writer->producer, writer->options.timeout_ms);
    error_free(writer->delivery_error);
    writer->delivery_error = NULL;
    for (size_t i = 0; i < writer->options.table_count; i++) {
        WriterTable *table = &writer->tables[i];
        memcpy(table->new_ends, table->ends, ends_size(table));
    }
    return error;
}
