/* Nanoseconds a row of the query engine's inner loops, on batches of 2,048 rows: expressions (all
 * rows there; an eighth of the values NULL; half of the rows selected, per selected row), encodings
 * and hashes of keys and rows, and whole operators, pulled from batches that lie in memory.
 *
 * Expressions and queries are text and go through the binder and the planner, as a user's do. Each
 * figure is the least CPU time of some runs, single-threaded. One line a kernel, by tabulators:
 * group, name, what ran, the function with its inner loop ("file:function", inlined ones count as
 * their caller's; "-" for those that look at a value at a time), and one or three figures.
 * tests/bench/kernels prints them for people. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "connectors/format/format.h"
#include "processor/base/memory.h"
#include "processor/data/key_encoding.h"
#include "processor/data/row_encoding.h"
#include "processor/data/value_text.h"
#include "processor/exec/row_hash.h"
#include "tests/support/sql_fixture.c"

enum { SET_BATCHES = 16, TABLE_BATCHES = 128, TABLE_PASSES = 2, TEXT_MAX = 200 };

typedef struct Options {
    int runs;         /* of which the best counts */
    double run_ns;    /* so long is a run of a small kernel at least */
    const char *only; /* part of the name; NULL: all */
} Options;

/* Batches of the columns below. */
typedef struct Set {
    Batch *batches[SET_BATCHES];
} Set;

typedef struct Bench {
    Options options;
    SqlFixture fixture;
    const Schema *schema;
    Set full;
    Set with_nulls;
    Set selected;
    Batch *table[TABLE_BATCHES]; /* what operators read, TABLE_PASSES times */
    Arena *arena;                /* of a batch */
} Bench;

static const char columns[] =
    "i INT, j INT, k INT, w INT, l BIGINT, m BIGINT, d DOUBLE, e DOUBLE, p DECIMAL(10,2), "
    "q DECIMAL(10,2), b BOOLEAN, c BOOLEAN, s STRING, u STRING, v STRING, a DATE, at STRING, "
    "t TIMESTAMP, js STRING";
enum { COLUMN_K = 2 };

typedef struct Expr {
    const char *name;
    const char *text;
    const char *loop;
} Expr;

static const Expr expressions[] = {
    {"add_int", "i + j", "kernels/arithmetic.c:add_int32"},
    {"add_bigint", "l + m", "kernels/arithmetic.c:add_int64"},
    {"multiply_int", "i * j", "kernels/arithmetic.c:multiply_int32"},
    {"multiply_bigint", "l * m", "kernels/arithmetic.c:multiply_int64"},
    {"add_double", "d + e", "kernels/arithmetic.c:add_double"},
    {"multiply_double", "d * e", "kernels/arithmetic.c:multiply_double"},
    {"divide_double", "d / e", "kernels/arithmetic.c:divide_double"},
    {"remainder_int", "i % j", "kernels/arithmetic.c:remainder_int32"},
    {"negative_bigint", "-l", "kernels/arithmetic.c:negative_int64"},
    {"abs_int", "abs(i)", "kernels/arithmetic.c:abs_int32"},
    {"add_decimal", "p + q", "-"},
    {"multiply_decimal", "p * q", "-"},
    {"less_int", "i < j", "kernels/compare.c:less_int32"},
    {"equal_bigint", "l = m", "kernels/compare.c:equal_int64"},
    {"less_double", "d < e", "kernels/compare.c:less_double"},
    {"less_decimal", "p < q", "kernels/compare.c:less_int128"},
    {"equal_string", "s = u", "kernels/compare.c:equal_str"},
    {"less_string", "s < u", "kernels/compare.c:less_str"},
    {"less_date", "a < DATE'2024-06-01'", "kernels/compare.c:less_int32"},
    {"and", "b AND c", "expr_run.c:expression_evaluate"},
    {"or", "b OR c", "expr_run.c:expression_evaluate"},
    {"not", "NOT b", "kernels/logic.c:not"},
    {"is_null", "l IS NULL", "kernels/logic.c:is_null"},
    {"coalesce", "coalesce(i, j)", "-"},
    {"case", "CASE WHEN b THEN i ELSE j END", "-"},
    {"in_int", "k IN (1, 2, 3, 5, 8, 13)", "kernels/in_list.c:in_few_int32"},
    {"greatest_int", "greatest(i, j)", "kernels/compare.c:greatest_int32"},
    {"int_to_bigint", "CAST(i AS BIGINT)", "kernels/cast_number.c:int32_to_int64"},
    {"int_to_double", "CAST(i AS DOUBLE)", "kernels/cast_number.c:int32_to_double"},
    {"bigint_to_double", "CAST(l AS DOUBLE)", "kernels/cast_number.c:int64_to_double"},
    {"bigint_to_int", "CAST(k::BIGINT AS INT)", "kernels/cast_number.c:int64_to_int32"},
    {"double_to_int", "CAST(d AS INT)", "kernels/cast_number.c:double_to_int32"},
    {"int_to_decimal", "CAST(i AS DECIMAL(12,2))", "-"},
    {"int_to_string", "CAST(i AS STRING)", "-"},
    {"double_to_string", "CAST(d AS STRING)", "-"},
    {"string_to_int", "CAST(v AS INT)", "-"},
    {"string_to_date", "CAST(at AS DATE)", "-"},
    {"upper", "upper(s)", "-"},
    {"length", "length(s)", "-"},
    {"substring", "substring(s, 2, 3)", "-"},
    {"concat", "concat(s, u)", "-"},
    {"like_prefix", "s LIKE 'na%'", "-"},
    {"like_inside", "s LIKE '%me1%'", "-"},
    {"rlike", "s RLIKE 'e[0-9]+5$'", "-"},
    {"year", "year(a)", "-"},
    {"date_add", "date_add(a, k)", "-"},
    {"date_trunc", "date_trunc('HOUR', t)", "-"},
    {"hash_int", "hash(i)", "-"},
    {"xxhash64_string", "xxhash64(s)", "-"},
    {"md5", "md5(s)", "-"},
    {"get_json_object", "get_json_object(js, '$.amount')", "-"},
    {"from_json", "from_json(js, 'id INT, amount DOUBLE, note STRING')", "-"},
};

