/* Expressions by precedence climbing (SQ-35). parse_level reads an operand, then takes operators as
 * long as their level is high enough; the right operand is read one level higher. Operators of one
 * level that follow each other extend one flat AstBinary, so a chain of any length is one loop.
 *
 *     a * b + c - d:   parse_level(OR): operand a; `*` is higher: right = b, chain1 = [a * b];
 *                      `+` is lower: chain2 = [chain1 + c]; `-` is of chain2's level: [… - d]
 *
 * After an operator of level L only levels <= L can follow, since the right operand took the rest;
 * a predicate (IS, IN, LIKE, BETWEEN) stands once, so after it only AND and OR can follow. */
#include <assert.h>

#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

typedef struct OperatorRow {
    uint8_t level;
    uint8_t operator_;
} OperatorRow;

static const OperatorRow operator_rows[] = {
    [TOKEN_EQUAL] = {LEVEL_COMPARISON, AST_BINARY_EQUAL},
    [TOKEN_NULL_SAFE_EQUAL] = {LEVEL_COMPARISON, AST_BINARY_NULL_SAFE_EQUAL},
    [TOKEN_NOT_EQUAL] = {LEVEL_COMPARISON, AST_BINARY_NOT_EQUAL},
    [TOKEN_LESS] = {LEVEL_COMPARISON, AST_BINARY_LESS},
    [TOKEN_LESS_EQUAL] = {LEVEL_COMPARISON, AST_BINARY_LESS_EQUAL},
    [TOKEN_GREATER] = {LEVEL_COMPARISON, AST_BINARY_GREATER},
    [TOKEN_GREATER_EQUAL] = {LEVEL_COMPARISON, AST_BINARY_GREATER_EQUAL},
    [TOKEN_PIPE] = {LEVEL_BIT_OR, AST_BINARY_BIT_OR},
    [TOKEN_CARET] = {LEVEL_BIT_XOR, AST_BINARY_BIT_XOR},
    [TOKEN_AMPERSAND] = {LEVEL_BIT_AND, AST_BINARY_BIT_AND},
    [TOKEN_SHIFT_LEFT] = {LEVEL_SHIFT, AST_BINARY_SHIFT_LEFT},
    [TOKEN_SHIFT_RIGHT] = {LEVEL_SHIFT, AST_BINARY_SHIFT_RIGHT},
    [TOKEN_SHIFT_RIGHT_UNSIGNED] = {LEVEL_SHIFT, AST_BINARY_SHIFT_RIGHT_UNSIGNED},
    [TOKEN_PLUS] = {LEVEL_ADDITIVE, AST_BINARY_ADD},
    [TOKEN_MINUS] = {LEVEL_ADDITIVE, AST_BINARY_SUBTRACT},
    [TOKEN_CONCAT] = {LEVEL_ADDITIVE, AST_BINARY_CONCAT},
    [TOKEN_STAR] = {LEVEL_MULTIPLICATIVE, AST_BINARY_MULTIPLY},
    [TOKEN_SLASH] = {LEVEL_MULTIPLICATIVE, AST_BINARY_DIVIDE},
    [TOKEN_PERCENT] = {LEVEL_MULTIPLICATIVE, AST_BINARY_REMAINDER},
};

/* The operator at the present token; level 0 when there is none. */
static OperatorRow present_operator(const Parser *parser)
{
    const Token *token = parser_token(parser);
    if (token->kind == TOKEN_WORD) {
        switch (token->keyword) {
        case KEYWORD_OR:
            return (OperatorRow){LEVEL_OR, AST_BINARY_OR};
        case KEYWORD_AND:
            return (OperatorRow){LEVEL_AND, AST_BINARY_AND};
        case KEYWORD_DIV:
            return (OperatorRow){LEVEL_MULTIPLICATIVE, AST_BINARY_DIV};
        default:
            return (OperatorRow){0, 0};
        }
    }
    return token->kind < ARRAY_LENGTH(operator_rows) ? operator_rows[token->kind]
                                                     : (OperatorRow){0, 0};
}

