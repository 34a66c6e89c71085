/* Any text: the parser ends with a tree or an error, and a tree printed as SQL parses to an equal
 * tree. The first byte chooses what is parsed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "processor/base/error.h"
#include "processor/sql/ast_print.h"
#include "processor/sql/parser.h"
#include "tests/support/sql_round_trip.h"

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

/* What else reads and walks a tree. */
static void read_otherwise(Str text, Arena *arena)
{
    AstColumnDefinition *columns = NULL;
    size_t count = 0;
    AstExpr *expr = NULL;
    drop_error(sql_parse_column_definitions(text, arena, &columns, &count));
    drop_error(sql_parse_expression(text, arena, &expr));
    if (expr != NULL) {
        AUTO_BUFFER Buffer name = {0};
        ast_print_column_name(expr, &name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const SqlPart parts[] = {SQL_SCRIPT, SQL_EXPRESSION, SQL_DATA_TYPE, SQL_SCRIPT};
    if (size == 0) {
        return 0;
    }
    AUTO(arena) Arena *arena = arena_new("fuzz");
    AUTO_BUFFER Buffer report = {0};
    Str text = {(const char *)data + 1, size - 1};
    read_otherwise(text, arena);
    if (sql_round_trip(parts[data[0] % ARRAY_LENGTH(parts)], text, &report) == ROUND_TRIP_DIFFERS) {
        (void)fprintf(stderr, "%s\n", buffer_cstr(&report));
        abort();
    }
    return 0;
}
