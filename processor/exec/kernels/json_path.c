/* get_json_object, json_array_length, json_object_keys: looking into JSON text without reading all
 * of it.
 *
 * A path is a list of steps; the text is walked once, and what the path leads to is written as it
 * is met. What * gives is Hive's rule, which Spark keeps: one match stands alone, several become an
 * array, and [*][*] flattens arrays into one. */
#include "processor/exec/kernels/json_token.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

/* Unlike from_json, these do not take NaN for a number. */
static const JsonSyntax path_syntax = {.no_nan = true};

/* ---- Paths ---- */

typedef enum StepKind { STEP_NAME, STEP_INDEX, STEP_ALL_ELEMENTS, STEP_ALL_FIELDS } StepKind;

typedef struct PathStep {
    StepKind kind;
    Str name;
    int64_t index;
} PathStep;

enum { PATH_STEPS_MAX = 256 };

typedef struct Path {
    PathStep steps[PATH_STEPS_MAX];
    size_t count;
    bool valid;
} Path;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(Str *rest)
{
    while (rest->size > 0 && is_blank(rest->data[0])) {
        *rest = (Str){rest->data + 1, rest->size - 1};
    }
}

static bool pass(Str *rest, const char *text)
{
    Str wanted = str_from(text);
    if (!str_starts_with(*rest, wanted)) {
        return false;
    }
    *rest = (Str){rest->data + wanted.size, rest->size - wanted.size};
    return true;
}

/* Passes bytes up to one of `stops`; there must be some. Blanks before them do not count: names and
 * numbers are where Spark's grammar of paths allows them. */
static bool pass_until(Str *rest, const char *stops, Str *ret)
{
    skip_blanks(rest);
    size_t size = 0;
    while (size < rest->size && strchr(stops, rest->data[size]) == NULL) {
        size++;
    }
    *ret = (Str){rest->data, size};
    *rest = (Str){rest->data + size, rest->size - size};
    return size > 0;
}

/* [n] or [*] */
static bool read_subscript(Str *rest, PathStep *ret)
{
    if (pass(rest, "*")) {
        ret->kind = STEP_ALL_ELEMENTS;
        return pass(rest, "]");
    }
    skip_blanks(rest);
    size_t size = 0;
    while (size < rest->size && char_is_digit(rest->data[size])) {
        size++;
    }
    ret->kind = STEP_INDEX;
    bool good = str_to_int64((Str){rest->data, size}, &ret->index);
    *rest = (Str){rest->data + size, rest->size - size};
    return good && pass(rest, "]");
}

static bool read_step(Str *rest, PathStep *ret)
{
    Str own = *rest;
    if (pass(&own, ".*") || pass(&own, "['*']")) {
        *rest = own;
        ret->kind = STEP_ALL_FIELDS;
        return true;
    }
    ret->kind = STEP_NAME;
    if (pass(rest, "['")) {
        return pass_until(rest, "'?", &ret->name) && pass(rest, "']");
    }
    if (pass(rest, "[")) {
        return read_subscript(rest, ret);
    }
    return pass(rest, ".") && pass_until(rest, ".[", &ret->name);
}

static void read_path(Str text, Path *ret)
{
    Str rest = text;
    ret->count = 0;
    ret->valid = pass(&rest, "$");
    while (ret->valid && rest.size > 0) {
        ret->valid = ret->count < PATH_STEPS_MAX && read_step(&rest, &ret->steps[ret->count]);
        ret->count++;
    }
}

/* ---- Walking ---- */

/* How what is found is written. */
typedef enum Style {
    STYLE_RAW,     /* a string without its quotes */
    STYLE_QUOTED,  /* inside an array */
    STYLE_FLATTEN, /* elements of arrays without the arrays */
} Style;

/* `comma`: a value stands before, in the array being written. */
typedef struct Output {
    Buffer *text;
    bool comma;
} Output;

typedef struct Walk {
    JsonTokens tokens;
    bool broken; /* the text is no JSON: nothing counts */
} Walk;

static bool walk(Walk *w, Output *out, Style style, const PathStep *steps, size_t count);

