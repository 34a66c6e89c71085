/* The basics of a process under the names every Prometheus client gives them:
 * process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds and their kin, from
 * /proc/self. What the system does not tell is left out. */
#ifndef RUN_METRICS_PROCESS_H
#define RUN_METRICS_PROCESS_H

#include "processor/run/metrics_text.h"

/* Writes without common labels. */
void metrics_process_write(MetricsText *text);

#endif
