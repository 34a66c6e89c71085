/* Watermarks of several streams together. */
#include "processor/exec/stream.h"

#include "processor/base/banned.h"

int64_t stream_watermark(const StreamContext *stream, const size_t *watermarks, size_t count)
{
    int64_t least = count == 0 ? INT64_MIN : INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t watermark = stream->watermarks[watermarks[i]];
        least = watermark < least ? watermark : least;
    }
    return least;
}
