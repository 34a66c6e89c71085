/* Reads libyaml's events into a tree. Input is foreign: the depth of nesting, the size of the text
 * and what aliases expand to are bounded, and there is no recursion.
 *
 * libyaml marks places as an index of characters; a cursor follows the marks and turns them into
 * byte offsets, lines and columns by one rule (a line ends with '\n'), the same by which error
 * messages cut out the line they show.
 *
 * A tree under construction is a stack of frames, one an open collection:
 *
 *     sources:            frame 0: mapping, pending key "sources"
 *       orders:           frame 1: mapping, pending key "orders"
 *         key: [a, b]     frame 2: mapping, pending key "key";  frame 3: sequence, one item
 *
 * whose pending keys spell the path that messages name: sources.orders.key[1]. */
#include "config/yaml_node.h"

#include <assert.h>
#include <string.h>

#include <yaml.h>

#include "config/cursor.h"
#include "config/secret.h"
#include "processor/base/map.h"

#include "processor/base/banned.h"

enum { UNDERLINE_MAX = 200 };

typedef struct Frame {
    YamlNode *node;
    size_t capacity;
    bool has_key; /* mapping: a key was read, its value comes next */
    bool skip;    /* the pending key is refused, its value is dropped */
    Str key;
    SourcePlace key_place;
    Map keys; /* of the mapping, to find repeated ones */
} Frame;

typedef struct Reader {
    yaml_parser_t parser;
    YamlDocument *document;
    Arena *arena;
    Diagnostics found; /* reported at the end, when all secret lines are known */
    Cursor cursor;
    Frame frames[YAML_DEPTH_MAX];
    size_t depth;
    Map anchors; /* name -> YamlNode */
    size_t node_count;
    uint64_t alias_nodes;
    uint64_t alias_bytes;
} Reader;

/* ---- What may be shown ---- */

bool yaml_document_may_show(const YamlDocument *document, int first_line, int last_line)
{
    for (size_t i = 0; i < document->hidden_count; i++) {
        const YamlLines *lines = &document->hidden[i];
        if (first_line <= lines->last && last_line >= lines->first) {
            return false;
        }
    }
    return true;
}

void yaml_document_place_error(const YamlDocument *document, Error *error)
{
    (void)error_set_file(error, document->file);
    int line = error_place(error).line;
    if (line > 0 && yaml_document_may_show(document, line, line)) {
        (void)error_set_source(error, document->text);
    }
}

void yaml_document_report(const YamlDocument *document, Error *error, Diagnostics *diagnostics)
{
    if (diagnostics->count >= YAML_REPORTS_MAX) {
        error_free(error);
        return;
    }
    yaml_document_place_error(document, error);
    diagnostics_add(diagnostics, error);
}

static void hide_lines(Reader *reader, int first, int last)
{
    YamlDocument *document = reader->document;
    *arena_push(reader->arena, document->hidden, document->hidden_count,
                document->hidden_capacity) = (YamlLines){first, last};
}

/* The value of a secret key: its lines, from the key on, are never shown. */
static void hide_secret_value(Reader *reader, const Frame *frame, const YamlNode *value)
{
    if (config_is_secret_key(frame->key)) {
        hide_lines(reader, frame->key_place.line, frame->key_place.line);
        hide_lines(reader, value->place.line, value->last_line);
    }
}

/* The line of the text that holds byte `at`, without its end. */
static Str line_around(Str text, size_t at)
{
    size_t begin = at;
    while (begin > 0 && text.data[begin - 1] != '\n') {
        begin--;
    }
    size_t end = at;
    while (end < text.size && text.data[end] != '\n') {
        end++;
    }
    return (Str){text.data + begin, end - begin};
}

static size_t indentation(Str line)
{
    size_t count = 0;
    while (count < line.size && (line.data[count] == ' ' || line.data[count] == '\t')) {
        count++;
    }
    return count;
}

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

/* Does a word before a colon name a secret? */
static bool line_names_secret(Str line)
{
    size_t begin = 0;
    for (size_t i = 0; i <= line.size; i++) {
        if (i < line.size && is_key_char(line.data[i])) {
            continue;
        }
        if (i > begin && config_is_secret_key((Str){line.data + begin, i - begin})) {
            return true;
        }
        begin = i + 1;
    }
    return false;
}

/* After a syntax error there is no tree to ask. The line at the cursor, the one before it and those
 * they are indented under are looked at as text instead. */
