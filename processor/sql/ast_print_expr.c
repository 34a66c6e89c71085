/* Printing names, literals, types and expressions. An operand gets parentheses when its operator
 * binds looser than its place asks for (levels of parser_internal.h). */
#include <assert.h>

#include "processor/sql/ast_print_internal.h"
#include "processor/sql/lexer.h"
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

/* ---------------------------------------------------------- names, literals --- */

void print_list_separator(Buffer *out, size_t i)
{
    if (i > 0) {
        buffer_append_cstr(out, ", ");
    }
}

void ast_print_identifier(const AstIdentifier *identifier, Buffer *out)
{
    if (!identifier->quoted && lexer_is_word(identifier->name)) {
        buffer_append_str(out, identifier->name);
        return;
    }
    buffer_append_byte(out, '`');
    for (size_t i = 0; i < identifier->name.size; i++) {
        if (identifier->name.data[i] == '`') {
            buffer_append_byte(out, '`');
        }
        buffer_append_byte(out, identifier->name.data[i]);
    }
    buffer_append_byte(out, '`');
}

void ast_print_name(const AstName *name, Buffer *out)
{
    for (size_t i = 0; i < name->part_count; i++) {
        if (i > 0) {
            buffer_append_byte(out, '.');
        }
        ast_print_identifier(&name->parts[i], out);
    }
}

void ast_print_string(Str value, Buffer *out)
{
    buffer_append_byte(out, '\'');
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        if (c == '\'' || c == '\\') {
            buffer_append_byte(out, '\\');
            buffer_append_byte(out, c);
        } else if (c == '\n') {
            buffer_append_cstr(out, "\\n");
        } else if (c == '\0') {
            buffer_append_cstr(out, "\\u0000"); /* \0 and digits would be octal */
        } else {
            buffer_append_byte(out, c);
        }
    }
    buffer_append_byte(out, '\'');
}

void print_identifiers(const AstIdentifierList *list, Buffer *out)
{
    for (size_t i = 0; i < list->item_count; i++) {
        print_list_separator(out, i);
        ast_print_identifier(&list->items[i], out);
    }
}

void print_columns(const AstIdentifierList *list, Buffer *out)
{
    buffer_append_byte(out, '(');
    print_identifiers(list, out);
    buffer_append_byte(out, ')');
}

const char *interval_unit_name(AstIntervalUnit unit)
{
    static const char *const names[] = {
        [AST_UNIT_MICROSECOND] = "MICROSECOND",
        [AST_UNIT_MILLISECOND] = "MILLISECOND",
        [AST_UNIT_SECOND] = "SECOND",
        [AST_UNIT_MINUTE] = "MINUTE",
        [AST_UNIT_HOUR] = "HOUR",
        [AST_UNIT_DAY] = "DAY",
        [AST_UNIT_WEEK] = "WEEK",
        [AST_UNIT_MONTH] = "MONTH",
        [AST_UNIT_YEAR] = "YEAR",
    };
    return names[unit];
}

static void print_interval_value(const AstIntervalPart *part, Buffer *out)
{
    buffer_append_cstr(out, part->negative ? " -" : " ");
    if (part->is_string) {
        ast_print_string(part->value, out);
    } else {
        buffer_append_str(out, part->value);
    }
}

void print_interval(const AstInterval *interval, Buffer *out)
{
    buffer_append_cstr(out, "INTERVAL");
    for (size_t i = 0; i < interval->part_count; i++) {
        print_interval_value(&interval->parts[i], out);
        if (interval->form != AST_INTERVAL_STRING) {
            buffer_printf(out, " %s", interval_unit_name(interval->parts[i].unit));
        }
    }
    if (interval->form == AST_INTERVAL_FIELDS) {
        buffer_printf(out, " TO %s", interval_unit_name(interval->to_unit));
    }
}

static void print_literal(const AstLiteral *literal, Buffer *out)
{
    static const char *const suffixes[] = {
        [AST_SUFFIX_NONE] = "", [AST_SUFFIX_L] = "L", [AST_SUFFIX_S] = "S",   [AST_SUFFIX_Y] = "Y",
        [AST_SUFFIX_F] = "F",   [AST_SUFFIX_D] = "D", [AST_SUFFIX_BD] = "BD",
    };
    static const char *const words[] = {
        [AST_LITERAL_NULL] = "NULL",
        [AST_LITERAL_TRUE] = "TRUE",
        [AST_LITERAL_FALSE] = "FALSE",
        [AST_LITERAL_STRING] = "",
        [AST_LITERAL_DATE] = "DATE ",
        [AST_LITERAL_TIMESTAMP] = "TIMESTAMP ",
        [AST_LITERAL_TIMESTAMP_NTZ] = "TIMESTAMP_NTZ ",
        [AST_LITERAL_TIMESTAMP_LTZ] = "TIMESTAMP_LTZ ",
        [AST_LITERAL_BINARY] = "X",
    };
    switch (literal->kind) {
    case AST_LITERAL_INTEGER:
    case AST_LITERAL_DECIMAL:
    case AST_LITERAL_DOUBLE:
        buffer_append_str(out, literal->value);
        buffer_append_cstr(out, suffixes[literal->suffix]);
        return;
    case AST_LITERAL_NULL:
    case AST_LITERAL_TRUE:
    case AST_LITERAL_FALSE:
        buffer_append_cstr(out, words[literal->kind]);
        return;
    case AST_LITERAL_STRING:
    case AST_LITERAL_DATE:
    case AST_LITERAL_TIMESTAMP:
    case AST_LITERAL_TIMESTAMP_NTZ:
    case AST_LITERAL_TIMESTAMP_LTZ:
    case AST_LITERAL_BINARY:
        buffer_append_cstr(out, words[literal->kind]);
        ast_print_string(literal->value, out);
        return;
    }
}

