/* Queries: WITH, set operators, SELECT and its clauses, GROUP BY, ORDER BY, LIMIT. */
#include <assert.h>

#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

/* What a query costs of AST_DEPTH_MAX: query, term, select or relation lie between two queries. */
enum { QUERY_LEVELS = 2 };

/* ------------------------------------------------------------- select list --- */

Error *parse_select_alias(Parser *parser, AstIdentifier **ret_aliases, size_t *ret_count,
                          bool *ret_list)
{
    AstIdentifierList list = {0};
    size_t capacity = 0;
    AstIdentifier alias = {0};
    if (parser_accept_word(parser, KEYWORD_AS)) {
        if (parser_is(parser, TOKEN_OPEN)) {
            size_t open = parser->at++;
            do {
                TRY(parse_field_name(parser, &alias));
                *PARSER_PUSH(parser, list.items, list.item_count, capacity) = alias;
            } while (parser_accept(parser, TOKEN_COMMA));
            TRY(parser_expect_close(parser, open));
            *ret_list = true;
        } else if (parser_is(parser, TOKEN_WORD) || parser_is(parser, TOKEN_BACKTICK)) {
            TRY(parse_field_name(parser, &alias));
            *PARSER_PUSH(parser, list.items, list.item_count, capacity) = alias;
        } else {
            return parser_expected(parser, "an alias after AS");
        }
    } else if (parser_is_identifier(parser) &&
               (keyword_flags(parser_token(parser)->keyword) & WORD_NOT_ALIAS) == 0) {
        TRY(parse_identifier(parser, "an alias", &alias));
        *PARSER_PUSH(parser, list.items, list.item_count, capacity) = alias;
        parser->bare_alias_end = parser->at;
    }
    *ret_aliases = list.items;
    *ret_count = list.item_count;
    return NULL;
}

/* * or name{.name}.* stands here. */
static bool at_star(const Parser *parser)
{
    if (parser_is(parser, TOKEN_STAR)) {
        return true;
    }
    if (!parser_is_identifier(parser)) {
        return false;
    }
    size_t ahead = 1;
    while (parser_is_ahead(parser, ahead, TOKEN_DOT)) {
        if (parser_is_ahead(parser, ahead + 1, TOKEN_STAR)) {
            return true;
        }
        if (!parser_is_ahead(parser, ahead + 1, TOKEN_WORD) &&
            !parser_is_ahead(parser, ahead + 1, TOKEN_BACKTICK)) {
            return false;
        }
        ahead += 2;
    }
    return false;
}

enum { COLUMN_PARTS_MAX = 1000 };

static Error *parse_name_list(Parser *parser, const char *what, AstName **ret_items,
                              size_t *ret_count)
{
    AstName *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    do {
        AstName name = {0};
        TRY(parse_name(parser, what, COLUMN_PARTS_MAX, &name));
        *PARSER_PUSH(parser, items, count, capacity) = name;
    } while (parser_accept(parser, TOKEN_COMMA));
    *ret_items = items;
    *ret_count = count;
    return NULL;
}

/* EXCEPT behind * is its list when "(" and no query follow, else a set operator. */
static Error *parse_star_except(Parser *parser, AstSelectItem *item)
{
    if (!parser_is_word(parser, KEYWORD_EXCEPT)) {
        return NULL;
    }
    if (parser_is_ahead(parser, 1, TOKEN_OPEN) && !parser_starts_query_ahead(parser, 1)) {
        parser->at++;
        size_t open = parser->at++;
        TRY(parse_name_list(parser, "a column name", &item->except, &item->except_count));
        return parser_expect_close(parser, open);
    }
    if (parser_is_identifier_ahead(parser, 1) && !parser_starts_query_ahead(parser, 1)) {
        parser->at++;
        return error_set_hint(parser_expected(parser, "'(' and the columns to leave out"),
                              "write * EXCEPT (column, …)");
    }
    return NULL;
}

