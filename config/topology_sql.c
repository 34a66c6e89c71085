/* SQL in a topology keeps its way back to the user's file: every text comes with the file it stands
 * in and a map of places.
 *
 * Where YAML joins lines (folded blocks, plain and quoted texts over several lines) a `--` comment
 * would swallow what the author sees on the next line. Such comments are refused. */
#include "config/topology_sql.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/text_map.h"

#include "processor/base/banned.h"

enum { SQL_FILE_BYTES_MAX = 16 * 1024 * 1024, READ_BYTES = 65536 };

/* ---- Comments in joined lines ---- */

/* The end of what begins at `at`: a quoted text or name, a comment, else one character. Backslashes
 * escape in quoted texts, as in Spark. */
static size_t sql_element_end(Str sql, size_t at)
{
    char first = sql.data[at];
    Str rest = {sql.data + at, sql.size - at};
    if (first == '\'' || first == '"' || first == '`') {
        for (size_t i = at + 1; i < sql.size; i++) {
            if (sql.data[i] == '\\' && first != '`') {
                i++;
            } else if (sql.data[i] == first) {
                return i + 1;
            }
        }
        return sql.size;
    }
    if (str_starts_with(rest, STR("/*"))) {
        const char *end = memmem(rest.data + 2, rest.size - 2, "*/", 2);
        return end == NULL ? sql.size : (size_t)(end - sql.data) + 2;
    }
    if (str_starts_with(rest, STR("--"))) {
        return at + str_find_byte(rest, '\n');
    }
    return at + 1;
}

static void step_place(SourcePlace *place, Str text, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (text.data[i] == '\n') {
            place->line++;
            place->column = 1;
        } else if (((unsigned char)text.data[i] & 0xC0) != 0x80) {
            place->column++;
        }
    }
}

static void report_joined_comment(ConfigLoader *loader, const YamlNode *node, SourcePlace place)
{
    const char *style = node->style == YAML_FOLDED  ? "a folded text (`>`)"
                        : node->style == YAML_PLAIN ? "a text over several lines"
                                                    : "a quoted text over several lines";
    place.length = 2;
    Error *error = error_at(
        ERROR_CONFIG_INVALID_VALUE, place,
        "A `--` comment inside %s would swallow the next line: YAML joins the lines.", style);
    config_report(loader, error_set_hint(error, "use `|`, which keeps lines, or /* … */"));
}

static void check_comments(ConfigLoader *loader, const YamlNode *node, const TopologySql *sql)
{
    SourcePlace place = {1, 1, 0};
    if (node->style == YAML_LITERAL) {
        return;
    }
    for (size_t at = 0; at < sql->text.size;) {
        size_t end = sql_element_end(sql->text, at);
        SourcePlace after = place;
        step_place(&after, sql->text, at, end);
        bool comment = end > at + 1 && sql->text.data[at] == '-';
        SourcePlace begins = text_map_find(sql->map, place);
        SourcePlace last = {after.line, after.column - 1, 0};
        bool joined = comment && begins.line != text_map_find(sql->map, last).line;
        if (joined || (comment && node->style == YAML_FOLDED)) {
            report_joined_comment(loader, node, begins);
        }
        place = after;
        at = end;
    }
}

/* ---- Texts ---- */

static void fill_from_node(ConfigLoader *loader, const YamlNode *node, Str text, bool changed,
                           TopologySql *sql)
{
    const YamlDocument *document = loader->document;
    sql->text = text;
    sql->file = document->file;
    sql->source = document->text;
    sql->map = changed ? text_map_new_fixed(node->place, loader->arena)
                       : text_map_new(document, node, loader->arena);
    sql->place = text_map_find(sql->map, (SourcePlace){1, 1, 0});
    sql->hide_source = !yaml_document_may_show(document, node->place.line, node->last_line);
}

/* SQL that only white space is left of is as good as none. */
static bool report_if_empty(ConfigLoader *loader, const YamlNode *node, Str text)
{
    if (str_trim(text).size > 0) {
        return false;
    }
    config_report(loader, error_at(ERROR_CONFIG_INVALID_VALUE, node->place,
                                   "`%s` must not be empty.", config_path_text(loader)));
    return true;
}

TopologySql topology_empty_sql(const ConfigLoader *loader)
{
    const YamlDocument *document = loader->document;
    return (TopologySql){.text = STR(""), .file = document->file, .source = document->text};
}

void topology_load_columns(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node,
                           void *member)
{
    (void)key;
    TopologySql *sql = member;
    Str text = STR_NULL;
    bool changed = false;
    *sql = topology_empty_sql(loader);
    if (config_read_text(loader, node, &text, &changed) && !report_if_empty(loader, node, text)) {
        fill_from_node(loader, node, text, changed, sql);
    }
}

