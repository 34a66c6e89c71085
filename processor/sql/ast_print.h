/* A syntax tree written back as SQL: one line, keywords in capitals, parentheses only where the
 * tree needs them, names quoted where they must be. Parsing what was printed gives an equal tree,
 * so printing that again gives the same text. */
#ifndef SQL_AST_PRINT_H
#define SQL_AST_PRINT_H

#include "processor/base/buffer.h"
#include "processor/sql/ast.h"

/* Each appends its part of a statement. */
void ast_print_statement(const AstStatement *statement, Buffer *out);
void ast_print_query(const AstQuery *query, Buffer *out);
void ast_print_expr(const AstExpr *expr, Buffer *out);
void ast_print_data_type(const AstDataType *type, Buffer *out);
void ast_print_flow(const AstFlow *flow, Buffer *out);
void ast_print_schedule(const AstSchedule *schedule, Buffer *out);
/* A dotted name, each part quoted where it must be. */
void ast_print_name(const AstName *name, Buffer *out);
void ast_print_identifier(const AstIdentifier *identifier, Buffer *out);
/* 'text' with escapes. */
void ast_print_string(Str value, Buffer *out);
/* How an operator between dates, times and intervals is shown: `head` left `middle` right `tail`.
 */
typedef struct AstStepForm {
    const char *head;
    const char *middle;
    const char *tail;
    bool swapped; /* the right operand stands first */
} AstStepForm;

/* What the names in an expression mean, as far as Spark shows it. Any function may be NULL;
 * `context` is the caller's. */
typedef struct AstNames {
    /* How many leading parts of a column's name are not shown: t of t.a, nothing of a struct's s.a.
     * NULL: all but the last. */
    size_t (*qualifier_parts)(void *context, const AstName *name);
    /* Is it an alias of the same SELECT list? Shown as lateralAliasReference(x). */
    bool (*is_lateral_alias)(void *context, const AstName *name);
    /* "a, b": columns of the query around that a subquery names: scalarsubquery(a, b). */
    Str (*outer_columns)(void *context, const AstExpr *subquery);
    /* What OVER w means; NULL when there is no such window. */
    const AstWindow *(*named_window)(void *context, const AstWindow *over);
    /* Is there a column of that name? current_date may be one. */
    bool (*is_column)(void *context, const AstName *name);
    /* "a.x" when the name is a column of the query around, with how many of its parts mean the
     * column: shown as outer(a.x). Else STR_NULL. */
    Str (*outer_column)(void *context, const AstName *name, size_t *ret_used_parts);
    /* NULL: as between numbers, (a + b). */
    const AstStepForm *(*step_form)(void *context, const AstBinaryStep *step);
    /* Appends a literal of a date, a time or an interval as its value is written: INTERVAL '1' DAY
     * for INTERVAL '1 day'. False when it cannot. */
    bool (*literal_text)(void *context, const AstExpr *literal, Buffer *out);
    void *context;
} AstNames;
/* The name Spark 4 gives a select item without alias: SEQ + 1 is (SEQ + 1), t.a is a, cast(x + 1 as
 * int) is CAST((x + 1) AS INT), count(*) is count(1), 'x' is x. Names that depend on types (date +
 * interval) are as for numbers when `names` does not say. `names` may be NULL. */
void ast_print_column_name_with(const AstExpr *expr, const AstNames *names, Buffer *out);
void ast_print_column_name(const AstExpr *expr, Buffer *out);

#endif
