/* Sort items, windows and frames (SQ-41, SQ-43). */
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

Error *parse_sort_direction(Parser *parser, AstSortItem *item)
{
    if (!parser_accept_word(parser, KEYWORD_ASC)) {
        item->descending = parser_accept_word(parser, KEYWORD_DESC);
    }
    item->nulls_first = !item->descending;
    if (parser_accept_word(parser, KEYWORD_NULLS)) {
        item->nulls_given = true;
        item->nulls_first = parser_accept_word(parser, KEYWORD_FIRST);
        if (!item->nulls_first && !parser_accept_word(parser, KEYWORD_LAST)) {
            return parser_expected(parser, "FIRST or LAST after NULLS");
        }
    }
    return NULL;
}

Error *parse_sort_items(Parser *parser, AstSortItem **ret_items, size_t *ret_count)
{
    AstSortItem *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    do {
        size_t start = parser->at;
        AstSortItem item = {0};
        TRY(parse_expression(parser, &item.expr));
        TRY(parse_sort_direction(parser, &item));
        item.place = parser_place_from(parser, start);
        *PARSER_PUSH(parser, items, count, capacity) = item;
    } while (parser_accept(parser, TOKEN_COMMA));
    *ret_items = items;
    *ret_count = count;
    return NULL;
}

static bool at_unbounded(const Parser *parser)
{
    return parser_is_word(parser, KEYWORD_UNBOUNDED) &&
           (parser_is_word_ahead(parser, 1, KEYWORD_PRECEDING) ||
            parser_is_word_ahead(parser, 1, KEYWORD_FOLLOWING));
}

static Error *parse_frame_bound(Parser *parser, AstFrameBound *ret)
{
    size_t start = parser->at;
    AstFrameBound bound = {.kind = AST_FRAME_CURRENT_ROW};
    bool unbounded = at_unbounded(parser);
    if (unbounded) {
        parser->at++;
    } else if (parser_accept_words(parser, KEYWORD_CURRENT, KEYWORD_ROW)) {
        bound.place = parser_place_from(parser, start);
        *ret = bound;
        return NULL;
    } else {
        TRY(parse_expression(parser, &bound.expr));
    }
    if (parser_accept_word(parser, KEYWORD_PRECEDING)) {
        bound.kind = unbounded ? AST_FRAME_UNBOUNDED_PRECEDING : AST_FRAME_PRECEDING;
    } else if (parser_accept_word(parser, KEYWORD_FOLLOWING)) {
        bound.kind = unbounded ? AST_FRAME_UNBOUNDED_FOLLOWING : AST_FRAME_FOLLOWING;
    } else {
        return parser_expected(parser, "PRECEDING or FOLLOWING");
    }
    bound.place = parser_place_from(parser, start);
    *ret = bound;
    return NULL;
}

/* ROWS or RANGE has been taken. */
static Error *parse_frame(Parser *parser, bool range, AstFrame **ret)
{
    size_t start = parser->at - 1;
    AstFrame *frame = arena_new_object(parser->arena, AstFrame);
    frame->range = range;
    frame->end.kind = AST_FRAME_CURRENT_ROW;
    frame->between = parser_accept_word(parser, KEYWORD_BETWEEN);
    TRY(parse_frame_bound(parser, &frame->start));
    if (frame->between) {
        if (!parser_accept_word(parser, KEYWORD_AND)) {
            return parser_expected(parser, "AND and the second bound of the frame");
        }
        TRY(parse_frame_bound(parser, &frame->end));
    }
    frame->place = parser_place_from(parser, start);
    *ret = frame;
    return NULL;
}

static Error *unexpected_in_window(Parser *parser, size_t open)
{
    bool name_first = parser->at == open + 1 && parser_is_identifier(parser);
    Error *error = parser_expected(parser, "PARTITION BY, ORDER BY, ROWS, RANGE or ')'");
    if (name_first && error_hint(error) == NULL) {
        return error_set_hint(error, "a named window is not extended: write OVER (name), or the "
                                     "whole definition");
    }
    return error;
}

/* "(" [PARTITION BY …] [ORDER BY …] [frame] ")" */
static Error *parse_window_definition(Parser *parser, AstWindow *window)
{
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    if (parser_accept_words(parser, KEYWORD_PARTITION, KEYWORD_BY)) {
        TRY(parse_expression_list(parser, &window->partition_by, &window->partition_by_count));
    }
    if (parser_accept_words(parser, KEYWORD_ORDER, KEYWORD_BY)) {
        TRY(parse_sort_items(parser, &window->order_by, &window->order_by_count));
    }
    if (parser_accept_word(parser, KEYWORD_ROWS)) {
        TRY(parse_frame(parser, false, &window->frame));
    } else if (parser_accept_word(parser, KEYWORD_RANGE)) {
        TRY(parse_frame(parser, true, &window->frame));
    }
    return parser_accept(parser, TOKEN_CLOSE) ? NULL : unexpected_in_window(parser, open);
}

Error *parse_window(Parser *parser, AstWindow **ret)
{
    size_t start = parser->at;
    AstWindow *window = arena_new_object(parser->arena, AstWindow);
    if (!parser_is(parser, TOKEN_OPEN)) {
        TRY(parse_identifier(parser, "a window's name or '('", &window->name));
    } else if (parser_is_identifier_ahead(parser, 1) && parser_is_ahead(parser, 2, TOKEN_CLOSE)) {
        parser->at++;
        TRY(parse_identifier(parser, "a window's name", &window->name));
        parser->at++;
    } else {
        TRY(parse_window_definition(parser, window));
    }
    window->place = parser_place_from(parser, start);
    *ret = window;
    return NULL;
}

Error *parse_named_windows(Parser *parser, AstNamedWindow **ret_items, size_t *ret_count)
{
    AstNamedWindow *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    do {
        AstNamedWindow named = {0};
        TRY(parse_identifier(parser, "a window's name", &named.name));
        TRY(parser_expect_word(parser, KEYWORD_AS));
        TRY(parse_window(parser, &named.window));
        *PARSER_PUSH(parser, items, count, capacity) = named;
    } while (parser_accept(parser, TOKEN_COMMA));
    *ret_items = items;
    *ret_count = count;
    return NULL;
}
