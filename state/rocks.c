/* RocksDB behind a small interface. */
#include "state/rocks.h"

#include <stdlib.h>

#include "processor/base/memory.h"
#include "state/rocks_internal.h"

#include "processor/base/banned.h"

enum { CACHE_LEAST_SHARE = 8 };

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

Error *rocks_error(char *message, const char *doing)
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

static Error *open_database(Rocks *rocks, const char *dir, bool to_read)
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
    if (to_read) {
        rocks->db = rocksdb_open_for_read_only_column_families(
            rocks->options, dir, (int)wanted_count, wanted, options, handles, 0, &message);
    } else {
        rocks->db = rocksdb_open_column_families(rocks->options, dir, (int)wanted_count, wanted,
                                                 options, handles, &message);
    }
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

static RocksFamily *find_family(const Rocks *rocks, const char *name)
{
    RocksFamily *family = rocks->families;
    while (family != NULL && strcmp(family->name, name) != 0) {
        family = family->next;
    }
    return family;
}

static Error *open_rocks(const char *dir, size_t memory_bytes, bool to_read, Rocks **ret_rocks)
{
    Rocks *rocks = mem_new(Rocks);
    pthread_mutex_init(&rocks->lock, NULL);
    rocks->cache_bytes = memory_bytes - rocks_buffer_bytes(memory_bytes);
    rocks->cache = rocks_cache(rocks->cache_bytes);
    rocks->options = rocks_options(memory_bytes, rocks->cache);
    rocks->file_options = rocks_file_options(rocks->options);
    rocks->write_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(rocks->write_options, 1);
    rocks->read_options = rocksdb_readoptions_create();
    if (to_read) {
        /* Files the owner removes meanwhile stay readable while they are open: all are, at once. */
        rocksdb_options_set_max_open_files(rocks->options, -1);
        rocksdb_options_set_create_if_missing(rocks->options, 0);
    }
    Error *error = open_database(rocks, dir, to_read);
    if (error != NULL) {
        rocks_close(rocks);
        return error;
    }
    rocks_settle_memory(rocks, 0);
    *ret_rocks = rocks;
    return NULL;
}

Error *rocks_open(const char *dir, size_t memory_bytes, Rocks **ret_rocks)
{
    return open_rocks(dir, memory_bytes, false, ret_rocks);
}

Error *rocks_open_to_read(const char *dir, size_t memory_bytes, Rocks **ret_rocks)
{
    return open_rocks(dir, memory_bytes, true, ret_rocks);
}

bool rocks_has_family(Rocks *rocks, const char *name)
{
    pthread_mutex_lock(&rocks->lock);
    bool found = find_family(rocks, name) != NULL;
    pthread_mutex_unlock(&rocks->lock);
    return found;
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
    rocksdb_options_destroy(rocks->file_options);
    rocksdb_cache_destroy(rocks->cache);
    pthread_mutex_destroy(&rocks->lock);
    mem_free(rocks);
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

void rocks_settle_memory(Rocks *rocks, size_t reserved)
{
    size_t least = rocks->cache_bytes / CACHE_LEAST_SHARE;
    size_t taken = rocks_reader_bytes(rocks) + reserved;
    size_t left = taken < rocks->cache_bytes ? rocks->cache_bytes - taken : 0;
    rocksdb_cache_set_capacity(rocks->cache, left < least ? least : left);
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

/* No range of keys is ever deleted, and no iterator looks for such deletions: where one does, 7.8
 * forgets in two places that a read failed, and the end it then sees is none. */
static RocksIterator *open_iterator(Rocks *rocks, RocksFamily *family,
                                    rocksdb_readoptions_t *options)
{
    RocksIterator *iterator = mem_new(RocksIterator);
    iterator->options = options;
    rocksdb_readoptions_set_ignore_range_deletions(options, 1);
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
