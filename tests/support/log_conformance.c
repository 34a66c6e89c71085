/* The runner of the conformance suite and what its cases share. */
#include "tests/support/log_conformance.h"

#include <stdio.h>
#include <string.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "tests/support/log_conformance_case.h"

#include "processor/base/banned.h"

/* --------------------------------------------------------------------------- expectations ---- */

static const char *text_of(const Error *error, Buffer *text)
{
    error_format_line(error, text);
    return buffer_cstr(text);
}

void assert_no_error(Error *error, const char *call, const char *file, int line)
{
    if (error == NULL) {
        return;
    }
    Buffer text = {0};
    print_error("%s\n  failed: %s\n", call, text_of(error, &text));
    buffer_done(&text);
    error_free(error);
    _fail(file, line);
}

void assert_error_is(Error *error, ErrorClass class, ErrorDisposition disposition, const char *call,
                     const char *file, int line)
{
    static const char *const dispositions[] = {"USER", "RETRY", "ABORT", "FATAL"};
    if (error != NULL && error_class(error) == class && error_disposition(error) == disposition) {
        error_free(error);
        return;
    }
    Buffer text = {0};
    print_error("%s\n  should fail with %s (%s), but: %s%s%s\n", call, error_class_name(class),
                dispositions[disposition],
                error == NULL ? "no error" : dispositions[error_disposition(error)],
                error == NULL ? "" : " ", error == NULL ? "" : text_of(error, &text));
    buffer_done(&text);
    error_free(error);
    _fail(file, line);
}

/* -------------------------------------------------------------------------------- topics ---- */

const char *name_of(Fixture *f, const char *label)
{
    return arena_printf(f->arena, "%s.%u.%s", f->target->prefix, f->number, label);
}

const char *make_topic(Fixture *f, const char *label, int partitions, const char *config)
{
    enum { ENTRIES_MAX = 8 };
    LogConfigEntry entries[ENTRIES_MAX] = {{"retention.ms", "-1"}};
    size_t count = 1;
    Str rest = str_from(config);
    while (rest.data != NULL) {
        Str value = str_cut(&rest, ' ');
        Str name = str_cut(&value, '=');
        assert_true(count < ENTRIES_MAX);
        entries[count++] =
            (LogConfigEntry){arena_copy_cstr(f->arena, name), arena_copy_cstr(f->arena, value)};
    }
    LogTopicSpec spec = {.name = name_of(f, label),
                         .partitions = partitions,
                         .replication_factor = -1,
                         .config = entries,
                         .config_count = count};
    OK(log_topic_create(f->log, &spec, f->timeout_ms));
    assert_true(f->topic_count < TOPICS_MAX);
    f->topics[f->topic_count++] = spec.name;
    return spec.name;
}

/* ------------------------------------------------------------------------------- writing ---- */

static void note_delivery(void *context, const LogDelivery *delivery)
{
    Writer *w = context;
    mem_reserve(w->delivered, &w->delivered_capacity, w->delivered_count + 1);
    w->delivered[w->delivered_count++] = (Delivered){
        .topic = arena_copy_cstr(w->arena, str_from(delivery->topic)),
        .partition = delivery->partition,
        .offset = delivery->offset,
        .tag = delivery->tag,
        .failed = delivery->error != NULL,
        .class = delivery->error == NULL ? ERROR_INTERNAL_ERROR : error_class(delivery->error),
    };
}

Writer *open_writer_with_timeout(Fixture *f, Log *log, const char *id, int transaction_timeout_ms)
{
    Writer *w = mem_new(Writer);
    w->arena = arena_new("conformance writer"); /* not the case's: another thread may write */
    assert_true(f->writer_count < WRITERS_MAX);
    f->writers[f->writer_count++] = w;
    LogProducerOptions options = {.transactional_id = id,
                                  .transaction_timeout_ms = transaction_timeout_ms,
                                  .on_delivery = note_delivery,
                                  .context = w};
    OK(log_producer_open(log, &options, &w->producer));
    return w;
}

Writer *open_writer(Fixture *f, Log *log, const char *id)
{
    return open_writer_with_timeout(f, log, id, 0);
}

Writer *open_transactional(Fixture *f, Log *log, const char *id)
{
    Writer *w = open_writer(f, log, id);
    OK(log_producer_init_transactions(w->producer, f->timeout_ms));
    return w;
}

