/* Syntax errors: what was found, what was expected, and the hint that fits a foreseeable mistake.
 *
 * The nearest keyword is looked for among those the parser asked for in vain at the same token
 * (Parser.tried), so CREATE STREEMING is answered with STREAMING and never with STRING. A misspelt
 * clause word often was taken as an alias first (SELECT a FORM t): then the word before is judged.
 */
#include <stdarg.h>
#include <stdio.h>

#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

enum { SHOWN_SIZE_MAX = 40, SHOWN_LINE_MAX = 16 << 10, LISTED_MAX = 6, OPENING_SIZE_MAX = 24 };

/* The line of the error is copied unless it is very long: what is printed is cut anyway. */
static bool line_is_short(Str text, size_t at)
{
    size_t start = at;
    while (start > 0 && text.data[start - 1] != '\n' && at - start <= SHOWN_LINE_MAX) {
        start--;
    }
    size_t end = at;
    while (end < text.size && text.data[end] != '\n' && end - start <= SHOWN_LINE_MAX) {
        end++;
    }
    return end - start <= SHOWN_LINE_MAX;
}

static Error *finish(const Parser *parser, Error *error, const Token *token)
{
    if (line_is_short(parser->text, token->start)) {
        return error_set_source(error, parser->text);
    }
    return error;
}

/* The end of a statement has no characters: the place is one behind its last token, where the
 * missing thing belongs. NULL when the place is the present token's own. */
static const Token *token_before_end(const Parser *parser)
{
    if (!parser_at_end(parser) || parser->at == 0) {
        return NULL;
    }
    const Token *last = &parser->tokens[parser->at - 1];
    Str span = parser_token_text(parser, last);
    bool one_line = str_find_byte(span, '\n') == span.size;
    return last->kind == TOKEN_SEMICOLON || !one_line ? NULL : last;
}

static Error *finish_here(const Parser *parser, Error *error)
{
    const Token *before = token_before_end(parser);
    if (before == NULL) {
        const Token *token = parser_token(parser);
        return finish(parser, error_set_place(error, parser_place_of(token)), token);
    }
    SourcePlace place = {(int)before->line, (int)(before->column + before->length), 1};
    return finish(parser, error_set_place(error, place), before);
}

Error *parser_error(Parser *parser, ErrorClass class, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char text[512];
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return finish_here(parser, error_new(class, "%s", text));
}

Error *parser_error_at(Parser *parser, SourcePlace place, ErrorClass class, const char *message)
{
    Error *error = error_at(class, place, "%s", message);
    return finish(parser, error, parser_token(parser));
}

/* The text of a token as messages show it, cut at a character's end. */
static Str shown(const Parser *parser, const Token *token, const char **ret_dots)
{
    Str text = parser_token_text(parser, token);
    *ret_dots = "";
    if (text.size > SHOWN_SIZE_MAX) {
        text.size = SHOWN_SIZE_MAX;
        while (text.size > 0 && ((unsigned char)text.data[text.size] & 0xC0) == 0x80) {
            text.size--;
        }
        *ret_dots = "…";
    }
    return text;
}

static const char *near_text(Parser *parser)
{
    const Token *token = parser_token(parser);
    if (token->kind == TOKEN_END || token->kind == TOKEN_SEMICOLON) {
        return "at the end of the statement";
    }
    const char *dots = "";
    Str text = shown(parser, token, &dots);
    return arena_printf(parser->arena, "at or near '%.*s%s'", STR_ARG(text), dots);
}

