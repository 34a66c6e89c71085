/* Objects: which field of a record goes to which column.
 *
 * Rules (decisions "Records in"): the exact spelling first, even if its value is null; else one
 * name that is equal ignoring case; else, with two such names, an error naming the column. Of the
 * same name written twice the last one wins. Other fields are passed over, though checked. A value
 * is judged only if it counts in the end: {"id":"x","id":1} is fine, so a misfit is kept with its
 * field until the object ends.
 *
 * The idea that makes it fast: records of one source mostly bring the same names in the same order
 * (json_names.h), and values that are plain (json_plain.h). Where a name is the one that followed
 * last time, is the column's own spelling and comes for the first time, and its value is plain, a
 * member costs two comparisons and a store. Everything else is the general way. */
#include <assert.h>

#include "connectors/format/json_plain.h"
#include "connectors/format/json_value.h"

#include "processor/base/banned.h"

/* What a name leads to. */
typedef struct NameTarget {
    int32_t field; /* -1: no column */
    bool exact;
    Str name; /* as text, for names that match loosely */
} NameTarget;

enum { FOLDED_BYTES = 256 };

static ValueNode *find_folded(const ObjectNode *object, Str name)
{
    char folded[FOLDED_BYTES];
    if (name.size > object->name_size_max || object->field_count == 0) {
        return NULL;
    }
    AUTO_BUFFER Buffer large = {0};
    char *to = name.size <= FOLDED_BYTES ? folded : buffer_reserve(&large, name.size);
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        to[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return map_get(&object->by_folded_name, (Str){to, name.size});
}

static NameTarget find_target(const ObjectNode *object, Str name)
{
    ValueNode *same = find_folded(object, name);
    if (same == NULL) {
        return (NameTarget){-1, false, name};
    }
    const ValueNode *field = same;
    while (field != NULL && !str_equal(field->name, name)) {
        field = field->same_name;
    }
    bool exact = field != NULL;
    return (NameTarget){(int32_t)((exact ? field : same) - object->fields), exact, name};
}

/* The name `raw` as it is written, without escapes and right before its colon: looked up among the
 * names seen, or added to them. */
static NameTarget known_target(ObjectNode *object, Str raw, const KnownName **before)
{
    const KnownName *name = json_names_find(&object->known, raw);
    NameTarget target;
    if (name != NULL) {
        target = (NameTarget){name->field, name->exact, raw};
    } else {
        target = find_target(object, raw);
        name = json_names_add(&object->known, raw, target.field, target.exact, before);
    }
    if (name != NULL) {
        json_names_follow(&object->known, *before, name);
        *before = name;
    }
    return target;
}

/* Stands where a name must be: passes it, its colon and the white space behind. *before becomes the
 * name if it is one that is kept. */
static ReadResult read_name(JsonReader *reader, ObjectNode *object, const ValueNode *parent,
                            const KnownName **before, NameTarget *target)
{
    JsonScan *scan = &reader->scan;
    const KnownName *known = json_names_next(object->known.names, *before, scan->at, scan->end);
    if (known != NULL) {
        *target =
            (NameTarget){known->field, known->exact, (Str){scan->at + 1, (size_t)known->size - 3}};
        *before = known;
        scan->at += known->size;
        json_skip_space(scan);
        return READ_OK;
    }
    if (json_peek(scan) != '"') {
        json_problem(scan, scan->at, "a field name in quotes is expected");
        return json_broken(reader, parent);
    }
    const char *first = scan->at + 1;
    Str name = STR_NULL;
    if (json_read_text(reader, parent, &name) != READ_OK) {
        return READ_BROKEN;
    }
    bool adjacent = json_peek(scan) == ':' && name.data == first;
    if (!json_scan_colon(scan)) {
        return json_broken(reader, parent);
    }
    *target = adjacent ? known_target(object, name, before) : find_target(object, name);
    return READ_OK;
}

static void drop_misfit(ObjectNode *object, size_t field)
{
    Misfit *misfit = &object->misfits[field];
    if (misfit->error != NULL) {
        error_free(misfit->error);
        misfit->error = NULL;
        object->misfit_count--;
    }
}

/* Whether the value of this name is to be read: it counts, as far as known by now. */
static bool admit(ObjectNode *object, const NameTarget *target, const char *at)
{
    size_t field = (size_t)target->field;
    uint8_t *match = &object->matches[field];
    bool first = *match == FIELD_ABSENT;
    object->seen_count += first;
    if (LIKELY(target->exact)) {
        *match = FIELD_EXACT;
        return true;
    }
    if (first) {
        *match = FIELD_LOOSE;
        object->loose_names[field] = target->name;
        return true;
    }
    if (*match == FIELD_LOOSE && !str_equal(object->loose_names[field], target->name)) {
        *match = FIELD_AMBIGUOUS;
        object->ambiguous_at[field] = at;
        object->any_ambiguous = true;
    }
    return *match == FIELD_LOOSE;
}

/* Reads the value of a field; a value that does not fit is noted, passed over, and no failure yet.
 */
static ReadResult read_field(JsonReader *reader, ObjectNode *object, size_t field, Vector *column,
                             uint32_t row)
{
    if (UNLIKELY(column->length > row)) { /* the last of several wins */
        vector_truncate(column, row);
    }
    if (UNLIKELY(object->misfit_count > 0)) {
        drop_misfit(object, field);
    }
    const char *first = reader->scan.at;
    unsigned depth = reader->depth;
    ReadResult result = json_read_value(reader, &object->fields[field], column);
    if (LIKELY(result == READ_OK) || result == READ_BROKEN) {
        return result;
    }
    vector_truncate(column, row);
    object->misfits[field] = (Misfit){reader->error, reader->error_at};
    object->misfit_count++;
    reader->error = NULL;
    reader->depth = depth;
    reader->scan.at = first;
    return json_skip_value(&reader->scan, depth) ? READ_OK
                                                 : json_broken(reader, &object->fields[field]);
}

/* Any name, any value. */
static ReadResult read_member(JsonReader *reader, ObjectNode *object, const KnownName **before,
                              const ValueNode *parent, Vector *const *columns, uint32_t row)
{
    NameTarget target = {-1, false, STR_NULL};
    const char *at = reader->scan.at;
    if (read_name(reader, object, parent, before, &target) != READ_OK) {
        return READ_BROKEN;
    }
    if (target.field >= 0 && admit(object, &target, at)) {
        size_t field = (size_t)target.field;
        return read_field(reader, object, field, columns[field], row);
    }
    return json_skip_value(&reader->scan, reader->depth) ? READ_OK : json_broken(reader, parent);
}

/* White space, up to the end. */
static inline const char *pass_space(const char *at, const char *end)
{
    while (UNLIKELY(at < end && json_is_space(*at))) {
        at++;
    }
    return at;
}

/* The plain value at `at` of a name that was seen before; NULL: for the general way. */
static inline const char *read_plain_value(const JsonReader *reader, ObjectNode *object,
                                           const KnownName *name, const char *at,
                                           Vector *const *columns, uint32_t row)
{
    PlainText text = {reader->scan.begin, reader->scan.end};
    if (UNLIKELY(at >= text.end)) {
        return NULL;
    }
    if (name->field < 0) {
        return json_skip_plain(text, at);
    }
    Vector *column = columns[name->field];
    uint8_t *match = &object->matches[name->field];
    if (UNLIKELY(!name->exact || *match != FIELD_ABSENT || row >= column->capacity)) {
        return NULL;
    }
    assert(column->length == row);
    if (*at == 'n') {
        at = json_plain_null(text, at);
        if (at != NULL) {
            vector_append_null(column, reader->arena);
        }
    } else {
        at =
            json_read_plain(text, at, &object->fields[name->field], reader->time_zone, column, row);
    }
    if (LIKELY(at != NULL)) {
        *match = FIELD_EXACT;
        object->seen_count++;
    }
    return at;
}

/* Reads members as long as each is the guessed name with a plain value. True: passed the closing
 * brace; false: stands at a name (or what should be one) that wants the general way. */
static bool read_plain_members(JsonReader *reader, ObjectNode *object, const KnownName **before,
                               Vector *const *columns, uint32_t row)
{
    const char *at = reader->scan.at;
    const char *const end = reader->scan.end;
    const KnownName *const names = object->known.names;
    const KnownName *last = *before;
    bool closed = false;
    for (;;) {
        const KnownName *name = json_names_next(names, last, at, end);
        if (UNLIKELY(name == NULL)) {
            break;
        }
        const char *behind =
            read_plain_value(reader, object, name, pass_space(at + name->size, end), columns, row);
        if (UNLIKELY(behind == NULL)) {
            break;
        }
        last = name;
        at = behind + 1;
        if (*behind == '}') {
            closed = true;
            break;
        }
        at = pass_space(at, end);
    }
    reader->scan.at = at;
    *before = last;
    return closed;
}

/* Stands behind '{'. */
static ReadResult read_members(JsonReader *reader, ObjectNode *object, const ValueNode *parent,
                               Vector *const *columns, uint32_t row)
{
    JsonScan *scan = &reader->scan;
    const KnownName *before = &object->known.names[0];
    json_skip_space(scan);
    if (json_peek(scan) == '}') {
        scan->at++;
        return READ_OK;
    }
    for (;;) {
        if (LIKELY(read_plain_members(reader, object, &before, columns, row))) {
            return READ_OK;
        }
        if (read_member(reader, object, &before, parent, columns, row) != READ_OK) {
            return READ_BROKEN;
        }
        json_skip_space(scan);
        char c = json_peek(scan);
        if (c == '}') {
            scan->at++;
            return READ_OK;
        }
        if (c != ',') {
            json_problem(scan, scan->at, "a comma or a closing brace is expected");
            return json_broken(reader, parent);
        }
        scan->at++;
        json_skip_space(scan);
    }
}

/* Two names match a column ignoring case and none exactly: a misfit, unless there is one before. */
static void judge_ambiguous(JsonReader *reader, ObjectNode *object)
{
    for (size_t i = 0; i < object->field_count; i++) {
        if (object->matches[i] == FIELD_AMBIGUOUS) {
            drop_misfit(object, i);
            (void)json_misfit(reader, &object->fields[i], object->ambiguous_at[i],
                              "ambiguous field: several names match the column ignoring case, "
                              "none exactly");
            object->misfits[i] = (Misfit){reader->error, reader->error_at};
            object->misfit_count++;
            reader->error = NULL;
        }
    }
}

/* Hands the misfit that stands first in the text to the reader, frees the others. */
static ReadResult first_misfit(JsonReader *reader, ObjectNode *object)
{
    Misfit *first = NULL;
    for (size_t i = 0; i < object->field_count; i++) {
        Misfit *misfit = &object->misfits[i];
        if (misfit->error != NULL && (first == NULL || misfit->at < first->at)) {
            first = misfit;
        }
    }
    assert(first != NULL);
    reader->error = first->error;
    reader->error_at = first->at;
    first->error = NULL;
    object->misfit_count--;
    return READ_MISFIT;
}

static void drop_misfits(ObjectNode *object)
{
    for (size_t i = 0; object->misfit_count > 0 && i < object->field_count; i++) {
        drop_misfit(object, i);
    }
}

ReadResult json_read_object(JsonReader *reader, ObjectNode *object, const ValueNode *parent,
                            Vector *const *columns, uint32_t row)
{
    size_t count = object->field_count;
    assert(object->misfit_count == 0);
    if (UNLIKELY(reader->depth >= JSON_DEPTH_MAX)) {
        json_problem(&reader->scan, reader->scan.at, "arrays and objects are nested too deeply");
        return json_broken(reader, parent);
    }
    memset(object->matches, FIELD_ABSENT, count);
    object->seen_count = 0;
    object->any_ambiguous = false;
    reader->depth++;
    reader->scan.at++;
    ReadResult result = read_members(reader, object, parent, columns, row);
    reader->depth--;
    if (LIKELY(result == READ_OK)) {
        if (UNLIKELY(object->any_ambiguous)) {
            judge_ambiguous(reader, object);
        }
        if (UNLIKELY(object->misfit_count > 0)) {
            result = first_misfit(reader, object);
        }
    }
    if (UNLIKELY(result != READ_OK)) {
        drop_misfits(object);
        return result;
    }
    for (size_t i = 0; object->seen_count < count && i < count; i++) {
        if (object->matches[i] == FIELD_ABSENT) {
            vector_append_null(columns[i], reader->arena);
        }
    }
    return READ_OK;
}
