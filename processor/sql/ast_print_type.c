/* Printing names, literals, intervals and data types. */
#include "processor/sql/ast_print_internal.h"
#include "processor/sql/lexer.h"

#include "processor/base/banned.h"

/* ---------------------------------------------------------- names, literals --- */

void print_list_separator(Buffer *out, size_t i)
{
    if (i > 0) {
        buffer_append_cstr(out, ", ");
    }
}

void ast_print_identifier(const AstIdentifier *identifier, Buffer *out)
{
    if (!identifier->quoted && lexer_is_word(identifier->name)) {
        buffer_append_str(out, identifier->name);
        return;
    }
    buffer_append_byte(out, '`');
    for (size_t i = 0; i < identifier->name.size; i++) {
        if (identifier->name.data[i] == '`') {
            buffer_append_byte(out, '`');
        }
        buffer_append_byte(out, identifier->name.data[i]);
    }
    buffer_append_byte(out, '`');
}

void ast_print_name(const AstName *name, Buffer *out)
{
    for (size_t i = 0; i < name->part_count; i++) {
        if (i > 0) {
            buffer_append_byte(out, '.');
        }
        ast_print_identifier(&name->parts[i], out);
    }
}

void ast_print_string(Str value, Buffer *out)
{
    buffer_append_byte(out, '\'');
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        if (c == '\'' || c == '\\') {
            buffer_append_byte(out, '\\');
            buffer_append_byte(out, c);
        } else if (c == '\n') {
            buffer_append_cstr(out, "\\n");
        } else if (c == '\0') {
            buffer_append_cstr(out, "\\u0000"); /* \0 and digits would be octal */
        } else {
            buffer_append_byte(out, c);
        }
    }
    buffer_append_byte(out, '\'');
}

void print_identifiers(const AstIdentifierList *list, Buffer *out)
{
    for (size_t i = 0; i < list->item_count; i++) {
        print_list_separator(out, i);
        ast_print_identifier(&list->items[i], out);
    }
}

void print_columns(const AstIdentifierList *list, Buffer *out)
{
    buffer_append_byte(out, '(');
    print_identifiers(list, out);
    buffer_append_byte(out, ')');
}

const char *interval_unit_name(AstIntervalUnit unit)
{
    static const char *const names[] = {
        [AST_UNIT_MICROSECOND] = "MICROSECOND",
        [AST_UNIT_MILLISECOND] = "MILLISECOND",
        [AST_UNIT_SECOND] = "SECOND",
        [AST_UNIT_MINUTE] = "MINUTE",
        [AST_UNIT_HOUR] = "HOUR",
        [AST_UNIT_DAY] = "DAY",
        [AST_UNIT_WEEK] = "WEEK",
        [AST_UNIT_MONTH] = "MONTH",
        [AST_UNIT_YEAR] = "YEAR",
    };
    return names[unit];
}

static void print_interval_value(const AstIntervalPart *part, Buffer *out)
{
    buffer_append_cstr(out, part->negative ? " -" : " ");
    if (part->is_string) {
        ast_print_string(part->value, out);
    } else {
        buffer_append_str(out, part->value);
    }
}

void print_interval(const AstInterval *interval, Buffer *out)
{
    buffer_append_cstr(out, "INTERVAL");
    for (size_t i = 0; i < interval->part_count; i++) {
        print_interval_value(&interval->parts[i], out);
        if (interval->form != AST_INTERVAL_STRING) {
            buffer_printf(out, " %s", interval_unit_name(interval->parts[i].unit));
        }
    }
    if (interval->form == AST_INTERVAL_FIELDS) {
        buffer_printf(out, " TO %s", interval_unit_name(interval->to_unit));
    }
}

void print_literal(const AstLiteral *literal, Buffer *out)
{
    static const char *const suffixes[] = {
        [AST_SUFFIX_NONE] = "", [AST_SUFFIX_L] = "L", [AST_SUFFIX_S] = "S",   [AST_SUFFIX_Y] = "Y",
        [AST_SUFFIX_F] = "F",   [AST_SUFFIX_D] = "D", [AST_SUFFIX_BD] = "BD",
    };
    static const char *const words[] = {
        [AST_LITERAL_NULL] = "NULL",
        [AST_LITERAL_TRUE] = "TRUE",
        [AST_LITERAL_FALSE] = "FALSE",
        [AST_LITERAL_STRING] = "",
        [AST_LITERAL_DATE] = "DATE ",
        [AST_LITERAL_TIMESTAMP] = "TIMESTAMP ",
        [AST_LITERAL_TIMESTAMP_NTZ] = "TIMESTAMP_NTZ ",
        [AST_LITERAL_TIMESTAMP_LTZ] = "TIMESTAMP_LTZ ",
        [AST_LITERAL_BINARY] = "X",
    };
    switch (literal->kind) {
    case AST_LITERAL_INTEGER:
    case AST_LITERAL_DECIMAL:
    case AST_LITERAL_DOUBLE:
        buffer_append_str(out, literal->value);
        buffer_append_cstr(out, suffixes[literal->suffix]);
        return;
    case AST_LITERAL_NULL:
    case AST_LITERAL_TRUE:
    case AST_LITERAL_FALSE:
        buffer_append_cstr(out, words[literal->kind]);
        return;
    case AST_LITERAL_STRING:
    case AST_LITERAL_DATE:
    case AST_LITERAL_TIMESTAMP:
    case AST_LITERAL_TIMESTAMP_NTZ:
    case AST_LITERAL_TIMESTAMP_LTZ:
    case AST_LITERAL_BINARY:
        buffer_append_cstr(out, words[literal->kind]);
        ast_print_string(literal->value, out);
        return;
    }
}

