/* The rules of REPLACE USING and append flows about their queries, checked on the syntax tree
 * before names are resolved: what a stream cannot do is told as such (RU-17, RU-27 … RU-38, ST-49),
 * not as an unknown column and not as NOT_YET. An append flow may do a little more: aggregate up to
 * a watermark, and join as Spark's append mode does.
 *
 * The rules hold for the parts of a query that read a STREAM. A subquery or WITH table without one
 * is a static relation and may aggregate and sort as it likes. */
#include "processor/bind/view.h"

#include "processor/base/banned.h"

/* A name of WITH in force, innermost first. Whether it streams is found once, when it comes into
 * force, so that a chain of names that mention each other twice takes no exponential time. */
typedef struct WithName {
    Str name;
    bool streams;
    bool has_watermark;
    const struct WithName *outer;
} WithName;

typedef struct Streams {
    bool streams;
    bool has_watermark;
} Streams;

static Streams query_streams(const Binder *binder, const WithName *outer, const AstQuery *query);
static Streams item_streams(const Binder *binder, const WithName *names, const AstFromItem *item);

static Streams either(Streams a, Streams b)
{
    return (Streams){a.streams || b.streams, a.has_watermark || b.has_watermark};
}

static const WithName *enter_name(const Binder *binder, const WithName *outer,
                                  const AstCommonTable *table)
{
    Streams streams = query_streams(binder, outer, table->query);
    WithName *entry = arena_new_object(binder->arena, WithName);
    *entry = (WithName){table->name.name, streams.streams, streams.has_watermark, outer};
    return entry;
}

static const WithName *enter_with(const Binder *binder, const WithName *outer,
                                  const AstQuery *query)
{
    const WithName *names = outer;
    for (size_t i = 0; i < query->common_table_count; i++) {
        names = enter_name(binder, names, &query->common_tables[i]);
    }
    return names;
}

/* A view's watermark counts; whether its stream is read as one, the statement that reads it says.
 */
static bool view_has_watermark(const Binder *binder, const AstName *name)
{
    View *view = binder_find_view(binder, name);
    if (view == NULL) {
        return false;
    }
    error_free(view_bind(binder, view, name->place)); /* told where the view is read */
    return view->state == VIEW_BOUND && view->has_watermark;
}

static Streams relation_streams(const Binder *binder, const WithName *names,
                                const AstRelation *relation)
{
    Streams result = {relation->stream, relation->watermark != NULL};
    switch (relation->kind) {
    case AST_RELATION_NAME:
        for (const WithName *at = names; at != NULL && relation->name.part_count == 1;
             at = at->outer) {
            if (str_equal_ignore_case(at->name, relation->name.parts[0].name)) {
                return either(result, (Streams){at->streams, at->has_watermark});
            }
        }
        result.has_watermark = result.has_watermark || view_has_watermark(binder, &relation->name);
        return result;
    case AST_RELATION_QUERY:
        return either(result, query_streams(binder, names, relation->query));
    case AST_RELATION_GROUP:
        return either(result, item_streams(binder, names, relation->group));
    case AST_RELATION_FUNCTION:
    case AST_RELATION_VALUES:
        return result;
    }
    return result;
}

static Streams item_streams(const Binder *binder, const WithName *names, const AstFromItem *item)
{
    Streams result = relation_streams(binder, names, item->first);
    for (size_t i = 0; i < item->join_count; i++) {
        result = either(result, relation_streams(binder, names, item->joins[i].relation));
    }
    return result;
}

static Streams select_streams(const Binder *binder, const WithName *names, const AstSelect *select)
{
    Streams result = {false, false};
    for (size_t i = 0; i < select->from_count; i++) {
        result = either(result, item_streams(binder, names, &select->from[i]));
    }
    return result;
}

static Streams term_streams(const Binder *binder, const WithName *names, const AstQueryTerm *term)
{
    Streams result = {false, false};
    switch (term->kind) {
    case AST_TERM_SELECT:
        return select_streams(binder, names, term->select);
    case AST_TERM_VALUES:
        return result;
    case AST_TERM_QUERY:
        return query_streams(binder, names, term->query);
    case AST_TERM_SET:
        result = term_streams(binder, names, term->first);
        for (size_t i = 0; i < term->step_count; i++) {
            result = either(result, term_streams(binder, names, term->steps[i].right));
        }
        return result;
    }
    return result;
}

