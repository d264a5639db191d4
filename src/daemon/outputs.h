/* outputs.h - what runs write on nodes that do not see the files of this machine, on its way into
 * the jobs' files in the directory of state, or to those who write the files that users have named
 * (couriers.h).
 *
 * Agents number the bytes that are written, and keep them until they were heard (agent/outflow.h).
 * Each piece is written at its place in the job's file: its number is counted from the length that
 * the file had when the run's first byte came. That length is kept in a file beside it. So pieces
 * that come again, even to the next pleatd, change nothing. */
#ifndef PLEAT_DAEMON_OUTPUTS_H
#define PLEAT_DAEMON_OUTPUTS_H

struct agent;
struct daemon;
struct job;
struct pleat_message;

/* The notice `output`. */
void outputs_take(struct agent *agent, const struct job *job, const struct pleat_message *message);
/* The agent has been connected again: it is to repeat output that was not heard. */
void outputs_listed(struct agent *agent);
/* Tries again to write output that could not be written. To be called once a second. */
void outputs_look(struct daemon *d);

#endif
