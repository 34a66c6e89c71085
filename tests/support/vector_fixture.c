/* See vector_fixture.h. The catalogue's names live in shop.sales, which is also the session's
 * schema: there `tickets` and `shop.sales.tickets` are one relation (ST-8). */
#include "tests/support/vector_fixture.h"

#include <assert.h>

#include "processor/sql/parser.h"

const char *vector_stage_name(VectorStage stage)
{
    static const char *const names[] = {[VECTOR_STAGE_NONE] = "",
                                        [VECTOR_STAGE_PARSE] = "parse",
                                        [VECTOR_STAGE_ANALYZE] = "analyze",
                                        [VECTOR_STAGE_RUN] = "run"};
    return names[stage];
}

const char *vector_expected(const TestVector *vector, Arena *arena)
{
    bool rejects = !vector->accept && vector->stage != VECTOR_STAGE_RUN;
    return rejects ? arena_copy_cstr(arena, vector->error) : "accept";
}

/* -------------------------------------------------------------- catalogue --- */

static RelationKind relation_kind(Str kind)
{
    if (str_equal(kind, STR("table"))) {
        return RELATION_TABLE;
    }
    return str_equal(kind, STR("target")) ? RELATION_TARGET : RELATION_STREAM;
}

static const Schema *relation_schema(BindFixture *fixture, const VectorRelation *relation)
{
    AUTO_BUFFER Buffer columns = {0};
    for (size_t k = 0; k < relation->column_count; k++) {
        buffer_printf(&columns, "%s%.*s %.*s", k == 0 ? "" : ", ",
                      STR_ARG(relation->columns[k].name), STR_ARG(relation->columns[k].type));
    }
    return bind_fixture_schema(fixture->arena, buffer_cstr(&columns));
}

static void put(BindFixture *fixture, Str name, const Relation *relation)
{
    Str parts[3];
    size_t count = catalog_split_name(name, parts, ARRAY_LENGTH(parts));
    assert(count > 0);
    catalog_put(fixture->context.catalog, parts, count, relation);
}

static Relation find(const BindFixture *fixture, Str name)
{
    Str parts[3];
    size_t count = catalog_split_name(name, parts, ARRAY_LENGTH(parts));
    const Relation *relation = catalog_find(fixture->context.catalog, parts, count);
    assert(relation != NULL);
    return *relation;
}

static void add_relations(BindFixture *fixture, const VectorSet *set)
{
    for (size_t i = 0; i < set->relation_count; i++) {
        const VectorRelation *given = &set->relations[i];
        if (str_equal(given->kind, STR("function"))) {
            continue;
        }
        Relation relation = {.name = given->name,
                             .kind = relation_kind(given->kind),
                             .schema = relation_schema(fixture, given),
                             .sequence = STR_NULL,
                             .owner = given->owner};
        put(fixture, given->name, &relation);
    }
}

/* ST-R40, ST-A39: u1 … u11 are copies of tickets. */
static void add_copies_of_tickets(BindFixture *fixture)
{
    Relation copy = find(fixture, STR("tickets"));
    for (int i = 1; i <= 11; i++) {
        copy.name = str_from(arena_printf(fixture->arena, "u%d", i));
        put(fixture, copy.name, &copy);
    }
}

/* Functions exist; what they take is not said. */
static void add_routines(BindFixture *fixture, const VectorSet *set)
{
    for (size_t i = 0; i < set->relation_count; i++) {
        Str name = set->relations[i].name;
        Str parts[3];
        size_t count = catalog_split_name(name, parts, ARRAY_LENGTH(parts));
        if (str_equal(set->relations[i].kind, STR("function"))) {
            catalog_put_routine(fixture->context.catalog, parts, count, &(Routine){.name = name});
        }
    }
}

/* ---------------------------------------------------------------- session --- */

/* "tickets_now: REPLACE USING (ticket_id) SEQUENCE BY ver" */
static void set_existing_flow(BindFixture *fixture, const VectorSetting *setting)
{
    static const Str keys[] = {{"ticket_id", 9}};
    assert(str_equal(setting->value, STR("tickets_now: REPLACE USING (ticket_id) SEQUENCE BY "
                                         "ver")));
    Relation relation = find(fixture, STR("tickets_now"));
    relation.keys = keys;
    relation.key_count = 1;
    relation.sequence = STR("ver");
    put(fixture, relation.name, &relation);
    (void)setting;
}

/* "trips_wide: km int": as the catalogue has it. */
static void check_existing_columns(BindFixture *fixture, const VectorSetting *setting)
{
    assert(str_equal(setting->value, STR("trips_wide: km int")));
    const Relation relation = find(fixture, STR("trips_wide"));
    int column = schema_find(relation.schema, STR("km"));
    assert(column >= 0 && relation.schema->fields[column].type->kind == TYPE_INT);
    (void)setting;
    (void)column;
}

