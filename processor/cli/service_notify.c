/* The protocol is one datagram of NAME=VALUE lines to a Unix socket, whose address is a path or,
 * with a leading '@', a name in Linux' abstract space. That is all of it: a library would be a
 * dependency for a sendto. Failures are silent: a service that cannot tell how it does still does
 * it. */
#include "processor/cli/service_notify.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { LOOK_MS = 200 };

struct ServiceNotify {
    Metrics *metrics;
    const atomic_bool *stop;
    int fd; /* -1: nobody listens */
    struct sockaddr_un address;
    socklen_t address_size;
    pthread_t thread;
    bool running;
    atomic_bool closing;
};

/* False: there is no such socket, or its name is too long. */
static bool find_socket(ServiceNotify *notify, const char *name)
{
    size_t size = name == NULL ? 0 : strlen(name);
    if (size < 2 || size >= sizeof notify->address.sun_path || (name[0] != '/' && name[0] != '@')) {
        return false;
    }
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, name, size);
    if (name[0] == '@') {
        notify->address.sun_path[0] = '\0';
    }
    notify->address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return notify->fd >= 0;
}

static void tell(const ServiceNotify *notify, Str text)
{
    (void)sendto(notify->fd, text.data, text.size, MSG_NOSIGNAL,
                 (const struct sockaddr *)&notify->address, notify->address_size);
}

static bool must_end(const ServiceNotify *notify)
{
    return atomic_load(&notify->closing) || atomic_load(notify->stop);
}

static void *watch(void *argument)
{
    ServiceNotify *notify = argument;
    AUTO_BUFFER Buffer told = {0};
    AUTO_BUFFER Buffer text = {0};
    bool ready = false;
    while (!must_end(notify)) {
        buffer_clear(&text);
        bool ready_now = metrics_is_ready(notify->metrics, &text);
        buffer_clear(&text);
        buffer_append_cstr(&text, ready_now && !ready ? "READY=1\nSTATUS=" : "STATUS=");
        size_t status = text.size;
        metrics_describe(notify->metrics, &text);
        buffer_hide_controls(&text, status);
        for (size_t i = status; i < text.size; i++) {
            text.data[i] = (char)(text.data[i] == '\n' ? ' ' : text.data[i]);
        }
        if ((ready_now && !ready) || !str_equal(buffer_str(&text), buffer_str(&told))) {
            tell(notify, buffer_str(&text));
            buffer_clear(&told);
            buffer_append_str(&told, buffer_str(&text));
        }
        ready = ready || ready_now;
        clock_sleep_ms(LOOK_MS);
    }
    tell(notify, STR("STOPPING=1\nSTATUS=stopping"));
    return NULL;
}

ServiceNotify *service_notify_open(Metrics *metrics, const atomic_bool *stop)
{
    ServiceNotify *notify = mem_new(ServiceNotify);
    notify->metrics = metrics;
    notify->stop = stop;
    notify->fd = -1;
    notify->running = find_socket(notify, getenv("NOTIFY_SOCKET")) &&
                      pthread_create(&notify->thread, NULL, watch, notify) == 0;
    return notify;
}

void service_notify_close(ServiceNotify *notify)
{
    if (notify == NULL) {
        return;
    }
    atomic_store(&notify->closing, true);
    if (notify->running) {
        (void)pthread_join(notify->thread, NULL);
    }
    if (notify->fd >= 0) {
        (void)close(notify->fd);
    }
    mem_free(notify);
}
