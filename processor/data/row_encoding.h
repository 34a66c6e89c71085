/* Rows as bytes: what the state keeps. Compact, with the version of the schema it was written
 * under, so that a row written before a column was added reads NULL there.
 *
 * A SchemaHistory lists a table's schemas by version (1, 2, …). A row of an older version is read
 * by column name into the newest schema: new columns NULL, gone columns dropped. A stored type that
 * is narrower than the newest (data/type_widening.h, and FLOAT in DOUBLE) is widened; a column of
 * another type reads NULL.
 *
 * Thread: any number may encode and decode while none adds a version. */
#ifndef DATA_ROW_ENCODING_H
#define DATA_ROW_ENCODING_H

#include "processor/base/buffer.h"
#include "processor/base/error.h"
#include "processor/data/batch.h"
#include "processor/data/datetime.h"

typedef struct SchemaHistory SchemaHistory;

/* In `arena`; starts with no version. */
SchemaHistory *schema_history_new(Arena *arena);
/* In which zone a stored DATE is a TIMESTAMP of the newest version (UTC); it outlives the history.
 */
void schema_history_set_date_zone(SchemaHistory *history, const TimeZone *zone);
/* Adds the next version (copied); returns its number, from 1. */
uint32_t schema_history_add(SchemaHistory *history, const Schema *schema);
uint32_t schema_history_newest(const SchemaHistory *history); /* 0 = none */
const Schema *schema_history_get(const SchemaHistory *history, uint32_t version);

/* Appends the row of `batch` (whose schema is the newest version's) to `out`. */
void row_encode(const SchemaHistory *history, const Batch *batch, uint32_t row, Buffer *out);
/* Appends one row to `batch` (columns of the newest schema, grown in `arena`); strings point into
 * `bytes`. Error STATE_CORRUPT on bytes that are no row: every length is checked, and the batch is
 * left as it was. */
NODISCARD Error *row_decode(const SchemaHistory *history, Str bytes, Arena *arena, Batch *batch);

#endif
