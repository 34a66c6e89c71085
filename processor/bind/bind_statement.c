/* The statements of a program that define no table and no flow: which file judges which. */
#include "processor/bind/dml.h"
#include "processor/bind/routine.h"
#include "processor/bind/statement.h"
#include "processor/bind/view.h"

#include "processor/base/banned.h"

const char *statement_name(const AstStatement *statement)
{
    switch (statement->kind) {
    case AST_STATEMENT_CREATE_STREAMING_TABLE:
        return "CREATE STREAMING TABLE";
    case AST_STATEMENT_CREATE_FLOW:
        return "CREATE FLOW";
    case AST_STATEMENT_INSERT:
        return "INSERT";
    case AST_STATEMENT_REFRESH:
        return "REFRESH";
    case AST_STATEMENT_ALTER:
        return "ALTER STREAMING TABLE";
    case AST_STATEMENT_DESCRIBE:
        return "DESCRIBE";
    case AST_STATEMENT_SHOW:
        return "SHOW";
    case AST_STATEMENT_EXPLAIN:
        return "EXPLAIN";
    case AST_STATEMENT_QUERY:
        return "A query in a program";
    case AST_STATEMENT_DELETE:
        return "DELETE";
    case AST_STATEMENT_UPDATE:
        return "UPDATE";
    case AST_STATEMENT_MERGE:
        return "MERGE";
    case AST_STATEMENT_DROP_TABLE:
        return "DROP TABLE";
    case AST_STATEMENT_CREATE_VIEW:
        return "CREATE VIEW";
    case AST_STATEMENT_DROP_VIEW:
        return "DROP VIEW";
    case AST_STATEMENT_CREATE_FUNCTION:
        return "CREATE FUNCTION";
    case AST_STATEMENT_DROP_FUNCTION:
        return "DROP FUNCTION";
    case AST_STATEMENT_SET:
        return "SET";
    case AST_STATEMENT_UNSUPPORTED:
        return statement->unsupported.words;
    }
    return "";
}

/* What to write instead, or NULL. */
static const char *instead_of(AstUnsupportedKind kind)
{
    switch (kind) {
    case AST_UNSUPPORTED_ALTER_TABLE:
        return "use ALTER STREAMING TABLE or CREATE OR REFRESH";
    case AST_UNSUPPORTED_COPY_INTO:
        return "a flow over STREAM read_files('/folder') reads each file once";
    case AST_UNSUPPORTED_TRUNCATE_TABLE:
        return "DELETE FROM removes all rows; REFRESH STREAMING TABLE … FULL computes them anew";
    case AST_UNSUPPORTED_REPLACE_TABLE:
    case AST_UNSUPPORTED_CREATE_OR_REPLACE_TABLE:
        return "CREATE OR REFRESH STREAMING TABLE changes a table's definition";
    case AST_UNSUPPORTED_CLONE:
        return "CREATE STREAMING TABLE … AS SELECT * FROM STREAM(…) copies a table";
    case AST_UNSUPPORTED_ANALYZE_TABLE:
    case AST_UNSUPPORTED_RESTORE:
    case AST_UNSUPPORTED_GENERATE:
        return NULL;
    }
    return NULL;
}

/* ST-60, ST-62 */
static Error *refuse_statement(const AstStatement *statement)
{
    Error *error =
        error_at(ERROR_UNSUPPORTED_STATEMENT, statement->place,
                 "%s is not supported on streaming tables.", statement->unsupported.words);
    const char *hint = instead_of(statement->unsupported.kind);
    return hint == NULL ? error : error_set_hint(error, "%s", hint);
}

static void bind_explain(Binder *binder, const AstExplain *explain)
{
    bind_statement(binder, explain->statement); /* of definitions: bind_program */
}

/* True when there is nothing to add: the statement was refused, or is one that can be run. */
static bool judge(Binder *binder, const AstStatement *statement)
{
    switch (statement->kind) {
    case AST_STATEMENT_CREATE_STREAMING_TABLE:
    case AST_STATEMENT_CREATE_FLOW:
        return true; /* bind_program */
    case AST_STATEMENT_INSERT:
        bind_insert(binder, &statement->insert);
        return false;
    case AST_STATEMENT_REFRESH:
        bind_refresh(binder, &statement->refresh);
        return false;
    case AST_STATEMENT_ALTER:
        bind_alter(binder, &statement->alter);
        return false;
    case AST_STATEMENT_DESCRIBE:
        bind_describe(binder, &statement->describe);
        return false;
    case AST_STATEMENT_SHOW:
        bind_show(binder, &statement->show);
        return false;
    case AST_STATEMENT_EXPLAIN:
        bind_explain(binder, &statement->explain);
        return false;
    case AST_STATEMENT_QUERY:
        (void)bind_query_node(binder, statement->query);
        return !binder->context->pipeline; /* alone, it is run by bind_query */
    case AST_STATEMENT_DELETE:
        bind_delete(binder, &statement->delete_);
        return false;
    case AST_STATEMENT_UPDATE:
        bind_update(binder, &statement->update);
        return false;
    case AST_STATEMENT_MERGE:
        bind_merge(binder, &statement->merge);
        return false;
    case AST_STATEMENT_DROP_TABLE:
        bind_drop_table(binder, &statement->drop);
        return false;
    case AST_STATEMENT_CREATE_VIEW:
        return bind_create_view(binder, &statement->create_view);
    case AST_STATEMENT_DROP_VIEW:
        bind_drop_view(binder, &statement->drop);
        return false;
    case AST_STATEMENT_CREATE_FUNCTION:
        bind_create_function(binder, &statement->create_function);
        return false;
    case AST_STATEMENT_DROP_FUNCTION:
        bind_drop_function(binder, &statement->drop);
        return false;
    case AST_STATEMENT_SET:
        bind_set_statement(binder, &statement->set);
        return false;
    case AST_STATEMENT_UNSUPPORTED:
        return binder_report(binder, refuse_statement(statement)), true;
    }
    return true;
}

void bind_statement(Binder *binder, const AstStatement *statement)
{
    if (!judge(binder, statement)) {
        binder_report(binder, not_yet(statement->place, "%s", statement_name(statement)));
    }
}
