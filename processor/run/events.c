/* Building events. */
#include "processor/run/events.h"

#include "processor/base/json_writer.h"

#include "processor/base/banned.h"

const char *update_state_name(UpdateState state)
{
    switch (state) {
    case UPDATE_CREATED:
        return "CREATED";
    case UPDATE_INITIALIZING:
        return "INITIALIZING";
    case UPDATE_SETTING_UP_TABLES:
        return "SETTING_UP_TABLES";
    case UPDATE_RESETTING:
        return "RESETTING";
    case UPDATE_RUNNING:
        return "RUNNING";
    case UPDATE_STOPPING:
        return "STOPPING";
    case UPDATE_COMPLETED:
        return "COMPLETED";
    case UPDATE_FAILED:
        return "FAILED";
    case UPDATE_CANCELED:
        return "CANCELED";
    }
    return "";
}

/* The configuration of the update; never properties, which may be secret. */
static void write_configuration(JsonWriter *w, const Program *program)
{
    const Topology *topology = program->topology;
    json_key(w, "config");
    json_object_begin(w);
    json_field_str(w, "pipeline", topology->pipeline);
    json_field_str(w, "catalog", topology->catalog);
    json_field_str(w, "schema", topology->schema);
    json_field_str(w, "time_zone", topology->time_zone);
    json_field_bool(w, "continuous", topology->mode == TOPOLOGY_CONTINUOUS);
    json_field_int(w, "commit_interval_ms", topology->commit.interval_ms);
    json_key(w, "sources");
    json_array_begin(w);
    for (size_t i = 0; i < program->source_count; i++) {
        json_str(w, program->sources[i].config->name);
    }
    json_array_end(w);
    json_key(w, "tables");
    json_array_begin(w);
    for (size_t i = 0; i < program->table_count; i++) {
        json_str(w, program->tables[i].bound->name);
    }
    json_array_end(w);
    json_object_end(w);
}

void event_create_update(EventLog *events, const char *update_id, const char *cause,
                         const Program *program, bool full_refresh)
{
    AUTO_BUFFER Buffer details = {0};
    AUTO_BUFFER Buffer message = {0};
    JsonWriter w = json_writer(&details);
    json_object_begin(&w);
    json_field_str(&w, "run_as", program->topology->owner);
    json_field_cstr(&w, "cause", cause);
    json_field_bool(&w, "full_refresh", full_refresh);
    write_configuration(&w, program);
    json_object_end(&w);
    buffer_printf(&message, "Update %.6s started by %s.", update_id, cause);
    Event event = {.type = "create_update",
                   .level = EVENT_INFO,
                   .message = buffer_str(&message),
                   .update_id = update_id,
                   .details = buffer_str(&details)};
    event_log_write(events, &event);
}

void event_update_progress(EventLog *events, const char *update_id, UpdateState state,
                           const Error *error)
{
    AUTO_BUFFER Buffer details = {0};
    AUTO_BUFFER Buffer message = {0};
    JsonWriter w = json_writer(&details);
    json_object_begin(&w);
    json_field_cstr(&w, "state", update_state_name(state));
    if (state == UPDATE_CANCELED) {
        json_field_cstr(&w, "cancellation_cause", "USER_ACTION");
    }
    json_object_end(&w);
    buffer_printf(&message, "Update %.6s is %s.", update_id, update_state_name(state));
    if (error != NULL) {
        buffer_append_byte(&message, ' ');
        error_format_line(error, &message);
    }
    Event event = {.type = "update_progress",
                   .level = error != NULL ? EVENT_ERROR : EVENT_INFO,
                   .message = buffer_str(&message),
                   .update_id = update_id,
                   .details = buffer_str(&details),
                   .error = error};
    event_log_write(events, &event);
}

