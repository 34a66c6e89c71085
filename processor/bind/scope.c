/* Names of columns. As Spark's AttributeSeq.resolve: a dotted name is first read with the longest
 * qualifier (catalog.schema.table.column), then with shorter ones, last as a bare column; what is
 * left over behind the column are fields of a struct. A reading counts only when some column fits;
 * when it fits several, the name is ambiguous. */
#include <assert.h>

#include "processor/bind/binder.h"

#include "processor/base/banned.h"

enum { SUGGESTIONS_MAX = 5, QUALIFIER_MAX = 3 };

/* Do the first `count` parts of `name` name the relation (its last `count` qualifiers)? */
static bool qualifier_matches(const ScopeRelation *relation, const AstIdentifier *parts,
                              size_t count)
{
    if (count > relation->qualifier_count) {
        return false;
    }
    const Str *own = relation->qualifier + relation->qualifier_count - count;
    for (size_t i = 0; i < count; i++) {
        if (!str_equal_ignore_case(own[i], parts[i].name)) {
            return false;
        }
    }
    return true;
}

bool scope_relation_matches(const ScopeRelation *relation, const AstName *qualifier)
{
    return qualifier_matches(relation, qualifier->parts, qualifier->part_count);
}

static void append_quoted(Buffer *out, Str part)
{
    buffer_append_byte(out, '`');
    buffer_append_str(out, part);
    buffer_append_byte(out, '`');
}

static Error *ambiguous(const Scope *scope, const AstName *name, size_t qualifier_parts)
{
    AUTO_BUFFER Buffer places = {0};
    Str column = name->parts[qualifier_parts].name;
    for (size_t r = 0; r < scope->relation_count; r++) {
        const ScopeRelation *relation = &scope->relations[r];
        for (size_t f = 0; f < relation->schema->field_count; f++) {
            if (!str_equal_ignore_case(relation->schema->fields[f].name, column)) {
                continue;
            }
            buffer_append_cstr(&places, places.size == 0 ? "" : ", ");
            if (relation->qualifier_count > 0) {
                append_quoted(&places, relation->qualifier[relation->qualifier_count - 1]);
                buffer_append_byte(&places, '.');
            }
            append_quoted(&places, relation->schema->fields[f].name);
        }
    }
    return error_at(ERROR_AMBIGUOUS_REFERENCE, name->place,
                    "Reference `%.*s` is ambiguous, could be: [%s].", STR_ARG(column),
                    buffer_cstr(&places));
}

/* Reads the name with `qualifier_parts` parts of qualifier. Number of columns that fit. */
static size_t match_columns(const Scope *scope, const AstName *name, size_t qualifier_parts,
                            ScopeMatch *match)
{
    size_t found = 0;
    Str column = name->parts[qualifier_parts].name;
    for (size_t r = 0; r < scope->relation_count; r++) {
        const ScopeRelation *relation = &scope->relations[r];
        if (!qualifier_matches(relation, name->parts, qualifier_parts)) {
            continue;
        }
        for (size_t f = 0; f < relation->schema->field_count; f++) {
            if (str_equal_ignore_case(relation->schema->fields[f].name, column)) {
                *match = (ScopeMatch){relation->first + (uint32_t)f, &relation->schema->fields[f],
                                      qualifier_parts + 1};
                found++;
            }
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

/* The names nearest to `wanted`, nearest first: what Spark proposes. */
typedef struct Proposals {
    Str names[SUGGESTIONS_MAX];
    size_t distances[SUGGESTIONS_MAX];
    size_t count;
} Proposals;

static void propose(Proposals *proposals, Str wanted, Str name)
{
    size_t distance = str_distance(wanted, name);
    size_t at = proposals->count;
    while (at > 0 && proposals->distances[at - 1] > distance) {
        at--;
    }
    if (at == SUGGESTIONS_MAX) {
        return;
    }
    size_t last = proposals->count < SUGGESTIONS_MAX ? proposals->count++ : SUGGESTIONS_MAX - 1;
    for (size_t i = last; i > at; i--) {
        proposals->names[i] = proposals->names[i - 1];
        proposals->distances[i] = proposals->distances[i - 1];
    }
    proposals->names[at] = name;
    proposals->distances[at] = distance;
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
        append_quoted(&list, proposals->names[i]);
    }
    Error *error = error_at(ERROR_UNRESOLVED_COLUMN, place,
                            "A column, variable, or function parameter with name %.*s cannot be "
                            "resolved. Did you mean one of the following? [%s].",
                            STR_ARG(shown), buffer_cstr(&list));
    Str best = proposals->names[0];
    size_t longer = best.size > wanted.size ? best.size : wanted.size;
    if (proposals->distances[0] <= (longer / 3 > 0 ? longer / 3 : 1) &&
        proposals->distances[0] < longer) {
        return error_set_hint(error, "did you mean `%.*s`?", STR_ARG(best));
    }
    return error;
}

Error *scope_unresolved(const Scope *scope, const AstName *name)
{
    AUTO_BUFFER Buffer shown = {0};
    for (size_t i = 0; i < name->part_count; i++) {
        buffer_append_cstr(&shown, i == 0 ? "" : ".");
        append_quoted(&shown, name->parts[i].name);
    }
    Str wanted = name->parts[name->part_count - 1].name;
    Proposals proposals = {0};
    for (size_t r = 0; r < scope->relation_count; r++) {
        const Schema *schema = scope->relations[r].schema;
        for (size_t f = 0; f < schema->field_count; f++) {
            propose(&proposals, wanted, schema->fields[f].name);
        }
    }
    return unresolved(name->place, buffer_str(&shown), wanted, &proposals);
}

Error *schema_unresolved(const Schema *schema, const AstIdentifier *name)
{
    AUTO_BUFFER Buffer shown = {0};
    append_quoted(&shown, name->name);
    Proposals proposals = {0};
    for (size_t f = 0; f < schema->field_count; f++) {
        propose(&proposals, name->name, schema->fields[f].name);
    }
    return unresolved(name->place, buffer_str(&shown), name->name, &proposals);
}
