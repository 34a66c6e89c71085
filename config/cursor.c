/* Moving a cursor. Steps are of one character (a byte and the UTF-8 continuation bytes behind it),
 * in both directions: the marks of a YAML parser mostly go forward, now and then a little back. */
#include "config/cursor.h"

#include "processor/base/banned.h"

void cursor_step_forward(Cursor *cursor)
{
    bool line_ends = cursor->text.data[cursor->offset] == '\n';
    do {
        cursor->offset++;
    } while (cursor->offset < cursor->text.size &&
             cursor_is_continuation(cursor->text.data[cursor->offset]));
    cursor->index++;
    cursor->line += line_ends ? 1 : 0;
    cursor->column = line_ends ? 1 : cursor->column + 1;
}

static void cursor_step_back(Cursor *cursor)
{
    do {
        cursor->offset--;
    } while (cursor->offset > 0 && cursor_is_continuation(cursor->text.data[cursor->offset]));
    cursor->index--;
    if (cursor->text.data[cursor->offset] != '\n') {
        cursor->column--;
        return;
    }
    cursor->line--;
    cursor->column = 1;
    for (size_t at = cursor->offset; at > 0 && cursor->text.data[at - 1] != '\n'; at--) {
        cursor->column += cursor_is_continuation(cursor->text.data[at - 1]) ? 0 : 1;
    }
}

void cursor_move_to_index(Cursor *cursor, size_t index)
{
    while (cursor->index < index && cursor->offset < cursor->text.size) {
        cursor_step_forward(cursor);
    }
    while (cursor->index > index) {
        cursor_step_back(cursor);
    }
}

void cursor_move_to_offset(Cursor *cursor, size_t offset)
{
    while (cursor->offset < offset && cursor->offset < cursor->text.size) {
        cursor_step_forward(cursor);
    }
    while (cursor->offset > offset) {
        cursor_step_back(cursor);
    }
}

SourcePlace cursor_place(const Cursor *cursor)
{
    return (SourcePlace){cursor->line, cursor->column, 0};
}

int cursor_characters_to(const Cursor *cursor, size_t end, int most)
{
    int length = 0;
    for (size_t at = cursor->offset; at < end && length < most; at++) {
        char byte = cursor->text.data[at];
        if (byte == '\n' || byte == '\r') {
            break;
        }
        length += cursor_is_continuation(byte) ? 0 : 1;
    }
    return length;
}
