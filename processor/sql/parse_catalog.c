/* Statements about the catalog and the session: REFRESH, ALTER, DESCRIBE, SHOW, SET; views and
 * functions. A word such as TABLE or EXTENDED is the keyword when a name follows it. */
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

enum { TABLE_PARTS_MAX = 3, SCHEMA_PARTS_MAX = 2, SETTING_PARTS_MAX = 100 };

Error *parse_refresh(Parser *parser, AstRefresh *ret)
{
    if (parser_is_word(parser, KEYWORD_FULL)) {
        return error_set_hint(parser_expected(parser, "[STREAMING] TABLE"),
                              "FULL comes last: REFRESH STREAMING TABLE name FULL");
    }
    ret->streaming = parser_accept_word(parser, KEYWORD_STREAMING);
    if (!parser_accept_word(parser, KEYWORD_TABLE)) {
        return parser_expected(parser, ret->streaming ? "TABLE" : "[STREAMING] TABLE");
    }
    TRY(parse_name(parser, "a table name", TABLE_PARTS_MAX, &ret->name));
    if (parser_accept_word(parser, KEYWORD_FULL)) {
        ret->mode = AST_REFRESH_FULL;
    } else if (parser_accept_word(parser, KEYWORD_SYNC)) {
        ret->mode = AST_REFRESH_SYNC;
    } else if (parser_accept_word(parser, KEYWORD_ASYNC)) {
        ret->mode = AST_REFRESH_ASYNC;
    }
    return NULL;
}

/* -------------------------------------------------------------------- ALTER --- */

static Error *parse_owner(Parser *parser, AstAlter *alter)
{
    alter->kind = AST_ALTER_OWNER;
    TRY(parser_expect_word(parser, KEYWORD_TO));
    return parse_identifier(parser, "a user", &alter->owner);
}

/* SET has been taken. */
static Error *parse_alter_set(Parser *parser, AstAlter *alter)
{
    if (parser_accept_word(parser, KEYWORD_TBLPROPERTIES)) {
        alter->kind = AST_ALTER_SET_PROPERTIES;
        return parse_properties(parser, &alter->properties, &alter->property_count);
    }
    if (parser_accept_words(parser, KEYWORD_ROW, KEYWORD_FILTER)) {
        alter->kind = AST_ALTER_SET_ROW_FILTER;
        return parse_row_filter(parser, &alter->routine);
    }
    TRY(parser_expect_word(parser, KEYWORD_OWNER));
    return parse_owner(parser, alter);
}

/* DROP has been taken. */
static Error *parse_alter_drop(Parser *parser, AstAlter *alter)
{
    if (parser_accept_word(parser, KEYWORD_SCHEDULE)) {
        alter->kind = AST_ALTER_DROP_SCHEDULE;
        return NULL;
    }
    alter->kind = AST_ALTER_DROP_ROW_FILTER;
    if (!parser_accept_words(parser, KEYWORD_ROW, KEYWORD_FILTER)) {
        return parser_expected(parser, "SCHEDULE or ROW FILTER");
    }
    return NULL;
}

/* ALTER COLUMN has been taken. */
static Error *parse_alter_column(Parser *parser, AstAlter *alter)
{
    TRY(parse_identifier(parser, "a column name", &alter->column));
    if (parser_accept_word(parser, KEYWORD_DROP)) {
        alter->kind = AST_ALTER_DROP_MASK;
        return parser_expect_word(parser, KEYWORD_MASK);
    }
    alter->kind = AST_ALTER_SET_MASK;
    TRY(parser_expect_word(parser, KEYWORD_SET));
    return parse_mask(parser, &alter->routine);
}

static Error *parse_alter_action(Parser *parser, AstAlter *alter)
{
    if (parser_accept_word(parser, KEYWORD_ADD)) {
        alter->kind = AST_ALTER_ADD_SCHEDULE;
        return parse_schedule(parser, &alter->schedule);
    }
    if (parser_accept_words(parser, KEYWORD_ALTER, KEYWORD_COLUMN)) {
        return parse_alter_column(parser, alter);
    }
    if (parser_accept_word(parser, KEYWORD_ALTER)) {
        alter->kind = AST_ALTER_ALTER_SCHEDULE;
        return parse_schedule(parser, &alter->schedule);
    }
    if (parser_accept_word(parser, KEYWORD_DROP)) {
        return parse_alter_drop(parser, alter);
    }
    if (parser_accept_word(parser, KEYWORD_SET)) {
        return parse_alter_set(parser, alter);
    }
    if (parser_accept_word(parser, KEYWORD_RENAME)) {
        alter->kind = AST_ALTER_RENAME;
        TRY(parser_expect_word(parser, KEYWORD_TO));
        return parse_name(parser, "the new name", TABLE_PARTS_MAX, &alter->new_name);
    }
    if (parser_accept_word(parser, KEYWORD_OWNER)) {
        return parse_owner(parser, alter);
    }
    return parser_expected(parser, "ADD, ALTER or DROP SCHEDULE, or SET TBLPROPERTIES");
}

