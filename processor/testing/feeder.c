/* Filling source topics. */
#include "processor/testing/feeder.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { TIMEOUT_MS = 30000 };

struct Feeder {
    Log *log;
    const char *transactional_id;
    LogProducer *plain;
    LogProducer *transactional;
    bool open;      /* a transaction is */
    Error *failure; /* of the first record that was not stored */
};

static void on_delivery(void *context, const LogDelivery *delivery)
{
    Feeder *feeder = context;
    if (delivery->error != NULL && feeder->failure == NULL) {
        feeder->failure = error_copy(delivery->error);
    }
}

Feeder *feeder_new(Log *log, const char *transactional_id)
{
    Feeder *feeder = mem_new(Feeder);
    feeder->log = log;
    feeder->transactional_id = transactional_id;
    return feeder;
}

void feeder_free(Feeder *feeder)
{
    if (feeder == NULL) {
        return;
    }
    if (feeder->plain != NULL) {
        log_producer_close(feeder->plain);
    }
    if (feeder->transactional != NULL) {
        log_producer_close(feeder->transactional);
    }
    error_free(feeder->failure);
    mem_free(feeder);
}

static Error *need_plain(Feeder *feeder)
{
    if (feeder->plain != NULL) {
        return NULL;
    }
    LogProducerOptions options = {.on_delivery = on_delivery, .context = feeder};
    return log_producer_open(feeder->log, &options, &feeder->plain);
}

Error *feeder_send(Feeder *feeder, const LogOutput *outputs, size_t count)
{
    LogProducer *producer = feeder->transactional;
    if (!feeder->open) {
        TRY(need_plain(feeder));
        producer = feeder->plain;
    }
    if (count > 0) {
        TRY(log_producer_produce(producer, outputs, count, NULL));
    }
    TRY(log_producer_flush(producer, TIMEOUT_MS));
    Error *failure = feeder->failure;
    feeder->failure = NULL;
    return failure;
}

Error *feeder_begin(Feeder *feeder)
{
    if (feeder->transactional == NULL) {
        LogProducerOptions options = {.transactional_id = feeder->transactional_id,
                                      .on_delivery = on_delivery,
                                      .context = feeder};
        TRY(log_producer_open(feeder->log, &options, &feeder->transactional));
        TRY(log_producer_init_transactions(feeder->transactional, TIMEOUT_MS));
    }
    TRY(log_producer_begin(feeder->transactional));
    feeder->open = true;
    return NULL;
}

Error *feeder_end(Feeder *feeder, bool commit)
{
    if (!feeder->open) {
        return error_new(ERROR_SCENARIO_INVALID, "No transaction of a feed is open.");
    }
    feeder->open = false;
    return commit ? log_producer_commit(feeder->transactional, TIMEOUT_MS)
                  : log_producer_abort(feeder->transactional, TIMEOUT_MS);
}
