/* cJSON behind json_tree.h. cJSON is lenient (trailing text, raw control characters, invalid UTF-8,
 * loose numbers) and ends strings at U+0000, so the text is checked by our own scanner first. */
#include "connectors/format/json_tree.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "connectors/format/json_scan.h"

#include "processor/base/banned.h"

static const cJSON *item(const JsonTree *node)
{
    return (const cJSON *)(const void *)node;
}

static const JsonTree *tree(const cJSON *node)
{
    return (const JsonTree *)(const void *)node;
}

static Error *bad_text(const JsonScan *scan)
{
    return error_new(ERROR_MALFORMED_RECORD, "byte %zu: %s",
                     (size_t)(scan->problem_at - scan->begin) + 1, scan->problem);
}

/* Escaped U+0000 cannot be told from the end of a string. `text` is JSON, so a backslash is the
 * first of an escape unless it is the second. */
static const char *find_nul_escape(Str text)
{
    for (size_t i = 0; i + 1 < text.size; i++) {
        if (text.data[i] == '\\') {
            Str rest = {text.data + i, text.size - i};
            if (str_starts_with(rest, STR("\\u0000"))) {
                return text.data + i;
            }
            i++;
        }
    }
    return NULL;
}

static void release(void *root)
{
    cJSON_Delete(root);
}

Error *json_tree_parse(Str text, Arena *arena, const JsonTree **ret_root)
{
    JsonScan scan = json_scan_text(text);
    json_skip_space(&scan);
    const char *first = scan.at;
    if (!json_skip_value(&scan, 0) || !json_scan_end(&scan)) {
        return bad_text(&scan);
    }
    const char *nul = find_nul_escape((Str){first, (size_t)(scan.end - first)});
    if (nul != NULL) {
        (void)json_problem(&scan, nul, "U+0000 cannot be part of a string here");
        return bad_text(&scan);
    }
    cJSON *root = cJSON_ParseWithLength(first, (size_t)(scan.end - first));
    if (root == NULL) { /* NaN and the infinities, which the scanner lets pass */
        (void)json_problem(&scan, first, "the text is not JSON");
        return bad_text(&scan);
    }
    arena_on_reset(arena, release, root);
    *ret_root = tree(root);
    return NULL;
}

JsonKind json_tree_kind(const JsonTree *node)
{
    const cJSON *n = item(node);
    if (cJSON_IsBool(n)) {
        return JSON_BOOL;
    }
    if (cJSON_IsNumber(n)) {
        return JSON_NUMBER;
    }
    if (cJSON_IsString(n)) {
        return JSON_STRING;
    }
    if (cJSON_IsArray(n)) {
        return JSON_ARRAY;
    }
    return cJSON_IsObject(n) ? JSON_OBJECT : JSON_NULL;
}

/* Of two members of the same name the last counts, as everywhere. */
const JsonTree *json_tree_get(const JsonTree *node, const char *name)
{
    const cJSON *found = NULL;
    const cJSON *member = NULL;
    if (cJSON_IsObject(item(node))) {
        cJSON_ArrayForEach(member, item(node))
        {
            if (str_equal(str_from(member->string), str_from(name))) {
                found = member;
            }
        }
    }
    return tree(found);
}

const JsonTree *json_tree_at(const JsonTree *node, size_t index)
{
    const cJSON *element = NULL;
    if (cJSON_IsArray(item(node))) {
        cJSON_ArrayForEach(element, item(node))
        {
            if (index-- == 0) {
                return tree(element);
            }
        }
    }
    return NULL;
}

size_t json_tree_size(const JsonTree *node)
{
    const cJSON *n = item(node);
    return cJSON_IsArray(n) || cJSON_IsObject(n) ? (size_t)cJSON_GetArraySize(n) : 0;
}

const JsonTree *json_tree_member(const JsonTree *node, size_t index, Str *ret_name)
{
    const cJSON *member = NULL;
    if (cJSON_IsObject(item(node))) {
        cJSON_ArrayForEach(member, item(node))
        {
            if (index-- == 0) {
                *ret_name = str_from(member->string);
                return tree(member);
            }
        }
    }
    return NULL;
}

Str json_tree_str(const JsonTree *node, Str otherwise)
{
    const cJSON *n = item(node);
    return cJSON_IsString(n) ? str_from(n->valuestring) : otherwise;
}

/* Whole numbers only; those that no int64_t holds count as another kind. */
int64_t json_tree_int(const JsonTree *node, int64_t otherwise)
{
    double value = json_tree_double(node, (double)NAN);
    bool fits = value >= -0x1p63 && value < 0x1p63 && value == trunc(value);
    return fits ? (int64_t)value : otherwise;
}

double json_tree_double(const JsonTree *node, double otherwise)
{
    const cJSON *n = item(node);
    return cJSON_IsNumber(n) ? n->valuedouble : otherwise;
}

bool json_tree_bool(const JsonTree *node, bool otherwise)
{
    const cJSON *n = item(node);
    return cJSON_IsBool(n) ? cJSON_IsTrue(n) != 0 : otherwise;
}
