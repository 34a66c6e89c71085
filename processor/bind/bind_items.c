/* The SELECT list: stars, aliases, generators, and items that name earlier items.
 *
 * An alias of the list may be named by later items (a AS x, x + 1 AS y) when no column bears the
 * name. What is more than a column is then computed by a Project of its own below, once:
 *
 *     SELECT a + 1 AS x, x * x AS y FROM t
 *     Project [1 AS x, 1 * 1 AS y]
 *       Project [0, 0 + 1]
 *         Scan t [a]
 */
#include "processor/bind/bind_select_internal.h"

#include "processor/base/banned.h"

/* ----------------------------------------------------------------- list --- */

static void list_reserve(Binder *binder, SelectList *list)
{
    if (list->count < list->capacity) {
        return;
    }
    size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
    SelectList grown = *list;
    grown.capacity = capacity;
    grown.expressions = arena_new_array(binder->arena, BoundExpr *, capacity);
    grown.fields = arena_new_array(binder->arena, Field, capacity);
    grown.qualifiers = arena_new_array(binder->arena, const ScopeQualifier *, capacity);
    grown.aliased = arena_new_array(binder->arena, bool, capacity);
    grown.starred = arena_new_array(binder->arena, bool, capacity);
    for (size_t i = 0; i < list->count; i++) {
        grown.expressions[i] = list->expressions[i];
        grown.fields[i] = list->fields[i];
        grown.qualifiers[i] = list->qualifiers[i];
        grown.aliased[i] = list->aliased[i];
        grown.starred[i] = list->starred[i];
    }
    *list = grown;
}

/* Its place in the list. */
static size_t list_add(Binder *binder, SelectList *list, BoundExpr *expr, Field field)
{
    list_reserve(binder, list);
    list->expressions[list->count] = expr;
    list->fields[list->count] = field;
    return list->count++;
}

/* ---------------------------------------------------------------- stars --- */

/* What EXCEPT names: for each name the columns it took away. */
typedef struct Excepted {
    const AstSelectItem *item;
    size_t *taken;
    bool overlap; /* two names took one column */
} Excepted;

static bool is_excepted(Excepted *excepted, const ScopeColumn *column)
{
    size_t names = 0;
    for (size_t i = 0; i < excepted->item->except_count; i++) {
        AstName qualifier = excepted->item->except[i];
        Str last = qualifier.parts[qualifier.part_count - 1].name;
        qualifier.part_count--;
        if (str_equal_ignore_case(last, column->field->name) &&
            scope_star_matches(column, &qualifier)) {
            excepted->taken[i]++;
            names++;
        }
    }
    excepted->overlap = excepted->overlap || names > 1;
    return names > 0;
}

static Error *check_excepted(const Scope *scope, const Excepted *excepted)
{
    const AstSelectItem *item = excepted->item;
    for (size_t i = 0; i < item->except_count; i++) {
        if (excepted->taken[i] == 0) {
            return scope_unresolved(scope, &item->except[i]); /* SQ-9 */
        }
        if (excepted->taken[i] > 1) {
            bool found = false;
            ScopeMatch match = {0};
            TRY(scope_find(scope, &item->except[i], &found, &match)); /* AMBIGUOUS_REFERENCE */
        }
    }
    if (excepted->overlap) {
        return error_at(ERROR_EXCEPT_OVERLAPPING_COLUMNS, item->except[0].place,
                        "Columns in an EXCEPT list must be distinct and non-overlapping.");
    }
    return NULL;
}

/* The columns of the scope that the star means. Their number. */
static size_t expand_columns(Binder *binder, const Scope *scope, Excepted *excepted,
                             SelectList *list)
{
    const AstSelectItem *item = excepted->item;
    size_t matched = 0;
    for (size_t i = 0; i < scope->column_count; i++) {
        const ScopeColumn *column = &scope->columns[i];
        if (!scope_star_matches(column, &item->qualifier)) {
            continue;
        }
        matched++;
        if (!is_excepted(excepted, column)) {
            BoundExpr *value =
                bound_column(binder->arena, column->field, column->column, item->place);
            size_t at = list_add(binder, list, value, *column->field);
            list->qualifiers[at] = column->qualifier;
            list->starred[at] = true;
        }
    }
    return matched;
}