static bool goes_on(Walk *w, JsonToken end)
{
    JsonToken token = json_next(&w->tokens);
    w->broken = w->broken || token == JSON_BAD;
    return token != end && !w->broken;
}

static void skip(Walk *w)
{
    w->broken = !json_skip(&w->tokens) || w->broken;
}

static void put_comma(Output *out)
{
    if (out->comma) {
        buffer_append_byte(out->text, ',');
    }
    out->comma = true;
}

static bool write_match(Walk *w, Output *out, Style style)
{
    if (w->tokens.token == JSON_STRING && style == STYLE_RAW) {
        buffer_append_str(out->text, w->tokens.text);
        return true;
    }
    if (w->tokens.token == JSON_ARRAY && style == STYLE_FLATTEN) {
        bool any = false;
        while (goes_on(w, JSON_ARRAY_END)) {
            any = walk(w, out, style, NULL, 0) || any;
        }
        return any;
    }
    put_comma(out);
    w->broken = !json_copy(&w->tokens, out->text) || w->broken;
    return true;
}

/* The first field of that name; the others are passed. */
static bool walk_object(Walk *w, Output *out, Style style, const PathStep *steps, size_t count)
{
    bool found = false;
    while (goes_on(w, JSON_OBJECT_END)) {
        bool wanted = !found && str_equal(w->tokens.text, steps[0].name);
        w->broken = json_next(&w->tokens) == JSON_BAD || w->broken;
        if (wanted && w->tokens.token != JSON_NULL) {
            found = walk(w, out, style, steps + 1, count - 1);
        } else {
            skip(w);
        }
    }
    return found;
}

/* Every element; how many had a match. */
static size_t walk_elements(Walk *w, Output *out, Style style, const PathStep *steps, size_t count)
{
    size_t matches = 0;
    while (goes_on(w, JSON_ARRAY_END)) {
        matches += walk(w, out, style, steps, count);
    }
    return matches;
}

/* Matches in an array of their own. */
static bool walk_to_array(Walk *w, Output *out, Style style, const PathStep *steps, size_t count)
{
    put_comma(out);
    buffer_append_byte(out->text, '[');
    Output inner = {.text = out->text};
    bool any = walk_elements(w, &inner, style, steps, count) > 0;
    buffer_append_byte(out->text, ']');
    return any;
}

/* Matches in an array when there are several; one stands alone. */
static bool walk_to_one_or_array(Walk *w, Output *out, Style style, const PathStep *steps,
                                 size_t count)
{
    AUTO_BUFFER Buffer text = {0};
    Output inner = {.text = &text};
    size_t matches = walk_elements(w, &inner, style, steps, count);
    if (matches == 0) {
        return false;
    }
    put_comma(out);
    buffer_append_cstr(out->text, matches > 1 ? "[" : "");
    buffer_append_str(out->text, buffer_str(&text));
    buffer_append_cstr(out->text, matches > 1 ? "]" : "");
    return true;
}

static bool walk_all(Walk *w, Output *out, Style style, const PathStep *steps, size_t count)
{
    if (count > 1 && steps[1].kind == STEP_ALL_ELEMENTS) {
        return walk_to_array(w, out, STYLE_FLATTEN, steps + 2, count - 2);
    }
    if (style == STYLE_QUOTED) {
        return walk_to_array(w, out, STYLE_QUOTED, steps + 1, count - 1);
    }
    return walk_to_one_or_array(w, out, style == STYLE_RAW ? STYLE_QUOTED : style, steps + 1,
                                count - 1);
}

static bool walk_index(Walk *w, Output *out, Style style, const PathStep *steps, size_t count)
{
    bool found = false;
    bool several = count > 1 && steps[1].kind == STEP_ALL_ELEMENTS;
    for (int64_t i = 0; goes_on(w, JSON_ARRAY_END); i++) {
        if (i == steps[0].index) {
            found = walk(w, out, several ? STYLE_QUOTED : style, steps + 1, count - 1);
        } else {
            skip(w);
        }
    }
    return found;
}

