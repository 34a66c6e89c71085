/* Writes what the grammar derives: words for its tokens, and blanks, line ends and comments between
 * them. */
#include "tests/support/sql_generator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "processor/sql/token.h"

#include "processor/base/banned.h"

struct SqlGenerator {
    Grammar *grammar;
    GrammarWriter writer;
    Random random; /* for words and blanks */
    Buffer *out;
    Str last; /* terminal or token written before */
};

static const char *const identifiers[] = {"a",   "b",   "c1",    "total",     "Order_Id", "seq",
                                          "t",   "day", "value", "timestamp", "_hidden",  "name",
                                          "key", "2nd", "data",  "path",      "x",        "offset"};
static const char *const backticks[] = {
    "`a`",    "`two words`",         "`a``b`",   "`select`", "`x.y`",
    "`; --`", "`\xC3\xA9t\xC3\xA9`", "`values`", "`stream`", "`interval`"};
/* Where every word is a name: behind a dot, behind AS in a SELECT list. */
static const char *const words[] = {"a",     "from", "SELECT", "all",  "case", "Order", "1st",
                                    "group", "left", "limit",  "null", "END",  "true",  "by"};
static const char *const aliases[] = {"al", "Alias_2", "end", "by", "left", "key", "cube"};
static const char *const table_aliases[] = {"ta", "Tb_2", "tc", "where_", "end", "limit", "window"};
static const char *const bare_table_aliases[] = {"ta", "Tb_2", "tc", "end", "by", "first"};
static const char *const relations[] = {"src", "Orders", "rel_3", "source", "target", "by", "end"};
static const char *const strings[] = {
    "'x'",          "''",
    "'it''s'",      "\"two \\\" quotes\"",
    "'a;b'",        "'-- no comment'",
    "'\\n\\t'",     "'\\\\'",
    "r'\\d+'",      "R\"raw\"",
    "'1 day'",      "'\xE6\x97\xA5'",
    "'\\0'",        "'100\\%_\\_'",
    "'a' 'b'",      "'a' /* one */ \"b\"",
    "'\\u0041\\Z'",
};
static const char *const integers[] = {
    "0", "1", "42", "007", "9223372036854775807", "99999999999999999999"};
static const char *const decimals[] = {"1.5", ".5", "2.", "0.00",
                                       "123456789012345678901234567890.1"};
static const char *const doubles[] = {"1e3", "2.5E-4", ".1e+10", "7E0"};
static const char *const suffixed[] = {"7L", "8s", "1y", "2.5F", "1e2d", "1.5bd", "3BD", ".5D"};
static const char *const anything[] = {"a", "(", ")", "SELECT", "'x'", "1",
                                       "*", ",", "=", "`b`",    "@"};
static const char *const plain[] = {"a", "SELECT", "'x'", "1.5", "*",
                                    ",", "=",      "`b`", "FOR", "PERCENT"};

typedef struct Lexicon {
    const char *token;
    const char *const *texts;
    uint32_t count;
} Lexicon;

static const Lexicon lexicon[] = {
    {"IDENT", identifiers, ARRAY_LENGTH(identifiers)},
    {"BACKTICK_IDENT", backticks, ARRAY_LENGTH(backticks)},
    {"WORD", words, ARRAY_LENGTH(words)},
    {"RELATION_WORD", relations, ARRAY_LENGTH(relations)},
    {"BARE_ALIAS", aliases, ARRAY_LENGTH(aliases)},
    {"TABLE_ALIAS", table_aliases, ARRAY_LENGTH(table_aliases)},
    {"BARE_TABLE_ALIAS", bare_table_aliases, ARRAY_LENGTH(bare_table_aliases)},
    {"STRING", strings, ARRAY_LENGTH(strings)},
    {"INTEGER", integers, ARRAY_LENGTH(integers)},
    {"DECIMAL", decimals, ARRAY_LENGTH(decimals)},
    {"DOUBLE", doubles, ARRAY_LENGTH(doubles)},
    {"SUFFIXED", suffixed, ARRAY_LENGTH(suffixed)},
    {"ANY", anything, ARRAY_LENGTH(anything)},
    {"PLAIN", plain, ARRAY_LENGTH(plain)},
};

/* --------------------------------------------------------------- writing --- */

static bool is_tight(Str text)
{
    static const char tight[] = {'(', ')', ',', '[', ']'};
    return text.size == 1 && memchr(tight, text.data[0], sizeof tight) != NULL;
}

/* Between two tokens: mostly a blank; nothing beside brackets and commas, at times; now and then
 * something longer. */
static void write_blank(SqlGenerator *generator, Str text)
{
    static const char *const blanks[] = {
        "\n", "\t", "  ", " /* a comment */ ", " -- to the end\n", "\r\n", "/* it /* nests */ */"};
    bool tight = is_tight(text) || is_tight(generator->last);
    uint32_t pick = random_below(&generator->random, 40);
    if (generator->last.data == NULL || (tight && pick < 30)) {
        return;
    }
    buffer_append_cstr(generator->out, pick < ARRAY_LENGTH(blanks) ? blanks[pick] : " ");
}

/* A keyword in small letters, at times. */
static void write_terminal(SqlGenerator *generator, Str text)
{
    bool small = random_below(&generator->random, 4) == 0;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool capital = c >= 'A' && c <= 'Z';
        buffer_append_byte(generator->out, small && capital ? (char)(c | 0x20) : c);
    }
}

