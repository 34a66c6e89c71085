/* Feeder: whoever fills the source topics, seen from the pipeline as a stranger. Plain records, or
 * records in transactions of its own that can be committed, aborted or left open. Thread: one. */
#ifndef TESTING_FEEDER_H
#define TESTING_FEEDER_H

#include "connectors/log.h"

typedef struct Feeder Feeder;

/* `transactional_id`: of its transactions; borrowed. */
Feeder *feeder_new(Log *log, const char *transactional_id);
/* An open transaction is left open. */
void feeder_free(Feeder *feeder);
/* Waits until all of them are stored. In the open transaction if there is one. */
NODISCARD Error *feeder_send(Feeder *feeder, const LogOutput *outputs, size_t count);
NODISCARD Error *feeder_begin(Feeder *feeder);
/* SCENARIO_INVALID when no transaction is open. */
NODISCARD Error *feeder_end(Feeder *feeder, bool commit);

DEFINE_AUTO(feeder, Feeder, feeder_free)

#endif
