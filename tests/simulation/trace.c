/* The trace of a run. */
#include "tests/simulation/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "processor/base/hash.h"
#include "tests/simulation/scheduler.h"

#include "processor/base/banned.h"

enum { RING_LINES = 120, LINE_SIZE = 220 };

static char ring[RING_LINES][LINE_SIZE];
static unsigned ring_count;
static bool print_all;
static uint64_t hash;

void trace_open(bool all)
{
    print_all = all;
}

bool trace_is_detailed(void)
{
    return print_all;
}

void trace_mix(uint64_t number)
{
    hash = hash_combine(hash, number);
}

uint64_t trace_hash(void)
{
    return hash;
}

static void format_line(char line[LINE_SIZE], const char *format, va_list arguments)
{
    int used = snprintf(line, LINE_SIZE, "%10.3f ms  %-12s ", (double)scheduler_now_us() / 1000,
                        scheduler_name());
    (void)vsnprintf(line + used, LINE_SIZE - (size_t)used, format, arguments);
}

void trace_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *line = ring[ring_count++ % RING_LINES];
    format_line(line, format, arguments);
    va_end(arguments);
    trace_mix(hash_bytes(str_from(line)));
    if (print_all) {
        (void)fprintf(stderr, "%s\n", line);
    }
}

void trace_detail(const char *format, ...)
{
    if (!print_all) {
        return;
    }
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    format_line(line, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "%s\n", line);
}

void trace_print_tail(void)
{
    if (print_all) {
        return;
    }
    unsigned first = ring_count > RING_LINES ? ring_count - RING_LINES : 0;
    for (unsigned i = first; i < ring_count; i++) {
        (void)fprintf(stderr, "%s\n", ring[i % RING_LINES]);
    }
}
