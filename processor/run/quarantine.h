/* Records that could not become rows, kept until the epoch's transaction writes them to
 * <pipeline>.quarantine: raw bytes, original headers, and headers that say where they came from and
 * why they are here. Thread: the flow's. */
#ifndef RUN_QUARANTINE_H
#define RUN_QUARANTINE_H

#include "connectors/log.h"

typedef struct Quarantine Quarantine;

Quarantine *quarantine_new(const char *topic, Str flow);
void quarantine_free(Quarantine *quarantine);
/* Copies the record and the error's text. */
void quarantine_add(Quarantine *quarantine, const LogRecord *record, const Error *error);
const char *quarantine_topic(const Quarantine *quarantine);
size_t quarantine_count(const Quarantine *quarantine);
size_t quarantine_bytes(const Quarantine *quarantine);
/* The epoch is over. */
void quarantine_clear(Quarantine *quarantine);
/* Queues everything gathered. */
NODISCARD Error *quarantine_write(const Quarantine *quarantine, LogProducer *producer,
                                  int64_t time_ms);

DEFINE_AUTO(quarantine, Quarantine, quarantine_free)

#endif