/* ---- Files ---- */

static Error *read_stream(FILE *stream, const char *path, size_t limit, Buffer *out)
{
    while (out->size <= limit) {
        char *room = buffer_reserve(out, READ_BYTES);
        size_t got = fread(room, 1, READ_BYTES, stream);
        out->size += got;
        if (ferror(stream)) {
            return error_new(ERROR_FILE_NOT_READABLE, "The file `%s` cannot be read: %s.", path,
                             strerror(errno));
        }
        if (got < READ_BYTES) {
            break;
        }
    }
    if (out->size > limit) {
        return error_new(ERROR_FILE_NOT_READABLE, "The file `%s` is larger than %zu MiB.", path,
                         limit / (1024 * 1024));
    }
    return NULL;
}

Error *topology_read_file(const char *path, size_t limit, Arena *arena, Str *ret_text)
{
    FILE *stream = fopen(path, "rbe");
    if (stream == NULL) {
        return error_new(ERROR_FILE_NOT_READABLE, "The file `%s` cannot be read: %s.", path,
                         strerror(errno));
    }
    AUTO_BUFFER Buffer bytes = {0};
    Error *error = read_stream(stream, path, limit, &bytes);
    (void)fclose(stream);
    TRY(error);
    *ret_text = arena_copy_str(arena, buffer_str(&bytes));
    return NULL;
}

static const char *path_in_folder(const char *folder, Str name, Arena *arena)
{
    if (folder == NULL || folder[0] == '\0' || str_starts_with(name, STR("/"))) {
        return arena_copy_cstr(arena, name);
    }
    const char *between = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return arena_printf(arena, "%s%s%.*s", folder, between, STR_ARG(name));
}

static Str drop_byte_order_mark(Str text)
{
    Str mark = STR("\xEF\xBB\xBF");
    return str_starts_with(text, mark) ? (Str){text.data + mark.size, text.size - mark.size} : text;
}

static void load_sql_file(ConfigLoader *loader, const YamlNode *node, Str name, TopologySql *sql)
{
    const TopologyLoader *topology_loader = (const TopologyLoader *)(const void *)loader;
    const char *path = path_in_folder(topology_loader->base_dir, name, loader->arena);
    Str text = STR_NULL;
    Error *error = topology_read_file(path, SQL_FILE_BYTES_MAX, loader->arena, &text);
    if (error != NULL) {
        config_report(loader, error_set_place(error, node->place));
        return;
    }
    text = drop_byte_order_mark(text);
    if (!str_is_utf8(text) || str_find_byte(text, '\0') < text.size) {
        config_report(loader, error_at(ERROR_FILE_NOT_READABLE, node->place,
                                       "The file `%s` is not a text in UTF-8.", path));
        return;
    }
    if (!report_if_empty(loader, node, text)) {
        *sql = (TopologySql){.text = text, .file = path, .source = text, .place = {1, 1, 0}};
    }
}

/* {file: x.sql} */
typedef struct SqlFile {
    Str name;
} SqlFile;

static const ConfigKey sql_file_keys[] = {
    {.name = "file", .kind = CONFIG_TEXT, .flags = CONFIG_REQUIRED | CONFIG_NOT_EMPTY},
};
static const ConfigSchema sql_file_schema = {CONFIG_KEYS(SqlFile, sql_file_keys)};

void topology_load_sql(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node,
                       void *member)
{
    (void)key;
    TopologySql *sql = member;
    *sql = topology_empty_sql(loader);
    if (node->kind == YAML_MAPPING) {
        SqlFile file = {0};
        config_load_struct(loader, &sql_file_schema, node, node->place, &file);
        const YamlNode *name = yaml_node_get(node, STR("file"));
        if (file.name.size > 0 && name != NULL) {
            load_sql_file(loader, name, file.name, sql);
        }
        return;
    }
    if (node->kind != YAML_SCALAR || yaml_node_is_null(node)) {
        config_report(loader, error_at(ERROR_CONFIG_INVALID_VALUE, node->place,
                                       "`%s` must be a text of SQL or {file: x.sql}, not %s.",
                                       config_path_text(loader), yaml_node_describe(node)));
        return;
    }
    if (!report_if_empty(loader, node, node->text)) {
        fill_from_node(loader, node, node->text, false, sql);
        check_comments(loader, node, sql);
    }
}

/* ---- Places ---- */

void topology_place_sql_error(const TopologySql *sql, Error *error)
{
    SourcePlace place = error_place(error);
    if (place.line <= 0) {
        place = sql->place;
    } else if (sql->map != NULL) {
        place = text_map_find(sql->map, place);
    }
    (void)error_set_place(error, place);
    (void)error_set_file(error, sql->file);
    (void)error_replace_source(error, sql->hide_source ? STR_NULL : sql->source);
}
