/* A small function catalog for tests of the binder and the planner, which must not need exec/:
 * operators, a few scalar functions, and one name of every other kind. No kernels. */
#ifndef TESTS_SUPPORT_FUNCTION_FIXTURE_H
#define TESTS_SUPPORT_FUNCTION_FIXTURE_H

#include "processor/bind/function.h"

/* Constant; never freed. */
const FunctionCatalog *function_fixture(void);

#endif
