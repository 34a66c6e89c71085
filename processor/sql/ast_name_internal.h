/* What the files that print Spark's column names share. */
#ifndef SQL_AST_NAME_INTERNAL_H
#define SQL_AST_NAME_INTERNAL_H

#include "processor/base/buffer.h"
#include "processor/sql/ast.h"
#include "processor/sql/ast_print.h"

/* Lambda parameters in scope, innermost first: they are shown as namedlambdavariable(). */
typedef struct NameScope NameScope;
struct NameScope {
    const AstLambda *lambda;
    const NameScope *outer;
};

typedef struct NamePrinter {
    Buffer *out;
    const AstNames *names;
    const NameScope *scope;
} NamePrinter;

/* Appends what Spark shows for the part; name_exprs puts ", " between. */
void name_expr(NamePrinter *printer, const AstExpr *expr);
void name_exprs(NamePrinter *printer, AstExpr *const *items, size_t count);
void name_call(NamePrinter *printer, const AstCall *call);
void name_literal(NamePrinter *printer, const AstExpr *expr);
void name_negative_number(NamePrinter *printer, const AstLiteral *literal);
void name_interval(NamePrinter *printer, const AstExpr *expr);
/* `operand` as CAST(… AS type); complex types show the operand alone. */
void name_cast(NamePrinter *printer, const AstCast *cast);
/* Is it a cast written as a function, bigint(x)? Spark shows the operand alone. */
bool is_cast_function(const AstCall *call);

#endif
