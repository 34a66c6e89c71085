/* What stands behind FROM: relations, STREAM, table functions, joins, watermarks, LATERAL VIEW. */
#include <assert.h>

#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

enum { NAME_PARTS_MAX = 3 };

/* ------------------------------------------------------------------ aliases --- */

Error *parse_table_alias(Parser *parser, bool with_columns, AstTableAlias *ret)
{
    AstTableAlias alias = {0};
    const unsigned never = WORD_JOIN;
    const unsigned not_bare = WORD_JOIN | WORD_NOT_ALIAS | WORD_AFTER_RELATION;
    if (parser_accept_word(parser, KEYWORD_AS)) {
        const Token *token = parser_token(parser);
        if ((keyword_flags(token->keyword) & never) != 0) {
            return error_set_hint(parser_expected(parser, "an alias"),
                                  "%s is no alias of a relation; write `%s`",
                                  keyword_name(token->keyword), keyword_name(token->keyword));
        }
        TRY(parse_identifier(parser, "an alias after AS", &alias.name));
    } else if (parser_is_identifier(parser) &&
               (keyword_flags(parser_token(parser)->keyword) & not_bare) == 0) {
        TRY(parse_identifier(parser, "an alias", &alias.name));
        parser->bare_alias_end = parser->at;
    }
    if (alias.name.name.data != NULL && with_columns && parser_is(parser, TOKEN_OPEN)) {
        TRY(parse_parenthesized_columns(parser, "a column name", &alias.columns));
    }
    *ret = alias;
    return NULL;
}

/* -------------------------------------------- clauses recognised to be refused --- */

/* "(" … ")" with balanced parentheses inside. */
static Error *skip_body(Parser *parser)
{
    size_t open = parser->at;
    size_t depth = 0;
    TRY(parser_expect(parser, TOKEN_OPEN));
    for (depth = 1; depth > 0; parser->at++) {
        if (parser_at_end(parser) || parser_is(parser, TOKEN_ERROR)) {
            return parser_expect_close(parser, open);
        }
        if (parser_is(parser, TOKEN_OPEN)) {
            depth++;
        } else if (parser_is(parser, TOKEN_CLOSE)) {
            depth--;
        }
    }
    return NULL;
}

static Error *parse_sample(Parser *parser, AstUnsupportedClause *ret)
{
    size_t start = parser->at;
    if (!parser_accept_word(parser, KEYWORD_TABLESAMPLE)) {
        return NULL;
    }
    TRY(skip_body(parser));
    if (parser_accept_word(parser, KEYWORD_REPEATABLE)) {
        size_t open = parser->at;
        AstInteger seed = {0};
        TRY(parser_expect(parser, TOKEN_OPEN));
        TRY(parse_integer(parser, "an integer", &seed));
        TRY(parser_expect_close(parser, open));
    }
    *ret = (AstUnsupportedClause){AST_UNSUPPORTED_TABLESAMPLE, parser_place_from(parser, start),
                                  parser_text_from(parser, start)};
    return NULL;
}

static Error *parse_pivot(Parser *parser, AstUnsupportedClause *ret)
{
    size_t start = parser->at;
    AstUnsupportedClauseKind kind = AST_UNSUPPORTED_PIVOT;
    if (!parser_accept_word(parser, KEYWORD_PIVOT)) {
        if (!parser_accept_word(parser, KEYWORD_UNPIVOT)) {
            return NULL;
        }
        kind = AST_UNSUPPORTED_UNPIVOT;
        if (parser_accept_word(parser, KEYWORD_INCLUDE) ||
            parser_accept_word(parser, KEYWORD_EXCLUDE)) {
            TRY(parser_expect_word(parser, KEYWORD_NULLS));
        }
    }
    TRY(skip_body(parser));
    *ret = (AstUnsupportedClause){kind, parser_place_from(parser, start),
                                  parser_text_from(parser, start)};
    return NULL;
}

/* ---------------------------------------------------------------- primaries --- */

