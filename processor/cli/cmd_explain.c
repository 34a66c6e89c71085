/* tidemark explain T.yaml [FLOW]: plans, sources, topics and state of the flows. */
#include <stdio.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/run/names.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark explain T.yaml [FLOW]";

static void print_names(const Schema *schema, const uint32_t *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)printf("%s%.*s", i == 0 ? "" : ", ", STR_ARG(schema->fields[columns[i]].name));
    }
}

static const char *action_text(ExpectationAction action)
{
    switch (action) {
    case EXPECT_WARN:
        return "counted only";
    case EXPECT_DROP:
        return "ON VIOLATION DROP ROW";
    case EXPECT_FAIL:
        return "ON VIOLATION FAIL UPDATE";
    }
    return "";
}

static void explain_scan(const Program *program, const LogicalSource *source)
{
    AUTO_BUFFER Buffer text = {0};
    schema_format(source->schema, &text);
    (void)printf("  %s %.*s: topic %s%s, reads %s\n", source->stream ? "stream" : "static relation",
                 STR_ARG(source->relation->name), program->sources[source->relation->index].topic,
                 source->stream ? "" : " as it is when an update starts", buffer_cstr(&text));
}

static void explain_states(const ProgramTable *table)
{
    (void)printf("  state: the table's rows per key, bounded by the number of live rows\n");
    for (size_t i = 0; i < table->state_count; i++) {
        const StateSpec *spec = &table->plan->states[i];
        (void)printf("  state %.*s: topic %s, %s%s\n", STR_ARG(spec->name), table->states[i].topic,
                     spec->bound == NULL ? "nothing bounds it" : "bounded: ",
                     spec->bound == NULL ? "" : spec->bound);
    }
}

static void explain_plan(const LogicalPlan *plan)
{
    AUTO_BUFFER Buffer text = {0};
    plan_format(plan, &text);
    (void)printf("  plan, ~ marks what works batch after batch on a stream:\n");
    for (Str rest = buffer_str(&text); rest.data != NULL && rest.size > 0;) {
        Str line = str_cut(&rest, '\n');
        (void)printf("    %.*s\n", STR_ARG(line));
    }
}

static void explain_flow(const Program *program, const ProgramTable *table, Arena *arena)
{
    const BoundFlow *flow = table->flow;
    const Schema *schema = table->bound->schema;
    AUTO_BUFFER Buffer text = {0};
    (void)printf("flow %.*s (%s) into table %.*s\n", STR_ARG(flow->name),
                 flow_kind_name(flow->kind), STR_ARG(table->bound->name));
    (void)printf("  keys: ");
    print_names(schema, flow->keys, flow->key_count);
    (void)printf("; sequence: %.*s\n", STR_ARG(schema->fields[flow->sequence].name));
    schema_format(schema, &text);
    (void)printf("  columns: %s\n", buffer_cstr(&text));
    for (size_t i = 0; i < table->plan->source_count; i++) {
        explain_scan(program, &table->plan->sources[i]);
    }
    (void)printf("  topic %s; progress in %s; transactional id %s\n", table->topic,
                 name_progress_topic(arena, program->topology->pipeline),
                 name_flow_id(arena, program->topology->pipeline, flow->name));
    explain_states(table);
    for (size_t i = 0; i < table->bound->expectation_count; i++) {
        const BoundExpectation *expectation = &table->bound->expectations[i];
        (void)printf("  expectation %.*s: %.*s (%s)\n", STR_ARG(expectation->name),
                     STR_ARG(expectation->text), action_text(expectation->action));
    }
    explain_plan(table->plan);
}

int cmd_explain(int argc, char **argv)
{
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        return cli_usage(usage);
    }
    AUTO(arena) Arena *arena = arena_new("topology");
    Program *program = NULL;
    if (!cli_load_program(argv[1], arena, &program)) {
        return EXIT_USAGE;
    }
    size_t shown = 0;
    for (size_t i = 0; i < program->table_count; i++) {
        const ProgramTable *table = &program->tables[i];
        if (argc == 2 || str_equal_ignore_case(table->flow->name, str_from(argv[2]))) {
            explain_flow(program, table, arena);
            shown++;
        }
    }
    if (shown == 0) {
        cli_print_error(error_new(ERROR_FLOW_NOT_FOUND, "%s has no flow `%s`.", argv[1], argv[2]));
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}
