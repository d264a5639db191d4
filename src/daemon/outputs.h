/* outputs.h - what runs write on nodes that do not see the files of this machine, on its way into
 * the jobs' files in the directory of state.
 *
 * Agents number what is written, and keep it until it was heard (agent/outflow.h). It is written at
 * its place: one number of bytes after what the file had when the run's first byte came, which is
 * kept in a file beside it. So what comes again, also to the next pleatd, changes nothing.
 */
#ifndef PLEAT_DAEMON_OUTPUTS_H
#define PLEAT_DAEMON_OUTPUTS_H

struct agent;
struct daemon;
struct job;
struct pleat_message;

/* The notice `output`. */
void outputs_take(struct agent *agent, const struct job *job, const struct pleat_message *message);
/* The agent has been connected again: its runs tell what was not heard. */
void outputs_listed(struct agent *agent);
/* Tries again what could not be written. To be called once a second. */
void outputs_look(struct daemon *d);

#endif
