/* What the conformance cases share: a fixture a case (connection, topics, writers, readers, all
 * closed after it) and readable expectations. Internal to the suite.
 *
 * What was read is written as text, "offset:key=value" a record, null as "-":
 *     0:a=1 2:b=-
 */
#ifndef TESTS_SUPPORT_LOG_CONFORMANCE_CASE_H
#define TESTS_SUPPORT_LOG_CONFORMANCE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/buffer.h"
#include "tests/support/log_conformance.h"

typedef struct Delivered {
    const char *topic; /* in the writer's arena */
    int32_t partition;
    int64_t offset;
    uint64_t tag;
    bool failed;
    ErrorClass class;
} Delivered;

typedef struct Writer {
    LogProducer *producer;
    Arena *arena;
    Delivered *delivered;
    size_t delivered_count;
    size_t delivered_capacity;
    uint64_t next_tag;
} Writer;

enum { TOPICS_MAX = 4, WRITERS_MAX = 6, READERS_MAX = 4 };

typedef struct Fixture {
    const LogConformanceTarget *target;
    unsigned number; /* of the case: keeps names apart */
    int timeout_ms;  /* patience of every call and wait */
    Log *log;
    Log *other; /* a second connection to the same cluster */
    Arena *arena;
    Buffer text;
    const char *topics[TOPICS_MAX];
    size_t topic_count;
    Writer *writers[WRITERS_MAX];
    size_t writer_count;
    LogConsumer *readers[READERS_MAX];
    size_t reader_count;
} Fixture;

typedef struct LogCase {
    const char *name;
    void (*run)(void **state);
} LogCase;

#define LOG_CASE(function) {#function, function}

extern const LogCase log_cases_records[];
extern const size_t log_cases_records_count;
extern const LogCase log_cases_transactions[];
extern const size_t log_cases_transactions_count;
extern const LogCase log_cases_topics[];
extern const size_t log_cases_topics_count;

/* Fails the case with the error's text. */
void assert_no_error(Error *error, const char *call, const char *file, int line);
void assert_error_is(Error *error, ErrorClass class, ErrorDisposition disposition, const char *call,
                     const char *file, int line);
#define OK(call) assert_no_error((call), #call, __FILE__, __LINE__)
#define FAILS(call, class, disposition)                                                            \
    assert_error_is((call), (class), (disposition), #call, __FILE__, __LINE__)

/* "<prefix>.<case number>.<label>", in the fixture's arena: for groups and transactional ids too.
 */
const char *name_of(Fixture *f, const char *label);
/* Creates a topic that is deleted after the case. Config "name=value name=value", NULL for none;
 * retention is switched off, the tests use old timestamps. */
const char *make_topic(Fixture *f, const char *label, int partitions, const char *config);

/* `id` NULL: idempotent without transactions. */
Writer *open_writer(Fixture *f, Log *log, const char *id);
Writer *open_writer_with_timeout(Fixture *f, Log *log, const char *id, int transaction_timeout_ms);
/* open + init_transactions */
Writer *open_transactional(Fixture *f, Log *log, const char *id);
/* NULL key or value: null. Asserts success of the call, not of the delivery. */
void put(Writer *w, const char *topic, int32_t partition, const char *key, const char *value);
void put_at(Writer *w, const char *topic, int32_t partition, const char *key, const char *value,
            int64_t timestamp_ms);
/* put + flush + the delivery is good; returns its offset. */
int64_t put_now(Fixture *f, Writer *w, const char *topic, int32_t partition, const char *key,
                const char *value);
void begin(Writer *w);
void commit(Fixture *f, Writer *w);
void flush(Fixture *f, Writer *w);

LogConsumer *open_reader(Fixture *f, Isolation isolation);
/* Opens a reader at one partition and offset. */
LogConsumer *open_reader_at(Fixture *f, Isolation isolation, const char *topic, int32_t partition,
                            int64_t offset);
/* Polls until the position of this partition reaches `until` (a record before it, or an end at or
 * beyond it); other partitions may tell their ends but bring no record. Returns the records before
 * `until` as text, valid until the next call. */
const char *read_until(Fixture *f, LogConsumer *reader, const char *topic, int32_t partition,
                       int64_t until);
/* The same with a reader of its own. */
const char *read_from(Fixture *f, Isolation isolation, const char *topic, int32_t partition,
                      int64_t from, int64_t until);
/* Polls until an end of this partition is told; returns its offset. *ret_records (may be NULL)
 * counts the records that came meanwhile. */
int64_t wait_for_end(Fixture *f, LogConsumer *reader, const char *topic, int32_t partition,
                     size_t *ret_records);
/* Polls until an error comes and returns it; fails the case when none does. */
Error *poll_until_error(Fixture *f, LogConsumer *reader);
/* Waits until the last stable offset is at least `end`. */
void wait_for_stable_end(Fixture *f, const char *topic, int32_t partition, int64_t end);
int64_t end_offset(Fixture *f, const char *topic, int32_t partition, Isolation isolation);

#endif
