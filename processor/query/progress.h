/* A line on stderr that tells how far a long query is: shown after a second, gone before rows are.
 */
#ifndef QUERY_PROGRESS_H
#define QUERY_PROGRESS_H

#include "connectors/file/file_table.h"

typedef struct Progress {
    bool enabled;
    bool shown;
    int64_t start_ms;
    int64_t next_ms;        /* when the line is written again */
    uint64_t rows;          /* read so far */
    const FileTable *table; /* that was read from last */
} Progress;

void progress_start(Progress *progress, bool enabled);
/* Takes the line away, for good with `stop`. */
void progress_hide(Progress *progress, bool stop);
/* The source (taken over), telling its progress. The table is the source's. */
BatchSource *progress_watch(Progress *progress, const FileTable *table, BatchSource *source);

#endif
