/* tidemark query SQL: ad-hoc queries over files. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/query/shell.h"

#include "processor/base/banned.h"

static const char usage[] =
    "tidemark query [--input NAME=FILE[,COLUMNS]]… [-o table|jsonl|csv] [--schema] [--explain]\n"
    "                      [--csv header=yes|no] [--csv separator=C] [--memory SIZE] [--threads "
    "N]\n"
    "                      [--clock TIME] [--time-zone ZONE] [SQL]";

enum { INPUTS_MAX = 256, TERMINAL_COLUMNS = 80 };

typedef struct QueryArguments {
    SessionOptions session;
    const char *inputs[INPUTS_MAX];
    size_t input_count;
    const char *output; /* NULL: by what stdout is */
    const char *clock;
    const char *topology;
    const char *sql;
    bool schema;
    bool loop; /* statements are typed */
} QueryArguments;

static bool interrupted;

/* The first Ctrl-C asks the query to stop, and what does not stop in a moment is ended; nothing is
 * lost by it. At a terminal's loop only the second one ends. */
static void interrupt(int number)
{
    static const struct itimerval moment = {.it_value = {.tv_usec = 500000}};
    if (*(volatile bool *)&interrupted || number == SIGALRM) {
        _exit(EXIT_FAILED);
    }
    *(volatile bool *)&interrupted = true;
    if (number == SIGTERM) {
        (void)setitimer(ITIMER_REAL, &moment, NULL);
    }
}

static void interrupt_soon(int number)
{
    (void)number;
    interrupt(SIGTERM);
}

static void catch_interrupt(bool loop)
{
    struct sigaction action = {.sa_handler = loop ? interrupt : interrupt_soon};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    action.sa_handler = interrupt;
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGALRM, &action, NULL);
}

/* 512KiB, 1GiB, or plain bytes. */
static bool read_size(const char *text, size_t *ret_bytes)
{
    static const struct {
        const char *unit;
        int shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"", 0}};
    Str rest = str_from(text);
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
        Str unit = str_from(units[i].unit);
        int64_t number = 0;
        if (str_ends_with(rest, unit)) {
            Str digits = {rest.data, rest.size - unit.size};
            bool fits = str_to_int64(digits, &number) && number > 0 &&
                        number <= INT64_MAX >> units[i].shift;
            *ret_bytes = fits ? (size_t)number << units[i].shift : 0;
            return fits;
        }
    }
    return false;
}

static bool take_input(QueryArguments *arguments, const char *value)
{
    if (arguments->input_count == INPUTS_MAX) {
        return false;
    }
    arguments->inputs[arguments->input_count++] = value;
    return true;
}

static bool take_output(QueryArguments *arguments, const char *value)
{
    arguments->output = value;
    return strcmp(value, "table") == 0 || strcmp(value, "jsonl") == 0 || strcmp(value, "csv") == 0;
}

/* header=yes, header=no, separator=; */
static bool take_csv(QueryArguments *arguments, const char *value)
{
    Str rest = str_from(value);
    Str name = str_cut(&rest, '=');
    if (str_equal(name, STR("header"))) {
        bool yes = str_equal(rest, STR("yes"));
        arguments->session.csv_header = yes ? CSV_HEADER_YES : CSV_HEADER_NO;
        return yes || str_equal(rest, STR("no"));
    }
    bool tab = str_equal(rest, STR("\\t"));
    arguments->session.csv_separator = tab ? '\t' : rest.size == 1 ? rest.data[0] : '\0';
    char separator = arguments->session.csv_separator;
    return str_equal(name, STR("separator")) && separator != '\0' && separator != '"' &&
           separator != '\n';
}

static bool take_threads(QueryArguments *arguments, const char *value)
{
    int64_t count = 0;
    bool fits = str_to_int64(str_from(value), &count) && count >= 1 && count <= 64;
    arguments->session.threads = fits ? (unsigned)count : 0;
    return fits;
}

/* An option with its value; false when it is none of them or the value is wrong. */
static bool take_value(QueryArguments *arguments, const char *name, const char *value)
{
    if (value == NULL) {
        return false;
    }
    if (strcmp(name, "--input") == 0) {
        return take_input(arguments, value);
    }
    if (strcmp(name, "-t") == 0) {
        arguments->topology = value;
        return true;
    }
    if (strcmp(name, "-o") == 0) {
        return take_output(arguments, value);
    }
    if (strcmp(name, "--memory") == 0) {
        return read_size(value, &arguments->session.memory_bytes);
    }
    if (strcmp(name, "--csv") == 0) {
        return take_csv(arguments, value);
    }
    if (strcmp(name, "--threads") == 0) {
        return take_threads(arguments, value);
    }
    if (strcmp(name, "--clock") == 0) {
        arguments->clock = value;
        return true;
    }
    if (strcmp(name, "--time-zone") == 0) {
        arguments->session.time_zone = str_from(value);
        return true;
    }
    return false;
}