Error *parse_alter(Parser *parser, AstAlter *ret)
{
    TRY(parse_name(parser, "a table name", TABLE_PARTS_MAX, &ret->name));
    size_t start = parser->at;
    TRY(parse_alter_action(parser, ret));
    ret->action_place = parser_place_from(parser, start);
    return NULL;
}

/* ----------------------------------------------------------- DESCRIBE, SHOW --- */

static bool accept_before_name(Parser *parser, Keyword keyword)
{
    return parser_is_identifier_ahead(parser, 1) && parser_accept_word(parser, keyword);
}

static Error *parse_describe_table(Parser *parser, AstDescribe *ret)
{
    ret->kind = AST_DESCRIBE_TABLE;
    (void)accept_before_name(parser, KEYWORD_TABLE);
    ret->extended = accept_before_name(parser, KEYWORD_EXTENDED);
    if (!ret->extended) {
        ret->formatted = accept_before_name(parser, KEYWORD_FORMATTED);
    }
    TRY(parse_name(parser, "a table name", TABLE_PARTS_MAX, &ret->name));
    if (parser_is_identifier(parser)) {
        TRY(parse_name(parser, "a column name", SETTING_PARTS_MAX, &ret->column));
    }
    if (parser_accept_word(parser, KEYWORD_AS)) {
        TRY(parser_expect_word(parser, KEYWORD_JSON));
        ret->as_json = true;
    }
    return NULL;
}

Error *parse_describe(Parser *parser, AstDescribe *ret)
{
    if (accept_before_name(parser, KEYWORD_FUNCTION)) {
        ret->kind = AST_DESCRIBE_FUNCTION;
        ret->extended = accept_before_name(parser, KEYWORD_EXTENDED);
        return parse_name(parser, "a function name", TABLE_PARTS_MAX, &ret->name);
    }
    if (parser_is_word(parser, KEYWORD_QUERY) && parser_starts_query_ahead(parser, 1)) {
        parser->at++;
    }
    if (parser_starts_query(parser) || parser_is(parser, TOKEN_OPEN)) {
        ret->kind = AST_DESCRIBE_QUERY;
        return parse_query(parser, &ret->query);
    }
    return parse_describe_table(parser, ret);
}

static Error *parse_in_schema(Parser *parser, AstName *ret)
{
    if (!parser_accept_word(parser, KEYWORD_FROM) && !parser_accept_word(parser, KEYWORD_IN)) {
        return NULL;
    }
    return parse_name(parser, "a schema", SCHEMA_PARTS_MAX, ret);
}

static Error *parse_show_columns(Parser *parser, AstShow *ret)
{
    ret->kind = AST_SHOW_COLUMNS;
    if (!parser_accept_word(parser, KEYWORD_FROM) && !parser_accept_word(parser, KEYWORD_IN)) {
        return parser_expected(parser, "FROM or IN and a table name");
    }
    TRY(parse_name(parser, "a table name", TABLE_PARTS_MAX, &ret->table));
    return parse_in_schema(parser, &ret->schema);
}

/* [LIKE] pattern; a function may be named instead. */
static Error *parse_pattern(Parser *parser, AstShow *ret)
{
    bool like = parser_accept_word(parser, KEYWORD_LIKE);
    if (parser_is(parser, TOKEN_STRING)) {
        return parse_string(parser, "a pattern", &ret->pattern);
    }
    if (ret->kind == AST_SHOW_FUNCTIONS && parser_is_identifier(parser)) {
        return parse_name(parser, "a function name", TABLE_PARTS_MAX, &ret->function);
    }
    return like ? parser_expected(parser, "a pattern as a string") : NULL;
}

static Error *parse_show_functions(Parser *parser, AstShow *ret)
{
    ret->kind = AST_SHOW_FUNCTIONS;
    if (parser_accept_word(parser, KEYWORD_USER)) {
        ret->scope = AST_FUNCTIONS_USER;
    } else if (parser_accept_word(parser, KEYWORD_SYSTEM)) {
        ret->scope = AST_FUNCTIONS_SYSTEM;
    } else if (parser_accept_word(parser, KEYWORD_ALL)) {
        ret->scope = AST_FUNCTIONS_ALL;
    }
    if (!parser_accept_word(parser, KEYWORD_FUNCTIONS)) {
        return parser_expected(parser, ret->scope == AST_FUNCTIONS_DEFAULT
                                           ? "TABLES, VIEWS, COLUMNS or FUNCTIONS"
                                           : "FUNCTIONS");
    }
    TRY(parse_in_schema(parser, &ret->schema));
    return parse_pattern(parser, ret);
}

