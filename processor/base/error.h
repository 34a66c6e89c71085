/* Errors: what a function that can fail returns. NULL is success. An Error has a class (Spark's
 * name, SQLSTATE and the catalogue's kind, error_classes.def), a message, the place in the user's
 * file, a hint, a cause, and a disposition that tells the caller what to do. Heap object, owned by
 * whoever receives it: return it upward (TRY), or error_free it.
 *
 * The printed form:
 *     [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `stat` cannot be resolved. SQLSTATE: 42703
 *       at bookings.yaml:12:8
 *         SELECT stat FROM STREAM(src)
 *                ^^^^
 *       hint: did you mean `status`?
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "processor/base/buffer.h"
#include "processor/base/compiler.h"
#include "processor/base/str.h"

typedef enum ErrorClass {
#define ERROR_CLASS(constant, name, sqlstate, kind) ERROR_##constant,
#include "processor/base/error_classes.def"
#undef ERROR_CLASS
    ERROR_CLASS_COUNT
} ErrorClass;

typedef enum ErrorDisposition {
    ERROR_USER,  /* the user must change something: show it */
    ERROR_RETRY, /* may heal by itself: back off and try again */
    ERROR_ABORT, /* drop the epoch, seek back, go on */
    ERROR_FATAL, /* the object (a producer, the process) cannot go on */
} ErrorDisposition;

/* A span of the user's text. line and column count from 1, column in characters; line 0 = unknown.
 */
typedef struct SourcePlace {
    int line;
    int column;
    int length; /* characters to underline, 0 or 1 = one caret */
} SourcePlace;

typedef struct Error Error;

/* New error with a formatted message. Disposition ERROR_USER until set otherwise. */
NODISCARD COLD RETURNS_NONNULL Error *error_new(ErrorClass class, const char *format, ...)
    PRINTF_LIKE(2, 3);
/* As error_new, with a place. */
NODISCARD COLD RETURNS_NONNULL Error *error_at(ErrorClass class, SourcePlace place,
                                               const char *format, ...) PRINTF_LIKE(3, 4);
/* free(NULL) is fine; frees the cause too. */
COLD void error_free(Error *error);
/* Deep copy; NULL of NULL. */
NODISCARD COLD Error *error_copy(const Error *error);

/* Setters return the error, so a return statement can chain them. */
COLD RETURNS_NONNULL Error *error_set_place(Error *error, SourcePlace place);
/* The file (or "-" / topology key) the place is in; copied. Keeps a file set earlier. */
COLD RETURNS_NONNULL Error *error_set_file(Error *error, const char *file);
/* Copies the line of `text` that the place names, for the caret. Keeps a line set earlier. */
COLD RETURNS_NONNULL Error *error_set_source(Error *error, Str text);
/* The same, replacing a line set earlier; STR_NULL: no line is shown. */
COLD RETURNS_NONNULL Error *error_replace_source(Error *error, Str text);
/* Moves the place from a text inside a file to the file: adds lines, and columns to each line. */
COLD RETURNS_NONNULL Error *error_shift_place(Error *error, int lines, int columns);
/* What the user may do about it; replaces a hint set earlier. */
COLD RETURNS_NONNULL Error *error_set_hint(Error *error, const char *format, ...) PRINTF_LIKE(2, 3);
COLD RETURNS_NONNULL Error *error_set_disposition(Error *error, ErrorDisposition disposition);
/* `cause` becomes owned by `error`. */
COLD RETURNS_NONNULL Error *error_set_cause(Error *error, Error *cause);

/* What the error says; texts live as long as the error. The kind is the catalogue's name. */
ErrorClass error_class(const Error *error);
const char *error_class_name(ErrorClass class);
const char *error_class_sqlstate(ErrorClass class);
const char *error_class_kind(ErrorClass class);
const char *error_kind(const Error *error);
const char *error_message(const Error *error);
const char *error_hint(const Error *error); /* NULL when none */
const char *error_file(const Error *error); /* NULL when none */
const Error *error_cause(const Error *error);
SourcePlace error_place(const Error *error);
ErrorDisposition error_disposition(const Error *error);
/* Appends the printed form shown above, with a newline at the end of each line. */
void error_format(const Error *error, Buffer *out);
/* "[CLASS] message SQLSTATE: …" on one line, for logs and events. */
void error_format_line(const Error *error, Buffer *out);

/* A list of errors, for checks that report every mistake at once. Owns them. Zeroed = empty. */
typedef struct Diagnostics {
    Error **errors;
    size_t count;
    size_t capacity;
} Diagnostics;

/* Takes `error` over; NULL is ignored. Beyond 100 errors further ones are dropped. */
void diagnostics_add(Diagnostics *diagnostics, Error *error);
void diagnostics_done(Diagnostics *diagnostics);
/* Sorted by file, line, column (stable). */
void diagnostics_sort(Diagnostics *diagnostics);

DEFINE_AUTO(error, Error, error_free)

#endif
