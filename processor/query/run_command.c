/* Statements beside queries: DESCRIBE, SHOW, EXPLAIN. Their answers are rows. */
#include "processor/query/session_internal.h"

#include "processor/base/banned.h"

static Error *run_explain(Session *session, const AstExplain *explain, RowWriter *writer)
{
    const AstStatement *statement = explain->statement;
    if (statement->kind != AST_STATEMENT_QUERY) {
        return error_at(ERROR_NOT_YET, statement->place,
                        "EXPLAIN of this statement is not supported yet.");
    }
    return session_run_query(session, statement->query, true, writer);
}

Error *session_run_command(Session *session, const AstStatement *statement, RowWriter *writer)
{
    if (statement->kind == AST_STATEMENT_EXPLAIN) {
        return run_explain(session, &statement->explain, writer);
    }
    return error_at(ERROR_NOT_YET, statement->place,
                    "`tidemark query` runs queries; this statement is not supported yet.");
}