/* Over half a million rows; k has 1,000 values, w nearly 100,000. Building a join's other side is
 * part of its time. */
static const Expr operators[] = {
    {"filter_tenth", "SELECT i FROM t WHERE k < 100", "op_filter.c:filter_next"},
    {"filter_half", "SELECT i FROM t WHERE k < 500", "op_filter.c:filter_next"},
    {"filter_and", "SELECT i FROM t WHERE k < 500 AND d < 0.5", "op_filter.c:filter_next"},
    {"count", "SELECT count(*) FROM t", "-"},
    {"sum_int", "SELECT sum(i) FROM t", "aggregates/sum.c:add_batch_int32"},
    {"sum_bigint", "SELECT sum(l) FROM t", "aggregates/sum.c:add_all_int64"},
    {"sum_double", "SELECT sum(d) FROM t", "aggregates/sum.c:add_all_double"},
    {"sum_decimal", "SELECT sum(p) FROM t", "aggregates/sum.c:add_all_decimal"},
    {"max_int", "SELECT max(i) FROM t", "aggregates/extreme.c:add_all_max_int32"},
    {"avg_double", "SELECT avg(d) FROM t", "aggregates/average.c:add_all_double"},
    {"group_1k", "SELECT k, sum(l), count(*) FROM t GROUP BY k", "-"},
    {"group_100k", "SELECT w, sum(l), count(*) FROM t GROUP BY w", "-"},
    {"group_string", "SELECT u, sum(l), count(*) FROM t GROUP BY u", "-"},
    {"count_distinct", "SELECT count(DISTINCT w) FROM t", "-"},
    {"join_1k", "SELECT i, id FROM t JOIN range(1000) ON k = id", "-"},
    {"join_100k", "SELECT i, id FROM t JOIN range(100000) ON w = id", "-"},
    {"semi_join", "SELECT i FROM t WHERE k IN (SELECT id FROM range(500))", "-"},
    {"sort_bigint", "SELECT m FROM t ORDER BY m", "-"},
    {"sort_string", "SELECT s, i FROM t ORDER BY s, i", "-"},
    {"top_100", "SELECT l, s FROM t ORDER BY l DESC LIMIT 100", "-"},
    {"row_number", "SELECT row_number() OVER (PARTITION BY k ORDER BY m) FROM t", "-"},
};

static double now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* ------------------------------------------------------------------ data --- */

