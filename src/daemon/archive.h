/* archive.h - jobs that have ended: their accounts, and letting go of them */
#ifndef PLEAT_DAEMON_ARCHIVE_H
#define PLEAT_DAEMON_ARCHIVE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"

struct daemon;
struct job;
struct pleat_account_row;

/* A job that ended, and its account until that is written. */
struct ended {
    int64_t job, submit_us, end_us;
    char *text;
};

PLEAT_ARRAY(ended_list, struct ended);
PLEAT_ARRAY(numbers, int64_t);

struct archive {
    struct ended_list ended; /* jobs of this turn */
    struct numbers archived; /* let go of in this turn */
    int64_t next_us;         /* when the next one is to be let go of */
    int64_t checkpoint_seq;  /* of the newest; 0: none */
    size_t checkpoint_size;  /* of the newest, in bytes */
    bool has_accounts;       /* every job that ended before has an account */
};

/* It has ended in this turn. */
void archive_ended(struct daemon *d, struct job *job);
/* Before the turn's transaction: makes the accounts of those that ended in it. */
void archive_prepare(struct daemon *d);
/* The same again: the log that they were made from was damaged, and is another now. */
void archive_remake(struct daemon *d);
/* Inside it: writes them, and removes what was let go of. */
int archive_write(struct daemon *d, struct pleat_error *err);
/* After it. */
void archive_written(struct daemon *d);
/* When nothing else is to be done: lets go of those that ended long ago, and makes checkpoints. */
void archive_run(struct daemon *d);
void archive_finish(struct daemon *d);
/* Is there an account of it? */
bool archive_knows(struct daemon *d, int64_t job);
/* An ended job from its account, as job_to_json gives it; NULL: there is none. */
json_t *archive_job(struct daemon *d, int64_t job, bool history);
/* An entry of `history`; NULL when out of memory. */
json_t *archive_entry(struct daemon *d, const struct pleat_account_row *row);
/* Has the core forget it; it is `gone`, jobs_forget comes next. False: it does not (logged). Only
 * when nothing is under way that could mean its component. */
bool archive_let_go(struct daemon *d, struct job *job);

#endif
