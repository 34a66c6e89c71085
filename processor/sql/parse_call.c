/* Calls: arguments, lambdas, what may follow a call, and the calls with words inside (SQ-37..41).
 */
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

/* --------------------------------------------------------------- arguments --- */

/* x -> …, or (x, y) -> …; one parameter stands without parentheses, as in Spark. */
static bool at_lambda(const Parser *parser)
{
    if (!parser_is(parser, TOKEN_OPEN)) {
        return parser_is_identifier(parser) && parser_is_ahead(parser, 1, TOKEN_ARROW);
    }
    size_t ahead = 1;
    size_t count = 0;
    while (parser_is_identifier_ahead(parser, ahead)) {
        count++;
        ahead++;
        if (!parser_is_ahead(parser, ahead, TOKEN_COMMA)) {
            break;
        }
        ahead++;
    }
    return count > 1 && parser_is_ahead(parser, ahead, TOKEN_CLOSE) &&
           parser_is_ahead(parser, ahead + 1, TOKEN_ARROW);
}

static Error *parse_lambda(Parser *parser, AstExpr **ret)
{
    size_t start = parser->at;
    AstLambda lambda = {0};
    AstIdentifierList parameters = {0};
    if (parser_is(parser, TOKEN_OPEN)) {
        TRY(parse_parenthesized_columns(parser, "a parameter name", &parameters));
    } else {
        size_t capacity = 0;
        AstIdentifier parameter = {0};
        TRY(parse_identifier(parser, "a parameter name", &parameter));
        *PARSER_PUSH(parser, parameters.items, parameters.item_count, capacity) = parameter;
    }
    TRY(parser_expect(parser, TOKEN_ARROW));
    lambda.parameters = parameters.items;
    lambda.parameter_count = parameters.item_count;
    TRY(parser_enter(parser, 1));
    TRY(parse_expression(parser, &lambda.body));
    parser_leave(parser, 1);
    *ret = parser_new_expr(parser, AST_EXPR_LAMBDA, start);
    (*ret)->lambda = lambda;
    return NULL;
}

static Error *parse_argument(Parser *parser, bool lambdas, AstArgument *ret)
{
    AstArgument argument = {0};
    bool pending = parser->pending_expr != NULL;
    if (!pending && lambdas && at_lambda(parser)) {
        TRY(parse_lambda(parser, &argument.expr));
        *ret = argument;
        return NULL;
    }
    if (!pending && parser_is_identifier(parser) && parser_is_ahead(parser, 1, TOKEN_FAT_ARROW)) {
        TRY(parse_identifier(parser, "an argument name", &argument.name));
        TRY(parser_expect(parser, TOKEN_FAT_ARROW));
    }
    TRY(parse_expression(parser, &argument.expr));
    *ret = argument;
    return NULL;
}

static Error *parse_arguments(Parser *parser, bool lambdas, AstArgument **ret_items,
                              size_t *ret_count)
{
    AstArgument *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    do {
        AstArgument argument = {0};
        TRY(parse_argument(parser, lambdas, &argument));
        *PARSER_PUSH(parser, items, count, capacity) = argument;
    } while (parser_accept(parser, TOKEN_COMMA));
    *ret_items = items;
    *ret_count = count;
    return NULL;
}

Error *parse_table_arguments(Parser *parser, AstArgument **ret_items, size_t *ret_count)
{
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    if (parser_accept(parser, TOKEN_CLOSE)) {
        return NULL;
    }
    TRY(parse_arguments(parser, false, ret_items, ret_count));
    return parser_expect_close(parser, open);
}

/* ------------------------------------------------------------ behind a call --- */

static Error *parse_within_group(Parser *parser, AstCall *call)
{
    TRY(parser_expect_word(parser, KEYWORD_GROUP));
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    TRY(parser_expect_word(parser, KEYWORD_ORDER));
    TRY(parser_expect_word(parser, KEYWORD_BY));
    TRY(parse_sort_items(parser, &call->within_group, &call->within_group_count));
    return parser_expect_close(parser, open);
}

