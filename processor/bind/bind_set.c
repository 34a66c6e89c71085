/* UNION, INTERSECT, EXCEPT. Columns are paired by position, named by the first query, and of the
 * type both sides can be cast to. A chain is taken from the left as Spark does it: each step casts
 * what came before it, so that '1' UNION 2 UNION 3.5 reads '1' as a BIGINT first.
 *
 *     a UNION ALL b UNION ALL c UNION ALL d      UNION(UNION(a, b), UNION(c, d))
 *     a UNION b UNION c                          DISTINCT(UNION(UNION(a, b), c))
 *
 * A chain of UNIONs is one tree as flat as can be, however long the chain; DISTINCT once at the end
 * of a run says the same as DISTINCT after each step. */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

/* A query of a run of UNIONs: its columns, cast as often as a step asked for it. */
typedef struct Branch {
    BoundNode *node;
    BoundExpr **casts; /* NULL: as they are */
} Branch;

typedef struct Union {
    Binder *binder;
    Branch *branches;
    size_t count;
    size_t capacity;
    Field *fields; /* of the result so far */
    size_t width;
    bool distinct; /* over all branches so far */
    SourcePlace place;
} Union;

static const char *set_name(AstSetOperator operator_)
{
    switch (operator_) {
    case AST_SET_UNION:
        return "UNION";
    case AST_SET_EXCEPT:
        return "EXCEPT";
    case AST_SET_INTERSECT:
        return "INTERSECT";
    }
    return "";
}

static const char *ordinal(Arena *arena, size_t index)
{
    static const char *const words[] = {"first", "second",  "third",  "fourth", "fifth",
                                        "sixth", "seventh", "eighth", "ninth",  "tenth"};
    return index < ARRAY_LENGTH(words) ? words[index] : arena_printf(arena, "%zuth", index + 1);
}

/* -------------------------------------------------------------- columns --- */

/* Types of the result of one step; NULL where nothing changes on that side. */
typedef struct Widening {
    const Type **types;
    bool left_changes;
    bool right_changes;
} Widening;

static Error *common_columns(Binder *binder, const AstSetStep *step, const Field *left,
                             size_t width, const Schema *right, Widening *ret)
{
    const char *name = set_name(step->operator_);
    if (right->field_count != width) {
        return error_at(ERROR_NUM_COLUMNS_MISMATCH, step->right->place,
                        "%s can only be performed on inputs with the same number of columns, but "
                        "the first input has %zu columns and the second input has %zu columns.",
                        name, width, right->field_count);
    }
    *ret = (Widening){.types = arena_new_array(binder->arena, const Type *, width)};
    for (size_t i = 0; i < width; i++) {
        const Type *theirs = right->fields[i].type;
        const Type *type = coerce_common_type(binder->arena, left[i].type, theirs);
        if (type == NULL) {
            return error_at(ERROR_INCOMPATIBLE_COLUMN_TYPE, step->right->place,
                            "%s can only be performed on tables with compatible column types. The "
                            "%s column of the second table is \"%s\" type which is not compatible "
                            "with \"%s\" at the same column of the first table.",
                            name, ordinal(binder->arena, i), type_text(binder->arena, theirs),
                            type_text(binder->arena, left[i].type));
        }
        ret->types[i] = type;
        ret->left_changes = ret->left_changes || !type_equal(type, left[i].type);
        ret->right_changes = ret->right_changes || !type_equal(type, theirs);
    }
    return NULL;
}

static Error *check_no_maps(Binder *binder, const Schema *schema, SourcePlace place)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        if (!type_is_orderable(schema->fields[i].type)) {
            return error_at(ERROR_SET_OPERATION_ON_MAP, place,
                            "The feature is not supported: Cannot have MAP type columns in a set "
                            "operation (INTERSECT, EXCEPT, etc.), but the type of column `%.*s` is "
                            "\"%s\".",
                            STR_ARG(schema->fields[i].name),
                            type_text(binder->arena, schema->fields[i].type));
        }
    }
    return NULL;
}

