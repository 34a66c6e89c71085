/* Clauses of CREATE STREAMING TABLE, in any order (ST-23): PARTITIONED BY, CLUSTER BY, COMMENT,
 * DEFAULT COLLATION, TBLPROPERTIES, SCHEDULE, TRIGGER, WITH ROW FILTER. A clause given twice
 * parses; analysis refuses it. */
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

/* --------------------------------------------------------------- properties --- */

/* STRING, or a dotted name as its text. */
static Error *parse_property_key(Parser *parser, AstProperty *property)
{
    if (parser_is(parser, TOKEN_STRING)) {
        AstString key = {0};
        TRY(parse_string(parser, "a property's key", &key));
        property->key = key.value;
        property->key_place = key.place;
        return NULL;
    }
    enum { KEY_PARTS_MAX = 100 };
    AstName name = {0};
    TRY(parse_name(parser, "a property's key", KEY_PARTS_MAX, &name));
    property->key = name.text;
    property->key_place = name.place;
    return NULL;
}

static Error *parse_property_value(Parser *parser, AstProperty *property)
{
    const Token *token = parser_token(parser);
    if (token->kind == TOKEN_STRING) {
        AstString value = {0};
        TRY(parse_string(parser, "a value", &value));
        property->value = value.value;
        property->value_place = value.place;
        return NULL;
    }
    property->value_place = parser_place_of(token);
    if (parser_accept_word(parser, KEYWORD_TRUE)) {
        property->value = STR("true");
    } else if (parser_accept_word(parser, KEYWORD_FALSE)) {
        property->value = STR("false");
    } else if (token->kind == TOKEN_INTEGER && token->suffix == AST_SUFFIX_NONE) {
        property->value = parser_token_text(parser, token);
        parser->at++;
    } else {
        return parser_expected(parser, "a value: a string, an integer, TRUE or FALSE");
    }
    return NULL;
}

Error *parse_properties(Parser *parser, AstProperty **ret_items, size_t *ret_count)
{
    size_t open = parser->at;
    AstProperty *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    TRY(parser_expect(parser, TOKEN_OPEN));
    do {
        AstProperty property = {0};
        TRY(parse_property_key(parser, &property));
        TRY(parser_expect(parser, TOKEN_EQUAL));
        TRY(parse_property_value(parser, &property));
        *PARSER_PUSH(parser, items, count, capacity) = property;
    } while (parser_accept(parser, TOKEN_COMMA));
    TRY(parser_expect_close(parser, open));
    *ret_items = items;
    *ret_count = count;
    return NULL;
}

/* ----------------------------------------------------------------- schedule --- */

/* AT TIME ZONE 'id' | LOCAL (ST-36) */
static Error *parse_time_zone(Parser *parser, AstSchedule *schedule)
{
    size_t start = parser->at;
    if (!parser_accept_word(parser, KEYWORD_AT)) {
        return NULL;
    }
    TRY(parser_expect_word(parser, KEYWORD_TIME));
    TRY(parser_expect_word(parser, KEYWORD_ZONE));
    schedule->time_zone_local = parser_accept_word(parser, KEYWORD_LOCAL);
    if (!schedule->time_zone_local) {
        TRY(parse_string(parser, "a time zone as a string", &schedule->time_zone));
    }
    schedule->time_zone_place = parser_place_from(parser, start);
    return NULL;
}

static Error *parse_every(Parser *parser, AstSchedule *schedule)
{
    schedule->kind = AST_SCHEDULE_EVERY;
    TRY(parse_integer(parser, "an integer", &schedule->every));
    AstIntervalUnit unit = AST_UNIT_DAY;
    bool unit_fits = parser_unit_ahead(parser, 0, &unit) &&
                     (unit == AST_UNIT_HOUR || unit == AST_UNIT_DAY || unit == AST_UNIT_WEEK);
    if (!unit_fits) {
        return parser_expected(parser, "HOUR, HOURS, DAY, DAYS, WEEK or WEEKS");
    }
    schedule->every_unit = unit;
    parser->at++;
    return NULL;
}

/* TRIGGER has been taken: ON UPDATE [AT MOST EVERY interval] (ST-38) */
static Error *parse_trigger(Parser *parser, AstSchedule *schedule)
{
    schedule->kind = AST_SCHEDULE_TRIGGER;
    TRY(parser_expect_word(parser, KEYWORD_ON));
    TRY(parser_expect_word(parser, KEYWORD_UPDATE));
    if (!parser_accept_word(parser, KEYWORD_AT)) {
        return NULL;
    }
    TRY(parser_expect_word(parser, KEYWORD_MOST));
    TRY(parser_expect_word(parser, KEYWORD_EVERY));
    if (!parser_is_word(parser, KEYWORD_INTERVAL)) {
        return parser_expected(parser, "an INTERVAL, as in INTERVAL 5 MINUTES");
    }
    schedule->at_most_every = arena_new_object(parser->arena, AstInterval);
    return parse_interval(parser, schedule->at_most_every);
}

