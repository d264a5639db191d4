/* runner_kind.h - the kinds of runners that there are, and what each can do (runners.def). What
 * carries them out is in src/runner. */
#ifndef PLEAT_MODEL_RUNNER_KIND_H
#define PLEAT_MODEL_RUNNER_KIND_H

#include <stddef.h>

enum pleat_runner_capability {
    PLEAT_RUNNER_RESIZES = 1,   /* its applications can change size while they run */
    PLEAT_RUNNER_EMPTIES = 2,   /* ... down to no processors at all */
    PLEAT_RUNNER_RELAUNCHES = 4 /* ... also by ending all processes and starting again */
};

enum pleat_runner_start {
    PLEAT_STARTS_LAUNCHED = 1, /* by its MPI's launcher, a process for each processor */
    PLEAT_STARTS_MAILBOX = 2,  /* its processes have a mailbox (libpleat) */
    PLEAT_STARTS_FOLDED = 4,   /* its processes share processors (libpleat-fold is preloaded) */
    PLEAT_STARTS_EVOLVING = 8  /* a process for each processor; they ask for more */
};

struct pleat_runner_kind {
    const char *name;
    unsigned capabilities, starts;
};

enum {
    PLEAT_RUNNER_KIND_COUNT = sizeof((const char[]){
#define RUNNER(name, capabilities, starts) 0,
#include "model/runners.def"
#undef RUNNER
    })
};

extern const struct pleat_runner_kind pleat_runner_kinds[PLEAT_RUNNER_KIND_COUNT];
/* Their names; NULL at the end. */
extern const char *const pleat_runner_names[PLEAT_RUNNER_KIND_COUNT + 1];
/* What --runner takes: auto, and their names, with spaces between. */
extern const char pleat_runner_words[];

/* NULL: no kind has that name. */
const struct pleat_runner_kind *pleat_runner_kind_find(const char *name);
/* Of enum pleat_runner_start; 0 for what is no kind's name ("auto"). */
unsigned pleat_runner_starts(const char *name);

#endif
