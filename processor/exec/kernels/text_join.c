/* String functions that find, join and replace texts. Regular expressions: regex.c. */
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

size_t text_find(Str s, Str needle, size_t from)
{
    if (from > s.size || needle.size > s.size - from) {
        return SIZE_MAX;
    }
    if (needle.size == 0) {
        return from;
    }
    const char *found = memmem(s.data + from, s.size - from, needle.data, needle.size);
    return found == NULL ? SIZE_MAX : (size_t)(found - s.data);
}

/* ---- Finding ---- */

static int32_t position_at(Str s, size_t offset)
{
    return offset == SIZE_MAX ? 0 : (int32_t)utf8_length((Str){s.data, offset}) + 1;
}

static void instr(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        RESULT(call, int32_t)[i] = position_at(s, text_find(s, STR_ARGUMENT(call, 1, i), 0));
    }
}

/* An empty text is found at the very start, wherever the search begins: Spark's indexOf. */
static int32_t locate_one(Str needle, Str s, int32_t start)
{
    if (start < 1) {
        return 0;
    }
    if (needle.size == 0) {
        return 1;
    }
    return position_at(s, text_find(s, needle, utf8_offset(s, start - 1)));
}

/* A start that is NULL finds nothing; NULL texts give NULL. */
static void locate(const KernelCall *call)
{
    const Vector *needles = call->arguments[0];
    const Vector *texts = call->arguments[1];
    const Vector *starts = call->argument_count > 2 ? call->arguments[2] : NULL;
    int32_t *r = RESULT(call, int32_t);
    FOR_ROWS(call->rows, i, {
        if (starts != NULL && !vector_is_valid(starts, i)) {
            r[i] = 0;
        } else if (!vector_is_valid(needles, i) || !vector_is_valid(texts, i)) {
            vector_set_null(call->result, call->arena, i);
        } else {
            int32_t start = starts == NULL ? 1 : VECTOR_VALUE(starts, int32_t, i);
            r[i] = locate_one(VECTOR_VALUE(needles, Str, i), VECTOR_VALUE(texts, Str, i), start);
        }
    });
}

#define TEXT_TEST(name, expression)                                                                \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            Str a = STR_ARGUMENT(call, 0, i);                                                      \
            Str b = STR_ARGUMENT(call, 1, i);                                                      \
            RESULT(call, uint8_t)[i] = (expression);                                               \
        }                                                                                          \
    }                                                                                              \
    const Kernel kernel_##name = {.run = name};

TEXT_TEST(startswith, str_starts_with(a, b))
TEXT_TEST(endswith, str_ends_with(a, b))
TEXT_TEST(contains, text_find(a, b, 0) != SIZE_MAX)

const Kernel kernel_instr = {.run = instr};
const Kernel kernel_locate = {.run = locate};

/* ---- Joining ---- */

static void concat_texts(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        size_t size = 0;
        for (size_t k = 0; k < call->argument_count; k++) {
            size += STR_ARGUMENT(call, k, i).size;
        }
        char *bytes = text_alloc(call, i, size);
        if (bytes == NULL) {
            continue;
        }
        RESULT(call, Str)[i] = (Str){bytes, size};
        for (size_t k = 0; k < call->argument_count; k++) {
            Str part = STR_ARGUMENT(call, k, i);
            if (part.size > 0) {
                memcpy(bytes, part.data, part.size);
                bytes += part.size;
            }
        }
    }
}

static void concat_arrays(const KernelCall *call)
{
    Vector *result = call->result;
    for (uint32_t n = 0; n < call->rows.count; n++) {
        uint32_t row = rows_at(call->rows, n);
        list_skip_to(call, row);
        if (!kernel_arguments_valid(call, row)) {
            vector_append_null(result, call->arena);
            continue;
        }
        for (size_t k = 0; k < call->argument_count; k++) {
            const Vector *from = call->arguments[k];
            for (uint32_t i = from->offsets[row]; i < from->offsets[row + 1]; i++) {
                vector_append_from(result->children[0], call->arena, from->children[0], i);
            }
        }
        vector_finish_list(result, call->arena);
    }
}

static KernelRun *choose_concat(KernelSetup *setup)
{
    return setup->result->kind == TYPE_ARRAY ? concat_arrays : concat_texts;
}

const Kernel kernel_concat = {.choose = choose_concat};

/* Joins parts with a separator between them. */
typedef struct Joiner {
    Buffer out;
    Str separator;
    bool first;
} Joiner;

static void joiner_add(Joiner *joiner, Str part)
{
    if (!joiner->first) {
        buffer_append_str(&joiner->out, joiner->separator);
    }
    joiner->first = false;
    buffer_append_str(&joiner->out, part);
}

/* Strings, and the elements of arrays of strings; NULLs are skipped. */
static void join_argument(Joiner *joiner, const Vector *argument, uint32_t row)
{
    if (!vector_is_valid(argument, row)) {
        return;
    }
    if (argument->type->kind != TYPE_ARRAY) {
        joiner_add(joiner, VECTOR_VALUE(argument, Str, row));
        return;
    }
    const Vector *elements = argument->children[0];
    for (uint32_t i = argument->offsets[row]; i < argument->offsets[row + 1]; i++) {
        if (vector_is_valid(elements, i)) {
            joiner_add(joiner, VECTOR_VALUE(elements, Str, i));
        }
    }
}

