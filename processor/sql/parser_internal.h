/* What the files of the parser share. One Parser walks one token array; a function parse_x(parser,
 * &x) takes the tokens of one production of grammar.ebnf from where the parser stands, and returns
 * an error that ends the statement. ret_ parameters are written on success only. */
#ifndef SQL_PARSER_INTERNAL_H
#define SQL_PARSER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"
#include "processor/sql/ast.h"
#include "processor/sql/lexer.h"
#include "processor/sql/token.h"

enum { PARSER_TRIED_MAX = 40 };

typedef struct Parser {
    Str text;
    Arena *arena;
    Token *tokens;
    size_t token_count;
    size_t at; /* the token to take next */

    /* Nesting. `depth` counts the levels open now; `deepest` the height of the tree built, so that
     * wrapping a finished node in a new one counts too (a.b[0]…, a * b + c). */
    int depth;
    int deepest;

    /* A query in parentheses that turned out to begin an expression or a relation: the next
     * parse_primary / parse_relation takes it instead of tokens. `pending_at` is its "(". */
    AstExpr *pending_expr;
    AstRelation *pending_relation;
    size_t pending_at;
    int pending_deepest;

    /* Keywords that were asked for at token `tried_at` and not found: what could have stood there,
     * for "expected …" and "did you mean". */
    uint16_t tried[PARSER_TRIED_MAX];
    size_t tried_count;
    size_t tried_at;
    /* The word last taken as an alias without AS + 1: often a misspelt keyword. */
    size_t bare_alias_end;
} Parser;

/* ------------------------------------------------- tokens (parse_token.c) --- */

/* The present token, and the one `ahead` of it; behind the last comes the end again and again. */
const Token *parser_token(const Parser *parser);
const Token *parser_ahead(const Parser *parser, size_t ahead);
/* As written. */
Str parser_token_text(const Parser *parser, const Token *token);
/* At ';' or the end of the text. */
bool parser_at_end(const Parser *parser);
bool parser_is(const Parser *parser, TokenKind kind);
bool parser_is_ahead(const Parser *parser, size_t ahead, TokenKind kind);
bool parser_is_word(const Parser *parser, Keyword keyword);
bool parser_is_word_ahead(const Parser *parser, size_t ahead, Keyword keyword);
/* The two (three) words stand here, in this order. */
bool parser_is_words(const Parser *parser, Keyword first, Keyword second);
/* Takes the token if it is there. Keywords not found are noted for messages. */
bool parser_accept(Parser *parser, TokenKind kind);
bool parser_accept_word(Parser *parser, Keyword keyword);
bool parser_accept_words(Parser *parser, Keyword first, Keyword second);
NODISCARD Error *parser_expect(Parser *parser, TokenKind kind);
NODISCARD Error *parser_expect_word(Parser *parser, Keyword keyword);
/* The ")" of the "(" at token `open`. */
NODISCARD Error *parser_expect_close(Parser *parser, size_t open);

/* IDENT or BACKTICK_IDENT stands `ahead` tokens from here. */
bool parser_is_identifier_ahead(const Parser *parser, size_t ahead);
bool parser_is_identifier(const Parser *parser);
/* A token with which an expression can begin, other than a word that continues one (IN, IS, LIKE
 * …). */
bool parser_starts_operand_ahead(const Parser *parser, size_t ahead);
/* A query begins `ahead` tokens from here: SELECT, WITH, VALUES and an operand, or such behind "(".
 */
bool parser_starts_query_ahead(const Parser *parser, size_t ahead);
bool parser_starts_query(const Parser *parser);

/* `what` is the noun of the error message: "a column name". */
NODISCARD Error *parse_identifier(Parser *parser, const char *what, AstIdentifier *ret);
/* identifier {. field_name}, at most `parts_max` of them. */
NODISCARD Error *parse_name(Parser *parser, const char *what, size_t parts_max, AstName *ret);
NODISCARD Error *parse_field_name(Parser *parser, AstIdentifier *ret);
/* "(" identifier {, identifier} ")" */
NODISCARD Error *parse_parenthesized_columns(Parser *parser, const char *what,
                                             AstIdentifierList *ret);