Error *parse_show(Parser *parser, AstShow *ret)
{
    if (parser_accept_word(parser, KEYWORD_COLUMNS)) {
        return parse_show_columns(parser, ret);
    }
    ret->kind = AST_SHOW_TABLES;
    if (!parser_accept_word(parser, KEYWORD_TABLES)) {
        if (!parser_accept_word(parser, KEYWORD_VIEWS)) {
            return parse_show_functions(parser, ret);
        }
        ret->kind = AST_SHOW_VIEWS;
    }
    TRY(parse_in_schema(parser, &ret->schema));
    return parse_pattern(parser, ret);
}

/* ---------------------------------------------------------------------- SET --- */

/* SET TIME ZONE has been taken (ST-36). */
static Error *parse_set_time_zone(Parser *parser, AstSet *ret)
{
    ret->time_zone = true;
    ret->value_place = parser_place_of(parser_token(parser));
    if (parser_accept_word(parser, KEYWORD_LOCAL)) {
        ret->zone_local = true;
        return NULL;
    }
    if (parser_is(parser, TOKEN_STRING)) {
        return parse_string(parser, "a time zone", &ret->zone);
    }
    if (!parser_at_interval(parser)) {
        return parser_expected(parser, "a time zone as a string, an INTERVAL or LOCAL");
    }
    ret->zone_interval = arena_new_object(parser->arena, AstInterval);
    return parse_interval(parser, ret->zone_interval);
}

static bool at_setting_number(const Parser *parser, size_t ahead)
{
    const Token *token = parser_ahead(parser, ahead);
    return (token->kind == TOKEN_INTEGER || token->kind == TOKEN_DECIMAL) &&
           token->suffix == AST_SUFFIX_NONE;
}

static Error *parse_setting_number(Parser *parser, AstSet *ret)
{
    bool negative = parser_accept(parser, TOKEN_MINUS);
    Str digits = parser_token_text(parser, parser_token(parser));
    parser->at++;
    ret->value_kind = AST_SET_NUMBER;
    ret->value =
        str_from(arena_printf(parser->arena, "%s%.*s", negative ? "-" : "", STR_ARG(digits)));
    return NULL;
}

static Error *parse_setting_value(Parser *parser, AstSet *ret)
{
    bool minus = parser_is(parser, TOKEN_MINUS);
    if (at_setting_number(parser, minus ? 1 : 0)) {
        return parse_setting_number(parser, ret);
    }
    if (parser_is(parser, TOKEN_STRING)) {
        AstString value = {0};
        TRY(parse_string(parser, "a value", &value));
        ret->value_kind = AST_SET_STRING;
        ret->value = value.value;
        return NULL;
    }
    if (parser_accept_word(parser, KEYWORD_TRUE)) {
        ret->value_kind = AST_SET_TRUE;
        ret->value = STR("true");
        return NULL;
    }
    if (parser_accept_word(parser, KEYWORD_FALSE)) {
        ret->value_kind = AST_SET_FALSE;
        ret->value = STR("false");
        return NULL;
    }
    AstName word = {0};
    TRY(parse_name(parser, "a value: a string, a number, TRUE, FALSE or a word", SETTING_PARTS_MAX,
                   &word));
    ret->value_kind = AST_SET_WORD;
    ret->value = word.text;
    return NULL;
}

Error *parse_set(Parser *parser, AstSet *ret)
{
    if (parser_accept_words(parser, KEYWORD_TIME, KEYWORD_ZONE)) {
        return parse_set_time_zone(parser, ret);
    }
    AstName name = {0};
    TRY(parse_name(parser, "a setting's name or TIME ZONE", SETTING_PARTS_MAX, &name));
    ret->name = name.text;
    ret->name_place = name.place;
    TRY(parser_expect(parser, TOKEN_EQUAL));
    size_t start = parser->at;
    TRY(parse_setting_value(parser, ret));
    ret->value_place = parser_place_from(parser, start);
    return NULL;
}

/* ---------------------------------------------------------- views, functions --- */

static Error *parse_view_columns(Parser *parser, AstCreateView *create)
{
    size_t open = parser->at;
    size_t capacity = 0;
    if (!parser_accept(parser, TOKEN_OPEN)) {
        return NULL;
    }
    do {
        AstViewColumn column = {0};
        TRY(parse_identifier(parser, "a column name", &column.name));
        if (parser_accept_word(parser, KEYWORD_COMMENT)) {
            TRY(parse_string(parser, "the comment as a string", &column.comment));
        }
        *PARSER_PUSH(parser, create->columns, create->column_count, capacity) = column;
    } while (parser_accept(parser, TOKEN_COMMA));
    if (parser_is_type_ahead(parser, 0)) {
        return error_set_hint(parser_expected(parser, "',' or ')'"),
                              "columns of a view have the types of its query");
    }
    return parser_expect_close(parser, open);
}

