/* slurm_claims.h - a site of the kind slurm: its allocations, each on one node, and which claims
 * have processors of which; and what it says of them.
 *
 * What an allocation's claims gave back while others still have the rest stays in the allocation:
 * only its job's growths get it.
 */
#ifndef PLEAT_SITE_SLURM_CLAIMS_H
#define PLEAT_SITE_SLURM_CLAIMS_H

#include <jansson.h>

#include "site/claimbook.h"
#include "site/slurm_adapter.h"

enum {
    PLEAT_SLURM_NAME_ROOM = 129,  /* of a job's name */
    PLEAT_SLURM_HOST_ROOM = 256,  /* of a node's name */
    PLEAT_SLURM_PREFIX_ROOM = 80, /* of what the names of all its jobs begin with */
    PLEAT_SLURM_NODE_CPUS = 4096, /* more are not used of a node */
    PLEAT_SLURM_UNKNOWN = 65536   /* processors, until the cluster has said how many there are */
};

enum pleat_slurm_state {
    PLEAT_SLURM_WANTED,   /* to be asked for */
    PLEAT_SLURM_ASKED,    /* asked for, not answered */
    PLEAT_SLURM_QUEUED,   /* a job that waits in Slurm's queue */
    PLEAT_SLURM_STARTING, /* it runs; its agent has not called */
    PLEAT_SLURM_HELD,     /* its claims have been given */
    PLEAT_SLURM_ADOPTED,  /* of the pleatd before; whether it is still there is not known yet */
    PLEAT_SLURM_ENDING,   /* to be given back */
    PLEAT_SLURM_STRAY     /* of the pleatd before, and nobody has asked for it yet */
};

struct pleat_slurm_allocation {
    uint64_t number; /* for timers and requests */
    enum pleat_slurm_state state;
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
    uint32_t job; /* Slurm's number; 0: not known */
    char name[PLEAT_SLURM_NAME_ROOM], host[PLEAT_SLURM_HOST_ROOM];
    struct pleat_claimbook book; /* of one node; `nodes` 0: nothing was given yet */
};

PLEAT_ARRAY(pleat_slurm_allocations, struct pleat_slurm_allocation *);
PLEAT_ARRAY(pleat_slurm_nodes, uint32_t);

struct pleat_slurm_site {
    struct pleat_site_instance base;
    const struct pleat_host *host;
    const struct pleat_slurm_options *options;
    struct pleat_slurm_adapter *adapter;
    uint32_t index;
    int32_t processors, threshold, capacity, largest; /* largest: CPUs of a node; 0: not known */
    int32_t partition_cpus;
    bool synced;       /* what is there was compared with what Slurm has */
    bool asking_nodes; /* not answered yet */
    bool silent;       /* people were told that it cannot be reached */
    char prefix[PLEAT_SLURM_PREFIX_ROOM];
    uint64_t next_number;
    struct pleat_slurm_allocations allocations;
    struct pleat_slurm_nodes agents; /* whose agents are connected */
};

/* ---- what there is ---- */

struct pleat_slurm_allocation *pleat_slurm_new(struct pleat_slurm_site *site,
                                               enum pleat_slurm_state state);
/* Forgets it. */
void pleat_slurm_remove(struct pleat_slurm_site *site, struct pleat_slurm_allocation *one);
/* NULL: there is none. */
struct pleat_slurm_allocation *pleat_slurm_of_number(struct pleat_slurm_site *site,
                                                     uint64_t number);
struct pleat_slurm_allocation *pleat_slurm_of_job(struct pleat_slurm_site *site, uint32_t job);
struct pleat_slurm_allocation *pleat_slurm_of_node(struct pleat_slurm_site *site, uint32_t node);
struct pleat_slurm_allocation *pleat_slurm_of_claim(struct pleat_slurm_site *site, uint64_t id);
/* Gives it the lowest number that no other one has. */
void pleat_slurm_number_node(struct pleat_slurm_site *site, struct pleat_slurm_allocation *one);
bool pleat_slurm_agent_is_there(const struct pleat_slurm_site *site, uint32_t node);
void pleat_slurm_note_agent(struct pleat_slurm_site *site, uint32_t node, bool there);

/* ---- its processors ---- */

/* Opens its book, if it has none. PLEAT_E_NOMEM. */
int pleat_slurm_open_book(struct pleat_slurm_allocation *one) PLEAT_MUST_CHECK;
/* It has this many processors, those that claims have included. */
void pleat_slurm_trim_book(struct pleat_slurm_allocation *one, int32_t cpus);

/* ---- what is said ---- */

void pleat_slurm_say(const struct pleat_slurm_site *site, const char *format, ...)
    PLEAT_PRINTF(2, 3);
void pleat_slurm_say_claim(const struct pleat_slurm_site *site, uint16_t kind, uint64_t id,
                           uint32_t index, int32_t count, enum pleat_reason reason);
/* PIECE and CLAIMED of a claim. */
void pleat_slurm_announce(const struct pleat_slurm_site *site,
                          const struct pleat_slurm_allocation *one,
                          const struct pleat_booked *booked);
/* CLAIM_WAITS; start_s: Slurm's estimate, seconds since 1970; 0: none. */
void pleat_slurm_say_waits(const struct pleat_slurm_site *site,
                           const struct pleat_slurm_allocation *one, enum pleat_claim_wait why,
                           int64_t start_s);
/* LOST of all its claims. */
void pleat_slurm_say_lost(const struct pleat_slurm_site *site,
                          const struct pleat_slurm_allocation *one);
/* NODE_GONE, if its node was told. */
void pleat_slurm_say_gone(const struct pleat_slurm_site *site,
                          const struct pleat_slurm_allocation *one);

#endif
