/* Any text: the parser ends with a tree or an error, and a tree printed as SQL parses to a tree
 * that prints the same. The first byte chooses what is parsed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "processor/base/error.h"
#include "processor/sql/ast_print.h"
#include "processor/sql/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Formats the error, so that its place and texts are read, and frees it. */
static void drop_error(Error *error)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        error_free(error);
    }
}

static bool print_script(Str text, Arena *arena, Buffer *out)
{
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(text, arena, &diagnostics, &script);
    bool parsed = diagnostics.count == 0;
    for (size_t i = 0; i < script->statement_count; i++) {
        ast_print_statement(script->statements[i], out);
        buffer_append_cstr(out, ";\n");
    }
    for (size_t i = 0; i < diagnostics.count; i++) {
        AUTO_BUFFER Buffer line = {0};
        error_format(diagnostics.errors[i], &line);
    }
    diagnostics_done(&diagnostics);
    return parsed;
}

static bool print_expression(Str text, Arena *arena, Buffer *out)
{
    AstExpr *expr = NULL;
    Error *error = sql_parse_expression(text, arena, &expr);
    if (error == NULL) {
        AUTO_BUFFER Buffer name = {0};
        ast_print_expr(expr, out);
        ast_print_column_name(expr, &name);
    }
    drop_error(error);
    return expr != NULL;
}

static bool print_type(Str text, Arena *arena, Buffer *out)
{
    AstDataType *type = NULL;
    drop_error(sql_parse_data_type(text, arena, &type));
    if (type != NULL) {
        ast_print_data_type(type, out);
    }
    return type != NULL;
}

static bool print_parsed(uint8_t kind, Str text, Arena *arena, Buffer *out)
{
    switch (kind % 4) {
    case 1:
        return print_expression(text, arena, out);
    case 2:
        return print_type(text, arena, out);
    default:
        return print_script(text, arena, out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    AUTO(arena) Arena *arena = arena_new("fuzz");
    AUTO_BUFFER Buffer once = {0};
    AUTO_BUFFER Buffer twice = {0};
    Str text = {(const char *)data + 1, size - 1};
    AstColumnDefinition *columns = NULL;
    size_t count = 0;
    drop_error(sql_parse_column_definitions(text, arena, &columns, &count));
    if (!print_parsed(data[0], text, arena, &once)) {
        return 0;
    }
    bool again = print_parsed(data[0], buffer_str(&once), arena, &twice);
    if (!again || !str_equal(buffer_str(&once), buffer_str(&twice))) {
        (void)fprintf(stderr, "%s\n---\n%s\n", buffer_cstr(&once), buffer_cstr(&twice));
        abort();
    }
    return 0;
}