AstExpr *parser_new_expr(Parser *parser, AstExprKind kind, size_t start)
{
    AstExpr *expr = arena_new_object(parser->arena, AstExpr);
    expr->kind = kind;
    expr->place = parser_place_from(parser, start);
    expr->text = parser_text_from(parser, start);
    return expr;
}

size_t parser_expr_start(const Parser *parser)
{
    bool pending = parser->pending_expr != NULL || parser->pending_relation != NULL;
    return pending ? parser->pending_at : parser->at;
}

static Error *parse_level(Parser *parser, int least, AstExpr **ret);

/* NOT and ! bind looser than predicates: NOT a = b is NOT (a = b). */
static Error *parse_not(Parser *parser, size_t start, AstExpr **ret)
{
    parser->at++;
    AstExpr *operand = NULL;
    TRY(parse_level(parser, LEVEL_NOT, &operand));
    AstExpr *expr = parser_new_expr(parser, AST_EXPR_UNARY, start);
    expr->unary = (AstUnary){AST_UNARY_NOT, operand};
    *ret = expr;
    return NULL;
}

/* What parse_level has read so far. */
typedef struct Climb {
    size_t start;
    AstExpr *left;
    int highest;    /* level an operator may have now */
    AstExpr *chain; /* == left when left is a chain that may grow, else NULL */
    int chain_level;
    size_t chain_capacity;
} Climb;

static Error *take_operator(Parser *parser, Climb *climb, OperatorRow row)
{
    SourcePlace place = parser_place_of(parser_token(parser));
    bool new_chain = climb->chain == NULL || climb->chain_level != row.level;
    if (new_chain) {
        TRY(parser_raise(parser));
    }
    parser->at++;
    AstExpr *right = NULL;
    TRY(parse_level(parser, row.level + 1, &right));
    if (new_chain) {
        AstExpr *chain = parser_new_expr(parser, AST_EXPR_BINARY, climb->start);
        chain->binary.first = climb->left;
        climb->left = chain;
        climb->chain = chain;
        climb->chain_level = row.level;
        climb->chain_capacity = 0;
    }
    AstBinary *binary = &climb->chain->binary;
    *PARSER_PUSH(parser, binary->steps, binary->step_count, climb->chain_capacity) =
        (AstBinaryStep){(AstBinaryOperator)row.operator_, place, right};
    climb->highest = row.level;
    return NULL;
}

static Error *take_predicate(Parser *parser, Climb *climb)
{
    AstExpr *predicate = NULL;
    TRY(parser_raise(parser));
    TRY(parse_predicate_tail(parser, climb->left, climb->start, &predicate));
    climb->left = predicate;
    climb->chain = NULL;
    climb->highest = LEVEL_AND;
    return NULL;
}

/* The span of a chain is set once, when it is complete: it may have a hundred thousand steps. */
static void close_chain(Parser *parser, const Climb *climb)
{
    if (climb->chain != NULL) {
        climb->chain->place = parser_place_from(parser, climb->start);
        climb->chain->text = parser_text_from(parser, climb->start);
    }
}

static Error *climb_operators(Parser *parser, int least, Climb *climb)
{
    for (;;) {
        OperatorRow row = present_operator(parser);
        if (row.level != 0) {
            if (row.level < least || row.level > climb->highest) {
                break;
            }
            if (climb->chain_level != row.level) {
                close_chain(parser, climb);
            }
            TRY(take_operator(parser, climb, row));
        } else if (least <= LEVEL_PREDICATE && climb->highest >= LEVEL_PREDICATE &&
                   parser_at_predicate(parser)) {
            close_chain(parser, climb);
            TRY(take_predicate(parser, climb));
        } else {
            break;
        }
    }
    close_chain(parser, climb);
    return NULL;
}

/* An expression whose operators have at least the level `least`. */
static Error *parse_level(Parser *parser, int least, AstExpr **ret)
{
    TRY(parser_enter(parser, 1));
    int saved = parser_measure(parser);
    Climb climb = {.start = parser_expr_start(parser), .highest = LEVEL_PRIMARY};
    bool negation = parser->pending_expr == NULL &&
                    (parser_is_word(parser, KEYWORD_NOT) || parser_is(parser, TOKEN_BANG));
    if (negation && least <= LEVEL_NOT) {
        TRY(parse_not(parser, climb.start, &climb.left));
        climb.highest = LEVEL_AND;
    } else {
        TRY(parse_unary(parser, &climb.left));
    }
    TRY(climb_operators(parser, least, &climb));
    (void)parser_measured(parser, saved);
    parser_leave(parser, 1);
    *ret = climb.left;
    return NULL;
}

