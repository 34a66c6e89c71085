/* Any text as a query over two tables in memory: parsed, bound, planned and run to its end, once
 * with room and large batches, once with none (all that can spill does) and batches of three rows.
 * Nothing may crash or hang, an interruption is heeded, and both runs give the same rows where
 * SQL promises that, which the plan tells. t0 and t1 are the oracle's tables. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "processor/base/memory.h"
#include "processor/bind/bind.h"
#include "processor/data/value_text.h"
#include "processor/exec/aggregate.h"
#include "processor/exec/query.h"
#include "processor/sql/parser.h"
#include "tests/fuzz/common/mutate_sql.c"

enum { INPUT_SIZE_MAX = 2000, RESULT_ROWS_MAX = 20000, RUN_MS_MAX = 700, TABLE_COUNT = 2 };

/* Values that take turns in a column; "NULL" is NULL. Numbers without a common divisor of them make
 * all combinations. Of arrays: the elements, by commas. */
static const struct {
    const char *name;
    const Type *type;
    const char *texts[9];
} columns[] = {
    {"id", &type_bigint, {NULL}},
    {"k", &type_int, {"1", "2", "NULL", "3", "1"}},
    {"n", &type_int, {"7", "100", "NULL", "-5", "0", "2147483647", "7"}},
    {"big", &type_bigint, {"9223372036854775807", "0", "NULL", "-9223372036854775808", "7"}},
    {"x", &type_double, {"2.5", "NaN", "-0.0", "NULL", "-741.75", "0.0", "Infinity", "1e300"}},
    {"p", NULL, {"10.15", "99999999.99", "NULL", "-0.01", "2.50"}},
    {"s", &type_string, {"click", "", "NULL", "12", "héllo 😀", "2024-02-29", "Android"}},
    {"r", &type_string, {"eu", "asia", "NULL", "eu", "us"}},
    {"ok", &type_boolean, {"true", "false", "NULL"}},
    {"d", &type_date, {"2025-01-01", "NULL", "2024-02-29", "0001-01-01", "2025-01-31"}},
    {"ts", &type_timestamp, {"2025-01-01 05:48:50.5", "NULL", "2025-01-02 22:56:06.999999"}},
    {"xs", NULL, {"1,2,3", "", "NULL", "-13", "7,7"}},
    {"ss", NULL, {"a,b", "NULL", "", "x"}},
};

enum { COLUMN_COUNT = ARRAY_LENGTH(columns), DECIMAL_COLUMN = 5, INTS_COLUMN = 11 };

typedef struct World {
    Arena *arena;
    const Schema *schema;
    Vector **tables[TABLE_COUNT]; /* columns */
    uint32_t row_counts[TABLE_COUNT];
} World;

typedef struct Outcome {
    Error *error;
    uint64_t sum; /* of the rows' hashes: their order does not count */
    uint64_t rows;
    bool cut;    /* by time or by RESULT_ROWS_MAX */
    Buffer text; /* the rows, to show a difference */
} Outcome;

typedef struct TableSource {
    BatchSource source;
    const World *world;
    const LogicalSource *wanted;
    uint32_t batch_rows;
    uint32_t at;
} TableSource;

/* Set by the timer; the engine reads it between batches. */
static volatile sig_atomic_t time_is_up;
static bool interrupted;

static void must(Error *error)
{
    if (error != NULL) {
        (void)fprintf(stderr, "%s\n", error_message(error));
        abort();
    }
}

/* ---------------------------------------------------------------- tables --- */

static void append_list(Vector *vector, Arena *arena, Str text)
{
    while (text.size > 0) {
        Str item = str_cut(&text, ',');
        must(value_parse(item, time_zone_utc(), arena, vector->children[0]));
    }
    vector_finish_list(vector, arena);
}

static void append_value(Vector *vector, Arena *arena, size_t column, uint32_t row)
{
    size_t count = 0;
    while (count < ARRAY_LENGTH(columns[column].texts) && columns[column].texts[count] != NULL) {
        count++;
    }
    if (count == 0) {
        vector_append_int(vector, arena, row);
        return;
    }
    Str text = str_from(columns[column].texts[(row + row / 7 * column) % count]);
    if (str_equal(text, STR("NULL"))) {
        vector_append_null(vector, arena);
    } else if (column >= INTS_COLUMN) {
        append_list(vector, arena, text);
    } else {
        must(value_parse(text, time_zone_utc(), arena, vector));
    }
}

static void make_world(World *world)
{
    static const uint32_t row_counts[TABLE_COUNT] = {40, 23};
    Arena *arena = arena_new("world");
    world->arena = arena;
    Field *fields = arena_new_array(arena, Field, COLUMN_COUNT);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        fields[i] = (Field){.name = str_from(columns[i].name), .type = columns[i].type};
    }
    fields[DECIMAL_COLUMN].type = type_decimal(arena, 10, 2);
    fields[INTS_COLUMN].type = type_array(arena, &type_int);
    fields[INTS_COLUMN + 1].type = type_array(arena, &type_string);
    world->schema = schema_new(arena, fields, COLUMN_COUNT);
    for (size_t table = 0; table < TABLE_COUNT; table++) {
        world->row_counts[table] = row_counts[table];
        world->tables[table] = arena_new_array(arena, Vector *, COLUMN_COUNT);
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            Vector *vector = vector_new(arena, fields[i].type, 0);
            for (uint32_t row = 0; row < row_counts[table]; row++) {
                append_value(vector, arena, i, row + (uint32_t)table * 3);
            }
            world->tables[table][i] = vector;
        }
    }
}

