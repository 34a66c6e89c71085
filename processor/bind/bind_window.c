/* OVER (…): partition, order and frame of a window function's call, named windows; and the WINDOW
 * nodes, one for all calls that share partition and order.
 *
 * Frames are Spark's. Without one: RANGE UNBOUNDED PRECEDING to CURRENT ROW where there is an
 * ORDER BY, else the whole partition (SQ-41); ranking functions have their own. */
#include "processor/bind/bind_select_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

/* ----------------------------------------------------------------- names --- */

static const AstNamedWindow *find_named(const AstNamedWindow *windows, size_t count, Str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(windows[i].name.name, name)) {
            return &windows[i];
        }
    }
    return NULL;
}

static const AstNamedWindow *find_window(const SelectScope *select, Str name)
{
    const AstNamedWindow *found =
        select == NULL ? NULL : find_named(select->ast->windows, select->ast->window_count, name);
    if (found == NULL && select != NULL && select->around != NULL) {
        found = find_named(select->around->windows, select->around->window_count, name);
    }
    return found;
}

static Error *missing_window(const AstIdentifier *name)
{
    return error_at(ERROR_MISSING_WINDOW_SPECIFICATION, name->place,
                    "Window specification is not defined in the WINDOW clause for %.*s.",
                    STR_ARG(name->name));
}

/* OVER w: what w says. A window may be another's name (WINDOW v AS w), one step only. */
static Error *follow_name(const Scope *scope, const AstWindow *over, const AstWindow **ret)
{
    for (size_t steps = 0; over->name.name.data != NULL; steps++) {
        const AstNamedWindow *named =
            steps > 1 ? NULL : find_window(scope->select, over->name.name);
        if (named == NULL) {
            return missing_window(&over->name);
        }
        over = named->window;
    }
    *ret = over;
    return NULL;
}

const AstWindow *scope_named_window(const Scope *scope, const AstWindow *over)
{
    const AstWindow *window = NULL;
    error_free(follow_name(scope, over, &window));
    return window;
}

static Error *check_repeated(const AstNamedWindow *windows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (find_named(windows, i, windows[i].name.name) != NULL) {
            return error_at(ERROR_REPETITIVE_WINDOW_DEFINITION, windows[i].name.place,
                            "Invalid SQL syntax: The definition of window `%.*s` is repetitive.",
                            STR_ARG(windows[i].name.name));
        }
    }
    return NULL;
}

/* A window that is another's name: WINDOW v AS w. */
static Error *check_references(const AstNamedWindow *windows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const AstIdentifier *name = &windows[i].window->name;
        if (name->name.data == NULL) {
            continue;
        }
        const AstNamedWindow *meant = find_named(windows, count, name->name);
        if (meant == NULL) {
            return error_at(ERROR_UNRESOLVED_WINDOW_REFERENCE, name->place,
                            "Invalid SQL syntax: Cannot resolve window reference `%.*s`.",
                            STR_ARG(name->name));
        }
        if (meant->window->name.name.data != NULL) {
            return error_at(ERROR_INVALID_WINDOW_REFERENCE, name->place,
                            "Invalid SQL syntax: Window reference `%.*s` is not a window "
                            "specification.",
                            STR_ARG(name->name));
        }
    }
    return NULL;
}

static Error *check_windows(const AstNamedWindow *windows, size_t count)
{
    TRY(check_repeated(windows, count));
    return check_references(windows, count);
}

Error *check_named_windows(const AstSelect *select, const AstQuery *around)
{
    TRY(check_windows(select->windows, select->window_count));
    return around == NULL ? NULL : check_windows(around->windows, around->window_count);
}

/* ---------------------------------------------------------------- frames --- */

static bool has_offset(const BoundFrameBound *bound)
{
    return bound->offset != NULL;
}

/* What a call's frame is checked with. */
typedef struct Frame {
    Binder *binder;
    const Scope *scope;
    const AstExpr *call;
    const AstFrame *ast;
    WindowParts *parts;
} Frame;

static Error *frame_error(const Frame *frame, ErrorClass class, const char *what)
{
    return error_at(class, frame->ast->place,
                    "Cannot resolve the window frame due to data type mismatch: %s", what);
}

