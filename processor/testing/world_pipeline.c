/* The pipeline of a scenario: started when needed, stopped as a crash stops it, updated as the
 * options say. */
#include <assert.h>

#include "processor/testing/temporary_dir.h"
#include "processor/testing/world.h"

#include "processor/base/banned.h"

enum {
    ATTEMPTS_MAX = 5,
    MODEL_TIMEOUT_MS = 5000,
    PIECES_MAX = 1000000, /* an update in pieces that never ends is a failure, not a hang */
};

static void clear_counts(World *world)
{
    const Program *program = implicit_program(world->program);
    for (size_t i = 0; i < program->table_count; i++) {
        size_t size = program->tables[i].bound->expectation_count * sizeof(ExpectationCount);
        if (size > 0) {
            memset(world->counts[i].expectations, 0, size);
        }
    }
}

static void make_counts(World *world)
{
    if (world->program == NULL) {
        world->counts = NULL;
        return;
    }
    const Program *program = implicit_program(world->program);
    world->counts = arena_new_array(world->arena, UpdateCounts, program->table_count);
    for (size_t i = 0; i < program->table_count; i++) {
        const BoundTable *table = program->tables[i].bound;
        world->counts[i].table = table;
        world->counts[i].expectations =
            arena_new_array(world->arena, ExpectationCount, table->expectation_count);
        (void)world_topic(world, table->name); /* remembered for the end */
    }
}

ImplicitProgram *world_swap_program(World *world, ImplicitProgram *program)
{
    world_stop_pipeline(world);
    ImplicitProgram *before = world->program;
    world->program = program;
    make_counts(world);
    return before;
}

const Program *world_program(const World *world)
{
    return world->pipeline == NULL ? implicit_program(world->program)
                                   : pipeline_program(world->pipeline);
}

Error *world_need_redefined(World *world)
{
    return world->redefined ? world_need_pipeline(world) : NULL;
}

/* `full_refresh`: one that comes next, or NULL. */
static Error *open_pipeline(World *world, const UpdateRequest *full_refresh)
{
    if (world->pipeline != NULL) {
        return NULL;
    }
    if (world->program == NULL) {
        return error_new(ERROR_SCENARIO_INVALID, "No statement so far creates a table.");
    }
    if (world->counts == NULL) {
        make_counts(world);
    }
    PipelineOptions options = {.program = implicit_program(world->program),
                               .log = world->log,
                               .clock = &world->clock,
                               .state_dir = world->state_dir,
                               .batch_rows = world->options->batch_rows,
                               .one_epoch = true,
                               .inline_work = true,
                               .timeout_ms =
                                   world->broker == NULL ? WORLD_TIMEOUT_MS : MODEL_TIMEOUT_MS,
                               .full_refresh = full_refresh,
                               .attempts_max = ATTEMPTS_MAX};
    TRY(pipeline_open(&options, &world->pipeline));
    world->redefined = world_program(world) != options.program;
    return NULL;
}

Error *world_need_pipeline(World *world)
{
    return open_pipeline(world, NULL);
}

void world_stop_pipeline(World *world)
{
    pipeline_close(world->pipeline);
    world->pipeline = NULL;
}

void world_crash(World *world, bool wipe_state)
{
    world_stop_pipeline(world);
    if (wipe_state) {
        directory_remove(world->state_dir);
    }
}

Error *world_restart(World *world, bool wipe_state)
{
    world_crash(world, wipe_state);
    return world->program == NULL ? NULL : world_need_pipeline(world);
}

/* --------------------------------------------------------------------------------- updates ---- */

static bool is_selected(const UpdateRequest *request, Str table)
{
    for (size_t i = 0; i < request->table_count; i++) {
        if (str_equal(request->tables[i], table)) {
            return true;
        }
    }
    return request->tables == NULL;
}

static void add_counts(World *world, const UpdateRequest *request)
{
    for (size_t i = 0; i < pipeline_flow_count(world->pipeline); i++) {
        if (!is_selected(request, world->counts[i].table->name)) {
            continue;
        }
        const FlowMetrics *metrics = flow_runner_metrics(pipeline_flow(world->pipeline, i));
        UpdateCounts *counts = &world->counts[i];
        for (size_t k = 0; k < counts->table->expectation_count; k++) {
            counts->expectations[k].passed += metrics->expectations[k].passed;
            counts->expectations[k].failed += metrics->expectations[k].failed;
            counts->expectations[k].dropped += metrics->expectations[k].dropped;
        }
    }
}

/* A step that is to fail is one piece: which piece would fail, and what stays of those before it,
 * is not what the scenario says. */
static Error *update_in_pieces(World *world, const UpdateRequest *request)
{
    TRY(open_pipeline(world, request->full_refresh ? request : NULL));
    UpdateRequest piece = *request;
    piece.records_max = world->may_fail ? 0 : world->options->split;
    for (int i = 0; i < PIECES_MAX; i++) {
        UpdateResult result = {.drained = true};
        TRY(pipeline_update(world->pipeline, &piece, &result));
        add_counts(world, &piece);
        world->failing = false;
        if (result.drained) {
            return NULL;
        }
        piece.full_refresh = false;
    }
    return error_new(ERROR_TEST_FAILED, "The update was not done after %d pieces.", PIECES_MAX);
}

static bool is_crash(const Error *error)
{
    return error != NULL && error_class(error) == ERROR_SIMULATED_CRASH;
}

/* Points of a start are passed only by one that has something to do. */
static void prepare_fault(World *world)
{
    Str name = str_from(world->options->fault_name);
    bool restores = str_starts_with(name, STR("restore."));
    if (restores || str_starts_with(name, STR("start."))) {
        world_stop_pipeline(world);
    }
    if (restores) {
        directory_remove(world->state_dir);
    }
    fault_arm(world->options->fault_name, world->options->fault_nth, world->options->fault_action);
}

Error *world_update(World *world, const UpdateRequest *request)
{
    world->crashed = false;
    if (world->counts != NULL) {
        clear_counts(world);
    }
    if (world->options->fault_name == NULL) {
        Error *error = update_in_pieces(world, request);
        if (is_crash(error)) { /* at a point that a step armed */
            world_stop_pipeline(world);
        }
        return error;
    }
    prepare_fault(world);
    Error *error = update_in_pieces(world, request);
    fault_disarm();
    if (!is_crash(error)) {
        return error;
    }
    error_free(error);
    world_stop_pipeline(world);
    world->crashed = true;
    return update_in_pieces(world, request);
}
