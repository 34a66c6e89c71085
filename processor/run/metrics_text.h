/* Prometheus' text format 0.0.4: families of samples. Names and help are ours and plain; label
 * values come from users and are escaped. */
#ifndef RUN_METRICS_TEXT_H
#define RUN_METRICS_TEXT_H

#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/base/str.h"

typedef struct MetricLabel {
    const char *name;
    Str value;
} MetricLabel;

typedef struct MetricsText {
    Buffer *out;
    const MetricLabel *common; /* on every sample */
    size_t common_count;
    const char *family; /* the one begun last */
} MetricsText;

/* type: "counter", "gauge", "histogram". All samples of a family come before the next family. */
void metrics_text_family(MetricsText *text, const char *name, const char *type, const char *help);
/* One sample of the family; suffix: "", "_bucket", "_sum", "_count". */
void metrics_text_sample(MetricsText *text, const char *suffix, const MetricLabel *labels,
                         size_t label_count, uint64_t value);
/* The same, of a value in microseconds, as seconds. */
void metrics_text_seconds(MetricsText *text, const char *suffix, const MetricLabel *labels,
                          size_t label_count, int64_t value_us);

#endif
