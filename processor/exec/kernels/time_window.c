/* Time windows: the start of the last window that holds an instant, and its neighbours. The binder
 * makes a STRUCT of two such calls of window(ts, …), see bind/bind_time_window.c. */
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

/* window(ts, slide, start, shift): windows start every `slide` microseconds, counted from `start`
 * after 1970; the last one not after ts, and `shift` more. Far from all dates it wraps around. */
static void run_time_window(const KernelCall *call)
{
    const int64_t *ts = ARGUMENT(call, 0, int64_t);
    const int64_t *slide = ARGUMENT(call, 1, int64_t);
    const int64_t *start = ARGUMENT(call, 2, int64_t);
    const int64_t *shift = ARGUMENT(call, 3, int64_t);
    int64_t *r = RESULT(call, int64_t);
    FOR_VALID_ROWS(call, i)
    {
        int64_t distance = (int64_t)((uint64_t)ts[i] - (uint64_t)start[i]);
        int64_t remainder = distance % slide[i];
        remainder += remainder < 0 ? slide[i] : 0;
        r[i] = (int64_t)((uint64_t)ts[i] - (uint64_t)remainder + (uint64_t)shift[i]);
    }
}

const Kernel kernel_time_window = {.run = run_time_window};
