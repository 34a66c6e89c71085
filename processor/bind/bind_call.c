/* Calls by name. Three sorts: forms that must not evaluate all arguments (coalesce, if, nvl2, …) or
 * build a struct become kinds of BoundExpr here; functions named like a type are casts, as in
 * Spark; the rest is looked up in the function catalog. */
#include <assert.h>

#include "processor/bind/binder.h"
#include "processor/bind/coerce.h"
#include "processor/bind/routine.h"

#include "processor/base/banned.h"

/* A call with its arguments bound. */
typedef struct Call {
    Binder *binder;
    const AstExpr *expr;
    BoundExpr pattern; /* place and text of the call */
    BoundExpr **arguments;
    size_t argument_count;
} Call;

typedef Error *BindForm(Call *call, BoundExpr **ret);

typedef struct Form {
    Str name;
    int argument_min;
    int argument_max; /* -1: any number */
    BindForm *bind;
} Form;

static Error *make_case(Call *call, BoundExpr *when, BoundExpr *then, BoundExpr *otherwise,
                        const char *function, BoundExpr **ret)
{
    BoundExpr *children[3] = {when, then, otherwise};
    BoundExpr **results[2] = {&children[1], &children[2]};
    BoundExpr pattern = call->pattern;
    pattern.kind = BOUND_CASE;
    TRY(bind_common_type(call->binder, results, 2, function, &pattern, &pattern.type));
    return bound_new(call->binder, &pattern, children, 3, ret);
}

static Error *bind_coalesce(Call *call, BoundExpr **ret)
{
    Binder *binder = call->binder;
    BoundExpr ***slots = arena_new_array(binder->arena, BoundExpr **, call->argument_count);
    for (size_t i = 0; i < call->argument_count; i++) {
        slots[i] = &call->arguments[i];
    }
    BoundExpr pattern = call->pattern;
    pattern.kind = BOUND_COALESCE;
    TRY(bind_common_type(binder, slots, call->argument_count, "coalesce", &pattern, &pattern.type));
    return bound_new(binder, &pattern, call->arguments, call->argument_count, ret);
}

static Error *bind_if(Call *call, BoundExpr **ret)
{
    BoundExpr *condition = NULL;
    TRY(bind_boolean(call->binder, call->arguments[0], &call->pattern, "first", &condition));
    return make_case(call, condition, call->arguments[1], call->arguments[2], "if", ret);
}

/* nanvl(a, b) is b where a is NaN, else a: only then b is looked at. */
static Error *bind_nanvl(Call *call, BoundExpr **ret)
{
    Binder *binder = call->binder;
    bool floats = true;
    for (size_t i = 0; i < 2; i++) {
        const Type *type = call->arguments[i]->type;
        floats = floats && type->kind == TYPE_FLOAT;
        if (!type_is_numeric(type) && type->kind != TYPE_STRING && type->kind != TYPE_NULL) {
            return bind_function(binder, STR("nanvl"), call->arguments, 2, &call->pattern, ret);
        }
    }
    BoundExpr *pair[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        const Type *type = floats ? &type_float : &type_double;
        TRY(bound_cast(binder, call->arguments[i], type, &pair[i]));
    }
    BoundExpr *nan = NULL;
    BoundExpr *asked = pair[0]; /* bind_function casts it in place */
    TRY(bind_function(binder, STR("isnan"), &asked, 1, &call->pattern, &nan));
    return make_case(call, nan, pair[1], pair[0], "nanvl", ret);
}

/* nullif(a, b) is NULL where a = b, else a. */
static Error *bind_nullif(Call *call, BoundExpr **ret)
{
    BoundExpr *first = call->arguments[0];
    BoundExpr *pair[2] = {first, call->arguments[1]};
    BoundExpr *equal = NULL;
    TRY(bind_function(call->binder, STR("="), pair, 2, &call->pattern, &equal));
    BoundExpr *null = bound_null(call->binder->arena, first->type, call->pattern.place);
    return make_case(call, equal, null, first, "nullif", ret);
}

