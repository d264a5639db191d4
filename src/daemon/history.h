/* history.h - what jobs did and used */
#ifndef PLEAT_DAEMON_HISTORY_H
#define PLEAT_DAEMON_HISTORY_H

#include <jansson.h>

struct daemon;
struct job;

json_t *history_entry(struct daemon *d, struct job *job);

#endif
