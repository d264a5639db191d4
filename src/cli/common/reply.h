/* reply.h - prints JSON that the daemon sent; and reads it, by the header of wire. */
#ifndef PLEAT_CLI_COMMON_REPLY_H
#define PLEAT_CLI_COMMON_REPLY_H

#include "wire/reply.h"

/* Prints JSON to stdout, indented, or (print_line) on one line. Where the locale is not UTF-8 it is
 * ASCII with escapes. Returns an exit code. */
int pleat_reply_print(const json_t *json);
int pleat_reply_print_line(const json_t *json);

#endif
