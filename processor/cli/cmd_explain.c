/* tidemark explain T.yaml [FLOW]: plans, sources, topics and state of the flows. */
#include <stdio.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/run/explain.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark explain T.yaml [FLOW]";

int cmd_explain(int argc, char **argv)
{
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        return cli_usage(usage);
    }
    AUTO(arena) Arena *arena = arena_new("topology");
    Program *program = NULL;
    if (!cli_load_program(argv[1], arena, &program)) {
        return EXIT_USAGE;
    }
    size_t shown = 0;
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < program->table_count; i++) {
        const ProgramTable *table = &program->tables[i];
        if (argc == 2 || str_equal_ignore_case(table->flow->name, str_from(argv[2]))) {
            explain_flow(program, table, arena, &text);
            shown++;
        }
    }
    if (shown == 0) {
        cli_print_error(error_new(ERROR_FLOW_NOT_FOUND, "%s has no flow `%s`.", argv[1], argv[2]));
        return EXIT_USAGE;
    }
    (void)fputs(buffer_cstr(&text), stdout);
    return EXIT_DONE;
}
