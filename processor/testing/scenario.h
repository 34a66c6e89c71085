/* Scenario files as read from YAML (DESIGN section 10): what is written, checked for its form; the
 * steps do the rest. Lives in the arena given to the loader. */
#ifndef TESTING_SCENARIO_H
#define TESTING_SCENARIO_H

#include "config/yaml_node.h"
#include "processor/data/schema.h"

/* STEP(CONSTANT, "word in the file", function, what may stand beside it) */
#define SCENARIO_STEPS(STEP)                                                                       \
    STEP(CLOCK, "clock", step_clock, NULL)                                                         \
    STEP(FEED, "feed", step_feed, "transaction")                                                   \
    STEP(UPSERT, "upsert", step_upsert, NULL)                                                      \
    STEP(DELETE, "delete", step_delete, NULL)                                                      \
    STEP(TRANSACTION, "transaction", step_transaction, NULL)                                       \
    STEP(TOPIC, "topic", step_topic, NULL)                                                         \
    STEP(EXPIRE, "expire", step_expire, NULL)                                                      \
    STEP(COMPACT, "compact", step_compact, NULL)                                                   \
    STEP(FAULT, "fault", step_fault, NULL)                                                         \
    STEP(SQL, "sql", step_sql, NULL)                                                               \
    STEP(REFRESH, "refresh", step_refresh, "full")                                                 \
    STEP(UPDATE, "update", step_update, NULL)                                                      \
    STEP(RESTART, "restart", step_restart, NULL)                                                   \
    STEP(EXPECT, "expect", step_expect, NULL)                                                      \
    STEP(EXPECT_AS, "expect_as", step_expect_as, NULL)                                             \
    STEP(EXPECT_TOPIC, "expect_topic", step_expect_topic, NULL)                                    \
    STEP(QUERY, "query", step_query, NULL)                                                         \
    STEP(EVENTS, "events", step_events, NULL)                                                      \
    STEP(PLANNING, "planning", step_planning, NULL)                                                \
    STEP(QUALITY, "quality", step_quality, NULL)                                                   \
    STEP(FAILS, "fails", step_fails, NULL)

typedef enum StepKind {
#define STEP(constant, word, function, beside) STEP_##constant,
    SCENARIO_STEPS(STEP)
#undef STEP
        STEP_KIND_COUNT
} StepKind;

typedef struct ScenarioStep {
    StepKind kind;
    const char *word;
    const YamlNode *node; /* the whole step, for what stands beside */
    const YamlNode *body; /* the value of its word */
} ScenarioStep;

typedef struct ScenarioRelation {
    Str name;
    SourcePlace place;
    bool is_table;
    Str columns; /* as a column list */
    const Schema *schema;
    uint32_t *keys; /* columns of the message key of a table */
    size_t key_count;
    int partitions;
    const char *topic;    /* NULL: the name, under the prefix of the run */
    const YamlNode *node; /* NULL when it comes from a topology file */
} ScenarioRelation;

typedef struct Scenario {
    const char *file;
    SourcePlace place;
    Str id;
    Str title;     /* may be empty */
    Str time_zone; /* session zone; STR_NULL: the topology's, else UTC */
    Str topology;  /* path of a topology file, relative to `file`'s folder is resolved; STR_NULL:
                      `relations` */
    ScenarioRelation *relations;
    size_t relation_count;
    ScenarioStep *steps;
    size_t step_count;
} Scenario;

/* One scenario. `ret_scenario` has file, place and id (as far as there is one) also after an error,
 * which is placed. */
NODISCARD Error *scenario_load(const YamlNode *node, const char *file, Arena *arena,
                               Scenario *ret_scenario);
/* What looks at the latest update: no restart comes before such a step. */
bool step_looks_back(StepKind kind);

#endif
