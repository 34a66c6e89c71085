/* CREATE: streaming tables with their specification, views, and the heads of the others. */
#include <assert.h>

#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

enum { TABLE_PARTS_MAX = 3 };

/* ------------------------------------------------ constraints and expectations --- */

static Error *parse_constraint_options(Parser *parser, AstConstraint *constraint)
{
    for (;;) {
        if (parser_accept_words(parser, KEYWORD_NOT, KEYWORD_ENFORCED)) {
            constraint->not_enforced = true;
        } else if (parser_accept_word(parser, KEYWORD_RELY)) {
            constraint->rely = true;
        } else if (parser_accept_word(parser, KEYWORD_NORELY)) {
            constraint->norely = true;
        } else {
            return NULL;
        }
    }
}

/* REFERENCES table [(columns)] */
static Error *parse_references(Parser *parser, AstConstraint *constraint)
{
    constraint->kind = AST_CONSTRAINT_FOREIGN_KEY;
    TRY(parser_expect_word(parser, KEYWORD_REFERENCES));
    TRY(parse_name(parser, "the referenced table", TABLE_PARTS_MAX, &constraint->references));
    if (parser_is(parser, TOKEN_OPEN)) {
        TRY(parse_parenthesized_columns(parser, "a column name", &constraint->referenced_columns));
    }
    return NULL;
}

/* PRIMARY KEY …, FOREIGN KEY … or, behind a column, REFERENCES …; the name has been read. */
static Error *parse_constraint_body(Parser *parser, bool of_table, AstConstraint *constraint)
{
    if (parser_accept_words(parser, KEYWORD_PRIMARY, KEYWORD_KEY)) {
        constraint->kind = AST_CONSTRAINT_PRIMARY_KEY;
        if (of_table) {
            TRY(parse_parenthesized_columns(parser, "a column name", &constraint->columns));
        }
    } else {
        if (parser_accept_words(parser, KEYWORD_FOREIGN, KEYWORD_KEY)) {
            if (of_table) {
                TRY(parse_parenthesized_columns(parser, "a column name", &constraint->columns));
            }
        } else if (of_table || !parser_is_word(parser, KEYWORD_REFERENCES)) {
            return parser_expected(parser, of_table ? "EXPECT, PRIMARY KEY or FOREIGN KEY"
                                                    : "PRIMARY KEY, FOREIGN KEY or REFERENCES");
        }
        TRY(parse_references(parser, constraint));
    }
    return parse_constraint_options(parser, constraint);
}

/* EXPECT has been taken: (condition) [ON VIOLATION FAIL UPDATE | DROP ROW] (ST-17) */
static Error *parse_expectation(Parser *parser, AstExpectation *expectation)
{
    size_t open = parser->at;
    if (!parser_accept(parser, TOKEN_OPEN)) {
        return parser_expected(parser, "'(' before the condition of EXPECT");
    }
    TRY(parse_expression(parser, &expectation->condition));
    TRY(parser_expect_close(parser, open));
    expectation->action = AST_VIOLATION_WARN;
    if (!parser_accept_word(parser, KEYWORD_ON)) {
        return NULL;
    }
    TRY(parser_expect_word(parser, KEYWORD_VIOLATION));
    if (parser_accept_words(parser, KEYWORD_FAIL, KEYWORD_UPDATE)) {
        expectation->action = AST_VIOLATION_FAIL_UPDATE;
    } else if (parser_accept_words(parser, KEYWORD_DROP, KEYWORD_ROW)) {
        expectation->action = AST_VIOLATION_DROP_ROW;
    } else {
        return error_set_hint(parser_expected(parser, "FAIL UPDATE or DROP ROW"),
                              "without ON VIOLATION the row is kept and counted");
    }
    return NULL;
}

/* ------------------------------------------------------------------ columns --- */

static Error *parse_routine_argument(Parser *parser, AstRoutineArgument *ret)
{
    bool typed = parser_is_ahead(parser, 1, TOKEN_STRING);
    if (parser_is_identifier(parser) && !typed) {
        return parse_identifier(parser, "a column name", &ret->column);
    }
    return parse_literal(parser, &ret->literal);
}