static Error *parse_select_item(Parser *parser, AstSelectItem *ret)
{
    size_t start = parser->at;
    AstSelectItem item = {0};
    if (at_star(parser)) {
        item.star = true;
        if (!parser_is(parser, TOKEN_STAR)) {
            TRY(parse_name(parser, "a relation", COLUMN_PARTS_MAX, &item.qualifier));
            TRY(parser_expect(parser, TOKEN_DOT));
        }
        TRY(parser_expect(parser, TOKEN_STAR));
        TRY(parse_star_except(parser, &item));
    } else {
        TRY(parse_expression(parser, &item.expr));
        TRY(parse_select_alias(parser, &item.aliases, &item.alias_count, &item.alias_list));
    }
    item.place = parser_place_from(parser, start);
    item.text = parser_text_from(parser, start);
    *ret = item;
    return NULL;
}

/* SELECT a, FROM t */
static bool at_missing_item(const Parser *parser)
{
    const Token *token = parser_token(parser);
    return parser_at_end(parser) || token->kind == TOKEN_CLOSE || token->kind == TOKEN_COMMA ||
           (token->kind == TOKEN_WORD && token->keyword == KEYWORD_FROM);
}

static Error *missing_item(Parser *parser, bool behind_comma)
{
    bool name = parser_is_words(parser, KEYWORD_FROM, KEYWORD_FROM) ||
                parser_is_ahead(parser, 1, TOKEN_COMMA);
    Error *error = parser_expected(parser, "a select item");
    if (parser_is_word(parser, KEYWORD_FROM) && name) {
        return error_set_hint(error, "FROM is reserved; as a name write `FROM`");
    }
    return behind_comma ? error_set_hint(error, "remove the comma before it, or add an item")
                        : error;
}

static Error *parse_select_items(Parser *parser, AstSelect *select)
{
    size_t capacity = 0;
    do {
        if (at_missing_item(parser)) {
            return missing_item(parser, select->item_count > 0);
        }
        AstSelectItem item = {0};
        TRY(parse_select_item(parser, &item));
        *PARSER_PUSH(parser, select->items, select->item_count, capacity) = item;
    } while (parser_accept(parser, TOKEN_COMMA));
    return NULL;
}

/* ------------------------------------------------------- GROUP BY (SQ-8, SQ-42) --- */

static Error *parse_grouping_item(Parser *parser, bool sets, AstGroupingItem *ret);

static bool at_grouping_analytics(const Parser *parser)
{
    return parser_is_words(parser, KEYWORD_GROUPING, KEYWORD_SETS) ||
           ((parser_is_word(parser, KEYWORD_ROLLUP) || parser_is_word(parser, KEYWORD_CUBE)) &&
            parser_is_ahead(parser, 1, TOKEN_OPEN));
}

/* "(" element {, element} ")"; `analytics` may nest in GROUPING SETS only. */
static Error *parse_grouping_list(Parser *parser, bool analytics, AstGroupingItem *ret)
{
    size_t open = parser->at;
    size_t capacity = 0;
    TRY(parser_expect(parser, TOKEN_OPEN));
    do {
        if (!analytics && at_grouping_analytics(parser)) {
            return parser_expected(parser, "columns in ROLLUP and CUBE");
        }
        AstGroupingItem item = {0};
        TRY(parse_grouping_item(parser, true, &item));
        *PARSER_PUSH(parser, ret->items, ret->item_count, capacity) = item;
    } while (parser_accept(parser, TOKEN_COMMA));
    return parser_expect_close(parser, open);
}

static Error *parse_grouping_analytics(Parser *parser, AstGroupingItem *ret)
{
    size_t start = parser->at;
    AstGroupingItem item = {0};
    TRY(parser_enter(parser, 1));
    if (parser_accept_words(parser, KEYWORD_GROUPING, KEYWORD_SETS)) {
        item.kind = AST_GROUPING_SETS;
        TRY(parse_grouping_list(parser, true, &item));
    } else {
        item.kind =
            parser_is_word(parser, KEYWORD_ROLLUP) ? AST_GROUPING_ROLLUP : AST_GROUPING_CUBE;
        parser->at++;
        TRY(parse_grouping_list(parser, false, &item));
    }
    parser_leave(parser, 1);
    item.place = parser_place_from(parser, start);
    *ret = item;
    return NULL;
}

