/* Flows: FLOW … inside CREATE STREAMING TABLE, and CREATE FLOW. The inline form says BY NAME before
 * the query, the long form behind the target's name; where it is missing the message shows where it
 * goes (RU-8..RU-12, RW-4..RW-6, CD-1). */
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

enum { TABLE_PARTS_MAX = 3 };

/* ------------------------------------------------------------------ BY NAME --- */

/* The text from token `start` on, cut to what a hint can show. */
static Str hint_text(const Parser *parser, size_t start)
{
    enum { HINT_SIZE_MAX = 100 };
    Str text = parser_text_from(parser, start);
    bool one_line = str_find_byte(text, '\n') == text.size;
    return one_line && text.size <= HINT_SIZE_MAX ? text : STR("…");
}

static Error *missing_by_name(Parser *parser, const char *where)
{
    return parser_error(parser, ERROR_MISSING_BY_NAME,
                        "BY NAME is missing: a flow matches columns by name, and says so %s.",
                        where);
}

/* BY NAME before the query of an inline flow whose words begin at token `start`. */
static Error *expect_by_name(Parser *parser, size_t start)
{
    if (parser_accept_word(parser, KEYWORD_BY)) {
        return parser_expect_word(parser, KEYWORD_NAME);
    }
    if (!parser_starts_query(parser)) {
        return parser_expected(parser, "BY NAME");
    }
    Str head = hint_text(parser, start);
    return error_set_hint(missing_by_name(parser, "before its query"), "write %.*s BY NAME %.*s …",
                          STR_ARG(head), STR_ARG(parser_token_text(parser, parser_token(parser))));
}

/* ----------------------------------------------------------- REPLACE USING, WHERE --- */

static Error *missing_sequence_by(Parser *parser, const char *hint)
{
    return error_set_hint(parser_error(parser, ERROR_MISSING_SEQUENCE_BY,
                                       "SEQUENCE BY is missing: it names the column that orders "
                                       "the versions of a key."),
                          "%s", hint);
}

/* Behind SEQUENCE BY column something stands that goes on with it: ver + 1, or ver, ts. */
static Error *check_sequence_end(Parser *parser)
{
    if (parser_is(parser, TOKEN_COMMA)) {
        return error_set_hint(parser_expected(parser, "the end of SEQUENCE BY"),
                              "SEQUENCE BY takes exactly one column");
    }
    bool goes_on = !parser_at_end(parser) && !parser_is(parser, TOKEN_WORD) &&
                   !parser_is(parser, TOKEN_OPEN) && !parser_is(parser, TOKEN_ERROR);
    if (goes_on) {
        return error_set_hint(parser_expected(parser, "the end of SEQUENCE BY"),
                              "SEQUENCE BY takes a column; compute the expression in the query "
                              "and name it");
    }
    return NULL;
}

/* USING has been taken: (columns) SEQUENCE BY column */
static Error *parse_replace_using(Parser *parser, AstFlow *flow)
{
    flow->kind = AST_FLOW_REPLACE_USING;
    if (!parser_is(parser, TOKEN_OPEN)) {
        return error_set_hint(parser_expected(parser, "'(' before the key columns"),
                              "write REPLACE USING (column, …) SEQUENCE BY column");
    }
    TRY(parse_parenthesized_columns(parser, "a key column", &flow->using));
    if (!parser_is_word(parser, KEYWORD_SEQUENCE) &&
        (parser_at_end(parser) || parser_is_word(parser, KEYWORD_BY) ||
         parser_starts_query(parser))) {
        return missing_sequence_by(parser, "write REPLACE USING (…) SEQUENCE BY column");
    }
    if (parser_is_word(parser, KEYWORD_ORDER)) {
        return error_set_hint(parser_expected(parser, "SEQUENCE BY"),
                              "which row of a key is the newest is told by SEQUENCE BY column");
    }
    TRY(parser_expect_word(parser, KEYWORD_SEQUENCE));
    TRY(parser_expect_word(parser, KEYWORD_BY));
    TRY(parse_identifier(parser, "the sequence column", &flow->sequence_by));
    return check_sequence_end(parser);
}

