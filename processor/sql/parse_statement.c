/* Statements: which one begins here, and the public functions of parser.h. */
#include "processor/sql/parser.h"

#include <assert.h>

#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

Error *parse_if_not_exists(Parser *parser, bool *ret_given, SourcePlace *place)
{
    size_t start = parser->at;
    if (!parser_accept_words(parser, KEYWORD_IF, KEYWORD_NOT)) {
        return NULL;
    }
    TRY(parser_expect_word(parser, KEYWORD_EXISTS));
    *ret_given = true;
    if (place != NULL) {
        *place = parser_place_from(parser, start);
    }
    return NULL;
}

enum { TABLE_PARTS_MAX = 3 };

Error *parse_unsupported(Parser *parser, AstUnsupportedKind kind, const char *words,
                         AstStatement *statement)
{
    statement->kind = AST_STATEMENT_UNSUPPORTED;
    statement->unsupported.kind = kind;
    statement->unsupported.words = words;
    TRY(parse_name(parser, "a table name", TABLE_PARTS_MAX, &statement->unsupported.table));
    if (kind != AST_UNSUPPORTED_TRUNCATE_TABLE && kind != AST_UNSUPPORTED_GENERATE) {
        parser_skip_statement(parser);
    }
    return NULL;
}

/* GENERATE identifier FOR TABLE name */
static Error *parse_generate(Parser *parser, AstStatement *statement)
{
    AstIdentifier what = {0};
    TRY(parse_identifier(parser, "what to generate", &what));
    TRY(parser_expect_word(parser, KEYWORD_FOR));
    TRY(parser_expect_word(parser, KEYWORD_TABLE));
    return parse_unsupported(parser, AST_UNSUPPORTED_GENERATE, "GENERATE", statement);
}

/* ALTER has been taken. */
static Error *parse_any_alter(Parser *parser, AstStatement *statement)
{
    if (parser_accept_word(parser, KEYWORD_TABLE)) {
        return parse_unsupported(parser, AST_UNSUPPORTED_ALTER_TABLE, "ALTER TABLE", statement);
    }
    TRY(parser_expect_word(parser, KEYWORD_STREAMING));
    TRY(parser_expect_word(parser, KEYWORD_TABLE));
    statement->kind = AST_STATEMENT_ALTER;
    return parse_alter(parser, &statement->alter);
}

/* DROP has been taken. */
static Error *parse_drop(Parser *parser, AstStatement *statement)
{
    AstDrop *drop = &statement->drop;
    if (parser_accept_word(parser, KEYWORD_VIEW)) {
        statement->kind = AST_STATEMENT_DROP_VIEW;
    } else if (parser_accept_word(parser, KEYWORD_TEMPORARY) ||
               parser_accept_word(parser, KEYWORD_TEMP)) {
        drop->temporary = true;
        statement->kind = AST_STATEMENT_DROP_FUNCTION;
        TRY(parser_expect_word(parser, KEYWORD_FUNCTION));
    } else if (parser_accept_word(parser, KEYWORD_FUNCTION)) {
        statement->kind = AST_STATEMENT_DROP_FUNCTION;
    } else {
        statement->kind = AST_STATEMENT_DROP_TABLE;
        drop->streaming = parser_accept_word(parser, KEYWORD_STREAMING);
        if (!parser_accept_word(parser, KEYWORD_TABLE)) {
            return parser_expected(parser, drop->streaming ? "TABLE" : "TABLE, VIEW or FUNCTION");
        }
    }
    drop->if_exists = parser_accept_words(parser, KEYWORD_IF, KEYWORD_EXISTS);
    return parse_name(parser, "a name", TABLE_PARTS_MAX, &drop->name);
}

