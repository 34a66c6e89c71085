/* Random (version 4) UUIDs for instances, updates and events. */
#ifndef BASE_UUID_H
#define BASE_UUID_H

enum { UUID_TEXT_SIZE = 37 };

/* Writes 36 characters and a NUL. */
void uuid_generate(char ret_text[UUID_TEXT_SIZE]);

#endif