/* Characters that editors put in place of plain ones. */
static const char *character_hint(Str text)
{
    static const struct {
        const char *bytes;
        const char *hint;
    } rows[] = {
        {"\xE2\x80\x98", "write the string in plain quotes: '…'"},
        {"\xE2\x80\x99", "write the string in plain quotes: '…'"},
        {"\xE2\x80\x9C", "write the string in plain quotes: '…'"},
        {"\xE2\x80\x9D", "write the string in plain quotes: '…'"},
        {"\xC2\xA0", "there is a no-break space (U+00A0) in it: write a plain one"},
        {"\xE3\x80\x80", "there is an ideographic space (U+3000) in it: write a plain one"},
        {"\xE2\x80\x8B", "there is an invisible character (U+200B) in it: remove it"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        if (memmem(text.data, text.size, rows[i].bytes, strlen(rows[i].bytes)) != NULL) {
            return rows[i].hint;
        }
    }
    return NULL;
}

static Error *foreign_name_error(const Parser *parser, const Token *token)
{
    const char *dots = "";
    Str text = shown(parser, token, &dots);
    Error *error = error_at(ERROR_INVALID_IDENTIFIER, parser_place_of(token),
                            "The unquoted identifier %.*s%s is invalid and must be back quoted.",
                            STR_ARG(text), dots);
    const char *hint = character_hint(text);
    if (hint != NULL) {
        return error_set_hint(error, "%s", hint);
    }
    return error_set_hint(error, "write `%.*s%s`", STR_ARG(text), dots);
}

/* 'it's': the quote stands right behind a word, which stands right behind a string. */
static bool is_quote_inside(const Parser *parser, const Token *token)
{
    if (parser->at < 2) {
        return false;
    }
    const Token *word = token - 1;
    return word->kind == TOKEN_WORD && word->start + word->size == token->start &&
           word[-1].kind == TOKEN_STRING && word[-1].start + word[-1].size == word->start;
}

static Error *unclosed_error(const Token *token, const char *what, const char *closing)
{
    Error *error = error_at(ERROR_PARSE_SYNTAX_ERROR, parser_place_of(token),
                            "The %s that opens here is not closed.", what);
    return error_set_hint(error,
                          "everything to the end of the text was read as part of it; "
                          "write %s where it ends",
                          closing);
}

Str parser_opening(const Parser *parser, size_t open)
{
    size_t first = open;
    if (open > 0) {
        const Token *before = &parser->tokens[open - 1];
        bool touches = before->start + before->size == parser->tokens[open].start;
        first -= before->kind == TOKEN_WORD && touches ? 1 : 0;
    }
    uint32_t start = parser->tokens[first].start;
    uint32_t end = parser->tokens[open].start + parser->tokens[open].size;
    for (size_t i = open + 1; i < parser->token_count; i++) {
        const Token *token = &parser->tokens[i];
        if (token->kind == TOKEN_END || token->line != parser->tokens[open].line ||
            token->start + token->size - start > OPENING_SIZE_MAX) {
            break;
        }
        end = token->start + token->size;
    }
    return (Str){parser->text.data + start, end - start};
}

/* What stands here is no token at all. */
static Error *token_error(const Parser *parser, const Token *token)
{
    SourcePlace place = parser_place_of(token);
    Str text = parser_token_text(parser, token);
    const char *quote = text.size > 0 && text.data[text.size - 1] == '"' ? "\"" : "'";
    switch ((TokenError)token->error) {
    case TOKEN_ERROR_FOREIGN_NAME:
        return foreign_name_error(parser, token);
    case TOKEN_ERROR_UNCLOSED_STRING:
        return is_quote_inside(parser, token)
                   ? error_set_hint(unclosed_error(token, "string", quote),
                                    "a quote inside a string is doubled: 'it''s'")
                   : unclosed_error(token, "string", quote);
    case TOKEN_ERROR_UNCLOSED_BACKTICK:
        return unclosed_error(token, "backquoted name", "`");
    case TOKEN_ERROR_UNCLOSED_COMMENT:
        return unclosed_error(token, "comment", "*/ (comments nest)");
    case TOKEN_ERROR_EMPTY_NAME:
        return error_at(ERROR_PARSE_SYNTAX_ERROR, place, "A name in backquotes is empty.");
    case TOKEN_ERROR_UTF8:
        return error_at(ERROR_PARSE_SYNTAX_ERROR, place, "The text here is not valid UTF-8.");
    case TOKEN_ERROR_NONE:
    case TOKEN_ERROR_CHARACTER:
        break;
    }
    unsigned char c = text.size > 0 ? (unsigned char)text.data[0] : 0;
    if (c > ' ' && c < 0x7F) {
        Error *error = error_at(
            ERROR_PARSE_SYNTAX_ERROR, place,
            "Syntax error at or near '%c': no such character in SQL outside of strings.", c);
        bool parameter = c == '@' || c == '$' || c == '?';
        return parameter ? error_set_hint(error, "there are no parameters in statements") : error;
    }
    return error_at(ERROR_PARSE_SYNTAX_ERROR, place,
                    "Syntax error: control character 0x%02X outside of strings.", c);
}

static bool is_near(Str word, Str name, size_t *best)
{
    size_t distance = str_distance(word, name);
    size_t most = name.size <= 3 ? 1 : 2;
    if (distance > most || distance >= name.size || distance >= *best) {
        return false;
    }
    *best = distance;
    return true;
}

enum { NEAR_WORD_MAX = 24 };

Keyword parser_nearest_tried(const Parser *parser, Str word)
{
    Keyword nearest = KEYWORD_NONE;
    size_t best = SIZE_MAX;
    if (parser->tried_at != parser->at || word.size > NEAR_WORD_MAX) {
        return nearest;
    }
    for (size_t i = 0; i < parser->tried_count; i++) {
        if (is_near(word, str_from(keyword_name(parser->tried[i])), &best)) {
            nearest = parser->tried[i];
        }
    }
    return nearest;
}

/* Words with which a clause goes on, for a misspelt one that was taken as an alias. */
static Keyword nearest_clause_word(Str word)
{
    static const Keyword words[] = {
        KEYWORD_FROM,   KEYWORD_WHERE,  KEYWORD_GROUP,   KEYWORD_HAVING,    KEYWORD_QUALIFY,
        KEYWORD_WINDOW, KEYWORD_ORDER,  KEYWORD_SORT,    KEYWORD_LIMIT,     KEYWORD_OFFSET,
        KEYWORD_UNION,  KEYWORD_EXCEPT, KEYWORD_MINUS,   KEYWORD_INTERSECT, KEYWORD_JOIN,
        KEYWORD_LEFT,   KEYWORD_RIGHT,  KEYWORD_INNER,   KEYWORD_CROSS,     KEYWORD_FULL,
        KEYWORD_ON,     KEYWORD_USING,  KEYWORD_LATERAL, KEYWORD_WATERMARK, KEYWORD_AS,
    };
    Keyword nearest = KEYWORD_NONE;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < ARRAY_LENGTH(words) && word.size > 1 && word.size <= NEAR_WORD_MAX;
         i++) {
        Str name = str_from(keyword_name(words[i]));
        if (!str_equal_ignore_case(word, name) && is_near(word, name, &best)) {
            nearest = words[i];
        }
    }
    return nearest;
}