/* EXPLAIN has been taken. */
static Error *parse_explain(Parser *parser, AstExplain *explain)
{
    if (parser_accept_word(parser, KEYWORD_EXTENDED)) {
        explain->mode = AST_EXPLAIN_EXTENDED;
    } else if (parser_accept_word(parser, KEYWORD_FORMATTED)) {
        explain->mode = AST_EXPLAIN_FORMATTED;
    } else if (parser_accept_word(parser, KEYWORD_COST)) {
        explain->mode = AST_EXPLAIN_COST;
    }
    TRY(parser_enter(parser, 1));
    TRY(parse_statement(parser, &explain->statement));
    parser_leave(parser, 1);
    return NULL;
}

/* Statements that this language does not have, with what to do instead. */
static const char *foreign_statement_hint(Str word)
{
    static const struct {
        const char *word;
        const char *hint;
    } rows[] = {
        {"USE", "catalog and schema are set in the topology"},
        {"CALL", "there are no procedures"},
        {"OPTIMIZE", "tables are kept in order without a statement"},
        {"VACUUM", "tables are compacted without a statement"},
        {"APPLY", "APPLY CHANGES INTO is written CREATE FLOW f AS AUTO CDC INTO …"},
        {"DECLARE", "there are no variables"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        if (str_equal_ignore_case(word, str_from(rows[i].word))) {
            return rows[i].hint;
        }
    }
    return NULL;
}

static Error *no_statement(Parser *parser)
{
    const Token *token = parser_token(parser);
    Error *error = parser_expected(parser, "a statement");
    if (token->kind == TOKEN_GREATER) {
        return error_set_hint(error, "leave out the '>' that documentation prints before examples");
    }
    const char *hint = foreign_statement_hint(parser_token_text(parser, token));
    return hint == NULL ? error : error_set_hint(error, "%s", hint);
}

/* Statements whose first word begins no other; *ret_found = false when it is none of them. */
static Error *parse_words_statement(Parser *parser, AstStatement *statement, bool *ret_found)
{
    *ret_found = true;
    if (parser_accept_word(parser, KEYWORD_CREATE)) {
        return parse_create(parser, statement);
    }
    if (parser_accept_word(parser, KEYWORD_ALTER)) {
        return parse_any_alter(parser, statement);
    }
    if (parser_accept_word(parser, KEYWORD_DROP)) {
        return parse_drop(parser, statement);
    }
    if (parser_accept_words(parser, KEYWORD_COPY, KEYWORD_INTO)) {
        return parse_unsupported(parser, AST_UNSUPPORTED_COPY_INTO, "COPY INTO", statement);
    }
    if (parser_accept_words(parser, KEYWORD_ANALYZE, KEYWORD_TABLE)) {
        return parse_unsupported(parser, AST_UNSUPPORTED_ANALYZE_TABLE, "ANALYZE TABLE", statement);
    }
    if (parser_accept_word(parser, KEYWORD_RESTORE)) {
        if (parser_is_identifier_ahead(parser, 1) && !parser_is_word_ahead(parser, 1, KEYWORD_TO)) {
            (void)parser_accept_word(parser, KEYWORD_TABLE);
        }
        return parse_unsupported(parser, AST_UNSUPPORTED_RESTORE, "RESTORE", statement);
    }
    if (parser_accept_words(parser, KEYWORD_TRUNCATE, KEYWORD_TABLE)) {
        return parse_unsupported(parser, AST_UNSUPPORTED_TRUNCATE_TABLE, "TRUNCATE TABLE",
                                 statement);
    }
    if (parser_accept_words(parser, KEYWORD_REPLACE, KEYWORD_TABLE)) {
        return parse_unsupported(parser, AST_UNSUPPORTED_REPLACE_TABLE, "REPLACE TABLE", statement);
    }
    if (parser_accept_word(parser, KEYWORD_GENERATE)) {
        return parse_generate(parser, statement);
    }
    *ret_found = false;
    return NULL;
}

/* One row a statement: its kind and the words it begins with. */
static Error *parse_simple_statement(Parser *parser, AstStatement *statement)
{
    if (parser_accept_word(parser, KEYWORD_INSERT)) {
        statement->kind = AST_STATEMENT_INSERT;
        return parse_insert(parser, &statement->insert);
    }
    if (parser_accept_word(parser, KEYWORD_REFRESH)) {
        statement->kind = AST_STATEMENT_REFRESH;
        return parse_refresh(parser, &statement->refresh);
    }
    if (parser_accept_word(parser, KEYWORD_DESCRIBE) || parser_accept_word(parser, KEYWORD_DESC)) {
        statement->kind = AST_STATEMENT_DESCRIBE;
        return parse_describe(parser, &statement->describe);
    }
    if (parser_accept_word(parser, KEYWORD_SHOW)) {
        statement->kind = AST_STATEMENT_SHOW;
        return parse_show(parser, &statement->show);
    }
    if (parser_accept_word(parser, KEYWORD_EXPLAIN)) {
        statement->kind = AST_STATEMENT_EXPLAIN;
        return parse_explain(parser, &statement->explain);
    }
    if (parser_accept_word(parser, KEYWORD_DELETE)) {
        statement->kind = AST_STATEMENT_DELETE;
        return parse_delete(parser, &statement->delete_);
    }
    if (parser_accept_word(parser, KEYWORD_UPDATE)) {
        statement->kind = AST_STATEMENT_UPDATE;
        return parse_update(parser, &statement->update);
    }
    if (parser_accept_word(parser, KEYWORD_MERGE)) {
        statement->kind = AST_STATEMENT_MERGE;
        return parse_merge(parser, &statement->merge);
    }
    if (parser_accept_word(parser, KEYWORD_SET)) {
        statement->kind = AST_STATEMENT_SET;
        return parse_set(parser, &statement->set);
    }
    bool found = false;
    TRY(parse_words_statement(parser, statement, &found));
    return found ? NULL : no_statement(parser);
}

/* A query begins at statement level: VALUES always is one here. */
static bool accept_query_start(Parser *parser)
{
    static const Keyword words[] = {KEYWORD_SELECT, KEYWORD_WITH, KEYWORD_VALUES};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        if (parser_accept_word(parser, words[i])) {
            parser->at--;
            return true;
        }
    }
    return parser_is(parser, TOKEN_OPEN);
}