static void write_schema(JsonWriter *w, const Schema *schema)
{
    AUTO_BUFFER Buffer text = {0};
    schema_format(schema, &text);
    json_field_str(w, "schema", buffer_str(&text));
    json_key(w, "schema_json");
    json_array_begin(w);
    for (size_t i = 0; i < schema->field_count; i++) {
        AUTO_BUFFER Buffer type = {0};
        type_format_simple(schema->fields[i].type, &type);
        json_object_begin(w);
        json_field_str(w, "name", schema->fields[i].name);
        json_field_str(w, "type", buffer_str(&type));
        json_field_bool(w, "nullable", !schema->fields[i].not_null);
        json_object_end(w);
    }
    json_array_end(w);
}

static const char *event_flow_type(FlowKind kind)
{
    switch (kind) {
    case FLOW_APPEND:
        return "APPEND";
    case FLOW_REPLACE_USING:
        return "REPLACE_USING";
    case FLOW_REPLACE_WHERE:
        return "REPLACE_WHERE";
    case FLOW_AUTO_CDC:
        return "CHANGE";
    }
    return "";
}

void event_flow_definition(EventLog *events, const char *update_id, const Program *program,
                           const ProgramTable *table)
{
    AUTO_BUFFER Buffer details = {0};
    AUTO_BUFFER Buffer message = {0};
    AUTO_BUFFER Buffer plan = {0};
    plan_format(table->plan, &plan);
    JsonWriter w = json_writer(&details);
    json_object_begin(&w);
    json_field_str(&w, "output_dataset", table->bound->name);
    json_key(&w, "input_datasets");
    json_array_begin(&w);
    for (size_t i = 0; i < table->plan->source_count; i++) {
        json_str(&w, program->sources[table->plan->sources[i].relation->index].config->name);
    }
    json_array_end(&w);
    json_field_cstr(&w, "flow_type", event_flow_type(table->flow->kind));
    json_field_cstr(&w, "language", "SQL");
    json_field_bool(&w, "once", false);
    json_field_str(&w, "explain_text", buffer_str(&plan));
    write_schema(&w, table->bound->schema);
    json_object_end(&w);
    buffer_printf(&message, "Flow '%.*s' is defined as %s.", STR_ARG(table->flow->name),
                  event_flow_type(table->flow->kind));
    Event event = {.type = "flow_definition",
                   .level = EVENT_INFO,
                   .message = buffer_str(&message),
                   .update_id = update_id,
                   .flow = table->flow->name,
                   .dataset = table->bound->name,
                   .details = buffer_str(&details)};
    event_log_write(events, &event);
}

static const char *action_name(ExpectationAction action)
{
    switch (action) {
    case EXPECT_WARN:
        return "ALLOW";
    case EXPECT_DROP:
        return "DROP";
    case EXPECT_FAIL:
        return "FAIL";
    }
    return "";
}

void event_dataset_definition(EventLog *events, const char *update_id, const ProgramTable *table)
{
    AUTO_BUFFER Buffer details = {0};
    AUTO_BUFFER Buffer message = {0};
    JsonWriter w = json_writer(&details);
    json_object_begin(&w);
    json_field_cstr(&w, "dataset_type", "STREAMING_TABLE");
    json_field_int(&w, "num_flows", 1);
    json_key(&w, "expectations");
    json_array_begin(&w);
    for (size_t i = 0; i < table->bound->expectation_count; i++) {
        const BoundExpectation *expectation = &table->bound->expectations[i];
        json_object_begin(&w);
        json_field_str(&w, "name", expectation->name);
        json_field_str(&w, "constraint", expectation->text);
        json_field_cstr(&w, "action", action_name(expectation->action));
        json_object_end(&w);
    }
    json_array_end(&w);
    write_schema(&w, table->bound->schema);
    json_field_cstr(&w, "x_topic", table->topic);
    json_object_end(&w);
    buffer_printf(&message, "Dataset '%.*s' is defined as STREAMING_TABLE.",
                  STR_ARG(table->bound->name));
    Event event = {.type = "dataset_definition",
                   .level = EVENT_INFO,
                   .message = buffer_str(&message),
                   .update_id = update_id,
                   .dataset = table->bound->name,
                   .details = buffer_str(&details)};
    event_log_write(events, &event);
}

