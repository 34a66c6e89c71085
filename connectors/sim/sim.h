/* A Kafka in memory behind connectors/log.h. One SimBroker holds everything a cluster would; each
 * sim_broker_connect gives a client connection (a Log) to it, so that several programs, a foreign
 * producer and a zombie can share one broker. `tidemark test`, `demo` and the simulation run on it;
 * it and the real client pass the same conformance suite.
 *
 * What is beyond log.h is here: what a broker's operator or bad luck does. Deterministic: the same
 * calls give the same results; time comes from the clock that was set.
 *
 * Threads: every function may be called from any thread. Free the broker last, when every Log,
 * consumer and producer made from it is closed. */
#ifndef CONNECTORS_SIM_SIM_H
#define CONNECTORS_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "connectors/log.h"
#include "processor/base/clock.h"

typedef struct SimBroker SimBroker;

/* The calls a fault can hit. SIM_PRODUCE counts records, SIM_POLL polls of consumers, SIM_ADMIN the
 * calls of log.h's admin part (log_group_offset, log_ping and watermarks included). */
#define SIM_CALLS(X)                                                                               \
    X(PRODUCE, "produce")                                                                          \
    X(FLUSH, "flush")                                                                              \
    X(BEGIN, "begin")                                                                              \
    X(COMMIT, "commit")                                                                            \
    X(ABORT, "abort")                                                                              \
    X(POLL, "poll")                                                                                \
    X(INIT, "init")                                                                                \
    X(SEND_OFFSETS, "send_offsets")                                                                \
    X(ADMIN, "admin")

/* What a fault does. Where one makes no sense for a call it acts as SIM_RETRIABLE.
 *   RETRIABLE          nothing is done, KAFKA_TIMED_OUT (RETRY)
 *   ABORTABLE          nothing is done, KAFKA_TRANSACTION_ABORTABLE (ABORT) until the abort;
 * produce: the record's delivery says KAFKA_TIMED_OUT, then commit is ABORTABLE FENCED as if a
 * successor (or the transaction time-out) had fenced this producer: its transaction is aborted,
 * every later call is KAFKA_FENCED (FATAL) UNCLEAR_COMMITTED  the broker did it, the answer is
 * lost. commit: KAFKA_COMMIT_UNCLEAR (FATAL); produce: stored, yet the delivery says
 * KAFKA_TIMED_OUT; else KAFKA_TIMED_OUT (RETRY) UNCLEAR_LOST       the request is lost, looks the
 * same from outside. After a lost commit the transaction stays open at the broker until the next
 * init_transactions or its time-out TOO_LARGE          produce: the delivery says
 * KAFKA_RECORD_TOO_LARGE FATAL              KAFKA_ERROR (FATAL), the producer is dead, its
 * transaction stays open */
#define SIM_FAILURES(X)                                                                            \
    X(NO_FAILURE, "none")                                                                          \
    X(RETRIABLE, "retriable")                                                                      \
    X(ABORTABLE, "abortable")                                                                      \
    X(FENCED, "fenced")                                                                            \
    X(UNCLEAR_COMMITTED, "unclear_committed")                                                      \
    X(UNCLEAR_LOST, "unclear_lost")                                                                \
    X(TOO_LARGE, "too_large")                                                                      \
    X(FATAL, "fatal")

typedef enum SimCall {
#define X(constant, name) SIM_##constant,
    SIM_CALLS(X)
#undef X
        SIM_CALL_COUNT
} SimCall;

typedef enum SimFailure {
#define X(constant, name) SIM_##constant,
    SIM_FAILURES(X)
#undef X
        SIM_FAILURE_COUNT
} SimFailure;

/* By the names above, for scenario files; false when unknown. */
bool sim_call_parse(Str name, SimCall *ret_call);
bool sim_failure_parse(Str name, SimFailure *ret_failure);

/* An empty broker; free it when every log connected to it is closed. */
RETURNS_NONNULL SimBroker *sim_broker_new(void);
void sim_broker_free(SimBroker *broker);
/* A client connection; owned by the caller (log_close). Its name is "model". */
RETURNS_NONNULL Log *sim_broker_connect(SimBroker *broker);

/* Record timestamps, transaction time-outs and retention follow `clock` (borrowed until another is
 * set or the broker is freed; NULL: the system's). Waiting inside calls always takes real time. A
 * fixed instant is moved by writing to the Clock while no other thread is inside a call, or by
 * setting another Clock. Call this again after a move to wake waiting threads. */
void sim_broker_set_clock(SimBroker *broker, const Clock *clock);

/* Runs the log cleaner to the end over everything below the last stable offset, whatever the
 * cleanup policy and min.compaction.lag.ms: the last record of each key stays, aborted records go,
 * tombstones go when delete.retention.ms has passed since they were written (the soonest Kafka may
 * do it). Records without a key stay. Offsets never change. An unknown topic: nothing. */
void sim_broker_compact(SimBroker *broker, const char *topic);
/* Removes from the front of each partition what is older than retention.ms, never beyond the last
 * stable offset. */
void sim_broker_expire(SimBroker *broker, const char *topic);
/* Sets or replaces one config of an existing topic. */
void sim_broker_set_topic_config(SimBroker *broker, const char *topic, const char *name,
                                 const char *value);

/* false: every call that needs the broker (all but opening, assigning, seeking, begin) answers
 * KAFKA_UNAVAILABLE (RETRY); a poll waits for its time-out first. */
void sim_broker_set_available(SimBroker *broker, bool available);
/* false: the topic has no leader for a while: every call on it answers KAFKA_UNAVAILABLE (RETRY),
 * records for it are refused at their delivery; the other topics are as ever. */
void sim_broker_set_topic_available(SimBroker *broker, const char *topic, bool available);
/* Every call on this topic answers KAFKA_ACCESS_DENIED (also when it does not exist), until
 * allowed. */
void sim_broker_deny(SimBroker *broker, const char *topic);
void sim_broker_allow(SimBroker *broker, const char *topic);
/* A consumer that comes to the first record at or beyond `offset` gets KAFKA_CORRUPT_BATCH there,
 * until repaired. One place a partition. */
void sim_broker_corrupt(SimBroker *broker, const char *topic, int32_t partition, int64_t offset);
void sim_broker_repair(SimBroker *broker, const char *topic, int32_t partition);

/* A record at its own offset (at or beyond the end) of an existing partition, and an end without a
 * record: what another log holds can be kept here when that one forgets it. Not transactional. */
void sim_broker_place(SimBroker *broker, const LogRecord *record);
void sim_broker_extend(SimBroker *broker, const char *topic, int32_t partition, int64_t end);

/* The nth call of this kind from now fails (1 = the next). Several may be armed. */
void sim_broker_fail_next(SimBroker *broker, SimCall call, SimFailure failure, unsigned nth);
/* Forgets what sim_broker_fail_next armed. */
void sim_broker_clear_faults(SimBroker *broker);
/* Asked at each call that no armed fault hits; `topic` is NULL where a call has none. It runs with
 * the broker locked: it must not call the broker. NULL removes it. */
void sim_broker_set_fault_hook(SimBroker *broker,
                               SimFailure (*hook)(void *context, SimCall call, const char *topic),
                               void *context);

DEFINE_AUTO(sim_broker, SimBroker, sim_broker_free)

#endif
