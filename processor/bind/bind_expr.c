/* Expressions: names to columns, operators to functions of the catalog, and every implicit
 * conversion made a CAST. What must not evaluate all its parts (AND, OR, CASE, COALESCE, IN) is a
 * kind of its own, everything else a call. */
#include <assert.h>

#include "processor/bind/binder.h"
#include "processor/bind/coerce.h"
#include "processor/sql/ast_print.h"

#include "processor/base/banned.h"

static BoundExpr pattern_of(Binder *binder, const AstExpr *expr, BoundExprKind kind,
                            const Type *type)
{
    return (BoundExpr){
        .kind = kind, .type = type, .place = expr->place, .text = bound_text(binder, expr)};
}

/* ---------------------------------------------------------------- names --- */

static Error *no_such_field(const Type *type, const AstIdentifier *name)
{
    AUTO_BUFFER Buffer fields = {0};
    for (size_t i = 0; i < type->field_count; i++) {
        buffer_printf(&fields, "%s`%.*s`", i == 0 ? "" : ", ", STR_ARG(type->fields[i].name));
    }
    Error *error =
        error_at(ERROR_FIELD_NOT_FOUND, name->place, "No such struct field `%.*s` in %s.",
                 STR_ARG(name->name), buffer_cstr(&fields));
    Schema schema = {.fields = type->fields, .field_count = type->field_count};
    Str nearest = schema_nearest(&schema, name->name);
    return nearest.data == NULL ? error
                                : error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
}

Error *bind_field(Binder *binder, BoundExpr *base, const AstIdentifier *name,
                  const BoundExpr *pattern, BoundExpr **ret)
{
    const Type *type = base->type;
    if (type->kind == TYPE_ARRAY || type->kind == TYPE_MAP) {
        return bind_part_by_name(binder, base, name, pattern, ret);
    }
    if (type->kind == TYPE_VARIANT) {
        return not_yet(name->place, "Access by dot to a part of the type %s",
                       type_text(binder->arena, type));
    }
    if (type->kind != TYPE_STRUCT) {
        return error_at(ERROR_INVALID_EXTRACT_BASE_FIELD_TYPE, name->place,
                        "Can't extract a value from \"%.*s\". Need a complex type [STRUCT, ARRAY, "
                        "MAP] but got \"%s\".",
                        STR_ARG(base->text), type_text(binder->arena, type));
    }
    size_t found = type->field_count;
    for (size_t i = 0; i < type->field_count; i++) {
        if (str_equal_ignore_case(type->fields[i].name, name->name)) {
            if (found < type->field_count) {
                return error_at(ERROR_AMBIGUOUS_REFERENCE, name->place,
                                "Ambiguous reference to the field `%.*s`. It appears several times "
                                "in the schema.",
                                STR_ARG(name->name));
            }
            found = i;
        }
    }
    if (found == type->field_count) {
        return no_such_field(type, name);
    }
    BoundExpr node = *pattern;
    node.kind = BOUND_FIELD;
    node.type = type->fields[found].type;
    node.field = (uint32_t)found;
    return bound_new(binder, &node, &base, 1, ret);
}

static Error *bind_current_value(Binder *binder, const AstExpr *expr, BoundExpr **ret)
{
    static const char *const names[] = {
        [AST_CURRENT_NONE] = "",
        [AST_CURRENT_DATE] = "current_date",
        [AST_CURRENT_TIMESTAMP] = "current_timestamp",
        [AST_CURRENT_USER] = "current_user",
    };
    BoundExpr pattern = pattern_of(binder, expr, BOUND_CALL, NULL);
    return bind_function(binder, str_from(names[expr->column.current_value]), NULL, 0, &pattern,
                         ret);
}

