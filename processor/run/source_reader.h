/* SourceReader: the records of one source for one flow, from the positions the progress topic
 * gives, read_committed, with absolute offsets. Knows how far each partition was handed out, how
 * far the epoch may go, and whether the topic is still the one that was read before (decisions,
 * "Topic made anew"). Thread: the flow's. */
#ifndef RUN_SOURCE_READER_H
#define RUN_SOURCE_READER_H

#include "connectors/log.h"
#include "processor/run/program.h"
#include "processor/run/progress.h"

typedef struct SourceReader SourceReader;

/* One partition as the reader stands. */
typedef struct SourcePartition {
    int64_t begin;     /* where reading began, since the last full refresh */
    int64_t next;      /* next offset to be handed out */
    int64_t closed;    /* as of the last closed epoch, whether its commit is through or not */
    int64_t committed; /* as of the last committed epoch: where an abort goes back to */
    bool stored;       /* `committed` is in the progress topic */
    bool closing;      /* `closed` is in the transaction under way, or stored */
    Fingerprint last;  /* of the last record handed out */
    Fingerprint committed_last;
    int64_t end;        /* bound of a triggered update, -1: none */
    int64_t seen_end;   /* end offset last reported, for the backlog; -1: unknown */
    int64_t reached;    /* end the consumer told, since it was last placed: it tells it once */
    Fingerprint expect; /* must match if that offset still exists; offset -1: nothing to check */
} SourcePartition;

/* How far an epoch goes: what its transaction says of the partitions that moved. */
typedef struct SourceMove {
    int partition;
    int64_t begin;
    int64_t next;
    Fingerprint last;
} SourceMove;

typedef struct SourceProgress {
    SourceMove *moves; /* owned */
    size_t count;
    size_t capacity;
} SourceProgress;

void source_progress_done(SourceProgress *progress);

typedef struct SourceReaderOptions {
    Log *log;
    const ProgramSource *source;
    const TimeZone *time_zone;
    size_t queue_bytes_max; /* records fetched ahead */
    int timeout_ms;
    /* Called when records between a stored position and the log's start are gone. */
    void (*on_loss)(void *context, const char *topic, int partition, int64_t position,
                    int64_t start);
    void *context;
} SourceReaderOptions;

/* Opens the source at the stored positions; partitions without one start as the source says
 * (earliest, latest, timestamp). SOURCE_TOPIC_CHANGED when a position lies beyond the end or its
 * partition is gone,
 * KAFKA_TOPIC_NOT_FOUND with a hint. */
NODISCARD Error *source_reader_open(const SourceReaderOptions *options, const Progress *progress,
                                    SourceReader **ret_reader);
void source_reader_close(SourceReader *reader);

int source_reader_partitions(const SourceReader *reader);
const SourcePartition *source_reader_partition(const SourceReader *reader, int partition);
/* Looks for new partitions; they are read from their beginning. */
NODISCARD Error *source_reader_refresh(SourceReader *reader, bool *ret_added);
/* Bounds what follows to the last stable offsets of now (a triggered update), or takes the bounds
 * away. */
NODISCARD Error *source_reader_set_bounds(SourceReader *reader);
void source_reader_clear_bounds(SourceReader *reader);
/* The bounds of another reader of the same source, which this one takes the place of. */
void source_reader_take_bounds(SourceReader *reader, const SourceReader *from);
bool source_reader_is_drained(const SourceReader *reader); /* every bound is reached */
/* Every partition was seen at its end, and nothing is known to have come since. */
bool source_reader_is_caught_up(const SourceReader *reader);
/* Records of the source in partition order, at most records_max, in `arena`; *ret_count 0: nothing
 * within timeout_ms. Never beyond a bound. SOURCE_TOPIC_CHANGED when a record differs from its
 * fingerprint. */
NODISCARD Error *source_reader_next(SourceReader *reader, int timeout_ms, size_t records_max,
                                    Arena *arena, const LogRecord **ret_records, size_t *ret_count);
/* Gives records back: they were handed out but not used. `from`: the first of them. */
NODISCARD Error *source_reader_give_back(SourceReader *reader, const LogRecord *from, size_t count);
/* Did a partition move since the last epoch was closed? */
bool source_reader_moved(const SourceReader *reader);
/* Closes the epoch: fills `progress`, which is emptied first. */
void source_reader_close_epoch(SourceReader *reader, SourceProgress *progress);
/* That epoch is committed. */
void source_reader_commit(SourceReader *reader, const SourceProgress *progress);
/* Neither the closed epoch nor what came after it ever was: everything since the last commit comes
 * again. */
NODISCARD Error *source_reader_rewind(SourceReader *reader);
/* Starts over at the beginning of what the source holds, or at its `start` timestamp (full
 * refresh). */
NODISCARD Error *source_reader_reset(SourceReader *reader);
/* Offsets between what was handed out and the ends last seen: an upper bound of records. */
uint64_t source_reader_backlog(const SourceReader *reader);

DEFINE_AUTO(source_reader, SourceReader, source_reader_close)

#endif
