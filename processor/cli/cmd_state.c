/* tidemark state T.yaml [--key K] [--table NAME] [-o text|json]: what the state holds and how far
 * everything has come, beside a running service or without one. */
#include <stdio.h>
#include <string.h>

#include "processor/base/clock.h"
#include "processor/base/json_writer.h"
#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/run/redefinition.h"
#include "processor/run/state_report.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark state T.yaml [--key K] [--table NAME] [-o text|json]";

enum { PING_MS = 5000, ROWS_SHOWN_MAX = 100 };

typedef struct StateArguments {
    const char *path;
    const char *key;
    const char *table;
    bool json;
} StateArguments;

/* What a report is printed from. */
typedef struct StateCommand {
    const StateArguments *arguments;
    const Program *program;
    const char *dir;
    State *state; /* NULL: none yet */
    Log *log;     /* NULL: away */
    Arena *arena;
} StateCommand;

static bool parse_arguments(int argc, char **argv, StateArguments *arguments)
{
    for (int i = 1; i < argc; i++) {
        bool has_next = i + 1 < argc;
        if (strcmp(argv[i], "--key") == 0 && has_next) {
            arguments->key = argv[++i];
        } else if (strcmp(argv[i], "--table") == 0 && has_next) {
            arguments->table = argv[++i];
        } else if (strcmp(argv[i], "-o") == 0 && has_next) {
            arguments->json = strcmp(argv[++i], "json") == 0;
            if (!arguments->json && strcmp(argv[i], "text") != 0) {
                return false;
            }
        } else if (argv[i][0] != '-' && arguments->path == NULL) {
            arguments->path = argv[i];
        } else {
            return false;
        }
    }
    return arguments->path != NULL;
}

static bool is_selected(const StateCommand *command, const ProgramTable *table)
{
    const char *name = command->arguments->table;
    return name == NULL || str_equal_ignore_case(str_from(name), table->bound->name);
}

/* What a user or a record wrote must not steer the terminal. */
static void print_text(Buffer *text)
{
    buffer_hide_controls(text, 0);
    (void)fwrite(text->data, 1, text->size, stdout);
}

/* ---------------------------------------------------------------------------- the report ---- */

