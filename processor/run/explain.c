/* A flow in words: see the header. */
#include "processor/run/explain.h"

#include "processor/run/names.h"

#include "processor/base/banned.h"

static void print_names(const Schema *schema, const uint32_t *columns, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s%.*s", i == 0 ? "" : ", ", STR_ARG(schema->fields[columns[i]].name));
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

static void explain_scan(const Program *program, const LogicalSource *source, Buffer *out)
{
    AUTO_BUFFER Buffer text = {0};
    schema_format(source->schema, &text);
    buffer_printf(out, "  %s %.*s: topic %s%s, reads %s\n",
                  source->stream ? "stream" : "static relation", STR_ARG(source->relation->name),
                  program->sources[source->relation->index].topic,
                  source->stream ? "" : " as it is when an update starts", buffer_cstr(&text));
}

static void explain_states(const ProgramTable *table, Buffer *out)
{
    buffer_printf(out, "  state: the table's rows per key, bounded by the number of live rows\n");
    for (size_t i = 0; i < table->state_count; i++) {
        const StateSpec *spec = &table->plan->states[i];
        buffer_printf(out, "  state %.*s: topic %s, %s%s\n", STR_ARG(spec->name),
                      table->states[i].topic,
                      spec->bound == NULL ? "nothing bounds it" : "bounded: ",
                      spec->bound == NULL ? "" : spec->bound);
    }
}

static void explain_plan(const LogicalPlan *plan, Buffer *out)
{
    AUTO_BUFFER Buffer text = {0};
    plan_format(plan, &text);
    buffer_printf(out, "  plan, ~ marks what works batch after batch on a stream:\n");
    for (Str rest = buffer_str(&text); rest.data != NULL && rest.size > 0;) {
        Str line = str_cut(&rest, '\n');
        buffer_printf(out, "    %.*s\n", STR_ARG(line));
    }
}

void explain_flow(const Program *program, const ProgramTable *table, Arena *arena, Buffer *out)
{
    const BoundFlow *flow = table->flow;
    const Schema *schema = table->bound->schema;
    AUTO_BUFFER Buffer text = {0};
    buffer_printf(out, "flow %.*s (%s) into table %.*s\n", STR_ARG(flow->name),
                  flow_kind_name(flow->kind), STR_ARG(table->bound->name));
    buffer_printf(out, "  keys: ");
    print_names(schema, flow->keys, flow->key_count, out);
    buffer_printf(out, "; sequence: %.*s\n", STR_ARG(schema->fields[flow->sequence].name));
    schema_format(schema, &text);
    buffer_printf(out, "  columns: %s\n", buffer_cstr(&text));
    for (size_t i = 0; i < table->plan->source_count; i++) {
        explain_scan(program, &table->plan->sources[i], out);
    }
    buffer_printf(out, "  topic %s; progress in %s; transactional id %s\n", table->topic,
                  name_progress_topic(arena, program->topology->pipeline),
                  name_flow_id(arena, program->topology->pipeline, flow->name));
    explain_states(table, out);
    for (size_t i = 0; i < table->bound->expectation_count; i++) {
        const BoundExpectation *expectation = &table->bound->expectations[i];
        buffer_printf(out, "  expectation %.*s: %.*s (%s)\n", STR_ARG(expectation->name),
                      STR_ARG(expectation->text), action_text(expectation->action));
    }
    explain_plan(table->plan, out);
}
