/* The state directory: who may open it, what is refused, and what damage does: the state is made
 * anew and says so, or a call fails with STATE_CORRUPT; wrong rows are never given. */
#include "state/view.h"
#include "tests/unit/state/fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "processor/base/banned.h"

static void one_holder_at_a_time(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    AUTO_BUFFER Buffer holder = {0};
    buffer_printf(&holder, "%s is in use by process %ld", folder, (long)getpid());
    State *second = NULL;
    fails(try_open(folder, &second, NULL), ERROR_STATE_LOCKED, buffer_cstr(&holder));
    pid_t child = fork();
    if (child == 0) {
        Error *error = try_open(folder, &second, NULL);
        bool good = error != NULL && error_class(error) == ERROR_STATE_LOCKED &&
                    strstr(error_message(error), buffer_cstr(&holder)) != NULL;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    state_close(state);
    state_close(open_state(folder));
    remove_folder(folder);
}

/* What a process of its own does for the test below: opens the state and dies with it. A forked
 * child of a process that had threads cannot start RocksDB's under ThreadSanitizer, so it is a new
 * program. */
static int hold_and_die(const char *folder)
{
    State *state = NULL;
    _exit(try_open(folder, &state, NULL) == NULL ? 7 : 1);
}

/* The lock of a killed process holds nobody up, and the text it left behind misleads nobody. */
static void a_killed_holder_is_gone(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    pid_t child = fork();
    if (child == 0) {
        (void)execl("/proc/self/exe", "unit_state_directory", "--hold", folder, (char *)NULL);
        _exit(1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 7);
    state_close(open_state(folder));
    remove_folder(folder);
}

static void a_folder_that_cannot_be_written(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    write_file(folder, "file", STR("x"));
    AUTO_BUFFER Buffer path = {0};
    State *state = NULL;
    fails(try_open(path_of(&path, folder, "file"), &state, NULL), ERROR_STATE_UNWRITABLE,
          "Not a directory");
    fails(try_open(path_of(&path, folder, "file/below"), &state, NULL), ERROR_STATE_UNWRITABLE,
          "Not a directory");
    fails(try_open("/proc/nowhere/state", &state, NULL), ERROR_STATE_UNWRITABLE, "/proc/nowhere");
    /* Missing folders are made, however many. */
    state_close(open_state(path_of(&path, folder, "a/b//c/")));
    remove_folder(folder);
}

static void foreign_directories_are_refused(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = NULL;
    write_file(folder, "notes.txt", STR("mine"));
    fails(try_open(folder, &state, NULL), ERROR_STATE_FORMAT, "is no state directory");
    AUTO_BUFFER Buffer path = {0};
    assert_int_equal(access(path_of(&path, folder, "notes.txt"), F_OK), 0);
    assert_int_equal(unlink(buffer_cstr(&path)), 0);
    /* A volume's root, and the leavings of a start that was killed. */
    assert_int_equal(mkdir(path_of(&path, folder, "lost+found"), 0700), 0);
    write_file(folder, "TIDEMARK.new", STR("tidemark st"));
    state_close(open_state(folder));
    StateOptions other = {.dir = folder, .pipeline = "payments", .memory_bytes = FIXTURE_MEMORY};
    fails(state_open(&other, &state, NULL), ERROR_STATE_FORMAT,
          "belongs to pipeline `bookings`, not to `payments`");
    remove_folder(folder);
}

static void the_identity_is_checked(void **unused)
{
    (void)unused;
    static const struct {
        Str text;
        const char *message;
    } cases[] = {
        {{"", 0}, "TIDEMARK is damaged"},
        {{"tidemark state\nformat 1\npipeline book", 38}, "TIDEMARK is damaged"},
        {{"tidemark state\nformat 1\n", 24}, "TIDEMARK is damaged"},
        {{"tidemark state\nformat \npipeline bookings\n", 41}, "TIDEMARK is damaged"},
        {{"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20}, "TIDEMARK is damaged"},
        {{"tidemark state\nformat 0\npipeline bookings\n", 42}, "has format 0"},
        {{"tidemark state\nformat 3\npipeline bookings\n", 42},
         "has format 3; this program reads 2"},
        {{"tidemark state\nformat 12\n{newer: yes}\n", 38}, "has format 12"},
        {{"tidemark state\nformat 1\npipeline Bookings\n", 42}, "belongs to pipeline `Bookings`"},
    };
    char *folder = new_folder();
    state_close(open_state(folder));
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        write_file(folder, "TIDEMARK", cases[i].text);
        State *state = NULL;
        fails(try_open(folder, &state, NULL), ERROR_STATE_FORMAT, cases[i].message);
    }
    write_file(folder, "TIDEMARK", STR("tidemark state\nformat 2\npipeline bookings\n"));
    state_close(open_state(folder));
    remove_folder(folder);
}

/* It is read again from the topics, once. */
static void an_older_format_is_made_anew(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(open_table(state, "t", 1));
    store_batch_put(batch, 0, STR("a"), 0, STR("1"), STR("old"));
    ok(store_batch_write(batch));
    ok(table_store_flush(open_table(state, "t", 1)));
    state_close(state);
    write_file(folder, "TIDEMARK", STR("tidemark state\nformat 1\npipeline bookings\n"));
    fails(state_view_open(folder, "bookings", &state), ERROR_STATE_FORMAT, "has format 1");
    bool rebuilt = false;
    ok(try_open(folder, &state, &rebuilt));
    assert_true(rebuilt);
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(open_table(state, "t", 1), -1, &text), "");
    state_close(state);
    state_close(open_state(folder)); /* not rebuilt */
    AUTO_BUFFER Buffer path = {0};
    read_file(path_of(&path, folder, "TIDEMARK"), &text);
    assert_true(str_starts_with(buffer_str(&text), STR("tidemark state\nformat 2\n")));
    remove_folder(folder);
}

/* ------------------------------------------------------------------------------- damage ---- */

enum { ROWS = 2000, ROW_SIZE = 100 };

static void make_row(char *row, uint32_t i)
{
    Random random = random_of(i + 1);
    for (int k = 0; k < ROW_SIZE; k++) {
        row[k] = (char)('a' + random_below(&random, 26));
    }
}

static Str key_of(char buffer[16], uint32_t i)
{
    int size = snprintf(buffer, 16, "key%06u", (unsigned)i);
    return (Str){buffer, (size_t)size};
}

/* Two tables' worth of files: rows in two flushes, so that there are several SSTs. */
static void fill(const char *folder)
{
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    StoreBatch *batch = store_batch_new(store);
    char row[ROW_SIZE];
    char key[16];
    for (uint32_t i = 0; i < ROWS; i++) {
        make_row(row, i);
        store_batch_put(batch, 0, key_of(key, i), 0, STR("7"), (Str){row, ROW_SIZE});
        if (i == ROWS / 2 || i == ROWS - 1) {
            store_batch_set_position(batch, 0, i + 1, 5);
            ok(store_batch_write(batch));
            ok(table_store_flush(store));
        }
    }
    store_batch_free(batch);
    state_close(state);
}

/* Whatever comes out of the store must be right: exactly the rows up to its position. A failure
 * must be STATE_CORRUPT. */
static Error *read_all(TableStore *store, uint32_t *ret_rows)
{
    int64_t position = -1;
    TRY(table_store_position(store, 0, &position, NULL));
    uint32_t expected = position < 0 ? 0 : (uint32_t)position;
    assert_true(expected == 0 || expected == ROWS / 2 + 1 || expected == ROWS);
    AUTO(arena) Arena *arena = arena_new("test");
    char row[ROW_SIZE];
    char key[16];
    uint32_t shard = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        Str name = key_of(key, i);
        KeyState known = {0};
        TRY(table_store_lookup(store, &shard, &name, 1, arena, &known));
        assert_int_equal(known.count, i < expected);
        assert_true(i >= expected || str_equal(known.sequence, STR("7")));
    }
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, -1);
    uint32_t rows = 0;
    for (;; rows++) {
        StoredRow found = {0};
        bool more = false;
        TRY(store_scan_next(scan, &found, &more));
        if (!more) {
            break;
        }
        make_row(row, rows);
        assert_true(str_equal(found.key, key_of(key, rows)));
        assert_true(str_equal(found.row, (Str){row, ROW_SIZE}));
    }
    assert_int_equal(rows, expected);
    *ret_rows = rows;
    return NULL;
}