Error *bound_distinct(Binder *binder, BoundNode *child, SourcePlace place, BoundNode **ret_node)
{
    TRY(check_no_maps(binder, child->schema, place));
    BoundNode *node = bound_node_new(binder, BOUND_AGGREGATE, child->schema, place);
    node->child = child;
    node->expression_count = child->schema->field_count;
    node->expressions = arena_new_array(binder->arena, BoundExpr *, node->expression_count);
    for (size_t i = 0; i < node->expression_count; i++) {
        node->expressions[i] =
            bound_column(binder->arena, &child->schema->fields[i], (uint32_t)i, place);
    }
    *ret_node = node;
    return NULL;
}

/* The branch's columns cast to the types. */
static Error *cast_branch(Binder *binder, Branch *branch, const Type *const *types)
{
    const Schema *schema = branch->node->schema;
    if (branch->casts == NULL) {
        branch->casts = arena_new_array(binder->arena, BoundExpr *, schema->field_count);
        for (size_t i = 0; i < schema->field_count; i++) {
            branch->casts[i] =
                bound_column(binder->arena, &schema->fields[i], (uint32_t)i, branch->node->place);
        }
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        TRY(bound_cast(binder, branch->casts[i], types[i], &branch->casts[i]));
    }
    return NULL;
}

/* The branch as a node of just these columns. */
static BoundNode *branch_node(Binder *binder, const Branch *branch, const Schema *schema)
{
    return branch->casts == NULL ? branch->node
                                 : bound_project(binder->arena, branch->node, branch->casts, schema,
                                                 branch->node->place);
}

/* ---------------------------------------------------------------- UNION --- */

static BoundNode *set_node(Binder *binder, SetOperation operation, BoundNode *left,
                           BoundNode *right, const Schema *schema, SourcePlace place)
{
    BoundNode *node = bound_node_new(binder, BOUND_SET, schema, place);
    node->set_operation = operation;
    node->all = operation == SET_UNION;
    node->child = left;
    node->right = right;
    return node;
}

/* Branches first … first + count - 1 as a tree log2(count) high. */
static BoundNode *balanced_union(const Union *run, const Schema *schema, size_t first, size_t count)
{
    if (count == 1) {
        return branch_node(run->binder, &run->branches[first], schema);
    }
    size_t half = count / 2;
    BoundNode *left = balanced_union(run, schema, first, half);
    BoundNode *right = balanced_union(run, schema, first + half, count - half);
    return set_node(run->binder, SET_UNION, left, right, schema, run->place);
}

static void start_run(Union *run, BoundNode *node)
{
    run->count = 0;
    run->distinct = false;
    run->width = node->schema->field_count;
    run->fields = arena_new_array(run->binder->arena, Field, run->width);
    for (size_t i = 0; i < run->width; i++) {
        run->fields[i] = node->schema->fields[i];
    }
    *arena_push(run->binder->arena, run->branches, run->count, run->capacity) =
        (Branch){.node = node};
}

/* All branches as one node. */
static Error *finish_run(Union *run, BoundNode **ret_node)
{
    const Schema *schema = schema_new(run->binder->arena, run->fields, run->width);
    BoundNode *node = balanced_union(run, schema, 0, run->count);
    if (run->distinct) {
        TRY(bound_distinct(run->binder, node, run->place, &node));
    }
    *ret_node = node;
    return NULL;
}

static Error *add_branch(Union *run, const AstSetStep *step, BoundNode *right)
{
    Binder *binder = run->binder;
    Widening widening;
    TRY(common_columns(binder, step, run->fields, run->width, right->schema, &widening));
    /* Casts come after an earlier DISTINCT; rows that differ may become equal by them. */
    if (run->distinct && (step->all || widening.left_changes)) {
        BoundNode *left = NULL;
        TRY(finish_run(run, &left));
        start_run(run, left);
    }
    for (size_t i = 0; i < run->count && widening.left_changes; i++) {
        TRY(cast_branch(binder, &run->branches[i], widening.types));
    }
    Branch branch = {.node = right};
    if (widening.right_changes) {
        TRY(cast_branch(binder, &branch, widening.types));
    }
    Field *fields = arena_new_array(binder->arena, Field, run->width);
    for (size_t i = 0; i < run->width; i++) {
        fields[i] = run->fields[i];
        fields[i].type = widening.types[i];
        fields[i].not_null = fields[i].not_null && right->schema->fields[i].not_null;
    }
    run->fields = fields;
    run->place = step->operator_place;
    run->distinct = !step->all;
    *arena_push(binder->arena, run->branches, run->count, run->capacity) = branch;
    return NULL;
}

