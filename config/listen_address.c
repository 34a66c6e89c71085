/* The parts of an address to listen on. */
#include "config/listen_address.h"

#include <stdint.h>

#include "processor/base/banned.h"

static bool is_port(Str text)
{
    int64_t number = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
    }
    return text.size > 0 && text.size <= 5 && str_to_int64(text, &number) && number <= 65535;
}

/* A name or an IPv4 address; inside brackets an IPv6 address. */
static bool is_host(Str text, bool bracketed)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c <= ' ' || c == 0x7F || c == '/' || c == '[' || c == ']' || c == '@' ||
            (c == ':' && !bracketed)) {
            return false;
        }
    }
    return text.size > 0 || !bracketed;
}

bool listen_address_parse(Str listen, Str *ret_host, Str *ret_port)
{
    size_t colon = listen.size;
    while (colon > 0 && listen.data[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return false;
    }
    Str host = {listen.data, colon - 1};
    Str port = {listen.data + colon, listen.size - colon};
    bool bracketed = host.size >= 2 && host.data[0] == '[' && host.data[host.size - 1] == ']';
    if (bracketed) {
        host = (Str){host.data + 1, host.size - 2};
    }
    if (!is_host(host, bracketed) || !is_port(port)) {
        return false;
    }
    *ret_host = host;
    *ret_port = port;
    return true;
}

bool listen_address_is_none(Str listen)
{
    return str_equal(listen, STR("none"));
}