/* The fields named by the parts of the name from `first` on. */
static Error *bind_fields(Binder *binder, BoundExpr *base, const AstExpr *expr, size_t first,
                          BoundExpr **ret)
{
    const AstName *name = &expr->column.name;
    BoundExpr pattern = pattern_of(binder, expr, BOUND_FIELD, NULL);
    for (size_t i = first; i < name->part_count; i++) {
        TRY(bind_field(binder, base, &name->parts[i], &pattern, &base));
    }
    *ret = base;
    return NULL;
}

/* A name that no column in scope bears. */
static Error *bind_other_name(Binder *binder, const Scope *scope, const AstExpr *expr,
                              BoundExpr **ret)
{
    const AstName *name = &expr->column.name;
    if (name->part_count == 1 && expr->column.current_value != AST_CURRENT_NONE) {
        return bind_current_value(binder, expr, ret);
    }
    size_t used_parts = 0;
    BoundExpr *base = NULL;
    TRY(bind_alias(binder, scope, expr, false, &used_parts, &base));
    if (base == NULL) {
        TRY(bind_outer_column(binder, expr, &base, &used_parts));
    }
    if (base == NULL) {
        return scope_unresolved(scope_shown(scope), name);
    }
    return bind_fields(binder, base, expr, used_parts, ret);
}

static Error *bind_column(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstName *name = &expr->column.name;
    BoundExpr *base = bind_parameter(binder, expr);
    size_t used_parts = 1;
    if (base == NULL) {
        TRY(bind_alias(binder, scope, expr, true, &used_parts, &base));
    }
    if (base != NULL) {
        return bind_fields(binder, base, expr, used_parts, ret);
    }
    bool found = false;
    ScopeMatch match = {0};
    TRY(scope_find(scope, name, &found, &match));
    if (!found) {
        return bind_other_name(binder, scope, expr, ret);
    }
    base = bound_column(binder->arena, match.field, match.column, expr->place);
    /* A column may be called as a function is that needs no parentheses: user, current_date. */
    bool column_of_that_name = expr->column.current_value != AST_CURRENT_NONE;
    base->text = column_of_that_name ? name->text : bound_text(binder, expr);
    return bind_fields(binder, base, expr, match.used_parts, ret);
}

/* ------------------------------------------------------------ operators --- */

Error *bind_boolean(Binder *binder, BoundExpr *expr, const BoundExpr *parent, const char *parameter,
                    BoundExpr **ret)
{
    TypeKind kind = expr->type->kind;
    if (kind == TYPE_BOOLEAN || kind == TYPE_STRING || kind == TYPE_NULL) {
        return bound_cast(binder, expr, &type_boolean, ret);
    }
    return error_at(ERROR_UNEXPECTED_INPUT_TYPE, expr->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The %s parameter requires "
                    "the \"BOOLEAN\" type, however \"%.*s\" has the type \"%s\".",
                    STR_ARG(parent->text), parameter, STR_ARG(expr->text),
                    type_text(binder->arena, expr->type));
}

static Error *bound_not(Binder *binder, BoundExpr *operand, const BoundExpr *pattern,
                        BoundExpr **ret)
{
    BoundExpr node = *pattern;
    node.kind = BOUND_NOT;
    node.type = &type_boolean;
    return bound_new(binder, &node, &operand, 1, ret);
}

/* NOT around the result when `negated`. */
static Error *negate_if(Binder *binder, bool negated, const BoundExpr *pattern, BoundExpr **result)
{
    return negated ? bound_not(binder, *result, pattern, result) : NULL;
}

/* Is `-` directly before a number? -(5) is a negation, -5 a literal. */
static bool is_signed_number(const AstExpr *expr)
{
    const AstExpr *operand = expr->unary.operand;
    if (operand->kind != AST_EXPR_LITERAL || (operand->literal.kind != AST_LITERAL_INTEGER &&
                                              operand->literal.kind != AST_LITERAL_DECIMAL &&
                                              operand->literal.kind != AST_LITERAL_DOUBLE)) {
        return false;
    }
    for (const char *at = expr->text.data; at < operand->text.data; at++) {
        if (*at == '(') {
            return false;
        }
    }
    return true;
}

