/* The producer: appends at once, hands deliveries out later, as the real client does.
 *
 * A transactional producer goes NEW ─init─► READY ─begin─► BEGUN ─commit/abort─► READY. A failed
 * delivery makes BEGUN into MUST_ABORT. A fatal error stays for good: `fatal` is what every later
 * call answers. Being fenced is found out by comparing epochs with the coordinator's SimId. */
#include <assert.h>

#include "connectors/partitioner.h"
#include "connectors/sim/broker.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef enum SimProducerState {
    PRODUCER_NEW,
    PRODUCER_READY,
    PRODUCER_BEGUN,
    PRODUCER_MUST_ABORT,
} SimProducerState;

typedef struct SimDelivery {
    LogDelivery delivery;
    Error *error; /* owned */
} SimDelivery;

typedef struct SimProducer {
    LogProducer base;
    SimBroker *broker;
    SimId *id; /* NULL: not transactional */
    int64_t epoch;
    int64_t transaction_timeout_ms;
    SimProducerState state;
    Error *fatal;
    uint32_t next_partition; /* of records without key and partition */
    void (*on_delivery)(void *context, const LogDelivery *delivery);
    void *context;
    SimDelivery *deliveries; /* not yet handed out; the producer's thread only */
    size_t delivery_count;
    size_t delivery_capacity;
} SimProducer;

static SimProducer *self(LogProducer *producer)
{
    return (SimProducer *)producer;
}

/* --------------------------------------------------------------------------------- life ---- */

Error *sim_producer_open(Log *log, const LogProducerOptions *options, LogProducer **ret_producer)
{
    SimBroker *broker = sim_log_broker(log);
    SimProducer *producer = mem_new(SimProducer);
    producer->base.ops = &sim_ops;
    producer->broker = broker;
    producer->on_delivery = options->on_delivery;
    producer->context = options->context;
    producer->transaction_timeout_ms =
        options->transaction_timeout_ms > 0 ? options->transaction_timeout_ms : 60000;
    sim_lock(broker);
    broker->handles++;
    if (options->transactional_id != NULL) {
        producer->id = sim_id(broker, options->transactional_id);
    }
    sim_unlock(broker);
    *ret_producer = &producer->base;
    return NULL;
}

void sim_producer_close(LogProducer *producer_base)
{
    SimProducer *producer = self(producer_base);
    sim_lock(producer->broker);
    producer->broker->handles--;
    sim_unlock(producer->broker);
    for (size_t i = 0; i < producer->delivery_count; i++) {
        error_free(producer->deliveries[i].error);
    }
    mem_free(producer->deliveries);
    error_free(producer->fatal);
    mem_free(producer);
}

/* ---------------------------------------------------------------------------- deliveries ---- */

static void queue_delivery(SimProducer *producer, const LogDelivery *delivery, Error *error)
{
    mem_reserve(producer->deliveries, &producer->delivery_capacity, producer->delivery_count + 1);
    producer->deliveries[producer->delivery_count++] = (SimDelivery){*delivery, error};
}

/* Without the lock. The queue is taken away first: a callback may produce. */
static void serve(SimProducer *producer)
{
    SimDelivery *deliveries = producer->deliveries;
    size_t count = producer->delivery_count;
    producer->deliveries = NULL;
    producer->delivery_count = 0;
    producer->delivery_capacity = 0;
    for (size_t i = 0; i < count; i++) {
        SimDelivery *queued = &deliveries[i];
        queued->delivery.error = queued->error;
        if (producer->on_delivery != NULL) {
            producer->on_delivery(producer->context, &queued->delivery);
        }
        error_free(queued->error);
    }
    mem_free(deliveries);
}

/* ------------------------------------------------------------------------- errors, states ---- */

static Error *die(SimProducer *producer, Error *error)
{
    assert(producer->fatal == NULL);
    producer->fatal = error_set_disposition(error, ERROR_FATAL);
    return error_copy(producer->fatal);
}

static Error *die_fenced(SimProducer *producer)
{
    return die(
        producer,
        error_new(ERROR_KAFKA_FENCED,
                  "The producer `%s` was fenced: another one with its transactional id came, "
                  "or its transaction outlived transaction.timeout.ms.",
                  producer->id == NULL ? "(idempotent)" : producer->id->name));
}

static Error *die_unclear(SimProducer *producer)
{
    return die(producer, error_new(ERROR_KAFKA_COMMIT_UNCLEAR,
                                   "The answer to a commit of `%s` was lost: it may or may not "
                                   "have been committed.",
                                   producer->id->name));
}

static Error *die_unknown(SimProducer *producer, const char *call)
{
    return die(producer, error_new(ERROR_KAFKA_ERROR, "Fatal error of the producer in %s.", call));
}

