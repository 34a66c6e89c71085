/* Where a user's function is named: calls, masks, row filters, DESCRIBE FUNCTION. Do its parameters
 * take what it is given? */
#include "processor/bind/coerce.h"
#include "processor/bind/routine.h"

#include "processor/base/banned.h"

const Routine *find_routine(const Binder *binder, const AstName *name)
{
    Str parts[3];
    const Catalog *catalog = binder->context->catalog;
    size_t count = ast_name_parts(name, parts, ARRAY_LENGTH(parts));
    if (catalog == NULL || count == 0) {
        return NULL;
    }
    if (binder->defined_routine.data != NULL &&
        str_equal(binder->defined_routine,
                  catalog_full_name(catalog, parts, count, binder->arena))) {
        return NULL;
    }
    return catalog_find_routine(catalog, parts, count);
}

static COLD RETURNS_NONNULL Error *unresolved(const Binder *binder, const AstName *name)
{
    Error *error = error_at(ERROR_UNRESOLVED_ROUTINE, name->place,
                            "Cannot resolve routine `%.*s` on search path [`system`.`builtin`, "
                            "`system`.`session`].",
                            STR_ARG(name->text));
    Str nearest = catalog_nearest_routine(binder->context->catalog, name->text);
    if (nearest.data != NULL) {
        return error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
    }
    const char *builtin = binder->context->functions->nearest(name->parts[0].name);
    return name->part_count > 1 || builtin == NULL
               ? error
               : error_set_hint(error, "did you mean `%s`?", builtin);
}

Error *check_function_exists(Binder *binder, const AstName *name)
{
    bool builtin =
        name->part_count == 1 && binder->context->functions->find(name->parts[0].name) != NULL;
    return builtin || find_routine(binder, name) != NULL ? NULL : unresolved(binder, name);
}

/* -------------------------------------------------------------- arguments --- */

static Error *wrong_count(const Routine *routine, size_t count, SourcePlace place)
{
    size_t required = 0;
    while (required < routine->parameter_count && !routine->parameters[required].has_default) {
        required++;
    }
    if (count >= required && count <= routine->parameter_count) {
        return NULL;
    }
    return error_at(ERROR_WRONG_NUM_ARGS, place,
                    "The `%.*s` requires %zu parameters but the actual number is %zu.",
                    STR_ARG(routine->name), routine->parameter_count, count);
}

static Error *check_argument(Binder *binder, const RoutineParameter *parameter, const Type *type,
                             SourcePlace place, Str text)
{
    BoundExpr pattern = {.place = place, .text = text};
    return check_cast(binder, type, parameter->type, false, &pattern);
}

/* ------------------------------------------------------------------ calls --- */

static Error *parameter_named(const Routine *routine, const AstIdentifier *name, size_t *ret_index)
{
    for (size_t i = 0; i < routine->parameter_count; i++) {
        if (str_equal_ignore_case(routine->parameters[i].name, name->name)) {
            *ret_index = i;
            return NULL;
        }
    }
    return error_at(ERROR_UNRECOGNIZED_PARAMETER, name->place,
                    "Cannot invoke routine `%.*s` because the routine call included a named "
                    "argument reference for the argument named `%.*s`, but this routine does not "
                    "include any signature containing an argument with this name.",
                    STR_ARG(routine->name), STR_ARG(name->name));
}

/* The parameter that argument `index` of the call is for; each gets one. */
static Error *place_argument(const AstCall *call, size_t index, const Routine *routine, bool *given,
                             size_t *ret_parameter)
{
    const AstIdentifier *name = &call->arguments[index].name;
    size_t parameter = index;
    if (name->name.data != NULL) {
        TRY(parameter_named(routine, name, &parameter));
    } else if (index > 0 && call->arguments[index - 1].name.name.data != NULL) {
        return error_at(ERROR_UNEXPECTED_POSITIONAL_ARGUMENT, call->arguments[index].expr->place,
                        "Cannot invoke routine `%.*s` because it contains positional argument(s) "
                        "following the named argument assigned to `%.*s`.",
                        STR_ARG(routine->name), STR_ARG(call->arguments[index - 1].name.name));
    }
    if (given[parameter]) {
        return error_at(ERROR_DOUBLE_ARGUMENT, name->place,
                        "Call to routine `%.*s` is invalid because it includes multiple argument "
                        "assignments to the same parameter name `%.*s`.",
                        STR_ARG(routine->name), STR_ARG(routine->parameters[parameter].name));
    }
    given[parameter] = true;
    *ret_parameter = parameter;
    return NULL;
}

static Error *check_required(const Routine *routine, const bool *given, SourcePlace place)
{
    for (size_t i = 0; i < routine->parameter_count; i++) {
        if (!given[i] && !routine->parameters[i].has_default) {
            return error_at(ERROR_REQUIRED_PARAMETER_NOT_FOUND, place,
                            "Cannot invoke routine `%.*s` because the parameter named `%.*s` is "
                            "required, but the routine call did not supply a value.",
                            STR_ARG(routine->name), STR_ARG(routine->parameters[i].name));
        }
    }
    return NULL;
}