static Error *bind_unary(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstUnary *unary = &expr->unary;
    if (unary->operator_ == AST_UNARY_MINUS && is_signed_number(expr)) {
        TRY(bind_literal(binder, unary->operand, true, ret));
        (*ret)->place = expr->place;
        (*ret)->text = expr->text;
        return NULL;
    }
    BoundExpr *operand = NULL;
    TRY(bind_expr(binder, scope, unary->operand, &operand));
    BoundExpr pattern = pattern_of(binder, expr, BOUND_CALL, NULL);
    switch (unary->operator_) {
    case AST_UNARY_NOT:
        TRY(bind_boolean(binder, operand, &pattern, "first", &operand));
        return bound_not(binder, operand, &pattern, ret);
    case AST_UNARY_MINUS:
        return bind_function(binder, STR("negative"), &operand, 1, &pattern, ret);
    case AST_UNARY_PLUS:
        return bind_function(binder, STR("positive"), &operand, 1, &pattern, ret);
    case AST_UNARY_BIT_NOT:
        return bind_function(binder, STR("~"), &operand, 1, &pattern, ret);
    }
    return error_at(ERROR_INTERNAL_ERROR, expr->place, "unknown unary operator");
}

static const char *operator_name(AstBinaryOperator operator_)
{
    switch (operator_) {
    case AST_BINARY_OR:
        return "or";
    case AST_BINARY_AND:
        return "and";
    case AST_BINARY_EQUAL:
        return "=";
    case AST_BINARY_NULL_SAFE_EQUAL:
        return "<=>";
    case AST_BINARY_NOT_EQUAL:
        return "<>";
    case AST_BINARY_LESS:
        return "<";
    case AST_BINARY_LESS_EQUAL:
        return "<=";
    case AST_BINARY_GREATER:
        return ">";
    case AST_BINARY_GREATER_EQUAL:
        return ">=";
    case AST_BINARY_BIT_OR:
        return "|";
    case AST_BINARY_BIT_XOR:
        return "^";
    case AST_BINARY_BIT_AND:
        return "&";
    case AST_BINARY_SHIFT_LEFT:
        return "<<";
    case AST_BINARY_SHIFT_RIGHT:
        return ">>";
    case AST_BINARY_SHIFT_RIGHT_UNSIGNED:
        return ">>>";
    case AST_BINARY_ADD:
        return "+";
    case AST_BINARY_SUBTRACT:
        return "-";
    case AST_BINARY_CONCAT:
        return "||";
    case AST_BINARY_MULTIPLY:
        return "*";
    case AST_BINARY_DIVIDE:
        return "/";
    case AST_BINARY_REMAINDER:
        return "%";
    case AST_BINARY_DIV:
        return "div";
    }
    return "";
}

static bool is_condition(const Type *type)
{
    return type->kind == TYPE_BOOLEAN || type->kind == TYPE_NULL;
}

/* Does Spark bring the one to the type of the other: a text to a value's, NULL to a text's? */
static bool text_yields(const Type *text, const Type *other)
{
    return text->kind == TYPE_STRING && other->kind != TYPE_ARRAY && other->kind != TYPE_MAP &&
           other->kind != TYPE_STRUCT && other->kind != TYPE_VARIANT;
}

