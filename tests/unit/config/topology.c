/* The topology of DESIGN section 9: its keys and defaults, the examples, what is checked and what
 * is "not yet". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config/secret.h"
#include "config/topology.h"

typedef struct Loaded {
    Arena *arena;
    Diagnostics diagnostics;
    Topology *topology;
} Loaded;

static Loaded load(const char *yaml)
{
    Loaded loaded = {.arena = arena_new("test")};
    topology_load_text(str_from(yaml), "t.yaml", NULL, loaded.arena, &loaded.diagnostics,
                       &loaded.topology);
    return loaded;
}

static Loaded load_file(const char *path)
{
    Loaded loaded = {.arena = arena_new("test")};
    topology_load_file(path, loaded.arena, &loaded.diagnostics, &loaded.topology);
    for (size_t i = 0; i < loaded.diagnostics.count; i++) {
        print_message("%s\n", error_message(loaded.diagnostics.errors[i]));
    }
    return loaded;
}

static void done(Loaded *loaded)
{
    diagnostics_done(&loaded->diagnostics);
    arena_free(loaded->arena);
}

static void assert_str(Str actual, const char *expected)
{
    assert_int_equal(actual.size, strlen(expected));
    assert_memory_equal(actual.data, expected, actual.size);
}

/* The smallest topology, with a line more: that line is number 9. */
static const char *const minimal = "pipeline: p\n"
                                   "kafka: {bootstrap: 'h:9092'}\n"
                                   "sources:\n"
                                   "  s:\n"
                                   "    columns: a INT\n"
                                   "  t:\n"
                                   "    columns: a INT\n"
                                   "sql: SELECT 1\n";

/* The minimal topology and `more` have exactly one mistake. */
static void assert_mistake(const char *more, ErrorClass class, int line, int column,
                           const char *words)
{
    AUTO_BUFFER Buffer yaml = {0};
    buffer_printf(&yaml, "%s%s", minimal, more);
    Loaded loaded = load(buffer_cstr(&yaml));
    if (loaded.diagnostics.count != 1) {
        fail_msg("%zu mistakes in: %s", loaded.diagnostics.count, more);
    }
    const Error *error = loaded.diagnostics.errors[0];
    if (strstr(error_message(error), words) == NULL) {
        fail_msg("`%s` is not in: %s", words, error_message(error));
    }
    assert_int_equal(error_class(error), class);
    assert_int_equal(error_place(error).line, line);
    assert_int_equal(error_place(error).column, column);
    assert_string_equal(error_file(error), "t.yaml");
    done(&loaded);
}

static void assert_fine(const char *more)
{
    AUTO_BUFFER Buffer yaml = {0};
    buffer_printf(&yaml, "%s%s", minimal, more);
    Loaded loaded = load(buffer_cstr(&yaml));
    if (loaded.diagnostics.count != 0) {
        fail_msg("%s: %s", more, error_message(loaded.diagnostics.errors[0]));
    }
    done(&loaded);
}

#define assert_invalid(more, line, column, words)                                                  \
    assert_mistake(more, ERROR_CONFIG_INVALID_VALUE, line, column, words)
#define assert_not_yet(more, line, column, words)                                                  \
    assert_mistake(more, ERROR_NOT_YET, line, column, words)

