/* RocksDB, made repeatable: compactions would start by themselves on threads of its own. A failed
 * write is not tried again behind our back. */
#include <rocksdb/c.h>
#include <stddef.h>

#include "processor/base/banned.h"

rocksdb_options_t *__real_rocksdb_options_create(void);
rocksdb_options_t *__wrap_rocksdb_options_create(void);

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