/* Operands of AND and OR are BOOLEANs, or one a text beside a BOOLEAN. */
static Error *check_logic(Binder *binder, const BoundExpr *pattern, const Type *left,
                          const Type *right)
{
    if ((is_condition(left) || left->kind == TYPE_STRING) &&
        (is_condition(right) || right->kind == TYPE_STRING) &&
        ((is_condition(left) && is_condition(right)) || left->kind == TYPE_BOOLEAN ||
         right->kind == TYPE_BOOLEAN)) {
        return NULL;
    }
    const char *left_text = type_text(binder->arena, left);
    if (type_equal(left, right) || text_yields(left, right) || text_yields(right, left)) {
        return error_at(ERROR_BINARY_OP_WRONG_TYPE, pattern->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: the binary operator "
                        "requires the input type \"BOOLEAN\", not \"%s\".",
                        STR_ARG(pattern->text), left_text);
    }
    return error_at(ERROR_BINARY_OP_DIFF_TYPES, pattern->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: the left and right "
                    "operands of the binary operator have incompatible types (\"%s\" and \"%s\").",
                    STR_ARG(pattern->text), left_text, type_text(binder->arena, right));
}

/* AND and OR stay flat: one node however long the chain. */
static Error *bind_logic(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstBinary *binary = &expr->binary;
    bool is_and = binary->steps[0].operator_ == AST_BINARY_AND;
    BoundExpr pattern = pattern_of(binder, expr, is_and ? BOUND_AND : BOUND_OR, &type_boolean);
    size_t count = binary->step_count + 1;
    BoundExpr **children = arena_new_array(binder->arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        const AstExpr *part = i == 0 ? binary->first : binary->steps[i - 1].right;
        TRY(bind_expr(binder, scope, part, &children[i]));
        if (i > 0) {
            const Type *left = i == 1 ? children[0]->type : &type_boolean;
            TRY(check_logic(binder, &pattern, left, children[i]->type));
        }
    }
    for (size_t i = 0; i < count; i++) {
        TRY(bound_cast(binder, children[i], &type_boolean, &children[i]));
    }
    return bound_new(binder, &pattern, children, count, ret);
}

static int count_characters(Str text)
{
    int count = 0;
    for (size_t i = 0; i < text.size; i++) {
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    }
    return count;
}

/* The part of the chain up to and with step i, as an expression of its own. */
static AstExpr chain_prefix(const AstExpr *expr, size_t step)
{
    AstExpr prefix = *expr;
    Str last = expr->binary.steps[step].right->text;
    prefix.binary.step_count = step + 1;
    if (step + 1 < expr->binary.step_count) {
        prefix.text.size = (size_t)(last.data + last.size - expr->text.data);
        prefix.place.length = count_characters(prefix.text);
    }
    return prefix;
}

static Error *bind_binary(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstBinary *binary = &expr->binary;
    AstBinaryOperator level = binary->steps[0].operator_;
    if (level == AST_BINARY_AND || level == AST_BINARY_OR) {
        return bind_logic(binder, scope, expr, ret);
    }
    BoundExpr *left = NULL;
    TRY(bind_expr(binder, scope, binary->first, &left));
    for (size_t i = 0; i < binary->step_count; i++) {
        BoundExpr *pair[2] = {left, NULL};
        TRY(bind_expr(binder, scope, binary->steps[i].right, &pair[1]));
        AstExpr prefix = chain_prefix(expr, i);
        BoundExpr pattern = pattern_of(binder, &prefix, BOUND_CALL, NULL);
        Str name = str_from(operator_name(binary->steps[i].operator_));
        note_step(binder, &binary->steps[i], pair[0]->type, pair[1]->type);
        TRY(bind_function(binder, name, pair, 2, &pattern, &left));
    }
    *ret = left;
    return NULL;
}

/* ----------------------------------------------------------- predicates --- */

static Error *bind_between(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    /* SQ-6: both bounds count. */
    const AstBetween *between = &expr->between;
    BoundExpr *operand = NULL;
    BoundExpr *low = NULL;
    BoundExpr *high = NULL;
    TRY(bind_expr(binder, scope, between->operand, &operand));
    TRY(bind_expr(binder, scope, between->low, &low));
    TRY(bind_expr(binder, scope, between->high, &high));
    BoundExpr pattern = pattern_of(binder, expr, BOUND_AND, &type_boolean);
    BoundExpr *from[2] = {operand, low};
    BoundExpr *to[2] = {operand, high};
    BoundExpr *both[2] = {NULL, NULL};
    TRY(bind_function(binder, STR(">="), from, 2, &pattern, &both[0]));
    TRY(bind_function(binder, STR("<="), to, 2, &pattern, &both[1]));
    TRY(bound_new(binder, &pattern, both, 2, ret));
    return negate_if(binder, between->negated, &pattern, ret);
}

