/* Mistakes that can be foreseen by the words around the place: forms of other databases and of the
 * documents this language follows, and the slips that are made again and again. Each row is up to
 * two words before the token that cannot stand there, the token itself, and the one behind it. */
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

typedef struct Foreseen {
    const char *earlier; /* NULL: any */
    const char *before;
    const char *here;
    const char *behind;
    const char *hint;
} Foreseen;

/* "#" is a number, "'" a string, "a" a name. */
static const Foreseen foreseen[] = {
    /* statements */
    {NULL, "CREATE", "MATERIALIZED", NULL,
     "there are no materialized views: a streaming table keeps a result, a VIEW computes it when "
     "it "
     "is read"},
    {NULL, "REFRESH", "MATERIALIZED", NULL, "only streaming tables are refreshed"},
    {NULL, NULL, "LIVE", NULL, "leave LIVE out: CREATE OR REFRESH STREAMING TABLE name"},
    {NULL, "CREATE", "SCHEMA", NULL, "catalog and schema are set in the topology"},
    {NULL, "CREATE", "DATABASE", NULL, "catalog and schema are set in the topology"},
    {NULL, "CREATE", "CATALOG", NULL, "catalog and schema are set in the topology"},
    {NULL, "INSERT", "OVERWRITE", NULL,
     "rows are replaced by a flow: CREATE FLOW name AS INSERT INTO table BY NAME REPLACE WHERE …"},
    {"NOT", "MATCHED", "BY", NULL, "WHEN NOT MATCHED is always about rows of the source"},
    {"UPDATE", "SET", "*", NULL, "name the columns: UPDATE SET column = value, …"},
    {NULL, "INSERT", "*", NULL, "name the columns: INSERT (column, …) VALUES (value, …)"},
    {NULL, NULL, "LOCATION", "'", "where a table is kept is set in the topology"},
    {NULL, NULL, "USING", "DELTA", "where a table is kept is set in the topology"},
    {NULL, NULL, "VERSION", "AS", "a table has no earlier versions to read"},
    {NULL, "VERSION", "AS", "OF", "a table has no earlier versions to read"},
    {NULL, "TIMESTAMP", "AS", "OF", "a table has no earlier versions to read"},
    {"TBLPROPERTIES", "(", ")", NULL, "leave the clause out when there are none"},
    {"BY", "(", ")", NULL, "leave the clause out when there are none"},
    {"USING", "(", ")", NULL, "name at least one column"},
    {"KEYS", "(", ")", NULL, "name at least one column"},
    {"EVERY", "#", "MINUTE", NULL,
     "a schedule of minutes is SCHEDULE CRON '0 */5 * * * ?', or TRIGGER ON UPDATE AT MOST EVERY"},
    {"EVERY", "#", "MINUTES", NULL,
     "a schedule of minutes is SCHEDULE CRON '0 */5 * * * ?', or TRIGGER ON UPDATE AT MOST EVERY"},
    /* queries */
    {NULL, "AS", "SELECT", NULL,
     "a subquery stands in parentheses; a table has one FLOW or one AS query, not both"},
    {NULL, "TOP", "#", NULL, "the first rows are taken by LIMIT at the end of the query"},
    {NULL, "FETCH", "FIRST", NULL, "the first rows are taken by LIMIT and their number"},
    {NULL, "FETCH", "NEXT", NULL, "the first rows are taken by LIMIT and their number"},
    {"LIMIT", "#", ",", "#",
     "write LIMIT and the number of rows, then OFFSET and how many to skip"},
    {NULL, "*", "EXCLUDE", NULL, "columns are left out by EXCEPT: * EXCEPT (column, …)"},
    {NULL, "*", "REPLACE", "(", "leave the column out, * EXCEPT (column), and add the expression"},
    {NULL, "FROM", "'", NULL, "`tidemark query --input name=FILE` makes a table of a file"},
    {NULL, "JOIN", "'", NULL, "`tidemark query --input name=FILE` makes a table of a file"},
    {NULL, NULL, "SUMMARIZE", NULL, "DESCRIBE table tells its columns and their types"},
    {NULL, NULL, "COPY", NULL, "rows are written to a file by `tidemark query -o csv … > file`"},
    {NULL, NULL, "GROUPS", NULL, "a frame counts ROWS, or a RANGE of values"},
    /* expressions */
    {NULL, NULL, "!", "IN", "write NOT IN"},
    {NULL, NULL, "!", "LIKE", "write NOT LIKE"},
    {NULL, NULL, "!", "BETWEEN", "write NOT BETWEEN"},
    {"IS", "NULL", "IS", NULL, "put the first predicate in parentheses"},
    {"=", "ALL", "(", NULL, "write IN, EXISTS, or compare with the min or max of the subquery"},
    {NULL, "=", "ALL", "(", "write IN, EXISTS, or compare with the min or max of the subquery"},
    {NULL, "<", "ALL", "(", "write IN, EXISTS, or compare with the min or max of the subquery"},
    {NULL, ">", "ALL", "(", "write IN, EXISTS, or compare with the min or max of the subquery"},
    {"ANY", "(", "SELECT", NULL,
     "write IN, EXISTS, or compare with the min or max of the subquery"},
    {"SOME", "(", "SELECT", NULL,
     "write IN, EXISTS, or compare with the min or max of the subquery"},
    {NULL, ")", "->", NULL, "a lambda of one parameter has no parentheses: x -> …"},
    {NULL, NULL, "->", ">", "a field of a JSON text is read by get_json_object(text, '$.field')"},
    {NULL, NULL, "->", "'", "a field of a JSON text is read by get_json_object(text, '$.field')"},
    {"FILTER", "(", "a", NULL, "write FILTER (WHERE condition)"},
    {"EXTRACT", "(", "'", NULL, "the field is a word without quotes: EXTRACT(YEAR FROM …)"},
    {NULL, "DOUBLE", "PRECISION", NULL, "write DOUBLE"},
    {NULL, NULL, "NOT", "NULL", "write IS NOT NULL"},
    {NULL, "SIMILAR", "TO", NULL, "a regular expression is matched by RLIKE"},
    {NULL, NULL, "~", NULL, "a regular expression is matched by RLIKE"},
    {NULL, NULL, "[", NULL, "an array is written array(1, 2, 3)"},
    {NULL, NULL, "?", NULL, "there are no parameters in statements"},
};

