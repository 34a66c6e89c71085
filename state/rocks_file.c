/* Sorted files written beside the database and ingested. RocksDB syncs the file when it is finished
 * and again when it is linked into the database's folder, then notes it in the manifest: from there
 * on it is there, whole. The link under our own name is taken away by RocksDB. */
#include <assert.h>
#include <unistd.h>

#include "processor/base/memory.h"
#include "state/rocks_internal.h"

#include "processor/base/banned.h"

struct RocksFile {
    Rocks *rocks;
    RocksFamily *family;
    char *path;
    rocksdb_envoptions_t *env;
    rocksdb_sstfilewriter_t *writer;
    bool ingested;
};

Error *rocks_file_open(Rocks *rocks, RocksFamily *family, const char *path, RocksFile **ret_file)
{
    RocksFile *file = mem_new(RocksFile);
    *file = (RocksFile){.rocks = rocks, .family = family, .path = mem_strdup(path)};
    file->env = rocksdb_envoptions_create();
    file->writer = rocksdb_sstfilewriter_create(file->env, rocks->file_options);
    char *message = NULL;
    rocksdb_sstfilewriter_open(file->writer, path, &message);
    if (message != NULL) {
        rocks_file_free(file);
        return rocks_error(message, "written");
    }
    *ret_file = file;
    return NULL;
}

/* A wrong order is the only thing the writer may find wrong with an entry. */
static Error *write_error(char *message)
{
    assert(!str_starts_with(str_from(message), STR("Invalid argument")));
    return rocks_error(message, "written");
}

Error *rocks_file_put(RocksFile *file, Str key, Str value)
{
    char *message = NULL;
    rocksdb_sstfilewriter_put(file->writer, key.data, key.size, value.data, value.size, &message);
    return message == NULL ? NULL : write_error(message);
}

Error *rocks_file_delete(RocksFile *file, Str key)
{
    char *message = NULL;
    rocksdb_sstfilewriter_delete(file->writer, key.data, key.size, &message);
    return message == NULL ? NULL : write_error(message);
}

Error *rocks_file_seal(RocksFile *file)
{
    char *message = NULL;
    rocksdb_sstfilewriter_finish(file->writer, &message);
    return message == NULL ? NULL : write_error(message);
}

Error *rocks_file_ingest(RocksFile *file)
{
    rocksdb_ingestexternalfileoptions_t *options = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(options, 1);
    const char *const paths[] = {file->path};
    char *message = NULL;
    rocksdb_ingest_external_file_cf(file->rocks->db, file->family->handle, paths, 1, options,
                                    &message);
    rocksdb_ingestexternalfileoptions_destroy(options);
    ROCKS_TRY(message, "written");
    file->ingested = true;
    return NULL;
}

void rocks_file_free(RocksFile *file)
{
    if (file == NULL) {
        return;
    }
    rocksdb_sstfilewriter_destroy(file->writer);
    rocksdb_envoptions_destroy(file->env);
    if (!file->ingested) {
        (void)unlink(file->path);
    }
    mem_free(file->path);
    mem_free(file);
}
