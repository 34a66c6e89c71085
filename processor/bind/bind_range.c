/* range(end), range(start, end [, step [, partitions]]): numbers as a relation. The arguments are
 * constants. */
#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

enum { RANGE_ARGUMENTS_MAX = 4 };

static Error *unexpected_type(Binder *binder, const BoundExpr *value, size_t index)
{
    static const char *const words[RANGE_ARGUMENTS_MAX] = {"first", "second", "third", "fourth"};
    return error_at(ERROR_UNEXPECTED_ARGUMENT_TYPE, value->place,
                    "Parameter %s of function `range` requires the \"BIGINT\" type, however "
                    "\"%.*s\" has the type \"%s\".",
                    words[index], STR_ARG(value->text), type_text(binder->arena, value->type));
}

/* One argument as a BIGINT. */
static Error *bind_number(Binder *binder, const AstRelation *ast, size_t index, int64_t *ret)
{
    static const char *const parameters[RANGE_ARGUMENTS_MAX] = {"start", "end", "step",
                                                                "numSlices"};
    const AstArgument *argument = &ast->arguments[index];
    Scope nothing = {0};
    BoundExpr *value = NULL;
    TRY(bind_expr(binder, &nothing, argument->expr, &value));
    if (argument->name.name.data != NULL || !bound_is_foldable(value)) {
        return error_at(ERROR_NON_FOLDABLE_ARGUMENT, argument->expr->place,
                        "The function `range` requires the parameter `%s` to be a foldable "
                        "expression of the type \"BIGINT\", but the actual argument is a "
                        "non-foldable.",
                        parameters[ast->argument_count == 1 ? 1 : index]);
    }
    if (!type_is_numeric(value->type) && value->type->kind != TYPE_STRING) {
        return unexpected_type(binder, value, index);
    }
    const Vector *number = NULL;
    BoundExpr *cast = NULL;
    TRY(bound_cast(binder, value, &type_bigint, &cast));
    TRY(bound_evaluate(binder, cast, &number));
    if (!vector_is_valid(number, 0)) {
        return unexpected_type(binder, value, index);
    }
    *ret = vector_int_value(number, 0);
    return NULL;
}

static Error *check_alias(const AstRelation *ast)
{
    size_t named = ast->alias.columns.item_count;
    if (named > 1) {
        return error_at(ERROR_TABLE_VALUE_ALIASES_MISMATCH, ast->place,
                        "Number of given aliases does not match number of output columns. Function "
                        "name: range; number of aliases: %zu; number of output columns: 1.",
                        named);
    }
    return NULL;
}

Error *bind_range(Binder *binder, const AstRelation *ast, FromResult *result)
{
    static const Field id = {{"id", 2}, &type_bigint, true, {NULL, 0}};
    static const Schema schema = {.fields = &id, .field_count = 1};
    size_t count = ast->argument_count;
    if (count < 1 || count > RANGE_ARGUMENTS_MAX) {
        return error_at(ERROR_WRONG_NUM_ARGS, ast->place,
                        "The `range` requires [1, 2, 3, 4] parameters but the actual number is "
                        "%zu.",
                        count);
    }
    int64_t numbers[RANGE_ARGUMENTS_MAX] = {0, 0, 1, 1};
    for (size_t i = 0; i < count; i++) {
        TRY(bind_number(binder, ast, i, &numbers[count == 1 ? 1 : i]));
    }
    if (numbers[2] == 0) {
        return error_at(ERROR_FAILED_FUNCTION_CALL, ast->place,
                        "Failed preparing of the function `range` for call. Please, double check "
                        "function's arguments. The step must not be 0.");
    }
    TRY(check_alias(ast));
    BoundNode *node = bound_node_new(binder, BOUND_RANGE, &schema, ast->place);
    node->range_start = numbers[0];
    node->range_end = numbers[1];
    node->range_step = numbers[2];
    result->node = node;
    return NULL;
}
