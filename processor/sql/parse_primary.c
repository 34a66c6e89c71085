/* The smallest expressions: literals, names, parentheses, CASE, and everything that looks like a
 * call. A word that begins a longer form is that form when the rest of the form follows, and a name
 * otherwise (SQ-31): DATE with a string, CAST with "(", INTERVAL with value and unit. */
#include <assert.h>

#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------- parentheses --- */

/* Behind the "(" at `open`: expressions, and the ")". */
static Error *parse_row_or_expression(Parser *parser, size_t open, AstExpr **ret)
{
    AstExpr **items = NULL;
    size_t count = 0;
    TRY(parse_expression_list(parser, &items, &count));
    TRY(parser_expect_close(parser, open));
    if (count == 1) {
        *ret = items[0];
        return NULL;
    }
    *ret = parser_new_expr(parser, AST_EXPR_ROW, open);
    (*ret)->row = (AstRow){items, count};
    return NULL;
}

/* Behind "(" stands another one that leads to a query. What is in the inner parentheses is a query
 * or an expression; a query goes on as a query when a set operator, ORDER BY … or ")" follows. */
static Error *parse_doubled(Parser *parser, size_t open, AstQuery **ret_query, AstExpr **ret_expr)
{
    size_t inner = parser->at;
    AstQuery *query = NULL;
    AstExpr *expr = NULL;
    int saved = parser_measure(parser);
    TRY(parse_parenthesized(parser, &query, &expr));
    int deepest = parser_measured(parser, saved);
    if (query != NULL && parser_at_query_tail(parser)) {
        TRY(parse_query_rest(parser, query, inner, &query));
        TRY(parser_expect_close(parser, open));
        *ret_query = query;
        return NULL;
    }
    if (query != NULL && parser_accept(parser, TOKEN_CLOSE)) {
        *ret_query = query;
        return NULL;
    }
    if (query != NULL) {
        expr = parser_new_expr(parser, AST_EXPR_SUBQUERY, inner);
        expr->subquery = query;
    }
    parser_set_pending(parser, expr, inner, deepest);
    return parse_row_or_expression(parser, open, ret_expr);
}

Error *parse_parenthesized(Parser *parser, AstQuery **ret_query, AstExpr **ret_expr)
{
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    bool query = parser_starts_query(parser);
    if (query && parser_is(parser, TOKEN_OPEN)) {
        TRY(parser_enter(parser, 2));
        TRY(parse_doubled(parser, open, ret_query, ret_expr));
        parser_leave(parser, 2);
    } else if (query) {
        AstQuery *inner = NULL;
        TRY(parse_query(parser, &inner));
        TRY(parser_expect_close(parser, open));
        *ret_query = inner;
    } else {
        TRY(parse_row_or_expression(parser, open, ret_expr));
    }
    return NULL;
}

static Error *parse_parenthesized_primary(Parser *parser, AstExpr **ret)
{
    size_t start = parser->at;
    AstQuery *query = NULL;
    AstExpr *expr = NULL;
    TRY(parse_parenthesized(parser, &query, &expr));
    if (query != NULL) {
        expr = parser_new_expr(parser, AST_EXPR_SUBQUERY, start);
        expr->subquery = query;
    }
    *ret = expr;
    return NULL;
}

Error *parse_query_or_expression(Parser *parser, AstQuery **ret_query, AstExpr **ret_expr)
{
    if (!parser_starts_query(parser)) {
        return parse_expression(parser, ret_expr);
    }
    if (!parser_is(parser, TOKEN_OPEN)) {
        return parse_query(parser, ret_query);
    }
    size_t start = parser->at;
    AstQuery *query = NULL;
    AstExpr *expr = NULL;
    int saved = parser_measure(parser);
    TRY(parse_parenthesized(parser, &query, &expr));
    int deepest = parser_measured(parser, saved);
    if (query != NULL && (parser_at_end(parser) || parser_at_query_tail(parser))) {
        return parse_query_rest(parser, query, start, ret_query);
    }
    if (query != NULL) {
        expr = parser_new_expr(parser, AST_EXPR_SUBQUERY, start);
        expr->subquery = query;
    }
    parser_set_pending(parser, expr, start, deepest);
    return parse_expression(parser, ret_expr);
}

/* ---------------------------------------------------------------- literals --- */

static Error *parse_number(Parser *parser, AstExpr **ret)
{
    const Token *token = parser_token(parser);
    Str digits = parser_token_text(parser, token);
    AstNumberSuffix suffix = (AstNumberSuffix)token->suffix;
    digits.size -= suffix == AST_SUFFIX_NONE ? 0 : suffix == AST_SUFFIX_BD ? 2 : 1;
    AstLiteralKind kind = token->kind == TOKEN_INTEGER   ? AST_LITERAL_INTEGER
                          : token->kind == TOKEN_DECIMAL ? AST_LITERAL_DECIMAL
                                                         : AST_LITERAL_DOUBLE;
    size_t start = parser->at++;
    *ret = parser_new_expr(parser, AST_EXPR_LITERAL, start);
    (*ret)->literal = (AstLiteral){kind, suffix, digits};
    return NULL;
}