/* The offset of a bound: constant, of the type of a ROWS or the sort key's distance. */
static Error *bind_offset(const Frame *frame, const AstFrameBound *ast, BoundExpr **ret)
{
    TRY(bind_expr(frame->binder, frame->scope, ast->expr, ret));
    if (!bound_is_foldable(*ret) || find_special(*ret, SPECIAL_AGGREGATE) != NULL) {
        return error_at(ERROR_INVALID_WINDOW_FRAME_BOUND, ast->expr->place,
                        "Invalid SQL syntax: Frame bound value must be a literal.");
    }
    return NULL;
}

static bool is_interval(const Type *type)
{
    return type->kind == TYPE_INTERVAL_YEAR_MONTH || type->kind == TYPE_INTERVAL_DAY_TIME;
}

/* May the offset of a RANGE frame be of that type over such a sort key (Spark's isValidFrameType)?
 */
static bool is_range_type(const Type *key, const Type *offset)
{
    switch (key->kind) {
    case TYPE_DATE:
        return offset->kind == TYPE_INT || offset->kind == TYPE_INTERVAL_YEAR_MONTH ||
               (offset->kind == TYPE_INTERVAL_DAY_TIME && offset->scale == FIELD_DAY);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return is_interval(offset);
    default:
        return type_equal(key, offset);
    }
}

static Error *unaccepted_type(const Frame *frame, const char *side, const Type *type,
                              const char *expected)
{
    const char *what = arena_printf(frame->binder->arena,
                                    "The data type of the %s bound \"%s\" does not match the "
                                    "expected data type %s.",
                                    side, type_text(frame->binder->arena, type), expected);
    return frame_error(frame, ERROR_WINDOW_FRAME_UNACCEPTED_TYPE, what);
}

static Error *fit_offset(const Frame *frame, const char *side, BoundExpr **offset)
{
    if (!frame->ast->range) {
        return (*offset)->type->kind == TYPE_INT
                   ? NULL
                   : unaccepted_type(frame, side, (*offset)->type, "\"INT\"");
    }
    const WindowParts *parts = frame->parts;
    const Type *key = parts->order_count == 1 ? parts->order[0]->type : NULL;
    bool dated = key != NULL && (key->kind == TYPE_DATE || key->kind == TYPE_TIMESTAMP ||
                                 key->kind == TYPE_TIMESTAMP_NTZ);
    if (key != NULL && !dated && coerce_is_castable((*offset)->type, key)) {
        TRY(bound_cast(frame->binder, *offset, key, offset));
    }
    if (!type_is_numeric((*offset)->type) && !is_interval((*offset)->type)) {
        return unaccepted_type(frame, side, (*offset)->type,
                               "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO "
                               "MONTH\" or \"INTERVAL\")");
    }
    return NULL;
}

static Error *bind_bound(const Frame *frame, const AstFrameBound *ast, const char *side,
                         BoundFrameBound *ret)
{
    static const FrameBoundKind kinds[] = {
        [AST_FRAME_UNBOUNDED_PRECEDING] = FRAME_UNBOUNDED_PRECEDING,
        [AST_FRAME_PRECEDING] = FRAME_PRECEDING,
        [AST_FRAME_CURRENT_ROW] = FRAME_CURRENT_ROW,
        [AST_FRAME_FOLLOWING] = FRAME_FOLLOWING,
        [AST_FRAME_UNBOUNDED_FOLLOWING] = FRAME_UNBOUNDED_FOLLOWING,
    };
    *ret = (BoundFrameBound){.kind = kinds[ast->kind]};
    if (ret->kind != FRAME_PRECEDING && ret->kind != FRAME_FOLLOWING) {
        return NULL;
    }
    BoundExpr *offset = NULL;
    TRY(bind_offset(frame, ast, &offset));
    TRY(fit_offset(frame, side, &offset));
    const Vector *value = NULL;
    TRY(bound_evaluate(frame->binder, offset, &value));
    if (!vector_is_valid(value, 0)) {
        return unaccepted_type(frame, side, &type_null, "of a value");
    }
    BoundExpr *literal = arena_new_object(frame->binder->arena, BoundExpr);
    *literal = (BoundExpr){.kind = BOUND_LITERAL,
                           .type = offset->type,
                           .place = offset->place,
                           .text = offset->text,
                           .literal = value,
                           .height = 1,
                           .node_count = 1};
    ret->offset = literal;
    return NULL;
}