/* RELATION_WORD: an identifier other than STREAM, LATERAL, VALUES. */
static bool at_relation_word(const Parser *parser)
{
    return parser_is_identifier(parser) && !parser_is_word(parser, KEYWORD_STREAM) &&
           !parser_is_word(parser, KEYWORD_LATERAL) && !parser_is_word(parser, KEYWORD_VALUES);
}

/* name or name(arguments) */
static Error *parse_named_relation(Parser *parser, const char *what, AstRelation *relation)
{
    if (!at_relation_word(parser)) {
        Error *error = parser_expected(parser, what);
        const Token *token = parser_token(parser);
        if (token->kind == TOKEN_WORD && parser_is_identifier(parser)) {
            return error_set_hint(error, "a relation named %s is written `%s`",
                                  keyword_name(token->keyword), keyword_name(token->keyword));
        }
        return error;
    }
    TRY(parse_name(parser, what, NAME_PARTS_MAX, &relation->name));
    relation->kind = AST_RELATION_NAME;
    if (parser_is(parser, TOKEN_OPEN)) {
        relation->kind = AST_RELATION_FUNCTION;
        TRY(parse_table_arguments(parser, &relation->arguments, &relation->argument_count));
    }
    return NULL;
}

/* STREAM has been taken. */
static Error *parse_stream_source(Parser *parser, AstRelation *relation)
{
    static const char what[] = "a relation or a table function after STREAM";
    relation->stream = true;
    size_t open = parser->at;
    if (!parser_accept(parser, TOKEN_OPEN)) {
        return parse_named_relation(parser, what, relation);
    }
    TRY(parse_named_relation(parser, what, relation));
    return parser_expect_close(parser, open);
}

static void set_span(Parser *parser, AstRelation *relation, size_t start)
{
    relation->place = parser_place_from(parser, start);
    relation->text = parser_text_from(parser, start);
}

Error *parse_stream_relation(Parser *parser, AstRelation **ret)
{
    size_t start = parser->at;
    AstRelation *relation = arena_new_object(parser->arena, AstRelation);
    if (!parser_accept_word(parser, KEYWORD_STREAM)) {
        return parser_expected(parser, "STREAM");
    }
    TRY(parse_stream_source(parser, relation));
    set_span(parser, relation, start);
    *ret = relation;
    return NULL;
}

static Error *parse_from_item(Parser *parser, AstFromItem *ret);

static AstRelation *new_query_relation(Parser *parser, AstQuery *query, size_t start)
{
    AstRelation *relation = arena_new_object(parser->arena, AstRelation);
    relation->kind = AST_RELATION_QUERY;
    relation->query = query;
    set_span(parser, relation, start);
    return relation;
}

static Error *parse_parenthesized_relation(Parser *parser, AstRelation **ret);

/* Behind "(": (from_item), whose first relation may have been read already. */
static Error *parse_group_rest(Parser *parser, size_t open, AstRelation **ret)
{
    AstRelation *relation = arena_new_object(parser->arena, AstRelation);
    relation->kind = AST_RELATION_GROUP;
    relation->group = arena_new_object(parser->arena, AstFromItem);
    TRY(parse_from_item(parser, relation->group));
    TRY(parser_expect_close(parser, open));
    set_span(parser, relation, open);
    *ret = relation;
    return NULL;
}

/* Behind "(" stands VALUES: the query is a relation that is joined when it says no more than VALUES
 * and something other than its ")" follows. */
static bool begins_group(const Parser *parser, const AstQuery *query)
{
    return query->body->kind == AST_TERM_VALUES && query->common_table_count == 0 &&
           query->sort_kind == AST_SORT_NONE && query->window_count == 0 && !query->limit_all &&
           query->limit == NULL && query->offset == NULL && !parser_is(parser, TOKEN_CLOSE) &&
           !parser_at_end(parser);
}

