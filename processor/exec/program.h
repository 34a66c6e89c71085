/* A compiled expression: steps over registers.
 *
 * Registers hold vectors as long as the batch. A step reads registers, works on the rows of one
 * row set and writes one register. Row sets make evaluation lazy: set 0 are the batch's selected
 * rows, SPLIT steps write narrower ones, and a step whose set is empty is skipped (its register
 * stays NULL). `CASE WHEN x <> 0 THEN 1 / x ELSE 0 END`:
 *
 *     r0 = column x                           set 0
 *     r2 = r0 <> r1 (the constant 0)          set 0
 *     SPLIT_TRUE r2: TRUE to set 1, others 2  set 0
 *     r4 = r3 (the constant 1) / r0           set 1
 *     r6 = PICK r4 in set 1, r5 in set 2      set 0
 *
 * Calls of constants are computed when they are compiled, unless that fails: then the step stays
 * and fails only where its value is asked for. */
#ifndef EXEC_PROGRAM_H
#define EXEC_PROGRAM_H

#include "processor/exec/kernel.h"

typedef enum StepKind {
    STEP_COLUMN,      /* result = column `column` of the batch */
    STEP_KERNEL,      /* result = run(arguments) */
    STEP_SPLIT_TRUE,  /* sets[0] = where the argument is TRUE, sets[1] = where it is not */
    STEP_SPLIT_VALID, /* sets[0] = where the argument is not null, sets[1] = where it is */
    STEP_SPLIT_OPEN,  /* sets[0] = where the argument leaves AND (`decisive`: OR) undecided */
    STEP_PICK,        /* result = argument k in the rows of sets[k] */
    STEP_AND,         /* result = argument 0, AND argument 1 in the rows of sets[0] */
    STEP_OR,
    STEP_FIELD,  /* result = field `column` of the struct argument */
    STEP_STRUCT, /* result = struct of the arguments */
} StepKind;

typedef struct Step {
    StepKind kind;
    uint32_t rows; /* the row set it works on */
    uint32_t result;
    const uint32_t *arguments;
    size_t argument_count;
    const uint32_t *sets;
    const Type *type; /* of the result */
    KernelRun *run;
    const void *state;
    SourcePlace place;
    uint32_t column;
    bool nulls_pass; /* NULL_IN_NULL_OUT */
    bool tolerant;
    bool decisive;
} Step;

typedef struct Register {
    const Vector *constant; /* length 1, when the value is known; else a step writes it */
    Vector *broadcast;      /* the constant repeated, for kernels; made when first needed */
    bool needs_broadcast;
} Register;

struct Expression {
    Arena *arena;
    ExecContext context;
    const Type *type;
    Step *steps;
    size_t step_count;
    size_t step_capacity;
    Register *registers;
    size_t register_count;
    size_t register_capacity;
    uint32_t broadcast_rows; /* length of the broadcasts */
    uint32_t set_count;
    uint32_t root; /* register of the value */
};

/* Compiles `expr` into the (empty) expression. */
NODISCARD Error *expression_compile(Expression *expression, const BoundExpr *expr);
/* Chooses the loop that casts setup->types[0] to setup->result; NULL when there is none. */
KernelRun *cast_choose(KernelSetup *setup);
/* Membership in a list of constants (arguments 1 … of the setup); all of one type. */
KernelRun *in_choose(KernelSetup *setup);
/* `=` on two values of the types. */
KernelRun *equal_choose(KernelSetup *setup);
extern const Kernel kernel_not;

#endif
