/* Plans of streaming queries. A built plan is walked three times:
 *
 *     mark    from the leaves up: which nodes read a stream, and can they? (RU-27 … RU-38)
 *     forget  which watermarks let a state forget; the others are of no use and go, and with them
 *             columns that only they read
 *     number  states and watermarks, in the order of the tree
 *
 * What a stream cannot do by the rules was refused when it was bound; here stands what it could and
 * cannot yet. */
#include "processor/plan/streaming.h"

#include <assert.h>

#include "processor/base/banned.h"

static COLD RETURNS_NONNULL Error *cannot_stream(const LogicalNode *node, const char *what)
{
    return error_at(ERROR_NOT_YET, node->place, "%s over a stream is not supported yet.", what);
}

/* ------------------------------------------------------------------------------ marking ---- */

static Error *mark_join(const LogicalNode *node, bool left, bool right)
{
    if (left && right) {
        if (node->join == JOIN_INNER || node->join == JOIN_LEFT || node->join == JOIN_RIGHT ||
            node->join == JOIN_FULL) {
            return node->expression_count > 0
                       ? NULL
                       : cannot_stream(node, "A join without an equality in its condition, with "
                                             "another stream,");
        }
        return cannot_stream(node, "This kind of join with another stream");
    }
    if (right) {
        return cannot_stream(node, "A join with the stream on the right");
    }
    /* The kinds that give a row of the left only once its matches are known. */
    return node->join == JOIN_RIGHT || node->join == JOIN_FULL
               ? cannot_stream(node, "An outer join that gives every row of the static side")
               : NULL;
}

/* What the node does to a stream, when that is not possible. */
static Error *mark_node(const LogicalNode *node, bool left, bool right)
{
    switch (node->kind) {
    case LOGICAL_JOIN:
        return mark_join(node, left, right);
    case LOGICAL_SET:
        return left && right && node->set_operation == SET_UNION
                   ? NULL
                   : cannot_stream(node, "A set operation other than UNION ALL of streams");
    case LOGICAL_AGGREGATE:
        return node->aggregate_count == 0 && node->expression_count > 0
                   ? NULL
                   : cannot_stream(node, "Aggregation");
    case LOGICAL_WINDOW:
        return cannot_stream(node, "An analytic function");
    case LOGICAL_SORT:
        return cannot_stream(node, "Sorting");
    case LOGICAL_LIMIT:
        return node->offset > 0 || node->limit < 0 || node->expression_count > 0
                   ? cannot_stream(node, "OFFSET")
                   : NULL;
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_ONE_ROW:
    case LOGICAL_RANGE:
    case LOGICAL_FILTER:
    case LOGICAL_PROJECT:
    case LOGICAL_EXPAND:
    case LOGICAL_GENERATE:
    case LOGICAL_WATERMARK:
        return NULL;
    }
    return NULL;
}

static Error *mark(const LogicalPlan *plan, LogicalNode *node)
{
    bool left = false;
    bool right = false;
    if (node->child != NULL) {
        TRY(mark(plan, node->child));
        left = node->child->streaming;
    }
    if (node->right != NULL) {
        TRY(mark(plan, node->right));
        right = node->right->streaming;
    }
    node->streaming =
        left || right || (node->kind == LOGICAL_SCAN && plan->sources[node->source].stream);
    return node->streaming ? mark_node(node, left, right) : NULL;
}

/* --------------------------------------------------------------------------- watermarks ---- */

/* Through an expression that hands a column on. */
static LogicalNode *watermark_of_expr(LogicalNode *child, const BoundExpr *expr)
{
    return expr->kind == BOUND_COLUMN ? stream_watermark_of(child, expr->column) : NULL;
}

/* A join of two streams gives a row when its match comes, which is when other rows of its time have
 * long been forgotten: nobody forgets by that. */
static LogicalNode *watermark_of_join(LogicalNode *node, uint32_t column)
{
    if (node->right->streaming) {
        return NULL;
    }
    size_t width = node->child->schema->field_count;
    return column < width || !join_gives_right(node->join)
               ? stream_watermark_of(node->child, column)
               : stream_watermark_of(node->right, column - (uint32_t)width);
}

LogicalNode *stream_watermark_of(LogicalNode *node, uint32_t column)
{
    if (!node->streaming) {
        return NULL;
    }
    switch (node->kind) {
    case LOGICAL_WATERMARK:
        return column == node->event_time ? node : stream_watermark_of(node->child, column);
    case LOGICAL_FILTER:
    case LOGICAL_LIMIT:
        return stream_watermark_of(node->child, column);
    case LOGICAL_PROJECT:
    case LOGICAL_AGGREGATE:
        return watermark_of_expr(node->child, node->expressions[column]);
    case LOGICAL_GENERATE:
        return column < node->child->schema->field_count ? stream_watermark_of(node->child, column)
                                                         : NULL;
    case LOGICAL_JOIN:
        return watermark_of_join(node, column);
    default: /* a UNION of streams has two; nobody forgets by them */
        return NULL;
    }
}