static Streams query_streams(const Binder *binder, const WithName *outer, const AstQuery *query)
{
    return term_streams(binder, enter_with(binder, outer, query), query->body);
}

bool query_is_streaming(const Binder *binder, const AstQuery *query)
{
    return query_streams(binder, NULL, query).streams;
}

void query_stream_traits(const Binder *binder, const AstQuery *query, bool *ret_streams,
                         bool *ret_has_watermark)
{
    Streams streams = query_streams(binder, NULL, query);
    *ret_streams = streams.streams;
    *ret_has_watermark = streams.has_watermark;
}

static const AstRelation *first_relation(const AstQueryTerm *term)
{
    while (term->kind == AST_TERM_QUERY || term->kind == AST_TERM_SET) {
        term = term->kind == AST_TERM_SET ? term->first : term->query->body;
    }
    return term->kind == AST_TERM_SELECT && term->select->from_count > 0
               ? term->select->from[0].first
               : NULL;
}

SourcePlace query_source_place(const AstQuery *query)
{
    const AstRelation *relation = first_relation(query->body);
    return relation == NULL ? query->place : relation->place;
}

/* ---------------------------------------------------------------- rules --- */

typedef struct Check {
    Binder *binder;
    FlowKind kind;
} Check;

static void check_query(const Check *check, const WithName *outer, const AstQuery *query);
static void check_item(const Check *check, const WithName *names, const AstFromItem *item);

static void refuse(const Check *check, Error *error)
{
    diagnostics_add(check->binder->diagnostics, error);
}

static const char *article(FlowKind kind)
{
    return kind == FLOW_APPEND ? "an" : "a";
}

static void refuse_operation(const Check *check, SourcePlace place, const char *what,
                             const char *hint)
{
    Error *error = error_at(ERROR_UNSUPPORTED_STREAMING_OPERATION, place,
                            "%s is not supported in the query of %s %s flow, which reads a stream.",
                            what, article(check->kind), flow_kind_name(check->kind));
    refuse(check, hint == NULL ? error : error_set_hint(error, "%s", hint));
}

/* ---- joins */

/* Any comparison of order between two columns: what bounds how long a row waits for its match. */
static bool is_time_range(const AstExpr *expr)
{
    if (expr->kind == AST_EXPR_BETWEEN) {
        return !expr->between.negated;
    }
    for (size_t i = 0; expr->kind == AST_EXPR_BINARY && i < expr->binary.step_count; i++) {
        AstBinaryOperator comparison = expr->binary.steps[i].operator_;
        if (comparison == AST_BINARY_LESS || comparison == AST_BINARY_LESS_EQUAL ||
            comparison == AST_BINARY_GREATER || comparison == AST_BINARY_GREATER_EQUAL) {
            return true;
        }
    }
    return false;
}

static bool has_time_range(const AstExpr *on)
{
    if (on == NULL) {
        return false;
    }
    if (on->kind != AST_EXPR_BINARY || on->binary.steps[0].operator_ != AST_BINARY_AND) {
        return is_time_range(on);
    }
    bool found = has_time_range(on->binary.first);
    for (size_t i = 0; i < on->binary.step_count && !found; i++) {
        found = has_time_range(on->binary.steps[i].right);
    }
    return found;
}

static void check_stream_static_join(const Check *check, const AstJoin *join)
{
    switch (join->type) {
    case AST_JOIN_INNER:
    case AST_JOIN_CROSS:
    case AST_JOIN_LEFT:
        return;
    case AST_JOIN_RIGHT: /* RU-38 */
        refuse_operation(check, join->place, "A right outer join of a stream with a static table",
                         "only inner and left outer joins with the stream on the left are");
        return;
    case AST_JOIN_FULL:
        refuse_operation(check, join->place, "A full outer join of a stream with a static table",
                         "only inner and left outer joins with the stream on the left are");
        return;
    case AST_JOIN_SEMI:
    case AST_JOIN_ANTI:
        if (check->kind != FLOW_APPEND) {
            refuse_operation(check, join->place, "A semi or anti join of a stream",
                             "only inner and left outer joins with the stream on the left are");
        }
        return;
    }
}

