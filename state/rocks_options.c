/* How RocksDB is set up: memory, filters, files, compaction. */
#include <assert.h>

#include "state/rocks_internal.h"

#include "processor/base/banned.h"

enum {
    MEMORY_MIN = 1 << 20,        /* of the write buffers, and of the cache */
    WRITE_BUFFER_MAX = 64 << 20, /* one flush */
    OPEN_FILES_MAX = 512,        /* of the 1024 a process may usually have */
    LOG_BYTES_MAX = 1 << 20,
    LOG_LEVEL_WARN = 2,
    MANIFEST_BYTES_MAX = 16 << 20,
};

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

rocksdb_options_t *rocks_options(size_t memory_bytes)
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