/* WHERE has been taken. */
static Error *parse_replace_where(Parser *parser, AstFlow *flow)
{
    flow->kind = AST_FLOW_REPLACE_WHERE;
    if (parser_is_words(parser, KEYWORD_BY, KEYWORD_NAME)) { /* BY alone would be a column */
        return parser_expected(parser, "a condition after REPLACE WHERE");
    }
    return parse_expression(parser, &flow->where);
}

/* REPLACE has been taken. */
static Error *parse_replace(Parser *parser, AstFlow *flow)
{
    if (parser_accept_word(parser, KEYWORD_USING)) {
        return parse_replace_using(parser, flow);
    }
    if (parser_accept_word(parser, KEYWORD_WHERE)) {
        return parse_replace_where(parser, flow);
    }
    return parser_expected(parser, "USING (columns) or WHERE condition after REPLACE");
}

/* ----------------------------------------------------------------- AUTO CDC --- */

/* (columns), columns, or * EXCEPT (columns) */
static Error *parse_column_selection(Parser *parser, AstColumnSelection *ret)
{
    size_t start = parser->at;
    AstColumnSelection selection = {.given = true};
    if (parser_accept(parser, TOKEN_STAR)) {
        selection.except = true;
        TRY(parser_expect_word(parser, KEYWORD_EXCEPT));
        TRY(parse_parenthesized_columns(parser, "a column name", &selection.columns));
    } else if (parser_is(parser, TOKEN_OPEN)) {
        TRY(parse_parenthesized_columns(parser, "a column name", &selection.columns));
    } else {
        TRY(parse_column_list(parser, "a column name", &selection.columns));
    }
    selection.place = parser_place_from(parser, start);
    *ret = selection;
    return NULL;
}

static Error *parse_cdc_source(Parser *parser, AstCdc *cdc)
{
    TRY(parser_expect_word(parser, KEYWORD_FROM));
    if (parser_is_identifier(parser) && !parser_is_word(parser, KEYWORD_STREAM)) {
        size_t start = parser->at;
        AstName name = {0};
        TRY(parse_name(parser, "STREAM", TABLE_PARTS_MAX, &name));
        Error *error = parser_error_at(
            parser, name.place, ERROR_NOT_STREAMING,
            arena_printf(parser->arena, "AUTO CDC reads a stream, and %.*s is not read as one.",
                         STR_ARG(name.text)));
        return error_set_hint(error, "write FROM STREAM(%.*s)",
                              STR_ARG(parser_text_from(parser, start))); /* CD-7 */
    }
    return parse_stream_relation(parser, &cdc->source);
}

/* APPLY AS DELETE WHEN …, APPLY AS TRUNCATE WHEN … */
static Error *parse_apply(Parser *parser, AstCdc *cdc)
{
    while (parser_accept_word(parser, KEYWORD_APPLY)) {
        TRY(parser_expect_word(parser, KEYWORD_AS));
        bool truncate = parser_accept_word(parser, KEYWORD_TRUNCATE);
        if (!truncate && (cdc->truncate_when != NULL || cdc->delete_when != NULL ||
                          !parser_accept_word(parser, KEYWORD_DELETE))) {
            return parser_expected(parser,
                                   cdc->delete_when != NULL ? "TRUNCATE" : "DELETE or TRUNCATE");
        }
        TRY(parser_expect_word(parser, KEYWORD_WHEN));
        TRY(parse_expression(parser, truncate ? &cdc->truncate_when : &cdc->delete_when));
        if (truncate) {
            break;
        }
    }
    return NULL;
}

static Error *parse_cdc_sequence(Parser *parser, AstCdc *cdc)
{
    bool missing = parser_at_end(parser) || parser_is_word(parser, KEYWORD_COLUMNS) ||
                   parser_is_word(parser, KEYWORD_STORED) || parser_is_word(parser, KEYWORD_TRACK);
    if (missing) {
        return missing_sequence_by(parser, "write KEYS (…) SEQUENCE BY column");
    }
    TRY(parser_expect_word(parser, KEYWORD_SEQUENCE));
    TRY(parser_expect_word(parser, KEYWORD_BY));
    return parse_expression(parser, &cdc->sequence_by);
}