static Error *parse_grouping_item(Parser *parser, bool sets, AstGroupingItem *ret)
{
    if (at_grouping_analytics(parser)) {
        return parse_grouping_analytics(parser, ret);
    }
    size_t start = parser->at;
    AstGroupingItem item = {.kind = AST_GROUPING_EXPR};
    if (sets && parser_is(parser, TOKEN_OPEN) && parser_is_ahead(parser, 1, TOKEN_CLOSE)) {
        parser->at += 2;
        item.kind = AST_GROUPING_SET;
    } else {
        AstExpr *expr = NULL;
        TRY(parse_expression(parser, &expr));
        if (sets && expr->kind == AST_EXPR_ROW) { /* (a, b) is a set of two */
            item.kind = AST_GROUPING_SET;
            item.exprs = expr->row.items;
            item.expr_count = expr->row.item_count;
        } else {
            size_t capacity = 0;
            *PARSER_PUSH(parser, item.exprs, item.expr_count, capacity) = expr;
        }
    }
    item.place = parser_place_from(parser, start);
    *ret = item;
    return NULL;
}

/* WITH ROLLUP, WITH CUBE, GROUPING SETS (…) behind a list of expressions. */
static Error *parse_trailing_grouping(Parser *parser, AstGroupBy *group)
{
    bool with = parser_is_words(parser, KEYWORD_WITH, KEYWORD_ROLLUP) ||
                parser_is_words(parser, KEYWORD_WITH, KEYWORD_CUBE);
    bool sets = parser_is_words(parser, KEYWORD_GROUPING, KEYWORD_SETS);
    if (!with && !sets) {
        return NULL;
    }
    for (size_t i = 0; i < group->item_count; i++) {
        if (group->items[i].kind != AST_GROUPING_EXPR) {
            return parser_expected(parser, "no second grouping: ROLLUP, CUBE or GROUPING SETS "
                                           "stands in the list already, so the end of GROUP BY");
        }
    }
    group->trailing = arena_new_object(parser->arena, AstGroupingItem);
    if (sets) {
        return parse_grouping_analytics(parser, group->trailing);
    }
    size_t start = parser->at++;
    group->trailing->kind =
        parser_is_word(parser, KEYWORD_ROLLUP) ? AST_GROUPING_ROLLUP : AST_GROUPING_CUBE;
    parser->at++;
    group->trailing->place = parser_place_from(parser, start);
    return NULL;
}

/* GROUP has been taken. */
static Error *parse_group_by(Parser *parser, AstGroupBy **ret)
{
    size_t start = parser->at - 1;
    TRY(parser_expect_word(parser, KEYWORD_BY));
    AstGroupBy *group = arena_new_object(parser->arena, AstGroupBy);
    if (parser_accept_word(parser, KEYWORD_ALL)) {
        group->all = true;
    } else {
        size_t capacity = 0;
        do {
            AstGroupingItem item = {0};
            TRY(parse_grouping_item(parser, false, &item));
            *PARSER_PUSH(parser, group->items, group->item_count, capacity) = item;
        } while (parser_accept(parser, TOKEN_COMMA));
        TRY(parse_trailing_grouping(parser, group));
    }
    group->place = parser_place_from(parser, start);
    *ret = group;
    return NULL;
}

/* -------------------------------------------------------------------- terms --- */