static void hide_line_if_it_may_be_secret(Reader *reader)
{
    Str text = reader->document->text;
    size_t margin = SIZE_MAX;
    int looked_at = 0;
    size_t at = reader->cursor.offset;
    for (;;) {
        Str line = line_around(text, at);
        size_t indent = indentation(line);
        bool blank = indent == line.size || line.data[indent] == '#';
        if (!blank || looked_at == 0) {
            if ((looked_at < 2 || indent < margin) && line_names_secret(line)) {
                hide_lines(reader, reader->cursor.line, reader->cursor.line);
                return;
            }
            looked_at++;
            margin = indent < margin ? indent : margin;
        }
        at = (size_t)(line.data - text.data);
        if (at == 0 || (looked_at >= 2 && margin == 0)) {
            return;
        }
        at--;
    }
}

/* ---- Reporting ---- */

static void report(Reader *reader, Error *error)
{
    diagnostics_add(&reader->found, error);
}

static void report_all(Reader *reader, Diagnostics *diagnostics)
{
    for (size_t i = 0; i < reader->found.count; i++) {
        yaml_document_report(reader->document, reader->found.errors[i], diagnostics);
    }
    reader->found.count = 0; /* they have moved */
    diagnostics_done(&reader->found);
}

/* The path of the pending keys, as `sources.orders.key[1]`; `last` is appended when not null. */
static void path_append(const Reader *reader, Str last, Buffer *out)
{
    for (size_t i = 0; i < reader->depth; i++) {
        const Frame *frame = &reader->frames[i];
        if (frame->node->kind == YAML_SEQUENCE) {
            buffer_printf(out, "[%zu]", frame->node->count);
        } else if (frame->has_key) {
            buffer_printf(out, "%s%.*s", out->size > 0 ? "." : "", STR_ARG(frame->key));
        }
    }
    if (last.data != NULL) {
        buffer_printf(out, "%s%.*s", out->size > 0 ? "." : "", STR_ARG(last));
    }
}

static bool path_is_secret(const Reader *reader)
{
    for (size_t i = 0; i < reader->depth; i++) {
        const Frame *frame = &reader->frames[i];
        if (frame->has_key && config_is_secret_key(frame->key)) {
            return true;
        }
    }
    return false;
}

/* ---- Building the tree ---- */

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Where the node's own text begins: an event of libyaml begins with the anchor. */
static size_t skip_anchor(Str text, size_t at, size_t end)
{
    if (at >= end || text.data[at] != '&') {
        return at;
    }
    while (at < end && !cursor_is_white(text.data[at])) {
        at++;
    }
    while (at < end && (cursor_is_white(text.data[at]) || text.data[at] == '#')) {
        bool comment = text.data[at] == '#';
        while (comment && at < end && text.data[at] != '\n') {
            at++;
        }
        at += at < end ? 1 : 0;
    }
    return at;
}

static YamlNode *new_node(Reader *reader, YamlKind kind, const yaml_event_t *event)
{
    YamlNode *node = arena_new_object(reader->arena, YamlNode);
    node->kind = kind;
    cursor_move_to_index(&reader->cursor, event->end_mark.index);
    node->end = reader->cursor.offset;
    node->last_line = reader->cursor.line;
    cursor_move_to_index(&reader->cursor, event->start_mark.index);
    cursor_move_to_offset(&reader->cursor,
                          skip_anchor(reader->cursor.text, reader->cursor.offset, node->end));
    node->begin = reader->cursor.offset;
    node->place = cursor_place(&reader->cursor);
    node->place.length = cursor_characters_to(&reader->cursor, node->end, UNDERLINE_MAX);
    reader->node_count++;
    return node;
}

static YamlStyle scalar_style(yaml_scalar_style_t style)
{
    switch (style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        return YAML_SINGLE_QUOTED;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return YAML_DOUBLE_QUOTED;
    case YAML_LITERAL_SCALAR_STYLE:
        return YAML_LITERAL;
    case YAML_FOLDED_SCALAR_STYLE:
        return YAML_FOLDED;
    case YAML_ANY_SCALAR_STYLE:
    case YAML_PLAIN_SCALAR_STYLE:
        break;
    }
    return YAML_PLAIN;
}