/* RU-29, RU-31 */
static void check_stream_stream_join(const Check *check, const AstJoin *join, Streams left,
                                     Streams right)
{
    if (join->type == AST_JOIN_INNER || join->type == AST_JOIN_CROSS) {
        return;
    }
    if (join->type == AST_JOIN_SEMI || join->type == AST_JOIN_ANTI) {
        refuse_operation(check, join->place, "A semi or anti join of two streams", NULL);
    } else if (!left.has_watermark || !right.has_watermark) {
        refuse(check, error_set_hint(
                          error_at(ERROR_WATERMARK_REQUIRED, join->place,
                                   "An outer join of two streams needs a watermark on both sides."),
                          "write WATERMARK column DELAY OF INTERVAL … behind each stream"));
    } else if (!has_time_range(join->on)) {
        refuse(check,
               error_set_hint(
                   error_at(ERROR_TIME_RANGE_REQUIRED, join->place,
                            "An outer join of two streams needs a time range in its condition."),
                   "add a condition like a.ts >= b.ts AND a.ts <= b.ts + INTERVAL 1 HOUR"));
    }
}

/* With the stream on the right: does each of its rows find its matches in the static side? */
static bool keeps_stream_rows(AstJoinType type)
{
    return type == AST_JOIN_INNER || type == AST_JOIN_CROSS || type == AST_JOIN_RIGHT;
}

static void check_join(const Check *check, const AstJoin *join, Streams left, Streams right)
{
    if (left.streams && right.streams) {
        check_stream_stream_join(check, join, left, right);
    } else if (left.streams) {
        check_stream_static_join(check, join);
    } else if (right.streams && !(check->kind == FLOW_APPEND && keeps_stream_rows(join->type))) {
        refuse_operation(check, join->place, "A join with the stream on the right", /* RU-28 */
                         "put the stream on the left side of the join");
    }
}

/* The rules hold for a view's query as for one in its place; they are looked at once, since views
 * may read each other many times. */
static void check_view(const Check *check, View *view, SourcePlace place)
{
    size_t mode = check->kind == FLOW_APPEND;
    if (!view->rules_checked[mode]) {
        view->rules_checked[mode] = true;
        Diagnostics found = {0};
        Binder binder = *check->binder;
        binder.diagnostics = &found;
        check_query(&(Check){&binder, check->kind}, NULL, view->create->query);
        view->rule_broken[mode] = found.count == 0 ? NULL : error_copy(found.errors[0]);
        diagnostics_done(&found);
    }
    const Error *broken = view->rule_broken[mode];
    if (broken != NULL) {
        Error *error = error_at(error_class(broken), place, "In the view `%.*s`: %s",
                                STR_ARG(view->create->name.text), error_message(broken));
        const char *hint = error_hint(broken);
        refuse(check, hint == NULL ? error : error_set_hint(error, "%s", hint));
    }
}

static void check_relation(const Check *check, const WithName *names, const AstRelation *relation)
{
    View *view = relation->kind == AST_RELATION_NAME && relation->stream
                     ? binder_find_view(check->binder, &relation->name)
                     : NULL;
    if (view != NULL) {
        check_view(check, view, relation->place);
    } else if (relation->kind == AST_RELATION_QUERY) {
        check_query(check, names, relation->query);
    } else if (relation->kind == AST_RELATION_GROUP) {
        check_item(check, names, relation->group);
    }
}

static void check_item(const Check *check, const WithName *names, const AstFromItem *item)
{
    Streams left = relation_streams(check->binder, names, item->first);
    check_relation(check, names, item->first);
    for (size_t i = 0; i < item->join_count; i++) {
        const AstJoin *join = &item->joins[i];
        Streams right = relation_streams(check->binder, names, join->relation);
        check_relation(check, names, join->relation);
        check_join(check, join, left, right);
        left = either(left, right);
    }
}

