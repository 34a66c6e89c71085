/* tidemark validate T.yaml | FILE.sql: every mistake at once, no broker touched. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/exec/query.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark validate T.yaml | FILE.sql";

static int validate_topology(const char *path)
{
    AUTO(arena) Arena *arena = arena_new("topology");
    Program *program = NULL;
    if (!cli_load_program(path, arena, &program)) {
        return EXIT_USAGE;
    }
    (void)printf("%s: good: %zu source%s, %zu table%s\n", path, program->source_count,
                 program->source_count == 1 ? "" : "s", program->table_count,
                 program->table_count == 1 ? "" : "s");
    return EXIT_DONE;
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
    if (argc == 3 && (strcmp(argv[2], "--broker") == 0 || strcmp(argv[1], "--broker") == 0)) {
        cli_print_error(error_new(ERROR_NOT_YET, "`validate --broker` is not supported yet."));
        return EXIT_FAILED;
    }
    if (argc != 2 || argv[1][0] == '-') {
        return cli_usage(usage);
    }
    return str_ends_with(str_from(argv[1]), STR(".sql")) ? validate_sql(argv[1])
                                                         : validate_topology(argv[1]);
}
