/* Events that must have appeared, matched in part:
 *
 *     events: [{event_type: warning, details: {warning: {code: NULL_SEQUENCE, rows: 2}}},
 *              {absent: {event_type: warning, details: {warning: {code: SOURCE_DATA_LOST}}}}]
 *
 * A mapping matches an object that has its members, a list an array that has its elements (in any
 * order), a scalar a value of the same text or number. `absent`: no event may match. Under --split
 * an update tells its numbers in pieces: then any number matches a number. */
#include <stdio.h>

#include "connectors/format/json_tree.h"
#include "processor/base/memory.h"
#include "processor/run/topic_reader.h"
#include "processor/testing/step.h"

#include "processor/base/banned.h"

enum { DEPTH_MAX = 32, NUMBER_BYTES = 40 };

typedef struct EventList {
    const JsonTree **events;
    size_t count;
    size_t capacity;
} EventList;

/* -------------------------------------------------------------------------------- matching ---- */

typedef struct Matching {
    bool any_number;
} Matching;

static bool number_matches(const YamlNode *expected, const JsonTree *actual)
{
    int64_t whole = 0;
    if (str_to_int64(expected->text, &whole)) {
        return json_tree_int(actual, whole == 0 ? 1 : 0) == whole;
    }
    char text[NUMBER_BYTES];
    int size = snprintf(text, sizeof text, "%g", json_tree_double(actual, 0));
    return str_equal(expected->text, (Str){text, (size_t)size});
}

static bool scalar_matches(const Matching *matching, const YamlNode *expected,
                           const JsonTree *actual)
{
    switch (json_tree_kind(actual)) {
    case JSON_NULL:
        return yaml_node_is_null(expected);
    case JSON_BOOL:
        return str_equal(expected->text,
                         json_tree_bool(actual, false) ? STR("true") : STR("false"));
    case JSON_NUMBER:
        return matching->any_number || number_matches(expected, actual);
    case JSON_STRING:
        return str_equal(expected->text, json_tree_str(actual, STR_NULL));
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return false;
}

static bool matches(const Matching *matching, const YamlNode *expected, const JsonTree *actual,
                    int depth);

static bool list_matches(const Matching *matching, const YamlNode *expected, const JsonTree *actual,
                         int depth)
{
    for (size_t i = 0; i < expected->count; i++) {
        bool found = false;
        for (size_t k = 0; k < json_tree_size(actual) && !found; k++) {
            found = matches(matching, expected->items[i], json_tree_at(actual, k), depth + 1);
        }
        if (!found) {
            return false;
        }
    }
    return json_tree_kind(actual) == JSON_ARRAY;
}

static bool mapping_matches(const Matching *matching, const YamlNode *expected,
                            const JsonTree *actual, int depth)
{
    for (size_t i = 0; i < expected->count; i++) {
        /* Keys of a YamlNode have a NUL behind them. */
        const JsonTree *member = json_tree_get(actual, expected->entries[i].key.data);
        if (member == NULL || !matches(matching, expected->entries[i].value, member, depth + 1)) {
            return false;
        }
    }
    return json_tree_kind(actual) == JSON_OBJECT;
}

static bool matches(const Matching *matching, const YamlNode *expected, const JsonTree *actual,
                    int depth)
{
    if (actual == NULL || depth > DEPTH_MAX) {
        return false;
    }
    switch (expected->kind) {
    case YAML_SCALAR:
        return scalar_matches(matching, expected, actual);
    case YAML_SEQUENCE:
        return list_matches(matching, expected, actual, depth);
    case YAML_MAPPING:
        return mapping_matches(matching, expected, actual, depth);
    }
    return false;
}

/* --------------------------------------------------------------------------------- reading ---- */

static Error *read_records(TopicReader *reader, Arena *arena, EventList *list)
{
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(reader, WORLD_TIMEOUT_MS, arena, &records, &count));
        if (count == 0) {
            return NULL;
        }
        for (size_t i = 0; i < count; i++) {
            mem_reserve(list->events, &list->capacity, list->count + 1);
            TRY(json_tree_parse(records[i].value, arena, &list->events[list->count]));
            list->count++;
        }
    }
}

static Error *read_events(World *world, Arena *arena, EventList *list)
{
    const Program *program = implicit_program(world->program);
    const char *topic = arena_printf(arena, "%.*s.event_log", STR_ARG(program->topology->pipeline));
    int64_t start = 0;
    int64_t end = 0;
    TRY(topic_settled_range(world->log, topic, 0, WORLD_TIMEOUT_MS, &start, &end));
    AUTO(topic_reader) TopicReader *reader = NULL;
    TRY(topic_reader_open(world->log, topic, 1, &start, &end, &reader));
    return read_records(reader, arena, list);
}

/* ------------------------------------------------------------------------------------ step ---- */

static Error *check_event(const Matching *matching, const YamlNode *expected, const EventList *list)
{
    const YamlNode *absent =
        expected->kind == YAML_MAPPING ? yaml_node_get(expected, STR("absent")) : NULL;
    const YamlNode *pattern = absent == NULL ? expected : absent;
    bool found = false;
    for (size_t i = 0; i < list->count && !found; i++) {
        found = matches(matching, pattern, list->events[i], 0);
    }
    if (found == (absent == NULL)) {
        return NULL;
    }
    return error_at(ERROR_TEST_FAILED, expected->place,
                    found ? "line %d: there is such an event." : "line %d: there is no such event.",
                    expected->place.line);
}

Error *step_events(World *world, const ScenarioStep *step)
{
    if (step->body->kind != YAML_SEQUENCE) {
        return error_at(ERROR_SCENARIO_INVALID, step->body->place, "`events` is a list of events.");
    }
    if (world->program == NULL) {
        return error_at(ERROR_SCENARIO_INVALID, step->body->place,
                        "No statement so far creates a table.");
    }
    if (world->crashed) {
        return NULL; /* the process died with what it had not told */
    }
    AUTO(arena) Arena *arena = arena_new("events");
    EventList list = {0};
    Matching matching = {.any_number = world->options->split != 0};
    Error *error = read_events(world, arena, &list);
    for (size_t i = 0; i < step->body->count && error == NULL; i++) {
        error = check_event(&matching, step->body->items[i], &list);
    }
    mem_free(list.events);
    return error;
}
