/* The API over a real socket: paths, methods, what clients do wrong, ports; and many readers while
 * a meter is written. Also run under ThreadSanitizer. */
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "processor/base/clock.h"
#include "processor/base/logger.h"
#include "processor/run/api.h"
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

static int connect_to(const char *address)
{
    const char *port = strrchr(address, ':') + 1;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Everything until the server closes. */
static void receive_all(int fd, Buffer *out)
{
    for (;;) {
        char *to = buffer_reserve(out, 4096);
        ssize_t size = recv(fd, to, 4096, 0);
        if (size <= 0) {
            break;
        }
        out->size += (size_t)size;
    }
    (void)close(fd);
}

/* The whole answer to one request; `rest` are more headers, a blank line, the body. */
static void ask(const Api *api, const char *line, const char *rest, Buffer *out)
{
    int fd = connect_to(api_address(api));
    AUTO_BUFFER Buffer request = {0};
    buffer_printf(&request, "%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%s", line, rest);
    buffer_clear(out);
    send_text(fd, buffer_cstr(&request));
    receive_all(fd, out);
}

static void check(const Api *api, const char *line, const char *rest, int status, const char *part)
{
    AUTO_BUFFER Buffer answer = {0};
    ask(api, line, rest, &answer);
    AUTO_BUFFER Buffer begin = {0};
    buffer_printf(&begin, "HTTP/1.1 %d ", status);
    bool good = str_starts_with(buffer_str(&answer), buffer_str(&begin)) &&
                strstr(buffer_cstr(&answer), part) != NULL;
    if (!good) {
        print_error("%s: expected %d with '%s', got:\n%s\n", line, status, part,
                    buffer_cstr(&answer));
        fail();
    }
}

typedef struct World {
    Rig rig;
    Metrics *metrics;
    Api *api;
} World;

static void world_open(World *world)
{
    rig_init(&world->rig, 1);
    world->metrics = metrics_new(world->rig.program);
    ok(api_open(STR("127.0.0.1:0"), world->metrics, &world->api));
}

static void world_close(World *world)
{
    api_close(world->api);
    metrics_free(world->metrics);
    rig_done(&world->rig);
}

static void paths_and_methods(void **state)
{
    (void)state;
    World world;
    world_open(&world);
    const Api *api = world.api;
    check(api, "GET /", "\r\n", 200, "/metrics");
    check(api, "GET /metrics", "\r\n", 200, "Content-Type: text/plain; version=0.0.4");
    check(api, "GET /metrics?x=1", "\r\n", 200, "\ntidemark_ready{pipeline=\"p\"} 0\n");
    check(api, "GET /healthz", "\r\n", 200, "{\"healthy\":true,\"pipeline\":\"p\"");
    check(api, "GET /readyz", "\r\n", 503,
          "{\"ready\":false,\"pipeline\":\"p\",\"phase\":\"opening\",\"waiting_for\":[{\"flow\":"
          "\"t\",\"state\":\"waiting\"}]}");
    check(api, "GET /nothing", "\r\n", 404, "no such path");
    check(api, "GET /metrics/", "\r\n", 404, "");
    check(api, "GET /api/2.0/pipelines/p", "\r\n", 501, "NOT_YET");
    check(api, "DELETE /metrics", "\r\n", 405, "Allow: GET, HEAD\r\n");
    check(api, "POST /log/level", "Content-Length: 5\r\n\r\ndebug", 405, "Allow: GET, HEAD, PUT");
    metrics_set_phase(world.metrics, PIPELINE_RUNNING, NULL);
    flow_meter_set_state(metrics_flow(world.metrics, 0), FLOW_RUNNING);
    check(api, "GET /readyz", "\r\n", 200, "\"ready\":true");
    flow_meter_set_state(metrics_flow(world.metrics, 0), FLOW_FAILED);
    check(api, "GET /healthz", "\r\n", 503, "{\"flow\":\"t\",\"state\":\"failed\"}");
    AUTO_BUFFER Buffer answer = {0};
    ask(api, "HEAD /metrics", "\r\n", &answer);
    assert_non_null(strstr(buffer_cstr(&answer), "Content-Length: "));
    assert_null(strstr(buffer_cstr(&answer), "tidemark"));
    world_close(&world);
}

static void the_log_level_changes(void **state)
{
    (void)state;
    World world;
    world_open(&world);
    logger_configure(LOG_ERROR, false);
    check(world.api, "GET /log/level", "\r\n", 200, "\r\n\r\nerror\n");
    check(world.api, "PUT /log/level?level=warn", "Content-Length: 0\r\n\r\n", 200, "\nwarn\n");
    assert_int_equal(logger_level(), LOG_WARN);
    check(world.api, "PUT /log/level", "Content-Length: 6\r\n\r\nerror\n", 200, "\nerror\n");
    assert_int_equal(logger_level(), LOG_ERROR);
    static const char *const wrong[] = {"PUT /log/level?level=loud",
                                        "PUT /log/level?level=", "PUT /log/level?level=DEBUG",
                                        "PUT /log/level"};
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        check(world.api, wrong[i], "Content-Length: 0\r\n\r\n", 400, "debug, info, warn or error");
    }
    assert_int_equal(logger_level(), LOG_ERROR);
    logger_configure(LOG_INFO, false);
    world_close(&world);
}