static void append_size(Buffer *out, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < ARRAY_LENGTH(units)) {
        value /= 1024;
        unit++;
    }
    buffer_printf(out, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

/* Right-aligned, `-` when unknown. */
static void append_offset(Buffer *out, int width, int64_t offset)
{
    if (offset < 0) {
        buffer_printf(out, "  %*s", width, "-");
    } else {
        buffer_printf(out, "  %*lld", width, (long long)offset);
    }
}

/* What is left up to the end; -1: unknown. */
static int64_t behind(int64_t position, int64_t end)
{
    if (position < 0 || end < 0) {
        return -1;
    }
    return end > position ? end - position : 0;
}

static void append_table(Buffer *out, const TableReport *table)
{
    buffer_printf(out, "table %.*s (topic %s): ", STR_ARG(table->program->bound->name),
                  table->program->topic);
    if (table->has_store) {
        append_size(out, table->sizes.file_bytes);
        buffer_printf(out, " on disk, about %llu rows\n", (unsigned long long)table->sizes.rows);
    } else {
        buffer_append_cstr(out, "no local state yet\n");
    }
    if (table->shard_count > 0) {
        buffer_printf(out, "  %5s  %-24s  %12s  %12s  %12s\n", "shard", "last checkpoint", "offset",
                      "end", "behind");
    }
    for (size_t i = 0; i < table->shard_count; i++) {
        const ShardReport *shard = &table->shards[i];
        AUTO_BUFFER Buffer time = {0};
        if (shard->position >= 0) {
            clock_format_utc(shard->written_us, &time);
        } else {
            buffer_append_byte(&time, '-');
        }
        buffer_printf(out, "  %5zu  %-24s", i, buffer_cstr(&time));
        append_offset(out, 12, shard->position);
        append_offset(out, 12, shard->end);
        append_offset(out, 12, behind(shard->position, shard->end));
        buffer_append_byte(out, '\n');
    }
}

static void append_flow(Buffer *out, const TableReport *table)
{
    buffer_printf(out, "flow %.*s: ", STR_ARG(table->program->flow->name));
    if (table->epoch < 0) {
        buffer_append_cstr(out, "positions unknown, Kafka is away\n");
        return;
    }
    buffer_printf(out, "%lld epochs committed%s\n", (long long)table->epoch,
                  table->resetting ? ", a full refresh is under way" : "");
    buffer_printf(out, "  %-24s  %9s  %12s  %12s  %12s\n", "topic", "partition", "offset", "end",
                  "lag");
    for (size_t i = 0; i < table->source_count; i++) {
        const SourceReport *source = &table->sources[i];
        buffer_printf(out, "  %-24s  %9d", source->topic, source->partition);
        append_offset(out, 12, source->offset);
        append_offset(out, 12, source->end);
        append_offset(out, 12, behind(source->offset, source->end));
        buffer_append_byte(out, '\n');
    }
}

static void append_owner(const StateCommand *command, Buffer *out)
{
    int64_t owner = state_view_owner(command->dir);
    buffer_printf(out,
                  "pipeline %.*s, state in %s: ", STR_ARG(command->program->topology->pipeline),
                  command->dir);
    if (command->state == NULL) {
        buffer_append_cstr(out, "none yet\n");
    } else if (owner > 0) {
        buffer_printf(out, "in use by process %lld; this is its last checkpoint\n",
                      (long long)owner);
    } else {
        buffer_append_cstr(out, "not in use\n");
    }
}

static void append_log_error(Buffer *out, const Error *error)
{
    if (error != NULL) {
        buffer_append_cstr(out, "Kafka is away (offsets it knows show as -): ");
        error_format_line(error, out);
        buffer_append_byte(out, '\n');
    }
}

static void print_report(const StateCommand *command, const StateReport *report,
                         const Error *log_error)
{
    AUTO_BUFFER Buffer out = {0};
    append_owner(command, &out);
    append_log_error(&out, log_error);
    for (size_t i = 0; i < report->table_count; i++) {
        if (is_selected(command, report->tables[i].program)) {
            buffer_append_byte(&out, '\n');
            append_table(&out, &report->tables[i]);
            append_flow(&out, &report->tables[i]);
        }
    }
    print_text(&out);
}

/* --------------------------------------------------------------------------------- JSON ---- */

static void json_field_offset(JsonWriter *json, const char *name, int64_t offset)
{
    json_key(json, name);
    if (offset < 0) {
        json_null(json);
    } else {
        json_int(json, offset);
    }
}

static void json_field_error(JsonWriter *json, const Error *error)
{
    json_key(json, "kafka_error");
    if (error == NULL) {
        json_null(json);
    } else {
        AUTO_BUFFER Buffer text = {0};
        error_format_line(error, &text);
        json_str(json, buffer_str(&text));
    }
}

static void json_shard(JsonWriter *json, size_t index, const ShardReport *shard)
{
    json_object_begin(json);
    json_field_int(json, "shard", (int64_t)index);
    json_field_offset(json, "offset", shard->position);
    json_field_offset(json, "end", shard->end);
    json_field_offset(json, "behind", behind(shard->position, shard->end));
    json_key(json, "checkpoint");
    if (shard->position < 0) {
        json_null(json);
    } else {
        AUTO_BUFFER Buffer time = {0};
        clock_format_utc(shard->written_us, &time);
        json_str(json, buffer_str(&time));
    }
    json_object_end(json);
}

static void json_source(JsonWriter *json, const SourceReport *source)
{
    json_object_begin(json);
    json_field_cstr(json, "topic", source->topic);
    json_field_int(json, "partition", source->partition);
    json_field_offset(json, "offset", source->offset);
    json_field_offset(json, "end", source->end);
    json_field_offset(json, "lag", behind(source->offset, source->end));
    json_object_end(json);
}

static void json_table(JsonWriter *json, const TableReport *table)
{
    json_object_begin(json);
    json_field_str(json, "table", table->program->bound->name);
    json_field_cstr(json, "topic", table->program->topic);
    json_field_str(json, "flow", table->program->flow->name);
    json_field_offset(json, "bytes", table->has_store ? (int64_t)table->sizes.file_bytes : -1);
    json_field_offset(json, "rows_estimate", table->has_store ? (int64_t)table->sizes.rows : -1);
    json_field_offset(json, "epoch", table->epoch);
    json_field_bool(json, "resetting", table->resetting);
    json_key(json, "shards");
    json_array_begin(json);
    for (size_t i = 0; i < table->shard_count; i++) {
        json_shard(json, i, &table->shards[i]);
    }
    json_array_end(json);
    json_key(json, "sources");
    json_array_begin(json);
    for (size_t i = 0; i < table->source_count; i++) {
        json_source(json, &table->sources[i]);
    }
    json_array_end(json);
    json_object_end(json);
}

static void print_report_json(const StateCommand *command, const StateReport *report,
                              const Error *log_error)
{
    AUTO_BUFFER Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_object_begin(&json);
    json_field_str(&json, "pipeline", command->program->topology->pipeline);
    json_field_cstr(&json, "dir", command->dir);
    int64_t owner = state_view_owner(command->dir);
    json_field_offset(&json, "owner_pid", owner > 0 ? owner : -1);
    json_field_error(&json, log_error);
    json_key(&json, "tables");
    json_array_begin(&json);
    for (size_t i = 0; i < report->table_count; i++) {
        if (is_selected(command, report->tables[i].program)) {
            json_table(&json, &report->tables[i]);
        }
    }
    json_array_end(&json);
    json_object_end(&json);
    buffer_append_byte(&out, '\n');
    (void)fwrite(out.data, 1, out.size, stdout);
}

/* ------------------------------------------------------------------------------- one key ---- */

static void print_key(const ProgramTable *table, const KeyReport *key, const Error *log_error)
{
    AUTO_BUFFER Buffer out = {0};
    append_log_error(&out, log_error);
    buffer_printf(&out, "table %.*s, key %.*s, partition %d, ", STR_ARG(table->bound->name),
                  STR_ARG(key->key), key->partition);
    buffer_append_cstr(&out, key->is_current ? "now: " : "at the last checkpoint: ");
    if (key->row_count == 0) {
        buffer_append_cstr(&out, "no rows\n");
    } else {
        buffer_printf(&out, "sequence %.*s, %zu row%s\n", STR_ARG(key->sequence), key->row_count,
                      key->row_count == 1 ? "" : "s");
    }
    for (size_t i = 0; key->rows != NULL && i < key->row_count && i < ROWS_SHOWN_MAX; i++) {
        buffer_printf(&out, "  %.*s\n", STR_ARG(key->rows[i]));
    }
    if (key->rows != NULL && key->row_count > ROWS_SHOWN_MAX) {
        buffer_printf(&out, "  … and %zu more; -o json gives all\n",
                      key->row_count - ROWS_SHOWN_MAX);
    } else if (key->rows == NULL && key->row_count > 0) {
        buffer_append_cstr(&out, "  their columns are known to Kafka only\n");
    }
    print_text(&out);
}

static void print_key_json(const ProgramTable *table, const KeyReport *key, const Error *log_error)
{
    AUTO_BUFFER Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_object_begin(&json);
    json_field_str(&json, "table", table->bound->name);
    json_key(&json, "key");
    json_raw(&json, key->key);
    json_field_offset(&json, "partition", key->partition);
    json_field_bool(&json, "current", key->is_current);
    json_field_error(&json, log_error);
    json_key(&json, "sequence");
    json_raw(&json, key->row_count == 0 ? STR("null") : key->sequence);
    json_field_int(&json, "row_count", (int64_t)key->row_count);
    json_key(&json, "rows");
    if (key->rows == NULL && key->row_count > 0) {
        json_null(&json);
    } else {
        json_array_begin(&json);
        for (size_t i = 0; i < key->row_count; i++) {
            json_raw(&json, key->rows[i]);
        }
        json_array_end(&json);
    }
    json_object_end(&json);
    buffer_append_byte(&out, '\n');
    (void)fwrite(out.data, 1, out.size, stdout);
}

static Error *find_table(const StateCommand *command, const ProgramTable **ret_table)
{
    const ProgramTable *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < command->program->table_count; i++) {
        if (is_selected(command, &command->program->tables[i])) {
            found = &command->program->tables[i];
            count++;
        }
    }
    if (count == 0) {
        return error_new(ERROR_TABLE_OR_VIEW_NOT_FOUND, "The pipeline has no table `%s`.",
                         command->arguments->table == NULL ? "" : command->arguments->table);
    }
    if (count > 1 && command->arguments->key != NULL) {
        return error_set_hint(error_new(ERROR_USAGE, "The pipeline has %zu tables.", count),
                              "`--table NAME` says whose key it is");
    }
    *ret_table = found;
    return NULL;
}

