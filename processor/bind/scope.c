/* Names of columns. As Spark's AttributeSeq.resolve: a dotted name is first read with the longest
 * qualifier (catalog.schema.table.column), then with shorter ones, last as a bare column; what is
 * left over behind the column are fields of a struct. A reading counts only when some column fits;
 * when it fits several, the name is ambiguous. */
#include <assert.h>

#include "processor/bind/binder.h"

#include "processor/base/banned.h"

enum { SUGGESTIONS_MAX = 5, QUALIFIER_MAX = 3 };

Scope scope_of_schema(Arena *arena, const Schema *schema, const ScopeQualifier *qualifier,
                      uint32_t first)
{
    ScopeColumn *columns = arena_new_array(arena, ScopeColumn, schema->field_count);
    const ScopeQualifier *own = NULL;
    if (qualifier != NULL && qualifier->part_count > 0) {
        ScopeQualifier *copy = arena_new_object(arena, ScopeQualifier);
        *copy = *qualifier;
        own = copy;
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        columns[i] = (ScopeColumn){&schema->fields[i], own, first + (uint32_t)i, false};
    }
    return (Scope){.columns = columns, .column_count = schema->field_count};
}

Scope scope_of_output(const Binder *binder, const Schema *schema, const ScopeQualifier *qualifier)
{
    Scope scope = scope_of_schema(binder->arena, schema, qualifier, 0);
    const uint32_t *firsts = binder->output.schema == schema ? binder->output.firsts : NULL;
    ScopeColumn *columns = arena_new_array(binder->arena, ScopeColumn, scope.column_count);
    for (size_t i = 0; i < scope.column_count; i++) {
        columns[i] = scope.columns[i];
        columns[i].column = firsts == NULL ? columns[i].column : firsts[i];
    }
    scope.columns = columns;
    return scope;
}

const ScopeColumn *scope_column_at(const Scope *scope, uint32_t column)
{
    const ScopeColumn *found = NULL;
    for (size_t i = 0; i < scope->column_count; i++) {
        if (scope->columns[i].column == column) {
            found = &scope->columns[i];
            if (!found->hidden) {
                break;
            }
        }
    }
    return found;
}

/* Do the first `count` parts of `name` name the relation (its last `count` qualifiers)? */
static bool qualifier_matches(const ScopeQualifier *qualifier, const AstIdentifier *parts,
                              size_t count)
{
    size_t own_count = qualifier == NULL ? 0 : qualifier->part_count;
    if (count > own_count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!str_equal_ignore_case(qualifier->parts[own_count - count + i], parts[i].name)) {
            return false;
        }
    }
    return true;
}

bool scope_star_matches(const ScopeColumn *column, const AstName *qualifier)
{
    return (qualifier->part_count > 0 || !column->hidden) &&
           qualifier_matches(column->qualifier, qualifier->parts, qualifier->part_count);
}

static void append_quoted(Buffer *out, Str part)
{
    buffer_append_byte(out, '`');
    buffer_append_str(out, part);
    buffer_append_byte(out, '`');
}

static void append_name(Buffer *out, const AstName *name)
{
    for (size_t i = 0; i < name->part_count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ".");
        append_quoted(out, name->parts[i].name);
    }
}

/* The column with the last `qualifier_parts` parts of its qualifier. */
static void append_column(Buffer *out, const ScopeColumn *column, size_t qualifier_parts)
{
    size_t own = column->qualifier == NULL ? 0 : column->qualifier->part_count;
    for (size_t i = own > qualifier_parts ? own - qualifier_parts : 0; i < own; i++) {
        append_quoted(out, column->qualifier->parts[i]);
        buffer_append_byte(out, '.');
    }
    append_quoted(out, column->field->name);
}

/* Is it the column when the name is read with `qualifier_parts` parts of qualifier? */
static bool column_matches(const ScopeColumn *column, const AstName *name, size_t qualifier_parts)
{
    return (qualifier_parts > 0 || !column->hidden) &&
           str_equal_ignore_case(column->field->name, name->parts[qualifier_parts].name) &&
           qualifier_matches(column->qualifier, name->parts, qualifier_parts);
}

