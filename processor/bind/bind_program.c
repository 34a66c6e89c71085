/* A program: the statements of some scripts bound as one. Three passes:
 *
 *   1. collect   which tables, flows and views there are (program_collect.c)
 *   2. bind      functions first, then tables in any order (program_tables.c), then what else there
 *                is
 *   3. report    each statement's mistakes, in order. A statement with a real mistake does not also
 *                say what of it is NOT_YET, and mistakes come before every NOT_YET, so that the
 *                first thing told is the thing to mend
 */
#include <assert.h>

#include "processor/bind/program.h"
#include "processor/bind/statement.h"

#include "processor/base/banned.h"

Error *consequence(SourcePlace place)
{
    return error_set_disposition(error_at(ERROR_NOT_YET, place, "not shown"), ERROR_ABORT);
}

static bool is_consequence(const Error *error)
{
    return error_disposition(error) == ERROR_ABORT;
}

/* ------------------------------------------------------------ 2. bind --- */

/* Statements of one kind, or (`functions` false) all that are neither functions, tables nor flows.
 */
static void bind_statements(Program *program, bool functions)
{
    for (size_t i = 0; i < program->statement_count; i++) {
        Statement *statement = &program->statements[i];
        if ((statement->ast->kind == AST_STATEMENT_CREATE_FUNCTION) == functions) {
            Binder binder = program_binder(program, statement);
            binder.flow_query = false;
            bind_statement(&binder, statement->ast);
        }
    }
}

static void bind_all(Program *program)
{
    bind_statements(program, true);
    for (size_t i = 0; i < program->table_count; i++) {
        if (program->tables[i].state == TABLE_NEW) {
            program_bind_table(program, &program->tables[i]);
        }
    }
    for (size_t i = 0; i < program->flow_count; i++) {
        if (program->flows[i].foreign != NULL) {
            program_bind_foreign_flow(program, &program->flows[i]);
        }
    }
    bind_statements(program, false);
}

/* ---------------------------------------------------------- 3. report --- */

typedef struct Reporter {
    void (*report)(void *context, size_t script, Error *error);
    void *context;
} Reporter;

static bool is_mistake(const Error *error)
{
    return error_class(error) != ERROR_NOT_YET;
}

static bool has_mistake(const Statement *statement)
{
    for (size_t i = 0; i < statement->diagnostics.count; i++) {
        if (is_mistake(statement->diagnostics.errors[i])) {
            return true;
        }
    }
    return false;
}

/* Hands over the mistakes of a statement, or what of it is not built. */
static void report_statement(Statement *statement, bool mistakes, const Reporter *reporter)
{
    Diagnostics *diagnostics = &statement->diagnostics;
    if (has_mistake(statement) != mistakes) {
        return;
    }
    diagnostics_sort(diagnostics);
    for (size_t i = 0; i < diagnostics->count; i++) {
        Error *error = diagnostics->errors[i];
        if (is_consequence(error) || is_mistake(error) != mistakes) {
            error_free(error);
        } else {
            reporter->report(reporter->context, statement->script, error);
        }
    }
    diagnostics->count = 0;
}

static void report_all(Program *program, const Reporter *reporter)
{
    for (size_t i = 0; i < program->statement_count; i++) {
        report_statement(&program->statements[i], true, reporter);
    }
    for (size_t i = 0; i < program->statement_count; i++) {
        report_statement(&program->statements[i], false, reporter);
        diagnostics_done(&program->statements[i].diagnostics);
    }
}

static void hand_over(Program *program, BoundProgram *ret_program)
{
    Arena *arena = program->context->arena;
    *ret_program = (BoundProgram){0};
    ret_program->tables = arena_new_array(arena, BoundTable, program->table_count + 1);
    ret_program->flows = arena_new_array(arena, BoundFlow, program->flow_count + 1);
    for (size_t i = 0; i < program->table_count; i++) {
        ProgramTable *table = &program->tables[i];
        ret_program->tables[ret_program->table_count++] = table->bound;
        if (table->bound.schema != NULL && !program->context->judge_only) {
            catalog_put(program->context->catalog, table->parts, table->part_count,
                        &table->relation);
        }
    }
    for (size_t i = 0; i < program->flow_count; i++) {
        if (program->flows[i].bound.query != NULL) {
            ret_program->flows[ret_program->flow_count++] = program->flows[i].bound;
        }
    }
}

/* EXPLAIN of a definition is judged as the definition is. */
static void add_statement(Program *program, size_t script, const AstStatement *ast)
{
    Statement *statement = &program->statements[program->statement_count++];
    *statement = (Statement){.script = script, .ast = ast};
    const AstStatement *inner = ast->kind == AST_STATEMENT_EXPLAIN ? ast->explain.statement : NULL;
    if (inner != NULL && (inner->kind == AST_STATEMENT_CREATE_STREAMING_TABLE ||
                          inner->kind == AST_STATEMENT_CREATE_FLOW)) {
        statement->ast = inner;
        statement_report(statement, not_yet(ast->place, "EXPLAIN"));
    }
}

static void list_statements(Program *program, const AstScript *const *scripts, size_t script_count)
{
    size_t count = 0;
    for (size_t i = 0; i < script_count; i++) {
        count += scripts[i]->statement_count;
    }
    program->statements = arena_new_array(program->context->arena, Statement, count + 1);
    for (size_t i = 0; i < script_count; i++) {
        for (size_t k = 0; k < scripts[i]->statement_count; k++) {
            add_statement(program, i, scripts[i]->statements[k]);
        }
    }
    assert(program->statement_count == count);
}

void bind_program(const BindContext *context, const AstScript *const *scripts, size_t script_count,
                  void (*report_error)(void *report_context, size_t script, Error *error),
                  void *report_context, BoundProgram *ret_program)
{
    Program program = {.context = context};
    Reporter reporter = {report_error, report_context};
    list_statements(&program, scripts, script_count);
    program_collect(&program);
    bind_all(&program);
    hand_over(&program, ret_program);
    report_all(&program, &reporter);
    map_done(&program.tables_by_name);
    map_done(&program.views_by_name);
    for (size_t i = 0; i < program.view_count; i++) {
        view_done(&program.views[i]);
    }
}

/* ---------------------------------------------------- a statement alone --- */

/* Keeps the first error, drops the rest. */
static void keep_first(void *context, size_t script, Error *error)
{
    Error **first = context;
    (void)script;
    if (*first == NULL) {
        *first = error;
    } else {
        error_free(error);
    }
}

Error *bind_judge(const BindContext *context, const AstStatement *statement)
{
    BindContext alone = *context;
    alone.pipeline = false;
    alone.judge_only = true;
    AstStatement copy = *statement;
    AstStatement *statements[] = {&copy};
    const AstScript script = {statements, 1};
    const AstScript *scripts[] = {&script};
    Error *first = NULL;
    BoundProgram program;
    bind_program(&alone, scripts, 1, keep_first, &first, &program);
    return first;
}
