/* REFRESH, ALTER STREAMING TABLE, DROP TABLE: may the statement be said of that table? */
#include "processor/bind/schedule.h"
#include "processor/bind/statement.h"
#include "processor/bind/view.h"

#include "processor/base/banned.h"

Error *find_target(Binder *binder, const AstName *name, const char *what,
                   const Relation **ret_target)
{
    const View *view = binder_find_view(binder, name);
    const Relation *relation = NULL;
    if (view == NULL) {
        TRY(binder_find_relation(binder, name, &relation));
    }
    if (relation == NULL || relation->kind != RELATION_TARGET) {
        return error_set_hint(error_at(ERROR_TABLE_OPERATION, name->place,
                                       "The feature is not supported: `%.*s` is %s, and %s works "
                                       "on streaming tables only.",
                                       STR_ARG(name->text), view != NULL ? "a view" : "a source",
                                       what),
                              "name a table made by CREATE STREAMING TABLE");
    }
    *ret_target = relation;
    return NULL;
}

/* --------------------------------------------------------------- REFRESH --- */

void bind_refresh(Binder *binder, const AstRefresh *refresh)
{
    const Relation *target = NULL;
    if (!binder_report(binder, find_target(binder, &refresh->name, "REFRESH", &target))) {
        return;
    }
    if (target->owner.data != NULL && !str_equal(target->owner, binder->context->owner)) {
        binder_report(binder,
                      error_set_hint(error_at(ERROR_PERMISSION_DENIED, refresh->name.place,
                                              "Only its owner may refresh the table `%.*s`.",
                                              STR_ARG(refresh->name.text)),
                                     "its owner is %.*s", STR_ARG(target->owner))); /* SE-1 */
    }
    if (refresh->mode == AST_REFRESH_FULL && target->reset_forbidden) { /* ST-30, RW-22 */
        binder_report(
            binder,
            error_set_hint(error_at(ERROR_RESET_NOT_ALLOWED, refresh->name.place,
                                    "The table `%.*s` forbids a full refresh by its property "
                                    "pipelines.reset.allowed = 'false'.",
                                    STR_ARG(refresh->name.text)),
                           "REFRESH without FULL works; ALTER STREAMING TABLE … SET TBLPROPERTIES "
                           "changes the property"));
    }
}

/* ----------------------------------------------------------------- ALTER --- */

/* ST-42 */
static Error *check_schedule_state(const AstAlter *alter, const Relation *target)
{
    bool adds = alter->kind == AST_ALTER_ADD_SCHEDULE;
    if (adds && target->schedule == SCHEDULE_SET) {
        return error_set_hint(error_at(ERROR_SCHEDULE_EXISTS, alter->action_place,
                                       "The table `%.*s` has a schedule or trigger already.",
                                       STR_ARG(alter->name.text)),
                              "ALTER SCHEDULE changes it");
    }
    if (!adds && target->schedule == SCHEDULE_NONE) {
        return error_set_hint(error_at(ERROR_SCHEDULE_NOT_FOUND, alter->action_place,
                                       "The table `%.*s` has no schedule and no trigger.",
                                       STR_ARG(alter->name.text)),
                              "ADD SCHEDULE gives it one");
    }
    return NULL;
}

/* ST-64, ST-68 */
static Error *refuse_action(const AstAlter *alter)
{
    Error *error = error_at(ERROR_UNSUPPORTED_ALTER, alter->action_place,
                            "ALTER STREAMING TABLE cannot do this. CREATE OR REFRESH changes "
                            "filters and masks; a table is not renamed and keeps its owner.");
    if (alter->kind == AST_ALTER_RENAME || alter->kind == AST_ALTER_OWNER) {
        return error_set_hint(error, "create another table");
    }
    bool filter =
        alter->kind == AST_ALTER_SET_ROW_FILTER || alter->kind == AST_ALTER_DROP_ROW_FILTER;
    return error_set_hint(error,
                          "write the whole CREATE OR REFRESH STREAMING TABLE, with the %s "
                          "or without it",
                          filter ? "ROW FILTER" : "MASK");
}

void bind_alter(Binder *binder, const AstAlter *alter)
{
    const Relation *target = NULL;
    bool found =
        binder_report(binder, find_target(binder, &alter->name, "ALTER STREAMING TABLE", &target));
    switch (alter->kind) {
    case AST_ALTER_ADD_SCHEDULE:
    case AST_ALTER_ALTER_SCHEDULE:
        bind_schedule(binder, alter->schedule);
        if (alter->schedule->kind == AST_SCHEDULE_TRIGGER) {
            binder_report(binder, check_trigger_count(binder->context->trigger_tables,
                                                      alter->schedule->place));
        }
        binder_report(binder, found ? check_schedule_state(alter, target) : NULL);
        return;
    case AST_ALTER_DROP_SCHEDULE:
        binder_report(binder, found ? check_schedule_state(alter, target) : NULL);
        return;
    case AST_ALTER_SET_PROPERTIES:
        check_properties(binder, alter->properties, alter->property_count);
        if (found && target->key_count > 0) {
            check_append_only(binder, alter->properties, alter->property_count);
        }
        return;
    case AST_ALTER_SET_ROW_FILTER:
    case AST_ALTER_DROP_ROW_FILTER:
    case AST_ALTER_SET_MASK:
    case AST_ALTER_DROP_MASK:
    case AST_ALTER_RENAME:
    case AST_ALTER_OWNER:
        binder_report(binder, refuse_action(alter));
        return;
    }
}

/* ------------------------------------------------------------------ DROP --- */

void bind_drop_table(Binder *binder, const AstDrop *drop)
{
    const Relation *target = NULL;
    Error *error = find_target(binder, &drop->name, "DROP TABLE", &target);
    bool absent = error != NULL && error_class(error) == ERROR_TABLE_OR_VIEW_NOT_FOUND;
    if (absent && drop->if_exists) {
        error_free(error);
        return;
    }
    if (error != NULL && binder_find_view(binder, &drop->name) != NULL) {
        error_set_hint(error, "DROP VIEW drops a view");
    }
    binder_report(binder, error);
}
