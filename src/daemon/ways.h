/* ways.h - in which way a job's program changes its size next, where its user leaves that open */
#ifndef PLEAT_DAEMON_WAYS_H
#define PLEAT_DAEMON_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/way.h"

struct daemon;
struct job;

/* Chooses from what resizes of the job have cost, and from those of earlier jobs of the same
 * program that are still known. Over several nodes there is one way: a relaunch, warm where that
 * can be. False: there is nothing to choose. Blocks on the store. */
bool ways_choose(struct daemon *d, struct job *job, bool grows, struct pleat_way_choice *choice);
/* What was chosen for that resize: it is in the log, so it is the same when the resize is carried
 * out again. AUTO: nothing was. */
enum pleat_resize_way ways_chosen(struct daemon *d, struct job *job, uint64_t resize);

#endif
