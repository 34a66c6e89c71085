/* tidemark demo [--bootstrap HOST:PORT]: the main job in a minute (testing/demo.h). */
#include <string.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/testing/demo.h"

#include "processor/base/banned.h"

int cmd_demo(int argc, char **argv)
{
    const char *bootstrap = NULL;
    if (argc == 3 && strcmp(argv[1], "--bootstrap") == 0) {
        bootstrap = argv[2];
    } else if (argc != 1) {
        return cli_usage("tidemark demo [--bootstrap HOST:PORT]");
    }
    Error *error = demo_run(bootstrap);
    if (error != NULL) {
        cli_print_error(error);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}