static void defaults_are_those_of_the_design(void **state)
{
    (void)state;
    Loaded loaded = load(minimal);
    assert_int_equal(loaded.diagnostics.count, 0);
    const Topology *t = loaded.topology;
    assert_string_equal(t->file, "t.yaml");
    assert_str(t->pipeline, "p");
    assert_null(t->owner.data);
    assert_str(t->catalog, "main");
    assert_str(t->schema, "default");
    assert_str(t->time_zone, "UTC");
    assert_int_equal(t->time_zone_place.line, 0);
    assert_int_equal(t->mode, TOPOLOGY_CONTINUOUS);
    assert_int_equal(t->compute, TOPOLOGY_SERVERLESS);
    assert_int_equal(t->cluster, TOPOLOGY_SINGLE);
    assert_int_equal(t->standby, 0);
    assert_str(t->kafka.bootstrap, "h:9092");
    assert_int_equal(t->kafka.replication_factor, -1);
    assert_int_equal(t->kafka.property_count, 0);
    assert_null(t->schema_registry_url.data);
    assert_str(t->state.dir, "./state");
    assert_int_equal(t->state.memory_bytes, 256 * 1024 * 1024);
    assert_int_equal(t->state.checkpoint_interval_ms, 5000);
    assert_int_equal(t->state.checkpoint_bytes, 64 * 1024 * 1024);
    assert_int_equal(t->commit.interval_ms, 100);
    assert_int_equal(t->commit.min_spacing_ms, 5);
    assert_int_equal(t->commit.max_rows, 100000);
    assert_int_equal(t->commit.max_bytes, 64 * 1024 * 1024);
    assert_int_equal(t->retry.max_attempts, 5);
    assert_int_equal(t->retry.backoff_ms, 1000);
    assert_int_equal(t->retry.backoff_max_ms, 60000);
    assert_str(t->api.listen, "127.0.0.1:8088");
    assert_int_equal(t->api.token_count, 0);
    assert_int_equal(t->log.level, LOG_INFO);
    assert_int_equal(t->log.format, TOPOLOGY_LOG_TEXT);
    assert_int_equal(t->source_count, 2);
    const TopologySource *source = &t->sources[0];
    assert_str(source->name, "s");
    assert_str(source->topic, "s");
    assert_int_equal(source->kind, TOPOLOGY_STREAM);
    assert_int_equal(source->format, TOPOLOGY_JSON);
    assert_str(source->columns.text, "a INT");
    assert_int_equal(source->columns.place.line, 5);
    assert_int_equal(source->columns.place.column, 14);
    assert_int_equal(source->start, TOPOLOGY_START_EARLIEST);
    assert_int_equal(source->on_error, TOPOLOGY_QUARANTINE);
    assert_int_equal(source->on_truncate, TOPOLOGY_TRUNCATE_FAIL);
    assert_false(source->coerce);
    assert_false(source->allow_compacted);
    assert_false(source->broken);
    assert_int_equal(t->table_count, 0);
    assert_int_equal(t->sql_count, 1);
    done(&loaded);
}

static void examples_are_good(void **state)
{
    (void)state;
    (void)unsetenv("KAFKA_BOOTSTRAP");
    Loaded loaded = load_file("config/examples/bookings.yaml");
    assert_int_equal(loaded.diagnostics.count, 0);
    assert_str(loaded.topology->kafka.bootstrap, "localhost:9092");
    assert_str(loaded.topology->sources[0].topic, "booking_updates");
    assert_str(loaded.topology->sql[0].text,
               "CREATE OR REFRESH STREAMING TABLE bookings_current\n"
               "FLOW REPLACE USING (booking_id) SEQUENCE BY booking_update_id BY NAME\n"
               "SELECT * FROM STREAM(booking_updates);\n");
    done(&loaded);

    (void)setenv("KAFKA_BOOTSTRAP", "a:1,b:2", 1);
    loaded = load_file("config/examples/full.yaml");
    (void)unsetenv("KAFKA_BOOTSTRAP");
    assert_int_equal(loaded.diagnostics.count, 0);
    const Topology *t = loaded.topology;
    assert_str(t->kafka.bootstrap, "a:1,b:2");
    assert_str(t->owner, "data-team");
    assert_str(t->kafka.properties[0].name, "client.id");
    assert_str(t->kafka.properties[0].value, "shop");
    assert_str(t->sources[0].topic, "shop-orders");
    assert_int_equal(t->sources[0].start, TOPOLOGY_START_TIMESTAMP);
    assert_int_equal(t->tables[0].partitions, 4);
    assert_str(t->tables[0].config[0].name, "max.message.bytes");
    assert_str(t->tables[0].config[0].value, "2097152");
    assert_int_equal(t->sql_count, 2);
    assert_string_equal(t->sql[1].file, "config/examples/large_orders.sql");
    assert_true(str_starts_with(t->sql[1].text, STR("-- Orders of 1,000")));
    done(&loaded);
}