/* Well mixed bits of a number. */
static uint64_t mix(uint64_t n)
{
    n = (n ^ n >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    n = (n ^ n >> 27) * UINT64_C(0x94D049BB133111EB);
    return n ^ n >> 31;
}

/* The value of a column in row number `n`, as text. */
static void value_text(const char *name, uint64_t n, char *out)
{
    uint64_t r = mix(n * 64 + (uint64_t)name[0]);
    unsigned long long big = r;
    switch (name[0]) {
    case 'i':
        (void)snprintf(out, TEXT_MAX, "%d", (int)(r % 40000) - 20000);
        break;
    case 'j': /* "js", or a number that is not 0 */
        (void)snprintf(out, TEXT_MAX,
                       name[1] == 's' ? "{\"id\": %llu, \"note\": \"a note\", \"amount\": 12.5}"
                                      : "%llu",
                       big % 40000 + 1);
        break;
    case 'k':
        (void)snprintf(out, TEXT_MAX, "%llu", big % 1000);
        break;
    case 'w':
        (void)snprintf(out, TEXT_MAX, "%llu", big % 100000);
        break;
    case 'l':
    case 'm':
        (void)snprintf(out, TEXT_MAX, "%llu", big % 2000000000);
        break;
    case 'd':
    case 'e':
        (void)snprintf(out, TEXT_MAX, "%.6f", (double)(r % 1000000 + 1) / 1e6);
        break;
    case 'p':
    case 'q':
        (void)snprintf(out, TEXT_MAX, "%llu.%02llu", big % 10000, big / 10000 % 100);
        break;
    case 'b':
    case 'c':
        (void)snprintf(out, TEXT_MAX, "%s", r % 2 == 0 ? "true" : "false");
        break;
    case 's':
        (void)snprintf(out, TEXT_MAX, "name%llu of some length", big % 100000);
        break;
    case 'u':
        (void)snprintf(out, TEXT_MAX, "name%llu", big % 1000);
        break;
    case 'v':
        (void)snprintf(out, TEXT_MAX, "%llu", big % 1000000);
        break;
    default: /* "a" and "at" are dates, "t" a time */
        (void)snprintf(out, TEXT_MAX,
                       name[0] == 't' ? "%d-%02d-%02d 11:%02d:31.25" : "%d-%02d-%02d",
                       (int)(r % 60) + 1970, (int)(r / 64 % 12) + 1, (int)(r / 1024 % 28) + 1,
                       (int)(r / 65536 % 60));
    }
}

static Batch *make_batch(Bench *bench, uint64_t first, bool with_nulls)
{
    Arena *arena = bench->fixture.arena;
    Batch *batch = batch_new(arena, bench->schema, BATCH_ROWS);
    for (size_t i = 0; i < bench->schema->field_count; i++) {
        char text[TEXT_MAX];
        for (uint32_t row = 0; row < BATCH_ROWS; row++) {
            if (with_nulls && mix((first + row) * 32 + i) % 8 == 0) {
                vector_append_null(batch->columns[i], arena);
                continue;
            }
            value_text(bench->schema->fields[i].name.data, first + row, text);
            Str own = arena_copy_str(arena, str_from(text));
            must(value_parse(own, bench->fixture.exec.time_zone, arena, batch->columns[i]));
        }
    }
    return batch_from_columns(arena, bench->schema, batch->columns, BATCH_ROWS);
}

/* The same columns, of which a random half of the rows counts. */
static Batch *select_half(Bench *bench, const Batch *batch)
{
    Batch *some = arena_new_object(bench->fixture.arena, Batch);
    uint16_t *selection = arena_new_array(bench->fixture.arena, uint16_t, BATCH_ROWS);
    *some = *batch;
    some->selected_count = 0;
    for (uint32_t row = 0; row < BATCH_ROWS; row++) {
        if (mix(row) % 2 == 0) {
            selection[some->selected_count++] = (uint16_t)row;
        }
    }
    some->selection = selection;
    return some;
}

static void make_data(Bench *bench)
{
    sql_fixture_init(&bench->fixture, "UTC");
    bench->arena = arena_new("batch");
    bench->schema = sql_fixture_schema(&bench->fixture, columns);
    sql_fixture_relation(&bench->fixture, RELATION_INLINE, "t", columns);
    for (uint64_t i = 0; i < SET_BATCHES; i++) {
        bench->full.batches[i] = make_batch(bench, i * BATCH_ROWS, false);
        bench->with_nulls.batches[i] = make_batch(bench, i * BATCH_ROWS, true);
        bench->selected.batches[i] = select_half(bench, bench->full.batches[i]);
    }
    for (uint64_t i = 0; i < TABLE_BATCHES; i++) {
        bench->table[i] = make_batch(bench, i * BATCH_ROWS, false);
    }
}

/* ------------------------------------------------------------- measuring --- */

/* Does the work for one batch; its rows. */
typedef uint32_t Work(Bench *bench, const Batch *batch, void *context);

/* The least nanoseconds a row of some runs over the set. */
static double measure(Bench *bench, const Set *set, Work *work, void *context)
{
    double best = 1e18;
    for (int run = 0; run < bench->options.runs; run++) {
        uint64_t rows = 0;
        double start = now_ns();
        double passed = 0;
        while (passed < bench->options.run_ns) {
            for (size_t i = 0; i < SET_BATCHES; i++) {
                arena_reset(bench->arena);
                rows += work(bench, set->batches[i], context);
            }
            passed = now_ns() - start;
        }
        best = passed / (double)rows < best ? passed / (double)rows : best;
    }
    return best;
}

static bool wanted(const Bench *bench, const char *name)
{
    return bench->options.only == NULL || strstr(name, bench->options.only) != NULL;
}

/* ----------------------------------------------------------- expressions --- */

static uint32_t evaluate(Bench *bench, const Batch *batch, void *context)
{
    RowErrors errors = {0};
    const Vector *value = NULL;
    must(expression_evaluate(context, batch, bench->arena, &errors, &value));
    if (errors.count > 0) {
        must(errors.errors[0]);
    }
    return batch->selected_count;
}

static void measure_expression(Bench *bench, const Expr *expr)
{
    BoundExpr *bound = NULL;
    AUTO(expression) Expression *expression = NULL;
    must(sql_fixture_expression(&bench->fixture, expr->text, bench->schema, &bound));
    must(expression_open(bound, &bench->fixture.exec, &expression));
    double full = measure(bench, &bench->full, evaluate, expression);
    double with_nulls = measure(bench, &bench->with_nulls, evaluate, expression);
    double selected = measure(bench, &bench->selected, evaluate, expression);
    (void)printf("expression\t%s\t%s\t%s\t%.3f\t%.3f\t%.3f\n", expr->name, expr->text, expr->loop,
                 full, with_nulls, selected);
}

/* ------------------------------------------------------------- encodings --- */

/* What encodings work with: rows made of the columns i, l, p, s, t; keys of i, s. */
typedef struct Encoding {
    SchemaHistory *history;
    const Schema *schema;
    Decoder *decoder;
    Buffer bytes;
    Str items[BATCH_ROWS]; /* of the bytes */
    Batch *encoded;        /* the batch that `items` are of */
} Encoding;

static void cut_items(Encoding *encoding, const size_t *ends)
{
    for (size_t row = 0; row < BATCH_ROWS; row++) {
        size_t begin = row == 0 ? 0 : ends[row - 1];
        encoding->items[row] = (Str){encoding->bytes.data + begin, ends[row] - begin};
    }
}

static Batch narrow(Bench *bench, const Encoding *encoding, const Batch *batch)
{
    size_t count = encoding->schema->field_count;
    Batch narrowed = *batch;
    narrowed.schema = encoding->schema;
    narrowed.columns = arena_new_array(bench->arena, Vector *, count);
    for (size_t i = 0; i < count; i++) {
        int column = schema_find(batch->schema, encoding->schema->fields[i].name);
        narrowed.columns[i] = batch->columns[column];
    }
    return narrowed;
}

static uint32_t hash_key(Bench *bench, const Batch *batch, void *context)
{
    static uint64_t hashes[BATCH_ROWS];
    const Batch narrowed = narrow(bench, context, batch);
    const Vector *const keys[] = {narrowed.columns[0], narrowed.columns[3]};
    row_hash(keys, ARRAY_LENGTH(keys), (Rows){NULL, BATCH_ROWS}, hashes);
    return BATCH_ROWS;
}

static uint32_t hash_int(Bench *bench, const Batch *batch, void *context)
{
    static uint64_t hashes[BATCH_ROWS];
    const Vector *const keys[] = {batch->columns[COLUMN_K]};
    (void)bench;
    (void)context;
    row_hash(keys, 1, (Rows){NULL, BATCH_ROWS}, hashes);
    return BATCH_ROWS;
}

static uint32_t encode_keys(Bench *bench, const Batch *batch, void *context)
{
    Encoding *encoding = context;
    const Batch narrowed = narrow(bench, encoding, batch);
    Vector *keys[] = {narrowed.columns[0], narrowed.columns[3]};
    size_t ends[BATCH_ROWS];
    buffer_clear(&encoding->bytes);
    for (uint32_t row = 0; row < BATCH_ROWS; row++) {
        key_encode(keys, ARRAY_LENGTH(keys), row, &encoding->bytes);
        ends[row] = encoding->bytes.size;
    }
    cut_items(encoding, ends);
    return BATCH_ROWS;
}

static uint32_t decode_keys(Bench *bench, const Batch *batch, void *context)
{
    const Encoding *encoding = context;
    Vector *keys[] = {vector_new(bench->arena, &type_int, BATCH_ROWS),
                      vector_new(bench->arena, &type_string, BATCH_ROWS)};
    (void)batch;
    for (uint32_t row = 0; row < BATCH_ROWS; row++) {
        must(key_decode(encoding->items[row], bench->arena, keys, ARRAY_LENGTH(keys)));
    }
    return BATCH_ROWS;
}

static uint32_t encode_rows(Bench *bench, const Batch *batch, void *context)
{
    Encoding *encoding = context;
    const Batch narrowed = narrow(bench, encoding, batch);
    size_t ends[BATCH_ROWS];
    buffer_clear(&encoding->bytes);
    for (uint32_t row = 0; row < BATCH_ROWS; row++) {
        row_encode(encoding->history, &narrowed, row, &encoding->bytes);
        ends[row] = encoding->bytes.size;
    }
    cut_items(encoding, ends);
    return BATCH_ROWS;
}

static uint32_t decode_rows(Bench *bench, const Batch *batch, void *context)
{
    const Encoding *encoding = context;
    Batch *rows = batch_new(bench->arena, encoding->schema, BATCH_ROWS);
    (void)batch;
    for (uint32_t row = 0; row < BATCH_ROWS; row++) {
        must(row_decode(encoding->history, encoding->items[row], bench->arena, rows));
    }
    return BATCH_ROWS;
}

static uint32_t encode_json(Bench *bench, const Batch *batch, void *context)
{
    Encoding *encoding = context;
    const Batch narrowed = narrow(bench, encoding, batch);
    size_t ends[BATCH_ROWS];
    buffer_clear(&encoding->bytes);
    for (uint32_t row = 0; row < BATCH_ROWS; row++) {
        json_encode_row(&narrowed, row, &encoding->bytes);
        ends[row] = encoding->bytes.size;
    }
    cut_items(encoding, ends);
    return BATCH_ROWS;
}

static uint32_t decode_json(Bench *bench, const Batch *batch, void *context)
{
    Encoding *encoding = context;
    RowErrors errors = {0};
    Batch *rows = NULL;
    (void)batch;
    decoder_decode(encoding->decoder, encoding->items, BATCH_ROWS, bench->arena, &errors, &rows);
    if (errors.count > 0) {
        must(errors.errors[0]);
    }
    return BATCH_ROWS;
}

/* In this order: what is decoded is what was encoded before. */
static const struct {
    const char *name;
    const char *text;
    const char *loop;
    Work *work;
    Work *before; /* makes what it reads; NULL: nothing */
} encodings[] = {
    {"hash_key_int", "row_hash of k", "row_hash.c:hash_int32", hash_int, NULL},
    {"hash_key", "row_hash of i, s", "-", hash_key, NULL},
    {"encode_key", "key_encode of i, s", "-", encode_keys, NULL},
    {"decode_key", "key_decode of i, s", "-", decode_keys, encode_keys},
    {"encode_row", "row_encode of i, l, p, s, t", "-", encode_rows, NULL},
    {"decode_row", "row_decode of i, l, p, s, t", "-", decode_rows, encode_rows},
    {"encode_json", "JSON of i, l, p, s, t", "-", encode_json, NULL},
    {"decode_json", "i, l, p, s, t of JSON", "-", decode_json, encode_json},
};

static void measure_encodings(Bench *bench)
{
    static Encoding encoding;
    const DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = time_zone_utc()};
    encoding.schema = sql_fixture_schema(&bench->fixture, "i INT, l BIGINT, p DECIMAL(10,2), "
                                                          "s STRING, t TIMESTAMP");
    encoding.history = schema_history_new(bench->fixture.arena);
    schema_history_add(encoding.history, encoding.schema);
    must(decoder_open(&options, encoding.schema, &encoding.decoder));
    for (size_t i = 0; i < ARRAY_LENGTH(encodings); i++) {
        if (wanted(bench, encodings[i].name)) {
            if (encodings[i].before != NULL) {
                encodings[i].before(bench, bench->full.batches[0], &encoding);
            }
            double ns = measure(bench, &bench->full, encodings[i].work, &encoding);
            (void)printf("encoding\t%s\t%s\t%s\t%.3f\n", encodings[i].name, encodings[i].text,
                         encodings[i].loop, ns);
        }
    }
    decoder_close(encoding.decoder);
    buffer_done(&encoding.bytes);
}

