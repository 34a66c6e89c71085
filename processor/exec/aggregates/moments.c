/* stddev, variance, skewness, kurtosis: central moments kept up to date row by row (Welford, with
 * Spark's formulas for the third and fourth, so that results agree to the last digit). */
#include <math.h>

#include "processor/exec/aggregates/aggregates.h"

#include "processor/base/banned.h"

typedef struct Spread {
    double n;
    double mean;
    double m2; /* sum of squared distances from the mean */
} Spread;

typedef struct Moments {
    double n;
    double mean;
    double m2;
    double m3;
    double m4;
} Moments;

ADD_LOOPS(spread, Spread, double, {
    s->n += 1;
    const double delta = x - s->mean;
    const double delta_n = delta / s->n;
    s->mean += delta_n;
    s->m2 += delta * (delta - delta_n);
})

ADD_LOOPS(moments, Moments, double, {
    s->n += 1;
    const double delta = x - s->mean;
    const double delta_n = delta / s->n;
    s->mean += delta_n;
    s->m2 += delta * (delta - delta_n);
    const double delta2 = delta * delta;
    const double delta_n2 = delta_n * delta_n;
    s->m3 = s->m3 - 3.0 * delta_n * s->m2 + delta * (delta2 - delta_n2);
    s->m4 = s->m4 - 4.0 * delta_n * s->m3 - 6.0 * delta_n2 * s->m2 +
            delta * (delta * delta2 - delta_n * delta_n2);
})

FINISH(var_pop, Spread, double, s->n > 0, s->m2 / s->n)
FINISH(var_samp, Spread, double, s->n > 1, s->m2 / (s->n - 1))
FINISH(stddev_pop, Spread, double, s->n > 0, sqrt(s->m2 / s->n))
FINISH(stddev_samp, Spread, double, s->n > 1, sqrt(s->m2 / (s->n - 1)))
FINISH(skewness, Moments, double, s->n > 0 && s->m2 != 0,
       sqrt(s->n) * s->m3 / sqrt(s->m2 * s->m2 * s->m2))
FINISH(kurtosis, Moments, double, s->n > 0 && s->m2 != 0, s->n * s->m4 / (s->m2 * s->m2) - 3.0)

/* The same for two parts (Chan): joins b into a. */
static Error *merge_spread(const AggregateCall *call, void *a, const void *b)
{
    (void)call;
    Spread *s = a;
    const Spread *other = b;
    if (other->n == 0) {
        return NULL;
    }
    const double n = s->n + other->n;
    const double delta = other->mean - s->mean;
    const double delta_n = delta / n;
    s->m2 += other->m2 + delta * delta_n * s->n * other->n;
    s->mean += delta_n * other->n;
    s->n = n;
    return NULL;
}

#define CHOOSE(name, State, add, merge)                                                            \
    static const AggregateLoops *choose_##name(const AggregateCall *call, const void **ret_setup)  \
    {                                                                                              \
        static const AggregateLoops loops = {sizeof(State), add_##add, add_all_##add,              \
                                             merge,         NULL,      finish_##name};             \
        (void)call;                                                                                \
        (void)ret_setup;                                                                           \
        return &loops;                                                                             \
    }                                                                                              \
    const AggregateKernel aggregate_##name = {.choose = choose_##name};

CHOOSE(var_pop, Spread, spread, merge_spread)
CHOOSE(var_samp, Spread, spread, merge_spread)
CHOOSE(stddev_pop, Spread, spread, merge_spread)
CHOOSE(stddev_samp, Spread, spread, merge_spread)
CHOOSE(skewness, Moments, moments, NULL)
CHOOSE(kurtosis, Moments, moments, NULL)
