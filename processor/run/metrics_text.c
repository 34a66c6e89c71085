/* Prometheus' text format. */
#include "processor/run/metrics_text.h"

#include <assert.h>

#include "processor/base/banned.h"

void metrics_text_family(MetricsText *text, const char *name, const char *type, const char *help)
{
    text->family = name;
    buffer_printf(text->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void append_label(Buffer *out, const MetricLabel *label)
{
    buffer_append_cstr(out, label->name);
    buffer_append_cstr(out, "=\"");
    for (size_t i = 0; i < label->value.size; i++) {
        char c = label->value.data[i];
        switch (c) {
        case '\\':
            buffer_append_cstr(out, "\\\\");
            break;
        case '"':
            buffer_append_cstr(out, "\\\"");
            break;
        case '\n':
            buffer_append_cstr(out, "\\n");
            break;
        default:
            buffer_append_byte(out, c);
        }
    }
    buffer_append_byte(out, '"');
}

static void append_name(MetricsText *text, const char *suffix, const MetricLabel *labels,
                        size_t label_count)
{
    assert(text->family != NULL);
    buffer_append_cstr(text->out, text->family);
    buffer_append_cstr(text->out, suffix);
    size_t total = text->common_count + label_count;
    for (size_t i = 0; i < total; i++) {
        buffer_append_byte(text->out, i == 0 ? '{' : ',');
        append_label(text->out,
                     i < text->common_count ? &text->common[i] : &labels[i - text->common_count]);
    }
    buffer_append_cstr(text->out, total == 0 ? " " : "} ");
}

void metrics_text_sample(MetricsText *text, const char *suffix, const MetricLabel *labels,
                         size_t label_count, uint64_t value)
{
    append_name(text, suffix, labels, label_count);
    buffer_printf(text->out, "%llu\n", (unsigned long long)value);
}

void metrics_text_seconds(MetricsText *text, const char *suffix, const MetricLabel *labels,
                          size_t label_count, int64_t value_us)
{
    append_name(text, suffix, labels, label_count);
    assert(value_us >= 0);
    buffer_printf(text->out, "%lld.%06lld\n", (long long)(value_us / 1000000),
                  (long long)(value_us % 1000000));
}
