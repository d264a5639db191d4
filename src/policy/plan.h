/* plan.h - what a pass decides, and what is free after it.
 *
 * Policies call these functions; each returns what it could do, and changes what the next call
 * sees. Nothing happens in the world before the pass is over and the core has checked the plan.
 * Several offers to one component in one pass become one resize.
 */
#ifndef PLEAT_POLICY_PLAN_H
#define PLEAT_POLICY_PLAN_H

#include <stdbool.h>

#include "model/event.h"
#include "policy/accept.h"
#include "policy/buffers.h"
#include "policy/estimates.h"
#include "policy/files.h"
#include "policy/nodes.h"
#include "policy/profile.h"
#include "policy/siblings.h"

struct pleat_review;

struct pleat_plan_site {
    int32_t free;  /* processors that no job has and no decision of this plan takes */
    int32_t limit; /* free processors that the component that is being placed may use */
    int32_t kept;  /* free processors that may not be used for growing, besides the threshold */
    bool withheld; /* kept for a waiting component: no growing here in this pass */
    bool quiet;    /* it refused a claim a moment ago, or is closed: no processors are asked for
                    * now */
    bool several;  /* it has several nodes, or lends them: the free processors of each are in
                    * `nodes` */
};

struct pleat_plan_known { /* of a component */
    uint32_t pass;        /* the pass that decided something about the component */
    uint32_t decision;    /* the decision's place in that pass's plan */
};

struct pleat_plan_undo {
    uint32_t component;
    uint32_t decision; /* the decision's place in the plan */
    struct pleat_event before;
    int32_t free_before;
    uint32_t site;
    bool was_new;
};

PLEAT_ARRAY(pleat_plan_journal, struct pleat_plan_undo);

/* Processors that are expected to be free from a time on. */
struct pleat_plan_end {
    int64_t at_us;
    int32_t processors;
};

PLEAT_ARRAY(pleat_plan_ends, struct pleat_plan_end);

/* What a waiting component will need, which others must not keep from it. */
struct pleat_shadow {
    uint32_t site;
    int64_t at_us; /* when the component is expected to start there */
    /* processors that are expected to be free then, beyond what the component needs */
    int32_t extra;
};

/* What a queue policy left in the pass before. It saves work, no more: the same must be decided
 * without it, as after a recovery. */
struct pleat_plan_memo {
    uint32_t pass;               /* the pass for which the memo holds; 0: none */
    uint32_t changes, submitted; /* what the policy had observed when it left the memo */
    struct pleat_shadow shadow;  /* EASY: the head's shadow, less what stands in it */
    /* conservative: when the next place begins; until when places have become free since all
     * components were looked at; early ends observed */
    int64_t next_us, freed_us;
    uint32_t early;
};

struct pleat_plan {
    const struct pleat_view *view;
    struct pleat_events decisions;
    struct pleat_plan_site *sites;
    int32_t *nodes;    /* per node of the view: as `free` of a site */
    int32_t *withheld; /* per node: unused processors that this plan withholds */
    uint32_t node_room;
    bool shuts;                     /* at least one node is closed */
    uint32_t only_site, only_node;  /* pleat_plan_shrink_only; PLEAT_NONE: everywhere */
    struct pleat_plan_known *known; /* per component */
    uint32_t pass;
    uint32_t site_room, component_room;
    struct pleat_plan_journal journal;
    struct pleat_plan_ends started; /* memory for pleat_plan_started */
    struct pleat_profile *profiles; /* per site: memory for pleat_pass_expect */
    uint32_t profile_room;
    struct pleat_plan_memo memo;
    int64_t wake_us;
    bool unbuffers; /* processors were taken out of a buffer */
    bool serves;    /* requests that wait were looked at, before reviews */
    /* the running component that asks, while others are shrunk for it: it gives nothing to itself;
     * else PLEAT_NONE. And whether the others may refuse */
    uint32_t asker;
    bool voluntary;
    bool keeps_askers; /* components that cannot go on give nothing to others */
    bool asks_decided; /* mandatory asks that yield to waiting jobs are decided in this pass */
    /* says which components are not to be shrunk now; NULL: none of them. spares_others: all but
     * these */
    bool (*spares)(const struct pleat_view *view, const struct pleat_component *component);
    bool spares_others;
    int failed; /* out of memory: the pass decides nothing */
};

/* ---- what is there ---- */

/* Idle processors of a site, which no job has and this plan does not use; at least 0. They count
 * also while the site is quiet after a refused claim. A drained site has none. */
