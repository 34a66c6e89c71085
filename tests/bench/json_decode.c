/* Nanoseconds a row of decoding and encoding JSON: rows of 200 bytes and 8 fields, in the order of
 * the columns, in an order that changes from row to row, and read for 3 of the 8 columns only.
 *
 * Records are spread over 64 MiB, so that each comes from memory, as from a fetch queue. Each
 * figure is the best of five runs, single-threaded. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "connectors/format/format.h"

#define FIELD(text, kind) ((Field){.name = STR(text), .type = (kind)})

enum { RECORDS = 300000, RUNS = 5 };

static double now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The eight fields, beginning with the one numbered `first`. */
static void write_record(Buffer *out, unsigned i, unsigned first)
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
            buffer_append_cstr(out, "\"note\":\"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrst\"");
        }
    }
    buffer_append_byte(out, '}');
}

static Str *make_records(Buffer *text, bool shuffled)
{
    Str *records = calloc(RECORDS, sizeof *records);
    size_t *ends = calloc(RECORDS, sizeof *ends);
    if (records == NULL || ends == NULL) {
        abort();
    }
    for (unsigned i = 0; i < RECORDS; i++) {
        write_record(text, i, shuffled ? i * 5 : 0);
        ends[i] = text->size;
    }
    for (unsigned i = 0; i < RECORDS; i++) {
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

/* Both for one pass over the records. */
typedef struct Times {
    double decode_ns;
    double encode_ns;
} Times;

static Times run(Decoder *decoder, const Str *records, Arena *arena)
{
    Times times = {0};
    RowErrors errors = {0};
    AUTO_BUFFER Buffer out = {0};
    for (size_t at = 0; at < RECORDS; at += BATCH_ROWS) {
        size_t count = RECORDS - at < BATCH_ROWS ? RECORDS - at : BATCH_ROWS;
        Batch *batch = NULL;
        double begin = now_ns();
        arena_reset(arena);
        decoder_decode(decoder, records + at, count, arena, &errors, &batch);
        double middle = now_ns();
        buffer_clear(&out);
        for (uint32_t row = 0; row < batch->row_count; row++) {
            json_encode_row(batch, row, &out);
        }
        times.decode_ns += middle - begin;
        times.encode_ns += now_ns() - middle;
    }
    if (errors.count > 0) {
        fail_on(errors.errors[0]);
    }
    return times;
}

static void measure(const char *what, const Schema *schema, bool shuffled)
{
    AUTO_BUFFER Buffer text = {0};
    Str *records = make_records(&text, shuffled);
    const DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = time_zone_utc()};
    AUTO(decoder) Decoder *decoder = NULL;
    AUTO(arena) Arena *arena = arena_new("batch");
    fail_on(decoder_open(&options, schema, &decoder));
    Times best = {1e18, 1e18};
    for (int i = 0; i < RUNS; i++) {
        Times times = run(decoder, records, arena);
        best.decode_ns = times.decode_ns < best.decode_ns ? times.decode_ns : best.decode_ns;
        best.encode_ns = times.encode_ns < best.encode_ns ? times.encode_ns : best.encode_ns;
    }
    (void)printf("%-24s %5.1f bytes a row   decode %6.1f ns a row   encode %6.1f ns a row\n", what,
                 (double)text.size / RECORDS, best.decode_ns / RECORDS, best.encode_ns / RECORDS);
    free(records);
}

int main(void)
{
    AUTO(arena) Arena *arena = arena_new("bench");
    const Field fields[] = {
        FIELD("region", &type_string),  FIELD("customer_id", &type_bigint),
        FIELD("seq", &type_bigint),     FIELD("amount", type_decimal(arena, 10, 2)),
        FIELD("status", &type_string),  FIELD("updated_at", &type_timestamp),
        FIELD("active", &type_boolean), FIELD("note", &type_string),
    };
    const Field few[] = {fields[1], fields[2], fields[4]};
    const Schema *schema = schema_new(arena, fields, ARRAY_LENGTH(fields));
    measure("columns' order", schema, false);
    measure("changing order", schema, true);
    measure("3 of 8 columns", schema_new(arena, few, ARRAY_LENGTH(few)), false);
    return 0;
}
