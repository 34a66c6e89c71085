/* Error objects: class table, construction, printing. */
#include "processor/base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

struct Error {
    ErrorClass class;
    ErrorDisposition disposition;
    SourcePlace place;
    char *message;
    char *file;
    char *source_line;
    char *hint;
    Error *cause;
};

typedef struct ClassRow {
    const char *name;
    const char *sqlstate;
    const char *kind;
} ClassRow;

static const ClassRow class_rows[ERROR_CLASS_COUNT] = {
#define ERROR_CLASS(constant, name, sqlstate, kind) {name, sqlstate, kind},
#include "processor/base/error_classes.def"
#undef ERROR_CLASS
};

PRINTF_LIKE(1, 0) static char *format_text(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert(size >= 0);
    char *text = mem_alloc((size_t)size + 1);
    (void)vsnprintf(text, (size_t)size + 1, format, arguments);
    return text;
}

Error *error_new(ErrorClass class, const char *format, ...)
{
    assert(class < ERROR_CLASS_COUNT);
    Error *error = mem_new(Error);
    error->class = class;
    va_list arguments;
    va_start(arguments, format);
    error->message = format_text(format, arguments);
    va_end(arguments);
    return error;
}

Error *error_at(ErrorClass class, SourcePlace place, const char *format, ...)
{
    assert(class < ERROR_CLASS_COUNT);
    Error *error = mem_new(Error);
    error->class = class;
    error->place = place;
    va_list arguments;
    va_start(arguments, format);
    error->message = format_text(format, arguments);
    va_end(arguments);
    return error;
}

void error_free(Error *error)
{
    while (error != NULL) {
        Error *cause = error->cause;
        mem_free(error->message);
        mem_free(error->file);
        mem_free(error->source_line);
        mem_free(error->hint);
        mem_free(error);
        error = cause;
    }
}

static char *copy_text(const char *text)
{
    return text == NULL ? NULL : mem_strdup(text);
}

Error *error_copy(const Error *error)
{
    if (error == NULL) {
        return NULL;
    }
    Error *copy = mem_new(Error);
    *copy = *error;
    copy->message = copy_text(error->message);
    copy->file = copy_text(error->file);
    copy->source_line = copy_text(error->source_line);
    copy->hint = copy_text(error->hint);
    copy->cause = error_copy(error->cause);
    return copy;
}

Error *error_set_place(Error *error, SourcePlace place)
{
    error->place = place;
    return error;
}

Error *error_set_file(Error *error, const char *file)
{
    if (error->file == NULL) {
        error->file = mem_strdup(file);
    }
    return error;
}

Error *error_set_source(Error *error, Str text)
{
    if (error->source_line != NULL || error->place.line <= 0) {
        return error;
    }
    Str line = STR_NULL;
    for (int i = 0; i < error->place.line && text.data != NULL; i++) {
        line = str_cut(&text, '\n');
    }
    if (line.data != NULL) {
        error->source_line = mem_alloc(line.size + 1);
        memcpy(error->source_line, line.data, line.size);
    }
    return error;
}

Error *error_replace_source(Error *error, Str text)
{
    mem_free(error->source_line);
    error->source_line = NULL;
    return error_set_source(error, text);
}

Error *error_shift_place(Error *error, int lines, int columns)
{
    if (error->place.line > 0) {
        error->place.line += lines;
        error->place.column += columns;
    }
    return error;
}

Error *error_set_hint(Error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    mem_free(error->hint);
    error->hint = format_text(format, arguments);
    va_end(arguments);
    return error;
}

Error *error_set_disposition(Error *error, ErrorDisposition disposition)
{
    error->disposition = disposition;
    return error;
}

Error *error_set_cause(Error *error, Error *cause)
{
    assert(error->cause == NULL);
    error->cause = cause;
    return error;
}

ErrorClass error_class(const Error *error)
{
    return error->class;
}

const char *error_class_name(ErrorClass class)
{
    return class_rows[class].name;
}

const char *error_class_sqlstate(ErrorClass class)
{
    return class_rows[class].sqlstate;
}

const char *error_class_kind(ErrorClass class)
{
    return class_rows[class].kind;
}

const char *error_kind(const Error *error)
{
    return class_rows[error->class].kind;
}

const char *error_message(const Error *error)
{
    return error->message;
}

const char *error_hint(const Error *error)
{
    return error->hint;
}

const char *error_file(const Error *error)
{
    return error->file;
}

const Error *error_cause(const Error *error)
{
    return error->cause;
}

SourcePlace error_place(const Error *error)
{
    return error->place;
}

ErrorDisposition error_disposition(const Error *error)
{
    return error->disposition;
}

