/* Printing queries, relations, windows. */
#include "processor/sql/ast_print_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------- sorting and windows --- */

void print_sort_direction(const AstSortItem *item, Buffer *out)
{
    buffer_append_cstr(out, item->descending ? " DESC" : "");
    if (item->nulls_given) {
        buffer_append_cstr(out, item->nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
}

void print_sort_items(const AstSortItem *items, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        print_list_separator(out, i);
        ast_print_expr(items[i].expr, out);
        print_sort_direction(&items[i], out);
    }
}

static void print_frame_bound(const AstFrameBound *bound, Buffer *out)
{
    static const char *const texts[] = {
        [AST_FRAME_UNBOUNDED_PRECEDING] = "UNBOUNDED PRECEDING",
        [AST_FRAME_PRECEDING] = " PRECEDING",
        [AST_FRAME_CURRENT_ROW] = "CURRENT ROW",
        [AST_FRAME_FOLLOWING] = " FOLLOWING",
        [AST_FRAME_UNBOUNDED_FOLLOWING] = "UNBOUNDED FOLLOWING",
    };
    if (bound->expr != NULL) {
        ast_print_expr(bound->expr, out);
    }
    buffer_append_cstr(out, texts[bound->kind]);
}

static void print_frame(const AstFrame *frame, Buffer *out)
{
    buffer_append_cstr(out, frame->range ? "RANGE " : "ROWS ");
    if (frame->between) {
        buffer_append_cstr(out, "BETWEEN ");
    }
    print_frame_bound(&frame->start, out);
    if (frame->between) {
        buffer_append_cstr(out, " AND ");
        print_frame_bound(&frame->end, out);
    }
}

void print_window_definition(const AstWindow *window, Buffer *out)
{
    if (window->name.name.data != NULL) {
        ast_print_identifier(&window->name, out);
        return;
    }
    const char *blank = "";
    buffer_append_byte(out, '(');
    if (window->partition_by_count > 0) {
        buffer_append_cstr(out, "PARTITION BY ");
        print_exprs(window->partition_by, window->partition_by_count, out);
        blank = " ";
    }
    if (window->order_by_count > 0) {
        buffer_printf(out, "%sORDER BY ", blank);
        print_sort_items(window->order_by, window->order_by_count, out);
        blank = " ";
    }
    if (window->frame != NULL) {
        buffer_append_cstr(out, blank);
        print_frame(window->frame, out);
    }
    buffer_append_byte(out, ')');
}

void print_named_windows(const AstNamedWindow *items, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_cstr(out, i == 0 ? " WINDOW " : ", ");
        ast_print_identifier(&items[i].name, out);
        buffer_append_cstr(out, " AS ");
        print_window_definition(items[i].window, out);
    }
}

/* ---------------------------------------------------------------- relations --- */

void print_table_alias(const AstTableAlias *alias, Buffer *out)
{
    if (alias->name.name.data == NULL) {
        return;
    }
    buffer_append_cstr(out, " AS ");
    ast_print_identifier(&alias->name, out);
    if (alias->columns.item_count > 0) {
        print_columns(&alias->columns, out);
    }
}

static void print_values(const AstValues *values, Buffer *out)
{
    buffer_append_cstr(out, "VALUES ");
    print_exprs(values->rows, values->row_count, out);
}

static void print_from_item(const AstFromItem *item, Buffer *out);

static void print_named_relation(const AstRelation *relation, Buffer *out)
{
    ast_print_name(&relation->name, out);
    if (relation->kind == AST_RELATION_FUNCTION) {
        buffer_append_byte(out, '(');
        print_arguments(relation->arguments, relation->argument_count, out);
        buffer_append_byte(out, ')');
    }
}

static void print_relation_primary(const AstRelation *relation, Buffer *out)
{
    switch (relation->kind) {
    case AST_RELATION_NAME:
    case AST_RELATION_FUNCTION:
        if (relation->stream) {
            buffer_append_cstr(out, "STREAM(");
            print_named_relation(relation, out);
            buffer_append_byte(out, ')');
        } else {
            print_named_relation(relation, out);
        }
        return;
    case AST_RELATION_VALUES:
        print_values(relation->values, out);
        return;
    case AST_RELATION_QUERY:
        buffer_append_byte(out, '(');
        ast_print_query(relation->query, out);
        buffer_append_byte(out, ')');
        return;
    case AST_RELATION_GROUP:
        buffer_append_byte(out, '(');
        print_from_item(relation->group, out);
        buffer_append_byte(out, ')');
        return;
    }
}

static void print_watermark(const AstWatermark *watermark, Buffer *out)
{
    buffer_append_cstr(out, " WATERMARK ");
    ast_print_expr(watermark->expr, out);
    if (watermark->alias.name.data != NULL) {
        buffer_append_cstr(out, " AS ");
        ast_print_identifier(&watermark->alias, out);
    }
    buffer_append_cstr(out, " DELAY OF ");
    print_interval(watermark->delay, out);
}