static Error *abortable(SimProducer *producer)
{
    assert(producer->id != NULL);
    producer->state = PRODUCER_MUST_ABORT;
    return error_set_disposition(error_new(ERROR_KAFKA_TRANSACTION_ABORTABLE,
                                           "The transaction of `%s` must be aborted.",
                                           producer->id->name),
                                 ERROR_ABORT);
}

static Error *wrong_state(const SimProducer *producer, const char *call)
{
    static const char *const states[] = {"not initialized", "without an open transaction",
                                         "in a transaction", "in a failed transaction"};
    return error_set_disposition(
        error_new(ERROR_KAFKA_ERROR, "Cannot call %s: the producer is %s.", call,
                  producer->id == NULL ? "not transactional" : states[producer->state]),
        ERROR_FATAL);
}

static Error *check_alive(SimProducer *producer)
{
    if (producer->fatal != NULL) {
        return error_copy(producer->fatal);
    }
    TRY(sim_check_available(producer->broker));
    bool initialized = producer->id != NULL && producer->state != PRODUCER_NEW;
    return initialized && producer->epoch != producer->id->epoch ? die_fenced(producer) : NULL;
}

/* As another producer's init_transactions would. */
static Error *fence(SimProducer *producer)
{
    if (producer->id != NULL) {
        sim_id_fence(producer->broker, producer->id);
    }
    return die_fenced(producer);
}

/* What a fault makes of a call other than produce and commit. *ret_act: do it nevertheless. */
static Error *fail_call(SimProducer *producer, SimCall call, const char *name, bool can_abort,
                        bool *ret_act)
{
    *ret_act = false;
    switch (sim_fault(producer->broker, call, NULL)) {
    case SIM_NO_FAILURE:
        *ret_act = true;
        return NULL;
    case SIM_UNCLEAR_COMMITTED:
        *ret_act = true;
        return sim_timed_out(name);
    case SIM_ABORTABLE:
        return can_abort ? abortable(producer) : sim_timed_out(name);
    case SIM_FENCED:
        return fence(producer);
    case SIM_FATAL:
        return die_unknown(producer, name);
    case SIM_RETRIABLE:
    case SIM_UNCLEAR_LOST:
    case SIM_TOO_LARGE:
    case SIM_FAILURE_COUNT:
        break;
    }
    return sim_timed_out(name);
}

/* --------------------------------------------------------------------------- transactions ---- */

static Error *init_locked(SimProducer *producer)
{
    TRY(check_alive(producer));
    if (producer->id == NULL || producer->state != PRODUCER_NEW) {
        return wrong_state(producer, "init_transactions");
    }
    bool act = false;
    Error *error = fail_call(producer, SIM_INIT, "init_transactions", false, &act);
    if (act) {
        sim_id_fence(producer->broker, producer->id);
    }
    if (error == NULL) {
        producer->epoch = producer->id->epoch;
        producer->state = PRODUCER_READY;
    }
    return error;
}

Error *sim_producer_init_transactions(LogProducer *producer_base, int timeout_ms)
{
    (void)timeout_ms;
    SimProducer *producer = self(producer_base);
    sim_lock(producer->broker);
    Error *error = init_locked(producer);
    sim_unlock(producer->broker);
    return error;
}

/* Local in Kafka too: a zombie finds out later. */
static Error *begin_locked(SimProducer *producer)
{
    if (producer->fatal != NULL) {
        return error_copy(producer->fatal);
    }
    if (producer->id == NULL || producer->state != PRODUCER_READY) {
        return wrong_state(producer, "begin");
    }
    bool act = false;
    TRY(fail_call(producer, SIM_BEGIN, "begin", false, &act));
    producer->state = PRODUCER_BEGUN;
    return NULL;
}

Error *sim_producer_begin(LogProducer *producer_base)
{
    SimProducer *producer = self(producer_base);
    sim_lock(producer->broker);
    Error *error = begin_locked(producer);
    sim_unlock(producer->broker);
    return error;
}

static void settle(SimProducer *producer, bool commit)
{
    if (producer->id->open) {
        sim_id_settle(producer->broker, producer->id, commit);
    }
    producer->state = PRODUCER_READY;
}

static Error *commit_locked(SimProducer *producer)
{
    TRY(check_alive(producer));
    if (producer->state == PRODUCER_MUST_ABORT) {
        return abortable(producer);
    }
    if (producer->state != PRODUCER_BEGUN) {
        return wrong_state(producer, "commit");
    }
    switch (sim_fault(producer->broker, SIM_COMMIT, NULL)) {
    case SIM_NO_FAILURE:
        settle(producer, true);
        return NULL;
    case SIM_ABORTABLE:
        return abortable(producer);
    case SIM_FENCED:
        return fence(producer);
    case SIM_UNCLEAR_COMMITTED:
        settle(producer, true);
        return die_unclear(producer);
    case SIM_UNCLEAR_LOST:
        return die_unclear(producer);
    case SIM_FATAL:
        return die_unknown(producer, "commit");
    case SIM_RETRIABLE:
    case SIM_TOO_LARGE:
    case SIM_FAILURE_COUNT:
        break;
    }
    return sim_timed_out("commit");
}

