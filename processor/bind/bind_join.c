/* Joins. The columns of a join are those of the left relation, then those of the right; what may be
 * named is the scope: USING and NATURAL show a key once and first, and hide the other side's, which
 * only `t.k` and `t.*` still mean:
 *
 *     a (x, k) JOIN b (y, k) USING (k)     columns x k y k'    `*` is k x y     b.k is k'
 *
 * RIGHT shows the right's key. FULL shows coalesce(k, k'), which a projection adds. */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"

#include "processor/base/banned.h"

/* What a join is made of while it is bound. */
typedef struct Joining {
    Binder *binder;
    const AstJoin *join;
    FromResult left;
    FromResult right;     /* its scope counts from the join's columns */
    const Field *fields;  /* of left and right */
    BoundExpr *condition; /* NULL: none */
} Joining;

/* A pair of columns that USING or NATURAL names. */
typedef struct UsingKey {
    const ScopeColumn *left;
    const ScopeColumn *right;
} UsingKey;

/* -------------------------------------------------------------- columns --- */

static JoinKind join_kind(AstJoinType type)
{
    switch (type) {
    case AST_JOIN_INNER:
    case AST_JOIN_CROSS:
        return JOIN_INNER;
    case AST_JOIN_LEFT:
        return JOIN_LEFT;
    case AST_JOIN_RIGHT:
        return JOIN_RIGHT;
    case AST_JOIN_FULL:
        return JOIN_FULL;
    case AST_JOIN_SEMI:
        return JOIN_SEMI;
    case AST_JOIN_ANTI:
        return JOIN_ANTI;
    }
    return JOIN_INNER;
}

static const char *join_word(AstJoinType type)
{
    static const char *const words[] = {
        [AST_JOIN_INNER] = "INNER",     [AST_JOIN_CROSS] = "CROSS",
        [AST_JOIN_LEFT] = "LEFT OUTER", [AST_JOIN_RIGHT] = "RIGHT OUTER",
        [AST_JOIN_FULL] = "FULL OUTER", [AST_JOIN_SEMI] = "LEFT SEMI",
        [AST_JOIN_ANTI] = "LEFT ANTI",
    };
    return words[type];
}

static bool left_only(const AstJoin *join)
{
    return join->type == AST_JOIN_SEMI || join->type == AST_JOIN_ANTI;
}

/* An outer join fills up with NULL where the other side has no row. */
static bool fills_left(const AstJoin *join)
{
    return join->type == AST_JOIN_RIGHT || join->type == AST_JOIN_FULL;
}

static bool fills_right(const AstJoin *join)
{
    return join->type == AST_JOIN_LEFT || join->type == AST_JOIN_FULL;
}

/* Fields and scopes of both sides over the join's columns. Scope fields are copies too, since an
 * alias may have renamed them. */
static void shift_scope(Joining *joining, FromResult *side, uint32_t first, bool filled)
{
    Arena *arena = joining->binder->arena;
    size_t count = side->scope.column_count;
    ScopeColumn *columns = arena_new_array(arena, ScopeColumn, count);
    Field *fields = arena_new_array(arena, Field, filled ? count : 0);
    for (size_t i = 0; i < count; i++) {
        columns[i] = side->scope.columns[i];
        columns[i].column += first;
        if (filled) {
            fields[i] = *columns[i].field;
            fields[i].not_null = false;
            columns[i].field = &fields[i];
        }
    }
    side->scope.columns = columns;
}

static void join_columns(Joining *joining)
{
    const Schema *left = joining->left.node->schema;
    const Schema *right = joining->right.node->schema;
    Field *fields =
        arena_new_array(joining->binder->arena, Field, left->field_count + right->field_count);
    for (size_t i = 0; i < left->field_count; i++) {
        fields[i] = left->fields[i];
        fields[i].not_null = fields[i].not_null && !fills_left(joining->join);
    }
    for (size_t i = 0; i < right->field_count; i++) {
        fields[left->field_count + i] = right->fields[i];
        fields[left->field_count + i].not_null =
            right->fields[i].not_null && !fills_right(joining->join);
    }
    joining->fields = fields;
    shift_scope(joining, &joining->left, 0, fills_left(joining->join));
    shift_scope(joining, &joining->right, (uint32_t)left->field_count, fills_right(joining->join));
}

