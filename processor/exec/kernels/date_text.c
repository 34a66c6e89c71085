/* Names of days and months. */
#include "processor/exec/kernels/cast.h"

#include "processor/base/banned.h"

static void dayname(const KernelCall *call)
{
    static const char *const names[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    const int32_t *days = ARGUMENT(call, 0, int32_t);
    FOR_VALID_ROWS(call, i)
    {
        int32_t day = days[i] % 7;
        RESULT(call, Str)[i] = str_from(names[day < 0 ? day + 7 : day]);
    }
}

static void monthname(const KernelCall *call)
{
    static const char *const names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const int32_t *days = ARGUMENT(call, 0, int32_t);
    FOR_VALID_ROWS(call, i)
    {
        RESULT(call, Str)[i] = str_from(names[date_to_civil(days[i]).month - 1]);
    }
}

const Kernel kernel_dayname = {.run = dayname};
const Kernel kernel_monthname = {.run = monthname};
