/* Nanoseconds a row of JSON in and out: rows of 200 bytes and 8 fields, in the order of the
 * columns, in an order that changes from row to row, and read for 3 of the 8 columns only. Besides:
 * rows into the bytes that the state keeps, and those bytes (and keys) as JSON text.
 *
 * Records are spread over 64 MiB, so that each comes from memory, as from a fetch queue. Each
 * figure is the best of five runs, single-threaded. For instruction counts, which do not depend on
 * what else the machine does, run one part under callgrind:
 *
 *     valgrind --tool=callgrind build/release/bench_json_decode 20000 1 [1 … 5] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "connectors/format/format.h"
#include "processor/data/key_encoding.h"
#include "processor/data/row_encoding.h"
#include "processor/data/value_text.h"

#define FIELD(text, kind) ((Field){.name = STR(text), .type = (kind)})

typedef struct Size {
    size_t records;
    int runs;
} Size;

static double now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The eight fields, beginning with the one numbered `first`. */
static void write_record(Buffer *out, unsigned i, unsigned first, const char *note)
{
    static const char *const states[] = {"open", "paid", "shipped", "closed"};
    for (unsigned field = 0; field < 8; field++) {
        buffer_append_byte(out, field == 0 ? '{' : ',');
        switch ((field + first) % 8) {
        case 0:
            buffer_printf(out, "\"region\":\"r%u\"", i % 1000);
            break;
        case 1:
            buffer_printf(out, "\"customer_id\":%u", i * 7919U % 1000000);
            break;
        case 2:
            buffer_printf(out, "\"seq\":%u", 1000 + i);
            break;
        case 3:
            buffer_printf(out, "\"amount\":%u.%02u", i * 31U % 1000, i % 100);
            break;
        case 4:
            buffer_printf(out, "\"status\":\"%s\"", states[i % 4]);
            break;
        case 5:
            buffer_printf(out, "\"updated_at\":\"2026-%02u-%02uT%02u:%02u:%02uZ\"", i % 12 + 1,
                          i % 28 + 1, i % 24, i % 60, i * 7 % 60);
            break;
        case 6:
            buffer_printf(out, "\"active\":%s", i % 3 == 0 ? "true" : "false");
            break;
        default:
            buffer_printf(out, "\"note\":\"%s\"", note);
        }
    }
    buffer_append_byte(out, '}');
}

static const char plain_note[] = "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrst";
static const char umlaut_note[] = "Gr\xC3\xBC\xC3\x9F"
                                  "e aus M\xC3\xBCnchen, heute ohne \\\"Wei\xC3\x9Fwurst\\\"";

static Str *make_records(size_t count, Buffer *text, bool shuffled, const char *note)
{
    Str *records = calloc(count, sizeof *records);
    size_t *ends = calloc(count, sizeof *ends);
    if (records == NULL || ends == NULL) {
        abort();
    }
    for (unsigned i = 0; i < count; i++) {
        write_record(text, i, shuffled ? i * 5 : 0, note);
        ends[i] = text->size;
    }
    for (unsigned i = 0; i < count; i++) {
        size_t begin = i == 0 ? 0 : ends[i - 1];
        records[i] = (Str){text->data + begin, ends[i] - begin};
    }
    free(ends);
    return records;
}

static void fail_on(Error *error)
{
    if (error != NULL) {
        (void)fprintf(stderr, "%s\n", error_message(error));
        exit(1);
    }
}

/* All for one pass over the records. */
enum { DECODE, ENCODE, STORE, ROW_TEXT, KEY, KEY_TEXT, PARTS };
static const char *const part_names[PARTS] = {"decode",   "encode", "store",
                                              "row text", "key",    "key text"};

typedef struct Times {
    double ns[PARTS];
} Times;

typedef struct Work {
    Decoder *decoder;
    SchemaHistory *history;
    const JsonRowWriter *rows;
    const JsonKeyWriter *keys;
    size_t key_count;
    Arena *arena; /* of a batch */
    Buffer text;
    Buffer stored;
    size_t ends[BATCH_ROWS];
} Work;

static Str stored_value(const Work *work, uint32_t i)
{
    size_t begin = i == 0 ? 0 : work->ends[i - 1];
    return (Str){work->stored.data + begin, work->ends[i] - begin};
}

static double lap(double *since)
{
    double now = now_ns();
    double passed = now - *since;
    *since = now;
    return passed;
}

