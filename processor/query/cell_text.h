/* Text as it stands in the cell of a table: its width in columns of a terminal, cut to a width. */
#ifndef QUERY_CELL_TEXT_H
#define QUERY_CELL_TEXT_H

#include "processor/base/buffer.h"

/* Appends the text with line ends, tabs and other control characters made visible, so that a cell
 * is one line and steers no terminal. */
void cell_text_append(Buffer *out, Str text);
/* Columns of a terminal that the (visible) text takes. */
size_t cell_text_width(Str text);
/* Appends the text in `width` columns: filled with blanks on one side, or cut with `…` at its end.
 */
void cell_text_pad(Buffer *out, Str text, size_t width, bool right);

#endif
