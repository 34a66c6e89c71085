/* How libFuzzer changes SQL: by tokens, so that most of what comes out still parses. To be included
 * by a target whose input is text alone.
 *
 * A text is cut into tokens. A unit is a token or a whole pair of parentheses with what is between
 * them; a piece is some units that follow one another. Pieces are taken out, put elsewhere,
 * replaced by other pieces of this text or of another, by words, or by clauses. Now and then the
 * bytes are changed as libFuzzer does it. */
#include <stdint.h>
#include <string.h>

#include "processor/exec/query.h"
#include "processor/sql/lexer.h"

enum { MUTATED_TOKENS_MAX = 600, PIECE_UNITS_MAX = 6 };

typedef struct Random {
    uint64_t state;
} Random;

/* Tokens of a text, and the text they are written to. */
typedef struct Tokens {
    Str items[MUTATED_TOKENS_MAX];
    size_t count;
} Tokens;

typedef struct Piece {
    size_t begin;
    size_t end;
} Piece;

static const char *const words[] = {
    "id",
    "k",
    "n",
    "big",
    "x",
    "p",
    "s",
    "r",
    "ok",
    "d",
    "ts",
    "xs",
    "ss",
    "t0",
    "t1",
    "t0.k",
    "t1.k",
    "t0.r",
    "t1.id",
    "*",
    "t0.*",
    "NULL",
    "TRUE",
    "FALSE",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "10",
    "127",
    "2147483647",
    "9223372036854775807",
    "-9223372036854775808",
    "0.5",
    "1.50",
    "1e300",
    "0.1D",
    "5L",
    "12BD",
    "99999999.99",
    "''",
    "'a'",
    "'eu'",
    "'%'",
    "'2024-02-29'",
    "'yyyy-MM-dd HH:mm:ss'",
    "'[1,2]'",
    "'{\"a\":1}'",
    "DATE'2024-02-29'",
    "DATE'0001-01-01'",
    "TIMESTAMP'9999-12-31 23:59:59.999999'",
    "TIMESTAMP_NTZ'2024-02-29 01:02:03'",
    "INTERVAL '1' DAY",
    "INTERVAL 3 MONTHS",
    "INTERVAL '1:02' HOUR TO MINUTE",
    "X'00FF'",
    "+",
    "-",
    "*",
    "/",
    "%",
    "DIV",
    "||",
    "=",
    "<>",
    "<",
    ">=",
    "<=>",
    "AND",
    "OR",
    "NOT",
    "IS NULL",
    "IS NOT NULL",
    "IN",
    "LIKE",
    "BETWEEN",
    "IS DISTINCT FROM",
    "::INT",
    "::STRING",
    "::DECIMAL(38,18)",
    "[0]",
    ",",
    "DISTINCT",
    "ALL",
    "DESC",
    "ASC NULLS LAST",
    "FROM t0",
    "FROM t1",
    "AS a",
    "UNION ALL",
    "UNION",
    "INTERSECT",
    "INTERSECT ALL",
    "EXCEPT",
    "EXCEPT ALL",
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    "LEFT SEMI JOIN",
    "LEFT ANTI JOIN",
    "CROSS JOIN",
    "LATERAL",
    "ON",
    "USING (k)",
    "array()",
    "array(1, NULL)",
    "map(1, 'a')",
    "named_struct('a', 1)",
    "x -> x",
    "(x, y) -> x + y",
    "count(*)",
    "ROLLUP",
    "CUBE",
};

static const char *const clauses[] = {
    "WHERE k > 1",
    "WHERE EXISTS (SELECT 1 FROM t1 WHERE t1.k = t0.k)",
    "WHERE k NOT IN (SELECT n FROM t1)",
    "WHERE (k, r) IN (SELECT k, r FROM t1)",
    "GROUP BY ALL",
    "GROUP BY k, r",
    "GROUP BY ROLLUP (k, r)",
    "GROUP BY CUBE (k, ok)",
    "GROUP BY GROUPING SETS ((k), (r, ok), ())",
    "HAVING count(*) > 1",
    "ORDER BY 1",
    "ORDER BY k DESC NULLS LAST, id",
    "LIMIT 3",
    "LIMIT 5 OFFSET 2",
    "OVER (PARTITION BY k ORDER BY id)",
    "OVER (ORDER BY n, id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "OVER (PARTITION BY r ORDER BY d RANGE BETWEEN INTERVAL 3 DAYS PRECEDING AND CURRENT ROW)",
    "OVER (PARTITION BY ok)",
    "FILTER (WHERE n > 0)",
    "WITHIN GROUP (ORDER BY x)",
    "JOIN t1 ON t0.k = t1.k",
    "LEFT JOIN t1 ON t0.r = t1.r AND t0.n < t1.n",
    "FULL OUTER JOIN t1 USING (k)",
    "LEFT ANTI JOIN t1 ON t0.k <=> t1.k",
    "NATURAL JOIN t1",
    "JOIN LATERAL (SELECT t0.k + 1 AS j)",
    "LATERAL VIEW EXPLODE(xs) e AS el",
    "LATERAL VIEW OUTER POSEXPLODE(ss) e AS at, el",
    "UNION ALL SELECT * FROM t1",
    "EXCEPT SELECT * FROM t1",
    "INTERSECT ALL SELECT * FROM t1",
    ", (SELECT max(n) FROM t1 WHERE t1.k = t0.k)",
    ", count(DISTINCT r)",
    ", sum(n) OVER (PARTITION BY k)",
    "CASE WHEN k = 1 THEN n ELSE 0 END",
    "QUALIFY row_number() OVER (PARTITION BY k ORDER BY id) = 1",
    "CROSS JOIN range(3)",
    "(SELECT k, count(*) AS n FROM t0 GROUP BY k)",
};