/* Rows are compared field by field, whatever the fields are called: (a, b) IN ((1, 2)). */
static Error *name_fields_as(Binder *binder, const Type *named, BoundExpr **expr)
{
    const Type *type = (*expr)->type;
    if (named->kind != TYPE_STRUCT || type->kind != TYPE_STRUCT ||
        named->field_count != type->field_count) {
        return NULL;
    }
    Field *fields = arena_new_array(binder->arena, Field, type->field_count);
    for (size_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        fields[i].name = named->fields[i].name;
    }
    return bound_cast(binder, *expr, type_struct(binder->arena, fields, type->field_count), expr);
}

static Error *bind_in_list(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstInList *in = &expr->in_list;
    size_t count = in->item_count + 1;
    BoundExpr **children = arena_new_array(binder->arena, BoundExpr *, count);
    BoundExpr ***slots = arena_new_array(binder->arena, BoundExpr **, count);
    for (size_t i = 0; i < count; i++) {
        TRY(bind_expr(binder, scope, i == 0 ? in->operand : in->items[i - 1], &children[i]));
        TRY(name_fields_as(binder, children[0]->type, &children[i]));
        slots[i] = &children[i];
    }
    BoundExpr pattern = pattern_of(binder, expr, BOUND_IN, &type_boolean);
    const Type *type = NULL;
    TRY(bind_common_type(binder, slots, count, "in", &pattern, &type));
    if (!type_is_orderable(type) && type->kind != TYPE_NULL) {
        return error_at(ERROR_UNEXPECTED_INPUT_TYPE, expr->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: The `in` does not "
                        "support ordering on type \"%s\".",
                        STR_ARG(pattern.text), type_text(binder->arena, type));
    }
    TRY(bound_new(binder, &pattern, children, count, ret));
    return negate_if(binder, in->negated, &pattern, ret);
}

static const char *like_name(AstLikeKind kind)
{
    switch (kind) {
    case AST_LIKE_LIKE:
        return "like";
    case AST_LIKE_ILIKE:
        return "ilike";
    case AST_LIKE_RLIKE:
        return "rlike";
    }
    return "";
}

static Error *bind_string(Binder *binder, AstString string, BoundExpr **ret)
{
    AstExpr literal = {.kind = AST_EXPR_LITERAL, .place = string.place, .text = string.value};
    literal.literal = (AstLiteral){AST_LITERAL_STRING, AST_SUFFIX_NONE, string.value};
    return bind_literal(binder, &literal, false, ret);
}

static Error *bind_like(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstLike *like = &expr->like;
    BoundExpr *arguments[3] = {NULL, NULL, NULL};
    size_t count = 2;
    TRY(bind_expr(binder, scope, like->operand, &arguments[0]));
    TRY(bind_expr(binder, scope, like->pattern, &arguments[1]));
    if (like->escape.value.data != NULL) {
        TRY(bind_string(binder, like->escape, &arguments[count++]));
    }
    BoundExpr pattern = pattern_of(binder, expr, BOUND_CALL, NULL);
    TRY(bind_function(binder, str_from(like_name(like->kind)), arguments, count, &pattern, ret));
    return negate_if(binder, like->negated, &pattern, ret);
}

