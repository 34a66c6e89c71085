/* Random UUIDs from the kernel's generator. */
#include "processor/base/uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "processor/base/banned.h"

void uuid_generate(char ret_text[UUID_TEXT_SIZE])
{
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b) {
        abort();
    }
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    (void)snprintf(ret_text, UUID_TEXT_SIZE,
                   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                   b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                   b[14], b[15]);
}