/* start + a PRECEDING is before end + b PRECEDING when a >= b. Compared as literals of one type. */
static Error *check_order_of_bounds(const Frame *frame)
{
    WindowParts *parts = frame->parts;
    if (!has_offset(&parts->start) || !has_offset(&parts->end)) {
        return NULL;
    }
    if (!type_equal(parts->start.offset->type, parts->end.offset->type)) {
        return frame_error(frame, ERROR_WINDOW_FRAME_DIFF_TYPES,
                           "Window frame bounds do not have the same type.");
    }
    BoundExpr *sides[2] = {NULL, NULL};
    const BoundFrameBound *bounds[2] = {&parts->start, &parts->end};
    for (size_t i = 0; i < 2; i++) {
        BoundExpr *offset = arena_new_object(frame->binder->arena, BoundExpr);
        *offset = *bounds[i]->offset;
        BoundExpr pattern = {.place = offset->place, .text = offset->text};
        sides[i] = offset;
        if (bounds[i]->kind == FRAME_PRECEDING) {
            TRY(bind_function(frame->binder, STR("negative"), &offset, 1, &pattern, &sides[i]));
        }
    }
    BoundExpr pattern = {.place = frame->ast->place, .text = frame->call->text};
    BoundExpr *ordered = NULL;
    const Vector *value = NULL;
    TRY(bind_function(frame->binder, STR("<="), sides, 2, &pattern, &ordered));
    TRY(bound_evaluate(frame->binder, ordered, &value));
    return VECTOR_VALUE(value, bool, 0)
               ? NULL
               : frame_error(frame, ERROR_WINDOW_FRAME_WRONG_COMPARISON,
                             "The lower bound of a window frame must be less than or equal to the "
                             "upper bound.");
}

static Error *check_range(const Frame *frame)
{
    const WindowParts *parts = frame->parts;
    bool valued = has_offset(&parts->start) || has_offset(&parts->end);
    if (parts->order_count == 0) {
        return frame_error(frame, ERROR_RANGE_FRAME_WITHOUT_ORDER,
                           "A range window frame cannot be used in an unordered window "
                           "specification.");
    }
    if (!valued) {
        return NULL;
    }
    if (parts->order_count > 1) {
        return frame_error(frame, ERROR_RANGE_FRAME_MULTI_ORDER,
                           "A range window frame with value boundaries cannot be used in a window "
                           "specification with multiple order by expressions.");
    }
    const BoundFrameBound *bounds[2] = {&parts->start, &parts->end};
    for (size_t i = 0; i < 2; i++) {
        if (has_offset(bounds[i]) &&
            !is_range_type(parts->order[0]->type, bounds[i]->offset->type)) {
            const char *what = arena_printf(
                frame->binder->arena,
                "The data type \"%s\" used in the order specification does not support the data "
                "type \"%s\" which is used in the range frame.",
                type_text(frame->binder->arena, parts->order[0]->type),
                type_text(frame->binder->arena, bounds[i]->offset->type));
            return frame_error(frame, ERROR_RANGE_FRAME_INVALID_TYPE, what);
        }
    }
    return NULL;
}

static Error *bind_frame(const Frame *frame)
{
    WindowParts *parts = frame->parts;
    parts->unit = frame->ast->range ? FRAME_RANGE : FRAME_ROWS;
    if (frame->ast->start.kind == AST_FRAME_UNBOUNDED_FOLLOWING ||
        frame->ast->end.kind == AST_FRAME_UNBOUNDED_PRECEDING) {
        return frame_error(frame, ERROR_WINDOW_FRAME_INVALID_BOUND,
                           "The window frame's upper bound does not follow the lower bound.");
    }
    TRY(bind_bound(frame, &frame->ast->start, "lower", &parts->start));
    TRY(bind_bound(frame, &frame->ast->end, "upper", &parts->end));
    TRY(check_order_of_bounds(frame));
    return frame->ast->range ? check_range(frame) : NULL;
}