Error *parse_expression(Parser *parser, AstExpr **ret)
{
    return parse_level(parser, LEVEL_OR, ret);
}

Error *parse_comparison(Parser *parser, AstExpr **ret)
{
    return parse_level(parser, LEVEL_COMPARISON, ret);
}

Error *parse_expression_list(Parser *parser, AstExpr ***ret_items, size_t *ret_count)
{
    AstExpr **items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    do {
        AstExpr *item = NULL;
        TRY(parse_expression(parser, &item));
        *PARSER_PUSH(parser, items, count, capacity) = item;
    } while (parser_accept(parser, TOKEN_COMMA));
    *ret_items = items;
    *ret_count = count;
    return NULL;
}

/* ------------------------------------------------- predicates (SQ-35, SQ-36) --- */

static bool is_predicate_word(const Token *token)
{
    if (token->kind != TOKEN_WORD) {
        return false;
    }
    switch (token->keyword) {
    case KEYWORD_BETWEEN:
    case KEYWORD_IN:
    case KEYWORD_LIKE:
    case KEYWORD_ILIKE:
    case KEYWORD_RLIKE:
    case KEYWORD_REGEXP:
        return true;
    default:
        return false;
    }
}

bool parser_at_predicate(const Parser *parser)
{
    if (parser_is_word(parser, KEYWORD_NOT)) {
        return is_predicate_word(parser_ahead(parser, 1));
    }
    return parser_is_word(parser, KEYWORD_IS) || is_predicate_word(parser_token(parser));
}

static Error *parse_between(Parser *parser, AstBetween *ret)
{
    TRY(parse_comparison(parser, &ret->low));
    if (!parser_accept_word(parser, KEYWORD_AND)) {
        return parser_expected(parser, "AND and the upper bound of BETWEEN");
    }
    return parse_comparison(parser, &ret->high);
}

/* The parentheses behind IN held `first`; a row that begins with them is the list itself. */
static void set_in_items(Parser *parser, AstInList *list, AstExpr *first, const char *open)
{
    if (first->kind == AST_EXPR_ROW && first->text.data == open) {
        list->items = first->row.items;
        list->item_count = first->row.item_count;
        return;
    }
    size_t capacity = 0;
    *PARSER_PUSH(parser, list->items, list->item_count, capacity) = first;
}

/* IN (query …: a query, or a list whose first item is a subquery. `((SELECT 1))` is a list of one
 * scalar subquery, `((SELECT 1) UNION (SELECT 2))` a query: only the former's own parentheses are
 * around it twice, so that its text begins behind the second "(". */
static Error *parse_in_query(Parser *parser, AstExpr *operand, size_t start, bool negated,
                             AstExpr **ret)
{
    size_t open = parser->at;
    AstQuery *query = NULL;
    AstExpr *first = NULL;
    TRY(parse_parenthesized(parser, &query, &first));
    const char *behind_open = parser->text.data + parser->tokens[open + 1].start;
    if (query != NULL && query->text.data == behind_open) {
        *ret = parser_new_expr(parser, AST_EXPR_IN_QUERY, start);
        (*ret)->in_query = (AstInQuery){operand, query, negated};
        return NULL;
    }
    if (query != NULL) {
        first = parser_new_expr(parser, AST_EXPR_SUBQUERY, open);
        first->subquery = query;
    }
    *ret = parser_new_expr(parser, AST_EXPR_IN_LIST, start);
    (*ret)->in_list = (AstInList){.operand = operand, .negated = negated};
    set_in_items(parser, &(*ret)->in_list, first, parser->text.data + parser->tokens[open].start);
    return NULL;
}

