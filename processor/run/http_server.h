/* HttpServer: a small HTTP/1.1 server on a thread of its own (libmicrohttpd). One handler answers
 * every request; a slow or silent client holds up nobody and is dropped after a while. */
#ifndef RUN_HTTP_SERVER_H
#define RUN_HTTP_SERVER_H

#include "processor/base/buffer.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

typedef struct HttpServer HttpServer;

enum { HTTP_BODY_MAX = 4096 }; /* larger ones are refused (413) */

typedef struct HttpRequest {
    const char *method; /* "GET" also for HEAD */
    const char *path;   /* decoded, without the query */
    Str body;
    const void *connection; /* for http_query */
} HttpRequest;

typedef struct HttpResponse {
    int status;               /* 200 at first */
    const char *content_type; /* text/plain at first; a constant */
    const char *allow;        /* for 405: the methods there are; a constant */
    Buffer body;
} HttpResponse;

/* Runs on the server's thread. */
typedef void HttpHandler(void *context, const HttpRequest *request, HttpResponse *response);

/* The value of a query parameter, NULL when there is none; lives as long as the request. */
const char *http_query(const HttpRequest *request, const char *name);

/* Listens; an empty host is every address, port 0 any free one. API_LISTEN: the address cannot be
 * had, with the reason. */
NODISCARD Error *http_server_open(Str host, Str port, HttpHandler *handler, void *context,
                                  HttpServer **ret_server);
/* Waits for requests in hand. */
void http_server_close(HttpServer *server);
/* Where it listens: "127.0.0.1:8088", the real port. */
const char *http_server_address(const HttpServer *server);

DEFINE_AUTO(http_server, HttpServer, http_server_close)

#endif
