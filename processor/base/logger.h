/* The program's own log, to stderr, one line a message, text or JSON (topology `log:`). Library
 * code does not log: it returns errors; run/ and cli/ log once. Thread: any. */
#ifndef BASE_LOGGER_H
#define BASE_LOGGER_H

#include <stdbool.h>

#include "processor/base/compiler.h"
#include "processor/base/str.h"

typedef enum LogLevel { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR } LogLevel;

/* Messages below `level` are dropped; `json` writes an object a line. */
void logger_configure(LogLevel level, bool json);
/* The level alone; may change while threads log. */
LogLevel logger_level(void);
void logger_set_level(LogLevel level);
/* One step more (debug) or less (error) is logged; gives the level then. */
LogLevel logger_step_level(bool more);
/* "debug", "info", "warn", "error" */
const char *logger_level_name(LogLevel level);
bool logger_parse_level(Str word, LogLevel *ret_level);
/* One line; through the macros below. */
void logger_write(LogLevel level, const char *format, ...) PRINTF_LIKE(2, 3);

#define log_debug(...) logger_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) logger_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...) logger_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) logger_write(LOG_ERROR, __VA_ARGS__)

#endif
