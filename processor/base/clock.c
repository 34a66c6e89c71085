/* System and fixed clocks. */
#include "processor/base/clock.h"

#include <stddef.h>
#include <time.h>

#include "processor/base/banned.h"

static int64_t read_clock_us(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_now_us(const Clock *clock)
{
    return clock != NULL && clock->fixed ? clock->fixed_us : read_clock_us(CLOCK_REALTIME);
}

int64_t clock_monotonic_us(void)
{
    return read_clock_us(CLOCK_MONOTONIC);
}

int64_t clock_monotonic_ms(void)
{
    return clock_monotonic_us() / 1000;
}

void clock_sleep_ms(int64_t milliseconds)
{
    struct timespec wait = {milliseconds / 1000, (milliseconds % 1000) * 1000000};
    (void)nanosleep(&wait, NULL);
}

void clock_format_utc(int64_t time_us, Buffer *out)
{
    int64_t ms = time_us / 1000 - (time_us % 1000 < 0 ? 1 : 0);
    int64_t fraction = ((ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)((ms - fraction) / 1000);
    struct tm parts;
    (void)gmtime_r(&seconds, &parts);
    buffer_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                  parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                  (int)fraction);
}