static Error *parse_in(Parser *parser, AstExpr *operand, size_t start, bool negated, AstExpr **ret)
{
    size_t open = parser->at;
    if (!parser_is(parser, TOKEN_OPEN)) {
        return parser_expected(parser, "'(' after IN");
    }
    if (parser_starts_query(parser)) {
        return parse_in_query(parser, operand, start, negated, ret);
    }
    parser->at++;
    AstInList in_list = {.operand = operand, .negated = negated};
    TRY(parse_expression_list(parser, &in_list.items, &in_list.item_count));
    TRY(parser_expect_close(parser, open));
    *ret = parser_new_expr(parser, AST_EXPR_IN_LIST, start);
    (*ret)->in_list = in_list;
    return NULL;
}

static Error *parse_like_quantified(Parser *parser, AstLikeQuantified *like)
{
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    if (!parser_is(parser, TOKEN_CLOSE)) { /* an empty list is refused by analysis */
        TRY(parse_expression_list(parser, &like->patterns, &like->pattern_count));
    }
    return parser_expect_close(parser, open);
}

/* ANY, SOME or ALL with its "("; `LIKE any(b)` is a quantifier, as in Spark. */
static bool at_quantifier(const Parser *parser)
{
    return (parser_is_word(parser, KEYWORD_ANY) || parser_is_word(parser, KEYWORD_SOME) ||
            parser_is_word(parser, KEYWORD_ALL)) &&
           parser_is_ahead(parser, 1, TOKEN_OPEN);
}

static Error *parse_like(Parser *parser, AstExpr *operand, size_t start, bool negated,
                         AstExpr **ret)
{
    Keyword word = (Keyword)parser_token(parser)->keyword;
    AstLikeKind kind = word == KEYWORD_LIKE    ? AST_LIKE_LIKE
                       : word == KEYWORD_ILIKE ? AST_LIKE_ILIKE
                                               : AST_LIKE_RLIKE;
    parser->at++;
    if (kind != AST_LIKE_RLIKE && at_quantifier(parser)) {
        AstLikeQuantified like = {.kind = kind, .operand = operand, .negated = negated};
        like.all = parser_is_word(parser, KEYWORD_ALL);
        parser->at++;
        TRY(parse_like_quantified(parser, &like));
        *ret = parser_new_expr(parser, AST_EXPR_LIKE_QUANTIFIED, start);
        (*ret)->like_quantified = like;
        return NULL;
    }
    AstLike like = {.kind = kind, .operand = operand, .negated = negated};
    TRY(parse_comparison(parser, &like.pattern));
    if (kind != AST_LIKE_RLIKE && parser_accept_word(parser, KEYWORD_ESCAPE)) {
        TRY(parse_string(parser, "the escape character as a string", &like.escape));
    }
    *ret = parser_new_expr(parser, AST_EXPR_LIKE, start);
    (*ret)->like = like;
    return NULL;
}

static Error *parse_is(Parser *parser, AstExpr *operand, size_t start, AstExpr **ret)
{
    static const struct {
        Keyword word;
        AstIsKind kind;
    } rows[] = {{KEYWORD_NULL, AST_IS_NULL},
                {KEYWORD_TRUE, AST_IS_TRUE},
                {KEYWORD_FALSE, AST_IS_FALSE},
                {KEYWORD_UNKNOWN, AST_IS_UNKNOWN}};
    bool negated = parser_accept_word(parser, KEYWORD_NOT);
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        if (parser_accept_word(parser, rows[i].word)) {
            *ret = parser_new_expr(parser, AST_EXPR_IS, start);
            (*ret)->is = (AstIs){rows[i].kind, operand, negated};
            return NULL;
        }
    }
    if (!parser_accept_words(parser, KEYWORD_DISTINCT, KEYWORD_FROM)) {
        return parser_expected(parser, "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM after IS");
    }
    AstIsDistinct is = {.left = operand, .negated = negated};
    TRY(parse_comparison(parser, &is.right));
    *ret = parser_new_expr(parser, AST_EXPR_IS_DISTINCT, start);
    (*ret)->is_distinct = is;
    return NULL;
}

