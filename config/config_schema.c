/* Walks a schema and a YAML tree together. The recursion follows the schema, which is our constant
 * data, so its depth is bounded whatever the file holds.
 *
 * A value that is mistaken is reported and replaced by its default, and the walk goes on: one run
 * finds every mistake. Messages show the text as it stands in the file, never what variables put in
 * its place, and nothing at all of secrets. */
#include "config/config_schema.h"

#include <assert.h>
#include <inttypes.h>

#include "config/config_expand.h"
#include "config/config_value.h"
#include "config/text_map.h"

#include "processor/base/banned.h"

/* ---- Reporting ---- */

void config_report(ConfigLoader *loader, Error *error)
{
    loader->error_count++;
    yaml_document_report(loader->document, error, loader->diagnostics);
}

static void append_path(const ConfigPath *path, Buffer *out)
{
    if (path->parent != NULL) {
        append_path(path->parent, out);
    }
    if (path->name.data == NULL) {
        buffer_printf(out, "[%zu]", path->index);
    } else {
        buffer_printf(out, "%s%.*s", out->size > 0 ? "." : "", STR_ARG(path->name));
    }
}

const char *config_path_text(const ConfigLoader *loader)
{
    AUTO_BUFFER Buffer text = {0};
    if (loader->path != NULL) {
        append_path(loader->path, &text);
    }
    return arena_copy_cstr(loader->arena, buffer_str(&text));
}

static bool path_is_secret(const ConfigLoader *loader)
{
    for (const ConfigPath *path = loader->path; path != NULL; path = path->parent) {
        if (path->name.data != NULL && config_is_secret_key(path->name)) {
            return true;
        }
    }
    return false;
}

enum { SHOWN_BYTES_MAX = 60 };

/* "`abc`", cut when long; "the value" for a secret. */
static const char *shown_value(const ConfigLoader *loader, const ConfigKey *key,
                               const YamlNode *node)
{
    bool secret = (key->flags & CONFIG_SECRET) != 0 || path_is_secret(loader);
    if (secret || !yaml_document_may_show(loader->document, node->place.line, node->last_line)) {
        return "the value";
    }
    Str text = node->text;
    if (text.size <= SHOWN_BYTES_MAX) {
        return arena_printf(loader->arena, "`%.*s`", STR_ARG(text));
    }
    size_t size = SHOWN_BYTES_MAX;
    while (size > 0 && ((unsigned char)text.data[size] & 0xC0) == 0x80) {
        size--;
    }
    return arena_printf(loader->arena, "`%.*s…`", (int)size, text.data);
}

const char *config_nearest(Str word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = word.size / 3 < 2 ? 2 : word.size / 3;
    if (word.size > 64) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        Str name = str_from(names[i]);
        size_t distance = str_distance(word, name);
        if (distance <= best && distance < name.size) {
            best = distance == 0 ? 0 : distance - 1;
            nearest = names[i];
        }
    }
    return nearest;
}

/* ---- Single values ---- */

static void *member_at(void *target, size_t offset)
{
    return (char *)target + offset;
}

static void set_place(const ConfigKey *key, void *target, SourcePlace place)
{
    if (key->place_offset != 0) {
        memcpy(member_at(target, key->place_offset), &place, sizeof place);
    }
}

static const ConfigChoice *find_choice(const ConfigKey *key, Str text)
{
    for (size_t i = 0; i < key->choice_count; i++) {
        if (str_equal(text, str_from(key->choices[i].name))) {
            return &key->choices[i];
        }
    }
    return NULL;
}

/* "json, avro or csv" */
static const char *list_choices(const ConfigKey *key, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < key->choice_count; i++) {
        const char *between = i == 0 ? "" : i + 1 == key->choice_count ? " or " : ", ";
        buffer_printf(&text, "%s%s", between, key->choices[i].name);
    }
    return arena_copy_cstr(arena, buffer_str(&text));
}

