/* Dump of names, data types, expressions and windows. */
#include "tests/support/ast_dump_internal.h"

#include "tests/support/ast_dump.h"

#include "processor/base/banned.h"

/* ----------------------------------------------------------------- fields --- */

void dump_open(const char *node, Buffer *out)
{
    buffer_printf(out, "(%s", node);
}

void dump_close(Buffer *out)
{
    buffer_append_byte(out, ')');
}

void dump_flag(const char *field, bool value, Buffer *out)
{
    if (value) {
        buffer_printf(out, " %s", field);
    }
}

void dump_number(const char *field, int64_t value, Buffer *out)
{
    if (value != 0) {
        buffer_printf(out, " %s=%lld", field, (long long)value);
    }
}

void dump_text(const char *field, Str value, Buffer *out)
{
    if (value.data != NULL) {
        buffer_printf(out, " %s=%zu:", field, value.size);
        buffer_append_str(out, value);
    }
}

void dump_identifier(const char *field, const AstIdentifier *identifier, Buffer *out)
{
    dump_text(field, identifier->name, out);
}

void dump_identifiers(const char *field, const AstIdentifier *items, size_t count, Buffer *out)
{
    if (count == 0) {
        return;
    }
    buffer_printf(out, " %s=(", field);
    for (size_t i = 0; i < count; i++) {
        dump_identifier("", &items[i], out);
    }
    dump_close(out);
}

void dump_list(const char *field, const AstIdentifierList *list, Buffer *out)
{
    dump_identifiers(field, list->items, list->item_count, out);
}

void dump_name(const char *field, const AstName *name, Buffer *out)
{
    dump_identifiers(field, name->parts, name->part_count, out);
}

void dump_expr(const char *field, const AstExpr *expr, Buffer *out)
{
    if (expr != NULL) {
        buffer_printf(out, " %s=", field);
        ast_dump_expr(expr, out);
    }
}

void dump_exprs(const char *field, AstExpr *const *items, size_t count, Buffer *out)
{
    dump_number(field, (int64_t)count, out);
    for (size_t i = 0; i < count; i++) {
        dump_expr("", items[i], out);
    }
}

/* ------------------------------------------------------------------ types --- */

static void dump_struct_field(const AstStructField *field, Buffer *out)
{
    dump_open("field", out);
    dump_identifier("name", &field->name, out);
    dump_type("type", field->type, out);
    dump_flag("not_null", field->not_null, out);
    dump_text("comment", field->comment.value, out);
    dump_close(out);
}

void ast_dump_data_type(const AstDataType *type, Buffer *out)
{
    dump_open("type", out);
    dump_number("kind", type->kind, out);
    dump_flag("has_precision", type->has_precision, out);
    dump_flag("has_scale", type->has_scale, out);
    dump_number("precision", type->precision, out);
    dump_number("scale", type->scale, out);
    dump_number("length", type->length, out);
    dump_identifier("collation", &type->collation, out);
    if (type->kind == AST_TYPE_INTERVAL) {
        dump_number("from", (int64_t)type->interval_from + 1, out);
        dump_number("to", (int64_t)type->interval_to + 1, out);
    }
    dump_type("key", type->key, out);
    dump_type("element", type->element, out);
    for (size_t i = 0; i < type->field_count; i++) {
        dump_struct_field(&type->fields[i], out);
    }
    dump_close(out);
}

void dump_type(const char *field, const AstDataType *type, Buffer *out)
{
    if (type != NULL) {
        buffer_printf(out, " %s=", field);
        ast_dump_data_type(type, out);
    }
}

void dump_interval(const char *field, const AstInterval *interval, Buffer *out)
{
    if (interval == NULL) {
        return;
    }
    buffer_printf(out, " %s=(interval", field);
    dump_number("form", interval->form, out);
    for (size_t i = 0; i < interval->part_count; i++) {
        const AstIntervalPart *part = &interval->parts[i];
        dump_flag("negative", part->negative, out);
        dump_flag("string", part->is_string, out);
        dump_text("value", part->value, out);
        if (interval->form != AST_INTERVAL_STRING) {
            dump_number("unit", (int64_t)part->unit + 1, out);
        }
    }
    if (interval->form == AST_INTERVAL_FIELDS) {
        dump_number("to", (int64_t)interval->to_unit + 1, out);
    }
    dump_close(out);
}

/* ---------------------------------------------------------------- windows --- */

