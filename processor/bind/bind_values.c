/* VALUES: rows of expressions without columns, each column of one type. */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

/* A struct is a row too, as in Spark: VALUES (1, 'a') is VALUES struct(1, 'a'). */
static size_t row_width(const AstExpr *row)
{
    return row->kind == AST_EXPR_ROW      ? row->row.item_count
           : row->kind == AST_EXPR_STRUCT ? row->struct_.item_count
                                          : 1;
}

static const AstExpr *row_cell(const AstExpr *row, size_t index)
{
    return row->kind == AST_EXPR_ROW      ? row->row.items[index]
           : row->kind == AST_EXPR_STRUCT ? row->struct_.items[index].expr
                                          : row;
}

/* Cells are known before a row is read. */
static Error *check_cell(Binder *binder, const AstExpr *cell)
{
    ExprTraits traits;
    expr_traits(binder->context->functions, cell, &traits);
    if (traits.subquery != NULL) {
        return error_at(ERROR_SUBQUERY_IN_VALUES, traits.subquery->place,
                        "Unsupported subquery expression: Scalar subqueries in the VALUES clause.");
    }
    const AstExpr *refused[] = {traits.aggregate, traits.analytic, traits.generator,
                                traits.non_deterministic};
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        if (refused[i] != NULL) {
            Str text = bound_text(binder, cell);
            return error_at(ERROR_INLINE_TABLE_EXPRESSION, cell->place,
                            "Invalid inline table. Cannot evaluate the expression \"%.*s\" in "
                            "inline table definition.",
                            STR_ARG(text));
        }
    }
    return NULL;
}

static Error *bind_cells(Binder *binder, const AstValues *values, size_t width, BoundExpr **cells)
{
    Scope nothing = {0};
    for (size_t r = 0; r < values->row_count; r++) {
        const AstExpr *row = values->rows[r];
        if (row_width(row) != width) {
            return error_at(ERROR_INVALID_INLINE_TABLE, row->place,
                            "Invalid inline table. Inline table expected %zu columns but found %zu "
                            "columns in row %zu.",
                            width, row_width(row), r);
        }
        for (size_t c = 0; c < width; c++) {
            const AstExpr *cell = row_cell(row, c);
            TRY(check_cell(binder, cell));
            TRY(bind_expr(binder, &nothing, cell, &cells[r * width + c]));
        }
    }
    return NULL;
}

/* Is somewhere a STRING where the other type has something else? Other than elsewhere, a column of
 * VALUES does not turn strings into numbers or dates. */
static bool mixes_strings(const Type *a, const Type *b)
{
    if (a->kind == TYPE_NULL || b->kind == TYPE_NULL) {
        return false;
    }
    if (a->kind != b->kind) {
        return a->kind == TYPE_STRING || b->kind == TYPE_STRING;
    }
    switch (a->kind) {
    case TYPE_ARRAY:
        return mixes_strings(a->element, b->element);
    case TYPE_MAP:
        return mixes_strings(a->key, b->key) || mixes_strings(a->element, b->element);
    case TYPE_STRUCT:
        for (size_t i = 0; i < a->field_count && i < b->field_count; i++) {
            if (mixes_strings(a->fields[i].type, b->fields[i].type)) {
                return true;
            }
        }
        return false;
    default:
        return false;
    }
}

static Error *column_type(Binder *binder, const AstValues *values, BoundExpr *const *cells,
                          size_t width, size_t column, const Type **ret_type)
{
    const Type *type = &type_null;
    for (size_t r = 0; r < values->row_count; r++) {
        const Type *other = cells[r * width + column]->type;
        const Type *common =
            mixes_strings(type, other) ? NULL : coerce_common_type(binder->arena, type, other);
        if (common == NULL) {
            return error_at(ERROR_INLINE_TABLE_TYPES, values->place,
                            "Invalid inline table. Found incompatible types in the column `col%zu` "
                            "for inline table.",
                            column + 1);
        }
        type = common;
    }
    *ret_type = type;
    return NULL;
}

/* VALUES (1, 2) AS t(a): the alias says how many columns are expected. */
static Error *check_alias(const AstValues *values, const AstTableAlias *alias)
{
    size_t expected = alias->columns.item_count;
    size_t width = row_width(values->rows[0]);
    if (expected == 0 || expected == width) {
        return NULL;
    }
    return error_at(ERROR_INVALID_INLINE_TABLE, values->place,
                    "Invalid inline table. Inline table expected %zu columns but found %zu "
                    "columns in row 0.",
                    expected, width);
}

Error *bind_values(Binder *binder, const AstValues *values, const AstTableAlias *alias,
                   BoundNode **ret_node)
{
    assert(values->row_count > 0);
    TRY(check_alias(values, alias));
    size_t width = row_width(values->rows[0]);
    size_t count = width * values->row_count;
    BoundExpr **cells = arena_new_array(binder->arena, BoundExpr *, count);
    OuterQuery *outer = binder->outer;
    binder->outer = NULL; /* cells name no columns, not even those of the query around */
    Error *error = bind_cells(binder, values, width, cells);
    binder->outer = outer;
    TRY(error);
    Field *fields = arena_new_array(binder->arena, Field, width);
    for (size_t c = 0; c < width; c++) {
        Str name = str_from(arena_printf(binder->arena, "col%zu", c + 1));
        const Type *type = NULL;
        TRY(column_type(binder, values, cells, width, c, &type));
        for (size_t r = 0; r < values->row_count; r++) {
            TRY(bound_cast(binder, cells[r * width + c], type, &cells[r * width + c]));
        }
        fields[c] = (Field){name, type, false, STR_NULL};
    }
    BoundNode *node = bound_node_new(binder, BOUND_VALUES, schema_new(binder->arena, fields, width),
                                     values->place);
    node->expressions = cells;
    node->expression_count = count;
    node->row_count = values->row_count;
    *ret_node = node;
    return NULL;
}
