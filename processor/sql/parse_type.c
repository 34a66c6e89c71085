/* Data types and interval literals (SQ-34, SQ-37). Type names are words, not reserved ones: what a
 * word means as a type is looked up here. ">>" closes two types: it is split when ">" is wanted. */
#include "processor/sql/parser_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------------- units --- */

bool parser_unit_ahead(const Parser *parser, size_t ahead, AstIntervalUnit *ret_unit)
{
    static const struct {
        uint16_t singular;
        uint16_t plural;
        uint8_t unit;
    } rows[] = {
        {KEYWORD_MICROSECOND, KEYWORD_MICROSECONDS, AST_UNIT_MICROSECOND},
        {KEYWORD_MILLISECOND, KEYWORD_MILLISECONDS, AST_UNIT_MILLISECOND},
        {KEYWORD_SECOND, KEYWORD_SECONDS, AST_UNIT_SECOND},
        {KEYWORD_MINUTE, KEYWORD_MINUTES, AST_UNIT_MINUTE},
        {KEYWORD_HOUR, KEYWORD_HOURS, AST_UNIT_HOUR},
        {KEYWORD_DAY, KEYWORD_DAYS, AST_UNIT_DAY},
        {KEYWORD_WEEK, KEYWORD_WEEKS, AST_UNIT_WEEK},
        {KEYWORD_MONTH, KEYWORD_MONTHS, AST_UNIT_MONTH},
        {KEYWORD_YEAR, KEYWORD_YEARS, AST_UNIT_YEAR},
    };
    const Token *token = parser_ahead(parser, ahead);
    for (size_t i = 0; token->kind == TOKEN_WORD && i < ARRAY_LENGTH(rows); i++) {
        if (token->keyword == rows[i].singular || token->keyword == rows[i].plural) {
            *ret_unit = (AstIntervalUnit)rows[i].unit;
            return true;
        }
    }
    return false;
}

bool parser_interval_field_ahead(const Parser *parser, size_t ahead, AstIntervalUnit *ret_unit)
{
    switch (parser_ahead(parser, ahead)->keyword) {
    case KEYWORD_YEAR:
    case KEYWORD_MONTH:
    case KEYWORD_DAY:
    case KEYWORD_HOUR:
    case KEYWORD_MINUTE:
    case KEYWORD_SECOND:
        return parser_unit_ahead(parser, ahead, ret_unit);
    default:
        return false;
    }
}

/* ------------------------------------------------------- interval literals --- */

/* Tokens of an interval value that begins `ahead` tokens from here: [sign] number or strings; 0
 * when there is none. */
static size_t value_size(const Parser *parser, size_t ahead)
{
    size_t size = 0;
    if (parser_is_ahead(parser, ahead, TOKEN_PLUS) || parser_is_ahead(parser, ahead, TOKEN_MINUS)) {
        size++;
    }
    const Token *token = parser_ahead(parser, ahead + size);
    if ((token->kind == TOKEN_INTEGER || token->kind == TOKEN_DECIMAL) &&
        token->suffix == AST_SUFFIX_NONE) {
        return size + 1;
    }
    size_t strings = 0;
    while (parser_is_ahead(parser, ahead + size + strings, TOKEN_STRING)) {
        strings++;
    }
    return strings == 0 ? 0 : size + strings;
}

bool parser_at_interval(const Parser *parser)
{
    AstIntervalUnit unit = AST_UNIT_DAY;
    if (!parser_is_word(parser, KEYWORD_INTERVAL)) {
        return false;
    }
    if (parser_is_ahead(parser, 1, TOKEN_STRING) || parser_is_ahead(parser, 1, TOKEN_INTEGER) ||
        parser_is_ahead(parser, 1, TOKEN_DECIMAL)) {
        return true; /* nothing but an interval begins so */
    }
    size_t size = value_size(parser, 1);
    return size > 0 && parser_unit_ahead(parser, 1 + size, &unit);
}

static Error *parse_interval_value(Parser *parser, AstIntervalPart *part)
{
    size_t start = parser->at;
    part->negative = parser_is(parser, TOKEN_MINUS);
    if (part->negative || parser_is(parser, TOKEN_PLUS)) {
        parser->at++;
    }
    if (parser_is(parser, TOKEN_STRING)) {
        AstString string = {0};
        TRY(parse_string(parser, "a value", &string));
        part->value = string.value;
        part->is_string = true;
    } else if (value_size(parser, 0) == 1) {
        part->value = parser_token_text(parser, parser_token(parser));
        parser->at++;
    } else {
        return parser_expected(parser, "an interval value");
    }
    part->place = parser_place_from(parser, start);
    return NULL;
}

