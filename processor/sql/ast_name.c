/* Spark's names of select items without alias (its toPrettySQL): operators in parentheses, strings
 * without quotes, types in capitals, casts the user wrote. What is written here was measured on
 * Spark 4.3; tests/unit/sql/column_names.c holds the measurements. */
#include <stdio.h>

#include "processor/sql/ast_name_internal.h"
#include "processor/sql/ast_print_internal.h"

#include "processor/base/banned.h"

static void text(NamePrinter *printer, const char *words)
{
    buffer_append_cstr(printer->out, words);
}

/* ---------------------------------------------------------------- operators --- */

void name_exprs(NamePrinter *printer, AstExpr *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print_list_separator(printer->out, i);
        name_expr(printer, items[i]);
    }
}

/* ((a + b) - c): what stands before the first operand, outermost first. */
static const char *binary_prefix(AstBinaryOperator operator_)
{
    return operator_ == AST_BINARY_CONCAT      ? "concat("
           : operator_ == AST_BINARY_NOT_EQUAL ? "(NOT ("
                                               : "(";
}

static void name_binary_step(NamePrinter *printer, const AstBinaryStep *step)
{
    if (step->operator_ == AST_BINARY_CONCAT) {
        text(printer, ", ");
    } else if (step->operator_ == AST_BINARY_NOT_EQUAL) {
        text(printer, " = ");
    } else if (step->operator_ == AST_BINARY_DIV) {
        text(printer, " div ");
    } else {
        buffer_printf(printer->out, " %s ", binary_operator_text(step->operator_));
    }
    name_expr(printer, step->right);
    text(printer, step->operator_ == AST_BINARY_NOT_EQUAL ? "))" : ")");
}

static const AstStepForm *step_form(const NamePrinter *printer, const AstBinaryStep *step)
{
    const AstNames *names = printer->names;
    return names->step_form == NULL ? NULL : names->step_form(names->context, step);
}

static bool has_forms(const NamePrinter *printer, const AstBinary *binary)
{
    bool found = false;
    for (size_t i = 0; i < binary->step_count && !found; i++) {
        found = step_form(printer, &binary->steps[i]) != NULL;
    }
    return found;
}

/* One step around `left`, which is text already. */
static void name_formed_step(NamePrinter *printer, Str left, const AstBinaryStep *step)
{
    const AstStepForm *form = step_form(printer, step);
    if (form == NULL) {
        text(printer, binary_prefix(step->operator_));
        buffer_append_str(printer->out, left);
        name_binary_step(printer, step);
        return;
    }
    text(printer, form->head);
    if (form->swapped) {
        name_expr(printer, step->right);
    } else {
        buffer_append_str(printer->out, left);
    }
    text(printer, form->middle);
    if (form->swapped) {
        buffer_append_str(printer->out, left);
    } else {
        name_expr(printer, step->right);
    }
    text(printer, form->tail);
}

/* A chain with dates: any step may put something before or around what stands left of it. */
static void name_formed_chain(NamePrinter *printer, const AstBinary *binary)
{
    AUTO_BUFFER Buffer left = {0};
    AUTO_BUFFER Buffer whole = {0};
    NamePrinter inner = *printer;
    inner.out = &whole;
    name_expr(&inner, binary->first);
    for (size_t i = 0; i < binary->step_count; i++) {
        buffer_clear(&left);
        buffer_append_str(&left, buffer_str(&whole));
        buffer_clear(&whole);
        name_formed_step(&inner, buffer_str(&left), &binary->steps[i]);
    }
    buffer_append_str(printer->out, buffer_str(&whole));
}

static void name_chain(NamePrinter *printer, const AstBinary *binary)
{
    if (has_forms(printer, binary)) {
        name_formed_chain(printer, binary);
        return;
    }
    for (size_t i = binary->step_count; i > 0; i--) {
        text(printer, binary_prefix(binary->steps[i - 1].operator_));
    }
    name_expr(printer, binary->first);
    for (size_t i = 0; i < binary->step_count; i++) {
        name_binary_step(printer, &binary->steps[i]);
    }
}

