/* carry_out.h - effects into the world */
#ifndef PLEAT_DAEMON_CARRY_OUT_H
#define PLEAT_DAEMON_CARRY_OUT_H

#include "model/effect.h"

struct daemon;
struct job;

void carry_out(struct daemon *d, const struct pleat_effect *effect);
/* Of a job that is being ended: its processes are killed now. */
void carry_out_kill(struct daemon *d, struct job *job);

#endif