/* At the first token of a value, afterwards at its last. Did it write something? */
static bool walk(Walk *w, Output *out, Style style, const PathStep *steps, size_t count)
{
    JsonToken token = w->tokens.token;
    if (count == 0) {
        return write_match(w, out, style);
    }
    if (token == JSON_OBJECT && steps[0].kind == STEP_NAME) {
        return walk_object(w, out, style, steps, count);
    }
    if (token == JSON_ARRAY && steps[0].kind == STEP_ALL_ELEMENTS) {
        return walk_all(w, out, style, steps, count);
    }
    if (token == JSON_ARRAY && steps[0].kind == STEP_INDEX) {
        return walk_index(w, out, style, steps, count);
    }
    skip(w);
    return false;
}

typedef struct PathState {
    Path *path; /* of a constant argument; NULL: row by row */
} PathState;

static bool find_object(const KernelCall *call, Str text, const Path *path, Buffer *out)
{
    Walk w = {0};
    json_tokens_init(&w.tokens, text, path_syntax, call->arena);
    JsonToken first = json_next(&w.tokens);
    if (!path->valid || first == JSON_END || first == JSON_BAD) {
        return false;
    }
    Output output = {.text = out};
    bool found = walk(&w, &output, STYLE_RAW, path->steps, path->count);
    return found && !w.broken;
}

static void get_json_object(const KernelCall *call)
{
    const PathState *state = call->state;
    Path *own = state->path == NULL ? arena_new_object(call->arena, Path) : state->path;
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, row)
    {
        if (state->path == NULL) {
            read_path(STR_ARGUMENT(call, 1, row), own);
        }
        buffer_clear(&out);
        if (find_object(call, STR_ARGUMENT(call, 0, row), own, &out)) {
            text_store(call, row, buffer_str(&out));
        } else {
            vector_set_null(call->result, call->arena, row);
        }
    }
}

static KernelRun *choose_get_json_object(KernelSetup *setup)
{
    PathState *state = arena_new_object(setup->arena, PathState);
    const Vector *path = setup->constants[1];
    if (path != NULL && vector_is_valid(path, 0)) {
        state->path = arena_new_object(setup->arena, Path);
        read_path(arena_copy_str(setup->arena, VECTOR_VALUE(path, Str, 0)), state->path);
    }
    setup->state = state;
    return get_json_object;
}

/* ---- Counting ---- */

static void json_array_length(const KernelCall *call)
{
    JsonTokens *tokens = arena_new_object(call->arena, JsonTokens);
    FOR_VALID_ROWS(call, row)
    {
        json_tokens_init(tokens, STR_ARGUMENT(call, 0, row), path_syntax, call->arena);
        bool good = json_next(tokens) == JSON_ARRAY;
        int32_t count = 0;
        while (good && json_next(tokens) != JSON_ARRAY_END) {
            good = json_skip(tokens);
            count++;
        }
        RESULT(call, int32_t)[row] = count;
        if (!good) {
            vector_set_null(call->result, call->arena, row);
        }
    }
}

static bool append_names(const KernelCall *call, JsonTokens *tokens)
{
    bool good = json_next(tokens) == JSON_OBJECT;
    while (good && json_next(tokens) != JSON_OBJECT_END) {
        good = tokens->token == JSON_NAME;
        if (good) {
            vector_append_str(call->result->children[0], call->arena, tokens->text);
            (void)json_next(tokens);
            good = json_skip(tokens);
        }
    }
    return good;
}

static void append_keys(const KernelCall *call, uint32_t row)
{
    Vector *names = call->result->children[0];
    uint32_t first = names->length;
    bool good = vector_is_valid(call->arguments[0], row);
    if (good) {
        JsonTokens *tokens = arena_new_object(call->arena, JsonTokens);
        json_tokens_init(tokens, STR_ARGUMENT(call, 0, row), path_syntax, call->arena);
        good = append_names(call, tokens);
    }
    if (good) {
        vector_finish_list(call->result, call->arena);
    } else {
        vector_truncate(names, first);
        vector_append_null(call->result, call->arena);
    }
}

static void json_object_keys(const KernelCall *call)
{
    append_rows(call, append_keys);
}

const Kernel kernel_get_json_object = {.choose = choose_get_json_object};
const Kernel kernel_json_array_length = {.run = json_array_length};
const Kernel kernel_json_object_keys = {.run = json_object_keys};