/* Writes the member; returns NULL or what the text should have been. */
static const char *convert(const ConfigKey *key, Str text, Arena *arena, void *member)
{
    int64_t number = 0;
    bool truth = false;
    const char *expected = NULL;
    const ConfigChoice *choice = NULL;
    switch (key->kind) {
    case CONFIG_TEXT:
        memcpy(member, &text, sizeof text);
        return NULL;
    case CONFIG_BOOL:
        expected = config_parse_bool(text, &truth);
        if (expected == NULL) {
            memcpy(member, &truth, sizeof truth);
        }
        return expected;
    case CONFIG_ENUM:
        choice = find_choice(key, text);
        if (choice == NULL) {
            return list_choices(key, arena);
        }
        memcpy(member, &choice->value, sizeof choice->value);
        return NULL;
    case CONFIG_INTEGER:
        expected = config_parse_integer(text, &number);
        break;
    case CONFIG_SIZE:
        expected = config_parse_size(text, &number);
        break;
    case CONFIG_DURATION:
        expected = config_parse_duration(text, &number);
        break;
    case CONFIG_STRUCT:
    case CONFIG_LIST:
    case CONFIG_MAP:
    case CONFIG_CUSTOM:
        assert(false && "not a scalar");
    }
    if (expected == NULL) {
        memcpy(member, &number, sizeof number);
    }
    return expected;
}

static void format_number(const ConfigKey *key, int64_t number, Buffer *out)
{
    if (key->kind == CONFIG_SIZE) {
        config_format_size(number, out);
    } else if (key->kind == CONFIG_DURATION) {
        config_format_duration(number, out);
    } else {
        buffer_printf(out, "%" PRId64, number);
    }
}

static bool has_bounds(const ConfigKey *key)
{
    bool is_number =
        key->kind == CONFIG_INTEGER || key->kind == CONFIG_SIZE || key->kind == CONFIG_DURATION;
    return is_number && (key->min != 0 || key->max != 0);
}

/* NULL, or "at least 1ms", "from 1 to 100". */
static const char *broken_bounds(const ConfigKey *key, const void *member, Arena *arena)
{
    int64_t number = 0;
    memcpy(&number, member, sizeof number);
    if (number >= key->min && number <= key->max) {
        return NULL;
    }
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, key->max == INT64_MAX ? "at least " : "from ");
    format_number(key, key->min, &text);
    if (key->max != INT64_MAX) {
        buffer_append_cstr(&text, " to ");
        format_number(key, key->max, &text);
    }
    return arena_copy_cstr(arena, buffer_str(&text));
}

static void set_default(ConfigLoader *loader, const ConfigKey *key, void *target)
{
    if (key->kind == CONFIG_STRUCT) {
        config_load_struct(loader, key->schema, NULL, (SourcePlace){0},
                           member_at(target, key->offset));
    } else if (key->default_text != NULL) {
        const char *wrong = convert(key, str_from(key->default_text), loader->arena,
                                    member_at(target, key->offset));
        assert(wrong == NULL);
        (void)wrong;
    }
}

static void report_kind(ConfigLoader *loader, const YamlNode *node, const char *expected)
{
    const char *path = config_path_text(loader);
    config_report(loader,
                  error_at(ERROR_CONFIG_INVALID_VALUE, node->place, "`%s` must be %s, not %s.",
                           path, expected, yaml_node_describe(node)));
}

bool config_read_text(ConfigLoader *loader, const YamlNode *node, Str *ret_text, bool *ret_changed)
{
    if (node->kind != YAML_SCALAR || yaml_node_is_null(node)) {
        report_kind(loader, node, "a single value");
        return false;
    }
    const char *path = config_path_text(loader);
    Str text = STR_NULL;
    Error *error = config_expand(node->text, path, loader->arena, &text);
    if (error != NULL) {
        const TextMap *map = text_map_new(loader->document, node, loader->arena);
        config_report(loader, error_set_place(error, text_map_find(map, error_place(error))));
        return false;
    }
    if (ret_changed != NULL) {
        *ret_changed = text.data != node->text.data;
    }
    *ret_text = text;
    return true;
}