static void append_columns(ScopeColumn *into, size_t *count, const Scope *scope, bool hidden)
{
    for (size_t i = 0; i < scope->column_count; i++) {
        if (scope->columns[i].hidden == hidden) {
            into[(*count)++] = scope->columns[i];
        }
    }
}

/* All columns of both, hidden ones first. */
static Scope both_scopes(const Joining *joining)
{
    const Scope *left = &joining->left.scope;
    const Scope *right = &joining->right.scope;
    ScopeColumn *columns = arena_new_array(joining->binder->arena, ScopeColumn,
                                           left->column_count + right->column_count);
    size_t count = 0;
    append_columns(columns, &count, left, true);
    append_columns(columns, &count, right, true);
    append_columns(columns, &count, left, false);
    append_columns(columns, &count, right, false);
    return (Scope){.columns = columns, .column_count = count};
}

/* ------------------------------------------------------------ condition --- */

/* What needs all rows of a group, or gives several, has no place in a condition. */
static Error *check_condition(Binder *binder, const AstExpr *on)
{
    ExprTraits traits;
    expr_traits(binder->context->functions, on, &traits);
    if (traits.generator != NULL) {
        return generator_outside_select(binder, traits.generator, "JOIN");
    }
    const AstExpr *wrong = traits.aggregate != NULL ? traits.aggregate : traits.analytic;
    if (wrong == NULL) {
        return NULL;
    }
    Str text = bound_text(binder, wrong);
    return error_at(ERROR_UNSUPPORTED_EXPR_FOR_OPERATOR, wrong->place,
                    "The query operator Join contains one or more unsupported expressions. "
                    "Consider to rewrite it to avoid window functions, aggregate functions, and "
                    "generator functions in the Join operator. Invalid expressions: [\"%.*s\"]",
                    STR_ARG(text));
}

Error *bind_join_condition(Binder *binder, const Scope *scope, const AstExpr *on, BoundExpr **ret)
{
    BoundExpr *condition = NULL;
    TRY(check_condition(binder, on));
    TRY(bind_expr(binder, scope, on, &condition));
    if (condition->type->kind != TYPE_BOOLEAN) {
        Str text = bound_text(binder, on);
        return error_at(ERROR_JOIN_CONDITION_NOT_BOOLEAN, on->place,
                        "The join condition \"%.*s\" has the invalid type \"%s\", expected "
                        "\"BOOLEAN\".",
                        STR_ARG(text), type_text(binder->arena, condition->type));
    }
    TRY(check_no_correlated_scalar(condition));
    *ret = condition;
    return NULL;
}

/* ------------------------------------------------------ USING, NATURAL --- */

/* The first column of the name that is shown; NULL when there is none. */
static const ScopeColumn *find_shown(const Scope *scope, Str name)
{
    for (size_t i = 0; i < scope->column_count; i++) {
        if (!scope->columns[i].hidden &&
            str_equal_ignore_case(scope->columns[i].field->name, name)) {
            return &scope->columns[i];
        }
    }
    return NULL;
}

static Error *unresolved_using(const Scope *scope, const AstIdentifier *name, const char *side)
{
    AUTO_BUFFER Buffer columns = {0};
    Str nearest = STR_NULL;
    size_t distance = SIZE_MAX;
    for (size_t i = 0; i < scope->column_count; i++) {
        Str column = scope->columns[i].field->name;
        if (scope->columns[i].hidden) {
            continue;
        }
        buffer_printf(&columns, "%s`%.*s`", columns.size == 0 ? "" : ", ", STR_ARG(column));
        if (str_is_nearer(column, name->name, &distance)) {
            nearest = column;
        }
    }
    Error *error = error_at(ERROR_UNRESOLVED_USING_COLUMN, name->place,
                            "USING column `%.*s` cannot be resolved on the %s side of the join. "
                            "The %s-side columns: [%s].",
                            STR_ARG(name->name), side, side, buffer_cstr(&columns));
    return nearest.data == NULL ? error
                                : error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
}