/* The next rows, copied, so that they go when the arena is reset. */
static Error *table_next(BatchSource *source, Arena *arena, Batch **ret_batch)
{
    TableSource *table = (TableSource *)source;
    size_t number = table->wanted->relation->index;
    uint32_t left = table->world->row_counts[number] - table->at;
    uint32_t count = left < table->batch_rows ? left : table->batch_rows;
    *ret_batch = NULL;
    if (count == 0) {
        return NULL;
    }
    Batch *batch = batch_new(arena, table->wanted->schema, count);
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        const Vector *from = table->world->tables[number][table->wanted->columns[i]];
        for (uint32_t row = 0; row < count; row++) {
            vector_append_from(batch->columns[i], arena, from, table->at + row);
        }
        vector_own_bytes(batch->columns[i], arena);
    }
    batch->row_count = count;
    batch->selected_count = count;
    table->at += count;
    *ret_batch = batch;
    return NULL;
}

static void table_close(BatchSource *source)
{
    mem_free(source);
}

static void connect_sources(const World *world, const LogicalPlan *plan, Query *query,
                            uint32_t batch_rows)
{
    for (size_t i = 0; i < plan->source_count; i++) {
        TableSource *table = mem_new(TableSource);
        *table = (TableSource){
            .source = {table_next, world->row_counts[plan->sources[i].relation->index],
                       table_close},
            .world = world,
            .wanted = &plan->sources[i],
            .batch_rows = batch_rows,
        };
        query_set_source(query, i, &table->source);
    }
}

/* ------------------------------------------------------------------ runs --- */

static void on_timer(int signal)
{
    (void)signal;
    time_is_up = 1;
    *(volatile bool *)&interrupted = true;
}

/* Milliseconds of this process from now; 0: none. */
static void set_timer(long ms)
{
    const struct itimerval timer = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
    (void)signal(SIGVTALRM, on_timer);
    time_is_up = 0;
    interrupted = false;
    (void)setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static uint64_t hash_bytes(const char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (uint8_t)bytes[i]) * UINT64_C(0x100000001B3);
    }
    return hash ^ hash >> 29;
}

static void take_rows(const Batch *batch, Outcome *out)
{
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        size_t start = out->text.size;
        for (size_t k = 0; k < batch->schema->field_count; k++) {
            value_format(batch->columns[k], batch_selected(batch, i), time_zone_utc(), &out->text);
            buffer_append_byte(&out->text, '|');
        }
        buffer_append_byte(&out->text, '\n');
        out->sum += hash_bytes(out->text.data + start, out->text.size - start);
        out->rows++;
    }
}

static Error *pull_rows(Query *query, Outcome *out)
{
    AUTO(arena) Arena *arena = arena_new("batch");
    for (;;) {
        Batch *batch = NULL;
        arena_reset(arena);
        TRY(query_next(query, arena, NULL, &batch));
        if (batch == NULL) {
            return NULL;
        }
        take_rows(batch, out);
        if (out->rows > RESULT_ROWS_MAX) {
            out->cut = true;
            return NULL;
        }
    }
}

static Error *run_plan(const World *world, const LogicalPlan *plan, size_t memory_bytes,
                       uint32_t batch_rows, Outcome *out)
{
    QueryMemory memory = {.limit_bytes = memory_bytes};
    const ExecContext context = {.time_zone = time_zone_utc(),
                                 .now_us = INT64_C(1772366400000000),
                                 .current_user = STR("alice"),
                                 .memory = &memory,
                                 .interrupted = &interrupted};
    AUTO(query) Query *query = NULL;
    TRY(query_open(plan, &context, &query));
    connect_sources(world, plan, query, batch_rows);
    return pull_rows(query, out);
}

static void run_timed(const World *world, const LogicalPlan *plan, size_t memory_bytes,
                      uint32_t batch_rows, Outcome *out)
{
    set_timer(RUN_MS_MAX);
    out->error = run_plan(world, plan, memory_bytes, batch_rows, out);
    set_timer(0);
    out->cut = out->cut || (out->error != NULL && error_class(out->error) == ERROR_INTERRUPTED);
}

/* ------------------------------------------------------------ comparison --- */

static bool is_floating(const Type *type)
{
    return type->kind != TYPE_BOOLEAN && !type_is_integral(type) && type->kind != TYPE_DECIMAL &&
           type->kind != TYPE_STRING && !type_is_datetime(type);
}