void dump_sort_items(const char *field, const AstSortItem *items, size_t count, Buffer *out)
{
    dump_number(field, (int64_t)count, out);
    for (size_t i = 0; i < count; i++) {
        dump_open("sort", out);
        dump_expr("expr", items[i].expr, out);
        dump_flag("descending", items[i].descending, out);
        dump_flag("nulls_given", items[i].nulls_given, out);
        dump_flag("nulls_first", items[i].nulls_first, out);
        dump_close(out);
    }
}

static void dump_bound(const char *field, const AstFrameBound *bound, Buffer *out)
{
    buffer_printf(out, " %s=(bound", field);
    dump_number("kind", bound->kind, out);
    dump_expr("expr", bound->expr, out);
    dump_close(out);
}

static void dump_frame(const AstFrame *frame, Buffer *out)
{
    dump_open("frame", out);
    dump_flag("range", frame->range, out);
    dump_flag("between", frame->between, out);
    dump_bound("start", &frame->start, out);
    dump_bound("end", &frame->end, out);
    dump_close(out);
}

void dump_window(const char *field, const AstWindow *window, Buffer *out)
{
    if (window == NULL) {
        return;
    }
    buffer_printf(out, " %s=(window", field);
    dump_identifier("name", &window->name, out);
    dump_exprs("partition_by", window->partition_by, window->partition_by_count, out);
    dump_sort_items("order_by", window->order_by, window->order_by_count, out);
    if (window->frame != NULL) {
        dump_frame(window->frame, out);
    }
    dump_close(out);
}

/* ------------------------------------------------------------ expressions --- */

void dump_arguments(const char *field, const AstArgument *items, size_t count, Buffer *out)
{
    dump_number(field, (int64_t)count, out);
    for (size_t i = 0; i < count; i++) {
        dump_open("argument", out);
        dump_identifier("name", &items[i].name, out);
        dump_expr("expr", items[i].expr, out);
        dump_close(out);
    }
}

static void dump_call(const AstCall *call, Buffer *out)
{
    dump_name("name", &call->name, out);
    dump_flag("star", call->star, out);
    dump_flag("distinct", call->distinct, out);
    dump_arguments("arguments", call->arguments, call->argument_count, out);
    dump_sort_items("within_group", call->within_group, call->within_group_count, out);
    dump_expr("filter", call->filter, out);
    dump_number("nulls", call->nulls, out);
    dump_window("over", call->over, out);
}

static void dump_binary(const AstBinary *binary, Buffer *out)
{
    dump_expr("first", binary->first, out);
    for (size_t i = 0; i < binary->step_count; i++) {
        buffer_printf(out, " %d", (int)binary->steps[i].operator_);
        dump_expr("", binary->steps[i].right, out);
    }
}

static void dump_case(const AstCase *case_, Buffer *out)
{
    dump_expr("operand", case_->operand, out);
    for (size_t i = 0; i < case_->when_count; i++) {
        dump_expr("when", case_->whens[i].condition, out);
        dump_expr("then", case_->whens[i].result, out);
    }
    dump_expr("else", case_->else_, out);
}

static void dump_struct(const AstStructConstructor *struct_, Buffer *out)
{
    for (size_t i = 0; i < struct_->item_count; i++) {
        dump_expr("item", struct_->items[i].expr, out);
        dump_identifiers("as", struct_->items[i].aliases, struct_->items[i].alias_count, out);
    }
}

/* The predicates; false when `expr` is none. */
static bool dump_predicate(const AstExpr *expr, Buffer *out)
{
    if (expr->kind == AST_EXPR_BETWEEN) {
        dump_flag("negated", expr->between.negated, out);
        dump_expr("operand", expr->between.operand, out);
        dump_expr("low", expr->between.low, out);
        dump_expr("high", expr->between.high, out);
    } else if (expr->kind == AST_EXPR_IN_LIST) {
        dump_flag("negated", expr->in_list.negated, out);
        dump_expr("operand", expr->in_list.operand, out);
        dump_exprs("items", expr->in_list.items, expr->in_list.item_count, out);
    } else if (expr->kind == AST_EXPR_IN_QUERY) {
        dump_flag("negated", expr->in_query.negated, out);
        dump_expr("operand", expr->in_query.operand, out);
        dump_query("query", expr->in_query.query, out);
    } else if (expr->kind == AST_EXPR_LIKE) {
        dump_number("like", expr->like.kind, out);
        dump_flag("negated", expr->like.negated, out);
        dump_expr("operand", expr->like.operand, out);
        dump_expr("pattern", expr->like.pattern, out);
        dump_text("escape", expr->like.escape.value, out);
    } else if (expr->kind == AST_EXPR_LIKE_QUANTIFIED) {
        const AstLikeQuantified *like = &expr->like_quantified;
        dump_number("like", like->kind, out);
        dump_flag("all", like->all, out);
        dump_flag("negated", like->negated, out);
        dump_expr("operand", like->operand, out);
        dump_exprs("patterns", like->patterns, like->pattern_count, out);
    } else if (expr->kind == AST_EXPR_IS) {
        dump_number("is", expr->is.kind, out);
        dump_flag("negated", expr->is.negated, out);
        dump_expr("operand", expr->is.operand, out);
    } else if (expr->kind == AST_EXPR_IS_DISTINCT) {
        dump_flag("negated", expr->is_distinct.negated, out);
        dump_expr("left", expr->is_distinct.left, out);
        dump_expr("right", expr->is_distinct.right, out);
    } else {
        return false;
    }
    return true;
}

