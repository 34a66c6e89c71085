/* MERGE INTO target USING source ON …: conditions and values of a WHEN MATCHED branch see both
 * sides, those of WHEN NOT MATCHED the source alone. */
#include "processor/bind/dml.h"

#include "processor/base/banned.h"

typedef struct Merge {
    Binder *binder;
    const AstMerge *ast;
    const Relation *target;
    Scope targets;
    Scope sources;
    Scope both;
} Merge;

static Scope join_scopes(Arena *arena, const Scope *left, const Scope *right)
{
    size_t count = left->column_count + right->column_count;
    ScopeColumn *columns = arena_new_array(arena, ScopeColumn, count);
    for (size_t i = 0; i < count; i++) {
        columns[i] =
            i < left->column_count ? left->columns[i] : right->columns[i - left->column_count];
    }
    return (Scope){.columns = columns, .column_count = count};
}

/* The source's columns stand first. */
static bool bind_sides(Merge *merge)
{
    Binder *binder = merge->binder;
    FromResult source = {0};
    bool ok =
        binder_report(binder, find_target(binder, &merge->ast->target, "MERGE", &merge->target));
    if (!bind_relation(binder, merge->ast->source, &source) || !ok) {
        return false;
    }
    merge->sources = source.scope;
    uint32_t first = (uint32_t)source.node->schema->field_count;
    if (!binder_report(binder, target_scope(binder, &merge->ast->target, &merge->ast->alias,
                                            merge->target, first, &merge->targets))) {
        return false;
    }
    merge->both = join_scopes(binder->arena, &merge->sources, &merge->targets);
    return true;
}

static void bind_insert_branch(Merge *merge, const AstMergeBranch *branch)
{
    Binder *binder = merge->binder;
    const Schema *schema = merge->target->schema;
    bool known = check_insert_columns(binder, merge->target, &branch->columns, branch->place);
    bool counted =
        binder_report(binder, check_value_count(merge->target, branch->columns.item_count,
                                                branch->value_count, branch->place));
    for (size_t i = 0; i < branch->value_count; i++) {
        const Type *type = NULL;
        if (binder_report(binder,
                          bind_row_value(binder, &merge->sources, branch->values[i], &type)) &&
            known && counted) {
            int column = schema_find(schema, branch->columns.items[i].name);
            binder_report(binder, check_assignable(binder, merge->target, &schema->fields[column],
                                                   type, branch->values[i]->place));
        }
    }
}

static void bind_branch(Merge *merge, const AstMergeBranch *branch)
{
    Binder *binder = merge->binder;
    const Scope *scope = branch->action == AST_MERGE_INSERT ? &merge->sources : &merge->both;
    binder_report(binder, bind_row_condition(binder, scope, branch->condition));
    switch (branch->action) {
    case AST_MERGE_UPDATE:
        bind_assignments(binder, merge->target, &merge->targets, scope, branch->assignments,
                         branch->assignment_count);
        return;
    case AST_MERGE_DELETE:
        return;
    case AST_MERGE_INSERT:
        bind_insert_branch(merge, branch);
        return;
    }
}

void bind_merge(Binder *binder, const AstMerge *ast)
{
    Merge merge = {.binder = binder, .ast = ast};
    binder->batch_reader = "MERGE";
    if (!bind_sides(&merge)) {
        return;
    }
    binder_report(binder, check_not_append_only(merge.target, ast->target.place, "MERGE"));
    binder_report(binder, bind_row_condition(binder, &merge.both, ast->on));
    for (size_t i = 0; i < ast->branch_count; i++) {
        bind_branch(&merge, &ast->branches[i]);
    }
}