/* scheme://user:secret@host */
static bool holds_credentials(Str text)
{
    const char *slashes = memmem(text.data, text.size, "://", 3);
    if (slashes == NULL) {
        return false;
    }
    size_t after = (size_t)(slashes - text.data) + 3;
    return str_find_byte((Str){text.data + after, text.size - after}, '@') < text.size - after;
}

/* `sasl.password hunter2`: the colon, or the blank behind it, was forgotten, and YAML reads one
 * text. */
static bool begins_with_secret_key(Str lines)
{
    for (Str rest = lines; rest.data != NULL;) {
        Str line = str_trim(str_cut(&rest, '\n'));
        size_t size = 0;
        while (size < line.size && is_key_char(line.data[size])) {
            size++;
        }
        if (size > 0 && size < line.size && config_is_secret_key((Str){line.data, size})) {
            return true;
        }
    }
    return false;
}

static YamlNode *new_scalar(Reader *reader, const yaml_event_t *event)
{
    YamlNode *node = new_node(reader, YAML_SCALAR, event);
    node->style = scalar_style(event->data.scalar.style);
    Str value = {(const char *)event->data.scalar.value, event->data.scalar.length};
    node->text = arena_copy_str(reader->arena, value);
    node->walk_nodes = 1;
    node->walk_bytes = value.size;
    Str written = {reader->document->text.data + node->begin, node->end - node->begin};
    if (holds_credentials(value) ||
        (node->style == YAML_PLAIN && begins_with_secret_key(written))) {
        hide_lines(reader, node->place.line, node->last_line);
    }
    return node;
}

static void refuse_key(Reader *reader, Frame *frame, const YamlNode *node, SourcePlace place)
{
    AUTO_BUFFER Buffer path = {0};
    frame->skip = true;
    if (node->kind != YAML_SCALAR) {
        report(reader,
               error_at(ERROR_YAML_SYNTAX, place, "A key must be a word or a quoted text, not %s.",
                        yaml_node_describe(node)));
        return;
    }
    path_append(reader, path_is_secret(reader) ? STR("…") : node->text, &path);
    const SourcePlace *first = map_get(&frame->keys, node->text);
    if (first != NULL) {
        Error *error = error_at(ERROR_CONFIG_DUPLICATE_KEY, place, "The key `%s` is given twice.",
                                buffer_cstr(&path));
        report(reader, error_set_hint(error, "it is first given in line %d", first->line));
        return;
    }
    Error *error = error_at(ERROR_YAML_SYNTAX, place, "Merge keys are not supported (`%s`).",
                            buffer_cstr(&path));
    report(reader, error_set_hint(error, "write the keys out, or use an alias for a whole value"));
}

/* The node's text as a key of the innermost mapping. A refused key is reported, its value will be
 * read and dropped. */
static void take_key(Reader *reader, Frame *frame, const YamlNode *node, SourcePlace place)
{
    bool scalar = node->kind == YAML_SCALAR;
    bool merge = scalar && node->style == YAML_PLAIN && str_equal(node->text, STR("<<"));
    if (!scalar || merge || map_get(&frame->keys, node->text) != NULL) {
        refuse_key(reader, frame, node, place);
    } else {
        SourcePlace *first = arena_new_object(reader->arena, SourcePlace);
        *first = place;
        map_put(&frame->keys, node->text, first);
        frame->skip = false;
    }
    frame->key = scalar ? node->text : STR("?");
    frame->key_place = place;
    frame->has_key = true;
}

static void add_entry(Reader *reader, Frame *frame, YamlNode *value)
{
    YamlNode *mapping = frame->node;
    hide_secret_value(reader, frame, value);
    if (!frame->skip) {
        *arena_push(reader->arena, mapping->entries, mapping->count, frame->capacity) =
            (YamlEntry){frame->key, frame->key_place, value};
    }
    frame->has_key = false;
}

/* A whole node goes into the innermost open collection, or becomes the root. */
static void place_node(Reader *reader, YamlNode *node, SourcePlace place)
{
    if (reader->depth == 0) {
        reader->document->root = node;
        return;
    }
    Frame *frame = &reader->frames[reader->depth - 1];
    YamlNode *parent = frame->node;
    parent->walk_nodes = add_saturating(parent->walk_nodes, node->walk_nodes);
    parent->walk_bytes = add_saturating(parent->walk_bytes, node->walk_bytes);
    if (parent->kind == YAML_SEQUENCE) {
        *arena_push(reader->arena, parent->items, parent->count, frame->capacity) = node;
    } else if (frame->has_key) {
        add_entry(reader, frame, node);
    } else {
        take_key(reader, frame, node, place);
    }
}

