/* stop.h - ends pleatd in order */
#ifndef PLEAT_DAEMON_STOP_H
#define PLEAT_DAEMON_STOP_H

struct daemon;

/* Ends the loop: at once, or up to 2 s later where an agent without jobs still has to connect so
 * that it can be told to end. */
void daemon_stop(struct daemon *d);
/* To be called once a second while pleatd is to end and jobs have not ended: ends it all the same
 * when no agent can be had that could end them. */
void daemon_stop_unattended(struct daemon *d);

#endif