static Error *parse_filter(Parser *parser, AstCall *call)
{
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    TRY(parser_expect_word(parser, KEYWORD_WHERE));
    TRY(parse_expression(parser, &call->filter));
    return parser_expect_close(parser, open);
}

static Error *parse_null_treatment(Parser *parser, AstCall *call)
{
    if (parser_accept_word(parser, KEYWORD_IGNORE)) {
        call->nulls = AST_NULLS_IGNORE;
        return parser_expect_word(parser, KEYWORD_NULLS);
    }
    if (parser_accept_word(parser, KEYWORD_RESPECT)) {
        call->nulls = AST_NULLS_RESPECT;
        return parser_expect_word(parser, KEYWORD_NULLS);
    }
    return NULL;
}

/* The order of the options is fixed. */
static Error *misplaced_option(Parser *parser)
{
    static const Keyword words[] = {KEYWORD_WITHIN, KEYWORD_FILTER, KEYWORD_IGNORE, KEYWORD_RESPECT,
                                    KEYWORD_OVER};
    if (parser_is_words(parser, KEYWORD_IGNORE, KEYWORD_NULLS) &&
        parser_is_ahead(parser, 2, TOKEN_CLOSE)) {
        return NULL; /* may be those of a call around: first(f() OVER w IGNORE NULLS) */
    }
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        if (parser_is_word(parser, words[i])) {
            return error_set_hint(parser_unexpected(parser),
                                  "behind a call the order is WITHIN GROUP, FILTER, IGNORE or "
                                  "RESPECT NULLS, OVER, each at most once");
        }
    }
    return NULL;
}

static Error *parse_call_options(Parser *parser, AstCall *call)
{
    if (parser_accept_word(parser, KEYWORD_WITHIN)) {
        TRY(parse_within_group(parser, call));
    }
    if (parser_accept_word(parser, KEYWORD_FILTER)) {
        TRY(parse_filter(parser, call));
    }
    if (call->nulls == AST_NULLS_DEFAULT) {
        TRY(parse_null_treatment(parser, call));
    }
    if (parser_accept_word(parser, KEYWORD_OVER)) {
        TRY(parse_window(parser, &call->over));
    }
    return misplaced_option(parser);
}

/* FIRST, LAST, ANY_VALUE take IGNORE NULLS inside their parentheses too (SQ-40). */
static bool takes_inner_nulls(const AstName *name)
{
    if (name->part_count != 1) {
        return false;
    }
    Str word = name->parts[0].name;
    return str_equal_ignore_case(word, STR("first")) || str_equal_ignore_case(word, STR("last")) ||
           str_equal_ignore_case(word, STR("any_value"));
}

Error *parse_call_rest(Parser *parser, const AstName *name, size_t start, AstExpr **ret)
{
    size_t open = parser->at - 1;
    AstCall *call = arena_new_object(parser->arena, AstCall);
    call->name = *name;
    bool pending = parser->pending_expr != NULL;
    if (!pending && parser_accept(parser, TOKEN_STAR)) {
        call->star = true;
    } else if (pending || !parser_is(parser, TOKEN_CLOSE)) {
        if (!pending) {
            call->distinct = parser_accept_word(parser, KEYWORD_DISTINCT);
            if (!call->distinct) {
                (void)parser_accept_word(parser, KEYWORD_ALL);
            }
        }
        TRY(parse_arguments(parser, true, &call->arguments, &call->argument_count));
        if (call->argument_count == 1 && parser_is_word(parser, KEYWORD_IGNORE) &&
            takes_inner_nulls(name)) {
            TRY(parse_null_treatment(parser, call));
        }
    }
    TRY(parser_expect_close(parser, open));
    TRY(parse_call_options(parser, call));
    *ret = parser_new_expr(parser, AST_EXPR_CALL, start);
    (*ret)->call = call;
    return NULL;
}

/* ------------------------------------------------------ calls with words inside --- */

