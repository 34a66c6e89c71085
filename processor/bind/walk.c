/* Walks over syntax trees of expressions, and what such a walk finds: aggregates, analytic
 * functions, generators, subqueries. The tree is at most AST_DEPTH_MAX high. */
#include "processor/bind/binder.h"

#include "processor/base/banned.h"

typedef void Visit(void *context, const AstExpr *child);

static void visit_optional(const AstExpr *expr, Visit *visit, void *context)
{
    if (expr != NULL) {
        visit(context, expr);
    }
}

static void visit_list(AstExpr *const *exprs, size_t count, Visit *visit, void *context)
{
    for (size_t i = 0; i < count; i++) {
        visit_optional(exprs[i], visit, context);
    }
}

static void visit_sort_items(const AstSortItem *items, size_t count, Visit *visit, void *context)
{
    for (size_t i = 0; i < count; i++) {
        visit_optional(items[i].expr, visit, context);
    }
}

static void visit_call(const AstCall *call, Visit *visit, void *context)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        visit_optional(call->arguments[i].expr, visit, context);
    }
    visit_sort_items(call->within_group, call->within_group_count, visit, context);
    visit_optional(call->filter, visit, context);
    if (call->over != NULL) {
        visit_list(call->over->partition_by, call->over->partition_by_count, visit, context);
        visit_sort_items(call->over->order_by, call->over->order_by_count, visit, context);
    }
}

static void visit_case(const AstCase *form, Visit *visit, void *context)
{
    visit_optional(form->operand, visit, context);
    for (size_t i = 0; i < form->when_count; i++) {
        visit_optional(form->whens[i].condition, visit, context);
        visit_optional(form->whens[i].result, visit, context);
    }
    visit_optional(form->else_, visit, context);
}

static void visit_binary(const AstBinary *binary, Visit *visit, void *context)
{
    visit_optional(binary->first, visit, context);
    for (size_t i = 0; i < binary->step_count; i++) {
        visit_optional(binary->steps[i].right, visit, context);
    }
}

void expr_visit_children(const AstExpr *expr, Visit *visit, void *context)
{
    switch (expr->kind) {
    case AST_EXPR_LITERAL:
    case AST_EXPR_INTERVAL:
    case AST_EXPR_COLUMN:
    case AST_EXPR_EXISTS:
    case AST_EXPR_SUBQUERY:
        return;
    case AST_EXPR_UNARY:
        visit_optional(expr->unary.operand, visit, context);
        return;
    case AST_EXPR_BINARY:
        visit_binary(&expr->binary, visit, context);
        return;
    case AST_EXPR_BETWEEN:
        visit_optional(expr->between.operand, visit, context);
        visit_optional(expr->between.low, visit, context);
        visit_optional(expr->between.high, visit, context);
        return;
    case AST_EXPR_IN_LIST:
        visit_optional(expr->in_list.operand, visit, context);
        visit_list(expr->in_list.items, expr->in_list.item_count, visit, context);
        return;
    case AST_EXPR_IN_QUERY:
        visit_optional(expr->in_query.operand, visit, context);
        return;
    case AST_EXPR_LIKE:
        visit_optional(expr->like.operand, visit, context);
        visit_optional(expr->like.pattern, visit, context);
        return;
    case AST_EXPR_LIKE_QUANTIFIED:
        visit_optional(expr->like_quantified.operand, visit, context);
        visit_list(expr->like_quantified.patterns, expr->like_quantified.pattern_count, visit,
                   context);
        return;
    case AST_EXPR_IS:
        visit_optional(expr->is.operand, visit, context);
        return;
    case AST_EXPR_IS_DISTINCT:
        visit_optional(expr->is_distinct.left, visit, context);
        visit_optional(expr->is_distinct.right, visit, context);
        return;
    case AST_EXPR_CASE:
        visit_case(&expr->case_, visit, context);
        return;
    case AST_EXPR_CAST:
        visit_optional(expr->cast.operand, visit, context);
        return;
    case AST_EXPR_EXTRACT:
        visit_optional(expr->extract.source, visit, context);
        return;
    case AST_EXPR_TRIM:
        visit_optional(expr->trim.characters, visit, context);
        visit_optional(expr->trim.source, visit, context);
        return;
    case AST_EXPR_STRUCT:
        for (size_t i = 0; i < expr->struct_.item_count; i++) {
            visit_optional(expr->struct_.items[i].expr, visit, context);
        }
        return;
    case AST_EXPR_ROW:
        visit_list(expr->row.items, expr->row.item_count, visit, context);
        return;
    case AST_EXPR_CALL:
        visit_call(expr->call, visit, context);
        return;
    case AST_EXPR_LAMBDA:
        visit_optional(expr->lambda.body, visit, context);
        return;
    case AST_EXPR_INDEX:
        visit_optional(expr->index.base, visit, context);
        visit_optional(expr->index.index, visit, context);
        return;
    case AST_EXPR_FIELD:
        visit_optional(expr->field.base, visit, context);
        return;
    case AST_EXPR_VARIANT_PATH:
        visit_optional(expr->variant_path.base, visit, context);
        return;
    case AST_EXPR_COLLATE:
        visit_optional(expr->collate.operand, visit, context);
        return;
    }
}

typedef struct TraitWalk {
    const FunctionCatalog *functions;
    ExprTraits *traits;
} TraitWalk;

static void note(const AstExpr **trait, const AstExpr *expr)
{
    if (*trait == NULL) {
        *trait = expr;
    }
}

static void note_call(const TraitWalk *walk, const AstExpr *expr)
{
    const AstCall *call = expr->call;
    ExprTraits *traits = walk->traits;
    if (call->over != NULL) {
        note(&traits->analytic, expr);
        return;
    }
    if (call->name.part_count != 1) {
        note(&traits->user_function, expr);
        return;
    }
    Str name = call->name.parts[0].name;
    if (str_equal_ignore_case(name, STR("window")) ||
        str_equal_ignore_case(name, STR("session_window"))) {
        note(&traits->time_window, expr);
        return;
    }
    const Function *function = walk->functions->find(name);
    if (function == NULL) {
        return;
    }
    switch (function->kind) {
    case FUNCTION_AGGREGATE:
        note(&traits->aggregate, expr);
        return;
    case FUNCTION_WINDOW:
        note(&traits->analytic, expr);
        return;
    case FUNCTION_GENERATOR:
        note(&traits->generator, expr);
        return;
    case FUNCTION_TABLE:
        return;
    case FUNCTION_SCALAR:
        if ((function->flags & (FUNCTION_DETERMINISTIC | FUNCTION_CLOCK)) == 0) {
            note(&traits->non_deterministic, expr);
        }
        return;
    }
}

static void note_expr(void *context, const AstExpr *expr)
{
    const TraitWalk *walk = context;
    if (expr->kind == AST_EXPR_CALL) {
        note_call(walk, expr);
    } else if (expr->kind == AST_EXPR_COLUMN) {
        note(&walk->traits->column, expr);
    } else if (expr->kind == AST_EXPR_IN_QUERY || expr->kind == AST_EXPR_EXISTS ||
               expr->kind == AST_EXPR_SUBQUERY) {
        note(&walk->traits->subquery, expr);
    }
    expr_visit_children(expr, note_expr, context);
}

void expr_traits(const FunctionCatalog *functions, const AstExpr *expr, ExprTraits *traits)
{
    *traits = (ExprTraits){0};
    TraitWalk walk = {functions, traits};
    note_expr(&walk, expr);
}
