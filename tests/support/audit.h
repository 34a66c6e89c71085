/* Audit: do a table's topic and the progress topic tell exactly what the source tells? Reads the
 * three topics as any reader would and replays them against a model of REPLACE USING of its own,
 * which shares nothing with the product:
 *
 *   - at the `ends` of every progress record the folded table equals the model applied to the
 *     source records below the recorded positions: so every transaction's progress agrees with its
 *     deltas, and every key shows exactly its row set, rows numbered from 0 without holes
 *   - positions, ends and epochs never go back (a full refresh apart), epochs leave none out
 *   - every record of the table lies in the partition of its key
 *   - the group's committed offsets are the positions
 *   - complete: nothing committed in the source is unread, nothing in the table is unaccounted for
 *
 * Rows have the form {"k":…,"seq":…,"v":…} in exactly this spelling, the key being k and the
 * sequence seq (an integer or null), so a row can be compared byte by byte with the record that
 * brought it. A source value of another form is a bad record, and the audit ignores it. */
#ifndef TESTS_SUPPORT_AUDIT_H
#define TESTS_SUPPORT_AUDIT_H

#include "connectors/log.h"

typedef struct AuditOptions {
    Log *log;
    const char *source_topic;
    const char *table_topic;
    const char *progress_topic;
    const char *flow;
    const char *group; /* NULL: committed offsets are not looked at */
    bool complete;     /* nothing runs: commits just made are waited for */
    bool may_go_back;  /* full refreshes happened */
    int timeout_ms;
} AuditOptions;

typedef struct AuditResult {
    uint64_t source_records;
    uint64_t bad_records;
    uint64_t table_records;
    uint64_t progress_records;
    uint64_t epochs;
    uint64_t resets;
    uint64_t instances; /* processes that wrote progress */
    uint64_t keys;      /* with rows */
    uint64_t rows;
    uint64_t largest_set;
} AuditResult;

/* TEST_FAILED says what does not agree and where. */
NODISCARD Error *audit_run(const AuditOptions *options, AuditResult *ret_result);

#endif
