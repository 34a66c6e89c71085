/* RocksDB behind a small interface. */
#include "state/rocks.h"

#include <assert.h>
#include <pthread.h>
#include <rocksdb/c.h>
#include <stdlib.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    MEMORY_MIN = 1 << 20,        /* of the write buffers, and of the cache */
    WRITE_BUFFER_MAX = 64 << 20, /* one flush */
    OPEN_FILES_MAX = 512,        /* of the 1024 a process may usually have */
    LOG_BYTES_MAX = 1 << 20,
    LOG_LEVEL_WARN = 2,
    MANIFEST_BYTES_MAX = 16 << 20,
};

struct RocksFamily {
    char *name;
    rocksdb_column_family_handle_t *handle;
    RocksFamily *next;
};

struct Rocks {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_writeoptions_t *write_options;
    rocksdb_readoptions_t *read_options;
    pthread_mutex_t lock; /* protects families */
    RocksFamily *families;
};

struct RocksBatch {
    rocksdb_writebatch_t *batch;
    size_t bytes;
};

struct RocksIterator {
    rocksdb_iterator_t *iterator;
    rocksdb_readoptions_t *options;
};

static bool says(const char *message, const char *words)
{
    return strstr(message, words) != NULL;
}

/* RocksDB tells failures as text, "Kind: details", and the words decide the class. A file that is
 * gone is damage: only RocksDB and `rm` take files away. */
static ErrorClass class_of(const char *message)
{
    if (says(message, "lock hold by") || says(message, "While lock file")) {
        return ERROR_STATE_LOCKED;
    }
    Str text = str_from(message);
    if (str_starts_with(text, STR("Corruption")) || says(message, "No such file or directory")) {
        return ERROR_STATE_CORRUPT;
    }
    if (says(message, "Permission denied") || says(message, "Read-only file system") ||
        says(message, "No space left on device") || says(message, "Disk quota exceeded")) {
        return ERROR_STATE_UNWRITABLE;
    }
    return ERROR_STATE_IO;
}

static Error *rocks_error(char *message, const char *doing)
{
    Error *error = error_new(class_of(message), "The state could not be %s: %s.", doing, message);
    if (error_class(error) == ERROR_STATE_UNWRITABLE) {
        error_set_hint(error, "state.dir needs a folder this user may write, with free space");
    }
    rocksdb_free(message);
    return error;
}

/* Our options never change, so whatever an opening complains of, but for the disk, is damage. */
static Error *open_error(char *message)
{
    if (class_of(message) == ERROR_STATE_IO &&
        !str_starts_with(str_from(message), STR("IO error"))) {
        Error *error =
            error_new(ERROR_STATE_CORRUPT, "The state could not be opened: %s.", message);
        rocksdb_free(message);
        return error;
    }
    return rocks_error(message, "opened");
}

#define ROCKS_TRY(message, doing)                                                                  \
    do {                                                                                           \
        if ((message) != NULL) {                                                                   \
            return rocks_error((message), (doing));                                                \
        }                                                                                          \
    } while (0)

static size_t between(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Files RocksDB keeps beside the tables grow without end unless they are told not to. */
static void bound_files(rocksdb_options_t *options)
{
    rocksdb_options_set_max_open_files(options, OPEN_FILES_MAX);
    rocksdb_options_set_keep_log_file_num(options, 2);
    rocksdb_options_set_max_log_file_size(options, LOG_BYTES_MAX);
    rocksdb_options_set_info_log_level(options, LOG_LEVEL_WARN);
    rocksdb_options_set_max_manifest_file_size(options, MANIFEST_BYTES_MAX);
}

/* What a look-up of a key asks the filters for: a row entry without its ordinal (store.c). RocksDB
 * asks for the prefix of whatever entry a seek ends at, is_row_key or not: a shorter one, as a
 * position, is its own prefix. */
static char *row_prefix(void *state, const char *key, size_t size, size_t *ret_size)
{
    (void)state;
    *ret_size = size > ROCKS_PREFIX_TAIL ? size - ROCKS_PREFIX_TAIL : size;
    return (char *)(uintptr_t)key;
}

static unsigned char is_row_key(void *state, const char *key, size_t size)
{
    (void)state;
    (void)key;
    return size > ROCKS_PREFIX_TAIL;
}

static const char *row_prefix_name(void *state)
{
    (void)state;
    return "tidemark.row_prefix";
}

static void no_state(void *state)
{
    (void)state;
}

static void set_prefix_filters(rocksdb_options_t *options)
{
    rocksdb_options_set_prefix_extractor(
        options, rocksdb_slicetransform_create(NULL, no_state, row_prefix, is_row_key, is_row_key,
                                               row_prefix_name));
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, 0.1);
}