static void print_unsupported(const AstUnsupportedClause *clause, Buffer *out)
{
    if (clause->kind != AST_UNSUPPORTED_NONE) {
        buffer_append_byte(out, ' ');
        buffer_append_str(out, clause->text);
    }
}

void print_relation(const AstRelation *relation, Buffer *out)
{
    if (relation->lateral) {
        buffer_append_cstr(out, "LATERAL ");
    }
    print_relation_primary(relation, out);
    print_unsupported(&relation->sample, out);
    if (relation->watermark != NULL) {
        print_watermark(relation->watermark, out);
    }
    print_table_alias(&relation->alias, out);
    print_unsupported(&relation->pivot, out);
}

static void print_join(const AstJoin *join, Buffer *out)
{
    static const char *const words[] = {
        [AST_JOIN_INNER] = "",          [AST_JOIN_CROSS] = "CROSS ", [AST_JOIN_LEFT] = "LEFT ",
        [AST_JOIN_RIGHT] = "RIGHT ",    [AST_JOIN_FULL] = "FULL ",   [AST_JOIN_SEMI] = "LEFT SEMI ",
        [AST_JOIN_ANTI] = "LEFT ANTI ",
    };
    buffer_printf(out, " %s%sJOIN ", join->natural ? "NATURAL " : "", words[join->type]);
    print_relation(join->relation, out);
    if (join->on != NULL) {
        buffer_append_cstr(out, " ON ");
        ast_print_expr(join->on, out);
    }
    if (join->using.item_count > 0) {
        buffer_append_cstr(out, " USING ");
        print_columns(&join->using, out);
    }
}

static void print_from_item(const AstFromItem *item, Buffer *out)
{
    print_relation(item->first, out);
    for (size_t i = 0; i < item->join_count; i++) {
        print_join(&item->joins[i], out);
    }
}

static void print_lateral_view(const AstLateralView *view, Buffer *out)
{
    buffer_append_cstr(out, view->outer ? " LATERAL VIEW OUTER " : " LATERAL VIEW ");
    ast_print_expr(view->call, out);
    if (view->alias.name.data != NULL) {
        buffer_append_byte(out, ' ');
        ast_print_identifier(&view->alias, out);
    }
    if (view->columns.item_count > 0) {
        buffer_append_cstr(out, " AS ");
        print_identifiers(&view->columns, out);
    }
}

/* ------------------------------------------------------------------- SELECT --- */

static void print_star(const AstSelectItem *item, Buffer *out)
{
    if (item->qualifier.part_count > 0) {
        ast_print_name(&item->qualifier, out);
        buffer_append_byte(out, '.');
    }
    buffer_append_byte(out, '*');
    if (item->except_count > 0) {
        buffer_append_cstr(out, " EXCEPT (");
        for (size_t i = 0; i < item->except_count; i++) {
            print_list_separator(out, i);
            ast_print_name(&item->except[i], out);
        }
        buffer_append_byte(out, ')');
    }
}

static void print_select_item(const AstSelectItem *item, Buffer *out)
{
    if (item->star) {
        print_star(item, out);
        return;
    }
    ast_print_expr(item->expr, out);
    if (item->alias_count > 0) {
        AstIdentifierList aliases = {item->aliases, item->alias_count};
        buffer_append_cstr(out, " AS ");
        if (item->alias_list) {
            print_columns(&aliases, out);
        } else {
            print_identifiers(&aliases, out);
        }
    }
}

static void print_grouping_item(const AstGroupingItem *item, Buffer *out);

static void print_grouping_list(const AstGroupingItem *item, Buffer *out)
{
    buffer_append_cstr(out, " (");
    for (size_t i = 0; i < item->item_count; i++) {
        print_list_separator(out, i);
        print_grouping_item(&item->items[i], out);
    }
    buffer_append_byte(out, ')');
}

/* rollup(…) in parentheses is a call of that name, not the grouping. */
static bool reads_as_grouping(const AstExpr *expr)
{
    if (expr->kind != AST_EXPR_CALL || expr->call->name.part_count != 1 ||
        expr->call->name.parts[0].quoted) {
        return false;
    }
    Str name = expr->call->name.parts[0].name;
    return str_equal_ignore_case(name, STR("rollup")) || str_equal_ignore_case(name, STR("cube"));
}

static void print_grouping_item(const AstGroupingItem *item, Buffer *out)
{
    switch (item->kind) {
    case AST_GROUPING_EXPR:
        if (reads_as_grouping(item->exprs[0])) {
            buffer_append_byte(out, '(');
            ast_print_expr(item->exprs[0], out);
            buffer_append_byte(out, ')');
        } else {
            ast_print_expr(item->exprs[0], out);
        }
        return;
    case AST_GROUPING_SET:
        buffer_append_byte(out, '(');
        print_exprs(item->exprs, item->expr_count, out);
        buffer_append_byte(out, ')');
        return;
    case AST_GROUPING_ROLLUP:
        buffer_append_cstr(out, "ROLLUP");
        break;
    case AST_GROUPING_CUBE:
        buffer_append_cstr(out, "CUBE");
        break;
    case AST_GROUPING_SETS:
        buffer_append_cstr(out, "GROUPING SETS");
        break;
    }
    print_grouping_list(item, out);
}