/* ------------------------------------------------------------- operators --- */

typedef struct TableSource {
    BatchSource source;
    const Bench *bench;
    const LogicalSource *wanted;
    uint32_t next;
} TableSource;

static Error *table_next(BatchSource *source, Arena *arena, Batch **ret_batch)
{
    TableSource *table = (TableSource *)source;
    *ret_batch = NULL;
    if (table->next == TABLE_BATCHES * TABLE_PASSES) {
        return NULL;
    }
    const Batch *from = table->bench->table[table->next++ % TABLE_BATCHES];
    size_t count = table->wanted->schema->field_count;
    Vector **picked = arena_new_array(arena, Vector *, count);
    for (size_t i = 0; i < count; i++) {
        picked[i] = from->columns[table->wanted->columns[i]];
    }
    *ret_batch = batch_from_columns(arena, table->wanted->schema, picked, BATCH_ROWS);
    return NULL;
}

static void table_close(BatchSource *source)
{
    mem_free(source);
}

static double run_query(Bench *bench, const LogicalPlan *plan)
{
    AUTO(query) Query *query = NULL;
    Batch *batch = NULL;
    must(query_open(plan, &bench->fixture.exec, &query));
    TableSource *table = mem_new(TableSource);
    *table = (TableSource){
        .source = {table_next, -1, table_close}, .bench = bench, .wanted = &plan->sources[0]};
    query_set_source(query, 0, &table->source);
    double start = now_ns();
    do {
        arena_reset(bench->arena);
        must(query_next(query, bench->arena, NULL, &batch));
    } while (batch != NULL);
    return (now_ns() - start) / ((double)TABLE_BATCHES * TABLE_PASSES * BATCH_ROWS);
}

