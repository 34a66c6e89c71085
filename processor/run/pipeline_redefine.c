/* A pipeline's program over the tables it has already, and what its statements no longer say of
 * them.
 */
#include "processor/base/logger.h"
#include "processor/run/pipeline_internal.h"
#include "processor/run/redefinition.h"
#include "processor/run/table_definition.h"

#include "processor/base/banned.h"

bool pipeline_is_selected(const Pipeline *pipeline, const UpdateRequest *request, size_t table)
{
    if (request->tables == NULL) {
        return true;
    }
    Str name = pipeline->given->tables[table].bound->name;
    for (size_t i = 0; i < request->table_count; i++) {
        if (str_equal_ignore_case(request->tables[i], name)) {
            return true;
        }
    }
    return false;
}

Error *pipeline_check_reset(const Pipeline *pipeline, const UpdateRequest *request)
{
    for (size_t i = 0; i < pipeline->given->table_count; i++) {
        if (pipeline_is_selected(pipeline, request, i)) {
            TRY(check_reset_allowed(&pipeline->given->tables[i]));
        }
    }
    return NULL;
}

/* ST-5: a statement that does not repeat a clause removes it, which is easily overlooked. */
static void tell_removed_clauses(Pipeline *pipeline, const ProgramTable *table,
                                 const ProgressDefinition *old)
{
    ProgressDefinition now = definition_fresh(table, NULL, 0, pipeline->arena);
    AUTO_BUFFER Buffer removed = {0};
    definition_format_removed(old, &now, &removed);
    if (removed.size == 0) {
        return;
    }
    AUTO_BUFFER Buffer message = {0};
    buffer_printf(&message, "Table `%.*s`: its statement does not repeat, and so removes: %.*s.",
                  STR_ARG(table->bound->name), STR_ARG(buffer_str(&removed)));
    log_info("%s", buffer_cstr(&message));
    event_warning(pipeline->events, NULL, table, "CLAUSES_REMOVED", buffer_str(&message), STR_NULL);
}

Error *pipeline_load_over_stored(Pipeline *pipeline, const UpdateRequest *rebuilt)
{
    const Program *given = pipeline->given;
    StoredTable *stored = NULL;
    TRY(stored_tables_read(pipeline->context.log, given, pipeline->context.timeout_ms,
                           pipeline->arena, &stored));
    bool *anew = arena_new_array(pipeline->arena, bool, given->table_count);
    for (size_t i = 0; i < given->table_count; i++) {
        anew[i] = rebuilt != NULL && pipeline_is_selected(pipeline, rebuilt, i);
    }
    TRY(program_over_stored(given, stored, anew, pipeline->arena, &pipeline->context.program));
    for (size_t i = 0; i < given->table_count; i++) {
        if (stored[i].known && !stored[i].resetting) {
            tell_removed_clauses(pipeline, &pipeline->context.program->tables[i],
                                 &stored[i].definition);
        }
    }
    return NULL;
}
