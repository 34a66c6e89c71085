/* Generators: functions that give several rows of several columns for one row. explode(x) as an
 * item of a SELECT list, in FROM, behind LATERAL or LATERAL VIEW is always the same node: GENERATE,
 * which puts the generator's columns behind those of its child. */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------- the call --- */

static const Function *called_function(const Binder *binder, const AstName *name)
{
    return name->part_count == 1 ? binder->context->functions->find(name->parts[0].name) : NULL;
}

bool is_generator_call(const Binder *binder, const AstExpr *expr)
{
    if (expr->kind != AST_EXPR_CALL || expr->call->over != NULL) {
        return false;
    }
    const Function *function = called_function(binder, &expr->call->name);
    return function != NULL && function->kind == FUNCTION_GENERATOR;
}

bool is_generator_relation(const Binder *binder, const AstRelation *relation)
{
    if (relation->kind != AST_RELATION_FUNCTION) {
        return false;
    }
    const Function *function = called_function(binder, &relation->name);
    return function != NULL && function->kind == FUNCTION_GENERATOR;
}

Error *generator_outside_select(Binder *binder, const AstExpr *call, const char *where)
{
    Str text = bound_text(binder, call);
    return error_at(ERROR_GENERATOR_OUTSIDE_SELECT, call->place,
                    "The generator is not supported: outside the SELECT clause, found: %s %.*s.",
                    where, STR_ARG(text));
}

static Error *check_nested(Binder *binder, const AstArgument *arguments, size_t count, Str text)
{
    for (size_t i = 0; i < count; i++) {
        ExprTraits traits;
        expr_traits(binder->context->functions, arguments[i].expr, &traits);
        if (traits.generator != NULL) {
            return error_at(ERROR_GENERATOR_NESTED, traits.generator->place,
                            "The generator is not supported: nested in expressions \"%.*s\".",
                            STR_ARG(text));
        }
    }
    return NULL;
}

/* The types of the call: arguments cast as the function wants them, its columns. */
static Error *resolve_columns(Binder *binder, BoundGenerator *generator, Str text)
{
    FunctionCall call = {
        .function = generator->function,
        .argument_types = arena_new_array(binder->arena, const Type *, generator->argument_count),
        .argument_count = generator->argument_count,
        .arguments = generator->arguments,
        .arena = binder->arena,
        .place = generator->place,
        .text = text};
    for (size_t i = 0; i < call.argument_count; i++) {
        call.argument_types[i] = generator->arguments[i]->type;
    }
    const Type *type = NULL;
    TRY(generator->function->resolve(&call, &type));
    assert(type->kind == TYPE_STRUCT);
    for (size_t i = 0; i < call.argument_count; i++) {
        TRY(bound_cast(binder, generator->arguments[i], call.argument_types[i],
                       &generator->arguments[i]));
    }
    generator->fields = type->fields;
    generator->field_count = type->field_count;
    return NULL;
}

static Error *bind_generator_arguments(Binder *binder, const Scope *scope,
                                       const AstArgument *arguments, size_t count, Str text,
                                       BoundGenerator *generator)
{
    const Function *function = generator->function;
    if (function->resolve == NULL) {
        return not_yet(generator->place, "The generator function %s", function->name);
    }
    TRY(check_nested(binder, arguments, count, text));
    TRY(check_argument_count(function, count, generator->place));
    generator->arguments = arena_new_array(binder->arena, BoundExpr *, count);
    generator->argument_count = count;
    for (size_t i = 0; i < count; i++) {
        if (arguments[i].name.name.data != NULL) {
            return not_yet(arguments[i].name.place, "A named argument of a generator");
        }
        TRY(bind_expr(binder, scope, arguments[i].expr, &generator->arguments[i]));
    }
    generator->outer = str_ends_with(str_from(function->name), STR("_outer"));
    return resolve_columns(binder, generator, text);
}

static Error *rename_fields(Binder *binder, const AstIdentifier *aliases, size_t alias_count,
                            BoundGenerator *generator)
{
    if (alias_count == 0) {
        return NULL;
    }
    if (alias_count != generator->field_count) {
        return error_at(ERROR_UDTF_ALIAS_NUMBER_MISMATCH, generator->place,
                        "The number of aliases supplied in the AS clause does not match the number "
                        "of columns output by the UDTF. Expected %zu aliases, but got %zu.",
                        generator->field_count, alias_count);
    }
    Field *fields = arena_new_array(binder->arena, Field, alias_count);
    for (size_t i = 0; i < alias_count; i++) {
        fields[i] = generator->fields[i];
        fields[i].name = aliases[i].name;
    }
    generator->fields = fields;
    return NULL;
}