/* (VALUES 1 AS a JOIN …): the relation is pending with the alias it has been given. */
static Error *parse_values_group(Parser *parser, size_t open, const AstQueryTerm *term,
                                 AstRelation **ret)
{
    AstRelation *relation = arena_new_object(parser->arena, AstRelation);
    relation->kind = AST_RELATION_VALUES;
    relation->values = term->values;
    relation->alias = term->values_alias;
    set_span(parser, relation, open + 1);
    parser->pending_relation = relation;
    parser->pending_at = open + 1;
    return parse_group_rest(parser, open, ret);
}

/* Behind "(" stands another one that leads to a query: what is in the inner parentheses is a query,
 * which may go on, or a relation, which may be joined. */
static Error *parse_doubled_relation(Parser *parser, size_t open, AstRelation **ret)
{
    size_t inner = parser->at;
    AstRelation *first = NULL;
    TRY(parse_parenthesized_relation(parser, &first));
    bool query = first->kind == AST_RELATION_QUERY;
    if (query && (parser_at_query_tail(parser) || parser_is(parser, TOKEN_CLOSE))) {
        AstQuery *whole = NULL;
        TRY(parse_query_rest(parser, first->query, inner, &whole));
        TRY(parser_expect_close(parser, open));
        *ret = new_query_relation(parser, whole, open);
        return NULL;
    }
    parser->pending_relation = first;
    parser->pending_at = inner;
    return parse_group_rest(parser, open, ret);
}

/* "(" query ")" or "(" from_item ")". */
static Error *parse_parenthesized_relation(Parser *parser, AstRelation **ret)
{
    TRY(parser_enter(parser, 2));
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    if (!parser_starts_query(parser)) {
        TRY(parse_group_rest(parser, open, ret));
    } else if (parser_is(parser, TOKEN_OPEN)) {
        TRY(parse_doubled_relation(parser, open, ret));
    } else {
        AstQuery *query = NULL;
        TRY(parse_query(parser, &query));
        if (begins_group(parser, query)) {
            TRY(parse_values_group(parser, open, query->body, ret));
        } else {
            TRY(parser_expect_close(parser, open));
            *ret = new_query_relation(parser, query, open);
        }
    }
    parser_leave(parser, 2);
    return NULL;
}

static Error *parse_relation_primary(Parser *parser, AstRelation **ret)
{
    if (parser->pending_relation != NULL) {
        *ret = parser->pending_relation;
        parser->pending_relation = NULL;
        return NULL;
    }
    if (parser_is(parser, TOKEN_OPEN)) {
        return parse_parenthesized_relation(parser, ret);
    }
    if (parser_is_word(parser, KEYWORD_STREAM)) {
        return parse_stream_relation(parser, ret);
    }
    size_t start = parser->at;
    AstRelation *relation = arena_new_object(parser->arena, AstRelation);
    if (parser_accept_word(parser, KEYWORD_VALUES)) {
        relation->kind = AST_RELATION_VALUES;
        TRY(parse_values_rows(parser, &relation->values));
    } else {
        TRY(parse_named_relation(parser, "a relation", relation));
    }
    set_span(parser, relation, start);
    *ret = relation;
    return NULL;
}

/* WATERMARK expr [AS name] DELAY OF interval (SQ-28) */
static Error *parse_watermark(Parser *parser, AstWatermark **ret)
{
    size_t start = parser->at;
    if (!parser_accept_word(parser, KEYWORD_WATERMARK)) {
        return NULL;
    }
    AstWatermark *watermark = arena_new_object(parser->arena, AstWatermark);
    TRY(parse_expression(parser, &watermark->expr));
    if (parser_accept_word(parser, KEYWORD_AS)) {
        TRY(parse_field_name(parser, &watermark->alias));
    }
    TRY(parser_expect_word(parser, KEYWORD_DELAY));
    TRY(parser_expect_word(parser, KEYWORD_OF));
    if (!parser_is_word(parser, KEYWORD_INTERVAL)) {
        return parser_expected(parser, "an INTERVAL, as in INTERVAL 10 MINUTES");
    }
    watermark->delay = arena_new_object(parser->arena, AstInterval);
    TRY(parse_interval(parser, watermark->delay));
    watermark->place = parser_place_from(parser, start);
    *ret = watermark;
    return NULL;
}