void put_at(Writer *w, const char *topic, int32_t partition, const char *key, const char *value,
            int64_t timestamp_ms)
{
    LogOutput output = {.topic = topic,
                        .partition = partition,
                        .key = str_from(key),
                        .value = str_from(value),
                        .timestamp_ms = timestamp_ms,
                        .tag = w->next_tag++};
    size_t queued = 99;
    OK(log_producer_produce(w->producer, &output, 1, &queued));
    assert_int_equal(queued, 1);
}

void put(Writer *w, const char *topic, int32_t partition, const char *key, const char *value)
{
    put_at(w, topic, partition, key, value, 0);
}

void flush(Fixture *f, Writer *w)
{
    OK(log_producer_flush(w->producer, f->timeout_ms));
}

int64_t put_now(Fixture *f, Writer *w, const char *topic, int32_t partition, const char *key,
                const char *value)
{
    put(w, topic, partition, key, value);
    flush(f, w);
    const Delivered *last = &w->delivered[w->delivered_count - 1];
    assert_int_equal(last->tag, w->next_tag - 1);
    assert_false(last->failed);
    return last->offset;
}

void begin(Writer *w)
{
    OK(log_producer_begin(w->producer));
}

void commit(Fixture *f, Writer *w)
{
    OK(log_producer_commit(w->producer, f->timeout_ms));
}

/* ------------------------------------------------------------------------------- reading ---- */

LogConsumer *open_reader(Fixture *f, Isolation isolation)
{
    LogConsumer *reader = NULL;
    LogConsumerOptions options = {.isolation = isolation};
    OK(log_consumer_open(f->log, &options, &reader));
    assert_true(f->reader_count < READERS_MAX);
    f->readers[f->reader_count++] = reader;
    return reader;
}

LogConsumer *open_reader_at(Fixture *f, Isolation isolation, const char *topic, int32_t partition,
                            int64_t offset)
{
    LogConsumer *reader = open_reader(f, isolation);
    LogPosition position = {topic, partition, offset};
    OK(log_consumer_assign(reader, &position, 1));
    return reader;
}

static void append_field(Buffer *text, Str field)
{
    buffer_append_str(text, field.data == NULL ? STR("-") : field);
}

static void append_record(Buffer *text, const LogRecord *record)
{
    buffer_printf(text, "%s%lld:", text->size == 0 ? "" : " ", (long long)record->offset);
    append_field(text, record->key);
    buffer_append_byte(text, '=');
    append_field(text, record->value);
}

static void assert_at(const char *topic, int32_t partition, const char *got, int32_t got_partition)
{
    assert_string_equal(got, topic);
    assert_int_equal(got_partition, partition);
}

/* One poll's share of read_until; the position after it. */
static int64_t take_poll(Fixture *f, const LogPoll *poll, const char *topic, int32_t partition,
                         int64_t until)
{
    int64_t position = -1;
    for (size_t i = 0; i < poll->record_count; i++) {
        const LogRecord *record = &poll->records[i];
        assert_at(topic, partition, record->topic, record->partition);
        if (record->offset < until) {
            append_record(&f->text, record);
        }
        position = record->offset + 1;
    }
    for (size_t i = 0; i < poll->end_count; i++) {
        /* The end of another partition of the reader may come at any time. */
        bool own = poll->ends[i].partition == partition && strcmp(poll->ends[i].topic, topic) == 0;
        position = own && poll->ends[i].offset > position ? poll->ends[i].offset : position;
    }
    return position;
}

const char *read_until(Fixture *f, LogConsumer *reader, const char *topic, int32_t partition,
                       int64_t until)
{
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms;
    buffer_clear(&f->text);
    for (int64_t position = -1; position < until;) {
        LogPoll poll = {0};
        OK(log_consumer_poll(reader, 100, 1000, f->arena, &poll));
        int64_t after = take_poll(f, &poll, topic, partition, until);
        position = after > position ? after : position;
        if (position < until && clock_monotonic_ms() > deadline_ms) {
            fail_msg("%s/%d: waited for position %lld in vain, at %lld, read so far: %s", topic,
                     partition, (long long)until, (long long)position, buffer_cstr(&f->text));
        }
    }
    return buffer_cstr(&f->text);
}