Error *parse_routine_arguments(Parser *parser, AstRoutine *routine)
{
    size_t open = parser->at;
    size_t capacity = 0;
    TRY(parser_expect(parser, TOKEN_OPEN));
    if (parser_accept(parser, TOKEN_CLOSE)) {
        return NULL;
    }
    do {
        AstRoutineArgument argument = {0};
        TRY(parse_routine_argument(parser, &argument));
        *PARSER_PUSH(parser, routine->arguments, routine->argument_count, capacity) = argument;
    } while (parser_accept(parser, TOKEN_COMMA));
    return parser_expect_close(parser, open);
}

/* MASK function [USING COLUMNS (…)] (ST-16) */
Error *parse_mask(Parser *parser, AstRoutine *ret)
{
    size_t start = parser->at;
    TRY(parser_expect_word(parser, KEYWORD_MASK));
    TRY(parse_name(parser, "the mask function", TABLE_PARTS_MAX, &ret->function));
    if (parser_accept_words(parser, KEYWORD_USING, KEYWORD_COLUMNS)) {
        if (parser_is(parser, TOKEN_OPEN) && parser_is_ahead(parser, 1, TOKEN_CLOSE)) {
            parser->at++;
            return parser_expected(parser, "a column name or a literal");
        }
        TRY(parse_routine_arguments(parser, ret));
    }
    ret->place = parser_place_from(parser, start);
    return NULL;
}

Error *parse_row_filter(Parser *parser, AstRoutine *ret)
{
    size_t start = parser->at;
    TRY(parse_name(parser, "the filter function", TABLE_PARTS_MAX, &ret->function));
    TRY(parser_expect_word(parser, KEYWORD_ON));
    TRY(parse_routine_arguments(parser, ret));
    ret->place = parser_place_from(parser, start);
    return NULL;
}

/* GENERATED has been taken. */
static Error *parse_generated(Parser *parser, AstColumnProperty *property)
{
    if (parser_accept_word(parser, KEYWORD_BY)) {
        TRY(parser_expect_word(parser, KEYWORD_DEFAULT));
        property->kind = AST_COLUMN_IDENTITY_BY_DEFAULT;
        TRY(parser_expect_word(parser, KEYWORD_AS));
        return parser_expect_word(parser, KEYWORD_IDENTITY);
    }
    TRY(parser_expect_word(parser, KEYWORD_ALWAYS));
    TRY(parser_expect_word(parser, KEYWORD_AS));
    if (parser_accept_word(parser, KEYWORD_IDENTITY)) {
        property->kind = AST_COLUMN_IDENTITY_ALWAYS;
        return NULL;
    }
    property->kind = AST_COLUMN_GENERATED;
    size_t open = parser->at;
    if (!parser_accept(parser, TOKEN_OPEN)) {
        return parser_expected(parser, "IDENTITY or '('");
    }
    TRY(parse_expression(parser, &property->expr));
    return parser_expect_close(parser, open);
}

static bool at_column_constraint(const Parser *parser)
{
    return parser_is_word(parser, KEYWORD_CONSTRAINT) ||
           parser_is_words(parser, KEYWORD_PRIMARY, KEYWORD_KEY) ||
           parser_is_words(parser, KEYWORD_FOREIGN, KEYWORD_KEY) ||
           parser_is_word(parser, KEYWORD_REFERENCES);
}

static Error *parse_column_constraint(Parser *parser, AstColumnProperty *property)
{
    size_t start = parser->at;
    property->kind = AST_COLUMN_CONSTRAINT;
    property->constraint = arena_new_object(parser->arena, AstConstraint);
    if (parser_accept_word(parser, KEYWORD_CONSTRAINT)) {
        TRY(parse_identifier(parser, "the constraint's name", &property->constraint->name));
    }
    if (parser_is_word(parser, KEYWORD_EXPECT)) {
        return error_set_hint(parser_expected(parser, "a comma before the expectation"),
                              "an expectation is an element of its own: write ',' before "
                              "CONSTRAINT");
    }
    TRY(parse_constraint_body(parser, false, property->constraint));
    property->constraint->place = parser_place_from(parser, start);
    return NULL;
}