static Error *parse_scd_type(Parser *parser, AstCdc *cdc)
{
    cdc->scd_type.value = 1;
    if (!parser_accept_word(parser, KEYWORD_STORED)) {
        return NULL;
    }
    TRY(parser_expect_word(parser, KEYWORD_AS));
    TRY(parser_expect_word(parser, KEYWORD_SCD));
    TRY(parser_expect_word(parser, KEYWORD_TYPE));
    cdc->scd_type_given = true;
    return parse_integer(parser, "1 or 2", &cdc->scd_type);
}

/* The clauses' order is fixed (CD-1). */
static Error *check_cdc_order(Parser *parser)
{
    static const Keyword words[] = {KEYWORD_KEYS,    KEYWORD_IGNORE, KEYWORD_APPLY,
                                    KEYWORD_COLUMNS, KEYWORD_STORED, KEYWORD_TRACK,
                                    KEYWORD_SEQUENCE};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        if (parser_is_word(parser, words[i])) {
            return error_set_hint(parser_unexpected(parser),
                                  "the order is FROM, KEYS, IGNORE NULL UPDATES, APPLY AS DELETE, "
                                  "APPLY AS TRUNCATE, SEQUENCE BY, COLUMNS, STORED AS, TRACK "
                                  "HISTORY ON, each at most once");
        }
    }
    return NULL;
}

static Error *keys_missing(Parser *parser)
{
    Error *error = parser_expected(parser, "KEYS (columns)");
    return error_hint(error) != NULL
               ? error
               : error_set_hint(error, "write FROM STREAM(…) KEYS (column, …) SEQUENCE BY column");
}

static Error *parse_cdc(Parser *parser, AstCdc **ret)
{
    AstCdc *cdc = arena_new_object(parser->arena, AstCdc);
    TRY(parse_cdc_source(parser, cdc));
    if (!parser_accept_word(parser, KEYWORD_KEYS)) {
        return keys_missing(parser);
    }
    TRY(parse_parenthesized_columns(parser, "a key column", &cdc->keys));
    if (parser_accept_word(parser, KEYWORD_IGNORE)) {
        TRY(parser_expect_word(parser, KEYWORD_NULL));
        TRY(parser_expect_word(parser, KEYWORD_UPDATES));
        cdc->ignore_null_updates = true;
    }
    TRY(parse_apply(parser, cdc));
    TRY(parse_cdc_sequence(parser, cdc));
    if (parser_accept_word(parser, KEYWORD_COLUMNS)) {
        TRY(parse_column_selection(parser, &cdc->columns));
    }
    TRY(parse_scd_type(parser, cdc));
    size_t start = parser->at;
    if (parser_accept_word(parser, KEYWORD_TRACK)) {
        TRY(parser_expect_word(parser, KEYWORD_HISTORY));
        TRY(parser_expect_word(parser, KEYWORD_ON));
        TRY(parse_column_selection(parser, &cdc->track_history));
        cdc->track_history_place = parser_place_from(parser, start);
    }
    TRY(check_cdc_order(parser));
    *ret = cdc;
    return NULL;
}

/* -------------------------------------------------------------- inline flows --- */

/* Behind FLOW: what of the kinds it is, and everything but the query. */
static Error *parse_inline_head(Parser *parser, AstFlow *flow)
{
    size_t start = parser->at;
    if (parser_accept_word(parser, KEYWORD_INSERT)) {
        flow->kind = AST_FLOW_INSERT;
    } else if (parser_accept_word(parser, KEYWORD_REPLACE)) {
        TRY(parse_replace(parser, flow));
    } else if (parser_accept_word(parser, KEYWORD_AUTO)) {
        flow->kind = AST_FLOW_AUTO_CDC;
        TRY(parser_expect_word(parser, KEYWORD_CDC));
        return parse_cdc(parser, &flow->cdc);
    } else {
        return parser_expected(parser, "INSERT, REPLACE USING, REPLACE WHERE or AUTO CDC");
    }
    return expect_by_name(parser, start);
}

