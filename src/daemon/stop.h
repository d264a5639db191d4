/* stop.h - ends pleatd in order */
#ifndef PLEAT_DAEMON_STOP_H
#define PLEAT_DAEMON_STOP_H

struct daemon;

/* Ends the loop: at once, or up to 2 s later where an agent without jobs still has to connect so
 * that it can be told to end. */
void daemon_stop(struct daemon *d);

#endif
