/* How RocksDB is set up: memory, filters, files, compaction. */
#include <assert.h>

#include "state/rocks_internal.h"

#include "processor/base/banned.h"

enum {
    MEMORY_MIN = 1 << 20,   /* of the write buffers, and of the cache */
    BUFFERS_MAX = 16 << 20, /* small batches only: bulk is ingested */
    BUFFERS_SHARE = 16,     /* of the memory */
    OPEN_FILES_MAX = 512,   /* of the 1024 a process may usually have */
    LOG_LEVEL_NONE = 6,     /* NUM_INFO_LOG_LEVELS */
    MANIFEST_BYTES_MAX = 16 << 20,
    BLOCK_BYTES = 4 << 10, /* compressed below the 5,000 bytes that RocksDB reads into its stack:
                              larger ones leave holes in the heap beside the cache */
    CACHE_SHARD_BITS = 2,
    RUNS_BEFORE_MERGE = 20,
    RUNS_BEFORE_STALL =
        1000,              /* never: who waits for the disk is a checkpoint, and it waits itself */
    MERGE_SIZE_RATIO = 20, /* percent */
    MERGE_ALL_PERCENT = 200,
    TABLE_FILE_BYTES = 32 << 20,
    FILTER_BITS = 10,
};

static size_t between(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Files RocksDB keeps beside the tables grow without end unless they are told not to. Its log stays
 * empty: Debian's build has assertions on, and one of them ends the process with the second line
 * that cannot be written, as when the disk is full. What went wrong is in the errors it returns. */
static void bound_files(rocksdb_options_t *options)
{
    rocksdb_options_set_max_open_files(options, OPEN_FILES_MAX);
    rocksdb_options_set_keep_log_file_num(options, 2);
    rocksdb_options_set_info_log_level(options, LOG_LEVEL_NONE);
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

/* Filters and indexes are kept beside the cache, for every look-up asks the filter of every run,
 * and asking a cache for it costs more than the filter. What they take, two to three bytes a row,
 * is taken off the cache (rocks_settle_memory). */
static void set_table_format(rocksdb_options_t *options, rocksdb_cache_t *cache)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 0);
    rocksdb_block_based_options_set_block_size(table, BLOCK_BYTES);
    rocksdb_block_based_options_set_whole_key_filtering(table, 0);
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(FILTER_BITS));
    rocksdb_options_set_block_based_table_factory(options, table);
    set_prefix_filters(options);
    rocksdb_block_based_options_destroy(table);
}

/* Every ingested file is a sorted run over all keys. Runs of like size are merged with one another,
 * the big one below only when as much again lies above it: levels would rewrite it for every few
 * small files. Nobody is ever stalled for the number of runs. */
static void set_compaction(rocksdb_options_t *options)
{
    rocksdb_universal_compaction_options_t *universal =
        rocksdb_universal_compaction_options_create();
    rocksdb_universal_compaction_options_set_size_ratio(universal, MERGE_SIZE_RATIO);
    rocksdb_universal_compaction_options_set_max_size_amplification_percent(universal,
                                                                            MERGE_ALL_PERCENT);
    rocksdb_options_set_compaction_style(options, rocksdb_universal_compaction);
    rocksdb_options_set_universal_compaction_options(options, universal);
    rocksdb_universal_compaction_options_destroy(universal);
    rocksdb_options_set_level0_file_num_compaction_trigger(options, RUNS_BEFORE_MERGE);
    rocksdb_options_set_level0_slowdown_writes_trigger(options, RUNS_BEFORE_STALL);
    rocksdb_options_set_level0_stop_writes_trigger(options, RUNS_BEFORE_STALL);
    rocksdb_options_set_target_file_size_base(options, TABLE_FILE_BYTES);
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
}

size_t rocks_buffer_bytes(size_t memory_bytes)
{
    return between(memory_bytes / BUFFERS_SHARE, MEMORY_MIN, BUFFERS_MAX);
}

/* Few shards: a shard is as large as its share of the cache, and must hold the blocks in use. */
rocksdb_cache_t *rocks_cache(size_t bytes)
{
    rocksdb_lru_cache_options_t *options = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity(options, between(bytes, MEMORY_MIN, SIZE_MAX));
    rocksdb_lru_cache_options_set_num_shard_bits(options, CACHE_SHARD_BITS);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru_opts(options);
    rocksdb_lru_cache_options_destroy(options);
    return cache;
}

rocksdb_options_t *rocks_options(size_t memory_bytes, rocksdb_cache_t *cache)
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
    size_t buffers = rocks_buffer_bytes(memory_bytes);
    rocksdb_options_set_db_write_buffer_size(options, buffers);
    rocksdb_options_set_write_buffer_size(options, buffers / 2);
    set_compaction(options);
    set_table_format(options, cache);
    bound_files(options);
    return options;
}

/* A file that is ingested will soon be merged with others; compressing it is left to that. */
rocksdb_options_t *rocks_file_options(rocksdb_options_t *options)
{
    rocksdb_options_t *copy = rocksdb_options_create_copy(options);
    rocksdb_options_set_compression(copy, rocksdb_no_compression);
    return copy;
}
