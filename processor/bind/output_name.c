/* The names of select items without alias. The words are sql's (ast_name.c); here is what it must
 * know of the names and types in them: which columns there are, what a literal of a date or an
 * interval is worth, and which operators Spark reads as functions of dates. Those are noted when
 * the operator is bound, for only then its types are known. */
#include "processor/bind/binder.h"
#include "processor/data/value_text.h"
#include "processor/sql/ast_print.h"

#include "processor/base/banned.h"

/* ---- Operators between dates, times and intervals ---- */

struct StepNote {
    const AstBinaryStep *step;
    const AstStepForm *form;
    const StepNote *next;
};

static const AstStepForm time_plus = {"", " + ", "", false};
static const AstStepForm plus_time = {"", " + ", "", true};
static const AstStepForm time_minus = {"", " - ", "", false};
static const AstStepForm date_plus = {"date_add(", ", ", ")", false};
static const AstStepForm plus_date = {"date_add(", ", ", ")", true};
static const AstStepForm date_minus = {"date_sub(", ", ", ")", false};
static const AstStepForm date_plus_days = {"date_add(", ", extractansiintervaldays(", "))", false};
static const AstStepForm days_plus_date = {"date_add(", ", extractansiintervaldays(", "))", true};
static const AstStepForm date_minus_days = {"date_add(", ", (- extractansiintervaldays(", ")))",
                                            false};
static const AstStepForm times_interval = {"(", " * ", ")", true};

static bool is_interval(const Type *type)
{
    return type->kind == TYPE_INTERVAL_DAY_TIME || type->kind == TYPE_INTERVAL_YEAR_MONTH;
}

static bool is_days(const Type *type)
{
    return type->kind == TYPE_INTERVAL_DAY_TIME && type->scale == FIELD_DAY;
}

/* A value that an interval is added to; a text is read as a timestamp. */
static bool is_time(const Type *type)
{
    return type->kind == TYPE_DATE || type->kind == TYPE_TIMESTAMP ||
           type->kind == TYPE_TIMESTAMP_NTZ || type->kind == TYPE_STRING;
}

/* time + by; `swapped`: by + time was written. */
static const AstStepForm *plus_form(const Type *time, const Type *by, bool swapped)
{
    if (time->kind == TYPE_DATE && is_days(by)) {
        return swapped ? &days_plus_date : &date_plus_days;
    }
    if (time->kind == TYPE_DATE && type_is_integral(by)) {
        return swapped ? &plus_date : &date_plus;
    }
    bool unknown = by->kind == TYPE_NULL && time->kind != TYPE_STRING;
    return !is_time(time) || !(is_interval(by) || unknown) ? NULL
           : swapped                                       ? &plus_time
                                                           : &time_plus;
}

static const AstStepForm *minus_form(const Type *time, const Type *by)
{
    if (time->kind == TYPE_DATE && is_days(by)) {
        return &date_minus_days;
    }
    if (time->kind == TYPE_DATE && type_is_integral(by)) {
        return &date_minus;
    }
    return is_time(time) && is_interval(by) ? &time_minus : NULL;
}

static const AstStepForm *form_of(AstBinaryOperator operator_, const Type *left, const Type *right)
{
    const AstStepForm *form = NULL;
    switch (operator_) {
    case AST_BINARY_ADD:
        form = plus_form(left, right, false);
        return form == NULL ? plus_form(right, left, true) : form;
    case AST_BINARY_SUBTRACT:
        return minus_form(left, right);
    case AST_BINARY_MULTIPLY:
        return is_interval(right) && !is_interval(left) ? &times_interval : NULL;
    default:
        return NULL;
    }
}

void note_step(Binder *binder, const AstBinaryStep *step, const Type *left, const Type *right)
{
    const AstStepForm *form = form_of(step->operator_, left, right);
    if (form != NULL) {
        StepNote *note = arena_new_object(binder->arena, StepNote);
        *note = (StepNote){step, form, binder->step_notes};
        binder->step_notes = note;
    }
}

/* ---- Names ---- */

typedef struct NameContext {
    Binder *binder;
    const Scope *scope;
} NameContext;

static Str outer_columns(void *context, const AstExpr *subquery)
{
    const NameContext *names = context;
    return subquery_arguments(names->binder, subquery);
}

static bool find_column(const NameContext *names, const AstName *name, ScopeMatch *match)
{
    bool found = false;
    Error *error = scope_find(names->scope, name, &found, match);
    error_free(error);
    return error == NULL && found;
}

/* t of t.a is no part of what is shown, s of a struct's s.a is. */
static size_t qualifier_parts(void *context, const AstName *name)
{
    ScopeMatch match = {0};
    return find_column(context, name, &match) ? match.used_parts - 1 : name->part_count - 1;
}

