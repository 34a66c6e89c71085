/* read_files(path, …) and read_kafka(…): sources named in place (SQ-21, SQ-22, ST-57, ST-58). Their
 * arguments are constants. The columns of read_kafka are known, those of read_files when it is
 * given a schema; what is right is NOT_YET. */
#include "processor/bind/bind_query_internal.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------- arguments --- */

static Error *invalid_argument(const AstRelation *ast, SourcePlace place, const char *what)
{
    return error_at(ERROR_INVALID_PARAMETER_VALUE, place, "%.*s %s.", STR_ARG(ast->name.text),
                    what);
}

/* The argument of that name, or NULL. */
static const AstArgument *named(const AstRelation *ast, const char *name)
{
    for (size_t i = 0; i < ast->argument_count; i++) {
        const AstArgument *argument = &ast->arguments[i];
        if (argument->name.name.data != NULL &&
            str_equal_ignore_case(argument->name.name, str_from(name))) {
            return argument;
        }
    }
    return NULL;
}

static bool is_named_before(const AstRelation *ast, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (str_equal_ignore_case(ast->arguments[i].name.name, ast->arguments[index].name.name)) {
            return true;
        }
    }
    return false;
}

/* A constant; its text, where it is a string. */
static Error *constant_text(Binder *binder, const AstRelation *ast, const AstArgument *argument,
                            Str *ret_text)
{
    const Scope nothing = {.column_count = 0};
    BoundExpr *value = NULL;
    BoundExpr *text = NULL;
    const Vector *vector = NULL;
    TRY(bind_expr(binder, &nothing, argument->expr, &value));
    if (!bound_is_foldable(value)) {
        return error_at(ERROR_NON_FOLDABLE_ARGUMENT, argument->expr->place,
                        "The function `%.*s` requires its arguments to be foldable expressions.",
                        STR_ARG(ast->name.text));
    }
    TRY(check_cast(binder, value->type, &type_string, false, value));
    TRY(bound_cast(binder, value, &type_string, &text));
    TRY(bound_evaluate(binder, text, &vector));
    if (!vector_is_valid(vector, 0)) {
        return invalid_argument(ast, argument->expr->place, "takes no NULL as argument");
    }
    *ret_text = arena_copy_str(binder->arena, VECTOR_VALUE(vector, Str, 0));
    return NULL;
}

/* Constants all; names behind the first `positional` arguments, none twice. */
static Error *check_arguments(Binder *binder, const AstRelation *ast, size_t positional)
{
    for (size_t i = 0; i < ast->argument_count; i++) {
        const AstArgument *argument = &ast->arguments[i];
        Str text = STR_NULL;
        bool has_name = argument->name.name.data != NULL;
        if (!has_name && i >= positional) {
            return error_set_hint(
                invalid_argument(ast, argument->expr->place,
                                 positional == 0 ? "takes named arguments only"
                                                 : "takes one argument without a name, the path"),
                "write name => value");
        }
        if (has_name && is_named_before(ast, i)) {
            return invalid_argument(ast, argument->name.place, "is given an argument twice");
        }
        TRY(constant_text(binder, ast, argument, &text));
    }
    return NULL;
}

/* ------------------------------------------------------------ read_kafka --- */

static const Field kafka_fields[] = {
    {{"key", 3}, &type_binary, false, {NULL, 0}},
    {{"value", 5}, &type_binary, false, {NULL, 0}},
    {{"topic", 5}, &type_string, false, {NULL, 0}},
    {{"partition", 9}, &type_int, false, {NULL, 0}},
    {{"offset", 6}, &type_bigint, false, {NULL, 0}},
    {{"timestamp", 9}, &type_timestamp, false, {NULL, 0}},
    {{"timestampType", 13}, &type_int, false, {NULL, 0}},
};