static Error *ambiguous(const Scope *scope, const AstName *name, size_t qualifier_parts)
{
    AUTO_BUFFER Buffer shown = {0};
    AUTO_BUFFER Buffer places = {0};
    append_name(&shown, name);
    for (size_t i = 0; i < scope->column_count; i++) {
        if (column_matches(&scope->columns[i], name, qualifier_parts)) {
            buffer_append_cstr(&places, places.size == 0 ? "" : ", ");
            append_column(&places, &scope->columns[i], 1);
        }
    }
    return error_at(ERROR_AMBIGUOUS_REFERENCE, name->place,
                    "Reference %s is ambiguous, could be: [%s].", buffer_cstr(&shown),
                    buffer_cstr(&places));
}

/* Reads the name with `qualifier_parts` parts of qualifier. Number of columns that fit; one that
 * stands in the scope twice (hidden by one USING, shown by another) counts once. */
static size_t match_columns(const Scope *scope, const AstName *name, size_t qualifier_parts,
                            ScopeMatch *match)
{
    size_t found = 0;
    for (size_t i = 0; i < scope->column_count; i++) {
        const ScopeColumn *column = &scope->columns[i];
        if (column_matches(column, name, qualifier_parts) &&
            (found == 0 || column->column != match->column)) {
            *match = (ScopeMatch){column->column, column->field, qualifier_parts + 1};
            found++;
        }
    }
    return found;
}

Error *scope_find(const Scope *scope, const AstName *name, bool *ret_found, ScopeMatch *ret_match)
{
    assert(name->part_count > 0);
    size_t longest = name->part_count - 1 < QUALIFIER_MAX ? name->part_count - 1 : QUALIFIER_MAX;
    for (size_t qualifier_parts = longest + 1; qualifier_parts-- > 0;) {
        ScopeMatch match = {0};
        size_t found = match_columns(scope, name, qualifier_parts, &match);
        if (found > 1) {
            return ambiguous(scope, name, qualifier_parts);
        }
        if (found == 1) {
            *ret_found = true;
            *ret_match = match;
            return NULL;
        }
    }
    *ret_found = false;
    return NULL;
}

/* ---------------------------------------------------------- suggestions --- */

/* The names nearest to `wanted`, nearest first: what Spark proposes. Columns equally near stand in
 * the order of their names. */
typedef struct Proposals {
    Str shown[SUGGESTIONS_MAX];
    Str names[SUGGESTIONS_MAX];
    size_t distances[SUGGESTIONS_MAX];
    size_t count;
    Arena *arena;
} Proposals;

static void propose(Proposals *proposals, Str wanted, Str shown, Str name)
{
    size_t distance = str_distance(wanted, shown);
    size_t at = proposals->count;
    while (at > 0 && (proposals->distances[at - 1] > distance ||
                      (proposals->distances[at - 1] == distance &&
                       str_compare(proposals->names[at - 1], name) > 0))) {
        at--;
    }
    if (at == SUGGESTIONS_MAX) {
        return;
    }
    size_t last = proposals->count < SUGGESTIONS_MAX ? proposals->count++ : SUGGESTIONS_MAX - 1;
    for (size_t i = last; i > at; i--) {
        proposals->shown[i] = proposals->shown[i - 1];
        proposals->names[i] = proposals->names[i - 1];
        proposals->distances[i] = proposals->distances[i - 1];
    }
    proposals->shown[at] = arena_copy_str(proposals->arena, shown);
    proposals->names[at] = name;
    proposals->distances[at] = distance;
}

/* "did you mean" only where a name is truly near: the message's list knows no limit. */
static Error *add_hint(Error *error, Str wanted, const Proposals *proposals)
{
    Str nearest = STR_NULL;
    size_t distance = SIZE_MAX;
    for (size_t i = 0; i < proposals->count; i++) {
        if (str_is_nearer(proposals->names[i], wanted, &distance)) {
            nearest = proposals->names[i];
        }
    }
    return nearest.data == NULL ? error
                                : error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
}

