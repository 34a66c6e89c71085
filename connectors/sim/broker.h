/* Inside of the model, shared by the files of this folder only.
 *
 *   SimBroker ── names ─► SimTopic (one a name, for ever; `exists` while created)
 *             │              └─► SimPartition: entries in offset order, open transactions
 *             ├─ ids ────► SimId: a transactional id: epoch, its one transaction
 *             └─ offsets ► SimGroupOffset: group + topic + partition → committed offset
 *
 * One mutex protects all of it. Functions here want it held unless they say otherwise; callbacks to
 * the user (deliveries) run without it. */
#ifndef CONNECTORS_SIM_BROKER_H
#define CONNECTORS_SIM_BROKER_H

#include <pthread.h>

#include "connectors/sim/sim.h"
#include "processor/base/map.h"

typedef struct SimTopic SimTopic;
typedef struct SimPartition SimPartition;
typedef struct SimId SimId;

typedef enum SimEntryState {
    SIM_ENTRY_STABLE, /* not transactional, or committed */
    SIM_ENTRY_OPEN,
    SIM_ENTRY_ABORTED,
    SIM_ENTRY_MARKER,
} SimEntryState;

/* One used offset. `bytes` is one heap block that key, value, headers and their texts lie in. */
typedef struct SimEntry {
    int64_t offset;
    int64_t timestamp_ms;
    int64_t written_ms; /* the broker's clock when it was appended */
    uint64_t producer;  /* SimId.producer, 0 when not transactional */
    SimEntryState state;
    uint32_t header_count;
    Str key;
    Str value;
    const LogHeader *headers;
    void *bytes; /* NULL for a marker */
} SimEntry;

typedef struct SimOpen {
    uint64_t producer;
    int64_t first_offset;
} SimOpen;

struct SimPartition {
    SimTopic *topic;
    int32_t index;
    int64_t start;          /* log start offset */
    int64_t end;            /* next offset */
    int64_t corrupt_offset; /* -1: none */
    SimEntry *entries;
    size_t entry_count;
    size_t entry_capacity;
    SimOpen *open; /* transactions that wrote here and are not settled */
    size_t open_count;
    size_t open_capacity;
};

typedef struct SimConfig {
    const char *name;
    char *value;
} SimConfig;

struct SimTopic {
    const char *name; /* lives as long as the broker */
    bool exists;
    bool denied;
    bool leaderless;
    SimPartition **partitions;
    size_t partition_count;
    size_t partition_capacity;
    SimConfig *config; /* what was set; the rest has its default */
    size_t config_count;
    size_t config_capacity;
};

typedef struct SimGroupOffset {
    Str key; /* group NUL topic NUL partition */
    SimTopic *topic;
    int64_t offset;         /* -1: none committed */
    unsigned pending_count; /* open transactions that hold a value for it */
} SimGroupOffset;

typedef struct SimPendingOffset {
    SimGroupOffset *place;
    int64_t offset;
} SimPendingOffset;

struct SimId {
    const char *name;
    uint64_t producer;
    int64_t epoch;
    bool open; /* a transaction has touched something */
    int64_t started_ms;
    int64_t timeout_ms;
    SimPartition **touched;
    size_t touched_count;
    size_t touched_capacity;
    SimPendingOffset *pending;
    size_t pending_count;
    size_t pending_capacity;
};

typedef struct SimArmed {
    SimCall call;
    SimFailure failure;
    unsigned left;
} SimArmed;

struct SimBroker {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* anything a waiting call may wait for; monotonic clock */
    Arena *names_arena;
    Map names;         /* topic name → SimTopic */
    Map ids;           /* transactional id → SimId */
    Map group_offsets; /* SimGroupOffset.key → SimGroupOffset */
    const Clock *clock;
    bool available;
    size_t handles; /* Logs, consumers, producers not yet closed */
    SimArmed *armed;
    size_t armed_count;
    size_t armed_capacity;
    SimFailure (*hook)(void *context, SimCall call, const char *topic);
    void *hook_context;
    uint64_t last_producer;
};

/* ------------------------------------------------------------------------------ broker.c ---- */

/* Takes the mutex; settles transactions whose time is over. */
void sim_lock(SimBroker *broker);
void sim_unlock(SimBroker *broker);
int64_t sim_now_ms(const SimBroker *broker);
void sim_changed(SimBroker *broker);
/* Waits for a change until deadline_ms (monotonic); false when it has passed. Wakes also when a
 * transaction may time out. */
bool sim_wait(SimBroker *broker, int64_t deadline_ms);
/* The topic of this name, made (not existing) when new. */
SimTopic *sim_topic(SimBroker *broker, const char *name);
/* Errors every call on a topic shares: unavailable, denied, not found. */
Error *sim_topic_find(SimBroker *broker, const char *name, SimTopic **ret_topic);
Error *sim_partition_find(SimBroker *broker, const char *name, int32_t index,
                          SimPartition **ret_partition);