static bool is_scalar_kind(ConfigKind kind)
{
    return kind <= CONFIG_ENUM;
}

static void report_not_yet(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node)
{
    const char *path = config_path_text(loader);
    if (node->kind == YAML_SCALAR && is_scalar_kind(key->kind)) {
        Error *error = error_at(ERROR_NOT_YET, node->place, "%s of `%s` is not supported yet.",
                                shown_value(loader, key, node), path);
        if (key->default_text != NULL) {
            (void)error_set_hint(error, "leave it out, or say `%s`", key->default_text);
        }
        config_report(loader, error);
        return;
    }
    config_report(loader, error_at(ERROR_NOT_YET, node->place, "`%s` is not supported yet.", path));
}

/* Is the value that was read something else than the default? */
static bool differs_from_default(const ConfigKey *key, Str text)
{
    return key->default_text == NULL || !str_equal(text, str_from(key->default_text));
}

static void load_scalar(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node,
                        void *target)
{
    Str text = STR_NULL;
    void *member = member_at(target, key->offset);
    if (!config_read_text(loader, node, &text, NULL)) {
        return;
    }
    if ((key->flags & CONFIG_NOT_EMPTY) != 0 && str_trim(text).size == 0) {
        const char *path = config_path_text(loader);
        config_report(loader, error_at(ERROR_CONFIG_INVALID_VALUE, node->place,
                                       "`%s` must not be empty.", path));
        return;
    }
    const char *wrong = convert(key, text, loader->arena, member);
    if (wrong == NULL && has_bounds(key)) {
        wrong = broken_bounds(key, member, loader->arena);
        if (wrong != NULL) {
            set_default(loader, key, target);
        }
    }
    if (wrong != NULL) {
        const char *path = config_path_text(loader);
        config_report(loader,
                      error_at(ERROR_CONFIG_INVALID_VALUE, node->place, "`%s` must be %s, not %s.",
                               path, wrong, shown_value(loader, key, node)));
        return;
    }
    const ConfigChoice *choice = key->kind == CONFIG_ENUM ? find_choice(key, text) : NULL;
    if ((choice != NULL && choice->not_yet) ||
        ((key->flags & CONFIG_NOT_YET) != 0 && differs_from_default(key, text))) {
        report_not_yet(loader, key, node);
    }
}

/* ---- Lists and maps ---- */

static void load_value(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node,
                       void *target);

static void load_element(ConfigLoader *loader, const ConfigSchema *schema, const YamlNode *node,
                         void *element)
{
    size_t errors = loader->error_count;
    if (schema->key_count == 1 && schema->keys[0].name == NULL) {
        set_default(loader, &schema->keys[0], element);
        load_value(loader, &schema->keys[0], node, element);
    } else {
        config_load_struct(loader, schema, node, node->place, element);
    }
    if (schema->broken_offset != 0) {
        bool broken = loader->error_count > errors;
        memcpy(member_at(element, schema->broken_offset), &broken, sizeof broken);
    }
}

static void set_elements(const ConfigKey *key, void *target, void *elements, size_t count)
{
    memcpy(member_at(target, key->offset), &elements, sizeof elements);
    memcpy(member_at(target, key->count_offset), &count, sizeof count);
}

static void load_list(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node,
                      void *target)
{
    bool alone = (key->flags & CONFIG_ONE_OR_LIST) != 0 && node->kind != YAML_SEQUENCE &&
                 !yaml_node_is_null(node);
    if (!alone && node->kind != YAML_SEQUENCE) {
        report_kind(loader, node, "a list");
        return;
    }
    size_t count = alone ? 1 : node->count;
    if (count == 0 && (key->flags & CONFIG_NOT_EMPTY) != 0) {
        const char *path = config_path_text(loader);
        config_report(loader, error_at(ERROR_CONFIG_INVALID_VALUE, node->place,
                                       "`%s` must not be empty.", path));
        return;
    }
    char *elements = arena_alloc_zero(loader->arena, count * key->schema->size);
    for (size_t i = 0; i < count; i++) {
        ConfigPath path = {loader->path, STR_NULL, i, node->place};
        path.place = alone ? node->place : node->items[i]->place;
        loader->path = alone ? loader->path : &path;
        load_element(loader, key->schema, alone ? node : node->items[i],
                     elements + i * key->schema->size);
        loader->path = alone ? loader->path : path.parent;
    }
    set_elements(key, target, elements, count);
}