Error *bind_generator(Binder *binder, const Scope *scope, const AstExpr *call,
                      const AstIdentifier *aliases, size_t alias_count, BoundGenerator *ret)
{
    assert(is_generator_call(binder, call));
    BoundGenerator generator = {.function = called_function(binder, &call->call->name),
                                .place = call->place};
    TRY(bind_generator_arguments(binder, scope, call->call->arguments, call->call->argument_count,
                                 bound_text(binder, call), &generator));
    TRY(rename_fields(binder, aliases, alias_count, &generator));
    *ret = generator;
    return NULL;
}

/* ---------------------------------------------------------------- nodes --- */

BoundNode *bound_generate(Binder *binder, BoundNode *child, const BoundGenerator *generator)
{
    size_t width = child->schema->field_count;
    size_t count = width + generator->field_count;
    Field *fields = arena_new_array(binder->arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = i < width ? child->schema->fields[i] : generator->fields[i - width];
        fields[i].not_null = fields[i].not_null && (i < width || !generator->outer);
    }
    BoundNode *node = bound_node_new(binder, BOUND_GENERATE,
                                     schema_new(binder->arena, fields, count), generator->place);
    node->child = child;
    node->generator = generator->function;
    node->outer = generator->outer;
    node->expressions = generator->arguments;
    node->expression_count = generator->argument_count;
    return node;
}

BoundNode *bound_select_generate(Binder *binder, BoundNode *child, const BoundGenerator *generator,
                                 BoundExpr **expressions)
{
    BoundNode *node = bound_generate(binder, child, generator);
    size_t width = child->schema->field_count;
    for (size_t i = 0; i < generator->field_count; i++) {
        expressions[generator->first_item + i] =
            bound_column(binder->arena, &node->schema->fields[width + i], (uint32_t)(width + i),
                         generator->place);
    }
    return node;
}

/* GENERATE over the relation; its columns are named behind those of `from`. */
static void add_generator(Binder *binder, FromResult *from, const BoundGenerator *generator,
                          const Scope *added)
{
    uint32_t width = (uint32_t)from->node->schema->field_count;
    size_t before = from->scope.column_count;
    ScopeColumn *columns =
        arena_new_array(binder->arena, ScopeColumn, before + added->column_count);
    for (size_t i = 0; i < before; i++) {
        columns[i] = from->scope.columns[i];
    }
    for (size_t i = 0; i < added->column_count; i++) {
        columns[before + i] = added->columns[i];
        columns[before + i].column += width;
    }
    from->node = bound_generate(binder, from->node, generator);
    from->scope = (Scope){.columns = columns, .column_count = before + added->column_count};
}

/* --------------------------------------------------------- LATERAL VIEW --- */

static Error *not_a_generator(Binder *binder, const AstLateralView *view)
{
    const AstName *name = &view->call->call->name;
    if (called_function(binder, name) == NULL) {
        Error *error = error_at(ERROR_ROUTINE_NOT_FOUND, view->call->place,
                                "The routine `%.*s` cannot be found.", STR_ARG(name->text));
        const char *nearest =
            binder->context->functions->nearest(name->parts[name->part_count - 1].name);
        return nearest == NULL ? error : error_set_hint(error, "did you mean `%s`?", nearest);
    }
    return error_at(ERROR_NOT_GENERATOR, view->call->place,
                    "The generator is not supported: `%.*s` is expected to be a generator.",
                    STR_ARG(name->text));
}

Error *bind_lateral_view(Binder *binder, const AstLateralView *view, FromResult *from)
{
    if (!is_generator_call(binder, view->call)) {
        return not_a_generator(binder, view);
    }
    BoundGenerator generator;
    TRY(bind_generator(binder, &from->scope, view->call, view->columns.items,
                       view->columns.item_count, &generator));
    generator.outer = generator.outer || view->outer;
    const Schema *schema = schema_new(binder->arena, generator.fields, generator.field_count);
    ScopeQualifier qualifier = {.parts = {view->alias.name}, .part_count = 1};
    Scope added = scope_of_schema(binder->arena, schema,
                                  view->alias.name.data == NULL ? NULL : &qualifier, 0);
    add_generator(binder, from, &generator, &added);
    return NULL;
}

/* ------------------------------------------------------ table functions --- */

/* Its columns under the names of the relation's alias. */
static Error *generator_scope(Binder *binder, const AstRelation *ast,
                              const BoundGenerator *generator, Scope *ret_scope)
{
    size_t named = ast->alias.columns.item_count;
    if (named > 0 && named != generator->field_count) {
        return error_at(ERROR_TABLE_VALUE_ALIASES_MISMATCH, ast->place,
                        "Number of given aliases does not match number of output columns. Function "
                        "name: %.*s; number of aliases: %zu; number of output columns: %zu.",
                        STR_ARG(ast->name.text), named, generator->field_count);
    }
    const Schema *schema = schema_new(binder->arena, generator->fields, generator->field_count);
    FromResult result = {.scope = scope_of_schema(binder->arena, schema, NULL, 0)};
    TRY(rename_columns(binder, &ast->alias, ast->place, &result));
    *ret_scope = result.scope;
    return NULL;
}