static Error *unresolved_star(const Scope *scope, const AstSelectItem *item)
{
    AUTO_BUFFER Buffer columns = {0};
    for (size_t i = 0; i < scope->column_count; i++) {
        if (!scope->columns[i].hidden) {
            buffer_printf(&columns, "%s`%.*s`", columns.size == 0 ? "" : ", ",
                          STR_ARG(scope->columns[i].field->name));
        }
    }
    return error_at(ERROR_CANNOT_RESOLVE_STAR_EXPAND, item->place,
                    "Cannot resolve `%.*s`.* given input columns %s. Please check that the "
                    "specified table or struct exists and is accessible in the input columns.",
                    STR_ARG(item->qualifier.text), buffer_cstr(&columns));
}

/* s.* where s is a column: the fields of the struct. */
static Error *expand_struct(Binder *binder, const Scope *scope, Excepted *excepted,
                            SelectList *list)
{
    const AstSelectItem *item = excepted->item;
    AstExpr column = {.kind = AST_EXPR_COLUMN, .place = item->qualifier.place};
    column.text = item->qualifier.text;
    column.column.name = item->qualifier;
    bool found = false;
    ScopeMatch match = {0};
    TRY(scope_find(scope, &item->qualifier, &found, &match));
    if (!found) {
        return unresolved_star(scope, item);
    }
    BoundExpr *base = NULL;
    TRY(bind_expr(binder, scope, &column, &base));
    if (base->type->kind != TYPE_STRUCT) {
        return error_at(ERROR_STAR_OF_NO_STRUCT, item->place,
                        "Can only star expand struct data types. Attribute: `%.*s`.",
                        STR_ARG(item->qualifier.text));
    }
    for (size_t i = 0; i < base->type->field_count; i++) {
        const Field *field = &base->type->fields[i];
        if (is_excepted(excepted, &(ScopeColumn){.field = field})) {
            continue;
        }
        BoundExpr pattern = {.kind = BOUND_FIELD,
                             .type = field->type,
                             .place = item->place,
                             .text = field->name,
                             .field = (uint32_t)i};
        BoundExpr *part = NULL;
        TRY(bound_new(binder, &pattern, &base, 1, &part));
        size_t at =
            list_add(binder, list, part, (Field){field->name, field->type, false, STR_NULL});
        list->starred[at] = true;
    }
    return NULL;
}

/* a.* in LATERAL, where a stands left of it. Number of columns. */
static size_t expand_outer_columns(Binder *binder, Excepted *excepted, SelectList *list)
{
    const AstSelectItem *item = excepted->item;
    OuterQuery *outer = binder->outer;
    size_t matched = 0;
    for (size_t i = 0; outer != NULL && outer->lateral && i < outer->scope->column_count; i++) {
        const ScopeColumn *column = &outer->scope->columns[i];
        if (!scope_star_matches(column, &item->qualifier)) {
            continue;
        }
        matched++;
        if (!is_excepted(excepted, column)) {
            BoundExpr *value =
                bound_column(binder->arena, column->field, column->column, item->place);
            value->kind = BOUND_OUTER_COLUMN;
            *arena_push(binder->arena, outer->names, outer->name_count, outer->name_capacity) =
                column->field->name;
            size_t at = list_add(binder, list, value, *column->field);
            list->starred[at] = true;
        }
    }
    return matched;
}

static Error *bind_star(Binder *binder, const Scope *scope, const AstSelectItem *item,
                        SelectList *list)
{
    Excepted excepted = {item, arena_new_array(binder->arena, size_t, item->except_count), false};
    if (scope->select->ast->from_count == 0 && item->qualifier.part_count == 0) {
        return error_at(ERROR_UNRESOLVED_COLUMN_WITHOUT_SUGGESTION, item->place,
                        "`*` stands for the columns of FROM, and the query has none.");
    }
    if (expand_columns(binder, scope, &excepted, list) == 0 && item->qualifier.part_count > 0 &&
        expand_outer_columns(binder, &excepted, list) == 0) {
        TRY(expand_struct(binder, scope, &excepted, list));
    }
    return check_excepted(scope, &excepted);
}

/* ---------------------------------------------------------------- items --- */