void error_format_line(const Error *error, Buffer *out)
{
    const ClassRow *row = &class_rows[error->class];
    size_t size = strlen(error->message);
    bool ended = size > 0 && strchr(".!?", error->message[size - 1]) != NULL;
    buffer_printf(out, "[%s] %s%s SQLSTATE: %s", row->name, error->message, ended ? "" : ".",
                  row->sqlstate);
}

enum { SHOWN_BEFORE = 80, SHOWN_CHARACTERS = 160 };

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

/* Passes over `count` characters, as far as there are as many. */
static Str pass_characters(Str text, int count)
{
    size_t i = 0;
    while (i < text.size) {
        count -= begins_character(text.data[i]);
        if (count < 0) {
            break;
        }
        i++;
    }
    return (Str){text.data + i, text.size - i};
}

static int count_characters(Str text)
{
    int count = 0;
    for (size_t i = 0; i < text.size; i++) {
        count += begins_character(text.data[i]);
    }
    return count;
}

static void append_repeated(Buffer *out, char c, int count)
{
    for (int i = 0; i < count; i++) {
        buffer_append_byte(out, c);
    }
}

/* The source line and, under it, carets below the place. Tabs are kept so that carets line up. A
 * long line is cut around the place. */
static void format_caret(const Error *error, Buffer *out)
{
    Str line = str_from(error->source_line);
    while (line.size > 0 && line.data[line.size - 1] == '\r') {
        line.size--;
    }
    bool long_line = count_characters(line) > SHOWN_CHARACTERS;
    int cut =
        long_line && error->place.column > SHOWN_BEFORE ? error->place.column - SHOWN_BEFORE : 0;
    Str shown = pass_characters(line, cut);
    Str behind = pass_characters(shown, SHOWN_CHARACTERS);
    shown.size -= behind.size;
    buffer_printf(out, "    %s%.*s%s\n    %s", cut > 0 ? "…" : "", STR_ARG(shown),
                  behind.size > 0 ? "…" : "", cut > 0 ? " " : "");
    int column = cut + 1;
    for (size_t i = 0; i < shown.size && column < error->place.column; i++) {
        if (begins_character(shown.data[i])) {
            buffer_append_byte(out, shown.data[i] == '\t' ? '\t' : ' ');
            column++;
        }
    }
    int room = cut + count_characters(shown) - error->place.column + 1;
    int carets = error->place.length > room ? room : error->place.length;
    append_repeated(out, '^', carets < 1 ? 1 : carets);
    buffer_append_byte(out, '\n');
}

void error_format(const Error *error, Buffer *out)
{
    size_t from = out->size;
    error_format_line(error, out);
    buffer_append_byte(out, '\n');
    if (error->place.line > 0) {
        buffer_printf(out, "  at %s:%d:%d\n", error->file == NULL ? "statement" : error->file,
                      error->place.line, error->place.column);
        if (error->source_line != NULL) {
            format_caret(error, out);
        }
    } else if (error->file != NULL) {
        buffer_printf(out, "  in %s\n", error->file);
    }
    for (const Error *cause = error->cause; cause != NULL; cause = cause->cause) {
        buffer_append_cstr(out, "  because: ");
        error_format_line(cause, out);
        buffer_append_byte(out, '\n');
    }
    if (error->hint != NULL) {
        buffer_printf(out, "  hint: %s\n", error->hint);
    }
    buffer_hide_controls(out, from);
}

enum { DIAGNOSTICS_MAX = 100 };

void diagnostics_add(Diagnostics *diagnostics, Error *error)
{
    if (error == NULL) {
        return;
    }
    if (diagnostics->count >= DIAGNOSTICS_MAX) {
        error_free(error);
        return;
    }
    mem_reserve(diagnostics->errors, &diagnostics->capacity, diagnostics->count + 1);
    diagnostics->errors[diagnostics->count++] = error;
}

void diagnostics_done(Diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        error_free(diagnostics->errors[i]);
    }
    mem_free(diagnostics->errors);
    *diagnostics = (Diagnostics){0};
}

static int error_order(const Error *a, const Error *b)
{
    if (a->file != NULL && b->file != NULL && strcmp(a->file, b->file) != 0) {
        return strcmp(a->file, b->file);
    }
    if (a->place.line != b->place.line) {
        return a->place.line < b->place.line ? -1 : 1;
    }
    return a->place.column < b->place.column ? -1 : a->place.column > b->place.column;
}

/* Insertion sort: stable, and at most DIAGNOSTICS_MAX elements. */
void diagnostics_sort(Diagnostics *diagnostics)
{
    for (size_t i = 1; i < diagnostics->count; i++) {
        Error *error = diagnostics->errors[i];
        size_t at = i;
        for (; at > 0 && error_order(error, diagnostics->errors[at - 1]) < 0; at--) {
            diagnostics->errors[at] = diagnostics->errors[at - 1];
        }
        diagnostics->errors[at] = error;
    }
}