/* ---- Events ---- */

static void remember_anchor(Reader *reader, const yaml_char_t *anchor, YamlNode *node)
{
    if (anchor != NULL) {
        Str name = arena_copy_str(reader->arena, str_from((const char *)anchor));
        map_put(&reader->anchors, name, node);
    }
}

static void refuse_tag(Reader *reader, const yaml_char_t *tag, const YamlNode *node)
{
    if (tag != NULL) {
        report(reader, error_at(ERROR_YAML_SYNTAX, node->place,
                                "Tags (a word that begins with `!`) are not used here."));
    }
}

/* What the alias brings is counted, not copied: the bound holds for whoever walks the tree. */
static Error *read_alias(Reader *reader, const yaml_event_t *event)
{
    Str name = str_from((const char *)event->data.alias.anchor);
    YamlNode *node = map_get(&reader->anchors, name);
    YamlNode *here = new_node(reader, YAML_SCALAR, event);
    const char *shown = path_is_secret(reader) ? "" : arena_copy_cstr(reader->arena, name);
    if (node == NULL) {
        Error *error = error_at(ERROR_YAML_SYNTAX, here->place,
                                "The alias `*%s` names no anchor before it.", shown);
        report(reader, error_set_hint(error, "a text that begins with `*` needs quotes"));
        node = here;
        node->text = STR("");
        node->walk_nodes = 1;
    }
    for (size_t i = 0; i < reader->depth; i++) {
        if (reader->frames[i].node == node) {
            return error_at(ERROR_YAML_SYNTAX, here->place, "The alias `*%s` contains itself.",
                            shown);
        }
    }
    reader->alias_nodes = add_saturating(reader->alias_nodes, node->walk_nodes);
    reader->alias_bytes = add_saturating(reader->alias_bytes, node->walk_bytes);
    if (reader->alias_nodes > YAML_ALIAS_NODES_MAX || reader->alias_bytes > YAML_ALIAS_BYTES_MAX) {
        return error_at(ERROR_YAML_SYNTAX, here->place,
                        "The aliases of this file expand to too much (more than %d values or "
                        "%d MiB).",
                        YAML_ALIAS_NODES_MAX, YAML_ALIAS_BYTES_MAX / (1024 * 1024));
    }
    place_node(reader, node, here->place);
    return NULL;
}

static void read_scalar(Reader *reader, const yaml_event_t *event)
{
    YamlNode *node = new_scalar(reader, event);
    refuse_tag(reader, event->data.scalar.tag, node);
    remember_anchor(reader, event->data.scalar.anchor, node);
    place_node(reader, node, node->place);
}

static Error *open_collection(Reader *reader, YamlKind kind, const yaml_event_t *event,
                              const yaml_char_t *anchor, const yaml_char_t *tag)
{
    YamlNode *node = new_node(reader, kind, event);
    node->walk_nodes = 1;
    if (reader->depth == YAML_DEPTH_MAX) {
        return error_at(ERROR_YAML_SYNTAX, node->place, "Nested more than %d levels deep.",
                        YAML_DEPTH_MAX);
    }
    refuse_tag(reader, tag, node);
    remember_anchor(reader, anchor, node);
    reader->frames[reader->depth++] = (Frame){.node = node};
    return NULL;
}

static void close_collection(Reader *reader, const yaml_event_t *event)
{
    assert(reader->depth > 0);
    Frame *frame = &reader->frames[--reader->depth];
    cursor_move_to_index(&reader->cursor, event->end_mark.index);
    frame->node->end = reader->cursor.offset;
    frame->node->last_line = reader->cursor.line;
    map_done(&frame->keys);
    place_node(reader, frame->node, frame->node->place);
}

static Error *start_document(Reader *reader, const yaml_event_t *event)
{
    if (reader->document->root == NULL) {
        return NULL;
    }
    cursor_move_to_index(&reader->cursor, event->start_mark.index);
    return error_at(ERROR_YAML_SYNTAX, cursor_place(&reader->cursor),
                    "The file holds several documents; only one is read.");
}