static void default_frame(WindowParts *parts)
{
    parts->unit = parts->order_count > 0 ? FRAME_RANGE : FRAME_ROWS;
    parts->start.kind = FRAME_UNBOUNDED_PRECEDING;
    parts->end.kind = parts->order_count > 0 ? FRAME_CURRENT_ROW : FRAME_UNBOUNDED_FOLLOWING;
}

/* Window functions proper: what they ask of their window. */
static bool is_named(const Function *function, const char *name)
{
    return str_equal(str_from(function->name), str_from(name));
}

static bool is_offset_function(const Function *function)
{
    return is_named(function, "lag") || is_named(function, "lead");
}

static Error *check_ordered(const Function *function, const AstExpr *expr, const WindowParts *parts)
{
    if (parts->order_count > 0) {
        return NULL;
    }
    return error_at(ERROR_WINDOW_FUNCTION_FRAME_NOT_ORDERED, expr->place,
                    "Window function %s requires the window to be ordered. You need to add an "
                    "ORDER BY clause. For example: SELECT %s(…) OVER (PARTITION BY "
                    "window_partition ORDER BY window_ordering) FROM table.",
                    function->name, function->name);
}

/* Ranking functions look at all rows up to the current one, cume_dist at its peers too; lag and
 * lead have no frame. A frame that is written must be that one. */
static Error *fit_ranking_frame(const Frame *frame, const Function *function)
{
    WindowParts *parts = frame->parts;
    FrameUnit unit = is_named(function, "cume_dist") ? FRAME_RANGE : FRAME_ROWS;
    if (frame->ast != NULL && is_offset_function(function)) {
        return error_at(ERROR_WINDOW_FRAME_NOT_ALLOWED, frame->ast->place,
                        "Cannot specify window frame for %s function.", function->name);
    }
    if (frame->ast != NULL &&
        (parts->unit != unit || parts->start.kind != FRAME_UNBOUNDED_PRECEDING ||
         parts->end.kind != FRAME_CURRENT_ROW)) {
        return error_at(ERROR_WINDOW_FRAME_NOT_REQUIRED_ONE, frame->ast->place,
                        "The window frame of %s must be %s BETWEEN UNBOUNDED PRECEDING AND CURRENT "
                        "ROW.",
                        function->name, unit == FRAME_RANGE ? "RANGE" : "ROWS");
    }
    parts->unit = unit;
    parts->start = (BoundFrameBound){.kind = FRAME_UNBOUNDED_PRECEDING};
    parts->end = (BoundFrameBound){.kind = FRAME_CURRENT_ROW};
    return NULL;
}

/* --------------------------------------------------------------- binding --- */

static Error *bind_partition(Binder *binder, const Scope *scope, const AstWindow *window,
                             WindowParts *ret)
{
    ret->partition_count = window->partition_by_count;
    ret->partition = arena_new_array(binder->arena, BoundExpr *, ret->partition_count);
    for (size_t i = 0; i < ret->partition_count; i++) {
        TRY(bind_expr(binder, scope, window->partition_by[i], &ret->partition[i]));
        if (!type_is_orderable(ret->partition[i]->type) &&
            ret->partition[i]->type->kind != TYPE_NULL) {
            return error_at(ERROR_EXPRESSION_NOT_ORDERABLE, window->partition_by[i]->place,
                            "Column expression \"%.*s\" cannot be sorted because its type \"%s\" "
                            "is not orderable.",
                            STR_ARG(ret->partition[i]->text),
                            type_text(binder->arena, ret->partition[i]->type));
        }
    }
    return NULL;
}

static Error *bind_order(Binder *binder, const Scope *scope, const AstWindow *window,
                         WindowParts *ret)
{
    ret->order_count = window->order_by_count;
    ret->order = arena_new_array(binder->arena, BoundExpr *, ret->order_count);
    ret->keys = arena_new_array(binder->arena, BoundSortKey, ret->order_count);
    for (size_t i = 0; i < ret->order_count; i++) {
        const AstSortItem *item = &window->order_by[i];
        TRY(bind_expr(binder, scope, item->expr, &ret->order[i]));
        TRY(check_sort_key(binder, item, ret->order[i]));
        ret->keys[i] = (BoundSortKey){NULL, item->descending, item->nulls_first};
    }
    return NULL;
}

