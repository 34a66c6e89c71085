/* A compiled pattern, for the files that compile, print and read it. */
#ifndef DATA_DATETIME_PATTERN_PARTS_H
#define DATA_DATETIME_PATTERN_PARTS_H

#include "processor/data/datetime_pattern.h"

typedef enum PatternField {
    PATTERN_ERA,
    PATTERN_YEAR,        /* proleptic */
    PATTERN_YEAR_OF_ERA, /* beside an era */
    PATTERN_QUARTER,
    PATTERN_MONTH,
    PATTERN_DAY,
    PATTERN_DAY_OF_YEAR,
    PATTERN_ALIGNED_DAY,     /* of the weeks that begin with the month */
    PATTERN_WEEKDAY,         /* Monday is 1 */
    PATTERN_JULIAN_DAY,      /* modified */
    PATTERN_HALF,            /* 0 AM, 1 PM */
    PATTERN_HOUR,            /* 0 … 23 */
    PATTERN_CLOCK_HOUR,      /* 1 … 24 */
    PATTERN_HALF_HOUR,       /* 0 … 11 */
    PATTERN_CLOCK_HALF_HOUR, /* 1 … 12 */
    PATTERN_MINUTE,
    PATTERN_SECOND,
    PATTERN_NANOSECOND,
    PATTERN_FIELD_COUNT,
} PatternField;

typedef enum PatternKind {
    PATTERN_NUMBER,
    PATTERN_TWO_DIGIT_YEAR, /* 2000 … 2099 */
    PATTERN_FRACTION,       /* of a second */
    PATTERN_TEXT,
    PATTERN_LITERAL,
    PATTERN_ZONE_ID,
    PATTERN_ZONE_NAME,
    PATTERN_OFFSET,
    PATTERN_GMT_OFFSET,
    PATTERN_OPTIONAL, /* the next `inner` parts may be missing when read */
} PatternKind;

/* Which signs a number may have. */
typedef enum PatternSign {
    PATTERN_SIGN_NONE,   /* fixed width */
    PATTERN_SIGN_MINUS,  /* where negative */
    PATTERN_SIGN_PADDED, /* also + before more digits than the width */
} PatternSign;

typedef struct PatternPart {
    PatternKind kind;
    PatternField field;
    int width_min;
    int width_max;
    PatternSign sign;
    int reserved; /* digits that belong to numbers right behind this one */
    bool full;    /* the long form of a text */
    int offset;   /* OFFSET: index of its form */
    Str literal;  /* LITERAL; OFFSET: the text of no offset */
    size_t inner; /* OPTIONAL */
} PatternPart;

struct DatePattern {
    Str source;
    PatternPart *parts;
    size_t count;
};

/* Forms of offsets, as java.time numbers them. */
enum {
    OFFSET_HH_OPTIONAL_MM = 1, /* +HHmm: minutes where there are any */
    OFFSET_HHMM = 3,           /* +HHMM */
    OFFSET_HH_MM = 4,          /* +HH:MM */
    OFFSET_HHMMSS = 5,         /* +HHMMss */
    OFFSET_HH_MM_SS = 6,       /* +HH:MM:ss */
};

extern const char *const pattern_months[12];
extern const char *const pattern_weekdays[7]; /* Monday first */

/* The text of a field's value in the long or short form ("February", "Feb"); NULL when it has none.
 */
const char *pattern_text(PatternField field, bool full, int64_t value, char *ret_buffer);
enum { PATTERN_TEXT_MAX = 16 };

#endif
