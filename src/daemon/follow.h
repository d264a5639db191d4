/* follow.h - a client that is told what happens */
#ifndef PLEAT_DAEMON_FOLLOW_H
#define PLEAT_DAEMON_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct client;
struct daemon;
struct made_note;
struct pleat_note_filter;

/* Events that it does not take in time are not kept for it in memory: they are in the log, and it
 * gets them from there, when it takes them. */
struct follow {
    bool on;
    bool behind;     /* more is in the log than it was sent */
    int64_t job;     /* -1: all */
    int64_t from_us; /* only what happened then or later */
    int64_t last;    /* number of the last event that it was sent */
};

/* From now on, beginning with what is in the log, when the answer to that wish has been written. */
void follow_begin(struct client *client, const struct pleat_note_filter *filter);
/* All that it was sent has been written: more of what it is behind. */
void follow_on(struct client *client);
/* That has just been written. */
void clients_notify(struct daemon *d, const struct made_note *note);

#endif