/* May the call's value depend on the order of the rows, in its last digits too? */
static bool call_is_loose(const BoundAggregate *call)
{
    const Function *function = call->function;
    Str name = str_from(function->name);
    if (str_equal(name, STR("count"))) {
        return false;
    }
    for (size_t i = 0; i < call->argument_count; i++) {
        if (is_floating(call->arguments[i]->type)) {
            return true;
        }
    }
    /* Of exact numbers these are computed in doubles, or of a sample. */
    return function->aggregate == NULL || function->aggregate->order_dependent ||
           is_floating(call->type);
}

static bool windows_are_loose(const LogicalNode *node)
{
    for (size_t i = 0; i < node->window_count; i++) {
        const BoundWindowCall *window = &node->windows[i];
        Str name = str_from(window->call.function->name);
        bool ranks = str_equal(name, STR("rank")) || str_equal(name, STR("dense_rank"));
        if (!ranks && (window->unit == FRAME_ROWS || call_is_loose(&window->call))) {
            return true;
        }
    }
    return false;
}

static bool node_is_loose(const LogicalNode *node)
{
    bool loose = node->kind == LOGICAL_LIMIT || (node->kind == LOGICAL_SORT && node->limit >= 0) ||
                 windows_are_loose(node);
    for (size_t i = 0; i < node->aggregate_count; i++) {
        loose = loose || call_is_loose(&node->aggregates[i]);
    }
    return loose || (node->child != NULL && node_is_loose(node->child)) ||
           (node->right != NULL && node_is_loose(node->right));
}

/* A join asks for no more candidates than it needs: which rows' errors are met is open. */
static bool joins(const LogicalNode *node)
{
    return node->kind == LOGICAL_JOIN || (node->child != NULL && joins(node->child)) ||
           (node->right != NULL && joins(node->right));
}

static bool names_chance(Str text)
{
    static const char *const names[] = {"rand", "uuid", "shuffle", "uniform", "monoton"};
    AUTO_BUFFER Buffer lower = {0};
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.data[i];
        buffer_append_byte(&lower, byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strstr(buffer_cstr(&lower), names[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void show(const char *what, const Outcome *outcome)
{
    (void)fprintf(stderr, "--- %s: %llu rows, error %s\n%.*s", what,
                  (unsigned long long)outcome->rows,
                  outcome->error == NULL ? "none" : error_message(outcome->error),
                  (int)(outcome->text.size > 20000 ? 20000 : outcome->text.size),
                  outcome->text.data == NULL ? "" : outcome->text.data);
}

static void compare(const LogicalPlan *plan, Str text, const Outcome *roomy, const Outcome *little)
{
    if (roomy->cut || little->cut || node_is_loose(plan->root) || names_chance(text)) {
        return;
    }
    bool failed = roomy->error != NULL;
    bool same = failed == (little->error != NULL);
    if (same ? failed || (roomy->sum == little->sum && roomy->rows == little->rows)
             : joins(plan->root)) {
        return;
    }
    AUTO_BUFFER Buffer shown = {0};
    plan_format(plan, &shown);
    (void)fprintf(stderr, "exec_query: two runs, two results\n%s", buffer_cstr(&shown));
    show("with memory", roomy);
    show("without", little);
    abort();
}

/* ------------------------------------------------------------------ main --- */

static Error *plan_text(const World *world, Str text, Arena *arena, LogicalPlan **ret_plan)
{
    static const char *const names[TABLE_COUNT] = {"t0", "t1"};
    BindContext bind = {.functions = function_catalog(),
                        .time_zone = time_zone_utc(),
                        .catalog = catalog_new(arena, STR("main"), STR("default")),
                        .owner = STR("alice"),
                        .arena = arena};
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const Relation relation = {.name = str_from(names[i]),
                                   .kind = RELATION_INLINE,
                                   .schema = world->schema,
                                   .index = i,
                                   .estimated_rows = world->row_counts[i]};
        TRY(catalog_add(bind.catalog, &relation));
    }
    AstQuery *query = NULL;
    BoundNode *bound = NULL;
    TRY(sql_parse_query(text, arena, &query));
    TRY(bind_query(&bind, query, &bound));
    return plan_build(arena, bound, ret_plan);
}

static void outcome_done(Outcome *outcome)
{
    error_free(outcome->error);
    buffer_done(&outcome->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static World world;
    if (world.arena == NULL) {
        make_world(&world);
    }
    if (size > INPUT_SIZE_MAX) {
        return -1;
    }
    AUTO(arena) Arena *arena = arena_new("input");
    Str text = arena_copy_str(arena, (Str){size == 0 ? "" : (const char *)data, size});
    LogicalPlan *plan = NULL;
    error_free(plan_text(&world, text, arena, &plan));
    if (plan == NULL) {
        return 0;
    }
    Outcome roomy = {0};
    Outcome little = {0};
    run_timed(&world, plan, (size_t)64 << 20, BATCH_ROWS, &roomy);
    run_timed(&world, plan, 1, 3, &little);
    compare(plan, text, &roomy, &little);
    outcome_done(&roomy);
    outcome_done(&little);
    return 0;
}