/* -------------------------------------------------------------------- types --- */

static void print_struct_field(const AstStructField *field, Buffer *out)
{
    ast_print_identifier(&field->name, out);
    buffer_append_cstr(out, ": ");
    ast_print_data_type(field->type, out);
    if (field->not_null) {
        buffer_append_cstr(out, " NOT NULL");
    }
    if (field->comment.value.data != NULL) {
        buffer_append_cstr(out, " COMMENT ");
        ast_print_string(field->comment.value, out);
    }
}

static void print_struct_type(const AstDataType *type, Buffer *out)
{
    buffer_append_cstr(out, "STRUCT<");
    for (size_t i = 0; i < type->field_count; i++) {
        print_list_separator(out, i);
        print_struct_field(&type->fields[i], out);
    }
    buffer_append_byte(out, '>');
}

static void print_decimal_type(const AstDataType *type, Buffer *out)
{
    buffer_append_cstr(out, "DECIMAL");
    if (type->has_precision) {
        buffer_printf(out, "(%lld", (long long)type->precision);
        if (type->has_scale) {
            buffer_printf(out, ",%lld", (long long)type->scale);
        }
        buffer_append_byte(out, ')');
    }
}

static void print_interval_type(const AstDataType *type, Buffer *out)
{
    buffer_printf(out, "INTERVAL %s", interval_unit_name(type->interval_from));
    if (type->interval_to != type->interval_from) {
        buffer_printf(out, " TO %s", interval_unit_name(type->interval_to));
    }
}

void ast_print_data_type(const AstDataType *type, Buffer *out)
{
    static const char *const names[] = {
        [AST_TYPE_BOOLEAN] = "BOOLEAN",     [AST_TYPE_TINYINT] = "TINYINT",
        [AST_TYPE_SMALLINT] = "SMALLINT",   [AST_TYPE_INT] = "INT",
        [AST_TYPE_BIGINT] = "BIGINT",       [AST_TYPE_FLOAT] = "FLOAT",
        [AST_TYPE_DOUBLE] = "DOUBLE",       [AST_TYPE_STRING] = "STRING",
        [AST_TYPE_CHAR] = "CHAR",           [AST_TYPE_VARCHAR] = "VARCHAR",
        [AST_TYPE_BINARY] = "BINARY",       [AST_TYPE_DATE] = "DATE",
        [AST_TYPE_TIMESTAMP] = "TIMESTAMP", [AST_TYPE_TIMESTAMP_NTZ] = "TIMESTAMP_NTZ",
        [AST_TYPE_VARIANT] = "VARIANT",
    };
    switch (type->kind) {
    case AST_TYPE_DECIMAL:
        print_decimal_type(type, out);
        return;
    case AST_TYPE_INTERVAL:
        print_interval_type(type, out);
        return;
    case AST_TYPE_STRUCT:
        print_struct_type(type, out);
        return;
    case AST_TYPE_MAP:
        buffer_append_cstr(out, "MAP<");
        ast_print_data_type(type->key, out);
        buffer_append_cstr(out, ", ");
        ast_print_data_type(type->element, out);
        buffer_append_byte(out, '>');
        return;
    case AST_TYPE_ARRAY:
        buffer_append_cstr(out, "ARRAY<");
        ast_print_data_type(type->element, out);
        buffer_append_byte(out, '>');
        return;
    case AST_TYPE_CHAR:
    case AST_TYPE_VARCHAR:
        buffer_printf(out, "%s(%lld)", names[type->kind], (long long)type->length);
        return;
    case AST_TYPE_STRING:
        buffer_append_cstr(out, "STRING");
        if (type->collation.name.data != NULL) {
            buffer_append_cstr(out, " COLLATE ");
            ast_print_identifier(&type->collation, out);
        }
        return;
    case AST_TYPE_BOOLEAN:
    case AST_TYPE_TINYINT:
    case AST_TYPE_SMALLINT:
    case AST_TYPE_INT:
    case AST_TYPE_BIGINT:
    case AST_TYPE_FLOAT:
    case AST_TYPE_DOUBLE:
    case AST_TYPE_BINARY:
    case AST_TYPE_DATE:
    case AST_TYPE_TIMESTAMP:
    case AST_TYPE_TIMESTAMP_NTZ:
    case AST_TYPE_VARIANT:
        buffer_append_cstr(out, names[type->kind]);
        return;
    }
}