static bool is_number(const AstExpr *expr)
{
    return expr->kind == AST_EXPR_LITERAL && expr->literal.kind >= AST_LITERAL_INTEGER &&
           expr->literal.kind <= AST_LITERAL_DOUBLE;
}

/* -1 is a literal, -(1) and -a are not. */
static bool is_negative_literal(const AstExpr *expr)
{
    const AstExpr *operand = expr->unary.operand;
    const char *end = expr->text.data + expr->text.size;
    return expr->unary.operator_ == AST_UNARY_MINUS && is_number(operand) &&
           operand->text.data + operand->text.size == end;
}

static void name_unary(NamePrinter *printer, const AstExpr *expr)
{
    static const char *const heads[] = {[AST_UNARY_NOT] = "(NOT ",
                                        [AST_UNARY_MINUS] = "(- ",
                                        [AST_UNARY_PLUS] = "(+ ",
                                        [AST_UNARY_BIT_NOT] = "~"};
    if (is_negative_literal(expr)) {
        name_negative_number(printer, &expr->unary.operand->literal);
        return;
    }
    text(printer, heads[expr->unary.operator_]);
    name_expr(printer, expr->unary.operand);
    text(printer, expr->unary.operator_ == AST_UNARY_BIT_NOT ? "" : ")");
}

static void begin_negation(NamePrinter *printer, bool negated)
{
    text(printer, negated ? "(NOT " : "");
}

static void end_negation(NamePrinter *printer, bool negated)
{
    text(printer, negated ? ")" : "");
}

static void name_between(NamePrinter *printer, const AstBetween *between)
{
    begin_negation(printer, between->negated);
    text(printer, "between(");
    name_expr(printer, between->operand);
    text(printer, ", ");
    name_expr(printer, between->low);
    text(printer, ", ");
    name_expr(printer, between->high);
    text(printer, ")");
    end_negation(printer, between->negated);
}

static void name_in_list(NamePrinter *printer, const AstInList *in)
{
    begin_negation(printer, in->negated);
    text(printer, "(");
    name_expr(printer, in->operand);
    text(printer, " IN (");
    name_exprs(printer, in->items, in->item_count);
    text(printer, "))");
    end_negation(printer, in->negated);
}

static void name_like(NamePrinter *printer, const AstLike *like)
{
    bool function = like->kind != AST_LIKE_LIKE;
    begin_negation(printer, like->negated);
    text(printer, like->kind == AST_LIKE_ILIKE ? "ilike(" : function ? "RLIKE(" : "");
    name_expr(printer, like->operand);
    text(printer, function ? ", " : " LIKE ");
    name_expr(printer, like->pattern);
    text(printer, function ? ")" : "");
    if (!function && like->escape.value.data != NULL) {
        buffer_printf(printer->out, " ESCAPE '%.*s'", STR_ARG(like->escape.value));
    }
    end_negation(printer, like->negated);
}

static void name_like_quantified(NamePrinter *printer, const AstLikeQuantified *like)
{
    bool lower = like->kind == AST_LIKE_ILIKE;
    buffer_printf(printer->out, "%slike%s(%s", like->negated ? "not" : "",
                  like->all ? "all" : "any", lower ? "lower(" : "");
    name_expr(printer, like->operand);
    text(printer, lower ? "))" : ")");
}

static void name_is(NamePrinter *printer, const AstIs *is)
{
    bool null = is->kind == AST_IS_NULL || is->kind == AST_IS_UNKNOWN;
    begin_negation(printer, is->negated && !null);
    text(printer, "(");
    name_expr(printer, is->operand);
    if (null) {
        text(printer, is->negated ? " IS NOT NULL)" : " IS NULL)");
    } else {
        text(printer, is->kind == AST_IS_TRUE ? " <=> true)" : " <=> false)");
    }
    end_negation(printer, is->negated && !null);
}

static void name_is_distinct(NamePrinter *printer, const AstIsDistinct *is)
{
    begin_negation(printer, !is->negated);
    text(printer, "(");
    name_expr(printer, is->left);
    text(printer, " <=> ");
    name_expr(printer, is->right);
    text(printer, ")");
    end_negation(printer, !is->negated);
}

