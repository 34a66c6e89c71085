/* REPLACE WHERE flows (RW-1 … RW-60): a batch query fitted to its target, and the predicate.
 *
 * The predicate is about the target's columns (RW-8): a bare name is a column of the query's
 * output, whatever its sources have; `f.day` means the output column whose expression is exactly
 * `f.day`. So the predicate's scope shows the output's columns, and hides others behind their
 * qualifiers:
 *
 *     SELECT f.day, d.zone AS region FROM trips f JOIN cars d …
 *     day, region          and, with the qualifier only: f.day -> day, d.zone -> region
 */
#include "processor/bind/view.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------ qualifiers --- */

typedef struct Names {
    Binder *binder;
    const Schema *output;
    ScopeColumn *columns;
    size_t count;
    size_t capacity;
} Names;

/* `qualifier.name` means output column `column`. */
static void add_name(Names *names, const AstIdentifier *parts, size_t qualifier_count, Str name,
                     size_t column)
{
    Arena *arena = names->binder->arena;
    ScopeQualifier *qualifier = arena_new_object(arena, ScopeQualifier);
    Field *field = arena_new_object(arena, Field);
    if (qualifier_count > ARRAY_LENGTH(qualifier->parts)) {
        return;
    }
    qualifier->part_count = qualifier_count;
    for (size_t i = 0; i < qualifier_count; i++) {
        qualifier->parts[i] = parts[i].name;
    }
    *field = names->output->fields[column];
    field->name = name;
    *arena_push(arena, names->columns, names->count, names->capacity) =
        (ScopeColumn){field, qualifier, (uint32_t)column, true};
}

/* What a relation is called: its alias, or the parts of its name. */
static void relation_qualifier(const AstRelation *relation, const AstIdentifier **ret_parts,
                               size_t *ret_count)
{
    bool alias = relation->alias.name.name.data != NULL;
    *ret_parts = alias ? &relation->alias.name : relation->name.parts;
    *ret_count = alias ? 1 : relation->kind == AST_RELATION_NAME ? relation->name.part_count : 0;
}

/* Does `*` or `a.*` show the relation's columns? */
static bool star_shows(const AstSelectItem *item, const AstIdentifier *parts, size_t count)
{
    const AstName *asked = &item->qualifier;
    if (asked->part_count == 0) {
        return true;
    }
    return count > 0 &&
           str_equal_ignore_case(asked->parts[asked->part_count - 1].name, parts[count - 1].name);
}

static bool is_left_out(const AstSelectItem *item, Str column)
{
    for (size_t i = 0; i < item->except_count; i++) {
        const AstName *name = &item->except[i];
        if (str_equal_ignore_case(name->parts[name->part_count - 1].name, column)) {
            return true;
        }
    }
    return false;
}

/* A star shows a relation's columns under their own names. A name the output has twice is an error
 * anyhow, so an output column of that name is the relation's. */
static void add_relation_names(Names *names, const AstSelectItem *item, const AstRelation *relation)
{
    const AstIdentifier *parts = NULL;
    size_t count = 0;
    const Schema *schema = NULL;
    relation_qualifier(relation, &parts, &count);
    if (count == 0 || relation->kind != AST_RELATION_NAME || !star_shows(item, parts, count) ||
        find_common_table(names->binder, &relation->name) != NULL) {
        return;
    }
    AUTO(error) Error *error = binder_find_columns(names->binder, &relation->name, &schema);
    for (size_t i = 0; error == NULL && schema != NULL && i < schema->field_count; i++) {
        int column = schema_find(names->output, schema->fields[i].name);
        if (column >= 0 && !is_left_out(item, schema->fields[i].name)) {
            add_name(names, parts, count, schema->fields[i].name, (size_t)column);
        }
    }
}

static void add_star_names(Names *names, const AstSelect *select, const AstSelectItem *item)
{
    for (size_t i = 0; i < select->from_count; i++) {
        const AstFromItem *from = &select->from[i];
        add_relation_names(names, item, from->first);
        for (size_t k = 0; k < from->join_count; k++) {
            add_relation_names(names, item, from->joins[k].relation);
        }
    }
}

