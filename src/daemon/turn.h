/* turn.h - applies what came, decides, writes, and only then acts and answers */
#ifndef PLEAT_DAEMON_TURN_H
#define PLEAT_DAEMON_TURN_H

struct daemon;

void turn_init(struct daemon *d);
/* Applies, decides, writes, carries out, now. */
void turn_run(struct daemon *d);
/* When nothing else is to be done: removes what users want to be removed, lets go of what ended
 * long ago, makes checkpoints. */
void turn_idle(struct daemon *d);
void turn_finish(struct daemon *d);

#endif