/* explode(x) AS y: its columns are NULLs of their types until the GENERATE stands below. */
static Error *bind_generator_item(Binder *binder, const Scope *scope, const AstSelectItem *item,
                                  SelectList *list)
{
    BoundGenerator **last = &list->generator;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    BoundGenerator *generator = arena_new_object(binder->arena, BoundGenerator);
    TRY(bind_generator(binder, scope, item->expr, item->aliases, item->alias_count, generator));
    generator->first_item = list->count;
    *last = generator;
    for (size_t i = 0; i < generator->field_count; i++) {
        const Field *field = &generator->fields[i];
        size_t at =
            list_add(binder, list, bound_null(binder->arena, field->type, item->place), *field);
        list->aliased[at] = true;
    }
    return NULL;
}

/* s.a without alias is named a, as if AS a stood behind it. */
static bool is_named_part(const AstExpr *ast, const BoundExpr *expr)
{
    return ast->kind == AST_EXPR_COLUMN && ast->column.name.part_count > 1 &&
           (expr->kind == BOUND_FIELD || expr->kind == BOUND_CALL) && expr->special == NULL;
}

static Error *bind_item(Binder *binder, const Scope *scope, const AstSelectItem *item,
                        SelectList *list)
{
    if (item->star) {
        return bind_star(binder, scope, item, list);
    }
    if (is_generator_call(binder, item->expr)) {
        return bind_generator_item(binder, scope, item, list);
    }
    BoundExpr *expr = NULL;
    TRY(bind_expr(binder, scope, item->expr, &expr));
    if (item->alias_count > 1) {
        return error_at(ERROR_NUM_COLUMNS_MISMATCH, item->aliases[0].place,
                        "The expression gives one column and has %zu aliases.", item->alias_count);
    }
    Field field = {.type = expr->type, .comment = STR_NULL};
    field.name = item->alias_count == 1 ? item->aliases[0].name
                                        : bind_output_name(binder, scope, item->expr, expr);
    const ScopeQualifier *qualifier = NULL;
    if (expr->kind == BOUND_COLUMN) {
        const ScopeColumn *column = scope_column_at(scope, expr->column);
        field.not_null = column != NULL && column->field->not_null; /* no column: window(…) */
        qualifier = item->alias_count == 0 && column != NULL ? column->qualifier : NULL;
    }
    size_t at = list_add(binder, list, expr, field);
    list->qualifiers[at] = qualifier;
    list->aliased[at] = item->alias_count == 1 || is_named_part(item->expr, expr);
    return NULL;
}

/* An item with a mistake: who names it, or those behind it by position, makes no other one. */
static void add_wrong_item(Binder *binder, const AstSelectItem *item, SelectList *list)
{
    Field field = {item->text, &type_null, false, STR_NULL};
    size_t at = list_add(binder, list, bound_null(binder->arena, &type_null, item->place), field);
    if (item->alias_count == 1) {
        list->fields[at].name = item->aliases[0].name;
        list->aliased[at] = true;
    }
}

bool bind_select_list(Binder *binder, Scope *scope, SelectList *list)
{
    const AstSelect *ast = scope->select->ast;
    bool ok = true;
    for (size_t i = 0; i < ast->item_count; i++) {
        const AstSelectItem *item = &ast->items[i];
        if (binder_report(binder, bind_item(binder, scope, item, list))) {
            continue;
        }
        ok = false;
        add_wrong_item(binder, item, list);
    }
    return ok;
}

/* -------------------------------------------------------------- aliases --- */

static Error *ambiguous_alias(const AstExpr *expr, size_t count)
{
    return error_at(ERROR_AMBIGUOUS_LATERAL_COLUMN_ALIAS, expr->place,
                    "Lateral column alias `%.*s` is ambiguous and has %zu matches.",
                    STR_ARG(expr->column.name.parts[0].name), count);
}

/* The first (a later one) written alias of that name; the list's length when there is none. */
static size_t find_alias(const SelectList *list, Str name, size_t *ret_count)
{
    size_t found = list->count;
    *ret_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->aliased[i] && str_equal_ignore_case(list->fields[i].name, name)) {
            found = found == list->count ? i : found;
            (*ret_count)++;
        }
    }
    return found;
}

bool is_generated(const SelectList *list, size_t item)
{
    const BoundGenerator *generator = list->generator;
    return generator != NULL && item >= generator->first_item &&
           item < generator->first_item + generator->field_count;
}

