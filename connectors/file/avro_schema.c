/* Avro schemas. Names of records, enums and fixed types stand for them once they were defined; a
 * record that contains itself has no SQL type and is refused. */
#include "connectors/file/avro_schema.h"

#include "connectors/format/json_tree.h"
#include "processor/base/map.h"

#include "processor/base/banned.h"

typedef struct Compiler {
    Arena *arena;
    Map named; /* full name -> AvroNode; NULL while it is being defined */
} Compiler;

static Error *compile(Compiler *compiler, const JsonTree *json, Str space, unsigned depth,
                      const AvroNode **ret_node);

static Error *bad_schema(const char *why)
{
    return error_new(ERROR_MALFORMED_RECORD, "the Avro schema of the file is wrong: %s", why);
}

static AvroNode *new_node(Compiler *compiler, AvroKind kind, const Type *type)
{
    AvroNode *node = arena_new_object(compiler->arena, AvroNode);
    node->kind = kind;
    node->type = type;
    return node;
}

/* ------------------------------------------------------------ primitives --- */

static bool primitive(Str name, AvroKind *ret_kind, const Type **ret_type)
{
    static const struct {
        const char *name;
        AvroKind kind;
        const Type *type;
    } rows[] = {
        {"null", AVRO_NULL_TYPE, &type_null},     {"boolean", AVRO_BOOLEAN_TYPE, &type_boolean},
        {"int", AVRO_INT_TYPE, &type_int},        {"long", AVRO_LONG_TYPE, &type_bigint},
        {"float", AVRO_FLOAT_TYPE, &type_float},  {"double", AVRO_DOUBLE_TYPE, &type_double},
        {"bytes", AVRO_BYTES_TYPE, &type_binary}, {"string", AVRO_STRING_TYPE, &type_string},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        if (str_equal(name, str_from(rows[i].name))) {
            *ret_kind = rows[i].kind;
            *ret_type = rows[i].type;
            return true;
        }
    }
    return false;
}

/* Logical types that are not known leave the type as it is, as the specification asks. */
static void apply_logical(Compiler *compiler, const JsonTree *json, AvroNode *node)
{
    Str logical = json_tree_str(json_tree_get(json, "logicalType"), STR(""));
    bool is_long = node->kind == AVRO_LONG_TYPE;
    bool local = str_starts_with(logical, STR("local-"));
    Str time = local ? (Str){logical.data + 6, logical.size - 6} : logical;
    const Type *time_type = local ? &type_timestamp_ntz : &type_timestamp;
    if (node->kind == AVRO_INT_TYPE && str_equal(logical, STR("date"))) {
        node->type = &type_date;
    } else if (is_long && str_equal(time, STR("timestamp-millis"))) {
        node->type = time_type;
        node->scale_to_us = 1000;
    } else if (is_long && str_equal(time, STR("timestamp-micros"))) {
        node->type = time_type;
        node->scale_to_us = 1;
    } else if ((node->kind == AVRO_BYTES_TYPE || node->kind == AVRO_FIXED_TYPE) &&
               str_equal(logical, STR("decimal"))) {
        int64_t precision = json_tree_int(json_tree_get(json, "precision"), 0);
        int64_t scale = json_tree_int(json_tree_get(json, "scale"), 0);
        if (precision >= 1 && precision <= DECIMAL_PRECISION_MAX && scale >= 0 &&
            scale <= precision) {
            node->type = type_decimal(compiler->arena, (int)precision, (int)scale);
        }
    }
}

/* ----------------------------------------------------------------- names --- */

static Str full_name(Compiler *compiler, Str name, Str space)
{
    if (space.size == 0 || str_find_byte(name, '.') < name.size) {
        return name;
    }
    return str_from(arena_printf(compiler->arena, "%.*s.%.*s", STR_ARG(space), STR_ARG(name)));
}

/* The namespace that holds inside a named type. */
static Str inner_space(Compiler *compiler, const JsonTree *json, Str space)
{
    Str name = json_tree_str(json_tree_get(json, "name"), STR(""));
    for (size_t i = name.size; i > 0; i--) {
        if (name.data[i - 1] == '.') {
            return (Str){name.data, i - 1};
        }
    }
    (void)compiler;
    return json_tree_str(json_tree_get(json, "namespace"), space);
}

static void define(Compiler *compiler, const JsonTree *json, Str space, AvroNode *node)
{
    Str name = json_tree_str(json_tree_get(json, "name"), STR(""));
    if (name.size > 0) {
        map_put(&compiler->named, full_name(compiler, name, inner_space(compiler, json, space)),
                node);
    }
}