typedef struct Outcome {
    int whole;    /* nothing was lost */
    int older;    /* as before the last flush: its manifest lost its end */
    int rebuilt;  /* opening found it */
    int detected; /* reading found it, and the next opening healed it */
} Outcome;

/* Opens a damaged directory and judges what happens. */
static void judge(const char *folder, Outcome *outcome)
{
    State *state = NULL;
    bool rebuilt = false;
    ok(try_open(folder, &state, &rebuilt));
    TableStore *store = NULL;
    Error *error = state_table(state, STR("t"), STR("t"), 1, &store);
    uint32_t rows = 0;
    error = error != NULL ? error : read_all(store, &rows);
    if (error != NULL) {
        assert_false(rebuilt);
        fails(error, ERROR_STATE_CORRUPT, "");
        state_close(state);
        ok(try_open(folder, &state, &rebuilt));
        assert_true(rebuilt);
        store = open_table(state, "t", 1);
        ok(read_all(store, &rows));
        assert_int_equal(rows, 0);
        outcome->detected++;
    } else {
        assert_true(!rebuilt || rows == 0);
        outcome->rebuilt += rebuilt;
        outcome->older += !rebuilt && rows < ROWS;
        outcome->whole += !rebuilt && rows == ROWS;
    }
    state_close(state);
    /* Healed for good. */
    state_close(open_state(folder));
}