Error *parse_statement(Parser *parser, AstStatement **ret)
{
    size_t start = parser->at;
    AstStatement *statement = arena_new_object(parser->arena, AstStatement);
    if (accept_query_start(parser)) {
        statement->kind = AST_STATEMENT_QUERY;
        TRY(parse_query(parser, &statement->query));
    } else {
        TRY(parse_simple_statement(parser, statement));
    }
    if (!parser_at_end(parser)) {
        return parser_unexpected(parser);
    }
    statement->place = parser_place_from(parser, start);
    statement->text = parser_text_from(parser, start);
    *ret = statement;
    return NULL;
}

/* -------------------------------------------------------- public functions --- */

static Parser parser_new(Str text, Arena *arena, TokenList *tokens)
{
    lexer_run(text, tokens);
    return (Parser){
        .text = text, .arena = arena, .tokens = tokens->items, .token_count = tokens->count};
}

static Error *text_too_long(void)
{
    return error_new(ERROR_STATEMENT_TOO_COMPLEX, "The SQL text is longer than %d MiB.",
                     LEXER_TEXT_MAX >> 20);
}

/* Takes `parser` to the next statement, whatever happened. */
static void next_statement(Parser *parser)
{
    parser_skip_statement(parser);
    (void)parser_accept(parser, TOKEN_SEMICOLON);
    parser->depth = 0;
    parser->deepest = 0;
    parser->pending_expr = NULL;
    parser->pending_relation = NULL;
}

enum { ERRORS_MAX = 100 }; /* Diagnostics drops what comes behind */

