/* stop.h - the end of pleatd, in order */
#ifndef PLEAT_DAEMON_STOP_H
#define PLEAT_DAEMON_STOP_H

struct daemon;

/* The loop ends, at once or when agents without jobs have called, a moment later. */
void daemon_stop(struct daemon *d);

#endif
