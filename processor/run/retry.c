/* Back-off between tries. */
#include "processor/run/retry.h"

#include "processor/base/banned.h"

int64_t retry_backoff_ms(const TopologyRetry *retry, int attempt)
{
    int64_t wait = retry->backoff_ms;
    for (int i = 1; i < attempt && wait < retry->backoff_max_ms; i++) {
        wait *= 2;
    }
    return wait < retry->backoff_max_ms ? wait : retry->backoff_max_ms;
}