static Error *parse_select_clauses(Parser *parser, AstSelect *select)
{
    if (parser_accept_word(parser, KEYWORD_FROM)) {
        TRY(parse_from_list(parser, &select->from, &select->from_count));
    }
    TRY(parse_lateral_views(parser, select));
    if (parser_accept_word(parser, KEYWORD_WHERE)) {
        TRY(parse_expression(parser, &select->where));
    }
    if (parser_accept_word(parser, KEYWORD_GROUP)) {
        TRY(parse_group_by(parser, &select->group_by));
    }
    if (parser_accept_word(parser, KEYWORD_HAVING)) {
        TRY(parse_expression(parser, &select->having));
    }
    if (parser_accept_word(parser, KEYWORD_QUALIFY)) {
        TRY(parse_expression(parser, &select->qualify));
    }
    if (parser_accept_word(parser, KEYWORD_WINDOW)) {
        TRY(parse_named_windows(parser, &select->windows, &select->window_count));
    }
    return NULL;
}

static Error *parse_select(Parser *parser, AstSelect **ret)
{
    size_t start = parser->at;
    TRY(parser_expect_word(parser, KEYWORD_SELECT));
    AstSelect *select = arena_new_object(parser->arena, AstSelect);
    select->distinct = parser_accept_word(parser, KEYWORD_DISTINCT);
    if (!select->distinct) {
        (void)parser_accept_word(parser, KEYWORD_ALL);
    }
    TRY(parse_select_items(parser, select));
    TRY(parse_select_clauses(parser, select));
    select->place = parser_place_from(parser, start);
    *ret = select;
    return NULL;
}

/* Behind the comma that stands here a relation begins that cannot be read as a row: VALUES and a
 * number, LATERAL (SELECT …). */
static bool at_next_relation(const Parser *parser)
{
    if (parser_is_word_ahead(parser, 1, KEYWORD_LATERAL)) {
        return parser_is_ahead(parser, 2, TOKEN_OPEN) && parser_starts_query_ahead(parser, 3);
    }
    bool number = parser_is_ahead(parser, 2, TOKEN_INTEGER) ||
                  parser_is_ahead(parser, 2, TOKEN_DECIMAL) ||
                  parser_is_ahead(parser, 2, TOKEN_DOUBLE);
    return parser_is_word_ahead(parser, 1, KEYWORD_VALUES) && number;
}

/* VALUES has been taken. */
Error *parse_values_rows(Parser *parser, AstValues **ret)
{
    size_t start = parser->at - 1;
    size_t capacity = 0;
    AstValues *values = arena_new_object(parser->arena, AstValues);
    do {
        AstExpr *row = NULL;
        TRY(parse_expression(parser, &row));
        *PARSER_PUSH(parser, values->rows, values->row_count, capacity) = row;
    } while (parser_is(parser, TOKEN_COMMA) && !at_next_relation(parser) &&
             parser_accept(parser, TOKEN_COMMA));
    values->place = parser_place_from(parser, start);
    *ret = values;
    return NULL;
}

static Error *parse_parenthesized_query(Parser *parser, AstQuery **ret)
{
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    TRY(parse_query(parser, ret));
    return parser_expect_close(parser, open);
}

static Error *parse_query_term(Parser *parser, AstQueryTerm **ret)
{
    size_t start = parser->at;
    AstQueryTerm *term = arena_new_object(parser->arena, AstQueryTerm);
    if (parser_is_word(parser, KEYWORD_SELECT)) {
        term->kind = AST_TERM_SELECT;
        TRY(parse_select(parser, &term->select));
    } else if (parser_accept_word(parser, KEYWORD_VALUES)) {
        term->kind = AST_TERM_VALUES;
        TRY(parse_values_rows(parser, &term->values));
        TRY(parse_table_alias(parser, true, &term->values_alias));
    } else if (parser_is(parser, TOKEN_OPEN)) {
        term->kind = AST_TERM_QUERY;
        TRY(parse_parenthesized_query(parser, &term->query));
    } else {
        (void)parser_accept_word(parser, KEYWORD_SELECT);
        return parser_expected(parser, "a query (SELECT, VALUES, WITH or '(')");
    }
    term->place = parser_place_from(parser, start);
    term->text = parser_text_from(parser, start);
    *ret = term;
    return NULL;
}

/* ------------------------------------------------------------ set operators --- */