Error *parse_predicate_tail(Parser *parser, AstExpr *operand, size_t start, AstExpr **ret)
{
    if (parser_accept_word(parser, KEYWORD_IS)) {
        return parse_is(parser, operand, start, ret);
    }
    bool negated = parser_accept_word(parser, KEYWORD_NOT);
    if (parser_accept_word(parser, KEYWORD_BETWEEN)) {
        AstBetween between = {.operand = operand, .negated = negated};
        TRY(parse_between(parser, &between));
        *ret = parser_new_expr(parser, AST_EXPR_BETWEEN, start);
        (*ret)->between = between;
        return NULL;
    }
    if (parser_accept_word(parser, KEYWORD_IN)) {
        return parse_in(parser, operand, start, negated, ret);
    }
    return parse_like(parser, operand, start, negated, ret);
}

/* -------------------------------------------------------- unary and postfix --- */

/* [index], .name, ::type, :name, COLLATE name behind a primary (SQ-37). */
static Error *parse_postfix_step(Parser *parser, AstExpr *base, size_t start, AstExpr **ret)
{
    AstExpr made = {0};
    TRY(parser_raise(parser));
    if (parser_accept(parser, TOKEN_OPEN_BRACKET)) {
        made.kind = AST_EXPR_INDEX;
        made.index.base = base;
        TRY(parse_comparison(parser, &made.index.index));
        TRY(parser_expect(parser, TOKEN_CLOSE_BRACKET));
    } else if (parser_accept(parser, TOKEN_DOT)) {
        made.kind = AST_EXPR_FIELD;
        made.field.base = base;
        TRY(parse_field_name(parser, &made.field.name));
    } else if (parser_accept(parser, TOKEN_DOUBLE_COLON)) {
        made.kind = AST_EXPR_CAST;
        made.cast = (AstCast){.operand = base};
        TRY(parse_data_type(parser, &made.cast.type));
    } else if (parser_accept(parser, TOKEN_COLON)) {
        made.kind = AST_EXPR_VARIANT_PATH;
        made.variant_path.base = base;
        TRY(parse_identifier(parser, "a field name after ':'", &made.variant_path.name));
    } else {
        TRY(parser_expect_word(parser, KEYWORD_COLLATE));
        made.kind = AST_EXPR_COLLATE;
        made.collate.operand = base;
        TRY(parse_identifier(parser, "a collation", &made.collate.collation));
    }
    AstExpr *expr = parser_new_expr(parser, made.kind, start);
    made.place = expr->place;
    made.text = expr->text;
    *expr = made;
    *ret = expr;
    return NULL;
}

static bool at_postfix(const Parser *parser)
{
    switch ((TokenKind)parser_token(parser)->kind) {
    case TOKEN_OPEN_BRACKET:
    case TOKEN_DOT:
    case TOKEN_DOUBLE_COLON:
    case TOKEN_COLON:
        return true;
    case TOKEN_WORD:
        return parser_is_word(parser, KEYWORD_COLLATE);
    default:
        return false;
    }
}

static Error *parse_postfix(Parser *parser, AstExpr **ret)
{
    int saved = parser_measure(parser);
    size_t start = parser_expr_start(parser);
    AstExpr *expr = NULL;
    TRY(parse_primary(parser, &expr));
    while (at_postfix(parser)) {
        TRY(parse_postfix_step(parser, expr, start, &expr));
    }
    (void)parser_measured(parser, saved);
    *ret = expr;
    return NULL;
}

Error *parse_unary(Parser *parser, AstExpr **ret)
{
    if (parser->pending_expr != NULL) {
        return parse_postfix(parser, ret);
    }
    AstUnaryOperator operator_ = AST_UNARY_MINUS;
    size_t start = parser->at;
    if (parser_accept(parser, TOKEN_PLUS)) {
        operator_ = AST_UNARY_PLUS;
    } else if (parser_accept(parser, TOKEN_TILDE)) {
        operator_ = AST_UNARY_BIT_NOT;
    } else if (!parser_accept(parser, TOKEN_MINUS)) {
        return parse_postfix(parser, ret);
    }
    TRY(parser_enter(parser, 1));
    AstExpr *operand = NULL;
    TRY(parse_unary(parser, &operand));
    parser_leave(parser, 1);
    *ret = parser_new_expr(parser, AST_EXPR_UNARY, start);
    (*ret)->unary = (AstUnary){operator_, operand};
    return NULL;
}