Error *sim_check_available(const SimBroker *broker);
SimFailure sim_fault(SimBroker *broker, SimCall call, const char *topic);
Error *sim_timed_out(const char *what);

/* ------------------------------------------------------------------------------- topic.c ---- */

/* The value set, else Kafka's default; NULL when Kafka knows no such config. */
const char *sim_topic_config(const SimTopic *topic, const char *name);
int64_t sim_topic_config_number(const SimTopic *topic, const char *name);
bool sim_topic_is_compacted(const SimTopic *topic);
Error *sim_topic_set_config(SimTopic *topic, const char *name, const char *value);
void sim_topic_add_partitions(SimTopic *topic, size_t count);
void sim_topic_delete(SimBroker *broker, SimTopic *topic);
void sim_topic_free(SimTopic *topic);

/* --------------------------------------------------------------------------- partition.c ---- */

/* Index of the first entry at or beyond `offset`. */
size_t sim_partition_seek(const SimPartition *partition, int64_t offset);
/* The end a reader of this isolation may see: end offset or last stable offset. */
int64_t sim_partition_visible_end(const SimPartition *partition, Isolation isolation);
/* Stores a copy; returns its offset. `id` NULL: not transactional. */
int64_t sim_partition_append(SimPartition *partition, const LogOutput *output, int64_t timestamp_ms,
                             int64_t now_ms, const SimId *id);
/* Decides the records of the transaction and writes its marker. */
void sim_partition_settle(SimPartition *partition, uint64_t producer, bool commit, int64_t now_ms);
int64_t sim_partition_offset_for_time(const SimPartition *partition, int64_t time_ms);
/* Removes all below `offset`, which is between start and end. */
void sim_partition_trim(SimPartition *partition, int64_t offset);
void sim_partition_compact(SimPartition *partition, int64_t now_ms, int64_t delete_retention_ms);
void sim_partition_free(SimPartition *partition);
/* What one record takes in a batch of its own, as Kafka counts it against max.message.bytes. */
size_t sim_record_batch_bytes(const LogOutput *output);

/* ------------------------------------------------------------------------- transaction.c ---- */

/* The state of a transactional id, made when new. */
SimId *sim_id(SimBroker *broker, const char *name);
/* Aborts the predecessor's transaction and takes the next epoch. */
void sim_id_fence(SimBroker *broker, SimId *id);
/* The transaction touches something: opens it if need be. */
void sim_id_open(SimBroker *broker, SimId *id, int64_t timeout_ms);
void sim_id_touch(SimId *id, SimPartition *partition);
void sim_id_put_offset(SimId *id, SimGroupOffset *place, int64_t offset);
void sim_id_settle(SimBroker *broker, SimId *id, bool commit);
/* Forgets a partition that is being deleted. */
void sim_id_forget(SimId *id, const SimPartition *partition);
void sim_id_free(SimId *id);
/* Aborts and fences every transaction that outlived its time-out; returns how long until the next
 * may, in ms, or -1. */
int64_t sim_settle_timed_out(SimBroker *broker);
/* The place of a group's offset, made when new. */
SimGroupOffset *sim_group_offset(SimBroker *broker, const char *group, SimTopic *topic,
                                 int32_t partition);

/* --------------------------------------------------------- the three parts of the interface ----
 */

extern const LogOps sim_ops;

/* Contracts as in connectors/log.h. Thread: any; each takes the broker's lock. */
Error *sim_consumer_open(Log *log, const LogConsumerOptions *options, LogConsumer **ret_consumer);
void sim_consumer_close(LogConsumer *consumer);
Error *sim_consumer_assign(LogConsumer *consumer, const LogPosition *positions, size_t count);
Error *sim_consumer_seek(LogConsumer *consumer, const LogPosition *position);
Error *sim_consumer_poll(LogConsumer *consumer, int timeout_ms, size_t records_max, Arena *arena,
                         LogPoll *ret_poll);

Error *sim_producer_open(Log *log, const LogProducerOptions *options, LogProducer **ret_producer);
void sim_producer_close(LogProducer *producer);
Error *sim_producer_init_transactions(LogProducer *producer, int timeout_ms);
Error *sim_producer_begin(LogProducer *producer);
Error *sim_producer_produce(LogProducer *producer, const LogOutput *outputs, size_t count,
                            size_t *ret_queued);
Error *sim_producer_flush(LogProducer *producer, int timeout_ms);
void sim_producer_poll(LogProducer *producer);
Error *sim_producer_send_offsets(LogProducer *producer, const char *group,
                                 const LogPosition *offsets, size_t count, int timeout_ms);
Error *sim_producer_commit(LogProducer *producer, int timeout_ms);
Error *sim_producer_abort(LogProducer *producer, int timeout_ms);

/* The broker behind a connection. */
SimBroker *sim_log_broker(const Log *log);

#endif