static void every_value_reaches_its_member(void **state)
{
    (void)state;
    Loaded loaded = load("pipeline: a.b_c-1\n"
                         "owner: me\n"
                         "catalog: shop\n"
                         "schema: sales\n"
                         "time_zone: Asia/Kolkata\n"
                         "mode: triggered\n"
                         "compute: classic\n"
                         "cluster: single\n"
                         "standby: 0\n"
                         "kafka:\n"
                         "  bootstrap: SSL://[::1]:9093, k2\n"
                         "  replication_factor: 3\n"
                         "  properties: {linger.ms: 5, sasl.password: \"x: y\"}\n"
                         "state: {dir: /var/x, memory: 1GiB, checkpoint_interval: 1m, "
                         "checkpoint_bytes: 1MiB}\n"
                         "commit: {interval: 1s, min_spacing: 0ms, max_rows: 10, max_bytes: 8KiB}\n"
                         "retry: {max_attempts: 0, backoff: 5ms, backoff_max: 2h}\n"
                         "api: {listen: 127.0.0.1:8088}\n"
                         "log: {level: debug, format: json}\n"
                         "sources:\n"
                         "  x.y.z:\n"
                         "    topic: in\n"
                         "    kind: table\n"
                         "    key: [a, b]\n"
                         "    format: json\n"
                         "    columns: a INT, b INT\n"
                         "    start: latest\n"
                         "    on_error: fail\n"
                         "    on_truncate: skip\n"
                         "    coerce: true\n"
                         "    allow_compacted: true\n"
                         "tables:\n"
                         "  out: {topic: the-out, format: json, partitions: 12}\n"
                         "sql: [SELECT 1, SELECT 2]\n");
    assert_int_equal(loaded.diagnostics.count, 0);
    const Topology *t = loaded.topology;
    assert_str(t->owner, "me");
    assert_str(t->catalog, "shop");
    assert_str(t->schema, "sales");
    assert_str(t->time_zone, "Asia/Kolkata");
    assert_int_equal(t->time_zone_place.line, 5);
    assert_int_equal(t->mode, TOPOLOGY_TRIGGERED);
    assert_int_equal(t->compute, TOPOLOGY_CLASSIC);
    assert_int_equal(t->kafka.replication_factor, 3);
    assert_int_equal(t->kafka.property_count, 2);
    assert_str(t->kafka.properties[1].name, "sasl.password");
    assert_str(t->kafka.properties[1].value, "x: y");
    assert_int_equal(t->kafka.properties[1].name_place.line, 13);
    assert_int_equal(t->kafka.properties[1].name_place.column, 30);
    assert_int_equal(t->kafka.properties[1].value_place.column, 45);
    assert_str(t->state.dir, "/var/x");
    assert_int_equal(t->state.memory_bytes, 1 << 30);
    assert_int_equal(t->state.checkpoint_interval_ms, 60000);
    assert_int_equal(t->state.checkpoint_bytes, 1 << 20);
    assert_int_equal(t->commit.interval_ms, 1000);
    assert_int_equal(t->commit.min_spacing_ms, 0);
    assert_int_equal(t->commit.max_rows, 10);
    assert_int_equal(t->commit.max_bytes, 8192);
    assert_int_equal(t->retry.max_attempts, 0);
    assert_int_equal(t->retry.backoff_ms, 5);
    assert_int_equal(t->retry.backoff_max_ms, 7200000);
    assert_int_equal(t->log.level, LOG_DEBUG);
    assert_int_equal(t->log.format, TOPOLOGY_LOG_JSON);
    const TopologySource *source = &t->sources[0];
    assert_str(source->topic, "in");
    assert_int_equal(source->kind, TOPOLOGY_TABLE);
    assert_int_equal(source->key_count, 2);
    assert_str(source->key[1].text, "b");
    assert_int_equal(source->start, TOPOLOGY_START_LATEST);
    assert_int_equal(source->on_error, TOPOLOGY_FAIL);
    assert_int_equal(source->on_truncate, TOPOLOGY_TRUNCATE_SKIP);
    assert_true(source->coerce);
    assert_true(source->allow_compacted);
    assert_str(t->tables[0].topic, "the-out");
    assert_int_equal(t->tables[0].partitions, 12);
    assert_str(t->sql[1].text, "SELECT 2");
    done(&loaded);
}