static Error *read_kafka(Binder *binder, const AstRelation *ast, const Schema **ret_schema)
{
    static const char *const choices[] = {"subscribe", "subscribePattern", "assign"};
    TRY(check_arguments(binder, ast, 0));
    if (named(ast, "bootstrapServers") == NULL) {
        return error_set_hint(invalid_argument(ast, ast->place, "needs a broker"),
                              "write bootstrapServers => 'host:9092'");
    }
    size_t chosen = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(choices); i++) {
        chosen += named(ast, choices[i]) != NULL;
    }
    if (chosen != 1) {
        return error_set_hint(
            invalid_argument(ast, ast->place,
                             chosen == 0 ? "needs to know which topic to read"
                                         : "takes one of subscribe, subscribePattern and assign"),
            "write subscribe => 'topic'");
    }
    *ret_schema = schema_new(binder->arena, kafka_fields, ARRAY_LENGTH(kafka_fields));
    return NULL;
}

/* ------------------------------------------------------------ read_files --- */

static Error *check_format(Binder *binder, const AstRelation *ast)
{
    static const char *const formats[] = {"csv", "json", "avro", "text"};
    const AstArgument *argument = named(ast, "format");
    Str format = STR_NULL;
    if (argument == NULL) {
        return NULL;
    }
    TRY(constant_text(binder, ast, argument, &format));
    for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
        if (str_equal_ignore_case(format, str_from(formats[i]))) {
            return NULL;
        }
    }
    return error_set_hint(invalid_argument(ast, argument->expr->place, "does not know this format"),
                          "formats are csv, json, avro and text");
}

/* schema => 'a INT, b STRING'; *ret_schema stays NULL without. */
static Error *files_schema(Binder *binder, const AstRelation *ast, const Schema **ret_schema)
{
    const AstArgument *argument = named(ast, "schema");
    AstColumnDefinition *columns = NULL;
    size_t count = 0;
    Str text = STR_NULL;
    if (argument == NULL) {
        return NULL;
    }
    TRY(constant_text(binder, ast, argument, &text));
    Error *error = sql_parse_column_definitions(text, binder->arena, &columns, &count);
    if (error == NULL) {
        error = bind_schema(binder->arena, columns, count, ret_schema);
    }
    return error == NULL
               ? NULL
               : error_replace_source(error_set_place(error, argument->expr->place), STR_NULL);
}

static Error *read_files(Binder *binder, const AstRelation *ast, const Schema **ret_schema)
{
    TRY(check_arguments(binder, ast, 1));
    bool has_path = named(ast, "path") != NULL ||
                    (ast->argument_count > 0 && ast->arguments[0].name.name.data == NULL);
    if (!has_path) {
        return error_set_hint(invalid_argument(ast, ast->place, "needs a path"),
                              "write read_files('/folder')");
    }
    TRY(check_format(binder, ast));
    return files_schema(binder, ast, ret_schema);
}

/* ---------------------------------------------------------------- the whole --- */

bool is_read_function(const AstRelation *ast)
{
    if (ast->kind != AST_RELATION_FUNCTION || ast->name.part_count != 1) {
        return false;
    }
    Str name = ast->name.parts[0].name;
    return str_equal_ignore_case(name, STR("read_files")) ||
           str_equal_ignore_case(name, STR("read_kafka"));
}

Error *bind_read_function(Binder *binder, const AstRelation *ast, FromResult *result)
{
    bool files = str_equal_ignore_case(ast->name.parts[0].name, STR("read_files"));
    const Schema *schema = NULL;
    TRY(files ? read_files(binder, ast, &schema) : read_kafka(binder, ast, &schema));
    TRY(check_batch_reader(binder, ast));
    Error *later =
        not_yet(ast->place, "The table function %s", files ? "read_files" : "read_kafka");
    if (schema == NULL) {
        return later; /* its columns are those of files nobody has read */
    }
    binder_report(binder, later);
    Relation *relation = arena_new_object(binder->arena, Relation);
    *relation = (Relation){
        .name = ast->name.text, .kind = RELATION_STREAM, .schema = schema, .sequence = STR_NULL};
    result->node = bound_node_new(binder, BOUND_SCAN, schema, ast->place);
    result->node->relation = relation;
    result->node->stream = ast->stream;
    ScopeQualifier qualifier = {.parts = {ast->name.parts[0].name}, .part_count = 1};
    result->scope = scope_of_schema(binder->arena, schema, &qualifier, 0);
    return NULL;
}