/* A relation that was read in parentheses has no suffix yet; one that has is a group's only child.
 */
Error *parse_relation(Parser *parser, AstRelation **ret)
{
    size_t start = parser_expr_start(parser);
    AstRelation *relation = NULL;
    TRY(parse_relation_primary(parser, &relation));
    if (relation->alias.name.name.data == NULL) { /* pending VALUES may have theirs */
        TRY(parse_sample(parser, &relation->sample));
        TRY(parse_watermark(parser, &relation->watermark));
        TRY(parse_table_alias(parser, true, &relation->alias));
    }
    TRY(parse_pivot(parser, &relation->pivot));
    set_span(parser, relation, start);
    *ret = relation;
    return NULL;
}

/* -------------------------------------------------------------------- joins --- */

/* [type] JOIN stands here: its tokens are taken. */
static Error *parse_join_type(Parser *parser, AstJoin *join, bool *ret_found)
{
    bool typed = true;
    join->type = AST_JOIN_INNER;
    if (parser_accept_word(parser, KEYWORD_LEFT)) {
        join->type = AST_JOIN_LEFT;
        if (parser_accept_word(parser, KEYWORD_SEMI)) {
            join->type = AST_JOIN_SEMI;
        } else if (parser_accept_word(parser, KEYWORD_ANTI)) {
            join->type = AST_JOIN_ANTI;
        } else {
            (void)parser_accept_word(parser, KEYWORD_OUTER);
        }
    } else if (parser_accept_word(parser, KEYWORD_RIGHT)) {
        join->type = AST_JOIN_RIGHT;
        (void)parser_accept_word(parser, KEYWORD_OUTER);
    } else if (parser_accept_word(parser, KEYWORD_FULL)) {
        join->type = AST_JOIN_FULL;
        (void)parser_accept_word(parser, KEYWORD_OUTER);
    } else if (parser_accept_word(parser, KEYWORD_CROSS)) {
        join->type = AST_JOIN_CROSS;
    } else if (parser_accept_word(parser, KEYWORD_SEMI)) {
        join->type = AST_JOIN_SEMI;
    } else if (parser_accept_word(parser, KEYWORD_ANTI)) {
        join->type = AST_JOIN_ANTI;
    } else {
        typed = parser_accept_word(parser, KEYWORD_INNER);
    }
    if (typed || join->natural) {
        TRY(parser_expect_word(parser, KEYWORD_JOIN));
        *ret_found = true;
        return NULL;
    }
    *ret_found = parser_accept_word(parser, KEYWORD_JOIN);
    return NULL;
}

static Error *parse_join_condition(Parser *parser, AstJoin *join)
{
    bool on = parser_is_word(parser, KEYWORD_ON);
    if (join->natural && (on || parser_is_word(parser, KEYWORD_USING))) {
        return error_set_hint(parser_expected(parser, "no condition after NATURAL JOIN"),
                              "NATURAL joins on the columns both sides have; leave it out to "
                              "give a condition");
    }
    if (parser_accept_word(parser, KEYWORD_ON)) {
        return parse_expression(parser, &join->on);
    }
    if (parser_accept_word(parser, KEYWORD_USING)) {
        return parse_parenthesized_columns(parser, "a column name", &join->using);
    }
    return NULL;
}

static Error *parse_join(Parser *parser, AstJoin *ret, bool *ret_found)
{
    size_t start = parser->at;
    AstJoin join = {0};
    join.natural = parser_accept_word(parser, KEYWORD_NATURAL);
    TRY(parse_join_type(parser, &join, ret_found));
    if (!*ret_found) {
        return NULL;
    }
    bool lateral = !join.natural && parser_accept_word(parser, KEYWORD_LATERAL);
    TRY(parse_relation(parser, &join.relation));
    join.relation->lateral = lateral;
    TRY(parse_join_condition(parser, &join));
    join.place = parser_place_from(parser, start);
    *ret = join;
    return NULL;
}

