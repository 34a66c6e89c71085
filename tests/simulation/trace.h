/* Trace: what happened, in words. Lines are kept in a ring and shown when a run fails, or printed
 * at once; every decision, shown or not, goes into a hash, so two runs of a seed can be compared.
 */
#ifndef TESTS_SIMULATION_TRACE_H
#define TESTS_SIMULATION_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/compiler.h"

/* `all`: print every line as it comes. */
void trace_open(bool all);
/* Something a reader wants to know: a fault, a crash, what the world does. */
void trace_say(const char *format, ...) PRINTF_LIKE(1, 2);
/* Something only a reader with much time wants to know: shown with `all`. */
bool trace_is_detailed(void);
void trace_detail(const char *format, ...) PRINTF_LIKE(1, 2);
/* Only hashed. */
void trace_mix(uint64_t number);
uint64_t trace_hash(void);
/* The last lines, to stderr, when they were not printed before. */
void trace_print_tail(void);

#endif