Error *parse_schedule(Parser *parser, AstSchedule **ret)
{
    size_t start = parser->at;
    AstSchedule *schedule = arena_new_object(parser->arena, AstSchedule);
    if (parser_accept_word(parser, KEYWORD_TRIGGER)) {
        TRY(parse_trigger(parser, schedule));
    } else {
        if (!parser_accept_word(parser, KEYWORD_SCHEDULE)) {
            return parser_expected(parser, "SCHEDULE or TRIGGER");
        }
        (void)parser_accept_word(parser, KEYWORD_REFRESH); /* ST-34: no difference */
        if (parser_accept_word(parser, KEYWORD_EVERY)) {
            TRY(parse_every(parser, schedule));
        } else if (parser_accept_word(parser, KEYWORD_CRON)) {
            schedule->kind = AST_SCHEDULE_CRON;
            TRY(parse_string(parser, "a cron expression as a string", &schedule->cron));
            TRY(parse_time_zone(parser, schedule));
        } else {
            return parser_expected(parser, "EVERY or CRON");
        }
    }
    schedule->place = parser_place_from(parser, start);
    *ret = schedule;
    return NULL;
}

/* ------------------------------------------------------------------ clauses --- */

/* CLUSTER has been taken. */
static Error *parse_cluster(Parser *parser, AstTableClause *clause)
{
    clause->kind = AST_CLAUSE_CLUSTER_BY;
    TRY(parser_expect_word(parser, KEYWORD_BY));
    clause->cluster_auto = parser_accept_word(parser, KEYWORD_AUTO);
    if (clause->cluster_auto) {
        return NULL;
    }
    if (!parser_is(parser, TOKEN_OPEN)) {
        return parser_expected(parser, "'(' before the columns, or AUTO");
    }
    return parse_parenthesized_columns(parser, "a column name", &clause->columns);
}

static Error *parse_found_clause(Parser *parser, AstTableClause *clause, bool *ret_found)
{
    if (parser_accept_word(parser, KEYWORD_PARTITIONED)) {
        clause->kind = AST_CLAUSE_PARTITIONED_BY;
        TRY(parser_expect_word(parser, KEYWORD_BY));
        return parse_parenthesized_columns(parser, "a column name", &clause->columns);
    }
    if (parser_accept_word(parser, KEYWORD_CLUSTER)) {
        return parse_cluster(parser, clause);
    }
    if (parser_accept_word(parser, KEYWORD_COMMENT)) {
        clause->kind = AST_CLAUSE_COMMENT;
        return parse_string(parser, "the comment as a string", &clause->string);
    }
    if (parser_accept_word(parser, KEYWORD_DEFAULT)) {
        clause->kind = AST_CLAUSE_COLLATION;
        TRY(parser_expect_word(parser, KEYWORD_COLLATION));
        return parse_identifier(parser, "a collation", &clause->identifier);
    }
    if (parser_accept_word(parser, KEYWORD_TBLPROPERTIES)) {
        clause->kind = AST_CLAUSE_PROPERTIES;
        return parse_properties(parser, &clause->properties, &clause->property_count);
    }
    if (parser_accept_word(parser, KEYWORD_SCHEDULE) ||
        parser_accept_word(parser, KEYWORD_TRIGGER)) {
        parser->at--;
        clause->kind = AST_CLAUSE_SCHEDULE;
        return parse_schedule(parser, &clause->schedule);
    }
    if (parser_accept_word(parser, KEYWORD_WITH)) {
        clause->kind = AST_CLAUSE_ROW_FILTER;
        TRY(parser_expect_word(parser, KEYWORD_ROW));
        TRY(parser_expect_word(parser, KEYWORD_FILTER));
        return parse_row_filter(parser, &clause->row_filter);
    }
    *ret_found = false;
    return NULL;
}

Error *parse_table_clause(Parser *parser, AstTableClause *ret, bool *ret_found)
{
    size_t start = parser->at;
    AstTableClause clause = {0};
    *ret_found = true;
    TRY(parse_found_clause(parser, &clause, ret_found));
    clause.place = parser_place_from(parser, start);
    *ret = clause;
    return NULL;
}
