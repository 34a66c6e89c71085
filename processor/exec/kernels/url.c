/* Addresses: url_encode, url_decode, parse_url. An address is taken apart as Java's URI does it: by
 * RFC 2396, with every character beyond ASCII let pass. */
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* ---- Encoding ---- */

static void url_encode(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        buffer_clear(&out);
        for (size_t k = 0; k < s.size; k++) {
            char c = s.data[k];
            if (is_letter(c) || char_is_digit(c) || is_one_of(c, "-_.*")) {
                buffer_append_byte(&out, c);
            } else if (c == ' ') {
                buffer_append_byte(&out, '+');
            } else {
                buffer_printf(&out, "%%%02X", (unsigned char)c);
            }
        }
        text_store(call, i, buffer_str(&out));
    }
}

static bool decode_url(Str s, Buffer *out)
{
    for (size_t i = 0; i < s.size; i++) {
        if (s.data[i] != '%') {
            buffer_append_byte(out, s.data[i] == '+' ? ' ' : s.data[i]);
            continue;
        }
        int high = s.size - i > 2 ? char_hex_value(s.data[i + 1]) : -1;
        int low = s.size - i > 2 ? char_hex_value(s.data[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return false;
        }
        buffer_append_byte(out, (char)(unsigned char)(high * 16 + low));
        i += 2;
    }
    return true;
}

static void url_decode(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        buffer_clear(&out);
        if (decode_url(s, &out)) {
            text_store(call, i, buffer_str(&out));
        } else if (!kernel_forgives(call, i)) {
            kernel_fail(
                call, i,
                error_new(ERROR_CANNOT_DECODE_URL,
                          "The provided URL cannot be decoded: %.*s. Please ensure that the "
                          "URL is properly formatted and try again.",
                          STR_ARG(s)));
        }
    }
}

const Kernel kernel_url_encode = {.run = url_encode};
const Kernel kernel_url_decode = {.run = url_decode};
const Kernel kernel_try_url_decode = {.run = url_decode, .tolerant = true};

/* ---- Taking apart ---- */

/* Parts that are not there are STR_NULL. */
typedef struct Url {
    Str scheme;
    Str authority;
    Str user_info;
    Str host;
    Str path;
    Str query;
    Str fragment;
} Url;

static bool has_legal_characters(Str s)
{
    for (size_t i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.data[i];
        bool hex = c != '%' || (s.size - i > 2 && char_hex_value(s.data[i + 1]) >= 0 &&
                                char_hex_value(s.data[i + 2]) >= 0);
        if (c <= ' ' || c == 0x7F || is_one_of((char)c, "<>\"{}|\\^`") || !hex) {
            return false;
        }
    }
    return true;
}

/* Cuts what stands behind the first byte of `set` off; STR_NULL when there is none. */
static Str cut_behind(Str *s, char separator)
{
    for (size_t i = 0; i < s->size; i++) {
        if (s->data[i] == separator) {
            Str rest = {s->data + i + 1, s->size - i - 1};
            s->size = i;
            return rest;
        }
    }
    return STR_NULL;
}

/* The scheme before the first ':', if it is one; *s is what follows. False: malformed. */
static bool cut_scheme(Str *s, Str *ret)
{
    size_t end = 0;
    while (end < s->size && !is_one_of(s->data[end], ":/?#")) {
        end++;
    }
    if (end == s->size || s->data[end] != ':') {
        return true;
    }
    for (size_t i = 0; i < end; i++) {
        char c = s->data[i];
        if (!is_letter(c) && (i == 0 || (!char_is_digit(c) && !is_one_of(c, "+-.")))) {
            return false;
        }
    }
    if (end == 0 || end + 1 == s->size) {
        return false;
    }
    *ret = (Str){s->data, end};
    *s = (Str){s->data + end + 1, s->size - end - 1};
    return true;
}

static bool is_host(Str host)
{
    bool bracketed = host.size > 2 && host.data[0] == '[';
    for (size_t i = 0; i < host.size && !bracketed; i++) {
        char c = host.data[i];
        if (!is_letter(c) && !char_is_digit(c) && !is_one_of(c, "-.")) {
            return false;
        }
    }
    return host.size > 0 && (!bracketed || host.data[host.size - 1] == ']');
}

