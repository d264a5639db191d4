/* programs.h - what was learned of programs in all their runs, by site: their curves of speed, and
 * what they asked for */
#ifndef PLEAT_DAEMON_PROGRAMS_H
#define PLEAT_DAEMON_PROGRAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "daemon/demands.h"
#include "daemon/measured.h"
#include "model/event.h"

struct daemon;
struct job;

/* A program at a site. */
struct program {
    char *name, *site;
    int64_t used_us;    /* when something was last learned of it */
    int32_t iterations; /* that its last run that ended well did in all; 0: none has yet */
    struct measured_sizes sizes;
    struct demands runs; /* that asked for processes themselves, and ended well */
};

PLEAT_ARRAY(program_list, struct program);

struct programs {
    struct program_list list;
    bool changed;  /* to be written with this turn */
    uint64_t news; /* how often anything has changed that a run which starts would be told */
};

/* Reads what the store has. */
void programs_open(struct daemon *d);
void programs_finish(struct daemon *d);
/* Inside the turn's transaction: writes them, if anything changed that is to be kept. */
int programs_write(struct daemon *d, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The turn was written. */
void programs_written(struct daemon *d);

/* A report about a run of a job, as the core gets it, and on which process grid that was. */
void programs_learn(struct daemon *d, struct job *job, const struct pleat_event *measured,
                    uint64_t grid);
/* A run of a job is over, as the core still knows what it asked for. That is kept only where it is
 * known of each request at which iteration it was: not where pleatd was away meanwhile. */
void programs_run_over(struct daemon *d, struct job *job);
/* A job has ended. */
void programs_ended(struct daemon *d, struct job *job);
/* What is known of a job's program at a site, if a run of it has ended well there; or NULL. */
const struct program *programs_of(struct daemon *d, const struct job *job, uint32_t site);

/* What earlier runs of a job's program have asked for at a site; NULL: nothing is known of any. */
const struct demands *programs_demands(struct daemon *d, const struct job *job, uint32_t site);

/* All of them whose name and site match; NULL: any. docs/protocol.md, "programs". */
json_t *programs_to_json(const struct daemon *d, const char *name, const char *site);
/* Forgets these. How many there were. */
int programs_clear(struct daemon *d, const char *name, const char *site);

#endif