/* The name of the n-th file of the database whose name contains `part`; NULL: no more. */
static const char *find_file(Buffer *path, const char *folder, const char *part, int n)
{
    AUTO_BUFFER Buffer database = {0};
    DIR *dir = opendir(path_of(&database, folder, "rocksdb"));
    assert_non_null(dir);
    const char *found = NULL;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (strstr(entry->d_name, part) != NULL && n-- == 0) {
            found = path_of(path, buffer_cstr(&database), entry->d_name);
        }
    }
    (void)closedir(dir);
    return found;
}

static void rewrite(const char *path, Str text)
{
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.data, text.size), (ssize_t)text.size);
    (void)close(fd);
}

static Outcome damage_once(const char *part, int n, void (*hurt)(const char *path))
{
    char *folder = new_folder();
    fill(folder);
    AUTO_BUFFER Buffer path = {0};
    const char *file = find_file(&path, folder, part, n);
    assert_non_null(file);
    hurt(file);
    Outcome outcome = {0};
    judge(folder, &outcome);
    remove_folder(folder);
    return outcome;
}

static void delete_file(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static void empty_file(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void halve_file(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size / 2), 0);
}

static void fill_with_zeros(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(truncate(path, info.st_size), 0);
}

static void fill_with_noise(const char *path)
{
    AUTO_BUFFER Buffer bytes = {0};
    read_file(path, &bytes);
    Random random = random_of(3);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.data[i] = (char)random_below(&random, 256);
    }
    rewrite(path, buffer_str(&bytes));
}

static void name_another_file(const char *path)
{
    rewrite(path, STR("MANIFEST-999999\n"));
}

static void name_a_folder(const char *path)
{
    rewrite(path, STR("../\n"));
}

static void damaged_files_are_found_at_the_start(void **unused)
{
    (void)unused;
    static void (*const ways[])(const char *path) = {delete_file, empty_file, halve_file,
                                                     fill_with_zeros, fill_with_noise};
    static const char *const files[] = {"CURRENT", "MANIFEST", ".sst"};
    for (size_t f = 0; f < ARRAY_LENGTH(files); f++) {
        for (size_t w = 0; w < ARRAY_LENGTH(ways); w++) {
            Outcome outcome = damage_once(files[f], 0, ways[w]);
            if (outcome.rebuilt + outcome.older != 1) {
                print_error("%s, way %zu: not found at the start\n", files[f], w);
            }
            /* A manifest cut short is one of an earlier moment. */
            assert_int_equal(outcome.rebuilt + outcome.older, 1);
            assert_true(outcome.older == 0 || ways[w] == halve_file);
        }
    }
    assert_int_equal(damage_once("CURRENT", 0, name_another_file).rebuilt, 1);
    assert_int_equal(damage_once("CURRENT", 0, name_a_folder).rebuilt, 1);
    /* What RocksDB does not need. */
    assert_int_equal(damage_once("OPTIONS", 0, fill_with_noise).whole, 1);
    assert_int_equal(damage_once("IDENTITY", 0, delete_file).whole, 1);
}

/* One byte turned, in every part of every file that matters. */
static void a_turned_byte_never_gives_wrong_rows(void **unused)
{
    (void)unused;
    static const char *const files[] = {"CURRENT", "MANIFEST", ".sst"};
    Outcome outcome = {0};
    char *folder = new_folder();
    Random random = random_of(11);
    for (int round = 0; round < 60; round++) {
        fill(folder);
        AUTO_BUFFER Buffer path = {0};
        const char *file = NULL;
        for (int n = (int)random_below(&random, 6); file == NULL; n--) {
            file = find_file(&path, folder, files[round % 3], n < 0 ? 0 : n);
        }
        AUTO_BUFFER Buffer bytes = {0};
        read_file(file, &bytes);
        bytes.data[random_below(&random, (uint32_t)bytes.size)] ^=
            (char)(1 << random_below(&random, 8));
        rewrite(file, buffer_str(&bytes));
        judge(folder, &outcome);
        state_remove(folder);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
    assert_true(outcome.rebuilt > 0);
    assert_true(outcome.detected > 0);
    print_message("whole %d, older %d, rebuilt %d, detected %d\n", outcome.whole, outcome.older,
                  outcome.rebuilt, outcome.detected);
    remove_folder(folder);
}

/* The caller may find damage that checksums cannot (a row of no known schema). */
static void marked_as_damaged(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    fill(folder);
    State *state = open_state(folder);
    state_mark_damaged(state);
    state_mark_damaged(state);
    state_close(state);
    Outcome outcome = {0};
    judge(folder, &outcome);
    assert_int_equal(outcome.rebuilt, 1);
    remove_folder(folder);
}

/* A disk that takes no more: an error, and after a start with space all is as it was. */
static void a_full_disk_is_an_error(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    fill(folder);
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    StoreBatch *batch = store_batch_new(store);
    char key[16];
    char row[ROW_SIZE];
    for (uint32_t i = 0; i < ROWS; i++) {
        make_row(row, i + ROWS);
        store_batch_put(batch, 0, key_of(key, i), 0, STR("8"), (Str){row, ROW_SIZE});
    }
    ok(store_batch_write(batch));
    store_batch_free(batch);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){100000, before.rlim_max}), 0);
    Error *error = table_store_flush(store);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    fails(error, ERROR_STATE_IO, "File too large");
    state_close(state);
    Outcome outcome = {0};
    judge(folder, &outcome);
    assert_int_equal(outcome.whole, 1);
    remove_folder(folder);
}