static Error *report_key(const StateCommand *command, const ProgramTable *table,
                         const Error *ping_error)
{
    KeyReport key = {0};
    TRY(state_report_key(command->program, table, str_from(command->arguments->key), command->state,
                         command->log, command->arena, &key));
    const Error *log_error = ping_error != NULL ? ping_error : key.log_error;
    (command->arguments->json ? print_key_json : print_key)(table, &key, log_error);
    key_report_done(&key);
    return NULL;
}

static Error *report_all(const StateCommand *command, const Error *ping_error)
{
    StateReport report = {0};
    TRY(state_report_collect(command->program, command->state, command->log, command->arena,
                             &report));
    const Error *log_error = ping_error != NULL ? ping_error : report.log_error;
    (command->arguments->json ? print_report_json : print_report)(command, &report, log_error);
    state_report_done(&report);
    return NULL;
}

/* The columns of its tables are those of the program and those they keep. One that the program does
 * not fit (it was changed, and not run yet) is shown by the program. */
static Error *load_over_stored(StateCommand *command, Log *log, const ProgramTable **table)
{
    const Program *program = command->program;
    StoredTable *stored = NULL;
    TRY(stored_tables_read(log, program, PING_MS, command->arena, &stored));
    error_free(program_over_stored(program, stored, NULL, command->arena, &command->program));
    if (*table != NULL) {
        *table = &command->program->tables[*table - program->tables];
    }
    return NULL;
}

