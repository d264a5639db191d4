/* reply.h - printing what the daemon sent as JSON; and, of wire, reading it. */
#ifndef PLEAT_CLI_COMMON_REPLY_H
#define PLEAT_CLI_COMMON_REPLY_H

#include "wire/reply.h"

/* Prints to stdout, indented; or on one line. ASCII with escapes where the locale is not UTF-8.
 * Returns an exit code. */
int pleat_reply_print(const json_t *json);
int pleat_reply_print_line(const json_t *json);

#endif
