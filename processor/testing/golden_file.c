/* Reading and writing the form of golden files. */
#include "processor/testing/golden_file.h"

#include "processor/base/banned.h"

typedef struct Parsing {
    GoldenFile *file;
    size_t line;
    size_t capacity;
    Arena *arena;
} Parsing;

static Error *mistake(size_t line, const char *what)
{
    return error_at(ERROR_SCENARIO_INVALID, (SourcePlace){(int)line + 1, 1, 0}, "%s", what);
}

/* --------------------------------------------------------------------------------- lines ---- */

static void cut_lines(Str text, Arena *arena, GoldenFile *file)
{
    size_t count = 1;
    for (size_t i = 0; i < text.size; i++) {
        count += text.data[i] == '\n';
    }
    file->lines = arena_new_array(arena, Str, count);
    for (Str rest = text; rest.data != NULL && rest.size > 0;) {
        file->lines[file->line_count++] = str_cut(&rest, '\n');
    }
}

/* The word that begins a block, if the line does. */
static GoldenKind kind_of_line(Str line)
{
    if (str_starts_with(line, STR("table "))) {
        return GOLDEN_TABLE;
    }
    if (str_equal(line, STR("query")) || str_equal(line, STR("query sorted"))) {
        return GOLDEN_QUERY;
    }
    if (str_starts_with(line, STR("error ["))) {
        return GOLDEN_ERROR;
    }
    if (str_starts_with(line, STR("time_zone "))) {
        return GOLDEN_TIME_ZONE;
    }
    return str_starts_with(line, STR("clock ")) ? GOLDEN_CLOCK : GOLDEN_NOTHING;
}

static bool ends_block(Str line)
{
    return line.size == 0 || line.data[0] == '#' || kind_of_line(line) != GOLDEN_NOTHING;
}

static bool is_header(Str line)
{
    return str_starts_with(line, STR("----"));
}

static Str line_at(const Parsing *parsing)
{
    return parsing->file->lines[parsing->line];
}

static bool at_end(const Parsing *parsing)
{
    return parsing->line >= parsing->file->line_count;
}

static Str rest_of(Str line, size_t from)
{
    return str_trim((Str){line.data + from, line.size - from});
}

/* -------------------------------------------------------------------------------- blocks ---- */

static GoldenBlock *add_block(Parsing *parsing, GoldenKind kind)
{
    GoldenFile *file = parsing->file;
    if (file->block_count == parsing->capacity) {
        size_t capacity = parsing->capacity == 0 ? 16 : parsing->capacity * 2;
        GoldenBlock *larger = arena_new_array(parsing->arena, GoldenBlock, capacity);
        if (file->block_count > 0) {
            memcpy(larger, file->blocks, file->block_count * sizeof *larger);
        }
        file->blocks = larger;
        parsing->capacity = capacity;
    }
    GoldenBlock *block = &file->blocks[file->block_count++];
    *block = (GoldenBlock){.kind = kind, .first_line = parsing->line};
    return block;
}

/* "name (columns)" */
static Error *parse_table_head(Parsing *parsing, GoldenBlock *block)
{
    Str head = rest_of(line_at(parsing), sizeof "table " - 1);
    size_t open = str_find_byte(head, '(');
    if (open == head.size || head.data[head.size - 1] != ')') {
        return mistake(parsing->line, "A table is `table NAME (COLUMNS)`.");
    }
    block->argument = str_trim((Str){head.data, open});
    block->columns = (Str){head.data + open + 1, head.size - open - 2};
    parsing->line++;
    return NULL;
}

static void parse_rows(Parsing *parsing, GoldenBlock *block)
{
    size_t first = parsing->line;
    while (!at_end(parsing) && !ends_block(line_at(parsing))) {
        parsing->line++;
    }
    block->rows = parsing->file->lines + first;
    block->row_count = parsing->line - first;
}

/* Lines up to `----` or the block's end, as one text. */
static void parse_sql(Parsing *parsing, GoldenBlock *block)
{
    AUTO_BUFFER Buffer sql = {0};
    while (!at_end(parsing) && !ends_block(line_at(parsing)) && !is_header(line_at(parsing))) {
        if (sql.size > 0) {
            buffer_append_byte(&sql, '\n');
        }
        buffer_append_str(&sql, line_at(parsing));
        parsing->line++;
    }
    block->sql = arena_copy_str(parsing->arena, buffer_str(&sql));
    block->sql_end_line = parsing->line;
}

