/* HTTP on libmicrohttpd, which only this file knows. The socket is ours, so that the reason why an
 * address cannot be had is told, and the port that "0" became is known. */
#include "processor/run/http_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    BACKLOG = 64,
    CONNECTIONS_MAX = 64,
    CONNECTION_MEMORY_BYTES = 16 * 1024, /* bounds the header of a request */
    IDLE_S = 15,
};

struct HttpServer {
    struct MHD_Daemon *daemon;
    HttpHandler *handler;
    void *context;
    char address[128];
};

/* One request while its body arrives. */
typedef struct Exchange {
    Buffer body;
    bool too_large;
} Exchange;

/* --------------------------------------------------------------------------- address ---- */

static Error *cannot_listen(Str host, Str port, const char *reason)
{
    Error *error = error_new(ERROR_API_LISTEN, "The API cannot listen on %.*s:%.*s: %s.",
                             STR_ARG(host), STR_ARG(port), reason);
    return error_set_hint(error, "give `api.listen` another HOST:PORT; port 0 takes any free one, "
                                 "`none` goes without");
}

/* A socket that listens on the address, or -1 with errno. */
static int listen_on(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    /* A port whose last owner has just ended is free. */
    int yes = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int reason = errno;
        (void)close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

static Error *open_socket(Str host, Str port, int *ret_fd)
{
    AUTO_BUFFER Buffer host_text = {0};
    AUTO_BUFFER Buffer port_text = {0};
    buffer_append_str(&host_text, host);
    buffer_append_str(&port_text, port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    int code = getaddrinfo(host.size == 0 ? NULL : buffer_cstr(&host_text), buffer_cstr(&port_text),
                           &hints, &addresses);
    if (code != 0) {
        return cannot_listen(host, port, gai_strerror(code));
    }
    int fd = -1;
    int reason = 0;
    for (const struct addrinfo *at = addresses; at != NULL && fd < 0; at = at->ai_next) {
        fd = listen_on(at);
        reason = fd < 0 && reason == 0 ? errno : reason;
    }
    freeaddrinfo(addresses);
    if (fd < 0) {
        return cannot_listen(
            host, port, reason == EADDRINUSE ? "another process has this port" : strerror(reason));
    }
    *ret_fd = fd;
    return NULL;
}

static void note_address(HttpServer *server, int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    char host[NI_MAXHOST] = "?";
    char port[NI_MAXSERV] = "?";
    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        (void)getnameinfo((struct sockaddr *)&address, size, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
    }
    bool v6 = address.ss_family == AF_INET6;
    (void)snprintf(server->address, sizeof server->address, v6 ? "[%.90s]:%s" : "%.90s:%s", host,
                   port);
}

/* -------------------------------------------------------------------------- requests ---- */

const char *http_query(const HttpRequest *request, const char *name)
{
    struct MHD_Connection *connection = (struct MHD_Connection *)(uintptr_t)request->connection;
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result send_response(struct MHD_Connection *connection, HttpResponse *response)
{
    const char *body = response->body.size == 0 ? "" : response->body.data;
    struct MHD_Response *answer = MHD_create_response_from_buffer(
        response->body.size, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
    if (answer == NULL) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(answer, "Content-Type", response->content_type);
    (void)MHD_add_response_header(answer, "Cache-Control", "no-store");
    (void)MHD_add_response_header(answer, "X-Content-Type-Options", "nosniff");
    if (response->allow != NULL) {
        (void)MHD_add_response_header(answer, "Allow", response->allow);
    }
    enum MHD_Result result = MHD_queue_response(connection, (unsigned int)response->status, answer);
    MHD_destroy_response(answer);
    return result;
}

static enum MHD_Result answer_request(HttpServer *server, struct MHD_Connection *connection,
                                      const char *path, const char *method,
                                      const Exchange *exchange)
{
    HttpResponse response = {.status = 200, .content_type = "text/plain; charset=utf-8"};
    if (exchange->too_large) {
        response.status = 413;
        buffer_append_cstr(&response.body, "the body is too large\n");
    } else {
        HttpRequest request = {.method = strcmp(method, "HEAD") == 0 ? "GET" : method,
                               .path = path,
                               .body = buffer_str(&exchange->body),
                               .connection = connection};
        server->handler(server->context, &request, &response);
    }
    enum MHD_Result result = send_response(connection, &response);
    buffer_done(&response.body);
    return result;
}

/* libmicrohttpd calls this once for the header, once for each piece of the body, once at the end.
 */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *piece, size_t *piece_size, void **exchange_at)
{
    (void)version;
    Exchange *exchange = *exchange_at;
    if (exchange == NULL) {
        *exchange_at = mem_new(Exchange);
        return MHD_YES;
    }
    if (*piece_size > 0) {
        exchange->too_large =
            exchange->too_large || *piece_size > HTTP_BODY_MAX - exchange->body.size;
        if (!exchange->too_large) {
            buffer_append(&exchange->body, piece, *piece_size);
        }
        *piece_size = 0;
        return MHD_YES;
    }
    return answer_request(context, connection, path, method, exchange);
}

static void on_end(void *context, struct MHD_Connection *connection, void **exchange_at,
                   enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    (void)code;
    Exchange *exchange = *exchange_at;
    if (exchange != NULL) {
        buffer_done(&exchange->body);
        mem_free(exchange);
        *exchange_at = NULL;
    }
}

Error *http_server_open(Str host, Str port, HttpHandler *handler, void *context,
                        HttpServer **ret_server)
{
    int fd = -1;
    TRY(open_socket(host, port, &fd));
    HttpServer *server = mem_new(HttpServer);
    server->handler = handler;
    server->context = context;
    note_address(server, fd);
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, on_request, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_S, MHD_OPTION_NOTIFY_COMPLETED, on_end,
        NULL, MHD_OPTION_END);
    if (server->daemon == NULL) {
        (void)close(fd);
        mem_free(server);
        return cannot_listen(host, port, "its thread could not be started");
    }
    *ret_server = server;
    return NULL;
}

void http_server_close(HttpServer *server)
{
    if (server != NULL) {
        MHD_stop_daemon(server->daemon);
        mem_free(server);
    }
}

const char *http_server_address(const HttpServer *server)
{
    return server->address;
}
