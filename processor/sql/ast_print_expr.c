/* Printing expressions. An operand gets parentheses when its operator binds looser than its place
 * asks for (levels of parser_internal.h), and never otherwise: a text as deep as the parser takes
 * must not get deeper. */
#include "processor/sql/ast_print_internal.h"
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

/* ---------------------------------------------------------------- operators --- */

typedef struct BinaryRow {
    const char *text;
    int level;
} BinaryRow;

static const BinaryRow binary_rows[] = {
    [AST_BINARY_OR] = {"OR", LEVEL_OR},
    [AST_BINARY_AND] = {"AND", LEVEL_AND},
    [AST_BINARY_EQUAL] = {"=", LEVEL_COMPARISON},
    [AST_BINARY_NULL_SAFE_EQUAL] = {"<=>", LEVEL_COMPARISON},
    [AST_BINARY_NOT_EQUAL] = {"<>", LEVEL_COMPARISON},
    [AST_BINARY_LESS] = {"<", LEVEL_COMPARISON},
    [AST_BINARY_LESS_EQUAL] = {"<=", LEVEL_COMPARISON},
    [AST_BINARY_GREATER] = {">", LEVEL_COMPARISON},
    [AST_BINARY_GREATER_EQUAL] = {">=", LEVEL_COMPARISON},
    [AST_BINARY_BIT_OR] = {"|", LEVEL_BIT_OR},
    [AST_BINARY_BIT_XOR] = {"^", LEVEL_BIT_XOR},
    [AST_BINARY_BIT_AND] = {"&", LEVEL_BIT_AND},
    [AST_BINARY_SHIFT_LEFT] = {"<<", LEVEL_SHIFT},
    [AST_BINARY_SHIFT_RIGHT] = {">>", LEVEL_SHIFT},
    [AST_BINARY_SHIFT_RIGHT_UNSIGNED] = {">>>", LEVEL_SHIFT},
    [AST_BINARY_ADD] = {"+", LEVEL_ADDITIVE},
    [AST_BINARY_SUBTRACT] = {"-", LEVEL_ADDITIVE},
    [AST_BINARY_CONCAT] = {"||", LEVEL_ADDITIVE},
    [AST_BINARY_MULTIPLY] = {"*", LEVEL_MULTIPLICATIVE},
    [AST_BINARY_DIVIDE] = {"/", LEVEL_MULTIPLICATIVE},
    [AST_BINARY_REMAINDER] = {"%", LEVEL_MULTIPLICATIVE},
    [AST_BINARY_DIV] = {"DIV", LEVEL_MULTIPLICATIVE},
};

const char *binary_operator_text(AstBinaryOperator operator_)
{
    return binary_rows[operator_].text;
}

/* The level of an expression as it is printed. */
static int level_of(const AstExpr *expr)
{
    switch (expr->kind) {
    case AST_EXPR_BINARY:
        return binary_rows[expr->binary.steps[0].operator_].level;
    case AST_EXPR_UNARY:
        return expr->unary.operator_ == AST_UNARY_NOT ? LEVEL_NOT : LEVEL_UNARY;
    case AST_EXPR_BETWEEN:
    case AST_EXPR_IN_LIST:
    case AST_EXPR_IN_QUERY:
    case AST_EXPR_LIKE:
    case AST_EXPR_LIKE_QUANTIFIED:
    case AST_EXPR_IS:
    case AST_EXPR_IS_DISTINCT:
        return LEVEL_PREDICATE;
    case AST_EXPR_INDEX:
    case AST_EXPR_FIELD:
    case AST_EXPR_VARIANT_PATH:
    case AST_EXPR_COLLATE:
        return LEVEL_POSTFIX;
    case AST_EXPR_LITERAL:
    case AST_EXPR_INTERVAL:
    case AST_EXPR_COLUMN:
    case AST_EXPR_CASE:
    case AST_EXPR_CAST: /* printed as CAST(…) */
    case AST_EXPR_EXISTS:
    case AST_EXPR_EXTRACT:
    case AST_EXPR_TRIM:
    case AST_EXPR_STRUCT:
    case AST_EXPR_ROW:
    case AST_EXPR_CALL:
    case AST_EXPR_LAMBDA:
    case AST_EXPR_SUBQUERY:
        break;
    }
    return LEVEL_PRIMARY;
}

static void print_in_parentheses(const AstExpr *expr, Buffer *out)
{
    buffer_append_byte(out, '(');
    ast_print_expr(expr, out);
    buffer_append_byte(out, ')');
}