/* a [NOT] LIKE ANY (p, q) is a [NOT] LIKE p OR a [NOT] LIKE q; ALL joins with AND. */
static Error *bind_like_quantified(Binder *binder, const Scope *scope, const AstExpr *expr,
                                   BoundExpr **ret)
{
    const AstLikeQuantified *like = &expr->like_quantified;
    BoundExpr pattern = pattern_of(binder, expr, like->all ? BOUND_AND : BOUND_OR, &type_boolean);
    if (like->pattern_count == 0) {
        return error_at(ERROR_EMPTY_QUANTIFIED_PATTERN, expr->place,
                        "Invalid SQL syntax: Expected something between '(' and ')'.");
    }
    BoundExpr *operand = NULL;
    TRY(bind_expr(binder, scope, like->operand, &operand));
    BoundExpr **children = arena_new_array(binder->arena, BoundExpr *, like->pattern_count);
    for (size_t i = 0; i < like->pattern_count; i++) {
        BoundExpr *pair[2] = {operand, NULL};
        TRY(bind_expr(binder, scope, like->patterns[i], &pair[1]));
        TRY(bind_function(binder, str_from(like_name(like->kind)), pair, 2, &pattern,
                          &children[i]));
        TRY(negate_if(binder, like->negated, &pattern, &children[i]));
    }
    return bound_new(binder, &pattern, children, like->pattern_count, ret);
}

static Error *bind_is(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstIs *is = &expr->is;
    BoundExpr *pair[2] = {NULL, NULL};
    TRY(bind_expr(binder, scope, is->operand, &pair[0]));
    BoundExpr pattern = pattern_of(binder, expr, BOUND_CALL, NULL);
    if (is->kind == AST_IS_NULL) {
        Str name = is->negated ? STR("isnotnull") : STR("isnull");
        return bind_function(binder, name, pair, 1, &pattern, ret);
    }
    TRY(bind_boolean(binder, pair[0], &pattern, "first", &pair[0]));
    if (is->kind == AST_IS_UNKNOWN) {
        Str name = is->negated ? STR("isnotnull") : STR("isnull");
        return bind_function(binder, name, pair, 1, &pattern, ret);
    }
    pair[1] = bound_boolean(binder->arena, is->kind == AST_IS_TRUE, expr->place);
    TRY(bind_function(binder, STR("<=>"), pair, 2, &pattern, ret));
    return negate_if(binder, is->negated, &pattern, ret);
}

static Error *bind_is_distinct(Binder *binder, const Scope *scope, const AstExpr *expr,
                               BoundExpr **ret)
{
    BoundExpr *pair[2] = {NULL, NULL};
    TRY(bind_expr(binder, scope, expr->is_distinct.left, &pair[0]));
    TRY(bind_expr(binder, scope, expr->is_distinct.right, &pair[1]));
    BoundExpr pattern = pattern_of(binder, expr, BOUND_CALL, NULL);
    TRY(bind_function(binder, STR("<=>"), pair, 2, &pattern, ret));
    return negate_if(binder, !expr->is_distinct.negated, &pattern, ret);
}

/* ---------------------------------------------------------- CASE --- */

/* The condition of one WHEN: itself, or operand = value. */
static Error *bind_when(Binder *binder, const Scope *scope, const AstExpr *condition,
                        BoundExpr *operand, const BoundExpr *pattern, BoundExpr **ret)
{
    BoundExpr *bound = NULL;
    TRY(bind_expr(binder, scope, condition, &bound));
    if (operand == NULL) {
        return bind_boolean(binder, bound, pattern, "first", ret);
    }
    BoundExpr *pair[2] = {operand, bound};
    BoundExpr equal = pattern_of(binder, condition, BOUND_CALL, NULL);
    return bind_function(binder, STR("="), pair, 2, &equal, ret);
}

