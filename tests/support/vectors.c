/* Reader of the flat vector files: lines "key value", a block begins with "== id", the text of a
 * vector follows "text", two blanks before each line, and ends with ".". */
#include "tests/support/vectors.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "processor/base/buffer.h"

#include "processor/base/banned.h"

/* `items` grown so that one more fits; the arena keeps the old ones. */
static void *grow(Arena *arena, void *items, size_t count, size_t size)
{
    if (count != 0 && (count & (count - 1)) != 0) {
        return items;
    }
    size_t capacity = count == 0 ? 1 : count * 2;
    void *larger = arena_alloc_zero(arena, capacity * size);
    if (count > 0) {
        memcpy(larger, items, count * size);
    }
    return larger;
}

typedef struct Reader {
    Arena *arena;
    VectorSet *set;
    Str file;
    Str rest;
    TestVector *vector;
    VectorRelation *relation;
    Str id;
} Reader;

static Str next_line(Reader *reader)
{
    return str_cut(&reader->rest, '\n');
}

static Str read_text(Reader *reader)
{
    AUTO_BUFFER Buffer text = {0};
    for (bool first = true; reader->rest.data != NULL; first = false) {
        Str line = next_line(reader);
        if (str_equal(line, STR("."))) {
            break;
        }
        if (!first) {
            buffer_append_byte(&text, '\n');
        }
        if (line.size > 2) {
            buffer_append(&text, line.data + 2, line.size - 2);
        }
    }
    return arena_copy_str(reader->arena, buffer_str(&text));
}

static VectorKind kind_of(Str word)
{
    if (str_equal(word, STR("expr"))) {
        return VECTOR_EXPR;
    }
    if (str_equal(word, STR("python"))) {
        return VECTOR_PYTHON;
    }
    return str_equal(word, STR("json")) ? VECTOR_JSON : VECTOR_SQL;
}

static VectorStage stage_of(Str word)
{
    if (str_equal(word, STR("parse"))) {
        return VECTOR_STAGE_PARSE;
    }
    return str_equal(word, STR("analyze")) ? VECTOR_STAGE_ANALYZE : VECTOR_STAGE_RUN;
}

static void start_block(Reader *reader, Str kind)
{
    VectorSet *set = reader->set;
    reader->vector = NULL;
    reader->relation = NULL;
    if (str_equal(kind, STR("relation"))) {
        set->relations =
            grow(reader->arena, set->relations, set->relation_count, sizeof(VectorRelation));
        reader->relation = &set->relations[set->relation_count++];
        reader->relation->name = reader->id;
        return;
    }
    set->items = grow(reader->arena, set->items, set->count, sizeof(TestVector));
    reader->vector = &set->items[set->count++];
    *reader->vector =
        (TestVector){.id = reader->id, .file = reader->file, .kind = kind_of(kind), .accept = true};
}

static void read_relation_line(Reader *reader, Str key, Str value)
{
    VectorRelation *relation = reader->relation;
    if (str_equal(key, STR("relation"))) {
        relation->kind = value;
    } else if (str_equal(key, STR("owner"))) {
        relation->owner = value;
    } else if (str_equal(key, STR("column"))) {
        relation->columns =
            grow(reader->arena, relation->columns, relation->column_count, sizeof(VectorColumn));
        Str name = str_cut(&value, '=');
        relation->columns[relation->column_count++] = (VectorColumn){name, value};
    }
}

static void read_vector_line(Reader *reader, Str key, Str value)
{
    TestVector *vector = reader->vector;
    if (str_equal(key, STR("expect"))) {
        Str verdict = str_cut(&value, ' ');
        vector->accept = str_equal(verdict, STR("accept"));
        vector->reason = value;
    } else if (str_equal(key, STR("stage"))) {
        vector->stage = stage_of(value);
    } else if (str_equal(key, STR("error"))) {
        vector->error = value;
    } else if (str_equal(key, STR("context"))) {
        vector->context = value;
    } else if (str_equal(key, STR("parse_only"))) {
        vector->parse_only = true;
    } else if (str_equal(key, STR("session"))) {
        vector->settings =
            grow(reader->arena, vector->settings, vector->setting_count, sizeof(VectorSetting));
        Str path = str_cut(&value, '=');
        vector->settings[vector->setting_count++] =
            (VectorSetting){path, str_equal(value, STR("~")) ? STR_NULL : value};
    } else if (str_equal(key, STR("text"))) {
        vector->text = read_text(reader);
    }
}

static void read_line(Reader *reader)
{
    Str value = next_line(reader);
    Str key = str_cut(&value, ' ');
    if (str_equal(key, STR("=="))) {
        reader->id = value;
    } else if (str_equal(key, STR("kind"))) {
        start_block(reader, value);
    } else if (reader->relation != NULL) {
        read_relation_line(reader, key, value);
    } else if (reader->vector != NULL) {
        read_vector_line(reader, key, value);
    }
}

static Error *read_whole_file(const char *path, Arena *arena, Str *ret_text)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return error_new(ERROR_FILE_NOT_READABLE, "Cannot open %s.", path);
    }
    AUTO_BUFFER Buffer text = {0};
    char block[8192];
    for (size_t size = 0; (size = fread(block, 1, sizeof block, file)) > 0;) {
        buffer_append(&text, block, size);
    }
    (void)fclose(file);
    *ret_text = arena_copy_str(arena, buffer_str(&text));
    return NULL;
}

Error *vectors_read_file(const char *folder, const char *file_name, Arena *arena, VectorSet *set)
{
    Reader reader = {.arena = arena, .set = set};
    TRY(read_whole_file(arena_printf(arena, "%s/%s", folder, file_name), arena, &reader.rest));
    Str stem = arena_copy_str(arena, str_from(file_name));
    reader.file = str_ends_with(stem, STR(".txt")) ? (Str){stem.data, stem.size - 4} : stem;
    while (reader.rest.data != NULL) {
        read_line(&reader);
    }
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

Error *vectors_read(const char *folder, Arena *arena, VectorSet *set)
{
    DIR *directory = opendir(folder);
    if (directory == NULL) {
        return error_new(ERROR_FILE_NOT_READABLE, "Cannot open the folder %s.", folder);
    }
    const char **names = NULL;
    size_t count = 0;
    for (const struct dirent *entry = NULL; (entry = readdir(directory)) != NULL;) {
        Str name = str_from(entry->d_name);
        if (str_ends_with(name, STR(".txt"))) {
            names = grow(arena, names, count, sizeof *names);
            names[count++] = arena_copy_cstr(arena, name);
        }
    }
    (void)closedir(directory);
    if (count > 0) {
        qsort(names, count, sizeof *names, compare_names);
    }
    for (size_t i = 0; i < count; i++) {
        TRY(vectors_read_file(folder, names[i], arena, set));
    }
    return NULL;
}

const VectorSetting *vector_setting(const TestVector *vector, const char *path)
{
    for (size_t i = 0; i < vector->setting_count; i++) {
        if (str_equal(vector->settings[i].path, str_from(path))) {
            return &vector->settings[i];
        }
    }
    return NULL;
}

const TestVector *vectors_find(const VectorSet *set, const char *id)
{
    for (size_t i = 0; i < set->count; i++) {
        if (str_equal(set->items[i].id, str_from(id))) {
            return &set->items[i];
        }
    }
    return NULL;
}
