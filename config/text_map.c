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

/* A position that knows its line and column. */
typedef struct Position {
    Str bytes;
    size_t at;
    SourcePlace place;
} Position;

typedef struct Builder {
    TextMap *map;
    Arena *arena;
    Position text;
    Position file; /* bytes end with the scalar */
    YamlStyle style;
} Builder;

static bool position_at_end(const Position *position)
{
    return position->at >= position->bytes.size;
}

static char position_byte(const Position *position)
{
    return position->bytes.data[position->at];
}

static void position_step(Position *position)
{
    bool line_ends = position_byte(position) == '\n';
    do {
        position->at++;
    } while (!position_at_end(position) && ((unsigned char)position_byte(position) & 0xC0) == 0x80);
    position->place.line += line_ends ? 1 : 0;
    position->place.column = line_ends ? 1 : position->place.column + 1;
}

static void position_step_bytes(Position *position, size_t bytes)
{
    size_t end = position->at + bytes;
    while (!position_at_end(position) && position->at < end) {
        position_step(position);
    }
}

static bool is_white(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* ---- Building ---- */

static void add_run(Builder *builder)
{
    TextMap *map = builder->map;
    if (map->count > 0) {
        const Run *last = &map->runs[map->count - 1];
        bool goes_on = last->text.line == builder->text.place.line &&
                       last->file.line == builder->file.place.line &&
                       builder->text.place.column - last->text.column ==
                           builder->file.place.column - last->file.column;
        if (goes_on) {
            return;
        }
    }
    if (map->count == map->capacity) {
        size_t capacity = map->capacity == 0 ? 8 : map->capacity * 2;
        Run *grown = arena_new_array(builder->arena, Run, capacity);
        if (map->count > 0) {
            memcpy(grown, map->runs, map->count * sizeof *grown);
        }
        map->runs = grown;
        map->capacity = capacity;
    }
    map->runs[map->count++] = (Run){builder->text.place, builder->file.place};
}

/* Bytes of the escape the file stands at: \n, \x41, an escaped line end (0 characters of text). */
static size_t escape_bytes(const Position *file)
{
    Str rest = {file->bytes.data + file->at, file->bytes.size - file->at};
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

static bool is_escaped_line_end(const Position *file)
{
    size_t next = file->at + 1;
    return position_byte(file) == '\\' && next < file->bytes.size &&
           (file->bytes.data[next] == '\n' || file->bytes.data[next] == '\r');
}

/* The file moves to the character that made the text's next one. */
static void skip_to_match(Builder *builder)
{
    Position *file = &builder->file;
    bool white = is_white(position_byte(&builder->text));
    bool escapes = builder->style == YAML_DOUBLE_QUOTED;
    while (!position_at_end(file)) {
        if (escapes && is_escaped_line_end(file)) {
            position_step_bytes(file, 2);
            while (!position_at_end(file) && is_white(position_byte(file))) {
                position_step(file);
            }
        } else if (!white && is_white(position_byte(file))) {
            position_step(file);
        } else {
            return;
        }
    }
}

/* Both move over one character of the text. */
static void step_both(Builder *builder)
{
    Position *file = &builder->file;
    char wanted = position_byte(&builder->text);
    position_step(&builder->text);
    if (position_at_end(file)) {
        return;
    }
    char byte = position_byte(file);
    if (builder->style == YAML_DOUBLE_QUOTED && byte == '\\') {
        position_step_bytes(file, escape_bytes(file));
    } else if (builder->style == YAML_SINGLE_QUOTED && byte == '\'') {
        position_step_bytes(file, 2);
    } else if (byte == '\r' && wanted == '\n') {
        position_step_bytes(file, 2);
    } else if (byte == wanted || !is_white(wanted) || is_white(byte)) {
        position_step(file);
    }
}

/* Where the scalar's characters begin: behind the quote, or in the line below the block's header.
 */
static void skip_opening(Builder *builder)
{
    Position *file = &builder->file;
    switch (builder->style) {
    case YAML_SINGLE_QUOTED:
    case YAML_DOUBLE_QUOTED:
        position_step_bytes(file, 1);
        return;
    case YAML_LITERAL:
    case YAML_FOLDED:
        while (!position_at_end(file) && position_byte(file) != '\n') {
            position_step(file);
        }
        position_step_bytes(file, 1);
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
    builder.text = (Position){node->text, 0, {1, 1, 0}};
    builder.file = (Position){{document->text.data, node->end}, node->begin, node->place};
    skip_opening(&builder);
    while (!position_at_end(&builder.text)) {
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
