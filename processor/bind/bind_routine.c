/* CREATE FUNCTION and DROP FUNCTION (SQ-48): parameters, body, result. The body is bound over the
 * parameters as its only columns; a query as body is a scalar subquery that may name them. */
#include "processor/bind/coerce.h"
#include "processor/bind/routine.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------ parameters --- */

static Error *duplicate_parameter(const AstCreateFunction *create, size_t index)
{
    const AstIdentifier *name = &create->parameters[index].name;
    for (size_t i = 0; i < index; i++) {
        if (str_equal_ignore_case(create->parameters[i].name.name, name->name)) {
            return error_at(ERROR_DUPLICATE_PARAMETER, name->place,
                            "Found duplicate name(s) in the parameter list of the user-defined "
                            "routine `%.*s`: `%.*s`.",
                            STR_ARG(create->name.text), STR_ARG(name->name));
        }
    }
    return NULL;
}

static Error *check_default_position(const AstCreateFunction *create, size_t index)
{
    const AstParameter *parameter = &create->parameters[index];
    if (index == 0 || parameter->default_ != NULL ||
        create->parameters[index - 1].default_ == NULL) {
        return NULL;
    }
    return error_at(ERROR_DEFAULT_PARAMETER_POSITION, parameter->name.place,
                    "User defined function is invalid: In routine `%.*s` parameter `%.*s` with "
                    "DEFAULT must not be followed by parameter `%.*s` without DEFAULT.",
                    STR_ARG(create->name.text), STR_ARG(create->parameters[index - 1].name.name),
                    STR_ARG(parameter->name.name));
}

static Error *check_default(Binder *binder, const AstParameter *parameter, const Type *type)
{
    const Scope nothing = {.column_count = 0};
    BoundExpr *value = NULL;
    TRY(bind_expr(binder, &nothing, parameter->default_, &value));
    return check_cast(binder, value->type, type, false, value);
}

static bool bind_parameter_list(Binder *binder, const AstCreateFunction *create, Routine *routine)
{
    bool ok = true;
    RoutineParameter *parameters =
        arena_new_array(binder->arena, RoutineParameter, create->parameter_count);
    for (size_t i = 0; i < create->parameter_count; i++) {
        const AstParameter *ast = &create->parameters[i];
        parameters[i] = (RoutineParameter){ast->name.name, &type_null, ast->default_ != NULL};
        ok = binder_report(binder, duplicate_parameter(create, i)) && ok;
        ok = binder_report(binder, check_default_position(create, i)) && ok;
        if (!binder_report(binder, bind_type(binder->arena, ast->type, &parameters[i].type))) {
            ok = false;
        } else if (ast->default_ != NULL) {
            ok = binder_report(binder, check_default(binder, ast, parameters[i].type)) && ok;
        }
    }
    routine->parameters = parameters;
    routine->parameter_count = create->parameter_count;
    return ok;
}

/* ------------------------------------------------------------------ body --- */

static Scope parameter_scope(Binder *binder, const AstCreateFunction *create,
                             const Routine *routine)
{
    Field *fields = arena_new_array(binder->arena, Field, routine->parameter_count);
    for (size_t i = 0; i < routine->parameter_count; i++) {
        fields[i] =
            (Field){routine->parameters[i].name, routine->parameters[i].type, false, STR_NULL};
    }
    const AstIdentifier *last = &create->name.parts[create->name.part_count - 1];
    ScopeQualifier qualifier = {.parts = {last->name}, .part_count = 1};
    return scope_of_schema(
        binder->arena, schema_new(binder->arena, fields, routine->parameter_count), &qualifier, 0);
}

static Error *check_body_parts(Binder *binder, const AstExpr *body)
{
    ExprTraits traits;
    expr_traits(binder->context->functions, body, &traits);
    const AstExpr *part = traits.aggregate != NULL  ? traits.aggregate
                          : traits.analytic != NULL ? traits.analytic
                                                    : traits.generator;
    return part == NULL
               ? NULL
               : error_set_hint(error_at(ERROR_COMPLEX_FUNCTION_BODY, part->place,
                                         "User defined function is invalid: SQL scalar function "
                                         "cannot contain aggregate/window/generate functions: "
                                         "%.*s.",
                                         STR_ARG(part->text)),
                                "RETURN SELECT … may hold them");
}

/* The body as an expression: a query is a scalar subquery. */
static const AstExpr *body_of(Binder *binder, const AstCreateFunction *create)
{
    if (create->expr != NULL) {
        return create->expr;
    }
    AstExpr *expr = arena_new_object(binder->arena, AstExpr);
    *expr = (AstExpr){.kind = AST_EXPR_SUBQUERY,
                      .place = create->query->place,
                      .text = create->query->text,
                      .subquery = create->query};
    return expr;
}

static Error *bind_body(Binder *binder, const AstCreateFunction *create, Routine *routine)
{
    const AstExpr *body = body_of(binder, create);
    Scope scope = parameter_scope(binder, create, routine);
    BoundExpr *bound = NULL;
    TRY(check_body_parts(binder, body));
    TRY(bind_expr(binder, &scope, body, &bound));
    if (create->returns == NULL) {
        routine->returns = bound->type;
        return NULL;
    }
    AUTO(error) Error *impossible = check_cast(binder, bound->type, routine->returns, false, bound);
    return impossible == NULL
               ? NULL
               : error_at(ERROR_RETURN_TYPE_MISMATCH, body->place,
                          "The body of the function `%.*s` has the type \"%s\", which cannot be "
                          "cast to its declared type \"%s\".",
                          STR_ARG(create->name.text), type_text(binder->arena, bound->type),
                          type_text(binder->arena, routine->returns));
}

