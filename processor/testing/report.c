/* Reporting cases in three forms. Text is written as cases end; JSON and JUnit at the end, since
 * both begin with counts or need closing. */
#include "processor/testing/report.h"

#include "processor/base/json_writer.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

struct Report {
    TestOutput output;
    FILE *out;
    size_t passed;
    size_t failed; /* not-yet ones too */
    size_t skipped;
    int64_t elapsed_ms;
    Buffer cases; /* JSON and JUnit: the cases so far */
};

static const char *const status_words[] = {
    [CASE_PASSED] = "passed",
    [CASE_FAILED] = "failed",
    [CASE_NOT_YET] = "not yet",
    [CASE_SKIPPED] = "skipped",
};

Report *report_new(TestOutput output, FILE *out)
{
    Report *report = mem_new(Report);
    report->output = output;
    report->out = out;
    return report;
}

void report_free(Report *report)
{
    if (report != NULL) {
        buffer_done(&report->cases);
        mem_free(report);
    }
}

size_t report_failed(const Report *report)
{
    return report->failed;
}

static void write_text(const Report *report, const CaseResult *result)
{
    static const char *const marks[] = {
        [CASE_PASSED] = "ok      ",
        [CASE_FAILED] = "FAILED  ",
        [CASE_NOT_YET] = "not yet ",
        [CASE_SKIPPED] = "skipped ",
    };
    const char *gap = result->title.size > 0 ? "  " : "";
    fprintf(report->out, "%s%.*s%s%.*s\n", marks[result->status], STR_ARG(result->id), gap,
            STR_ARG(result->title));
    if (result->detail.size > 0) {
        fprintf(report->out, "%.*s", STR_ARG(result->detail));
    }
    fflush(report->out);
}

/* ------------------------------------------------------------------------------------ JSON ---- */

static void add_json(Report *report, const CaseResult *result)
{
    if (report->cases.size > 0) {
        buffer_append_cstr(&report->cases, ",\n");
    }
    JsonWriter w = json_writer(&report->cases);
    json_object_begin(&w);
    json_field_str(&w, "id", result->id);
    json_field_str(&w, "title", result->title);
    json_field_cstr(&w, "file", result->file);
    json_field_int(&w, "line", result->line);
    json_field_cstr(&w, "status", status_words[result->status]);
    json_field_int(&w, "elapsed_ms", result->elapsed_ms);
    if (result->detail.size > 0) {
        json_field_str(&w, "detail", result->detail);
    }
    json_object_end(&w);
}

static void finish_json(Report *report)
{
    fprintf(report->out, "{\"passed\":%zu,\"failed\":%zu,\"skipped\":%zu,\"cases\":[\n%.*s]}\n",
            report->passed, report->failed, report->skipped, STR_ARG(buffer_str(&report->cases)));
}

/* ----------------------------------------------------------------------------------- JUnit ---- */

static void put_xml(Buffer *out, Str text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '&') {
            buffer_append_cstr(out, "&amp;");
        } else if (c == '<') {
            buffer_append_cstr(out, "&lt;");
        } else if (c == '>') {
            buffer_append_cstr(out, "&gt;");
        } else if (c == '"') {
            buffer_append_cstr(out, "&quot;");
        } else if (c >= ' ' || c == '\n' || c == '\t') {
            buffer_append_byte(out, (char)c);
        } else {
            buffer_append_byte(out, '?'); /* XML 1.0 has no other control characters */
        }
    }
}

static void add_junit(Report *report, const CaseResult *result)
{
    Buffer *out = &report->cases;
    buffer_append_cstr(out, "  <testcase classname=\"");
    put_xml(out, str_from(result->file));
    buffer_append_cstr(out, "\" name=\"");
    put_xml(out, result->id);
    buffer_printf(out, "\" time=\"%.3f\"", (double)result->elapsed_ms / 1000);
    if (result->status == CASE_PASSED) {
        buffer_append_cstr(out, "/>\n");
        return;
    }
    const char *element = result->status == CASE_SKIPPED ? "skipped" : "failure";
    buffer_printf(out, ">\n    <%s message=\"%s\">", element, status_words[result->status]);
    put_xml(out, result->detail);
    buffer_printf(out, "</%s>\n  </testcase>\n", element);
}

static void finish_junit(Report *report)
{
    fprintf(report->out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tidemark\" "
            "tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n%.*s</testsuite>\n",
            report->passed + report->failed + report->skipped, report->failed, report->skipped,
            (double)report->elapsed_ms / 1000, STR_ARG(buffer_str(&report->cases)));
}

/* ------------------------------------------------------------------------------------ both ---- */

void report_case(Report *report, const CaseResult *result)
{
    report->elapsed_ms += result->elapsed_ms;
    switch (result->status) {
    case CASE_PASSED:
        report->passed++;
        break;
    case CASE_FAILED:
    case CASE_NOT_YET:
        report->failed++;
        break;
    case CASE_SKIPPED:
        report->skipped++;
        break;
    }
    switch (report->output) {
    case TEST_OUTPUT_TEXT:
        write_text(report, result);
        break;
    case TEST_OUTPUT_JSON:
        add_json(report, result);
        break;
    case TEST_OUTPUT_JUNIT:
        add_junit(report, result);
        break;
    }
}

/* The counts close the text; beside a document they go to standard error. */
void report_finish(Report *report)
{
    FILE *last = report->out;
    if (report->output == TEST_OUTPUT_JSON) {
        finish_json(report);
        last = stderr;
    } else if (report->output == TEST_OUTPUT_JUNIT) {
        finish_junit(report);
        last = stderr;
    }
    fprintf(last, "%zu passed, %zu failed\n", report->passed, report->failed);
    fflush(last);
}
