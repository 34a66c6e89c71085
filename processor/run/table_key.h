/* TableKey: the message keys of a table. A key is written once and for all in the form of the
 * narrowest type that its columns ever had and that can hold it: a message key never changes while
 * columns widen, and with it neither the partition of the key nor the record a removal must name.
 *
 *     id INT, then DECIMAL(12,2)    5.00 is {"id":5} as ever, 5.25 is {"id":5.25}
 *     d DATE, then TIMESTAMP        a day's beginning is {"d":"2026-03-01"}
 *
 * Two keys never have one text: what a narrower type holds is written by it only, and what it does
 * not hold looks different. Lives in an arena; read-only: any thread. */
#ifndef RUN_TABLE_KEY_H
#define RUN_TABLE_KEY_H

#include "processor/base/buffer.h"
#include "processor/base/error.h"
#include "processor/data/datetime.h"
#include "processor/data/schema.h"

typedef struct TableKey TableKey;

typedef struct TableKeyOptions {
    const Schema *const *versions; /* of the table, oldest first; the last one is the newest */
    size_t version_count;
    const uint32_t *columns; /* key columns of the newest, in declared order */
    size_t column_count;
    const TimeZone *date_zone; /* in which a DATE is a TIMESTAMP */
} TableKeyOptions;

RETURNS_NONNULL const TableKey *table_key_new(Arena *arena, const TableKeyOptions *options);
/* The bytes of key_encode (newest types) as a message key; appended. STATE_CORRUPT. */
NODISCARD Error *table_key_write(const TableKey *key, Str bytes, uint32_t ordinal, Buffer *out);
/* A message key as bytes of key_encode; appended. STATE_CORRUPT when it is none. */
NODISCARD Error *table_key_read(const TableKey *key, Str text, Arena *batch_arena, Buffer *out,
                                uint32_t *ret_ordinal);

#endif
