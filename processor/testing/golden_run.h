/* Runs `.test` golden files (golden_file.h): every query of a file is one case. */
#ifndef TESTING_GOLDEN_RUN_H
#define TESTING_GOLDEN_RUN_H

#include "processor/testing/options.h"
#include "processor/testing/report.h"

/* Every query of the file, reported. With `accept`, the file is rewritten with what came out. An
 * error: the file cannot be read or is not in the form of a golden file. */
NODISCARD Error *golden_file_run(const char *path, const TestOptions *options, Report *report);

#endif