static Error *parse_cast(Parser *parser, bool try_, AstExpr **ret)
{
    size_t start = parser->at++;
    size_t open = parser->at++;
    AstCast cast = {.try_ = try_};
    TRY(parse_expression(parser, &cast.operand));
    if (!parser_accept_word(parser, KEYWORD_AS)) {
        Error *error = parser_expected(parser, "AS and a data type");
        size_t ahead = parser_is(parser, TOKEN_COMMA) ? 1 : 0;
        return parser_is_type_ahead(parser, ahead)
                   ? error_set_hint(error, "write CAST(value AS %.*s)",
                                    STR_ARG(parser_token_text(parser, parser_ahead(parser, ahead))))
                   : error;
    }
    TRY(parse_data_type(parser, &cast.type));
    TRY(parser_expect_close(parser, open));
    *ret = parser_new_expr(parser, AST_EXPR_CAST, start);
    (*ret)->cast = cast;
    return NULL;
}

static Error *parse_extract(Parser *parser, AstExpr **ret)
{
    size_t start = parser->at++;
    size_t open = parser->at++;
    AstExtract extract = {0};
    TRY(parse_identifier(parser, "a field such as YEAR, as a word", &extract.field));
    TRY(parser_expect_word(parser, KEYWORD_FROM));
    TRY(parse_comparison(parser, &extract.source));
    TRY(parser_expect_close(parser, open));
    *ret = parser_new_expr(parser, AST_EXPR_EXTRACT, start);
    (*ret)->extract = extract;
    return NULL;
}

static Error *parse_struct_items(Parser *parser, AstStructConstructor *struct_)
{
    size_t capacity = 0;
    do {
        AstStructItem item = {0};
        bool list = false;
        TRY(parse_expression(parser, &item.expr));
        TRY(parse_select_alias(parser, &item.aliases, &item.alias_count, &list));
        *PARSER_PUSH(parser, struct_->items, struct_->item_count, capacity) = item;
    } while (parser_accept(parser, TOKEN_COMMA));
    return NULL;
}

/* STRUCT(item [alias], …); struct() and struct(*) are plain calls. */
static Error *parse_struct(Parser *parser, AstExpr **ret)
{
    size_t start = parser->at++;
    size_t open = parser->at++;
    AstStructConstructor struct_ = {0};
    TRY(parse_struct_items(parser, &struct_));
    TRY(parser_expect_close(parser, open));
    *ret = parser_new_expr(parser, AST_EXPR_STRUCT, start);
    (*ret)->struct_ = struct_;
    return NULL;
}

/* exists((SELECT …), x -> …) is the function, with a subquery in its first argument. */
static Error *parse_exists_doubled(Parser *parser, const AstName *name, size_t start, AstExpr **ret)
{
    size_t open = parser->at++;
    size_t inner = parser->at;
    AstQuery *query = NULL;
    AstExpr *expr = NULL;
    int saved = parser_measure(parser);
    TRY(parser_enter(parser, 2));
    TRY(parse_parenthesized(parser, &query, &expr));
    parser_leave(parser, 2);
    int deepest = parser_measured(parser, saved);
    if (query != NULL && (parser_is(parser, TOKEN_CLOSE) || parser_at_query_tail(parser))) {
        TRY(parse_query_rest(parser, query, inner, &query));
        TRY(parser_expect_close(parser, open));
        *ret = parser_new_expr(parser, AST_EXPR_EXISTS, start);
        (*ret)->exists = query;
        return NULL;
    }
    if (query != NULL) {
        expr = parser_new_expr(parser, AST_EXPR_SUBQUERY, inner);
        expr->subquery = query;
    }
    parser_set_pending(parser, expr, inner, deepest);
    return parse_call_rest(parser, name, start, ret);
}

