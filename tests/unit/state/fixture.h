/* A directory that lives as long as a test, and short words for what the tests of state/ and flow/
 * say often. */
#ifndef TESTS_STATE_FIXTURE_H
#define TESTS_STATE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "processor/base/buffer.h"
#include "processor/base/memory.h"
#include "state/state.h"

enum { FIXTURE_MEMORY = 16 << 20 };

UNUSED static char *new_folder(void)
{
    const char *base = getenv("TMPDIR");
    AUTO_BUFFER Buffer path = {0};
    buffer_printf(&path, "%s/tidemark-state-XXXXXX", base == NULL ? P_tmpdir : base);
    char *folder = mem_strdup(buffer_cstr(&path));
    assert_non_null(mkdtemp(folder));
    return folder;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

/* Removes the folder with all in it, and frees its name. */
UNUSED static void remove_folder(char *folder)
{
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    mem_free(folder);
}

/* folder/name, in the buffer. */
UNUSED static const char *path_of(Buffer *path, const char *folder, const char *name)
{
    buffer_clear(path);
    buffer_printf(path, "%s/%s", folder, name);
    return buffer_cstr(path);
}

UNUSED static void write_file(const char *folder, const char *name, Str text)
{
    AUTO_BUFFER Buffer path = {0};
    int fd = open(path_of(&path, folder, name), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.data, text.size), (ssize_t)text.size);
    assert_int_equal(close(fd), 0);
}

UNUSED static void read_file(const char *path, Buffer *out)
{
    buffer_clear(out);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    char *to = buffer_reserve(out, (size_t)info.st_size + 1);
    assert_int_equal(read(fd, to, (size_t)info.st_size), info.st_size);
    out->size = (size_t)info.st_size;
    (void)close(fd);
}

UNUSED static void ok_at(Error *error, const char *file, int line)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        print_error("%s", buffer_cstr(&text));
        error_free(error);
        _fail(file, line);
    }
}
#define ok(call) ok_at((call), __FILE__, __LINE__)

/* The error is of that class and its message has `part` in it; it is freed. */
UNUSED static void fails_at(Error *error, ErrorClass class, const char *part, const char *file,
                            int line)
{
    if (error == NULL) {
        print_error("no error instead of %s\n", error_class_name(class));
        _fail(file, line);
    }
    bool good = error_class(error) == class && strstr(error_message(error), part) != NULL;
    if (!good) {
        print_error("%s: %s\n", error_class_name(error_class(error)), error_message(error));
    }
    error_free(error);
    if (!good) {
        _fail(file, line);
    }
}
#define fails(call, class, part) fails_at((call), (class), (part), __FILE__, __LINE__)

UNUSED static Error *try_open(const char *folder, State **ret_state, bool *ret_rebuilt)
{
    StateOptions options = {.dir = folder, .pipeline = "bookings", .memory_bytes = FIXTURE_MEMORY};
    return state_open(&options, ret_state, ret_rebuilt);
}

UNUSED static State *open_state(const char *folder)
{
    State *state = NULL;
    bool rebuilt = false;
    ok(try_open(folder, &state, &rebuilt));
    assert_false(rebuilt);
    return state;
}

UNUSED static TableStore *open_table(State *state, const char *name, uint32_t shards)
{
    TableStore *store = NULL;
    ok(state_table(state, str_from(name), str_from(name), shards, &store));
    return store;
}

/* All rows as lines "shard key/ordinal@sequence=row", in scan order. */
UNUSED static const char *dump(TableStore *store, int64_t shard, Buffer *out)
{
    buffer_clear(out);
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, shard);
    for (;;) {
        StoredRow row = {0};
        bool found = false;
        ok(store_scan_next(scan, &row, &found));
        if (!found) {
            return buffer_cstr(out);
        }
        buffer_printf(out, "%" PRIu32 " %.*s/%" PRIu32 "@%.*s=%.*s\n", row.shard, STR_ARG(row.key),
                      row.ordinal, STR_ARG(row.sequence), STR_ARG(row.row));
    }
}

/* xorshift: the same numbers on every machine. */
typedef struct Random {
    uint64_t state;
} Random;

UNUSED static uint32_t random_below(Random *random, uint32_t limit)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return (uint32_t)((random->state >> 16) % limit);
}

UNUSED static Random random_of(uint64_t seed)
{
    Random random = {seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    (void)random_below(&random, 2);
    return random;
}

#endif