static void dump_fields(const AstExpr *expr, Buffer *out)
{
    switch (expr->kind) {
    case AST_EXPR_LITERAL:
        dump_number("literal", expr->literal.kind, out);
        dump_number("suffix", expr->literal.suffix, out);
        dump_text("value", expr->literal.value, out);
        return;
    case AST_EXPR_INTERVAL:
        dump_interval("interval", &expr->interval, out);
        return;
    case AST_EXPR_COLUMN:
        dump_name("name", &expr->column.name, out);
        dump_number("current_value", expr->column.current_value, out);
        return;
    case AST_EXPR_UNARY:
        dump_number("operator", expr->unary.operator_, out);
        dump_expr("operand", expr->unary.operand, out);
        return;
    case AST_EXPR_BINARY:
        dump_binary(&expr->binary, out);
        return;
    case AST_EXPR_BETWEEN:
    case AST_EXPR_IN_LIST:
    case AST_EXPR_IN_QUERY:
    case AST_EXPR_LIKE:
    case AST_EXPR_LIKE_QUANTIFIED:
    case AST_EXPR_IS:
    case AST_EXPR_IS_DISTINCT:
        (void)dump_predicate(expr, out);
        return;
    case AST_EXPR_CASE:
        dump_case(&expr->case_, out);
        return;
    case AST_EXPR_CAST:
        dump_flag("try", expr->cast.try_, out);
        dump_expr("operand", expr->cast.operand, out);
        dump_type("type", expr->cast.type, out);
        return;
    case AST_EXPR_EXISTS:
        dump_query("query", expr->exists, out);
        return;
    case AST_EXPR_EXTRACT:
        dump_identifier("field", &expr->extract.field, out);
        dump_expr("source", expr->extract.source, out);
        return;
    case AST_EXPR_TRIM:
        dump_number("trim", expr->trim.kind, out);
        dump_expr("characters", expr->trim.characters, out);
        dump_expr("source", expr->trim.source, out);
        return;
    case AST_EXPR_STRUCT:
        dump_struct(&expr->struct_, out);
        return;
    case AST_EXPR_ROW:
        dump_exprs("items", expr->row.items, expr->row.item_count, out);
        return;
    case AST_EXPR_CALL:
        dump_call(expr->call, out);
        return;
    case AST_EXPR_LAMBDA:
        dump_identifiers("parameters", expr->lambda.parameters, expr->lambda.parameter_count, out);
        dump_expr("body", expr->lambda.body, out);
        return;
    case AST_EXPR_SUBQUERY:
        dump_query("query", expr->subquery, out);
        return;
    case AST_EXPR_INDEX:
        dump_expr("base", expr->index.base, out);
        dump_expr("index", expr->index.index, out);
        return;
    case AST_EXPR_FIELD:
        dump_expr("base", expr->field.base, out);
        dump_identifier("name", &expr->field.name, out);
        return;
    case AST_EXPR_VARIANT_PATH:
        dump_expr("base", expr->variant_path.base, out);
        dump_identifier("name", &expr->variant_path.name, out);
        return;
    case AST_EXPR_COLLATE:
        dump_expr("operand", expr->collate.operand, out);
        dump_identifier("collation", &expr->collate.collation, out);
        return;
    }
}

void ast_dump_expr(const AstExpr *expr, Buffer *out)
{
    buffer_printf(out, "(%d", (int)expr->kind);
    dump_fields(expr, out);
    dump_close(out);
}
