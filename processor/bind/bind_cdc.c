/* AUTO CDC flows (CD-1 … CD-9): the clauses over the columns of the source, and the table that
 * comes out: the selected columns, with type 2 also __START_AT and __END_AT of the sequence's type.
 */
#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

typedef struct Cdc {
    Binder *binder;
    const AstFlow *flow;
    const AstCdc *ast;
    FromResult source;
    const Schema *columns; /* of the source, as its alias names them */
    bool *selected;        /* one a column */
    const Type *sequence;  /* NULL: a mistake */
} Cdc;

static Error *invalid_spec(SourcePlace place, const char *what)
{
    return error_at(ERROR_INVALID_CDC_SPEC, place, "%s", what);
}

/* ---------------------------------------------------------------- source --- */

static const Schema *scope_schema(Arena *arena, const Scope *scope)
{
    Field *fields = arena_new_array(arena, Field, scope->column_count);
    size_t count = 0;
    for (size_t i = 0; i < scope->column_count; i++) {
        if (!scope->columns[i].hidden) {
            fields[count++] = *scope->columns[i].field;
        }
    }
    return schema_new(arena, fields, count);
}

static bool bind_source(Cdc *cdc)
{
    if (!bind_relation(cdc->binder, cdc->ast->source, &cdc->source)) {
        return false;
    }
    cdc->columns = scope_schema(cdc->binder->arena, &cdc->source.scope);
    cdc->selected = arena_new_array(cdc->binder->arena, bool, cdc->columns->field_count);
    return true;
}

/* ----------------------------------------------------------- column lists --- */

/* The columns of the list, each of the source and none twice. False when a mistake was reported. */
static bool mark_columns(Cdc *cdc, const AstIdentifierList *list, bool *marks)
{
    bool ok = true;
    for (size_t i = 0; i < list->item_count; i++) {
        const AstIdentifier *name = &list->items[i];
        int column = schema_find(cdc->columns, name->name);
        if (column < 0) {
            ok = binder_report(cdc->binder, schema_unresolved(cdc->columns, name));
        } else if (marks[column]) {
            ok = binder_report(cdc->binder,
                               error_at(ERROR_COLUMN_ALREADY_EXISTS, name->place,
                                        "The column `%.*s` is given twice.", STR_ARG(name->name)));
        } else {
            marks[column] = true;
        }
    }
    return ok;
}

/* COLUMNS …: a list, or all but a list (CD-6). */
static void select_columns(Cdc *cdc)
{
    const AstColumnSelection *selection = &cdc->ast->columns;
    bool listed = selection->given && !selection->except;
    size_t count = cdc->columns->field_count;
    bool *marks = arena_new_array(cdc->binder->arena, bool, count);
    (void)mark_columns(cdc, &selection->columns, marks);
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        cdc->selected[i] = marks[i] == listed;
        left += cdc->selected[i];
    }
    if (left == 0 && !listed) {
        binder_report(cdc->binder,
                      invalid_spec(selection->place, "COLUMNS * EXCEPT (…) leaves no column."));
    }
}

static Error *check_key(Cdc *cdc, const AstIdentifier *name)
{
    int column = schema_find(cdc->columns, name->name);
    if (column < 0) {
        return schema_unresolved(cdc->columns, name);
    }
    const Type *type = cdc->columns->fields[column].type;
    if (!type_is_orderable(type)) {
        return error_at(ERROR_KEY_TYPE_NOT_ORDERABLE, name->place,
                        "The key column `%.*s` has the type \"%s\", whose values have no order.",
                        STR_ARG(name->name), type_text(cdc->binder->arena, type));
    }
    return cdc->selected[column]
               ? NULL
               : error_set_hint(error_at(ERROR_CDC_KEY_NOT_SELECTED, name->place,
                                         "The key column `%.*s` is not among the COLUMNS of the "
                                         "flow.",
                                         STR_ARG(name->name)),
                                "every key is stored: add it to COLUMNS");
}