/* One property, if one stands here. */
static Error *parse_column_property(Parser *parser, AstColumnProperty *property, bool *ret_found)
{
    *ret_found = true;
    if (parser_accept_word(parser, KEYWORD_NOT)) {
        property->kind = AST_COLUMN_NOT_NULL;
        return parser_expect_word(parser, KEYWORD_NULL);
    }
    if (parser_accept_word(parser, KEYWORD_COMMENT)) {
        property->kind = AST_COLUMN_COMMENT;
        return parse_string(parser, "the comment as a string", &property->comment);
    }
    if (at_column_constraint(parser)) {
        return parse_column_constraint(parser, property);
    }
    if (parser_is_word(parser, KEYWORD_MASK)) {
        property->kind = AST_COLUMN_MASK;
        return parse_mask(parser, &property->mask);
    }
    if (parser_accept_word(parser, KEYWORD_GENERATED)) {
        return parse_generated(parser, property);
    }
    if (parser_accept_word(parser, KEYWORD_DEFAULT)) {
        property->kind = AST_COLUMN_DEFAULT;
        return parse_expression(parser, &property->expr);
    }
    *ret_found = false;
    return NULL;
}

Error *parse_column_definition(Parser *parser, bool colon, AstColumnDefinition *ret)
{
    size_t start = parser->at;
    AstColumnDefinition column = {0};
    size_t capacity = 0;
    TRY(parse_identifier(parser, "a column name", &column.name));
    if (colon) {
        (void)parser_accept(parser, TOKEN_COLON);
    }
    TRY(parse_data_type(parser, &column.type));
    for (;;) {
        size_t property_at = parser->at;
        AstColumnProperty property = {0};
        bool found = false;
        TRY(parse_column_property(parser, &property, &found));
        if (!found) {
            break;
        }
        property.place = parser_place_from(parser, property_at);
        *PARSER_PUSH(parser, column.properties, column.property_count, capacity) = property;
    }
    column.place = parser_place_from(parser, start);
    *ret = column;
    return NULL;
}

/* ------------------------------------------------------------ specification --- */

typedef struct SpecificationLists {
    size_t column_capacity;
    size_t expectation_capacity;
    size_t constraint_capacity;
} SpecificationLists;

/* CONSTRAINT name before EXPECT, PRIMARY or FOREIGN, or a bare PRIMARY KEY (, FOREIGN KEY (. A
 * column may be called `constraint` or `primary`: `constraint int PRIMARY KEY` is one; what has no
 * type is none, but a constraint misspelt. */
static bool at_constraint(const Parser *parser)
{
    if (parser_is_word(parser, KEYWORD_CONSTRAINT)) {
        bool key = parser_is_word_ahead(parser, 2, KEYWORD_PRIMARY) ||
                   parser_is_word_ahead(parser, 2, KEYWORD_FOREIGN);
        bool type = parser_is_type_ahead(parser, 1);
        bool column = type && !parser_is_ahead(parser, 4, TOKEN_OPEN);
        return parser_is_word_ahead(parser, 2, KEYWORD_EXPECT) || !type || (key && !column);
    }
    return (parser_is_words(parser, KEYWORD_PRIMARY, KEYWORD_KEY) ||
            parser_is_words(parser, KEYWORD_FOREIGN, KEYWORD_KEY)) &&
           parser_is_ahead(parser, 2, TOKEN_OPEN);
}

static Error *parse_constraint_element(Parser *parser, AstCreateStreamingTable *create,
                                       SpecificationLists *lists)
{
    size_t start = parser->at;
    AstConstraint constraint = {0};
    if (parser_accept_word(parser, KEYWORD_CONSTRAINT)) {
        TRY(parse_identifier(parser, "the constraint's name", &constraint.name));
    }
    if (constraint.name.name.data != NULL && parser_accept_word(parser, KEYWORD_EXPECT)) {
        AstExpectation expectation = {.name = constraint.name};
        TRY(parse_expectation(parser, &expectation));
        expectation.place = parser_place_from(parser, start);
        *PARSER_PUSH(parser, create->expectations, create->expectation_count,
                     lists->expectation_capacity) = expectation;
        return NULL;
    }
    TRY(parse_constraint_body(parser, true, &constraint));
    constraint.place = parser_place_from(parser, start);
    *PARSER_PUSH(parser, create->constraints, create->constraint_count,
                 lists->constraint_capacity) = constraint;
    return NULL;
}

