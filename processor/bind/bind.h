/* From syntax to bound trees: names, types, and the rules that reject a statement. Every rule names
 * its requirement in the code. */
#ifndef BIND_BIND_H
#define BIND_BIND_H

#include "processor/bind/bound.h"
#include "processor/data/datetime.h"
#include "processor/sql/ast.h"

typedef struct BindContext {
    Catalog *catalog;
    const FunctionCatalog *functions;
    const TimeZone *time_zone; /* session zone, for literals */
    bool pipeline;             /* statements of a topology program; false: standalone */
    Str owner;                 /* the user of the session: who makes tables, and who asks */
    bool incomplete; /* statements that do not parse are left out: what is missing is not told */
    bool judge_only; /* the catalog stays as it is, whatever the statements make */
    /* What rules about schedules and collations ask of the session and the installation. */
    bool no_session_zone;  /* time_zone is a stand-in: nobody named one (ST-36) */
    size_t trigger_tables; /* tables with a TRIGGER ON UPDATE there are (ST-40) */
    Str default_collation; /* of the current schema; data NULL: UTF8_BINARY (ST-27) */
    Arena *arena;          /* of everything bound */
} BindContext;

/* Binds the statements of one or more scripts as one program. Every mistake goes to `diagnostics`,
 * placed in the text of its script (`sources[i]`: place of script i, handed to `report`); the
 * program is complete only if none was added. Errors: the kinds of the vectors; what is right but
 * not built is NOT_YET naming the clause. Tables of the program are added to the catalog as
 * targets. */
void bind_program(const BindContext *context, const AstScript *const *scripts, size_t script_count,
                  void (*report)(void *report_context, size_t script, Error *error),
                  void *report_context, BoundProgram *ret_program);

/* The first mistake of a statement that stands alone, or NOT_YET; NULL when it can be run. The
 * catalog stays as it is. */
NODISCARD Error *bind_judge(const BindContext *context, const AstStatement *statement);

/* A batch query (ad-hoc SELECT). */
NODISCARD Error *bind_query(const BindContext *context, const AstQuery *query,
                            BoundNode **ret_query);
/* One expression over the columns of `schema`. */
NODISCARD Error *bind_expression(const BindContext *context, const AstExpr *expr,
                                 const Schema *schema, BoundExpr **ret_expr);
/* Column definitions as in topology `columns:` to a schema; NOT_YET/UNSUPPORTED_DATATYPE placed. */
NODISCARD Error *bind_schema(Arena *arena, const AstColumnDefinition *columns, size_t count,
                             const Schema **ret_schema);
NODISCARD Error *bind_type(Arena *arena, const AstDataType *type, const Type **ret_type);

#endif