/* -------------------------------------------------------------------- types --- */

static void print_struct_field(const AstStructField *field, Buffer *out)
{
    ast_print_identifier(&field->name, out);
    buffer_append_cstr(out, ": ");
    ast_print_data_type(field->type, out);
    if (field->not_null) {
        buffer_append_cstr(out, " NOT NULL");
    }
    if (field->comment.value.data != NULL) {
        buffer_append_cstr(out, " COMMENT ");
        ast_print_string(field->comment.value, out);
    }
}

static void print_struct_type(const AstDataType *type, Buffer *out)
{
    buffer_append_cstr(out, "STRUCT<");
    for (size_t i = 0; i < type->field_count; i++) {
        print_list_separator(out, i);
        print_struct_field(&type->fields[i], out);
    }
    buffer_append_byte(out, '>');
}

static void print_decimal_type(const AstDataType *type, Buffer *out)
{
    buffer_append_cstr(out, "DECIMAL");
    if (type->has_precision) {
        buffer_printf(out, "(%lld", (long long)type->precision);
        if (type->has_scale) {
            buffer_printf(out, ",%lld", (long long)type->scale);
        }
        buffer_append_byte(out, ')');
    }
}

static void print_interval_type(const AstDataType *type, Buffer *out)
{
    buffer_printf(out, "INTERVAL %s", interval_unit_name(type->interval_from));
    if (type->interval_to != type->interval_from) {
        buffer_printf(out, " TO %s", interval_unit_name(type->interval_to));
    }
}

void ast_print_data_type(const AstDataType *type, Buffer *out)
{
    static const char *const names[] = {
        [AST_TYPE_BOOLEAN] = "BOOLEAN",     [AST_TYPE_TINYINT] = "TINYINT",
        [AST_TYPE_SMALLINT] = "SMALLINT",   [AST_TYPE_INT] = "INT",
        [AST_TYPE_BIGINT] = "BIGINT",       [AST_TYPE_FLOAT] = "FLOAT",
        [AST_TYPE_DOUBLE] = "DOUBLE",       [AST_TYPE_STRING] = "STRING",
        [AST_TYPE_CHAR] = "CHAR",           [AST_TYPE_VARCHAR] = "VARCHAR",
        [AST_TYPE_BINARY] = "BINARY",       [AST_TYPE_DATE] = "DATE",
        [AST_TYPE_TIMESTAMP] = "TIMESTAMP", [AST_TYPE_TIMESTAMP_NTZ] = "TIMESTAMP_NTZ",
        [AST_TYPE_VARIANT] = "VARIANT",
    };
    switch (type->kind) {
    case AST_TYPE_DECIMAL:
        print_decimal_type(type, out);
        return;
    case AST_TYPE_INTERVAL:
        print_interval_type(type, out);
        return;
    case AST_TYPE_STRUCT:
        print_struct_type(type, out);
        return;
    case AST_TYPE_MAP:
        buffer_append_cstr(out, "MAP<");
        ast_print_data_type(type->key, out);
        buffer_append_cstr(out, ", ");
        ast_print_data_type(type->element, out);
        buffer_append_byte(out, '>');
        return;
    case AST_TYPE_ARRAY:
        buffer_append_cstr(out, "ARRAY<");
        ast_print_data_type(type->element, out);
        buffer_append_byte(out, '>');
        return;
    case AST_TYPE_CHAR:
    case AST_TYPE_VARCHAR:
        buffer_printf(out, "%s(%lld)", names[type->kind], (long long)type->length);
        return;
    case AST_TYPE_STRING:
        buffer_append_cstr(out, "STRING");
        if (type->collation.name.data != NULL) {
            buffer_append_cstr(out, " COLLATE ");
            ast_print_identifier(&type->collation, out);
        }
        return;
    case AST_TYPE_BOOLEAN:
    case AST_TYPE_TINYINT:
    case AST_TYPE_SMALLINT:
    case AST_TYPE_INT:
    case AST_TYPE_BIGINT:
    case AST_TYPE_FLOAT:
    case AST_TYPE_DOUBLE:
    case AST_TYPE_BINARY:
    case AST_TYPE_DATE:
    case AST_TYPE_TIMESTAMP:
    case AST_TYPE_TIMESTAMP_NTZ:
    case AST_TYPE_VARIANT:
        buffer_append_cstr(out, names[type->kind]);
        return;
    }
}

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
    if (first->kind != AST_EXPR_CALL || first->call->name.part_count != 1) {
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

static void print_trim(const AstTrim *trim, Buffer *out)
{
    static const char *const words[] = {
        [AST_TRIM_BOTH] = "BOTH", [AST_TRIM_LEADING] = "LEADING", [AST_TRIM_TRAILING] = "TRAILING"};
    buffer_printf(out, "TRIM(%s ", words[trim->kind]);
    if (trim->characters != NULL) {
        /* A sign, or a name such as IN, would make BOTH the operand. */
        if (trim->characters->kind == AST_EXPR_LITERAL) {
            ast_print_expr(trim->characters, out);
        } else {
            print_in_parentheses(trim->characters, out);
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

/* position(a IN (b), c) would read as POSITION(a IN b). */
static bool needs_first_parentheses(const AstCall *call)
{
    return call->name.part_count == 1 && !call->name.parts[0].quoted &&
           str_equal_ignore_case(call->name.parts[0].name, STR("position")) && !call->distinct &&
           call->argument_count > 0 && call->arguments[0].name.name.data == NULL &&
           call->arguments[0].expr->kind != AST_EXPR_LAMBDA &&
           level_of(call->arguments[0].expr) < LEVEL_COMPARISON;
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