static Error *bound_zero(Call *call, BoundExpr **ret)
{
    AstExpr literal = {.kind = AST_EXPR_LITERAL, .place = call->pattern.place, .text = STR("0")};
    literal.literal = (AstLiteral){AST_LITERAL_INTEGER, AST_SUFFIX_NONE, STR("0")};
    return bind_literal(call->binder, &literal, false, ret);
}

/* The call with 0 as second argument. */
static Error *bind_with_zero(Call *call, BindForm *bind, BoundExpr **ret)
{
    BoundExpr *pair[2] = {call->arguments[0], NULL};
    TRY(bound_zero(call, &pair[1]));
    call->arguments = pair;
    call->argument_count = 2;
    return bind(call, ret);
}

static Error *bind_zeroifnull(Call *call, BoundExpr **ret)
{
    return bind_with_zero(call, bind_coalesce, ret);
}

static Error *bind_nullifzero(Call *call, BoundExpr **ret)
{
    return bind_with_zero(call, bind_nullif, ret);
}

/* decode(x, a, ra, b, rb, …, otherwise): the result behind the first value equal to x, where NULL
 * equals NULL. decode(bytes, charset) is a function. */
static Error *bind_decode(Call *call, BoundExpr **ret)
{
    Binder *binder = call->binder;
    if (call->argument_count == 2) {
        return bind_function(binder, STR("decode"), call->arguments, 2, &call->pattern, ret);
    }
    size_t branches = (call->argument_count - 1) / 2;
    BoundExpr **children = arena_new_array(binder->arena, BoundExpr *, 2 * branches + 1);
    BoundExpr ***results = arena_new_array(binder->arena, BoundExpr **, branches + 1);
    for (size_t i = 0; i < branches; i++) {
        BoundExpr *pair[2] = {call->arguments[0], call->arguments[2 * i + 1]};
        TRY(bind_function(binder, STR("<=>"), pair, 2, &call->pattern, &children[2 * i]));
        children[2 * i + 1] = call->arguments[2 * i + 2];
        results[i] = &children[2 * i + 1];
    }
    results[branches] = &children[2 * branches];
    children[2 * branches] = call->argument_count % 2 == 0
                                 ? call->arguments[call->argument_count - 1]
                                 : bound_null(binder->arena, &type_null, call->pattern.place);
    BoundExpr pattern = call->pattern;
    pattern.kind = BOUND_CASE;
    TRY(bind_common_type(binder, results, branches + 1, "decode", &pattern, &pattern.type));
    return bound_new(binder, &pattern, children, 2 * branches + 1, ret);
}

/* nvl2(a, b, c) is b where a is not NULL, else c. */
static Error *bind_nvl2(Call *call, BoundExpr **ret)
{
    BoundExpr *is_not_null = NULL;
    BoundExpr *operand = call->arguments[0];
    TRY(bind_function(call->binder, STR("isnotnull"), &operand, 1, &call->pattern, &is_not_null));
    return make_case(call, is_not_null, call->arguments[1], call->arguments[2], "nvl2", ret);
}

/* --------------------------------------------------------------- structs --- */

static Error *make_struct(Binder *binder, const BoundExpr *pattern, BoundExpr **values,
                          const Str *names, size_t count, BoundExpr **ret)
{
    Field *fields = arena_new_array(binder->arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = (Field){names[i], values[i]->type, false, STR_NULL};
    }
    BoundExpr node = *pattern;
    node.kind = BOUND_STRUCT;
    node.type = type_struct(binder->arena, fields, count);
    return bound_new(binder, &node, values, count, ret);
}

/* struct(a, b + 1, c AS x): columns lend their names, other values are col2, col3, … */
static Str struct_field_name(Binder *binder, const Scope *scope, const AstExpr *expr,
                             const BoundExpr *bound, size_t index)
{
    if (expr->kind == AST_EXPR_COLUMN || expr->kind == AST_EXPR_FIELD) {
        return bind_output_name(binder, scope, expr, bound);
    }
    return str_from(arena_printf(binder->arena, "col%zu", index + 1));
}

