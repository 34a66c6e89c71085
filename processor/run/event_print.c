/* Events for people. */
#include "processor/run/event_print.h"

#include "connectors/format/json_tree.h"

#include "processor/base/banned.h"

static void print_count(const JsonTree *node, const char *name, const char *what, Buffer *out)
{
    int64_t count = json_tree_int(json_tree_get(node, name), 0);
    if (count != 0) {
        buffer_printf(out, "%s%lld %s", out->size > 0 ? ", " : "", (long long)count, what);
    }
}

/* What happened in numbers; nothing for zeros. */
static void print_metrics(const JsonTree *progress, Buffer *out)
{
    AUTO_BUFFER Buffer counts = {0};
    const JsonTree *metrics = json_tree_get(progress, "metrics");
    if (metrics == NULL) {
        return;
    }
    print_count(progress, "x_source_rows", "records read", &counts);
    print_count(metrics, "num_output_rows", "rows applied", &counts);
    print_count(progress, "x_late_rows", "late", &counts);
    print_count(progress, "x_behind_watermark_rows", "behind the watermark", &counts);
    print_count(metrics, "num_upserted_rows", "upserts", &counts);
    print_count(metrics, "num_deleted_rows", "tombstones", &counts);
    print_count(progress, "x_bad_records", "to quarantine", &counts);
    print_count(progress, "x_null_values", "without a value", &counts);
    print_count(json_tree_get(progress, "data_quality"), "dropped_records", "dropped", &counts);
    print_count(metrics, "backlog_records", "waiting", &counts);
    const JsonTree *expectations =
        json_tree_get(json_tree_get(progress, "data_quality"), "expectations");
    for (size_t i = 0; i < json_tree_size(expectations); i++) {
        const JsonTree *expectation = json_tree_at(expectations, i);
        Str name = json_tree_str(json_tree_get(expectation, "name"), STR("?"));
        int64_t passed = json_tree_int(json_tree_get(expectation, "passed_records"), 0);
        int64_t failed = json_tree_int(json_tree_get(expectation, "failed_records"), 0);
        if (passed + failed > 0) {
            buffer_printf(&counts, "%s%.*s: %lld passed, %lld failed", counts.size > 0 ? "; " : "",
                          STR_ARG(name), (long long)passed, (long long)failed);
        }
    }
    if (counts.size > 0) {
        buffer_printf(out, " (%s)", buffer_cstr(&counts));
    }
}

void event_print(Str event_json, Arena *arena, Buffer *out)
{
    const JsonTree *event = NULL;
    Error *error = json_tree_parse(event_json, arena, &event);
    if (error != NULL) {
        error_free(error);
        buffer_append_str(out, event_json);
        return;
    }
    Str time = json_tree_str(json_tree_get(event, "timestamp"), STR("?"));
    Str level = json_tree_str(json_tree_get(event, "level"), STR("?"));
    Str type = json_tree_str(json_tree_get(event, "event_type"), STR("?"));
    Str message = json_tree_str(json_tree_get(event, "message"), STR(""));
    buffer_printf(out, "%.*s %-7.*s %-18.*s %.*s", STR_ARG(time), STR_ARG(level), STR_ARG(type),
                  STR_ARG(message));
    print_metrics(json_tree_get(json_tree_get(event, "details"), "flow_progress"), out);
}
