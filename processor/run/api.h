/* Api: what a running service answers over HTTP: /metrics, /healthz, /readyz, /log/level. */
#ifndef RUN_API_H
#define RUN_API_H

#include "processor/run/metrics.h"

typedef struct Api Api;

/* Listens at once; answers from `metrics`, which must outlive it. API_LISTEN when it cannot. */
NODISCARD Error *api_open(Str listen, Metrics *metrics, Api **ret_api);
void api_close(Api *api);
/* "127.0.0.1:8088", the real port. */
const char *api_address(const Api *api);

DEFINE_AUTO(api, Api, api_close)

#endif