/* *ret_end is set with the last event. */
static Error *read_event(Reader *reader, const yaml_event_t *event, bool *ret_end)
{
    if (reader->node_count > YAML_NODES_MAX) {
        return error_at(ERROR_YAML_SYNTAX, cursor_place(&reader->cursor),
                        "The file holds more than %d values.", YAML_NODES_MAX);
    }
    switch (event->type) {
    case YAML_STREAM_END_EVENT:
        *ret_end = true;
        return NULL;
    case YAML_DOCUMENT_START_EVENT:
        return start_document(reader, event);
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event);
    case YAML_SCALAR_EVENT:
        read_scalar(reader, event);
        return NULL;
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(reader, YAML_SEQUENCE, event, event->data.sequence_start.anchor,
                               event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_collection(reader, YAML_MAPPING, event, event->data.mapping_start.anchor,
                               event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_collection(reader, event);
        return NULL;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return NULL;
}

/* ---- Syntax errors of libyaml ---- */

/* The column (from 1) of a tab among the blanks a line begins with, 0 when there is none. */
static int tab_column(Str line)
{
    for (size_t i = 0; i < indentation(line); i++) {
        if (line.data[i] == '\t') {
            return (int)i + 1;
        }
    }
    return 0;
}

static const char *syntax_hint(Str problem)
{
    static const struct {
        const char *problem;
        const char *hint;
    } hints[] = {
        {"mapping values are not allowed", "a text with `: ` in it needs quotes; otherwise compare "
                                           "the indentation with the lines above"},
        {"cannot start any token", "a text that begins with `@`, `%` or a backtick needs quotes"},
        {"did not find expected key", "compare the indentation with the lines above; a text with "
                                      "`: `, ` #` or a quote in it needs quotes"},
        {"could not find expected ':'", "a key is followed by a colon and a blank"},
        {"unexpected end of stream", "a quote is not closed"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(hints); i++) {
        if (memmem(problem.data, problem.size, hints[i].problem, strlen(hints[i].problem)) !=
            NULL) {
            return hints[i].hint;
        }
    }
    return NULL;
}

static Error *syntax_error(Reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_READER_ERROR) {
        cursor_move_to_offset(&reader->cursor, parser->problem_offset);
        return error_at(ERROR_YAML_SYNTAX, cursor_place(&reader->cursor),
                        "A character that YAML does not allow (code 0x%X).",
                        (unsigned)parser->problem_value);
    }
    cursor_move_to_index(&reader->cursor, parser->problem_mark.index);
    SourcePlace place = cursor_place(&reader->cursor);
    int tab = tab_column(line_around(reader->document->text, reader->cursor.offset));
    if (tab > 0 && place.column <= tab + 1) {
        Error *error = error_at(ERROR_YAML_SYNTAX, (SourcePlace){place.line, tab, 0},
                                "A tab is used as indentation.");
        return error_set_hint(error, "YAML is indented with blanks only");
    }
    const char *problem = parser->problem == NULL ? "it cannot be read" : parser->problem;
    Error *error = NULL;
    if (parser->context != NULL && parser->context_mark.line + 1 != (size_t)place.line) {
        error = error_at(ERROR_YAML_SYNTAX, place,
                         "This is not well-formed YAML: %s (%s that begins in line %zu).", problem,
                         parser->context, parser->context_mark.line + 1);
    } else {
        error = error_at(ERROR_YAML_SYNTAX, place, "This is not well-formed YAML: %s.", problem);
    }
    const char *hint = syntax_hint(str_from(problem));
    return hint == NULL ? error : error_set_hint(error, "%s", hint);
}

/* ---- The whole text ---- */

/* Bytes of the longest valid beginning of a text that is not valid as a whole. */
static size_t valid_utf8_bytes(Str text)
{
    size_t at = 0;
    while (at < text.size) {
        size_t width = 1;
        size_t left = text.size - at;
        while (width <= 4 && (width > left || !str_is_utf8((Str){text.data + at, width}))) {
            width++;
        }
        if (width > 4) {
            break;
        }
        at += width;
    }
    return at;
}

/* libyaml takes U+0085, U+2028 and U+2029 for line ends, as YAML 1.1 did. YAML 1.2 and editors do
 * not, so texts would change under the reader's eyes. */
static size_t find_odd_line_end(Str text)
{
    static const Str odd[] = {{"\xC2\x85", 2}, {"\xE2\x80\xA8", 3}, {"\xE2\x80\xA9", 3}};
    size_t found = text.size;
    for (size_t i = 0; i < ARRAY_LENGTH(odd); i++) {
        const char *at = memmem(text.data, found, odd[i].data, odd[i].size);
        found = at == NULL ? found : (size_t)(at - text.data);
    }
    return found;
}

static Error *check_text(Reader *reader)
{
    Str text = reader->document->text;
    if (text.size > YAML_TEXT_BYTES_MAX) {
        return error_new(ERROR_YAML_SYNTAX, "The file is larger than %d MiB.",
                         YAML_TEXT_BYTES_MAX / (1024 * 1024));
    }
    if (!str_is_utf8(text)) {
        size_t bad = valid_utf8_bytes(text);
        cursor_move_to_offset(&reader->cursor, bad);
        return error_at(ERROR_YAML_SYNTAX, cursor_place(&reader->cursor),
                        "The file is not valid UTF-8 (byte 0x%02X).",
                        (unsigned char)text.data[bad]);
    }
    size_t odd = find_odd_line_end(text);
    if (odd < text.size) {
        cursor_move_to_offset(&reader->cursor, odd);
        Error *error = error_at(ERROR_YAML_SYNTAX, cursor_place(&reader->cursor),
                                "A Unicode line separator cannot stand in YAML as it is.");
        return error_set_hint(error, "write it as \\u0085, \\u2028 or \\u2029 in double quotes");
    }
    return NULL;
}

static Error *read_events(Reader *reader)
{
    TRY(check_text(reader));
    bool end = false;
    while (!end) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event)) {
            return syntax_error(reader);
        }
        Error *error = read_event(reader, &event, &end);
        yaml_event_delete(&event);
        TRY(error);
    }
    const YamlNode *root = reader->document->root;
    if (root == NULL || (yaml_node_is_null(root) && root->begin == root->end)) {
        return error_at(ERROR_YAML_SYNTAX, (SourcePlace){1, 1, 0}, "The file is empty.");
    }
    return NULL;
}