static void name_case(NamePrinter *printer, const AstCase *case_)
{
    text(printer, "CASE");
    for (size_t i = 0; i < case_->when_count; i++) {
        text(printer, " WHEN ");
        if (case_->operand != NULL) {
            text(printer, "(");
            name_expr(printer, case_->operand);
            text(printer, " = ");
        }
        name_expr(printer, case_->whens[i].condition);
        text(printer, case_->operand != NULL ? ") THEN " : " THEN ");
        name_expr(printer, case_->whens[i].result);
    }
    if (case_->else_ != NULL) {
        text(printer, " ELSE ");
        name_expr(printer, case_->else_);
    }
    text(printer, " END");
}

/* -------------------------------------------------------------------- names --- */

static bool is_lambda_variable(const NamePrinter *printer, const AstName *name)
{
    for (const NameScope *scope = printer->scope; scope != NULL; scope = scope->outer) {
        for (size_t i = 0; i < scope->lambda->parameter_count; i++) {
            if (str_equal_ignore_case(scope->lambda->parameters[i].name, name->parts[0].name)) {
                return true;
            }
        }
    }
    return false;
}

static void name_parts(NamePrinter *printer, const AstName *name, size_t from)
{
    for (size_t i = from; i < name->part_count; i++) {
        text(printer, i > from ? "." : "");
        buffer_append_str(printer->out, name->parts[i].name);
    }
}

/* outer(a.x); a field of it is outer(a.x).f AS f. */
static bool name_outer_column(NamePrinter *printer, const AstName *name)
{
    const AstNames *names = printer->names;
    size_t used = 0;
    Str shown =
        names->outer_column == NULL ? STR_NULL : names->outer_column(names->context, name, &used);
    if (shown.data == NULL) {
        return false;
    }
    buffer_printf(printer->out, "outer(%.*s)", STR_ARG(shown));
    if (used < name->part_count) {
        text(printer, ".");
        name_parts(printer, name, used);
        buffer_printf(printer->out, " AS %.*s", STR_ARG(name->parts[name->part_count - 1].name));
    }
    return true;
}

static void name_column(NamePrinter *printer, const AstColumn *column)
{
    static const char *const values[] = {[AST_CURRENT_NONE] = "",
                                         [AST_CURRENT_DATE] = "current_date()",
                                         [AST_CURRENT_TIMESTAMP] = "current_timestamp()",
                                         [AST_CURRENT_USER] = "current_user()"};
    const AstName *name = &column->name;
    if (is_lambda_variable(printer, name)) {
        text(printer, name->part_count > 1 ? "namedlambdavariable()." : "namedlambdavariable()");
        name_parts(printer, name, 1);
        return;
    }
    const AstNames *names = printer->names;
    bool is_column = names->is_column != NULL && names->is_column(names->context, name);
    if (column->current_value != AST_CURRENT_NONE && !is_column) {
        text(printer, values[column->current_value]);
        return;
    }
    if (name_outer_column(printer, name)) {
        return;
    }
    size_t qualifiers = names->qualifier_parts == NULL
                            ? name->part_count - 1
                            : names->qualifier_parts(names->context, name);
    bool alias = names->is_lateral_alias != NULL && names->is_lateral_alias(names->context, name);
    text(printer, alias ? "lateralAliasReference(" : "");
    name_parts(printer, name, qualifiers < name->part_count ? qualifiers : name->part_count - 1);
    text(printer, alias ? ")" : "");
}

static void name_lambda(NamePrinter *printer, const AstLambda *lambda)
{
    NameScope scope = {lambda, printer->scope};
    printer->scope = &scope;
    text(printer, "lambdafunction(");
    name_expr(printer, lambda->body);
    printer->scope = scope.outer;
    for (size_t i = 0; i < lambda->parameter_count; i++) {
        text(printer, ", namedlambdavariable()");
    }
    text(printer, ")");
}

/* -------------------------------------------------------- calls and the like --- */

static void name_type(NamePrinter *printer, const AstDataType *type)
{
    if (type->kind == AST_TYPE_DECIMAL) {
        buffer_printf(printer->out, "DECIMAL(%lld,%lld)", (long long)type->precision,
                      (long long)type->scale);
    } else if (type->kind == AST_TYPE_CHAR || type->kind == AST_TYPE_VARCHAR) {
        text(printer, "STRING");
    } else {
        ast_print_data_type(type, printer->out);
    }
}

