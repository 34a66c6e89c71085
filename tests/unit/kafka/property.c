/* kafka_check_property: what the topology's `kafka.properties` may say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "connectors/kafka/kafka.h"

#include "processor/base/banned.h"

static void accepts(const char *name, const char *value)
{
    Error *error = kafka_check_property(name, value);
    if (error != NULL) {
        fail_msg("%s = %s: %s", name, value, error_message(error));
    }
}

/* The refusal's message and hint must contain these; NULL = no demand. */
static void refuses(const char *name, const char *value, const char *message, const char *hint)
{
    AUTO(error) Error *error = kafka_check_property(name, value);
    assert_non_null(error);
    assert_int_equal(error_class(error), ERROR_KAFKA_CONFIGURATION);
    assert_int_equal(error_disposition(error), ERROR_USER);
    if (strstr(error_message(error), message) == NULL) {
        fail_msg("%s: `%s` does not contain `%s`", name, error_message(error), message);
    }
    if (hint != NULL) {
        assert_non_null(error_hint(error));
        if (strstr(error_hint(error), hint) == NULL) {
            fail_msg("%s: hint `%s` does not contain `%s`", name, error_hint(error), hint);
        }
    }
}

static void the_librarys_properties_are_accepted(void **state)
{
    (void)state;
    accepts("security.protocol", "SASL_SSL");
    accepts("sasl.mechanism", "SCRAM-SHA-512");
    accepts("sasl.mechanisms", "PLAIN");
    accepts("sasl.password", "p");
    accepts("ssl.ca.location", "somewhere.pem");
    accepts("compression.type", "lz4");
    accepts("linger.ms", "20");
    accepts("fetch.wait.max.ms", "50");
    accepts("debug", "broker");
}

static void an_unknown_name_gets_the_nearest(void **state)
{
    (void)state;
    refuses("security.protokol", "SSL", "`security.protokol`", "`security.protocol`");
    refuses("linger", "5", "`linger`", "`linger.ms`");
    refuses("sasl.user", "x", "`sasl.user`", "`sasl.username`");
    AUTO(error) Error *error = kafka_check_property("something.entirely.else", "1");
    assert_non_null(error);
    assert_null(error_hint(error));
}

static void a_bad_value_says_so(void **state)
{
    (void)state;
    refuses("linger.ms", "soon", "linger.ms", NULL);
    refuses("compression.type", "brotli", "compression.type", NULL);
    refuses("linger.ms", "-5", "linger.ms", NULL);
}

static void what_tidemark_sets_names_the_topology_key(void **state)
{
    (void)state;
    refuses("bootstrap.servers", "x:1", "bootstrap.servers", "kafka.bootstrap");
    refuses("metadata.broker.list", "x:1", "metadata.broker.list", "kafka.bootstrap");
    refuses("group.id", "g", "group.id", "pipeline");
    refuses("transactional.id", "t", "transactional.id", "pipeline");
    refuses("isolation.level", "read_uncommitted", "isolation.level", "read committed");
    refuses("enable.auto.commit", "true", "enable.auto.commit", "commit.interval");
    refuses("auto.offset.reset", "earliest", "auto.offset.reset", "start");
    refuses("acks", "0", "acks", "in-sync");
    refuses("enable.idempotence", "false", "enable.idempotence", "idempotent");
    refuses("queued.max.messages.kbytes", "1", "queued.max", "state.memory");
}

static void secrets_stay_secret(void **state)
{
    (void)state;
    static const char *const names[] = {"ssl.key.pem", "ssl.key.password", "sasl.password",
                                        "sasl.oauthbearer.client.secret", "ssl.keystore.password"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        AUTO(error) Error *error = kafka_check_property(names[i], "hunter2\nhunter2");
        if (error == NULL) {
            continue;
        }
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        assert_null(strstr(buffer_cstr(&text), "hunter2"));
    }
    /* An unknown name that looks like a secret: neither does the value appear. */
    AUTO(error) Error *error = kafka_check_property("sasl.pasword", "hunter2");
    assert_non_null(error);
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    assert_null(strstr(buffer_cstr(&text), "hunter2"));
    assert_non_null(strstr(buffer_cstr(&text), "`sasl.password`"));
}

static void open_refuses_what_the_check_refuses(void **state)
{
    (void)state;
    Log *log = NULL;
    const KafkaProperty own = {"acks", "1"};
    AUTO(error) Error *error = kafka_log_open("127.0.0.1:1", &own, 1, &log);
    assert_non_null(error);
    assert_int_equal(error_class(error), ERROR_KAFKA_CONFIGURATION);
    assert_null(log);
    /* Properties that are wrong only together are found when the client is made. */
    const KafkaProperty missing[] = {{"security.protocol", "ssl"},
                                     {"ssl.ca.location", "/does/not/exist.pem"}};
    AUTO(error) Error *second = kafka_log_open("127.0.0.1:1", missing, 2, &log);
    assert_non_null(second);
    assert_int_equal(error_class(second), ERROR_KAFKA_CONFIGURATION);
    assert_non_null(strstr(error_message(second), "ssl.ca.location"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_librarys_properties_are_accepted),
        cmocka_unit_test(an_unknown_name_gets_the_nearest),
        cmocka_unit_test(a_bad_value_says_so),
        cmocka_unit_test(what_tidemark_sets_names_the_topology_key),
        cmocka_unit_test(secrets_stay_secret),
        cmocka_unit_test(open_refuses_what_the_check_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