static Error *parse_string_literal(Parser *parser, AstLiteralKind kind, size_t start, AstExpr **ret)
{
    AstString string = {0};
    TRY(parse_string(parser, "a string", &string));
    *ret = parser_new_expr(parser, AST_EXPR_LITERAL, start);
    (*ret)->literal = (AstLiteral){kind, AST_SUFFIX_NONE, string.value};
    return NULL;
}

/* The literal a word begins; false when it is none. */
static bool literal_of_word(const Parser *parser, AstLiteralKind *ret_kind, bool *ret_with_string)
{
    static const struct {
        uint16_t word;
        bool with_string;
        uint8_t kind;
    } rows[] = {
        {KEYWORD_NULL, false, AST_LITERAL_NULL},
        {KEYWORD_TRUE, false, AST_LITERAL_TRUE},
        {KEYWORD_FALSE, false, AST_LITERAL_FALSE},
        {KEYWORD_DATE, true, AST_LITERAL_DATE},
        {KEYWORD_TIMESTAMP, true, AST_LITERAL_TIMESTAMP},
        {KEYWORD_TIMESTAMP_NTZ, true, AST_LITERAL_TIMESTAMP_NTZ},
        {KEYWORD_TIMESTAMP_LTZ, true, AST_LITERAL_TIMESTAMP_LTZ},
        {KEYWORD_X, true, AST_LITERAL_BINARY},
    };
    const Token *token = parser_token(parser);
    for (size_t i = 0; token->kind == TOKEN_WORD && i < ARRAY_LENGTH(rows); i++) {
        if (token->keyword == rows[i].word &&
            (!rows[i].with_string || parser_is_ahead(parser, 1, TOKEN_STRING))) {
            *ret_kind = (AstLiteralKind)rows[i].kind;
            *ret_with_string = rows[i].with_string;
            return true;
        }
    }
    return false;
}

Error *parse_literal(Parser *parser, AstExpr **ret)
{
    size_t start = parser->at;
    AstLiteralKind kind = AST_LITERAL_NULL;
    bool with_string = false;
    switch ((TokenKind)parser_token(parser)->kind) {
    case TOKEN_STRING:
        return parse_string_literal(parser, AST_LITERAL_STRING, start, ret);
    case TOKEN_INTEGER:
    case TOKEN_DECIMAL:
    case TOKEN_DOUBLE:
        return parse_number(parser, ret);
    default:
        break;
    }
    if (!literal_of_word(parser, &kind, &with_string)) {
        return parser_expected(parser, "a literal");
    }
    parser->at++;
    if (with_string) {
        return parse_string_literal(parser, kind, start, ret);
    }
    *ret = parser_new_expr(parser, AST_EXPR_LITERAL, start);
    (*ret)->literal.kind = kind;
    return NULL;
}

static bool at_literal(const Parser *parser)
{
    AstLiteralKind kind = AST_LITERAL_NULL;
    bool with_string = false;
    switch ((TokenKind)parser_token(parser)->kind) {
    case TOKEN_STRING:
    case TOKEN_INTEGER:
    case TOKEN_DECIMAL:
    case TOKEN_DOUBLE:
        return true;
    default:
        return literal_of_word(parser, &kind, &with_string);
    }
}

/* ------------------------------------------------------------ CASE and names --- */

static Error *parse_when(Parser *parser, AstWhen *when)
{
    TRY(parse_expression(parser, &when->condition));
    TRY(parser_expect_word(parser, KEYWORD_THEN));
    return parse_expression(parser, &when->result);
}

static Error *parse_case(Parser *parser, AstExpr **ret)
{
    size_t start = parser->at++;
    AstCase case_ = {0};
    size_t capacity = 0;
    if (!parser_is_word(parser, KEYWORD_WHEN)) {
        TRY(parse_expression(parser, &case_.operand));
    }
    TRY(parser_expect_word(parser, KEYWORD_WHEN));
    do {
        AstWhen when = {0};
        TRY(parse_when(parser, &when));
        *PARSER_PUSH(parser, case_.whens, case_.when_count, capacity) = when;
    } while (parser_accept_word(parser, KEYWORD_WHEN));
    if (parser_accept_word(parser, KEYWORD_ELSE)) {
        TRY(parse_expression(parser, &case_.else_));
    }
    if (!parser_accept_word(parser, KEYWORD_END)) {
        Error *error = parser_expected(parser, case_.else_ != NULL ? "END" : "WHEN, ELSE or END");
        return error_hint(error) != NULL ? error
                                         : error_set_hint(error, "`%.*s` has no END yet",
                                                          STR_ARG(parser_opening(parser, start)));
    }
    *ret = parser_new_expr(parser, AST_EXPR_CASE, start);
    (*ret)->case_ = case_;
    return NULL;
}

