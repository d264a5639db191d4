/* inputs.h - standard input of `pleat run`, on its way to the agent that leads the job's run, where
 * that is not on this machine (or calls over TCP as if it were not).
 *
 * Nothing is kept here: a piece is answered when the run has taken it, and until then the client
 * has it. A client that has lost pleatd asks again. */
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

/* Whether a run of the job on that node gets the input of `pleat run` from here, and opens no file.
 */
bool inputs_are_sent(struct daemon *d, int64_t job, uint32_t site);
/* Answers when that run has taken the piece, when the job has another run that takes input ("run"),
 * or when the job has ended ("over"). */
void inputs_take(struct client *client, int64_t request, const struct input_piece *piece);
/* The notice `input_taken`. */
void inputs_taken(struct daemon *d, const json_t *params);
/* The agent has been connected again: pieces that it may not have got are sent again. */
void inputs_listed(struct agent *agent);
/* Answers the requests that can be answered, and sends the pieces that can be sent. */
void inputs_check(struct daemon *d);
void inputs_forget(struct client *client);

#endif
