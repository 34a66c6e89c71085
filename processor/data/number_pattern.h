/* Numbers in patterns such as '$99,999.9MI', as Spark's to_char and to_number have them:
 *
 *     [MI|S] [$] [0|9|G|,]* [.|D] [0|9]* [$] [PR|MI|S]
 *
 * 9 is a digit or nothing, a run that begins with 0 has all its digits; G is a comma, D a point. */
#ifndef DATA_NUMBER_PATTERN_H
#define DATA_NUMBER_PATTERN_H

#include "processor/base/buffer.h"
#include "processor/base/compiler.h"
#include "processor/base/error.h"

enum { NUMBER_PATTERN_DIGITS_MAX = 128 };

typedef enum NumberSign {
    NUMBER_SIGN_NONE,
    NUMBER_SIGN_PLUS_MINUS, /* S */
    NUMBER_SIGN_MINUS,      /* MI */
    NUMBER_SIGN_BRACKETS,   /* PR, behind only */
} NumberSign;

typedef struct NumberPattern {
    NumberSign sign_before;
    NumberSign sign_behind;
    bool dollar;
    bool point;
    /* Digits and commas before the point: '0' (of a run that begins with 0), '9', ','. */
    char whole[NUMBER_PATTERN_DIGITS_MAX];
    size_t whole_size;
    size_t whole_digits;
    size_t fraction_digits;
} NumberPattern;

/* INVALID_FORMAT… */
NODISCARD Error *number_pattern_parse(Str text, NumberPattern *ret);
/* Appends the number value / 10^scale; one that does not fit is all '#'. */
void number_pattern_format(const NumberPattern *pattern, int128 value, int scale, Buffer *out);
/* The number a text in the pattern stands for, with the pattern's fraction digits; false when it is
 * none. */
bool number_pattern_read(const NumberPattern *pattern, Str text, int128 *ret_value);

#endif