Error *sim_producer_commit(LogProducer *producer_base, int timeout_ms)
{
    (void)timeout_ms;
    SimProducer *producer = self(producer_base);
    serve(producer);
    sim_lock(producer->broker);
    Error *error = commit_locked(producer);
    sim_unlock(producer->broker);
    return error;
}

static Error *abort_locked(SimProducer *producer)
{
    TRY(check_alive(producer));
    if (producer->state != PRODUCER_BEGUN && producer->state != PRODUCER_MUST_ABORT) {
        return wrong_state(producer, "abort");
    }
    bool act = false;
    Error *error = fail_call(producer, SIM_ABORT, "abort", false, &act);
    if (act && error == NULL) {
        settle(producer, false);
    } else if (act && producer->id->open) {
        sim_id_settle(producer->broker, producer->id, false);
    }
    return error;
}

Error *sim_producer_abort(LogProducer *producer_base, int timeout_ms)
{
    (void)timeout_ms;
    SimProducer *producer = self(producer_base);
    serve(producer);
    sim_lock(producer->broker);
    Error *error = abort_locked(producer);
    sim_unlock(producer->broker);
    return error;
}

static Error *put_offsets(SimProducer *producer, const char *group, const LogPosition *offsets,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        SimPartition *partition = NULL;
        Error *error = sim_partition_find(producer->broker, offsets[i].topic, offsets[i].partition,
                                          &partition);
        if (error != NULL) {
            return error_set_cause(abortable(producer), error);
        }
        sim_id_open(producer->broker, producer->id, producer->transaction_timeout_ms);
        sim_id_put_offset(
            producer->id,
            sim_group_offset(producer->broker, group, partition->topic, partition->index),
            offsets[i].offset);
    }
    return NULL;
}

static Error *send_offsets_locked(SimProducer *producer, const char *group,
                                  const LogPosition *offsets, size_t count)
{
    TRY(check_alive(producer));
    if (producer->state == PRODUCER_MUST_ABORT) {
        return abortable(producer);
    }
    if (producer->state != PRODUCER_BEGUN) {
        return wrong_state(producer, "send_offsets");
    }
    bool act = false;
    Error *error = fail_call(producer, SIM_SEND_OFFSETS, "send_offsets", true, &act);
    if (!act) {
        return error;
    }
    Error *refused = put_offsets(producer, group, offsets, count);
    if (refused == NULL) {
        return error;
    }
    error_free(error);
    return refused;
}

Error *sim_producer_send_offsets(LogProducer *producer_base, const char *group,
                                 const LogPosition *offsets, size_t count, int timeout_ms)
{
    (void)timeout_ms;
    SimProducer *producer = self(producer_base);
    sim_lock(producer->broker);
    Error *error = send_offsets_locked(producer, group, offsets, count);
    sim_unlock(producer->broker);
    return error;
}

/* ------------------------------------------------------------------------------- produce ---- */

/* The record will have a delivery with this error; a transaction is then good for abort only. */
static void refuse(SimProducer *producer, const LogOutput *output, const SimPartition *partition,
                   Error *error)
{
    LogDelivery delivery = {.topic = sim_topic(producer->broker, output->topic)->name,
                            .partition = partition == NULL ? output->partition : partition->index,
                            .offset = -1,
                            .tag = output->tag};
    queue_delivery(producer, &delivery, error);
    if (producer->id != NULL) {
        producer->state = PRODUCER_MUST_ABORT;
    }
}

static Error *choose_partition(SimProducer *producer, const LogOutput *output,
                               SimPartition **ret_partition)
{
    int32_t index = output->partition;
    if (index == LOG_PARTITION_BY_KEY) {
        SimTopic *topic = NULL;
        TRY(sim_topic_find(producer->broker, output->topic, &topic));
        int32_t count = (int32_t)topic->partition_count;
        index = output->key.data != NULL ? partition_of_key(output->key, count)
                                         : (int32_t)(producer->next_partition++ % (uint32_t)count);
    }
    return sim_partition_find(producer->broker, output->topic, index, ret_partition);
}