/* The name under which an item that is a column stands in the output. */
static Str output_name_of(const AstSelectItem *item)
{
    const AstName *name = &item->expr->column.name;
    return item->alias_count > 0 ? item->aliases[0].name : name->parts[name->part_count - 1].name;
}

static void add_item_name(Names *names, const AstSelectItem *item)
{
    if (item->expr->kind != AST_EXPR_COLUMN || item->expr->column.name.part_count < 2) {
        return;
    }
    const AstName *name = &item->expr->column.name;
    int column = schema_find(names->output, output_name_of(item));
    if (column >= 0) {
        add_name(names, name->parts, name->part_count - 1, name->parts[name->part_count - 1].name,
                 (size_t)column);
    }
}

/* The SELECT whose items are the output, or NULL: of a set operation only bare names are left. */
static const AstSelect *output_select(const AstQuery *query)
{
    const AstQueryTerm *term = query->body;
    while (term->kind == AST_TERM_QUERY) {
        term = term->query->body;
    }
    return term->kind == AST_TERM_SELECT ? term->select : NULL;
}

static Scope predicate_scope(Binder *binder, const AstQuery *query, const Schema *output)
{
    Names names = {.binder = binder, .output = output};
    const AstSelect *select = output_select(query);
    for (size_t i = 0; select != NULL && i < select->item_count; i++) {
        const AstSelectItem *item = &select->items[i];
        if (item->star) {
            add_star_names(&names, select, item);
        } else {
            add_item_name(&names, item);
        }
    }
    for (size_t i = 0; i < output->field_count; i++) {
        *arena_push(binder->arena, names.columns, names.count, names.capacity) =
            (ScopeColumn){&output->fields[i], NULL, (uint32_t)i, false};
    }
    return (Scope){.columns = names.columns, .column_count = names.count};
}

/* ------------------------------------------------------------- predicate --- */

/* RW-53 */
static Error *check_predicate_parts(Binder *binder, const AstExpr *predicate)
{
    ExprTraits traits;
    expr_traits(binder->context->functions, predicate, &traits);
    const struct {
        const AstExpr *part;
        const char *what;
    } refused[] = {
        {traits.subquery, "a subquery"},        {traits.aggregate, "an aggregate function"},
        {traits.analytic, "a window function"}, {traits.generator, "a generator"},
        {traits.time_window, "a time window"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        if (refused[i].part != NULL) {
            Error *error =
                error_at(ERROR_INVALID_PREDICATE, refused[i].part->place,
                         "The predicate of a REPLACE WHERE flow holds %s.", refused[i].what);
            return error_set_hint(error, "give it a name in the query, and use that column in the "
                                         "predicate");
        }
    }
    return NULL;
}

static Error *bind_predicate(Binder *binder, const AstFlow *flow, const Schema *output)
{
    BoundExpr *bound = NULL;
    TRY(check_predicate_parts(binder, flow->where));
    Scope scope = predicate_scope(binder, flow->query, output);
    Error *error = bind_condition(binder, &scope, flow->where, &bound);
    bool unknown = error != NULL && error_class(error) == ERROR_UNRESOLVED_COLUMN;
    return unknown && error_hint(error) == NULL
               ? error_set_hint(error, "the predicate is about the table's columns: let the query "
                                       "give that column")
               : error;
}

bool bind_replace_where(Binder *binder, const AstFlow *flow, FlowTarget *target)
{
    binder->batch_reader = "A REPLACE WHERE flow"; /* RW-54 */
    BoundNode *node = bind_query_node(binder, flow->query);
    const Schema *output = NULL;
    bool ok = node != NULL && fit_by_name(binder, flow->query, node, target, &output) != NULL;
    if (output == NULL) {
        (void)binder_report(binder, check_predicate_parts(binder, flow->where));
        return false;
    }
    return binder_report(binder, bind_predicate(binder, flow, output)) && ok;
}