NODISCARD Error *parse_column_list(Parser *parser, const char *what, AstIdentifierList *ret);
/* STRING {STRING} */
NODISCARD Error *parse_string(Parser *parser, const char *what, AstString *ret);
NODISCARD Error *parse_integer(Parser *parser, const char *what, AstInteger *ret);

/* The span from token `start` to the last token taken. */
SourcePlace parser_place_from(const Parser *parser, size_t start);
Str parser_text_from(const Parser *parser, size_t start);
SourcePlace parser_place_of(const Token *token);

/* Counts a level of nesting; fails beyond AST_DEPTH_MAX. Errors end the statement, so only the way
 * of success leaves. */
NODISCARD Error *parser_enter(Parser *parser, int levels);
void parser_leave(Parser *parser, int levels);
/* A finished node becomes the child of a new one: its tree is one level higher. To be called before
 * the other children are read. */
NODISCARD Error *parser_raise(Parser *parser);
/* Measures the height of what is read in between: parser_measure returns what parser_measured takes
 * back, which returns the `deepest` of the part alone. */
int parser_measure(Parser *parser);
int parser_measured(Parser *parser, int saved);
/* Sets pending_expr; `deepest` as parser_measured gave it. */
void parser_set_pending(Parser *parser, AstExpr *expr, size_t at, int deepest);

/* -------------------------------------------------- errors (parse_error.c) --- */

/* "Syntax error at or near 'x': expected <what>." at the present token, with the hints that fit. */
NODISCARD COLD RETURNS_NONNULL Error *parser_expected(Parser *parser, const char *what);
/* As above, of a token that cannot stand here, with what was asked for as expectation. */
NODISCARD COLD RETURNS_NONNULL Error *parser_unexpected(Parser *parser);
/* Error of `class` at the present token. */
NODISCARD COLD RETURNS_NONNULL Error *parser_error(Parser *parser, ErrorClass class,
                                                   const char *format, ...) PRINTF_LIKE(3, 4);
NODISCARD COLD RETURNS_NONNULL Error *parser_error_at(Parser *parser, SourcePlace place,
                                                      ErrorClass class, const char *message);
/* What to write instead, when the words around the present token show what was meant; or NULL. */
COLD const char *parser_foreseen_hint(const Parser *parser);
/* The "-" that cannot stand here is one of a name's: my-topic. */
COLD bool parser_dashed_name(const Parser *parser, Str *ret_name, SourcePlace *ret_place);
/* The type that other databases call `word`, or NULL. */
COLD const char *parser_type_hint(Str word);
/* What opened at a token, as it is written: a word right before it, and a few tokens of its line. A
 * hint quotes it, because lines and columns of the SQL are not those of the file around it. */
NODISCARD COLD Str parser_opening(const Parser *parser, size_t open);
/* The keyword nearest to `word` among those asked for at the present token, or KEYWORD_NONE. */
Keyword parser_nearest_tried(const Parser *parser, Str word);

/* ---------------------------------------------------------------- growing --- */

/* *PARSER_PUSH(parser, items, count, capacity) = item; */
#define PARSER_PUSH(parser, items, count, capacity)                                                \
    arena_push((parser)->arena, (items), (count), (capacity))

/* ----------------------------------------------------------- expressions --- */

/* Levels of precedence, loosest first. */
enum {
    LEVEL_OR = 1,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_PREDICATE,
    LEVEL_COMPARISON,
    LEVEL_BIT_OR,
    LEVEL_BIT_XOR,
    LEVEL_BIT_AND,
    LEVEL_SHIFT,
    LEVEL_ADDITIVE,
    LEVEL_MULTIPLICATIVE,
    LEVEL_UNARY,
    LEVEL_POSTFIX,
    LEVEL_PRIMARY,
};

