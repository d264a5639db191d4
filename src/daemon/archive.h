/* archive.h - lets go of jobs that have ended, and makes checkpoints */
#ifndef PLEAT_DAEMON_ARCHIVE_H
#define PLEAT_DAEMON_ARCHIVE_H

#include <stdbool.h>

#include "base/error.h"

struct daemon;
struct job;

/* Before the turn's transaction: makes the accounts of the jobs that ended in the turn. */
void archive_prepare(struct daemon *d);
/* Inside the transaction: writes these accounts, and removes the notes of jobs that were let go of.
 */
int archive_write(struct daemon *d, struct pleat_error *err);
/* After the transaction. */
void archive_written(struct daemon *d);
/* When nothing else is to be done: lets go of jobs that ended keep_ended_s ago, and makes
 * checkpoints. Writes. */
void archive_run(struct daemon *d);
/* pleatd ends in order, its last turn is written: makes a checkpoint if the records since the last
 * one take at least as much room as that, so that damage to the end of the log loses nothing. */
void archive_end(struct daemon *d);
/* Has the core forget a job and marks it `gone`; jobs_forget must come next. False: the core does
 * not forget it (logged). To be called only when no input is under way that names its component:
 * the core will give that index to another job. */
bool archive_let_go(struct daemon *d, struct job *job);

#endif
