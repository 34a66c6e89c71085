/* The records of one source for one flow. */
#include "processor/run/source_reader.h"

#include <assert.h>

#include "processor/base/memory.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

struct SourceReader {
    SourceReaderOptions options;
    const char *topic;
    LogConsumer *consumer;
    SourcePartition *partitions;
    int partition_count;
    bool bounded; /* a triggered update: every partition has an `end` */
};

static Error *not_found_hint(const SourceReader *reader, Error *error)
{
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
        error_set_hint(error,
                       "create topic `%s`, or correct sources.%.*s.topic: tidemark does not make "
                       "source topics",
                       reader->topic, STR_ARG(reader->options.source->config->name));
    }
    return error;
}

static Error *topic_changed(const SourceReader *reader, int partition, int64_t offset,
                            const char *what)
{
    Error *error = error_new(ERROR_SOURCE_TOPIC_CHANGED,
                             "Topic `%s` partition %d is not the one that was read before: offset "
                             "%lld %s. The topic was deleted and made anew, or cut.",
                             reader->topic, partition, (long long)offset, what);
    return error_set_hint(error, "nothing was consumed and the table stays as it is; a table of "
                                 "another name can read the new topic from its beginning");
}

static Error *beyond_end(const SourceReader *reader, int partition, int64_t offset, int64_t end)
{
    AUTO_BUFFER Buffer what = {0};
    buffer_printf(&what, "lies beyond its end %lld", (long long)end);
    return topic_changed(reader, partition, offset, buffer_cstr(&what));
}

/* Where a partition that was never read starts. */
static Error *first_offset(const SourceReader *reader, int partition, TopologyStart from,
                           int64_t *ret_offset)
{
    const TopologySource *config = reader->options.source->config;
    int64_t start = 0;
    int64_t end = 0;
    TRY(log_watermarks(reader->options.log, reader->topic, partition, READ_COMMITTED,
                       reader->options.timeout_ms, &start, &end));
    switch (from) {
    case TOPOLOGY_START_EARLIEST:
        *ret_offset = start;
        return NULL;
    case TOPOLOGY_START_LATEST:
        *ret_offset = end;
        return NULL;
    case TOPOLOGY_START_TIMESTAMP: {
        int64_t time_us = 0;
        bool good = program_start_time(config, reader->options.time_zone, &time_us);
        assert(good); /* judged by program_load */
        (void)good;
        return log_offset_for_time(reader->options.log, reader->topic, partition, time_us / 1000,
                                   reader->options.timeout_ms, ret_offset);
    }
    }
    return NULL;
}

static const ProgressPosition *stored_position(const SourceReader *reader, const Progress *progress,
                                               int partition)
{
    for (size_t i = 0; i < progress->position_count; i++) {
        const ProgressPosition *position = &progress->positions[i];
        if (position->partition == partition &&
            str_equal(position->topic, str_from(reader->topic))) {
            return position;
        }
    }
    return NULL;
}

/* A stored position against what the topic holds now. */
static Error *resume_partition(const SourceReader *reader, const ProgressPosition *stored,
                               SourcePartition *ret)
{
    int partition = stored->partition;
    int64_t start = 0;
    int64_t end = 0;
    TRY(topic_known_range(reader->options.log, reader->topic, partition, stored->offset,
                          reader->options.timeout_ms, &start, &end));
    if (stored->offset > end) {
        return error_set_disposition(beyond_end(reader, partition, stored->offset, end),
                                     ERROR_USER);
    }
    int64_t next = stored->offset;
    if (next < start) {
        if (reader->options.on_loss != NULL) {
            reader->options.on_loss(reader->options.context, reader->topic, partition, next, start);
        }
        next = start;
    }
    *ret = (SourcePartition){.begin = stored->begin,
                             .next = next,
                             .closed = next,
                             .committed = next,
                             .stored = next == stored->offset,
                             .closing = next == stored->offset,
                             .last = stored->fingerprint,
                             .committed_last = stored->fingerprint,
                             .end = -1,
                             .seen_end = end,
                             .expect = {.offset = -1}};
    if (stored->fingerprint.offset >= start && stored->fingerprint.offset < next) {
        ret->expect = stored->fingerprint;
    }
    return NULL;
}