Error *bind_struct(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    bool is_row = expr->kind == AST_EXPR_ROW;
    size_t count = is_row ? expr->row.item_count : expr->struct_.item_count;
    BoundExpr **values = arena_new_array(binder->arena, BoundExpr *, count);
    Str *names = arena_new_array(binder->arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        const AstStructItem *item = is_row ? NULL : &expr->struct_.items[i];
        const AstExpr *value = is_row ? expr->row.items[i] : item->expr;
        TRY(bind_expr(binder, scope, value, &values[i]));
        names[i] = struct_field_name(binder, scope, value, values[i], i);
        if (item != NULL && item->alias_count > 1) {
            return error_at(ERROR_PARSE_SYNTAX_ERROR, item->aliases[0].place,
                            "A value has one alias, not %zu.", item->alias_count);
        }
        if (item != NULL && item->alias_count == 1) {
            names[i] = item->aliases[0].name;
        }
    }
    BoundExpr pattern = {.place = expr->place, .text = bound_text(binder, expr)};
    return make_struct(binder, &pattern, values, names, count, ret);
}

/* The name of a field: text that is known before a row is read. */
static Error *field_name(const Call *call, const BoundExpr *name, Str *ret)
{
    if (name->type->kind != TYPE_STRING || !bound_is_foldable(name)) {
        return error_at(ERROR_CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING, name->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: Only foldable `STRING` "
                        "expressions are allowed to appear at odd position, but they are "
                        "[\"%.*s\"].",
                        STR_ARG(call->pattern.text), STR_ARG(name->text));
    }
    const Vector *value = NULL;
    TRY(bound_evaluate(call->binder, name, &value));
    if (!vector_is_valid(value, 0)) {
        return error_at(ERROR_UNEXPECTED_NULL, name->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: The `fieldName` must "
                        "not be null.",
                        STR_ARG(call->pattern.text));
    }
    *ret = arena_copy_str(call->binder->arena, VECTOR_VALUE(value, Str, 0));
    return NULL;
}

static Error *bind_named_struct(Call *call, BoundExpr **ret)
{
    size_t count = call->argument_count / 2;
    if (call->argument_count % 2 != 0) {
        return error_at(ERROR_WRONG_NUM_ARGS, call->pattern.place,
                        "The `named_struct` requires 2n (n > 0) parameters but the actual number "
                        "is %zu.",
                        call->argument_count);
    }
    BoundExpr **values = arena_new_array(call->binder->arena, BoundExpr *, count);
    Str *names = arena_new_array(call->binder->arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        TRY(field_name(call, call->arguments[2 * i], &names[i]));
        values[i] = call->arguments[2 * i + 1];
    }
    return make_struct(call->binder, &call->pattern, values, names, count, ret);
}

static bool is_made_of(const Call *call, size_t i)
{
    TypeKind kind = call->arguments[i]->type->kind;
    return kind == TYPE_NULL || (i == 0 && kind == TYPE_DATE) || (i == 2 && kind == TYPE_STRING);
}

/* make_timestamp(date) is midnight. make_timestamp(date, time[, zone]) takes a TIME, a type that is
 * not here, so that the time can be NULL alone and the result with it. */
static Error *bind_made_timestamp(Call *call, Str name, size_t least, const Type *type,
                                  BoundExpr **ret)
{
    static const char *const wanted[] = {"DATE", "TIME", "STRING"};
    static const char *const places[] = {"first", "second", "third"};
    size_t count = call->argument_count;
    if (count < least || count > (type->kind == TYPE_TIMESTAMP_NTZ ? 2 : 3)) {
        return bind_function(call->binder, name, call->arguments, count, &call->pattern, ret);
    }
    for (size_t i = 0; i < count; i++) {
        const BoundExpr *argument = call->arguments[i];
        if (!is_made_of(call, i)) {
            return error_at(ERROR_UNEXPECTED_INPUT_TYPE, argument->place,
                            "Cannot resolve \"%.*s\" due to data type mismatch: The %s parameter "
                            "requires the \"%s\" type, however \"%.*s\" has the type \"%s\".",
                            STR_ARG(call->pattern.text), places[i], wanted[i],
                            STR_ARG(argument->text),
                            type_text(call->binder->arena, argument->type));
        }
    }
    if (count == 1) {
        return bound_cast(call->binder, call->arguments[0], type, ret);
    }
    *ret = bound_null(call->binder->arena, type, call->pattern.place);
    return NULL;
}