static void removing_takes_what_is_ours(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    fill(folder);
    State *state = open_state(folder);
    state_mark_damaged(state);
    state_close(state);
    state_remove(folder);
    assert_int_equal(access(folder, F_OK), -1);
    state_remove(folder);
    /* A folder with other things in it keeps them. */
    assert_int_equal(mkdir(folder, 0700), 0);
    write_file(folder, "notes.txt", STR("mine"));
    state_remove(folder);
    AUTO_BUFFER Buffer path = {0};
    assert_int_equal(access(path_of(&path, folder, "notes.txt"), F_OK), 0);
    remove_folder(folder);
}

/* Files RocksDB keeps for itself do not pile up over many starts, each of which writes down how far
 * it restored, as a start does. */
static void many_starts_leave_few_files(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    fill(folder);
    for (int i = 0; i < 30; i++) {
        State *state = open_state(folder);
        StoreBatch *batch = store_batch_new(open_table(state, "t", 1));
        store_batch_set_position(batch, 0, ROWS, i);
        ok(store_batch_write(batch));
        ok(table_store_flush(open_table(state, "t", 1)));
        store_batch_free(batch);
        state_close(state);
    }
    AUTO_BUFFER Buffer path = {0};
    int files = 0;
    while (find_file(&path, folder, "", files) != NULL) {
        files++;
    }
    assert_true(files <= 30);
    remove_folder(folder);
}

enum { OPENERS = 8 };

typedef struct Opener {
    State *state;
    int number;
    TableStore *store;
    pthread_t thread;
} Opener;

static void *open_own_table(void *argument)
{
    Opener *opener = argument;
    char name[8];
    (void)snprintf(name, sizeof name, "t%d", opener->number);
    ok(state_table(opener->state, str_from(name), str_from(name), (uint32_t)opener->number + 1,
                   &opener->store));
    return NULL;
}

/* After a state was made anew the flows of a pipeline start side by side. */
static void tables_are_made_by_many_threads(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    Opener openers[OPENERS];
    for (int i = 0; i < OPENERS; i++) {
        openers[i] = (Opener){.state = state, .number = i};
        assert_int_equal(pthread_create(&openers[i].thread, NULL, open_own_table, &openers[i]), 0);
    }
    for (int i = 0; i < OPENERS; i++) {
        assert_int_equal(pthread_join(openers[i].thread, NULL), 0);
        assert_int_equal(table_store_shards(openers[i].store), (uint32_t)i + 1);
    }
    /* Each is in the list: it is given again, not made again. */
    for (int i = 0; i < OPENERS; i++) {
        Opener again = {.state = state, .number = i};
        (void)open_own_table(&again);
        assert_ptr_equal(again.store, openers[i].store);
    }
    state_close(state);
    remove_folder(folder);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--hold") == 0) {
        return hold_and_die(argv[2]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_holder_at_a_time),
        cmocka_unit_test(a_killed_holder_is_gone),
        cmocka_unit_test(a_folder_that_cannot_be_written),
        cmocka_unit_test(foreign_directories_are_refused),
        cmocka_unit_test(the_identity_is_checked),
        cmocka_unit_test(an_older_format_is_made_anew),
        cmocka_unit_test(damaged_files_are_found_at_the_start),
        cmocka_unit_test(a_turned_byte_never_gives_wrong_rows),
        cmocka_unit_test(marked_as_damaged),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(removing_takes_what_is_ours),
        cmocka_unit_test(many_starts_leave_few_files),
        cmocka_unit_test(tables_are_made_by_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