static void write_metrics(JsonWriter *w, const FlowMetrics *metrics)
{
    json_key(w, "metrics");
    json_object_begin(w);
    json_field_int(w, "num_output_rows", (int64_t)metrics->output_rows);
    json_field_int(w, "num_upserted_rows", (int64_t)metrics->upserted_rows);
    json_field_int(w, "num_deleted_rows", (int64_t)metrics->deleted_rows);
    json_field_int(w, "num_output_bytes", (int64_t)metrics->output_bytes);
    json_field_int(w, "backlog_records", (int64_t)metrics->backlog_records);
    json_object_end(w);
    json_field_int(w, "x_source_rows", (int64_t)metrics->source_rows);
    json_field_int(w, "x_late_rows", (int64_t)metrics->late_rows);
    json_field_int(w, "x_behind_watermark_rows", (int64_t)metrics->behind_watermark_rows);
    json_field_int(w, "x_null_sequences", (int64_t)metrics->null_sequences);
    json_field_int(w, "x_null_values", (int64_t)metrics->null_values);
    json_field_int(w, "x_bad_records", (int64_t)metrics->bad_records);
    json_field_int(w, "x_epochs", (int64_t)metrics->epochs);
}

static void write_quality(JsonWriter *w, const ProgramTable *table, const FlowMetrics *metrics)
{
    json_key(w, "data_quality");
    json_object_begin(w);
    json_field_int(w, "dropped_records", (int64_t)metrics->dropped_records);
    json_key(w, "expectations");
    json_array_begin(w);
    for (size_t i = 0; i < table->bound->expectation_count; i++) {
        json_object_begin(w);
        json_field_str(w, "name", table->bound->expectations[i].name);
        json_field_str(w, "dataset", table->bound->name);
        json_field_int(w, "passed_records", (int64_t)metrics->expectations[i].passed);
        json_field_int(w, "failed_records", (int64_t)metrics->expectations[i].failed);
        json_object_end(w);
    }
    json_array_end(w);
    json_object_end(w);
}

void event_flow_progress(EventLog *events, const char *update_id, const ProgramTable *table,
                         const char *status, const FlowMetrics *metrics, const Error *error)
{
    AUTO_BUFFER Buffer details = {0};
    AUTO_BUFFER Buffer message = {0};
    JsonWriter w = json_writer(&details);
    json_object_begin(&w);
    json_field_cstr(&w, "status", status);
    if (metrics != NULL) {
        write_metrics(&w, metrics);
        write_quality(&w, table, metrics);
    }
    json_object_end(&w);
    buffer_printf(&message, "Flow '%.*s' is %s.", STR_ARG(table->flow->name), status);
    if (error != NULL) {
        buffer_append_byte(&message, ' ');
        error_format_line(error, &message);
    }
    bool running = strcmp(status, "RUNNING") == 0 && metrics != NULL;
    Event event = {.type = "flow_progress",
                   .level = error != NULL ? EVENT_ERROR
                            : running     ? EVENT_METRICS
                                          : EVENT_INFO,
                   .message = buffer_str(&message),
                   .update_id = update_id,
                   .flow = table->flow->name,
                   .dataset = table->bound->name,
                   .details = buffer_str(&details),
                   .error = error};
    event_log_write(events, &event);
}

void event_warning(EventLog *events, const char *update_id, const ProgramTable *table,
                   const char *code, Str message, Str fields)
{
    AUTO_BUFFER Buffer details = {0};
    buffer_printf(&details, "{\"code\":\"%s\"", code);
    if (fields.data != NULL) {
        buffer_append_byte(&details, ',');
        buffer_append_str(&details, fields);
    }
    buffer_append_byte(&details, '}');
    Event event = {.type = "warning",
                   .level = EVENT_WARN,
                   .message = message,
                   .update_id = update_id,
                   .flow = table == NULL ? STR_NULL : table->flow->name,
                   .dataset = table == NULL ? STR_NULL : table->bound->name,
                   .details = buffer_str(&details)};
    event_log_write(events, &event);
}
