/* Dump of queries, relations and joins. */
#include "tests/support/ast_dump_internal.h"

#include "tests/support/ast_dump.h"

#include "processor/base/banned.h"

/* -------------------------------------------------------------- relations --- */

void dump_alias(const char *field, const AstTableAlias *alias, Buffer *out)
{
    dump_identifier(field, &alias->name, out);
    dump_list("columns", &alias->columns, out);
}

static void dump_values(const AstValues *values, Buffer *out)
{
    if (values != NULL) {
        dump_exprs("values", values->rows, values->row_count, out);
    }
}

static void dump_unsupported(const char *field, const AstUnsupportedClause *clause, Buffer *out)
{
    dump_number(field, clause->kind, out);
    dump_text("text", clause->text, out);
}

static void dump_from_item(const AstFromItem *item, Buffer *out);

static void dump_watermark(const AstWatermark *watermark, Buffer *out)
{
    dump_open("watermark", out);
    dump_expr("expr", watermark->expr, out);
    dump_identifier("as", &watermark->alias, out);
    dump_interval("delay", watermark->delay, out);
    dump_close(out);
}

void dump_relation(const char *field, const AstRelation *relation, Buffer *out)
{
    if (relation == NULL) {
        return;
    }
    buffer_printf(out, " %s=(relation", field);
    dump_number("kind", relation->kind, out);
    dump_flag("stream", relation->stream, out);
    dump_flag("lateral", relation->lateral, out);
    dump_name("name", &relation->name, out);
    dump_arguments("arguments", relation->arguments, relation->argument_count, out);
    dump_values(relation->values, out);
    dump_query("query", relation->query, out);
    if (relation->group != NULL) {
        dump_from_item(relation->group, out);
    }
    dump_unsupported("sample", &relation->sample, out);
    if (relation->watermark != NULL) {
        dump_watermark(relation->watermark, out);
    }
    dump_alias("alias", &relation->alias, out);
    dump_unsupported("pivot", &relation->pivot, out);
    dump_close(out);
}

static void dump_from_item(const AstFromItem *item, Buffer *out)
{
    dump_open("from", out);
    dump_relation("first", item->first, out);
    for (size_t i = 0; i < item->join_count; i++) {
        const AstJoin *join = &item->joins[i];
        dump_open("join", out);
        dump_number("type", join->type, out);
        dump_flag("natural", join->natural, out);
        dump_relation("relation", join->relation, out);
        dump_expr("on", join->on, out);
        dump_list("using", &join->using, out);
        dump_close(out);
    }
    dump_close(out);
}

static void dump_lateral_view(const AstLateralView *view, Buffer *out)
{
    dump_open("view", out);
    dump_flag("outer", view->outer, out);
    dump_expr("call", view->call, out);
    dump_identifier("alias", &view->alias, out);
    dump_list("columns", &view->columns, out);
    dump_close(out);
}

/* ----------------------------------------------------------------- SELECT --- */

static void dump_select_item(const AstSelectItem *item, Buffer *out)
{
    dump_open("item", out);
    dump_flag("star", item->star, out);
    dump_name("qualifier", &item->qualifier, out);
    for (size_t i = 0; i < item->except_count; i++) {
        dump_name("except", &item->except[i], out);
    }
    dump_expr("expr", item->expr, out);
    dump_identifiers("as", item->aliases, item->alias_count, out);
    dump_flag("alias_list", item->alias_list, out);
    dump_close(out);
}

static void dump_grouping(const AstGroupingItem *item, Buffer *out)
{
    dump_open("grouping", out);
    dump_number("kind", item->kind, out);
    dump_exprs("exprs", item->exprs, item->expr_count, out);
    for (size_t i = 0; i < item->item_count; i++) {
        dump_grouping(&item->items[i], out);
    }
    dump_close(out);
}

static void dump_group_by(const AstGroupBy *group, Buffer *out)
{
    dump_open("group_by", out);
    dump_flag("all", group->all, out);
    for (size_t i = 0; i < group->item_count; i++) {
        dump_grouping(&group->items[i], out);
    }
    if (group->trailing != NULL) {
        dump_open("trailing", out);
        dump_grouping(group->trailing, out);
        dump_close(out);
    }
    dump_close(out);
}

static void dump_windows(const AstNamedWindow *items, size_t count, Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        dump_identifier("window", &items[i].name, out);
        dump_window("as", items[i].window, out);
    }
}

static void dump_select(const AstSelect *select, Buffer *out)
{
    dump_open("select", out);
    dump_flag("distinct", select->distinct, out);
    for (size_t i = 0; i < select->item_count; i++) {
        dump_select_item(&select->items[i], out);
    }
    for (size_t i = 0; i < select->from_count; i++) {
        dump_from_item(&select->from[i], out);
    }
    for (size_t i = 0; i < select->lateral_view_count; i++) {
        dump_lateral_view(&select->lateral_views[i], out);
    }
    dump_expr("where", select->where, out);
    if (select->group_by != NULL) {
        dump_group_by(select->group_by, out);
    }
    dump_expr("having", select->having, out);
    dump_expr("qualify", select->qualify, out);
    dump_windows(select->windows, select->window_count, out);
    dump_close(out);
}

/* ------------------------------------------------------------------ query --- */

static void dump_term(const AstQueryTerm *term, Buffer *out)
{
    dump_open("term", out);
    dump_number("kind", term->kind, out);
    if (term->select != NULL) {
        dump_select(term->select, out);
    }
    dump_values(term->values, out);
    dump_alias("alias", &term->values_alias, out);
    dump_query("query", term->query, out);
    if (term->first != NULL) {
        dump_term(term->first, out);
    }
    for (size_t i = 0; i < term->step_count; i++) {
        buffer_printf(out, " %d", (int)term->steps[i].operator_);
        dump_flag("all", term->steps[i].all, out);
        dump_term(term->steps[i].right, out);
    }
    dump_close(out);
}

void ast_dump_query(const AstQuery *query, Buffer *out)
{
    dump_open("query", out);
    dump_flag("recursive", query->recursive, out);
    for (size_t i = 0; i < query->common_table_count; i++) {
        dump_identifier("with", &query->common_tables[i].name, out);
        dump_list("columns", &query->common_tables[i].columns, out);
        dump_query("as", query->common_tables[i].query, out);
    }
    dump_term(query->body, out);
    dump_number("sort", query->sort_kind, out);
    dump_sort_items("by", query->sort_items, query->sort_item_count, out);
    dump_windows(query->windows, query->window_count, out);
    dump_flag("limit_all", query->limit_all, out);
    dump_expr("limit", query->limit, out);
    dump_expr("offset", query->offset, out);
    dump_close(out);
}

void dump_query(const char *field, const AstQuery *query, Buffer *out)
{
    if (query != NULL) {
        buffer_printf(out, " %s=", field);
        ast_dump_query(query, out);
    }
}
