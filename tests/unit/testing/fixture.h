/* Shared by the tests of this room: worlds from YAML text, results of runs. */
#ifndef TESTS_UNIT_TESTING_FIXTURE_H
#define TESTS_UNIT_TESTING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "config/yaml_node.h"
#include "processor/testing/scenario_run.h"
#include "processor/testing/step.h"

UNUSED static void ok(Error *error)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        print_error("%s", buffer_cstr(&text));
        error_free(error);
        fail();
    }
}

/* The error must be of that class; its text for further looks, in `arena`. */
UNUSED static const char *refused(Error *error, ErrorClass class, Arena *arena)
{
    assert_non_null(error);
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    if (error_class(error) != class) {
        print_error("%s", buffer_cstr(&text));
    }
    assert_int_equal(error_class(error), class);
    error_free(error);
    return arena_copy_cstr(arena, buffer_str(&text));
}

UNUSED static const YamlNode *yaml(const char *text, Arena *arena)
{
    Diagnostics diagnostics = {0};
    YamlDocument *document = NULL;
    yaml_parse(str_from(text), "test", arena, &diagnostics, &document);
    assert_int_equal(diagnostics.count, 0);
    return document->root;
}

/* A scenario of which the test runs the steps itself, so that it can look at the world between. */
typedef struct Stage {
    Arena *arena;
    TestOptions options;
    Scenario scenario;
    World *world;
} Stage;

UNUSED static void stage_open(Stage *stage, const char *text)
{
    stage->arena = arena_new("stage");
    ok(scenario_load(yaml(text, stage->arena), "test", stage->arena, &stage->scenario));
    ok(world_open(&stage->options, &stage->scenario, &stage->world));
}

UNUSED static Error *stage_step(Stage *stage, size_t index)
{
    static Error *(*const functions[])(World *, const ScenarioStep *) = {
#define STEP(constant, word, function, beside) function,
        SCENARIO_STEPS(STEP)
#undef STEP
    };
    assert_true(index < stage->scenario.step_count);
    const ScenarioStep *step = &stage->scenario.steps[index];
    return functions[step->kind](stage->world, step);
}

/* All steps; what the product failed with stays in world->failure when a step asks for it. */
UNUSED static void stage_run(Stage *stage)
{
    for (size_t i = 0; i < stage->scenario.step_count; i++) {
        ok(stage_step(stage, i));
    }
}

UNUSED static void stage_close(Stage *stage)
{
    world_close(stage->world);
    arena_free(stage->arena);
}

/* The report of a run of scenarios given as text; free() it. */
UNUSED static char *run_text(const char *text, const TestOptions *options, size_t *ret_failed)
{
    char *output = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&output, &size);
    assert_non_null(file);
    Report *report = report_new(options->output, file);
    size_t found = 0;
    ok(scenario_text_run(str_from(text), "file.yaml", options, report, &found));
    report_finish(report);
    *ret_failed = report_failed(report);
    report_free(report);
    (void)fclose(file);
    return output;
}

#endif
