/* How the parser looks at tokens and takes them; names, strings and integers; places; nesting. */
#include <assert.h>
#include <limits.h>

#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

/* The last token is TOKEN_END, which is never passed. */
const Token *parser_ahead(const Parser *parser, size_t ahead)
{
    size_t at = parser->at + ahead;
    return &parser->tokens[at < parser->token_count ? at : parser->token_count - 1];
}

const Token *parser_token(const Parser *parser)
{
    return parser_ahead(parser, 0);
}

Str parser_token_text(const Parser *parser, const Token *token)
{
    return (Str){parser->text.data + token->start, token->size};
}

bool parser_is(const Parser *parser, TokenKind kind)
{
    return parser_token(parser)->kind == kind;
}

bool parser_is_ahead(const Parser *parser, size_t ahead, TokenKind kind)
{
    return parser_ahead(parser, ahead)->kind == kind;
}

bool parser_at_end(const Parser *parser)
{
    return parser_is(parser, TOKEN_END) || parser_is(parser, TOKEN_SEMICOLON);
}

bool parser_is_word_ahead(const Parser *parser, size_t ahead, Keyword keyword)
{
    const Token *token = parser_ahead(parser, ahead);
    return token->kind == TOKEN_WORD && token->keyword == keyword;
}

bool parser_is_word(const Parser *parser, Keyword keyword)
{
    return parser_is_word_ahead(parser, 0, keyword);
}

bool parser_is_words(const Parser *parser, Keyword first, Keyword second)
{
    return parser_is_word(parser, first) && parser_is_word_ahead(parser, 1, second);
}

static void take(Parser *parser)
{
    assert(parser->at + 1 < parser->token_count);
    parser->at++;
}

/* Remembers that `keyword` could stand here. */
static void note_tried(Parser *parser, Keyword keyword)
{
    if (parser->tried_at != parser->at) {
        parser->tried_at = parser->at;
        parser->tried_count = 0;
    }
    for (size_t i = 0; i < parser->tried_count; i++) {
        if (parser->tried[i] == keyword) {
            return;
        }
    }
    if (parser->tried_count < PARSER_TRIED_MAX) {
        parser->tried[parser->tried_count++] = (uint16_t)keyword;
    }
}

bool parser_accept(Parser *parser, TokenKind kind)
{
    assert(kind != TOKEN_END);
    if (!parser_is(parser, kind)) {
        return false;
    }
    take(parser);
    return true;
}

bool parser_accept_word(Parser *parser, Keyword keyword)
{
    if (!parser_is_word(parser, keyword)) {
        note_tried(parser, keyword);
        return false;
    }
    take(parser);
    return true;
}

bool parser_accept_words(Parser *parser, Keyword first, Keyword second)
{
    if (!parser_is_words(parser, first, second)) {
        note_tried(parser, first);
        return false;
    }
    take(parser);
    take(parser);
    return true;
}

Error *parser_expect(Parser *parser, TokenKind kind)
{
    if (parser_accept(parser, kind)) {
        return NULL;
    }
    return parser_expected(parser, arena_printf(parser->arena, "'%s'", token_kind_text(kind)));
}

Error *parser_expect_word(Parser *parser, Keyword keyword)
{
    return parser_accept_word(parser, keyword) ? NULL
                                               : parser_expected(parser, keyword_name(keyword));
}

Error *parser_expect_close(Parser *parser, size_t open)
{
    if (parser_accept(parser, TOKEN_CLOSE)) {
        return NULL;
    }
    Error *error = parser_expected(parser, "')'");
    if (error_hint(error) == NULL) {
        return error_set_hint(error, "the '(' of `%.*s` is not closed yet",
                              STR_ARG(parser_opening(parser, open)));
    }
    return error;
}

bool parser_is_identifier_ahead(const Parser *parser, size_t ahead)
{
    const Token *token = parser_ahead(parser, ahead);
    return token->kind == TOKEN_BACKTICK ||
           (token->kind == TOKEN_WORD && (keyword_flags(token->keyword) & WORD_RESERVED) == 0);
}

bool parser_is_identifier(const Parser *parser)
{
    return parser_is_identifier_ahead(parser, 0);
}

/* A word with which an expression goes on behind an operand. */
static bool is_operator_word(const Token *token)
{
    switch (token->keyword) {
    case KEYWORD_BETWEEN:
    case KEYWORD_COLLATE:
    case KEYWORD_DIV:
    case KEYWORD_ILIKE:
    case KEYWORD_IN:
    case KEYWORD_IS:
    case KEYWORD_LIKE:
    case KEYWORD_REGEXP:
    case KEYWORD_RLIKE:
        return true;
    default:
        return false;
    }
}

