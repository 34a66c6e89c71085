/* Files of kinds that are known and not read: named, so that nobody takes them for CSV. */
#ifndef FILE_FOREIGN_FILE_H
#define FILE_FOREIGN_FILE_H

#include "processor/base/error.h"

enum { FOREIGN_MARK_BYTES = 16 };

/* `first`: the first bytes of the file, unpacked, FOREIGN_MARK_BYTES where it has as many.
 * FILE_NOT_READABLE with the kind's name and, where there is one, a way to read it. */
NODISCARD Error *foreign_file_check(Str first, const char *path);

#endif
