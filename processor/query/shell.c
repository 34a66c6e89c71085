/* The read-eval loop: lines are gathered until a statement ends with `;`, then it runs. Words of
 * the language, functions, tables and columns complete with Tab. */
#include "processor/query/shell.h"

#include <stdio.h>
#include <stdlib.h>

#include "processor/query/line_editor.h"
#include "processor/query/session_internal.h"
#include "processor/sql/lexer.h"

#include "processor/base/banned.h"

typedef struct Shell {
    Session *session;
    RowWriter *writer;
    bool *interrupted;
    void (*report)(Error *error);
    LineEditor *editor;
    Buffer statement; /* what was typed of it so far */
} Shell;

static const char help[] =
    "Statements end with ; and may go over several lines. Tab completes words, Ctrl-C leaves a\n"
    "statement or stops a running one, Ctrl-R searches the history.\n"
    "  \\d           the tables                \\d NAME       the columns of a table\n"
    "  \\f           the functions             \\f NAME       one function\n"
    "  \\?           this help                 \\q            the end (Ctrl-D too)\n"
    "  DESCRIBE t;  SHOW TABLES;  SHOW FUNCTIONS LIKE 'date*';  EXPLAIN SELECT …;\n";

/* ------------------------------------------------------------ completion --- */

static const char *const keywords[] = {
#define KEYWORD(word, flags) #word,
#include "processor/sql/keywords.def"
#undef KEYWORD
};

/* Tables and their columns. */
static bool name_at(const Session *session, size_t index, Str *ret_word)
{
    for (size_t i = 0; i < session->input_count; i++) {
        const Input *input = &session->inputs[i];
        if (index == 0) {
            *ret_word = input->name;
            return true;
        }
        if (index <= input->schema->field_count) {
            *ret_word = input->schema->fields[index - 1].name;
            return true;
        }
        index -= 1 + input->schema->field_count;
    }
    return false;
}

static bool word_at(void *context, size_t index, Str *ret_word)
{
    if (index < ARRAY_LENGTH(keywords)) {
        *ret_word = str_from(keywords[index]);
        return true;
    }
    index -= ARRAY_LENGTH(keywords);
    const FunctionCatalog *functions = function_catalog();
    size_t function = 0;
    while (function < index && functions->at(function) != NULL) {
        function++;
    }
    if (functions->at(function) != NULL) {
        *ret_word = str_from(functions->at(function)->name);
        return true;
    }
    return name_at(context, index - function, ret_word);
}

/* ------------------------------------------------------------ statements --- */

static void run(Shell *shell, Str script)
{
    Diagnostics diagnostics = {0};
    *(volatile bool *)shell->interrupted = false;
    (void)session_run_script(shell->session, script, shell->writer, &diagnostics);
    (void)fflush(stdout);
    for (size_t i = 0; i < diagnostics.count; i++) {
        shell->report(diagnostics.errors[i]);
        diagnostics.errors[i] = NULL;
    }
    diagnostics_done(&diagnostics);
}

/* Does what was typed end a statement? A `;` in a text or a comment does not. */
static bool is_whole(Str text)
{
    TokenList tokens = {0};
    lexer_run(text, &tokens);
    bool whole = tokens.count >= 2 && tokens.items[tokens.count - 2].kind == TOKEN_SEMICOLON;
    lexer_done(&tokens);
    return whole;
}

/* The statement for the history, on one line: where a line ended, a comment that ended with it
 * would take the rest along. */
static void remember(Shell *shell)
{
    Str text = buffer_str(&shell->statement);
    AUTO_BUFFER Buffer line = {0};
    TokenList tokens = {0};
    size_t end = 0;
    lexer_run(text, &tokens);
    for (size_t i = 0; i < tokens.count && tokens.items[i].size > 0; i++) {
        const Token *token = &tokens.items[i];
        Str gap = {text.data + end, token->start - end};
        bool one_line = str_find_byte(gap, '\n') == gap.size;
        buffer_append_str(&line, i == 0 ? STR("") : one_line ? gap : STR(" "));
        buffer_append(&line, text.data + token->start, token->size);
        end = token->start + token->size;
    }
    lexer_done(&tokens);
    line_editor_remember(shell->editor, buffer_str(&line));
}

/* A line that begins with a backslash; false: leave. */
static bool run_command(Shell *shell, Str line)
{
    Str rest = line;
    Str word = str_cut(&rest, ' ');
    Str name = rest.data == NULL ? STR_NULL : str_trim(rest);
    AUTO_BUFFER Buffer statement = {0};
    if (str_equal(word, STR("\\q"))) {
        return false;
    }
    if (str_equal(word, STR("\\d"))) {
        buffer_printf(&statement, name.size == 0 ? "SHOW TABLES%.*s" : "DESCRIBE %.*s",
                      STR_ARG(name));
    } else if (str_equal(word, STR("\\f"))) {
        buffer_printf(&statement, name.size == 0 ? "SHOW FUNCTIONS%.*s" : "DESCRIBE FUNCTION %.*s",
                      STR_ARG(name));
    } else {
        if (!str_equal(word, STR("\\?")) && !str_equal(word, STR("\\h"))) {
            (void)printf("There is no command %.*s.\n", STR_ARG(word));
        }
        (void)fputs(help, stdout);
        return true;
    }
    run(shell, buffer_str(&statement));
    return true;
}

/* The word alone, with or without `;`. */
static bool is_word(Str line, Str word)
{
    while (line.size > 0 && (line.data[line.size - 1] == ';' || line.data[line.size - 1] == ' ')) {
        line.size--;
    }
    return str_equal_ignore_case(line, word);
}

/* One line; false: leave. */
static bool take_line(Shell *shell, Str line)
{
    Str text = str_trim(line);
    if (shell->statement.size == 0) {
        if (text.size == 0) {
            return true;
        }
        if (text.data[0] == '\\') {
            line_editor_remember(shell->editor, text);
            return run_command(shell, text);
        }
        if (is_word(text, STR("quit")) || is_word(text, STR("exit"))) {
            return false;
        }
        if (is_word(text, STR("help"))) {
            (void)fputs(help, stdout);
            return true;
        }
    }
    buffer_append_str(&shell->statement, line);
    buffer_append_byte(&shell->statement, '\n');
    if (is_whole(buffer_str(&shell->statement))) {
        remember(shell);
        run(shell, buffer_str(&shell->statement));
        buffer_clear(&shell->statement);
    }
    return true;
}

static void loop(Shell *shell)
{
    AUTO_BUFFER Buffer line = {0};
    for (;;) {
        const char *prompt = shell->statement.size == 0 ? "tidemark> " : "       -> ";
        LineEnd end = line_editor_read(shell->editor, prompt, &line);
        if (end == LINE_END) {
            return;
        }
        if (end == LINE_CANCELLED) {
            buffer_clear(&shell->statement);
        } else if (!take_line(shell, buffer_str(&line))) {
            return;
        }
    }
}

void shell_run(Session *session, RowWriter *writer, bool *interrupted, void (*report)(Error *error))
{
    const char *home = getenv("HOME");
    AUTO_BUFFER Buffer history = {0};
    buffer_printf(&history, "%s/.tidemark_history", home == NULL ? "" : home);
    Shell shell = {
        .session = session, .writer = writer, .interrupted = interrupted, .report = report};
    (void)printf("tidemark " TIDEMARK_VERSION ": statements end with ;  \\? helps, \\q leaves\n");
    shell.editor = line_editor_open(home == NULL ? NULL : buffer_cstr(&history), word_at, session);
    loop(&shell);
    line_editor_close(shell.editor);
    buffer_done(&shell.statement);
}