bool parser_starts_operand_ahead(const Parser *parser, size_t ahead)
{
    const Token *token = parser_ahead(parser, ahead);
    switch ((TokenKind)token->kind) {
    case TOKEN_STRING:
    case TOKEN_INTEGER:
    case TOKEN_DECIMAL:
    case TOKEN_DOUBLE:
    case TOKEN_BACKTICK:
    case TOKEN_OPEN:
    case TOKEN_PLUS:
    case TOKEN_MINUS:
    case TOKEN_TILDE:
    case TOKEN_BANG:
        return true;
    case TOKEN_WORD:
        break;
    default:
        return false;
    }
    switch (token->keyword) {
    case KEYWORD_NULL:
    case KEYWORD_TRUE:
    case KEYWORD_FALSE:
    case KEYWORD_CASE:
        return true;
    case KEYWORD_NOT: /* not NOT IN, NOT LIKE …, which continue an expression */
        return !is_operator_word(parser_ahead(parser, ahead + 1));
    default:
        return (keyword_flags(token->keyword) & WORD_RESERVED) == 0 && !is_operator_word(token);
    }
}

/* VALUES is a query when an operand follows, and a name otherwise. */
static bool starts_plain_query(const Parser *parser, size_t ahead)
{
    return parser_is_word_ahead(parser, ahead, KEYWORD_SELECT) ||
           parser_is_word_ahead(parser, ahead, KEYWORD_WITH) ||
           (parser_is_word_ahead(parser, ahead, KEYWORD_VALUES) &&
            parser_starts_operand_ahead(parser, ahead + 1));
}

bool parser_starts_query_ahead(const Parser *parser, size_t ahead)
{
    /* More "(" than the nesting allows need not be looked behind. */
    for (size_t i = 0; i < AST_DEPTH_MAX && parser_is_ahead(parser, ahead, TOKEN_OPEN); i++) {
        ahead++;
    }
    return starts_plain_query(parser, ahead);
}

bool parser_starts_query(const Parser *parser)
{
    return parser_starts_query_ahead(parser, 0);
}

SourcePlace parser_place_of(const Token *token)
{
    return (SourcePlace){(int)token->line, (int)token->column, (int)token->length};
}

enum { PLACE_LENGTH_MAX = 200 };

/* Characters from byte `start` to the end of its line, at most PLACE_LENGTH_MAX. */
static int rest_of_line(Str text, size_t start)
{
    int length = 0;
    for (size_t i = start; i < text.size && text.data[i] != '\n'; i++) {
        length += ((unsigned char)text.data[i] & 0xC0) != 0x80;
        if (length == PLACE_LENGTH_MAX) {
            break;
        }
    }
    return length;
}

SourcePlace parser_place_from(const Parser *parser, size_t start)
{
    const Token *first = &parser->tokens[start];
    if (parser->at <= start) {
        return parser_place_of(first);
    }
    const Token *last = &parser->tokens[parser->at - 1];
    SourcePlace place = parser_place_of(first);
    place.length = last->line == first->line ? (int)(last->column + last->length - first->column)
                                             : rest_of_line(parser->text, first->start);
    return place;
}

Str parser_text_from(const Parser *parser, size_t start)
{
    const Token *first = &parser->tokens[start];
    if (parser->at <= start) {
        return (Str){parser->text.data + first->start, 0};
    }
    const Token *last = &parser->tokens[parser->at - 1];
    return (Str){parser->text.data + first->start, last->start + last->size - first->start};
}

static void take_name(Parser *parser, AstIdentifier *ret)
{
    const Token *token = parser_token(parser);
    Str text = parser_token_text(parser, token);
    bool quoted = token->kind == TOKEN_BACKTICK;
    *ret = (AstIdentifier){.name = quoted ? lexer_backtick(text, parser->arena) : text,
                           .quoted = quoted,
                           .place = parser_place_of(token)};
    take(parser);
}

Error *parse_identifier(Parser *parser, const char *what, AstIdentifier *ret)
{
    if (!parser_is_identifier(parser)) {
        return parser_expected(parser, what);
    }
    take_name(parser, ret);
    return NULL;
}

Error *parse_field_name(Parser *parser, AstIdentifier *ret)
{
    if (!parser_is(parser, TOKEN_WORD) && !parser_is(parser, TOKEN_BACKTICK)) {
        return parser_expected(parser, "a name after '.'");
    }
    take_name(parser, ret);
    return NULL;
}

static Str dotted_text(Parser *parser, const AstName *name)
{
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < name->part_count; i++) {
        buffer_append_cstr(&text, i == 0 ? "" : ".");
        buffer_append_str(&text, name->parts[i].name);
    }
    return arena_copy_str(parser->arena, buffer_str(&text));
}

/* The text as written when that is the parts with dots between. */
static Str name_text(Parser *parser, const AstName *name, size_t start)
{
    Str written = parser_text_from(parser, start);
    bool plain = str_find_byte(written, '`') == written.size;
    size_t size = name->part_count - 1;
    for (size_t i = 0; i < name->part_count; i++) {
        size += name->parts[i].name.size;
    }
    return plain && size == written.size ? written : dotted_text(parser, name);
}

