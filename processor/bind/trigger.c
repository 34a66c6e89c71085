/* See trigger.h. A query is walked with its subqueries; a view stands for what it reads. Tables,
 * topics and directories can be watched, generated rows cannot. */
#include "processor/bind/trigger.h"

#include "processor/bind/information_schema.h"
#include "processor/bind/view.h"

#include "processor/base/banned.h"

enum { UPSTREAMS_MAX = 10 };

/* A name of WITH in force: no upstream. */
typedef struct WithName {
    Str name;
    const struct WithName *outer;
} WithName;

typedef struct Walk {
    Upstreams *upstreams;
    const WithName *names;
} Walk;

static void walk_query(Upstreams *upstreams, const WithName *outer, const AstQuery *query);

void upstreams_init(Upstreams *upstreams, const Binder *binder)
{
    *upstreams = (Upstreams){.binder = binder};
}

void upstreams_done(Upstreams *upstreams)
{
    map_done(&upstreams->names);
}

/* True the first time. */
static bool note(Upstreams *upstreams, Str key)
{
    if (map_get(&upstreams->names, key) != NULL) {
        return false;
    }
    map_put(&upstreams->names, key, upstreams);
    return true;
}

/* ------------------------------------------------------------- relations --- */

static bool is_with_name(const WithName *names, const AstName *name)
{
    for (; names != NULL && name->part_count == 1; names = names->outer) {
        if (str_equal_ignore_case(names->name, name->parts[0].name)) {
            return true;
        }
    }
    return false;
}

static void add_named(Upstreams *upstreams, const AstName *name)
{
    Str parts[3];
    size_t count = ast_name_parts(name, parts, ARRAY_LENGTH(parts));
    if (count == 0 || is_information_schema(name)) {
        return;
    }
    const Binder *binder = upstreams->binder;
    Str key = catalog_full_name(binder->context->catalog, parts, count, binder->arena);
    if (!note(upstreams, key)) {
        return;
    }
    const View *view = binder_find_view(binder, name);
    if (view == NULL) {
        upstreams->count++;
    } else {
        walk_query(upstreams, NULL, view->create->query);
    }
}

/* read_files(…) and read_kafka(…), told apart by what is written. */
static void add_function(Upstreams *upstreams, const AstRelation *relation)
{
    Str name = relation->name.parts[relation->name.part_count - 1].name;
    bool watched = str_equal_ignore_case(name, STR("read_files")) ||
                   str_equal_ignore_case(name, STR("read_kafka"));
    upstreams->count += watched && note(upstreams, relation->text);
}

static void walk_item(Upstreams *upstreams, const WithName *names, const AstFromItem *item);

static void walk_relation(Upstreams *upstreams, const WithName *names, const AstRelation *relation)
{
    switch (relation->kind) {
    case AST_RELATION_NAME:
        if (relation->stream || !is_with_name(names, &relation->name)) {
            add_named(upstreams, &relation->name);
        }
        return;
    case AST_RELATION_FUNCTION:
        add_function(upstreams, relation);
        return;
    case AST_RELATION_VALUES:
        return;
    case AST_RELATION_QUERY:
        walk_query(upstreams, names, relation->query);
        return;
    case AST_RELATION_GROUP:
        walk_item(upstreams, names, relation->group);
        return;
    }
}

/* ----------------------------------------------------------- expressions --- */

static void walk_expr(void *context, const AstExpr *expr)
{
    const Walk *walk = context;
    if (expr->kind == AST_EXPR_IN_QUERY) {
        walk_query(walk->upstreams, walk->names, expr->in_query.query);
    } else if (expr->kind == AST_EXPR_EXISTS || expr->kind == AST_EXPR_SUBQUERY) {
        walk_query(walk->upstreams, walk->names, expr->subquery);
    }
    expr_visit_children(expr, walk_expr, context);
}

static void walk_optional(Upstreams *upstreams, const WithName *names, const AstExpr *expr)
{
    Walk walk = {upstreams, names};
    if (expr != NULL) {
        walk_expr(&walk, expr);
    }
}

/* --------------------------------------------------------------- queries --- */

static void walk_item(Upstreams *upstreams, const WithName *names, const AstFromItem *item)
{
    walk_relation(upstreams, names, item->first);
    for (size_t i = 0; i < item->join_count; i++) {
        walk_relation(upstreams, names, item->joins[i].relation);
        walk_optional(upstreams, names, item->joins[i].on);
    }
}

static void walk_select(Upstreams *upstreams, const WithName *names, const AstSelect *select)
{
    for (size_t i = 0; i < select->from_count; i++) {
        walk_item(upstreams, names, &select->from[i]);
    }
    for (size_t i = 0; i < select->item_count; i++) {
        walk_optional(upstreams, names, select->items[i].expr);
    }
    walk_optional(upstreams, names, select->where);
    walk_optional(upstreams, names, select->having);
    walk_optional(upstreams, names, select->qualify);
}

static void walk_term(Upstreams *upstreams, const WithName *names, const AstQueryTerm *term)
{
    switch (term->kind) {
    case AST_TERM_SELECT:
        walk_select(upstreams, names, term->select);
        return;
    case AST_TERM_VALUES:
        return;
    case AST_TERM_QUERY:
        walk_query(upstreams, names, term->query);
        return;
    case AST_TERM_SET:
        walk_term(upstreams, names, term->first);
        for (size_t i = 0; i < term->step_count; i++) {
            walk_term(upstreams, names, term->steps[i].right);
        }
        return;
    }
}

static void walk_query(Upstreams *upstreams, const WithName *outer, const AstQuery *query)
{
    const WithName *names = outer;
    for (size_t i = 0; i < query->common_table_count; i++) {
        walk_query(upstreams, names, query->common_tables[i].query);
        WithName *entry = arena_new_object(upstreams->binder->arena, WithName);
        *entry = (WithName){query->common_tables[i].name.name, names};
        names = entry;
    }
    walk_term(upstreams, names, query->body);
}

void upstreams_add_query(Upstreams *upstreams, const AstQuery *query)
{
    walk_query(upstreams, NULL, query);
}

void upstreams_add_relation(Upstreams *upstreams, const AstRelation *relation)
{
    walk_relation(upstreams, NULL, relation);
}

Error *upstreams_check(const Upstreams *upstreams, SourcePlace place)
{
    if (upstreams->count > UPSTREAMS_MAX) { /* ST-39 */
        return error_at(ERROR_TOO_MANY_TRIGGER_SOURCES, place,
                        "TRIGGER ON UPDATE watches at most %d sources, and the table reads %zu.",
                        UPSTREAMS_MAX, upstreams->count);
    }
    return upstreams->count > 0
               ? NULL
               : error_set_hint(error_at(ERROR_UNSUPPORTED_TRIGGER_SOURCE, place,
                                         "TRIGGER ON UPDATE has nothing to watch: the table reads "
                                         "no table, topic or directory."),
                                "SCHEDULE refreshes it by the clock"); /* ST-41 */
}
