/* Text, tree, text, tree: what the parser makes of a text, printed as SQL, must parse to an equal
 * tree, and that one must print the same. */
#ifndef TESTS_SUPPORT_SQL_ROUND_TRIP_H
#define TESTS_SUPPORT_SQL_ROUND_TRIP_H

#include "processor/base/buffer.h"
#include "processor/base/str.h"

typedef enum SqlPart {
    SQL_SCRIPT,
    SQL_EXPRESSION,
    SQL_DATA_TYPE,
} SqlPart;

typedef enum RoundTrip {
    ROUND_TRIP_SAME,
    ROUND_TRIP_DIFFERS,
    ROUND_TRIP_NO_SQL, /* the text does not parse: the report is the error */
} RoundTrip;

/* `report` says what went wrong, for people. */
RoundTrip sql_round_trip(SqlPart part, Str text, Buffer *report);

/* A text parsed: its tree printed and dumped. False: it does not parse, *printed is the error. */
bool sql_print_and_dump(SqlPart part, Str text, Buffer *printed, Buffer *dump);

#endif