static bool is_lateral_alias(void *context, const AstName *name)
{
    const NameContext *names = context;
    ScopeMatch match = {0};
    return !find_column(names, name, &match) && names_lateral_alias(names->scope, name);
}

static const AstWindow *named_window(void *context, const AstWindow *over)
{
    const NameContext *names = context;
    return scope_named_window(names->scope, over);
}

static bool is_column(void *context, const AstName *name)
{
    ScopeMatch match = {0};
    return find_column(context, name, &match);
}

static Str outer_column(void *context, const AstName *name, size_t *ret_used_parts)
{
    const NameContext *names = context;
    const OuterQuery *outer = names->binder->outer;
    ScopeMatch match = {0};
    if (outer == NULL || !outer->lateral || find_column(names, name, &match) ||
        names_lateral_alias(names->scope, name)) {
        return STR_NULL;
    }
    NameContext around = {names->binder, outer->scope};
    if (!find_column(&around, name, &match)) {
        return STR_NULL;
    }
    *ret_used_parts = match.used_parts;
    const ScopeColumn *column = scope_column_at(outer->scope, match.column);
    const ScopeQualifier *qualifier = column == NULL ? NULL : column->qualifier;
    if (qualifier == NULL || qualifier->part_count == 0) {
        return match.field->name;
    }
    return str_from(arena_printf(names->binder->arena, "%.*s.%.*s",
                                 STR_ARG(qualifier->parts[qualifier->part_count - 1]),
                                 STR_ARG(match.field->name)));
}

static const AstStepForm *noted_form(void *context, const AstBinaryStep *step)
{
    const NameContext *names = context;
    const StepNote *at = names->binder->step_notes;
    while (at != NULL && at->step != step) {
        at = at->next;
    }
    return at == NULL ? NULL : at->form;
}

static const char *time_word(const BoundExpr *literal)
{
    switch (literal->type->kind) {
    case TYPE_DATE:
        return "DATE '";
    case TYPE_TIMESTAMP:
        return "TIMESTAMP '";
    case TYPE_TIMESTAMP_NTZ:
        return "TIMESTAMP_NTZ '";
    default:
        return NULL;
    }
}

/* The literal was bound before: reading it again fails only when it failed then. */
static bool literal_text(void *context, const AstExpr *expr, Buffer *out)
{
    const NameContext *names = context;
    BoundExpr *literal = NULL;
    Error *error = expr->kind == AST_EXPR_INTERVAL
                       ? bind_interval_literal(names->binder, expr, &literal)
                       : bind_literal(names->binder, expr, false, &literal);
    if (error != NULL) {
        error_free(error);
        return false;
    }
    if (literal->kind != BOUND_LITERAL) {
        return false; /* 'now' has no value yet */
    }
    const char *word = time_word(literal);
    buffer_append_cstr(out, word == NULL ? "" : word);
    value_format(literal->literal, 0, names->binder->context->time_zone, out);
    buffer_append_cstr(out, word == NULL ? "" : "'");
    return true;
}

/* A column, or a field of one: shown by its last name alone; current_date is current_date(). */
static bool is_reference(const NameContext *names, const AstExpr *expr)
{
    ScopeMatch match = {0};
    if (expr->kind == AST_EXPR_COLUMN && expr->column.current_value != AST_CURRENT_NONE) {
        return find_column(names, &expr->column.name, &match);
    }
    while (expr->kind == AST_EXPR_FIELD) {
        expr = expr->field.base;
    }
    return expr->kind == AST_EXPR_COLUMN;
}

Str bind_output_name(Binder *binder, const Scope *scope, const AstExpr *expr,
                     const BoundExpr *bound)
{
    NameContext context = {binder, scope};
    if (!is_reference(&context, expr)) {
        AUTO_BUFFER Buffer out = {0};
        AstNames names = {.qualifier_parts = qualifier_parts,
                          .is_lateral_alias = is_lateral_alias,
                          .outer_columns = outer_columns,
                          .named_window = named_window,
                          .is_column = is_column,
                          .outer_column = outer_column,
                          .step_form = noted_form,
                          .literal_text = literal_text,
                          .context = &context};
        ast_print_column_name_with(expr, &names, &out);
        return arena_copy_str(binder->arena, buffer_str(&out));
    }
    if (binder->flow_query && bound->kind == BOUND_FIELD) {
        return bound->children[0]->type->fields[bound->field].name;
    }
    const ScopeColumn *column =
        bound->kind == BOUND_COLUMN ? scope_column_at(scope, bound->column) : NULL;
    if (binder->flow_query && column != NULL) {
        return column->field->name;
    }
    return expr->kind == AST_EXPR_FIELD
               ? expr->field.name.name
               : expr->column.name.parts[expr->column.name.part_count - 1].name;
}
