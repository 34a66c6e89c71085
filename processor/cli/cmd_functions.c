/* tidemark functions [NAME]: the function reference, from the table the binder uses. */
#include <stdio.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/exec/query.h"

#include "processor/base/banned.h"

static const char usage[] = "tidemark functions [NAME | 'PATTERN*'] [--markdown]";

enum { NAME_WIDTH = 24 };

typedef enum Chapter {
    CHAPTER_OPERATORS,
    CHAPTER_SCALAR,
    CHAPTER_AGGREGATE,
    CHAPTER_WINDOW,
    CHAPTER_GENERATOR,
    CHAPTER_TABLE,
    CHAPTER_COUNT,
} Chapter;

static const char *const chapter_titles[] = {
    [CHAPTER_OPERATORS] = "Operators",
    [CHAPTER_SCALAR] = "Functions of a row",
    [CHAPTER_AGGREGATE] = "Aggregates (with DISTINCT, FILTER, OVER)",
    [CHAPTER_WINDOW] = "Window functions (need OVER)",
    [CHAPTER_GENERATOR] = "Generators (give rows)",
    [CHAPTER_TABLE] = "Table functions (stand in FROM)",
};

static bool is_word(const char *name)
{
    char first = (char)(name[0] | 0x20);
    return (first >= 'a' && first <= 'z') || name[0] == '_';
}

static Chapter chapter_of(const Function *function)
{
    switch (function->kind) {
    case FUNCTION_SCALAR:
        return is_word(function->name) ? CHAPTER_SCALAR : CHAPTER_OPERATORS;
    case FUNCTION_AGGREGATE:
        return CHAPTER_AGGREGATE;
    case FUNCTION_WINDOW:
        return CHAPTER_WINDOW;
    case FUNCTION_GENERATOR:
        return CHAPTER_GENERATOR;
    case FUNCTION_TABLE:
        return CHAPTER_TABLE;
    }
    return CHAPTER_SCALAR;
}

static bool is_built(const Function *function)
{
    return function->doc[0] != '\0';
}

/* ------------------------------------------------------------------ lists --- */

static void print_line(const Function *function)
{
    (void)printf("  %-*s %s%s\n", NAME_WIDTH, function->name, function->doc,
                 is_built(function) ? "" : " (not yet)");
}

/* A cell of a Markdown table: a bar would end it. */
static void print_cell(const char *text)
{
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '|' ? "\\|" : (const char[]){*text, '\0'}, stdout);
    }
}

static void print_row(const Function *function)
{
    (void)fputs("| `", stdout);
    print_cell(function->name);
    (void)fputs("` | ", stdout);
    print_cell(is_built(function) ? function->doc : "not yet");
    (void)fputs(" | ", stdout);
    if (function->example != NULL && function->example[0] != '\0') {
        (void)fputs("`", stdout);
        print_cell(function->example);
        (void)fputs("`", stdout);
    }
    (void)fputs(" |\n", stdout);
}

/* `*` at the end of a pattern is any text. */
static bool fits(const Function *function, Str pattern)
{
    Str name = str_from(function->name);
    if (pattern.data == NULL) {
        return true;
    }
    size_t size = pattern.size - 1;
    return name.size >= size &&
           str_equal_ignore_case((Str){name.data, size}, (Str){pattern.data, size});
}

/* Returns how many there are. */
static size_t print_chapter(Chapter chapter, Str pattern, bool markdown)
{
    const FunctionCatalog *catalog = function_catalog();
    size_t count = 0;
    for (size_t i = 0; catalog->at(i) != NULL; i++) {
        const Function *function = catalog->at(i);
        if (chapter_of(function) != chapter || !fits(function, pattern)) {
            continue;
        }
        if (count++ == 0) {
            (void)printf(markdown ? "\n## %s\n\n| name | does | example |\n| --- | --- | --- |\n"
                                  : "\n%s\n",
                         chapter_titles[chapter]);
        }
        if (markdown) {
            print_row(function);
        } else {
            print_line(function);
        }
    }
    return count;
}

static int print_all(Str pattern, bool markdown)
{
    size_t count = 0;
    for (int chapter = 0; chapter < CHAPTER_COUNT; chapter++) {
        count += print_chapter((Chapter)chapter, pattern, markdown);
    }
    if (!markdown) {
        (void)printf("\n%zu function%s; `tidemark functions NAME` tells more about one\n", count,
                     count == 1 ? "" : "s");
    }
    return count > 0 ? EXIT_DONE : EXIT_FAILED;
}

/* -------------------------------------------------------------- one of them --- */

static const char *kind_text(const Function *function)
{
    switch (chapter_of(function)) {
    case CHAPTER_OPERATORS:
        return "operator";
    case CHAPTER_SCALAR:
        return "function of a row";
    case CHAPTER_AGGREGATE:
        return "aggregate";
    case CHAPTER_WINDOW:
        return "window function";
    case CHAPTER_GENERATOR:
        return "generator";
    case CHAPTER_TABLE:
    case CHAPTER_COUNT:
        break;
    }
    return "table function";
}

static void print_arguments(const Function *function)
{
    int least = function->argument_min;
    int most = function->argument_max;
    if (most < 0) {
        (void)printf("  arguments: %d or more\n", least);
    } else if (least == most) {
        (void)printf("  arguments: %d\n", least);
    } else {
        (void)printf("  arguments: %d to %d\n", least, most);
    }
}

static void print_function(const Function *function)
{
    (void)printf("%s (%s%s)\n  %s\n", function->name, kind_text(function),
                 is_built(function) ? "" : ", not yet", function->doc);
    print_arguments(function);
    if ((function->flags & FUNCTION_NULL_IN_NULL_OUT) != 0) {
        (void)puts("  NULL when an argument is NULL");
    }
    if ((function->flags & FUNCTION_CAN_FAIL) != 0) {
        (void)puts("  an error where there is no result");
    }
    if ((function->flags & FUNCTION_FORGIVES) != 0) {
        (void)puts("  NULL where there is no result");
    }
    if (function->example != NULL && function->example[0] != '\0') {
        (void)printf("  example: %s\n", function->example);
    }
}

static int print_one(Str name)
{
    const FunctionCatalog *catalog = function_catalog();
    const Function *function = catalog->find(name);
    if (function != NULL) {
        print_function(function);
        return EXIT_DONE;
    }
    Error *error =
        error_new(ERROR_UNRESOLVED_ROUTINE, "There is no function `%.*s`.", STR_ARG(name));
    const char *nearest = catalog->nearest(name);
    if (nearest != NULL) {
        error = error_set_hint(error, "did you mean `%s`?", nearest);
    }
    cli_print_error(error);
    return EXIT_FAILED;
}

int cmd_functions(int argc, char **argv)
{
    bool markdown = false;
    Str name = STR_NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--markdown") == 0) {
            markdown = true;
        } else if (name.data == NULL && argv[i][0] != '\0') {
            name = str_from(argv[i]);
        } else {
            return cli_usage(usage);
        }
    }
    bool pattern = name.size > 1 && name.data[name.size - 1] == '*' && is_word(name.data);
    if (name.data == NULL || pattern) {
        return print_all(name, markdown);
    }
    return print_one(name);
}