static Error *parse_element(Parser *parser, AstCreateStreamingTable *create,
                            SpecificationLists *lists)
{
    if (at_constraint(parser)) {
        return parse_constraint_element(parser, create, lists);
    }
    AstColumnDefinition column = {0};
    TRY(parse_column_definition(parser, false, &column));
    *PARSER_PUSH(parser, create->columns, create->column_count, lists->column_capacity) = column;
    return NULL;
}

Error *parse_specification(Parser *parser, AstCreateStreamingTable *create)
{
    size_t open = parser->at;
    SpecificationLists lists = {0};
    TRY(parser_expect(parser, TOKEN_OPEN));
    create->has_specification = true;
    if (parser_is(parser, TOKEN_CLOSE)) {
        return error_set_hint(parser_expected(parser, "a column name"),
                              "without the parentheses the query's columns are the table's");
    }
    do {
        TRY(parse_element(parser, create, &lists));
    } while (parser_accept(parser, TOKEN_COMMA));
    if (parser_is_word(parser, KEYWORD_NULL)) {
        return error_set_hint(parser_expected(parser, "',' or ')'"),
                              "a column may be NULL unless NOT NULL is written");
    }
    return parser_expect_close(parser, open);
}

/* -------------------------------------------------------------------- heads --- */

static Error *parse_table_clauses(Parser *parser, AstCreateStreamingTable *create)
{
    size_t capacity = 0;
    for (;;) {
        AstTableClause clause = {0};
        bool found = false;
        TRY(parse_table_clause(parser, &clause, &found));
        if (!found) {
            return NULL;
        }
        *PARSER_PUSH(parser, create->clauses, create->clause_count, capacity) = clause;
    }
}

/* The words up to TABLE have been taken. */
static Error *parse_streaming_table(Parser *parser, AstCreateStreamingTable *create)
{
    if (create->or_refresh && parser_is_words(parser, KEYWORD_IF, KEYWORD_NOT)) {
        return error_set_hint(
            parser_error(parser, ERROR_PARSE_SYNTAX_ERROR,
                         "Syntax error at or near 'IF': OR REFRESH and IF NOT EXISTS exclude "
                         "each other."),
            "OR REFRESH creates the table when it is absent, too"); /* ST-2 */
    }
    TRY(parse_if_not_exists(parser, &create->if_not_exists, NULL));
    TRY(parse_name(parser, "the table's name", TABLE_PARTS_MAX, &create->name));
    if (parser_is(parser, TOKEN_OPEN)) {
        TRY(parse_specification(parser, create));
    }
    TRY(parse_table_clauses(parser, create));
    if (parser_accept_word(parser, KEYWORD_FLOW)) {
        return parse_inline_flow(parser, &create->flow);
    }
    if (parser_accept_word(parser, KEYWORD_AS)) {
        return parse_query(parser, &create->as_query);
    }
    if (parser_is_word(parser, KEYWORD_SELECT)) {
        return error_set_hint(parser_expected(parser, "FLOW, AS or the end of the statement"),
                              "write AS before the query");
    }
    return NULL;
}

/* CREATE TABLE: only its CLONE form is recognised, to be refused. */
static Error *parse_plain_table(Parser *parser, AstStatement *statement)
{
    SourcePlace place = parser_place_of(&parser->tokens[parser->at - 1]);
    bool if_not_exists = false;
    AstUnsupported *unsupported = &statement->unsupported;
    *unsupported = (AstUnsupported){.kind = AST_UNSUPPORTED_CLONE, .words = "CREATE TABLE CLONE"};
    statement->kind = AST_STATEMENT_UNSUPPORTED;
    TRY(parse_if_not_exists(parser, &if_not_exists, NULL));
    TRY(parse_name(parser, "the table's name", TABLE_PARTS_MAX, &unsupported->table));
    if (parser_is_word_ahead(parser, 1, KEYWORD_CLONE) &&
        !parser_accept_word(parser, KEYWORD_SHALLOW)) {
        (void)parser_accept_word(parser, KEYWORD_DEEP);
    }
    if (!parser_accept_word(parser, KEYWORD_CLONE)) {
        Error *error = parser_error_at(parser, place, ERROR_PARSE_SYNTAX_ERROR,
                                       "Syntax error: CREATE TABLE is not part of the language.");
        return error_set_hint(error, "tables are created by CREATE [OR REFRESH] STREAMING TABLE");
    }
    AstName source = {0};
    TRY(parse_name(parser, "a table name", TABLE_PARTS_MAX, &source));
    parser_skip_statement(parser);
    return NULL;
}