static Error *find_using_keys(const Joining *joining, UsingKey **ret_keys, size_t *ret_count)
{
    const AstIdentifierList *using = &joining->join->using;
    UsingKey *keys = arena_new_array(joining->binder->arena, UsingKey, using->item_count);
    for (size_t i = 0; i < using->item_count; i++) {
        const AstIdentifier *name = &using->items[i];
        keys[i].left = find_shown(&joining->left.scope, name->name);
        keys[i].right = find_shown(&joining->right.scope, name->name);
        if (keys[i].left == NULL) {
            return unresolved_using(&joining->left.scope, name, "left");
        }
        if (keys[i].right == NULL) {
            return unresolved_using(&joining->right.scope, name, "right");
        }
    }
    *ret_keys = keys;
    *ret_count = using->item_count;
    return NULL;
}

/* NATURAL: the names that both sides have, in the left's order. */
static void find_natural_keys(const Joining *joining, UsingKey **ret_keys, size_t *ret_count)
{
    const Scope *left = &joining->left.scope;
    UsingKey *keys = arena_new_array(joining->binder->arena, UsingKey, left->column_count);
    size_t count = 0;
    for (size_t i = 0; i < left->column_count; i++) {
        const ScopeColumn *column = &left->columns[i];
        bool first = find_shown(left, column->field->name) == column;
        const ScopeColumn *other = find_shown(&joining->right.scope, column->field->name);
        if (!column->hidden && first && other != NULL) {
            keys[count++] = (UsingKey){column, other};
        }
    }
    *ret_keys = keys;
    *ret_count = count;
}

static BoundExpr *key_column(const Joining *joining, const ScopeColumn *column)
{
    return bound_column(joining->binder->arena, column->field, column->column,
                        joining->join->place);
}

/* l.k = r.k AND … */
static Error *bind_key_equality(Joining *joining, const UsingKey *keys, size_t count)
{
    Binder *binder = joining->binder;
    BoundExpr **equal = arena_new_array(binder->arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        Str name = keys[i].left->field->name;
        BoundExpr pattern = {.place = joining->join->place};
        pattern.text =
            str_from(arena_printf(binder->arena, "(%.*s = %.*s)", STR_ARG(name), STR_ARG(name)));
        BoundExpr *pair[2] = {key_column(joining, keys[i].left),
                              key_column(joining, keys[i].right)};
        TRY(bind_function(binder, STR("="), pair, 2, &pattern, &equal[i]));
    }
    if (count == 1) {
        joining->condition = equal[0];
    }
    if (count > 1) {
        BoundExpr pattern = {.kind = BOUND_AND, .type = &type_boolean};
        pattern.place = joining->join->place;
        TRY(bound_new(binder, &pattern, equal, count, &joining->condition));
    }
    return NULL;
}

static bool is_key(const ScopeColumn *column, const UsingKey *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (column->column == keys[i].left->column || column->column == keys[i].right->column) {
            return true;
        }
    }
    return false;
}

