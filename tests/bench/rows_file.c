/* Writes rows of a work as JSON lines, or as records for joins, to standard output:
 *
 *     bench_rows_file w1 5000000        the rows of W1
 *     bench_rows_file customers 1000000 one line a customer of W1: customer_id, name, segment */
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/buffer.h"
#include "tests/bench/common/rows.h"

#include "processor/base/banned.h"

enum { FLUSH_BYTES = 1 << 20 };

static void flush(Buffer *lines, size_t from)
{
    if (lines->size >= from && fwrite(lines->data, 1, lines->size, stdout) != lines->size) {
        perror("bench_rows_file");
        exit(1);
    }
    if (lines->size >= from) {
        buffer_clear(lines);
    }
}

static void write_rows(Work work, int64_t count)
{
    AUTO_BUFFER Buffer lines = {0};
    AUTO_BUFFER Buffer key = {0};
    RowSource *source = row_source_new(work, work_default_keys(work), 1, 0);
    for (int64_t i = 0; i < count; i++) {
        buffer_clear(&key);
        row_source_next(source, STR_NULL, &key, &lines);
        buffer_append_byte(&lines, '\n');
        flush(&lines, FLUSH_BYTES);
    }
    flush(&lines, 0);
    row_source_free(source);
}

static void write_customers(int64_t count)
{
    static const char *const segments[] = {"retail", "trade", "public", "staff", "other"};
    AUTO_BUFFER Buffer lines = {0};
    for (int64_t i = 0; i < count; i++) {
        buffer_printf(&lines,
                      "{\"customer_id\":%lld,\"name\":\"customer %lld\",\"segment\":\"%s\"}\n",
                      (long long)i, (long long)i, segments[i % 5]);
        flush(&lines, FLUSH_BYTES);
    }
    flush(&lines, 0);
}

int main(int argc, char **argv)
{
    int64_t count = 0;
    if (argc != 3 || !str_to_int64(str_from(argv[2]), &count)) {
        (void)fputs("usage: bench_rows_file w1|w2|one|customers COUNT\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "customers") == 0) {
        write_customers(count);
    } else {
        write_rows(work_from_name(argv[1]), count);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
