/* ServiceNotify: tells systemd (or whatever listens on $NOTIFY_SOCKET, sd_notify(3)) how the
 * service does: READY=1 when it is ready for the first time, STATUS= a line for people whenever it
 * changes, STOPPING=1 at the end. Without the variable nothing happens. */
#ifndef CLI_SERVICE_NOTIFY_H
#define CLI_SERVICE_NOTIFY_H

#include <stdatomic.h>

#include "processor/run/metrics.h"

typedef struct ServiceNotify ServiceNotify;

/* Begins to watch; `metrics` and `stop` must outlive it. */
ServiceNotify *service_notify_open(Metrics *metrics, const atomic_bool *stop);
void service_notify_close(ServiceNotify *notify);

DEFINE_AUTO(service_notify, ServiceNotify, service_notify_close)

#endif