static void clients_that_do_wrong(void **state)
{
    (void)state;
    World world;
    world_open(&world);
    /* A large body, in pieces: refused, and it takes no memory. */
    int fd = connect_to(api_address(world.api));
    send_text(fd, "PUT /log/level HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                  "Content-Length: 1000000\r\n\r\n");
    char piece[1001];
    memset(piece, 'x', 1000);
    piece[1000] = '\0';
    for (int i = 0; i < 1000; i++) {
        if (send(fd, piece, 1000, MSG_NOSIGNAL) < 0) {
            break;
        }
    }
    AUTO_BUFFER Buffer answer = {0};
    receive_all(fd, &answer);
    assert_true(str_starts_with(buffer_str(&answer), STR("HTTP/1.1 413 ")));
    /* Noise, a header without end, a client that says nothing: others are answered meanwhile. */
    int noise = connect_to(api_address(world.api));
    send_text(noise, "\x01\x02\x03 \r\n\r\n");
    int endless = connect_to(api_address(world.api));
    send_text(endless, "GET / HTTP/1.1\r\nX: ");
    for (int i = 0; i < 100 && send(endless, piece, 1000, MSG_NOSIGNAL) > 0; i++) {
    }
    int silent = connect_to(api_address(world.api));
    int gone = connect_to(api_address(world.api));
    send_text(gone, "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
    (void)close(gone);
    check(world.api, "GET /healthz", "\r\n", 200, "true");
    (void)close(noise);
    (void)close(endless);
    check(world.api, "GET /healthz", "\r\n", 200, "true");
    world_close(&world); /* does not wait for the silent one */
    (void)close(silent);
}

static void ports(void **state)
{
    (void)state;
    World world;
    world_open(&world);
    const char *address = api_address(world.api);
    assert_true(strncmp(address, "127.0.0.1:", 10) == 0);
    assert_true(strtoul(address + 10, NULL, 10) > 0);
    Api *second = NULL;
    fails(api_open(str_from(address), world.metrics, &second), ERROR_API_LISTEN,
          "another process has this port");
    fails(api_open(STR("192.0.2.1:0"), world.metrics, &second), ERROR_API_LISTEN, "192.0.2.1:0");
    fails(api_open(STR("no-such-host.invalid:1"), world.metrics, &second), ERROR_API_LISTEN,
          "no-such-host.invalid:1");
    assert_null(second);
    /* The port of one that has just ended is free again. */
    AUTO_BUFFER Buffer same = {0};
    buffer_append_cstr(&same, address);
    check(world.api, "GET /", "\r\n", 200, "tidemark");
    api_close(world.api);
    ok(api_open(buffer_str(&same), world.metrics, &world.api));
    check(world.api, "GET /", "\r\n", 200, "tidemark");
    world_close(&world);
}

/* -------------------------------------------------------------------- readers and writers ---- */

enum { WRITES = 3000, READERS = 3 };

static void *write_meter(void *argument)
{
    World *world = argument;
    FlowMeter *meter = metrics_flow(world->metrics, 0);
    FlowMetrics counts = {.source_rows = 3, .output_rows = 2, .late_rows = 1, .epochs = 1};
    for (int i = 1; i <= WRITES; i++) {
        flow_meter_begin_commit(meter);
        flow_meter_set_memory(meter, MEMORY_OVERLAY, (size_t)i);
        flow_meter_add_epoch(meter, i, &counts);
        flow_meter_set_end(meter, 0, i % 40, i);
        flow_meter_set_restore(meter, (uint64_t)i, WRITES, i, i % 2 == 0);
        if (i % 7 == 0) {
            Error *error = error_new(ERROR_KAFKA_TIMED_OUT, "failure %d", i);
            flow_meter_add_error(meter, error_set_disposition(error, ERROR_RETRY), true);
            error_free(error);
            metrics_set_phase(world->metrics, PIPELINE_WAITING_KAFKA, "away");
        }
    }
    return NULL;
}

static void *read_all(void *argument)
{
    static const char *const lines[] = {"GET /metrics", "GET /readyz", "GET /healthz", "GET /"};
    const World *world = argument;
    AUTO_BUFFER Buffer answer = {0};
    for (int i = 0; i < 40; i++) {
        ask(world->api, lines[i % 4], "\r\n", &answer);
        assert_true(str_starts_with(buffer_str(&answer), STR("HTTP/1.1 ")));
    }
    return NULL;
}

static void readers_beside_a_writer(void **state)
{
    (void)state;
    World world;
    world_open(&world);
    pthread_t writer;
    pthread_t readers[READERS];
    assert_int_equal(pthread_create(&writer, NULL, write_meter, &world), 0);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, read_all, &world), 0);
    }
    (void)pthread_join(writer, NULL);
    for (int i = 0; i < READERS; i++) {
        (void)pthread_join(readers[i], NULL);
    }
    check(world.api, "GET /metrics", "\r\n", 200,
          "\ntidemark_rows_in_total{pipeline=\"p\",flow=\"t\"} 9000\n");
    check(world.api, "GET /metrics", "\r\n", 200,
          "\ntidemark_commit_duration_seconds_count{pipeline=\"p\",flow=\"t\"} 3000\n");
    check(world.api, "GET /metrics", "\r\n", 200,
          "\ntidemark_flow_errors_total{pipeline=\"p\",flow=\"t\",kind=\"retry\"} 428\n");
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_and_methods),       cmocka_unit_test(the_log_level_changes),
        cmocka_unit_test(clients_that_do_wrong),   cmocka_unit_test(ports),
        cmocka_unit_test(readers_beside_a_writer),
    };
    return cmocka_run_group_tests_name("run/api", tests, NULL, NULL);
}