static Error *parse_from_item(Parser *parser, AstFromItem *ret)
{
    size_t start = parser_expr_start(parser);
    AstFromItem item = {0};
    bool lateral = false;
    if (parser->pending_relation == NULL &&
        !parser_is_words(parser, KEYWORD_LATERAL, KEYWORD_VIEW)) {
        lateral = parser_accept_word(parser, KEYWORD_LATERAL);
    }
    TRY(parse_relation(parser, &item.first));
    item.first->lateral = lateral;
    size_t capacity = 0;
    for (;;) {
        AstJoin join = {0};
        bool found = false;
        TRY(parse_join(parser, &join, &found));
        if (!found) {
            break;
        }
        *PARSER_PUSH(parser, item.joins, item.join_count, capacity) = join;
    }
    item.place = parser_place_from(parser, start);
    *ret = item;
    return NULL;
}

Error *parse_from_list(Parser *parser, AstFromItem **ret_items, size_t *ret_count)
{
    AstFromItem *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    do {
        AstFromItem item = {0};
        TRY(parse_from_item(parser, &item));
        *PARSER_PUSH(parser, items, count, capacity) = item;
    } while (parser_accept(parser, TOKEN_COMMA));
    *ret_items = items;
    *ret_count = count;
    return NULL;
}

/* ------------------------------------------------------------- LATERAL VIEW --- */

static bool at_bare_alias(const Parser *parser)
{
    return parser_is_identifier(parser) &&
           (keyword_flags(parser_token(parser)->keyword) & WORD_NOT_ALIAS) == 0;
}

static Error *parse_view_columns(Parser *parser, AstIdentifierList *list)
{
    size_t capacity = 0;
    bool as = parser_accept_word(parser, KEYWORD_AS);
    if (!as && !at_bare_alias(parser)) {
        return NULL;
    }
    do {
        AstIdentifier column = {0};
        if (as) {
            TRY(parse_field_name(parser, &column));
        } else if (at_bare_alias(parser)) {
            TRY(parse_identifier(parser, "a column alias", &column));
        } else {
            return parser_expected(parser, "a column alias");
        }
        *PARSER_PUSH(parser, list->items, list->item_count, capacity) = column;
    } while (parser_accept(parser, TOKEN_COMMA));
    return NULL;
}

static Error *parse_lateral_view(Parser *parser, AstLateralView *ret)
{
    size_t start = parser->at - 2;
    AstLateralView view = {0};
    bool function = parser_is_ahead(parser, 1, TOKEN_OPEN) || parser_is_ahead(parser, 1, TOKEN_DOT);
    if (!function) { /* outer(…) would be one, and outer.f(…) */
        view.outer = parser_accept_word(parser, KEYWORD_OUTER);
    }
    TRY(parse_primary(parser, &view.call));
    if (view.call->kind != AST_EXPR_CALL) {
        return parser_error(parser, ERROR_PARSE_SYNTAX_ERROR,
                            "Syntax error: LATERAL VIEW needs a generator function such as "
                            "explode(…).");
    }
    if (at_bare_alias(parser)) {
        TRY(parse_identifier(parser, "an alias", &view.alias));
        parser->bare_alias_end = parser->at;
    } else if (!parser_is_word(parser, KEYWORD_AS)) { /* f(x) AS a: columns without a relation */
        return parser_expected(parser, "an alias of the LATERAL VIEW");
    }
    TRY(parse_view_columns(parser, &view.columns));
    view.place = parser_place_from(parser, start);
    *ret = view;
    return NULL;
}

Error *parse_lateral_views(Parser *parser, AstSelect *select)
{
    size_t capacity = 0;
    while (parser_accept_words(parser, KEYWORD_LATERAL, KEYWORD_VIEW)) {
        AstLateralView view = {0};
        TRY(parse_lateral_view(parser, &view));
        *PARSER_PUSH(parser, select->lateral_views, select->lateral_view_count, capacity) = view;
    }
    return NULL;
}
