/* A plan as text, one node a line, children indented, the left side of a join first:
 *
 *     Project [k, upper(state) AS state]
 *       Join LEFT (k = id)
 *         Filter (state <> 'void')
 *           Scan STREAM tickets [k, state]
 *         Scan states [id]
 *
 * For nodes over streams see explain_stream.c. */
#include "processor/base/memory.h"
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

static void format_exprs(BoundExpr *const *exprs, size_t count, const Schema *schema, Buffer *out)
{
    buffer_append_byte(out, '[');
    for (size_t i = 0; i < count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        expr_format(exprs[i], schema, out);
    }
    buffer_append_byte(out, ']');
}

/* " AS name" behind a text that is another one. */
static void format_name(Str name, size_t start, Buffer *out)
{
    const Str text = {out->data + start, out->size - start};
    if (!str_equal(text, name)) {
        buffer_append_cstr(out, " AS ");
        buffer_append_str(out, name);
    }
}

static void format_project(const LogicalNode *node, Buffer *out)
{
    buffer_append_cstr(out, "Project [");
    for (size_t i = 0; i < node->expression_count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        size_t start = out->size;
        expr_format(node->expressions[i], node->child->schema, out);
        format_name(node->schema->fields[i].name, start, out);
    }
    buffer_append_byte(out, ']');
}

static void format_schema(const Schema *schema, size_t first, Buffer *out)
{
    buffer_append_byte(out, '[');
    for (size_t i = first; i < schema->field_count; i++) {
        buffer_append_cstr(out, i == first ? "" : ", ");
        buffer_append_str(out, schema->fields[i].name);
    }
    buffer_append_byte(out, ']');
}

static void format_scan(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    const LogicalSource *source = &plan->sources[node->source];
    buffer_printf(out, "Scan %s%.*s ", source->stream ? "STREAM " : "",
                  STR_ARG(source->relation->name));
    format_schema(source->schema, 0, out);
}

/* ------------------------------------------------------- sort keys and calls --- */

static void format_sort_keys(const BoundSortKey *keys, size_t count, const Schema *schema,
                             Buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        expr_format(keys[i].expr, schema, out);
        buffer_append_cstr(out, keys[i].descending ? " DESC" : "");
        if (keys[i].nulls_first == keys[i].descending) { /* not the default */
            buffer_append_cstr(out, keys[i].nulls_first ? " NULLS FIRST" : " NULLS LAST");
        }
    }
}

static void format_call(const BoundAggregate *call, const Schema *schema, Buffer *out)
{
    buffer_printf(out, "%s(%s", call->function->name, call->distinct ? "DISTINCT " : "");
    for (size_t i = 0; i < call->argument_count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        expr_format(call->arguments[i], schema, out);
    }
    buffer_append_cstr(out, ")");
    buffer_append_cstr(out, call->ignore_nulls ? " IGNORE NULLS" : "");
    if (call->sort_key_count > 0) {
        buffer_append_cstr(out, " WITHIN GROUP (ORDER BY ");
        format_sort_keys(call->sort_keys, call->sort_key_count, schema, out);
        buffer_append_byte(out, ')');
    }
    if (call->filter != NULL) {
        buffer_append_cstr(out, " FILTER (WHERE ");
        expr_format(call->filter, schema, out);
        buffer_append_byte(out, ')');
    }
}

static void format_distinct(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    buffer_append_cstr(out, "Distinct ");
    format_exprs(node->expressions, node->expression_count, node->child->schema, out);
    format_stream_distinct(plan, node, out);
}

static void format_aggregate(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    if (node->streaming) {
        format_distinct(plan, node, out);
        return;
    }
    buffer_append_cstr(out, "Aggregate ");
    format_exprs(node->expressions, node->expression_count, node->child->schema, out);
    buffer_append_cstr(out, " [");
    for (size_t i = 0; i < node->aggregate_count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        size_t start = out->size;
        format_call(&node->aggregates[i], node->child->schema, out);
        format_name(node->schema->fields[node->expression_count + i].name, start, out);
    }
    buffer_append_byte(out, ']');
}