static Error *expect_unit(Parser *parser, AstIntervalUnit *ret_unit)
{
    if (!parser_unit_ahead(parser, 0, ret_unit)) {
        Error *error = parser_expected(parser, "a unit of time");
        return error_hint(error) != NULL
                   ? error
                   : error_set_hint(error, "units are MICROSECOND, MILLISECOND, SECOND, MINUTE, "
                                           "HOUR, DAY, WEEK, MONTH, YEAR, singular or plural");
    }
    parser->at++;
    return NULL;
}

/* value unit {value unit}: a further pair is taken when both of it stand here. */
static Error *parse_more_units(Parser *parser, AstInterval *interval, size_t capacity)
{
    AstIntervalUnit unit = AST_UNIT_DAY;
    for (size_t size = 0; (size = value_size(parser, 0)) > 0;) {
        if (!parser_unit_ahead(parser, size, &unit)) {
            break;
        }
        AstIntervalPart part = {0};
        TRY(parse_interval_value(parser, &part));
        TRY(expect_unit(parser, &part.unit));
        *PARSER_PUSH(parser, interval->parts, interval->part_count, capacity) = part;
    }
    return NULL;
}

Error *parse_interval(Parser *parser, AstInterval *ret)
{
    size_t start = parser->at;
    TRY(parser_expect_word(parser, KEYWORD_INTERVAL));
    AstInterval interval = {.form = AST_INTERVAL_UNITS};
    AstIntervalPart first = {0};
    size_t capacity = 0;
    TRY(parse_interval_value(parser, &first));
    AstIntervalUnit unit = AST_UNIT_DAY;
    bool alone =
        parser->tokens[start + 1].kind == TOKEN_STRING && !parser_unit_ahead(parser, 0, &unit);
    if (alone) {
        interval.form = AST_INTERVAL_STRING;
    } else {
        bool field = parser_interval_field_ahead(parser, 0, &unit);
        TRY(expect_unit(parser, &first.unit));
        if (field && parser_is_word(parser, KEYWORD_TO) &&
            parser_interval_field_ahead(parser, 1, &interval.to_unit)) {
            parser->at += 2;
            interval.form = AST_INTERVAL_FIELDS;
        }
    }
    *PARSER_PUSH(parser, interval.parts, interval.part_count, capacity) = first;
    if (interval.form == AST_INTERVAL_UNITS) {
        TRY(parse_more_units(parser, &interval, capacity));
    }
    interval.place = parser_place_from(parser, start);
    interval.text = parser_text_from(parser, start);
    *ret = interval;
    return NULL;
}

/* -------------------------------------------------------------------- types --- */

typedef struct TypeWord {
    uint16_t word;
    uint8_t kind;
} TypeWord;

static const TypeWord type_words[] = {
    {KEYWORD_BOOLEAN, AST_TYPE_BOOLEAN},
    {KEYWORD_TINYINT, AST_TYPE_TINYINT},
    {KEYWORD_BYTE, AST_TYPE_TINYINT},
    {KEYWORD_SMALLINT, AST_TYPE_SMALLINT},
    {KEYWORD_SHORT, AST_TYPE_SMALLINT},
    {KEYWORD_INT, AST_TYPE_INT},
    {KEYWORD_INTEGER, AST_TYPE_INT},
    {KEYWORD_BIGINT, AST_TYPE_BIGINT},
    {KEYWORD_LONG, AST_TYPE_BIGINT},
    {KEYWORD_FLOAT, AST_TYPE_FLOAT},
    {KEYWORD_REAL, AST_TYPE_FLOAT},
    {KEYWORD_DOUBLE, AST_TYPE_DOUBLE},
    {KEYWORD_DECIMAL, AST_TYPE_DECIMAL},
    {KEYWORD_DEC, AST_TYPE_DECIMAL},
    {KEYWORD_NUMERIC, AST_TYPE_DECIMAL},
    {KEYWORD_STRING, AST_TYPE_STRING},
    {KEYWORD_CHAR, AST_TYPE_CHAR},
    {KEYWORD_CHARACTER, AST_TYPE_CHAR},
    {KEYWORD_VARCHAR, AST_TYPE_VARCHAR},
    {KEYWORD_BINARY, AST_TYPE_BINARY},
    {KEYWORD_DATE, AST_TYPE_DATE},
    {KEYWORD_TIMESTAMP, AST_TYPE_TIMESTAMP},
    {KEYWORD_TIMESTAMP_LTZ, AST_TYPE_TIMESTAMP},
    {KEYWORD_TIMESTAMP_NTZ, AST_TYPE_TIMESTAMP_NTZ},
    {KEYWORD_VARIANT, AST_TYPE_VARIANT},
    {KEYWORD_INTERVAL, AST_TYPE_INTERVAL},
    {KEYWORD_ARRAY, AST_TYPE_ARRAY},
    {KEYWORD_MAP, AST_TYPE_MAP},
    {KEYWORD_STRUCT, AST_TYPE_STRUCT},
};

