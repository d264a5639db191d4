/* utf8.h - is a text UTF-8? Names of files and variables may be anything; JSON may not. */
#ifndef PLEAT_BASE_UTF8_H
#define PLEAT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the UTF-8 sequence with which `left` (> 0) bytes begin; 0: there is none (cut
 * short, overlong, a surrogate, beyond U+10FFFF). */
size_t pleat_utf8_length(const char *bytes, size_t left);
bool pleat_utf8_is(const char *text);

#define PLEAT_NAME_MAX 63
/* A name that can be part of environment variables, file names and log lines: letters and digits of
 * ASCII, '-', '_' and '.', but neither '-' nor '.' at its beginning; at most PLEAT_NAME_MAX. */
bool pleat_name_is(const char *text);

#endif