static void the_api_listens_where_one_says(void **state)
{
    (void)state;
    assert_fine("api: {listen: none}\n");
    assert_fine("api: {listen: ':8088'}\n");
    assert_fine("api: {listen: 'localhost:0'}\n");
    assert_fine("api: {listen: '0.0.0.0:65535'}\n");
    assert_fine("api: {listen: '[::1]:80'}\n");
    static const char *const wrong[] = {
        "8088",         "localhost", "localhost:",    "localhost:x",  "localhost:65536",
        "localhost:-1", "::1:80",    "[]:80",         "[::1:80",      "http://h:80",
        "h:80 ",        "a b:80",    "localhost:+80", "h:80/metrics", "off"};
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        AUTO_BUFFER Buffer text = {0};
        buffer_printf(&text,
                      "pipeline: p\nkafka: {bootstrap: h}\nsql: S\n"
                      "sources: {s: {columns: a INT}}\napi: {listen: '%s'}\n",
                      wrong[i]);
        Loaded loaded = load(buffer_cstr(&text));
        if (loaded.diagnostics.count != 1) {
            print_error("%s\n", wrong[i]);
        }
        assert_int_equal(loaded.diagnostics.count, 1);
        const Error *error = loaded.diagnostics.errors[0];
        assert_int_equal(error_class(error), ERROR_CONFIG_INVALID_VALUE);
        assert_int_equal(error_place(error).line, 5);
        assert_int_equal(error_place(error).column, 15);
        done(&loaded);
    }
    Loaded loaded = load("pipeline: p\nkafka: {bootstrap: h}\nsql: S\n"
                         "sources: {s: {columns: a INT}}\n");
    assert_int_equal(loaded.topology->api.listen_place.line, 0); /* the default: nobody asked */
    assert_str(loaded.topology->api.listen, "127.0.0.1:8088");
    done(&loaded);
}

static void later_issues_say_not_yet(void **state)
{
    (void)state;
    assert_not_yet("cluster: group\n", 9, 10, "`group` of `cluster`");
    assert_not_yet("standby: 1\n", 9, 10, "`1` of `standby`");
    assert_not_yet("schema_registry: {url: 'http://r'}\n", 9, 18, "`schema_registry`");
    assert_not_yet("api: {tokens: [a]}\n", 9, 15, "`api.tokens`");
    assert_not_yet("api: {tokens: hunter2}\n", 9, 15, "`api.tokens`");
    assert_not_yet("tables: {o: {format: avro}}\n", 9, 22, "`avro` of `tables.o.format`");
    assert_fine("api:\n");
    assert_fine("api: {tokens: []}\nschema_registry:\ntables: {o: {format: json}}\n");
    Loaded loaded = load("pipeline: p\nkafka: {bootstrap: h}\nsql: S\n"
                         "sources: {s: {columns: a INT, format: csv}}\n");
    assert_int_equal(loaded.diagnostics.count, 1);
    assert_int_equal(error_class(loaded.diagnostics.errors[0]), ERROR_NOT_YET);
    assert_true(loaded.topology->sources[0].broken);
    done(&loaded);
}

static void required_keys(void **state)
{
    (void)state;
    Loaded loaded = load("kafka: {properties: {}}\nsources: {s: {topic: x}}\n");
    assert_int_equal(loaded.diagnostics.count, 4);
    const char *const wanted[] = {"`pipeline`", "`kafka.bootstrap`", "`sql`",
                                  "`sources.s.columns`"};
    for (size_t i = 0; i < 4; i++) {
        const Error *error = loaded.diagnostics.errors[i];
        assert_int_equal(error_class(error), ERROR_CONFIG_MISSING_KEY);
        if (strstr(error_message(error), wanted[i]) == NULL) {
            fail_msg("%s", error_message(error));
        }
    }
    assert_non_null(loaded.topology); /* so that SQL can be judged as well */
    assert_non_null(loaded.topology->sources[0].columns.file);
    assert_non_null(loaded.topology->sources[0].columns.text.data);
    done(&loaded);
    loaded = load("a");
    assert_null(loaded.topology);
    assert_int_equal(loaded.diagnostics.count, 1);
    done(&loaded);
}