static void set_table_format(rocksdb_options_t *options, size_t cache_bytes)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(cache_bytes);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_cache_destroy(cache);
    /* Indexes and filters count as cache too, so that memory stays within its bound. */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_whole_key_filtering(table, 0);
    rocksdb_block_based_options_set_filter_policy(table,
                                                  rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_options_set_block_based_table_factory(options, table);
    set_prefix_filters(options);
    rocksdb_block_based_options_destroy(table);
}

static rocksdb_options_t *make_options(size_t memory_bytes)
{
    /* rocksdb_close would flush memtables even without a log; a stop must be like a crash. */
    rocksdb_options_t *plain = rocksdb_options_create();
    rocksdb_options_t *options = rocksdb_options_create();
    char *message = NULL;
    rocksdb_get_options_from_string(plain, "avoid_flush_during_shutdown=true", options, &message);
    assert(message == NULL);
    rocksdb_options_destroy(plain);
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_create_missing_column_families(options, 1);
    rocksdb_options_set_paranoid_checks(options, 1);
    /* A start opens few files and nobody reads RocksDB's statistics: no threads for either. */
    rocksdb_options_set_max_file_opening_threads(options, 1);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
    size_t buffers = between(memory_bytes / 2, MEMORY_MIN, SIZE_MAX);
    rocksdb_options_set_db_write_buffer_size(options, buffers);
    rocksdb_options_set_write_buffer_size(options, between(buffers / 4, 0, WRITE_BUFFER_MAX));
    set_table_format(options, between(memory_bytes / 2, MEMORY_MIN, SIZE_MAX));
    bound_files(options);
    return options;
}

static void add_family(Rocks *rocks, const char *name, rocksdb_column_family_handle_t *handle)
{
    RocksFamily *family = mem_new(RocksFamily);
    *family = (RocksFamily){mem_strdup(name), handle, rocks->families};
    rocks->families = family;
}

/* The families that are there already; "default" for a new database. */
static char **list_families(const rocksdb_options_t *options, const char *dir, size_t *ret_count)
{
    char *message = NULL;
    char **names = rocksdb_list_column_families(options, dir, ret_count, &message);
    if (message == NULL) {
        return names;
    }
    rocksdb_free(message);
    rocksdb_list_column_families_destroy(names, *ret_count); /* empty, but allocated */
    *ret_count = 0;
    return NULL;
}

static Error *open_database(Rocks *rocks, const char *dir)
{
    size_t count = 0;
    char **names = list_families(rocks->options, dir, &count);
    const char *only_default[] = {"default"};
    const char *const *wanted = count == 0 ? only_default : (const char *const *)names;
    size_t wanted_count = count == 0 ? 1 : count;
    const rocksdb_options_t **options = mem_alloc_array(wanted_count, sizeof *options);
    rocksdb_column_family_handle_t **handles = mem_alloc_array(wanted_count, sizeof *handles);
    for (size_t i = 0; i < wanted_count; i++) {
        options[i] = rocks->options;
    }
    char *message = NULL;
    rocks->db = rocksdb_open_column_families(rocks->options, dir, (int)wanted_count, wanted,
                                             options, handles, &message);
    if (message == NULL) {
        for (size_t i = 0; i < wanted_count; i++) {
            add_family(rocks, wanted[i], handles[i]);
        }
    }
    mem_free(options);
    mem_free(handles);
    if (names != NULL) {
        rocksdb_list_column_families_destroy(names, count);
    }
    return message == NULL ? NULL : open_error(message);
}

Error *rocks_open(const char *dir, size_t memory_bytes, Rocks **ret_rocks)
{
    Rocks *rocks = mem_new(Rocks);
    pthread_mutex_init(&rocks->lock, NULL);
    rocks->options = make_options(memory_bytes);
    rocks->write_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(rocks->write_options, 1);
    rocks->read_options = rocksdb_readoptions_create();
    Error *error = open_database(rocks, dir);
    if (error != NULL) {
        rocks_close(rocks);
        return error;
    }
    *ret_rocks = rocks;
    return NULL;
}

void rocks_close(Rocks *rocks)
{
    if (rocks == NULL) {
        return;
    }
    while (rocks->families != NULL) {
        RocksFamily *family = rocks->families;
        rocks->families = family->next;
        rocksdb_column_family_handle_destroy(family->handle);
        mem_free(family->name);
        mem_free(family);
    }
    if (rocks->db != NULL) {
        rocksdb_close(rocks->db);
    }
    rocksdb_readoptions_destroy(rocks->read_options);
    rocksdb_writeoptions_destroy(rocks->write_options);
    rocksdb_options_destroy(rocks->options);
    pthread_mutex_destroy(&rocks->lock);
    mem_free(rocks);
}

static RocksFamily *find_family(const Rocks *rocks, const char *name)
{
    RocksFamily *family = rocks->families;
    while (family != NULL && strcmp(family->name, name) != 0) {
        family = family->next;
    }
    return family;
}

