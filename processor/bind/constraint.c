/* See constraint.h. A constraint stands behind its column or beside the columns. */
#include "processor/bind/constraint.h"

#include "processor/bind/coerce.h"
#include "processor/bind/view.h"

#include "processor/base/banned.h"

typedef struct Check {
    Binder *binder;
    const AstCreateStreamingTable *create;
    const Schema *schema; /* of check_constraint_columns */
    bool hive_metastore;
    size_t primary_keys;
    Str *names; /* of constraints so far */
    size_t name_count;
    size_t name_capacity;
} Check;

/* `column`: behind which it stands, or NULL. */
typedef void Visit(Check *check, const AstConstraint *constraint, const AstIdentifier *column);

/* In the order in which they are written: first those of columns, then the table's. */
static void visit_constraints(Check *check, Visit *visit)
{
    const AstCreateStreamingTable *create = check->create;
    for (size_t i = 0; i < create->column_count; i++) {
        const AstColumnDefinition *column = &create->columns[i];
        for (size_t k = 0; k < column->property_count; k++) {
            if (column->properties[k].kind == AST_COLUMN_CONSTRAINT) {
                visit(check, column->properties[k].constraint, &column->name);
            }
        }
    }
    for (size_t i = 0; i < create->constraint_count; i++) {
        visit(check, &create->constraints[i], NULL);
    }
}

static const char *constraint_name(const AstConstraint *constraint)
{
    return constraint->kind == AST_CONSTRAINT_PRIMARY_KEY ? "PRIMARY KEY" : "FOREIGN KEY";
}

/* ------------------------------------------------------- without columns --- */

static Error *check_one(Check *check, const AstConstraint *constraint)
{
    if (check->hive_metastore) { /* ST-14, ST-15 */
        return error_at(ERROR_UNSUPPORTED_CONSTRAINT, constraint->place,
                        "A table in the catalog hive_metastore cannot have a %s.",
                        constraint_name(constraint));
    }
    if (constraint->kind == AST_CONSTRAINT_PRIMARY_KEY && ++check->primary_keys > 1) { /* ST-15 */
        return error_at(ERROR_UNSUPPORTED_CONSTRAINT, constraint->place,
                        "A table has at most one PRIMARY KEY.");
    }
    if (constraint->rely && constraint->norely) {
        return error_at(ERROR_CLAUSE_CONFLICT, constraint->place,
                        "RELY and NORELY exclude each other.");
    }
    return not_yet(constraint->place, "%s", constraint_name(constraint));
}

static Error *check_name(Check *check, const AstConstraint *constraint)
{
    Str name = constraint->name.name;
    if (name.data == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < check->name_count; i++) {
        if (str_equal_ignore_case(check->names[i], name)) {
            return error_at(ERROR_CONSTRAINT_ALREADY_EXISTS, constraint->name.place,
                            "The constraint `%.*s` already exists. Please delete the existing "
                            "constraint or choose another name.",
                            STR_ARG(name));
        }
    }
    *arena_push(check->binder->arena, check->names, check->name_count, check->name_capacity) = name;
    return NULL;
}

static void report_one(Check *check, const AstConstraint *constraint, const AstIdentifier *column)
{
    (void)column;
    binder_report(check->binder, check_name(check, constraint));
    binder_report(check->binder, check_one(check, constraint));
}

void check_constraints(Binder *binder, const AstCreateStreamingTable *create)
{
    Str parts[3];
    Str full[3];
    size_t count = ast_name_parts(&create->name, parts, ARRAY_LENGTH(parts));
    Check check = {.binder = binder, .create = create};
    if (count > 0) {
        catalog_qualify(binder->context->catalog, parts, count, full);
        check.hive_metastore = str_equal_ignore_case(full[0], STR("hive_metastore"));
    }
    visit_constraints(&check, report_one);
}

/* --------------------------------------------------------------- columns --- */

static Error *find_key_column(const Schema *schema, const AstIdentifierList *columns, size_t index,
                              const Type **ret_type)
{
    const AstIdentifier *name = &columns->items[index];
    int column = schema_find(schema, name->name);
    if (column < 0) {
        return schema_unresolved(schema, name);
    }
    for (size_t i = 0; i < index; i++) {
        if (str_equal_ignore_case(columns->items[i].name, name->name)) {
            return error_at(ERROR_DUPLICATE_KEY_COLUMN, name->place,
                            "The key column `%.*s` is given twice.", STR_ARG(name->name));
        }
    }
    *ret_type = schema->fields[column].type;
    return NULL;
}

/* The types of the columns of a key; false when a mistake was reported. */
static bool key_types(Check *check, const Schema *schema, const AstIdentifierList *columns,
                      const Type **types)
{
    bool ok = true;
    for (size_t i = 0; i < columns->item_count; i++) {
        ok = binder_report(check->binder, find_key_column(schema, columns, i, &types[i])) && ok;
    }
    return ok;
}

static Error *check_reference(Check *check, const AstConstraint *constraint,
                              const AstIdentifierList *columns, const Type *const *types,
                              const Schema *referenced)
{
    const AstIdentifierList *others = &constraint->referenced_columns;
    Arena *arena = check->binder->arena;
    if (others->item_count > 0 && others->item_count != columns->item_count) {
        return error_at(ERROR_UNSUPPORTED_CONSTRAINT, constraint->references.place,
                        "The FOREIGN KEY has %zu columns and refers to %zu.", columns->item_count,
                        others->item_count);
    }
    for (size_t i = 0; i < others->item_count; i++) {
        const Type *type = NULL;
        TRY(find_key_column(referenced, others, i, &type));
        if (coerce_common_type(arena, types[i], type) == NULL) {
            return error_at(ERROR_UNSUPPORTED_CONSTRAINT, others->items[i].place,
                            "The FOREIGN KEY column `%.*s` has the type \"%s\" and refers to "
                            "`%.*s` of the type \"%s\".",
                            STR_ARG(columns->items[i].name), type_text(arena, types[i]),
                            STR_ARG(others->items[i].name), type_text(arena, type));
        }
    }
    return NULL;
}

/* Keys are only told of, so tables may refer to each other in a circle, and to themselves: then the
 * columns of the other are not looked at. */
static Error *find_referenced(Check *check, const AstConstraint *constraint,
                              const Schema **ret_schema)
{
    Error *error = binder_find_columns(check->binder, &constraint->references, ret_schema);
    if (error != NULL && error_class(error) == ERROR_PIPELINE_CYCLE) {
        error_free(error);
        return NULL;
    }
    return error;
}

static void check_columns(Check *check, const AstConstraint *constraint,
                          const AstIdentifier *column)
{
    AstIdentifier own = column == NULL ? (AstIdentifier){0} : *column;
    AstIdentifierList single = {&own, 1};
    const AstIdentifierList *columns = column == NULL ? &constraint->columns : &single;
    const Type **types = arena_new_array(check->binder->arena, const Type *, columns->item_count);
    bool known = key_types(check, check->schema, columns, types);
    if (constraint->kind != AST_CONSTRAINT_FOREIGN_KEY || check->hive_metastore) {
        return;
    }
    const Schema *referenced = NULL;
    if (binder_report(check->binder, find_referenced(check, constraint, &referenced)) && known &&
        referenced != NULL) {
        binder_report(check->binder,
                      check_reference(check, constraint, columns, types, referenced));
    }
}

void check_constraint_columns(Binder *binder, const AstCreateStreamingTable *create,
                              const Schema *schema)
{
    Check check = {.binder = binder, .create = create, .schema = schema};
    visit_constraints(&check, check_columns);
}
