/* Scans a scalar for references to variables, left to right, and copies the rest. */
#include "config/config_expand.h"

#include <stdlib.h>

#include "processor/base/banned.h"

static bool is_name_char(char c, bool first)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (!first && c >= '0' && c <= '9');
}

static size_t name_bytes(Str text)
{
    size_t size = 0;
    while (size < text.size && is_name_char(text.data[size], size == 0)) {
        size++;
    }
    return size;
}

static SourcePlace place_of(Str text, size_t at, size_t size)
{
    SourcePlace place = {1, 1, (int)size};
    for (size_t i = 0; i < at; i++) {
        if (text.data[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)text.data[i] & 0xC0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

typedef struct Reference {
    Str name;
    Str fallback; /* STR_NULL: none */
    size_t size;  /* of the whole ${…} */
} Reference;

/* `rest` begins with "${". */
static bool parse_reference(Str rest, Reference *ret)
{
    Str body = {rest.data + 2, rest.size - 2};
    size_t close = str_find_byte(body, '}');
    if (close == body.size) {
        return false;
    }
    body.size = close;
    size_t name = name_bytes(body);
    Str after = {body.data + name, body.size - name};
    if (name == 0 || (after.size > 0 && !str_starts_with(after, STR(":-")))) {
        return false;
    }
    Str fallback = after.size > 0 ? (Str){after.data + 2, after.size - 2} : STR_NULL;
    *ret = (Reference){{body.data, name}, fallback, close + 3};
    return true;
}

static Error *append_variable(const Reference *reference, const char *key, Arena *arena,
                              Buffer *out)
{
    const char *name = arena_copy_cstr(arena, reference->name);
    const char *value = getenv(name);
    if (value == NULL && reference->fallback.data == NULL) {
        Error *error =
            error_new(ERROR_CONFIG_MISSING_VARIABLE,
                      "`%s` needs the environment variable %s, which is not set.", key, name);
        return error_set_hint(error, "set it, or give a default: ${%s:-…}", name);
    }
    Str text = value == NULL ? reference->fallback : str_from(value);
    if (!str_is_utf8(text)) {
        return error_new(ERROR_CONFIG_INVALID_VALUE,
                         "The environment variable %s, used in `%s`, is not valid UTF-8.", name,
                         key);
    }
    buffer_append_str(out, text);
    return NULL;
}

Error *config_expand(Str text, const char *key, Arena *arena, Str *ret_text)
{
    if (memmem(text.data, text.size, "${", 2) == NULL) {
        *ret_text = text;
        return NULL;
    }
    AUTO_BUFFER Buffer out = {0};
    size_t at = 0;
    while (at < text.size) {
        Str rest = {text.data + at, text.size - at};
        Reference reference = {0};
        if (str_starts_with(rest, STR("$${"))) {
            buffer_append_cstr(&out, "${");
            at += 3;
        } else if (!str_starts_with(rest, STR("${"))) {
            buffer_append_byte(&out, rest.data[0]);
            at++;
        } else if (parse_reference(rest, &reference)) {
            Error *error = append_variable(&reference, key, arena, &out);
            if (error != NULL) {
                return error_set_place(error, place_of(text, at, reference.size));
            }
            at += reference.size;
        } else {
            Error *error = error_at(ERROR_CONFIG_INVALID_VALUE, place_of(text, at, 2),
                                    "In `%s`, `${` does not begin a variable.", key);
            return error_set_hint(error, "write ${NAME} or ${NAME:-default}; $${ for a plain ${");
        }
    }
    *ret_text = arena_copy_str(arena, buffer_str(&out));
    return NULL;
}