static bool is_number(const Token *token)
{
    return token->kind == TOKEN_INTEGER || token->kind == TOKEN_DECIMAL ||
           token->kind == TOKEN_DOUBLE;
}

/* `steps` tokens before the present one; NULL when the text begins behind it. */
static const Token *token_before(const Parser *parser, size_t steps)
{
    return parser->at < steps ? NULL : &parser->tokens[parser->at - steps];
}

static bool fits(const Parser *parser, const char *pattern, const Token *token)
{
    if (pattern == NULL) {
        return true;
    }
    if (token == NULL) {
        return false;
    }
    switch (pattern[0]) {
    case '#':
        return is_number(token);
    case '\'':
        return token->kind == TOKEN_STRING;
    case 'a':
        return token->kind == TOKEN_BACKTICK ||
               (token->kind == TOKEN_WORD && token->keyword == KEYWORD_NONE);
    default:
        return str_equal_ignore_case(parser_token_text(parser, token), str_from(pattern));
    }
}

const char *parser_foreseen_hint(const Parser *parser)
{
    for (size_t i = 0; i < ARRAY_LENGTH(foreseen); i++) {
        const Foreseen *row = &foreseen[i];
        if (fits(parser, row->here, parser_token(parser)) &&
            fits(parser, row->behind, parser_ahead(parser, 1)) &&
            fits(parser, row->before, token_before(parser, 1)) &&
            fits(parser, row->earlier, token_before(parser, 2))) {
            return row->hint;
        }
    }
    return NULL;
}

/* ------------------------------------------------------- names with dashes --- */

static bool touch(const Token *left, const Token *right)
{
    return left->start + left->size == right->start;
}

/* Tokens `at` and `at` + 1 are "-" and a word or a number, with nothing between. */
static bool dash_goes_on(const Parser *parser, size_t at)
{
    if (at + 1 >= parser->token_count || parser->tokens[at].kind != TOKEN_MINUS) {
        return false;
    }
    const Token *next = &parser->tokens[at + 1];
    return (next->kind == TOKEN_WORD || next->kind == TOKEN_INTEGER) &&
           touch(&parser->tokens[at], next);
}

bool parser_dashed_name(const Parser *parser, Str *ret_name, SourcePlace *ret_place)
{
    size_t first = parser->at - 1;
    size_t last = parser->at;
    if (parser->at == 0 || parser->tokens[first].kind != TOKEN_WORD ||
        !touch(&parser->tokens[first], &parser->tokens[last]) || !dash_goes_on(parser, last)) {
        return false;
    }
    for (last++; dash_goes_on(parser, last + 1) &&
                 touch(&parser->tokens[last], &parser->tokens[last + 1]);) {
        last += 2;
    }
    const Token *begin = &parser->tokens[first];
    const Token *end = &parser->tokens[last];
    *ret_name = (Str){parser->text.data + begin->start, end->start + end->size - begin->start};
    *ret_place = parser_place_of(begin);
    ret_place->length = (int)(end->column + end->length - begin->column);
    return true;
}

const char *parser_type_hint(Str word)
{
    static const struct {
        const char *word;
        const char *type;
    } rows[] = {
        {"bool", "BOOLEAN"},     {"text", "STRING"},        {"json", "STRING or VARIANT"},
        {"nvarchar", "STRING"},  {"varchar2", "STRING"},    {"clob", "STRING"},
        {"uuid", "STRING"},      {"datetime", "TIMESTAMP"}, {"timestamptz", "TIMESTAMP"},
        {"number", "DECIMAL"},   {"money", "DECIMAL"},      {"bytes", "BINARY"},
        {"bytea", "BINARY"},     {"varbinary", "BINARY"},   {"blob", "BINARY"},
        {"int2", "SMALLINT"},    {"int4", "INT"},           {"int8", "BIGINT"},
        {"mediumint", "INT"},    {"float4", "FLOAT"},       {"float8", "DOUBLE"},
        {"list", "ARRAY<type>"}, {"row", "STRUCT<…>"},      {"record", "STRUCT<…>"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        if (str_equal_ignore_case(word, str_from(rows[i].word))) {
            return rows[i].type;
        }
    }
    return NULL;
}
