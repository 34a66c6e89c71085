/* Fuzz target: text as an expression over a small batch. Parses, binds, compiles and evaluates it
 * twice, over all rows and over some; no input may crash it, hang it, or make a row that was not
 * asked for fail. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "processor/bind/bind.h"
#include "processor/data/value_text.h"
#include "processor/exec/query.h"
#include "processor/sql/parser.h"
#include "tests/fuzz/common/mutate_sql.c"

enum { INPUT_SIZE_MAX = 600, ROW_COUNT = 5 };

/* Columns of many types; each text is cast to its column's type. */
static const struct {
    const char *name;
    const Type *type;
    const char *texts[ROW_COUNT];
} columns[] = {
    {"b", &type_boolean, {"true", "false", NULL, "true", "false"}},
    {"y", &type_tinyint, {"0", "127", "-128", NULL, "1"}},
    {"i", &type_int, {"0", "1", NULL, "-2147483648", "2147483647"}},
    {"l", &type_bigint, {"-9223372036854775808", "9223372036854775807", "0", NULL, "3"}},
    {"f", &type_float, {"NaN", "1.5", NULL, "-0.0", "3e38"}},
    {"d", &type_double, {"NaN", "Infinity", "-1e300", NULL, "0.1"}},
    {"s", &type_string, {"", "héllo 😀 wörld", NULL, "12", "2024-02-29 01:02:03"}},
    {"x", &type_binary, {"", "\xff\x00\xc3", "abc", NULL, "\xf0\x9f"}},
    {"a", &type_date, {"0001-01-01", "9999-12-31", NULL, "1970-01-01", "2024-02-29"}},
    {"t", &type_timestamp, {"0001-01-01", "9999-12-31", "1969-12-31 23:59:59.9", NULL, "2024"}},
    {"n", &type_timestamp_ntz, {"0001-01-01", "9999-12-31", "1970-01-01", NULL, "2024"}},
};

typedef struct World {
    Arena *arena;
    Arena *batch_arena;
    const Schema *schema;
    Batch *batch;
} World;

static const Type decimal_type = {.kind = TYPE_DECIMAL, .precision = 38, .scale = 10};
static const Type array_type = {.kind = TYPE_ARRAY, .element = &type_int};

static Vector *decimals(Arena *arena)
{
    Vector *vector = vector_new(arena, &decimal_type, ROW_COUNT);
    static const char *const texts[] = {"0", "-9999999999999999999999999999.9999999999", "0.5"};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        error_free(value_parse(str_from(texts[i]), time_zone_utc(), arena, vector));
    }
    vector_append_null(vector, arena);
    vector_append_int128(vector, arena, 1);
    return vector;
}

static Vector *arrays(Arena *arena)
{
    Vector *vector = vector_new(arena, &array_type, ROW_COUNT);
    for (int64_t row = 0; row < ROW_COUNT - 1; row++) {
        for (int64_t i = 0; i < row; i++) {
            vector_append_int(vector->children[0], arena, i);
        }
        vector_finish_list(vector, arena);
    }
    vector_append_null(vector, arena);
    return vector;
}

static void make_world(World *world)
{
    enum { COLUMN_COUNT = ARRAY_LENGTH(columns) };
    world->arena = arena_new("world");
    world->batch_arena = arena_new("batch");
    Field fields[COLUMN_COUNT + 2];
    Vector *vectors[COLUMN_COUNT + 2];
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        fields[i] = (Field){.name = str_from(columns[i].name), .type = columns[i].type};
        vectors[i] = vector_new(world->arena, columns[i].type, ROW_COUNT);
        for (size_t row = 0; row < ROW_COUNT; row++) {
            if (columns[i].texts[row] == NULL) {
                vector_append_null(vectors[i], world->arena);
            } else {
                Error *error = value_parse(str_from(columns[i].texts[row]), time_zone_utc(),
                                           world->arena, vectors[i]);
                assert(error == NULL);
                (void)error;
            }
        }
    }
    fields[COLUMN_COUNT] = (Field){.name = STR("m"), .type = &decimal_type};
    vectors[COLUMN_COUNT] = decimals(world->arena);
    fields[COLUMN_COUNT + 1] = (Field){.name = STR("r"), .type = &array_type};
    vectors[COLUMN_COUNT + 1] = arrays(world->arena);
    world->schema = schema_new(world->arena, fields, ARRAY_LENGTH(fields));
    Vector **own = arena_new_array(world->arena, Vector *, ARRAY_LENGTH(vectors));
    for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
        own[i] = vectors[i];
    }
    world->batch = batch_from_columns(world->arena, world->schema, own, ROW_COUNT);
}

/* Prints every value, so that a bad one is read. */
static void evaluate(const World *world, Expression *expression, const Batch *batch)
{
    AUTO_BUFFER Buffer out = {0};
    RowErrors errors = {0};
    const Vector *value = NULL;
    Error *error = expression_evaluate(expression, batch, world->batch_arena, &errors, &value);
    assert(error == NULL);
    error_free(error);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        value_format(value, batch_selected(batch, i), time_zone_utc(), &out);
    }
    for (size_t i = 0; i < errors.count; i++) {
        assert(batch->selection == NULL || errors.rows[i] == 1 || errors.rows[i] == 4);
    }
    row_errors_done(&errors);
}

static Error *run(const World *world, Str text, Arena *arena)
{
    static const ExecContext exec = {.now_us = INT64_C(1772366400000000)};
    ExecContext context = exec;
    context.time_zone = time_zone_utc();
    BindContext bind = {.functions = function_catalog(),
                        .time_zone = time_zone_utc(),
                        .catalog = catalog_new(arena, STR("main"), STR("default")),
                        .arena = arena};
    AstExpr *ast = NULL;
    BoundExpr *bound = NULL;
    TRY(sql_parse_expression(text, arena, &ast));
    TRY(bind_expression(&bind, ast, world->schema, &bound));
    AUTO(expression) Expression *expression = NULL;
    TRY(expression_open(bound, &context, &expression));
    evaluate(world, expression, world->batch);
    static const uint16_t selection[] = {1, 4};
    Batch some = *world->batch;
    some.selection = selection;
    some.selected_count = ARRAY_LENGTH(selection);
    evaluate(world, expression, &some);
    return NULL;
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
    error_free(run(&world, text, arena));
    arena_reset(world.batch_arena);
    return 0;
}