static uint32_t below(Random *random, size_t limit)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return limit == 0 ? 0 : (uint32_t)((random->state >> 16) % limit);
}

static void tokens_read(Str text, Tokens *ret)
{
    TokenList list = {0};
    lexer_run(text, &list);
    ret->count = 0;
    for (size_t i = 0; i < list.count && ret->count < MUTATED_TOKENS_MAX; i++) {
        const Token *token = &list.items[i];
        if (token->size > 0 && token->kind != TOKEN_END) {
            ret->items[ret->count++] = (Str){text.data + token->start, token->size};
        }
    }
    lexer_done(&list);
}

/* The unit that begins at `at`; its end. */
static size_t unit_end(const Tokens *tokens, size_t at)
{
    int depth = 0;
    for (size_t i = at; i < tokens->count; i++) {
        char first = tokens->items[i].data[0];
        depth += (first == '(' || first == '[') - (first == ')' || first == ']');
        if (depth <= 0) {
            return i + 1;
        }
    }
    return tokens->count;
}

static Piece choose_piece(const Tokens *tokens, Random *random)
{
    Piece piece = {.begin = below(random, tokens->count)};
    piece.end = piece.begin;
    for (uint32_t units = 1 + below(random, PIECE_UNITS_MAX);
         units > 0 && piece.end < tokens->count; units--) {
        piece.end = unit_end(tokens, piece.end);
    }
    return piece;
}

/* Replaces a piece by `count` tokens (of another array). What is too long stays as it is. */
static void tokens_replace(Tokens *tokens, Piece piece, const Str *items, size_t count)
{
    size_t tail = tokens->count - piece.end;
    if (piece.begin + count + tail > MUTATED_TOKENS_MAX) {
        return;
    }
    memmove(tokens->items + piece.begin + count, tokens->items + piece.end, tail * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        tokens->items[piece.begin + i] = items[i];
    }
    tokens->count = piece.begin + count + tail;
}

/* A function's name, or an operator. */
static Str any_function(Random *random)
{
    size_t count = 0;
    while (function_at(count) != NULL) {
        count++;
    }
    return str_from(function_at(below(random, count))->name);
}

static Str any_word(Random *random)
{
    switch (below(random, 8)) {
    case 0:
        return any_function(random);
    case 1:
        return str_from(keyword_name((Keyword)(1 + below(random, KEYWORD_COUNT - 1))));
    case 2:
        return str_from(clauses[below(random, ARRAY_LENGTH(clauses))]);
    default:
        return str_from(words[below(random, ARRAY_LENGTH(words))]);
    }
}

/* One change; `other` is where pieces are taken from. */
static void change(Tokens *tokens, const Tokens *other, Random *random)
{
    Piece at = choose_piece(tokens, random);
    Piece from = choose_piece(other, random);
    Piece one = {at.begin, unit_end(tokens, at.begin)};
    const Str *taken = other->items + from.begin;
    size_t taken_count = from.end - from.begin;
    Str word = any_word(random);
    switch (below(random, 7)) {
    case 0: /* takes out */
        tokens_replace(tokens, at, NULL, 0);
        break;
    case 1: /* puts in */
        tokens_replace(tokens, (Piece){at.begin, at.begin}, taken, taken_count);
        break;
    case 2:
        tokens_replace(tokens, (Piece){at.end, at.end}, &word, 1);
        break;
    case 3:
        tokens_replace(tokens, at, taken, taken_count);
        break;
    case 4:
        tokens_replace(tokens, one, &word, 1);
        break;
    case 5: /* a function around it */
        word = any_function(random);
        tokens_replace(tokens, (Piece){at.end, at.end}, &STR(")"), 1);
        tokens_replace(tokens, (Piece){at.begin, at.begin}, (Str[]){word, STR("(")}, 2);
        break;
    default: /* one unit by another */
        from.end = unit_end(other, from.begin);
        tokens_replace(tokens, one, taken, from.end - from.begin);
    }
}

/* Writes the tokens, a space between two of them; cut at `size_max`. */
static size_t tokens_write(const Tokens *tokens, uint8_t *to, size_t size_max)
{
    size_t size = 0;
    for (size_t i = 0; i < tokens->count && size + tokens->items[i].size + 1 < size_max; i++) {
        if (i > 0) {
            to[size++] = ' ';
        }
        memcpy(to + size, tokens->items[i].data, tokens->items[i].size);
        size += tokens->items[i].size;
    }
    return size;
}

static size_t change_text(Str text, Str other_text, uint8_t *to, size_t size_max, unsigned seed)
{
    Tokens tokens;
    Tokens other;
    Random random = {seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    tokens_read(text, &tokens);
    tokens_read(other_text, &other);
    if (tokens.count == 0 || other.count == 0) {
        return 0;
    }
    for (uint32_t changes = 1 + below(&random, 3); changes > 0 && tokens.count > 0; changes--) {
        change(&tokens, &other, &random);
    }
    return tokens_write(&tokens, to, size_max);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t size_a, const uint8_t *b, size_t size_b,
                                 uint8_t *to, size_t size_max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
    AUTO_BUFFER Buffer text = {0};
    buffer_append(&text, data, size);
    size_t changed = 0;
    if (seed % 4 != 0) {
        changed = change_text(buffer_str(&text), buffer_str(&text), data, size_max, seed);
    }
    return changed == 0 ? LLVMFuzzerMutate(data, size, size_max) : changed;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t size_a, const uint8_t *b, size_t size_b,
                                 uint8_t *to, size_t size_max, unsigned seed)
{
    return change_text((Str){(const char *)a, size_a}, (Str){(const char *)b, size_b}, to, size_max,
                       seed);
}