/* An operand where the grammar wants at least the level `least`. */
static void print_operand(const AstExpr *expr, int least, Buffer *out)
{
    if (level_of(expr) < least) {
        print_in_parentheses(expr, out);
    } else {
        ast_print_expr(expr, out);
    }
}

static void print_binary(const AstBinary *binary, Buffer *out)
{
    int level = binary_rows[binary->steps[0].operator_].level;
    print_operand(binary->first, level + 1, out);
    for (size_t i = 0; i < binary->step_count; i++) {
        buffer_printf(out, " %s ", binary_rows[binary->steps[i].operator_].text);
        print_operand(binary->steps[i].right, level + 1, out);
    }
}

static void print_unary(const AstUnary *unary, Buffer *out)
{
    static const char *const texts[] = {[AST_UNARY_NOT] = "NOT ",
                                        [AST_UNARY_MINUS] = "-",
                                        [AST_UNARY_PLUS] = "+",
                                        [AST_UNARY_BIT_NOT] = "~"};
    buffer_append_cstr(out, texts[unary->operator_]);
    if (unary->operator_ == AST_UNARY_MINUS && unary->operand->kind == AST_EXPR_UNARY) {
        buffer_append_byte(out, ' '); /* -- begins a comment */
    }
    print_operand(unary->operand, unary->operator_ == AST_UNARY_NOT ? LEVEL_NOT : LEVEL_UNARY, out);
}

void print_exprs(AstExpr *const *items, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        print_list_separator(out, i);
        ast_print_expr(items[i], out);
    }
}

/* --------------------------------------------------------------- predicates --- */

static void print_between(const AstBetween *between, Buffer *out)
{
    print_operand(between->operand, LEVEL_COMPARISON, out);
    buffer_append_cstr(out, between->negated ? " NOT BETWEEN " : " BETWEEN ");
    print_operand(between->low, LEVEL_COMPARISON, out);
    buffer_append_cstr(out, " AND ");
    print_operand(between->high, LEVEL_COMPARISON, out);
}

static void print_in_head(const AstExpr *operand, bool negated, Buffer *out)
{
    print_operand(operand, LEVEL_COMPARISON, out);
    buffer_append_cstr(out, negated ? " NOT IN (" : " IN (");
}

static const char *like_text(AstLikeKind kind)
{
    return kind == AST_LIKE_LIKE ? "LIKE" : kind == AST_LIKE_ILIKE ? "ILIKE" : "RLIKE";
}

/* A pattern that is a call of any, some or all would read as the quantifier. */
static bool reads_as_quantifier(const AstExpr *pattern)
{
    const AstExpr *first = pattern;
    while (first->kind == AST_EXPR_BINARY) {
        first = first->binary.first;
    }
    if (first->kind != AST_EXPR_CALL || first->call->name.part_count != 1 ||
        first->call->name.parts[0].quoted) {
        return false;
    }
    Str name = first->call->name.parts[0].name;
    return str_equal_ignore_case(name, STR("any")) || str_equal_ignore_case(name, STR("some"));
}

static void print_like(const AstLike *like, Buffer *out)
{
    print_operand(like->operand, LEVEL_COMPARISON, out);
    buffer_printf(out, "%s %s ", like->negated ? " NOT" : "", like_text(like->kind));
    if (like->kind != AST_LIKE_RLIKE && reads_as_quantifier(like->pattern)) {
        print_in_parentheses(like->pattern, out);
    } else {
        print_operand(like->pattern, LEVEL_COMPARISON, out);
    }
    if (like->escape.value.data != NULL) {
        buffer_append_cstr(out, " ESCAPE ");
        ast_print_string(like->escape.value, out);
    }
}

static void print_like_quantified(const AstLikeQuantified *like, Buffer *out)
{
    print_operand(like->operand, LEVEL_COMPARISON, out);
    buffer_printf(out, "%s %s %s (", like->negated ? " NOT" : "", like_text(like->kind),
                  like->all ? "ALL" : "ANY");
    print_exprs(like->patterns, like->pattern_count, out);
    buffer_append_byte(out, ')');
}

static void print_is(const AstIs *is, Buffer *out)
{
    static const char *const words[] = {[AST_IS_NULL] = "NULL",
                                        [AST_IS_TRUE] = "TRUE",
                                        [AST_IS_FALSE] = "FALSE",
                                        [AST_IS_UNKNOWN] = "UNKNOWN"};
    print_operand(is->operand, LEVEL_COMPARISON, out);
    buffer_printf(out, " IS %s%s", is->negated ? "NOT " : "", words[is->kind]);
}

