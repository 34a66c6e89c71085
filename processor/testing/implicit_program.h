/* The program of a scenario: the statements executed so far, as one topology that is loaded the way
 * every topology is. A statement that creates a table again takes the place of what defined it
 * before, as an edited topology file would. Immutable; a changed program is a new object. */
#ifndef TESTING_IMPLICIT_PROGRAM_H
#define TESTING_IMPLICIT_PROGRAM_H

#include "processor/run/program.h"
#include "processor/testing/options.h"
#include "processor/testing/scenario.h"

typedef struct ImplicitProgram ImplicitProgram;

/* What all programs of a scenario share. Outlives them. */
typedef struct ImplicitPipeline {
    const Scenario *scenario;
    const TestOptions *options;
    const char *name;   /* of the pipeline */
    const char *prefix; /* of topics */
} ImplicitPipeline;

/* The program that is `before` (NULL: none) and then `sql`, whose REFRESH statements come last. The
 * first mistake is returned; then there is no new program. */
NODISCARD Error *implicit_program_add(const ImplicitPipeline *pipeline,
                                      const ImplicitProgram *before, Str sql,
                                      ImplicitProgram **ret_program);
/* The program of the scenario's topology file, as it is. */
NODISCARD Error *implicit_program_from_file(const ImplicitPipeline *pipeline,
                                            ImplicitProgram **ret_program);
void implicit_program_free(ImplicitProgram *program);

const Program *implicit_program(const ImplicitProgram *program);
/* Tables that the latest statements create, give a flow or refresh, as indexes of the program's
 * tables. */
const size_t *implicit_program_touched(const ImplicitProgram *program, size_t *ret_count);
/* Those that the latest statements build anew (REFRESH … FULL); they are not among the touched. */
const size_t *implicit_program_rebuilt(const ImplicitProgram *program, size_t *ret_count);
/* Index of a table by a name with one to three parts; -1: none. */
int implicit_program_table(const ImplicitProgram *program, Str name);

DEFINE_AUTO(implicit_program, ImplicitProgram, implicit_program_free)

#endif
