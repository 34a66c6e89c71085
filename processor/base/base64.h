/* Base64 of RFC 4648 section 4: the standard alphabet, padding required, no line breaks. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "processor/base/str.h"

/* Appends the text. */
void base64_encode(Str bytes, Buffer *out);
/* Bytes in `arena`. False for other characters, missing or misplaced padding, and bits behind the
 * last byte that are not zero (two texts would stand for the same bytes). */
bool base64_decode(Str text, Arena *arena, Str *ret_bytes);

#endif
