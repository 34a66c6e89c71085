/* WATERMARK expr [AS name] DELAY OF interval behind a relation (SQ-28): a TIMESTAMP of each row,
 * and how late rows may come. With AS the relation has one more column, that timestamp. */
#include "processor/bind/bind_query_internal.h"
#include "processor/bind/schedule.h"

#include "processor/base/banned.h"

/* Positive and under a month, as in the dialect's reference. */
static Error *bind_delay(Binder *binder, const AstInterval *delay, int64_t *ret_us)
{
    const int64_t month = INT64_C(31) * 24 * 3600 * 1000000;
    bool months = false;
    TRY(interval_microseconds(binder, delay, &months, ret_us));
    return !months && *ret_us > 0 && *ret_us < month
               ? NULL
               : error_at(ERROR_INVALID_PARAMETER_VALUE, delay->place,
                          "The delay of a watermark is positive and under a month.");
}

static Error *bind_event_time(Binder *binder, const AstWatermark *watermark, const Scope *scope,
                              BoundExpr **ret)
{
    TRY(bind_expr(binder, scope, watermark->expr, ret));
    const Type *type = (*ret)->type;
    return type->kind == TYPE_TIMESTAMP || type->kind == TYPE_TIMESTAMP_NTZ
               ? NULL
               : error_at(ERROR_EVENT_TIME_TYPE, watermark->expr->place,
                          "The event time of a watermark has the type \"%s\" and must be a "
                          "TIMESTAMP.",
                          type_text(binder->arena, type));
}

/* The relation with one more column: the event time, by its alias or its text. */
static void add_column(Binder *binder, const AstWatermark *watermark, BoundExpr *time,
                       FromResult *result)
{
    const Schema *before = result->node->schema;
    Field *fields = arena_new_array(binder->arena, Field, before->field_count + 1);
    BoundExpr **values = arena_new_array(binder->arena, BoundExpr *, before->field_count + 1);
    uint32_t last = (uint32_t)before->field_count;
    for (uint32_t i = 0; i < last; i++) {
        fields[i] = before->fields[i];
        values[i] = bound_column(binder->arena, &before->fields[i], i, watermark->place);
    }
    bool named = watermark->alias.name.data != NULL;
    Str name = named ? watermark->alias.name : time->text;
    fields[last] = (Field){name, time->type, false, STR_NULL};
    values[last] = time;
    const Schema *schema = schema_new(binder->arena, fields, before->field_count + 1);
    const ScopeColumn *shown = result->scope.columns;
    ScopeColumn *columns =
        arena_new_array(binder->arena, ScopeColumn, result->scope.column_count + 1);
    for (size_t i = 0; i < result->scope.column_count; i++) {
        columns[i] = shown[i];
    }
    const ScopeQualifier *qualifier = result->scope.column_count == 0 ? NULL : shown[0].qualifier;
    columns[result->scope.column_count] =
        (ScopeColumn){&schema->fields[last], qualifier, last, false};
    result->scope = (Scope){.columns = columns, .column_count = result->scope.column_count + 1};
    result->node = bound_project(binder->arena, result->node, values, schema, watermark->place);
}

static BoundNode *over_relation(Binder *binder, BoundNode *child, uint32_t event_time,
                                int64_t delay_us, SourcePlace place)
{
    BoundNode *node = bound_node_new(binder, BOUND_WATERMARK, child->schema, place);
    node->child = child;
    node->event_time = event_time;
    node->delay_us = delay_us;
    return node;
}

bool bind_watermark(Binder *binder, const AstWatermark *watermark, FromResult *result)
{
    BoundExpr *time = NULL;
    int64_t delay_us = 0;
    bool ok = binder_report(binder, bind_delay(binder, watermark->delay, &delay_us));
    if (!binder_report(binder, bind_event_time(binder, watermark, &result->scope, &time)) || !ok) {
        return false;
    }
    uint32_t event_time = time->column;
    if (watermark->alias.name.data != NULL || time->kind != BOUND_COLUMN) {
        event_time = (uint32_t)result->node->schema->field_count;
        add_column(binder, watermark, time, result);
    }
    result->node = over_relation(binder, result->node, event_time, delay_us, watermark->place);
    return true;
}
