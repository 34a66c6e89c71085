/* The read-eval loop of `tidemark query` at a terminal. */
#ifndef QUERY_SHELL_H
#define QUERY_SHELL_H

#include "processor/query/session.h"

/* Until \q or the end of input. Errors are handed to `report`, which frees them. */
void shell_run(Session *session, RowWriter *writer, bool *interrupted,
               void (*report)(Error *error));

#endif