/* A comma joins too: every row with every row. */
static void check_from(const Check *check, const WithName *names, const AstSelect *select)
{
    Streams left = {false, false};
    for (size_t i = 0; i < select->from_count; i++) {
        const AstFromItem *item = &select->from[i];
        Streams right = item_streams(check->binder, names, item);
        check_item(check, names, item);
        if (i > 0 && right.streams && !left.streams && check->kind != FLOW_APPEND) {
            refuse_operation(check, item->place, "A join with the stream on the right",
                             "name the stream first");
        }
        left = either(left, right);
    }
}

/* ---- SELECT */

static void merge_traits(ExprTraits *all, const FunctionCatalog *functions, const AstExpr *expr)
{
    if (expr == NULL) {
        return;
    }
    ExprTraits traits;
    expr_traits(functions, expr, &traits);
    all->aggregate = all->aggregate == NULL ? traits.aggregate : all->aggregate;
    all->analytic = all->analytic == NULL ? traits.analytic : all->analytic;
    all->time_window = all->time_window == NULL ? traits.time_window : all->time_window;
}

static void select_traits(const Check *check, const AstSelect *select, ExprTraits *all)
{
    const FunctionCatalog *functions = check->binder->context->functions;
    *all = (ExprTraits){0};
    for (size_t i = 0; i < select->item_count; i++) {
        merge_traits(all, functions, select->items[i].expr);
    }
    merge_traits(all, functions, select->where);
    merge_traits(all, functions, select->having);
    merge_traits(all, functions, select->qualify);
    for (size_t i = 0; select->group_by != NULL && i < select->group_by->item_count; i++) {
        for (size_t k = 0; k < select->group_by->items[i].expr_count; k++) {
            merge_traits(all, functions, select->group_by->items[i].exprs[k]);
        }
    }
}

/* What makes groups of rows; NULL when nothing does. */
static const char *grouping_place(const AstSelect *select, const ExprTraits *traits,
                                  SourcePlace *ret_place)
{
    if (select->group_by != NULL) {
        *ret_place = select->group_by->place;
        return "GROUP BY";
    }
    if (traits->aggregate != NULL) {
        *ret_place = traits->aggregate->place;
        return "Aggregation";
    }
    if (select->having != NULL) {
        *ret_place = select->having->place;
        return "HAVING";
    }
    return NULL;
}

static void check_aggregation(const Check *check, const AstSelect *select, const ExprTraits *traits,
                              bool has_watermark)
{
    SourcePlace place = select->place;
    const char *what = grouping_place(select, traits, &place);
    if (what == NULL) {
        return;
    }
    if (check->kind != FLOW_APPEND) { /* RU-32, even over a time window (RU-30) */
        refuse_operation(check, place, what,
                         "REPLACE WHERE recomputes aggregates over a window of the table");
    } else if (!has_watermark) { /* ST-49: a row once appended cannot be revised */
        refuse(check,
               error_set_hint(error_at(ERROR_WATERMARK_REQUIRED, place,
                                       "%s in the query of an append flow needs a watermark: a "
                                       "group is written once, when no row of it can come any "
                                       "more.",
                                       what),
                              "write WATERMARK column DELAY OF INTERVAL … behind the stream, or "
                              "use REPLACE WHERE"));
    }
}

static void check_analytic(const Check *check, const AstSelect *select, const ExprTraits *traits)
{
    /* RU-33 */
    const AstExpr *expr = traits->analytic;
    if (expr != NULL) {
        Str text = bound_text(check->binder, expr);
        Error *error =
            error_at(ERROR_NON_TIME_WINDOW_NOT_SUPPORTED, expr->place,
                     "Window function is not supported in %.*s on a stream. Only time windows are, "
                     "by the function window.",
                     STR_ARG(text));
        refuse(check, error_set_hint(error, "%s",
                                     check->kind == FLOW_REPLACE_USING
                                         ? "REPLACE USING keeps the rows of a key's highest "
                                           "SEQUENCE BY by itself"
                                         : "REPLACE USING keeps the latest rows of a key, REPLACE "
                                           "WHERE may use window functions"));
    } else if (select->qualify != NULL) {
        refuse_operation(check, select->qualify->place, "QUALIFY", NULL);
    }
}