static Error *compile_name(Compiler *compiler, Str name, Str space, const AvroNode **ret_node)
{
    AvroKind kind = AVRO_NULL_TYPE;
    const Type *type = NULL;
    if (primitive(name, &kind, &type)) {
        *ret_node = new_node(compiler, kind, type);
        return NULL;
    }
    const AvroNode *node = map_get(&compiler->named, full_name(compiler, name, space));
    if (node == NULL) {
        node = map_get(&compiler->named, name);
    }
    if (node == NULL) {
        return error_new(ERROR_MALFORMED_RECORD,
                         "the Avro schema of the file names the type `%.*s`, which it does not "
                         "define",
                         STR_ARG(name));
    }
    if (node->type == NULL) {
        return error_new(ERROR_NOT_YET,
                         "Avro records that contain themselves (`%.*s`) are not "
                         "supported yet.",
                         STR_ARG(name));
    }
    *ret_node = node;
    return NULL;
}

/* --------------------------------------------------------------- complex --- */

static Error *compile_record(Compiler *compiler, const JsonTree *json, Str space, unsigned depth,
                             const AvroNode **ret_node)
{
    const JsonTree *list = json_tree_get(json, "fields");
    size_t count = json_tree_size(list);
    AvroNode *node = new_node(compiler, AVRO_RECORD_TYPE, NULL);
    AvroMember *members = arena_new_array(compiler->arena, AvroMember, count);
    Field *fields = arena_new_array(compiler->arena, Field, count);
    if (json_tree_kind(list) != JSON_ARRAY) {
        return bad_schema("a record without fields");
    }
    define(compiler, json, space, node);
    for (size_t i = 0; i < count; i++) {
        const JsonTree *field = json_tree_at(list, i);
        members[i].name = json_tree_str(json_tree_get(field, "name"), STR(""));
        TRY(compile(compiler, json_tree_get(field, "type"), inner_space(compiler, json, space),
                    depth + 1, &members[i].node));
        fields[i] = (Field){.name = members[i].name, .type = members[i].node->type};
    }
    node->members = members;
    node->member_count = count;
    node->type = type_struct(compiler->arena, fields, count);
    *ret_node = node;
    return NULL;
}

static Error *compile_enum(Compiler *compiler, const JsonTree *json, Str space,
                           const AvroNode **ret_node)
{
    const JsonTree *list = json_tree_get(json, "symbols");
    AvroNode *node = new_node(compiler, AVRO_ENUM_TYPE, &type_string);
    node->symbol_count = json_tree_size(list);
    Str *symbols = arena_new_array(compiler->arena, Str, node->symbol_count);
    for (size_t i = 0; i < node->symbol_count; i++) {
        symbols[i] = json_tree_str(json_tree_at(list, i), STR(""));
    }
    node->symbols = symbols;
    define(compiler, json, space, node);
    *ret_node = node;
    return NULL;
}

static Error *compile_fixed(Compiler *compiler, const JsonTree *json, Str space,
                            const AvroNode **ret_node)
{
    int64_t size = json_tree_int(json_tree_get(json, "size"), -1);
    if (size < 0 || size > INT32_MAX) {
        return bad_schema("a fixed type without size");
    }
    AvroNode *node = new_node(compiler, AVRO_FIXED_TYPE, &type_binary);
    node->size = (size_t)size;
    apply_logical(compiler, json, node);
    define(compiler, json, space, node);
    *ret_node = node;
    return NULL;
}

static Error *compile_list(Compiler *compiler, const JsonTree *json, bool map, Str space,
                           unsigned depth, const AvroNode **ret_node)
{
    AvroMember *inside = arena_new_object(compiler->arena, AvroMember);
    TRY(compile(compiler, json_tree_get(json, map ? "values" : "items"), space, depth + 1,
                &inside->node));
    const Type *type = map ? type_map(compiler->arena, &type_string, inside->node->type)
                           : type_array(compiler->arena, inside->node->type);
    AvroNode *node = new_node(compiler, map ? AVRO_MAP_TYPE : AVRO_ARRAY_TYPE, type);
    node->members = inside;
    node->member_count = 1;
    *ret_node = node;
    return NULL;
}

