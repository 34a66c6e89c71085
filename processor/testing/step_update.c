/* Steps that make the pipeline work: sql, refresh, update, restart. */
#include "processor/testing/step.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

static Error *unsupported(const ScenarioStep *step, Str what)
{
    return error_at(ERROR_NOT_YET, step->body->place, "`%.*s` in a step `%s` is not supported yet.",
                    STR_ARG(what), step->word);
}

/* ------------------------------------------------------------------------------------- sql ---- */

static UpdateRequest request_for(const World *world, Arena *arena, const size_t *tables,
                                 size_t count)
{
    const Program *program = implicit_program(world->program);
    Str *names = arena_new_array(arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        names[i] = program->tables[tables[i]].bound->name;
    }
    return (UpdateRequest){.tables = names, .table_count = count, .cause = "USER_ACTION"};
}

/* Full refreshes come first: what they build anew may not fit what is stored. */
static Error *update_touched(World *world, const ImplicitProgram *program)
{
    AUTO(arena) Arena *arena = arena_new("update");
    size_t count = 0;
    const size_t *tables = implicit_program_rebuilt(program, &count);
    if (count > 0) {
        UpdateRequest request = request_for(world, arena, tables, count);
        request.full_refresh = true;
        TRY(world_update(world, &request));
    }
    bool rebuilt = count > 0;
    tables = implicit_program_touched(program, &count);
    UpdateRequest request = request_for(world, arena, tables, count);
    return count > 0 || !rebuilt ? world_update(world, &request) : NULL;
}

/* Takes `program` over. A program that does not start leaves the one before in force. */
static Error *run_program(World *world, ImplicitProgram *program)
{
    ImplicitProgram *before = world_swap_program(world, program);
    Error *error = update_touched(world, program);
    if (error != NULL && world->pipeline == NULL) {
        implicit_program_free(world_swap_program(world, before));
        return error;
    }
    implicit_program_free(before);
    return error;
}

Error *step_sql(World *world, const ScenarioStep *step)
{
    Str sql = STR_NULL;
    TRY(yaml_text(step->body, "sql", STR_NULL, &sql));
    ImplicitProgram *program = NULL;
    Error *error = implicit_program_add(&world->implicit, world->program, sql, &program);
    world_fail(world, error == NULL ? run_program(world, program) : error);
    return NULL;
}

/* --------------------------------------------------------------------------------- refresh ---- */

static Error *find_table(const World *world, const YamlNode *node, Str *ret_name)
{
    Str text = STR_NULL;
    TRY(yaml_text(node, "table", STR_NULL, &text));
    int table = world_table(world, text);
    if (table < 0) {
        return world_unknown_table(world, node->place, text);
    }
    *ret_name = implicit_program(world->program)->tables[table].bound->name;
    return NULL;
}

Error *step_refresh(World *world, const ScenarioStep *step)
{
    Str name = STR_NULL;
    bool full = false;
    TRY(find_table(world, step->body, &name));
    TRY(yaml_bool(yaml_node_get(step->node, STR("full")), "full", false, &full));
    UpdateRequest request = {
        .tables = &name, .table_count = 1, .full_refresh = full, .cause = "USER_ACTION"};
    world_fail(world, world_update(world, &request));
    return NULL;
}

/* ---------------------------------------------------------------------------------- update ---- */

typedef struct Selection {
    Str *names; /* NULL: not given */
    size_t count;
} Selection;

static Error *read_selection(const World *world, const YamlNode *node, Arena *arena,
                             Selection *ret_selection)
{
    if (node->kind != YAML_SEQUENCE) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "A list of tables is needed.");
    }
    Selection selection = {arena_new_array(arena, Str, node->count), node->count};
    for (size_t i = 0; i < node->count; i++) {
        TRY(find_table(world, node->items[i], &selection.names[i]));
    }
    *ret_selection = selection;
    return NULL;
}

typedef struct UpdateBody {
    Selection refresh;
    Selection full;
    bool all_full;
} UpdateBody;

static Error *read_body(const World *world, const ScenarioStep *step, Arena *arena,
                        UpdateBody *body)
{
    for (size_t i = 0; i < step->body->count; i++) {
        const YamlEntry *entry = &step->body->entries[i];
        if (str_equal(entry->key, STR("refresh_selection"))) {
            TRY(read_selection(world, entry->value, arena, &body->refresh));
        } else if (str_equal(entry->key, STR("full_refresh_selection"))) {
            TRY(read_selection(world, entry->value, arena, &body->full));
        } else if (str_equal(entry->key, STR("full_refresh"))) {
            TRY(yaml_bool(entry->value, "full_refresh", false, &body->all_full));
        } else if (!str_equal(entry->key, STR("cause"))) {
            return unsupported(step, entry->key);
        }
    }
    return NULL;
}

static Error *update_selection(World *world, const Selection *selection, bool full)
{
    UpdateRequest request = {.tables = selection->names,
                             .table_count = selection->count,
                             .full_refresh = full,
                             .cause = "API_CALL"};
    return world_update(world, &request);
}

static Error *run_body(World *world, const UpdateBody *body)
{
    Selection all = {NULL, 0};
    if (body->refresh.names == NULL && body->full.names == NULL) {
        return update_selection(world, &all, body->all_full);
    }
    if (body->full.count > 0) {
        TRY(update_selection(world, &body->full, true));
    }
    return body->refresh.count > 0 ? update_selection(world, &body->refresh, body->all_full) : NULL;
}

/* The body of POST …/updates. */
Error *step_update(World *world, const ScenarioStep *step)
{
    if (step->body->kind != YAML_MAPPING) {
        return error_at(ERROR_SCENARIO_INVALID, step->body->place,
                        "`update` is the body of an update request.");
    }
    AUTO(arena) Arena *arena = arena_new("update");
    UpdateBody body = {.all_full = false};
    TRY(read_body(world, step, arena, &body));
    world_fail(world, run_body(world, &body));
    return NULL;
}

/* --------------------------------------------------------------------------------- restart ---- */

/* `true`, or {wipe_state: true}. */
Error *step_restart(World *world, const ScenarioStep *step)
{
    bool wipe = false;
    bool restart = true;
    if (step->body->kind == YAML_MAPPING) {
        for (size_t i = 0; i < step->body->count; i++) {
            if (!str_equal(step->body->entries[i].key, STR("wipe_state"))) {
                return unsupported(step, step->body->entries[i].key);
            }
        }
        TRY(yaml_bool(yaml_node_get(step->body, STR("wipe_state")), "wipe_state", false, &wipe));
    } else {
        TRY(yaml_bool(step->body, "restart", true, &restart));
    }
    if (restart) {
        world_fail(world, world_restart(world, wipe));
    }
    return NULL;
}
