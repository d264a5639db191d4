/* turn.h - one turn: applies inputs, decides, writes, and only then acts and answers */
#ifndef PLEAT_DAEMON_TURN_H
#define PLEAT_DAEMON_TURN_H

struct daemon;

void turn_init(struct daemon *d);
/* Runs a turn now. */
void turn_run(struct daemon *d);
/* When nothing else is to be done: removes what users want removed, lets go of jobs that ended long
 * ago, makes checkpoints. */
void turn_idle(struct daemon *d);
void turn_finish(struct daemon *d);

#endif