static bool read_arguments(int argc, char **argv, QueryArguments *arguments)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--explain") == 0) {
            arguments->session.explain = true;
        } else if (strcmp(name, "--schema") == 0) {
            arguments->schema = true;
        } else if (name[0] != '-' || name[1] == '-' ? name[0] != '-' : name[2] != '\0') {
            if (arguments->sql != NULL) {
                return false;
            }
            arguments->sql = name;
        } else if (take_value(arguments, name, i + 1 < argc ? argv[i + 1] : NULL)) {
            i++;
        } else {
            return false;
        }
    }
    return true;
}

static unsigned terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : TERMINAL_COLUMNS;
}

static RowWriter *new_writer(const QueryArguments *arguments, const Session *session)
{
    RowWriterOptions options = {.out = stdout,
                                .time_zone = session_time_zone(session),
                                .terminal = isatty(STDOUT_FILENO) == 1,
                                .columns = terminal_columns(),
                                .schema = arguments->schema};
    const char *form = arguments->output != NULL ? arguments->output
                       : options.terminal        ? "table"
                                                 : "jsonl";
    if (arguments->session.explain && arguments->output == NULL) {
        return text_writer_new(&options);
    }
    return strcmp(form, "table") == 0 ? table_writer_new(&options)
           : strcmp(form, "csv") == 0 ? csv_writer_new(&options)
                                      : jsonl_writer_new(&options);
}

static Error *set_clock(QueryArguments *arguments)
{
    AUTO(time_zone) TimeZone *zone = NULL;
    Str name = arguments->session.time_zone;
    if (arguments->clock == NULL) {
        return NULL;
    }
    TRY(time_zone_open(name.data == NULL ? STR("UTC") : name, &zone));
    Clock *clock = &arguments->session.clock;
    clock->fixed = true;
    if (!timestamp_parse(str_from(arguments->clock), zone, &clock->fixed_us)) {
        return error_new(ERROR_USAGE,
                         "--clock takes a time such as 2026-03-01T12:00:00Z, not `%s`.",
                         arguments->clock);
    }
    return NULL;
}

static Error *open_session(QueryArguments *arguments, Session **ret_session)
{
    AUTO(session) Session *session = NULL;
    if (arguments->topology != NULL) {
        return error_set_hint(error_new(ERROR_NOT_YET, "Relations of a topology (-t) cannot be "
                                                       "queried yet."),
                              "rows of a topic can be read from a file: --input t=FILE");
    }
    TRY(set_clock(arguments));
    TRY(session_open(&arguments->session, &session));
    for (size_t i = 0; i < arguments->input_count; i++) {
        TRY(session_add_input(session, str_from(arguments->inputs[i])));
    }
    *ret_session = session;
    session = NULL;
    return NULL;
}

/* A reader that went away (`| head`) wants no more rows, and no complaint either. */
static void print_errors(Diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        Error *error = diagnostics->errors[i];
        if (error_class(error) != ERROR_INTERRUPTED || interrupted) {
            cli_print_error(error);
            diagnostics->errors[i] = NULL;
        }
    }
    diagnostics_done(diagnostics);
}

/* The statement given, or standard input. */
static bool read_script(const QueryArguments *arguments, Buffer *script)
{
    enum { BLOCK = 64 << 10 };
    if (arguments->sql != NULL) {
        buffer_append_cstr(script, arguments->sql);
        return true;
    }
    for (;;) {
        size_t got = fread(buffer_reserve(script, BLOCK), 1, BLOCK, stdin);
        script->size += got;
        if (got == 0) {
            return ferror(stdin) == 0 && !interrupted;
        }
    }
}

static int run(QueryArguments *arguments)
{
    AUTO(session) Session *session = NULL;
    Error *error = open_session(arguments, &session);
    if (error != NULL) {
        int code = error_class(error) == ERROR_FILE_NOT_READABLE ? EXIT_FAILED : EXIT_USAGE;
        cli_print_error(error);
        return code;
    }
    AUTO(row_writer) RowWriter *writer = new_writer(arguments, session);
    if (arguments->loop) {
        shell_run(session, writer, &interrupted, cli_print_error);
        return EXIT_DONE;
    }
    AUTO_BUFFER Buffer script = {0};
    if (!read_script(arguments, &script)) {
        return EXIT_FAILED;
    }
    Diagnostics diagnostics = {0};
    bool done = session_run_script(session, buffer_str(&script), writer, &diagnostics);
    print_errors(&diagnostics);
    return done ? EXIT_DONE : EXIT_FAILED;
}

int cmd_query(int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    QueryArguments arguments = {
        .session = {.memory_bytes = (size_t)1 << 30,
                    .spill_dir = folder == NULL || folder[0] == '\0' ? "/tmp" : folder,
                    .interrupted = &interrupted}};
    if (!read_arguments(argc, argv, &arguments)) {
        return cli_usage(usage);
    }
    arguments.loop = arguments.sql == NULL && isatty(STDIN_FILENO) == 1;
    arguments.session.show_progress = isatty(STDERR_FILENO) == 1;
    arguments.session.rows_on_terminal = isatty(STDOUT_FILENO) == 1;
    catch_interrupt(arguments.loop);
    return run(&arguments);
}
