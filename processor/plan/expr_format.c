/* Expressions of a plan as text. */
#include "processor/data/datetime.h"
#include "processor/data/value_text.h"
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

static void format_list(const BoundExpr *expr, size_t first, const char *separator,
                        const Schema *schema, Buffer *out)
{
    for (size_t i = first; i < expr->child_count; i++) {
        buffer_append_cstr(out, i == first ? "" : separator);
        expr_format(expr->children[i], schema, out);
    }
}

/* Text, dates and the like in quotes, so that '1' is not 1. */
static void format_literal(const BoundExpr *expr, Buffer *out)
{
    static const char *const prefixes[] = {
        [TYPE_STRING] = "",
        [TYPE_DATE] = "DATE",
        [TYPE_TIMESTAMP] = "TIMESTAMP",
        [TYPE_TIMESTAMP_NTZ] = "TIMESTAMP_NTZ",
    };
    TypeKind kind = expr->type->kind;
    bool quoted = kind == TYPE_STRING || kind == TYPE_DATE || kind == TYPE_TIMESTAMP ||
                  kind == TYPE_TIMESTAMP_NTZ;
    if (!vector_is_valid(expr->literal, 0)) {
        buffer_append_cstr(out, "NULL");
        return;
    }
    if (quoted) {
        buffer_append_cstr(out, prefixes[kind]);
        buffer_append_byte(out, '\'');
    }
    value_format(expr->literal, 0, time_zone_utc(), out);
    if (quoted) {
        buffer_append_byte(out, '\'');
    }
}

static void format_call(const BoundExpr *expr, const Schema *schema, Buffer *out)
{
    const char *name = expr->function->name;
    bool is_word = (name[0] >= 'a' && name[0] <= 'z') || name[0] == '_';
    if (!is_word && expr->child_count == 2) {
        buffer_append_byte(out, '(');
        expr_format(expr->children[0], schema, out);
        buffer_printf(out, " %s ", name);
        expr_format(expr->children[1], schema, out);
        buffer_append_byte(out, ')');
        return;
    }
    buffer_printf(out, "%s(", name);
    format_list(expr, 0, ", ", schema, out);
    buffer_append_byte(out, ')');
}

static void format_case(const BoundExpr *expr, const Schema *schema, Buffer *out)
{
    buffer_append_cstr(out, "CASE");
    for (size_t i = 0; i + 1 < expr->child_count; i += 2) {
        buffer_append_cstr(out, " WHEN ");
        expr_format(expr->children[i], schema, out);
        buffer_append_cstr(out, " THEN ");
        expr_format(expr->children[i + 1], schema, out);
    }
    buffer_append_cstr(out, " ELSE ");
    expr_format(expr->children[expr->child_count - 1], schema, out);
    buffer_append_cstr(out, " END");
}

static void format_cast(const BoundExpr *expr, const Schema *schema, Buffer *out)
{
    buffer_append_cstr(out, expr->try_cast ? "TRY_CAST(" : "CAST(");
    expr_format(expr->children[0], schema, out);
    buffer_append_cstr(out, " AS ");
    type_format(expr->type, out);
    buffer_append_byte(out, ')');
}

static void format_around(const char *before, const BoundExpr *expr, const char *separator,
                          const Schema *schema, Buffer *out)
{
    buffer_append_cstr(out, before);
    format_list(expr, 0, separator, schema, out);
    buffer_append_byte(out, ')');
}

void expr_format(const BoundExpr *expr, const Schema *schema, Buffer *out)
{
    switch (expr->kind) {
    case BOUND_LITERAL:
        format_literal(expr, out);
        return;
    case BOUND_COLUMN:
        buffer_append_str(out, schema->fields[expr->column].name);
        return;
    case BOUND_CALL:
        format_call(expr, schema, out);
        return;
    case BOUND_CAST:
        format_cast(expr, schema, out);
        return;
    case BOUND_CASE:
        format_case(expr, schema, out);
        return;
    case BOUND_AND:
        format_around("(", expr, " AND ", schema, out);
        return;
    case BOUND_OR:
        format_around("(", expr, " OR ", schema, out);
        return;
    case BOUND_NOT:
        format_around("(NOT ", expr, "", schema, out);
        return;
    case BOUND_COALESCE:
        format_around("coalesce(", expr, ", ", schema, out);
        return;
    case BOUND_STRUCT:
        format_around("struct(", expr, ", ", schema, out);
        return;
    case BOUND_IN:
        buffer_append_byte(out, '(');
        expr_format(expr->children[0], schema, out);
        buffer_append_cstr(out, " IN (");
        format_list(expr, 1, ", ", schema, out);
        buffer_append_cstr(out, "))");
        return;
    case BOUND_FIELD:
        expr_format(expr->children[0], schema, out);
        buffer_append_byte(out, '.');
        buffer_append_str(out, expr->children[0]->type->fields[expr->field].name);
        return;
    case BOUND_LAMBDA:
        for (uint32_t i = 0; i < expr->parameter_count; i++) {
            buffer_printf(out, i == 0 ? "(x%u" : ", x%u", expr->parameter + i);
        }
        buffer_append_cstr(out, ") -> ");
        expr_format(expr->children[0], schema, out);
        return;
    case BOUND_PARAMETER:
        buffer_printf(out, "x%u", expr->parameter);
        return;
    case BOUND_OUTER_COLUMN:
        buffer_printf(out, "outer(%.*s)", STR_ARG(expr->text));
        return;
    case BOUND_SUBQUERY:
        buffer_append_cstr(out, "(subquery)");
        return;
    }
}
