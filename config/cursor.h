/* Cursor: a place in a text that knows its byte, its character, its line and its column, and moves
 * in steps of one character. A line ends with '\n', as for error_set_source. */
#ifndef CONFIG_CURSOR_H
#define CONFIG_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "processor/base/error.h"
#include "processor/base/str.h"

typedef struct Cursor {
    Str text;
    size_t index;  /* characters before */
    size_t offset; /* bytes before */
    int line;      /* from 1 */
    int column;    /* from 1 */
} Cursor;

/* Before the first character of `text`, which must outlive the cursor. */
static inline Cursor cursor_at_start(Str text)
{
    return (Cursor){.text = text, .line = 1, .column = 1};
}

static inline bool cursor_at_end(const Cursor *cursor)
{
    return cursor->offset >= cursor->text.size;
}

/* Not at the end. */
static inline char cursor_byte(const Cursor *cursor)
{
    return cursor->text.data[cursor->offset];
}

/* A byte that goes on with a character of UTF-8. */
static inline bool cursor_is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static inline bool cursor_is_white(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Over the character at the cursor, which is not at the end. */
void cursor_step_forward(Cursor *cursor);
/* To the character or byte; stops at the end of the text. A byte inside a character: its first. */
void cursor_move_to_index(Cursor *cursor, size_t index);
void cursor_move_to_offset(Cursor *cursor, size_t offset);
SourcePlace cursor_place(const Cursor *cursor);
/* Characters up to byte `end` or the end of the line, at most `most`. */
int cursor_characters_to(const Cursor *cursor, size_t end, int most);

#endif