/* coalesce(l.k, r.k) behind the join's columns. */
static Error *add_full_keys(Joining *joining, const UsingKey *keys, size_t count, BoundNode **node,
                            ScopeColumn *shown)
{
    Binder *binder = joining->binder;
    size_t width = (*node)->schema->field_count;
    BoundExpr **expressions = arena_new_array(binder->arena, BoundExpr *, width + count);
    Field *fields = arena_new_array(binder->arena, Field, width + count);
    for (size_t i = 0; i < width; i++) {
        fields[i] = (*node)->schema->fields[i];
        expressions[i] = bound_column(binder->arena, &fields[i], (uint32_t)i, joining->join->place);
    }
    for (size_t i = 0; i < count; i++) {
        BoundExpr *pair[2] = {key_column(joining, keys[i].left),
                              key_column(joining, keys[i].right)};
        BoundExpr **slots[2] = {&pair[0], &pair[1]};
        BoundExpr pattern = {.kind = BOUND_COALESCE, .place = joining->join->place};
        pattern.text = keys[i].left->field->name;
        TRY(bind_common_type(binder, slots, 2, "coalesce", &pattern, &pattern.type));
        TRY(bound_new(binder, &pattern, pair, 2, &expressions[width + i]));
        fields[width + i] = (Field){pattern.text, pattern.type, false, STR_NULL};
        shown[i] = (ScopeColumn){&fields[width + i], NULL, (uint32_t)(width + i), false};
    }
    const Schema *schema = schema_new(binder->arena, fields, width + count);
    *node = bound_project(binder->arena, *node, expressions, schema, joining->join->place);
    return NULL;
}

static void append_rest(ScopeColumn *into, size_t *into_count, const Scope *scope,
                        const UsingKey *keys, size_t count)
{
    for (size_t i = 0; i < scope->column_count; i++) {
        if (!scope->columns[i].hidden && !is_key(&scope->columns[i], keys, count)) {
            into[(*into_count)++] = scope->columns[i];
        }
    }
}

static void append_hidden_keys(ScopeColumn *into, size_t *into_count, const UsingKey *keys,
                               size_t count, bool left, bool right)
{
    for (size_t i = 0; i < count; i++) {
        if (left) {
            into[*into_count] = *keys[i].left;
            into[(*into_count)++].hidden = true;
        }
        if (right) {
            into[*into_count] = *keys[i].right;
            into[(*into_count)++].hidden = true;
        }
    }
}

/* The scope of a join whose keys are shown once. */
static Error *using_scope(Joining *joining, const UsingKey *keys, size_t count, BoundNode **node,
                          Scope *ret_scope)
{
    AstJoinType type = joining->join->type;
    bool semi = left_only(joining->join);
    size_t capacity = joining->left.scope.column_count + joining->right.scope.column_count + count;
    ScopeColumn *columns = arena_new_array(joining->binder->arena, ScopeColumn, capacity);
    ScopeColumn *shown = arena_new_array(joining->binder->arena, ScopeColumn, count);
    for (size_t i = 0; i < count; i++) {
        shown[i] = type == AST_JOIN_RIGHT ? *keys[i].right : *keys[i].left;
    }
    if (type == AST_JOIN_FULL) {
        TRY(add_full_keys(joining, keys, count, node, shown));
    }
    size_t filled = 0;
    append_columns(columns, &filled, &joining->left.scope, true);
    if (!semi) {
        append_columns(columns, &filled, &joining->right.scope, true);
        append_hidden_keys(columns, &filled, keys, count,
                           type == AST_JOIN_RIGHT || type == AST_JOIN_FULL, type != AST_JOIN_RIGHT);
    }
    for (size_t i = 0; i < count; i++) {
        columns[filled++] = shown[i];
    }
    append_rest(columns, &filled, &joining->left.scope, keys, count);
    if (!semi) {
        append_rest(columns, &filled, &joining->right.scope, keys, count);
    }
    *ret_scope = (Scope){.columns = columns, .column_count = filled};
    return NULL;
}

/* ---------------------------------------------------------------- joins --- */

static BoundNode *join_node(const Joining *joining)
{
    Binder *binder = joining->binder;
    size_t width = joining->left.node->schema->field_count +
                   (left_only(joining->join) ? 0 : joining->right.node->schema->field_count);
    const Schema *schema = schema_new(binder->arena, joining->fields, width);
    BoundNode *node = bound_node_new(binder, BOUND_JOIN, schema, joining->join->place);
    node->child = joining->left.node;
    node->right = joining->right.node;
    node->join = join_kind(joining->join->type);
    node->lateral = joining->join->relation->lateral;
    if (joining->condition != NULL) {
        node->expressions = arena_new_array(binder->arena, BoundExpr *, 1);
        node->expressions[0] = joining->condition;
        node->expression_count = 1;
    }
    return node;
}