Error *bind_window(Binder *binder, const Scope *scope, const AstExpr *expr,
                   const Function *function, WindowParts *ret)
{
    const AstWindow *window = NULL;
    TRY(follow_name(scope, expr->call->over, &window));
    TRY(bind_partition(binder, scope, window, ret));
    TRY(bind_order(binder, scope, window, ret));
    Frame frame = {binder, scope, expr, window->frame, ret};
    if (window->frame != NULL) {
        TRY(bind_frame(&frame));
    } else {
        default_frame(ret);
    }
    if (function->kind != FUNCTION_WINDOW) {
        return NULL;
    }
    TRY(check_ordered(function, expr, ret));
    return is_named(function, "nth_value") ? NULL : fit_ranking_frame(&frame, function);
}

/* -------------------------------------------------------------- building --- */

typedef struct WindowCalls {
    BoundExpr **items;
    uint32_t *columns; /* of the output */
    size_t count;
    size_t capacity;
    Arena *arena;
} WindowCalls;

static bool holds_window(const BoundExpr *expr)
{
    for (size_t i = 0; i < expr->child_count; i++) {
        if (find_special(expr->children[i], SPECIAL_WINDOW) != NULL) {
            return true;
        }
    }
    return false;
}

static size_t find_call(const WindowCalls *calls, const BoundExpr *expr)
{
    size_t at = 0;
    while (at < calls->count && !bound_equal(calls->items[at], expr)) {
        at++;
    }
    return at;
}

/* Window functions without one in their arguments: those can be computed now. */
static void collect_calls(WindowCalls *calls, BoundExpr *expr)
{
    if (is_special(expr, SPECIAL_WINDOW) && !holds_window(expr)) {
        if (find_call(calls, expr) == calls->count) {
            *arena_push(calls->arena, calls->items, calls->count, calls->capacity) = expr;
        }
        return;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        collect_calls(calls, expr->children[i]);
    }
}

/* The children of a call from PARTITION BY on. */
static BoundExpr **window_children(const BoundExpr *call)
{
    const BoundSpecial *special = call->special;
    return call->children + special->argument_count + special->has_filter + special->sort_count;
}