/* Columns of a generator are shown as columns. */
bool names_lateral_alias(const Scope *scope, const AstName *name)
{
    if (scope->select == NULL || scope->select->aliases != ALIAS_LATERAL) {
        return false;
    }
    size_t count = 0;
    size_t item = find_alias(scope->select->list, name->parts[0].name, &count);
    return count > 0 && !is_generated(scope->select->list, item);
}

static Error *bind_written_alias(Binder *binder, const Scope *scope, const AstExpr *expr,
                                 BoundExpr **ret)
{
    const SelectScope *select = scope->select;
    size_t count = 0;
    size_t item = find_alias(select->list, expr->column.name.parts[0].name, &count);
    if (count == 0) {
        return NULL;
    }
    BoundExpr *value = select->list->expressions[item];
    if (select->aliases == ALIAS_GROUP && is_generated(select->list, item)) {
        return NULL; /* the generator stands above the groups */
    }
    if (select->aliases == ALIAS_GROUP) {
        *ret = value;
        return NULL;
    }
    if (count > 1) {
        return ambiguous_alias(expr, count);
    }
    BoundExpr pattern = {.place = expr->place, .text = expr->text};
    return bound_item(binder, value, item, &pattern, ret);
}

static Error *bind_output_column(Binder *binder, const Scope *scope, const AstExpr *expr,
                                 size_t *ret_used_parts, BoundExpr **ret)
{
    bool found = false;
    ScopeMatch match = {0};
    Error *ambiguous = scope_find(scope->select->output, &expr->column.name, &found, &match);
    error_free(ambiguous); /* then it may be a column, or nothing that is known */
    if (ambiguous != NULL || !found) {
        return NULL;
    }
    *ret_used_parts = match.used_parts;
    BoundExpr pattern = {.place = expr->place, .text = expr->text};
    return bound_item(binder, scope->select->list->expressions[match.column], match.column,
                      &pattern, ret);
}

/* `window`, where the SELECT has a window(ts, …). */
static bool names_time_window(const Scope *scope, const AstExpr *expr)
{
    return scope->select != NULL && scope->select->time_window != NULL &&
           scope->select->time_window->time != NULL &&
           str_equal_ignore_case(expr->column.name.parts[0].name, STR("window"));
}

/* `grouping__id`, where there are groups: Hive's name of grouping_id(). */
static bool names_grouping_set(const Scope *scope, const AstExpr *expr)
{
    return scope->select != NULL && scope->select->calls != CALLS_NONE &&
           scope->select->ast->group_by != NULL && expr->column.name.part_count == 1 &&
           str_equal_ignore_case(expr->column.name.parts[0].name, STR("grouping__id"));
}

Error *bind_alias(Binder *binder, const Scope *scope, const AstExpr *expr, bool before_columns,
                  size_t *ret_used_parts, BoundExpr **ret)
{
    AliasRule rule = scope->select == NULL ? ALIAS_NONE : scope->select->aliases;
    *ret_used_parts = 1;
    if (!before_columns && names_time_window(scope, expr)) {
        const TimeWindow *window = scope->select->time_window;
        *ret = bound_column(binder->arena, &window->field, window->column, expr->place);
        return NULL;
    }
    if (!before_columns && names_grouping_set(scope, expr)) {
        return bind_grouping_id(binder, expr, ret);
    }
    if (rule == ALIAS_NONE || before_columns != (rule == ALIAS_FIRST)) {
        return NULL;
    }
    if (rule == ALIAS_LATERAL || rule == ALIAS_GROUP) {
        return bind_written_alias(binder, scope, expr, ret);
    }
    return bind_output_column(binder, scope, expr, ret_used_parts, ret);
}

const Scope *scope_shown(const Scope *scope)
{
    return scope->select != NULL && scope->select->output != NULL ? scope->select->output : scope;
}

static bool is_column_item(const SelectList *list, size_t item)
{
    return list->expressions[item]->kind == BOUND_COLUMN && !list->aliased[item];
}

static size_t input_width(const SelectList *list)
{
    size_t width = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t column = is_column_item(list, i) ? list->expressions[i]->column : 0;
        width = column >= width ? column + 1 : width;
    }
    return width;
}

/* Where the column of each item stands first: one that stands in the list twice is one name
 * (SELECT a, a … ORDER BY a), but not under aliases. Items of one column are chained. */
