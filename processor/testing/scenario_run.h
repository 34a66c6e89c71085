/* Runs scenarios, one after another, each in a world of its own. */
#ifndef TESTING_SCENARIO_RUN_H
#define TESTING_SCENARIO_RUN_H

#include "processor/testing/options.h"
#include "processor/testing/report.h"

/* Every scenario of a file that the options select, reported. An error: the file cannot be read as
 * YAML or is no list. *ret_found counts the selected ones. */
/* The same of a text; `path` is shown as given. The text must live until the call returns. */
NODISCARD Error *scenario_text_run(Str text, const char *path, const TestOptions *options,
                                   Report *report, size_t *ret_found);
NODISCARD Error *scenario_file_run(const char *path, const TestOptions *options, Report *report,
                                   size_t *ret_found);

#endif