void sql_parse_script(Str text, Arena *arena, Diagnostics *diagnostics, AstScript **ret_script)
{
    AstScript *script = arena_new_object(arena, AstScript);
    *ret_script = script;
    if (text.size > LEXER_TEXT_MAX) {
        diagnostics_add(diagnostics, text_too_long());
        return;
    }
    TokenList tokens;
    Parser parser = parser_new(text, arena, &tokens);
    size_t capacity = 0;
    while (!parser_is(&parser, TOKEN_END) && diagnostics->count < ERRORS_MAX) {
        if (!parser_is(&parser, TOKEN_SEMICOLON)) {
            AstStatement *statement = NULL;
            Error *error = parse_statement(&parser, &statement);
            diagnostics_add(diagnostics, error);
            if (error == NULL) {
                *PARSER_PUSH(&parser, script->statements, script->statement_count, capacity) =
                    statement;
            }
        }
        next_statement(&parser);
    }
    lexer_done(&tokens);
}

typedef Error *(*ParseFunction)(Parser *parser, void *result);

/* Parses the whole text by `parse`; `what` is what it should hold. */
static Error *parse_whole(Str text, Arena *arena, const char *what, ParseFunction parse,
                          void *result)
{
    if (text.size > LEXER_TEXT_MAX) {
        return text_too_long();
    }
    TokenList tokens;
    Parser parser = parser_new(text, arena, &tokens);
    Error *error = NULL;
    if (parser_is(&parser, TOKEN_END)) {
        error = error_at(ERROR_PARSE_EMPTY_STATEMENT, (SourcePlace){1, 1, 1},
                         "The text is empty: expected %s.", what);
    } else {
        error = parse(&parser, result);
        if (error == NULL && !parser_is(&parser, TOKEN_END)) {
            error = parser_expected(&parser, arena_printf(arena, "the end of %s", what));
        }
    }
    lexer_done(&tokens);
    return error;
}

static Error *parse_query_into(Parser *parser, void *result)
{
    return parse_query(parser, result);
}

Error *sql_parse_query(Str text, Arena *arena, AstQuery **ret_query)
{
    AstQuery *query = NULL;
    TRY(parse_whole(text, arena, "the query", parse_query_into, &query));
    *ret_query = query;
    return NULL;
}

static Error *parse_expression_into(Parser *parser, void *result)
{
    return parse_expression(parser, result);
}

Error *sql_parse_expression(Str text, Arena *arena, AstExpr **ret_expr)
{
    AstExpr *expr = NULL;
    TRY(parse_whole(text, arena, "the expression", parse_expression_into, &expr));
    *ret_expr = expr;
    return NULL;
}

static Error *parse_data_type_into(Parser *parser, void *result)
{
    return parse_data_type(parser, result);
}

Error *sql_parse_data_type(Str text, Arena *arena, AstDataType **ret_type)
{
    AstDataType *type = NULL;
    TRY(parse_whole(text, arena, "the data type", parse_data_type_into, &type));
    *ret_type = type;
    return NULL;
}

typedef struct ColumnDefinitions {
    AstColumnDefinition *items;
    size_t count;
} ColumnDefinitions;

static Error *parse_columns_into(Parser *parser, void *result)
{
    ColumnDefinitions *columns = result;
    size_t capacity = 0;
    do {
        AstColumnDefinition column = {0};
        TRY(parse_column_definition(parser, true, &column));
        *PARSER_PUSH(parser, columns->items, columns->count, capacity) = column;
    } while (parser_accept(parser, TOKEN_COMMA));
    return NULL;
}

Error *sql_parse_column_definitions(Str text, Arena *arena, AstColumnDefinition **ret_columns,
                                    size_t *ret_count)
{
    ColumnDefinitions columns = {0};
    TRY(parse_whole(text, arena, "the column list", parse_columns_into, &columns));
    *ret_columns = columns.items;
    *ret_count = columns.count;
    return NULL;
}
