/* corr, covar_pop, covar_samp and linear regression: moments of pairs, kept up to date row by row
 * with Spark's formulas. Pairs with a NULL do not count.
 *
 * Spark's regr_ functions take (y, x); some give them to the formulas in this order, some with x
 * first, which the last digit shows. */
#include <math.h>

#include "processor/exec/aggregates/aggregates.h"

#include "processor/base/banned.h"

/* Of covariance and correlation. */
typedef struct Pairs {
    double n;
    double mean_x;
    double mean_y;
    double co;   /* sum of products of the distances from both means */
    double m2_x; /* sums of squared distances */
    double m2_y;
} Pairs;

/* covar_*: Spark adds dx / n to the mean. */
#define ADD_PAIR(x_, y_)                                                                           \
    s->n += 1;                                                                                     \
    const double dx = (x_) - s->mean_x;                                                            \
    const double dy = (y_) - s->mean_y;                                                            \
    s->mean_x += dx / s->n;                                                                        \
    s->mean_y += dy / s->n;                                                                        \
    s->co += dx * ((y_) - s->mean_y);

ADD_PAIR_LOOPS(covar, Pairs, ADD_PAIR(x, y))
ADD_PAIR_LOOPS(corr, Pairs, {
    ADD_PAIR(x, y)
    s->m2_x += dx * (x - s->mean_x);
    s->m2_y += dy * (y - s->mean_y);
})

FINISH(covar_pop, Pairs, double, s->n > 0, s->co / s->n)
FINISH(covar_samp, Pairs, double, s->n > 1, s->co / (s->n - 1))
FINISH(corr, Pairs, double, s->n > 1 && s->m2_x * s->m2_y != 0, s->co / sqrt(s->m2_x * s->m2_y))

/* ---- Regression: y, the first argument, on x, the second ---- */

/* Sums of squares go by the formula of variance, as Spark's regr_sxx does. */
typedef struct Regression {
    Pairs pairs;  /* x first, for the line */
    double co_yx; /* the same sum of products with y first, for regr_sxy and regr_r2 */
    double sum_x;
    double sum_y;
    double spread_x;
    double spread_y;
} Regression;

ADD_PAIR_LOOPS(regression, Regression, {
    /* x is the first argument here, which regression calls y. */
    Pairs *p = &s->pairs;
    p->n += 1;
    const double dx = y - p->mean_x;
    const double dy = x - p->mean_y;
    const double dx_n = dx / p->n;
    const double dy_n = dy / p->n;
    p->mean_x += dx_n;
    p->mean_y += dy_n;
    p->co += dx * (x - p->mean_y);
    s->co_yx += dy * (y - p->mean_x);
    p->m2_x += dx * (y - p->mean_x);
    p->m2_y += dy * (x - p->mean_y);
    s->spread_x += dx * (dx - dx_n);
    s->spread_y += dy * (dy - dy_n);
    s->sum_x += y;
    s->sum_y += x;
})

FINISH(regr_count, Regression, int64_t, true, s->pairs.n)
FINISH(regr_avgx, Regression, double, s->pairs.n > 0, s->sum_x / s->pairs.n)
FINISH(regr_avgy, Regression, double, s->pairs.n > 0, s->sum_y / s->pairs.n)
FINISH(regr_sxx, Regression, double, s->pairs.n > 0, s->spread_x)
FINISH(regr_syy, Regression, double, s->pairs.n > 0, s->spread_y)
FINISH(regr_sxy, Regression, double, s->pairs.n > 0, s->co_yx)
FINISH(regr_slope, Regression, double, s->pairs.n > 1 && s->spread_x != 0,
       s->pairs.co / s->spread_x)
FINISH(regr_intercept, Regression, double, s->pairs.n > 1 && s->spread_x != 0,
       s->pairs.mean_y - s->pairs.co / s->spread_x * s->pairs.mean_x)
static double r2(const Regression *s)
{
    const double corr = s->co_yx / sqrt(s->pairs.m2_y * s->pairs.m2_x);
    return s->pairs.m2_y == 0 ? 1.0 : corr * corr;
}

FINISH(regr_r2, Regression, double, s->pairs.n > 1 && s->pairs.m2_x != 0, r2(s))

#define CHOOSE(name, State, add)                                                                   \
    static const AggregateLoops *choose_##name(const AggregateCall *call, const void **ret_setup)  \
    {                                                                                              \
        static const AggregateLoops loops = {sizeof(State), add_##add, add_all_##add,              \
                                             NULL,          NULL,      finish_##name};             \
        (void)call;                                                                                \
        (void)ret_setup;                                                                           \
        return &loops;                                                                             \
    }                                                                                              \
    const AggregateKernel aggregate_##name = {.choose = choose_##name};

CHOOSE(covar_pop, Pairs, covar)
CHOOSE(covar_samp, Pairs, covar)
CHOOSE(corr, Pairs, corr)
CHOOSE(regr_count, Regression, regression)
CHOOSE(regr_avgx, Regression, regression)
CHOOSE(regr_avgy, Regression, regression)
CHOOSE(regr_sxx, Regression, regression)
CHOOSE(regr_syy, Regression, regression)
CHOOSE(regr_sxy, Regression, regression)
CHOOSE(regr_slope, Regression, regression)
CHOOSE(regr_intercept, Regression, regression)
CHOOSE(regr_r2, Regression, regression)
