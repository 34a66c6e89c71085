/* Reading scenarios. */
#include "processor/testing/scenario.h"

#include "processor/bind/bind.h"
#include "processor/sql/parser.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

enum { PARTITIONS_MAX = 1000 };

typedef struct StepWord {
    const char *word;
    const char *beside;
} StepWord;

static const StepWord step_words[] = {
#define STEP(constant, word, function, beside) {word, beside},
    SCENARIO_STEPS(STEP)
#undef STEP
};

bool step_looks_back(StepKind kind)
{
    return kind == STEP_FAILS || kind == STEP_QUALITY || kind == STEP_PLANNING ||
           kind == STEP_EVENTS;
}

static Error *unknown_key(const YamlEntry *entry, const char *where)
{
    return error_at(ERROR_SCENARIO_INVALID, entry->key_place, "%s does not know `%.*s`.", where,
                    STR_ARG(entry->key));
}

static Error *need_kind(const YamlNode *node, YamlKind kind, const char *what)
{
    if (node->kind == kind) {
        return NULL;
    }
    return error_at(ERROR_SCENARIO_INVALID, node->place, "%s cannot be %s.", what,
                    yaml_node_describe(node));
}

/* ------------------------------------------------------------------------------- relations ---- */

/* A list is joined: [a INT, b DECIMAL(10,2)] was cut at every comma by YAML. */
static Error *join_columns(const YamlNode *node, Arena *arena, Str *ret_columns)
{
    if (node->kind == YAML_SCALAR) {
        *ret_columns = node->text;
        return NULL;
    }
    TRY(need_kind(node, YAML_SEQUENCE, "`columns`"));
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < node->count; i++) {
        TRY(need_kind(node->items[i], YAML_SCALAR, "A column"));
        if (i > 0) {
            buffer_append_byte(&text, ',');
        }
        buffer_append_str(&text, node->items[i]->text);
    }
    *ret_columns = arena_copy_str(arena, buffer_str(&text));
    return NULL;
}

static Error *load_schema(ScenarioRelation *relation, Arena *arena)
{
    const YamlNode *node = yaml_node_get(relation->node, STR("columns"));
    if (node == NULL) {
        return error_at(ERROR_SCENARIO_INVALID, relation->place, "Relation `%.*s` has no columns.",
                        STR_ARG(relation->name));
    }
    TRY(join_columns(node, arena, &relation->columns));
    AstColumnDefinition *columns = NULL;
    size_t count = 0;
    Error *error = sql_parse_column_definitions(relation->columns, arena, &columns, &count);
    if (error == NULL) {
        error = bind_schema(arena, columns, count, &relation->schema);
    }
    return error == NULL ? NULL : error_set_place(error, node->place);
}

static Error *load_key_column(ScenarioRelation *relation, const YamlNode *node)
{
    TRY(need_kind(node, YAML_SCALAR, "A key column"));
    int column = schema_find(relation->schema, node->text);
    if (column < 0) {
        return error_at(ERROR_SCENARIO_INVALID, node->place,
                        "Relation `%.*s` has no column `%.*s`.", STR_ARG(relation->name),
                        STR_ARG(node->text));
    }
    relation->keys[relation->key_count++] = (uint32_t)column;
    return NULL;
}

static Error *load_key(ScenarioRelation *relation, Arena *arena)
{
    const YamlNode *node = yaml_node_get(relation->node, STR("key"));
    relation->keys = arena_new_array(arena, uint32_t, node == NULL ? 0 : node->count + 1);
    if (node != NULL && node->kind == YAML_SCALAR) {
        return load_key_column(relation, node);
    }
    if (node != NULL) {
        TRY(need_kind(node, YAML_SEQUENCE, "`key`"));
        for (size_t i = 0; i < node->count; i++) {
            TRY(load_key_column(relation, node->items[i]));
        }
    }
    if (relation->is_table && relation->key_count == 0) {
        return error_at(ERROR_SCENARIO_INVALID, relation->place,
                        "Relation `%.*s` is a table: it needs a key.", STR_ARG(relation->name));
    }
    return NULL;
}

static Error *load_relation(const YamlEntry *entry, Arena *arena, ScenarioRelation *relation)
{
    relation->name = entry->key;
    relation->place = entry->key_place;
    relation->node = entry->value;
    TRY(need_kind(entry->value, YAML_MAPPING, "A relation"));
    Str kind = STR_NULL;
    TRY(yaml_text(yaml_node_get(entry->value, STR("kind")), "kind", STR("stream"), &kind));
    relation->is_table = str_equal(kind, STR("table"));
    if (!relation->is_table && !str_equal(kind, STR("stream"))) {
        return error_at(ERROR_SCENARIO_INVALID, relation->place,
                        "`kind` is stream or table, not `%.*s`.", STR_ARG(kind));
    }
    int64_t partitions = 1;
    const YamlNode *node = yaml_node_get(entry->value, STR("partitions"));
    TRY(yaml_int(node, "partitions", 1, &partitions));
    if (partitions < 1 || partitions > PARTITIONS_MAX) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "`partitions` is 1 to %d.",
                        PARTITIONS_MAX);
    }
    relation->partitions = (int)partitions;
    TRY(load_schema(relation, arena));
    return load_key(relation, arena);
}

