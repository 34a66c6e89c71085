/* Numbers as people read them: Java's DecimalFormat and the digits behind Formatter's %f, %e. */
#ifndef DATA_NUMBER_FORMAT_H
#define DATA_NUMBER_FORMAT_H

#include "processor/base/buffer.h"
#include "processor/base/compiler.h"
#include "processor/base/error.h"

enum { NUMBER_AFFIX_MAX = 64, FRACTION_SHOWN_MAX = 340 };

/* '#,##0.00': what stands around the digits, and how many there are. */
typedef struct NumberFormat {
    char prefix[NUMBER_AFFIX_MAX];
    char suffix[NUMBER_AFFIX_MAX];
    char negative_prefix[NUMBER_AFFIX_MAX];
    char negative_suffix[NUMBER_AFFIX_MAX];
    int whole_min;
    int fraction_min;
    int fraction_max;
    int group; /* digits between commas; 0: none */
    bool percent;
} NumberFormat;

/* So many digits behind the point, commas every three before it. */
NumberFormat number_format_digits(int digits);
/* INVALID_PARAMETER_VALUE.PATTERN */
NODISCARD Error *number_format_parse(Str pattern, NumberFormat *ret);
/* Rounded half even. */
void number_format_double(const NumberFormat *format, double value, Buffer *out);
void number_format_decimal(const NumberFormat *format, int128 value, int scale, Buffer *out);

/* Appends decimal digits with a comma every `group` of them. */
void digits_put_grouped(Str digits, int group, Buffer *out);

#endif
