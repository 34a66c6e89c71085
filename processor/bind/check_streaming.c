/* The rules of REPLACE USING about its query, checked on the syntax tree before names are resolved:
 * what a stream cannot do is told as such (RU-17, RU-27 … RU-38), not as an unknown column and not
 * as NOT_YET.
 *
 * The rules hold for the parts of a query that read a STREAM. A subquery or WITH table without one
 * is a static relation and may aggregate and sort as it likes. */
#include "processor/bind/binder.h"

#include "processor/base/banned.h"

/* A name of WITH in force, innermost first. Whether it streams is found once, when it comes into
 * force, so that a chain of names that mention each other twice takes no exponential time. */
typedef struct CommonTable {
    Str name;
    bool streams;
    bool has_watermark;
    const struct CommonTable *outer;
} CommonTable;

typedef struct Streams {
    bool streams;
    bool has_watermark;
} Streams;

static Streams query_streams(Arena *arena, const CommonTable *outer, const AstQuery *query);
static Streams item_streams(Arena *arena, const CommonTable *names, const AstFromItem *item);

static Streams either(Streams a, Streams b)
{
    return (Streams){a.streams || b.streams, a.has_watermark || b.has_watermark};
}

static const CommonTable *enter_name(Arena *arena, const CommonTable *outer,
                                     const AstCommonTable *table)
{
    Streams streams = query_streams(arena, outer, table->query);
    CommonTable *entry = arena_new_object(arena, CommonTable);
    *entry = (CommonTable){table->name.name, streams.streams, streams.has_watermark, outer};
    return entry;
}

static const CommonTable *enter_with(Arena *arena, const CommonTable *outer, const AstQuery *query)
{
    const CommonTable *names = outer;
    for (size_t i = 0; i < query->common_table_count; i++) {
        names = enter_name(arena, names, &query->common_tables[i]);
    }
    return names;
}

static Streams relation_streams(Arena *arena, const CommonTable *names, const AstRelation *relation)
{
    Streams result = {relation->stream, relation->watermark != NULL};
    switch (relation->kind) {
    case AST_RELATION_NAME:
        for (const CommonTable *at = names; at != NULL && relation->name.part_count == 1;
             at = at->outer) {
            if (str_equal_ignore_case(at->name, relation->name.parts[0].name)) {
                return either(result, (Streams){at->streams, at->has_watermark});
            }
        }
        return result;
    case AST_RELATION_QUERY:
        return either(result, query_streams(arena, names, relation->query));
    case AST_RELATION_GROUP:
        return either(result, item_streams(arena, names, relation->group));
    case AST_RELATION_FUNCTION:
    case AST_RELATION_VALUES:
        return result;
    }
    return result;
}

static Streams item_streams(Arena *arena, const CommonTable *names, const AstFromItem *item)
{
    Streams result = relation_streams(arena, names, item->first);
    for (size_t i = 0; i < item->join_count; i++) {
        result = either(result, relation_streams(arena, names, item->joins[i].relation));
    }
    return result;
}

static Streams select_streams(Arena *arena, const CommonTable *names, const AstSelect *select)
{
    Streams result = {false, false};
    for (size_t i = 0; i < select->from_count; i++) {
        result = either(result, item_streams(arena, names, &select->from[i]));
    }
    return result;
}

static Streams term_streams(Arena *arena, const CommonTable *names, const AstQueryTerm *term)
{
    Streams result = {false, false};
    switch (term->kind) {
    case AST_TERM_SELECT:
        return select_streams(arena, names, term->select);
    case AST_TERM_VALUES:
        return result;
    case AST_TERM_QUERY:
        return query_streams(arena, names, term->query);
    case AST_TERM_SET:
        result = term_streams(arena, names, term->first);
        for (size_t i = 0; i < term->step_count; i++) {
            result = either(result, term_streams(arena, names, term->steps[i].right));
        }
        return result;
    }
    return result;
}

static Streams query_streams(Arena *arena, const CommonTable *outer, const AstQuery *query)
{
    return term_streams(arena, enter_with(arena, outer, query), query->body);
}

bool query_is_streaming(Arena *arena, const AstQuery *query)
{
    return query_streams(arena, NULL, query).streams;
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
    Arena *arena;
} Check;

static void check_query(const Check *check, const CommonTable *outer, const AstQuery *query);
static void check_item(const Check *check, const CommonTable *names, const AstFromItem *item);

static void refuse(const Check *check, Error *error)
{
    diagnostics_add(check->binder->diagnostics, error);
}

