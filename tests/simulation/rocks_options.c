/* RocksDB, made repeatable: compactions would start by themselves on threads of its own. Here they
 * happen now and then, while somebody waits for them. A failed write is not tried again behind our
 * back.
 *
 * Reads do not fail inside an ingestion: RocksDB 7.8 takes a file whose first or last key it could
 * not read for one with other bounds. */
#include <rocksdb/c.h>
#include <stddef.h>

#include "tests/simulation/disk.h"

#include "processor/base/banned.h"

#define WRAPPED(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);

WRAPPED(rocksdb_options_t *, rocksdb_options_create, void)
WRAPPED(void, rocksdb_ingest_external_file_cf, rocksdb_t *, rocksdb_column_family_handle_t *,
        const char *const *, size_t, const rocksdb_ingestexternalfileoptions_t *, char **)

rocksdb_options_t *__wrap_rocksdb_options_create(void)
{
    rocksdb_options_t *plain = __real_rocksdb_options_create();
    rocksdb_options_t *options = __real_rocksdb_options_create();
    char *message = NULL;
    rocksdb_get_options_from_string(
        plain, "disable_auto_compactions=true;max_bgerror_resume_count=0", options, &message);
    rocksdb_options_destroy(plain);
    return options;
}

void __wrap_rocksdb_ingest_external_file_cf(rocksdb_t *db, rocksdb_column_family_handle_t *family,
                                            const char *const *paths, size_t count,
                                            const rocksdb_ingestexternalfileoptions_t *options,
                                            char **ret_message)
{
    if (disk_wants_compaction()) {
        disk_let_reads_fail(false);
        disk_let_merges_fail(false);
        rocksdb_compact_range_cf(db, family, NULL, 0, NULL, 0);
        disk_let_merges_fail(true);
    }
    disk_let_reads_fail(false);
    __real_rocksdb_ingest_external_file_cf(db, family, paths, count, options, ret_message);
    disk_let_reads_fail(true);
}
