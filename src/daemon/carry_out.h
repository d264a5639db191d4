/* carry_out.h - effects of the core become requests to sites, runners and agents */
#ifndef PLEAT_DAEMON_CARRY_OUT_H
#define PLEAT_DAEMON_CARRY_OUT_H

#include "model/effect.h"

struct daemon;
struct job;

void carry_out(struct daemon *d, const struct pleat_effect *effect);
/* Kills the processes of a job that is being ended, now, without SIGTERM before. */
void carry_out_kill(struct daemon *d, struct job *job);

#endif
