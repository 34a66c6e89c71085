/* Kernels: the loops behind functions, casts and operators.
 *
 * A kernel is chosen once, when an expression is compiled (Kernel.choose looks at the types), and
 * then called once a batch with a KernelCall. For functions that are NULL_IN_NULL_OUT the caller
 * has already set the result's validity to the AND of its arguments': cheap loops run over every
 * row asked for, null or not (FOR_ROWS: values under nulls are initialised), loops that follow
 * pointers skip the nulls (FOR_VALID_ROWS).
 *
 * A row that cannot be computed is handed to kernel_fail. A fast loop only ORs a flag; when it is
 * set, a second, slow loop over the valid rows finds the culprits and words the errors.
 *
 * LIST results are appended row by row (see list_skip_to), all others written by row number. */
#ifndef EXEC_KERNEL_H
#define EXEC_KERNEL_H

#include "processor/bind/bound.h"
#include "processor/data/batch.h"
#include "processor/exec/query.h"

/* The rows asked for: those of `selection` (ascending), or 0 … count - 1 when it is NULL. */
typedef struct Rows {
    const uint16_t *selection;
    uint32_t count;
} Rows;

/* Where failing rows go. `row_of` maps rows of the vectors at hand to rows of the batch (elements
 * of a list to the row they lie in, ROW_NOT_ASKED for elements nobody asked for); NULL: the same.
 */
typedef struct Failures {
    RowErrors *errors;
    const uint32_t *row_of;
    SourcePlace place;
    bool tolerant; /* TRY_CAST, try_add …: NULL instead of an error */
} Failures;

#define ROW_NOT_ASKED UINT32_MAX

typedef struct KernelCall {
    const Vector *const *arguments;
    size_t argument_count;
    Vector *result;
    Rows rows;
    uint32_t row_count; /* length of the result */
    Arena *arena;       /* of the batch: results, their bytes */
    const void *state;
    const ExecContext *context;
    const Failures *failures;
} KernelCall;

typedef void KernelRun(const KernelCall *call);

typedef struct KernelSetup {
    const BoundExpr *expr; /* the call; NULL for kernels that are no calls */
    const Type *result;
    const Type *const *types;       /* of the arguments */
    const Vector *const *constants; /* an argument known now: vector of length 1; else NULL */
    size_t argument_count;
    Arena *arena; /* lives as long as the expression */
    const ExecContext *context;
    const void *state; /* out: handed to every KernelCall */
} KernelSetup;

struct Kernel {
    KernelRun *run;                           /* for all types it takes, or */
    KernelRun *(*choose)(KernelSetup *setup); /* the one for these types */
    bool tolerant;                            /* NULL instead of an error */
};

/* The batch's row that a row of the vectors at hand belongs to, or ROW_NOT_ASKED. */
uint32_t kernel_batch_row(const KernelCall *call, uint32_t row);
/* True, and the row is NULL, when nobody wants its error: it was not asked for or the call is
 * tolerant. Asked first, so that errors nobody reads are not worded. */
bool kernel_forgives(const KernelCall *call, uint32_t row);
/* Notes the row's error (taken over) and makes its result NULL. */
void kernel_fail(const KernelCall *call, uint32_t row, Error *error);
/* Are all arguments of the row non-null? */
bool kernel_arguments_valid(const KernelCall *call, uint32_t row);
/* LIST results: appends NULLs until the result has `row` rows. */
void list_skip_to(const KernelCall *call, uint32_t row);
Vector *vector_of_nulls(Arena *arena, const Type *type, uint32_t row_count);
/* Runs the kernel over `row_count` rows and gives its result: allocates it, prepares validity. */
Vector *kernel_run(KernelRun *run, const KernelCall *call, const Type *type, uint32_t row_count,
                   bool nulls_pass);

/* The i-th row asked for. */
static inline uint32_t rows_at(Rows rows, uint32_t i)
{
    return rows.selection == NULL ? i : rows.selection[i];
}

/* FOR_ROWS(call->rows, i, { r[i] = a[i] + b[i]; }); two loops, the dense one vectorizes. The rows
 * are copied: a result of bytes or INTs might else be where their count is, and the compiler would
 * read that again for every row. */
#define FOR_ROWS(rows_, i, ...)                                                                    \
    do {                                                                                           \
        const Rows i##_rows_ = (rows_);                                                            \
        if (i##_rows_.selection == NULL) {                                                         \
            for (uint32_t i = 0; i < i##_rows_.count; i++) {                                       \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        } else {                                                                                   \
            for (uint32_t i##_at_ = 0; i##_at_ < i##_rows_.count; i##_at_++) {                     \
                const uint32_t i = i##_rows_.selection[i##_at_];                                   \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* FOR_VALID_ROWS(call, i) { … }: the rows whose arguments are all there. */
#define FOR_VALID_ROWS(call, i)                                                                    \
    for (uint32_t i##_at_ = 0, i = 0; i##_at_ < (call)->rows.count; i##_at_++)                     \
        if ((i = rows_at((call)->rows, i##_at_), vector_is_valid((call)->result, i)))

#define ARGUMENT(call, k, CType) ((const CType *)(call)->arguments[k]->data)
#define RESULT(call, CType) ((CType *)(call)->result->data)

/* The integer types a kernel is generated for: X(CType, unsigned CType, suffix). */
#define INTEGER_TYPES(X)                                                                           \
    X(int8_t, uint8_t, int8)                                                                       \
    X(int16_t, uint16_t, int16)                                                                    \
    X(int32_t, uint32_t, int32)                                                                    \
    X(int64_t, uint64_t, int64)

#endif
