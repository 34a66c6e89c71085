/* Maps. The names of an object are read as string values of the key's type would be, so any type
 * written as JSON text can be a name. A key that comes twice counts once, with its last value. */
#include "connectors/format/json_map.h"

#include "processor/data/key_encoding.h"

#include "processor/base/banned.h"

/* Stands where a name must be. */
static ReadResult read_entry(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    JsonScan *scan = &reader->scan;
    const char *at = scan->at;
    if (json_peek(scan) != '"') {
        json_problem(scan, at, "a field name in quotes is expected");
        return json_broken(reader, node);
    }
    Str name = STR_NULL;
    if (json_read_text(reader, node, &name) != READ_OK) {
        return READ_BROKEN;
    }
    if (!json_scan_colon(scan)) {
        return json_broken(reader, node);
    }
    ReadResult result =
        json_read_text_value(reader, &node->children[0], name, at, vector->children[0]);
    return result != READ_OK ? result
                             : json_read_value(reader, &node->children[1], vector->children[1]);
}

/* Behind an entry: passes the comma or the brace. */
static ReadResult next_entry(JsonReader *reader, const ValueNode *node, bool *ret_more)
{
    JsonScan *scan = &reader->scan;
    json_skip_space(scan);
    char c = json_peek(scan);
    if (c != ',' && c != '}') {
        json_problem(scan, scan->at, "a comma or a closing brace is expected");
        return json_broken(reader, node);
    }
    scan->at++;
    *ret_more = c == ',';
    if (*ret_more) {
        json_skip_space(scan);
    }
    return READ_OK;
}

static ReadResult read_object_form(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    JsonScan *scan = &reader->scan;
    if (reader->depth >= JSON_DEPTH_MAX) {
        json_problem(scan, scan->at, "arrays and objects are nested too deeply");
        return json_broken(reader, node);
    }
    scan->at++;
    json_skip_space(scan);
    bool more = json_peek(scan) != '}';
    scan->at += !more;
    reader->depth++;
    ReadResult result = READ_OK;
    while (result == READ_OK && more) {
        result = read_entry(reader, node, vector);
        if (result == READ_OK) {
            result = next_entry(reader, node, &more);
        }
    }
    reader->depth--;
    return result;
}

static ReadResult wrong_pair(JsonReader *reader, const ValueNode *node, const char *at)
{
    return json_misfit(reader, node, at, "an entry of the map must be a list [key, value]");
}

static ReadResult read_pair(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    const char *at = reader->scan.at;
    if (json_peek(&reader->scan) != '[') {
        return wrong_pair(reader, node, at);
    }
    bool more = false;
    for (int part = 0; part < 2; part++) {
        ReadResult result = part == 0 ? json_open_array(reader, node, &more)
                                      : json_next_element(reader, node, &more);
        if (result != READ_OK) {
            return result;
        }
        if (!more) {
            return wrong_pair(reader, node, at);
        }
        if (part == 0 && json_peek(&reader->scan) == 'n') {
            return json_misfit(reader, node, at, "a key of a map cannot be null");
        }
        result = json_read_value(reader, &node->children[part], vector->children[part]);
        if (result != READ_OK) {
            return result;
        }
    }
    ReadResult result = json_next_element(reader, node, &more);
    return result == READ_OK && more ? wrong_pair(reader, node, at) : result;
}

static ReadResult read_list_form(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    bool more = false;
    ReadResult result = json_open_array(reader, node, &more);
    while (result == READ_OK && more) {
        result = read_pair(reader, node, vector);
        if (result == READ_OK) {
            result = json_next_element(reader, node, &more);
        }
    }
    return result;
}

enum { FEW_ENTRIES = 8 };

static bool few_have_duplicate(const Vector *keys, uint32_t begin)
{
    for (uint32_t i = begin; i < keys->length; i++) {
        for (uint32_t k = begin; k < i; k++) {
            if (vector_value_equal(keys, i, keys, k)) {
                return true;
            }
        }
    }
    return false;
}

/* Encodes the keys one behind the other, entry i ending at ends[i]; `last` maps each to the `ends`
 * of its last entry. */
static void find_last_of_each_key(const Vector *keys, uint32_t begin, Map *last, Buffer *encoded,
                                  size_t *ends)
{
    uint32_t count = keys->length - begin;
    for (uint32_t i = 0; i < count; i++) {
        key_encode_value(keys, begin + i, encoded);
        ends[i] = encoded->size;
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t from = i == 0 ? 0 : ends[i - 1];
        map_put(last, (Str){encoded->data + from, ends[i] - from}, &ends[i]);
    }
}

/* Puts copies of the chosen entries in the place of the entries begin … of the map. */
static void keep_entries(Vector *vector, Arena *arena, uint32_t begin, const Vector *keys,
                         const Vector *values)
{
    vector_truncate(vector->children[0], begin);
    vector_truncate(vector->children[1], begin);
    for (uint32_t i = 0; i < keys->length; i++) {
        vector_append_from(vector->children[0], arena, keys, i);
        vector_append_from(vector->children[1], arena, values, i);
    }
}

/* Removes the entries whose key comes again later. */
static void keep_last_of_each_key(Vector *vector, Arena *arena, uint32_t begin)
{
    const Vector *keys = vector->children[0];
    const Vector *values = vector->children[1];
    uint32_t count = keys->length - begin;
    AUTO_BUFFER Buffer encoded = {0};
    size_t *ends = arena_new_array(arena, size_t, count);
    Map last = {0};
    find_last_of_each_key(keys, begin, &last, &encoded, ends);
    if (last.count < count) {
        Vector *kept_keys = vector_new(arena, keys->type, (uint32_t)last.count);
        Vector *kept_values = vector_new(arena, values->type, (uint32_t)last.count);
        for (uint32_t i = 0; i < count; i++) {
            size_t from = i == 0 ? 0 : ends[i - 1];
            if (map_get(&last, (Str){encoded.data + from, ends[i] - from}) == &ends[i]) {
                vector_append_from(kept_keys, arena, keys, begin + i);
                vector_append_from(kept_values, arena, values, begin + i);
            }
        }
        keep_entries(vector, arena, begin, kept_keys, kept_values);
    }
    map_done(&last);
}

ReadResult json_read_map(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    Vector *keys = vector->children[0];
    uint32_t begin = keys->length;
    char first = *reader->scan.at;
    if (first != '{' && first != '[') {
        return json_misfit(reader, node, reader->scan.at,
                           "a map is an object or a list of pairs [key, value]");
    }
    ReadResult result = first == '{' ? read_object_form(reader, node, vector)
                                     : read_list_form(reader, node, vector);
    if (result != READ_OK) {
        return result;
    }
    uint32_t count = keys->length - begin;
    if (count > FEW_ENTRIES || few_have_duplicate(keys, begin)) {
        keep_last_of_each_key(vector, reader->arena, begin);
    }
    vector_finish_list(vector, reader->arena);
    return READ_OK;
}
