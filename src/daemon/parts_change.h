/* parts_change.h - resizes of folded runs on several nodes.
 *
 * The agent of each node gets a request of its own, with the processors that the run is to have
 * there, and does it at once. The core hears `applied` when all have, and `vacated` when nothing of
 * the run uses any more what it gave up on any of them. A resize that is withdrawn, or that one of
 * them refuses, is taken back on all: each agent gets the request `withdraw` with what the run had
 * there before, and only when all have answered the core hears of that. So no processor is free
 * that a process may still use, whoever is killed meanwhile. What agents say of a resize never
 * reaches the core by itself.
 *
 * All of this is in memory only. After a restart the core repeats its request, and agents repeat
 * what they have answered. */
#ifndef PLEAT_DAEMON_PARTS_CHANGE_H
#define PLEAT_DAEMON_PARTS_CHANGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct agent;
struct asked;
struct daemon;
struct pleat_component;
struct pleat_effect;

/* What is asked of one node. */
struct part_change {
    uint32_t node;
    json_t *now, *before; /* members of its requests: what the run is to have there, and had */
    bool applied, vacated, withdrawn;
};
PLEAT_ARRAY(part_change_list, struct part_change);

struct run_change {
    uint64_t run, resize;
    uint32_t site;
    int32_t processors; /* that the run is to have */
    bool shrinks;
    bool failed;  /* it is taken back since an agent refuses it */
    bool back;    /* it is taken back */
    bool applied; /* the core was told */
    bool over;    /* the core was told all */
    int64_t total_us;
    struct part_change_list parts;
};
PLEAT_ARRAY(run_changes, struct run_change);

/* Whether the processes of a component are on several nodes, so that its resizes are carried out
 * here. */
bool parts_change_is_for(struct daemon *d, const struct pleat_component *component);
/* Carries out PLEAT_DO_RESIZE or PLEAT_DO_WITHDRAW. An error: nothing was sent. PLEAT_E_BUSY: it is
 * not known yet which CPUs these are (slots_of); the core asks again when it is. */
int parts_change(struct daemon *d, const struct pleat_effect *effect,
                 struct pleat_error *err) PLEAT_MUST_CHECK;
/* An agent says something of a run of that component, or refuses a request. True: it is about such
 * a resize, and was taken here. */
bool parts_change_heard(struct agent *agent, uint32_t component, const char *method,
                        const json_t *params);
bool parts_change_refused(struct agent *agent, uint32_t component, const struct asked *asked,
                          const struct pleat_error *why);
/* The agent of a node has listed its runs, or has started one. */
void parts_change_again(struct daemon *d, uint32_t site, uint32_t node);
/* The next notice for the core: as if one agent had sent it for the whole run. *params is the
 * caller's. */
bool parts_change_next(struct daemon *d, uint64_t *run, const char **method, json_t **params);
/* The run is over. */
void parts_change_forget(struct daemon *d, uint64_t run);
void parts_change_finish(struct daemon *d);

#endif