Error *rocks_family(Rocks *rocks, const char *name, RocksFamily **ret_family)
{
    char *message = NULL;
    pthread_mutex_lock(&rocks->lock);
    if (find_family(rocks, name) == NULL) {
        rocksdb_column_family_handle_t *handle =
            rocksdb_create_column_family(rocks->db, rocks->options, name, &message);
        if (message == NULL) {
            add_family(rocks, name, handle);
        }
    }
    RocksFamily *family = find_family(rocks, name);
    pthread_mutex_unlock(&rocks->lock);
    ROCKS_TRY(message, "given a new table");
    *ret_family = family;
    return NULL;
}

Error *rocks_flush(Rocks *rocks, RocksFamily *family)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 1);
    char *message = NULL;
    rocksdb_flush_cf(rocks->db, options, family->handle, &message);
    rocksdb_flushoptions_destroy(options);
    ROCKS_TRY(message, "flushed");
    return NULL;
}

RocksBatch *rocks_batch_new(void)
{
    RocksBatch *batch = mem_new(RocksBatch);
    batch->batch = rocksdb_writebatch_create();
    return batch;
}

void rocks_batch_free(RocksBatch *batch)
{
    if (batch != NULL) {
        rocksdb_writebatch_destroy(batch->batch);
        mem_free(batch);
    }
}

void rocks_batch_put(RocksBatch *batch, RocksFamily *family, Str key, Str value)
{
    rocksdb_writebatch_put_cf(batch->batch, family->handle, key.data, key.size, value.data,
                              value.size);
    batch->bytes += key.size + value.size;
}

void rocks_batch_delete(RocksBatch *batch, RocksFamily *family, Str key)
{
    rocksdb_writebatch_delete_cf(batch->batch, family->handle, key.data, key.size);
    batch->bytes += key.size;
}

void rocks_batch_delete_range(RocksBatch *batch, RocksFamily *family, Str from, Str to)
{
    rocksdb_writebatch_delete_range_cf(batch->batch, family->handle, from.data, from.size, to.data,
                                       to.size);
}

size_t rocks_batch_bytes(const RocksBatch *batch)
{
    return batch->bytes;
}

Error *rocks_write(Rocks *rocks, RocksBatch *batch)
{
    char *message = NULL;
    rocksdb_write(rocks->db, rocks->write_options, batch->batch, &message);
    rocksdb_writebatch_clear(batch->batch);
    batch->bytes = 0;
    ROCKS_TRY(message, "written");
    return NULL;
}

Error *rocks_get(Rocks *rocks, RocksFamily *family, Str key, void (*take)(void *context, Str value),
                 void *context)
{
    char *message = NULL;
    size_t size = 0;
    char *value = rocksdb_get_cf(rocks->db, rocks->read_options, family->handle, key.data, key.size,
                                 &size, &message);
    ROCKS_TRY(message, "read");
    if (value != NULL) {
        take(context, (Str){value, size});
        rocksdb_free(value);
    }
    return NULL;
}

static RocksIterator *open_iterator(Rocks *rocks, RocksFamily *family,
                                    rocksdb_readoptions_t *options)
{
    RocksIterator *iterator = mem_new(RocksIterator);
    iterator->options = options;
    iterator->iterator = rocksdb_create_iterator_cf(rocks->db, options, family->handle);
    return iterator;
}

RocksIterator *rocks_iterate(Rocks *rocks, RocksFamily *family, Str upper)
{
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_total_order_seek(options, 1);
    if (upper.data != NULL) {
        rocksdb_readoptions_set_iterate_upper_bound(options, upper.data, upper.size);
    }
    return open_iterator(rocks, family, options);
}

RocksIterator *rocks_iterate_prefixes(Rocks *rocks, RocksFamily *family)
{
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_prefix_same_as_start(options, 1);
    return open_iterator(rocks, family, options);
}

void rocks_iterator_close(RocksIterator *iterator)
{
    if (iterator != NULL) {
        rocksdb_iter_destroy(iterator->iterator);
        rocksdb_readoptions_destroy(iterator->options);
        mem_free(iterator);
    }
}

void rocks_iterator_seek(RocksIterator *iterator, Str key)
{
    rocksdb_iter_seek(iterator->iterator, key.data, key.size);
}

void rocks_iterator_next(RocksIterator *iterator)
{
    rocksdb_iter_next(iterator->iterator);
}

bool rocks_iterator_valid(const RocksIterator *iterator)
{
    return rocksdb_iter_valid(iterator->iterator) != 0;
}

Str rocks_iterator_key(const RocksIterator *iterator)
{
    Str key = {0};
    key.data = rocksdb_iter_key(iterator->iterator, &key.size);
    return key;
}

Str rocks_iterator_value(const RocksIterator *iterator)
{
    Str value = {0};
    value.data = rocksdb_iter_value(iterator->iterator, &value.size);
    return value;
}

Error *rocks_iterator_error(const RocksIterator *iterator)
{
    char *message = NULL;
    rocksdb_iter_get_error(iterator->iterator, &message);
    ROCKS_TRY(message, "read");
    return NULL;
}
