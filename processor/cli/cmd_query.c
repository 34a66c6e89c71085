/* tidemark query SQL: ad-hoc queries over files. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "processor/cli/cli.h"
#include "processor/cli/commands.h"
#include "processor/cli/query_arguments.h"
#include "processor/query/shell.h"

#include "processor/base/banned.h"

enum { TERMINAL_COLUMNS = 80 };

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

static int run(QueryArguments *arguments, bool loop)
{
    AUTO(session) Session *session = NULL;
    Error *error = open_session(arguments, &session);
    if (error != NULL) {
        bool data = error_class(error) == ERROR_FILE_NOT_READABLE ||
                    error_class(error) == ERROR_MALFORMED_RECORD;
        int code = data ? EXIT_FAILED : EXIT_USAGE;
        cli_print_error(error);
        return code;
    }
    AUTO(row_writer) RowWriter *writer = new_writer(arguments, session);
    if (loop) {
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
    Error *error = query_arguments_read(argc, argv, &arguments);
    if (error != NULL) {
        cli_print_error(error);
        return EXIT_USAGE;
    }
    bool loop = arguments.sql == NULL && isatty(STDIN_FILENO) == 1;
    arguments.session.show_progress = isatty(STDERR_FILENO) == 1;
    arguments.session.rows_on_terminal = isatty(STDOUT_FILENO) == 1;
    catch_interrupt(loop);
    return run(&arguments, loop);
}