/* Kafka is asked once whether it is there; if not, the rest goes without it. */
static Error *report(StateCommand *command, const ProgramTable *table)
{
    Log *log = NULL;
    TRY(cli_connect(command->program->topology, NULL, &log));
    AUTO(error) Error *ping_error = log_ping(log, PING_MS);
    if (ping_error == NULL) {
        ping_error = load_over_stored(command, log, &table);
    }
    command->log = ping_error == NULL ? log : NULL;
    Error *error = command->arguments->key != NULL ? report_key(command, table, ping_error)
                                                   : report_all(command, ping_error);
    log_close(log);
    return error;
}

int cmd_state(int argc, char **argv)
{
    StateArguments arguments = {0};
    if (!parse_arguments(argc, argv, &arguments)) {
        return cli_usage(usage);
    }
    AUTO(arena) Arena *arena = arena_new("state");
    Program *program = NULL;
    if (!cli_load_program(arguments.path, arena, &program)) {
        return EXIT_USAGE;
    }
    StateCommand command = {.arguments = &arguments,
                            .program = program,
                            .dir = arena_copy_cstr(arena, program->topology->state.dir),
                            .arena = arena};
    const ProgramTable *table = NULL;
    Error *error = find_table(&command, &table);
    if (error == NULL) {
        error = state_view_open(command.dir, arena_copy_cstr(arena, program->topology->pipeline),
                                &command.state);
    }
    if (error == NULL) {
        error = report(&command, table);
    }
    state_close(command.state);
    if (error != NULL) {
        bool wrong_usage = error_class(error) == ERROR_USAGE;
        cli_print_error(error);
        return wrong_usage ? EXIT_USAGE : EXIT_FAILED;
    }
    return EXIT_DONE;
}