void name_cast(NamePrinter *printer, const AstCast *cast)
{
    AstTypeKind kind = cast->type->kind;
    if (kind == AST_TYPE_ARRAY || kind == AST_TYPE_MAP || kind == AST_TYPE_STRUCT) {
        name_expr(printer, cast->operand);
        return;
    }
    text(printer, cast->try_ ? "TRY_CAST(" : "CAST(");
    name_expr(printer, cast->operand);
    text(printer, " AS ");
    name_type(printer, cast->type);
    text(printer, ")");
}

static void name_trim(NamePrinter *printer, const AstTrim *trim)
{
    static const char *const words[] = {[AST_TRIM_BOTH] = "TRIM(BOTH ",
                                        [AST_TRIM_LEADING] = "TRIM(LEADING ",
                                        [AST_TRIM_TRAILING] = "TRIM(TRAILING "};
    static const char *const functions[] = {
        [AST_TRIM_BOTH] = "trim(", [AST_TRIM_LEADING] = "ltrim(", [AST_TRIM_TRAILING] = "rtrim("};
    if (trim->characters == NULL) {
        text(printer, functions[trim->kind]);
    } else {
        text(printer, words[trim->kind]);
        name_expr(printer, trim->characters);
        text(printer, " FROM ");
    }
    name_expr(printer, trim->source);
    text(printer, ")");
}

static void name_struct(NamePrinter *printer, const AstStructConstructor *struct_)
{
    text(printer, "struct(");
    for (size_t i = 0; i < struct_->item_count; i++) {
        print_list_separator(printer->out, i);
        name_expr(printer, struct_->items[i].expr);
        if (struct_->items[i].alias_count > 0) {
            text(printer, " AS ");
            buffer_append_str(printer->out, struct_->items[i].aliases[0].name);
        }
    }
    text(printer, ")");
}

/* (a, 2) is named_struct(a, a, col2, 2). */
static void name_row(NamePrinter *printer, const AstRow *row)
{
    text(printer, "named_struct(");
    for (size_t i = 0; i < row->item_count; i++) {
        print_list_separator(printer->out, i);
        if (row->items[i]->kind == AST_EXPR_COLUMN) {
            const AstName *name = &row->items[i]->column.name;
            buffer_append_str(printer->out, name->parts[name->part_count - 1].name);
        } else {
            buffer_printf(printer->out, "col%zu", i + 1);
        }
        text(printer, ", ");
        name_expr(printer, row->items[i]);
    }
    text(printer, ")");
}

static void name_extract(NamePrinter *printer, const AstExtract *extract)
{
    buffer_printf(printer->out, "extract(%.*s FROM ", STR_ARG(extract->field.name));
    name_expr(printer, extract->source);
    text(printer, ")");
}

static void name_postfix(NamePrinter *printer, const AstExpr *base, char separator, Str name)
{
    name_expr(printer, base);
    buffer_append_byte(printer->out, separator);
    buffer_append_str(printer->out, name);
}

static void name_subquery(NamePrinter *printer, const char *name, const AstExpr *expr)
{
    const AstNames *names = printer->names;
    Str columns =
        names->outer_columns == NULL ? STR("") : names->outer_columns(names->context, expr);
    buffer_printf(printer->out, "%s(%.*s)", name, STR_ARG(columns));
}

