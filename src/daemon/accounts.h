/* accounts.h - accounts of jobs that have ended: those to be made, and those in the store */
#ifndef PLEAT_DAEMON_ACCOUNTS_H
#define PLEAT_DAEMON_ACCOUNTS_H

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
void accounts_ended(struct daemon *d, struct job *job);
/* Those made in this turn are to be made again: the log that they were made from was damaged. */
void accounts_unmake(struct daemon *d);
void accounts_finish(struct daemon *d);
/* Is there an account of it? */
bool accounts_know(struct daemon *d, int64_t job);
/* An ended job from its account, as job_to_json gives it; NULL: there is none. */
json_t *accounts_job(struct daemon *d, int64_t job, bool history);
/* An entry of `history`; NULL when out of memory. */
json_t *accounts_entry(struct daemon *d, const struct pleat_account_row *row);

#endif
