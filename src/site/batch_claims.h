/* batch_claims.h - a site with a batch system: its allocations, each on one node, and which claims
 * have processors of which; and what it says of them.
 *
 * What an allocation's claims gave back while others still have the rest stays in the allocation:
 * only its job's growths get it.
 */
#ifndef PLEAT_SITE_BATCH_CLAIMS_H
#define PLEAT_SITE_BATCH_CLAIMS_H

#include <jansson.h>

#include "site/batch_adapter.h"
#include "site/claimbook.h"

enum {
    PLEAT_BATCH_NAME_ROOM = 129,  /* of a job's name */
    PLEAT_BATCH_HOST_ROOM = 256,  /* of a node's name */
    PLEAT_BATCH_PREFIX_ROOM = 80, /* of what the names of all its jobs begin with */
    PLEAT_BATCH_NODE_CPUS = 4096, /* more are not used of a node */
    PLEAT_BATCH_UNKNOWN = 65536   /* processors, until the cluster has said how many there are */
};

enum pleat_batch_state {
    PLEAT_BATCH_WANTED,   /* to be asked for */
    PLEAT_BATCH_ASKED,    /* asked for, not answered */
    PLEAT_BATCH_QUEUED,   /* a job that waits in the queue */
    PLEAT_BATCH_STARTING, /* it runs; its agent has not called */
    PLEAT_BATCH_HELD,     /* its claims have been given */
    PLEAT_BATCH_ADOPTED,  /* of the pleatd before; whether it is still there is not known yet */
    PLEAT_BATCH_ENDING,   /* to be given back */
    PLEAT_BATCH_STRAY     /* of the pleatd before, and nobody has asked for it yet */
};

struct pleat_batch_allocation {
    uint64_t number; /* for timers and requests */
    enum pleat_batch_state state;
    struct pleat_site_wish wish; /* what it was asked for; in ENDING: the claim to be answered */
    int64_t until_us;            /* the wish may wait until then */
    int64_t agent_until_us;      /* STARTING: its agent must have called by then */
    bool has_node, given;        /* given: its node's number was told to somebody */
    bool answers;                /* ENDING: RELEASED is due */
    bool asked;                  /* ENDING: a request to make it is not answered yet */
    bool releasing;              /* so is one to release it */
    bool called;                 /* its agent was started */
    bool step_over;              /* what was started there has ended */
    bool seen;
    uint32_t node;
    uint32_t job; /* the batch system's number; 0: not known */
    char name[PLEAT_BATCH_NAME_ROOM], host[PLEAT_BATCH_HOST_ROOM];
    struct pleat_claimbook book; /* of one node; `nodes` 0: nothing was given yet */
};

PLEAT_ARRAY(pleat_batch_allocations, struct pleat_batch_allocation *);
PLEAT_ARRAY(pleat_batch_nodes, uint32_t);

struct pleat_batch_site {
    struct pleat_site_instance base;
    const struct pleat_host *host;
    const struct pleat_batch_kind *kind;
    const struct pleat_batch_options *options; /* the first of the kind's own */
    struct pleat_batch_adapter *adapter;
    uint32_t index;
    int32_t processors, threshold, capacity, largest; /* largest: CPUs of a node; 0: not known */
    int32_t partition_cpus;
    bool synced;       /* what is there was compared with what the batch system has */
    bool asking_nodes; /* not answered yet */
    bool silent;       /* people were told that it cannot be reached */
    char prefix[PLEAT_BATCH_PREFIX_ROOM];
    uint64_t next_number;
    struct pleat_batch_allocations allocations;
    struct pleat_batch_nodes agents; /* whose agents are connected */
};

/* ---- what there is ---- */

struct pleat_batch_allocation *pleat_batch_new(struct pleat_batch_site *site,
                                               enum pleat_batch_state state);
/* Forgets it. */
void pleat_batch_remove(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* NULL: there is none. */
struct pleat_batch_allocation *pleat_batch_of_number(struct pleat_batch_site *site,
                                                     uint64_t number);
struct pleat_batch_allocation *pleat_batch_of_job(struct pleat_batch_site *site, uint32_t job);
struct pleat_batch_allocation *pleat_batch_of_node(struct pleat_batch_site *site, uint32_t node);
struct pleat_batch_allocation *pleat_batch_of_claim(struct pleat_batch_site *site, uint64_t id);
/* Gives it the lowest number that no other one has. */
void pleat_batch_number_node(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
bool pleat_batch_agent_is_there(const struct pleat_batch_site *site, uint32_t node);
void pleat_batch_note_agent(struct pleat_batch_site *site, uint32_t node, bool there);

/* ---- its processors ---- */

/* Opens its book, if it has none. PLEAT_E_NOMEM. */
int pleat_batch_open_book(struct pleat_batch_allocation *one) PLEAT_MUST_CHECK;
/* It has this many processors, those that claims have included. */
void pleat_batch_trim_book(struct pleat_batch_allocation *one, int32_t cpus);

/* ---- what is said ---- */

void pleat_batch_say(const struct pleat_batch_site *site, const char *format, ...)
    PLEAT_PRINTF(2, 3);
void pleat_batch_say_claim(const struct pleat_batch_site *site, uint16_t kind, uint64_t id,
                           uint32_t index, int32_t count, enum pleat_reason reason);
/* PIECE and CLAIMED of a claim. */
void pleat_batch_announce(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one,
                          const struct pleat_booked *booked);
/* CLAIM_WAITS; start_s: its estimate, seconds since 1970; 0: none. */
void pleat_batch_say_waits(const struct pleat_batch_site *site,
                           const struct pleat_batch_allocation *one, enum pleat_claim_wait why,
                           int64_t start_s);
/* LOST of all its claims. */
void pleat_batch_say_lost(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one);
/* NODE_GONE, if its node was told. */
void pleat_batch_say_gone(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one);

#endif
