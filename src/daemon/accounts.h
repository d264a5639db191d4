/* accounts.h - accounts of ended jobs: those still to be written, and those in the store */
#ifndef PLEAT_DAEMON_ACCOUNTS_H
#define PLEAT_DAEMON_ACCOUNTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"

struct daemon;
struct job;
struct pleat_account_row;

/* A job that has ended, and its account until that is written. */
struct ended {
    int64_t job, submit_us, end_us;
    char *text;
};

PLEAT_ARRAY(ended_list, struct ended);
PLEAT_ARRAY(numbers, int64_t);

struct archive {
    struct ended_list ended; /* jobs that ended in this turn */
    struct numbers archived; /* numbers of the jobs that were let go of in this turn */
    int64_t next_us;         /* when the next job is to be let go of */
    int64_t checkpoint_seq;  /* last record of the newest checkpoint; 0: there is none */
    size_t checkpoint_size;  /* size of the newest checkpoint, in bytes */
    bool has_accounts;       /* the store has an account of every job that ended before this turn */
};

/* A job has ended in this turn: its account is to be written. */
void accounts_ended(struct daemon *d, struct job *job);
/* Drops the accounts made in this turn, so that they are made again: the log that they were made
 * from was damaged. */
void accounts_unmake(struct daemon *d);
void accounts_finish(struct daemon *d);
/* Whether the store has an account of the job. False also where it cannot be read. */
bool accounts_know(struct daemon *d, int64_t job);
/* An ended job from its account, with the members that job_to_json gives. NULL: the store has no
 * account of it, or cannot be read (which is logged). */
json_t *accounts_job(struct daemon *d, int64_t job, bool history);
/* An entry of `history` from a row of the store; NULL when out of memory. */
json_t *accounts_entry(struct daemon *d, const struct pleat_account_row *row);

#endif
