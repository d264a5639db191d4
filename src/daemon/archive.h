/* archive.h - letting go of jobs that have ended, and checkpoints */
#ifndef PLEAT_DAEMON_ARCHIVE_H
#define PLEAT_DAEMON_ARCHIVE_H

#include <stdbool.h>

#include "base/error.h"

struct daemon;
struct job;

/* Before the turn's transaction: makes the accounts of those that ended in it. */
void archive_prepare(struct daemon *d);
/* Inside it: writes them, and removes what was let go of. */
int archive_write(struct daemon *d, struct pleat_error *err);
/* After it. */
void archive_written(struct daemon *d);
/* When nothing else is to be done: lets go of those that ended long ago, and makes checkpoints. */
void archive_run(struct daemon *d);
/* Has the core forget it; it is `gone`, jobs_forget comes next. False: it does not (logged). Only
 * when nothing is under way that could mean its component. */
bool archive_let_go(struct daemon *d, struct job *job);

#endif