static void concat_ws(const KernelCall *call)
{
    Joiner joiner = {0};
    FOR_ROWS(call->rows, i, {
        if (!vector_is_valid(call->arguments[0], i)) {
            vector_set_null(call->result, call->arena, i);
        } else {
            buffer_clear(&joiner.out);
            joiner.first = true;
            joiner.separator = STR_ARGUMENT(call, 0, i);
            for (size_t k = 1; k < call->argument_count; k++) {
                join_argument(&joiner, call->arguments[k], i);
            }
            text_store(call, i, buffer_str(&joiner.out));
        }
    });
    buffer_done(&joiner.out);
}

const Kernel kernel_concat_ws = {.run = concat_ws};

static void array_join_row(const KernelCall *call, uint32_t row, Joiner *joiner)
{
    const Vector *array = call->arguments[0];
    const Vector *elements = array->children[0];
    for (uint32_t i = array->offsets[row]; i < array->offsets[row + 1]; i++) {
        if (vector_is_valid(elements, i)) {
            joiner_add(joiner, VECTOR_VALUE(elements, Str, i));
        } else if (call->argument_count > 2) {
            joiner_add(joiner, STR_ARGUMENT(call, 2, row));
        }
    }
}

static void array_join(const KernelCall *call)
{
    Joiner joiner = {0};
    FOR_ROWS(call->rows, i, {
        if (!kernel_arguments_valid(call, i)) {
            vector_set_null(call->result, call->arena, i);
        } else {
            buffer_clear(&joiner.out);
            joiner.first = true;
            joiner.separator = STR_ARGUMENT(call, 1, i);
            array_join_row(call, i, &joiner);
            text_store(call, i, buffer_str(&joiner.out));
        }
    });
    buffer_done(&joiner.out);
}

const Kernel kernel_array_join = {.run = array_join};

/* ---- Replacing ---- */

static void replace(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        Str search = STR_ARGUMENT(call, 1, i);
        Str by = call->argument_count > 2 ? STR_ARGUMENT(call, 2, i) : STR("");
        size_t found = search.size == 0 ? SIZE_MAX : text_find(s, search, 0);
        if (found == SIZE_MAX) {
            RESULT(call, Str)[i] = s;
            continue;
        }
        buffer_clear(&out);
        size_t at = 0;
        for (; found != SIZE_MAX; found = text_find(s, search, at)) {
            buffer_append(&out, s.data + at, found - at);
            buffer_append_str(&out, by);
            at = found + search.size;
        }
        buffer_append(&out, s.data + at, s.size - at);
        text_store(call, i, buffer_str(&out));
    }
}

/* Characters of `from` stand for those of `to` in the same place; without one they vanish. */
static void translate_text(Str s, Str from, Str to, Buffer *out)
{
    for (size_t at = 0; at < s.size; at = utf8_next(s, at)) {
        Str c = {s.data + at, utf8_next(s, at) - at};
        size_t f = 0;
        size_t t = 0;
        while (f < from.size && !str_equal(c, (Str){from.data + f, utf8_next(from, f) - f})) {
            f = utf8_next(from, f);
            t = t < to.size ? utf8_next(to, t) : t;
        }
        if (f >= from.size) {
            buffer_append_str(out, c);
        } else if (t < to.size) {
            buffer_append(out, to.data + t, utf8_next(to, t) - t);
        }
    }
}

static void translate(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        buffer_clear(&out);
        translate_text(STR_ARGUMENT(call, 0, i), STR_ARGUMENT(call, 1, i), STR_ARGUMENT(call, 2, i),
                       &out);
        text_store(call, i, buffer_str(&out));
    }
}

const Kernel kernel_replace = {.run = replace};
const Kernel kernel_translate = {.run = translate};

/* ---- Parts between separators ---- */

static size_t count_parts(Str s, Str separator)
{
    size_t count = 1;
    for (size_t at = text_find(s, separator, 0); at != SIZE_MAX;
         at = text_find(s, separator, at + separator.size)) {
        count++;
    }
    return count;
}

/* Part number `index`, from 0. */
static Str nth_part(Str s, Str separator, size_t index)
{
    size_t at = 0;
    for (; index > 0; index--) {
        at = text_find(s, separator, at) + separator.size;
    }
    size_t end = text_find(s, separator, at);
    return (Str){s.data + at, (end == SIZE_MAX ? s.size : end) - at};
}

static void split_part(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        Str separator = STR_ARGUMENT(call, 1, i);
        int64_t number = INT_ARGUMENT(call, 2, i);
        if (number == 0) {
            kernel_fail(call, i,
                        error_new(ERROR_INVALID_INDEX_OF_ZERO,
                                  "The index 0 is invalid. An index shall be either < 0 or > 0 "
                                  "(the first element has index 1)."));
            continue;
        }
        int64_t count = separator.size == 0 ? 1 : (int64_t)count_parts(s, separator);
        int64_t index = number > 0 ? number - 1 : count + number;
        Str part = s;
        if (index < 0 || index >= count) {
            part = STR("");
        } else if (separator.size > 0) {
            part = nth_part(s, separator, (size_t)index);
        }
        RESULT(call, Str)[i] = part;
    }
}

const Kernel kernel_split_part = {.run = split_part};