static void run_batch(Work *work, const Str *records, size_t count, Times *times)
{
    RowErrors errors = {0};
    Batch *batch = NULL;
    double since = now_ns();
    arena_reset(work->arena);
    decoder_decode(work->decoder, records, count, work->arena, &errors, &batch);
    times->ns[DECODE] += lap(&since);
    if (errors.count > 0) {
        fail_on(errors.errors[0]);
    }
    buffer_clear(&work->text);
    for (uint32_t row = 0; row < count; row++) {
        json_encode_row(batch, row, &work->text);
    }
    times->ns[ENCODE] += lap(&since);
    buffer_clear(&work->stored);
    for (uint32_t row = 0; row < count; row++) {
        row_encode(work->history, batch, row, &work->stored);
        work->ends[row] = work->stored.size;
    }
    times->ns[STORE] += lap(&since);
    buffer_clear(&work->text);
    for (uint32_t row = 0; row < count; row++) {
        fail_on(json_row_write(work->rows, stored_value(work, row), &work->text));
    }
    times->ns[ROW_TEXT] += lap(&since);
    buffer_clear(&work->stored);
    for (uint32_t row = 0; row < count; row++) {
        key_encode(batch->columns, work->key_count, row, &work->stored);
        work->ends[row] = work->stored.size;
    }
    times->ns[KEY] += lap(&since);
    buffer_clear(&work->text);
    for (uint32_t row = 0; row < count; row++) {
        fail_on(json_key_write(work->keys, stored_value(work, row), 0, &work->text));
    }
    times->ns[KEY_TEXT] += lap(&since);
}

static Times run(Work *work, const Str *records, size_t total)
{
    Times times = {{0}};
    for (size_t at = 0; at < total; at += BATCH_ROWS) {
        run_batch(work, records + at, total - at < BATCH_ROWS ? total - at : BATCH_ROWS, &times);
    }
    return times;
}

/* The first `key_count` columns are the key. */
static void measure(const char *what, const Size *size, const Schema *schema, size_t key_count,
                    bool shuffled, const char *note)
{
    AUTO_BUFFER Buffer text = {0};
    Str *records = make_records(size->records, &text, shuffled, note);
    const DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = time_zone_utc()};
    AUTO(arena) Arena *arena = arena_new("schemas");
    AUTO(arena) Arena *batch_arena = arena_new("batch");
    Work work = {.arena = batch_arena, .key_count = key_count};
    fail_on(decoder_open(&options, schema, &work.decoder));
    work.history = schema_history_new(arena);
    schema_history_add(work.history, schema);
    work.rows = json_row_writer_new(arena, work.history);
    work.keys = json_key_writer_new(arena, schema->fields, key_count);
    Times best = run(&work, records, size->records);
    for (int i = 1; i < size->runs; i++) {
        Times times = run(&work, records, size->records);
        for (int part = 0; part < PARTS; part++) {
            best.ns[part] = times.ns[part] < best.ns[part] ? times.ns[part] : best.ns[part];
        }
    }
    (void)printf("%-16s %5.1f bytes", what, (double)text.size / (double)size->records);
    for (int part = 0; part < PARTS; part++) {
        (void)printf("  %s %5.1f", part_names[part], best.ns[part] / (double)size->records);
    }
    (void)printf("  ns a row\n");
    decoder_close(work.decoder);
    buffer_done(&work.text);
    buffer_done(&work.stored);
    free(records);
}

/* Prices such as 123.45, and doubles of all digits. */
static void measure_doubles(const char *what, const Size *size, bool all_digits)
{
    AUTO_BUFFER Buffer out = {0};
    double best = 1e18;
    for (int i = 0; i < size->runs; i++) {
        double since = now_ns();
        for (size_t n = 0; n < size->records; n++) {
            double value = (double)(n * 7919 % 10000000) / (all_digits ? 7e3 : 1e2);
            buffer_clear(&out);
            double_format(value, &out);
        }
        double passed = lap(&since);
        best = passed < best ? passed : best;
    }
    (void)printf("%-30s %5.1f ns\n", what, best / (double)size->records);
}

int main(int argc, char **argv)
{
    Size size = {300000, 5};
    if (argc > 1) {
        size.records = (size_t)strtoul(argv[1], NULL, 10);
    }
    if (argc > 2) {
        size.runs = (int)strtol(argv[2], NULL, 10);
    }
    AUTO(arena) Arena *arena = arena_new("bench");
    const Field fields[] = {
        FIELD("region", &type_string),  FIELD("customer_id", &type_bigint),
        FIELD("seq", &type_bigint),     FIELD("amount", type_decimal(arena, 10, 2)),
        FIELD("status", &type_string),  FIELD("updated_at", &type_timestamp),
        FIELD("active", &type_boolean), FIELD("note", &type_string),
    };
    const Field few[] = {fields[1], fields[2], fields[4]};
    const Schema *schema = schema_new(arena, fields, ARRAY_LENGTH(fields));
    char part = argc > 3 ? argv[3][0] : '\0';
    if (part == '\0' || part == '1') {
        measure("columns' order", &size, schema, 2, false, plain_note);
    }
    if (part == '\0' || part == '2') {
        measure("changing order", &size, schema, 2, true, plain_note);
    }
    if (part == '\0' || part == '3') {
        measure("3 of 8 columns", &size, schema_new(arena, few, ARRAY_LENGTH(few)), 1, false,
                plain_note);
    }
    if (part == '\0' || part == '4') {
        measure("escapes, umlauts", &size, schema, 2, false, umlaut_note);
    }
    if (part == '\0' || part == '5') {
        measure_doubles("double 123.45", &size, false);
        measure_doubles("double of 17 digits", &size, true);
    }
    return 0;
}
