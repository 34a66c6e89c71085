/* Compiles the fields of a schema into the nodes that reading walks: for objects a map from
 * lower-case names to fields and the table of names seen. */
#include <assert.h>

#include "connectors/format/json_value.h"

#include "processor/base/banned.h"

static const char *interval_or_variant(const Type *type)
{
    if (type->kind == TYPE_VARIANT) {
        return "VARIANT";
    }
    return type->kind == TYPE_INTERVAL_DAY_TIME || type->kind == TYPE_INTERVAL_YEAR_MONTH
               ? "INTERVAL"
               : NULL;
}

static Str fold_name(Arena *arena, Str name)
{
    char *folded = arena_alloc_bytes(arena, name.size);
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        folded[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (Str){folded, name.size};
}

static const ValueNode *column_of(const ValueNode *node)
{
    while (node->parent != NULL) {
        node = node->parent;
    }
    return node;
}

static unsigned depth_of(const ValueNode *node)
{
    unsigned depth = 0;
    for (; node != NULL; node = node->parent) {
        depth++;
    }
    return depth;
}

static PlainKind plain_kind(const Type *type)
{
    switch (type->kind) {
    case TYPE_STRING:
        return PLAIN_STRING;
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return PLAIN_TIME;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return PLAIN_INTEGER;
    case TYPE_DECIMAL:
        return PLAIN_DECIMAL;
    case TYPE_DOUBLE:
        return PLAIN_DOUBLE;
    case TYPE_BOOLEAN:
        return PLAIN_BOOLEAN;
    case TYPE_NULL:
    case TYPE_FLOAT:
    case TYPE_BINARY:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT:
        break;
    }
    return PLAIN_NONE;
}

static Error *init_children(ValueNode *node, Arena *arena)
{
    const Type *type = node->type;
    Field parts[2] = {{.name = STR("element"), .type = type->element}, {.type = NULL}};
    size_t count = 1;
    if (type->kind == TYPE_MAP) {
        parts[0] = (Field){.name = STR("key"), .type = type->key};
        parts[1] = (Field){.name = STR("value"), .type = type->element};
        count = 2;
    }
    node->children = arena_new_array(arena, ValueNode, count);
    for (size_t i = 0; i < count; i++) {
        TRY(json_value_node_init(&node->children[i], arena, &parts[i], node));
    }
    return NULL;
}

Error *json_value_node_init(ValueNode *node, Arena *arena, const Field *field,
                            const ValueNode *parent)
{
    *node = (ValueNode){.type = field->type,
                        .kind = field->type->kind,
                        .plain = plain_kind(field->type),
                        .precision = field->type->precision,
                        .scale = field->type->scale,
                        .name = field->name,
                        .parent = parent};
    Str column = column_of(node)->name;
    const char *unread = interval_or_variant(field->type);
    if (unread != NULL) {
        return error_new(ERROR_NOT_YET, "column `%.*s`: %s values cannot be read from JSON yet",
                         STR_ARG(column), unread);
    }
    /* Each level of the type is at least one level of the text. */
    if (depth_of(node) > JSON_DEPTH_MAX) {
        return error_new(ERROR_STATEMENT_TOO_COMPLEX,
                         "column `%.*s`: the type is nested deeper than %d levels", STR_ARG(column),
                         JSON_DEPTH_MAX);
    }
    if (field->type->kind == TYPE_MAP && !type_is_orderable(field->type->key)) {
        return error_new(ERROR_KEY_TYPE_NOT_ORDERABLE,
                         "column `%.*s`: the key of a map must be of a type that can be compared",
                         STR_ARG(column));
    }
    if (field->type->kind == TYPE_STRUCT) {
        return json_object_node_new(arena, field->type->fields, field->type->field_count, node,
                                    &node->object);
    }
    if (field->type->kind == TYPE_ARRAY || field->type->kind == TYPE_MAP) {
        return init_children(node, arena);
    }
    return NULL;
}

static void release_map(void *map)
{
    map_done(map);
}

static Error *add_name(ObjectNode *object, Arena *arena, ValueNode *field)
{
    Str folded = fold_name(arena, field->name);
    ValueNode *same = map_get(&object->by_folded_name, folded);
    for (const ValueNode *other = same; other != NULL; other = other->same_name) {
        if (str_equal(other->name, field->name)) {
            return error_new(ERROR_COLUMN_ALREADY_EXISTS,
                             "The column `%.*s` already exists: two fields of one JSON object "
                             "cannot have the same name.",
                             STR_ARG(field->name));
        }
    }
    field->same_name = same;
    map_put(&object->by_folded_name, folded, field);
    if (field->name.size > object->name_size_max) {
        object->name_size_max = field->name.size;
    }
    return NULL;
}

Error *json_object_node_new(Arena *arena, const Field *fields, size_t count,
                            const ValueNode *parent, ObjectNode **ret_object)
{
    assert(count <= INT32_MAX);
    ObjectNode *object = arena_new_object(arena, ObjectNode);
    arena_on_reset(arena, release_map, &object->by_folded_name);
    object->field_count = count;
    object->fields = arena_new_array(arena, ValueNode, count);
    object->matches = arena_new_array(arena, uint8_t, count);
    object->loose_names = arena_new_array(arena, Str, count);
    object->ambiguous_at = arena_new_array(arena, const char *, count);
    object->misfits = arena_new_array(arena, Misfit, count);
    json_names_init(&object->known, arena);
    for (size_t i = 0; i < count; i++) {
        TRY(json_value_node_init(&object->fields[i], arena, &fields[i], parent));
        TRY(add_name(object, arena, &object->fields[i]));
    }
    *ret_object = object;
    return NULL;
}
