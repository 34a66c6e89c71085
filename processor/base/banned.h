/* C functions that are easy to misuse become compile errors. Include last, from .c files only. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atof gets localtime gmtime ctime asctime strncpy strncat

#endif