bool parser_is_type_ahead(const Parser *parser, size_t ahead)
{
    const Token *token = parser_ahead(parser, ahead);
    for (size_t i = 0; token->kind == TOKEN_WORD && i < ARRAY_LENGTH(type_words); i++) {
        if (token->keyword == type_words[i].word) {
            return true;
        }
    }
    return false;
}

enum { WORD_SHOWN_MAX = 40 };

/* In capitals, as Spark shows the word; cut to what a message holds. */
static void copy_capitals(Str word, char *out)
{
    size_t size = word.size < WORD_SHOWN_MAX ? word.size : WORD_SHOWN_MAX;
    for (size_t i = 0; i < size; i++) {
        char c = word.data[i];
        out[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    out[size] = '\0';
}

static Error *unknown_type(Parser *parser)
{
    Str word = parser_token_text(parser, parser_token(parser));
    char shown[WORD_SHOWN_MAX + 1];
    copy_capitals(word, shown);
    Error *error =
        parser_error(parser, ERROR_UNSUPPORTED_DATATYPE, "Unsupported data type \"%s\".", shown);
    const char *nearest = parser_type_hint(word);
    if (nearest != NULL) {
        return error_set_hint(error, "did you mean %s?", nearest);
    }
    size_t best = 3;
    for (size_t i = 0; i < ARRAY_LENGTH(type_words) && word.size <= WORD_SHOWN_MAX; i++) {
        const char *name = keyword_name(type_words[i].word);
        size_t distance = str_distance(word, str_from(name));
        if (distance < best && distance < strlen(name)) {
            best = distance;
            nearest = name;
        }
    }
    return nearest == NULL ? error : error_set_hint(error, "did you mean %s?", nearest);
}

/* Takes one ">", splitting ">>", ">>>" and ">=", whose first character closes the type. */
static Error *expect_greater(Parser *parser)
{
    static const uint8_t rest_kinds[] = {
        [TOKEN_SHIFT_RIGHT] = TOKEN_GREATER,
        [TOKEN_SHIFT_RIGHT_UNSIGNED] = TOKEN_SHIFT_RIGHT,
        [TOKEN_GREATER_EQUAL] = TOKEN_EQUAL,
    };
    Token *token = &parser->tokens[parser->at];
    if (parser_accept(parser, TOKEN_GREATER)) {
        return NULL;
    }
    if (token->kind != TOKEN_SHIFT_RIGHT && token->kind != TOKEN_SHIFT_RIGHT_UNSIGNED &&
        token->kind != TOKEN_GREATER_EQUAL) {
        return parser_expected(parser, "'>' that closes the type");
    }
    token->kind = rest_kinds[token->kind];
    token->start++;
    token->column++;
    token->size--;
    token->length--;
    return NULL;
}

static Error *parse_size_list(Parser *parser, AstDataType *type)
{
    size_t open = parser->at;
    if (!parser_accept(parser, TOKEN_OPEN)) {
        return NULL;
    }
    AstInteger number = {0};
    TRY(parse_integer(parser, "the precision as an integer", &number));
    type->has_precision = true;
    type->precision = number.value;
    if (parser_accept(parser, TOKEN_COMMA)) {
        TRY(parse_integer(parser, "the scale as an integer", &number));
        type->has_scale = true;
        type->scale = number.value;
    }
    return parser_expect_close(parser, open);
}

static Error *parse_length(Parser *parser, const char *word, AstDataType *type)
{
    size_t open = parser->at;
    if (!parser_accept(parser, TOKEN_OPEN)) {
        return parser_error_at(
            parser, parser_place_of(&parser->tokens[open - 1]), ERROR_DATATYPE_MISSING_SIZE,
            arena_printf(parser->arena,
                         "DataType \"%s\" requires a length parameter, for example "
                         "\"%s\"(10). Please specify the length.",
                         word, word));
    }
    AstInteger number = {0};
    TRY(parse_integer(parser, "the length as an integer", &number));
    type->length = number.value;
    return parser_expect_close(parser, open);
}

/* May `to` end an interval type that begins with `from`? */
static bool interval_range(AstIntervalUnit from, AstIntervalUnit to)
{
    if (from == AST_UNIT_YEAR) {
        return to == AST_UNIT_MONTH;
    }
    bool days = from == AST_UNIT_DAY || from == AST_UNIT_HOUR || from == AST_UNIT_MINUTE;
    return days && to < from;
}

static Error *parse_interval_type(Parser *parser, AstDataType *type)
{
    if (!parser_interval_field_ahead(parser, 0, &type->interval_from)) {
        return parser_expected(parser, "YEAR, MONTH, DAY, HOUR, MINUTE or SECOND");
    }
    parser->at++;
    type->interval_to = type->interval_from;
    if (!parser_accept_word(parser, KEYWORD_TO)) {
        return NULL;
    }
    AstIntervalUnit to = AST_UNIT_DAY;
    if (!parser_interval_field_ahead(parser, 0, &to) || !interval_range(type->interval_from, to)) {
        return parser_expected(parser, "a smaller field of the same family");
    }
    parser->at++;
    type->interval_to = to;
    return NULL;
}

static Error *parse_struct_field(Parser *parser, AstStructField *field)
{
    TRY(parse_identifier(parser, "a field name", &field->name));
    (void)parser_accept(parser, TOKEN_COLON);
    TRY(parse_data_type(parser, &field->type));
    if (parser_accept_word(parser, KEYWORD_NOT)) {
        TRY(parser_expect_word(parser, KEYWORD_NULL));
        field->not_null = true;
    }
    if (parser_accept_word(parser, KEYWORD_COMMENT)) {
        TRY(parse_string(parser, "the comment as a string", &field->comment));
    }
    return NULL;
}

static Error *parse_struct_fields(Parser *parser, AstDataType *type)
{
    size_t capacity = 0;
    do {
        AstStructField field = {0};
        TRY(parse_struct_field(parser, &field));
        *PARSER_PUSH(parser, type->fields, type->field_count, capacity) = field;
    } while (parser_accept(parser, TOKEN_COMMA));
    return NULL;
}

/* "<" … ">" of ARRAY, MAP and STRUCT. */
static Error *parse_type_arguments(Parser *parser, AstDataType *type)
{
    TRY(parser_enter(parser, 1));
    TRY(parser_expect(parser, TOKEN_LESS));
    if (type->kind == AST_TYPE_STRUCT) {
        TRY(parse_struct_fields(parser, type));
    } else {
        if (type->kind == AST_TYPE_MAP) {
            TRY(parse_data_type(parser, &type->key));
            TRY(parser_expect(parser, TOKEN_COMMA));
        }
        TRY(parse_data_type(parser, &type->element));
    }
    TRY(expect_greater(parser));
    parser_leave(parser, 1);
    return NULL;
}

/* Behind the word. */
static Error *parse_type_rest(Parser *parser, const char *word, AstDataType *type)
{
    switch (type->kind) {
    case AST_TYPE_DECIMAL:
        return parse_size_list(parser, type);
    case AST_TYPE_CHAR:
    case AST_TYPE_VARCHAR:
        return parse_length(parser, word, type);
    case AST_TYPE_STRING:
        return parser_accept_word(parser, KEYWORD_COLLATE)
                   ? parse_identifier(parser, "a collation", &type->collation)
                   : NULL;
    case AST_TYPE_INTERVAL:
        return parse_interval_type(parser, type);
    case AST_TYPE_ARRAY:
    case AST_TYPE_MAP:
    case AST_TYPE_STRUCT:
        return parse_type_arguments(parser, type);
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
        break;
    }
    return NULL;
}

Error *parse_data_type(Parser *parser, AstDataType **ret)
{
    size_t start = parser->at;
    const Token *token = parser_token(parser);
    if (token->kind != TOKEN_WORD) {
        return parser_expected(parser, "a data type");
    }
    for (size_t i = 0; i < ARRAY_LENGTH(type_words); i++) {
        if (token->keyword == type_words[i].word) {
            AstDataType *type = arena_new_object(parser->arena, AstDataType);
            type->kind = (AstTypeKind)type_words[i].kind;
            type->precision = 10; /* DECIMAL */
            parser->at++;
            TRY(parse_type_rest(parser, keyword_name(type_words[i].word), type));
            type->place = parser_place_from(parser, start);
            type->text = parser_text_from(parser, start);
            *ret = type;
            return NULL;
        }
    }
    if ((keyword_flags(token->keyword) & WORD_RESERVED) != 0) {
        return parser_expected(parser, "a data type");
    }
    return unknown_type(parser);
}