static Error *bind_case(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstCase *ast = &expr->case_;
    BoundExpr *operand = NULL;
    if (ast->operand != NULL) {
        TRY(bind_expr(binder, scope, ast->operand, &operand));
    }
    size_t count = ast->when_count * 2 + 1;
    BoundExpr **children = arena_new_array(binder->arena, BoundExpr *, count);
    BoundExpr ***results = arena_new_array(binder->arena, BoundExpr **, ast->when_count + 1);
    BoundExpr pattern = pattern_of(binder, expr, BOUND_CASE, NULL);
    for (size_t i = 0; i < ast->when_count; i++) {
        const AstWhen *when = &ast->whens[i];
        TRY(bind_when(binder, scope, when->condition, operand, &pattern, &children[2 * i]));
        TRY(bind_expr(binder, scope, when->result, &children[2 * i + 1]));
        results[i] = &children[2 * i + 1];
    }
    results[ast->when_count] = &children[count - 1];
    if (ast->else_ == NULL) {
        children[count - 1] = bound_null(binder->arena, &type_null, expr->place);
    } else {
        TRY(bind_expr(binder, scope, ast->else_, &children[count - 1]));
    }
    TRY(bind_common_type(binder, results, ast->when_count + 1, "casewhen", &pattern,
                         &pattern.type));
    return bound_new(binder, &pattern, children, count, ret);
}

static Error *bind_collate(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    const AstIdentifier *collation = &expr->collate.collation;
    if (!str_equal_ignore_case(collation->name, STR("UTF8_BINARY"))) {
        return error_at(ERROR_UNSUPPORTED_COLLATION, collation->place,
                        "The collation %.*s is not supported. UTF8_BINARY is the only one.",
                        STR_ARG(collation->name));
    }
    TRY(bind_expr(binder, scope, expr->collate.operand, ret));
    return bound_cast(binder, *ret, &type_string, ret);
}

static Error *bind_field_of(Binder *binder, const Scope *scope, const AstExpr *expr,
                            BoundExpr **ret)
{
    BoundExpr *base = NULL;
    TRY(bind_expr(binder, scope, expr->field.base, &base));
    BoundExpr pattern = pattern_of(binder, expr, BOUND_FIELD, NULL);
    return bind_field(binder, base, &expr->field.name, &pattern, ret);
}

static bool is_text_literal(const BoundExpr *expr)
{
    return expr->kind == BOUND_LITERAL && expr->type->kind == TYPE_STRING &&
           vector_is_valid(expr->literal, 0);
}

static Error *bind_index(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    BoundExpr *pair[2] = {NULL, NULL};
    TRY(bind_expr(binder, scope, expr->index.base, &pair[0]));
    TRY(bind_expr(binder, scope, expr->index.index, &pair[1]));
    const Type *type = pair[0]->type;
    bool by_name = type->kind == TYPE_STRUCT ||
                   (type->kind == TYPE_ARRAY && type->element->kind == TYPE_STRUCT);
    if (by_name && is_text_literal(pair[1])) {
        AstIdentifier name = {.name = VECTOR_VALUE(pair[1]->literal, Str, 0),
                              .place = pair[1]->place};
        BoundExpr field = pattern_of(binder, expr, BOUND_FIELD, NULL);
        return bind_field(binder, pair[0], &name, &field, ret);
    }
    if (type->kind == TYPE_STRUCT) {
        return error_at(ERROR_INVALID_EXTRACT_FIELD_TYPE, expr->place,
                        "Field name should be a non-null string literal, but it's \"%.*s\".",
                        STR_ARG(pair[1]->text));
    }
    if (type->kind == TYPE_VARIANT) {
        return not_yet(expr->place, "Access by [ ] to a part of the type %s",
                       type_text(binder->arena, pair[0]->type));
    }
    if (pair[0]->type->kind != TYPE_ARRAY && pair[0]->type->kind != TYPE_MAP) {
        return error_at(ERROR_INVALID_EXTRACT_BASE_FIELD_TYPE, expr->place,
                        "Can't extract a value from \"%.*s\". Need a complex type [STRUCT, ARRAY, "
                        "MAP] but got \"%s\".",
                        STR_ARG(pair[0]->text), type_text(binder->arena, pair[0]->type));
    }
    BoundExpr pattern = pattern_of(binder, expr, BOUND_CALL, NULL);
    return bind_function(binder, STR("[]"), pair, 2, &pattern, ret);
}

