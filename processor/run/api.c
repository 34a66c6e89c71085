/* The paths of the API. Reading is GET. What changes something is PUT, which a page in an
 * operator's browser cannot send to another origin without being allowed to. */
#include "processor/run/api.h"

#include <assert.h>

#include "config/listen_address.h"
#include "processor/base/logger.h"
#include "processor/base/memory.h"
#include "processor/run/http_server.h"

#include "processor/base/banned.h"

struct Api {
    Metrics *metrics;
    HttpServer *server;
};

static const char json_type[] = "application/json";

static void get_metrics(Api *api, const HttpRequest *request, HttpResponse *response)
{
    (void)request;
    response->content_type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(api->metrics, &response->body);
}

static void get_health(Api *api, const HttpRequest *request, HttpResponse *response)
{
    (void)request;
    response->content_type = json_type;
    response->status = metrics_is_healthy(api->metrics, &response->body) ? 200 : 503;
}

static void get_readiness(Api *api, const HttpRequest *request, HttpResponse *response)
{
    (void)request;
    response->content_type = json_type;
    response->status = metrics_is_ready(api->metrics, &response->body) ? 200 : 503;
}

static void get_level(Api *api, const HttpRequest *request, HttpResponse *response)
{
    (void)api;
    (void)request;
    buffer_printf(&response->body, "%s\n", logger_level_name(logger_level()));
}

/* The level stands in the query or is the body. */
static void put_level(Api *api, const HttpRequest *request, HttpResponse *response)
{
    const char *query = http_query(request, "level");
    Str word = str_trim(query == NULL ? request->body : str_from(query));
    LogLevel level = LOG_INFO;
    if (!logger_parse_level(word, &level)) {
        response->status = 400;
        buffer_append_cstr(&response->body, "a level is debug, info, warn or error\n");
        return;
    }
    logger_set_level(level);
    logger_write(level, "log level is %s now", logger_level_name(level)); /* said at any level */
    get_level(api, request, response);
}

static void get_index(Api *api, const HttpRequest *request, HttpResponse *response);

typedef struct Route {
    const char *path;
    const char *help;
    const char *allow;
    void (*get)(Api *api, const HttpRequest *request, HttpResponse *response);
    void (*put)(Api *api, const HttpRequest *request, HttpResponse *response); /* or NULL */
} Route;

static const Route routes[] = {
    {"/", "this page", "GET, HEAD", get_index, NULL},
    {"/metrics", "numbers for Prometheus", "GET, HEAD", get_metrics, NULL},
    {"/healthz", "200 while no flow is dead, else 503", "GET, HEAD", get_health, NULL},
    {"/readyz", "200 when every flow has started and commits, else 503", "GET, HEAD", get_readiness,
     NULL},
    {"/log/level", "the log level; PUT /log/level?level=debug changes it", "GET, HEAD, PUT",
     get_level, put_level},
};

static void get_index(Api *api, const HttpRequest *request, HttpResponse *response)
{
    (void)request;
    buffer_printf(&response->body, "tidemark %s\n", TIDEMARK_VERSION);
    metrics_describe(api->metrics, &response->body);
    buffer_append_cstr(&response->body, "\n\n");
    for (size_t i = 0; i < ARRAY_LENGTH(routes); i++) {
        buffer_printf(&response->body, "%-12s %s\n", routes[i].path, routes[i].help);
    }
}

static void answer_not_found(const HttpRequest *request, HttpResponse *response)
{
    static const char rest[] = "/api/";
    bool is_rest = strncmp(request->path, rest, sizeof rest - 1) == 0;
    response->status = is_rest ? 501 : 404;
    buffer_append_cstr(&response->body, is_rest ? "NOT_YET: the REST API is not supported yet\n"
                                                : "there is no such path; / lists them\n");
}

static void handle(void *context, const HttpRequest *request, HttpResponse *response)
{
    for (size_t i = 0; i < ARRAY_LENGTH(routes); i++) {
        const Route *route = &routes[i];
        if (strcmp(route->path, request->path) != 0) {
            continue;
        }
        if (strcmp(request->method, "GET") == 0) {
            route->get(context, request, response);
        } else if (strcmp(request->method, "PUT") == 0 && route->put != NULL) {
            route->put(context, request, response);
        } else {
            response->status = 405;
            response->allow = route->allow;
            buffer_printf(&response->body, "%s answers %s\n", route->path, route->allow);
        }
        return;
    }
    answer_not_found(request, response);
}

Error *api_open(Str listen, Metrics *metrics, Api **ret_api)
{
    Str host = STR_NULL;
    Str port = STR_NULL;
    bool good = listen_address_parse(listen, &host, &port);
    assert(good); /* the topology was checked */
    (void)good;
    Api *api = mem_new(Api);
    api->metrics = metrics;
    Error *error = http_server_open(host, port, handle, api, &api->server);
    if (error != NULL) {
        mem_free(api);
        return error;
    }
    *ret_api = api;
    return NULL;
}

void api_close(Api *api)
{
    if (api != NULL) {
        http_server_close(api->server);
        mem_free(api);
    }
}

const char *api_address(const Api *api)
{
    return http_server_address(api->server);
}