/* EXISTS (query): a query begins behind the "(". */
static Error *parse_exists(Parser *parser, AstExpr **ret)
{
    size_t start = parser->at;
    AstName name = {0};
    TRY(parse_name(parser, "EXISTS", 1, &name));
    if (parser_is_ahead(parser, 1, TOKEN_OPEN)) {
        return parse_exists_doubled(parser, &name, start, ret);
    }
    AstQuery *query = NULL;
    AstExpr *none = NULL;
    TRY(parse_parenthesized(parser, &query, &none));
    *ret = parser_new_expr(parser, AST_EXPR_EXISTS, start);
    (*ret)->exists = query;
    return NULL;
}

/* BOTH, LEADING or TRAILING is the first word of TRIM( when FROM or an operand follows it. */
static bool accept_trim_kind(Parser *parser, AstTrimKind *ret_kind)
{
    static const struct {
        Keyword word;
        AstTrimKind kind;
    } rows[] = {{KEYWORD_BOTH, AST_TRIM_BOTH},
                {KEYWORD_LEADING, AST_TRIM_LEADING},
                {KEYWORD_TRAILING, AST_TRIM_TRAILING}};
    bool follows =
        parser_is_word_ahead(parser, 1, KEYWORD_FROM) ||
        (parser_starts_operand_ahead(parser, 1) && !parser_is_ahead(parser, 1, TOKEN_PLUS) &&
         !parser_is_ahead(parser, 1, TOKEN_MINUS));
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        if (parser_is_word(parser, rows[i].word) && follows) {
            parser->at++;
            *ret_kind = rows[i].kind;
            return true;
        }
    }
    return false;
}

static Error *trim_word_error(Parser *parser, const AstExpr *first)
{
    Error *error = parser_expected(parser, "',', FROM or ')'");
    if (first->kind == AST_EXPR_COLUMN) {
        return error_set_hint(error, "the words of TRIM are BOTH, LEADING and TRAILING");
    }
    return error;
}

static Error *parse_trim(Parser *parser, const AstName *name, size_t start, AstExpr **ret)
{
    size_t open = parser->at - 1;
    size_t first_at = parser->at;
    AstTrim trim = {0};
    bool form = accept_trim_kind(parser, &trim.kind);
    int saved = parser_measure(parser);
    if (!parser_is_word(parser, KEYWORD_FROM)) {
        TRY(parse_comparison(parser, &trim.characters));
    }
    int deepest = parser_measured(parser, saved);
    if (!form && trim.characters != NULL && !parser_is_word(parser, KEYWORD_FROM)) {
        if (parser_is(parser, TOKEN_STRING)) {
            return trim_word_error(parser, trim.characters);
        }
        parser_set_pending(parser, trim.characters, first_at, deepest);
        return parse_call_rest(parser, name, start, ret);
    }
    TRY(parser_expect_word(parser, KEYWORD_FROM));
    TRY(parse_comparison(parser, &trim.source));
    TRY(parser_expect_close(parser, open));
    *ret = parser_new_expr(parser, AST_EXPR_TRIM, start);
    (*ret)->trim = trim;
    return NULL;
}

/* The call f(a, b, c) that a form with words stands for. */
static AstExpr *new_plain_call(Parser *parser, const AstName *name, AstExpr *const *arguments,
                               size_t count, size_t start)
{
    AstCall *call = arena_new_object(parser->arena, AstCall);
    call->name = *name;
    call->arguments = arena_new_array(parser->arena, AstArgument, count);
    call->argument_count = count;
    for (size_t i = 0; i < count; i++) {
        call->arguments[i].expr = arguments[i];
    }
    AstExpr *expr = parser_new_expr(parser, AST_EXPR_CALL, start);
    expr->call = call;
    return expr;
}

/* Behind the first operand of SUBSTRING, POSITION, OVERLAY: the other operands, each behind its
 * word; *ret_count = 1 when it is a plain call after all. */