/* SQ-31: words of the language are names where no longer form follows. Some before "(" are such
 * forms always, and so is INSERT INTO TABLE VALUES. */
static bool is_name(Keyword keyword)
{
    static const Keyword forms[] = {KEYWORD_CAST, KEYWORD_TRY_CAST, KEYWORD_EXTRACT, KEYWORD_STRUCT,
                                    KEYWORD_VALUES};
    for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
        if (keyword == forms[i]) {
            return false;
        }
    }
    return (keyword_flags(keyword) & WORD_RESERVED) == 0;
}

/* An identifier is a keyword, at times. */
static bool write_keyword(SqlGenerator *generator)
{
    enum { EVERY = 6 };
    Keyword keyword = (Keyword)(1 + random_below(&generator->random, KEYWORD_COUNT - 1));
    if (random_below(&generator->random, EVERY) != 0 || !is_name(keyword)) {
        return false;
    }
    write_terminal(generator, str_from(keyword_name(keyword)));
    return true;
}

static void write_token(SqlGenerator *generator, Str token)
{
    if (str_equal(token, STR("IDENT")) && write_keyword(generator)) {
        return;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(lexicon); i++) {
        if (str_equal(token, str_from(lexicon[i].token))) {
            uint32_t pick = random_below(&generator->random, lexicon[i].count);
            buffer_append_cstr(generator->out, lexicon[i].texts[pick]);
            return;
        }
    }
    fail_msg("the grammar has a token %.*s", STR_ARG(token));
}

static void write(void *context, Str text, bool token)
{
    SqlGenerator *generator = context;
    write_blank(generator, text);
    if (token) {
        write_token(generator, text);
    } else {
        write_terminal(generator, text);
    }
    generator->last = text;
}

/* --------------------------------------------------------------- grammar --- */

static Str read_file(Arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s cannot be read", path);
    }
    AUTO_BUFFER Buffer text = {0};
    char block[4096];
    for (size_t size = 0; (size = fread(block, 1, sizeof block, file)) > 0;) {
        buffer_append(&text, block, size);
    }
    (void)fclose(file);
    return arena_copy_str(arena, buffer_str(&text));
}

/* Productions whose sentences could be read in two ways: what is derived is made plain. */
static const char narrowed[] =
    /* After VALUES a comma goes on with its rows, and TABLESAMPLE and the like are refused. */
    "relation = relation_start [ unsupported_sample ] [ watermark_clause ] [ table_alias ] "
    "           [ unsupported_pivot ] "
    "         | \"VALUES\" expression { \",\" expression } [ unsupported_sample ] "
    "           [ watermark_clause ] table_alias [ unsupported_pivot ] ;"
    "relation_start = stream_relation | table_function | relation_name | \"(\" query \")\" "
    "               | \"(\" from_item \")\" ;"
    /* REPLACE WHERE a (SELECT …) would call a. */
    "insert_flow_body = \"INSERT\" [ \"ONCE\" ] \"INTO\" table_name \"BY\" \"NAME\" "
    "                   ( [ replace_using_head ] query | replace_where_head plain_query ) ;"
    "plain_query = [ with_clause ] select_core [ sort_clause ] [ limit_clause ] ;"
    /* IGNORE NULLS stands inside the parentheses or behind them. */
    "function_call = function_name \"(\" \"*\" \")\" call_options "
    "              | ( \"FIRST\" | \"LAST\" | \"ANY_VALUE\" ) "
    "                \"(\" expression \"IGNORE\" \"NULLS\" \")\" [ over_clause ] "
    "              | function_name \"(\" [ \"DISTINCT\" | \"ALL\" ] argument "
    "                { \",\" argument } \")\" call_options "
    "              | function_name \"(\" \")\" call_options ;";

SqlGenerator *sql_generator_new(Arena *arena, uint64_t seed)
{
    SqlGenerator *generator = arena_new_object(arena, SqlGenerator);
    generator->grammar = grammar_new(arena);
    const char *error = grammar_read(generator->grammar, read_file(arena, GRAMMAR_FILE));
    if (error == NULL) {
        error = grammar_read(generator->grammar, str_from(narrowed));
    }
    if (error == NULL) {
        error = grammar_link(generator->grammar);
    }
    if (error != NULL) {
        fail_msg("%s: %s", GRAMMAR_FILE, error);
    }
    generator->random = random_of_seed(seed);
    generator->writer =
        (GrammarWriter){.write = write, .context = generator, .random = random_of_seed(~seed)};
    return generator;
}

void sql_generator_next(SqlGenerator *generator, const char *production, size_t tokens_max,
                        Buffer *out)
{
    enum { LEVELS_MIN = 15, LEVELS_SPREAD = 25 };
    buffer_clear(out);
    generator->out = out;
    generator->last = STR_NULL;
    generator->writer.tokens_max = tokens_max;
    generator->writer.levels = LEVELS_MIN + (int)random_below(&generator->random, LEVELS_SPREAD) +
                               (int)random_below(&generator->random, LEVELS_SPREAD);
    grammar_derive(generator->grammar, production, &generator->writer);
}

void sql_generator_untaken(SqlGenerator *generator, const char *production, Buffer *out)
{
    grammar_untaken(generator->grammar, production, out);
}

Random *sql_generator_random(SqlGenerator *generator)
{
    return &generator->random;
}