/* "table_properties/TABLE/PROPERTY" = value */
static void set_table_property(BindFixture *fixture, Str path, Str value)
{
    Str table = str_cut(&path, '/');
    Relation relation = find(fixture, table);
    if (str_equal(path, STR("delta.appendOnly"))) {
        relation.append_only = str_equal(value, STR("true"));
    } else {
        assert(str_equal(path, STR("pipelines.reset.allowed")));
        relation.reset_forbidden = str_equal(value, STR("false"));
    }
    put(fixture, table, &relation);
}

/* "schedules/TABLE" = its schedule; "schedules" = {}: no table has one. */
static void set_schedules(BindFixture *fixture, const VectorSet *set, Str table)
{
    for (size_t i = 0; i < set->relation_count; i++) {
        if (str_equal(set->relations[i].kind, STR("target"))) {
            Relation relation = find(fixture, set->relations[i].name);
            relation.schedule =
                str_equal(set->relations[i].name, table) ? SCHEDULE_SET : SCHEDULE_NONE;
            put(fixture, relation.name, &relation);
        }
    }
}

static void set_setting(BindFixture *fixture, const VectorSet *set, const VectorSetting *setting)
{
    BindContext *context = &fixture->context;
    Str path = setting->path;
    Str head = str_cut(&path, '/');
    if (str_equal(head, STR("existing_flow"))) {
        set_existing_flow(fixture, setting);
    } else if (str_equal(head, STR("existing_columns"))) {
        check_existing_columns(fixture, setting);
    } else if (str_equal(head, STR("table_properties"))) {
        set_table_property(fixture, path, setting->value);
    } else if (str_equal(head, STR("schedules"))) {
        set_schedules(fixture, set, path);
    } else if (str_equal(head, STR("time_zone"))) {
        context->no_session_zone = setting->value.data == NULL;
    } else if (str_equal(head, STR("schema_default_collation"))) {
        context->default_collation = setting->value;
    } else if (str_equal(head, STR("trigger_tables"))) {
        assert(str_equal(setting->value, STR("1000")));
        context->trigger_tables = 1000;
    } else {
        assert(str_equal(head, STR("user")));
        context->owner = setting->value;
    }
}

/* ------------------------------------------------------------------ judge --- */

static VectorVerdict verdict_of(VectorStage stage, const Error *error)
{
    return error == NULL ? (VectorVerdict){VECTOR_STAGE_NONE, "accept", NULL}
                         : (VectorVerdict){stage, error_kind(error), error};
}

static VectorVerdict first_error(VectorStage stage, const BindFixture *fixture)
{
    return verdict_of(stage,
                      fixture->diagnostics.count == 0 ? NULL : fixture->diagnostics.errors[0]);
}

/* An expression stands alone: what analysis says of it is asked over these columns. */
static VectorVerdict judge_expression(BindFixture *fixture, const TestVector *vector)
{
    AstExpr *expr = NULL;
    Str text = arena_copy_str(fixture->arena, vector->text);
    diagnostics_add(&fixture->diagnostics, sql_parse_expression(text, fixture->arena, &expr));
    if (fixture->diagnostics.count > 0) {
        return first_error(VECTOR_STAGE_PARSE, fixture);
    }
    if (vector->stage == VECTOR_STAGE_ANALYZE) {
        const Schema *schema =
            bind_fixture_schema(fixture->arena, "a STRING, raw STRING, ts TIMESTAMP");
        BoundExpr *bound = NULL;
        diagnostics_add(&fixture->diagnostics,
                        bind_expression(&fixture->context, expr, schema, &bound));
    }
    return first_error(VECTOR_STAGE_ANALYZE, fixture);
}

static VectorVerdict judge_script(BindFixture *fixture, const TestVector *vector)
{
    bool parsed = bind_fixture_parse(fixture, arena_copy_cstr(fixture->arena, vector->text));
    if (!parsed) {
        return first_error(VECTOR_STAGE_PARSE, fixture);
    }
    if (vector->parse_only) {
        return verdict_of(VECTOR_STAGE_PARSE, NULL);
    }
    bind_fixture_bind(fixture);
    return first_error(VECTOR_STAGE_ANALYZE, fixture);
}

VectorVerdict vector_judge(BindFixture *fixture, const VectorSet *set, const TestVector *vector,
                           bool pipeline)
{
    fixture->context.catalog = catalog_new(fixture->arena, STR("shop"), STR("sales"));
    fixture->context.pipeline = pipeline;
    add_relations(fixture, set);
    add_copies_of_tickets(fixture);
    add_routines(fixture, set);
    for (size_t i = 0; i < vector->setting_count; i++) {
        set_setting(fixture, set, &vector->settings[i]);
    }
    return vector->kind == VECTOR_EXPR ? judge_expression(fixture, vector)
                                       : judge_script(fixture, vector);
}
