/* Dispatch of the log interface to its implementation. */
#include "connectors/log.h"

#include <assert.h>

#include "processor/base/banned.h"

Error *log_consumer_open(Log *log, const LogConsumerOptions *options, LogConsumer **ret_consumer)
{
    return log->ops->consumer_open(log, options, ret_consumer);
}

void log_consumer_close(LogConsumer *consumer)
{
    if (consumer != NULL) {
        consumer->ops->consumer_close(consumer);
    }
}

Error *log_consumer_assign(LogConsumer *consumer, const LogPosition *positions, size_t count)
{
    return consumer->ops->consumer_assign(consumer, positions, count);
}

Error *log_consumer_seek(LogConsumer *consumer, const LogPosition *position)
{
    assert(position->offset >= 0);
    return consumer->ops->consumer_seek(consumer, position);
}

Error *log_consumer_poll(LogConsumer *consumer, int timeout_ms, size_t records_max, Arena *arena,
                         LogPoll *ret_poll)
{
    assert(records_max > 0);
    return consumer->ops->consumer_poll(consumer, timeout_ms, records_max, arena, ret_poll);
}

Error *log_producer_open(Log *log, const LogProducerOptions *options, LogProducer **ret_producer)
{
    return log->ops->producer_open(log, options, ret_producer);
}

void log_producer_close(LogProducer *producer)
{
    if (producer != NULL) {
        producer->ops->producer_close(producer);
    }
}

Error *log_producer_init_transactions(LogProducer *producer, int timeout_ms)
{
    return producer->ops->init_transactions(producer, timeout_ms);
}

Error *log_producer_begin(LogProducer *producer)
{
    return producer->ops->begin(producer);
}

Error *log_producer_produce(LogProducer *producer, const LogOutput *outputs, size_t count,
                            size_t *ret_queued)
{
    size_t queued = 0;
    Error *error = producer->ops->produce(producer, outputs, count, &queued);
    if (ret_queued != NULL) {
        *ret_queued = queued;
    }
    return error;
}

Error *log_producer_flush(LogProducer *producer, int timeout_ms)
{
    return producer->ops->flush(producer, timeout_ms);
}

void log_producer_poll(LogProducer *producer)
{
    producer->ops->poll(producer);
}

Error *log_producer_send_offsets(LogProducer *producer, const char *group,
                                 const LogPosition *offsets, size_t count, int timeout_ms)
{
    return producer->ops->send_offsets(producer, group, offsets, count, timeout_ms);
}

Error *log_producer_commit(LogProducer *producer, int timeout_ms)
{
    return producer->ops->commit(producer, timeout_ms);
}

Error *log_producer_abort(LogProducer *producer, int timeout_ms)
{
    return producer->ops->abort(producer, timeout_ms);
}

Error *log_ping(Log *log, int timeout_ms)
{
    return log->ops->ping(log, timeout_ms);
}

Error *log_topic_describe(Log *log, const char *topic, int timeout_ms,
                          LogTopicDescription *ret_description)
{
    return log->ops->topic_describe(log, topic, timeout_ms, ret_description);
}

Error *log_topic_config(Log *log, const char *topic, const char *name, Arena *arena,
                        const char **ret_value)
{
    return log->ops->topic_config(log, topic, name, arena, ret_value);
}

Error *log_topic_create(Log *log, const LogTopicSpec *spec, int timeout_ms)
{
    return log->ops->topic_create(log, spec, timeout_ms);
}

Error *log_topic_delete(Log *log, const char *topic, int timeout_ms)
{
    return log->ops->topic_delete(log, topic, timeout_ms);
}

Error *log_topic_add_partitions(Log *log, const char *topic, int partitions, int timeout_ms)
{
    return log->ops->topic_add_partitions(log, topic, partitions, timeout_ms);
}

Error *log_watermarks(Log *log, const char *topic, int32_t partition, Isolation isolation,
                      int timeout_ms, int64_t *ret_start, int64_t *ret_end)
{
    return log->ops->watermarks(log, topic, partition, isolation, timeout_ms, ret_start, ret_end);
}

Error *log_offset_for_time(Log *log, const char *topic, int32_t partition, int64_t time_ms,
                           int timeout_ms, int64_t *ret_offset)
{
    return log->ops->offset_for_time(log, topic, partition, time_ms, timeout_ms, ret_offset);
}

Error *log_records_delete(Log *log, const char *topic, int32_t partition, int64_t offset,
                          int timeout_ms)
{
    return log->ops->records_delete(log, topic, partition, offset, timeout_ms);
}

Error *log_group_offset(Log *log, const char *group, const char *topic, int32_t partition,
                        int timeout_ms, int64_t *ret_offset)
{
    return log->ops->group_offset(log, group, topic, partition, timeout_ms, ret_offset);
}

const char *log_name(const Log *log)
{
    return log->ops->name(log);
}

void log_close(Log *log)
{
    if (log != NULL) {
        log->ops->close(log);
    }
}