static bool accept_set_operator(Parser *parser, bool intersect, AstSetOperator *ret)
{
    if (intersect) {
        *ret = AST_SET_INTERSECT;
        return parser_accept_word(parser, KEYWORD_INTERSECT);
    }
    if (parser_accept_word(parser, KEYWORD_UNION)) {
        *ret = AST_SET_UNION;
        return true;
    }
    *ret = AST_SET_EXCEPT;
    return parser_accept_word(parser, KEYWORD_EXCEPT) || parser_accept_word(parser, KEYWORD_MINUS);
}

/* operand {operator [ALL | DISTINCT] operand}, flat. INTERSECT binds tighter (SQ-43): the operands
 * of the others are intersections. `first` may have been read already. */
static Error *parse_set_chain(Parser *parser, bool intersect, AstQueryTerm *first, size_t start,
                              AstQueryTerm **ret)
{
    AstQueryTerm *left = first;
    if (!intersect) {
        TRY(parse_set_chain(parser, true, first, start, &left));
    } else if (left == NULL) {
        TRY(parse_query_term(parser, &left));
    }
    AstQueryTerm *chain = NULL;
    size_t capacity = 0;
    for (;;) {
        AstSetStep step = {0};
        size_t operator_at = parser->at;
        if (!accept_set_operator(parser, intersect, &step.operator_)) {
            break;
        }
        step.operator_place = parser_place_from(parser, operator_at);
        step.all = parser_accept_word(parser, KEYWORD_ALL);
        if (!step.all) {
            (void)parser_accept_word(parser, KEYWORD_DISTINCT);
        }
        if (intersect) {
            TRY(parse_query_term(parser, &step.right));
        } else {
            TRY(parse_set_chain(parser, true, NULL, parser->at, &step.right));
        }
        if (chain == NULL) {
            chain = arena_new_object(parser->arena, AstQueryTerm);
            chain->kind = AST_TERM_SET;
            chain->first = left;
        }
        *PARSER_PUSH(parser, chain->steps, chain->step_count, capacity) = step;
    }
    if (chain != NULL) {
        chain->place = parser_place_from(parser, start);
        chain->text = parser_text_from(parser, start);
        left = chain;
    }
    *ret = left;
    return NULL;
}

/* -------------------------------------------------------------------- query --- */

static Error *parse_order(Parser *parser, AstQuery *query)
{
    size_t start = parser->at;
    if (parser_accept_words(parser, KEYWORD_SORT, KEYWORD_BY)) {
        query->sort_kind = AST_SORT_SORT_BY;
        TRY(parse_sort_items(parser, &query->sort_items, &query->sort_item_count));
    } else if (parser_accept_word(parser, KEYWORD_ORDER)) {
        TRY(parser_expect_word(parser, KEYWORD_BY));
        if (parser_accept_word(parser, KEYWORD_ALL)) {
            query->sort_kind = AST_SORT_ORDER_BY_ALL;
            query->sort_items = arena_new_object(parser->arena, AstSortItem);
            query->sort_item_count = 1;
            TRY(parse_sort_direction(parser, query->sort_items));
            query->sort_items->place = parser_place_from(parser, start);
        } else {
            query->sort_kind = AST_SORT_ORDER_BY;
            TRY(parse_sort_items(parser, &query->sort_items, &query->sort_item_count));
        }
    } else {
        return NULL;
    }
    query->sort_place = parser_place_from(parser, start);
    return NULL;
}

static Error *parse_limit(Parser *parser, AstQuery *query)
{
    size_t start = parser->at;
    if (parser_accept_word(parser, KEYWORD_LIMIT)) {
        if (parser_accept_word(parser, KEYWORD_ALL)) {
            query->limit_all = true;
        } else {
            TRY(parse_expression(parser, &query->limit));
        }
        query->limit_place = parser_place_from(parser, start);
    }
    start = parser->at;
    if (parser_accept_word(parser, KEYWORD_OFFSET)) {
        TRY(parse_expression(parser, &query->offset));
        query->offset_place = parser_place_from(parser, start);
        if (parser_is_word(parser, KEYWORD_LIMIT)) {
            return error_set_hint(parser_expected(parser, "the end of the query"),
                                  "LIMIT stands before OFFSET");
        }
    }
    return NULL;
}