void name_expr(NamePrinter *printer, const AstExpr *expr)
{
    switch (expr->kind) {
    case AST_EXPR_LITERAL:
        name_literal(printer, expr);
        return;
    case AST_EXPR_INTERVAL:
        name_interval(printer, expr);
        return;
    case AST_EXPR_COLUMN:
        name_column(printer, &expr->column);
        return;
    case AST_EXPR_UNARY:
        name_unary(printer, expr);
        return;
    case AST_EXPR_BINARY:
        name_chain(printer, &expr->binary);
        return;
    case AST_EXPR_BETWEEN:
        name_between(printer, &expr->between);
        return;
    case AST_EXPR_IN_LIST:
        name_in_list(printer, &expr->in_list);
        return;
    case AST_EXPR_IN_QUERY:
        begin_negation(printer, expr->in_query.negated);
        text(printer, "(");
        name_expr(printer, expr->in_query.operand);
        text(printer, " IN (");
        name_subquery(printer, "listquery", expr);
        text(printer, "))");
        end_negation(printer, expr->in_query.negated);
        return;
    case AST_EXPR_LIKE:
        name_like(printer, &expr->like);
        return;
    case AST_EXPR_LIKE_QUANTIFIED:
        name_like_quantified(printer, &expr->like_quantified);
        return;
    case AST_EXPR_IS:
        name_is(printer, &expr->is);
        return;
    case AST_EXPR_IS_DISTINCT:
        name_is_distinct(printer, &expr->is_distinct);
        return;
    case AST_EXPR_CASE:
        name_case(printer, &expr->case_);
        return;
    case AST_EXPR_CAST:
        name_cast(printer, &expr->cast);
        return;
    case AST_EXPR_EXISTS:
        name_subquery(printer, "exists", expr);
        return;
    case AST_EXPR_EXTRACT:
        name_extract(printer, &expr->extract);
        return;
    case AST_EXPR_TRIM:
        name_trim(printer, &expr->trim);
        return;
    case AST_EXPR_STRUCT:
        name_struct(printer, &expr->struct_);
        return;
    case AST_EXPR_ROW:
        name_row(printer, &expr->row);
        return;
    case AST_EXPR_CALL:
        name_call(printer, expr->call);
        return;
    case AST_EXPR_LAMBDA:
        name_lambda(printer, &expr->lambda);
        return;
    case AST_EXPR_SUBQUERY:
        name_subquery(printer, "scalarsubquery", expr);
        return;
    case AST_EXPR_INDEX:
        name_expr(printer, expr->index.base);
        text(printer, "[");
        name_expr(printer, expr->index.index);
        text(printer, "]");
        return;
    case AST_EXPR_FIELD:
        name_postfix(printer, expr->field.base, '.', expr->field.name.name);
        return;
    case AST_EXPR_VARIANT_PATH:
        name_postfix(printer, expr->variant_path.base, ':', expr->variant_path.name.name);
        return;
    case AST_EXPR_COLLATE:
        text(printer, "collate(");
        name_expr(printer, expr->collate.operand);
        buffer_printf(printer->out, ", %.*s)", STR_ARG(expr->collate.collation.name));
        return;
    }
}

/* ---------------------------------------------------------------- top level --- */

/* A column, or fields of one: its last name. */
static bool name_of_reference(const AstExpr *expr, Str *ret_name)
{
    const AstExpr *root = expr;
    while (root->kind == AST_EXPR_FIELD) {
        root = root->field.base;
    }
    if (root->kind != AST_EXPR_COLUMN) {
        return false;
    }
    if (expr->kind == AST_EXPR_FIELD) {
        *ret_name = expr->field.name.name;
        return true;
    }
    const AstName *name = &expr->column.name;
    *ret_name = name->parts[name->part_count - 1].name;
    return expr->column.current_value == AST_CURRENT_NONE;
}

/* A cast of a column bears the column's name. */
static const AstExpr *cast_operand(const AstExpr *expr)
{
    if (expr->kind == AST_EXPR_CAST) {
        return expr->cast.operand->kind == AST_EXPR_COLUMN ? expr->cast.operand : expr;
    }
    return expr->kind == AST_EXPR_CALL && is_cast_function(expr->call)
               ? expr->call->arguments[0].expr
               : expr;
}

void ast_print_column_name_with(const AstExpr *expr, const AstNames *names, Buffer *out)
{
    static const AstNames no_names = {.context = NULL};
    NamePrinter printer = {.out = out, .names = names == NULL ? &no_names : names};
    Str name = STR_NULL;
    if (name_of_reference(cast_operand(expr), &name)) {
        buffer_append_str(out, name);
        return;
    }
    name_expr(&printer, expr);
}

void ast_print_column_name(const AstExpr *expr, Buffer *out)
{
    ast_print_column_name_with(expr, NULL, out);
}