static void refuse_operation(const Check *check, SourcePlace place, const char *what,
                             const char *hint)
{
    Error *error = error_at(ERROR_UNSUPPORTED_STREAMING_OPERATION, place,
                            "%s is not supported in the query of a REPLACE USING flow, which reads "
                            "a stream.",
                            what);
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
        refuse_operation(check, join->place, "A semi or anti join of a stream",
                         "only inner and left outer joins with the stream on the left are");
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

static void check_join(const Check *check, const AstJoin *join, Streams left, Streams right)
{
    if (left.streams && right.streams) {
        check_stream_stream_join(check, join, left, right);
    } else if (left.streams) {
        check_stream_static_join(check, join);
    } else if (right.streams) { /* RU-28 */
        refuse_operation(check, join->place, "A join with the stream on the right",
                         "put the stream on the left side of the join");
    }
}

static void check_relation(const Check *check, const CommonTable *names,
                           const AstRelation *relation)
{
    if (relation->kind == AST_RELATION_QUERY) {
        check_query(check, names, relation->query);
    } else if (relation->kind == AST_RELATION_GROUP) {
        check_item(check, names, relation->group);
    }
}

static void check_item(const Check *check, const CommonTable *names, const AstFromItem *item)
{
    Streams left = relation_streams(check->arena, names, item->first);
    check_relation(check, names, item->first);
    for (size_t i = 0; i < item->join_count; i++) {
        const AstJoin *join = &item->joins[i];
        Streams right = relation_streams(check->arena, names, join->relation);
        check_relation(check, names, join->relation);
        check_join(check, join, left, right);
        left = either(left, right);
    }
}

/* A comma joins too: every row with every row. */
static void check_from(const Check *check, const CommonTable *names, const AstSelect *select)
{
    Streams left = {false, false};
    for (size_t i = 0; i < select->from_count; i++) {
        const AstFromItem *item = &select->from[i];
        Streams right = item_streams(check->arena, names, item);
        check_item(check, names, item);
        if (i > 0 && right.streams && !left.streams) {
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

static void check_aggregation(const Check *check, const AstSelect *select, const ExprTraits *traits)
{
    /* RU-32, even over a time window (RU-30). */
    static const char hint[] = "REPLACE WHERE recomputes aggregates over a window of the table";
    if (select->group_by != NULL) {
        refuse_operation(check, select->group_by->place, "GROUP BY", hint);
    } else if (traits->aggregate != NULL) {
        refuse_operation(check, traits->aggregate->place, "Aggregation", hint);
    } else if (select->having != NULL) {
        refuse_operation(check, select->having->place, "HAVING", hint);
    }
}

static void check_analytic(const Check *check, const AstSelect *select, const ExprTraits *traits)
{
    /* RU-33 */
    const AstExpr *expr = traits->analytic;
    if (expr != NULL) {
        Str text = bound_text(check->binder, expr);
        refuse(check, error_at(ERROR_NON_TIME_WINDOW_NOT_SUPPORTED, expr->place,
                               "Window function is not supported in %.*s on a stream. Only time "
                               "windows are, by the function window.",
                               STR_ARG(text)));
    } else if (select->qualify != NULL) {
        refuse_operation(check, select->qualify->place, "QUALIFY", NULL);
    }
}

static void check_select(const Check *check, const CommonTable *names, const AstSelect *select)
{
    check_from(check, names, select);
    Streams streams = select_streams(check->arena, names, select);
    if (!streams.streams) {
        return;
    }
    ExprTraits traits;
    select_traits(check, select, &traits);
    check_aggregation(check, select, &traits);
    check_analytic(check, select, &traits);
    if (traits.time_window != NULL && !streams.has_watermark) { /* RU-30 */
        refuse(check,
               error_set_hint(error_at(ERROR_WATERMARK_REQUIRED, traits.time_window->place,
                                       "A time window over a stream needs a watermark."),
                              "write WATERMARK column DELAY OF INTERVAL … behind the stream"));
    }
}

/* ---- set operators */

static void check_set(const Check *check, const CommonTable *names, const AstQueryTerm *term)
{
    Streams left = term_streams(check->arena, names, term->first);
    for (size_t i = 0; i < term->step_count; i++) {
        const AstSetStep *step = &term->steps[i];
        Streams right = term_streams(check->arena, names, step->right);
        bool any = left.streams || right.streams;
        if (any && step->operator_ == AST_SET_INTERSECT) { /* RU-35 */
            refuse_operation(check, step->operator_place, "INTERSECT", NULL);
        } else if (any && step->operator_ == AST_SET_EXCEPT) {
            refuse_operation(check, step->operator_place, "EXCEPT", NULL);
        } else if (any && !step->all) { /* RU-27 */
            refuse_operation(check, step->operator_place, "UNION", "UNION ALL is");
        } else if (left.streams != right.streams) { /* RU-36 */
            refuse_operation(check, step->operator_place,
                             "UNION ALL of a stream and a static relation", NULL);
        }
        left = either(left, right);
    }
}

static void check_term(const Check *check, const CommonTable *names, const AstQueryTerm *term)
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

static void check_query(const Check *check, const CommonTable *outer, const AstQuery *query)
{
    const CommonTable *names = outer;
    for (size_t i = 0; i < query->common_table_count; i++) {
        check_query(check, names, query->common_tables[i].query);
        names = enter_name(check->arena, names, &query->common_tables[i]);
    }
    check_term(check, names, query->body);
    if (!term_streams(check->arena, names, query->body).streams) {
        return;
    }
    if (query->sort_kind != AST_SORT_NONE) { /* RU-34 */
        refuse_operation(check, query->sort_place,
                         query->sort_kind == AST_SORT_SORT_BY ? "SORT BY" : "ORDER BY", NULL);
    }
    if (query->offset != NULL) {
        refuse_operation(check, query->offset_place, "OFFSET", NULL);
    }
}

void check_streaming_query(Binder *binder, const AstQuery *query)
{
    Check check = {binder, binder->arena};
    if (!query_is_streaming(binder->arena, query)) { /* RU-17, RU-37 */
        refuse(&check,
               error_set_hint(error_at(ERROR_NOT_STREAMING, query_source_place(query),
                                       "The query of a REPLACE USING flow must read a stream, and "
                                       "this one reads none."),
                              "write FROM STREAM(name); for a query over tables as they are there "
                              "is REPLACE WHERE"));
        return;
    }
    check_query(&check, NULL, query);
}
