/* Cron expressions as Quartz has them (ST-35): six fields, seconds first.
 *
 *     0 30 6 ? * MON-FRI       half past six on weekdays
 *     0 0/15 * * * ?           every quarter of an hour
 *
 * A field is a list of `*`, `n`, `a-b`, each with `/step` behind it or not; months and days of the
 * week have names too, day 1 is Sunday. A range may run over the end: 22-2, FRI-MON. Exactly one of
 * the two day fields is `?`: it is left open. Quartz's L, W, # and its seventh field, the year, are
 * refused. */
#ifndef DATA_CRON_H
#define DATA_CRON_H

#include <stdint.h>

#include "processor/base/error.h"

/* A bit for each value that fits; bit 0 is value 0, or for days, months, weekdays nothing. */
typedef struct Cron {
    uint64_t seconds;
    uint64_t minutes;
    uint64_t hours;
    uint64_t days; /* of the month; all, when that field is `?` */
    uint64_t months;
    uint64_t weekdays; /* 1 = Sunday; all, when that field is `?` */
} Cron;

/* INVALID_CRON, whose place is line 1 and the column inside `text`. */
NODISCARD Error *cron_parse(Str text, Cron *ret_cron);

#endif