static const uint32_t *find_firsts(Binder *binder, const SelectList *list)
{
    uint32_t *firsts = arena_new_array(binder->arena, uint32_t, list->count);
    uint32_t *heads = arena_new_array(binder->arena, uint32_t, input_width(list)); /* item + 1 */
    uint32_t *next = arena_new_array(binder->arena, uint32_t, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        firsts[i] = i;
        if (!is_column_item(list, i)) {
            continue;
        }
        uint32_t *link = &heads[list->expressions[i]->column];
        while (*link != 0 &&
               (list->qualifiers[*link - 1] != list->qualifiers[i] ||
                !str_equal_ignore_case(list->fields[*link - 1].name, list->fields[i].name))) {
            link = &next[*link - 1];
        }
        firsts[i] = *link == 0 ? i : *link - 1;
        *link = *link == 0 ? i + 1 : *link;
    }
    return firsts;
}

OutputNames select_output_names(Binder *binder, const SelectList *list)
{
    return (OutputNames){NULL, list->qualifiers, find_firsts(binder, list)};
}

Scope select_output_scope(Binder *binder, const SelectList *list)
{
    const uint32_t *firsts = find_firsts(binder, list);
    ScopeColumn *columns = arena_new_array(binder->arena, ScopeColumn, list->count);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (firsts[i] == i) {
            columns[count++] = (ScopeColumn){
                .field = &list->fields[i], .qualifier = list->qualifiers[i], .column = (uint32_t)i};
        }
    }
    return (Scope){.columns = columns, .column_count = count};
}

/* ------------------------------------------------------------- building --- */

typedef struct ItemMap {
    Binder *binder;
    const SelectList *list;
    const bool *ready; /* items whose references are replaced; NULL: all */
} ItemMap;

static Error *replace_item(void *context, BoundExpr *expr, BoundExpr **ret)
{
    const ItemMap *map = context;
    if (!is_special(expr, SPECIAL_ITEM)) {
        return NULL;
    }
    size_t item = expr->special->item;
    if (map->ready != NULL) {
        *ret = map->ready[item] ? map->list->expressions[item] : expr;
        return NULL;
    }
    ItemMap inner = *map;
    return bound_map(map->binder, map->list->expressions[item], replace_item, &inner, ret);
}

Error *expand_items(Binder *binder, const SelectList *list, BoundExpr **expr)
{
    ItemMap map = {binder, list, NULL};
    return bound_map(binder, *expr, replace_item, &map, expr);
}

static void note_items(const BoundExpr *expr, bool *named)
{
    if (is_special(expr, SPECIAL_ITEM)) {
        named[expr->special->item] = true;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        note_items(expr->children[i], named);
    }
}

static bool is_plain(const BoundExpr *expr)
{
    return expr->kind == BOUND_COLUMN || expr->kind == BOUND_LITERAL;
}

/* Items that others name and that name none themselves: a Project computes those that are more than
 * a column. False when there are none. */
static Error *build_alias_level(Binder *binder, SelectList *list, BoundNode **node, bool *ret_more)
{
    bool *named = arena_new_array(binder->arena, bool, list->count);
    bool *ready = arena_new_array(binder->arena, bool, list->count);
    BoundExpr ***added = arena_new_array(binder->arena, BoundExpr **, list->count);
    size_t added_count = 0;
    *ret_more = false;
    for (size_t i = 0; i < list->count; i++) {
        note_items(list->expressions[i], named);
    }
    for (size_t i = 0; i < list->count; i++) {
        ready[i] = named[i] && find_special(list->expressions[i], SPECIAL_ITEM) == NULL;
        *ret_more = *ret_more || ready[i];
        if (ready[i] && !is_plain(list->expressions[i])) {
            added[added_count++] = &list->expressions[i];
        }
    }
    TRY(project_below(binder, added, added_count, node));
    ItemMap map = {binder, list, ready};
    for (size_t i = 0; i < list->count; i++) {
        TRY(bound_map(binder, list->expressions[i], replace_item, &map, &list->expressions[i]));
    }
    return NULL;
}

Error *build_lateral_aliases(Binder *binder, SelectList *list, BoundNode **node)
{
    bool more = true;
    while (more) { /* an item names earlier ones only, so each round makes one ready at least */
        TRY(build_alias_level(binder, list, node, &more));
    }
    return NULL;
}
