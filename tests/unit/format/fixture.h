/* What the tests of formats share: decoding records against a few columns and looking at the rows
 * as JSON text (whose writer json_encode.c pins against values made by hand). */
#ifndef TESTS_UNIT_FORMAT_FIXTURE_H
#define TESTS_UNIT_FORMAT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "connectors/format/format.h"

#define FIELD(text, kind) ((Field){.name = STR(text), .type = (kind)})

typedef struct Fixture {
    Arena *arena; /* schemas and types */
    Arena *batch_arena;
    Decoder *decoder;
    const Schema *schema;
    DecoderOptions options;
    RowErrors errors;
    Batch *batch;
} Fixture;

UNUSED static void fixture_init(Fixture *f)
{
    *f = (Fixture){.arena = arena_new("test"), .batch_arena = arena_new("batch")};
    f->options = (DecoderOptions){.kind = FORMAT_JSON, .time_zone = time_zone_utc()};
}

UNUSED static void fixture_done(Fixture *f)
{
    decoder_close(f->decoder);
    row_errors_done(&f->errors);
    arena_free(f->batch_arena);
    arena_free(f->arena);
}

UNUSED static void fixture_open(Fixture *f, const Field *fields, size_t count)
{
    decoder_close(f->decoder);
    f->decoder = NULL;
    f->schema = schema_new(f->arena, fields, count);
    Error *error = decoder_open(&f->options, f->schema, &f->decoder);
    if (error != NULL) {
        fail_msg("decoder_open: %s", error_message(error));
    }
}

UNUSED static void fixture_decode(Fixture *f, const Str *records, size_t count)
{
    row_errors_clear(&f->errors);
    arena_reset(f->batch_arena);
    decoder_decode(f->decoder, records, count, f->batch_arena, &f->errors, &f->batch);
    assert_int_equal(f->batch->row_count, count);
    assert_int_equal(f->batch->selected_count, count - f->errors.count);
    for (size_t i = 0; i < f->schema->field_count; i++) {
        assert_int_equal(f->batch->columns[i]->length, count);
    }
}

UNUSED static const Error *fixture_error(const Fixture *f, uint32_t row)
{
    for (size_t i = 0; i < f->errors.count; i++) {
        if (f->errors.rows[i] == row) {
            return f->errors.errors[i];
        }
    }
    return NULL;
}

UNUSED static bool is_selected(const Batch *batch, uint32_t row)
{
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        if (batch_selected(batch, i) == row) {
            return true;
        }
    }
    return false;
}

/* `expected`: the row as JSON text, or "!" and a part of the error's message. */
UNUSED static void check_row(const Fixture *f, uint32_t row, Str record, const char *expected)
{
    const Error *error = fixture_error(f, row);
    AUTO_BUFFER Buffer text = {0};
    if (expected[0] == '!') {
        if (error == NULL) {
            json_encode_row(f->batch, row, &text);
            fail_msg("%.*s: no error, but %s", STR_ARG(record), buffer_cstr(&text));
            return;
        }
        assert_int_equal(error_class(error), ERROR_MALFORMED_RECORD);
        if (strstr(error_message(error), expected + 1) == NULL) {
            fail_msg("%.*s: %s does not hold %s", STR_ARG(record), error_message(error),
                     expected + 1);
        }
        assert_false(is_selected(f->batch, row));
        for (size_t i = 0; i < f->schema->field_count; i++) {
            assert_false(vector_is_valid(f->batch->columns[i], row));
        }
        return;
    }
    if (error != NULL) {
        fail_msg("%.*s: %s", STR_ARG(record), error_message(error));
    }
    assert_true(is_selected(f->batch, row));
    json_encode_row(f->batch, row, &text);
    assert_string_equal(buffer_cstr(&text), expected);
}

typedef struct Example {
    Str record;
    const char *expected;
} Example;

#define EXAMPLE(text, expected) ((Example){STR(text), (expected)})

enum { FIXTURE_RECORDS_MAX = BATCH_ROWS };

/* All examples, again and again, in batches of `size` records. */
UNUSED static void check_in_batches(Fixture *f, const Example *examples, size_t count, size_t size)
{
    static Str records[FIXTURE_RECORDS_MAX];
    size_t next = 0;
    for (size_t done = 0; done < count + size; done += size) {
        size_t first = next;
        for (size_t i = 0; i < size; i++) {
            records[i] = examples[next % count].record;
            next++;
        }
        fixture_decode(f, records, size);
        for (size_t i = 0; i < size; i++) {
            check_row(f, (uint32_t)i, records[i], examples[(first + i) % count].expected);
        }
    }
}

UNUSED static void check_examples(Fixture *f, const Example *examples, size_t count)
{
    check_in_batches(f, examples, count, 1);
    check_in_batches(f, examples, count, 7);
    check_in_batches(f, examples, count, BATCH_ROWS);
}

#define CHECK(fixture, ...)                                                                        \
    do {                                                                                           \
        const Example examples_[] = {__VA_ARGS__};                                                 \
        check_examples((fixture), examples_, ARRAY_LENGTH(examples_));                             \
    } while (0)

#define OPEN(fixture, ...)                                                                         \
    do {                                                                                           \
        const Field fields_[] = {__VA_ARGS__};                                                     \
        fixture_open((fixture), fields_, ARRAY_LENGTH(fields_));                                   \
    } while (0)

UNUSED static int fixture_setup(void **state)
{
    Fixture *f = test_malloc(sizeof *f);
    fixture_init(f);
    *state = f;
    return 0;
}

UNUSED static int fixture_teardown(void **state)
{
    fixture_done(*state);
    test_free(*state);
    return 0;
}

#define FIXTURE_TEST(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

#endif