Error *bind_routine_call(Binder *binder, const Scope *scope, const AstExpr *expr,
                         const Routine *routine)
{
    const AstCall *call = expr->call;
    bool *given = arena_new_array(binder->arena, bool, routine->parameter_count + 1);
    if (routine->signature_known) {
        TRY(wrong_count(routine, call->argument_count, expr->place));
    }
    for (size_t i = 0; i < call->argument_count; i++) {
        BoundExpr *value = NULL;
        size_t parameter = 0;
        TRY(bind_expr(binder, scope, call->arguments[i].expr, &value));
        if (routine->signature_known) {
            TRY(place_argument(call, i, routine, given, &parameter));
            TRY(check_argument(binder, &routine->parameters[parameter], value->type, value->place,
                               value->text));
        }
    }
    if (routine->signature_known) {
        TRY(check_required(routine, given, expr->place));
    }
    return not_yet(expr->place, "A call of the user's function %.*s", STR_ARG(routine->name));
}

typedef struct Search {
    const Binder *binder;
    const AstExpr *found;
} Search;

static void search(void *context, const AstExpr *expr)
{
    Search *state = context;
    if (state->found == NULL && expr->kind == AST_EXPR_CALL &&
        (expr->call->name.part_count > 1 ||
         state->binder->context->functions->find(expr->call->name.parts[0].name) == NULL) &&
        find_routine(state->binder, &expr->call->name) != NULL) {
        state->found = expr;
    }
    expr_visit_children(expr, search, state);
}

const AstExpr *find_routine_call(const Binder *binder, const AstExpr *expr)
{
    Search state = {binder, NULL};
    search(&state, expr);
    return state.found;
}

/* ------------------------------------------------------ masks and filters --- */

/* What a mask or filter is given: a column's value or a literal's. */
static Error *argument_type(Binder *binder, const AstRoutineArgument *argument,
                            const Schema *schema, const Type **ret_type, SourcePlace *ret_place)
{
    if (argument->literal != NULL) {
        const Scope nothing = {.column_count = 0};
        BoundExpr *value = NULL;
        TRY(bind_expr(binder, &nothing, argument->literal, &value));
        *ret_type = value->type;
        *ret_place = argument->literal->place;
        return NULL;
    }
    int column = schema_find(schema, argument->column.name);
    if (column < 0) {
        return schema_unresolved(schema, &argument->column);
    }
    *ret_type = schema->fields[column].type;
    *ret_place = argument->column.place;
    return NULL;
}

/* The arguments behind the first `before` ones, which are given by the place. */
static Error *check_routine_arguments(Binder *binder, const AstRoutine *use, const Routine *routine,
                                      const Schema *schema, size_t before)
{
    for (size_t i = 0; i < use->argument_count; i++) {
        const Type *type = NULL;
        SourcePlace place = use->place;
        TRY(argument_type(binder, &use->arguments[i], schema, &type, &place));
        if (routine->signature_known && before + i < routine->parameter_count) {
            TRY(check_argument(binder, &routine->parameters[before + i], type, place,
                               routine->name));
        }
    }
    return routine->signature_known
               ? wrong_count(routine, before + use->argument_count, use->function.place)
               : NULL;
}

Error *check_mask(Binder *binder, const AstRoutine *mask, const Schema *schema, const Field *column)
{
    const Routine *routine = find_routine(binder, &mask->function);
    if (routine == NULL) {
        return unresolved(binder, &mask->function);
    }
    TRY(check_routine_arguments(binder, mask, routine, schema, 1));
    if (!routine->signature_known) {
        return NULL;
    }
    TRY(check_argument(binder, &routine->parameters[0], column->type, mask->function.place,
                       column->name));
    AUTO(error)
    Error *impossible =
        check_argument(binder, &(RoutineParameter){column->name, column->type, false},
                       routine->returns, mask->function.place, routine->name);
    return impossible == NULL
               ? NULL
               : error_at(ERROR_RETURN_TYPE_MISMATCH, mask->function.place,
                          "The mask `%.*s` gives \"%s\", which cannot be cast to the type \"%s\" "
                          "of the column `%.*s`.",
                          STR_ARG(routine->name), type_text(binder->arena, routine->returns),
                          type_text(binder->arena, column->type), STR_ARG(column->name));
}

Error *check_row_filter(Binder *binder, const AstRoutine *filter, const Schema *schema)
{
    const Routine *routine = find_routine(binder, &filter->function);
    if (routine == NULL) {
        return unresolved(binder, &filter->function);
    }
    TRY(check_routine_arguments(binder, filter, routine, schema, 0));
    bool boolean = !routine->signature_known || routine->returns->kind == TYPE_BOOLEAN ||
                   routine->returns->kind == TYPE_NULL;
    return boolean ? NULL
                   : error_at(ERROR_FILTER_NOT_BOOLEAN, filter->function.place,
                              "The row filter `%.*s` gives \"%s\" and not \"BOOLEAN\".",
                              STR_ARG(routine->name), type_text(binder->arena, routine->returns));
}