static SourcePartition new_partition(int64_t offset)
{
    return (SourcePartition){.begin = offset,
                             .next = offset,
                             .closed = offset,
                             .committed = offset,
                             .last = {.offset = -1},
                             .committed_last = {.offset = -1},
                             .end = -1,
                             .seen_end = -1,
                             .expect = {.offset = -1}};
}

/* Kafka never takes partitions away from a topic. */
static Error *check_partition_count(const SourceReader *reader, const Progress *progress, int count)
{
    for (size_t i = 0; i < progress->position_count; i++) {
        const ProgressPosition *position = &progress->positions[i];
        if (position->partition >= count && str_equal(position->topic, str_from(reader->topic))) {
            return topic_changed(reader, position->partition, position->offset,
                                 "was reached, and there is no such partition now");
        }
    }
    return NULL;
}

static Error *find_partitions(SourceReader *reader, const Progress *progress)
{
    LogTopicDescription description = {0};
    TRY(log_topic_describe(reader->options.log, reader->topic, reader->options.timeout_ms,
                           &description));
    TRY(check_partition_count(reader, progress, description.partition_count));
    reader->partition_count = description.partition_count;
    reader->partitions =
        mem_alloc_array((size_t)reader->partition_count, sizeof *reader->partitions);
    for (int p = 0; p < reader->partition_count; p++) {
        const ProgressPosition *stored = stored_position(reader, progress, p);
        if (stored != NULL) {
            TRY(resume_partition(reader, stored, &reader->partitions[p]));
        } else {
            int64_t offset = 0;
            TRY(first_offset(reader, p, reader->options.source->config->start, &offset));
            reader->partitions[p] = new_partition(offset);
        }
    }
    return NULL;
}

/* Reading starts at the record to be checked, if there is one, else at the next to be handed out.
 */
static int64_t read_from(const SourcePartition *partition)
{
    return partition->expect.offset >= 0 ? partition->expect.offset : partition->next;
}

static Error *assign_all(SourceReader *reader)
{
    LogPosition *positions = mem_alloc_array((size_t)reader->partition_count, sizeof *positions);
    for (int p = 0; p < reader->partition_count; p++) {
        positions[p] = (LogPosition){reader->topic, p, read_from(&reader->partitions[p])};
        reader->partitions[p].reached = 0;
    }
    Error *error =
        log_consumer_assign(reader->consumer, positions, (size_t)reader->partition_count);
    mem_free(positions);
    return error;
}

static Error *open_reader(SourceReader *reader, const Progress *progress)
{
    TRY(not_found_hint(reader, find_partitions(reader, progress)));
    LogConsumerOptions options = {.isolation = READ_COMMITTED,
                                  .queue_bytes_max = reader->options.queue_bytes_max};
    TRY(log_consumer_open(reader->options.log, &options, &reader->consumer));
    return assign_all(reader);
}

Error *source_reader_open(const SourceReaderOptions *options, const Progress *progress,
                          SourceReader **ret_reader)
{
    SourceReader *reader = mem_new(SourceReader);
    reader->options = *options;
    reader->topic = options->source->topic;
    Error *error = open_reader(reader, progress);
    if (error != NULL) {
        source_reader_close(reader);
        return error;
    }
    *ret_reader = reader;
    return NULL;
}

void source_reader_close(SourceReader *reader)
{
    if (reader != NULL) {
        log_consumer_close(reader->consumer);
        mem_free(reader->partitions);
        mem_free(reader);
    }
}

int source_reader_partitions(const SourceReader *reader)
{
    return reader->partition_count;
}