static Error *join_sides(Joining *joining, FromResult *result)
{
    const AstJoin *join = joining->join;
    join_columns(joining);
    UsingKey *keys = NULL;
    size_t count = 0;
    if (join->natural) {
        find_natural_keys(joining, &keys, &count);
    } else if (join->using.item_count > 0) {
        TRY(find_using_keys(joining, &keys, &count));
    }
    Scope both = both_scopes(joining);
    if (join->on != NULL) {
        TRY(bind_join_condition(joining->binder, &both, join->on, &joining->condition));
    } else {
        TRY(bind_key_equality(joining, keys, count));
    }
    BoundNode *node = join_node(joining);
    if (count > 0) {
        TRY(using_scope(joining, keys, count, &node, &both));
    } else if (left_only(join)) {
        both = joining->left.scope;
    }
    *result = (FromResult){node, both};
    return NULL;
}

/* SQ-44: which joins a LATERAL relation may stand in. */
static Error *check_lateral(const AstJoin *join)
{
    if (join->natural) {
        return error_at(ERROR_INCOMPATIBLE_JOIN_TYPES, join->place,
                        "The join types LATERAL and NATURAL are incompatible.");
    }
    if (join->using.item_count > 0) {
        return error_at(ERROR_LATERAL_JOIN_USING, join->place,
                        "The feature is not supported: JOIN USING with LATERAL correlation.");
    }
    if (fills_left(join) || left_only(join)) {
        return error_at(ERROR_INVALID_LATERAL_JOIN_TYPE, join->place,
                        "The %s JOIN with LATERAL correlation is not allowed because an OUTER "
                        "subquery cannot correlate to its join partner. Remove the LATERAL "
                        "correlation or use an INNER JOIN, or LEFT OUTER JOIN instead.",
                        join_word(join->type));
    }
    return NULL;
}

/* The right side; a LATERAL one sees the columns of the left. */
static bool bind_right(Joining *joining)
{
    Binder *binder = joining->binder;
    const AstRelation *relation = joining->join->relation;
    if (!relation->lateral) {
        return bind_relation(binder, relation, &joining->right);
    }
    if (joining->left.node == NULL) {
        return false;
    }
    OuterQuery outer = {.scope = &joining->left.scope, .lateral = true};
    OuterQuery *around = binder->outer;
    binder->outer = &outer;
    bool ok = bind_relation(binder, relation, &joining->right);
    binder->outer = around;
    return ok;
}

bool bind_join(Binder *binder, const AstJoin *join, FromResult *left)
{
    Joining joining = {.binder = binder, .join = join, .left = *left};
    if (join->relation->lateral && !binder_report(binder, check_lateral(join))) {
        left->node = NULL;
        return false;
    }
    if (join->natural && (left_only(join) || join->type == AST_JOIN_CROSS)) {
        left->node = NULL;
        return binder_report(binder, error_at(ERROR_INCOMPATIBLE_JOIN_TYPES, join->place,
                                              "The join types NATURAL and %s are incompatible.",
                                              join_word(join->type)));
    }
    if (left->node != NULL && is_lateral_generator(binder, join)) {
        return binder_report(binder, bind_lateral_generator(binder, join, left));
    }
    if (!bind_right(&joining) || left->node == NULL) {
        left->node = NULL; /* later conditions cannot be told right from wrong */
        return false;
    }
    size_t width = left->node->schema->field_count + joining.right.node->schema->field_count;
    if (!binder_report(binder, binder_grow(binder, width, join->place)) ||
        !binder_report(binder, join_sides(&joining, left))) {
        left->node = NULL;
        return false;
    }
    return true;
}