/* --------------------------------------------------------------- options --- */

static bool is_determinism(AstFunctionOptionKind kind)
{
    return kind == AST_FUNCTION_DETERMINISTIC || kind == AST_FUNCTION_NOT_DETERMINISTIC;
}

static const char *option_name(AstFunctionOptionKind kind)
{
    switch (kind) {
    case AST_FUNCTION_COMMENT:
        return "COMMENT";
    case AST_FUNCTION_LANGUAGE_SQL:
        return "LANGUAGE";
    case AST_FUNCTION_DETERMINISTIC:
    case AST_FUNCTION_NOT_DETERMINISTIC:
        return "DETERMINISTIC";
    }
    return "";
}

static void check_options(Binder *binder, const AstCreateFunction *create)
{
    for (size_t i = 0; i < create->option_count; i++) {
        const AstFunctionOption *option = &create->options[i];
        for (size_t k = 0; k < i; k++) {
            AstFunctionOptionKind other = create->options[k].kind;
            if (other == option->kind || (is_determinism(other) && is_determinism(option->kind))) {
                binder_report(binder,
                              error_at(ERROR_DUPLICATE_CLAUSES, option->place,
                                       "Found duplicate clauses: %s. Please, remove one of them.",
                                       option_name(option->kind)));
                break;
            }
        }
    }
}

static void check_head(Binder *binder, const AstCreateFunction *create)
{
    if (create->if_not_exists && create->or_replace) {
        binder_report(binder, error_at(ERROR_CREATE_ROUTINE_CONFLICT, create->if_not_exists_place,
                                       "Invalid SQL syntax: Cannot create a routine with both IF "
                                       "NOT EXISTS and REPLACE specified."));
    } else if (create->if_not_exists && create->temporary) {
        binder_report(binder,
                      error_set_hint(error_at(ERROR_CREATE_TEMPORARY_FUNCTION_CONFLICT,
                                              create->if_not_exists_place,
                                              "Invalid SQL syntax: CREATE TEMPORARY FUNCTION "
                                              "with IF NOT EXISTS is not allowed."),
                                     "write CREATE OR REPLACE TEMPORARY FUNCTION"));
    }
    if (create->temporary && create->name.part_count > 1) {
        binder_report(binder, error_at(ERROR_INVALID_TEMPORARY_QUALIFIER, create->name.place,
                                       "Temporary FUNCTION `%.*s` cannot be qualified.",
                                       STR_ARG(create->name.text)));
    }
}

/* --------------------------------------------------------------- the whole --- */

static Error *check_new_name(const Binder *binder, const AstCreateFunction *create)
{
    const Routine *existing = find_routine(binder, &create->name);
    bool here = existing != NULL && existing->program == binder->program;
    if (!here || create->or_replace || create->if_not_exists) {
        return NULL; /* one that was there before is defined anew, as tables are (ST-7) */
    }
    return error_set_hint(error_at(ERROR_ROUTINE_ALREADY_EXISTS, create->name.place,
                                   "Cannot create the routine `%.*s` because a routine of that "
                                   "name already exists.",
                                   STR_ARG(create->name.text)),
                          "CREATE OR REPLACE FUNCTION replaces it");
}

void bind_create_function(Binder *binder, const AstCreateFunction *create)
{
    Str parts[3];
    size_t count = ast_name_parts(&create->name, parts, ARRAY_LENGTH(parts));
    check_head(binder, create);
    check_options(binder, create);
    binder_report(binder, check_new_name(binder, create));
    Routine routine = {.name = create->name.text, .program = binder->program};
    bool ok = bind_parameter_list(binder, create, &routine);
    if (create->returns != NULL) {
        ok = binder_report(binder, bind_type(binder->arena, create->returns, &routine.returns)) &&
             ok;
    }
    if (ok) {
        binder->defined_routine =
            catalog_full_name(binder->context->catalog, parts, count, binder->arena);
        (void)binder_report(binder, bind_body(binder, create, &routine));
        binder->defined_routine = STR_NULL;
    }
    routine.signature_known = ok && routine.returns != NULL;
    if (!binder->context->judge_only) {
        catalog_put_routine(binder->context->catalog, parts, count, &routine);
    }
}

void bind_drop_function(Binder *binder, const AstDrop *drop)
{
    if (drop->temporary) {
        return; /* those of the session, which nobody but the session knows */
    }
    const Function *builtin = drop->name.part_count == 1
                                  ? binder->context->functions->find(drop->name.parts[0].name)
                                  : NULL;
    if (find_routine(binder, &drop->name) == NULL && builtin != NULL) {
        binder_report(binder, error_at(ERROR_FORBIDDEN_OPERATION, drop->name.place,
                                       "The operation DROP is not allowed on the FUNCTION: "
                                       "`%.*s`.",
                                       STR_ARG(drop->name.text)));
    } else if (!drop->if_exists && find_routine(binder, &drop->name) == NULL) {
        binder_report(binder, error_at(ERROR_ROUTINE_NOT_FOUND, drop->name.place,
                                       "The routine `%.*s` cannot be found. Verify the spelling "
                                       "and correctness of the schema and catalog.",
                                       STR_ARG(drop->name.text)));
    }
}
