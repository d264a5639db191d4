/* follow.h - sends events to a client that follows them */
#ifndef PLEAT_DAEMON_FOLLOW_H
#define PLEAT_DAEMON_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct client;
struct daemon;
struct made_note;
struct pleat_note_filter;

/* What a client follows, and how far it has come. Events that it does not read in time are not kept
 * in memory for it: it gets them from the log once it has read what was sent. */
struct follow {
    bool on;
    bool behind;     /* the log has events that the client was not sent */
    int64_t job;     /* only events of this job; -1: of all */
    int64_t from_us; /* only events of this time or later */
    int64_t last;    /* sequence number of the last event that was sent */
};

/* Makes the client a follower. It gets events from the log first; they are sent once the answer to
 * its request has been written to the socket. */
void follow_begin(struct client *client, const struct pleat_note_filter *filter);
/* All that was sent has been written to the socket: sends the next events that the client lacks. */
void follow_on(struct client *client);
/* A note has been written into the log: sends it to the followers. */
void clients_notify(struct daemon *d, const struct made_note *note);

#endif
