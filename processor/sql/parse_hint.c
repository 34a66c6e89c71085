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

/* "#" is a number, "'" a string, "\"" one in double quotes, "a" a name. The first row that fits
 * counts. */
static const Foreseen foreseen[] = {
    /* statements */
    {NULL, "CREATE", "MATERIALIZED", NULL,
     "there are no materialized views: a streaming table keeps a result, a VIEW computes it when "
     "it "
     "is read"},
    {NULL, "REFRESH", "MATERIALIZED", NULL, "only streaming tables are refreshed"},
    {NULL, NULL, "LIVE", NULL, "leave LIVE out: CREATE OR REFRESH STREAMING TABLE name"},
    {NULL, "DROP", "MATERIALIZED", NULL, "there are no materialized views"},
    {NULL, "CREATE", "STREAM", NULL, "write CREATE STREAMING TABLE"},
    {NULL, "CREATE", "REFRESH", NULL, "write CREATE OR REFRESH STREAMING TABLE"},
    {"OR", "REFRESH", "TABLE", NULL, "write CREATE OR REFRESH STREAMING TABLE"},
    {NULL, "REFRESH", "a", NULL, "write REFRESH STREAMING TABLE name"},
    {NULL, "FULL", "REFRESH", NULL, "FULL alone is enough"},
    {NULL, "TEMPORARY", "TABLE", NULL,
     "there are no temporary tables; a TEMPORARY VIEW names a query"},
    {NULL, "TEMP", "TABLE", NULL, "there are no temporary tables; a TEMPORARY VIEW names a query"},
    {NULL, "SHOW", "CREATE", NULL, "DESCRIBE EXTENDED name tells what a table is made of"},
    {NULL, "SHOW", "DATABASES", NULL, "catalog and schema are set in the topology"},
    {NULL, "SHOW", "SCHEMAS", NULL, "catalog and schema are set in the topology"},
    {"TIME", "ZONE", "a", NULL, "a zone is a string: SET TIME ZONE 'Europe/Oslo'"},
    {NULL, "EXPLAIN", "ANALYZE", NULL,
     "EXPLAIN runs nothing; it takes EXTENDED, FORMATTED or COST"},
    {NULL, "ADD", "COLUMN", NULL,
     "columns change by CREATE OR REFRESH STREAMING TABLE with the new definition"},
    {NULL, "ADD", "COLUMNS", NULL,
     "columns change by CREATE OR REFRESH STREAMING TABLE with the new definition"},
    {NULL, "DROP", "COLUMN", NULL,
     "columns change by CREATE OR REFRESH STREAMING TABLE with the new definition"},
    {NULL, "SET", "SCHEDULE", NULL, "write ADD SCHEDULE or ALTER SCHEDULE"},
    {NULL, "SET", "TRIGGER", NULL, "write ADD TRIGGER or ALTER TRIGGER"},
    {NULL, "ALTER", "VIEW", NULL, "a view is replaced by CREATE OR REPLACE VIEW"},
    {NULL, "DELETE", "a", NULL, "write DELETE FROM table"},
    {NULL, "DELETE", "*", NULL, "write DELETE FROM table"},
    {NULL, "MERGE", "a", NULL, "write MERGE INTO table"},
    /* tables and flows */
    {NULL, "EXPECT", "(", NULL, "write CONSTRAINT name EXPECT (condition)"},
    {"CONSTRAINT", "a", "CHECK", "(", "a condition on rows is CONSTRAINT name EXPECT (condition)"},
    {NULL, NULL, "PRIMARY", ")", "write PRIMARY KEY"},
    {NULL, NULL, "UNIQUE", NULL, "there are no UNIQUE constraints"},
    {NULL, NULL, "AUTO_INCREMENT", NULL, "there are no generated keys"},
    {NULL, "FLOW", "UPSERT", NULL, "rows of a key are replaced by REPLACE USING (column, …)"},
    {NULL, "FLOW", "MERGE", NULL, "rows of a key are replaced by REPLACE USING (column, …)"},
    {NULL, "REPLACE", "ON", NULL, "rows of a key are replaced by REPLACE USING (column, …)"},
    {"FLOW", "a", "INSERT", NULL, "write CREATE FLOW name AS INSERT INTO table BY NAME …"},
    {"FLOW", "a", "AUTO", NULL, "write CREATE FLOW name AS AUTO CDC INTO table …"},
    {"FLOW", "a", ".", NULL, "a flow's name has one part"},
    {"AUTO", "CDC", "INTO", NULL, "the target of a FLOW is its own table: AUTO CDC FROM STREAM(…)"},
    {NULL, ",", ")", NULL, "remove the comma before it"},
    {NULL, "CREATE", "SCHEMA", NULL, "catalog and schema are set in the topology"},
    {NULL, "CREATE", "DATABASE", NULL, "catalog and schema are set in the topology"},
    {NULL, "CREATE", "CATALOG", NULL, "catalog and schema are set in the topology"},
    {NULL, "INSERT", "OVERWRITE", NULL,
     "rows are replaced by a flow: CREATE FLOW name AS INSERT INTO table BY NAME REPLACE WHERE …"},
    {NULL, "INSERT", "a", NULL, "write INSERT INTO table"},
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
    {NULL, "FROM", "\"", NULL, "a name is quoted by backquotes: `name`"},
    {NULL, "FROM", "'", NULL, "`tidemark query --input name=FILE` makes a table of a file"},
    {NULL, "JOIN", "'", NULL, "`tidemark query --input name=FILE` makes a table of a file"},
    {NULL, NULL, "SUMMARIZE", NULL, "DESCRIBE table tells its columns and their types"},
    {NULL, NULL, "COPY", NULL, "rows are written to a file by `tidemark query -o csv … > file`"},
    {NULL, "FROM", "[", NULL, "a name is quoted by backquotes: `name`"},
    {NULL, "AS", "'", NULL, "a name is quoted by backquotes: `name`"},
    {"STREAM", "(", "SELECT", NULL,
     "STREAM reads a relation by its name; filter and compute in the query around it"},
    {NULL, "DELAY", "#", NULL, "write DELAY OF INTERVAL 10 MINUTES"},
    {NULL, "DELAY", "INTERVAL", NULL, "write DELAY OF INTERVAL 10 MINUTES"},
    {"WATERMARK", "FOR", "a", NULL, "write WATERMARK column DELAY OF INTERVAL 10 MINUTES"},
    {NULL, NULL, "WITH", "(", "relations take no hints"},
    {NULL, "USE", "INDEX", NULL, "relations take no hints"},
    {NULL, "FOR", "UPDATE", NULL, "a query locks no rows"},
    {NULL, "EMIT", "CHANGES", NULL, "a table is kept up to date by a flow that reads a STREAM"},
    {NULL, "INTO", "a", NULL, "rows go to a table by INSERT INTO table SELECT …"},
    {NULL, NULL, "GROUPS", NULL, "a frame counts ROWS, or a RANGE of values"},
    /* expressions */
    {NULL, NULL, "!", "IN", "write NOT IN"},
    {NULL, NULL, "!", "LIKE", "write NOT LIKE"},
    {NULL, NULL, "!", "BETWEEN", "write NOT BETWEEN"},
    {"IS", "NOT", "IN", NULL, "write NOT IN"},
    {"IS", "NOT", "LIKE", NULL, "write NOT LIKE"},
    {NULL, "IS", "IN", NULL, "write IN without IS"},
    {NULL, "&", "&", NULL, "write AND"},
    {"BETWEEN", "#", ",", NULL, "write BETWEEN low AND high"},
    {NULL, "IN", "#", NULL, "the values stand in parentheses: IN (1, 2)"},
    {NULL, "IN", "'", NULL, "the values stand in parentheses: IN ('a', 'b')"},
    {NULL, NULL, ":", "a", "there are no parameters in statements"},
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
    case '"':
        return token->kind == TOKEN_STRING && parser_token_text(parser, token).data[0] == '"';
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
