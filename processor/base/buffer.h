/* Buffer: bytes that grow at the end. Holds heap memory of its own; buffer_done releases it.
 * A zeroed Buffer is empty and ready. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "processor/base/compiler.h"
#include "processor/base/str.h"

typedef struct Buffer {
    char *data;
    size_t size;
    size_t capacity;
} Buffer;

/* Releases the memory; the buffer is empty and ready again. */
void buffer_done(Buffer *buffer);
/* Empty, keeps the memory. */
static inline void buffer_clear(Buffer *buffer)
{
    buffer->size = 0;
}
/* buffer_reserve where there is no room yet. */
RETURNS_NONNULL char *buffer_grow(Buffer *buffer, size_t size);
/* Room for `size` more bytes; returns where they begin. The caller writes, then adds to ->size. */
RETURNS_NONNULL static inline char *buffer_reserve(Buffer *buffer, size_t size)
{
    /* One byte more, for buffer_cstr. */
    return LIKELY(buffer->capacity - buffer->size > size) ? buffer->data + buffer->size
                                                          : buffer_grow(buffer, size);
}
void buffer_append(Buffer *buffer, const void *bytes, size_t size);
void buffer_append_str(Buffer *buffer, Str s);
void buffer_append_cstr(Buffer *buffer, const char *text);
static inline void buffer_append_byte(Buffer *buffer, char byte)
{
    *buffer_reserve(buffer, 1) = byte;
    buffer->size++;
}
void buffer_append_u32_be(Buffer *buffer, uint32_t value);
void buffer_printf(Buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Control characters from byte `from` on become `?`, but for tab and line end: what a user or a
 * record wrote must not steer the terminal it is shown on. */
void buffer_hide_controls(Buffer *buffer, size_t from);
/* The bytes as a view, valid until the next append. Never STR_NULL. */
Str buffer_str(const Buffer *buffer);
/* The bytes with a NUL behind them (not counted), valid until the next append. */
RETURNS_NONNULL const char *buffer_cstr(Buffer *buffer);

/* AUTO_BUFFER Buffer b = {0}; */
#define AUTO_BUFFER __attribute__((cleanup(buffer_done)))

#endif
