/* tidemark functions [NAME]: the function reference, from the table the binder uses. */
#include <stdio.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/exec/query.h"

#include "processor/base/banned.h"

static void print_function(const Function *function)
{
    (void)printf("%s%s\n  %s\n", function->name, function->resolve == NULL ? "  (not yet)" : "",
                 function->doc);
    if (function->example != NULL && function->example[0] != '\0') {
        (void)printf("  %s\n", function->example);
    }
}

int cmd_functions(int argc, char **argv)
{
    const FunctionCatalog *catalog = function_catalog();
    if (argc > 2) {
        return cli_usage("tidemark functions [NAME]");
    }
    if (argc == 1) {
        for (size_t i = 0; catalog->at(i) != NULL; i++) {
            (void)printf("%-20s %s%s\n", catalog->at(i)->name, catalog->at(i)->doc,
                         catalog->at(i)->resolve == NULL ? " (not yet)" : "");
        }
        return EXIT_DONE;
    }
    const Function *function = catalog->find(str_from(argv[1]));
    if (function == NULL) {
        Error *error = error_new(ERROR_UNRESOLVED_ROUTINE, "There is no function `%s`.", argv[1]);
        const char *nearest = catalog->nearest(str_from(argv[1]));
        if (nearest != NULL) {
            error_set_hint(error, "did you mean `%s`?", nearest);
        }
        cli_print_error(error);
        return EXIT_FAILED;
    }
    print_function(function);
    return EXIT_DONE;
}