static Error *parse_worded_operands(Parser *parser, Keyword form, AstExpr **operands,
                                    size_t *ret_count)
{
    size_t count = 1;
    if (form == KEYWORD_POSITION && parser_accept_word(parser, KEYWORD_IN)) {
        TRY(parse_comparison(parser, &operands[count++]));
    } else if (form == KEYWORD_OVERLAY && parser_accept_word(parser, KEYWORD_PLACING)) {
        TRY(parse_comparison(parser, &operands[count++]));
        TRY(parser_expect_word(parser, KEYWORD_FROM));
        TRY(parse_comparison(parser, &operands[count++]));
    } else if (form == KEYWORD_SUBSTRING && parser_accept_word(parser, KEYWORD_FROM)) {
        TRY(parse_comparison(parser, &operands[count++]));
    }
    if (count > 1 && form != KEYWORD_POSITION && parser_accept_word(parser, KEYWORD_FOR)) {
        TRY(parse_comparison(parser, &operands[count++]));
    }
    *ret_count = count;
    return NULL;
}

/* The first operand is read as a comparison, which POSITION(a IN b) needs; when no word follows it
 * becomes the beginning of the first argument of a plain call. */
static Error *parse_worded(Parser *parser, Keyword form, const AstName *name, size_t start,
                           AstExpr **ret)
{
    size_t open = parser->at - 1;
    size_t first_at = parser->at;
    AstExpr *operands[4] = {NULL};
    size_t count = 1;
    int saved = parser_measure(parser);
    TRY(parse_comparison(parser, &operands[0]));
    int deepest = parser_measured(parser, saved);
    TRY(parse_worded_operands(parser, form, operands, &count));
    if (count == 1) {
        parser_set_pending(parser, operands[0], first_at, deepest);
        return parse_call_rest(parser, name, start, ret);
    }
    TRY(parser_expect_close(parser, open));
    *ret = new_plain_call(parser, name, operands, count, start);
    return NULL;
}

/* SUBSTRING(…), TRIM(…) …, whose first argument is no lambda, no named one and no star. */
static Error *parse_worded_call(Parser *parser, Keyword form, AstExpr **ret)
{
    size_t start = parser->at;
    AstName name = {0};
    TRY(parse_name(parser, "a function", 1, &name));
    parser->at++;
    bool plain = parser_is(parser, TOKEN_CLOSE) || parser_is(parser, TOKEN_STAR) ||
                 parser_is_word(parser, KEYWORD_DISTINCT) || parser_is_word(parser, KEYWORD_ALL) ||
                 parser_is_word(parser, KEYWORD_NOT) || parser_is(parser, TOKEN_BANG) ||
                 at_lambda(parser) ||
                 (parser_is_identifier(parser) && parser_is_ahead(parser, 1, TOKEN_FAT_ARROW));
    if (plain) {
        return parse_call_rest(parser, &name, start, ret);
    }
    if (form == KEYWORD_TRIM) {
        return parse_trim(parser, &name, start, ret);
    }
    return parse_worded(parser, form, &name, start, ret);
}

Error *parse_special_call(Parser *parser, AstExpr **ret, bool *ret_done)
{
    Keyword word = (Keyword)parser_token(parser)->keyword;
    *ret_done = true;
    switch (word) {
    case KEYWORD_CAST:
        return parse_cast(parser, false, ret);
    case KEYWORD_TRY_CAST:
        return parse_cast(parser, true, ret);
    case KEYWORD_EXTRACT:
        return parse_extract(parser, ret);
    case KEYWORD_SUBSTR:
    case KEYWORD_SUBSTRING:
        return parse_worded_call(parser, KEYWORD_SUBSTRING, ret);
    case KEYWORD_POSITION:
    case KEYWORD_OVERLAY:
    case KEYWORD_TRIM:
        return parse_worded_call(parser, word, ret);
    case KEYWORD_STRUCT:
        if (!parser_is_ahead(parser, 2, TOKEN_CLOSE) && !parser_is_ahead(parser, 2, TOKEN_STAR)) {
            return parse_struct(parser, ret);
        }
        break;
    case KEYWORD_EXISTS:
        if (parser_starts_query_ahead(parser, 2)) {
            return parse_exists(parser, ret);
        }
        break;
    default:
        break;
    }
    *ret_done = false;
    return NULL;
}
