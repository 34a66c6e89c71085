/* Lines typed at a terminal, through libedit (the only file that includes it). */
#include "processor/query/line_editor.h"

#include <histedit.h>
#include <stdio.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { HISTORY_LINES = 2000, SHOWN_WORDS = 60 };

struct LineEditor {
    EditLine *edit;
    History *history;
    HistEvent event;
    char *history_file;
    const char *prompt;
    WordAt word_at;
    void *context;
    bool cancelled;
};

static LineEditor *editor_of(EditLine *edit)
{
    LineEditor *editor = NULL;
    (void)el_get(edit, EL_CLIENTDATA, (void **)&editor);
    return editor;
}

static char *give_prompt(EditLine *edit)
{
    static char none[] = "";
    const char *prompt = editor_of(edit)->prompt;
    union {
        const char *given;
        char *wanted; /* libedit does not write to it */
    } text = {.given = prompt};
    return prompt == NULL ? none : text.wanted;
}

static unsigned char cancel(EditLine *edit, int c)
{
    (void)c;
    editor_of(edit)->cancelled = true;
    return CC_NEWLINE;
}

/* ----------------------------------------------------------- completion --- */

static bool is_word_byte(char c)
{
    return char_is_digit(c) || (c | 0x20) >= 'a' || c == '_' || (unsigned char)c >= 0x80 ||
           c == '\\';
}

static bool has_prefix(Str word, Str prefix)
{
    return word.size >= prefix.size && str_equal_ignore_case((Str){word.data, prefix.size}, prefix);
}

/* What is common to the beginnings of both. */
static size_t common_size(Str a, Str b)
{
    size_t size = 0;
    while (size < a.size && size < b.size &&
           str_equal_ignore_case((Str){a.data + size, 1}, (Str){b.data + size, 1})) {
        size++;
    }
    return size;
}

/* A word all in capitals goes on in small letters where it was begun in them. */
static void follow_case(Buffer *word, Str prefix)
{
    bool small = prefix.size > 0 && prefix.data[0] >= 'a' && prefix.data[0] <= 'z';
    for (size_t i = 0; i < word->size; i++) {
        small = small && !(word->data[i] >= 'a' && word->data[i] <= 'z');
    }
    for (size_t i = 0; small && i < word->size; i++) {
        char c = word->data[i];
        word->data[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
}

static void show_words(const LineEditor *editor, Str prefix)
{
    Str word = STR_NULL;
    size_t shown = 0;
    (void)fputc('\n', stdout);
    for (size_t i = 0; editor->word_at(editor->context, i, &word); i++) {
        if (has_prefix(word, prefix) && shown++ < SHOWN_WORDS) {
            (void)printf("%.*s  ", STR_ARG(word));
        }
    }
    (void)puts(shown > SHOWN_WORDS ? "…" : "");
}

static unsigned char complete(EditLine *edit, int c)
{
    (void)c;
    const LineEditor *editor = editor_of(edit);
    const LineInfo *line = el_line(edit);
    const char *first = line->cursor;
    while (first > line->buffer && is_word_byte(first[-1])) {
        first--;
    }
    Str prefix = {first, (size_t)(line->cursor - first)};
    AUTO_BUFFER Buffer best = {0};
    size_t count = 0;
    Str word = STR_NULL;
    for (size_t i = 0; editor->word_at(editor->context, i, &word); i++) {
        if (!has_prefix(word, prefix)) {
            continue;
        }
        if (count++ == 0) {
            buffer_append_str(&best, word);
        } else {
            best.size = common_size(buffer_str(&best), word);
        }
    }
    if (count == 0) {
        return CC_ERROR;
    }
    if (best.size == prefix.size && count > 1) {
        show_words(editor, prefix);
        return CC_REDISPLAY;
    }
    follow_case(&best, prefix);
    if (count == 1) {
        buffer_append_byte(&best, ' ');
    }
    el_deletestr(edit, (int)prefix.size);
    return el_insertstr(edit, buffer_cstr(&best)) == 0 ? CC_REFRESH : CC_ERROR;
}

/* -------------------------------------------------------------- reading --- */

LineEditor *line_editor_open(const char *history_file, WordAt word_at, void *context)
{
    LineEditor *editor = mem_new(LineEditor);
    editor->word_at = word_at;
    editor->context = context;
    editor->history_file = history_file == NULL ? NULL : mem_strdup(history_file);
    editor->edit = el_init("tidemark", stdin, stdout, stderr);
    editor->history = history_init();
    (void)history(editor->history, &editor->event, H_SETSIZE, HISTORY_LINES);
    (void)history(editor->history, &editor->event, H_SETUNIQUE, 1);
    if (editor->history_file != NULL) {
        (void)history(editor->history, &editor->event, H_LOAD, editor->history_file);
    }
    (void)el_set(editor->edit, EL_CLIENTDATA, editor);
    (void)el_set(editor->edit, EL_PROMPT, give_prompt);
    (void)el_set(editor->edit, EL_EDITOR, "emacs");
    (void)el_set(editor->edit, EL_HIST, history, editor->history);
    (void)el_set(editor->edit, EL_ADDFN, "tidemark-complete", "complete a word", complete);
    (void)el_set(editor->edit, EL_BIND, "^I", "tidemark-complete", NULL);
    (void)el_set(editor->edit, EL_ADDFN, "tidemark-cancel", "leave the statement", cancel);
    (void)el_set(editor->edit, EL_BIND, "^C", "tidemark-cancel", NULL);
    (void)el_set(editor->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    /* While a line is typed Ctrl-C is a key like others; while a query runs it is a signal. */
    (void)el_set(editor->edit, EL_SETTY, "-d", "-isig", NULL);
    return editor;
}

void line_editor_close(LineEditor *editor)
{
    if (editor == NULL) {
        return;
    }
    if (editor->history_file != NULL) {
        (void)history(editor->history, &editor->event, H_SAVE, editor->history_file);
    }
    history_end(editor->history);
    el_end(editor->edit);
    mem_free(editor->history_file);
    mem_free(editor);
}

LineEnd line_editor_read(LineEditor *editor, const char *prompt, Buffer *line)
{
    int size = 0;
    editor->prompt = prompt;
    editor->cancelled = false;
    /* Before the prompt shows: libedit leaves the terminal as it is while input waits, and a Ctrl-C
     * that comes then would be a signal and cost the line without a new prompt. */
    (void)el_set(editor->edit, EL_PREP_TERM, 1);
    const char *text = el_gets(editor->edit, &size);
    buffer_clear(line);
    if (editor->cancelled) {
        (void)puts("^C");
        return LINE_CANCELLED;
    }
    if (text == NULL || size <= 0) {
        (void)puts("");
        return LINE_END;
    }
    buffer_append(line, text, (size_t)size);
    while (line->size > 0 &&
           (line->data[line->size - 1] == '\n' || line->data[line->size - 1] == '\r')) {
        line->size--;
    }
    return LINE_READ;
}

void line_editor_remember(LineEditor *editor, Str statement)
{
    AUTO_BUFFER Buffer line = {0};
    for (size_t i = 0; i < statement.size; i++) {
        buffer_append_byte(&line, statement.data[i] == '\n' ? ' ' : statement.data[i]);
    }
    (void)history(editor->history, &editor->event, H_ENTER, buffer_cstr(&line));
}