static void print_group_by(const AstGroupBy *group, Buffer *out)
{
    buffer_append_cstr(out, group->all ? " GROUP BY ALL" : " GROUP BY ");
    for (size_t i = 0; i < group->item_count; i++) {
        print_list_separator(out, i);
        print_grouping_item(&group->items[i], out);
    }
    if (group->trailing == NULL) {
        return;
    }
    if (group->trailing->kind == AST_GROUPING_SETS) {
        buffer_append_byte(out, ' ');
        print_grouping_item(group->trailing, out);
    } else {
        bool rollup = group->trailing->kind == AST_GROUPING_ROLLUP;
        buffer_append_cstr(out, rollup ? " WITH ROLLUP" : " WITH CUBE");
    }
}

static void print_select(const AstSelect *select, Buffer *out)
{
    buffer_append_cstr(out, select->distinct ? "SELECT DISTINCT " : "SELECT ");
    for (size_t i = 0; i < select->item_count; i++) {
        print_list_separator(out, i);
        print_select_item(&select->items[i], out);
    }
    for (size_t i = 0; i < select->from_count; i++) {
        buffer_append_cstr(out, i == 0 ? " FROM " : ", ");
        print_from_item(&select->from[i], out);
    }
    for (size_t i = 0; i < select->lateral_view_count; i++) {
        print_lateral_view(&select->lateral_views[i], out);
    }
    print_condition(" WHERE ", select->where, out);
    if (select->group_by != NULL) {
        print_group_by(select->group_by, out);
    }
    print_condition(" HAVING ", select->having, out);
    print_condition(" QUALIFY ", select->qualify, out);
    print_named_windows(select->windows, select->window_count, out);
}

/* -------------------------------------------------------------------- query --- */

static void print_term(const AstQueryTerm *term, Buffer *out);

static void print_set(const AstQueryTerm *term, Buffer *out)
{
    static const char *const words[] = {[AST_SET_UNION] = " UNION ",
                                        [AST_SET_EXCEPT] = " EXCEPT ",
                                        [AST_SET_INTERSECT] = " INTERSECT "};
    print_term(term->first, out);
    for (size_t i = 0; i < term->step_count; i++) {
        buffer_append_cstr(out, words[term->steps[i].operator_]);
        buffer_append_cstr(out, term->steps[i].all ? "ALL " : "");
        print_term(term->steps[i].right, out);
    }
}

static void print_term(const AstQueryTerm *term, Buffer *out)
{
    switch (term->kind) {
    case AST_TERM_SELECT:
        print_select(term->select, out);
        return;
    case AST_TERM_VALUES:
        print_values(term->values, out);
        print_table_alias(&term->values_alias, out);
        return;
    case AST_TERM_QUERY:
        buffer_append_byte(out, '(');
        ast_print_query(term->query, out);
        buffer_append_byte(out, ')');
        return;
    case AST_TERM_SET:
        print_set(term, out);
        return;
    }
}

static void print_with(const AstQuery *query, Buffer *out)
{
    for (size_t i = 0; i < query->common_table_count; i++) {
        const AstCommonTable *table = &query->common_tables[i];
        buffer_append_cstr(out, i > 0 ? ", " : query->recursive ? "WITH RECURSIVE " : "WITH ");
        ast_print_identifier(&table->name, out);
        if (table->columns.item_count > 0) {
            buffer_append_byte(out, ' ');
            print_columns(&table->columns, out);
        }
        buffer_append_cstr(out, " AS (");
        ast_print_query(table->query, out);
        buffer_append_byte(out, ')');
    }
    if (query->common_table_count > 0) {
        buffer_append_byte(out, ' ');
    }
}

static void print_sort(const AstQuery *query, Buffer *out)
{
    switch (query->sort_kind) {
    case AST_SORT_NONE:
        return;
    case AST_SORT_ORDER_BY_ALL:
        buffer_append_cstr(out, " ORDER BY ALL");
        print_sort_direction(&query->sort_items[0], out);
        return;
    case AST_SORT_ORDER_BY:
        buffer_append_cstr(out, " ORDER BY ");
        break;
    case AST_SORT_SORT_BY:
        buffer_append_cstr(out, " SORT BY ");
        break;
    }
    print_sort_items(query->sort_items, query->sort_item_count, out);
}

void ast_print_query(const AstQuery *query, Buffer *out)
{
    print_with(query, out);
    print_term(query->body, out);
    print_sort(query, out);
    print_named_windows(query->windows, query->window_count, out);
    if (query->limit_all) {
        buffer_append_cstr(out, " LIMIT ALL");
    }
    print_condition(" LIMIT ", query->limit, out);
    print_condition(" OFFSET ", query->offset, out);
}