static void unknown_keys_are_helped(void **state)
{
    (void)state;
    assert_mistake("pipelines: x\n", ERROR_CONFIG_UNKNOWN_KEY, 9, 1, "`pipelines`");
    Loaded loaded = load("pipeline: p\nbootstrap: h\nkafka: {bootstrap: h}\nsql: x\n");
    assert_int_equal(loaded.diagnostics.count, 1);
    assert_string_equal(error_hint(loaded.diagnostics.errors[0]),
                        "did you mean `kafka.bootstrap`?");
    done(&loaded);
}

static void ranges_are_sane(void **state)
{
    (void)state;
    assert_invalid("commit: {interval: 0ms}\n", 9, 20, "from 1ms to 1h");
    assert_invalid("commit: {max_rows: 0}\n", 9, 20, "`commit.max_rows`");
    assert_invalid("state: {memory: 16MiB}\n", 9, 17, "from 32MiB");
    assert_invalid("tables: {o: {partitions: 0}}\n", 9, 26, "`tables.o.partitions`");
}

static void backoff_max_is_not_below_backoff(void **state)
{
    (void)state;
    assert_invalid("retry: {backoff: 2m, backoff_max: 1m}\n", 9, 35, "`retry.backoff_max`");
    assert_fine("retry: {backoff: 1m, backoff_max: 1m}\n");
}

static void time_zone_is_not_empty(void **state)
{
    (void)state;
    assert_invalid("time_zone: ''\n", 9, 12, "`time_zone` must not be empty");
    assert_invalid("catalog: a.b\n", 9, 10, "`catalog`");
    assert_invalid("schema: a b\n", 9, 9, "`schema`");
    assert_invalid("log: {level: loud}\n", 9, 14, "debug, info, warn or error");
}

static Loaded load_pipeline(const char *name, const char *more)
{
    AUTO_BUFFER Buffer yaml = {0};
    buffer_printf(&yaml, "pipeline: %s\nkafka: {bootstrap: h}\nsql: x\n%s", name, more);
    /* The text must live as long as the topology does. */
    Loaded loaded = {.arena = arena_new("test")};
    topology_load_text(arena_copy_str(loaded.arena, buffer_str(&yaml)), "t.yaml", NULL,
                       loaded.arena, &loaded.diagnostics, &loaded.topology);
    return loaded;
}

static void pipeline_names(void **state)
{
    (void)state;
    char longest[102] = {0};
    memset(longest, 'a', 100);
    const char *const good[] = {"a", "A.b_c-9", longest};
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
        Loaded loaded = load_pipeline(good[i], "");
        assert_int_equal(loaded.diagnostics.count, 0);
        done(&loaded);
    }
    char too_long[102] = {0};
    memset(too_long, 'a', 101);
    const char *const bad[] = {"''", "a b", "a/b", "é", "'a:b'", too_long};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        Loaded loaded = load_pipeline(bad[i], "");
        assert_int_equal(loaded.diagnostics.count, 1);
        assert_int_equal(error_place(loaded.diagnostics.errors[0]).column, 11);
        done(&loaded);
    }
}

static void source_and_table_names(void **state)
{
    (void)state;
    assert_mistake("tables: {a.b.c.d: {}}\n", ERROR_INVALID_IDENTIFIER, 9, 10, "`a.b.c.d`");
    assert_mistake("tables: {a..c: {}}\n", ERROR_INVALID_IDENTIFIER, 9, 10, "table");
    assert_mistake("tables: {'a c': {}}\n", ERROR_INVALID_IDENTIFIER, 9, 10, "table");
    assert_mistake("tables: {s: {}}\n", ERROR_TABLE_OR_VIEW_ALREADY_EXISTS, 9, 10,
                   "`main.default.s`) as the source in line 4");
    assert_mistake("tables: {o: {}, Default.O: {}}\n", ERROR_TABLE_OR_VIEW_ALREADY_EXISTS, 9, 17,
                   "`main.default.o`");
    assert_fine("tables: {other.s: {}, cat.default.s: {}}\n");
    Str parts[3];
    assert_int_equal(topology_name_parts(STR("a.b.c"), parts), 3);
    assert_str(parts[2], "c");
    assert_int_equal(topology_name_parts(STR("a"), parts), 1);
    assert_int_equal(topology_name_parts(STR(""), parts), 0);
    assert_int_equal(topology_name_parts(STR("a."), parts), 0);
}

