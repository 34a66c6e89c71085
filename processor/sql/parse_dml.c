/* Changes of rows: INSERT, DELETE, UPDATE, MERGE (DM-1..DM-5). */
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

enum { TABLE_PARTS_MAX = 3, COLUMN_PARTS_MAX = 1000 };

/* INTO [TABLE] name: TABLE is the keyword when a name follows it, other than what begins the rest.
 */
static Error *parse_insert_target(Parser *parser, AstName *ret)
{
    TRY(parser_expect_word(parser, KEYWORD_INTO));
    bool by_name = parser_is_word_ahead(parser, 1, KEYWORD_BY) &&
                   parser_is_word_ahead(parser, 2, KEYWORD_NAME);
    if (parser_is_identifier_ahead(parser, 1) && !by_name &&
        !parser_is_word_ahead(parser, 1, KEYWORD_VALUES)) {
        (void)parser_accept_word(parser, KEYWORD_TABLE);
    }
    return parse_name(parser, "the target table", TABLE_PARTS_MAX, ret);
}

static Error *flow_words_in_insert(Parser *parser)
{
    return error_set_hint(parser_expected(parser, "a query"),
                          "REPLACE is a flow's: CREATE FLOW name AS INSERT INTO table BY NAME "
                          "REPLACE …");
}

Error *parse_insert(Parser *parser, AstInsert *ret)
{
    TRY(parse_insert_target(parser, &ret->target));
    if (parser_accept_word(parser, KEYWORD_BY)) {
        TRY(parser_expect_word(parser, KEYWORD_NAME));
        ret->by_name = true;
    } else if (parser_is(parser, TOKEN_OPEN) && !parser_starts_query(parser)) {
        ret->has_columns = true;
        TRY(parse_parenthesized_columns(parser, "a column name", &ret->columns));
    }
    if (parser_is_word(parser, KEYWORD_REPLACE)) {
        return flow_words_in_insert(parser);
    }
    return parse_query(parser, &ret->query);
}

Error *parse_delete(Parser *parser, AstDelete *ret)
{
    TRY(parser_expect_word(parser, KEYWORD_FROM));
    TRY(parse_name(parser, "a table name", TABLE_PARTS_MAX, &ret->target));
    TRY(parse_table_alias(parser, true, &ret->alias));
    return parser_accept_word(parser, KEYWORD_WHERE) ? parse_expression(parser, &ret->where) : NULL;
}

static Error *parse_assignments(Parser *parser, AstAssignment **ret_items, size_t *ret_count)
{
    AstAssignment *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    do {
        size_t start = parser->at;
        AstAssignment assignment = {0};
        TRY(parse_name(parser, "a column name", COLUMN_PARTS_MAX, &assignment.column));
        TRY(parser_expect(parser, TOKEN_EQUAL));
        TRY(parse_expression(parser, &assignment.value));
        assignment.place = parser_place_from(parser, start);
        *PARSER_PUSH(parser, items, count, capacity) = assignment;
    } while (parser_accept(parser, TOKEN_COMMA));
    *ret_items = items;
    *ret_count = count;
    return NULL;
}

Error *parse_update(Parser *parser, AstUpdate *ret)
{
    TRY(parse_name(parser, "a table name", TABLE_PARTS_MAX, &ret->target));
    TRY(parse_table_alias(parser, true, &ret->alias));
    if (parser_is(parser, TOKEN_EQUAL)) {
        return error_set_hint(parser_expected(parser, "SET"),
                              "write UPDATE table SET column = value");
    }
    TRY(parser_expect_word(parser, KEYWORD_SET));
    TRY(parse_assignments(parser, &ret->assignments, &ret->assignment_count));
    return parser_accept_word(parser, KEYWORD_WHERE) ? parse_expression(parser, &ret->where) : NULL;
}

/* INSERT has been taken: (columns) VALUES (expressions) */
static Error *parse_merge_insert(Parser *parser, AstMergeBranch *branch)
{
    branch->action = AST_MERGE_INSERT;
    TRY(parse_parenthesized_columns(parser, "a column name", &branch->columns));
    TRY(parser_expect_word(parser, KEYWORD_VALUES));
    size_t open = parser->at;
    TRY(parser_expect(parser, TOKEN_OPEN));
    TRY(parse_expression_list(parser, &branch->values, &branch->value_count));
    return parser_expect_close(parser, open);
}

/* WHEN has been taken. */
static Error *parse_merge_branch(Parser *parser, AstMergeBranch *branch)
{
    bool matched = !parser_accept_word(parser, KEYWORD_NOT);
    TRY(parser_expect_word(parser, KEYWORD_MATCHED));
    if (parser_accept_word(parser, KEYWORD_AND)) {
        TRY(parse_expression(parser, &branch->condition));
    }
    TRY(parser_expect_word(parser, KEYWORD_THEN));
    if (!matched) {
        TRY(parser_expect_word(parser, KEYWORD_INSERT));
        return parse_merge_insert(parser, branch);
    }
    if (parser_accept_word(parser, KEYWORD_DELETE)) {
        branch->action = AST_MERGE_DELETE;
        return NULL;
    }
    if (!parser_accept_word(parser, KEYWORD_UPDATE)) {
        return parser_expected(parser, "UPDATE SET or DELETE");
    }
    branch->action = AST_MERGE_UPDATE;
    TRY(parser_expect_word(parser, KEYWORD_SET));
    return parse_assignments(parser, &branch->assignments, &branch->assignment_count);
}

static Error *parse_merge_branches(Parser *parser, AstMerge *merge)
{
    size_t capacity = 0;
    if (!parser_is_word(parser, KEYWORD_WHEN)) {
        return parser_expected(parser, "WHEN MATCHED or WHEN NOT MATCHED");
    }
    for (;;) {
        size_t start = parser->at;
        if (!parser_accept_word(parser, KEYWORD_WHEN)) {
            return NULL;
        }
        AstMergeBranch branch = {0};
        TRY(parse_merge_branch(parser, &branch));
        branch.place = parser_place_from(parser, start);
        *PARSER_PUSH(parser, merge->branches, merge->branch_count, capacity) = branch;
    }
}

Error *parse_merge(Parser *parser, AstMerge *ret)
{
    TRY(parser_expect_word(parser, KEYWORD_INTO));
    TRY(parse_name(parser, "the target table", TABLE_PARTS_MAX, &ret->target));
    TRY(parse_table_alias(parser, true, &ret->alias));
    TRY(parser_expect_word(parser, KEYWORD_USING));
    TRY(parse_relation(parser, &ret->source));
    TRY(parser_expect_word(parser, KEYWORD_ON));
    TRY(parse_expression(parser, &ret->on));
    return parse_merge_branches(parser, ret);
}