/* Everything behind the set expression. */
static Error *parse_query_tail(Parser *parser, AstQuery *query)
{
    TRY(parse_order(parser, query));
    if (parser_accept_word(parser, KEYWORD_WINDOW)) {
        TRY(parse_named_windows(parser, &query->windows, &query->window_count));
    }
    return parse_limit(parser, query);
}

bool parser_at_query_tail(const Parser *parser)
{
    static const Keyword words[] = {
        KEYWORD_UNION, KEYWORD_EXCEPT, KEYWORD_MINUS,  KEYWORD_INTERSECT, KEYWORD_ORDER,
        KEYWORD_SORT,  KEYWORD_LIMIT,  KEYWORD_OFFSET, KEYWORD_WINDOW,
    };
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        if (parser_is_word(parser, words[i])) {
            return true;
        }
    }
    return false;
}

Error *parse_query_rest(Parser *parser, AstQuery *first, size_t start, AstQuery **ret)
{
    if (!parser_at_query_tail(parser)) {
        *ret = first;
        return NULL;
    }
    AstQueryTerm *term = arena_new_object(parser->arena, AstQueryTerm);
    term->kind = AST_TERM_QUERY;
    term->query = first;
    term->place = parser_place_from(parser, start);
    term->text = parser_text_from(parser, start);
    AstQuery *query = arena_new_object(parser->arena, AstQuery);
    TRY(parse_set_chain(parser, false, term, start, &query->body));
    TRY(parse_query_tail(parser, query));
    query->place = parser_place_from(parser, start);
    query->text = parser_text_from(parser, start);
    *ret = query;
    return NULL;
}

static Error *parse_common_table(Parser *parser, AstCommonTable *ret)
{
    AstCommonTable table = {0};
    TRY(parse_identifier(parser, "the name of a WITH query", &table.name));
    if (parser_is(parser, TOKEN_OPEN) && !parser_starts_query_ahead(parser, 1)) {
        TRY(parse_parenthesized_columns(parser, "a column name", &table.columns));
    }
    (void)parser_accept_word(parser, KEYWORD_AS);
    if (!parser_is(parser, TOKEN_OPEN)) {
        return error_set_hint(parser_expected(parser, "'(' before the query"),
                              "the query of a WITH stands in parentheses: WITH %.*s AS (SELECT …)",
                              STR_ARG(table.name.name));
    }
    TRY(parse_parenthesized_query(parser, &table.query));
    *ret = table;
    return NULL;
}

static Error *parse_with(Parser *parser, AstQuery *query)
{
    if (!parser_accept_word(parser, KEYWORD_WITH)) {
        return NULL;
    }
    size_t capacity = 0;
    /* `recursive` alone is a name: WITH recursive AS (…) */
    if (parser_is_word(parser, KEYWORD_RECURSIVE) && parser_is_identifier_ahead(parser, 1)) {
        query->recursive = true;
        query->recursive_place = parser_place_of(parser_token(parser));
        parser->at++;
    }
    do {
        AstCommonTable table = {0};
        TRY(parse_common_table(parser, &table));
        *PARSER_PUSH(parser, query->common_tables, query->common_table_count, capacity) = table;
    } while (parser_accept(parser, TOKEN_COMMA));
    return NULL;
}

Error *parse_query(Parser *parser, AstQuery **ret)
{
    TRY(parser_enter(parser, QUERY_LEVELS));
    size_t start = parser->at;
    AstQuery *query = arena_new_object(parser->arena, AstQuery);
    TRY(parse_with(parser, query));
    TRY(parse_set_chain(parser, false, NULL, parser->at, &query->body));
    TRY(parse_query_tail(parser, query));
    query->place = parser_place_from(parser, start);
    query->text = parser_text_from(parser, start);
    parser_leave(parser, QUERY_LEVELS);
    *ret = query;
    return NULL;
}
