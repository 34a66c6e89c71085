/* The steps of a scenario, one function a word of the format. A step returns an Error when the
 * scenario ends there: what it says is not so, or it makes no sense. What the product refuses or
 * fails at goes to world_fail instead, for a `fails` step to judge. */
#ifndef TESTING_STEP_H
#define TESTING_STEP_H

#include "processor/testing/world.h"

#define STEP(constant, word, function, beside)                                                     \
    NODISCARD Error *function(World *world, const ScenarioStep *step);
SCENARIO_STEPS(STEP)
#undef STEP

#endif