/* DISTINCT forgets rows by the first of its columns that has a watermark. */
static void forget_by_column(LogicalNode *node)
{
    node->watermark = NO_WATERMARK;
    for (uint32_t i = 0; i < node->expression_count; i++) {
        LogicalNode *found = watermark_of_expr(node->child, node->expressions[i]);
        if (found != NULL) {
            found->drop_late = true;
            node->watermark = 0; /* its number comes later */
            node->event_time = i;
            return;
        }
    }
}

static Error *forget(Arena *arena, LogicalNode *node)
{
    if (node == NULL || !node->streaming) {
        return NULL;
    }
    TRY(forget(arena, node->child));
    TRY(forget(arena, node->right));
    if (node->kind == LOGICAL_AGGREGATE) {
        forget_by_column(node);
    } else if (node->kind == LOGICAL_JOIN && node->right->streaming) {
        return stream_join_bounds(arena, node);
    }
    return NULL;
}

/* Without the watermarks that nothing forgets by. */
static LogicalNode *without_idle(LogicalNode *node)
{
    while (node != NULL && node->kind == LOGICAL_WATERMARK && !node->drop_late) {
        node = node->child;
    }
    if (node != NULL) {
        node->child = without_idle(node->child);
        node->right = without_idle(node->right);
    }
    return node;
}

/* ---------------------------------------------------------------------------- numbering ---- */

typedef struct Numbering {
    Arena *arena;
    LogicalPlan *plan;
    StateSpec *states;
    size_t capacity;
    size_t distincts;
    size_t limits;
    size_t joins;
} Numbering;

static StateSpec *add_state(Numbering *numbering, const LogicalNode *node, const char *name,
                            const Schema *schema, size_t key_count, uint32_t sequence)
{
    uint32_t *keys = arena_new_array(numbering->arena, uint32_t, key_count);
    for (size_t i = 0; i < key_count; i++) {
        keys[i] = (uint32_t)i;
    }
    StateSpec *state = arena_push(numbering->arena, numbering->states, numbering->plan->state_count,
                                  numbering->capacity);
    *state = (StateSpec){.name = str_from(name),
                         .operator_name = str_from(name),
                         .schema = schema,
                         .keys = keys,
                         .key_count = key_count,
                         .sequence = sequence,
                         .place = node->place};
    return state;
}

static Field field_of(const char *name, const Type *type)
{
    return (Field){str_from(name), type, false, STR_NULL};
}

static void add_watermark(Numbering *numbering, LogicalNode *node)
{
    node->watermark = numbering->plan->watermark_count++;
    node->state = numbering->plan->state_count;
    const Field fields[] = {field_of("partition", &type_int),
                            field_of("time", node->schema->fields[node->event_time].type)};
    const char *name = arena_printf(numbering->arena, "watermark_%zu", node->watermark + 1);
    add_state(numbering, node, name, schema_new(numbering->arena, fields, ARRAY_LENGTH(fields)), 1,
              1)
        ->bound = "one row a partition";
}

static void add_calendar(Numbering *numbering, const LogicalNode *node, const char *owner)
{
    const Field fields[] = {field_of("due", &type_bigint), field_of("side", &type_int),
                            field_of("key", &type_binary)};
    const char *name = arena_printf(numbering->arena, "%s_calendar", owner);
    add_state(numbering, node, name, schema_new(numbering->arena, fields, ARRAY_LENGTH(fields)), 1,
              0)
        ->bound = "what is to be forgotten";
}

/* Names that differ in more than case, as a table's must. */
static const Schema *numbered_schema(Arena *arena, const Type *const *types, size_t count)
{
    Field *fields = arena_new_array(arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = field_of(arena_printf(arena, "c%zu", i + 1), types[i]);
    }
    return schema_new(arena, fields, count);
}

static void add_distinct(Numbering *numbering, LogicalNode *node)
{
    Arena *arena = numbering->arena;
    size_t count = node->expression_count;
    const Type **types = arena_new_array(arena, const Type *, count);
    Str *labels = arena_new_array(arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        types[i] = node->expressions[i]->type;
        labels[i] = node->schema->fields[i].name;
    }
    const char *name = arena_printf(arena, "distinct_%zu", ++numbering->distincts);
    node->state = numbering->plan->state_count;
    StateSpec *state =
        add_state(numbering, node, name, numbered_schema(arena, types, count), count, 0);
    state->labels = labels;
    if (node->watermark != NO_WATERMARK) {
        node->watermark =
            watermark_of_expr(node->child, node->expressions[node->event_time])->watermark;
        Str column = node->schema->fields[node->event_time].name;
        state->bound = arena_printf(arena, "rows go when the watermark has passed their `%.*s`",
                                    STR_ARG(column));
        add_calendar(numbering, node, name);
    }
}