static void measure_operator(Bench *bench, const Expr *operator)
{
    LogicalPlan *plan = NULL;
    must(sql_fixture_plan(&bench->fixture, operator->text, &plan));
    assert(plan->source_count == 1);
    double best = 1e18;
    for (int run = 0; run < bench->options.runs; run++) {
        double ns = run_query(bench, plan);
        best = ns < best ? ns : best;
    }
    (void)printf("operator\t%s\t%s\t%s\t%.3f\n", operator->name, operator->text, operator->loop,
                 best);
}

int main(int argc, char **argv)
{
    static Bench bench;
    bench.options = (Options){.runs = 5, .run_ns = 4e6};
    if (argc > 1) {
        bench.options.runs = (int)strtol(argv[1], NULL, 10);
    }
    if (argc > 2) {
        bench.options.only = argv[2];
    }
    if (argc > 3 || bench.options.runs < 1) {
        (void)fprintf(stderr, "usage: bench_kernels [RUNS [PART-OF-A-NAME]]\n");
        return 2;
    }
    make_data(&bench);
    for (size_t i = 0; i < ARRAY_LENGTH(expressions); i++) {
        if (wanted(&bench, expressions[i].name)) {
            measure_expression(&bench, &expressions[i]);
        }
    }
    measure_encodings(&bench);
    for (size_t i = 0; i < ARRAY_LENGTH(operators); i++) {
        if (wanted(&bench, operators[i].name)) {
            measure_operator(&bench, &operators[i]);
        }
    }
    sql_fixture_done(&bench.fixture);
    arena_free(bench.arena);
    return 0;
}
