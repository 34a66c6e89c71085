/* tidemark validate T.yaml | FILE.sql: every mistake at once, no broker touched; --against-running
 * asks the running pipeline's progress topic what the program would mean to its tables. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/exec/query.h"
#include "processor/run/redefinition.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark validate T.yaml [--against-running] | FILE.sql";

enum { CALL_MS = 10000 };

/* A pipeline may run elsewhere or stand still: what counts is what it has committed. */
static int validate_against_running(const Program *program)
{
    Log *log = NULL;
    AUTO_BUFFER Buffer report = {0};
    bool good = false;
    Error *error = cli_connect(program->topology, NULL, &log);
    if (error == NULL) {
        error = log_ping(log, CALL_MS);
    }
    if (error == NULL) {
        error = redefinition_report(program, log, CALL_MS, &report, &good);
    }
    if (error != NULL) {
        cli_print_error(error);
    } else {
        (void)fwrite(report.data, 1, report.size, stdout);
    }
    if (log != NULL) {
        log_close(log);
    }
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int validate_topology(const char *path, bool against_running)
{
    AUTO(arena) Arena *arena = arena_new("topology");
    Program *program = NULL;
    if (!cli_load_program(path, arena, &program)) {
        return EXIT_USAGE;
    }
    (void)printf("%s: good: %zu source%s, %zu table%s\n", path, program->source_count,
                 program->source_count == 1 ? "" : "s", program->table_count,
                 program->table_count == 1 ? "" : "s");
    return against_running ? validate_against_running(program) : EXIT_DONE;
}

static bool read_file(const char *path, Buffer *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t size = 0;
    do {
        char *to = buffer_reserve(out, 65536);
        size = read(fd, to, 65536);
        out->size += size > 0 ? (size_t)size : 0;
    } while (size > 0);
    (void)close(fd);
    return size == 0;
}

/* A file of statements has no relations to check names against: it is parsed only (ST-67). */
static int validate_sql(const char *path)
{
    AUTO_BUFFER Buffer text = {0};
    if (!read_file(path, &text)) {
        cli_print_error(error_new(ERROR_FILE_NOT_READABLE, "The file `%s` cannot be read: %s.",
                                  path, strerror(errno)));
        return EXIT_USAGE;
    }
    AUTO(arena) Arena *arena = arena_new("script");
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(buffer_str(&text), arena, &diagnostics, &script);
    for (size_t i = 0; i < diagnostics.count; i++) {
        error_set_file(diagnostics.errors[i], path);
    }
    if (cli_print_diagnostics(&diagnostics) > 0) {
        return EXIT_USAGE;
    }
    (void)printf("%s: good syntax (names are checked in a topology)\n", path);
    return EXIT_DONE;
}

int cmd_validate(int argc, char **argv)
{
    const char *path = NULL;
    bool against_running = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--against-running") == 0) {
            against_running = true;
        } else if (strcmp(argv[i], "--broker") == 0) {
            cli_print_error(error_new(ERROR_NOT_YET, "`validate --broker` is not supported yet."));
            return EXIT_FAILED;
        } else if (argv[i][0] != '-' && path == NULL) {
            path = argv[i];
        } else {
            return cli_usage(usage);
        }
    }
    if (path == NULL) {
        return cli_usage(usage);
    }
    bool sql = str_ends_with(str_from(path), STR(".sql"));
    if (sql && against_running) {
        return cli_usage(usage);
    }
    return sql ? validate_sql(path) : validate_topology(path, against_running);
}
