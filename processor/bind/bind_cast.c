/* CAST, TRY_CAST and `::`: which pairs of types there are, and what Spark proposes instead of one
 * there is not. */
#include "processor/bind/binder.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

static Error *no_such_cast(Binder *binder, const Type *from, const Type *to, bool try_,
                           const BoundExpr *pattern)
{
    const char *from_text = type_text(binder->arena, from);
    const char *to_text = type_text(binder->arena, to);
    bool to_date = type_is_numeric(from) && to->kind == TYPE_DATE;
    if (to_date || (from->kind == TYPE_DATE && type_is_numeric(to))) {
        return error_at(ERROR_CAST_WITH_FUNC_SUGGESTION, pattern->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: cannot cast \"%s\" to "
                        "\"%s\". To convert values from \"%s\" to \"%s\", you can use the "
                        "functions `%s` instead.",
                        STR_ARG(pattern->text), from_text, to_text, from_text, to_text,
                        to_date ? "DATE_FROM_UNIX_DATE" : "UNIX_DATE");
    }
    return error_at(!try_ && coerce_was_castable(from, to) ? ERROR_CAST_WITH_CONF_SUGGESTION
                                                           : ERROR_CAST_WITHOUT_SUGGESTION,
                    pattern->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: cannot cast \"%s\" to "
                    "\"%s\".",
                    STR_ARG(pattern->text), from_text, to_text);
}

Error *check_cast(Binder *binder, const Type *from, const Type *to, bool try_,
                  const BoundExpr *pattern)
{
    bool possible = try_ ? coerce_is_try_castable(from, to) : coerce_is_castable(from, to);
    return possible ? NULL : no_such_cast(binder, from, to, try_, pattern);
}

/* As the target of a cast CHAR(n) and VARCHAR(n) are STRING; the length is not looked at. */
static Error *bind_target(Binder *binder, const AstDataType *type, const Type **ret_type)
{
    if (type->kind == AST_TYPE_CHAR || type->kind == AST_TYPE_VARCHAR) {
        *ret_type = &type_string;
        return NULL;
    }
    return bind_type(binder->arena, type, ret_type);
}

Error *bind_cast(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstCast *cast = &expr->cast;
    BoundExpr *operand = NULL;
    const Type *type = NULL;
    TRY(bind_expr(binder, scope, cast->operand, &operand));
    TRY(bind_target(binder, cast->type, &type));
    BoundExpr pattern = {
        .kind = BOUND_CAST, .type = type, .place = expr->place, .text = bound_text(binder, expr)};
    TRY(check_cast(binder, operand->type, type, cast->try_, &pattern));
    if (type_equal(operand->type, type) || bound_is_null_literal(operand) ||
        means_special_time(operand, type)) {
        return bound_cast(binder, operand, type, ret);
    }
    pattern.try_cast = cast->try_;
    return bound_new(binder, &pattern, &operand, 1, ret);
}