static Error *too_large(const LogOutput *output, const SimPartition *partition)
{
    return error_new(ERROR_KAFKA_RECORD_TOO_LARGE,
                     "A record of %zu bytes for the topic `%s`, partition %d, is larger than "
                     "max.message.bytes %s.",
                     sim_record_batch_bytes(output), partition->topic->name, partition->index,
                     sim_topic_config(partition->topic, "max.message.bytes"));
}

/* What the leader of the partition says to the record. */
static Error *check_record(const LogOutput *output, const SimPartition *partition)
{
    const SimTopic *topic = partition->topic;
    if ((int64_t)sim_record_batch_bytes(output) >
        sim_topic_config_number(topic, "max.message.bytes")) {
        return too_large(output, partition);
    }
    if (output->key.data == NULL && sim_topic_is_compacted(topic)) {
        return error_new(ERROR_KAFKA_ERROR,
                         "The compacted topic `%s` does not accept a record without key.",
                         topic->name);
    }
    return NULL;
}

static int64_t record_time(const SimBroker *broker, const LogOutput *output, const SimTopic *topic)
{
    bool by_broker = str_equal(str_from(sim_topic_config(topic, "message.timestamp.type")),
                               STR("LogAppendTime"));
    return by_broker || output->timestamp_ms <= 0 ? sim_now_ms(broker) : output->timestamp_ms;
}

/* `lost`: the broker's answer does not arrive. */
static void store(SimProducer *producer, const LogOutput *output, SimPartition *partition,
                  bool lost)
{
    SimBroker *broker = producer->broker;
    if (producer->id != NULL) {
        sim_id_open(broker, producer->id, producer->transaction_timeout_ms);
        sim_id_touch(producer->id, partition);
    }
    LogDelivery delivery = {
        .topic = partition->topic->name, .partition = partition->index, .tag = output->tag};
    delivery.offset =
        sim_partition_append(partition, output, record_time(broker, output, partition->topic),
                             sim_now_ms(broker), producer->id);
    if (lost) {
        refuse(producer, output, partition, sim_timed_out("produce"));
    } else {
        queue_delivery(producer, &delivery, NULL);
    }
    sim_changed(broker);
}

static Error *produce_one(SimProducer *producer, const LogOutput *output)
{
    SimFailure failure = sim_fault(producer->broker, SIM_PRODUCE, output->topic);
    if (failure == SIM_RETRIABLE) {
        return sim_timed_out("produce");
    }
    if (failure == SIM_FENCED) {
        return fence(producer);
    }
    if (failure == SIM_FATAL) {
        return die_unknown(producer, "produce");
    }
    SimPartition *partition = NULL;
    Error *refused = choose_partition(producer, output, &partition);
    if (refused == NULL) {
        refused = check_record(output, partition);
    }
    if (refused == NULL && failure == SIM_TOO_LARGE) {
        refused = too_large(output, partition);
    }
    if (refused == NULL && (failure == SIM_ABORTABLE || failure == SIM_UNCLEAR_LOST)) {
        refused = sim_timed_out("produce");
    }
    if (refused != NULL) {
        refuse(producer, output, partition, refused);
    } else {
        store(producer, output, partition, failure == SIM_UNCLEAR_COMMITTED);
    }
    return NULL;
}

static Error *produce_locked(SimProducer *producer, const LogOutput *outputs, size_t count,
                             size_t *ret_queued)
{
    for (size_t i = 0; i < count; i++) {
        TRY(check_alive(producer));
        if (producer->state == PRODUCER_MUST_ABORT) {
            return abortable(producer);
        }
        if (producer->id != NULL && producer->state != PRODUCER_BEGUN) {
            return wrong_state(producer, "produce");
        }
        TRY(produce_one(producer, &outputs[i]));
        *ret_queued = i + 1;
    }
    return NULL;
}

Error *sim_producer_produce(LogProducer *producer_base, const LogOutput *outputs, size_t count,
                            size_t *ret_queued)
{
    SimProducer *producer = self(producer_base);
    serve(producer);
    sim_lock(producer->broker);
    Error *error = produce_locked(producer, outputs, count, ret_queued);
    sim_unlock(producer->broker);
    return error;
}

static Error *flush_locked(SimProducer *producer)
{
    TRY(check_alive(producer));
    bool act = false;
    bool can_abort = producer->state == PRODUCER_BEGUN || producer->state == PRODUCER_MUST_ABORT;
    return fail_call(producer, SIM_FLUSH, "flush", can_abort, &act);
}

Error *sim_producer_flush(LogProducer *producer_base, int timeout_ms)
{
    (void)timeout_ms;
    SimProducer *producer = self(producer_base);
    sim_lock(producer->broker);
    Error *error = flush_locked(producer);
    sim_unlock(producer->broker);
    if (error == NULL) {
        serve(producer);
    }
    return error;
}

void sim_producer_poll(LogProducer *producer)
{
    serve(self(producer));
}