const SourcePartition *source_reader_partition(const SourceReader *reader, int partition)
{
    assert(partition < reader->partition_count);
    return &reader->partitions[partition];
}

Error *source_reader_refresh(SourceReader *reader, bool *ret_added)
{
    LogTopicDescription description = {0};
    TRY(not_found_hint(reader, log_topic_describe(reader->options.log, reader->topic,
                                                  reader->options.timeout_ms, &description)));
    if (description.partition_count < reader->partition_count) {
        int gone = description.partition_count;
        return topic_changed(reader, gone, reader->partitions[gone].next,
                             "was reached, and there is no such partition now");
    }
    *ret_added = description.partition_count > reader->partition_count;
    while (reader->partition_count < description.partition_count) {
        int p = reader->partition_count;
        int64_t start = 0;
        int64_t end = 0;
        TRY(log_watermarks(reader->options.log, reader->topic, p, READ_COMMITTED,
                           reader->options.timeout_ms, &start, &end));
        reader->partitions =
            mem_realloc(reader->partitions, (size_t)(p + 1) * sizeof *reader->partitions);
        reader->partitions[p] = new_partition(start);
        reader->partitions[p].end = reader->bounded ? start : -1;
        TRY(log_consumer_seek(reader->consumer, &(LogPosition){reader->topic, p, start}));
        reader->partition_count++;
    }
    return NULL;
}

/* The last stable offset never goes back, nor does the end: the topic was made anew. */
static Error *check_end(const SourceReader *reader, int partition, int64_t stable_end)
{
    int64_t next = reader->partitions[partition].next;
    int64_t start = 0;
    int64_t end = stable_end;
    if (stable_end < next) {
        TRY(topic_known_range(reader->options.log, reader->topic, partition, next,
                              reader->options.timeout_ms, &start, &end));
    }
    return end >= next ? NULL : beyond_end(reader, partition, next, end);
}

/* What the topic lost while the flow was running is told as at a start. */
static Error *skip_lost(SourceReader *reader, int p, int64_t start)
{
    SourcePartition *partition = &reader->partitions[p];
    if (partition->next >= start) {
        return NULL;
    }
    if (reader->options.on_loss != NULL) {
        reader->options.on_loss(reader->options.context, reader->topic, p, partition->next, start);
    }
    partition->next = start;
    partition->reached = 0;
    partition->expect.offset = -1; /* it is among the lost */
    return log_consumer_seek(reader->consumer, &(LogPosition){reader->topic, p, start});
}

Error *source_reader_set_bounds(SourceReader *reader)
{
    for (int p = 0; p < reader->partition_count; p++) {
        int64_t start = 0;
        int64_t end = 0;
        TRY(log_watermarks(reader->options.log, reader->topic, p, READ_COMMITTED,
                           reader->options.timeout_ms, &start, &end));
        TRY(check_end(reader, p, end));
        TRY(skip_lost(reader, p, start));
        SourcePartition *partition = &reader->partitions[p];
        partition->end = end;
        partition->seen_end = end;
        /* The consumer stands beyond the last bound, behind markers and aborted records, and has
         * said so: it will not say it again. */
        int64_t reached = partition->reached < end ? partition->reached : end;
        partition->next = reached > partition->next ? reached : partition->next;
    }
    reader->bounded = true;
    return NULL;
}

void source_reader_clear_bounds(SourceReader *reader)
{
    for (int p = 0; p < reader->partition_count; p++) {
        reader->partitions[p].end = -1;
    }
    reader->bounded = false;
}

void source_reader_take_bounds(SourceReader *reader, const SourceReader *from)
{
    reader->bounded = from->bounded;
    for (int p = 0; p < reader->partition_count && from->bounded; p++) {
        SourcePartition *partition = &reader->partitions[p];
        /* A partition that is new belongs to the next update. */
        partition->end = p < from->partition_count ? from->partitions[p].end : partition->next;
    }
}

/* A partition whose fingerprint is still to be checked is not drained: nothing may be taken for
 * done before the topic is known to be the same. */