static void check_select(const Check *check, const WithName *names, const AstSelect *select)
{
    check_from(check, names, select);
    Streams streams = select_streams(check->binder, names, select);
    if (!streams.streams) {
        return;
    }
    ExprTraits traits;
    select_traits(check, select, &traits);
    check_aggregation(check, select, &traits, streams.has_watermark);
    check_analytic(check, select, &traits);
    if (traits.time_window != NULL && !streams.has_watermark) { /* RU-30 */
        refuse(check,
               error_set_hint(error_at(ERROR_WATERMARK_REQUIRED, traits.time_window->place,
                                       "A time window over a stream needs a watermark."),
                              "write WATERMARK column DELAY OF INTERVAL … behind the stream"));
    }
}

/* ---- set operators */

static const char batch_hint[] = "a REPLACE WHERE flow reads tables and may use it";

static void check_set(const Check *check, const WithName *names, const AstQueryTerm *term)
{
    Streams left = term_streams(check->binder, names, term->first);
    for (size_t i = 0; i < term->step_count; i++) {
        const AstSetStep *step = &term->steps[i];
        Streams right = term_streams(check->binder, names, step->right);
        bool any = left.streams || right.streams;
        if (any && step->operator_ == AST_SET_INTERSECT) { /* RU-35 */
            refuse_operation(check, step->operator_place, "INTERSECT", batch_hint);
        } else if (any && step->operator_ == AST_SET_EXCEPT) {
            refuse_operation(check, step->operator_place, "EXCEPT", batch_hint);
        } else if (any && !step->all) { /* RU-27 */
            refuse_operation(check, step->operator_place, "UNION", "UNION ALL is");
        } else if (left.streams != right.streams) { /* RU-36 */
            refuse_operation(check, step->operator_place,
                             "UNION ALL of a stream and a static relation",
                             "read both sides with STREAM");
        }
        left = either(left, right);
    }
}

static void check_term(const Check *check, const WithName *names, const AstQueryTerm *term)
{
    switch (term->kind) {
    case AST_TERM_SELECT:
        check_select(check, names, term->select);
        return;
    case AST_TERM_VALUES:
        return;
    case AST_TERM_QUERY:
        check_query(check, names, term->query);
        return;
    case AST_TERM_SET:
        check_set(check, names, term);
        check_term(check, names, term->first);
        for (size_t i = 0; i < term->step_count; i++) {
            check_term(check, names, term->steps[i].right);
        }
        return;
    }
}

static void check_query(const Check *check, const WithName *outer, const AstQuery *query)
{
    const WithName *names = outer;
    for (size_t i = 0; i < query->common_table_count; i++) {
        check_query(check, names, query->common_tables[i].query);
        names = enter_name(check->binder, names, &query->common_tables[i]);
    }
    check_term(check, names, query->body);
    if (!term_streams(check->binder, names, query->body).streams) {
        return;
    }
    if (query->sort_kind != AST_SORT_NONE) { /* RU-34 */
        refuse_operation(check, query->sort_place,
                         query->sort_kind == AST_SORT_SORT_BY ? "SORT BY" : "ORDER BY",
                         "a table keeps no order: leave it out, and sort where the table is read");
    }
    if (query->offset != NULL) {
        refuse_operation(check, query->offset_place, "OFFSET", NULL);
    }
}

static const char *static_hint(FlowKind kind)
{
    return kind == FLOW_APPEND ? "write FROM STREAM(name)"
                               : "write FROM STREAM(name); for a query over tables as they are "
                                 "there is REPLACE WHERE";
}

void check_streaming_query(Binder *binder, const AstQuery *query, FlowKind kind)
{
    Check check = {binder, kind};
    if (!query_is_streaming(binder, query)) { /* RU-17, RU-37, ST-46, ST-49 */
        Error *error = error_at(ERROR_NOT_STREAMING, query_source_place(query),
                                "The query of %s %s flow must read a stream, and this one reads "
                                "none.",
                                article(kind), flow_kind_name(kind));
        refuse(&check, error_set_hint(error, "%s", static_hint(kind)));
        return;
    }
    check_query(&check, NULL, query);
}