static Str without_byte_order_mark(Str text)
{
    Str mark = STR("\xEF\xBB\xBF");
    return str_starts_with(text, mark) ? (Str){text.data + mark.size, text.size - mark.size}
           : text.data == NULL         ? STR("")
                                       : text;
}

void yaml_parse(Str text, const char *file, Arena *arena, Diagnostics *diagnostics,
                YamlDocument **ret_document)
{
    YamlDocument *document = arena_new_object(arena, YamlDocument);
    document->file = arena_copy_cstr(arena, str_from(file));
    document->text = without_byte_order_mark(text);
    Reader *reader = arena_new_object(arena, Reader);
    reader->document = document;
    reader->arena = arena;
    reader->cursor = cursor_at_start(document->text);
    if (!yaml_parser_initialize(&reader->parser)) {
        diagnostics_add(diagnostics, error_new(ERROR_INTERNAL_ERROR, "No YAML parser."));
        return;
    }
    yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)document->text.data,
                                 document->text.size);
    Error *error = read_events(reader);
    yaml_parser_delete(&reader->parser);
    while (reader->depth > 0) {
        const Frame *frame = &reader->frames[--reader->depth];
        if (frame->has_key && config_is_secret_key(frame->key)) {
            hide_lines(reader, frame->key_place.line, reader->cursor.line);
        }
        map_done(&reader->frames[reader->depth].keys);
    }
    map_done(&reader->anchors);
    if (error != NULL) {
        hide_line_if_it_may_be_secret(reader);
        diagnostics_add(&reader->found, error);
    } else {
        *ret_document = document;
    }
    report_all(reader, diagnostics);
}

/* ---- Reading a tree ---- */

bool yaml_node_is_null(const YamlNode *node)
{
    if (node->kind != YAML_SCALAR || node->style != YAML_PLAIN) {
        return false;
    }
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        if (str_equal(node->text, str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

const char *yaml_node_describe(const YamlNode *node)
{
    switch (node->kind) {
    case YAML_SCALAR:
        return yaml_node_is_null(node) ? "nothing (null)" : "a single value";
    case YAML_SEQUENCE:
        return "a list";
    case YAML_MAPPING:
        return "a mapping";
    }
    return "nothing";
}

const YamlNode *yaml_node_get(const YamlNode *mapping, Str key)
{
    for (size_t i = 0; mapping->kind == YAML_MAPPING && i < mapping->count; i++) {
        if (str_equal(mapping->entries[i].key, key)) {
            return mapping->entries[i].value;
        }
    }
    return NULL;
}
