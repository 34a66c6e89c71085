/* Commands that are planned and not built: a clear answer. */
#include "processor/cli/cli.h"
#include "processor/cli/commands.h"

#include "processor/base/banned.h"

int cmd_not_yet(int argc, char **argv)
{
    (void)argc;
    Error *error = error_new(ERROR_NOT_YET, "`tidemark %s` is not supported yet.", argv[0]);
    error_set_hint(error, "`tidemark run T.yaml --once` runs one update; rows can be read from the "
                          "table's topic");
    cli_print_error(error);
    return EXIT_FAILED;
}
