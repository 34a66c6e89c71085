/* A map is a list of runs, sorted by their place in the text; within a run text and file go on
 * character by character. A run begins where a text line begins and wherever the file jumps: at a
 * folded line end, behind an escape.
 *
 *     file   12:  sql: >            text   1: SELECT a FROM t
 *            13:    SELECT a
 *            14:    FROM t          runs   1:1 -> 13:3, 1:9 -> 13:11 (the blank), 1:10 -> 14:3
 *
 * The runs are found by walking text and file side by side. libyaml has already accepted the
 * scalar, so the two agree but for white space (which folding and indentation change) and escapes:
 * a character that is not white space is the next such character of the file. */
#include "config/text_map.h"

#include <assert.h>

#include "config/cursor.h"

#include "processor/base/banned.h"

typedef struct Run {
    SourcePlace text;
    SourcePlace file;
} Run;

struct TextMap {
    Run *runs;
    size_t count;
    size_t capacity;
    bool fixed; /* one run, and nothing moves within it */
};

typedef struct Builder {
    TextMap *map;
    Arena *arena;
    Cursor text;
    Cursor file; /* its text ends with the scalar */
    YamlStyle style;
} Builder;

static void step_bytes(Cursor *cursor, size_t bytes)
{
    size_t end = cursor->offset + bytes;
    while (!cursor_at_end(cursor) && cursor->offset < end) {
        cursor_step_forward(cursor);
    }
}

/* ---- Building ---- */

static void add_run(Builder *builder)
{
    TextMap *map = builder->map;
    SourcePlace text = cursor_place(&builder->text);
    SourcePlace file = cursor_place(&builder->file);
    if (map->count > 0) {
        const Run *last = &map->runs[map->count - 1];
        bool goes_on = last->text.line == text.line && last->file.line == file.line &&
                       text.column - last->text.column == file.column - last->file.column;
        if (goes_on) {
            return;
        }
    }
    *arena_push(builder->arena, map->runs, map->count, map->capacity) = (Run){text, file};
}

/* Bytes of the escape the file stands at: \n, \x41, an escaped line end (0 characters of text). */
static size_t escape_bytes(const Cursor *file)
{
    Str rest = {file->text.data + file->offset, file->text.size - file->offset};
    assert(rest.size > 0 && rest.data[0] == '\\');
    if (rest.size < 2) {
        return rest.size;
    }
    switch (rest.data[1]) {
    case 'x':
        return 4;
    case 'u':
        return 6;
    case 'U':
        return 10;
    default:
        return 2;
    }
}

static bool is_escaped_line_end(const Cursor *file)
{
    size_t next = file->offset + 1;
    return cursor_byte(file) == '\\' && next < file->text.size &&
           (file->text.data[next] == '\n' || file->text.data[next] == '\r');
}

/* The file moves to the character that made the text's next one. */
static void skip_to_match(Builder *builder)
{
    Cursor *file = &builder->file;
    bool white = cursor_is_white(cursor_byte(&builder->text));
    bool escapes = builder->style == YAML_DOUBLE_QUOTED;
    while (!cursor_at_end(file)) {
        if (escapes && is_escaped_line_end(file)) {
            step_bytes(file, 2);
            while (!cursor_at_end(file) && cursor_is_white(cursor_byte(file))) {
                cursor_step_forward(file);
            }
        } else if (!white && cursor_is_white(cursor_byte(file))) {
            cursor_step_forward(file);
        } else {
            return;
        }
    }
}

/* Both move over one character of the text. */
static void step_both(Builder *builder)
{
    Cursor *file = &builder->file;
    char wanted = cursor_byte(&builder->text);
    cursor_step_forward(&builder->text);
    if (cursor_at_end(file)) {
        return;
    }
    char byte = cursor_byte(file);
    if (builder->style == YAML_DOUBLE_QUOTED && byte == '\\') {
        step_bytes(file, escape_bytes(file));
    } else if (builder->style == YAML_SINGLE_QUOTED && byte == '\'') {
        step_bytes(file, 2);
    } else if (byte == '\r' && wanted == '\n') {
        step_bytes(file, 2);
    } else if (byte == wanted || !cursor_is_white(wanted) || cursor_is_white(byte)) {
        cursor_step_forward(file);
    }
}

/* Where the scalar's characters begin: behind the quote, or in the line below the block's header.
 */
static void skip_opening(Builder *builder)
{
    Cursor *file = &builder->file;
    switch (builder->style) {
    case YAML_SINGLE_QUOTED:
    case YAML_DOUBLE_QUOTED:
        step_bytes(file, 1);
        return;
    case YAML_LITERAL:
    case YAML_FOLDED:
        while (!cursor_at_end(file) && cursor_byte(file) != '\n') {
            cursor_step_forward(file);
        }
        step_bytes(file, 1);
        return;
    case YAML_PLAIN:
        return;
    }
}

const TextMap *text_map_new(const YamlDocument *document, const YamlNode *node, Arena *arena)
{
    assert(node->kind == YAML_SCALAR && node->end <= document->text.size);
    TextMap *map = arena_new_object(arena, TextMap);
    Builder builder = {.map = map, .arena = arena, .style = node->style};
    builder.text = cursor_at_start(node->text);
    builder.file = (Cursor){.text = {document->text.data, node->end},
                            .offset = node->begin,
                            .line = node->place.line,
                            .column = node->place.column};
    skip_opening(&builder);
    while (!cursor_at_end(&builder.text)) {
        skip_to_match(&builder);
        add_run(&builder);
        step_both(&builder);
    }
    add_run(&builder);
    return map;
}

const TextMap *text_map_new_fixed(SourcePlace place, Arena *arena)
{
    TextMap *map = arena_new_object(arena, TextMap);
    map->runs = arena_new_object(arena, Run);
    map->runs[0] = (Run){{1, 1, 0}, place};
    map->count = 1;
    map->fixed = true;
    return map;
}

/* ---- Finding ---- */

static bool is_before_or_at(SourcePlace a, SourcePlace b)
{
    return a.line < b.line || (a.line == b.line && a.column <= b.column);
}

SourcePlace text_map_find(const TextMap *map, SourcePlace place)
{
    assert(map->count > 0);
    size_t low = 0; /* the last run that begins at or before the place */
    size_t high = map->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (is_before_or_at(map->runs[middle].text, place)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const Run *run = &map->runs[low];
    bool same_line = run->text.line == place.line && place.column >= run->text.column;
    int columns = same_line && !map->fixed ? place.column - run->text.column : 0;
    int length = map->fixed ? run->file.length : place.length;
    return (SourcePlace){run->file.line, run->file.column + columns, length};
}
