/* A program against what its pipeline has, as text:
 *
 *     t: compatible
 *         column `b` stays; it is NULL in rows to come
 *     u: needs a full refresh
 *         T.yaml:12:3 [AUTOCDC_INVALID_STATE.KEY_SCHEMA_DRIFT] The REPLACE USING keys of …
 *     v: no longer in the program; its topic stays as it is */
#include "processor/run/names.h"
#include "processor/run/redefinition.h"

#include "processor/base/banned.h"

static void report_reasons(const Diagnostics *reasons, Buffer *out)
{
    for (size_t i = 0; i < reasons->count; i++) {
        const Error *error = reasons->errors[i];
        SourcePlace place = error_place(error);
        buffer_append_cstr(out, "    ");
        if (error_file(error) != NULL && place.line > 0) {
            buffer_printf(out, "%s:%d:%d: ", error_file(error), place.line, place.column);
        }
        error_format_line(error, out);
        buffer_append_byte(out, '\n');
        if (error_hint(error) != NULL) {
            buffer_printf(out, "    hint: %s\n", error_hint(error));
        }
    }
}

static Error *report_table(const Program *program, size_t index, const StoredTable *stored,
                           Arena *arena, Buffer *out, bool *ret_good)
{
    Redefinition redefinition = {0};
    TRY(redefinition_judge(program, index, stored, arena, &redefinition));
    buffer_printf(out, "%.*s: %s\n", STR_ARG(program->tables[index].bound->name),
                  redefinition_name(redefinition.kind));
    if (stored->resetting) {
        buffer_append_cstr(out, "    a full refresh is under way\n");
    }
    for (size_t i = 0; i < redefinition.change_count; i++) {
        buffer_printf(out, "    %.*s\n", STR_ARG(redefinition.changes[i]));
    }
    report_reasons(&redefinition.reasons, out);
    *ret_good =
        redefinition.kind != REDEFINITION_FULL_REFRESH && redefinition.kind != REDEFINITION_REFUSED;
    diagnostics_done(&redefinition.reasons);
    return NULL;
}

static bool has_table(const Program *program, Str name)
{
    for (size_t i = 0; i < program->table_count; i++) {
        if (str_equal(program->tables[i].bound->name, name)) {
            return true;
        }
    }
    return false;
}

static Error *report_gone(const Program *program, Log *log, int timeout_ms, Arena *arena,
                          Buffer *out)
{
    Str *tables = NULL;
    size_t count = 0;
    const char *topic = name_progress_topic(arena, program->topology->pipeline);
    Error *error = progress_tables(log, topic, timeout_ms, arena, &tables, &count);
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
        error_free(error);
        buffer_printf(out, "The pipeline %.*s has not run yet.\n",
                      STR_ARG(program->topology->pipeline));
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (!has_table(program, tables[i])) {
            buffer_printf(out, "%.*s: no longer in the program; its topic stays as it is\n",
                          STR_ARG(tables[i]));
        }
    }
    return error;
}

Error *redefinition_report(const Program *program, Log *log, int timeout_ms, Buffer *out,
                           bool *ret_good)
{
    AUTO(arena) Arena *arena = arena_new("redefinition");
    StoredTable *stored = NULL;
    bool all_good = true;
    TRY(stored_tables_read(log, program, timeout_ms, arena, &stored));
    for (size_t i = 0; i < program->table_count; i++) {
        bool good = false;
        TRY(report_table(program, i, &stored[i], arena, out, &good));
        all_good = all_good && good;
    }
    TRY(report_gone(program, log, timeout_ms, arena, out));
    *ret_good = all_good;
    return NULL;
}