Error *parse_inline_flow(Parser *parser, AstFlow **ret)
{
    size_t start = parser->at - 1;
    AstFlow *flow = arena_new_object(parser->arena, AstFlow);
    TRY(parse_inline_head(parser, flow));
    if (flow->kind != AST_FLOW_AUTO_CDC) {
        TRY(parse_query(parser, &flow->query));
    }
    if (parser_is_word(parser, KEYWORD_AS)) {
        return error_set_hint(parser_expected(parser, "the end of the statement"),
                              "a table has one FLOW or one AS query, not both"); /* ST-44 */
    }
    flow->place = parser_place_from(parser, start);
    *ret = flow;
    return NULL;
}

/* -------------------------------------------------------------- CREATE FLOW --- */

/* Behind INSERT INTO target: BY NAME comes first here. */
static Error *expect_by_name_first(Parser *parser, size_t start)
{
    bool missing = parser_is_word(parser, KEYWORD_REPLACE) || parser_starts_query(parser);
    if (!missing) {
        TRY(parser_expect_word(parser, KEYWORD_BY));
        return parser_expect_word(parser, KEYWORD_NAME);
    }
    Str head = hint_text(parser, start);
    return error_set_hint(missing_by_name(parser, "behind the table's name"),
                          "write %.*s BY NAME %.*s …", STR_ARG(head),
                          STR_ARG(parser_token_text(parser, parser_token(parser))));
}

/* The inline form's BY NAME at the end of the long form's head. */
static Error *check_second_by_name(Parser *parser)
{
    if (!parser_is_words(parser, KEYWORD_BY, KEYWORD_NAME)) {
        return NULL;
    }
    return error_set_hint(
        parser_expected(parser, "the query"),
        "in CREATE FLOW, BY NAME stands behind the table's name and nowhere else");
}

static Error *parse_insert_flow(Parser *parser, AstCreateFlow *create)
{
    size_t start = parser->at - 1;
    AstFlow *flow = create->flow;
    flow->kind = AST_FLOW_INSERT;
    flow->once = parser_accept_word(parser, KEYWORD_ONCE);
    TRY(parser_expect_word(parser, KEYWORD_INTO));
    TRY(parse_name(parser, "the target table", TABLE_PARTS_MAX, &create->target));
    TRY(expect_by_name_first(parser, start));
    if (parser_accept_word(parser, KEYWORD_REPLACE)) {
        TRY(parse_replace(parser, flow));
    }
    TRY(check_second_by_name(parser));
    TRY(parse_query(parser, &flow->query));
    flow->place = parser_place_from(parser, start);
    return NULL;
}

static Error *parse_cdc_flow(Parser *parser, AstCreateFlow *create)
{
    size_t start = parser->at - 1;
    AstFlow *flow = create->flow;
    flow->kind = AST_FLOW_AUTO_CDC;
    TRY(parser_expect_word(parser, KEYWORD_CDC));
    flow->once = parser_accept_word(parser, KEYWORD_ONCE);
    TRY(parser_expect_word(parser, KEYWORD_INTO));
    TRY(parse_name(parser, "the target table", TABLE_PARTS_MAX, &create->target));
    TRY(parse_cdc(parser, &flow->cdc));
    flow->place = parser_place_from(parser, start);
    return NULL;
}

Error *parse_create_flow(Parser *parser, AstCreateFlow *create)
{
    TRY(parse_identifier(parser, "the flow's name", &create->name));
    if (parser_accept_word(parser, KEYWORD_COMMENT)) {
        TRY(parse_string(parser, "the comment as a string", &create->comment));
    }
    TRY(parser_expect_word(parser, KEYWORD_AS));
    create->flow = arena_new_object(parser->arena, AstFlow);
    if (parser_accept_word(parser, KEYWORD_INSERT)) {
        return parse_insert_flow(parser, create);
    }
    if (parser_accept_word(parser, KEYWORD_AUTO)) {
        return parse_cdc_flow(parser, create);
    }
    Error *error = parser_expected(parser, "INSERT INTO or AUTO CDC INTO");
    return parser_starts_query(parser)
               ? error_set_hint(error,
                                "write CREATE FLOW name AS INSERT INTO table BY NAME SELECT …")
               : error;
}
