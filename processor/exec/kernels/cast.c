/* Choice of a cast's loop, casts to and from text, and how casts fail. */
#include "processor/exec/kernels/cast.h"

#include "processor/data/value_text.h"
#include "processor/exec/program.h"

#include "processor/base/banned.h"

/* ---- Errors ---- */

/* A value as a SQL literal: 300S, 3000000000L, 1.5D, 300.5BD, TIMESTAMP '…', as Spark's messages
 * show it. */
static void append_literal(const KernelCall *call, uint32_t row, Buffer *out)
{
    const Vector *from = call->arguments[0];
    TypeKind kind = from->type->kind;
    buffer_append_cstr(out, kind == TYPE_TIMESTAMP ? "TIMESTAMP '" : "");
    size_t start = out->size;
    value_format(from, row, call->context->time_zone, out);
    bool finite = out->data[out->size - 1] >= '0' && out->data[out->size - 1] <= '9';
    (void)start;
    switch (kind) {
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
        buffer_append_cstr(out, "S");
        return;
    case TYPE_BIGINT:
        buffer_append_cstr(out, "L");
        return;
    case TYPE_DOUBLE:
        buffer_append_cstr(out, finite ? "D" : "");
        return;
    case TYPE_DECIMAL:
        buffer_append_cstr(out, "BD");
        return;
    case TYPE_TIMESTAMP:
        buffer_append_cstr(out, "'");
        return;
    case TYPE_NULL:
    case TYPE_BOOLEAN:
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_DATE:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT:
        return;
    }
}

static Error *cast_error(const KernelCall *call, uint32_t row, ErrorClass class, const char *why)
{
    AUTO_BUFFER Buffer value = {0};
    AUTO_BUFFER Buffer from = {0};
    AUTO_BUFFER Buffer to = {0};
    append_literal(call, row, &value);
    type_format(call->arguments[0]->type, &from);
    type_format(call->result->type, &to);
    return error_new(class, "The value %s of the type \"%s\" cannot be cast to \"%s\" %s",
                     buffer_cstr(&value), buffer_cstr(&from), buffer_cstr(&to), why);
}

void cast_fail_overflow(const KernelCall *call, uint32_t row)
{
    if (!kernel_forgives(call, row)) {
        kernel_fail(call, row,
                    cast_error(call, row, ERROR_CAST_OVERFLOW,
                               "due to an overflow. Use `try_cast` to tolerate overflow and return "
                               "NULL instead."));
    }
}

void cast_fail_invalid(const KernelCall *call, uint32_t row)
{
    if (!kernel_forgives(call, row)) {
        kernel_fail(call, row,
                    cast_error(call, row, ERROR_CAST_INVALID_INPUT,
                               "because it is malformed. Correct the value as per the syntax, or "
                               "change its target type. Use `try_cast` to tolerate malformed input "
                               "and return NULL instead."));
    }
}

void cast_fail_decimal(const KernelCall *call, uint32_t row, Str text)
{
    if (!kernel_forgives(call, row)) {
        kernel_fail(call, row,
                    error_new(ERROR_NUMERIC_VALUE_OUT_OF_RANGE,
                              "%.*s cannot be represented as Decimal(%d, %d).", STR_ARG(text),
                              call->result->type->precision, call->result->type->scale));
    }
}

/* ---- Text ---- */

/* value_parse appends, so the vector is given the length of the row's number before. */
static void cast_from_text(const KernelCall *call)
{
    const Str *a = ARGUMENT(call, 0, Str);
    Vector *result = call->result;
    FOR_VALID_ROWS(call, i)
    {
        result->length = i;
        Error *error = value_parse(a[i], call->context->time_zone, call->arena, result);
        if (error != NULL) {
            result->length = i + 1;
            kernel_fail(call, i, error);
        }
    }
    result->length = call->row_count;
}

/* All texts of the batch are written into one buffer and copied to the arena once. */
static void cast_to_text(const KernelCall *call)
{
    AUTO_BUFFER Buffer texts = {0};
    Str *r = RESULT(call, Str);
    FOR_VALID_ROWS(call, i)
    {
        size_t start = texts.size;
        value_format(call->arguments[0], i, call->context->time_zone, &texts);
        r[i].size = texts.size - start;
    }
    const char *bytes = arena_copy_str(call->arena, buffer_str(&texts)).data;
    FOR_VALID_ROWS(call, i)
    {
        r[i].data = bytes;
        bytes += r[i].size;
    }
}

/* STRING and BINARY lie in memory alike. */
static void cast_bytes(const KernelCall *call)
{
    const Str *a = ARGUMENT(call, 0, Str);
    Str *r = RESULT(call, Str);
    FOR_ROWS(call->rows, i, { r[i] = a[i]; });
}

/* ---- NULL ---- */

static void cast_null(const KernelCall *call)
{
    *call->result = *vector_of_nulls(call->arena, call->result->type, call->row_count);
}

/* ---- Choice ---- */

static bool is_plain(const Type *type)
{
    switch (type->kind) {
    case TYPE_NULL:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT:
        return false;
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return true;
    }
    return false;
}

static KernelRun *choose_plain(const Type *from, const Type *to)
{
    if (from->kind == TYPE_STRING) {
        return cast_from_text;
    }
    KernelRun *run = cast_choose_number(from, to);
    if (run == NULL) {
        run = cast_choose_decimal(from, to);
    }
    return run != NULL ? run : cast_choose_time(from, to);
}

KernelRun *cast_choose(KernelSetup *setup)
{
    const Type *from = setup->types[0];
    const Type *to = setup->result;
    if (from->kind == TYPE_NULL) {
        return cast_null;
    }
    if (type_physical(from) == PHYSICAL_STR && type_physical(to) == PHYSICAL_STR) {
        return from->kind == TYPE_VARIANT || to->kind == TYPE_VARIANT ? NULL : cast_bytes;
    }
    if (to->kind == TYPE_STRING) {
        return cast_to_text;
    }
    if (type_is_interval(from) || type_is_interval(to)) {
        return from->kind == TYPE_STRING ? cast_from_text : cast_choose_interval(from, to);
    }
    if (is_plain(from) && is_plain(to)) {
        return choose_plain(from, to);
    }
    return from->kind == to->kind ? cast_choose_nested(setup) : NULL;
}