bool source_reader_is_drained(const SourceReader *reader)
{
    for (int p = 0; p < reader->partition_count; p++) {
        const SourcePartition *partition = &reader->partitions[p];
        if (partition->end < 0 || partition->next < partition->end ||
            partition->expect.offset >= 0) {
            return false;
        }
    }
    return true;
}

bool source_reader_is_caught_up(const SourceReader *reader)
{
    for (int p = 0; p < reader->partition_count; p++) {
        const SourcePartition *partition = &reader->partitions[p];
        if (partition->seen_end < 0 || partition->next < partition->seen_end) {
            return false;
        }
    }
    return true;
}

/* Compares a record read again with what was applied; a record beyond it means that it is gone
 * (retention, compaction), which proves nothing. */
static Error *check_fingerprint(const SourceReader *reader, SourcePartition *partition,
                                const LogRecord *record)
{
    Fingerprint expect = partition->expect;
    if (expect.offset < 0) {
        return NULL;
    }
    if (record->offset == expect.offset && (record->timestamp_ms != expect.timestamp_ms ||
                                            fingerprint_checksum(record) != expect.checksum)) {
        return topic_changed(reader, record->partition, record->offset,
                             "holds another record than the one applied");
    }
    partition->expect.offset = -1;
    return NULL;
}

/* Is the record one to hand out? Moves the partition past it. */
static Error *take_record(SourceReader *reader, const LogRecord *record, bool *ret_wanted)
{
    SourcePartition *partition = &reader->partitions[record->partition];
    TRY(check_fingerprint(reader, partition, record));
    *ret_wanted = record->offset >= partition->next &&
                  (partition->end < 0 || record->offset < partition->end);
    if (*ret_wanted) {
        partition->next = record->offset + 1;
    } else if (partition->end >= 0 && record->offset >= partition->end &&
               partition->next < partition->end) {
        /* What lay between was markers or removed records. */
        partition->next = partition->end;
    }
    return NULL;
}

static void take_end(SourceReader *reader, const LogPosition *end)
{
    SourcePartition *partition = &reader->partitions[end->partition];
    partition->expect.offset = -1;
    partition->seen_end = end->offset;
    partition->reached = end->offset;
    int64_t next =
        partition->end >= 0 && end->offset > partition->end ? partition->end : end->offset;
    if (next > partition->next) {
        partition->next = next;
    }
}

/* Records beyond the bounds were fetched and not handed out: they must come again later. */
static Error *seek_overrun(SourceReader *reader, const bool *overrun)
{
    for (int p = 0; p < reader->partition_count; p++) {
        if (overrun[p]) {
            reader->partitions[p].reached = 0;
            TRY(log_consumer_seek(reader->consumer,
                                  &(LogPosition){reader->topic, p, reader->partitions[p].next}));
        }
    }
    return NULL;
}

/* Fingerprints are made of the last record of each partition only, once a poll. */
static void note_last_records(SourceReader *reader, const LogRecord *const *newest)
{
    for (int p = 0; p < reader->partition_count; p++) {
        if (newest[p] != NULL) {
            reader->partitions[p].last = (Fingerprint){newest[p]->offset, newest[p]->timestamp_ms,
                                                       fingerprint_checksum(newest[p])};
        }
    }
}