static bool is_port(Str port)
{
    for (size_t i = 0; i < port.size; i++) {
        if (!char_is_digit(port.data[i])) {
            return false;
        }
    }
    return true;
}

/* user@host:port; an authority of another form has no host. */
static void read_authority(Url *url)
{
    Str host = url->authority;
    Str user = STR_NULL;
    for (size_t i = 0; i < host.size; i++) {
        if (host.data[i] == '@') {
            user = (Str){host.data, i};
            host = (Str){host.data + i + 1, host.size - i - 1};
            break;
        }
    }
    size_t end = host.size;
    while (end > 0 && host.data[end - 1] != ':' && host.data[end - 1] != ']') {
        end--;
    }
    if (end > 0 && host.data[end - 1] == ':') {
        if (!is_port((Str){host.data + end, host.size - end})) {
            return;
        }
        host.size = end - 1;
    }
    if (is_host(host)) {
        url->host = host;
        url->user_info = user;
    }
}

static bool parse(Str s, Url *ret)
{
    *ret = (Url){.scheme = STR_NULL};
    if (!has_legal_characters(s)) {
        return false;
    }
    ret->fragment = cut_behind(&s, '#');
    if (!cut_scheme(&s, &ret->scheme)) {
        return false;
    }
    if (ret->scheme.data != NULL && s.data[0] != '/') {
        return true; /* opaque: mailto:a@b */
    }
    ret->query = cut_behind(&s, '?');
    ret->path = s;
    if (str_starts_with(s, STR("//"))) {
        Str rest = {s.data + 2, s.size - 2};
        size_t end = str_find_byte(rest, '/');
        end = end > rest.size ? rest.size : end;
        ret->authority = (Str){rest.data, end};
        ret->path = (Str){rest.data + end, rest.size - end};
        read_authority(ret);
    }
    return true;
}

/* ---- parse_url ---- */

/* The value behind `key=` in a query. */
static Str query_value(Str query, Str key)
{
    while (query.data != NULL) {
        Str rest = cut_behind(&query, '&');
        if (query.size > key.size && str_starts_with(query, key) && query.data[key.size] == '=') {
            return (Str){query.data + key.size + 1, query.size - key.size - 1};
        }
        query = rest;
    }
    return STR_NULL;
}

static Str part_of(const Url *url, Str part)
{
    const struct {
        const char *name;
        Str value;
    } parts[] = {{"HOST", url->host},         {"PATH", url->path},
                 {"QUERY", url->query},       {"REF", url->fragment},
                 {"PROTOCOL", url->scheme},   {"AUTHORITY", url->authority},
                 {"USERINFO", url->user_info}};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        if (str_equal(part, str_from(parts[i].name))) {
            return parts[i].value;
        }
    }
    if (str_equal(part, STR("FILE")) && url->query.data != NULL) {
        /* Path and query stand side by side in the address. */
        return (Str){url->path.data, url->path.size + 1 + url->query.size};
    }
    return str_equal(part, STR("FILE")) ? url->path : STR_NULL;
}

static void parse_url(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        Str part = STR_ARGUMENT(call, 1, i);
        Url url;
        if (!parse(s, &url)) {
            if (!kernel_forgives(call, i)) {
                kernel_fail(call, i,
                            error_new(ERROR_INVALID_URL,
                                      "The url is invalid: %.*s. Use `try_parse_url` to tolerate "
                                      "invalid URL and return NULL instead.",
                                      STR_ARG(s)));
            }
            continue;
        }
        Str value = part_of(&url, part);
        if (call->argument_count > 2) {
            bool query = str_equal(part, STR("QUERY"));
            value = query ? query_value(url.query, STR_ARGUMENT(call, 2, i)) : STR_NULL;
        }
        RESULT(call, Str)[i] = value;
        if (value.data == NULL) {
            vector_set_null(call->result, call->arena, i);
        }
    }
}

const Kernel kernel_parse_url = {.run = parse_url};
const Kernel kernel_try_parse_url = {.run = parse_url, .tolerant = true};