static Error *parse_query(Parsing *parsing, GoldenBlock *block)
{
    size_t first = parsing->line;
    block->sorted = str_ends_with(line_at(parsing), STR("sorted"));
    parsing->line++;
    parse_sql(parsing, block);
    if (block->sql.size == 0) {
        return mistake(first, "A query has no text.");
    }
    if (at_end(parsing) || !is_header(line_at(parsing))) {
        block->columns = STR_NULL; /* not answered yet */
        return NULL;
    }
    block->columns = rest_of(line_at(parsing), sizeof "----" - 1);
    parsing->line++;
    parse_rows(parsing, block);
    return NULL;
}

static Error *parse_error(Parsing *parsing, GoldenBlock *block)
{
    size_t first = parsing->line;
    block->argument = rest_of(line_at(parsing), sizeof "error " - 1);
    parsing->line++;
    parse_sql(parsing, block);
    return block->sql.size == 0 ? mistake(first, "A query has no text.") : NULL;
}

static Error *parse_block(Parsing *parsing)
{
    Str line = line_at(parsing);
    GoldenKind kind = kind_of_line(line);
    GoldenBlock *block = add_block(parsing, kind);
    switch (kind) {
    case GOLDEN_NOTHING:
        if (line.size > 0 && line.data[0] != '#') {
            return mistake(parsing->line, "This line belongs to no table, query or error.");
        }
        parsing->line++;
        break;
    case GOLDEN_TIME_ZONE:
        block->argument = rest_of(line, sizeof "time_zone " - 1);
        parsing->line++;
        break;
    case GOLDEN_CLOCK:
        block->argument = rest_of(line, sizeof "clock " - 1);
        parsing->line++;
        break;
    case GOLDEN_TABLE:
        TRY(parse_table_head(parsing, block));
        parse_rows(parsing, block);
        break;
    case GOLDEN_QUERY:
        TRY(parse_query(parsing, block));
        break;
    case GOLDEN_ERROR:
        TRY(parse_error(parsing, block));
        break;
    }
    block->end_line = parsing->line;
    return NULL;
}

Error *golden_file_parse(Str text, Arena *arena, GoldenFile *ret_file)
{
    *ret_file = (GoldenFile){.line_count = 0};
    cut_lines(text, arena, ret_file);
    Parsing parsing = {.file = ret_file, .arena = arena};
    while (!at_end(&parsing)) {
        TRY(parse_block(&parsing));
    }
    return NULL;
}

/* --------------------------------------------------------------------------------- cells ---- */

Error *golden_unescape(Str cell, Arena *arena, Str *ret_text, bool *ret_null)
{
    *ret_null = str_equal(cell, STR("NULL"));
    char *text = arena_alloc_bytes(arena, cell.size + 1);
    size_t size = 0;
    for (size_t i = 0; i < cell.size; i++) {
        char c = cell.data[i];
        if (c != '\\') {
            text[size++] = c;
            continue;
        }
        char letter = ++i < cell.size ? cell.data[i] : '\0';
        static const char letters[] = "tnr\\";
        static const char bytes[] = "\t\n\r\\";
        const char *found = letter == '\0' ? NULL : strchr(letters, letter);
        if (found != NULL) {
            text[size++] = bytes[found - letters];
        } else if (letter != '_') {
            return error_new(ERROR_SCENARIO_INVALID,
                             "In `%.*s`: a backslash is followed by t, n, r, _ or a backslash.",
                             STR_ARG(cell));
        }
    }
    text[size] = '\0';
    *ret_text = (Str){text, size};
    return NULL;
}

static void escape_byte(char c, Buffer *out)
{
    switch (c) {
    case '\t':
        buffer_append_cstr(out, "\\t");
        return;
    case '\n':
        buffer_append_cstr(out, "\\n");
        return;
    case '\r':
        buffer_append_cstr(out, "\\r");
        return;
    case '\\':
        buffer_append_cstr(out, "\\\\");
        return;
    default:
        buffer_append_byte(out, c);
    }
}

void golden_escape(Str text, bool first, Buffer *out)
{
    if (str_equal(text, STR("NULL")) || text.size == 0 ||
        (first && (ends_block(text) || is_header(text)))) {
        buffer_append_cstr(out, "\\_");
    }
    for (size_t i = 0; i < text.size; i++) {
        escape_byte(text.data[i], out);
    }
}