static AstCurrentValue current_value_of(const AstName *name)
{
    static const struct {
        const char *word;
        AstCurrentValue value;
    } rows[] = {
        {"current_date", AST_CURRENT_DATE}, {"current_timestamp", AST_CURRENT_TIMESTAMP},
        {"current_user", AST_CURRENT_USER}, {"session_user", AST_CURRENT_USER},
        {"user", AST_CURRENT_USER},
    };
    if (name->part_count != 1 || name->parts[0].quoted) {
        return AST_CURRENT_NONE;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        if (str_equal_ignore_case(name->parts[0].name, str_from(rows[i].word))) {
            return rows[i].value;
        }
    }
    return AST_CURRENT_NONE;
}

enum { NAME_PARTS_MAX = 1000, FUNCTION_PARTS_MAX = 3 };

/* BANANA 'x' */
static Error *no_such_literal(Parser *parser, const AstName *name)
{
    enum { SHOWN_MAX = 100 };
    const char *message = arena_printf(
        parser->arena,
        "Literals of the type \"%.*s\" are not supported. Supported types are \"DATE\", "
        "\"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\".",
        name->text.size > SHOWN_MAX ? SHOWN_MAX : (int)name->text.size, name->text.data);
    Error *error = parser_error_at(parser, name->place, ERROR_UNSUPPORTED_TYPED_LITERAL, message);
    bool in_trim = parser->at >= 3 && parser->tokens[parser->at - 3].keyword == KEYWORD_TRIM &&
                   parser->tokens[parser->at - 2].kind == TOKEN_OPEN;
    return error_set_hint(error, "%s",
                          in_trim ? "the words of TRIM are BOTH, LEADING and TRAILING"
                                  : "CAST('…' AS type) makes a value of any type from a string");
}

static Error *parse_column_or_call(Parser *parser, AstExpr **ret)
{
    size_t start = parser->at;
    AstName name = {0};
    TRY(parse_name(parser, "an expression", NAME_PARTS_MAX, &name));
    if (parser_is(parser, TOKEN_OPEN)) {
        if (name.part_count > FUNCTION_PARTS_MAX) {
            return parser_error(parser, ERROR_PARSE_SYNTAX_ERROR,
                                "Syntax error: the function name %.*s has more than %d parts.",
                                STR_ARG(name.text), FUNCTION_PARTS_MAX);
        }
        parser->at++;
        return parse_call_rest(parser, &name, start, ret);
    }
    if (parser_is(parser, TOKEN_STRING) && name.part_count == 1 && !name.parts[0].quoted) {
        return no_such_literal(parser, &name);
    }
    *ret = parser_new_expr(parser, AST_EXPR_COLUMN, start);
    (*ret)->column = (AstColumn){name, current_value_of(&name)};
    return NULL;
}

/* ------------------------------------------------------------------ primary --- */

static Error *missing_operand(Parser *parser)
{
    const Token *token = parser_token(parser);
    if (token->kind == TOKEN_GREATER &&
        (parser->at == 0 || parser->tokens[parser->at - 1].kind == TOKEN_SEMICOLON)) {
        return error_set_hint(parser_expected(parser, "a statement"),
                              "leave out the '>' that documentation prints before examples");
    }
    if (token->kind == TOKEN_WORD && (keyword_flags(token->keyword) & WORD_RESERVED) != 0) {
        Error *error = parser_expected(parser, "an expression");
        bool alone = token->keyword == KEYWORD_NOT;
        return alone || error_hint(error) != NULL
                   ? error
                   : error_set_hint(error, "%s is reserved; as a name write `%s`",
                                    keyword_name(token->keyword), keyword_name(token->keyword));
    }
    return parser_expected(parser, "an expression");
}

Error *parse_primary(Parser *parser, AstExpr **ret)
{
    if (parser->pending_expr != NULL) {
        *ret = parser->pending_expr;
        parser->pending_expr = NULL;
        if (parser->deepest < parser->pending_deepest) {
            parser->deepest = parser->pending_deepest;
        }
        return NULL;
    }
    if (parser_is(parser, TOKEN_OPEN)) {
        return parse_parenthesized_primary(parser, ret);
    }
    if (at_literal(parser)) {
        return parse_literal(parser, ret);
    }
    if (parser_is_word(parser, KEYWORD_CASE)) {
        return parse_case(parser, ret);
    }
    if (parser_at_interval(parser)) {
        size_t start = parser->at;
        AstInterval interval = {0};
        TRY(parse_interval(parser, &interval));
        *ret = parser_new_expr(parser, AST_EXPR_INTERVAL, start);
        (*ret)->interval = interval;
        return NULL;
    }
    if (!parser_is_identifier(parser)) {
        return missing_operand(parser);
    }
    if (parser_is(parser, TOKEN_WORD) && parser_is_ahead(parser, 1, TOKEN_OPEN)) {
        bool done = false;
        TRY(parse_special_call(parser, ret, &done));
        if (done) {
            return NULL;
        }
    }
    return parse_column_or_call(parser, ret);
}