static bool accept_temporary(Parser *parser)
{
    return parser_accept_word(parser, KEYWORD_TEMPORARY) ||
           parser_accept_word(parser, KEYWORD_TEMP);
}

/* CREATE [OR REPLACE] [TEMPORARY] VIEW | FUNCTION; *ret_found = false when neither follows. */
static Error *parse_view_or_function(Parser *parser, bool or_replace, AstStatement *statement,
                                     bool *ret_found)
{
    bool temporary = accept_temporary(parser);
    *ret_found = true;
    if (parser_accept_word(parser, KEYWORD_VIEW)) {
        statement->kind = AST_STATEMENT_CREATE_VIEW;
        statement->create_view = (AstCreateView){.or_replace = or_replace, .temporary = temporary};
        return parse_create_view(parser, &statement->create_view);
    }
    if (parser_accept_word(parser, KEYWORD_FUNCTION)) {
        statement->kind = AST_STATEMENT_CREATE_FUNCTION;
        statement->create_function =
            (AstCreateFunction){.or_replace = or_replace, .temporary = temporary};
        return parse_create_function(parser, &statement->create_function);
    }
    *ret_found = false;
    return temporary ? parser_expected(parser, "VIEW or FUNCTION") : NULL;
}

static Error *parse_create_or(Parser *parser, AstStatement *statement)
{
    if (parser_accept_word(parser, KEYWORD_REFRESH)) {
        TRY(parser_expect_word(parser, KEYWORD_STREAMING));
        TRY(parser_expect_word(parser, KEYWORD_TABLE));
        statement->kind = AST_STATEMENT_CREATE_STREAMING_TABLE;
        statement->create_streaming_table.or_refresh = true;
        return parse_streaming_table(parser, &statement->create_streaming_table);
    }
    if (!parser_accept_word(parser, KEYWORD_REPLACE)) {
        return parser_expected(parser, "REFRESH or REPLACE after CREATE OR");
    }
    if (parser_accept_word(parser, KEYWORD_TABLE)) {
        return parse_unsupported(parser, AST_UNSUPPORTED_CREATE_OR_REPLACE_TABLE,
                                 "CREATE OR REPLACE TABLE", statement);
    }
    if (parser_is_words(parser, KEYWORD_STREAMING, KEYWORD_TABLE)) {
        return error_set_hint(parser_expected(parser, "VIEW, FUNCTION or TABLE"),
                              "a streaming table is replaced by CREATE OR REFRESH STREAMING TABLE");
    }
    bool found = false;
    TRY(parse_view_or_function(parser, true, statement, &found));
    return found ? NULL : parser_expected(parser, "VIEW, FUNCTION or TABLE");
}

Error *parse_create(Parser *parser, AstStatement *statement)
{
    if (parser_accept_word(parser, KEYWORD_OR)) {
        return parse_create_or(parser, statement);
    }
    if (parser_accept_word(parser, KEYWORD_STREAMING)) {
        TRY(parser_expect_word(parser, KEYWORD_TABLE));
        statement->kind = AST_STATEMENT_CREATE_STREAMING_TABLE;
        return parse_streaming_table(parser, &statement->create_streaming_table);
    }
    if (parser_accept_word(parser, KEYWORD_FLOW)) {
        statement->kind = AST_STATEMENT_CREATE_FLOW;
        return parse_create_flow(parser, &statement->create_flow);
    }
    if (parser_accept_word(parser, KEYWORD_TABLE)) {
        return parse_plain_table(parser, statement);
    }
    bool found = false;
    TRY(parse_view_or_function(parser, false, statement, &found));
    return found ? NULL
                 : parser_expected(parser, "[OR REFRESH] STREAMING TABLE, FLOW, VIEW or FUNCTION");
}
