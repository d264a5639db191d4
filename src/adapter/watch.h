/* watch.h - what becomes of jobs, by asking the controller now and then.
 *
 * One question for all of this user's jobs, in its turn (pace.h), and none while there is
 * nothing to watch. Says `granted`, `pending` (its reason or expected start is another), `ending`
 * (it is over, but its processes are still there), `ended`, and `controller` (whether it answers).
 */
#ifndef PLEAT_ADAPTER_WATCH_H
#define PLEAT_ADAPTER_WATCH_H

#include "adapter/call.h"
#include "adapter/pace.h"
#include "base/array.h"

struct pleat_adapter_watched {
    uint32_t job;
    char name[PLEAT_ADAPTER_NAME_MAX + 1];
    bool runs;                  /* or counts as running */
    bool ending;                /* that was said */
    uint64_t starting_since_ms; /* 0: it is not */
    char reason[64];
    int64_t start, end; /* 0: not known */
};

/* A job that may exist because of a call of unknown outcome. */
struct pleat_adapter_unwanted {
    char name[PLEAT_ADAPTER_NAME_MAX + 1];
    uint64_t since_ms; /* the controller has answered since; 0: not yet */
};

PLEAT_ARRAY(pleat_adapter_watched_list, struct pleat_adapter_watched);
PLEAT_ARRAY(pleat_adapter_unwanted_list, struct pleat_adapter_unwanted);

struct pleat_adapter_watch {
    struct pleat_adapter_calls *calls;
    struct pleat_adapter_pace *pace;
    struct pleat_adapter_question question;
    bool asking, silent; /* silent: the controller does not answer */
    struct pleat_adapter_watched_list watched;
    struct pleat_adapter_unwanted_list unwanted;
};

void pleat_adapter_watch_open(struct pleat_adapter_watch *watch, struct pleat_adapter_calls *calls,
                              struct pleat_adapter_pace *pace);
/* Watches a job (as the operations give it) from now on; again: as it is now. */
void pleat_adapter_watch_add(struct pleat_adapter_watch *watch, const json_t *job);
void pleat_adapter_watch_remove(struct pleat_adapter_watch *watch, uint32_t job);
/* The job of this name is ended as soon as it is seen. */
void pleat_adapter_watch_unwanted(struct pleat_adapter_watch *watch, const char *name);

#endif