static void check_keys(Cdc *cdc)
{
    const AstIdentifierList *keys = &cdc->ast->keys;
    for (size_t i = 0; i < keys->item_count; i++) {
        bool twice = false;
        for (size_t k = 0; k < i; k++) {
            twice = twice || str_equal_ignore_case(keys->items[k].name, keys->items[i].name);
        }
        binder_report(cdc->binder, twice
                                       ? error_at(ERROR_DUPLICATE_KEY_COLUMN, keys->items[i].place,
                                                  "The key column `%.*s` is given twice.",
                                                  STR_ARG(keys->items[i].name))
                                       : check_key(cdc, &keys->items[i]));
    }
}

/* ------------------------------------------------------------- expressions --- */

/* Of one row, and the same each time it is looked at. */
static Error *check_row_expression(Cdc *cdc, const AstExpr *expr, const char *clause)
{
    ExprTraits traits;
    expr_traits(cdc->binder->context->functions, expr, &traits);
    const struct {
        const AstExpr *part;
        const char *what;
    } refused[] = {
        {traits.subquery, "a subquery"},
        {traits.aggregate, "an aggregate function"},
        {traits.analytic, "a window function"},
        {traits.generator, "a generator"},
        {traits.non_deterministic, "a function that is not deterministic"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        if (refused[i].part != NULL) {
            return error_at(ERROR_INVALID_CDC_SPEC, refused[i].part->place, "%s holds %s.", clause,
                            refused[i].what);
        }
    }
    return NULL;
}

static void check_condition(Cdc *cdc, const AstExpr *condition, const char *clause)
{
    BoundExpr *bound = NULL;
    if (condition != NULL &&
        binder_report(cdc->binder, check_row_expression(cdc, condition, clause))) {
        binder_report(cdc->binder,
                      bind_condition(cdc->binder, &cdc->source.scope, condition, &bound));
    }
}

static Error *bind_sequence(Cdc *cdc)
{
    const AstExpr *expr = cdc->ast->sequence_by;
    BoundExpr *bound = NULL;
    TRY(check_row_expression(cdc, expr, "SEQUENCE BY"));
    TRY(bind_expr(cdc->binder, &cdc->source.scope, expr, &bound));
    if (!type_is_orderable(bound->type)) {
        return error_at(ERROR_DATATYPE_CANNOT_ORDER, expr->place,
                        "SEQUENCE BY has the type \"%s\", whose values have no order.",
                        type_text(cdc->binder->arena, bound->type));
    }
    cdc->sequence = bound->type;
    return NULL;
}

/* ---------------------------------------------------------- history, types --- */

static bool keeps_history(const AstCdc *ast)
{
    return ast->scd_type.value == 2;
}

/* APPLY AS TRUNCATE WHEN is taken with either type. */
static void check_scd_type(Cdc *cdc)
{
    const AstCdc *ast = cdc->ast;
    if (ast->scd_type.value != 1 && ast->scd_type.value != 2) { /* CD-8 */
        binder_report(cdc->binder, invalid_spec(ast->scd_type.place, "SCD TYPE is 1 or 2."));
    }
    if (ast->track_history.given && !keeps_history(ast)) { /* CD-6 */
        binder_report(cdc->binder,
                      error_set_hint(invalid_spec(ast->track_history_place,
                                                  "TRACK HISTORY ON needs history to track."),
                                     "write STORED AS SCD TYPE 2"));
    }
}

static void check_history_columns(Cdc *cdc)
{
    const AstColumnSelection *selection = &cdc->ast->track_history;
    bool *marks = arena_new_array(cdc->binder->arena, bool, cdc->columns->field_count);
    if (!selection->given || !mark_columns(cdc, &selection->columns, marks)) {
        return;
    }
    for (size_t i = 0; i < selection->columns.item_count; i++) {
        const AstIdentifier *name = &selection->columns.items[i];
        if (!cdc->selected[schema_find(cdc->columns, name->name)]) {
            binder_report(cdc->binder,
                          error_at(ERROR_INVALID_CDC_SPEC, name->place,
                                   "The column `%.*s` of TRACK HISTORY ON is not among the COLUMNS "
                                   "of the flow.",
                                   STR_ARG(name->name)));
        }
    }
}

/* ------------------------------------------------------------------ table --- */

static const Schema *output_schema(Cdc *cdc)
{
    static const char *const history[] = {"__START_AT", "__END_AT"};
    size_t count = 0;
    Field *fields = arena_new_array(cdc->binder->arena, Field, cdc->columns->field_count + 2);
    for (size_t i = 0; i < cdc->columns->field_count; i++) {
        if (cdc->selected[i]) {
            fields[count] = cdc->columns->fields[i];
            fields[count++].not_null = false;
        }
    }
    for (size_t i = 0; keeps_history(cdc->ast) && i < ARRAY_LENGTH(history); i++) { /* CD-5 */
        fields[count++] = (Field){str_from(history[i]), cdc->sequence, false, STR_NULL};
    }
    return schema_new(cdc->binder->arena, fields, count);
}

static Error *check_output_column(Cdc *cdc, const FlowTarget *target, const Field *field)
{
    SourcePlace place = cdc->flow->place;
    int column = schema_find(target->columns, field->name);
    if (column < 0) { /* ST-50 */
        return error_set_hint(error_at(ERROR_EXTRA_COLUMNS, place,
                                       "Cannot write incompatible data for the table `%.*s`: "
                                       "Cannot write extra columns `%.*s`.",
                                       STR_ARG(target->table_name), STR_ARG(field->name)),
                              "add the column to the table's column list");
    }
    const Field *stored = &target->columns->fields[column];
    return coerce_is_assignable(field->type, stored->type)
               ? NULL
               : error_at(ERROR_CANNOT_SAFELY_CAST, place,
                          "Cannot write incompatible data for the table `%.*s`: Cannot safely cast "
                          "`%.*s` \"%s\" to \"%s\".",
                          STR_ARG(target->table_name), STR_ARG(stored->name),
                          type_text(cdc->binder->arena, field->type),
                          type_text(cdc->binder->arena, stored->type));
}

/* The flow's columns are in the table's list, and the list's NOT NULL columns in the flow's. */
static void fit_to_target(Cdc *cdc, FlowTarget *target)
{
    const Schema *output = output_schema(cdc);
    if (target->columns == NULL) {
        target->columns = output;
        return;
    }
    for (size_t i = 0; i < output->field_count; i++) {
        binder_report(cdc->binder, check_output_column(cdc, target, &output->fields[i]));
    }
    for (size_t i = 0; i < target->columns->field_count; i++) {
        const Field *field = &target->columns->fields[i];
        if (field->not_null && schema_find(output, field->name) < 0) { /* ST-51 */
            binder_report(cdc->binder,
                          error_at(ERROR_CANNOT_FIND_DATA, cdc->flow->place,
                                   "Cannot write incompatible data for the table `%.*s`: Cannot "
                                   "find data for the output column `%.*s`, which is NOT NULL.",
                                   STR_ARG(target->table_name), STR_ARG(field->name)));
        }
    }
}

void bind_auto_cdc(Binder *binder, const AstFlow *flow, FlowTarget *target)
{
    Cdc cdc = {.binder = binder, .flow = flow, .ast = flow->cdc};
    check_scd_type(&cdc);
    if (!bind_source(&cdc)) {
        return;
    }
    size_t before = binder->diagnostics->count;
    select_columns(&cdc);
    check_keys(&cdc);
    check_condition(&cdc, cdc.ast->delete_when, "APPLY AS DELETE WHEN");
    check_condition(&cdc, cdc.ast->truncate_when, "APPLY AS TRUNCATE WHEN");
    binder_report(binder, bind_sequence(&cdc));
    check_history_columns(&cdc);
    if (binder->diagnostics->count == before && cdc.sequence != NULL) {
        fit_to_target(&cdc, target);
    }
}