int32_t pleat_plan_idle(const struct pleat_plan *plan, uint32_t site);
/* Idle processors that can be claimed now: none while the site is quiet. */
int32_t pleat_plan_free(const struct pleat_plan *plan, uint32_t site);
/* How many idle processors pleat_plan_keep keeps from growing. */
int32_t pleat_plan_kept(const struct pleat_plan *plan, uint32_t site);
/* Idle processors that may be used for growing: less the threshold and what is kept; 0 if the site
 * is withheld for a waiting component, or if the jobs of all sites have what they may be grown to.
 */
int32_t pleat_plan_growable(const struct pleat_plan *plan, uint32_t site);
/* What is left of what the jobs of all sites may be grown to, together (view.grow_total). */
int32_t pleat_plan_left_of_total(const struct pleat_plan *plan);
/* How many processors a waiting component could start on at a site: free ones, as far as it may use
 * them, and those earmarked for it. */
int32_t pleat_plan_available(const struct pleat_plan *plan, uint32_t component, uint32_t site);
/* How many of these it need not wait for: those that others use of a site with a queue of its own
 * it would wait for there. */
int32_t pleat_plan_at_once(const struct pleat_plan *plan, uint32_t component, uint32_t site);

/* How many processors this plan could ask for on nodes of a site that have an architecture, for
 * processes of a running component that may be on several nodes; architecture 0: on any.
 * PLEAT_SIZE_MAX: the nodes do not limit it. Then takes some. */
int32_t pleat_plan_on_architecture(const struct pleat_plan *plan, uint32_t component, uint32_t site,
                                   uint32_t architecture);
void pleat_plan_architecture_take(struct pleat_plan *plan, uint32_t component, uint32_t site,
                                  uint32_t architecture, int32_t count);
/* How many more processors a component that must be on one node can have on one of a site's nodes,
 * whether it is tied to that node already or not; or a folded run on those where it has processes.
 * PLEAT_SIZE_MAX where the site has one node, or the component may be on several. */
int32_t pleat_plan_on_a_node(const struct pleat_plan *plan, uint32_t component, uint32_t site);

/* Processors of a node that no job has and this plan does not use; at least 0. */
int32_t pleat_plan_node_idle(const struct pleat_plan *plan, const struct pleat_node *node);

/* ---- deciding ---- */

/* Until the next call components of the site that are led from other nodes cannot be shrunk.
 * PLEAT_NONE: all can. */
void pleat_plan_shrink_only(struct pleat_plan *plan, uint32_t site, uint32_t node);

/* Is a component not to be shrunk now, since others are to be shrunk first, or were asked already
 * (pleat_pass_shrink)? */
bool pleat_plan_spares(const struct pleat_plan *plan, uint32_t component);
/* Offers a running malleable component `processors` more; returns how many it accepted (Buisson et
 * al. 2007, V-C: lines 3-5 of FPSMA_GROW). A voluntary change: none while another resize is under
 * way, or soon after one that failed. */
int32_t pleat_plan_offer_grow(struct pleat_plan *plan, uint32_t component, int32_t processors);
/* Tells a running malleable component to give up `processors` for a waiting component (mandatory).
 * Without a waiter (PLEAT_NONE), or for a waiter for which others shrink voluntarily
 * (pleat_pass_take_for), it is asked to: a voluntary change, which is not tried soon after one that
 * failed. Returns how many processors it will give up, which can be more than asked (see
 * pleat_accept_shrink). */
int32_t pleat_plan_offer_shrink(struct pleat_plan *plan, uint32_t component, int32_t processors,
                                uint32_t waiter);
/* Processors of a running component once this plan is carried out. */
int32_t pleat_plan_size(const struct pleat_plan *plan, uint32_t component);
/* Does this plan decide anything about a component: an offer, a start, a try? */
bool pleat_plan_is_decided(const struct pleat_plan *plan, uint32_t component);
/* Would a component accept any of `processors` more, after what this plan offers it already? */
bool pleat_plan_could_grow(const struct pleat_plan *plan, uint32_t component, int32_t processors);
/* Likewise. If only its backoff prevents that, another pass comes at its end. */
bool pleat_plan_grows_or_wakes(struct pleat_plan *plan, uint32_t component, int32_t processors);
/* Would a component give up any processors? */
bool pleat_plan_could_shrink(const struct pleat_plan *plan, uint32_t component);
/* Starts a queued component; false (and nothing changed) if that does not fit. A folding component
 * gets as many processes as are accepted for these processors, and may be folded as far as its user
 * and the configuration let it. The start of a component of a job of several can be taken back,
 * like an offer. */
bool pleat_plan_start(struct pleat_plan *plan, uint32_t component, uint32_t site, int32_t size);
/* Starts a folding component with `processes` processes, at least as many as processors. While it
 * runs no processor ever has more than mpl processes. */
