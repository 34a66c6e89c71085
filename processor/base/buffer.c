/* Bytes that grow at the end. */
#include "processor/base/buffer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

void buffer_done(Buffer *buffer)
{
    mem_free(buffer->data);
    *buffer = (Buffer){0};
}

char *buffer_grow(Buffer *buffer, size_t size)
{
    mem_reserve(buffer->data, &buffer->capacity, buffer->size + size + 1);
    return buffer->data + buffer->size;
}

void buffer_append(Buffer *buffer, const void *bytes, size_t size)
{
    char *to = buffer_reserve(buffer, size);
    if (size > 0) {
        memcpy(to, bytes, size);
    }
    buffer->size += size;
}

void buffer_append_str(Buffer *buffer, Str s)
{
    buffer_append(buffer, s.data, s.size);
}

void buffer_append_cstr(Buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_append_u32_be(Buffer *buffer, uint32_t value)
{
    uint32_t swapped = __builtin_bswap32(value);
    buffer_append(buffer, &swapped, sizeof swapped);
}

void buffer_printf(Buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert(size >= 0);
    char *to = buffer_reserve(buffer, (size_t)size + 1);
    (void)vsnprintf(to, (size_t)size + 1, format, again);
    va_end(again);
    buffer->size += (size_t)size;
}

/* Of C1 (U+0080 to U+009F) the two bytes become one `?`. */
void buffer_hide_controls(Buffer *buffer, size_t from)
{
    char *bytes = buffer->data;
    size_t to = from;
    for (size_t i = from; i < buffer->size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool c1 = c == 0xC2 && i + 1 < buffer->size && (unsigned char)bytes[i + 1] < 0xA0;
        bool control = (c < ' ' && c != '\t' && c != '\n') || c == 0x7F || c1;
        bytes[to++] = control ? '?' : bytes[i];
        i += c1;
    }
    buffer->size = to;
}

Str buffer_str(const Buffer *buffer)
{
    return (Str){buffer->data == NULL ? "" : buffer->data, buffer->size};
}

const char *buffer_cstr(Buffer *buffer)
{
    *buffer_reserve(buffer, 1) = '\0';
    return buffer->data;
}
