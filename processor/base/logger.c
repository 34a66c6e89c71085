/* Log lines to stderr, each written by one call so that threads do not interleave. */
#include "processor/base/logger.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "processor/base/buffer.h"
#include "processor/base/clock.h"
#include "processor/base/json_writer.h"

#include "processor/base/banned.h"

static atomic_int logger_threshold = LOG_INFO;
static atomic_bool logger_json;

static const char *const level_names[] = {"debug", "info", "warn", "error"};

void logger_configure(LogLevel level, bool json)
{
    atomic_store(&logger_threshold, (int)level);
    atomic_store(&logger_json, json);
}

LogLevel logger_level(void)
{
    return (LogLevel)atomic_load(&logger_threshold);
}

void logger_set_level(LogLevel level)
{
    atomic_store(&logger_threshold, (int)level);
}

LogLevel logger_step_level(bool more)
{
    LogLevel level = logger_level();
    if (more && level > LOG_DEBUG) {
        level--;
    } else if (!more && level < LOG_ERROR) {
        level++;
    }
    logger_set_level(level);
    return level;
}

const char *logger_level_name(LogLevel level)
{
    return level_names[level];
}

bool logger_parse_level(Str word, LogLevel *ret_level)
{
    for (int level = LOG_DEBUG; level <= LOG_ERROR; level++) {
        if (str_equal(word, str_from(level_names[level]))) {
            *ret_level = (LogLevel)level;
            return true;
        }
    }
    return false;
}

void logger_write(LogLevel level, const char *format, ...)
{
    if ((int)level < atomic_load(&logger_threshold)) {
        return;
    }
    char message[4096];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    assert(size >= 0);
    AUTO_BUFFER Buffer line = {0};
    if (atomic_load(&logger_json)) {
        buffer_append_cstr(&line, "{\"time\":\"");
        clock_format_utc(clock_now_us(NULL), &line);
        buffer_printf(&line, "\",\"level\":\"%s\",\"message\":", level_names[level]);
        json_write_string(&line, str_from(message));
        buffer_append_cstr(&line, "}\n");
    } else {
        clock_format_utc(clock_now_us(NULL), &line);
        buffer_printf(&line, " %-5s %s\n", level_names[level], message);
        buffer_hide_controls(&line, 0);
    }
    (void)fwrite(line.data, 1, line.size, stderr);
}
