/* WITH: names for queries. A later name sees the earlier ones, an inner name hides an outer one.
 * Each query is bound once and its tree shared by all references, so a chain of names that each
 * mention the one before twice stands for exponentially many nodes: their number is counted
 * (binder_grow), and too many are refused. */
#include "processor/bind/bind_query_internal.h"

#include "processor/base/banned.h"

enum { QUERY_COLUMNS_MAX = 500000 };

Error *binder_grow(Binder *binder, size_t columns, SourcePlace place)
{
    if (columns >= QUERY_COLUMNS_MAX || binder->weight >= QUERY_COLUMNS_MAX - columns) {
        return error_set_hint(error_at(ERROR_STATEMENT_TOO_COMPLEX, place,
                                       "The relations of the statement have more than %d columns "
                                       "together, names of WITH counted as often as they are "
                                       "used.",
                                       QUERY_COLUMNS_MAX),
                              "use fewer relations, or select fewer of their columns");
    }
    binder->weight += columns + 1;
    return NULL;
}

const CommonTable *find_common_table(const Binder *binder, const AstName *name)
{
    if (name->part_count != 1) {
        return NULL;
    }
    for (const CommonTable *at = binder->common_tables; at != NULL; at = at->next) {
        if (str_equal_ignore_case(at->name, name->parts[0].name)) {
            return at;
        }
    }
    return NULL;
}

Error *bind_common_table(Binder *binder, const CommonTable *table, const AstRelation *ast,
                         FromResult *result)
{
    if (table->outer != NULL && table->outer != binder->outer) {
        return not_yet(ast->place,
                       "A reference to `%.*s`, which names columns of a query around it, from a "
                       "subquery further in",
                       STR_ARG(table->name));
    }
    TRY(binder_grow(binder, table->weight, ast->place));
    binder->output = table->names;
    result->scope = scope_of_output(binder, table->schema, &(ScopeQualifier){{table->name}, 1});
    result->node = table->node;
    return NULL;
}

/* name(a, b): other names for the columns. */
static Error *rename_common_table(Binder *binder, const AstCommonTable *ast, CommonTable *table)
{
    const Schema *schema = table->node->schema;
    size_t named = ast->columns.item_count;
    table->schema = schema;
    if (named == 0) {
        return NULL;
    }
    if (named != schema->field_count) {
        return error_at(ERROR_ASSIGNMENT_ARITY_MISMATCH, ast->name.place,
                        "The number of columns or variables assigned or aliased: %zu does not "
                        "match the number of source expressions: %zu.",
                        named, schema->field_count);
    }
    Field *fields = arena_new_array(binder->arena, Field, named);
    for (size_t i = 0; i < named; i++) {
        fields[i] = schema->fields[i];
        fields[i].name = ast->columns.items[i].name;
    }
    table->schema = schema_new(binder->arena, fields, named);
    return NULL;
}

static Error *check_repeated_name(const AstQuery *query, size_t index)
{
    const AstIdentifier *name = &query->common_tables[index].name;
    for (size_t i = 0; i < index; i++) {
        if (str_equal_ignore_case(query->common_tables[i].name.name, name->name)) {
            return error_at(ERROR_DUPLICATED_CTE_NAMES, name->place,
                            "CTE definition can't have duplicate names: `%.*s`.",
                            STR_ARG(name->name));
        }
    }
    return NULL;
}

/* The query counts where it is used, not where it stands. */
static bool bind_one(Binder *binder, const AstQuery *query, size_t index)
{
    const AstCommonTable *ast = &query->common_tables[index];
    if (!binder_report(binder, check_repeated_name(query, index))) {
        return false;
    }
    size_t weight = binder->weight;
    size_t names_before = binder->outer == NULL ? 0 : binder->outer->name_count;
    CommonTable *table = arena_new_object(binder->arena, CommonTable);
    *table = (CommonTable){.name = ast->name.name, .next = binder->common_tables};
    table->node = bind_query_node(binder, ast->query);
    table->names = binder->output;
    table->weight = binder->weight - weight;
    binder->weight = weight;
    if (binder->outer != NULL && binder->outer->name_count > names_before) {
        table->outer = binder->outer;
    }
    if (table->node == NULL || !binder_report(binder, rename_common_table(binder, ast, table))) {
        return false;
    }
    binder->common_tables = table;
    return true;
}

bool bind_common_tables(Binder *binder, const AstQuery *query)
{
    for (size_t i = 0; i < query->common_table_count; i++) {
        if (!bind_one(binder, query, i)) {
            return false;
        }
    }
    return true;
}
