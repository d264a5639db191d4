/* reach.h - whether a process at another site can be connected with the first one of its run */
#ifndef PLEAT_PROCESS_REACH_H
#define PLEAT_PROCESS_REACH_H

#include <stddef.h>

/* Tries to connect to an address (tcp://HOST:PORT, numeric) for at most `ms` milliseconds. 0: it
 * can; else why not is written to `text`. Blocks. */
int pleat_reach_try(const char *address, int ms, char *text, size_t size);

#endif