Error *source_reader_next(SourceReader *reader, int timeout_ms, size_t records_max, Arena *arena,
                          const LogRecord **ret_records, size_t *ret_count)
{
    LogPoll poll = {0};
    TRY(log_consumer_poll(reader->consumer, timeout_ms, records_max, arena, &poll));
    LogRecord *kept = arena_new_array(arena, LogRecord, poll.record_count);
    bool *overrun = arena_new_array(arena, bool, (size_t)reader->partition_count);
    const LogRecord **newest =
        arena_new_array(arena, const LogRecord *, (size_t)reader->partition_count);
    size_t count = 0;
    for (size_t i = 0; i < poll.record_count; i++) {
        const LogRecord *record = &poll.records[i];
        bool wanted = false;
        TRY(take_record(reader, record, &wanted));
        if (wanted) {
            kept[count++] = *record;
            newest[record->partition] = record;
        } else if (record->offset >= reader->partitions[record->partition].next) {
            overrun[record->partition] = true;
        }
    }
    for (size_t i = 0; i < poll.end_count; i++) {
        if (!overrun[poll.ends[i].partition]) {
            take_end(reader, &poll.ends[i]);
        }
    }
    note_last_records(reader, newest);
    TRY(seek_overrun(reader, overrun));
    *ret_records = kept;
    *ret_count = count;
    return NULL;
}

Error *source_reader_give_back(SourceReader *reader, const LogRecord *from, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        SourcePartition *partition = &reader->partitions[from[i].partition];
        partition->next = from[i].offset;
        partition->last = partition->committed_last;
        partition->reached = 0;
    }
    for (size_t i = 0; i < count; i++) {
        int p = from[i].partition;
        TRY(log_consumer_seek(reader->consumer,
                              &(LogPosition){reader->topic, p, reader->partitions[p].next}));
    }
    return NULL;
}

static bool has_moved(const SourcePartition *partition)
{
    return !partition->closing || partition->next != partition->closed;
}

bool source_reader_moved(const SourceReader *reader)
{
    for (int p = 0; p < reader->partition_count; p++) {
        if (has_moved(&reader->partitions[p])) {
            return true;
        }
    }
    return false;
}

void source_progress_done(SourceProgress *progress)
{
    mem_free(progress->moves);
    *progress = (SourceProgress){0};
}

void source_reader_close_epoch(SourceReader *reader, SourceProgress *progress)
{
    progress->count = 0;
    for (int p = 0; p < reader->partition_count; p++) {
        SourcePartition *partition = &reader->partitions[p];
        if (has_moved(partition)) {
            mem_reserve(progress->moves, &progress->capacity, progress->count + 1);
            progress->moves[progress->count++] =
                (SourceMove){p, partition->begin, partition->next, partition->last};
            partition->closed = partition->next;
            partition->closing = true;
        }
    }
}

void source_reader_commit(SourceReader *reader, const SourceProgress *progress)
{
    for (size_t i = 0; i < progress->count; i++) {
        const SourceMove *move = &progress->moves[i];
        SourcePartition *partition = &reader->partitions[move->partition];
        partition->committed = move->next;
        partition->committed_last = move->last;
        partition->stored = true;
    }
}

Error *source_reader_rewind(SourceReader *reader)
{
    for (int p = 0; p < reader->partition_count; p++) {
        SourcePartition *partition = &reader->partitions[p];
        partition->next = partition->committed;
        partition->closed = partition->committed;
        partition->closing = partition->stored;
        partition->last = partition->committed_last;
    }
    /* All of them, also those that did not move: the error may have come in the middle of a poll,
     * whose other records the consumer has left behind. */
    return assign_all(reader);
}

Error *source_reader_reset(SourceReader *reader)
{
    TopologyStart from = reader->options.source->config->start;
    if (from == TOPOLOGY_START_LATEST) {
        from = TOPOLOGY_START_EARLIEST; /* RU-52: all retained records */
    }
    for (int p = 0; p < reader->partition_count; p++) {
        int64_t offset = 0;
        TRY(first_offset(reader, p, from, &offset));
        reader->partitions[p] = new_partition(offset);
    }
    return assign_all(reader);
}

uint64_t source_reader_backlog(const SourceReader *reader)
{
    uint64_t backlog = 0;
    for (int p = 0; p < reader->partition_count; p++) {
        const SourcePartition *partition = &reader->partitions[p];
        if (partition->seen_end > partition->next) {
            backlog += (uint64_t)(partition->seen_end - partition->next);
        }
    }
    return backlog;
}