static void add_limit(Numbering *numbering, LogicalNode *node)
{
    const Field fields[] = {field_of("id", &type_int), field_of("emitted", &type_bigint)};
    const char *name = arena_printf(numbering->arena, "limit_%zu", ++numbering->limits);
    node->state = numbering->plan->state_count;
    add_state(numbering, node, name, schema_new(numbering->arena, fields, ARRAY_LENGTH(fields)), 1,
              1)
        ->bound = "one row";
}

static Str expr_label(Arena *arena, const BoundExpr *expr, const Schema *schema)
{
    AUTO_BUFFER Buffer text = {0};
    expr_format(expr, schema, &text);
    return arena_copy_str(arena, buffer_str(&text));
}

static void add_join_side(Numbering *numbering, const LogicalNode *node, const char *join,
                          const char *which, BoundExpr *const *keys, const Schema *rows,
                          const StreamJoinSide *side)
{
    Arena *arena = numbering->arena;
    size_t count = node->expression_count + rows->field_count;
    const Type **types = arena_new_array(arena, const Type *, count);
    Str *labels = arena_new_array(arena, Str, count);
    for (size_t i = 0; i < node->expression_count; i++) {
        types[i] = keys[i]->type;
        labels[i] = expr_label(arena, keys[i], rows);
    }
    for (size_t i = 0; i < rows->field_count; i++) {
        types[node->expression_count + i] = rows->fields[i].type;
        labels[node->expression_count + i] = rows->fields[i].name;
    }
    StateSpec *state = add_state(numbering, node, arena_printf(arena, "%s_%s", join, which),
                                 numbered_schema(arena, types, count), node->expression_count, 0);
    state->operator_name = str_from(join);
    state->labels = labels;
    if (side->bounded) {
        state->bound = arena_printf(
            arena, "rows go when the watermark has passed their `%.*s` and the range of the join",
            STR_ARG(rows->fields[side->column].name));
    }
}

static void add_join(Numbering *numbering, LogicalNode *node)
{
    Arena *arena = numbering->arena;
    const StreamJoin *join = node->stream_join;
    const char *name = arena_printf(arena, "join_%zu", ++numbering->joins);
    node->state = numbering->plan->state_count;
    add_join_side(numbering, node, name, "left", node->expressions, node->child->schema,
                  &join->left);
    add_join_side(numbering, node, name, "right", node->right_keys, node->right->schema,
                  &join->right);
    if (join->left.bounded || join->right.bounded) {
        add_calendar(numbering, node, name);
    }
}

static Error *check_keys_orderable(const Numbering *numbering, const LogicalNode *node)
{
    for (size_t s = node->state; s < numbering->plan->state_count; s++) {
        const StateSpec *state = &numbering->states[s];
        for (size_t i = 0; i < state->key_count; i++) {
            const Type *type = state->schema->fields[state->keys[i]].type;
            if (!type_is_orderable(type)) {
                AUTO_BUFFER Buffer text = {0};
                type_format(type, &text);
                return error_at(ERROR_NOT_YET, node->place,
                                "Comparing values of the type %s over a stream is not supported "
                                "yet.",
                                buffer_cstr(&text));
            }
        }
    }
    return NULL;
}

static Error *number(Numbering *numbering, LogicalNode *node)
{
    if (node == NULL || !node->streaming) {
        return NULL;
    }
    TRY(number(numbering, node->child));
    TRY(number(numbering, node->right));
    size_t before = numbering->plan->state_count;
    switch (node->kind) {
    case LOGICAL_WATERMARK:
        add_watermark(numbering, node);
        break;
    case LOGICAL_AGGREGATE:
        add_distinct(numbering, node);
        break;
    case LOGICAL_LIMIT:
        add_limit(numbering, node);
        break;
    case LOGICAL_JOIN:
        if (node->right->streaming) {
            stream_join_number_watermarks(numbering->arena, node);
            add_join(numbering, node);
        }
        break;
    default:
        break;
    }
    return numbering->plan->state_count > before ? check_keys_orderable(numbering, node) : NULL;
}

Error *plan_build_streaming(Arena *arena, const BoundNode *query, LogicalPlan **ret_plan)
{
    LogicalPlan *plan = NULL;
    TRY(build_plan(arena, query, true, &plan));
    TRY(mark(plan, plan->root));
    TRY(forget(arena, plan->root));
    /* Without some watermarks columns may be of no use, and the others have other numbers then. */
    plan->root = rule_prune_columns(arena, plan, without_idle(plan->root));
    TRY(mark(plan, plan->root));
    TRY(forget(arena, plan->root));
    Numbering numbering = {.arena = arena, .plan = plan};
    TRY(number(&numbering, plan->root));
    plan->states = numbering.states;
    *ret_plan = plan;
    return NULL;
}
