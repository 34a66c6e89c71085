/* A line typed at a terminal: editing, history, completion. */
#ifndef QUERY_LINE_EDITOR_H
#define QUERY_LINE_EDITOR_H

#include <stdbool.h>

#include "processor/base/arena.h"
#include "processor/base/buffer.h"

typedef struct LineEditor LineEditor;

/* The words that may complete `prefix`, one call a word; false behind the last. */
typedef bool (*WordAt)(void *context, size_t index, Str *ret_word);

/* `history_file`: where lines are kept; NULL: nowhere. */
LineEditor *line_editor_open(const char *history_file, WordAt word_at, void *context);
void line_editor_close(LineEditor *editor);

typedef enum LineEnd {
    LINE_READ,
    LINE_CANCELLED, /* Ctrl-C */
    LINE_END,       /* Ctrl-D at an empty line */
} LineEnd;

/* Reads a line into `line`, without its end. `prompt` lives until the next call. */
LineEnd line_editor_read(LineEditor *editor, const char *prompt, Buffer *line);
/* Keeps a statement in the history, as one line. */
void line_editor_remember(LineEditor *editor, Str statement);

DEFINE_AUTO(line_editor, LineEditor, line_editor_close)

#endif
