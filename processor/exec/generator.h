/* Generators: functions that give any number of rows for one (explode, stack …). The operator asks
 * how many rows each input row gives, and then for the values of any of them: batches of results
 * need not end where an input row ends. */
#ifndef EXEC_GENERATOR_H
#define EXEC_GENERATOR_H

#include "processor/exec/kernel.h"

typedef struct GeneratorCall {
    const Vector *const *arguments; /* each as long as the input batch */
    size_t argument_count;
    const Type *result; /* STRUCT of the columns */
    uint32_t row_count; /* of the input batch */
    Arena *arena;       /* of the input batch: as long as rows are asked for */
    void *state;        /* what count has kept for column */
} GeneratorCall;

/* Result row i is element elements[i] of input row rows[i]. */
typedef struct GeneratedRows {
    const uint32_t *rows;
    const uint32_t *elements; /* GENERATED_NONE: the row of NULLs of an OUTER generator */
    uint32_t count;
} GeneratedRows;

#define GENERATED_NONE UINT32_MAX

struct GeneratorKernel {
    /* counts[row] = rows that each input row asked for gives. */
    void (*count)(GeneratorCall *call, Rows rows, uint32_t *counts);
    /* Column `column` of these rows, in `arena`; bytes may be the arguments'. */
    Vector *(*column)(const GeneratorCall *call, size_t column, const GeneratedRows *rows,
                      Arena *arena);
    bool outer; /* a row of NULLs where there is none */
};

#endif
