/* log.h - the agent's log: lines on stderr, bounded in length and in number per second. */
#ifndef PLEAT_AGENT_LOG_H
#define PLEAT_AGENT_LOG_H

#include "base/error.h"

/* Sets the beginning of all lines. The name is borrowed for the life of the process. */
void pleat_log_name(const char *name);
/* Writes one line. More than 50 within a second are dropped, and their number is written later. */
void pleat_log(const char *fmt, ...) PLEAT_PRINTF(1, 2);

#endif
