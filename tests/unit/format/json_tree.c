/* Trees for what is not hot, and the decoder against them: two readers of JSON that share no code
 * must see the same in the same text. */
#include "connectors/format/json_tree.h"
#include "tests/unit/format/fixture.h"
#include "tests/unit/format/random_values.h"

static const JsonTree *parse(Fixture *f, Str text)
{
    const JsonTree *root = NULL;
    Error *error = json_tree_parse(text, f->arena, &root);
    if (error != NULL) {
        fail_msg("%.*s: %s", STR_ARG(text), error_message(error));
    }
    return root;
}

static void members_elements_and_defaults(void **state)
{
    Fixture *f = *state;
    const JsonTree *root =
        parse(f, STR(" {\"a\":[1,\"x\",true,null,{}],\"b\":2.5,\"A\":\"\\u00e9\",\"b\":3} "));
    assert_int_equal(json_tree_kind(root), JSON_OBJECT);
    assert_int_equal(json_tree_size(root), 4);
    const JsonTree *array = json_tree_get(root, "a");
    assert_int_equal(json_tree_kind(array), JSON_ARRAY);
    assert_int_equal(json_tree_size(array), 5);
    assert_int_equal(json_tree_int(json_tree_at(array, 0), -1), 1);
    assert_true(str_equal(json_tree_str(json_tree_at(array, 1), STR_NULL), STR("x")));
    assert_true(json_tree_bool(json_tree_at(array, 2), false));
    assert_int_equal(json_tree_kind(json_tree_at(array, 3)), JSON_NULL);
    assert_int_equal(json_tree_kind(json_tree_at(array, 4)), JSON_OBJECT);
    assert_null(json_tree_at(array, 5));
    assert_int_equal(json_tree_int(json_tree_get(root, "b"), -1), 3);
    assert_true(str_equal(json_tree_str(json_tree_get(root, "A"), STR_NULL), STR("\xC3\xA9")));
    assert_null(json_tree_get(root, "B"));
    assert_null(json_tree_get(NULL, "a"));
    assert_null(json_tree_get(array, "a"));
    assert_null(json_tree_at(root, 0));
    Str name = STR_NULL;
    assert_true(json_tree_double(json_tree_member(root, 1, &name), 0) == 2.5);
    assert_true(str_equal(name, STR("b")));
    assert_null(json_tree_member(root, 4, &name));
    assert_int_equal(json_tree_int(json_tree_member(root, 1, &name), -7), -7);
    assert_int_equal(json_tree_int(NULL, 9), 9);
    assert_int_equal(json_tree_int(parse(f, STR("1e300")), 9), 9);
    assert_int_equal(json_tree_int(parse(f, STR("-9007199254740992")), 9),
                     INT64_C(-9007199254740992));
    assert_true(str_equal(json_tree_str(array, STR("d")), STR("d")));
    assert_true(json_tree_bool(NULL, true));
}

static void lenient_texts_are_refused(void **state)
{
    Fixture *f = *state;
    const Str texts[] = {STR(""),           STR("{"),           STR("{} x"),        STR("\"a\nb\""),
                         STR("\"\xFF\""),   STR("[01]"),        STR("[1,]"),        STR("NaN"),
                         STR("[NaN]"),      STR("\"\\u0000\""), STR("{\"a\":1}\0"), STR("'a'"),
                         STR("\"\\ud800\"")};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        const JsonTree *root = NULL;
        AUTO(error) Error *error = json_tree_parse(texts[i], f->arena, &root);
        assert_non_null(error);
        assert_null(root);
    }
    assert_true(str_equal(json_tree_str(parse(f, STR("\"\\\\u0000\"")), STR_NULL), STR("\\u0000")));
}

/* ---- Random texts ---- */

static void write_space(Random *random, Buffer *out)
{
    while (random_chance(random, 6)) {
        buffer_append_byte(out, " \t\r\n"[random_below(random, 4)]);
    }
}

/* A quoted text: each character as it is, or as an escape. */
static void write_text(Random *random, Arena *arena, Buffer *out)
{
    Str text = random_string(random, arena);
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == 0) {
            buffer_append_cstr(out, "\\ud83D\\uDE00"); /* cJSON cannot hold U+0000 */
        } else if (c == '"' || c == '\\') {
            buffer_append_byte(out, '\\');
            buffer_append_byte(out, (char)c);
        } else if (c < 0x20 || (c < 0x7F && random_chance(random, 20))) {
            buffer_printf(out, "\\u%04x", c);
        } else {
            buffer_append_byte(out, (char)c);
        }
    }
    buffer_append_byte(out, '"');
}

static void write_number(Random *random, Buffer *out)
{
    buffer_append_cstr(out, random_chance(random, 2) ? "-" : "");
    buffer_printf(out, "%llu",
                  (unsigned long long)(random_bits(random) >> random_below(random, 64)));
    if (random_chance(random, 2)) {
        buffer_printf(out, ".%llu",
                      (unsigned long long)(random_bits(random) >> random_below(random, 64)));
    }
    if (random_chance(random, 3)) {
        static const char *const marks[] = {"e", "E", "e+", "e-", "E-"};
        buffer_printf(out, "%s%u", marks[random_below(random, 5)],
                      (unsigned)random_below(random, 280));
    }
}