Error *parse_name(Parser *parser, const char *what, size_t parts_max, AstName *ret)
{
    size_t start = parser->at;
    size_t capacity = 0;
    AstName name = {0};
    AstIdentifier part = {0};
    TRY(parse_identifier(parser, what, &part));
    *PARSER_PUSH(parser, name.parts, name.part_count, capacity) = part;
    /* "t.*" is for the caller. */
    while (parser_is(parser, TOKEN_DOT) && !parser_is_ahead(parser, 1, TOKEN_STAR)) {
        if (name.part_count == parts_max) {
            return parser_error(parser, ERROR_PARSE_SYNTAX_ERROR,
                                "Syntax error at or near '.': a name has at most %zu parts here.",
                                parts_max);
        }
        take(parser);
        TRY(parse_field_name(parser, &part));
        *PARSER_PUSH(parser, name.parts, name.part_count, capacity) = part;
    }
    name.place = parser_place_from(parser, start);
    name.text = name_text(parser, &name, start);
    *ret = name;
    return NULL;
}

Error *parse_column_list(Parser *parser, const char *what, AstIdentifierList *ret)
{
    AstIdentifierList list = {0};
    size_t capacity = 0;
    do {
        AstIdentifier column = {0};
        TRY(parse_identifier(parser, what, &column));
        *PARSER_PUSH(parser, list.items, list.item_count, capacity) = column;
    } while (parser_accept(parser, TOKEN_COMMA));
    *ret = list;
    return NULL;
}

Error *parse_parenthesized_columns(Parser *parser, const char *what, AstIdentifierList *ret)
{
    size_t open = parser->at;
    if (!parser_accept(parser, TOKEN_OPEN)) {
        Error *error = parser_expected(parser, arena_printf(parser->arena, "'(' before %s", what));
        bool bare = parser_is_identifier(parser) && error_hint(error) == NULL;
        return bare ? error_set_hint(error, "columns stand in parentheses: (%.*s, …)",
                                     STR_ARG(parser_token_text(parser, parser_token(parser))))
                    : error;
    }
    AstIdentifierList list = {0};
    TRY(parse_column_list(parser, what, &list));
    TRY(parser_expect_close(parser, open));
    *ret = list;
    return NULL;
}

Error *parse_string(Parser *parser, const char *what, AstString *ret)
{
    size_t start = parser->at;
    if (!parser_is(parser, TOKEN_STRING)) {
        return parser_expected(parser, what);
    }
    Str value = lexer_string(parser_token_text(parser, parser_token(parser)), parser->arena);
    take(parser);
    if (parser_is(parser, TOKEN_STRING)) { /* side by side: one string (SQ-32) */
        AUTO_BUFFER Buffer joined = {0};
        buffer_append_str(&joined, value);
        while (parser_is(parser, TOKEN_STRING)) {
            Str span = parser_token_text(parser, parser_token(parser));
            buffer_append_str(&joined, lexer_string(span, parser->arena));
            take(parser);
        }
        value = arena_copy_str(parser->arena, buffer_str(&joined));
    }
    *ret = (AstString){.value = value, .place = parser_place_from(parser, start)};
    return NULL;
}

Error *parse_integer(Parser *parser, const char *what, AstInteger *ret)
{
    const Token *token = parser_token(parser);
    if (token->kind != TOKEN_INTEGER || token->suffix != AST_SUFFIX_NONE) {
        return parser_expected(parser, what);
    }
    int64_t value = 0;
    if (!str_to_int64(parser_token_text(parser, token), &value)) {
        value = INT64_MAX;
    }
    *ret = (AstInteger){.value = value, .place = parser_place_of(token)};
    take(parser);
    return NULL;
}

static Error *too_complex(Parser *parser)
{
    return error_set_hint(parser_error(parser, ERROR_STATEMENT_TOO_COMPLEX,
                                       "The statement nests deeper than %d levels here.",
                                       AST_DEPTH_MAX),
                          "split it, for example with WITH or a view");
}

Error *parser_enter(Parser *parser, int levels)
{
    if (parser->depth + levels > AST_DEPTH_MAX) {
        return too_complex(parser);
    }
    parser->depth += levels;
    if (parser->deepest < parser->depth) {
        parser->deepest = parser->depth;
    }
    return NULL;
}

void parser_leave(Parser *parser, int levels)
{
    assert(parser->depth >= levels);
    parser->depth -= levels;
}

Error *parser_raise(Parser *parser)
{
    if (parser->deepest + 1 > AST_DEPTH_MAX) {
        return too_complex(parser);
    }
    parser->deepest++;
    return NULL;
}

int parser_measure(Parser *parser)
{
    int saved = parser->deepest;
    parser->deepest = parser->depth;
    return saved;
}

int parser_measured(Parser *parser, int saved)
{
    int own = parser->deepest;
    if (parser->deepest < saved) {
        parser->deepest = saved;
    }
    return own;
}

void parser_set_pending(Parser *parser, AstExpr *expr, size_t at, int deepest)
{
    assert(parser->pending_expr == NULL && expr != NULL);
    parser->pending_expr = expr;
    parser->pending_at = at;
    parser->pending_deepest = deepest;
}

void parser_skip_statement(Parser *parser)
{
    while (!parser_at_end(parser)) {
        take(parser);
    }
}