bool pleat_plan_start_folded(struct pleat_plan *plan, uint32_t component, uint32_t site,
                             int32_t processors, int32_t processes, int32_t mpl);
/* The site where this plan shrinks others for a waiting component; PLEAT_NONE. */
uint32_t pleat_plan_makes_room(const struct pleat_plan *plan, uint32_t waiter);
/* Does this plan start the component? */
bool pleat_plan_starts(const struct pleat_plan *plan, uint32_t component);
/* Ends a running component, which then waits again where it stood in the queue. False: it is in a
 * resize, was preempted too often already, had a reservation, or is of a job of several components.
 * Its processors are free only when its processes are gone. */
bool pleat_plan_preempt(struct pleat_plan *plan, uint32_t component);
bool pleat_plan_could_preempt(const struct pleat_plan *plan, uint32_t component);
/* How many free processors of a site may be used by components that are placed from now on;
 * PLEAT_SIZE_MAX: all. */
void pleat_plan_limit(struct pleat_plan *plan, uint32_t site, int32_t processors);
/* How many of a site's free processors are not for growing in this pass. */
void pleat_plan_keep(struct pleat_plan *plan, uint32_t site, int32_t processors);
/* Keeps up to `processors` free processors of a running component's site from all others in this
 * pass; those of its node, if it must stay on one. */
void pleat_plan_withhold(struct pleat_plan *plan, uint32_t component, int32_t processors);
/* Refuses a running component what its application asked for. */
void pleat_plan_refuse(struct pleat_plan *plan, uint32_t component, enum pleat_ask_reason reason);
/* Keeps what is free at a site for a waiting component: no growing there in this pass. */
void pleat_plan_hold(struct pleat_plan *plan, uint32_t site);
/* Records that a waiting component could not be placed, where tries are limited. */
void pleat_plan_tried(struct pleat_plan *plan, uint32_t component);
/* Promises a waiting component the latest time of its start; start_us PLEAT_NEVER takes the promise
 * back. Nothing is recorded if that is promised already. */
void pleat_plan_promise(struct pleat_plan *plan, uint32_t component, uint32_t site,
                        int64_t start_us);
/* Carries out the review of a buffer: requests prepared processes, as many as may be used for
 * growing and its component has room for; releases some, as far as it has any; and sets when the
 * next review is. */
void pleat_plan_review(struct pleat_plan *plan, uint32_t component,
                       const struct pleat_review *review);
/* Asks for processors for requests of a component for which nothing is prepared, or on its way: as
 * many as may be used for growing and it has room for. Before all reviews of the plan. */
void pleat_plan_serve(struct pleat_plan *plan, uint32_t component);
/* The same for those that wait for other sites than its own, after all that wait for their own. */
void pleat_plan_serve_elsewhere(struct pleat_plan *plan, uint32_t component);
/* Takes up to `processors` prepared processes out of the buffers of a site, or of one of its nodes
 * (PLEAT_NONE: of all), for a waiting component, as they compute nothing; first those of the
 * component that started last. Returns how many. Their processors are not free in this plan. */
int32_t pleat_plan_unbuffer(struct pleat_plan *plan, uint32_t site, uint32_t node,
                            int32_t processors, uint32_t waiter);
/* How many that would be at most on a node, where agents prepare processes. *coming: how many more
 * processors buffers there are giving back already; of those for which no process has to be ended
 * any more nobody knows on which node they are: these count, too. */
int32_t pleat_plan_buffered_on(const struct pleat_plan *plan, uint32_t site, uint32_t node,
                               int32_t *coming);
/* Asks for another pass at that time. If a policy keeps asking while nothing happens, passes come
 * at most once a second. */
void pleat_plan_wake(struct pleat_plan *plan, int64_t at_us);

/* The expected ends of components that this plan starts at a site, the earliest first; valid until
 * the next call. */
const struct pleat_plan_ends *pleat_plan_started(struct pleat_plan *plan, uint32_t site);

/* ---- trying things out ---- */

typedef size_t pleat_plan_mark;
pleat_plan_mark pleat_plan_remember(const struct pleat_plan *plan);
/* The site where this plan, or an earlier one, has placed a component; PLEAT_NONE: nowhere. */
uint32_t pleat_plan_place(const struct pleat_plan *plan, uint32_t component);
/* Takes back every offer made since the mark, and every start of a component of a job of
 * several. */
void pleat_plan_rollback(struct pleat_plan *plan, pleat_plan_mark mark);

/* ---- for the core ---- */

void pleat_plan_finish(struct pleat_plan *plan);
/* Empties the plan for a new pass over view. 0 or PLEAT_E_NOMEM. */
int pleat_plan_begin(struct pleat_plan *plan, const struct pleat_view *view) PLEAT_MUST_CHECK;

#endif
