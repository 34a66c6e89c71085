/* Running golden files. */
#include "processor/testing/golden_run.h"

#include "processor/base/banned.h"

Error *golden_file_run(const char *path, const TestOptions *options, Report *report)
{
    (void)options;
    (void)report;
    return error_new(ERROR_NOT_YET, "Golden files are not supported yet: %s", path);
}