static void topic_names(void **state)
{
    (void)state;
    assert_invalid("tables: {o: {topic: a b}}\n", 9, 21, "cannot be the name of a topic");
    assert_invalid("tables: {o: {topic: ..}}\n", 9, 21, "cannot be the name of a topic");
    assert_invalid("tables: {o: {topic: ''}}\n", 9, 21, "must not be empty");
    assert_invalid("tables: {o: {topic: s}}\n", 9, 21, "that of the source `s`");
    assert_invalid("tables: {o: {topic: x.y}, q: {topic: x_y}}\n", 9, 38, "that of the table `o`");
    assert_invalid("tables: {o: {topic: p.progress}}\n", 9, 21, "reserved");
    assert_invalid("tables: {o: {topic: p_event_log}}\n", 9, 21, "reserved");
    assert_invalid("tables: {o: {topic: p.quarantine}}\n", 9, 21, "reserved");
    assert_invalid("tables: {o: {topic: p.control}}\n", 9, 21, "reserved");
    assert_invalid("tables: {o: {topic: p.flow.operator}}\n", 9, 21, "reserved");
    assert_fine("tables: {o: {topic: p.orders}, q: {topic: p2.a.b}, r: {topic: p}}\n");
    Loaded loaded = load_pipeline("shop", "sources: {é: {columns: a INT}, "
                                          "shop.sales.x: {columns: a INT}}\n");
    assert_int_equal(loaded.diagnostics.count, 2);
    assert_true(strncmp(error_hint(loaded.diagnostics.errors[0]), "say `topic:`", 12) == 0);
    assert_non_null(strstr(error_message(loaded.diagnostics.errors[1]), "reserved"));
    assert_true(topology_topic_is_reserved(loaded.topology, STR("shop.progress")));
    assert_false(topology_topic_is_reserved(loaded.topology, STR("shop.progress2")));
    assert_false(topology_topic_is_reserved(loaded.topology, STR("shopping.progress")));
    done(&loaded);
}

static void starts_and_addresses(void **state)
{
    (void)state;
    const char *const good[] = {"2026-03-01",          "2026-03-01T00:00:00Z",
                                "2026-03-01 12:30",    "2024-02-29T23:59:59.123456+05:30",
                                "2026-03-01T00:00:00", "earliest"};
    const char *const bad[] = {"2026-13-01", "2026-02-29", "yesterday",  "2026-03-01T24:00:00",
                               "Earliest",   "2026-3-1",   "1700000000", "2026-03-01T00:00:00Zx"};
    for (size_t i = 0; i < ARRAY_LENGTH(good) + ARRAY_LENGTH(bad); i++) {
        bool is_good = i < ARRAY_LENGTH(good);
        AUTO_BUFFER Buffer more = {0};
        buffer_printf(&more, "sources: {s: {columns: a INT, start: '%s'}}\n",
                      is_good ? good[i] : bad[i - ARRAY_LENGTH(good)]);
        Loaded loaded = load_pipeline("p", buffer_cstr(&more));
        assert_int_equal(loaded.diagnostics.count, is_good ? 0 : 1);
        assert_int_equal(loaded.topology->sources[0].broken, !is_good);
        done(&loaded);
    }
    const char *const addresses[] = {"h:0", "h:99999", "h:x", ":9092", "a:1,,b:2", "a b:1"};
    for (size_t i = 0; i < ARRAY_LENGTH(addresses); i++) {
        AUTO_BUFFER Buffer yaml = {0};
        buffer_printf(&yaml, "pipeline: p\nsql: x\nkafka: {bootstrap: '%s'}\n", addresses[i]);
        Loaded loaded = load(buffer_cstr(&yaml));
        assert_int_equal(loaded.diagnostics.count, 1);
        assert_int_equal(error_place(loaded.diagnostics.errors[0]).column, 20);
        done(&loaded);
    }
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    Loaded loaded = load_file("config/examples/none.yaml");
    assert_int_equal(loaded.diagnostics.count, 1);
    assert_int_equal(error_class(loaded.diagnostics.errors[0]), ERROR_FILE_NOT_READABLE);
    assert_null(loaded.topology);
    done(&loaded);
    loaded = load_file("config/examples");
    assert_int_equal(error_class(loaded.diagnostics.errors[0]), ERROR_FILE_NOT_READABLE);
    done(&loaded);
    loaded = load_pipeline("p", "");
    done(&loaded);
    loaded = load("pipeline: p\nkafka: {bootstrap: h}\nsql: [{file: none.sql}, {fil: x}, [a]]\n");
    assert_int_equal(loaded.diagnostics.count, 4);
    assert_int_equal(error_class(loaded.diagnostics.errors[0]), ERROR_FILE_NOT_READABLE);
    assert_int_equal(error_place(loaded.diagnostics.errors[0]).column, 14);
    done(&loaded);
}