/* ---------------------------------------------------- INTERSECT, EXCEPT --- */

static Error *set_step(Union *run, const AstSetStep *step, BoundNode *right)
{
    Binder *binder = run->binder;
    bool intersect = step->operator_ == AST_SET_INTERSECT;
    Widening widening;
    BoundNode *left = NULL;
    TRY(finish_run(run, &left));
    TRY(common_columns(binder, step, run->fields, run->width, right->schema, &widening));
    Branch sides[2] = {{.node = left}, {.node = right}};
    Field *fields = arena_new_array(binder->arena, Field, run->width);
    for (size_t i = 0; i < run->width; i++) {
        fields[i] = run->fields[i];
        fields[i].type = widening.types[i];
        fields[i].not_null = fields[i].not_null || (intersect && right->schema->fields[i].not_null);
    }
    const Schema *schema = schema_new(binder->arena, fields, run->width);
    if (widening.left_changes) {
        TRY(cast_branch(binder, &sides[0], widening.types));
    }
    if (widening.right_changes) {
        TRY(cast_branch(binder, &sides[1], widening.types));
    }
    TRY(check_no_maps(binder, schema, step->operator_place));
    BoundNode *node = set_node(
        binder, intersect ? SET_INTERSECT : SET_EXCEPT, branch_node(binder, &sides[0], schema),
        branch_node(binder, &sides[1], schema), schema, step->operator_place);
    node->all = step->all;
    start_run(run, node);
    return NULL;
}

static Error *bind_steps(Binder *binder, const AstQueryTerm *term, BoundNode *const *terms,
                         BoundNode **ret_node)
{
    Union run = {.binder = binder, .place = term->place};
    start_run(&run, terms[0]);
    for (size_t i = 0; i < term->step_count; i++) {
        const AstSetStep *step = &term->steps[i];
        if (step->operator_ == AST_SET_UNION) {
            TRY(add_branch(&run, step, terms[i + 1]));
        } else {
            TRY(set_step(&run, step, terms[i + 1]));
        }
    }
    return finish_run(&run, ret_node);
}

/* The relations that columns of the first query came from, but for those that are cast. */
static OutputNames names_of_first(Binder *binder, const OutputNames *first, const Schema *schema)
{
    const ScopeQualifier **kept =
        arena_new_array(binder->arena, const ScopeQualifier *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        bool same = type_equal(first->schema->fields[i].type, schema->fields[i].type);
        kept[i] = same ? first->qualifiers[i] : NULL;
    }
    return (OutputNames){schema, kept, NULL};
}

BoundNode *bind_set(Binder *binder, const AstQueryTerm *term)
{
    assert(term->kind == AST_TERM_SET);
    BoundNode **terms = arena_new_array(binder->arena, BoundNode *, term->step_count + 1);
    terms[0] = bind_term(binder, term->first);
    bool ok = terms[0] != NULL;
    OutputNames first = binder->output;
    bool named = ok && first.schema == terms[0]->schema;
    for (size_t i = 1; i <= term->step_count; i++) {
        terms[i] = bind_term(binder, term->steps[i - 1].right);
        ok = ok && terms[i] != NULL;
    }
    BoundNode *node = NULL;
    if (!ok || !binder_report(binder, bind_steps(binder, term, terms, &node))) {
        return NULL;
    }
    binder->output =
        named ? names_of_first(binder, &first, node->schema) : (OutputNames){NULL, NULL, NULL};
    return node;
}
