/* The rows of the works, about 210 bytes of JSON, the same for every engine and every run:
 *
 *     w1   a row goes to one key of KEYS (1M), drawn at random, with the next sequence of the key;
 * of the rows of a key that has some, a fifth come late (with a lower sequence): over 5M rows a
 *          sixth of all
 *     w2   KEYS 10k; five rows after another have the same sequence: row sets grow to five and are
 *          then replaced
 *     one  one key, one sequence: a row set that only grows */
#ifndef BENCH_COMMON_ROWS_H
#define BENCH_COMMON_ROWS_H

#include <stdint.h>

#include "processor/base/buffer.h"

typedef enum Work { WORK_W1, WORK_W2, WORK_ONE } Work;

typedef struct RowSource RowSource;

/* "w1" …; ends the program when there is no such work. */
Work work_from_name(const char *name);
/* What a work has when nothing else is asked for. */
int64_t work_default_keys(Work work);

/* Sequences begin behind `base`, so a second source can go on over the keys of a first. */
RowSource *row_source_new(Work work, int64_t keys, uint64_t seed, int64_t base);
void row_source_free(RowSource *source);
/* Appends the next row's key (`r7|1007`) and value. The note begins with `mark`. */
void row_source_next(RowSource *source, Str mark, Buffer *key, Buffer *value);

/* What a row written as JSON by any engine says: found by the names of its fields. */
typedef struct RowText {
    int64_t customer;
    int64_t sequence;
    uint64_t hash; /* of all columns */
    Str note;
} RowText;

/* False: it is no row of ours. */
bool row_text_read(Str value, RowText *ret_row);

#endif
