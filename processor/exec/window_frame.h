/* Frames of a window function's call: for every row of a block, the rows it looks at. */
#ifndef EXEC_WINDOW_FRAME_H
#define EXEC_WINDOW_FRAME_H

#include "processor/exec/operator.h"
#include "processor/exec/sort_keys.h"
#include "processor/exec/window_block.h"

/* A bound RANGE … x PRECEDING or FOLLOWING: the key's value x away, in a type that has room. */
typedef struct FrameValue {
    Expression *value; /* over the rows; NULL: the bound is none of those */
    Expression *key;   /* the key in that type */
} FrameValue;

typedef struct WindowFrame {
    const BoundWindowCall *call;
    FrameValue start;
    FrameValue end;
    SortOrder order; /* of the only sort key, when there are such bounds */
} WindowFrame;

/* Into a zeroed frame; window_frame_done releases it, after an error too. The sort key is column
 * `key_column` of the rows. What is made lives in `arena`, as long as the frame. */
NODISCARD Error *window_frame_open(WindowFrame *frame, const BoundWindowCall *call,
                                   const BoundSortKey *key, size_t key_column,
                                   const ExecContext *context, Arena *arena);
void window_frame_done(WindowFrame *frame);
/* begin[row] … end[row] - 1 are the frame of each of the block's rows (empty: equal). `arena`: for
 * the time of the call. */
NODISCARD Error *window_frame_find(const WindowFrame *frame, const WindowBlock *block, Arena *arena,
                                   uint32_t *begin, uint32_t *end);

#endif