/* Without the colon, or the blank behind it, YAML reads one text where a mapping is wanted. */
static void secrets_without_a_colon_are_not_shown(void **state)
{
    (void)state;
    const char *const lines[] = {"sasl.password hunter2", "sasl.password:hunter2",
                                 "sasl.username bob\n    sasl.password hunter2"};
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
        AUTO_BUFFER Buffer yaml = {0};
        buffer_printf(&yaml, "pipeline: p\nsql: x\nkafka:\n  bootstrap: h\n  properties:\n    %s\n",
                      lines[i]);
        Loaded loaded = load(buffer_cstr(&yaml));
        assert_int_equal(loaded.diagnostics.count, 1);
        AUTO_BUFFER Buffer printed = {0};
        error_format(loaded.diagnostics.errors[0], &printed);
        assert_null(strstr(buffer_cstr(&printed), "hunter2"));
        done(&loaded);
    }
}

/* A room further on complains about a property: file and line come from here, a secret does not. */
static void errors_of_other_rooms_are_placed(void **state)
{
    (void)state;
    Loaded loaded = load("pipeline: p\nsql: x\nkafka:\n  bootstrap: h\n  properties:\n"
                         "    lingerms: 5\n    sasl.password: hunter2\n");
    assert_int_equal(loaded.diagnostics.count, 0);
    const TopologyProperty *properties = loaded.topology->kafka.properties;
    Error *error = error_at(ERROR_KAFKA_CONFIGURATION, properties[0].name_place, "No.");
    topology_place_error(loaded.topology, error);
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    assert_string_equal(buffer_cstr(&text), "[KAFKA_CONFIGURATION] No. SQLSTATE: 22023\n"
                                            "  at t.yaml:6:5\n"
                                            "        lingerms: 5\n"
                                            "        ^^^^^^^^\n");
    error_free(error);
    buffer_clear(&text);
    error = error_at(ERROR_KAFKA_CONFIGURATION, properties[1].value_place, "No.");
    topology_place_error(loaded.topology, error);
    error_format(error, &text);
    assert_string_equal(buffer_cstr(&text), "[KAFKA_CONFIGURATION] No. SQLSTATE: 22023\n"
                                            "  at t.yaml:7:20\n");
    error_free(error);
    assert_true(config_is_secret_key(properties[1].name));
    done(&loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_design),
        cmocka_unit_test(examples_are_good),
        cmocka_unit_test(every_value_reaches_its_member),
        cmocka_unit_test(the_api_listens_where_one_says),
        cmocka_unit_test(later_issues_say_not_yet),
        cmocka_unit_test(required_keys),
        cmocka_unit_test(unknown_keys_are_helped),
        cmocka_unit_test(ranges_are_sane),
        cmocka_unit_test(backoff_max_is_not_below_backoff),
        cmocka_unit_test(time_zone_is_not_empty),
        cmocka_unit_test(pipeline_names),
        cmocka_unit_test(source_and_table_names),
        cmocka_unit_test(topic_names),
        cmocka_unit_test(starts_and_addresses),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(errors_of_other_rooms_are_placed),
        cmocka_unit_test(secrets_without_a_colon_are_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
