/* utf8.h - whether a text is UTF-8. Names of files and variables may have any bytes; JSON may not.
 */
#ifndef PLEAT_BASE_UTF8_H
#define PLEAT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the UTF-8 sequence with which `left` (> 0) bytes begin; 0: there is none (cut
 * short, overlong, a surrogate, beyond U+10FFFF). */
size_t pleat_utf8_length(const char *bytes, size_t left);
bool pleat_utf8_is(const char *text);

#define PLEAT_NAME_MAX 63
/* Whether a text can be part of environment variables, file names and log lines: ASCII letters and
 * digits, '-', '_' and '.', beginning with neither '-' nor '.'; from 1 to PLEAT_NAME_MAX bytes. */
bool pleat_name_is(const char *text);

#endif