static Error *unresolved(SourcePlace place, Str shown, Str wanted, const Proposals *proposals)
{
    if (proposals->count == 0) {
        return error_at(ERROR_UNRESOLVED_COLUMN_WITHOUT_SUGGESTION, place,
                        "A column, variable, or function parameter with name %.*s cannot be "
                        "resolved.",
                        STR_ARG(shown));
    }
    AUTO_BUFFER Buffer list = {0};
    for (size_t i = 0; i < proposals->count; i++) {
        buffer_append_cstr(&list, i == 0 ? "" : ", ");
        buffer_append_str(&list, proposals->shown[i]);
    }
    Error *error = error_at(ERROR_UNRESOLVED_COLUMN, place,
                            "A column, variable, or function parameter with name %.*s cannot be "
                            "resolved. Did you mean one of the following? [%s].",
                            STR_ARG(shown), buffer_cstr(&list));
    return add_hint(error, wanted, proposals);
}

/* Have all columns that are shown the same qualifier, but for its last `without` parts? */
static bool same_qualifiers(const Scope *scope, size_t without)
{
    const ScopeQualifier nothing = {.part_count = 0};
    const ScopeQualifier *first = NULL;
    for (size_t i = 0; i < scope->column_count; i++) {
        if (scope->columns[i].hidden) {
            continue;
        }
        const ScopeQualifier *own =
            scope->columns[i].qualifier == NULL ? &nothing : scope->columns[i].qualifier;
        first = first == NULL ? own : first;
        size_t count = own->part_count > without ? own->part_count - without : 0;
        if (count != (first->part_count > without ? first->part_count - without : 0)) {
            return false;
        }
        for (size_t p = 0; p < count; p++) {
            if (!str_equal(own->parts[p], first->parts[p])) {
                return false;
            }
        }
    }
    return true;
}

/* Parts of qualifiers that proposals show: those that tell columns apart, and as many as were
 * written. */
static size_t shown_qualifier_parts(const Scope *scope, const AstName *name)
{
    if (name->part_count == 1 && same_qualifiers(scope, 0)) {
        return 0;
    }
    return name->part_count <= 2 && same_qualifiers(scope, 1) ? 1 : QUALIFIER_MAX;
}

Error *scope_unresolved(const Scope *scope, const AstName *name)
{
    if (str_equal_ignore_case(name->parts[name->part_count - 1].name, STR("_rescued_data"))) {
        return not_yet(name->place, "The column _rescued_data"); /* ST-57: of read_files */
    }
    AUTO(arena) Arena *arena = arena_new("names");
    AUTO_BUFFER Buffer shown = {0};
    AUTO_BUFFER Buffer dotted = {0};
    append_name(&shown, name);
    for (size_t i = 0; i < name->part_count; i++) {
        buffer_append_cstr(&dotted, i == 0 ? "" : ".");
        buffer_append_str(&dotted, name->parts[i].name);
    }
    Proposals proposals = {.arena = arena};
    size_t parts = shown_qualifier_parts(scope, name);
    for (size_t i = 0; i < scope->column_count; i++) {
        AUTO_BUFFER Buffer candidate = {0};
        if (!scope->columns[i].hidden) {
            append_column(&candidate, &scope->columns[i], parts);
            propose(&proposals, buffer_str(&dotted), buffer_str(&candidate),
                    scope->columns[i].field->name);
        }
    }
    return unresolved(name->place, buffer_str(&shown), name->parts[name->part_count - 1].name,
                      &proposals);
}

Error *schema_unresolved(const Schema *schema, const AstIdentifier *name)
{
    AUTO(arena) Arena *arena = arena_new("names");
    AstIdentifier part = *name;
    AstName whole = {.parts = &part, .part_count = 1, .place = name->place};
    Scope scope = scope_of_schema(arena, schema, NULL, 0);
    return scope_unresolved(&scope, &whole);
}