static void format_bound(const BoundFrameBound *bound, Buffer *out)
{
    switch (bound->kind) {
    case FRAME_UNBOUNDED_PRECEDING:
        buffer_append_cstr(out, "UNBOUNDED PRECEDING");
        return;
    case FRAME_UNBOUNDED_FOLLOWING:
        buffer_append_cstr(out, "UNBOUNDED FOLLOWING");
        return;
    case FRAME_CURRENT_ROW:
        buffer_append_cstr(out, "CURRENT ROW");
        return;
    case FRAME_PRECEDING:
    case FRAME_FOLLOWING:
        expr_format(bound->offset, NULL, out);
        buffer_append_cstr(out, bound->kind == FRAME_PRECEDING ? " PRECEDING" : " FOLLOWING");
        return;
    }
}

static void format_window(const LogicalNode *node, Buffer *out)
{
    const Schema *schema = node->child->schema;
    buffer_append_cstr(out, "Window [");
    for (size_t i = 0; i < node->window_count; i++) {
        const BoundWindowCall *window = &node->windows[i];
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        format_call(&window->call, schema, out);
        buffer_append_cstr(out, window->unit == FRAME_ROWS ? " ROWS " : " RANGE ");
        format_bound(&window->start, out);
        buffer_append_cstr(out, " TO ");
        format_bound(&window->end, out);
    }
    buffer_append_cstr(out, "] PARTITION BY ");
    format_exprs(node->expressions, node->expression_count, schema, out);
    if (node->sort_key_count > 0) {
        buffer_append_cstr(out, " ORDER BY ");
        format_sort_keys(node->sort_keys, node->sort_key_count, schema, out);
    }
}

/* -------------------------------------------------------------- joins, sets --- */

static const char *join_name(JoinKind kind)
{
    switch (kind) {
    case JOIN_INNER:
        return "INNER";
    case JOIN_LEFT:
        return "LEFT";
    case JOIN_RIGHT:
        return "RIGHT";
    case JOIN_FULL:
        return "FULL";
    case JOIN_SEMI:
        return "SEMI";
    case JOIN_ANTI:
        return "ANTI";
    case JOIN_NULL_ANTI:
        return "NULL_ANTI";
    case JOIN_MARK:
        return "MARK";
    case JOIN_SINGLE:
        return "SINGLE";
    }
    return "";
}

/* The condition's columns are those of both sides, whatever the join gives. */
static void format_condition(const LogicalNode *node, Buffer *out)
{
    const Schema *left = node->child->schema;
    const Schema *right = node->right->schema;
    size_t count = left->field_count + right->field_count;
    Field *fields = mem_alloc_array(count, sizeof(Field));
    for (size_t i = 0; i < count; i++) {
        fields[i] = i < left->field_count ? left->fields[i] : right->fields[i - left->field_count];
    }
    const Schema both = {.fields = fields, .field_count = count};
    buffer_append_cstr(out, node->expression_count > 0 ? " IF " : " ON ");
    expr_format(node->condition, &both, out);
    mem_free(fields);
}

static void format_join(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    buffer_printf(out, "Join %s", join_name(node->join));
    for (size_t i = 0; i < node->expression_count; i++) {
        buffer_append_cstr(out, i == 0 ? " ON " : " AND ");
        expr_format(node->expressions[i], node->child->schema, out);
        buffer_append_cstr(out, node->null_equal[i] ? " <=> " : " = ");
        expr_format(node->right_keys[i], node->right->schema, out);
    }
    if (node->condition != NULL) {
        format_condition(node, out);
    }
    if (node->stream_join != NULL) {
        format_stream_join(plan, node, out);
        return;
    }
    buffer_append_cstr(out, node->build_left ? " BUILD LEFT" : "");
}

static void format_set(const LogicalNode *node, Buffer *out)
{
    switch (node->set_operation) {
    case SET_UNION:
        buffer_append_cstr(out, "Union");
        return;
    case SET_INTERSECT:
        buffer_append_cstr(out, node->all ? "Intersect ALL" : "Intersect");
        return;
    case SET_EXCEPT:
        buffer_append_cstr(out, node->all ? "Except ALL" : "Except");
        return;
    }
}