const char *read_from(Fixture *f, Isolation isolation, const char *topic, int32_t partition,
                      int64_t from, int64_t until)
{
    LogConsumer *reader = open_reader_at(f, isolation, topic, partition, from);
    const char *text = read_until(f, reader, topic, partition, until);
    f->reader_count--;
    log_consumer_close(reader);
    return text;
}

int64_t wait_for_end(Fixture *f, LogConsumer *reader, const char *topic, int32_t partition,
                     size_t *ret_records)
{
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms;
    size_t records = 0;
    while (clock_monotonic_ms() <= deadline_ms) {
        LogPoll poll = {0};
        OK(log_consumer_poll(reader, 100, 1000, f->arena, &poll));
        records += poll.record_count;
        for (size_t i = 0; i < poll.end_count; i++) {
            const LogPosition *end = &poll.ends[i];
            if (str_equal(str_from(end->topic), str_from(topic)) && end->partition == partition) {
                if (ret_records != NULL) {
                    *ret_records = records;
                }
                return end->offset;
            }
        }
    }
    fail_msg("%s/%d: no end was told", topic, partition);
    return -1;
}

Error *poll_until_error(Fixture *f, LogConsumer *reader)
{
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms;
    while (clock_monotonic_ms() <= deadline_ms) {
        LogPoll poll = {0};
        Error *error = log_consumer_poll(reader, 100, 1000, f->arena, &poll);
        if (error != NULL) {
            return error;
        }
        assert_int_equal(poll.record_count, 0);
    }
    return NULL;
}

int64_t end_offset(Fixture *f, const char *topic, int32_t partition, Isolation isolation)
{
    int64_t start = -1;
    int64_t end = -1;
    OK(log_watermarks(f->log, topic, partition, isolation, f->timeout_ms, &start, &end));
    return end;
}

void wait_for_stable_end(Fixture *f, const char *topic, int32_t partition, int64_t end)
{
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms;
    while (end_offset(f, topic, partition, READ_COMMITTED) < end) {
        if (clock_monotonic_ms() > deadline_ms) {
            fail_msg("%s/%d: the last stable offset does not reach %lld", topic, partition,
                     (long long)end);
        }
        clock_sleep_ms(5);
    }
}

/* --------------------------------------------------------------------------------- running ---- */

static int set_up(void **state)
{
    Fixture *f = *state;
    f->arena = arena_new("conformance case");
    f->log = f->target->connect(f->target->context);
    f->other = f->target->connect(f->target->context);
    return f->log != NULL && f->other != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < f->reader_count; i++) {
        log_consumer_close(f->readers[i]);
    }
    for (size_t i = 0; i < f->writer_count; i++) {
        log_producer_close(f->writers[i]->producer);
        arena_free(f->writers[i]->arena);
        mem_free(f->writers[i]->delivered);
        mem_free(f->writers[i]);
    }
    for (size_t i = 0; i < f->topic_count; i++) {
        error_free(log_topic_delete(f->log, f->topics[i], f->timeout_ms));
    }
    log_close(f->log);
    log_close(f->other);
    buffer_done(&f->text);
    arena_free(f->arena);
    return 0;
}

typedef struct CaseList {
    struct CMUnitTest *tests;
    size_t count;
    size_t capacity;
} CaseList;

static void add_cases(CaseList *list, const LogConformanceTarget *target, const LogCase *cases,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (target->only != NULL && strstr(cases[i].name, target->only) == NULL) {
            continue;
        }
        Fixture *f = mem_new(Fixture);
        f->target = target;
        f->number = (unsigned)list->count;
        f->timeout_ms = target->slow ? 60000 : 5000;
        mem_reserve(list->tests, &list->capacity, list->count + 1);
        list->tests[list->count++] =
            (struct CMUnitTest){cases[i].name, cases[i].run, set_up, tear_down, f};
    }
}

int log_conformance_run(const LogConformanceTarget *target)
{
    CaseList list = {0};
    add_cases(&list, target, log_cases_records, log_cases_records_count);
    add_cases(&list, target, log_cases_transactions, log_cases_transactions_count);
    add_cases(&list, target, log_cases_topics, log_cases_topics_count);
    int failed = _cmocka_run_group_tests("log conformance", list.tests, list.count, NULL, NULL);
    for (size_t i = 0; i < list.count; i++) {
        mem_free(list.tests[i].initial_state);
    }
    mem_free(list.tests);
    return failed;
}