/* SELECT a b c */
static Error *missing_comma(const Parser *parser, Error *error, Str alias)
{
    const Token *token = parser_token(parser);
    bool operand = token->kind == TOKEN_BACKTICK || token->kind == TOKEN_WORD;
    return operand ? error_set_hint(error, "'%.*s' was read as an alias; is a comma missing?",
                                    STR_ARG(alias))
                   : error;
}

/* A reserved word is seldom another one misspelt: it stands in the wrong place. */
static bool is_written_right(const Token *token)
{
    return token->keyword != KEYWORD_NONE && (keyword_flags(token->keyword) & WORD_RESERVED) != 0;
}

static Error *add_hint(Parser *parser, Error *error)
{
    const Token *token = parser_token(parser);
    const char *foreseen = parser_foreseen_hint(parser);
    if (foreseen != NULL) {
        return error_set_hint(error, "%s", foreseen);
    }
    if (token->kind == TOKEN_WORD && !is_written_right(token)) {
        Str word = parser_token_text(parser, token);
        Keyword keyword = parser_nearest_tried(parser, word);
        if (keyword != KEYWORD_NONE && keyword != token->keyword) {
            return error_set_hint(error, "did you mean %s?", keyword_name(keyword));
        }
    }
    if (parser->at > 0 && parser->bare_alias_end == parser->at) {
        Str word = parser_token_text(parser, &parser->tokens[parser->at - 1]);
        Keyword keyword = nearest_clause_word(word);
        if (keyword != KEYWORD_NONE) {
            return error_set_hint(error, "'%.*s' was read as an alias; did you mean %s?",
                                  STR_ARG(word), keyword_name(keyword));
        }
        if (token->kind == TOKEN_BACKTICK || token->keyword == KEYWORD_NONE) {
            return missing_comma(parser, error, word);
        }
    }
    return error;
}

/* my-topic, where an expression ends before the "-". */
static Error *dashed_name_error(const Parser *parser, Str name, SourcePlace place)
{
    Error *error =
        error_at(ERROR_INVALID_IDENTIFIER, place,
                 "The unquoted identifier %.*s is invalid and must be back quoted.", STR_ARG(name));
    error = error_set_hint(error, "write `%.*s`", STR_ARG(name));
    return finish(parser, error, parser_token(parser));
}

Error *parser_expected(Parser *parser, const char *what)
{
    const Token *token = parser_token(parser);
    Str dashed = STR_NULL;
    SourcePlace place = {0};
    if (token->kind == TOKEN_ERROR) {
        return finish(parser, token_error(parser, token), token);
    }
    if (parser_dashed_name(parser, &dashed, &place) && dashed.size <= SHOWN_SIZE_MAX) {
        return dashed_name_error(parser, dashed, place);
    }
    Error *error = error_new(ERROR_PARSE_SYNTAX_ERROR, "Syntax error %s: expected %s.",
                             near_text(parser), what);
    return finish_here(parser, add_hint(parser, error));
}

/* "A, B or C" of the keywords asked for here, when they are few. */
static const char *tried_text(Parser *parser)
{
    if (parser->tried_at != parser->at || parser->tried_count == 0 ||
        parser->tried_count > LISTED_MAX) {
        return "the end of the statement or another clause";
    }
    AUTO_BUFFER Buffer list = {0};
    for (size_t i = 0; i < parser->tried_count; i++) {
        buffer_append_cstr(&list, i == 0 ? "" : ", ");
        buffer_append_cstr(&list, keyword_name(parser->tried[i]));
    }
    buffer_append_cstr(&list, " or the end of the statement");
    return arena_copy_cstr(parser->arena, buffer_str(&list));
}

Error *parser_unexpected(Parser *parser)
{
    Error *error = parser_expected(parser, tried_text(parser));
    bool close = parser_is(parser, TOKEN_CLOSE) && error_hint(error) == NULL;
    return close ? error_set_hint(error, "there is no '(' that it could close") : error;
}
