/* tidemark test FILE…: runs scenario files (.yaml, .yml, .json) and golden files (.test). */
#include <stdio.h>

#include "processor/base/logger.h"
#include "processor/base/memory.h"
#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/data/batch.h"
#include "processor/testing/golden_run.h"
#include "processor/testing/scenario_run.h"

#include "processor/base/banned.h"

static const char usage[] =
    "tidemark test [--only ID,…] [--split N] [--batch-rows N] [--shards N]\n"
    "                     [--restart-every-step] [--wipe-state-every-step]\n"
    "                     [--fault-point NAME[:NTH[:crash|error]]] [--bootstrap HOST:PORT]\n"
    "                     [--accept] [-o text|json|junit] FILE…";

/* The arguments: options and, in order, the files. */
typedef struct TestArguments {
    TestOptions options;
    Str *only;
    size_t only_capacity;
    const char **files;
    size_t file_count;
} TestArguments;

static bool read_count(const char *text, size_t *ret_count)
{
    int64_t count = 0;
    if (!str_to_int64(str_from(text), &count) || count < 1) {
        return false;
    }
    *ret_count = (size_t)count;
    return true;
}

static bool read_output(const char *text, TestOutput *ret_output)
{
    static const char *const words[] = {
        [TEST_OUTPUT_TEXT] = "text", [TEST_OUTPUT_JSON] = "json", [TEST_OUTPUT_JUNIT] = "junit"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret_output = (TestOutput)i;
            return true;
        }
    }
    return false;
}

static bool read_ids(TestArguments *arguments, const char *text)
{
    for (Str rest = str_from(text); rest.data != NULL;) {
        mem_reserve(arguments->only, &arguments->only_capacity, arguments->options.only_count + 1);
        arguments->only[arguments->options.only_count++] = str_trim(str_cut(&rest, ','));
    }
    arguments->options.only = arguments->only;
    return true;
}

/* NAME[:NTH[:crash|error]] */
static bool read_fault(TestOptions *options, const char *text)
{
    Str rest = str_from(text);
    Str name = str_cut(&rest, ':');
    for (size_t i = 0; i < fault_name_count; i++) {
        if (str_equal(str_from(fault_names[i]), name)) {
            options->fault_name = fault_names[i];
        }
    }
    int64_t nth = 1;
    if (rest.data != NULL && (!str_to_int64(str_cut(&rest, ':'), &nth) || nth < 1)) {
        return false;
    }
    options->fault_nth = (unsigned)nth;
    options->fault_action = FAULT_CRASH;
    if (rest.data != NULL && str_equal(rest, STR("error"))) {
        options->fault_action = FAULT_ERROR;
    } else if (rest.data != NULL && !str_equal(rest, STR("crash"))) {
        return false;
    }
    return options->fault_name != NULL;
}

/* An option without value; false when it is none of them. */
static bool take_flag(TestOptions *options, const char *name)
{
    if (strcmp(name, "--restart-every-step") == 0) {
        options->restart_every_step = true;
    } else if (strcmp(name, "--wipe-state-every-step") == 0) {
        options->wipe_state_every_step = true;
    } else if (strcmp(name, "--accept") == 0) {
        options->accept = true;
    } else {
        return false;
    }
    return true;
}

/* An option with its value; false when it is none of them or the value is wrong. */
static bool take_value(TestArguments *arguments, const char *name, const char *value)
{
    TestOptions *options = &arguments->options;
    if (value == NULL) {
        return false;
    }
    if (strcmp(name, "--only") == 0) {
        return read_ids(arguments, value);
    }
    if (strcmp(name, "--split") == 0) {
        return read_count(value, &options->split);
    }
    if (strcmp(name, "--batch-rows") == 0) {
        return read_count(value, &options->batch_rows) && options->batch_rows <= BATCH_ROWS;
    }
    if (strcmp(name, "--shards") == 0) {
        return read_count(value, &options->shards);
    }
    if (strcmp(name, "--fault-point") == 0) {
        return read_fault(options, value);
    }
    if (strcmp(name, "--bootstrap") == 0) {
        options->bootstrap = value;
        return true;
    }
    return strcmp(name, "-o") == 0 && read_output(value, &options->output);
}

static bool read_arguments(int argc, char **argv, TestArguments *arguments)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-') {
            arguments->files[arguments->file_count++] = word;
        } else if (!take_flag(&arguments->options, word)) {
            if (!take_value(arguments, word, i + 1 < argc ? argv[i + 1] : NULL)) {
                (void)fprintf(stderr, "tidemark test: `%s` is not understood\n", word);
                return false;
            }
            i++;
        }
    }
    return arguments->file_count > 0;
}

static Error *run_file(const char *path, const TestOptions *options, Report *report,
                       size_t *ret_found)
{
    if (str_ends_with(str_from(path), STR(".test"))) {
        *ret_found = 1;
        return golden_file_run(path, options, report);
    }
    return scenario_file_run(path, options, report, ret_found);
}

/* A file that cannot be read is told at once and does not keep the others from running. */
static int run_files(const TestArguments *arguments)
{
    AUTO(report) Report *report = report_new(arguments->options.output, stdout);
    bool broken = false;
    size_t found = 0;
    for (size_t i = 0; i < arguments->file_count; i++) {
        size_t here = 0;
        Error *error = run_file(arguments->files[i], &arguments->options, report, &here);
        found += here;
        if (error != NULL) {
            cli_print_error(error);
            broken = true;
        }
    }
    report_finish(report);
    if (!broken && found == 0) {
        (void)fprintf(stderr, "tidemark test: %s\n",
                      arguments->options.only_count > 0 ? "no scenario has such an id"
                                                        : "the files hold no scenario");
        return EXIT_USAGE;
    }
    if (broken) {
        return EXIT_USAGE;
    }
    return report_failed(report) > 0 ? EXIT_FAILED : EXIT_DONE;
}

int cmd_test(int argc, char **argv)
{
    TestArguments arguments = {.options = {.fault_nth = 1}};
    logger_configure(LOG_ERROR, false); /* what heals by itself is no news here */
    arguments.files = mem_alloc_array((size_t)argc, sizeof *arguments.files);
    int code = read_arguments(argc, argv, &arguments) ? run_files(&arguments) : cli_usage(usage);
    mem_free(arguments.files);
    mem_free(arguments.only);
    return code;
}
