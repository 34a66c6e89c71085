/* A statement about a table that exists: its rows were stored under the definition before, and must
 * stay what they are.
 *
 *     keys, sequence column     other ones: FULL_REFRESH_REQUIRED                          RU-55
 *     column of another type    a wider one, else SCHEMA_MISMATCH                          RW-50
 *     … of a key or sequence    and values that differ must still differ
 *     column no longer given    stays, NULL in new rows                                    RW-50
 *     new column                NULL in the rows there are, so not NOT NULL                RW-44
 *
 *     stored (k, a, b)   query gives (c, a, k)   the table has (k, a, b, c), b is NULL in new rows
 *
 * A column keeps the spelling and the place it has; where the statement lists columns, the list
 * rules the order, and what it leaves out comes last. A table that is rebuilt by a full refresh has
 * no definition before. */
#include "processor/bind/binder.h"
#include "processor/data/type_widening.h"

#include "processor/base/banned.h"

static Error *with_ways_out(Error *error, const FlowTarget *target)
{
    return error_set_hint(error,
                          "restore the old definition, or build the table anew by a full refresh: "
                          "tidemark refresh T.yaml %.*s --full",
                          STR_ARG(target->table_name));
}

static Error *full_refresh_required(const FlowTarget *target, SourcePlace place, const char *what)
{
    return with_ways_out(error_at(ERROR_FULL_REFRESH_REQUIRED, place,
                                  "The %s of the table `%.*s` changed. Its rows were stored under "
                                  "the one before.",
                                  what, STR_ARG(target->table_name)),
                         target);
}

/* ------------------------------------------------------- keys, sequence --- */

static bool same_keys(const Relation *existing, const AstIdentifierList *keys)
{
    if (existing->key_count != keys->item_count) {
        return false;
    }
    for (size_t i = 0; i < keys->item_count; i++) {
        if (!str_equal_ignore_case(existing->keys[i], keys->items[i].name)) {
            return false;
        }
    }
    return true;
}

bool check_keys_kept(Binder *binder, const AstFlow *flow, const FlowTarget *target)
{
    const Relation *existing = target->existing;
    if (existing == NULL || existing->keys == NULL) {
        return true;
    }
    bool ok = true;
    if (!same_keys(existing, &flow->using)) {
        ok = binder_report(binder, full_refresh_required(target, flow->using.items[0].place,
                                                         "REPLACE USING keys"));
    }
    if (!str_equal_ignore_case(existing->sequence, flow->sequence_by.name)) {
        ok = binder_report(
            binder, full_refresh_required(target, flow->sequence_by.place, "SEQUENCE BY column"));
    }
    return ok;
}

/* Rows are found by their key and ordered by their sequence: two that differ must not become one.
 * Values inside of values have no form that stays the same. */
static Error *check_compared(Binder *binder, const FlowTarget *target, const AstIdentifier *name,
                             const char *what)
{
    const Schema *stored = target->existing->schema;
    int old = schema_find(stored, name->name);
    int now = schema_find(target->columns, name->name);
    if (old < 0 || now < 0) {
        return NULL;
    }
    const Type *from = stored->fields[old].type;
    const Type *to = target->columns->fields[now].type;
    if (type_equal(from, to) || (type_child_count(from) == 0 && type_widening_is_exact(from, to))) {
        return NULL;
    }
    return with_ways_out(error_at(ERROR_FULL_REFRESH_REQUIRED, name->place,
                                  "The type of the %s `%.*s` of the table `%.*s` changed from %s "
                                  "to %s, as which values that differ could be equal.",
                                  what, STR_ARG(name->name), STR_ARG(target->table_name),
                                  type_text(binder->arena, from), type_text(binder->arena, to)),
                         target);
}

bool check_key_types_kept(Binder *binder, const AstFlow *flow, const FlowTarget *target)
{
    const Relation *existing = target->existing;
    if (existing == NULL || existing->keys == NULL || existing->schema == NULL) {
        return true;
    }
    bool ok = true;
    for (size_t i = 0; i < flow->using.item_count; i++) {
        ok = binder_report(binder,
                           check_compared(binder, target, &flow->using.items[i], "key column")) &&
             ok;
    }
    return binder_report(binder,
                         check_compared(binder, target, &flow->sequence_by, "sequence column")) &&
           ok;
}

/* -------------------------------------------------------------- columns --- */

