/* What the latest update said about itself: how it failed, and its expectations' counters. */
#include "processor/testing/step.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

/* ----------------------------------------------------------------------------------- fails ---- */

/* What failed otherwise than said is told whole, as the cause. */
Error *step_fails(World *world, const ScenarioStep *step)
{
    Str kind = STR_NULL;
    TRY(yaml_text(step->body, "fails", STR_NULL, &kind));
    Error *failure = world->failure;
    world->failure = NULL;
    if (failure == NULL) {
        return error_at(ERROR_TEST_FAILED, step->body->place,
                        "The step before was to fail with %.*s and went well.", STR_ARG(kind));
    }
    if (str_equal(str_from(error_kind(failure)), kind)) {
        world->failing = true;
        error_free(failure);
        return NULL;
    }
    if (error_class(failure) == ERROR_NOT_YET) {
        return failure;
    }
    Error *error = error_at(ERROR_TEST_FAILED, step->body->place,
                            "The step before was to fail with %.*s; it failed with %s.",
                            STR_ARG(kind), error_kind(failure));
    return error_set_cause(error, failure);
}

/* --------------------------------------------------------------------------------- quality ---- */

static Error *find_expectation(const UpdateCounts *counts, const YamlEntry *entry,
                               const ExpectationCount **ret_count)
{
    for (size_t i = 0; i < counts->table->expectation_count; i++) {
        if (str_equal_ignore_case(counts->table->expectations[i].name, entry->key)) {
            *ret_count = &counts->expectations[i];
            return NULL;
        }
    }
    return error_at(ERROR_SCENARIO_INVALID, entry->key_place,
                    "Table `%.*s` has no expectation `%.*s`.", STR_ARG(counts->table->name),
                    STR_ARG(entry->key));
}

static Error *check_counter(const YamlEntry *entry, const ExpectationCount *count)
{
    int64_t expected = 0;
    TRY(yaml_int(entry->value, "counter", 0, &expected));
    uint64_t actual = 0;
    if (str_equal(entry->key, STR("passed"))) {
        actual = count->passed;
    } else if (str_equal(entry->key, STR("failed"))) {
        actual = count->failed;
    } else if (str_equal(entry->key, STR("dropped"))) {
        actual = count->dropped;
    } else {
        return error_at(ERROR_SCENARIO_INVALID, entry->key_place,
                        "The counters are passed, failed and dropped.");
    }
    if ((int64_t)actual == expected) {
        return NULL;
    }
    return error_at(ERROR_TEST_FAILED, entry->value->place, "quality: %.*s is %llu, expected %lld.",
                    STR_ARG(entry->key), (unsigned long long)actual, (long long)expected);
}

static Error *need_mapping(const YamlNode *node)
{
    return node->kind == YAML_MAPPING
               ? NULL
               : error_at(ERROR_SCENARIO_INVALID, node->place,
                          "`quality` is {table: {expectation: {passed, failed, dropped}}}.");
}

static Error *check_table(const World *world, const YamlEntry *entry)
{
    int index = world_table(world, entry->key);
    if (index < 0) {
        return world_unknown_table(world, entry->key_place, entry->key);
    }
    TRY(need_mapping(entry->value));
    for (size_t i = 0; i < entry->value->count; i++) {
        const YamlEntry *expectation = &entry->value->entries[i];
        const ExpectationCount *count = NULL;
        TRY(find_expectation(&world->counts[index], expectation, &count));
        TRY(need_mapping(expectation->value));
        for (size_t k = 0; k < expectation->value->count; k++) {
            TRY(check_counter(&expectation->value->entries[k], count));
        }
    }
    return NULL;
}

/* A process that died took its counters with it: then there is nothing to compare. */
Error *step_quality(World *world, const ScenarioStep *step)
{
    TRY(need_mapping(step->body));
    for (size_t i = 0; i < step->body->count && !world->crashed; i++) {
        TRY(check_table(world, &step->body->entries[i]));
    }
    return NULL;
}

Error *step_planning(World *world, const ScenarioStep *step)
{
    (void)world;
    return error_at(ERROR_NOT_YET, step->node->place,
                    "REPLACE WHERE flows, and so `planning`, are not supported yet.");
}