Error *bind_expr(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    switch (expr->kind) {
    case AST_EXPR_LITERAL:
        return bind_literal(binder, expr, false, ret);
    case AST_EXPR_INTERVAL:
        return bind_interval_literal(binder, expr, ret);
    case AST_EXPR_COLUMN:
        return bind_column(binder, scope, expr, ret);
    case AST_EXPR_UNARY:
        return bind_unary(binder, scope, expr, ret);
    case AST_EXPR_BINARY:
        return bind_binary(binder, scope, expr, ret);
    case AST_EXPR_BETWEEN:
        return bind_between(binder, scope, expr, ret);
    case AST_EXPR_IN_LIST:
        return bind_in_list(binder, scope, expr, ret);
    case AST_EXPR_LIKE:
        return bind_like(binder, scope, expr, ret);
    case AST_EXPR_LIKE_QUANTIFIED:
        return bind_like_quantified(binder, scope, expr, ret);
    case AST_EXPR_IS:
        return bind_is(binder, scope, expr, ret);
    case AST_EXPR_IS_DISTINCT:
        return bind_is_distinct(binder, scope, expr, ret);
    case AST_EXPR_CASE:
        return bind_case(binder, scope, expr, ret);
    case AST_EXPR_CAST:
        return bind_cast(binder, scope, expr, ret);
    case AST_EXPR_EXTRACT:
    case AST_EXPR_TRIM:
    case AST_EXPR_CALL:
        return bind_call(binder, scope, expr, ret);
    case AST_EXPR_STRUCT:
    case AST_EXPR_ROW:
        return bind_struct(binder, scope, expr, ret);
    case AST_EXPR_LAMBDA:
        return lambda_misplaced(expr->place);
    case AST_EXPR_IN_QUERY:
    case AST_EXPR_EXISTS:
    case AST_EXPR_SUBQUERY:
        return bind_subquery(binder, scope, expr, ret);
    case AST_EXPR_INDEX:
        return bind_index(binder, scope, expr, ret);
    case AST_EXPR_FIELD:
        return bind_field_of(binder, scope, expr, ret);
    case AST_EXPR_VARIANT_PATH:
        return not_yet(expr->place, "Access to a part of a VARIANT by ':'");
    case AST_EXPR_COLLATE:
        return bind_collate(binder, scope, expr, ret);
    }
    return error_at(ERROR_INTERNAL_ERROR, expr->place, "unknown kind of expression");
}

Error *bind_condition(Binder *binder, const Scope *scope, const AstExpr *expr, BoundExpr **ret)
{
    BoundExpr *bound = NULL;
    TRY(bind_expr(binder, scope, expr, &bound));
    if (bound->type->kind == TYPE_NULL) {
        return bound_cast(binder, bound, &type_boolean, ret);
    }
    if (bound->type->kind != TYPE_BOOLEAN) {
        Str text = bound_text(binder, expr);
        return error_at(ERROR_FILTER_NOT_BOOLEAN, expr->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: Filter expression "
                        "\"%.*s\" of type \"%s\" is not a boolean.",
                        STR_ARG(text), STR_ARG(text), type_text(binder->arena, bound->type));
    }
    *ret = bound;
    return NULL;
}

Error *bind_expression(const BindContext *context, const AstExpr *expr, const Schema *schema,
                       BoundExpr **ret_expr)
{
    Diagnostics diagnostics = {0};
    Binder binder = {.context = context,
                     .arena = context->arena,
                     .diagnostics = &diagnostics,
                     .no_subqueries = true};
    Scope scope = scope_of_schema(context->arena, schema, NULL, 0);
    Error *error = bind_expr(&binder, &scope, expr, ret_expr);
    assert(diagnostics.count == 0);
    diagnostics_done(&diagnostics);
    return error;
}
