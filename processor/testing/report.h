/* What came of the cases, as text for people (one line a case, details below it), as one JSON
 * document, or as JUnit XML. */
#ifndef TESTING_REPORT_H
#define TESTING_REPORT_H

#include <stdio.h>

#include "processor/testing/options.h"

typedef enum CaseStatus {
    CASE_PASSED,
    CASE_FAILED,
    CASE_NOT_YET, /* needs what is not built: counted as failed */
    CASE_SKIPPED, /* cannot be said in this way of running: counted as neither */
} CaseStatus;

typedef struct CaseResult {
    const char *file;
    int line;
    Str id;
    Str title; /* may be empty */
    CaseStatus status;
    Str detail; /* why it did not pass: lines, each ended */
    int64_t elapsed_ms;
} CaseResult;

typedef struct Report Report;

Report *report_new(TestOutput output, FILE *out);
void report_free(Report *report);
void report_case(Report *report, const CaseResult *result);
/* Writes what comes last ("N passed, N failed"). */
void report_finish(Report *report);
size_t report_failed(const Report *report);

DEFINE_AUTO(report, Report, report_free)

#endif
