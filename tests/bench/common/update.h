/* One triggered update of a topology file in this process: what `tidemark run --once` does, with a
 * hand on the log in between. */
#ifndef BENCH_COMMON_UPDATE_H
#define BENCH_COMMON_UPDATE_H

#include "connectors/log.h"

typedef struct BenchUpdate {
    double seconds; /* of the update alone, without start and end of the process */
    double cpu;     /* of this process meanwhile */
    uint64_t rows;  /* read */
} BenchUpdate;

/* `prepare` (may be NULL) may change the log before the pipeline opens. */
BenchUpdate bench_update(const char *topology_path, void (*prepare)(Log *log));

#endif