static Error *bind_generator_relation(Binder *binder, const Scope *scope, const AstRelation *ast,
                                      BoundGenerator *ret, Scope *ret_scope)
{
    *ret = (BoundGenerator){.function = called_function(binder, &ast->name), .place = ast->place};
    TRY(bind_generator_arguments(binder, scope, ast->arguments, ast->argument_count, ast->text,
                                 ret));
    return generator_scope(binder, ast, ret, ret_scope);
}

/* FROM explode(array(1, 2)) */
static Error *bind_generator_alone(Binder *binder, const AstRelation *ast, FromResult *result)
{
    static const Schema empty = {.fields = NULL, .field_count = 0};
    BoundGenerator generator;
    Scope nothing = {0};
    Scope scope;
    TRY(bind_generator_relation(binder, &nothing, ast, &generator, &scope));
    BoundNode *row = bound_node_new(binder, BOUND_ONE_ROW, &empty, ast->place);
    result->node = bound_generate(binder, row, &generator);
    result->scope = scope;
    return NULL;
}

/* Is it a join that keeps the rows of the left, on a condition that may not hold? */
static bool is_conditional(const AstJoin *join)
{
    return join->type == AST_JOIN_LEFT && join->on != NULL &&
           !(join->on->kind == AST_EXPR_LITERAL && join->on->literal.kind == AST_LITERAL_TRUE);
}

bool is_lateral_generator(const Binder *binder, const AstJoin *join)
{
    return join->relation->lateral && is_generator_relation(binder, join->relation) &&
           !is_conditional(join);
}

Error *bind_lateral_generator(Binder *binder, const AstJoin *join, FromResult *left)
{
    BoundGenerator generator;
    Scope added;
    TRY(bind_generator_relation(binder, &left->scope, join->relation, &generator, &added));
    /* Spark forgets LEFT where there is no condition. */
    generator.outer = generator.outer || (join->type == AST_JOIN_LEFT && join->on != NULL);
    add_generator(binder, left, &generator, &added);
    if (join->on != NULL && join->type != AST_JOIN_LEFT) {
        BoundNode *filter =
            bound_node_new(binder, BOUND_FILTER, left->node->schema, join->on->place);
        filter->expressions = arena_new_array(binder->arena, BoundExpr *, 1);
        filter->expression_count = 1;
        TRY(bind_join_condition(binder, &left->scope, join->on, &filter->expressions[0]));
        filter->child = left->node;
        left->node = filter;
    }
    return NULL;
}

static Error *not_a_table_function(Binder *binder, const AstRelation *ast, const Function *function)
{
    if (function == NULL) {
        Error *error = error_at(ERROR_UNRESOLVABLE_TABLE_FUNCTION, ast->place,
                                "Could not resolve `%.*s` to a table-valued function.",
                                STR_ARG(ast->name.text));
        const char *nearest =
            binder->context->functions->nearest(ast->name.parts[ast->name.part_count - 1].name);
        return nearest == NULL ? error : error_set_hint(error, "did you mean `%s`?", nearest);
    }
    if (function->kind == FUNCTION_TABLE) {
        return not_yet(ast->place, "The table function %s", function->name);
    }
    return error_at(ERROR_NOT_A_TABLE_FUNCTION, ast->place,
                    "`%s` appears as a table function here, but the function was defined as a "
                    "scalar function. Please update the query to move the function call outside "
                    "the FROM clause, or redefine `%s` as a table function instead.",
                    function->name, function->name);
}

Error *bind_table_function(Binder *binder, const AstRelation *ast, FromResult *result)
{
    if (is_read_function(ast)) {
        return bind_read_function(binder, ast, result);
    }
    if (ast->stream) { /* RU-37 */
        return error_set_hint(error_at(ERROR_NOT_STREAMING, ast->place,
                                       "The function %.*s gives a table and cannot be read as a "
                                       "stream.",
                                       STR_ARG(ast->name.text)),
                              "STREAM reads read_files(…), read_kafka(…) and sources by name");
    }
    if (is_generator_relation(binder, ast)) {
        return bind_generator_alone(binder, ast, result);
    }
    if (ast->name.part_count == 1 && str_equal_ignore_case(ast->name.parts[0].name, STR("range"))) {
        return bind_range(binder, ast, result);
    }
    return not_a_table_function(binder, ast, called_function(binder, &ast->name));
}