/* --------------------------------------------------------------- the others --- */

static void format_expand(const LogicalNode *node, Buffer *out)
{
    size_t width = node->schema->field_count;
    buffer_append_cstr(out, "Expand ");
    for (size_t i = 0; i < node->row_count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        format_exprs(node->expressions + i * width, width, node->child->schema, out);
    }
}

static void format_sort(const LogicalNode *node, Buffer *out)
{
    buffer_append_cstr(out, "Sort ");
    format_sort_keys(node->sort_keys, node->sort_key_count, node->child->schema, out);
    if (node->limit >= 0) {
        buffer_printf(out, " FIRST %lld", (long long)node->limit);
    }
}

static void format_limit(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    buffer_append_cstr(out, "Limit");
    if (node->limit >= 0) {
        buffer_printf(out, " %lld", (long long)node->limit);
    }
    if (node->offset > 0) {
        buffer_printf(out, " OFFSET %lld", (long long)node->offset);
    }
    if (node->expression_count > 0) {
        buffer_append_cstr(out, " OF EACH ");
        format_exprs(node->expressions, node->expression_count, node->child->schema, out);
    }
    if (node->streaming) {
        format_stream_limit(plan, node, out);
    }
}

static void format_generate(const LogicalNode *node, Buffer *out)
{
    buffer_printf(out, "Generate %s%s", node->generator->name, node->outer ? " OUTER " : " ");
    format_exprs(node->expressions, node->expression_count, node->child->schema, out);
    buffer_append_cstr(out, " AS ");
    format_schema(node->schema, node->child->schema->field_count, out);
}

static void format_node(const LogicalPlan *plan, const LogicalNode *node, Buffer *out)
{
    switch (node->kind) {
    case LOGICAL_SCAN:
        format_scan(plan, node, out);
        return;
    case LOGICAL_VALUES:
        buffer_printf(out, "Values %zu rows", node->row_count);
        return;
    case LOGICAL_ONE_ROW:
        buffer_append_cstr(out, "OneRow");
        return;
    case LOGICAL_RANGE:
        buffer_printf(out, "Range %lld TO %lld BY %lld", (long long)node->range_start,
                      (long long)node->range_end, (long long)node->range_step);
        return;
    case LOGICAL_FILTER:
        buffer_append_cstr(out, "Filter ");
        expr_format(node->expressions[0], node->child->schema, out);
        return;
    case LOGICAL_PROJECT:
        format_project(node, out);
        return;
    case LOGICAL_AGGREGATE:
        format_aggregate(plan, node, out);
        return;
    case LOGICAL_EXPAND:
        format_expand(node, out);
        return;
    case LOGICAL_WINDOW:
        format_window(node, out);
        return;
    case LOGICAL_JOIN:
        format_join(plan, node, out);
        return;
    case LOGICAL_SET:
        format_set(node, out);
        return;
    case LOGICAL_SORT:
        format_sort(node, out);
        return;
    case LOGICAL_LIMIT:
        format_limit(plan, node, out);
        return;
    case LOGICAL_GENERATE:
        format_generate(node, out);
        return;
    case LOGICAL_WATERMARK:
        format_stream_watermark(plan, node, out);
        return;
    }
}

static void format_tree(const LogicalPlan *plan, const LogicalNode *node, int depth, Buffer *out)
{
    buffer_printf(out, "%*s%s", depth * 2, "", node->streaming ? "~" : "");
    format_node(plan, node, out);
    buffer_append_byte(out, '\n');
    if (node->child != NULL) {
        format_tree(plan, node->child, depth + 1, out);
    }
    if (node->right != NULL) {
        format_tree(plan, node->right, depth + 1, out);
    }
}

void plan_format(const LogicalPlan *plan, Buffer *out)
{
    format_tree(plan, plan->root, 0, out);
}