static void load_map(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node, void *target)
{
    if (node->kind != YAML_MAPPING) {
        report_kind(loader, node, "a mapping");
        return;
    }
    char *elements = arena_alloc_zero(loader->arena, node->count * key->schema->size);
    for (size_t i = 0; i < node->count; i++) {
        const YamlEntry *entry = &node->entries[i];
        char *element = elements + i * key->schema->size;
        ConfigPath path = {loader->path, entry->key, 0, entry->key_place};
        loader->path = &path;
        memcpy(element, &entry->key, sizeof entry->key);
        memcpy(element + key->schema->name_place_offset, &entry->key_place,
               sizeof entry->key_place);
        if (entry->key.size == 0) {
            config_report(loader, error_at(ERROR_CONFIG_INVALID_VALUE, entry->key_place,
                                           "A name in `%s` is empty.", config_path_text(loader)));
        }
        load_element(loader, key->schema, entry->value, element);
        loader->path = path.parent;
    }
    set_elements(key, target, elements, node->count);
}

static void load_value(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node,
                       void *target)
{
    set_place(key, target, node->place);
    bool is_set = node->kind == YAML_SCALAR || node->count > 0;
    switch (key->kind) {
    case CONFIG_TEXT:
    case CONFIG_BOOL:
    case CONFIG_INTEGER:
    case CONFIG_SIZE:
    case CONFIG_DURATION:
    case CONFIG_ENUM:
        load_scalar(loader, key, node, target);
        return;
    case CONFIG_STRUCT:
        config_load_struct(loader, key->schema, node, node->place, member_at(target, key->offset));
        break;
    case CONFIG_LIST:
        load_list(loader, key, node, target);
        break;
    case CONFIG_MAP:
        load_map(loader, key, node, target);
        break;
    case CONFIG_CUSTOM:
        key->load(loader, key, node, member_at(target, key->offset));
        break;
    }
    if ((key->flags & CONFIG_NOT_YET) != 0 && is_set) {
        report_not_yet(loader, key, node);
    }
}

/* ---- Mappings with known keys ---- */

static const ConfigKey *find_key(const ConfigSchema *schema, Str name)
{
    for (size_t i = 0; i < schema->key_count; i++) {
        if (str_equal(name, str_from(schema->keys[i].name))) {
            return &schema->keys[i];
        }
    }
    return NULL;
}

/* "kafka.bootstrap" for `bootstrap` at the root: right word, wrong level. */
static const char *find_deeper(const ConfigSchema *schema, Str name, Arena *arena)
{
    for (size_t i = 0; i < schema->key_count; i++) {
        const ConfigKey *key = &schema->keys[i];
        if (key->kind == CONFIG_STRUCT && find_key(key->schema, name) != NULL) {
            return arena_printf(arena, "%s.%.*s", key->name, STR_ARG(name));
        }
    }
    return NULL;
}

static const char *list_keys(const ConfigSchema *schema, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < schema->key_count; i++) {
        buffer_printf(&text, "%s%s", i == 0 ? "" : ", ", schema->keys[i].name);
    }
    return arena_copy_cstr(arena, buffer_str(&text));
}