static Error *type_changed(Binder *binder, const FlowTarget *target, const Field *old,
                           const Field *now, SourcePlace place)
{
    Error *error =
        error_at(ERROR_SCHEMA_MISMATCH, place,
                 "The column `%.*s` of the table `%.*s` is %s and cannot become %s: its "
                 "values do not all fit.",
                 STR_ARG(old->name), STR_ARG(target->table_name),
                 type_text(binder->arena, old->type), type_text(binder->arena, now->type));
    return error_set_hint(error,
                          "cast it to %s in the query, give it another name, or build the "
                          "table anew by a full refresh",
                          type_text(binder->arena, old->type));
}

static Error *null_in_stored_rows(const FlowTarget *target, const Field *now, SourcePlace place)
{
    return error_set_hint(error_at(ERROR_FULL_REFRESH_REQUIRED, place,
                                   "The column `%.*s` of the table `%.*s` is NOT NULL now, and may "
                                   "be NULL in the rows there are.",
                                   STR_ARG(now->name), STR_ARG(target->table_name)),
                          "leave NOT NULL out, or build the table anew by a full refresh");
}

/* The column as it is from now on; `old` NULL: there was none. */
static Error *merge_column(Binder *binder, const FlowTarget *target, const Field *old,
                           const Field *now, SourcePlace place, Field *ret_field)
{
    *ret_field = *now;
    if (now->not_null && (old == NULL || !old->not_null)) {
        return null_in_stored_rows(target, now, place);
    }
    if (old == NULL) {
        return NULL;
    }
    ret_field->name = old->name;
    return type_widens_to(old->type, now->type) ? NULL
                                                : type_changed(binder, target, old, now, place);
}

/* One that the definition gives no more. */
static Field kept_column(const Field *old)
{
    return (Field){old->name, old->type, false, old->comment};
}

typedef struct Merge {
    Binder *binder;
    const AstQuery *query;
    const BoundNode *node;
    const FlowTarget *target;
    const Schema *stored;
    const Schema *now;
    Field *fields;
    size_t count;
    bool ok;
} Merge;

static void add_new_column(Merge *merge, size_t index)
{
    const Field *now = &merge->now->fields[index];
    int old = schema_find(merge->stored, now->name);
    int output = schema_find(merge->node->schema, now->name);
    SourcePlace place = output < 0 ? merge->query->place
                                   : flow_output_place(merge->query, merge->node, (size_t)output);
    const Field *before = old < 0 ? NULL : &merge->stored->fields[old];
    merge->ok = binder_report(merge->binder, merge_column(merge->binder, merge->target, before, now,
                                                          place, &merge->fields[merge->count++])) &&
                merge->ok;
}

/* The columns of a list, then those it leaves out. */
static void merge_listed(Merge *merge)
{
    for (size_t i = 0; i < merge->now->field_count; i++) {
        add_new_column(merge, i);
    }
    for (size_t i = 0; i < merge->stored->field_count; i++) {
        if (schema_find(merge->now, merge->stored->fields[i].name) < 0) {
            merge->fields[merge->count++] = kept_column(&merge->stored->fields[i]);
        }
    }
}

/* The columns there are, in their places, then what the query adds. */
static void merge_in_place(Merge *merge)
{
    for (size_t i = 0; i < merge->stored->field_count; i++) {
        int now = schema_find(merge->now, merge->stored->fields[i].name);
        if (now >= 0) {
            add_new_column(merge, (size_t)now);
        } else {
            merge->fields[merge->count++] = kept_column(&merge->stored->fields[i]);
        }
    }
    for (size_t i = 0; i < merge->now->field_count; i++) {
        if (schema_find(merge->stored, merge->now->fields[i].name) < 0) {
            add_new_column(merge, i);
        }
    }
}

const Schema *merge_stored_columns(Binder *binder, const AstQuery *query, const BoundNode *node,
                                   const FlowTarget *target, bool listed)
{
    const Relation *existing = target->existing;
    if (existing == NULL || existing->kind != RELATION_TARGET || existing->schema == NULL) {
        return target->columns;
    }
    Merge merge = {.binder = binder,
                   .query = query,
                   .node = node,
                   .target = target,
                   .stored = existing->schema,
                   .now = target->columns,
                   .ok = true};
    merge.fields =
        arena_new_array(binder->arena, Field, merge.stored->field_count + merge.now->field_count);
    if (listed) {
        merge_listed(&merge);
    } else {
        merge_in_place(&merge);
    }
    return merge.ok ? schema_new(binder->arena, merge.fields, merge.count) : NULL;
}