static void print_is_distinct(const AstIsDistinct *is, Buffer *out)
{
    print_operand(is->left, LEVEL_COMPARISON, out);
    buffer_append_cstr(out, is->negated ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ");
    print_operand(is->right, LEVEL_COMPARISON, out);
}

/* -------------------------------------------------------- calls and the like --- */

static void print_case(const AstCase *case_, Buffer *out)
{
    buffer_append_cstr(out, "CASE");
    if (case_->operand != NULL) {
        buffer_append_byte(out, ' ');
        ast_print_expr(case_->operand, out);
    }
    for (size_t i = 0; i < case_->when_count; i++) {
        buffer_append_cstr(out, " WHEN ");
        ast_print_expr(case_->whens[i].condition, out);
        buffer_append_cstr(out, " THEN ");
        ast_print_expr(case_->whens[i].result, out);
    }
    if (case_->else_ != NULL) {
        buffer_append_cstr(out, " ELSE ");
        ast_print_expr(case_->else_, out);
    }
    buffer_append_cstr(out, " END");
}

static void print_cast(const AstCast *cast, Buffer *out)
{
    buffer_append_cstr(out, cast->try_ ? "TRY_CAST(" : "CAST(");
    ast_print_expr(cast->operand, out);
    buffer_append_cstr(out, " AS ");
    ast_print_data_type(cast->type, out);
    buffer_append_byte(out, ')');
}

/* The expression whose text begins that of `expr`. */
static const AstExpr *leftmost(const AstExpr *expr)
{
    for (;;) {
        switch (expr->kind) {
        case AST_EXPR_BINARY:
            expr = expr->binary.first;
            break;
        case AST_EXPR_INDEX:
            expr = expr->index.base;
            break;
        case AST_EXPR_VARIANT_PATH:
            expr = expr->variant_path.base;
            break;
        case AST_EXPR_COLLATE:
            expr = expr->collate.operand;
            break;
        default:
            return expr;
        }
    }
}

/* The bare word a text begins with when it begins with a name; else STR_NULL. */
static Str first_word(const AstExpr *expr)
{
    const AstName *name = expr->kind == AST_EXPR_COLUMN ? &expr->column.name
                          : expr->kind == AST_EXPR_CALL ? &expr->call->name
                                                        : NULL;
    return name == NULL || name->parts[0].quoted ? STR_NULL : name->parts[0].name;
}

static bool is_one_of(Str word, const char *const *words, size_t count)
{
    for (size_t i = 0; word.data != NULL && i < count; i++) {
        if (str_equal_ignore_case(word, str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

/* BOTH + a is a sum: behind a word of TRIM a sign, or a name such as IN, goes on with it. */
static bool continues_word(const AstExpr *first)
{
    static const char *const operators[] = {"between", "collate", "div",    "ilike", "in",
                                            "is",      "like",    "regexp", "rlike"};
    bool sign = first->kind == AST_EXPR_UNARY && (first->unary.operator_ == AST_UNARY_MINUS ||
                                                  first->unary.operator_ == AST_UNARY_PLUS);
    return sign || is_one_of(first_word(first), operators, ARRAY_LENGTH(operators));
}

/* BOTH is what is meant without a word, and is written only before a name that is such a word. */
static void print_trim(const AstTrim *trim, Buffer *out)
{
    static const char *const kinds[] = {
        [AST_TRIM_BOTH] = "both", [AST_TRIM_LEADING] = "leading", [AST_TRIM_TRAILING] = "trailing"};
    static const char *const texts[] = {[AST_TRIM_BOTH] = "BOTH ",
                                        [AST_TRIM_LEADING] = "LEADING ",
                                        [AST_TRIM_TRAILING] = "TRAILING "};
    const AstExpr *first = trim->characters == NULL ? NULL : leftmost(trim->characters);
    bool word = trim->kind != AST_TRIM_BOTH || first == NULL ||
                is_one_of(first_word(first), kinds, ARRAY_LENGTH(kinds));
    buffer_printf(out, "TRIM(%s", word ? texts[trim->kind] : "");
    if (first != NULL) {
        if (word && continues_word(first)) {
            print_in_parentheses(trim->characters, out);
        } else {
            print_operand(trim->characters, LEVEL_COMPARISON, out);
        }
        buffer_append_byte(out, ' ');
    }
    buffer_append_cstr(out, "FROM ");
    print_operand(trim->source, LEVEL_COMPARISON, out);
    buffer_append_byte(out, ')');
}

static void print_struct(const AstStructConstructor *struct_, Buffer *out)
{
    buffer_append_cstr(out, "STRUCT(");
    for (size_t i = 0; i < struct_->item_count; i++) {
        const AstStructItem *item = &struct_->items[i];
        print_list_separator(out, i);
        ast_print_expr(item->expr, out);
        if (item->alias_count > 0) {
            AstIdentifierList aliases = {item->aliases, item->alias_count};
            buffer_append_cstr(out, " AS ");
            if (item->alias_count == 1) {
                ast_print_identifier(&item->aliases[0], out);
            } else {
                print_columns(&aliases, out);
            }
        }
    }
    buffer_append_byte(out, ')');
}

static void print_lambda(const AstLambda *lambda, Buffer *out)
{
    AstIdentifierList parameters = {lambda->parameters, lambda->parameter_count};
    if (lambda->parameter_count == 1) {
        ast_print_identifier(&lambda->parameters[0], out);
    } else {
        print_columns(&parameters, out);
    }
    buffer_append_cstr(out, " -> ");
    ast_print_expr(lambda->body, out);
}

void print_arguments(const AstArgument *items, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        print_list_separator(out, i);
        if (items[i].name.name.data != NULL) {
            ast_print_identifier(&items[i].name, out);
            buffer_append_cstr(out, " => ");
        }
        ast_print_expr(items[i].expr, out);
    }
}

/* Is it a predicate of IN, or does it begin with one? */
static bool begins_with_in(const AstExpr *expr)
{
    while (expr->kind == AST_EXPR_BINARY) {
        expr = expr->binary.first;
    }
    return (expr->kind == AST_EXPR_IN_LIST && !expr->in_list.negated) ||
           (expr->kind == AST_EXPR_IN_QUERY && !expr->in_query.negated);
}

/* position(a IN (b), c) would read as POSITION(a IN b). */
static bool needs_first_parentheses(const AstCall *call)
{
    return call->name.part_count == 1 && !call->name.parts[0].quoted &&
           str_equal_ignore_case(call->name.parts[0].name, STR("position")) && !call->distinct &&
           call->argument_count > 0 && call->arguments[0].name.name.data == NULL &&
           begins_with_in(call->arguments[0].expr);
}

static void print_call_arguments(const AstCall *call, Buffer *out)
{
    buffer_append_byte(out, '(');
    if (call->star) {
        buffer_append_byte(out, '*');
    }
    if (call->distinct) {
        buffer_append_cstr(out, "DISTINCT ");
    }
    if (needs_first_parentheses(call)) {
        print_in_parentheses(call->arguments[0].expr, out);
        buffer_append_cstr(out, call->argument_count > 1 ? ", " : "");
        print_arguments(call->arguments + 1, call->argument_count - 1, out);
    } else {
        print_arguments(call->arguments, call->argument_count, out);
    }
    buffer_append_byte(out, ')');
}

static void print_call(const AstCall *call, Buffer *out)
{
    ast_print_name(&call->name, out);
    print_call_arguments(call, out);
    if (call->within_group_count > 0) {
        buffer_append_cstr(out, " WITHIN GROUP (ORDER BY ");
        print_sort_items(call->within_group, call->within_group_count, out);
        buffer_append_byte(out, ')');
    }
    if (call->filter != NULL) {
        buffer_append_cstr(out, " FILTER (WHERE ");
        ast_print_expr(call->filter, out);
        buffer_append_byte(out, ')');
    }
    if (call->nulls != AST_NULLS_DEFAULT) {
        buffer_append_cstr(out,
                           call->nulls == AST_NULLS_IGNORE ? " IGNORE NULLS" : " RESPECT NULLS");
    }
    if (call->over != NULL) {
        buffer_append_cstr(out, " OVER ");
        print_window_definition(call->over, out);
    }
}

static void print_subquery(const char *head, const AstQuery *query, Buffer *out)
{
    buffer_printf(out, "%s(", head);
    ast_print_query(query, out);
    buffer_append_byte(out, ')');
}

/* A bare column VALUES in parentheses could read as a query. */
static void print_column(const AstColumn *column, Buffer *out)
{
    const AstIdentifier *first = &column->name.parts[0];
    if (column->name.part_count == 1 && str_equal_ignore_case(first->name, STR("values"))) {
        AstIdentifier quoted = *first;
        quoted.quoted = true;
        ast_print_identifier(&quoted, out);
        return;
    }
    ast_print_name(&column->name, out);
}

/* What stands before [, ., : and COLLATE. (s).a is no column s.a, and 1.a no number. */
static void print_base(const AstExpr *base, bool field, Buffer *out)
{
    bool number = base->kind == AST_EXPR_LITERAL && base->literal.kind >= AST_LITERAL_INTEGER &&
                  base->literal.kind <= AST_LITERAL_DOUBLE;
    if (field && (base->kind == AST_EXPR_COLUMN || number)) {
        print_in_parentheses(base, out);
    } else {
        print_operand(base, LEVEL_POSTFIX, out);
    }
}

static void print_index(const AstIndex *index, Buffer *out)
{
    print_base(index->base, false, out);
    buffer_append_byte(out, '[');
    print_operand(index->index, LEVEL_COMPARISON, out);
    buffer_append_byte(out, ']');
}

static void print_postfix(const AstExpr *base, const char *separator, const AstIdentifier *name,
                          Buffer *out)
{
    print_base(base, separator[0] == '.', out);
    buffer_append_cstr(out, separator);
    ast_print_identifier(name, out);
}

void ast_print_expr(const AstExpr *expr, Buffer *out)
{
    switch (expr->kind) {
    case AST_EXPR_LITERAL:
        print_literal(&expr->literal, out);
        return;
    case AST_EXPR_INTERVAL:
        print_interval(&expr->interval, out);
        return;
    case AST_EXPR_COLUMN:
        print_column(&expr->column, out);
        return;
    case AST_EXPR_UNARY:
        print_unary(&expr->unary, out);
        return;
    case AST_EXPR_BINARY:
        print_binary(&expr->binary, out);
        return;
    case AST_EXPR_BETWEEN:
        print_between(&expr->between, out);
        return;
    case AST_EXPR_IN_LIST:
        print_in_head(expr->in_list.operand, expr->in_list.negated, out);
        print_exprs(expr->in_list.items, expr->in_list.item_count, out);
        buffer_append_byte(out, ')');
        return;
    case AST_EXPR_IN_QUERY:
        print_in_head(expr->in_query.operand, expr->in_query.negated, out);
        ast_print_query(expr->in_query.query, out);
        buffer_append_byte(out, ')');
        return;
    case AST_EXPR_LIKE:
        print_like(&expr->like, out);
        return;
    case AST_EXPR_LIKE_QUANTIFIED:
        print_like_quantified(&expr->like_quantified, out);
        return;
    case AST_EXPR_IS:
        print_is(&expr->is, out);
        return;
    case AST_EXPR_IS_DISTINCT:
        print_is_distinct(&expr->is_distinct, out);
        return;
    case AST_EXPR_CASE:
        print_case(&expr->case_, out);
        return;
    case AST_EXPR_CAST:
        print_cast(&expr->cast, out);
        return;
    case AST_EXPR_EXISTS:
        print_subquery("EXISTS ", expr->exists, out);
        return;
    case AST_EXPR_EXTRACT:
        buffer_append_cstr(out, "EXTRACT(");
        ast_print_identifier(&expr->extract.field, out);
        buffer_append_cstr(out, " FROM ");
        print_operand(expr->extract.source, LEVEL_COMPARISON, out);
        buffer_append_byte(out, ')');
        return;
    case AST_EXPR_TRIM:
        print_trim(&expr->trim, out);
        return;
    case AST_EXPR_STRUCT:
        print_struct(&expr->struct_, out);
        return;
    case AST_EXPR_ROW:
        buffer_append_byte(out, '(');
        print_exprs(expr->row.items, expr->row.item_count, out);
        buffer_append_byte(out, ')');
        return;
    case AST_EXPR_CALL:
        print_call(expr->call, out);
        return;
    case AST_EXPR_LAMBDA:
        print_lambda(&expr->lambda, out);
        return;
    case AST_EXPR_SUBQUERY:
        print_subquery("", expr->subquery, out);
        return;
    case AST_EXPR_INDEX:
        print_index(&expr->index, out);
        return;
    case AST_EXPR_FIELD:
        print_postfix(expr->field.base, ".", &expr->field.name, out);
        return;
    case AST_EXPR_VARIANT_PATH:
        print_postfix(expr->variant_path.base, ":", &expr->variant_path.name, out);
        return;
    case AST_EXPR_COLLATE:
        print_postfix(expr->collate.operand, " COLLATE ", &expr->collate.collation, out);
        return;
    }
}