/* Each takes the production of that name; *ret lives in the parser's arena. */
NODISCARD Error *parse_expression(Parser *parser, AstExpr **ret);
/* The production `comparison`: no AND, OR, NOT, predicate outside parentheses. */
NODISCARD Error *parse_comparison(Parser *parser, AstExpr **ret);
/* expression {, expression} */
NODISCARD Error *parse_expression_list(Parser *parser, AstExpr ***ret_items, size_t *ret_count);
NODISCARD Error *parse_unary(Parser *parser, AstExpr **ret);
NODISCARD Error *parse_predicate_tail(Parser *parser, AstExpr *operand, size_t start,
                                      AstExpr **ret);
bool parser_at_predicate(const Parser *parser);
NODISCARD Error *parse_primary(Parser *parser, AstExpr **ret);
/* SUBSTRING, SUBSTR, TRIM, POSITION, OVERLAY, EXTRACT, CAST, TRY_CAST, STRUCT, EXISTS before "(".
 */
NODISCARD Error *parse_special_call(Parser *parser, AstExpr **ret, bool *ret_done);
/* The call's "(" has been taken and, in pending_expr, maybe the beginning of its first argument. */
NODISCARD Error *parse_call_rest(Parser *parser, const AstName *name, size_t start, AstExpr **ret);
NODISCARD Error *parse_literal(Parser *parser, AstExpr **ret);
bool parser_at_interval(const Parser *parser);
NODISCARD Error *parse_interval(Parser *parser, AstInterval *ret);
NODISCARD Error *parse_window(Parser *parser, AstWindow **ret);
NODISCARD Error *parse_named_windows(Parser *parser, AstNamedWindow **ret_items, size_t *ret_count);
NODISCARD Error *parse_sort_items(Parser *parser, AstSortItem **ret_items, size_t *ret_count);
NODISCARD Error *parse_sort_direction(Parser *parser, AstSortItem *item);
/* [AS alias | AS (alias, …) | implicit_alias] */
NODISCARD Error *parse_select_alias(Parser *parser, AstIdentifier **ret_aliases, size_t *ret_count,
                                    bool *ret_list);
/* New node spanning from token `start` to the last one taken. */
AstExpr *parser_new_expr(Parser *parser, AstExprKind kind, size_t start);
/* Where an expression that begins here begins: the pending "(", or the present token. */
size_t parser_expr_start(const Parser *parser);

/* ----------------------------------------------------------------- types --- */

/* Any type of the grammar; whether it is supported is the binder's matter. */
NODISCARD Error *parse_data_type(Parser *parser, AstDataType **ret);
/* A word that names a type stands `ahead` tokens from here. */
bool parser_is_type_ahead(const Parser *parser, size_t ahead);
/* SECOND, MINUTES, …; false when the token is no unit. */
bool parser_unit_ahead(const Parser *parser, size_t ahead, AstIntervalUnit *ret_unit);
/* YEAR MONTH DAY HOUR MINUTE SECOND only. */
bool parser_interval_field_ahead(const Parser *parser, size_t ahead, AstIntervalUnit *ret_unit);

/* --------------------------------------------------------------- queries --- */

/* [WITH …] term {set operator term} [ORDER BY …] [LIMIT …] … */
NODISCARD Error *parse_query(Parser *parser, AstQuery **ret);
/* "(" stands here. Takes it and all to its ")": a query in parentheses gives *ret_query; anything
 * else an expression. Which of the two `((SELECT …` begins shows behind the inner ")". */
NODISCARD Error *parse_parenthesized(Parser *parser, AstQuery **ret_query, AstExpr **ret_expr);
/* Goes on behind a query in parentheses, taken as the first term: set operators, ORDER BY, LIMIT.
 */
NODISCARD Error *parse_query_rest(Parser *parser, AstQuery *first, size_t start, AstQuery **ret);
/* A set operator, ORDER, SORT, LIMIT, OFFSET or WINDOW stands here. */
bool parser_at_query_tail(const Parser *parser);
/* Query or expression, whatever stands here (RETURN …). */
NODISCARD Error *parse_query_or_expression(Parser *parser, AstQuery **ret_query,
                                           AstExpr **ret_expr);

/* ------------------------------------------------------------- relations --- */