static Error *unknown_key_hint(Error *error, const ConfigSchema *schema, Str name, Arena *arena)
{
    const char **names = arena_new_array(arena, const char *, schema->key_count);
    for (size_t i = 0; i < schema->key_count; i++) {
        names[i] = schema->keys[i].name;
    }
    const char *nearest = config_nearest(name, names, schema->key_count);
    if (nearest != NULL) {
        return error_set_hint(error, "did you mean `%s`?", nearest);
    }
    const char *deeper = find_deeper(schema, name, arena);
    if (deeper != NULL) {
        return error_set_hint(error, "did you mean `%s`?", deeper);
    }
    return error_set_hint(error, "known keys: %s", list_keys(schema, arena));
}

/* The line is shown up to the key only: who knows what its value is. */
static void report_unknown_key(ConfigLoader *loader, const ConfigSchema *schema,
                               const YamlEntry *entry)
{
    if (loader->diagnostics->count >= YAML_REPORTS_MAX) {
        loader->error_count++; /* not worth a hint that nobody sees */
        return;
    }
    ConfigPath path = {loader->path, entry->key, 0, entry->key_place};
    loader->path = &path;
    Error *error = error_at(ERROR_CONFIG_UNKNOWN_KEY, entry->key_place, "There is no key `%s`.",
                            config_path_text(loader));
    loader->path = path.parent;
    (void)unknown_key_hint(error, schema, entry->key, loader->arena);
    int line = entry->key_place.line;
    if (entry->value->place.line == line && yaml_document_may_show(loader->document, line, line)) {
        (void)error_set_source(error, (Str){loader->document->text.data, entry->value->begin});
    }
    config_report(loader, error);
}

static void report_missing_key(ConfigLoader *loader, const ConfigKey *key, SourcePlace place)
{
    ConfigPath path = {loader->path, str_from(key->name), 0, place};
    loader->path = &path;
    config_report(loader, error_at(ERROR_CONFIG_MISSING_KEY, place, "`%s` is required.",
                                   config_path_text(loader)));
    loader->path = path.parent;
}

static void load_key(ConfigLoader *loader, const ConfigKey *key, const YamlEntry *entry,
                     SourcePlace place, void *target)
{
    set_default(loader, key, target);
    bool required = (key->flags & CONFIG_REQUIRED) != 0;
    if (entry == NULL) {
        if (required && place.line > 0) {
            report_missing_key(loader, key, loader->path == NULL ? place : loader->path->place);
        }
        return;
    }
    if (yaml_node_is_null(entry->value) && !required) {
        return;
    }
    ConfigPath path = {loader->path, entry->key, 0, entry->key_place};
    loader->path = &path;
    load_value(loader, key, entry->value, target);
    loader->path = path.parent;
}

/* node NULL: defaults only. `place` is where a missing key is reported; line 0: not at all. */
void config_load_struct(ConfigLoader *loader, const ConfigSchema *schema, const YamlNode *node,
                        SourcePlace place, void *target)
{
    if (node != NULL && node->kind != YAML_MAPPING) {
        if (loader->path == NULL) {
            config_report(loader, error_at(ERROR_CONFIG_INVALID_VALUE, node->place,
                                           "The file must hold a mapping (`key: value`), not %s.",
                                           yaml_node_describe(node)));
        } else {
            report_kind(loader, node, "a mapping");
        }
        node = NULL;
        place.line = 0;
    }
    for (size_t i = 0; i < schema->key_count; i++) {
        const YamlEntry *found = NULL;
        for (size_t e = 0; node != NULL && e < node->count && found == NULL; e++) {
            bool same = str_equal(node->entries[e].key, str_from(schema->keys[i].name));
            found = same ? &node->entries[e] : NULL;
        }
        load_key(loader, &schema->keys[i], found, place, target);
    }
    for (size_t e = 0; node != NULL && e < node->count; e++) {
        if (find_key(schema, node->entries[e].key) == NULL) {
            report_unknown_key(loader, schema, &node->entries[e]);
        }
    }
}

void config_load(ConfigLoader *loader, const ConfigSchema *schema, void *target)
{
    config_load_struct(loader, schema, loader->document->root, loader->document->root->place,
                       target);
}
