/* SCHEDULE and TRIGGER, and what else asks about intervals, zones and properties of tables. Not for
 * other rooms. */
#ifndef BIND_SCHEDULE_H
#define BIND_SCHEDULE_H

#include "processor/bind/binder.h"

/* The rules of a schedule by itself (ST-32 … ST-40), into binder->diagnostics. */
void bind_schedule(Binder *binder, const AstSchedule *schedule);
/* May there be one more table with a TRIGGER beside those? TOO_MANY_TRIGGER_TABLES (ST-40). */
NODISCARD Error *check_trigger_count(size_t before, SourcePlace place);
/* An interval literal: its microseconds, or its months when *ret_months. */
NODISCARD Error *interval_microseconds(Binder *binder, const AstInterval *interval,
                                       bool *ret_months, int64_t *ret_value);
/* INVALID_TIME_ZONE, placed. */
NODISCARD Error *check_time_zone(Str name, SourcePlace place);
NODISCARD COLD RETURNS_NONNULL Error *local_time_zone(SourcePlace place);

/* TBLPROPERTIES (…): each key once, values that mean something to us (ST-28 … ST-31). */
void check_properties(Binder *binder, const AstProperty *properties, size_t count);
/* Of a table whose flow replaces rows: it cannot be append-only (ST-31). */
void check_append_only(Binder *binder, const AstProperty *properties, size_t count);

#endif