/* The type that takes all branches but null. */
static const Type *union_type(const AvroMember *branches, size_t count)
{
    const Type *type = &type_null;
    for (size_t i = 0; i < count; i++) {
        const Type *other = branches[i].node->type;
        if (other->kind == TYPE_NULL) {
            continue;
        }
        bool integers = type_is_integral(type) && type_is_integral(other);
        bool floats = (type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE) &&
                      (other->kind == TYPE_FLOAT || other->kind == TYPE_DOUBLE);
        if (type->kind == TYPE_NULL) {
            type = other;
        } else if (integers || floats) {
            type = integers ? &type_bigint : &type_double;
        } else {
            return NULL;
        }
    }
    return type;
}

static Error *compile_union(Compiler *compiler, const JsonTree *json, Str space, unsigned depth,
                            const AvroNode **ret_node)
{
    size_t count = json_tree_size(json);
    AvroMember *branches = arena_new_array(compiler->arena, AvroMember, count);
    for (size_t i = 0; i < count; i++) {
        TRY(compile(compiler, json_tree_at(json, i), space, depth + 1, &branches[i].node));
    }
    AvroNode *node = new_node(compiler, AVRO_UNION_TYPE, union_type(branches, count));
    if (node->type == NULL) {
        return error_new(ERROR_NOT_YET, "Avro unions of several types beside null are not "
                                        "supported yet.");
    }
    node->members = branches;
    node->member_count = count;
    *ret_node = node;
    return NULL;
}

static Error *compile_object(Compiler *compiler, const JsonTree *json, Str space, unsigned depth,
                             const AvroNode **ret_node)
{
    const JsonTree *inner = json_tree_get(json, "type");
    Str word = json_tree_str(inner, STR(""));
    AvroKind kind = AVRO_NULL_TYPE;
    const Type *type = NULL;
    if (json_tree_kind(inner) != JSON_STRING) {
        return compile(compiler, inner, space, depth + 1, ret_node);
    }
    if (str_equal(word, STR("record")) || str_equal(word, STR("error"))) {
        return compile_record(compiler, json, space, depth, ret_node);
    }
    if (str_equal(word, STR("enum"))) {
        return compile_enum(compiler, json, space, ret_node);
    }
    if (str_equal(word, STR("fixed"))) {
        return compile_fixed(compiler, json, space, ret_node);
    }
    if (str_equal(word, STR("array")) || str_equal(word, STR("map"))) {
        return compile_list(compiler, json, word.data[0] == 'm', space, depth, ret_node);
    }
    if (primitive(word, &kind, &type)) {
        AvroNode *node = new_node(compiler, kind, type);
        apply_logical(compiler, json, node);
        *ret_node = node;
        return NULL;
    }
    return compile_name(compiler, word, space, ret_node);
}

static Error *compile(Compiler *compiler, const JsonTree *json, Str space, unsigned depth,
                      const AvroNode **ret_node)
{
    if (depth > AVRO_DEPTH_MAX) {
        return bad_schema("it is nested too deep");
    }
    switch (json_tree_kind(json)) {
    case JSON_STRING:
        return compile_name(compiler, json_tree_str(json, STR("")), space, ret_node);
    case JSON_ARRAY:
        return compile_union(compiler, json, space, depth, ret_node);
    case JSON_OBJECT:
        return compile_object(compiler, json, space, depth, ret_node);
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_NUMBER:
        break;
    }
    return bad_schema("a type is a name, an object or a list");
}

Error *avro_schema_parse(Str json, Arena *arena, const AvroNode **ret_root)
{
    Compiler compiler = {.arena = arena};
    const JsonTree *tree = NULL;
    const AvroNode *root = NULL;
    Error *error = json_tree_parse(json, arena, &tree);
    if (error == NULL) {
        error = compile(&compiler, tree, STR(""), 0, &root);
    }
    map_done(&compiler.named);
    TRY(error);
    if (root->kind != AVRO_RECORD_TYPE) {
        return error_new(ERROR_NOT_YET, "Avro files of something else than records are not "
                                        "supported yet.");
    }
    *ret_root = root;
    return NULL;
}

Error *avro_schema_columns(const AvroNode *root, Arena *arena, const Schema **ret_schema)
{
    Field *fields = arena_new_array(arena, Field, root->member_count);
    for (size_t i = 0; i < root->member_count; i++) {
        fields[i] = (Field){.name = arena_copy_str(arena, root->members[i].name),
                            .type = type_copy(arena, root->members[i].node->type)};
    }
    *ret_schema = schema_new(arena, fields, root->member_count);
    return NULL;
}
