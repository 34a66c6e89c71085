/* A vector judged: the catalogue's relations and functions and the vector's session as a binder's
 * context, then parser and binder as the product uses them. */
#ifndef TESTS_SUPPORT_VECTOR_FIXTURE_H
#define TESTS_SUPPORT_VECTOR_FIXTURE_H

#include "tests/support/bind_fixture.h"
#include "tests/support/vectors.h"

typedef struct VectorVerdict {
    VectorStage stage;  /* NONE: accepted */
    const char *kind;   /* "accept", "NOT_YET" or the kind of the first error */
    const Error *error; /* the first one; NULL when accepted. The fixture's. */
} VectorVerdict;

/* Judges an SQL or EXPR vector, as statement of a pipeline or alone. */
VectorVerdict vector_judge(BindFixture *fixture, const VectorSet *set, const TestVector *vector,
                           bool pipeline);
/* What must come out: "accept" or a kind. Failures of the run stage are accepted by analysis. */
const char *vector_expected(const TestVector *vector, Arena *arena);
const char *vector_stage_name(VectorStage stage);

#endif