static void write_any(Random *random, Arena *arena, Buffer *out, int depth)
{
    uint32_t kind = random_below(random, depth > 0 ? 7 : 5);
    if (kind < 3) {
        static const char *const words[] = {"true", "false", "null"};
        buffer_append_cstr(out, words[kind]);
    } else if (kind == 3) {
        write_number(random, out);
    } else if (kind == 4) {
        write_text(random, arena, out);
    } else {
        buffer_append_byte(out, kind == 5 ? '[' : '{');
        write_space(random, out);
        for (uint32_t i = 0, count = random_below(random, 4); i < count; i++) {
            buffer_append_cstr(out, i > 0 ? "," : "");
            write_space(random, out);
            if (kind == 6) {
                write_text(random, arena, out);
                write_space(random, out);
                buffer_append_byte(out, ':');
                write_space(random, out);
            }
            write_any(random, arena, out, depth - 1);
            write_space(random, out);
        }
        buffer_append_byte(out, kind == 5 ? ']' : '}');
    }
}

/* Writes members in random order: columns "any" (anything), "number", "list", "inner" and others.
 */
static void write_record(Random *random, Arena *arena, Buffer *out, bool inner)
{
    buffer_append_byte(out, '{');
    for (uint32_t i = 0, count = random_below(random, 7); i < count; i++) {
        buffer_append_cstr(out, i > 0 ? "," : "");
        write_space(random, out);
        uint32_t kind = random_below(random, inner ? 4 : 5);
        static const char *const names[] = {"\"any\"", "\"number\"", "\"list\"", "", "\"inner\""};
        buffer_append_cstr(out, names[kind]);
        if (kind == 3) {
            write_text(random, arena, out);
        }
        write_space(random, out);
        buffer_append_byte(out, ':');
        write_space(random, out);
        if (kind == 1) {
            write_number(random, out);
        } else if (kind == 2) {
            buffer_append_cstr(out, "[ ");
            for (uint32_t k = random_below(random, 3) + 1; k > 0; k--) {
                write_number(random, out);
                buffer_append_cstr(out, k > 1 ? " ," : "");
            }
            buffer_append_byte(out, ']');
        } else if (kind == 4) {
            write_record(random, arena, out, true);
        } else {
            write_any(random, arena, out, 3);
        }
        write_space(random, out);
    }
    buffer_append_byte(out, '}');
}

/* ---- Comparing ---- */

static bool trees_equal(const JsonTree *a, const JsonTree *b)
{
    if (json_tree_kind(a) != json_tree_kind(b) || json_tree_size(a) != json_tree_size(b)) {
        return false;
    }
    for (size_t i = 0; i < json_tree_size(a); i++) {
        Str name_a = STR_NULL;
        Str name_b = STR_NULL;
        bool array = json_tree_kind(a) == JSON_ARRAY;
        if (!trees_equal(array ? json_tree_at(a, i) : json_tree_member(a, i, &name_a),
                         array ? json_tree_at(b, i) : json_tree_member(b, i, &name_b)) ||
            !str_equal(name_a, name_b)) {
            return false;
        }
    }
    return json_tree_double(a, 0) == json_tree_double(b, 0) &&
           json_tree_bool(a, false) == json_tree_bool(b, false) &&
           str_equal(json_tree_str(a, STR_NULL), json_tree_str(b, STR_NULL));
}

static void check_any(Fixture *f, const Vector *vector, uint32_t row, const JsonTree *node)
{
    if (json_tree_kind(node) == JSON_NULL) {
        assert_false(vector_is_valid(vector, row));
        return;
    }
    assert_true(vector_is_valid(vector, row));
    Str text = VECTOR_VALUE(vector, Str, row);
    if (json_tree_kind(node) == JSON_STRING) {
        assert_true(str_equal(text, json_tree_str(node, STR_NULL)));
    } else {
        assert_true(trees_equal(parse(f, text), node));
    }
}

static void check_number(const Vector *vector, uint32_t row, const JsonTree *node)
{
    assert_int_equal(vector_is_valid(vector, row), node != NULL);
    if (node != NULL) {
        assert_true(VECTOR_VALUE(vector, double, row) == json_tree_double(node, -1));
    }
}

static void check_record(Fixture *f, Vector *const *columns, uint32_t row, const JsonTree *node)
{
    check_any(f, columns[0], row, json_tree_get(node, "any"));
    check_number(columns[1], row, json_tree_get(node, "number"));
    const JsonTree *list = json_tree_get(node, "list");
    assert_int_equal(vector_is_valid(columns[2], row), list != NULL);
    uint32_t begin = columns[2]->offsets[row];
    assert_int_equal(columns[2]->offsets[row + 1] - begin, json_tree_size(list));
    for (uint32_t i = 0; i < json_tree_size(list); i++) {
        check_number(columns[2]->children[0], begin + i, json_tree_at(list, i));
    }
}

static void decoder_and_tree_see_the_same(void **state)
{
    Fixture *f = *state;
    const Field inner[] = {FIELD("any", &type_string), FIELD("number", &type_double),
                           FIELD("list", type_array(f->arena, &type_double))};
    OPEN(f, inner[0], inner[1], inner[2], FIELD("inner", type_struct(f->arena, inner, 3)));
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        Random random = {seed};
        AUTO_BUFFER Buffer text = {0};
        write_record(&random, f->arena, &text, false);
        Str record = buffer_str(&text);
        const JsonTree *root = parse(f, record);
        fixture_decode(f, &record, 1);
        if (f->errors.count > 0) {
            fail_msg("seed %u: %s: %.*s", (unsigned)seed, error_message(f->errors.errors[0]),
                     STR_ARG(record));
        }
        check_record(f, f->batch->columns, 0, root);
        const JsonTree *nested = json_tree_get(root, "inner");
        assert_int_equal(vector_is_valid(f->batch->columns[3], 0), nested != NULL);
        if (nested != NULL) {
            check_record(f, f->batch->columns[3]->children, 0, nested);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(members_elements_and_defaults),
        FIXTURE_TEST(lenient_texts_are_refused),
        FIXTURE_TEST(decoder_and_tree_see_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
