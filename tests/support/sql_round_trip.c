/* Parses, prints and dumps a text, and once more what was printed. */
#include "tests/support/sql_round_trip.h"

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/sql/ast_print.h"
#include "processor/sql/parser.h"
#include "tests/support/ast_dump.h"

#include "processor/base/banned.h"

static bool format_error(const Error *error, Buffer *out)
{
    if (error != NULL) {
        error_format(error, out);
    }
    return error == NULL;
}

static bool script(Str text, Arena *arena, Buffer *printed, Buffer *dump)
{
    Diagnostics diagnostics = {0};
    AstScript *tree = NULL;
    sql_parse_script(text, arena, &diagnostics, &tree);
    bool parsed = diagnostics.count == 0;
    for (size_t i = 0; i < diagnostics.count; i++) {
        (void)format_error(diagnostics.errors[i], printed);
    }
    for (size_t i = 0; parsed && i < tree->statement_count; i++) {
        ast_print_statement(tree->statements[i], printed);
        buffer_append_cstr(printed, ";\n");
        ast_dump_statement(tree->statements[i], dump);
    }
    diagnostics_done(&diagnostics);
    return parsed;
}

static bool expression(Str text, Arena *arena, Buffer *printed, Buffer *dump)
{
    AstExpr *tree = NULL;
    AUTO(error) Error *error = sql_parse_expression(text, arena, &tree);
    if (!format_error(error, printed)) {
        return false;
    }
    ast_print_expr(tree, printed);
    ast_dump_expr(tree, dump);
    return true;
}

static bool data_type(Str text, Arena *arena, Buffer *printed, Buffer *dump)
{
    AstDataType *tree = NULL;
    AUTO(error) Error *error = sql_parse_data_type(text, arena, &tree);
    if (!format_error(error, printed)) {
        return false;
    }
    ast_print_data_type(tree, printed);
    ast_dump_data_type(tree, dump);
    return true;
}

bool sql_print_and_dump(SqlPart part, Str text, Buffer *printed, Buffer *dump)
{
    AUTO(arena) Arena *arena = arena_new("round trip");
    switch (part) {
    case SQL_EXPRESSION:
        return expression(text, arena, printed, dump);
    case SQL_DATA_TYPE:
        return data_type(text, arena, printed, dump);
    case SQL_SCRIPT:
        break;
    }
    return script(text, arena, printed, dump);
}

RoundTrip sql_round_trip(SqlPart part, Str text, Buffer *report)
{
    AUTO_BUFFER Buffer printed = {0};
    AUTO_BUFFER Buffer dump = {0};
    AUTO_BUFFER Buffer printed_again = {0};
    AUTO_BUFFER Buffer dump_again = {0};
    if (!sql_print_and_dump(part, text, &printed, &dump)) {
        buffer_printf(report, "%.*s\n%s", STR_ARG(text), buffer_cstr(&printed));
        return ROUND_TRIP_NO_SQL;
    }
    bool parsed = sql_print_and_dump(part, buffer_str(&printed), &printed_again, &dump_again);
    if (parsed && str_equal(buffer_str(&dump), buffer_str(&dump_again)) &&
        str_equal(buffer_str(&printed), buffer_str(&printed_again))) {
        return ROUND_TRIP_SAME;
    }
    buffer_printf(report, "%.*s\nprints as\n%s\nwhich prints as\n%s\n", STR_ARG(text),
                  buffer_cstr(&printed), buffer_cstr(&printed_again));
    buffer_printf(report, "trees\n%s\n%s\n", buffer_cstr(&dump), buffer_cstr(&dump_again));
    return ROUND_TRIP_DIFFERS;
}
