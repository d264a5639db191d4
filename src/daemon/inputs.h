/* inputs.h - standard input of `pleat run`, on its way to the agent that leads the job's run, where
 * that is not on this machine (or calls over TCP as if it were not); what is typed on a terminal
 * that is passed on (terminals.h); and the content of a file which the run's node does not see.
 *
 * Only one piece is kept here: it is answered when the run has taken it, and the next one comes
 * then. A client that has lost pleatd asks again. */
#ifndef PLEAT_DAEMON_INPUTS_H
#define PLEAT_DAEMON_INPUTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;
struct client;
struct daemon;
struct input_wait;

struct input_waits {
    struct input_wait *first;
};

/* A piece of input for a run of a job; without bytes and end only the question which run takes it.
 */
struct input_piece {
    int64_t job;
    uint64_t run;   /* for this run; 0: none is known */
    int64_t offset; /* the number of its first byte in what the run gets */
    bool end;       /* no more comes after it */
    const char *bytes;
    size_t count;
};

/* Whether a run of the job on that node gets its input from here, and opens no file: that of `pleat
 * run`, what is typed there, or a file that the node does not see. */
bool inputs_are_sent(struct daemon *d, int64_t job, uint32_t site, uint32_t node);
/* Whether the job's input is a file that its user has named, and not that of `pleat run`. */
bool inputs_are_of_a_file(struct daemon *d, int64_t job);
/* Answers when that run has taken the piece, when the job has another run that takes input ("run"),
 * or when the job has ended ("over"). */
void inputs_take(struct client *client, int64_t request, const struct input_piece *piece);
/* The same for a piece of a file. `reader` identifies who has read it (couriers.h); `taken` is
 * called when the run has taken all up to that byte, unless the job is over. */
typedef void input_taken(void *reader, int64_t offset);
void inputs_take_from(struct daemon *d, void *reader, input_taken *taken,
                      const struct input_piece *piece);
void inputs_forget_reader(struct daemon *d, const void *reader);
/* The notice `input_taken`. */
void inputs_taken(struct daemon *d, const json_t *params);
/* The agent has been connected again: pieces that it may not have got are sent again. */
void inputs_listed(struct agent *agent);
/* Answers the requests that can be answered, and sends the pieces that can be sent. */
void inputs_check(struct daemon *d);
void inputs_forget(struct client *client);

#endif