static bool same_window(const BoundExpr *a, const BoundExpr *b)
{
    const BoundSpecial *x = a->special;
    const BoundSpecial *y = b->special;
    if (x->partition_count != y->partition_count || x->order_count != y->order_count) {
        return false;
    }
    for (size_t i = 0; i < x->partition_count + x->order_count; i++) {
        if (!bound_equal(window_children(a)[i], window_children(b)[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < x->order_count; i++) {
        const BoundSortKey *key = &x->keys[x->sort_count + i];
        const BoundSortKey *other = &y->keys[y->sort_count + i];
        if (key->descending != other->descending || key->nulls_first != other->nulls_first) {
            return false;
        }
    }
    return true;
}

/* Every expression a call computes on, as slots. */
static Error *hoist_call(Binder *binder, BoundExpr *call, BoundNode **node)
{
    BoundExpr ***slots = arena_new_array(binder->arena, BoundExpr **, call->child_count);
    for (size_t i = 0; i < call->child_count; i++) {
        slots[i] = &call->children[i];
    }
    return hoist_subqueries(binder, slots, call->child_count, node);
}

static BoundWindowCall window_call(const Binder *binder, const BoundExpr *call)
{
    return (BoundWindowCall){.call = special_call(binder, call),
                             .unit = call->special->unit,
                             .start = call->special->start,
                             .end = call->special->end};
}

static void set_window(const Binder *binder, BoundNode *node, const BoundExpr *call)
{
    const BoundSpecial *special = call->special;
    BoundExpr **children = window_children(call);
    node->expressions = children;
    node->expression_count = special->partition_count;
    BoundSortKey *keys = arena_new_array(binder->arena, BoundSortKey, special->order_count);
    for (size_t i = 0; i < special->order_count; i++) {
        keys[i] = special->keys[special->sort_count + i];
        keys[i].expr = children[special->partition_count + i];
    }
    node->sort_keys = keys;
    node->sort_key_count = special->order_count;
}

/* The calls from number `first` on that share its window, marked as done. */
static size_t take_sharing(const WindowCalls *calls, size_t first, bool *done, size_t *taken)
{
    size_t count = 0;
    for (size_t i = first; i < calls->count; i++) {
        if (!done[i] && same_window(calls->items[first], calls->items[i])) {
            done[i] = true;
            taken[count++] = i;
        }
    }
    return count;
}

/* WINDOW over *node for the calls that share the window of call number `first`. Each such node has
 * all columns of those below, so their number is bounded. */
static Error *build_window(Binder *binder, WindowCalls *calls, size_t first, bool *done,
                           BoundNode **node)
{
    Arena *arena = binder->arena;
    const BoundExpr *pattern = calls->items[first];
    const Schema *below = (*node)->schema;
    size_t *taken = arena_new_array(arena, size_t, calls->count - first);
    size_t count = take_sharing(calls, first, done, taken);
    TRY(binder_grow(binder, below->field_count + count, pattern->place));
    Field *fields = arena_new_array(arena, Field, below->field_count + count);
    BoundWindowCall *windows = arena_new_array(arena, BoundWindowCall, count);
    for (size_t i = 0; i < below->field_count; i++) {
        fields[i] = below->fields[i];
    }
    for (size_t i = 0; i < count; i++) {
        const BoundExpr *call = calls->items[taken[i]];
        calls->columns[taken[i]] = (uint32_t)(below->field_count + i);
        fields[below->field_count + i] = (Field){call->text, call->type, false, STR_NULL};
        windows[i] = window_call(binder, call);
    }
    BoundNode *window =
        bound_node_new(binder, BOUND_WINDOW, schema_new(arena, fields, below->field_count + count),
                       pattern->place);
    window->child = *node;
    window->windows = windows;
    window->window_count = count;
    set_window(binder, window, pattern);
    *node = window;
    return NULL;
}

typedef struct WindowMap {
    Binder *binder;
    const WindowCalls *calls;
    const Schema *schema;
} WindowMap;

static Error *replace_window(void *context, BoundExpr *expr, BoundExpr **ret)
{
    const WindowMap *map = context;
    if (is_special(expr, SPECIAL_WINDOW)) {
        size_t at = find_call(map->calls, expr);
        if (at < map->calls->count) {
            uint32_t column = map->calls->columns[at];
            *ret =
                bound_column(map->binder->arena, &map->schema->fields[column], column, expr->place);
            (*ret)->text = expr->text;
        }
    }
    return NULL;
}

/* One round: the calls that can be computed, in as many nodes as they have windows. */
static Error *build_round(Binder *binder, BoundExpr **const *slots, size_t slot_count,
                          WindowCalls *calls, BoundNode **node)
{
    /* The calls of the slots stay as they are: what is hoisted changes copies. */
    WindowCalls own = {.arena = binder->arena};
    own.items = arena_new_array(binder->arena, BoundExpr *, calls->count);
    own.columns = arena_new_array(binder->arena, uint32_t, calls->count);
    own.count = calls->count;
    for (size_t i = 0; i < calls->count; i++) {
        TRY(bound_new(binder, calls->items[i], calls->items[i]->children,
                      calls->items[i]->child_count, &own.items[i]));
        TRY(hoist_call(binder, own.items[i], node));
    }
    bool *done = arena_new_array(binder->arena, bool, own.count);
    for (size_t i = 0; i < own.count; i++) {
        if (!done[i]) {
            TRY(build_window(binder, &own, i, done, node));
        }
    }
    calls->columns = own.columns;
    WindowMap map = {binder, calls, (*node)->schema};
    for (size_t i = 0; i < slot_count; i++) {
        TRY(bound_map(binder, *slots[i], replace_window, &map, slots[i]));
    }
    return NULL;
}

Error *build_windows(Binder *binder, BoundExpr **const *slots, size_t slot_count, BoundNode **node)
{
    for (;;) {
        WindowCalls calls = {.arena = binder->arena};
        for (size_t i = 0; i < slot_count; i++) {
            collect_calls(&calls, *slots[i]);
        }
        if (calls.count == 0) {
            return NULL;
        }
        TRY(build_round(binder, slots, slot_count, &calls, node));
    }
}