static Error *load_relations(const YamlNode *node, Arena *arena, Scenario *scenario)
{
    if (node == NULL) {
        return NULL;
    }
    TRY(need_kind(node, YAML_MAPPING, "`relations`"));
    scenario->relations = arena_new_array(arena, ScenarioRelation, node->count);
    for (size_t i = 0; i < node->count; i++) {
        TRY(load_relation(&node->entries[i], arena, &scenario->relations[i]));
        scenario->relation_count++;
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------- steps ---- */

static bool find_word(Str key, StepKind *ret_kind)
{
    for (size_t i = 0; i < STEP_KIND_COUNT; i++) {
        if (str_equal(key, str_from(step_words[i].word))) {
            *ret_kind = (StepKind)i;
            return true;
        }
    }
    return false;
}

static bool may_stand_beside(StepKind kind, Str key)
{
    const char *beside = step_words[kind].beside;
    return str_equal(key, STR("note")) || (beside != NULL && str_equal(key, str_from(beside)));
}

/* The first key of a step says what it is. */
static Error *load_step(const YamlNode *node, ScenarioStep *step)
{
    TRY(need_kind(node, YAML_MAPPING, "A step"));
    if (node->count == 0) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "An empty step.");
    }
    if (!find_word(node->entries[0].key, &step->kind)) {
        return unknown_key(&node->entries[0], "A step");
    }
    step->word = step_words[step->kind].word;
    step->node = node;
    step->body = node->entries[0].value;
    for (size_t i = 1; i < node->count; i++) {
        if (!may_stand_beside(step->kind, node->entries[i].key)) {
            return unknown_key(&node->entries[i], step->word);
        }
    }
    return NULL;
}

static Error *load_steps(const YamlNode *node, const YamlNode *scenario_node, Arena *arena,
                         Scenario *scenario)
{
    if (node == NULL) {
        return error_at(ERROR_SCENARIO_INVALID, scenario_node->place, "A scenario needs `steps`.");
    }
    TRY(need_kind(node, YAML_SEQUENCE, "`steps`"));
    scenario->steps = arena_new_array(arena, ScenarioStep, node->count);
    for (size_t i = 0; i < node->count; i++) {
        TRY(load_step(node->items[i], &scenario->steps[i]));
        scenario->step_count++;
    }
    return NULL;
}

/* -------------------------------------------------------------------------------- scenario ---- */

static Error *check_keys(const YamlNode *node)
{
    static const char *const known[] = {"id",           "scenario", "note",      "time_zone",
                                        "requirements", "topology", "relations", "steps"};
    for (size_t i = 0; i < node->count; i++) {
        bool found = false;
        for (size_t k = 0; k < ARRAY_LENGTH(known); k++) {
            found = found || str_equal(node->entries[i].key, str_from(known[k]));
        }
        if (!found) {
            return unknown_key(&node->entries[i], "A scenario");
        }
    }
    return NULL;
}

/* A path in a scenario file is relative to the file's folder. */
static Str beside_file(Str path, const char *file, Arena *arena)
{
    const char *slash = strrchr(file, '/');
    if (path.size == 0 || path.data[0] == '/' || slash == NULL) {
        return path;
    }
    return str_from(arena_printf(arena, "%.*s/%.*s", (int)(slash - file), file, STR_ARG(path)));
}

Error *scenario_load(const YamlNode *node, const char *file, Arena *arena, Scenario *ret_scenario)
{
    *ret_scenario =
        (Scenario){.file = file, .place = node->place, .id = STR("(no id)"), .title = STR("")};
    TRY(need_kind(node, YAML_MAPPING, "A scenario"));
    const YamlNode *id = yaml_node_get(node, STR("id"));
    if (id == NULL) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "A scenario needs an `id`.");
    }
    TRY(yaml_text(id, "id", STR_NULL, &ret_scenario->id));
    TRY(check_keys(node));
    TRY(yaml_text(yaml_node_get(node, STR("scenario")), "scenario", STR(""), &ret_scenario->title));
    TRY(yaml_text(yaml_node_get(node, STR("time_zone")), "time_zone", STR_NULL,
                  &ret_scenario->time_zone));
    TRY(yaml_text(yaml_node_get(node, STR("topology")), "topology", STR_NULL,
                  &ret_scenario->topology));
    ret_scenario->topology = beside_file(ret_scenario->topology, file, arena);
    TRY(load_relations(yaml_node_get(node, STR("relations")), arena, ret_scenario));
    return load_steps(yaml_node_get(node, STR("steps")), node, arena, ret_scenario);
}