/* FROM has been taken: items with their joins. */
NODISCARD Error *parse_from_list(Parser *parser, AstFromItem **ret_items, size_t *ret_count);
NODISCARD Error *parse_relation(Parser *parser, AstRelation **ret);
/* STREAM … without alias; *ret is a relation with ->stream. */
NODISCARD Error *parse_stream_relation(Parser *parser, AstRelation **ret);
/* `with_columns`: "(a, b)" may follow the name. */
NODISCARD Error *parse_table_alias(Parser *parser, bool with_columns, AstTableAlias *ret);
NODISCARD Error *parse_lateral_views(Parser *parser, AstSelect *select);
NODISCARD Error *parse_values_rows(Parser *parser, AstValues **ret);
NODISCARD Error *parse_table_arguments(Parser *parser, AstArgument **ret_items, size_t *ret_count);

/* ------------------------------------------------------------ statements --- */

/* A statement up to its ';' or the end, which is not taken. */
NODISCARD Error *parse_statement(Parser *parser, AstStatement **ret);
/* Takes every token to the end of the statement. */
void parser_skip_statement(Parser *parser);
/* The statement is recognised only to be refused; its first words have been taken. */
NODISCARD Error *parse_unsupported(Parser *parser, AstUnsupportedKind kind, const char *words,
                                   AstStatement *statement);

/* The functions below begin behind the statement's first word. */

NODISCARD Error *parse_create(Parser *parser, AstStatement *statement);
/* CREATE … VIEW, FUNCTION, FLOW have been taken. */
NODISCARD Error *parse_create_function(Parser *parser, AstCreateFunction *create);
NODISCARD Error *parse_create_view(Parser *parser, AstCreateView *create);
NODISCARD Error *parse_create_flow(Parser *parser, AstCreateFlow *create);
/* IF NOT EXISTS; `place` may be NULL. */
NODISCARD Error *parse_if_not_exists(Parser *parser, bool *ret_given, SourcePlace *place);

/* "(" spec_element, … ")" */
NODISCARD Error *parse_specification(Parser *parser, AstCreateStreamingTable *create);
/* `colon`: "name: type" is read too. */
NODISCARD Error *parse_column_definition(Parser *parser, bool colon, AstColumnDefinition *ret);
NODISCARD Error *parse_mask(Parser *parser, AstRoutine *ret);
/* "(" [argument {, argument}] ")" */
NODISCARD Error *parse_routine_arguments(Parser *parser, AstRoutine *routine);
/* *ret_found = false when no clause of a table begins here. */
NODISCARD Error *parse_table_clause(Parser *parser, AstTableClause *ret, bool *ret_found);
/* "(" property {, property} ")" */
NODISCARD Error *parse_properties(Parser *parser, AstProperty **ret_items, size_t *ret_count);
/* SCHEDULE or TRIGGER stands here. */
NODISCARD Error *parse_schedule(Parser *parser, AstSchedule **ret);
/* ROW FILTER has been taken: function ON (arguments). */
NODISCARD Error *parse_row_filter(Parser *parser, AstRoutine *ret);
/* FLOW has been taken. */
NODISCARD Error *parse_inline_flow(Parser *parser, AstFlow **ret);

/* DML, REFRESH, DESCRIBE, SHOW, SET. */
NODISCARD Error *parse_insert(Parser *parser, AstInsert *ret);
NODISCARD Error *parse_delete(Parser *parser, AstDelete *ret);
NODISCARD Error *parse_update(Parser *parser, AstUpdate *ret);
NODISCARD Error *parse_merge(Parser *parser, AstMerge *ret);
NODISCARD Error *parse_refresh(Parser *parser, AstRefresh *ret);
NODISCARD Error *parse_describe(Parser *parser, AstDescribe *ret);
NODISCARD Error *parse_show(Parser *parser, AstShow *ret);
NODISCARD Error *parse_set(Parser *parser, AstSet *ret);
/* ALTER STREAMING TABLE has been taken. */
NODISCARD Error *parse_alter(Parser *parser, AstAlter *ret);

#endif