#define MADE_TIMESTAMP(name, least, type)                                                          \
    static Error *bind_##name(Call *call, BoundExpr **ret)                                         \
    {                                                                                              \
        return bind_made_timestamp(call, STR(#name), least, type, ret);                            \
    }
MADE_TIMESTAMP(make_timestamp, 1, &type_timestamp)
MADE_TIMESTAMP(try_make_timestamp, 1, &type_timestamp)
MADE_TIMESTAMP(make_timestamp_ltz, 2, &type_timestamp)
MADE_TIMESTAMP(try_make_timestamp_ltz, 2, &type_timestamp)
MADE_TIMESTAMP(make_timestamp_ntz, 2, &type_timestamp_ntz)
MADE_TIMESTAMP(try_make_timestamp_ntz, 2, &type_timestamp_ntz)

/* ------------------------------------------------------------ by name --- */

static Error *bind_part(Call *call, BoundExpr **ret)
{
    return bind_date_part(call->binder, call->arguments, &call->pattern, ret);
}

static const Form forms[] = {
    {{"date_part", 9}, 2, 2, bind_part},
    {{"datepart", 8}, 2, 2, bind_part},
    {{"coalesce", 8}, 1, -1, bind_coalesce},
    {{"nvl", 3}, 2, 2, bind_coalesce},
    {{"ifnull", 6}, 2, 2, bind_coalesce},
    {{"nanvl", 5}, 2, 2, bind_nanvl},
    {{"if", 2}, 3, 3, bind_if},
    {{"iff", 3}, 3, 3, bind_if},
    {{"nullif", 6}, 2, 2, bind_nullif},
    {{"nvl2", 4}, 3, 3, bind_nvl2},
    {{"zeroifnull", 10}, 1, 1, bind_zeroifnull},
    {{"nullifzero", 10}, 1, 1, bind_nullifzero},
    {{"decode", 6}, 2, -1, bind_decode},
    {{"named_struct", 12}, 0, -1, bind_named_struct},
    {{"make_timestamp", 14}, 1, 7, bind_make_timestamp},
    {{"try_make_timestamp", 18}, 1, 7, bind_try_make_timestamp},
    {{"make_timestamp_ntz", 18}, 2, 6, bind_make_timestamp_ntz},
    {{"try_make_timestamp_ntz", 22}, 2, 6, bind_try_make_timestamp_ntz},
    {{"make_timestamp_ltz", 18}, 2, 7, bind_make_timestamp_ltz},
    {{"try_make_timestamp_ltz", 22}, 2, 7, bind_try_make_timestamp_ltz},
};

static const Form *find_form(Str name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
        if (str_equal_ignore_case(forms[i].name, name)) {
            return &forms[i];
        }
    }
    return NULL;
}

/* int('5') is CAST('5' AS INT). */
static const Type *cast_function_type(Arena *arena, Str name)
{
    static const struct {
        const char *name;
        const Type *type;
    } names[] = {
        {"boolean", &type_boolean}, {"tinyint", &type_tinyint},     {"smallint", &type_smallint},
        {"int", &type_int},         {"bigint", &type_bigint},       {"float", &type_float},
        {"double", &type_double},   {"string", &type_string},       {"binary", &type_binary},
        {"date", &type_date},       {"timestamp", &type_timestamp},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (str_equal_ignore_case(str_from(names[i].name), name)) {
            return names[i].type;
        }
    }
    return str_equal_ignore_case(name, STR("decimal")) ? type_decimal(arena, 10, 0) : NULL;
}

static Error *bind_cast_function(Call *call, const Type *type, BoundExpr **ret)
{
    BoundExpr *operand = call->arguments[0];
    TRY(check_cast(call->binder, operand->type, type, false, &call->pattern));
    return bound_cast(call->binder, operand, type, ret);
}

static Error *check_form_arguments(const Form *form, size_t count, SourcePlace place)
{
    if ((int64_t)count >= form->argument_min &&
        (form->argument_max < 0 || (int64_t)count <= form->argument_max)) {
        return NULL;
    }
    return error_at(ERROR_WRONG_NUM_ARGS, place,
                    "The `%.*s` requires %s%d parameters but the actual number is %zu.",
                    STR_ARG(form->name), form->argument_max < 0 ? "at least " : "",
                    form->argument_min, count);
}

/* What only aggregates and window functions take. */
static Error *check_scalar_call(const AstExpr *expr)
{
    const AstCall *call = expr->call;
    const char *what = NULL;
    if (call->over != NULL) {
        return error_at(ERROR_UNSUPPORTED_EXPR_FOR_WINDOW, expr->place,
                        "Expression \"%.*s\" not supported within a window function.",
                        STR_ARG(expr->text));
    }
    if (call->filter != NULL) {
        what = "FILTER CLAUSE";
    } else if (call->within_group_count > 0) {
        what = "WITHIN GROUP (ORDER BY ...)";
    } else if (call->distinct) {
        what = "DISTINCT";
    } else if (call->nulls != AST_NULLS_DEFAULT) {
        what = call->nulls == AST_NULLS_IGNORE ? "IGNORE NULLS" : "RESPECT NULLS";
    }
    return what == NULL ? NULL
                        : error_at(ERROR_FUNCTION_WITH_UNSUPPORTED_SYNTAX, expr->place,
                                   "Invalid SQL syntax: The function `%.*s` does not support %s.",
                                   STR_ARG(call->name.text), what);
}

/* f(*): every column that `*` shows. */
static void bind_star_argument(Binder *binder, const Scope *scope, const AstExpr *expr, Call *call)
{
    call->arguments = arena_new_array(binder->arena, BoundExpr *, scope->column_count);
    for (size_t i = 0; i < scope->column_count; i++) {
        const ScopeColumn *column = &scope->columns[i];
        if (!column->hidden) {
            call->arguments[call->argument_count++] =
                bound_column(binder->arena, column->field, column->column, expr->place);
        }
    }
}

static Error *bind_arguments(Binder *binder, const Scope *scope, const AstExpr *expr, Call *call)
{
    const AstCall *ast = expr->call;
    if (ast->star) {
        bind_star_argument(binder, scope, expr, call);
        return NULL;
    }
    call->arguments = arena_new_array(binder->arena, BoundExpr *, ast->argument_count);
    call->argument_count = ast->argument_count;
    for (size_t i = 0; i < ast->argument_count; i++) {
        const AstArgument *argument = &ast->arguments[i];
        if (argument->name.name.data != NULL) {
            return not_yet(argument->name.place, "A named argument of a scalar function");
        }
        TRY(bind_expr(binder, scope, argument->expr, &call->arguments[i]));
    }
    return NULL;
}

static Error *unresolved_qualified(const AstExpr *expr)
{
    return error_at(ERROR_UNRESOLVED_ROUTINE, expr->place,
                    "Cannot resolve routine `%.*s` on search path [`system`.`builtin`, "
                    "`system`.`session`].",
                    STR_ARG(expr->call->name.text));
}

/* Aggregates, generators and names that do not exist are told before their arguments are looked
 * at: what stands in count(*) or explode(tags) matters less. */
static Error *check_function_name(Binder *binder, const AstExpr *expr, Str name)
{
    const Function *function = binder->context->functions->find(name);
    if (function != NULL && function->kind == FUNCTION_SCALAR) {
        return check_scalar_call(expr);
    }
    BoundExpr pattern = {.place = expr->place, .text = expr->text};
    BoundExpr *never = NULL;
    return bind_function(binder, name, NULL, 0, &pattern, &never);
}

static Error *bind_named_call(Binder *binder, const Scope *scope, const AstExpr *expr,
                              BoundExpr **ret)
{
    const AstName *called = &expr->call->name;
    Str name = called->parts[called->part_count - 1].name;
    bool builtin = called->part_count == 1 && binder->context->functions->find(name) != NULL;
    const Routine *routine = builtin ? NULL : find_routine(binder, called);
    if (routine != NULL) {
        return bind_routine_call(binder, scope, expr, routine);
    }
    if (called->part_count != 1) {
        return unresolved_qualified(expr);
    }
    if (str_equal_ignore_case(name, STR("window")) && expr->call->over == NULL) {
        return bind_time_window(binder, scope, expr, ret);
    }
    const Function *special = binder->context->functions->find(name);
    if (special != NULL &&
        (special->kind == FUNCTION_AGGREGATE || special->kind == FUNCTION_WINDOW)) {
        return bind_special_call(binder, scope, expr, special, ret);
    }
    bool has_unit = false;
    TRY(bind_unit_call(binder, scope, expr, &has_unit, ret));
    if (has_unit) {
        return NULL;
    }
    const Form *form = find_form(name);
    const Type *cast =
        expr->call->argument_count == 1 ? cast_function_type(binder->arena, name) : NULL;
    bool is_struct = str_equal_ignore_case(name, STR("struct"));
    if (form == NULL && cast == NULL && !is_struct) {
        TRY(check_function_name(binder, expr, name));
    } else {
        TRY(check_scalar_call(expr));
    }
    const Function *function = form == NULL ? binder->context->functions->find(name) : NULL;
    if (function != NULL && (function->flags & FUNCTION_HIGHER_ORDER) != 0) {
        return bind_higher_order(binder, scope, expr, function, ret);
    }
    Call call = {.binder = binder, .expr = expr};
    call.pattern = (BoundExpr){.place = expr->place, .text = bound_text(binder, expr)};
    TRY(bind_arguments(binder, scope, expr, &call));
    if (form != NULL) {
        TRY(check_form_arguments(form, call.argument_count, expr->place));
        return form->bind(&call, ret);
    }
    if (cast != NULL) {
        return bind_cast_function(&call, cast, ret);
    }
    if (is_struct) {
        Str *names = arena_new_array(binder->arena, Str, call.argument_count);
        for (size_t i = 0; i < call.argument_count; i++) {
            names[i] = expr->call->star
                           ? call.arguments[i]->text
                           : struct_field_name(binder, scope, expr->call->arguments[i].expr,
                                               call.arguments[i], i);
        }
        return make_struct(binder, &call.pattern, call.arguments, names, call.argument_count, ret);
    }
    return bind_function(binder, name, call.arguments, call.argument_count, &call.pattern, ret);
}

/* -------------------------------------------------------------- TRIM --- */

static Error *bind_trim(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstTrim *trim = &expr->trim;
    static const char *const names[] = {
        [AST_TRIM_BOTH] = "trim", [AST_TRIM_LEADING] = "ltrim", [AST_TRIM_TRAILING] = "rtrim"};
    /* trim(characters, text), as Spark's ltrim and rtrim have it. */
    BoundExpr *arguments[2] = {NULL, NULL};
    size_t count = 0;
    if (trim->characters != NULL) {
        TRY(bind_expr(binder, scope, trim->characters, &arguments[count++]));
    }
    TRY(bind_expr(binder, scope, trim->source, &arguments[count++]));
    BoundExpr pattern = {.place = expr->place, .text = bound_text(binder, expr)};
    return bind_function(binder, str_from(names[trim->kind]), arguments, count, &pattern, ret);
}

Error *bind_call(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    if (expr->kind == AST_EXPR_EXTRACT) {
        return bind_extract(binder, scope, expr, ret);
    }
    if (expr->kind == AST_EXPR_TRIM) {
        return bind_trim(binder, scope, expr, ret);
    }
    return bind_named_call(binder, scope, expr, ret);
}
