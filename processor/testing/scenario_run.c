/* Running scenarios: step after step until one says that it is not as written. */
#include "processor/testing/scenario_run.h"

#include "processor/base/memory.h"
#include "processor/testing/step.h"
#include "processor/testing/text_file.h"

#include "processor/base/banned.h"

typedef Error *(*StepFunction)(World *world, const ScenarioStep *step);

static const StepFunction step_functions[] = {
#define STEP(constant, word, function, beside) function,
    SCENARIO_STEPS(STEP)
#undef STEP
};

/* The failure of a step that no `fails` waits for ends the scenario. */
static Error *unexpected_failure(World *world)
{
    if (world->may_fail || world->failure == NULL) {
        return NULL;
    }
    Error *failure = world->failure;
    world->failure = NULL;
    return failure;
}

static Error *run_step(World *world, size_t index)
{
    const Scenario *scenario = world->scenario;
    const ScenarioStep *step = &scenario->steps[index];
    bool last = index + 1 == scenario->step_count;
    StepKind next = last ? STEP_CLOCK : scenario->steps[index + 1].kind;
    world->may_fail = !last && next == STEP_FAILS;
    TRY(step_functions[step->kind](world, step));
    TRY(unexpected_failure(world));
    const TestOptions *options = world->options;
    bool restart = options->restart_every_step || options->wipe_state_every_step;
    if (restart && !last && !step_looks_back(next)) {
        world_crash(world, options->wipe_state_every_step);
    }
    return NULL;
}

static void describe_failure(const Scenario *scenario, size_t step, const Error *error,
                             const Buffer *detail, Buffer *out)
{
    SourcePlace place = scenario->steps[step].node->place;
    buffer_printf(out, "     %s:%d: step %zu (%s)\n", scenario->file, place.line, step + 1,
                  scenario->steps[step].word);
    for (const Error *e = error; e != NULL; e = error_cause(e)) {
        buffer_append_cstr(out, "       ");
        if (error_class(e) == ERROR_TEST_FAILED) {
            buffer_append_cstr(out, error_message(e));
        } else {
            error_format_line(e, out);
        }
        buffer_append_byte(out, '\n');
        if (error_hint(e) != NULL) {
            buffer_printf(out, "       hint: %s\n", error_hint(e));
        }
    }
    buffer_append_str(out, buffer_str(detail));
}

static CaseStatus status_of(const World *world, const Error *error)
{
    if (world != NULL && world->skipped) {
        return CASE_SKIPPED;
    }
    return error_class(error) == ERROR_NOT_YET ? CASE_NOT_YET : CASE_FAILED;
}

static CaseStatus run_steps(World *world, Buffer *out)
{
    for (size_t i = 0; i < world->scenario->step_count; i++) {
        AUTO(error) Error *error = run_step(world, i);
        if (error != NULL) {
            describe_failure(world->scenario, i, error, &world->detail, out);
            return status_of(world, error);
        }
    }
    return CASE_PASSED;
}

static CaseStatus run_scenario(const Scenario *scenario, const TestOptions *options, Buffer *out)
{
    AUTO(world) World *world = NULL;
    AUTO(error) Error *error = world_open(options, scenario, &world);
    if (error != NULL) {
        buffer_printf(out, "     %s:%d: ", scenario->file, scenario->place.line);
        error_format_line(error, out);
        buffer_append_byte(out, '\n');
        return status_of(world, error);
    }
    return run_steps(world, out);
}

static bool is_selected(const TestOptions *options, Str id)
{
    for (size_t i = 0; i < options->only_count; i++) {
        if (str_equal(options->only[i], id)) {
            return true;
        }
    }
    return options->only == NULL;
}

/* *ret_selected false: not one of those to run. */
static void run_node(const YamlNode *node, const char *path, const TestOptions *options,
                     Report *report, bool *ret_selected)
{
    AUTO(arena) Arena *arena = arena_new("scenario");
    Scenario scenario;
    AUTO(error) Error *error = scenario_load(node, path, arena, &scenario);
    *ret_selected = is_selected(options, scenario.id);
    if (!*ret_selected) {
        return;
    }
    AUTO_BUFFER Buffer detail = {0};
    CaseResult result = {.file = path,
                         .line = scenario.place.line,
                         .id = scenario.id,
                         .title = scenario.title,
                         .status = CASE_FAILED};
    int64_t begin_ms = clock_monotonic_ms();
    if (error != NULL) {
        buffer_printf(&detail, "     %s:%d: %s\n", path, error_place(error).line,
                      error_message(error));
    } else {
        result.status = run_scenario(&scenario, options, &detail);
    }
    result.elapsed_ms = clock_monotonic_ms() - begin_ms;
    result.detail = buffer_str(&detail);
    report_case(report, &result);
}

/* --------------------------------------------------------------------------------- the file ----
 */

static Error *parse_text(Str text, const char *path, Arena *arena, const YamlNode **ret_list)
{
    Diagnostics diagnostics = {0};
    YamlDocument *document = NULL;
    yaml_parse(text, path, arena, &diagnostics, &document);
    Error *error = diagnostics.count == 0 ? NULL : error_copy(diagnostics.errors[0]);
    diagnostics_done(&diagnostics);
    TRY(error);
    if (document->root->kind != YAML_SEQUENCE) {
        return error_set_file(error_at(ERROR_SCENARIO_INVALID, document->root->place,
                                       "A scenario file is a list of scenarios."),
                              path);
    }
    *ret_list = document->root;
    return NULL;
}

Error *scenario_text_run(Str text, const char *path, const TestOptions *options, Report *report,
                         size_t *ret_found)
{
    AUTO(arena) Arena *arena = arena_new("file");
    const YamlNode *list = NULL;
    TRY(parse_text(text, path, arena, &list));
    size_t found = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool selected = false;
        run_node(list->items[i], path, options, report, &selected);
        found += selected;
    }
    *ret_found = found;
    return NULL;
}

Error *scenario_file_run(const char *path, const TestOptions *options, Report *report,
                         size_t *ret_found)
{
    AUTO(arena) Arena *arena = arena_new("file");
    Str text = STR_NULL;
    TRY(text_file_read(path, arena, &text));
    return scenario_text_run(text, path, options, report, ret_found);
}