Error *parse_create_view(Parser *parser, AstCreateView *create)
{
    size_t capacity = 0;
    TRY(parse_if_not_exists(parser, &create->if_not_exists, NULL));
    TRY(parse_name(parser, "the view's name", TABLE_PARTS_MAX, &create->name));
    TRY(parse_view_columns(parser, create));
    while (parser_is_word(parser, KEYWORD_COMMENT) ||
           parser_is_word(parser, KEYWORD_TBLPROPERTIES)) {
        AstTableClause clause = {0};
        bool found = false;
        TRY(parse_table_clause(parser, &clause, &found));
        *PARSER_PUSH(parser, create->clauses, create->clause_count, capacity) = clause;
    }
    if (!parser_accept_word(parser, KEYWORD_AS)) {
        Error *error = parser_expected(parser, "COMMENT, TBLPROPERTIES or AS and the query");
        return parser_starts_query(parser) ? error_set_hint(error, "write AS before the query")
                                           : error;
    }
    return parse_query(parser, &create->query);
}

static Error *parse_parameter(Parser *parser, AstParameter *ret)
{
    TRY(parse_identifier(parser, "a parameter name", &ret->name));
    TRY(parse_data_type(parser, &ret->type));
    if (parser_accept_word(parser, KEYWORD_DEFAULT)) {
        TRY(parse_expression(parser, &ret->default_));
    }
    if (parser_accept_word(parser, KEYWORD_COMMENT)) {
        TRY(parse_string(parser, "the comment as a string", &ret->comment));
    }
    return NULL;
}

static Error *parse_parameters(Parser *parser, AstCreateFunction *create)
{
    size_t open = parser->at;
    size_t capacity = 0;
    if (!parser_accept(parser, TOKEN_OPEN)) {
        return error_set_hint(parser_expected(parser, "'('"),
                              "a function without parameters is written name()");
    }
    if (parser_accept(parser, TOKEN_CLOSE)) {
        return NULL;
    }
    do {
        AstParameter parameter = {0};
        TRY(parse_parameter(parser, &parameter));
        *PARSER_PUSH(parser, create->parameters, create->parameter_count, capacity) = parameter;
    } while (parser_accept(parser, TOKEN_COMMA));
    return parser_expect_close(parser, open);
}

static Error *parse_function_option(Parser *parser, AstFunctionOption *option, bool *ret_found)
{
    *ret_found = true;
    if (parser_accept_word(parser, KEYWORD_COMMENT)) {
        option->kind = AST_FUNCTION_COMMENT;
        return parse_string(parser, "the comment as a string", &option->comment);
    }
    if (parser_accept_word(parser, KEYWORD_LANGUAGE)) {
        option->kind = AST_FUNCTION_LANGUAGE_SQL;
        return parser_expect_word(parser, KEYWORD_SQL);
    }
    if (parser_accept_word(parser, KEYWORD_NOT)) {
        option->kind = AST_FUNCTION_NOT_DETERMINISTIC;
        return parser_expect_word(parser, KEYWORD_DETERMINISTIC);
    }
    option->kind = AST_FUNCTION_DETERMINISTIC;
    *ret_found = parser_accept_word(parser, KEYWORD_DETERMINISTIC);
    return NULL;
}

static Error *parse_function_options(Parser *parser, AstCreateFunction *create)
{
    size_t capacity = 0;
    for (;;) {
        size_t start = parser->at;
        AstFunctionOption option = {0};
        bool found = false;
        TRY(parse_function_option(parser, &option, &found));
        if (!found) {
            return NULL;
        }
        option.place = parser_place_from(parser, start);
        *PARSER_PUSH(parser, create->options, create->option_count, capacity) = option;
    }
}

Error *parse_create_function(Parser *parser, AstCreateFunction *create)
{
    TRY(parse_if_not_exists(parser, &create->if_not_exists, &create->if_not_exists_place));
    TRY(parse_name(parser, "the function's name", TABLE_PARTS_MAX, &create->name));
    TRY(parse_parameters(parser, create));
    if (parser_accept_word(parser, KEYWORD_RETURNS)) {
        TRY(parse_data_type(parser, &create->returns));
    }
    TRY(parse_function_options(parser, create));
    if (!parser_accept_word(parser, KEYWORD_RETURN)) {
        Error *error = parser_expected(parser, "RETURN and the function's body");
        return parser_is_word(parser, KEYWORD_AS)
                   ? error_set_hint(error, "write RETURN expression instead of AS")
                   : error;
    }
    return parse_query_or_expression(parser, &create->query, &create->expr);
}
